/* SPDX-License-Identifier: BSD-2-Clause */
/* A job's file, and what is kept of the job on disk. */
#ifndef TRIB_NDN_PS_FILE_H
#define TRIB_NDN_PS_FILE_H

#include "ps.h"

/* How a job's first model is made. */
enum nps_init {
	NPS_INIT_ZERO = 0,
	NPS_INIT_SEED = 1, /* uniform in -scale to scale */
	NPS_INIT_FILE = 2, /* values as in a segment, nothing else */
};

/**
 * struct nps_file - a job as its file has it
 * @spec:   of the job; &nps_spec.segment 0: what fits. Its pointers lead here.
 * @prefix: P, as text.
 * @state:  folder.
 * @tree:   aggregation job that gradients go by: name or ticket; "": none. We are
 *          @tree_rank of it.
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

/* -errno, and @why: FILE: FIELD: what is wrong. */
int nps_file_load(struct nps_file **file, const char *path, char *why, size_t size);
void nps_file_free(struct nps_file *file);

/*
 * The state folder of one job, of one process:
 *
 *	incarnation	{"prefix": P, "incarnation": the last one used}
 *	model		the newest checkpoint, ps_disk.c has its format
 *	lock		locked as long as somebody works on it
 *
 * Files are written anew beside the old ones, and renamed when they are on disk.
 */
struct nps_disk;

/*
 * Takes the folder, and begins the next incarnation, which is on disk when it
 * returns. @model: the checkpoint, or the job's first one; to be freed by the
 * caller, or given to nps_add().
 */
int nps_disk_open(struct nps_disk **disk, const struct nps_file *file, uint32_t *incarnation,
		  struct nps_model *model, char *why, size_t size);
int nps_disk_save(struct nps_disk *disk, uint64_t elements, const struct nps_model *model);
void nps_disk_close(struct nps_disk *disk);

#endif /* TRIB_NDN_PS_FILE_H */
