// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rule of SETs, by vector clocks. Each element on each rank has one: how many
 * operations of each rank on this element it has heard of, by messages that carried the
 * element itself. Order of events does not matter to it, so one is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/peer/sched_world.h"

struct clocks {
	uint16_t *now; /* [rank][element][rank] */
	uint32_t world;
	uint64_t count;
};

static uint16_t *clock_of(const struct clocks *c, uint32_t rank, uint64_t element)
{
	return c->now + ((uint64_t)rank * c->count + element) * c->world;
}

/* Operation @s of an element at rank; a SEND keeps its clock in buf. */
static bool use(struct sched_world *w, struct clocks *c, uint32_t rank, struct op_state *s,
		uint64_t at, uint64_t element)
{
	uint16_t *mine = clock_of(c, rank, element), **kept;
	uint32_t r;

	if (peer_op_sends(s->op)) {
		mine[rank]++;
		kept = (uint16_t **)&s->buf[at - s->op->at];
		*kept = malloc(c->world * sizeof(**kept));
		memcpy(*kept, mine, c->world * sizeof(**kept));
		return true;
	}
	kept = (uint16_t **)&s->mate->buf[at - s->op->at];
	if (s->op->kind == PEER_SET && (*kept)[rank] != mine[rank])
		return sched_world_fail(w,
					"rank %u: element %llu is SET by %u, which has heard of %u "
					"of %u uses",
					rank, (unsigned long long)element, s->op->peer,
					(*kept)[rank], mine[rank]);
	for (r = 0; r < c->world; r++)
		if ((*kept)[r] > mine[r])
			mine[r] = (*kept)[r];
	mine[rank]++;
	free(*kept);
	*kept = NULL;
	return true;
}

/* Do whole operations in their order, as far as messages have come. */
static bool advance(struct sched_world *w, struct clocks *c, uint32_t rank, uint32_t lane,
		    bool *moved)
{
	const struct peer_lane *p = &w->sched[rank].lane[lane];
	struct lane_state *l = &w->lane[rank][lane];

	for (; l->head < p->nop; l->head++) {
		struct op_state *s = &l->op[l->head];
		uint64_t i;

		if ((s->op->kind == PEER_ADD || s->op->kind == PEER_SET) && !s->mate->over)
			return true;
		for (i = 0; i < s->op->len; i++)
			if (!use(w, c, rank, s, s->op->at + i,
				 sched_world_element(p, s->op->at + i)))
				return false;
		s->over = true;
		*moved = true;
	}
	return true;
}

static void restart(struct sched_world *w)
{
	uint32_t r, i, j;

	for (r = 0; r < w->shape->world; r++)
		for (i = 0; i < w->sched[r].nlane; i++) {
			w->lane[r][i].head = 0;
			for (j = 0; j < w->sched[r].lane[i].nop; j++)
				w->lane[r][i].op[j].over = false;
		}
}

bool sched_world_causal(struct sched_world *w)
{
	struct clocks c = {.world = w->shape->world, .count = w->what.count};
	bool moved = true, good;
	uint32_t r, i;

	c.now = calloc((uint64_t)c.world * c.world * c.count + 1, sizeof(*c.now));
	good = c.now != NULL;
	restart(w);
	while (good && moved) {
		moved = false;
		for (r = 0; r < c.world; r++)
			for (i = 0; good && i < w->sched[r].nlane; i++)
				good = advance(w, &c, r, i, &moved);
	}
	free(c.now);
	return good;
}
