/* SPDX-License-Identifier: BSD-2-Clause */
/* Random shapes of each algorithm, with and without machines. */
#ifndef TESTS_PEER_SHAPES_H
#define TESTS_PEER_SHAPES_H

#include <stdio.h>
#include <string.h>

#include "tests/lib/peer/sched_world.h"

#define SHAPE_WORLD_MAX 256

/** struct shape_case - a shape and the arrays that it points to */
struct shape_case {
	struct peer_shape shape;
	uint32_t machine[SHAPE_WORLD_MAX];
	uint32_t leader[SHAPE_WORLD_MAX];
};

static inline uint32_t shape_below(uint64_t *seed, uint32_t n)
{
	return sched_random(seed) % n;
}

/* Leaders, and what the algorithm wants to know of them. */
static inline uint32_t shape_alg(struct peer_shape *s, enum peer_alg alg, uint64_t *seed,
				 uint32_t most)
{
	uint32_t leaders, i;

	*s = (struct peer_shape){.alg = alg, .nics = 1 + shape_below(seed, 3)};
	s->tree_below = shape_below(seed, 2) ? 40 : 0;
	s->doubling_below = shape_below(seed, 2) ? 40 : 0;
	s->segment = shape_below(seed, 3);
	switch (alg) {
	case PEER_ALG_BCUBE:
		do {
			s->k = 1 + shape_below(seed, 4);
			s->n = 2 + shape_below(seed, 5);
			for (i = 0, leaders = 1; i < s->k; i++)
				leaders *= s->n;
		} while (leaders > most);
		s->nics = s->k + shape_below(seed, 2);
		return leaders;
	case PEER_ALG_TORUS:
		do {
			s->rows = 1 + shape_below(seed, 8);
			s->cols = 1 + shape_below(seed, 8);
			leaders = s->rows * s->cols + shape_below(seed, 2);
		} while (leaders > most);
		s->halving_below = shape_below(seed, 20);
		return leaders;
	default:
		return 1 + shape_below(seed, most);
	}
}

/* Put ranks on machines, one at least on each; a random one leads. */
static inline void shape_machines(struct shape_case *c, uint32_t leaders, uint64_t *seed,
				  uint32_t most)
{
	struct peer_shape *s = &c->shape;
	uint32_t r, m;

	s->machines = leaders;
	s->machine = c->machine;
	s->leader = c->leader;
	s->world = leaders + shape_below(seed, most > leaders ? most - leaders + 1 : 1);
	for (r = 0; r < s->world; r++)
		c->machine[r] = r < leaders ? r : shape_below(seed, leaders);
	for (r = s->world; r-- > 1;) {
		uint32_t with = shape_below(seed, r + 1), tmp = c->machine[r];

		c->machine[r] = c->machine[with];
		c->machine[with] = tmp;
	}
	for (m = 0; m < leaders; m++) {
		do
			r = shape_below(seed, s->world);
		while (c->machine[r] != m);
		c->leader[m] = r;
	}
}

/* A shape of at most @most ranks. */
static inline void shape_random(struct shape_case *c, enum peer_alg alg, enum peer_intra intra,
				uint64_t *seed, uint32_t most)
{
	uint32_t leaders = shape_alg(&c->shape, alg, seed, intra ? most / 2 : most);

	c->shape.world = leaders;
	if (intra)
		shape_machines(c, leaders, seed, most);
	c->shape.intra = intra;
}

/* A count for a call: small ones, primes, and others. */
static inline uint64_t shape_count(const struct peer_shape *s, enum peer_collective what,
				   uint64_t *seed)
{
	static const uint64_t some[] = {0, 1, 2, 5, 7, 31, 97};
	uint64_t count = some[shape_below(seed, 7)];

	switch (what) {
	case PEER_REDUCE_SCATTER:
	case PEER_ALLGATHER:
		return (count < 8 ? count : count % 10) * s->world;
	case PEER_BARRIER:
		return 0;
	default:
		return shape_below(seed, 3) ? count : count + shape_below(seed, 2 * s->world);
	}
}

static inline const char *shape_text(const struct peer_shape *s)
{
	static char text[200];

	snprintf(
		text, sizeof(text),
		"%s world %u nics %u n %u k %u rows %u cols %u halving %llu doubling %llu tree %llu segment %llu "
		"intra %d machines %u",
		peer_alg_name(s->alg), s->world, s->nics, s->n, s->k, s->rows, s->cols,
		(unsigned long long)s->halving_below, (unsigned long long)s->doubling_below,
		(unsigned long long)s->tree_below, (unsigned long long)s->segment, s->intra,
		s->machines);
	return text;
}

#endif /* TESTS_PEER_SHAPES_H */
