// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of trees on shared pools. Each relay has a number in the cluster and
 * knows the next relay towards the PS; each worker knows the relays on its way;
 * the PS knows the receivers of each tree's results. The last relay may be on
 * the PS's own host, before trib-ps.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "uapi/trib.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_wire.h"

/* A worker passes a relay, the PS's relay, and the PS's host. */
_Static_assert(TRIB_ATTACH_HOPS >= 3, "relays between a rank and its PS");

#define TEXT (TOPO_ADDR + 16)

/* ADDR:PORT in the form of trib-ps. */
static json_t *address(const char *addr, int port)
{
	char text[TEXT];

	snprintf(text, sizeof(text), strchr(addr, ':') ? "[%s]:%d" : "%s:%d", addr, port);
	return json_string(text);
}

static int append(json_t *host, const char *list, json_t *row)
{
	json_t *l = json_object_get(host, list);

	if (!l) {
		l = json_array();
		if (json_object_set_new(host, list, l))
			l = NULL;
	}
	return json_array_append_new(l, row) ? -ENOMEM : 0;
}

static int put(struct rows *r, const struct span *s, int node, json_t *row)
{
	json_t *host = rows_host(r, node);

	if (row && s && s->weight)
		json_object_set_new(row, "weight", json_integer(s->weight));
	if (!host || !row) {
		json_decref(row);
		return -ENOMEM;
	}
	r->count++;
	return append(host, "shared", row);
}

/*
 * UDP port at which a rank receives. Each job on a host has its own range of
 * ports there.
 */
static int port_of(struct rows *r, const struct job *job, int rank)
{
	json_t *host = rows_host(r, job->worker[rank]), *row;
	const char *last = "", *name;
	int jobs = 0;
	size_t i;

	json_array_foreach(json_object_get(host, "shared"), i, row) {
		name = json_string_value(json_object_get(row, "job"));
		if (!json_object_get(row, "local") || !strcmp(name, job->name))
			continue;
		jobs += strcmp(name, last) != 0; /* rows are sorted by job */
		last = name;
	}
	return TRIB_UDP_PORT_WORKER + rank + TRIB_WORLD_MAX * jobs;
}

/**
 * struct pass - a tree while its rows are made
 * @number:    relay number, by node.
 * @port:      UDP port of each rank.
 * @ps:        address of the PS, the same on all paths.
 * @ps_relays: the PS's host relays.
 */
struct pass {
	struct rows *r;
	const struct job *job;
	const struct span *s;
	const int *number;
	int *port;
	const char *ps;
	bool ps_relays;
};

static const char *ps_addr(const struct plan_topology *t, const struct job *job)
{
	int arc = t->out[t->first[job->ps]];

	return t->link[arc / 2].addr[arc & 1];
}

/* The face at @node for @to at @port; NULL: no path, or no memory. */
static const char *face_to(const struct pass *p, int node, int to, int port)
{
	const char *name = p->r->model->t->node[to].name;
	struct way w;

	if (rows_way(p->r, node, to, &w))
		return NULL;
	return rows_face(p->r, node, name, w.first->dev[w.first_end],
			 to == p->job->ps ? p->ps : w.last->addr[w.last_end], port);
}

/* --- relays */

/* Text like "0-3,7" of the ranks that pass @at; the caller frees it. */
static char *ranks_by(const struct span *s, int at)
{
	char *text = calloc((size_t)s->n + 1, 6), *to = text;
	int i, last;

	for (i = 0; text && i < s->n; i++) {
		if (!span_passes(s, i, at))
			continue;
		for (last = i; last + 1 < s->n && span_passes(s, last + 1, at);)
			last++;
		to += sprintf(to, last > i ? "%s%d-%d" : "%s%d", to > text ? "," : "", i, last);
		i = last;
	}
	return text;
}

/* The children of relay @at. */
static json_t *children(const struct pass *p, int at)
{
	const struct span *s = p->s;
	json_t *list = json_array(), *child;
	int k, node = s->inner[at];
	const char *face;
	struct way w;

	for (k = 0; k < s->ninner + s->n; k++) {
		int rank = k - s->ninner;
		int from = rank < 0 ? s->inner[k] : s->at[rank];

		if (!span_is_child(s, at, k))
			continue;
		if (rows_way(p->r, from, node, &w))
			goto fail;
		face = rows_face(p->r, node, p->r->model->t->node[from].name,
				 w.last->dev[w.last_end], w.first->addr[w.first_end],
				 rank < 0 ? TRIB_UDP_PORT : p->port[rank]);
		child = face ? json_pack("{s:s}", "face", face) : NULL;
		if (rank >= 0)
			json_object_set_new(child, "rank", json_integer(rank));
		if (json_array_append_new(list, child))
			goto fail;
	}
	return list;
fail:
	json_decref(list);
	return NULL;
}

/* The face of the parent of relay @at. */
static const char *parent_of(const struct pass *p, int at)
{
	int up = p->s->up[at], node = p->s->inner[at];

	/* On the PS's host, trib-ps is at the far end of the LOCAL pair. */
	if (up < 0)
		return rows_face(p->r, node, "ps", TRIB_LOCAL_PORT,
				 strchr(p->ps, ':') ? TRIB_LOCAL_PEER_V6 : TRIB_LOCAL_PEER_V4,
				 TRIB_UDP_PORT_PS);
	return face_to(p, node, p->s->inner[up],
		       up || p->ps_relays ? TRIB_UDP_PORT : TRIB_UDP_PORT_PS);
}

static int add_relay(const struct pass *p, int at)
{
	const struct span *s = p->s;
	int node = s->inner[at], up = s->up[at], next = TRIB_RELAY_PS;
	char *workers = ranks_by(s, at);
	json_t *list = children(p, at);
	const char *parent = parent_of(p, at);
	int err = -ENOMEM;

	if (up > 0 || (!up && p->ps_relays))
		next = p->number[s->inner[up]];
	if (workers && list && parent)
		err = put(p->r, s, node,
			  json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:O, s:s}", "role", "relay",
				    "job", p->job->name, "id", s->id, "relay", p->number[node],
				    "next", next, "parent", parent, "children", list, "workers",
				    workers));
	free(workers);
	json_decref(list);
	return err;
}

/* --- workers and PS */

static int add_worker(const struct pass *p, int rank)
{
	const struct span *s = p->s;
	const int last = p->ps_relays ? 0 : 1;
	json_t *hops = json_array(), *hop;
	int at;

	for (at = s->worker_up[rank]; at >= last; at = s->up[at]) {
		const char *face = face_to(p, s->at[rank], s->inner[at], TRIB_UDP_PORT);

		hop = face ? json_pack("{s:i, s:s}", "relay", p->number[s->inner[at]], "face", face)
			   : NULL;
		if (json_array_append_new(hops, hop)) {
			json_decref(hops);
			return -ENOMEM;
		}
	}
	return put(p->r, s, s->at[rank],
		   json_pack("{s:s, s:s, s:i, s:[{s:i, s:i}], s:s, s:i, s:o}", "role", "worker",
			     "job", p->job->name, "id", s->id, "local", "rank", rank, "port",
			     p->port[rank], "ps", p->ps, "ps_port", TRIB_UDP_PORT_PS, "hops",
			     hops));
}

/* Addresses to which the PS sends a tree's results. */
static json_t *group(const struct pass *p, const json_t *workers)
{
	const struct span *s = p->s;
	json_t *list = json_array();
	struct way w;
	int i;

	if (p->ps_relays) {
		json_array_append_new(list, json_string("local"));
		return list;
	}
	for (i = 1; i < s->ninner; i++)
		if (span_is_child(s, 0, i) && !rows_way(p->r, p->job->ps, s->inner[i], &w))
			json_array_append_new(list,
					      address(w.last->addr[w.last_end], TRIB_UDP_PORT));
	for (i = 0; i < s->n; i++)
		if (!s->worker_up[i])
			json_array_append(list, json_array_get(workers, (size_t)i));
	return list;
}

/* The PS's row of the job, made for the job's first tree. */
static json_t *ps_row(const struct pass *p)
{
	const struct job *job = p->job;
	json_t *row, *workers;
	struct way w;
	size_t k;
	int i;

	json_array_foreach(json_object_get(rows_host(p->r, job->ps), "shared"), k, row)
		if (!strcmp(json_string_value(json_object_get(row, "role")), "ps") &&
		    !strcmp(json_string_value(json_object_get(row, "job")), job->name))
			return row;
	row = json_pack("{s:s, s:s, s:i, s:o, s:[], s:[]}", "role", "ps", "job", job->name,
			"number", job->id, "listen", address(p->ps, TRIB_UDP_PORT_PS), "workers",
			"trees");
	workers = json_object_get(row, "workers");
	for (i = 0; i < job->nworkers; i++) {
		if (rows_way(p->r, job->worker[i], job->ps, &w)) {
			json_decref(row);
			return NULL;
		}
		json_array_append_new(workers, address(w.first->addr[w.first_end], p->port[i]));
	}
	return put(p->r, NULL, job->ps, row) ? NULL : row;
}

static int add_ps(const struct pass *p)
{
	json_t *row = ps_row(p), *tree;

	if (!row)
		return -ENOMEM;
	/* Results for the relay on this host leave by the LOCAL pair. */
	if (p->ps_relays)
		json_object_set_new(
			row, "listen",
			address(strchr(p->ps, ':') ? "::" : "0.0.0.0", TRIB_UDP_PORT_PS));
	tree = json_pack("{s:i, s:o}", "id", p->s->id, "group",
			 group(p, json_object_get(row, "workers")));
	return json_array_append_new(json_object_get(row, "trees"), tree) ? -ENOMEM : 0;
}

int rows_add_shared(struct rows *r, const struct job *job, const struct span *s, const int *number)
{
	struct pass p = {.r = r,
			 .job = job,
			 .s = s,
			 .number = number,
			 .port = calloc((size_t)s->n + 1, sizeof(*p.port)),
			 .ps = ps_addr(r->model->t, job),
			 .ps_relays = span_ps_relays(s, job)};
	int i, err;

	if (!p.port)
		return -ENOMEM;
	for (i = 0; i < s->n; i++)
		p.port[i] = port_of(r, job, i);
	err = add_ps(&p);
	for (i = p.ps_relays ? 0 : 1; !err && i < s->ninner; i++)
		if (span_is_used(s, i))
			err = add_relay(&p, i);
	for (i = 0; !err && i < s->n; i++)
		err = add_worker(&p, i);
	free(p.port);
	return err;
}
