// SPDX-License-Identifier: BSD-2-Clause
/* Makes the schedules of all ranks, pairs their operations, knows the right result. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/peer/sched_world.h"

bool sched_world_fail(struct sched_world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->fail[0]) {
		va_start(ap, fmt);
		vsnprintf(w->fail, sizeof(w->fail), fmt, ap);
		va_end(ap);
	}
	return false;
}

uint64_t sched_world_element(const struct peer_lane *lane, uint64_t at)
{
	uint32_t i;

	for (i = 0; at >= lane->piece[i].len; i++)
		at -= lane->piece[i].len;
	return lane->piece[i].at + at;
}

uint64_t sched_world_source(const struct sched_world *w, uint32_t rank, uint64_t element)
{
	uint64_t x = element * 8191 + rank + 1;

	switch (w->what.collective) {
	case PEER_ALLGATHER:
		if (element / (w->what.count / w->shape->world) != rank)
			return 0;
		break;
	case PEER_BROADCAST:
		if (rank != w->what.root)
			return 0;
		break;
	default:
		break;
	}
	return sched_random(&x);
}

uint64_t sched_world_sum(const struct sched_world *w, uint64_t element)
{
	uint64_t sum = 0;
	uint32_t r;

	for (r = 0; r < w->shape->world; r++)
		sum += sched_world_source(w, r, element);
	return sum;
}

bool sched_world_wants(const struct sched_world *w, uint32_t rank, uint64_t element)
{
	return w->what.collective != PEER_REDUCE_SCATTER ||
	       element / (w->what.count / w->shape->world) == rank;
}

/* The pieces of all lanes cover the vector exactly once. */
static bool pieces_right(struct sched_world *w, uint32_t rank)
{
	const struct peer_sched *s = &w->sched[rank];
	uint8_t *seen = calloc(w->what.count + 1, 1);
	uint64_t e, len, all = 0;
	uint32_t i, j;
	bool good = seen != NULL;

	for (i = 0; good && i < s->nlane; i++) {
		for (j = 0, len = 0; j < s->lane[i].npiece; j++) {
			const struct peer_piece *p = &s->lane[i].piece[j];

			good = good && p->at + p->len <= w->what.count;
			for (e = p->at; good && e < p->at + p->len; e++)
				good = !seen[e]++;
			len += p->len;
		}
		good = good && len == s->lane[i].len;
		all += len;
	}
	free(seen);
	if (!good || all != w->what.count)
		return sched_world_fail(w, "rank %u: pieces do not cover the vector once", rank);
	return true;
}

/* Both ends of a range cut it at the borders of pieces: all ranks have the same. */
static bool pieces_same(struct sched_world *w, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < w->sched[0].nlane; i++) {
		const struct peer_lane *a = &w->sched[0].lane[i], *b = &w->sched[rank].lane[i];

		if (a->npiece != b->npiece ||
		    memcmp(a->piece, b->piece, a->npiece * sizeof(*a->piece)))
			return sched_world_fail(w, "rank %u: pieces of lane %u differ", rank, i);
	}
	return true;
}

static bool ops_right(struct sched_world *w, uint32_t rank, const struct peer_lane *lane)
{
	uint32_t i;

	for (i = 0; i < lane->nop; i++) {
		const struct peer_op *op = &lane->op[i];

		if (op->at + op->len > lane->len)
			return sched_world_fail(w, "rank %u: op %u out of its lane", rank, i);
		if (op->peer >= w->shape->world || op->peer == rank)
			return sched_world_fail(w, "rank %u: op %u has no peer", rank, i);
		if (op->nic >= w->shape->nics && op->nic != PEER_NIC_LOCAL)
			return sched_world_fail(w, "rank %u: op %u has no NIC", rank, i);
		if (i && op->step < lane->op[i - 1].step)
			return sched_world_fail(w, "rank %u: op %u: steps fall", rank, i);
	}
	return true;
}

/* Find the receiving operation of each sending one: the same place in their order. */
static bool pair(struct sched_world *w, uint32_t rank, uint32_t lane)
{
	const struct peer_lane *mine = &w->sched[rank].lane[lane];
	uint32_t *next = calloc(w->shape->world * 2, sizeof(*next));
	uint32_t i;
	bool good = next != NULL;

	for (i = 0; good && i < mine->nop; i++) {
		const struct peer_op *op = &mine->op[i], *to = NULL;
		const struct peer_lane *its = &w->sched[op->peer].lane[lane];
		uint32_t *at = &next[op->peer * 2 + (op->nic == PEER_NIC_LOCAL)];

		if (!peer_op_sends(op))
			continue;
		for (; *at < its->nop; ++*at) {
			to = &its->op[*at];
			if (!peer_op_sends(to) && to->peer == rank && to->nic == op->nic)
				break;
		}
		good = *at < its->nop && to->len == op->len && to->step == op->step &&
		       to->at == op->at && to->kind == op->kind + PEER_ADD;
		if (!good)
			break;
		w->lane[rank][lane].op[i].mate = &w->lane[op->peer][lane].op[*at];
		w->lane[op->peer][lane].op[*at].mate = &w->lane[rank][lane].op[i];
		++*at;
	}
	free(next);
	return good || sched_world_fail(w, "rank %u lane %u op %u has no mate", rank, lane, i);
}

static bool lane_alloc(struct sched_world *w, uint32_t rank, uint32_t lane)
{
	const struct peer_lane *l = &w->sched[rank].lane[lane];
	struct op_state *op = calloc(l->nop + 1, sizeof(*op));
	uint32_t i;

	w->lane[rank][lane].op = op;
	for (i = 0; op && i < l->nop; i++) {
		op[i].op = &l->op[i];
		if (peer_op_sends(&l->op[i]))
			op[i].buf = calloc(l->op[i].len + 1, sizeof(*op[i].buf));
	}
	return op && ops_right(w, rank, l);
}

static bool pair_all(struct sched_world *w)
{
	uint32_t r, i, j;

	for (r = 0; r < w->shape->world; r++)
		for (i = 0; i < w->sched[r].nlane; i++)
			if (!lane_alloc(w, r, i))
				return false;
	for (r = 0; r < w->shape->world; r++)
		for (i = 0; i < w->sched[r].nlane; i++)
			if (!pair(w, r, i))
				return false;
	for (r = 0; r < w->shape->world; r++)
		for (i = 0; i < w->sched[r].nlane; i++)
			for (j = 0; j < w->sched[r].lane[i].nop; j++)
				if (!w->lane[r][i].op[j].mate)
					return sched_world_fail(w, "rank %u lane %u op %u waits", r,
								i, j);
	return true;
}

bool sched_world_make(struct sched_world *w, const struct peer_shape *shape,
		      const struct peer_what *what)
{
	uint32_t r;

	*w = (struct sched_world){.shape = shape, .what = *what};
	w->sched = calloc(shape->world, sizeof(*w->sched));
	w->lane = calloc(shape->world, sizeof(*w->lane));
	w->value = calloc(shape->world, sizeof(*w->value));
	w->writes = calloc(shape->world, sizeof(*w->writes));
	for (r = 0; r < shape->world; r++) {
		int err = peer_sched_make(&w->sched[r], shape, what, r);

		if (err)
			return sched_world_fail(w, "rank %u: error %d", r, err);
		if (w->sched[r].nlane != w->sched[0].nlane)
			return sched_world_fail(w, "rank %u: number of lanes", r);
		if (!pieces_right(w, r) || !pieces_same(w, r))
			return false;
		w->value[r] = calloc(what->count + 1, sizeof(**w->value));
		w->writes[r] = calloc(what->count + 1, sizeof(**w->writes));
	}
	return pair_all(w);
}

void sched_world_free(struct sched_world *w)
{
	uint32_t r, i, j;

	for (r = 0; r < w->shape->world; r++) {
		for (i = 0; i < PEER_LANES_MAX; i++) {
			for (j = 0; w->lane[r][i].op && j < w->sched[r].lane[i].nop; j++)
				free(w->lane[r][i].op[j].buf);
			free(w->lane[r][i].op);
		}
		peer_sched_free(&w->sched[r]);
		free(w->value[r]);
		free(w->writes[r]);
	}
	free(w->sched);
	free(w->lane);
	free(w->value);
	free(w->writes);
}
