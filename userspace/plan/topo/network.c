// SPDX-License-Identifier: BSD-2-Clause
/*
 * Describes a network with the planner's paths: ports with addresses, and
 * routes. The routes of a router are the paths that start there. Where packets
 * of other sources take another of several equal paths, a rule names these
 * sources and their routes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

/* A path from @from to @to that leaves @at by another arc than @at's own. */
struct turn {
	int at, from, to, arc;
};

/**
 * struct network - a network while it is described
 * @first, @inner: nodes by attachment: those of a are inner[first[a]] to
 *                 inner[first[a + 1] - 1].
 * @own:  [from][to]: first arc of the path between two attachments, or -1.
 * @turn: @nturn of them, room for @room.
 */
struct network {
	const struct plan_topology *t;
	struct paths *paths;
	int *first, *inner, *own;
	struct turn *turn;
	int nturn, room;
};

static const char *dev_of(const struct network *w, int arc)
{
	return w->t->link[arc / 2].dev[arc & 1];
}

static const char *near_addr(const struct network *w, int arc)
{
	return w->t->link[arc / 2].addr[arc & 1];
}

static const char *far_addr(const struct network *w, int arc)
{
	return w->t->link[arc / 2].addr[!(arc & 1)];
}

static int append(json_t *list, json_t *v)
{
	return json_array_append_new(list, v) ? -ENOMEM : 0;
}

/* True if @arc is a link of @node, so that @node needs no route to it. */
static bool adjoins(const struct network *w, int arc, int node)
{
	return arc_from(w->t, arc) == node || arc_to(w->t, arc) == node;
}

/* Add routes of @at over arc @via to all addresses behind attachment @to. */
static int add_routes(const struct network *w, json_t *list, int at, int to, int via)
{
	const struct plan_topology *t = w->t;
	int k, i, node, err = 0;

	for (k = w->first[to]; k < w->first[to + 1]; k++) {
		node = w->inner[k];
		for (i = t->first[node]; !err && i < t->first[node + 1]; i++)
			if (!adjoins(w, t->out[i], at))
				err = append(list,
					     json_pack("{s:s, s:s, s:s}", "to",
						       near_addr(w, t->out[i]), "via",
						       far_addr(w, via), "dev", dev_of(w, via)));
	}
	return err;
}

/* A host with one link has a default route, other nodes have one a path. */
static int list_routes(const struct network *w, int at, json_t *list)
{
	int to, arc, err = 0;

	if (w->paths->up[at] >= 0)
		return append(list, json_pack("{s:s, s:s, s:s}", "to", "default", "via",
					      far_addr(w, w->paths->up[at]), "dev",
					      dev_of(w, w->paths->up[at])));
	for (to = 0; !err && to < w->t->nnodes; to++) {
		arc = w->own[at * w->t->nnodes + to];
		if (arc >= 0)
			err = add_routes(w, list, at, to, arc);
	}
	return err;
}

/* All addresses behind attachment @from. */
static json_t *sources(const struct network *w, int from)
{
	const struct plan_topology *t = w->t;
	json_t *list = json_array();
	int k, i, node;

	for (k = w->first[from]; k < w->first[from + 1]; k++) {
		node = w->inner[k];
		for (i = t->first[node]; i < t->first[node + 1]; i++)
			append(list, json_string(near_addr(w, t->out[i])));
	}
	return list;
}

static int by_place(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return x->at != y->at	    ? x->at - y->at
	       : x->from != y->from ? x->from - y->from
				    : x->to - y->to;
}

static int add_turn(struct network *w, struct turn turn)
{
	int room = w->room ? 2 * w->room : 256;
	struct turn *p;

	if (w->nturn == w->room) {
		p = realloc(w->turn, (size_t)room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		w->turn = p;
		w->room = room;
	}
	w->turn[w->nturn++] = turn;
	return 0;
}

/* Add the turns of one path. */
static int walk(struct network *w, int from, int to)
{
	int arcs[PATHS_HOPS], i, at, err = 0;
	int n = paths_inner(w->paths, from, to, arcs);

	for (i = 1; !err && i < n; i++) {
		at = arc_from(w->t, arcs[i]);
		if (arcs[i] != w->own[at * w->t->nnodes + to])
			err = add_turn(w, (struct turn){at, from, to, arcs[i]});
	}
	return err;
}

/* Fill in @own. */
static int find_own(struct network *w)
{
	int n = w->t->nnodes, arcs[PATHS_HOPS], from, to;

	w->own = calloc((size_t)n * (size_t)n, sizeof(int));
	if (!w->own)
		return -ENOMEM;
	for (from = 0; from < n; from++)
		for (to = 0; to < n; to++)
			w->own[from * n + to] =
				w->paths->attach[from] == from && w->paths->attach[to] == to &&
						paths_inner(w->paths, from, to, arcs) > 0
					? arcs[0]
					: -1;
	return 0;
}

static int find_turns(struct network *w)
{
	const int *attach = w->paths->attach;
	int from, to, err = 0;

	for (from = 0; from < w->t->nnodes; from++)
		for (to = 0; !err && to < w->t->nnodes; to++)
			if (attach[from] == from && attach[to] == to)
				err = walk(w, from, to);
	if (w->nturn)
		qsort(w->turn, (size_t)w->nturn, sizeof(*w->turn), by_place);
	return err;
}

/* Make a rule for each source of the turns at @at, which start at *@next. */
static int list_rules(const struct network *w, int at, int *next, json_t *rules)
{
	const struct turn *k;
	json_t *list = NULL;
	int from = -1, err = 0;

	for (; !err && *next < w->nturn && w->turn[*next].at == at; ++*next) {
		k = &w->turn[*next];
		if (k->from != from) {
			from = k->from;
			list = json_array();
			err = append(rules, json_pack("{s:o, s:o}", "from", sources(w, from),
						      "routes", list));
		}
		if (!err)
			err = add_routes(w, list, at, k->to, k->arc);
	}
	return err;
}

static json_t *list_ports(const struct network *w, int node)
{
	const struct plan_topology *t = w->t;
	json_t *list = json_array();
	int i, arc;

	for (i = t->first[node]; i < t->first[node + 1]; i++) {
		arc = t->out[i];
		append(list, json_pack("{s:s, s:s, s:s}", "dev", dev_of(w, arc), "addr",
				       near_addr(w, arc), "peer", far_addr(w, arc)));
	}
	return list;
}

static int add_node(const struct network *w, int node, int *turn, json_t *nodes)
{
	const struct plan_topology *t = w->t;
	json_t *routes = json_array(), *rules = json_array();
	int err = list_routes(w, node, routes);

	if (!err)
		err = list_rules(w, node, turn, rules);
	if (!err)
		err = append(nodes, json_pack("{s:s, s:b, s:b, s:b, s:o, s:O, s:O}", "node",
					      t->node[node].name, "host", t->node[node].host,
					      "relay", t->node[node].relay, "forward",
					      paths_forwards(t, node), "ports", list_ports(w, node),
					      "routes", routes, "rules", rules));
	json_decref(routes);
	json_decref(rules);
	return err;
}

/* Fill in @first and @inner. */
static int sort_nodes(struct network *w)
{
	const int *attach = w->paths->attach;
	int n = w->t->nnodes, i, *at;

	w->first = calloc((size_t)n + 1, sizeof(int));
	w->inner = calloc((size_t)n + 1, sizeof(int));
	at = calloc((size_t)n + 1, sizeof(int));
	if (!w->first || !w->inner || !at) {
		free(at);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		w->first[attach[i] + 1]++;
	for (i = 0; i < n; i++)
		w->first[i + 1] += w->first[i];
	memcpy(at, w->first, ((size_t)n + 1) * sizeof(int));
	for (i = 0; i < n; i++)
		w->inner[at[attach[i]]++] = i;
	free(at);
	return 0;
}

static json_t *node_json(const struct topo_node *n)
{
	json_t *v = json_pack("{s:s, s:b}", "name", n->name, "relay", n->relay);

	if (n->relay && !isinf(n->rate))
		json_object_set_new(v, "rate", json_real(n->rate));
	return v;
}

/* The topology document with all devices and addresses. */
static json_t *document(const struct plan_topology *t)
{
	json_t *nodes[2] = {json_array(), json_array()}, *links = json_array();
	const struct topo_link *l;
	int i;

	for (i = 0; i < t->nnodes; i++)
		append(nodes[t->node[i].host], node_json(&t->node[i]));
	for (i = 0; i < t->nlinks; i++) {
		l = &t->link[i];
		append(links,
		       json_pack("{s:s, s:s, s:f, s:s, s:s, s:s, s:s}", "a", t->node[l->a].name,
				 "b", t->node[l->b].name, "capacity", l->cap, "a_dev", l->dev[0],
				 "a_addr", l->addr[0], "b_dev", l->dev[1], "b_addr", l->addr[1]));
	}
	return json_pack("{s:s, s:o, s:o, s:b, s:o}", "name", t->name, "switches", nodes[0],
			 "hosts", nodes[1], "hosts_forward", t->forward, "links", links);
}

/* Check that no address occurs twice. */
static int check_addresses(const struct plan_topology *t, struct plan_error *err)
{
	json_t *seen = json_object();
	int i, e, rc = seen ? 0 : -ENOMEM;

	for (i = 0; !rc && i < t->nlinks; i++)
		for (e = 0; !rc && e < 2; e++) {
			const struct topo_link *l = &t->link[i];

			if (json_object_get(seen, l->addr[e]))
				rc = plan_fail(
					err, -EINVAL,
					"links[%d]: address %s of %s belongs to another port too",
					i, l->addr[e], t->node[e ? l->b : l->a].name);
			else
				json_object_set_new(seen, l->addr[e], json_true());
		}
	json_decref(seen);
	return rc;
}

/* Refuse networks that are too large or have switches that do not route. */
static int check(const struct plan_topology *t, struct plan_error *err)
{
	double routes = (double)t->nnodes * t->nlinks * 2;

	int i, e;

	for (i = 0; i < t->nlinks; i++)
		for (e = 0; e < 2; e++)
			if (!strcmp(t->link[i].addr[e], "-"))
				return plan_fail(
					err, -EINVAL,
					"%s does not route: only networks whose switches all route can be described",
					t->node[e ? t->link[i].b : t->link[i].a].name);
	if (routes > PLAN_ROUTES_MAX)
		return plan_fail(err, -E2BIG,
				 "%d nodes with routes to %d ports: at most %d routes in all",
				 t->nnodes, 2 * t->nlinks, PLAN_ROUTES_MAX);
	return 0;
}

static int describe(struct network *w, json_t **out)
{
	json_t *nodes = json_array();
	int i, turn = 0, err = sort_nodes(w);

	if (!err)
		err = find_own(w);
	if (!err)
		err = find_turns(w);
	for (i = 0; !err && i < w->t->nnodes; i++)
		err = add_node(w, i, &turn, nodes);
	if (!err) {
		*out = json_pack("{s:o, s:O}", "topology", document(w->t), "nodes", nodes);
		err = *out ? 0 : -ENOMEM;
	}
	json_decref(nodes);
	free(w->first);
	free(w->inner);
	free(w->turn);
	free(w->own);
	return err;
}

int plan_network(struct plan_topology *t, json_t **out, struct plan_error *err)
{
	struct network w = {.t = t};
	int rc;

	*out = NULL;
	*err->text = '\0';
	rc = check(t, err);
	if (!rc)
		rc = topo_place(t);
	if (!rc)
		rc = check_addresses(t, err);
	if (!rc) {
		w.paths = paths_new(t);
		rc = w.paths ? describe(&w, out) : -ENOMEM;
	}
	paths_free(w.paths);
	if (rc && !*err->text)
		plan_fail(err, rc, "%s", strerror(-rc));
	return rc;
}
