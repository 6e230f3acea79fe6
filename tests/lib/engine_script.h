/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A random list of collectives for workers of the simulated network: all issue
 * it in order, several in flight, and wait in any order. Each result is
 * compared with an oracle, bit by bit.
 */
#ifndef ENGINE_SCRIPT_H
#define ENGINE_SCRIPT_H

#include "engine_world.h"

#define SCRIPT_OPS 64
#define SCRIPT_FLIGHT 6

enum script_kind {
	SCRIPT_ALLREDUCE,
	SCRIPT_REDUCE_SCATTER,
	SCRIPT_ALLGATHER,
	SCRIPT_BROADCAST,
	SCRIPT_BARRIER,
	SCRIPT__MAX,
};

/**
 * struct script_op - one collective, the same for all ranks
 * @in_place: source and destination overlap as the API allows.
 * @src:  each rank's elements, as 32-bit patterns.
 * @want: result of every rank (reduce_scatter: all shares).
 */
struct script_op {
	enum script_kind kind;
	enum trib_dtype dtype;
	enum trib_op op;
	unsigned int count;
	unsigned int root;
	bool in_place;
	uint32_t *src[SIM_WORKERS];
	uint32_t *want;
};

struct script_flight {
	struct trib_req *req;
	unsigned int op;
	uint32_t *src, *dst, *base;
};

struct script_rank {
	unsigned int next, done;
	struct script_flight flight[SCRIPT_FLIGHT];
	uint64_t think_until;
	int error;
	unsigned int wrong;
};

struct script {
	struct sim *sim;
	unsigned int nops, nval;
	unsigned int flight; /* maximum of collectives in flight */
	uint64_t think;	     /* maximum of ns between two issues */
	struct script_op op[SCRIPT_OPS];
	struct script_rank rank[SIM_WORKERS];
};

/* Fill in a random list; @max: most elements of a message. */
void script_init(struct script *sc, struct sim *s, unsigned int nops, unsigned int max,
		 unsigned int nval);
void script_free(struct script *sc);
/* Let all workers start. */
void script_start(struct script *sc);
/* For sim_run(): whether all living workers have finished or failed. */
bool script_done(struct sim *s);
/*
 * Return: whether all results are right, without error, and all finished.
 * Prints what is not.
 */
bool script_good(struct script *sc);

#endif /* ENGINE_SCRIPT_H */
