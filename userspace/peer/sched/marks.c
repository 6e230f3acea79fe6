// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks of operations: whether a range still has the caller's values (first), whether
 * an addition completes it (last). The lane is cut at all ends of ranges; within such
 * a cell all elements have the same history.
 */
#include <errno.h>
#include <stdlib.h>

#include "peer/sched/build.h"

struct cells {
	uint64_t *cut;
	uint32_t ncut;
	bool *touched;
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int cells_make(struct cells *c, const struct peer_lane *lane)
{
	uint32_t i, n = 0;

	c->cut = calloc(2 * (size_t)lane->nop + 1, sizeof(*c->cut));
	c->touched = calloc(2 * (size_t)lane->nop + 1, sizeof(*c->touched));
	if (!c->cut || !c->touched)
		return -ENOMEM;
	for (i = 0; i < lane->nop; i++) {
		c->cut[2 * i] = lane->op[i].at;
		c->cut[2 * i + 1] = lane->op[i].at + lane->op[i].len;
	}
	qsort(c->cut, 2 * (size_t)lane->nop, sizeof(*c->cut), by_value);
	for (i = 0; i < 2 * lane->nop; i++)
		if (!n || c->cut[i] != c->cut[n - 1])
			c->cut[n++] = c->cut[i];
	c->ncut = n;
	return 0;
}

/* The cell that begins at @at. */
static uint32_t cell_at(const struct cells *c, uint64_t at)
{
	uint32_t lo = 0, hi = c->ncut;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->cut[mid] <= at)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static bool any_touched(const struct cells *c, const struct peer_op *op)
{
	uint32_t i;

	for (i = cell_at(c, op->at); c->cut[i] < op->at + op->len; i++)
		if (c->touched[i])
			return true;
	return false;
}

static void touch(struct cells *c, const struct peer_op *op)
{
	uint32_t i;

	for (i = cell_at(c, op->at); c->cut[i] < op->at + op->len; i++)
		c->touched[i] = true;
}

/**
 * peer_lane_mark() - set first and last of all operations
 * Return: 0, or -ENOMEM.
 */
int peer_lane_mark(struct peer_lane *lane, enum peer_collective collective)
{
	struct cells c = {0};
	uint32_t i;
	int err = cells_make(&c, lane);

	for (i = 0; !err && i < lane->nop; i++) {
		struct peer_op *op = &lane->op[i];

		/* An allgather's own part is put in place before. */
		op->first = collective != PEER_ALLGATHER && op->kind != PEER_SET &&
			    !any_touched(&c, op);
		if (op->kind == PEER_ADD || op->kind == PEER_SET)
			touch(&c, op);
	}
	for (i = 0; !err && i < c.ncut; i++)
		c.touched[i] = false;
	for (i = lane->nop; !err && i-- > 0;) {
		struct peer_op *op = &lane->op[i];

		op->last = op->last && !any_touched(&c, op);
		if (op->kind == PEER_ADD || op->kind == PEER_SEND_ADD)
			touch(&c, op);
	}
	free(c.cut);
	free(c.touched);
	return err;
}
