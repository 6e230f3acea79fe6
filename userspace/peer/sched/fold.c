// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded leaders: before the core's algorithm they hand their vector to a neighbour in
 * the core, one step, and get the result from it afterwards, one step. That costs
 * them, and the neighbour, a vector each way more.
 */
#include "peer/sched/build.h"

/* Is this rank a leader that is folded, or has one folded into it? Then its partner. */
static uint32_t partner_of(const struct peer_build *b)
{
	uint32_t core;

	if (!b->leads)
		return PEER_NOBODY;
	core = peer_cast_core_of(&b->cast, b->leader);
	return b->core == PEER_NOBODY ? peer_cast_core_leader(&b->cast, core)
				      : peer_cast_folded(&b->cast, core);
}

static void hand(struct peer_build *b, uint32_t leader, enum peer_kind kind, struct peer_span span)
{
	peer_build_op(b, kind, b->nic, peer_cast_leader_rank(&b->cast, leader), span);
}

static void hand_all(struct peer_build *b, uint32_t leader, enum peer_kind kind, bool up)
{
	uint32_t i;

	for (i = 0; i < peer_order_segments(b); i++)
		hand(b, leader, kind, up ? peer_order_up(b, i) : peer_order_down(b, i));
}

/** peer_fold_in() - hand over before */
void peer_fold_in(struct peer_build *b)
{
	uint32_t partner = partner_of(b);
	bool folded = b->core == PEER_NOBODY;
	enum peer_kind set = folded ? PEER_SEND_SET : PEER_SET;
	uint32_t extra = folded ? b->leader : partner;

	if (b->cast.core == b->cast.leaders)
		return;
	if (partner != PEER_NOBODY) {
		switch (b->what.collective) {
		case PEER_ALLGATHER:
			hand(b, partner, set, b->own[extra]);
			break;
		case PEER_BROADCAST:
			if (extra == peer_cast_leader_of(&b->cast, b->what.root))
				hand_all(b, partner, set, true);
			break;
		default:
			hand_all(b, partner, folded ? PEER_SEND_ADD : PEER_ADD, true);
		}
	}
	b->step++;
}

/** peer_fold_out() - hand back after it */
void peer_fold_out(struct peer_build *b)
{
	uint32_t partner = partner_of(b);
	bool folded = b->core == PEER_NOBODY;
	enum peer_kind set = folded ? PEER_SET : PEER_SEND_SET;
	uint32_t extra = folded ? b->leader : partner;

	if (b->cast.core == b->cast.leaders)
		return;
	if (partner != PEER_NOBODY) {
		if (b->what.collective == PEER_REDUCE_SCATTER)
			hand(b, partner, set, b->own[extra]);
		else if (b->what.collective != PEER_BROADCAST ||
			 extra != peer_cast_leader_of(&b->cast, b->what.root))
			hand_all(b, partner, set, false);
	}
	b->step++;
}
