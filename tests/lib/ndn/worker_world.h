/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One PS, its workers and a simulated network: a seeded generator loses,
 * duplicates and reorders packets, and time passes only between events.
 * Gradients are whole numbers; each model that the PS makes or a worker takes
 * is compared with the sum of its gradients.
 *
 * The network is one router that knows subscriptions and pending Interests; it
 * never forgets them, and has no cache.
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
 * struct world_worker - a worker and its use of models
 * @up:       it is alive.
 * @subscribed: as the router knows.
 * @compute:  ns for a gradient.
 * @life:     incremented when it dies, which voids the gradient in work.
 * @busy:     it computes, on @version.
 * @done:     it has seen the last version.
 * @over:     final result of ndn_worker_begin(), or 0.
 * @taken:    models that it received.
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

/* A version and its expected values. */
struct world_model {
	uint64_t version;
	float *values;
};

/**
 * struct world - PS, workers and network
 * @loss, @dup: in 1000 packets.
 * @late:     longest ns of a packet's way; the shortest is a tenth.
 * @drop:     optional: return whether to lose this packet from @from to @to.
 * @at:       optional: called after each step of the clock.
 * @spec:     of the job; a test may change it before world_begin().
 * @saved, @saved_n, @incarnation: the PS's disk.
 * @bad:      text of the first error; empty: none.
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

/* Make a world with @nworker living workers; the PS does not run yet. */
void world_init(struct world *world, uint64_t seed, unsigned int nworker);
void world_free(struct world *world);
/* Start the PS, for the first time or again. */
void world_start_ps(struct world *world);
void world_stop_ps(struct world *world);
void world_start_worker(struct world *world, unsigned int i);
void world_stop_worker(struct world *world, unsigned int i);
/* Deliver a packet to a worker now. */
void world_inject(struct world *world, unsigned int i, const void *packet, size_t n);
/*
 * Run until all living workers are done. Return: false after @ns, or on an
 * error.
 */
bool world_run(struct world *world, uint64_t ns);
/* Run for @ns. */
void world_pass(struct world *world, uint64_t ns);
void world_fail(struct world *world, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* WORKER_WORLD_H */
