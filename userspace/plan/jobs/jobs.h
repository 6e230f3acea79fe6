/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs in memory: workers, nodes that may relay, and limits.
 */
#ifndef TRIB_PLAN_JOBS_H
#define TRIB_PLAN_JOBS_H

#include "base/addr.h"
#include "base/text.h"
#include "plan/topo/topo.h"

enum job_way {
	JOB_TREE,  /* trees from the LP */
	JOB_BCUBE, /* trees by formula, k * N^k of them */
	JOB_TORUS, /* peer exchange by formula: rows, then columns */
};

/**
 * struct job - one job; nodes are numbers of the topology
 * @worker:   hosts with ranks, in the order of these; @nworkers of them.
 * @ranks:    of each of these hosts: rank r is on worker[r / ranks]. If there are several,
 *            the host adds them up: to the planner it is one worker.
 * @ps:       -1: none, sums end at a relay.
 * @tor:      the PS's switch if it can relay, else -1.
 * @tor_free: the PS's switch relays and does not count.
 * @shared:   the job uses shared pools.
 * @ps_relay: the PS's host relays too and does not count; shared pools only.
 * @max:      limit of relays.
 * @cap:      bit/s of the job's contributions per relay; INFINITY: no limit.
 * @may:      nodes that may relay, in the order of the document or topology.
 * @trees:    limit of trees.
 * @nval:     values a packet.
 * @dtype:    name of the float format, NULL: integers.
 * @owner:    number or text, an own reference; NULL: not given.
 * @meet:     ranks meet to exchange without relays: at @peers, or, if that is empty, at
 *            the first worker's address.
 *
 * 0 in @window and @timeout, and an empty @key, mean "not given".
 */
struct job {
	char name[TOPO_NAME];
	int id;
	enum job_way way;
	int nworkers, *worker, ranks;
	int ps, tor;
	bool tor_free, shared, ps_relay;
	int max;
	double cap, weight;
	int nmay, *may;
	int trees;
	int nval;
	const char *dtype;
	int window, timeout;
	char key[TRIB_KEY_HEX + 1];
	json_t *owner;
	bool meet;
	char peers[ADDR_TEXT_MAX];
};

struct plan_jobs {
	const struct plan_topology *topo;
	int n;
	struct job *job;
};

/* job_nodes.c, for jobs.c: parts of a job; 0 or -EINVAL. */
int job_parse_ps(struct job *j, const struct plan_topology *t, const struct json_read *d,
		 const struct json_at *at, const json_t *v);
int job_parse_workers(struct job *j, const struct plan_topology *t, const struct json_read *d,
		      const struct json_at *at, const json_t *v);
int job_parse_relays(struct job *j, const struct plan_topology *t, const struct json_read *d,
		     const struct json_at *at, const json_t *v);

#endif /* TRIB_PLAN_JOBS_H */
