// SPDX-License-Identifier: BSD-2-Clause
/* The best of a few shapes for each collective and size, remembered. */
#include "peer/choose/choose.h"

/* Bytes of the elements that stand for all types. */
#define SIZE 4

void peer_table_init(struct peer_table *t, const struct peer_shape *shape, uint32_t nshape,
		     uint64_t chunk, const struct peer_costs *costs)
{
	*t = (struct peer_table){
		.shape = shape,
		.nshape = nshape,
		.chunk = chunk,
		.costs = *costs,
	};
}

/* A call of 2^(@size - 1) bytes, or none. */
static struct peer_load load_of(const struct peer_table *t, enum peer_collective c, uint32_t size)
{
	struct peer_load load = {.size = SIZE, .chunk = t->chunk};
	uint64_t count = (size ? 1ull << (size - 1) : 0) / SIZE, world = t->shape->world;

	load.what.collective = c;
	load.what.count = count;
	if (c == PEER_REDUCE_SCATTER || c == PEER_ALLGATHER)
		load.what.count = (count + world - 1) / world * world;
	if (c == PEER_BARRIER)
		load.what.count = 0;
	return load;
}

static uint32_t best_of(const struct peer_table *t, enum peer_collective c, uint32_t size)
{
	struct peer_load load = load_of(t, c, size);
	double least = -1;
	uint32_t i, best = 0;

	for (i = 0; i < t->nshape; i++) {
		double s = peer_cost(&t->shape[i], &load, &t->costs);

		if (s >= 0 && (least < 0 || s < least)) {
			least = s;
			best = i;
		}
	}
	return best;
}

uint32_t peer_table_pick(struct peer_table *t, enum peer_collective collective, uint64_t bytes)
{
	uint32_t size = 0;
	uint8_t *cell;

	if (t->nshape < 2 || t->nshape >= UINT8_MAX || collective > PEER_BARRIER)
		return 0;
	while (bytes >> size && size < PEER_TABLE_SIZES - 1)
		size++;
	cell = &t->cell[collective][size];
	if (!*cell)
		*cell = 1 + best_of(t, collective, size);
	return *cell - 1;
}
