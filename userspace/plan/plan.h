/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planner: where relays go, which trees the chunks of each job take, and
 * what each host has to be told. Pure: text in, JSON out; it touches no kernel
 * interface and no file, and equal input gives equal output.
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
 * Functions return 0 or -errno and then leave one line in @err that names
 * FILE:LINE:COL, the path of the field and the value that is wrong. README.md
 * documents the three schemas. LPs are solved by CLP in a child process, which
 * may die and is replaced.
 */
#ifndef TRIB_PLAN_H
#define TRIB_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

/* What is refused beyond: declared sizes are checked before memory is taken. */
#define PLAN_TEXT_MAX (32u << 20)
#define PLAN_NODES_MAX 16384
#define PLAN_LINKS_MAX 65536
#define PLAN_JOBS_MAX 16
#define PLAN_RELAYS_MAX 64
#define PLAN_TREES_MAX 32 /* of one job, with weights */
#define PLAN_SCHEDULE_MAX 64
#define PLAN_ROWS_MAX 262144 /* rows for trees, over all hosts */
#define PLAN_ROUTES_MAX 1000000

struct plan_error {
	char text[640];
};

struct plan_topology;
struct plan_jobs;

/**
 * plan_topology_parse() - read a topology
 * @name: what errors call the text: its file name.
 * @text: JSON, @len bytes; not needed after the call.
 */
int plan_topology_parse(struct plan_topology **out, const char *name,
			const char *text, size_t len, struct plan_error *err);

/**
 * plan_topology_builtin() - make a topology from its short name
 * @spec: star:HOSTS, two-tier:RACKS,HOSTS[,PS], fat-tree:K, bcube:N,K, torus:R,C
 */
int plan_topology_builtin(struct plan_topology **out, const char *spec,
			  struct plan_error *err);
void plan_topology_free(struct plan_topology *t);

/**
 * plan_network() - what a network like @t must be told to have its paths
 *
 * Devices and addresses are made up where @t has none. The result's "topology"
 * is a document with all of them, "nodes" has the ports and routes of each.
 */
int plan_network(struct plan_topology *t, json_t **out, struct plan_error *err);

/* Read the jobs that are to share @t, which must outlive the result. */
int plan_jobs_parse(struct plan_jobs **out, const struct plan_topology *t,
		    const char *name, const char *text, size_t len,
		    struct plan_error *err);
void plan_jobs_free(struct plan_jobs *j);

enum plan_objective {
	PLAN_BY_TREES, /* placement is judged by the tree LP */
	PLAN_BY_SEED,  /* by the seed LP, for comparisons */
};

enum plan_search {
	PLAN_SEARCH_FULL,   /* greedy, a second start, swaps from both */
	PLAN_SEARCH_GREEDY, /* greedy alone, for comparisons */
};

/**
 * struct plan_options - zeros are the defaults
 * @no_rows:  leave out the rows of the hosts.
 * @progress: called now and then with what is being done and the share that is
 *            done of it; returns non-zero to give up (-ECANCELED).
 */
struct plan_options {
	enum plan_objective objective;
	enum plan_search search;
	bool no_rows;
	int (*progress)(void *arg, const char *what, double share);
	void *progress_arg;
};

/* Make the plan; @opt may be NULL. */
int plan_make(const struct plan_jobs *jobs, const struct plan_options *opt,
	      json_t **out, struct plan_error *err);

/* Read a plan that plan_write() wrote, or that says so. */
int plan_read(json_t **out, const char *name, const char *text, size_t len,
	      struct plan_error *err);

/* The plan as text, as a report for people, as SVG. NULL: no memory. */
char *plan_write(const json_t *plan);
char *plan_explain(const json_t *plan);
char *plan_draw(const json_t *plan);

/**
 * struct plan_port - a port of a host
 * @dev, @addr: its name and address ("" if the topology gives none),
 * @peer: the host or switch behind it,
 * @ask: addresses of all hosts behind it, across one switch; @nask of them.
 */
struct plan_port {
	const char *dev;
	const char *addr;
	const char *peer;
	const char **ask;
	size_t nask;
};

/*
 * The ports of @host that have a name, as long as @t lives; -ENOENT: there is
 * no such node.
 */
int plan_topology_ports(const struct plan_topology *t, const char *host,
			struct plan_port **out, size_t *n);
void plan_ports_free(struct plan_port *p, size_t n);

/**
 * struct plan_wire - one end of a link as somebody found it
 * @node: whose port @dev it is,
 * @dev:  its name,
 * @peer: the node behind it, NULL if nobody answers,
 * @peer_dev: and its port, NULL if that is not known.
 */
struct plan_wire {
	const char *node;
	const char *dev;
	const char *peer;
	const char *peer_dev;
};

/**
 * plan_wiring_check() - compare a wiring that was found with the expected one
 * @wires: what was found; only nodes that occur in it as @node are judged.
 * @out: array of {"node", "dev", "state", "text"}, one for each port that is
 *       not as it should be, in the order of the topology; state is missing
 *       (nobody answers), wrong (somebody else is behind it), or unknown (no
 *       such node or port is expected).
 *
 * Returns 0, or -ENOMEM.
 */
int plan_wiring_check(const struct plan_topology *t,
		      const struct plan_wire *wires, size_t n, json_t **out);

#endif /* TRIB_PLAN_H */
