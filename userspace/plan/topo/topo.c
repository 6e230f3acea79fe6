// SPDX-License-Identifier: BSD-2-Clause
/*
 * Builds a topology in memory and looks up nodes.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

struct plan_topology *topo_new(const char *name)
{
	struct plan_topology *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->index = json_object();
	if (!t->index) {
		free(t);
		return NULL;
	}
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->unplaced = -1;
	return t;
}

void plan_topology_free(struct plan_topology *t)
{
	if (!t)
		return;
	json_decref(t->index);
	free(t->node);
	free(t->link);
	free(t->first);
	free(t->out);
	free(t);
}

/* Make room for one more element of @size bytes. */
static int grow(void **array, int n, int *room, size_t size)
{
	int want = *room ? *room * 2 : 64;
	void *p;

	if (n < *room)
		return 0;
	p = realloc(*array, (size_t)want * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = want;
	return 0;
}

int topo_add_node(struct plan_topology *t, const char *name, bool host)
{
	struct topo_node *n;

	if (json_object_get(t->index, name))
		return -EEXIST;
	if (grow((void **)&t->node, t->nnodes, &t->node_room, sizeof(*n)) ||
	    json_object_set_new(t->index, name, json_integer(t->nnodes)))
		return -ENOMEM;
	n = &t->node[t->nnodes];
	*n = (struct topo_node){.host = host, .relay = !host, .rate = INFINITY};
	snprintf(n->name, sizeof(n->name), "%s", name);
	return t->nnodes++;
}

int topo_add_link(struct plan_topology *t, int a, int b, double cap)
{
	struct topo_link *l;

	if (grow((void **)&t->link, t->nlinks, &t->link_room, sizeof(*l)))
		return -ENOMEM;
	l = &t->link[t->nlinks];
	*l = (struct topo_link){.a = a, .b = b, .cap = cap};
	return t->nlinks++;
}

int topo_find(const struct plan_topology *t, const char *name)
{
	const json_t *v = json_object_get(t->index, name);

	return v ? (int)json_integer_value(v) : -1;
}

int topo_finish(struct plan_topology *t)
{
	int i, e, *at;

	t->first = calloc((size_t)t->nnodes + 1, sizeof(int));
	t->out = calloc((size_t)t->nlinks * 2 + 1, sizeof(int));
	at = calloc((size_t)t->nnodes + 1, sizeof(int));
	if (!t->first || !t->out || !at) {
		free(at);
		return -ENOMEM;
	}
	for (i = 0; i < 2 * t->nlinks; i++)
		t->first[arc_from(t, i) + 1]++;
	for (i = 0; i < t->nnodes; i++)
		t->first[i + 1] += t->first[i];
	memcpy(at, t->first, ((size_t)t->nnodes + 1) * sizeof(int));
	for (i = 0; i < 2 * t->nlinks; i++)
		t->out[at[arc_from(t, i)]++] = i;
	free(at);
	for (i = 0; i < t->nlinks && t->unplaced < 0; i++)
		for (e = 0; e < 2 && t->unplaced < 0; e++)
			if (!*t->link[i].dev[e] || !*t->link[i].addr[e])
				t->unplaced = 2 * i + e;
	return 0;
}
