// SPDX-License-Identifier: BSD-2-Clause
/* Checks shapes, and proposes matrices and cubes. */
#include "peer/sched/build.h"

/** peer_shape_leaders() - number of ranks that run the algorithm between machines */
uint32_t peer_shape_leaders(const struct peer_shape *shape)
{
	return shape->intra == PEER_INTRA_NONE ? shape->world : shape->machines;
}

static const char *machines_wrong(const struct peer_shape *s)
{
	uint32_t i;

	if (!s->machine != !s->leader || !s->machine != !s->machines)
		return "machine, leader and machines: give all or none";
	if (s->intra != PEER_INTRA_NONE && !s->machine)
		return "intra needs machines";
	if (s->apart && (s->intra == PEER_INTRA_NONE || s->machines < 2))
		return "leaders apart need intra and several machines";
	if (s->machines > s->world)
		return "more machines than ranks";
	for (i = 0; s->machine && i < s->world; i++)
		if (s->machine[i] >= s->machines)
			return "a rank's machine is not below the number of machines";
	for (i = 0; i < s->machines; i++)
		if (s->leader[i] >= s->world || s->machine[s->leader[i]] != i)
			return "a machine's leader is not on it";
	return NULL;
}

static const char *bcube_wrong(const struct peer_shape *s, uint32_t leaders)
{
	uint64_t all = 1;
	uint32_t i;

	if (s->n < 2 || s->k < 1)
		return "bcube: n is 2 or more, k 1 or more";
	if (s->k > s->nics)
		return "bcube: k is more than the NICs";
	for (i = 0; i < s->k && all <= leaders; i++)
		all *= s->n;
	return all == leaders ? NULL : "bcube: needs n^k leaders";
}

static const char *torus_wrong(const struct peer_shape *s, uint32_t leaders)
{
	uint64_t all = (uint64_t)s->rows * s->cols;

	if (!all)
		return "torus: rows and cols are 1 or more";
	if (all != leaders && all + 1 != leaders)
		return "torus: needs rows * cols leaders, or one more";
	return NULL;
}

const char *peer_shape_wrong(const struct peer_shape *shape)
{
	const char *text;
	uint32_t leaders;

	if (shape->world < 1 || shape->world > PEER_WORLD_MAX)
		return "world is not 1 to 4096";
	if (shape->nics < 1 || shape->nics > PEER_NICS_MAX)
		return "nics is not 1 to 8";
	if (shape->alg <= PEER_ALG_AUTO || shape->alg >= PEER_ALG__MAX)
		return "no such algorithm, or auto";
	if (shape->intra > PEER_INTRA_REDUCE)
		return "no such intra";
	text = machines_wrong(shape);
	if (text)
		return text;
	leaders = peer_shape_leaders(shape);
	if (leaders == 1)
		return NULL;
	if (shape->alg == PEER_ALG_BCUBE)
		return bcube_wrong(shape, leaders);
	if (shape->alg == PEER_ALG_TORUS)
		return torus_wrong(shape, leaders);
	return NULL;
}

/* The squarest matrix, with a power of two of rows if one side is one. */
static void matrix_of(uint32_t n, uint32_t *rows, uint32_t *cols)
{
	uint32_t side, best = 1;

	for (side = 1; side * side <= n; side++)
		if (n % side == 0)
			best = side;
	*rows = best;
	*cols = n / best;
	if ((*rows & (*rows - 1)) && !(*cols & (*cols - 1))) {
		*rows = *cols;
		*cols = best;
	}
}

bool peer_shape_torus(uint32_t leaders, uint32_t *rows, uint32_t *cols)
{
	if (!leaders)
		return false;
	matrix_of(leaders, rows, cols);
	if ((*rows == 1 || *cols == 1) && leaders > 3)
		matrix_of(leaders - 1, rows, cols);
	return true;
}

bool peer_shape_bcube(uint32_t leaders, uint32_t nics, uint32_t *n, uint32_t *k)
{
	uint32_t side, levels;

	for (levels = nics; levels >= 2; levels--) {
		for (side = 2; side <= leaders; side++) {
			uint64_t all = 1;
			uint32_t i;

			for (i = 0; i < levels && all <= leaders; i++)
				all *= side;
			if (all == leaders) {
				*n = side;
				*k = levels;
				return true;
			}
			if (all > leaders)
				break;
		}
	}
	return false;
}
