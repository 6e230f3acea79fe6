// SPDX-License-Identifier: BSD-2-Clause
/* trib-ps: each of its rules in kmod/uapi/PROTOCOL.md. */
#include "ps_fixture.h"

static void grad__disjoint_sums_are_added_and_the_result_goes_to_the_group(void)
{
	begin(4, 4);
	rx(grad(2, 9, 4, 100));
	rx(grad(1, 9, 3, 20));
	expect_eq(nsent, 0);
	rx(grad(3, 9, 8, 1000));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, GROUP_RANK);
	expect_eq(sent[0].type, TRIB_T_RESULT);
	expect_eq(sent[0].child, 3);
	expect_eq(sent[0].chunk, 9);
	expect_eq(sent[0].epoch, 5);
	expect_eq(sent[0].nval, NVAL);
	expect_eq(sent[0].v[0], 1120);
	expect_eq(sent[0].v[WORDS - 1], 1120 * WORDS);
	expect_eq(tree->stats.count[PS_COUNT_PARTIAL], 1);
	end();
}

static void grad__each_worker_is_counted_once(void)
{
	begin(4, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(0, 9, 1, 1));
	rx(resend(grad(0, 9, 1, 1)));
	rx(grad(1, 9, 6, 20));
	rx(grad(3, 9, 12, 500)); /* one bit in range, one beyond */
	rx(grad(2, 9, 4, 300));	 /* in range */
	expect_eq(tree->stats.drop[PS_DROP_KNOWN], 3);
	expect_eq(tree->stats.drop[PS_DROP_OVERLAP], 1);
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 0);
	rx(grad(3, 9, 8, 700));
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 1);
	expect_eq(sent[nsent - 1].v[0], 721);
	end();
}

static void grad__superset_takes_the_place(void)
{
	begin(4, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(1, 9, 2, 2));
	rx(grad(2, 9, 7, 7000));
	expect_eq(tree->stats.count[PS_COUNT_SUPERSET], 1);
	rx(grad(3, 9, 8, 1));
	expect_eq(count(TRIB_T_RESULT, GROUP_RANK), 1);
	expect_eq(sent[nsent - 1].v[0], 7001);
	end();
}

static void grad__finished_chunk_is_kept_and_not_begun_again(void)
{
	begin(2, 4);
	rx(grad(0, 9, 1, 1));
	rx(grad(1, 9, 2, 2));
	forget();
	rx(grad(0, 9, 1, 1));
	expect_eq(nsent, 0);
	expect_eq(tree->stats.drop[PS_DROP_DONE], 1);
	rx(resend(grad(0, 9, 1, 1)));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, 0);
	expect_eq(sent[0].type, TRIB_T_RESULT);
	expect_eq(sent[0].v[0], 3);
	expect_eq(sent[0].port, TRIB_UDP_PORT_WORKER);
	rx(plain(TRIB_T_NEED, 1, 9));
	expect_eq(nsent, 2);
	expect_eq(sent[1].rank, 1);
	expect_eq(sent[1].type, TRIB_T_RESULT);
	end();
}

static void places__are_two_windows(void)
{
	begin(2, 4);
	rx(grad(0, 0, 1, 1));
	rx(grad(1, 0, 2, 2));
	rx(grad(0, 4, 1, 1)); /* c + W: a rank may still ask for 0 */
	forget();
	rx(plain(TRIB_T_NEED, 1, 0));
	expect_eq(count(TRIB_T_RESULT, 1), 1);
	rx(grad(0, 8, 1, 1)); /* c + 2W takes the place of 0, */
	expect(nsettled > 0);
	forget();
	rx(plain(TRIB_T_NEED, 1, 0)); /* so 0 is stale */
	rx(resend(grad(1, 0, 2, 2)));
	expect_eq(nsent, 0);
	expect_eq(tree->stats.drop[PS_DROP_STALE], 2);
	rx(grad(1, 8, 2, 5));
	expect_eq(sent[0].v[0], 6);
	end();
}

static void chunks__are_compared_serially(void)
{
	begin(2, 4);
	rx(grad(0, 0xfffffffc, 1, 1));
	rx(grad(0, 4, 1, 10));
	rx(grad(1, 0xfffffffc, 2, 1));
	expect_eq(tree->stats.drop[PS_DROP_STALE], 1);
	rx(grad(1, 4, 2, 10));
	expect_eq(nsent, 1);
	expect_eq(sent[0].v[0], 20);
	end();
}

static void epochs__older_is_dropped_newer_becomes_the_trees(void)
{
	struct in p = grad(0, 9, 1, 1);

	begin(2, 4);
	rx(p);
	p.epoch = 6;
	p.v[0] = 50;
	rx(p);
	expect_eq(tree->epoch, 6);
	rx(grad(1, 9, 2, 2)); /* of 5 */
	expect_eq(tree->stats.drop[PS_DROP_EPOCH], 1);
	p = grad(1, 9, 2, 2);
	p.epoch = 6;
	rx(p);
	expect_eq(nsent, 1);
	expect_eq(sent[0].v[0], 52);
	p.epoch = 0;
	rx(p);
	p.epoch = 0xffffffff;
	rx(p);
	expect_eq(tree->stats.drop[PS_DROP_EPOCH], 3);
	expect_eq(tree->epoch, 6);
	end();
}

static void shape__another_one_is_refused_and_named(void)
{
	struct in p[4], max = grad(0, 10, 1, 1);
	unsigned int i;

	begin(2, 4);
	rx(grad(0, 9, 1, 1));
	for (i = 0; i < 4; i++)
		p[i] = grad(1, 9, 2, 2);
	p[0].scale = -2;
	p[1].fmt = TRIB_FMT_I32;
	p[2].nval = NVAL - 2;
	p[3].fmt = TRIB_FMT_W64;
	for (i = 0; i < 4; i++)
		rx(p[i]);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 4);
	expect_eq(nsent, 0);
	expect_eq(nlogged, 1); /* the first */
	now += 1000;
	rx(p[0]);
	expect(strstr(logged, "chunk 9 from rank 1 has op 0, format 1, scale -2"));
	rx(grad(1, 9, 2, 2));
	expect_eq(nsent, 1);
	max.fmt = TRIB_FMT_W64;
	max.op = TRIB_WOP_MAX;
	rx(max);
	max.op = TRIB_WOP_ADD;
	max.child = 1;
	max.who[0] = 2;
	rx(max);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 6);
	expect_eq(nsent, 1);
	end();
}

static void empty__counts_and_adds_nothing(void)
{
	struct in e = grad(0, 9, 1, 77), room = grad(1, 9, 2, 88);

	begin(3, 4);
	e.nval = 0;
	e.flags = TRIB_F_EMPTY;
	room.flags = TRIB_F_EMPTY;
	rx(e);
	rx(room);
	rx(grad(2, 9, 4, 5));
	expect_eq(nsent, 1);
	expect_eq(sent[0].nval, NVAL);
	expect_eq(sent[0].v[0], 5);
	e.chunk = room.chunk = 10;
	rx(e);
	rx(room);
	e.child = 2;
	e.who[0] = 4;
	rx(e);
	expect_eq(nsent, 2);
	expect_eq(sent[1].nval, 0);
	/* A shape of its own, although it has no values. */
	rx(grad(0, 11, 1, 1));
	e.chunk = 11;
	e.fmt = TRIB_FMT_W64;
	rx(e);
	expect_eq(tree->stats.drop[PS_DROP_SHAPE], 1);
	end();
}

static void sums__are_those_of_their_format(void)
{
	struct in a = grad(0, 1, 1, 0), b = grad(1, 1, 2, 0);

	begin(2, 4);
	a.v[0] = (7ULL << 32) - 3; /* 7 and -3 */
	b.v[0] = (1ULL << 32) - 4;
	rx(a);
	rx(b);
	expect_eq(sent[0].v[0], (8ULL << 32) - 7);
	a.fmt = b.fmt = TRIB_FMT_I32;
	a.chunk = b.chunk = 2;
	a.v[1] = 0x80000001ffffffffULL;
	b.v[1] = 0x8000000000000001ULL;
	rx(a);
	rx(b);
	expect_eq(sent[1].v[1], 0x0000000100000000ULL);
	a.fmt = b.fmt = TRIB_FMT_W64;
	a.chunk = b.chunk = 3;
	rx(a);
	rx(b);
	expect_eq(sent[2].v[1], 0x200000000ULL);
	a.op = b.op = TRIB_WOP_MAX;
	a.chunk = b.chunk = 4;
	a.v[2] = (uint64_t)-5;
	b.v[2] = 3;
	b.v[3] = (uint64_t)-5;
	a.v[3] = (uint64_t)-6;
	rx(a);
	rx(b);
	expect_eq(sent[3].v[2], 3);
	expect_eq((int64_t)sent[3].v[3], -5);
	expect_eq(sent[3].v[1], 0x80000001ffffffffULL); /* both are negative */
	end();
}

static void flags__push_and_congestion_are_collected(void)
{
	struct in p = grad(0, 1, 1, 1);
	uint8_t buf[PS_PACKET_MAX];
	struct ps_addr from = host(0, 1);
	size_t len;

	begin(2, 4);
	p.flags = TRIB_F_PUSH;
	len = pack(&p, buf);
	ps_rx(ps, &from, buf, len, true, now);
	rx(grad(1, 1, 2, 2));
	expect_eq(sent[0].flags, TRIB_F_PUSH | TRIB_F_CE);
	end();
}

static void ask__need_goes_to_the_asker_and_ever_more_others(void)
{
	static const unsigned int others[] = {1, 2, 3, 3};
	unsigned int i, k, n;

	begin(6, 4);
	rx(grad(1, 9, 2, 1));
	for (i = 0; i < 4; i++) {
		forget();
		rx(plain(TRIB_T_NEED, 0, 9));
		expect_eq(count(TRIB_T_NEED, 0), 1);
		for (n = 0, k = 1; k < 6; k++)
			n += count(TRIB_T_NEED, k);
		/* 2, 3, 4 and 5 are missing; the PS asks 4 of them. */
		expect_eq(n, i == 2 ? 4 : i == 3 ? 4 : others[i]);
		expect_eq(count(TRIB_T_NEED, 1), 0);
		expect_eq(sent[0].have[0], 2);
		forget();
		rx(plain(TRIB_T_NEED, 0, 9)); /* too soon to ask others */
		expect_eq(nsent, 1);
		now += PS_NEED_PACE_MS;
	}
	/* A resend without values also asks the others, but not its sender. */
	now += 1000;
	forget();
	rx(resend(grad(1, 9, 2, 1)));
	expect_eq(count(TRIB_T_NEED, 1), 0);
	expect_eq(nsent, 5);
	forget();
	now += 1000;
	rx(grad(1, 9, 2, 1)); /* a copy asks no rank */
	expect_eq(nsent, 0);
	end();
}

static void result__of_a_worker_is_taken(void)
{
	struct in p = grad(2, 9, 0, 11);

	begin(3, 4);
	rx(grad(0, 9, 1, 1));
	p.type = TRIB_T_RESULT;
	rx(p);
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, GROUP_RANK);
	expect_eq(sent[0].v[0], 11);
	expect_eq(tree->stats.count[PS_COUNT_TAKEN], 1);
	p.v[0] = 12;
	rx(p);
	expect_eq(nsent, 1);
	rx(plain(TRIB_T_NEED, 1, 9));
	expect_eq(sent[1].v[0], 11);
	end();
}

static void probe__is_answered_and_gives_a_lease(void)
{
	const struct ps_addr *to[8];

	begin(3, 4);
	expect_eq(ps_tree_dests(tree, now, to), 1);
	rx(plain(TRIB_T_PROBE, 2, 0));
	expect_eq(nsent, 1);
	expect_eq(sent[0].rank, 2);
	expect_eq(sent[0].type, TRIB_T_PROBE);
	expect_eq(sent[0].relay, TRIB_RELAY_PS);
	expect_eq(ps_tree_dests(tree, now, to), 2);
	expect_eq(to[1]->port, TRIB_UDP_PORT_WORKER + 2);
	forget();
	rx(plain(TRIB_T_ALIVE, 0, 4));
	expect_eq(nsent, 2);
	expect_eq(count(TRIB_T_ALIVE, 2), 1);
	expect_eq(sent[0].chunk, 4);
	expect_eq(sent[0].aux, 0);
	expect_eq(ps_tree_dests(tree, now + PS_LEASE_MS, to), 1);
	/* Members of the group get no second copy. */
	tree->direct[2] = true;
	expect_eq(ps_tree_dests(tree, now, to), 1);
	end();
}

static void signs__that_go_to_everybody_are_paced(void)
{
	unsigned int i;

	begin(3, 4);
	for (i = 0; i < 3; i++)
		rx(plain(TRIB_T_ALIVE, 1, 4));
	expect_eq(nsent, 1);
	expect_eq(tree->stats.drop[PS_DROP_PACE], 2);
	rx(plain(TRIB_T_ALIVE, 2, 4));
	now += PS_ALIVE_PACE_MS;
	rx(plain(TRIB_T_ALIVE, 1, 4));
	expect_eq(nsent, 3);
	forget();
	for (i = 0; i < 100; i++)
		rx(plain(TRIB_T_ABORT, 1, TRIB_ABORT_DEAD));
	expect_eq(nsent, PS_ABORT_BURST);
	expect_eq(sent[0].chunk, TRIB_ABORT_DEAD);
	now += PS_ABORT_PACE_MS;
	rx(plain(TRIB_T_ABORT, 1, TRIB_ABORT_DEAD));
	expect_eq(nsent, PS_ABORT_BURST + 1);
	end();
}

int main(void)
{
	run(grad__disjoint_sums_are_added_and_the_result_goes_to_the_group);
	run(grad__each_worker_is_counted_once);
	run(grad__superset_takes_the_place);
	run(grad__finished_chunk_is_kept_and_not_begun_again);
	run(places__are_two_windows);
	run(chunks__are_compared_serially);
	run(epochs__older_is_dropped_newer_becomes_the_trees);
	run(shape__another_one_is_refused_and_named);
	run(empty__counts_and_adds_nothing);
	run(sums__are_those_of_their_format);
	run(flags__push_and_congestion_are_collected);
	run(ask__need_goes_to_the_asker_and_ever_more_others);
	run(result__of_a_worker_is_taken);
	run(probe__is_answered_and_gives_a_lease);
	run(signs__that_go_to_everybody_are_paced);
	return tap_done();
}
