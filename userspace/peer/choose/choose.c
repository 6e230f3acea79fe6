// SPDX-License-Identifier: BSD-2-Clause
/* Compares all arrangements of ranks for a call, and says why one was chosen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer/choose/sim.h"

static void add(struct peer_choice *c, const struct peer_shape *shape)
{
	if (c->n < PEER_OPTIONS_MAX && !peer_shape_wrong(shape))
		c->option[c->n++].shape = *shape;
}

/* Matrices with both sides above one; primes fold the last leader. */
static void add_tori(struct peer_choice *c, struct peer_shape s, uint32_t leaders)
{
	uint32_t before = c->n;

	s.alg = PEER_ALG_TORUS;
	/* Its columns' halves are tried for what they bring; peer_shape_tune() bounds them. */
	for (s.rows = 2; s.rows <= leaders / 2; s.rows++) {
		s.cols = leaders / s.rows;
		if (s.rows * s.cols != leaders)
			continue;
		s.halving_below = UINT64_MAX;
		add(c, &s);
	}
	if (c->n == before && leaders > 3)
		add_tori(c, s, leaders - 1);
}

static void add_cubes(struct peer_choice *c, struct peer_shape s, uint32_t leaders)
{
	uint32_t k, last = 0;

	s.alg = PEER_ALG_BCUBE;
	for (k = s.nics; k >= 2; k--)
		if (peer_shape_bcube(leaders, k, &s.n, &s.k) && s.k != last) {
			add(c, &s);
			last = s.k;
		}
}

static void add_all(struct peer_choice *c, const struct peer_place *p)
{
	bool flat = p->intra == PEER_INTRA_NONE || p->machines == p->world;
	struct peer_shape s = {.world = p->world, .nics = p->nics};
	uint32_t leaders;

	if (!flat) {
		s.intra = p->intra;
		s.machine = p->machine;
		s.leader = p->leader;
		s.machines = p->machines;
	}
	s.tree_below = s.doubling_below = UINT64_MAX;
	leaders = peer_shape_leaders(&s);
	s.alg = PEER_ALG_RING;
	add(c, &s);
	s.alg = PEER_ALG_DIRECT;
	add(c, &s);
	s.alg = PEER_ALG_HALVING;
	add(c, &s);
	add_cubes(c, s, leaders);
	add_tori(c, s, leaders);
}

static bool has_ways(const struct peer_shape *s, enum peer_collective c)
{
	return c == PEER_BROADCAST && s->alg != PEER_ALG_RING && s->alg != PEER_ALG_TORUS;
}

/* The better one of both ways, where a shape has two. */
static double best_way(struct peer_shape *s, const struct peer_load *load,
		       const struct peer_costs *costs)
{
	struct peer_shape other = *s;
	double a = peer_cost(s, load, costs), b;

	if (s->alg == PEER_ALG_TORUS && s->rows > 2 && !(s->rows & (s->rows - 1)))
		other.halving_below = 0;
	else if (s->alg == PEER_ALG_HALVING && load->what.collective == PEER_ALLREDUCE)
		other.doubling_below = 0;
	else if (has_ways(s, load->what.collective))
		other.tree_below = 0;
	else
		return a;
	b = peer_cost(&other, load, costs);
	if (b < 0 || (a >= 0 && a <= b))
		return a;
	*s = other;
	return b;
}

static int by_time(const void *a, const void *b)
{
	const struct peer_option *x = a, *y = b;

	if ((x->seconds < 0) != (y->seconds < 0))
		return x->seconds < 0 ? 1 : -1;
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	/* Ties, which are rare, go to what is simpler. */
	if (x->shape.alg != y->shape.alg)
		return (int)x->shape.alg - (int)y->shape.alg;
	if (x->shape.k != y->shape.k)
		return (int)x->shape.k - (int)y->shape.k;
	return (int)x->shape.rows - (int)y->shape.rows;
}

void peer_shape_text(const struct peer_shape *s, char *buf, size_t room)
{
	const char *local = s->intra == PEER_INTRA_NONE ? "" : "hierarchy of ";

	if (s->intra == PEER_INTRA_ALLREDUCE && s->machines == 1)
		snprintf(buf, room, "one machine");
	else if (s->alg == PEER_ALG_TORUS)
		snprintf(buf, room, "%storus %ux%u", local, s->rows, s->cols);
	else if (s->alg == PEER_ALG_BCUBE)
		snprintf(buf, room, "%sbcube %u^%u", local, s->n, s->k);
	else
		snprintf(buf, room, "%s%s", local, peer_alg_name(s->alg));
}

static const char *time_text(double t, char *buf, size_t room)
{
	const char *unit = t >= 1 ? "s" : t >= 1e-3 ? "ms" : "us";

	snprintf(buf, room, "%.3g %s", t >= 1 ? t : t >= 1e-3 ? t * 1e3 : t * 1e6, unit);
	return buf;
}

/* The best of each algorithm, the cheapest first. */
static void explain(struct peer_choice *c, const struct peer_place *p)
{
	bool said[PEER_ALG__MAX] = {false};
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < c->n && at < sizeof(c->why); i++) {
		const struct peer_option *o = &c->option[i];
		char text[64], time[32];

		if (said[o->shape.alg] || o->seconds < 0)
			continue;
		said[o->shape.alg] = true;
		peer_shape_text(&o->shape, text, sizeof(text));
		at += snprintf(c->why + at, sizeof(c->why) - at, "%s%s: %s", at ? "; " : "", text,
			       time_text(o->seconds, time, sizeof(time)));
	}
	if (!said[PEER_ALG_BCUBE] && at < sizeof(c->why))
		at += snprintf(c->why + at, sizeof(c->why) - at, "; bcube: needs %s",
			       p->nics < 2 ? "2 NICs" : "n^k leaders");
	if (!said[PEER_ALG_TORUS] && at < sizeof(c->why))
		snprintf(c->why + at, sizeof(c->why) - at, "; torus: needs 4 leaders");
}

int peer_choose(struct peer_choice *out, const struct peer_place *place,
		const struct peer_load *load, const struct peer_costs *costs)
{
	uint32_t i;

	out->n = 0;
	out->why[0] = 0;
	add_all(out, place);
	for (i = 0; i < out->n; i++)
		out->option[i].seconds = best_way(&out->option[i].shape, load, costs);
	qsort(out->option, out->n, sizeof(*out->option), by_time);
	if (!out->n)
		return -EINVAL;
	if (out->option[0].seconds < 0)
		return (int)out->option[0].seconds;
	explain(out, place);
	return 0;
}
