/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated network for the PS: one router that keeps subscriptions,
 * links that lose, duplicate and delay, scripted workers with simple timers, and
 * an oracle that computes the expected bits of each version. Times are ns of a
 * simulated clock.
 */
#ifndef NDN_WORLD_H
#define NDN_WORLD_H

#include "ndn/app/ps/ps.h"

#define WORLD_JOBS 2
#define WORLD_WORKERS 4
#define WORLD_ELEMENTS 1000
#define WORLD_VERSIONS_MAX 64
#define WORLD_LEASE_MS 3200
#define WORLD_RTO_MS 50

struct world;

/**
 * struct world_fetch - a version that a scripted worker assembles
 * @v:    version; 0: none.
 * @bits: segments received.
 */
struct world_fetch {
	uint64_t v;
	uint64_t bits;
	float values[WORLD_ELEMENTS];
	bool last;
};

/**
 * struct world_worker - a worker
 * @up:     it is alive.
 * @job:    its job; -1: none.
 * @step:   0: waits for the start content, 1: for the acknowledgement, 2: works.
 * @v:      its version; @ready_at: when its gradient on @training is ready, 0: not
 *          training.
 * @base:   base version of the waiting gradient; 0: none.
 * @bound:  version that @given answers.
 * @held:   version asked for, until @held_until.
 * @speed:  duration of training.
 * @life:   number of its starts.
 */
struct world_worker {
	struct world *w;
	char name[16];
	struct nps_worker id;
	struct ndn_key key;
	bool up;
	int job;
	int step;
	uint64_t v;
	uint64_t ready_at;
	uint64_t training;
	uint64_t base;
	uint64_t bound;
	uint64_t given;
	uint64_t held;
	uint64_t held_until;
	uint64_t speed;
	uint64_t life;
	uint64_t asked_at;
	uint64_t inserted_at;
	uint64_t heard_at;
	uint64_t final[WORLD_JOBS];
	struct ndn_start start;
	struct world_fetch in;
	struct world_fetch done;
};

/* State that survives a restart of the PS. */
struct world_disk {
	uint32_t incarnation;
	uint32_t n;
	float values[WORLD_ELEMENTS];
	float momentum[WORLD_ELEMENTS];
};

struct world_job {
	struct nps_spec spec;
	struct ndn_job_names names;
	struct world_disk disk;
	/* Expected values of each version of this and the last incarnation. */
	struct {
		uint64_t v;
		float values[WORLD_ELEMENTS];
		float momentum[WORLD_ELEMENTS];
	} line[2][WORLD_VERSIONS_MAX + 1];
	uint64_t taken[WORLD_WORKERS];	    /* newest version of each gradient */
	uint64_t subscribed[WORLD_WORKERS]; /* until when */
	unsigned int made;
	unsigned int gradients;
	unsigned int alone; /* versions made of one gradient */
};

struct world {
	struct ndn_random random;
	uint64_t now;
	unsigned int loss;   /* of 100 */
	unsigned int copies; /* of 100 */
	uint64_t jitter;
	bool hmac;
	unsigned int nworker;
	unsigned int njob;
	struct nps *ps; /* NULL: it is dead */
	struct world_worker worker[WORLD_WORKERS];
	struct nps_worker id[WORLD_WORKERS];
	struct world_job job[WORLD_JOBS];
	struct ndn_key key;
	/* Number of failures. */
	unsigned int wrong;
	unsigned int sent;
	/* Called for every Data of a worker, so that a test can forge it. */
	void (*forge)(struct world *w, uint8_t *pkt, size_t n);
	struct world_event *event;
	unsigned int nevent, room;
	/* Pending Interests of workers: worker, name, expiry. */
	struct {
		struct ndn_name_buf name;
		bool prefix;
		unsigned int who;
		uint64_t until;
	} ask[256];
};

/* @elements: up to WORLD_ELEMENTS; @segment bytes. */
struct world *world_new(uint64_t seed, unsigned int nworker, unsigned int njob);
/* A spec that a test may change before world_start(). */
struct nps_spec *world_spec(struct world *w, unsigned int job);
void world_start(struct world *w);
void world_stop(struct world *w); /* the PS dies */
void world_worker_kill(struct world *w, unsigned int i);
void world_worker_start(struct world *w, unsigned int i);
/* Run until all jobs are over and no living worker has one, or until @limit. */
bool world_run(struct world *w, uint64_t limit);
void world_run_until(struct world *w, uint64_t until);
bool world_over(const struct world *w);
void world_free(struct world *w);

/* The gradient of worker @i for a model of number @n. */
float world_gradient(unsigned int i, uint32_t n, unsigned int at);

/* ---- between ps_world.c and ps_world_worker.c ---- */

#define WORLD_TICK (20 * NDN_MS) /* interval of a worker's timer */
#define WORLD_PACKET 2000	 /* most bytes of a packet */

/* Count a failure and print it. */
void world_wrong(struct world *w, const char *what);
/* Set the timer of worker @i. */
void world_tick_add(struct world *w, unsigned int i);
/* Send a packet of worker @i to the router. */
void world_from_worker(struct world *w, unsigned int i, uint8_t *pkt, size_t n);
/* Give a worker an Interest, a Data, or its timer. */
void world_worker_interest(struct world_worker *k, const struct ndn_name *name);
void world_worker_data(struct world_worker *k, const struct ndn_data *d);
void world_worker_tick(struct world_worker *k);

#endif /* NDN_WORLD_H */
