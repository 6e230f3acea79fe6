// SPDX-License-Identifier: BSD-2-Clause
/* Places for collective sockets, with mistakes: for sockops.c. */
#include <string.h>

#include "sockops.h"
#include "tests/vm/rig/stress.h"

struct rig_place chaos_place(void)
{
	uint16_t job = CHAOS_JOB + chance_below(CHAOS_JOBS);
	uint16_t world = 1 + chance_below(chance_one_in(4) ? CHAOS_RANKS : 2);

	return (struct rig_place){
		.job = job,
		.rank = chance_below(chance_one_in(8) ? CHAOS_RANKS : world),
		.world = world,
		.tree = chaos_tree(world, chance_below(2)),
		.relay_port = EVIL_PORT,
		.recv_port = CHAOS_PORT + CHAOS_RANKS * (job - CHAOS_JOB),
		.seed = CHAOS_SEED,
	};
}

static void spoil_address(__be32 *addr)
{
	static const uint32_t words[] = {0,	     0xe0000007, 0x7f000001, 0xffffffff,
					 0x0a4d0001, 0xff020000, 0xfe800000, 0xac100001};
	int i;

	memset(addr, 0, 16);
	switch (chance_below(4)) {
	case 0:
		break;
	case 1: /* v4-mapped */
		addr[2] = __builtin_bswap32(0xffff);
		addr[3] = __builtin_bswap32(words[chance_below(8)]);
		break;
	case 2:
		addr[0] = __builtin_bswap32(words[5 + chance_below(2)]);
		addr[3] = __builtin_bswap32(chance_below(4));
		break;
	case 3:
		for (i = 0; i < 4; i++)
			addr[i] = chance();
		break;
	}
}

static void spoil_tree(struct trib_attach_tree *t)
{
	switch (chance_below(12)) {
	case 0:
		spoil_address(t->addr);
		break;
	case 1:
		spoil_address(t->local_addr);
		break;
	case 2:
		spoil_address(t->mcast_addr);
		break;
	case 3:
		t->recv_port = chance_odd();
		break;
	case 4:
		t->port = chance_odd();
		break;
	case 5:
		t->tree = chance_odd();
		break;
	case 6:
		t->child = chance_odd();
		break;
	case 7:
		t->weight = chance_odd();
		break;
	case 8:
		t->recv_port = 0;
		break;
	default:
		/* One of a shared pool. */
		t->flags = chance_one_in(4) ? chance_odd() : TRIB_ATTACH_SHARED;
		t->nhop = chance_below(chance_one_in(4) ? 256 : 4);
		for (int i = 0; i < TRIB_ATTACH_HOPS; i++) {
			if (chance_one_in(8))
				spoil_address(t->hop[i].addr);
			else
				memcpy(t->hop[i].addr, t->addr, 16);
			t->hop[i].port = chance_one_in(8) ? chance_odd() : EVIL_PORT;
			t->hop[i].relay = chance_one_in(8) ? (int)chance_odd() : i + 1;
		}
	}
}

/* More trees, and things that are wrong. */
size_t chaos_spoil(struct trib_attach_rep *rep, size_t len)
{
	uint8_t *bytes = (uint8_t *)rep;
	int i, n;

	if (chance_one_in(3)) {
		n = chance_one_in(8) ? TRIB_ATTACH_TREES : 1 + chance_below(4);
		for (i = 1; i < n; i++) {
			rep->tree[i] = rep->tree[0];
			rep->tree[i].tree += i;
			rep->tree[i].weight = chance_below(4);
		}
		rep->ntree = n;
		len = offsetof(struct trib_attach_rep, tree[n]);
	}
	for (n = chance_below(3); n--;)
		spoil_tree(&rep->tree[chance_below(rep->ntree)]);
	if (chance_one_in(4))
		rep->window = chance_one_in(2) ? (int)chance_odd() : 1 << chance_below(16);
	if (chance_one_in(4))
		rep->nval = chance_one_in(2) ? chance_odd() : TRIB_NVAL_LARGE;
	if (chance_one_in(4))
		rep->fmt = chance_below(12);
	if (chance_one_in(8))
		rep->timeout_ms = chance_odd();
	if (chance_one_in(16))
		bytes[chance_below(len)] = chance();
	if (chance_one_in(16))
		rep->ntree = chance_odd();
	if (chance_one_in(16))
		len = chance_below(sizeof(*rep) + 64);
	return len;
}
