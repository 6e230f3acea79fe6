/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planner: places relays, assigns chunks to trees, and makes the rows of
 * each host. It is pure: text in, JSON out. It uses no kernel interface and no
 * file, and equal input gives equal output.
 *
 *	struct plan_topology *topo;
 *	struct plan_jobs *jobs;
 *	struct plan_error err;
 *	json_t *plan;
 *
 *	plan_topology_builtin(&topo, "fat-tree:8", &err);
 *	plan_jobs_parse(&jobs, topo, "jobs.json", text, len, &err);
 *	plan_make(jobs, NULL, &plan, &err);
 *
 * Functions return 0, or -errno with one line of text in @err: FILE:LINE:COL,
 * the path of the field, and the wrong value. README.md documents the three
 * schemas. A child process solves the LPs; if it dies, another replaces it.
 */
#ifndef TRIB_PLAN_H
#define TRIB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

/* Limits. Declared sizes are checked before memory is allocated. */
#define PLAN_TEXT_MAX (32u << 20)
#define PLAN_NODES_MAX 16384
#define PLAN_LINKS_MAX 65536
#define PLAN_JOBS_MAX 16
#define PLAN_RELAYS_MAX 64
#define PLAN_TREES_MAX 32 /* trees of a job */
#define PLAN_SCHEDULE_MAX 64
#define PLAN_ROWS_MAX 262144 /* rows for trees, of all hosts */
#define PLAN_ROUTES_MAX 1000000

/* TCP port at the first worker where ranks of a job with "peers": true meet. */
#define PLAN_PEERS_PORT 7416

struct plan_error {
	char text[640];
};

struct plan_topology;
struct plan_jobs;

/**
 * plan_topology_parse() - read a topology
 * @name: file name for errors.
 * @text: JSON, @len bytes; not needed after the call.
 *
 * The caller frees *@out with plan_topology_free().
 */
int plan_topology_parse(struct plan_topology **out, const char *name, const char *text, size_t len,
			struct plan_error *err);

/**
 * plan_topology_builtin() - make a topology from its short name
 * @spec: star:HOSTS, two-tier:RACKS,HOSTS[,PS], fat-tree:K, bcube:N,K, torus:R,C
 */
int plan_topology_builtin(struct plan_topology **out, const char *spec, struct plan_error *err);
void plan_topology_free(struct plan_topology *t);

/**
 * plan_network() - addresses and routes of a network with the paths of @t
 *
 * Chooses the devices and addresses that @t lacks, and stores them in @t. In
 * the result, "topology" is a document with all of them, and "nodes" has the
 * ports and routes of each node.
 */
int plan_network(struct plan_topology *t, json_t **out, struct plan_error *err);

/* Read the jobs that share @t. @t must outlive the result. */
int plan_jobs_parse(struct plan_jobs **out, const struct plan_topology *t, const char *name,
		    const char *text, size_t len, struct plan_error *err);
void plan_jobs_free(struct plan_jobs *j);

enum plan_objective {
	PLAN_BY_TREES, /* the tree LP judges placements */
	PLAN_BY_SEED,  /* the seed LP does, for comparisons */
};

enum plan_search {
	PLAN_SEARCH_FULL,   /* greedy, a second start, swaps from both */
	PLAN_SEARCH_GREEDY, /* greedy alone, for comparisons */
};

/**
 * struct plan_options - zeros are the defaults
 * @no_rows:  leave out the rows of hosts.
 * @progress: called at times with the current step and its share done, 0 to 1.
 *            Non-zero stops planning with -ECANCELED.
 */
struct plan_options {
	enum plan_objective objective;
	enum plan_search search;
	bool no_rows;
	int (*progress)(void *arg, const char *what, double share);
	void *progress_arg;
};

/* Make the plan. @opt may be NULL. */
int plan_make(const struct plan_jobs *jobs, const struct plan_options *opt, json_t **out,
	      struct plan_error *err);

/* Read a plan: text that plan_write() wrote, or anything that claims it. */
int plan_read(json_t **out, const char *name, const char *text, size_t len, struct plan_error *err);

/* The plan as JSON, as a report, as SVG: the caller frees it. NULL: no memory. */
char *plan_write(const json_t *plan);
char *plan_explain(const json_t *plan);
char *plan_draw(const json_t *plan);

/**
 * struct plan_port - a port of a host
 * @dev, @addr: device, and its address; "" if the topology has none.
 * @peer: the host or switch behind it.
 * @ask:  addresses of the @nask hosts behind it, across at most one switch.
 */
struct plan_port {
	const char *dev;
	const char *addr;
	const char *peer;
	const char **ask;
	size_t nask;
};

/*
 * List the ports of @host that have a device. Texts live as long as @t; the
 * caller frees the list with plan_ports_free(). -ENOENT: unknown node.
 */
int plan_topology_ports(const struct plan_topology *t, const char *host, struct plan_port **out,
			size_t *n);
void plan_ports_free(struct plan_port *p, size_t n);

/**
 * struct plan_wire - one end of a link as it was found
 * @node, @dev: the port.
 * @peer:     the node behind it, NULL: no answer.
 * @peer_dev: that node's port, NULL: not known.
 */
struct plan_wire {
	const char *node;
	const char *dev;
	const char *peer;
	const char *peer_dev;
};

/**
 * plan_wiring_check() - compare a wiring that was found with the expected one
 * @wires: findings. Nodes without any finding are not checked.
 * @out:   array of {"node", "dev", "state", "text"}, one for each mistake, in
 *         the order of the topology. State is "missing" (no answer), "wrong"
 *         (another peer), or "unknown" (no such node or port is expected).
 *
 * Returns 0 or -ENOMEM.
 */
int plan_wiring_check(const struct plan_topology *t, const struct plan_wire *wires, size_t n,
		      json_t **out);

#endif /* TRIB_PLAN_H */
