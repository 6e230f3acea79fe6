// SPDX-License-Identifier: BSD-2-Clause
/* Sizes at which shapes change their ways, found with the model. */
#include <errno.h>

#include "peer/choose/sim.h"

/* Sizes that are tried: powers of four of elements up to this one. */
#define ELEMENTS_MAX (1ull << 28)
/* A direct broadcast of more ranks takes too long to simulate. */
#define DIRECT_MAX 128

/* Is @a faster than @b for this many elements, by the factor? Negative: an error. */
static int faster(const struct peer_shape *a, const struct peer_shape *b, struct peer_load load,
		  double factor, const struct peer_costs *costs)
{
	double ta = peer_cost_quick(a, &load, costs), tb = peer_cost_quick(b, &load, costs);

	if (ta < 0 || tb < 0)
		return (int)(ta < 0 ? ta : tb);
	return ta * factor < tb;
}

/**
 * find_below() - set the number of elements below which @a is faster than @b
 * @n, @each: sizes that are tried are @n elements, times four and so on; a call has @each
 * times as many.
 */
static int find_below(uint64_t *below, const struct peer_shape *a, const struct peer_shape *b,
		      struct peer_load load, uint64_t n, uint64_t each, double factor,
		      const struct peer_costs *costs)
{
	int rc = 1;

	*below = 0;
	for (; rc == 1 && n < ELEMENTS_MAX; n *= 4) {
		load.what.count = n * each;
		rc = faster(a, b, load, factor, costs);
		if (rc == 1)
			*below = n + 1;
	}
	return rc < 0 ? rc : 0;
}

static int tune_tree(struct peer_shape *s, struct peer_load load, const struct peer_costs *costs)
{
	struct peer_shape tree = *s, gather = *s;

	tree.tree_below = UINT64_MAX;
	gather.tree_below = 0;
	load.what = (struct peer_what){.collective = PEER_BROADCAST};
	return find_below(&s->tree_below, &tree, &gather, load, peer_shape_leaders(s), 1, 1, costs);
}

static int tune_doubling(struct peer_shape *s, struct peer_load load,
			 const struct peer_costs *costs)
{
	struct peer_shape whole = *s, half = *s;

	whole.doubling_below = UINT64_MAX;
	half.doubling_below = 0;
	load.what = (struct peer_what){.collective = PEER_ALLREDUCE};
	return find_below(&s->doubling_below, &whole, &half, load, peer_shape_leaders(s), 1, 1,
			  costs);
}

/* Sizes are those of a column. */
static int tune_columns(struct peer_shape *s, struct peer_load load, const struct peer_costs *costs)
{
	struct peer_shape half = *s, ring = *s;
	uint32_t lanes = s->nics < 2 ? 1 : 2;

	half.halving_below = UINT64_MAX;
	ring.halving_below = 0;
	load.what = (struct peer_what){.collective = PEER_ALLREDUCE};
	return find_below(&s->halving_below, &half, &ring, load, s->rows, (uint64_t)s->cols * lanes,
			  1.1, costs);
}

int peer_shape_tune(struct peer_shape *s, uint32_t size, uint64_t chunk,
		    const struct peer_costs *costs)
{
	struct peer_load load = {.size = size, .chunk = chunk};
	int err;

	s->tree_below = 0;
	s->doubling_below = 0;
	s->halving_below = 0;
	if (peer_shape_wrong(s) || !size || !chunk)
		return -EINVAL;
	if (s->alg == PEER_ALG_RING || peer_shape_leaders(s) < 2)
		return 0;
	if (s->alg == PEER_ALG_DIRECT && peer_shape_leaders(s) > DIRECT_MAX)
		return 0;
	if (s->alg == PEER_ALG_HALVING) {
		err = tune_doubling(s, load, costs);
		return err ? err : tune_tree(s, load, costs);
	}
	if (s->alg != PEER_ALG_TORUS)
		return tune_tree(s, load, costs);
	if (s->rows > 2 && !(s->rows & (s->rows - 1)))
		return tune_columns(s, load, costs);
	return 0;
}
