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

static void hand(struct peer_build *b, uint32_t leader, bool out, bool add, struct peer_span span)
{
	enum peer_kind kind =
		out ? (add ? PEER_SEND_ADD : PEER_SEND_SET) : (add ? PEER_ADD : PEER_SET);

	peer_build_op(b, kind, b->nic, peer_cast_leader_rank(&b->cast, leader), span);
}

/** peer_fold_in() - hand over before */
void peer_fold_in(struct peer_build *b)
{
	uint32_t partner = partner_of(b);
	bool folded = b->core == PEER_NOBODY;
	uint32_t root;

	if (b->cast.core == b->cast.leaders)
		return;
	if (partner != PEER_NOBODY) {
		switch (b->what.collective) {
		case PEER_ALLGATHER:
			hand(b, partner, folded, false, b->own[folded ? b->leader : partner]);
			break;
		case PEER_BROADCAST:
			root = peer_cast_leader_of(&b->cast, b->what.root);
			if (root == (folded ? b->leader : partner))
				hand(b, partner, folded, false, peer_build_whole(b));
			break;
		default:
			hand(b, partner, folded, true, peer_build_whole(b));
		}
	}
	b->step++;
}

/** peer_fold_out() - hand back after it */
void peer_fold_out(struct peer_build *b)
{
	uint32_t partner = partner_of(b);
	bool folded = b->core == PEER_NOBODY;
	struct peer_span span = peer_build_whole(b);

	if (b->cast.core == b->cast.leaders)
		return;
	if (partner != PEER_NOBODY) {
		uint32_t extra = folded ? b->leader : partner;

		if (b->what.collective == PEER_REDUCE_SCATTER)
			span = b->own[extra];
		if (b->what.collective != PEER_BROADCAST ||
		    extra != peer_cast_leader_of(&b->cast, b->what.root))
			hand(b, partner, !folded, false, span);
	}
	b->step++;
}
