// SPDX-License-Identifier: BSD-2-Clause
/*
 * Computes paths: see paths.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "paths.h"

#define FAR 0xffff

/* One step of splitmix64. */
static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

bool paths_forwards(const struct plan_topology *t, int node)
{
	return !t->node[node].host || t->forward;
}

/* Compute the distances to @to over nodes that forward. */
static int measure(struct paths *p, int to)
{
	const struct plan_topology *t = p->t;
	unsigned short *d = malloc((size_t)t->nnodes * sizeof(*d));
	int *queue = malloc((size_t)t->nnodes * sizeof(int));
	int head = 0, tail = 0, i, v, u;

	if (!d || !queue) {
		free(d);
		free(queue);
		return -ENOMEM;
	}
	for (i = 0; i < t->nnodes; i++)
		d[i] = FAR;
	d[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		v = queue[head++];
		if (v != to && !paths_forwards(t, v))
			continue;
		for (i = t->first[v]; i < t->first[v + 1]; i++) {
			u = arc_to(t, t->out[i]);
			if (d[u] != FAR)
				continue;
			d[u] = (unsigned short)(d[v] + 1);
			queue[tail++] = u;
		}
	}
	free(queue);
	p->dist[to] = d;
	return 0;
}

/* True if arc @arc out of @at is on a shortest path to @to. */
static bool leads(const struct paths *p, int arc, int at, int to)
{
	const unsigned short *d = p->dist[to];
	int v = arc_to(p->t, arc);

	return d[v] + 1 == d[at] && (v == to || paths_forwards(p->t, v));
}

/* The arc that @at chooses for packets from @from to @to. */
static int next_arc(const struct paths *p, int from, int to, int at)
{
	const struct plan_topology *t = p->t;
	int i, k = 0, pick = 0;

	for (i = t->first[at]; i < t->first[at + 1]; i++)
		k += leads(p, t->out[i], at, to);
	if (k > 1)
		pick = (int)(mix((uint64_t)from << 42 | (uint64_t)to << 21 | (uint64_t)at) %
			     (uint64_t)k);
	for (i = t->first[at]; i < t->first[at + 1]; i++)
		if (leads(p, t->out[i], at, to) && !pick--)
			break;
	return t->out[i];
}

static void reverse(int *arcs, int len)
{
	int i, arc;

	for (i = 0; i < (len + 1) / 2; i++) {
		arc = arcs[i];
		arcs[i] = arcs[len - 1 - i] ^ 1;
		arcs[len - 1 - i] = arc ^ 1;
	}
}

int paths_inner(struct paths *p, int from, int to, int arcs[PATHS_HOPS])
{
	int a = from < to ? from : to, b = from < to ? to : from;
	int at = a, len = 0;

	if (!p->dist[b] && measure(p, b))
		return -1;
	if (p->dist[b][a] == FAR || p->dist[b][a] > PATHS_HOPS - 2)
		return -1;
	while (at != b) {
		arcs[len] = next_arc(p, a, b, at);
		at = arc_to(p->t, arcs[len++]);
	}
	if (a != from)
		reverse(arcs, len);
	return len;
}

int paths_arcs(struct paths *p, int from, int to, int arcs[PATHS_HOPS])
{
	int a = p->attach[from], b = p->attach[to], len = 0, more;

	if (from == to)
		return 0;
	if (p->up[from] >= 0)
		arcs[len++] = p->up[from];
	if (a != from && a == to)
		return len;
	more = paths_inner(p, a, b, arcs + len);
	if (more < 0)
		return -1;
	len += more;
	if (p->up[to] >= 0)
		arcs[len++] = p->up[to] ^ 1;
	return len;
}

static void attach(struct paths *p)
{
	const struct plan_topology *t = p->t;
	int i, arc, to;

	for (i = 0; i < t->nnodes; i++) {
		p->attach[i] = i;
		p->up[i] = -1;
		if (!t->node[i].host || t->first[i + 1] - t->first[i] != 1)
			continue;
		arc = t->out[t->first[i]];
		to = arc_to(t, arc);
		if (t->node[to].host)
			continue;
		p->attach[i] = to;
		p->up[i] = arc;
	}
}

struct paths *paths_new(const struct plan_topology *t)
{
	struct paths *p = calloc(1, sizeof(*p));
	size_t n = (size_t)t->nnodes;

	if (!p)
		return NULL;
	p->t = t;
	p->attach = calloc(n, sizeof(int));
	p->up = calloc(n, sizeof(int));
	p->dist = calloc(n, sizeof(*p->dist));
	if (!p->attach || !p->up || !p->dist) {
		paths_free(p);
		return NULL;
	}
	attach(p);
	return p;
}

void paths_free(struct paths *p)
{
	int i;

	if (!p)
		return;
	for (i = 0; p->dist && i < p->t->nnodes; i++)
		free(p->dist[i]);
	free(p->dist);
	free(p->up);
	free(p->attach);
	free(p);
}
