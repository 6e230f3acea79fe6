/* SPDX-License-Identifier: BSD-2-Clause */
/* A job's file, and the job's state on disk. */
#ifndef TRIB_NDN_PS_FILE_H
#define TRIB_NDN_PS_FILE_H

#include "ps.h"

/* Source of a job's first model. */
enum nps_init {
	NPS_INIT_ZERO = 0,
	NPS_INIT_SEED = 1, /* uniform in -scale to scale */
	NPS_INIT_FILE = 2, /* the values of a segment, nothing else */
};

/**
 * struct nps_file - the content of a job's file
 * @spec:   of the job; &nps_spec.segment 0: the largest that fits. Its pointers
 *          lead into this struct.
 * @prefix: P, as text.
 * @state:  folder.
 * @tree:   name or ticket of the aggregation job that adds up gradients; "":
 *          none. This PS is its rank @tree_rank.
 * @marker: insert, distribute, delete.
 */
struct nps_file {
	struct nps_spec spec;
	char prefix[NDN_NAME_TEXT_MAX];
	char state[4000];
	char tree[1024];
	unsigned int tree_rank;
	char marker[3][NDN_MARKER_MAX + 1];
	enum nps_init init;
	uint64_t seed;
	float scale;
	char from[4000];
	struct ndn_key key;
	struct ndn_key verify;
	struct nps_worker *workers;
	struct ndn_key *worker_keys;
};

/* Return: 0, or -errno with "FILE: FIELD: reason" in @why. */
int nps_file_load(struct nps_file **file, const char *path, char *why, size_t size);
void nps_file_free(struct nps_file *file);

/*
 * The state folder of one job; one process uses it at a time:
 *
 * incarnation	{"prefix": P, "incarnation": the last one used}
 * model		the newest checkpoint, ps_disk.c has its format
 * lock		locked while a process uses the folder
 *
 * New files are written beside the old ones, and renamed when they are on disk.
 */
struct nps_disk;

/*
 * Lock the folder, and begin the next incarnation, which is on disk before the
 * return. @model: the checkpoint, or the job's first model; the caller frees it
 * or passes it to nps_add().
 */
int nps_disk_open(struct nps_disk **disk, const struct nps_file *file, uint32_t *incarnation,
		  struct nps_model *model, char *why, size_t size);
int nps_disk_save(struct nps_disk *disk, uint64_t elements, const struct nps_model *model);
void nps_disk_close(struct nps_disk *disk);

#endif /* TRIB_NDN_PS_FILE_H */
