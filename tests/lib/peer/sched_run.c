// SPDX-License-Identifier: BSD-2-Clause
/* Carries out the schedules of all ranks in random order, and checks the results. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/peer/sched_world.h"

/* Operations at once in a lane; more only take time. */
#define WINDOW 40

static const struct peer_lane *lane_of(const struct sched_world *w, uint32_t rank, uint32_t lane)
{
	return &w->sched[rank].lane[lane];
}

/* Does the chunk from @at on overlap what an earlier operation has left to do? */
static bool overlaps(const struct op_state *s, uint64_t at, uint64_t len)
{
	uint64_t from = s->op->at + s->done, to = s->op->at + s->op->len;

	return from < at + len && at < to;
}

static uint64_t chunk_of(const struct sched_world *w, const struct op_state *s)
{
	uint64_t left = s->op->len - s->done;

	return left < w->chunk ? left : w->chunk;
}

/* May operation @i do its next chunk now? */
static bool may(const struct sched_world *w, const struct lane_state *l, uint32_t i)
{
	const struct op_state *s = &l->op[i];
	bool barrier = w->what.collective == PEER_BARRIER;
	uint32_t j;

	if (!peer_op_sends(s->op) &&
	    !(s->op->len ? s->mate->done >= s->done + chunk_of(w, s) : s->mate->over))
		return false;
	for (j = l->head; j < i; j++) {
		const struct op_state *e = &l->op[j];

		if (e->over)
			continue;
		if (overlaps(e, s->op->at + s->done, chunk_of(w, s)))
			return false;
		if (barrier && e->op->step < s->op->step)
			return false;
		if (w->fifo && e->op->peer == s->op->peer && e->op->nic == s->op->nic &&
		    peer_op_sends(e->op) == peer_op_sends(s->op))
			return false;
	}
	return true;
}

static uint64_t combine(const struct sched_world *w, uint64_t acc, uint64_t in)
{
	return w->ordered ? acc * 0x100000001b3 + in : acc + in;
}

/* An element of a send: a SET appears at the other end at once. */
static void send_one(struct sched_world *w, uint32_t rank, struct op_state *s, uint64_t at,
		     uint64_t element)
{
	s->buf[at - s->op->at] = w->value[rank][element];
	if (s->op->kind == PEER_SEND_SET)
		w->value[s->op->peer][element] = w->value[rank][element];
}

static bool take_one(struct sched_world *w, uint32_t rank, struct op_state *s, uint64_t at,
		     uint64_t element)
{
	uint64_t in = s->mate->buf[at - s->op->at], *v = &w->value[rank][element];

	if (s->op->kind == PEER_ADD)
		*v = combine(w, *v, in);
	else if (*v != in)
		return sched_world_fail(w, "rank %u: element %llu was changed after its SET", rank,
					(unsigned long long)element);
	w->writes[rank][element]++;
	if (s->op->last && !w->ordered && *v != sched_world_sum(w, element))
		return sched_world_fail(w, "rank %u: element %llu is not complete at its last ADD",
					rank, (unsigned long long)element);
	return true;
}

static bool step_chunk(struct sched_world *w, uint32_t rank, const struct peer_lane *lane,
		       struct op_state *s)
{
	uint64_t at = s->op->at + s->done, len = chunk_of(w, s), i;

	for (i = 0; i < len; i++) {
		uint64_t e = sched_world_element(lane, at + i);
		bool fresh = w->writes[rank][e] == 0 && s->op->kind != PEER_SET &&
			     w->what.collective != PEER_ALLGATHER;

		if (s->op->first != fresh)
			return sched_world_fail(w, "rank %u: wrong first of element %llu", rank,
						(unsigned long long)e);
		if (peer_op_sends(s->op))
			send_one(w, rank, s, at + i, e);
		else if (!take_one(w, rank, s, at + i, e))
			return false;
	}
	s->done += len;
	s->over = s->done == s->op->len;
	return true;
}

/* Do a chunk of some operation of a lane. Return: 1, 0: none may, -1: a mistake. */
static int step_lane(struct sched_world *w, uint32_t rank, uint32_t lane)
{
	const struct peer_lane *p = lane_of(w, rank, lane);
	struct lane_state *l = &w->lane[rank][lane];
	uint32_t i, n, start;

	while (l->head < p->nop && l->op[l->head].over)
		l->head++;
	n = p->nop - l->head;
	n = n < WINDOW ? n : WINDOW;
	start = n ? sched_random(&w->seed) % n : 0;
	for (i = 0; i < n; i++) {
		uint32_t at = l->head + (start + i) % n;

		if (!l->op[at].over && may(w, l, at))
			return step_chunk(w, rank, p, &l->op[at]) ? 1 : -1;
	}
	return 0;
}

static void restart(struct sched_world *w)
{
	uint32_t r, i, j;
	uint64_t e;

	for (r = 0; r < w->shape->world; r++) {
		for (e = 0; e < w->what.count; e++)
			w->value[r][e] = sched_world_source(w, r, e);
		memset(w->writes[r], 0, w->what.count * sizeof(**w->writes));
		for (i = 0; i < w->sched[r].nlane; i++) {
			w->lane[r][i].head = 0;
			for (j = 0; j < w->sched[r].lane[i].nop; j++) {
				w->lane[r][i].op[j].done = 0;
				w->lane[r][i].op[j].over = false;
			}
		}
	}
}

static bool ended(struct sched_world *w)
{
	uint32_t r, i;
	uint64_t e;

	for (r = 0; r < w->shape->world; r++)
		for (i = 0; i < w->sched[r].nlane; i++)
			if (w->lane[r][i].head < lane_of(w, r, i)->nop)
				return sched_world_fail(w, "rank %u lane %u hangs at op %u", r, i,
							w->lane[r][i].head);
	for (r = 0; !w->ordered && r < w->shape->world; r++)
		for (e = 0; e < w->what.count; e++)
			if (sched_world_wants(w, r, e) && w->value[r][e] != sched_world_sum(w, e))
				return sched_world_fail(w, "rank %u: element %llu is wrong", r,
							(unsigned long long)e);
	return true;
}

bool sched_world_run(struct sched_world *w, uint64_t seed, uint64_t chunk, bool fifo, bool ordered)
{
	uint32_t lanes = w->sched[0].nlane, all = w->shape->world * lanes, idle = 0, at;

	w->seed = seed;
	w->chunk = chunk;
	w->fifo = fifo;
	w->ordered = ordered;
	restart(w);
	at = all ? sched_random(&w->seed) % all : 0;
	/* A random lane, or, after an idle one, its neighbour: until all are idle. */
	while (idle < all) {
		int did = step_lane(w, at / lanes, at % lanes);

		if (did < 0)
			return false;
		idle = did ? 0 : idle + 1;
		at = did ? sched_random(&w->seed) % all : (at + 1) % all;
	}
	return ended(w);
}

uint64_t sched_world_digest(const struct sched_world *w)
{
	uint64_t sum = 0, e;
	uint32_t r;

	for (r = 0; r < w->shape->world; r++)
		for (e = 0; e < w->what.count; e++)
			if (sched_world_wants(w, r, e))
				sum = (sum ^ w->value[r][e]) * 0x100000001b3;
	return sum;
}
