// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the rows of hosts for dedicated pools. A face is named after the
 * neighbour it leads to. Where several children are behind one port and in one
 * Ethernet segment, results leave it once, to a multicast group of their own.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"

int rows_new(struct rows **out, struct net *net, struct plan_error *err)
{
	struct rows *r = calloc(1, sizeof(*r));

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->net = net;
	r->err = err;
	r->host = calloc((size_t)net->t->nnodes, sizeof(*r->host));
	r->faces = calloc((size_t)net->t->nnodes, sizeof(*r->faces));
	if (!r->host || !r->faces) {
		rows_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void rows_free(struct rows *r)
{
	int i;

	if (!r)
		return;
	for (i = 0; r->host && r->faces && i < r->net->t->nnodes; i++) {
		json_decref(r->host[i]);
		json_decref(r->faces[i]);
	}
	free(r->host);
	free(r->faces);
	free(r);
}

json_t *rows_host(struct rows *r, int node)
{
	if (!r->host[node]) {
		r->host[node] = json_pack("{s:s, s:[], s:[], s:[]}", "host",
					  r->net->t->node[node].name, "faces",
					  "jobs", "trees");
		r->faces[node] = json_object();
	}
	return r->host[node] && r->faces[node] ? r->host[node] : NULL;
}

const char *rows_face(struct rows *r, int node, const char *peer,
		      const char *dev, const char *addr, int port)
{
	json_t *row = rows_host(r, node), *known, *list, *f;
	char key[TOPO_DEV + TOPO_ADDR + 16], name[TOPO_NAME];
	char base[TOPO_NAME];
	bool taken = true;
	int nth;
	size_t i;

	if (!row)
		return NULL;
	snprintf(key, sizeof(key), "%s %s %d", dev, addr, port);
	known = json_object_get(r->faces[node], key);
	if (known)
		return json_string_value(known);
	list = json_object_get(row, "faces");
	/* Plans come one after the other: another port is another face. */
	if (port == TRIB_UDP_PORT)
		snprintf(base, sizeof(base), "%s", peer);
	else
		snprintf(base, sizeof(base), "%.56s-%d", peer, port);
	/* Another way to the same neighbour gets a number. */
	for (nth = 1; taken; nth++) {
		snprintf(name, sizeof(name), nth > 1 ? "%.56s~%d" : "%s", base,
			 nth);
		taken = false;
		json_array_foreach(list, i, f)
			taken |= !strcmp(
				json_string_value(json_object_get(f, "name")),
				name);
	}
	f = json_pack("{s:s, s:s, s:s}", "name", name, "dev", dev, "addr",
		      addr);
	if (port != TRIB_UDP_PORT)
		json_object_set_new(f, "port", json_integer(port));
	if (json_array_append_new(list, f) ||
	    json_object_set_new(r->faces[node], key, json_string(name)))
		return NULL;
	return json_string_value(json_object_get(r->faces[node], key));
}

int rows_way(struct rows *r, int from, int to, struct way *w)
{
	const struct plan_topology *t = r->net->t;
	int arcs[NET_HOPS], n = net_path(r->net, from, to, arcs);

	if (n < 1)
		return -ENETUNREACH;
	w->first = &t->link[arcs[0] / 2];
	w->first_end = arcs[0] & 1;
	w->last = &t->link[arcs[n - 1] / 2];
	w->last_end = !(arcs[n - 1] & 1);
	return 0;
}

int rows_add_job(struct rows *r, const struct job *job, double rate,
		 const struct span *s)
{
	int i, k;

	for (i = 0; i < s->n + s->ninner; i++) {
		int node = i < s->n ? s->at[i] : s->inner[i - s->n];
		json_t *row, *jobs, *j, *v;
		bool known = false;

		/* trib-ps has a file; tribd is there if it relays. */
		if (job->shared && node == job->ps && !rows_ps_relays(job, s))
			continue;
		row = rows_host(r, node);
		if (!row)
			return -ENOMEM;
		jobs = json_object_get(row, "jobs");
		for (k = 0; k < (int)json_array_size(jobs); k++) {
			v = json_object_get(json_array_get(jobs, (size_t)k),
					    "name");
			known |= !strcmp(json_string_value(v), job->name);
		}
		if (known)
			continue;
		j = json_pack("{s:s, s:i, s:i}", "name", job->name, "id",
			      job->id, "world", job->nworkers);
		if (*job->cookie)
			json_object_set_new(j, "cookie",
					    json_string(job->cookie));
		if (job->window)
			json_object_set_new(j, "window",
					    json_integer(job->window));
		if (job->timeout)
			json_object_set_new(j, "timeout",
					    json_integer(job->timeout));
		if (job->dtype)
			json_object_set_new(j, "dtype",
					    json_string(job->dtype));
		if (job->owner)
			json_object_set(j, "owner", job->owner);
		json_object_set_new(j, "rate",
				    json_integer((json_int_t)floor(rate)));
		if (!j || json_array_append_new(jobs, j))
			return -ENOMEM;
	}
	return 0;
}

/**
 * struct kid - a child of an inner node
 * @rank: of a worker, -1: an inner node. @index: among the children.
 * @segment: behind @dev is a switch without an address, which does not route.
 */
struct kid {
	int node, rank;
	const char *face, *dev;
	bool segment;
};

/* Workers by rank, then relays in the tree's order. */
static int list_kids(struct rows *r, const struct span *s, int at,
		     struct kid *kid, int *index_of_rank, int *index_of_inner)
{
	int i, n = 0, node = s->inner[at];
	struct way w;

	for (i = 0; i < s->n; i++)
		if (s->worker_up[i] == at) {
			if (n == TRIB_CHILDREN_MAX)
				return -E2BIG;
			index_of_rank[i] = n;
			kid[n++] = (struct kid){.node = s->at[i], .rank = i};
		}
	for (i = 0; i < s->ninner; i++)
		if (s->up[i] == at) {
			if (n == TRIB_CHILDREN_MAX)
				return -E2BIG;
			index_of_inner[i] = n;
			kid[n++] =
				(struct kid){.node = s->inner[i], .rank = -1};
		}
	for (i = 0; i < n; i++) {
		if (kid[i].node == node) {
			kid[i].dev = TRIB_LOCAL_PORT;
			kid[i].face =
				rows_face(r, node, "local", TRIB_LOCAL_PORT,
					  TRIB_LOCAL_PEER_V4, TRIB_UDP_PORT);
			r->local = true;
		} else if (!rows_way(r, kid[i].node, node, &w)) {
			kid[i].dev = w.last->dev[w.last_end];
			kid[i].face = rows_face(
				r, node, r->net->t->node[kid[i].node].name,
				kid[i].dev, w.first->addr[w.first_end],
				TRIB_UDP_PORT);
			kid[i].segment =
				!strcmp(w.last->addr[!w.last_end], "-");
		}
		if (!kid[i].face)
			return -ENOMEM;
	}
	return n;
}

/*
 * Multicast faces, for ports with several children in one Ethernet segment.
 * Where a router is in between, which would have to know the group, tribd
 * sends each child its own copy.
 */
static json_t *list_down(struct rows *r, int node, int tree,
			 const struct kid *kid, int n)
{
	char name[TOPO_NAME], addr[TOPO_ADDR];
	json_t *down = json_array();
	const char *face;
	int i, k, count;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && strcmp(kid[k].dev, kid[i].dev);)
			k++;
		if (k < i || !kid[i].segment)
			continue; /* its port was seen, or cannot */
		for (count = 0; k < n; k++)
			count += !strcmp(kid[k].dev, kid[i].dev);
		if (count < 2)
			continue;
		snprintf(name, sizeof(name), "tree%d-%s", tree, kid[i].dev);
		snprintf(addr, sizeof(addr), "239.77.%d.%d",
			 (r->groups >> 8) & 255, r->groups & 255);
		r->groups++;
		r->multicast = true;
		face = rows_face(r, node, name, kid[i].dev, addr,
				 TRIB_UDP_PORT);
		if (!face || json_array_append_new(down, json_string(face))) {
			json_decref(down);
			return NULL;
		}
	}
	return down;
}

static json_t *kids_json(const struct kid *kid, int n)
{
	json_t *list = json_array(), *k;
	int i;

	for (i = 0; i < n; i++) {
		k = json_pack("{s:s}", "face", kid[i].face);
		if (kid[i].rank >= 0)
			json_object_set_new(k, "rank",
					    json_integer(kid[i].rank));
		json_array_append_new(list, k);
	}
	return list;
}

/* Face and index of the parent into a row. */
static int put_parent(struct rows *r, json_t *row, int node, int parent,
		      int index)
{
	const char *face;
	struct way w;

	if (rows_way(r, node, parent, &w))
		return -ENETUNREACH;
	face = rows_face(r, node, r->net->t->node[parent].name,
			 w.first->dev[w.first_end], w.last->addr[w.last_end],
			 TRIB_UDP_PORT);
	if (!face || json_object_set_new(row, "parent", json_string(face)) ||
	    json_object_set_new(row, "index", json_integer(index)))
		return -ENOMEM;
	return 0;
}

static int put_row(struct rows *r, const struct span *s, int node, json_t *row)
{
	json_t *host = rows_host(r, node);

	if (row && s->weight)
		json_object_set_new(row, "weight", json_integer(s->weight));
	r->count++;
	return host && row &&
			       !json_array_append_new(
				       json_object_get(host, "trees"), row)
		       ? 0
		       : -ENOMEM;
}

static int add_inner(struct rows *r, const struct job *job,
		     const struct span *s, int at, const int *index_of_inner,
		     const struct kid *kid, int n)
{
	json_t *row = json_pack("{s:i, s:s, s:o}", "id", s->id, "job",
				job->name, "children", kids_json(kid, n));
	json_t *down = list_down(r, s->inner[at], s->id, kid, n), *local;
	int i, err = row && down ? 0 : -ENOMEM;

	if (!err && json_array_size(down))
		json_object_set(row, "down", down);
	json_decref(down);
	local = json_array();
	for (i = 0; !err && i < n; i++)
		if (kid[i].node == s->inner[at])
			json_array_append_new(
				local, json_pack("{s:i, s:i}", "rank",
						 kid[i].rank, "index", i));
	if (!err && json_array_size(local))
		json_object_set(row, "local", local);
	json_decref(local);
	if (!err && s->up[at] >= 0)
		err = put_parent(r, row, s->inner[at], s->inner[s->up[at]],
				 index_of_inner[at]);
	if (err) {
		json_decref(row);
		return err;
	}
	return put_row(r, s, s->inner[at], row);
}

static int add_leaf(struct rows *r, const struct job *job, const struct span *s,
		    int rank, int index)
{
	json_t *row =
		json_pack("{s:i, s:s, s:[{s:i, s:i}]}", "id", s->id, "job",
			  job->name, "local", "rank", rank, "index", index);
	int err = row ? put_parent(r, row, s->at[rank],
				   s->inner[s->worker_up[rank]], index)
		      : -ENOMEM;

	if (err) {
		json_decref(row);
		return err;
	}
	return put_row(r, s, s->at[rank], row);
}

int rows_add_tree(struct rows *r, const struct job *job, const struct span *s)
{
	int *of_rank = calloc((size_t)s->n + 1, sizeof(int));
	int *of_inner = calloc((size_t)s->ninner + 1, sizeof(int));
	struct kid *kids =
		calloc((size_t)s->ninner * TRIB_CHILDREN_MAX, sizeof(*kids));
	int *n = calloc((size_t)s->ninner + 1, sizeof(int)), i, err = 0;

	if (!of_rank || !of_inner || !kids || !n)
		err = -ENOMEM;
	for (i = 0; !err && i < s->ninner; i++) {
		n[i] = list_kids(r, s, i, kids + i * TRIB_CHILDREN_MAX, of_rank,
				 of_inner);
		if (n[i] < 0)
			err = n[i];
	}
	for (i = 0; !err && i < s->ninner; i++)
		err = add_inner(r, job, s, i, of_inner,
				kids + i * TRIB_CHILDREN_MAX, n[i]);
	for (i = 0; !err && i < s->n; i++)
		if (s->at[i] != s->inner[s->worker_up[i]])
			err = add_leaf(r, job, s, i, of_rank[i]);
	free(of_rank);
	free(of_inner);
	free(kids);
	free(n);
	return err;
}

json_t *rows_take(struct rows *r)
{
	json_t *out = json_array();
	int i;

	for (i = 0; out && i < r->net->t->nnodes; i++) {
		if (!r->host[i])
			continue;
		if (json_array_append(out, r->host[i])) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}
