// SPDX-License-Identifier: BSD-2-Clause
/*
 * The roles of ranks: locals, leaders, core. Where ranks are one machine and share
 * the additions, all of them are the core, of direct exchange in local memory.
 *
 * Folded leaders are the second ones of the last pairs:
 *
 *	leader   0  1 2  3 4  5 6
 *	core     0  1    2    3		of 4: 2 folds into 1, 4 into 3, 6 into 5
 */
#include <errno.h>
#include <stdlib.h>

#include "peer/sched/build.h"

static uint32_t power_below(uint32_t n)
{
	uint32_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return p;
}

static uint32_t core_size(const struct peer_shape *shape, uint32_t leaders)
{
	switch (shape->alg) {
	case PEER_ALG_HALVING:
		return power_below(leaders);
	case PEER_ALG_TORUS:
		return leaders > 1 ? shape->rows * shape->cols : 1;
	default:
		return leaders;
	}
}

static uint32_t lane_number(const struct peer_shape *shape)
{
	uint32_t nics = shape->nics < PEER_LANES_MAX ? shape->nics : PEER_LANES_MAX;

	switch (shape->alg) {
	case PEER_ALG_BCUBE:
		return shape->k;
	case PEER_ALG_TORUS:
		return nics < 2 ? 1 : 2;
	default:
		return nics;
	}
}

/* Sort ranks by machine. */
static int members_sort(struct peer_cast *c)
{
	const struct peer_shape *s = c->shape;
	uint32_t r, m;

	c->member = calloc(s->world, sizeof(*c->member));
	c->first = calloc(s->machines + 2, sizeof(*c->first));
	if (!c->member || !c->first) {
		peer_cast_free(c);
		return -ENOMEM;
	}
	/* Counts go two places up, starts one: filling in moves each to its own place. */
	for (r = 0; r < s->world; r++)
		c->first[s->machine[r] + 2]++;
	for (m = 2; m < s->machines + 2; m++)
		c->first[m] += c->first[m - 1];
	for (r = 0; r < s->world; r++)
		c->member[c->first[s->machine[r] + 1]++] = r;
	return 0;
}

/**
 * peer_cast_init() - cast the ranks of a shape that is not wrong
 * Return: 0, or -ENOMEM.
 */
int peer_cast_init(struct peer_cast *c, const struct peer_shape *shape)
{
	*c = (struct peer_cast){.shape = shape};
	c->alone = shape->intra == PEER_INTRA_ALLREDUCE && shape->machines == 1;
	c->local = shape->intra != PEER_INTRA_NONE && !c->alone;
	c->leaders = c->local ? shape->machines : shape->world;
	c->core = c->alone ? c->leaders : core_size(shape, c->leaders);
	c->nlane = c->alone ? 1 : lane_number(shape);
	return c->local ? members_sort(c) : 0;
}

void peer_cast_free(struct peer_cast *c)
{
	free(c->member);
	free(c->first);
	c->member = NULL;
	c->first = NULL;
}

/** peer_cast_leader_of() - index of a rank's leader */
uint32_t peer_cast_leader_of(const struct peer_cast *c, uint32_t rank)
{
	return c->local ? c->shape->machine[rank] : rank;
}

/** peer_cast_leader_rank() - rank of a leader */
uint32_t peer_cast_leader_rank(const struct peer_cast *c, uint32_t leader)
{
	return c->local ? c->shape->leader[leader] : leader;
}

/* Leaders before the pairs. */
static uint32_t singles(const struct peer_cast *c)
{
	return c->leaders - 2 * (c->leaders - c->core);
}

/** peer_cast_core_of() - core number of a leader, or of the one that it is folded into */
uint32_t peer_cast_core_of(const struct peer_cast *c, uint32_t leader)
{
	uint32_t s = singles(c);

	return leader < s ? leader : s + (leader - s) / 2;
}

/** peer_cast_core_leader() - index of the leader with that core number */
uint32_t peer_cast_core_leader(const struct peer_cast *c, uint32_t core)
{
	uint32_t s = singles(c);

	return core < s ? core : s + (core - s) * 2;
}

/** peer_cast_folded() - index of the leader that is folded into it, or PEER_NOBODY */
uint32_t peer_cast_folded(const struct peer_cast *c, uint32_t core)
{
	return core < singles(c) ? PEER_NOBODY : peer_cast_core_leader(c, core) + 1;
}

/** peer_cast_members() - number of ranks on a leader's machine */
uint32_t peer_cast_members(const struct peer_cast *c, uint32_t leader)
{
	return c->local ? c->first[leader + 1] - c->first[leader] : 1;
}

/** peer_cast_member() - the i-th rank on a leader's machine, in order of ranks */
uint32_t peer_cast_member(const struct peer_cast *c, uint32_t leader, uint32_t i)
{
	return c->local ? c->member[c->first[leader] + i] : leader;
}
