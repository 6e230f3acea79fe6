// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of trees on dedicated pools. Where several children are behind one port
 * and in one Ethernet segment, a result leaves that port once, to a multicast
 * group of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"

/**
 * struct kid - a child of an inner node
 * @rank:    rank of a worker, -1: an inner node.
 * @face, @dev: face of the child at the inner node, and its port.
 * @segment: the switch behind @dev does not route.
 */
struct kid {
	int node, rank;
	const char *face, *dev;
	bool segment;
};

/* List the children, workers by rank before relays; their number. */
static int list_kids(struct rows *r, const struct span *s, int at, struct kid *kid,
		     int *index_of_rank, int *index_of_inner)
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
			kid[n++] = (struct kid){.node = s->inner[i], .rank = -1};
		}
	for (i = 0; i < n; i++) {
		if (kid[i].node == node) {
			kid[i].dev = TRIB_LOCAL_PORT;
			kid[i].face = rows_face(r, node, "local", TRIB_LOCAL_PORT,
						TRIB_LOCAL_PEER_V4, TRIB_UDP_PORT);
			r->local = true;
		} else if (!rows_way(r, kid[i].node, node, &w)) {
			kid[i].dev = w.last->dev[w.last_end];
			kid[i].face =
				rows_face(r, node, r->model->t->node[kid[i].node].name, kid[i].dev,
					  w.first->addr[w.first_end], TRIB_UDP_PORT);
			kid[i].segment = !strcmp(w.last->addr[!w.last_end], "-");
		}
		if (!kid[i].face)
			return -ENOMEM;
	}
	return n;
}

static int node_cmp(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * The number of the multicast group from port @dev of @node to its children there. Trees in
 * which these are the same nodes share it.
 */
static int group_of(struct rows *r, int node, const char *dev, const struct kid *kid, int n)
{
	char key[32 + TOPO_DEV + TRIB_CHILDREN_MAX * 12];
	int member[TRIB_CHILDREN_MAX], count = 0, at, i;
	json_t *known;

	for (i = 0; i < n; i++)
		if (!strcmp(kid[i].dev, dev))
			member[count++] = kid[i].node;
	qsort(member, (size_t)count, sizeof(member[0]), node_cmp);
	at = snprintf(key, sizeof(key), "%d %s", node, dev);
	for (i = 0; i < count; i++)
		at += snprintf(key + at, sizeof(key) - (size_t)at, " %d", member[i]);
	known = json_object_get(r->groups, key);
	if (!known) {
		known = json_integer((json_int_t)json_object_size(r->groups));
		if (json_object_set_new(r->groups, key, known))
			return -ENOMEM;
	}
	return (int)json_integer_value(known);
}

/* Multicast face of @node for its children behind @dev. */
static const char *group_face(struct rows *r, int node, const char *dev, const struct kid *kid,
			      int n)
{
	int number = group_of(r, node, dev, kid, n);
	char name[TOPO_NAME], addr[TOPO_ADDR];

	if (number < 0)
		return NULL;
	snprintf(name, sizeof(name), "all-%s", dev);
	snprintf(addr, sizeof(addr), "239.77.%d.%d", (number >> 8) & 255, number & 255);
	r->multicast = true;
	return rows_face(r, node, name, dev, addr, TRIB_UDP_PORT);
}

/*
 * List multicast faces for ports with several children in one Ethernet segment.
 * A router would have to know the group, so behind routers tribd sends each
 * child its own copy.
 */
static json_t *list_down(struct rows *r, int node, const struct kid *kid, int n)
{
	json_t *down = json_array();
	const char *face;
	int i, k, count;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && strcmp(kid[k].dev, kid[i].dev);)
			k++;
		if (k < i || !kid[i].segment)
			continue;
		for (count = 0; k < n; k++)
			count += !strcmp(kid[k].dev, kid[i].dev);
		if (count < 2)
			continue;
		face = group_face(r, node, kid[i].dev, kid, n);
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
			json_object_set_new(k, "rank", json_integer(kid[i].rank));
		json_array_append_new(list, k);
	}
	return list;
}

/* Face and index of the parent into a row. */
static int put_parent(struct rows *r, json_t *row, int node, int parent, int index)
{
	const char *face;
	struct way w;

	if (rows_way(r, node, parent, &w))
		return -ENETUNREACH;
	face = rows_face(r, node, r->model->t->node[parent].name, w.first->dev[w.first_end],
			 w.last->addr[w.last_end], TRIB_UDP_PORT);
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
	return host && row && !json_array_append_new(json_object_get(host, "trees"), row) ? 0
											  : -ENOMEM;
}

static int add_inner(struct rows *r, const struct job *job, const struct span *s, int at,
		     const int *index_of_inner, const struct kid *kid, int n)
{
	json_t *row = json_pack("{s:i, s:s, s:o}", "id", s->id, "job", job->name, "children",
				kids_json(kid, n));
	json_t *down = list_down(r, s->inner[at], kid, n), *local;
	int i, err = row && down ? 0 : -ENOMEM;

	if (!err && json_array_size(down))
		json_object_set(row, "down", down);
	json_decref(down);
	local = json_array();
	for (i = 0; !err && i < n; i++)
		if (kid[i].node == s->inner[at])
			json_array_append_new(
				local, json_pack("{s:i, s:i}", "rank", kid[i].rank, "index", i));
	if (!err && json_array_size(local))
		json_object_set(row, "local", local);
	json_decref(local);
	if (!err && s->up[at] >= 0)
		err = put_parent(r, row, s->inner[at], s->inner[s->up[at]], index_of_inner[at]);
	if (err) {
		json_decref(row);
		return err;
	}
	return put_row(r, s, s->inner[at], row);
}

static int add_leaf(struct rows *r, const struct job *job, const struct span *s, int rank,
		    int index)
{
	json_t *row = json_pack("{s:i, s:s, s:[{s:i, s:i}]}", "id", s->id, "job", job->name,
				"local", "rank", rank, "index", index);
	int err = row ? put_parent(r, row, s->at[rank], s->inner[s->worker_up[rank]], index)
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
	struct kid *kids = calloc((size_t)s->ninner * TRIB_CHILDREN_MAX, sizeof(*kids));
	int *n = calloc((size_t)s->ninner + 1, sizeof(int)), i, err = 0;

	if (!of_rank || !of_inner || !kids || !n)
		err = -ENOMEM;
	for (i = 0; !err && i < s->ninner; i++) {
		n[i] = list_kids(r, s, i, kids + i * TRIB_CHILDREN_MAX, of_rank, of_inner);
		if (n[i] < 0)
			err = n[i];
	}
	for (i = 0; !err && i < s->ninner; i++)
		err = add_inner(r, job, s, i, of_inner, kids + i * TRIB_CHILDREN_MAX, n[i]);
	for (i = 0; !err && i < s->n; i++)
		if (s->at[i] != s->inner[s->worker_up[i]])
			err = add_leaf(r, job, s, i, of_rank[i]);
	free(of_rank);
	free(of_inner);
	free(kids);
	free(n);
	return err;
}
