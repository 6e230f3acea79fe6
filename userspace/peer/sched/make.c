// SPDX-License-Identifier: BSD-2-Clause
/* Makes and frees schedules: lane by lane, up, in, the core's algorithm, out, down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "peer/sched/build.h"

static bool what_is_wrong(const struct peer_shape *shape, const struct peer_what *what)
{
	switch (what->collective) {
	case PEER_ALLREDUCE:
		return false;
	case PEER_REDUCE_SCATTER:
	case PEER_ALLGATHER:
		return what->count % shape->world;
	case PEER_BROADCAST:
		return what->root >= shape->world;
	case PEER_BARRIER:
		return what->count;
	}
	return true;
}

static void core_make(struct peer_build *b)
{
	uint32_t root;

	switch (b->what.collective) {
	case PEER_ALLREDUCE:
		if (peer_doubles(b)) {
			peer_grid_double(b);
			break;
		}
		peer_grid_reduce(b);
		peer_grid_gather(b, PEER_NOBODY);
		break;
	case PEER_REDUCE_SCATTER:
	case PEER_BARRIER:
		/* After a reduce-scatter each rank has heard of every other one. */
		peer_grid_reduce(b);
		break;
	case PEER_ALLGATHER:
		peer_grid_gather(b, PEER_NOBODY);
		break;
	case PEER_BROADCAST:
		root = peer_cast_core_of(&b->cast, peer_cast_leader_of(&b->cast, b->what.root));
		if (peer_spreads(b)) {
			peer_grid_spread(b, root);
			break;
		}
		peer_grid_scatter(b, root);
		peer_grid_gather(b, root);
		break;
	}
}

static int lane_make(struct peer_build *b, struct peer_sched *s, uint32_t lane)
{
	int err;

	b->lane = &s->lane[lane];
	b->room = 0;
	b->step = 0;
	b->nic = lane;
	err = peer_ranges_make(b, lane);
	if (!err) {
		peer_local_up(b);
		peer_fold_in(b);
		core_make(b);
		peer_fold_out(b);
		peer_local_down(b);
		err = b->err;
	}
	peer_ranges_free(b);
	return err ? err : peer_lane_mark(b->lane, b->what.collective);
}

int peer_sched_make(struct peer_sched *s, const struct peer_shape *shape,
		    const struct peer_what *what, uint32_t rank)
{
	struct peer_build b = {.what = *what, .rank = rank};
	uint32_t core;
	int err;

	*s = (struct peer_sched){0};
	if (peer_shape_wrong(shape) || what_is_wrong(shape, what) || rank >= shape->world)
		return -EINVAL;
	err = peer_cast_init(&b.cast, shape);
	if (err)
		return err;
	b.leader = peer_cast_leader_of(&b.cast, rank);
	b.leads = peer_cast_leader_rank(&b.cast, b.leader) == rank;
	core = peer_cast_core_of(&b.cast, b.leader);
	b.core = b.leads && peer_cast_core_leader(&b.cast, core) == b.leader ? core : PEER_NOBODY;
	/* A barrier has nothing to divide among lanes. */
	if (what->collective == PEER_BARRIER)
		b.cast.nlane = 1;
	for (s->nlane = 0; !err && s->nlane < b.cast.nlane; s->nlane++)
		err = lane_make(&b, s, s->nlane);
	peer_cast_free(&b.cast);
	if (err)
		peer_sched_free(s);
	return err;
}

void peer_sched_free(struct peer_sched *s)
{
	uint32_t i;

	for (i = 0; i < PEER_LANES_MAX; i++) {
		free(s->lane[i].op);
		free(s->lane[i].piece);
	}
	*s = (struct peer_sched){0};
}
