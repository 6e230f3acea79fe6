/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One PS, its workers and a network between them, all imagined: packets are
 * lost, doubled and overtake each other by a seeded generator, time passes only
 * between events. Gradients are whole numbers, and every model that anybody
 * makes or takes is compared with what they must have added up to.
 *
 * The network is one router that knows who subscribed and who asked for what; it
 * forgets neither, and has no cache.
 */
#ifndef WORKER_WORLD_H
#define WORKER_WORLD_H

#include "ndn/app/ps/ps.h"
#include "ndn/app/worker/worker.h"

#define WORLD_WORKERS 6
#define WORLD_VERSIONS 400
#define WORLD_ASKS 256
#define WORLD_PS (-1)

struct world;

/* A pending Interest of a worker and its answer. */
struct world_ask {
	enum ndn_name_kind what;
	uint64_t version;
	uint64_t segment;
};

/**
 * struct world_worker - a worker and what it does with models
 * @up:       it lives.
 * @subscribed: the router thinks so.
 * @compute:  ns for a gradient.
 * @life:     counted up when it dies: what it computed is void.
 * @busy:     it computes, on @version.
 * @done:     it has seen the last version.
 * @over:     what ndn_worker_begin() said in the end, or 0.
 * @taken:    models it was given.
 */
struct world_worker {
	struct ndn_worker w;
	struct world *world;
	int index;
	char name[12];
	bool up;
	bool subscribed;
	uint64_t compute;
	unsigned int life;
	bool busy;
	uint64_t version;
	bool done;
	int over;
	unsigned int taken;
	unsigned int nask;
	struct world_ask ask[WORLD_ASKS];
};

struct world_event;

/* A version and what it must be. */
struct world_model {
	uint64_t version;
	float *values;
};

/**
 * struct world - all of it
 * @loss, @dup: in 1000 packets.
 * @late:     ns that a packet takes at most; at least a tenth of that.
 * @drop:     optional: whether this packet, from @from to @to, is lost.
 * @at:       optional: called whenever time has passed.
 * @spec:     of the job; may be changed before world_begin().
 * @saved, @saved_n, @incarnation: on the PS's disk.
 * @bad:      what went wrong, in words; empty: nothing.
 */
struct world {
	uint64_t now;
	struct ndn_random random;
	unsigned int loss;
	unsigned int dup;
	uint64_t late;
	bool (*drop)(struct world *world, int from, int to, enum ndn_name_kind what,
		     const struct ndn_name_parts *parts);
	void (*at)(struct world *world);

	struct nps_spec spec;
	struct nps_worker nps_worker[WORLD_WORKERS];
	struct ndn_key ps_key;
	struct ndn_key worker_key;
	struct ndn_job_names names;
	struct nps *ps;
	uint64_t ps_next;
	float *saved;
	uint32_t saved_n;
	uint32_t incarnation;

	struct world_worker worker[WORLD_WORKERS];
	unsigned int nworker;
	unsigned int step;

	struct world_event *events;
	struct world_model model[WORLD_VERSIONS];
	unsigned int nmodel;
	char bad[200];
};

/* A world with @nworker workers that are up; the PS is not yet. */
void world_init(struct world *world, uint64_t seed, unsigned int nworker);
void world_free(struct world *world);
/* The PS starts, for the first time or again. */
void world_start_ps(struct world *world);
void world_stop_ps(struct world *world);
void world_start_worker(struct world *world, unsigned int i);
void world_stop_worker(struct world *world, unsigned int i);
/* A packet to a worker, as if it had just come. */
void world_inject(struct world *world, unsigned int i, const void *packet, size_t n);
/*
 * Goes on until all living workers are done, for @ns at most: whether they are.
 * It also ends, with false, when something is wrong.
 */
bool world_run(struct world *world, uint64_t ns);
/* Goes on for @ns. */
void world_pass(struct world *world, uint64_t ns);
void world_fail(struct world *world, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* WORKER_WORLD_H */
