// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns trees and schedules by formula. BCube: family e begins at level e; in
 * step i the servers under one switch of level (e + i) mod k hand what they
 * hold to the one among them that has the owner's digit. Torus: rows reduce
 * and scatter, columns sum, rows gather.
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

int bcube_trees(const struct plan_topology *t)
{
	return t->q * servers(t);
}

/* Server @v with the digit of @owner at @level. */
static int with_digit(const struct plan_topology *t, int v, int owner,
		      int level)
{
	int low = 1, i;

	for (i = 0; i < level; i++)
		low *= t->p;
	return v +
	       (bcube_digit(t, owner, level) - bcube_digit(t, v, level)) * low;
}

/*
 * The first step in which @v hands on, k: never, it is the owner. Until then
 * it has the owner's digits, so it collects.
 */
static int leaves_at(const struct plan_topology *t, int family, int v,
		     int owner)
{
	int i, level;

	for (i = 0; i < t->q; i++) {
		level = (family + i) % t->q;
		if (bcube_digit(t, v, level) != bcube_digit(t, owner, level))
			return i;
	}
	return t->q;
}

/*
 * Part i belongs to the server whose digits, taken at levels e, e + 1, ... are
 * those of i: section 2 of the design, as one number.
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

void bcube_tree(const struct plan_topology *t, int i, struct span *s,
		int *family, int *owner)
{
	int n = servers(t), v, step, *place = calloc((size_t)n, sizeof(int));
	int e = i / n, o = owner_of(t, e, i % n), parent;

	*family = e;
	*owner = o;
	s->n = n;
	s->ninner = 0;
	if (!place)
		return;
	/* Parents first: those that hand on last. */
	for (step = t->q; step > 0; step--)
		for (v = 0; v < n; v++) {
			if (leaves_at(t, e, v, o) != step)
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
		step = leaves_at(t, e, v, o);
		s->worker_up[v] =
			step ? place[v] : place[with_digit(t, v, o, e % t->q)];
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

/* 2 (W - 1) / (W k) of the message through each of the ports. */
double bcube_rate(const struct plan_topology *t)
{
	double w = servers(t);

	return least_capacity(t) * w * t->q / (2 * (w - 1));
}

double torus_rate(const struct plan_topology *t)
{
	double w = (double)t->p * t->q;

	return least_capacity(t) * w / (2 * (w - 1));
}

json_t *torus_exchange(const struct plan_topology *t)
{
	json_t *rows = json_array(), *cols = json_array(), *line;
	int r, c;

	for (r = 0; r < t->p; r++) {
		line = json_array();
		for (c = 0; c < t->q; c++)
			json_array_append_new(
				line, json_string(t->node[r * t->q + c].name));
		json_array_append_new(rows, line);
	}
	for (c = 0; c < t->q; c++) {
		line = json_array();
		for (r = 0; r < t->p; r++)
			json_array_append_new(
				line, json_string(t->node[r * t->q + c].name));
		json_array_append_new(cols, line);
	}
	return json_pack("{s:s, s:o, s:o}", "kind", "torus", "rows", rows,
			 "columns", cols);
}
