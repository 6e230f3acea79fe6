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

static int tune_tree(struct peer_shape *s, struct peer_load load, const struct peer_costs *costs)
{
	struct peer_shape tree = *s, gather = *s;
	uint64_t n, below = 0;
	int rc = 1;

	tree.tree_below = UINT64_MAX;
	gather.tree_below = 0;
	load.what = (struct peer_what){.collective = PEER_BROADCAST};
	for (n = peer_shape_leaders(s); rc == 1 && n < ELEMENTS_MAX; n *= 4) {
		load.what.count = n;
		rc = faster(&tree, &gather, load, 1, costs);
		if (rc == 1)
			below = n + 1;
	}
	s->tree_below = below;
	return rc < 0 ? rc : 0;
}

static int tune_columns(struct peer_shape *s, struct peer_load load, const struct peer_costs *costs)
{
	struct peer_shape half = *s, ring = *s;
	uint32_t lanes = s->nics < 2 ? 1 : 2;
	uint64_t n, below = 0;
	int rc = 1;

	half.halving_below = UINT64_MAX;
	ring.halving_below = 0;
	load.what = (struct peer_what){.collective = PEER_ALLREDUCE};
	/* @n: elements of a column. */
	for (n = s->rows; rc == 1 && n < ELEMENTS_MAX; n *= 4) {
		load.what.count = n * s->cols * lanes;
		rc = faster(&half, &ring, load, 1.1, costs);
		if (rc == 1)
			below = n + 1;
	}
	s->halving_below = below;
	return rc < 0 ? rc : 0;
}

int peer_shape_tune(struct peer_shape *s, uint32_t size, uint64_t chunk,
		    const struct peer_costs *costs)
{
	struct peer_load load = {.size = size, .chunk = chunk};

	s->tree_below = 0;
	s->halving_below = 0;
	if (peer_shape_wrong(s) || !size || !chunk)
		return -EINVAL;
	if (s->alg == PEER_ALG_RING || peer_shape_leaders(s) < 2)
		return 0;
	if (s->alg == PEER_ALG_DIRECT && peer_shape_leaders(s) > DIRECT_MAX)
		return 0;
	if (s->alg != PEER_ALG_TORUS)
		return tune_tree(s, load, costs);
	if (s->rows > 2 && !(s->rows & (s->rows - 1)))
		return tune_columns(s, load, costs);
	return 0;
}
