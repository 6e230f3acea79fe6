// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees and rates by formula. BCube: family e starts at level e. In step i, the
 * servers under one switch of level (e + i) mod k send their partial sums to
 * the server among them with the owner's digit. Torus: rows reduce and scatter,
 * columns sum, rows gather.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

static int servers(const struct plan_topology *t)
{
	int n = 1, i;

	for (i = 0; i < t->q; i++)
		n *= t->p;
	return n;
}

int families_bcube_count(const struct plan_topology *t)
{
	return t->q * servers(t);
}

/* Number of server @v with its digit at @level replaced by the owner's. */
static int with_digit(const struct plan_topology *t, int v, int owner, int level)
{
	int low = 1, i;

	for (i = 0; i < level; i++)
		low *= t->p;
	return v + (topo_bcube_digit(t, owner, level) - topo_bcube_digit(t, v, level)) * low;
}

/*
 * The step in which @v sends: the first level at which its digit differs from
 * the owner's. k: @v is the owner and never sends.
 */
static int sends_at(const struct plan_topology *t, int family, int v, int owner)
{
	int i, level;

	for (i = 0; i < t->q; i++) {
		level = (family + i) % t->q;
		if (topo_bcube_digit(t, v, level) != topo_bcube_digit(t, owner, level))
			return i;
	}
	return t->q;
}

/*
 * Owner of part @part of the family's range: the server whose digits at levels
 * e, e + 1, ... are the digits of @part, highest first.
 */
static int owner_of(const struct plan_topology *t, int family, int part)
{
	int rest = servers(t), owner = 0, i, digit, level, low, k;

	for (i = 0; i < t->q; i++) {
		rest /= t->p;
		digit = part / rest % t->p;
		level = (family + i) % t->q;
		low = 1;
		for (k = 0; k < level; k++)
			low *= t->p;
		owner += digit * low;
	}
	return owner;
}

void families_bcube_tree(const struct plan_topology *t, int i, struct span *s, int *family,
			 int *owner)
{
	int n = servers(t), v, step, *place = calloc((size_t)n, sizeof(int));
	int e = i / n, o = owner_of(t, e, i % n), parent;

	*family = e;
	*owner = o;
	s->n = n;
	s->ninner = 0;
	if (!place)
		return;
	/* Parents first: the servers that send last. */
	for (step = t->q; step > 0; step--)
		for (v = 0; v < n; v++) {
			if (sends_at(t, e, v, o) != step)
				continue;
			place[v] = s->ninner;
			s->inner[s->ninner] = v;
			s->up[s->ninner] = -1;
			if (step < t->q) {
				parent = with_digit(t, v, o, (e + step) % t->q);
				s->up[s->ninner] = place[parent];
			}
			s->ninner++;
		}
	for (v = 0; v < n; v++) {
		step = sends_at(t, e, v, o);
		s->worker_up[v] = step ? place[v] : place[with_digit(t, v, o, e % t->q)];
	}
	free(place);
}

static double least_capacity(const struct plan_topology *t)
{
	double least = t->link[0].cap;
	int i;

	for (i = 1; i < t->nlinks; i++)
		if (t->link[i].cap < least)
			least = t->link[i].cap;
	return least;
}

/* Each port carries 2 (W - 1) / (W k) of the message. */
double families_bcube_rate(const struct plan_topology *t)
{
	double w = servers(t);

	return least_capacity(t) * w * t->q / (2 * (w - 1));
}

double families_torus_rate(const struct plan_topology *t)
{
	double w = (double)t->p * t->q;

	return least_capacity(t) * w / (2 * (w - 1));
}
