/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared trees: relays whose slots are a pool that all jobs use. */
#ifndef TRIBD_POOL_H
#define TRIBD_POOL_H

#include "daemon/core/tribd.h"

#define POOL_DEFAULT 1024 /* slots */
#define POOL_MAX 4096
#define POOL_MARKS 131072 /* rows of pool_marks */
#define POOL_FACES 8192	  /* entries of pool_faces */
#define POOL_AGE_MS 100	  /* two first time-outs of a worker */

struct tree;
struct tree_ops;
struct tree_spec;

struct tree_shared {
	uint16_t relay; /* of this relay */
	uint16_t next;	/* of the next hop */
	uint8_t bmwords;
	uint32_t cap; /* 0: none */
	uint32_t age_ms;
	uint32_t mark0;
	uint64_t mask[TRIB_BMWORDS_MAX]; /* as on the wire */
};

struct shared_spec {
	uint16_t relay; /* 0: no shared tree */
	uint16_t next;
	uint32_t cap;
	uint32_t age_ms;
	bool has_workers;
	uint64_t workers[TRIB_BMWORDS_MAX]; /* as on the wire */
	uint32_t mark0;			    /* state file only */
};

extern const struct tree_ops pool_ops;

/*
 * Rows of pool_table for @slots: enough that shares differ by about a quarter.
 */
uint32_t pool_buckets(uint32_t slots);
/* The slot of @bucket if the pool has @slots. Pure. */
uint32_t pool_slot_of(uint32_t bucket, uint32_t slots);

/* pool_spec.c: the check of struct tree_ops. */
int pool_check(struct tribd *d, const struct tree_spec *s, struct tree *t, struct reason *why);
/* Refuse attributes of shared trees in one of another kind. */
int pool_refuse(const struct tree_spec *s, struct reason *why);
/* Fill the row of the map pools. Pure. */
void pool_row_fill(const struct tribd *d, const struct tree *t, struct trib_pool *row);

/* Write pool_table for d->pool slots. 0 or -errno, logged. */
int pool_table_write(struct tribd *d);
/* Write the faces of @t, one of which changed. 0 or -errno, logged. */
int pool_faces_store(struct tribd *d, const struct tree *t);
/* Remove entries of trees that do not exist. */
void pool_sweep(struct tribd *d);

#endif /* TRIBD_POOL_H */
