/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs in memory: who works, who may relay, what is to be respected.
 */
#ifndef TRIB_PLAN_JOBS_H
#define TRIB_PLAN_JOBS_H

#include "plan/topo/topo.h"

enum job_way {
	JOB_TREE,  /* trees from the LP */
	JOB_BCUBE, /* the k * N^k trees of a BCube */
	JOB_TORUS, /* peer exchange: rows, then columns */
};

/**
 * struct job - one job; nodes are numbers of the topology
 * @worker:  by rank.
 * @ps:      -1: none, sums end at a relay.
 * @tor:     relay-capable switch of the PS, -1: none.
 * @tor_free: it relays and does not count.
 * @shared:  relays' slots are shared pools: relay, PS's relay, PS.
 * @ps_relay: there the PS's host relays, too, and does not count.
 * @max:     relays that may be placed.
 * @cap:     bit/s that each may take in; INFINITY.
 * @may:     nodes that may relay, in order.
 * @trees:   that it may use at most.
 * @owner:   number or text, a new reference; NULL: not given.
 */
struct job {
	char name[TOPO_NAME];
	int id;
	enum job_way way;
	int nworkers, *worker;
	int ps, tor;
	bool tor_free, shared, ps_relay;
	int max;
	double cap, weight;
	int nmay, *may;
	int trees;
	int nval;
	const char *dtype; /* NULL: integers */
	int window, timeout;
	char cookie[17];
	json_t *owner;
};

struct plan_jobs {
	const struct plan_topology *topo;
	int n;
	struct job *job;
};

#endif /* TRIB_PLAN_JOBS_H */
