// SPDX-License-Identifier: BSD-2-Clause
/*
 * join.c and join_out.c: datagrams in; datagrams and rows out. The state machine
 * behind them has its own tests.
 */
#include "join_node.h"

static void join__all_in_starts_the_epoch(void)
{
	unsigned int i;

	start(false);
	join_as(0, 0, 100);
	expect_eq(nsent, 1);
	expect_eq(ntohs(last_start()->state), TRIB_START_WAIT);
	expect_eq(be64toh(last_start()->seen), 1);
	expect_eq(be64toh(last_start()->nonce), 100);
	expect_eq(sent[0].via - F, 0);
	expect_eq(sent[0].port, 40000);
	expect_eq(sent[0].len, FULL);
	expect_eq(ntohs(sent[0].p.h.nval), NVAL);
	expect_eq(T.row.child[0].nonce, 100);
	nstep = 0;
	join_as(1, 1, 101);
	expect_eq(nsent, 3);
	expect_eq(T.row.epoch, 1);
	expect_eq(T.last_epoch, 1);
	for (i = 1; i < 3; i++) {
		const struct trib_start *st = &sent[i].p.u.start;

		expect_eq(ntohs(st->state), TRIB_START_RUN);
		expect_eq(ntohl(st->epoch), 1);
		expect_eq(ntohs(st->window), 4);
		expect_eq(ntohs(st->nval), NVAL);
		expect_eq(ntohs(st->world), 2);
		expect_eq(ntohs(st->nchild), 2);
		expect_eq(ntohs(st->child_rank[1]), 1);
		expect_eq(ntohl(st->timeout_ms), 5000);
		expect_eq(be64toh(st->nonce), 99 + i);
		expect(is_signed(&sent[i], (uint16_t)(i - 1)));
	}
	/* The epoch begins: first the file, then the row, then START. */
	expect_eq(step[nstep - 4], STEP_STATE);
	expect_eq(step[nstep - 3], STEP_ROW);
	expect_eq(step[nstep - 2], STEP_SEND);
}

static void full_disk__all_wait_and_the_parent_is_not_asked(void)
{
	unsigned int i, parent;

	for (parent = 0; parent < 2; parent++) {
		start(parent);
		save_fails = -ENOSPC;
		join_as(0, 0, 100);
		join_as(1, parent ? 0xffffffff : 1, 101);
		later(2000);
		for (i = 0; i < nsent; i++)
			expect(sent[i].p.h.type == TRIB_T_START &&
			       ntohs(sent[i].p.u.start.state) == TRIB_START_WAIT);
		save_fails = 0;
		later(300);
		expect_eq(T.last_epoch, 1);
		expect_eq(sent[nsent - 1].p.h.type, parent ? TRIB_T_JOIN : TRIB_T_START);
	}
}

static void join__whoever_is_not_a_child_is_refused_or_ignored(void)
{
	struct in *in;

	start(false);
	/* The sender has a key, but is behind another face. */
	in = packet(TRIB_T_JOIN, 5);
	from(in, 3, 0);
	in->p.h.child = 0;
	give(in);
	expect_eq(nsent, 1);
	expect_eq(ntohs(last_start()->state), TRIB_START_REFUSED);
	expect_eq(sent[0].via - F, 3);
	expect(sent[0].len <= in->up.len);
	in->p.h.child = htons(2);
	give(in);
	expect_eq(nsent, 2);
	/* No face is behind that port. */
	in->up.ifindex = 99;
	give(in);
	expect_eq(nsent, 2);
	/* The rank is not the child's. */
	join_as(0, 1, 6);
	expect_eq(nsent, 3);
	expect_eq(ntohs(last_start()->state), TRIB_START_REFUSED);
	expect_eq(T.row.child[0].nonce, 0);
	/* The sender does not have the key, or somebody changed the packet. */
	in = packet(TRIB_T_JOIN, 5);
	give(in);
	nsent = 0;
	in->p.h.auth ^= 1;
	join_packet(&D, &in->up);
	in->p.h.auth ^= 1;
	((uint8_t *)&in->p)[FULL - 1] ^= 1;
	join_packet(&D, &in->up);
	expect_eq(nsent, 0);
}

static void join__malformed_datagrams_are_ignored(void)
{
	struct in *in;
	size_t len;

	start(false);
	for (len = 0; len < FULL + 64; len++) {
		if (len == FULL)
			continue;
		in = packet(TRIB_T_JOIN, 5);
		in->up.len = len;
		give(in);
	}
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.version++;
	give(in);
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.flags = 0;
	give(in);
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.job = htons(8);
	give(in);
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.tree = htons(4);
	give(in);
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.bmwords = 1;
	give(in);
	in = packet(TRIB_T_JOIN, 0);
	give(in);
	in = packet(TRIB_T_GRAD, 5);
	give(in);
	in = packet(TRIB_T_ABORT, 5);
	give(in);
	/* A root ignores START. */
	in = packet(TRIB_T_START, 5);
	give(in);
	expect_eq(nsent, 0);
	expect_eq(T.row.child[0].nonce, 0);
}

static void join__answers_are_not_longer_than_requests(void)
{
	struct in *in;

	start(false);
	in = packet(TRIB_T_JOIN, 5);
	in->p.h.nval = htons(16);
	in->up.len = sizeof(in->p.h) + 64;
	give(in);
	expect_eq(nsent, 0);
	/* Too short, but long enough for an answer with the right size. */
	in->p.h.nval = htons(48);
	in->up.len = sizeof(in->p.h) + 192;
	give(in);
	expect_eq(nsent, 1);
	expect_eq(ntohs(last_start()->state), TRIB_START_WAIT);
	expect_eq(ntohs(last_start()->nval), NVAL);
	expect_eq(sent[0].len, in->up.len);
	expect_eq(T.row.child[0].nonce, 0);
	/*
	 * Longer than the slots here: the sender expects another kind of relay.
	 */
	clock_ns += 1000000000;
	in->p.h.nval = htons(TRIB_NVAL_LARGE);
	in->up.len = sizeof(in->p.h) + TRIB_NVAL_LARGE * 4;
	give(in);
	expect_eq(ntohs(last_start()->state), TRIB_START_REFUSED);
	expect_eq(sent[1].len, in->up.len);
}

static void leave__short_packet_counts(void)
{
	struct in *in;

	start(false);
	join_as(0, 0, 100);
	in = packet(TRIB_T_LEAVE, 100);
	in->p.h.nval = htons(4);
	in->up.len = sizeof(in->p.h) + 64;
	give(in);
	expect_eq(T.row.child[0].nonce, 0);
}

static void inner__speaks_to_its_parent(void)
{
	struct in *in;
	const struct sent *s;
	uint64_t nonce;

	start(true);
	join_as(0, 0, 100);
	join_as(1, 0xffffffff, 101);
	s = &sent[nsent - 2]; /* then the child gets its answer */
	expect_eq(s->p.h.type, TRIB_T_JOIN);
	expect_eq(s->p.h.flags, TRIB_F_UP);
	expect_eq(ntohs(s->p.h.child), 9);
	expect_eq(s->via - F, 2);
	expect_eq(s->len, FULL);
	expect_eq(ntohl(s->p.u.join.rank), 0xffffffff);
	nonce = be64toh(s->p.u.join.nonce);
	expect_eq(T.row.parent.nonce, nonce);
	/* START from a child, or from another port, is ignored. */
	in = packet(TRIB_T_START, 0);
	in->p.u.start.nonce = htobe64(nonce);
	in->p.u.start.epoch = htonl(4);
	in->p.u.start.state = htons(TRIB_START_RUN);
	in->p.u.start.window = htons(4);
	in->p.u.start.nval = htons(NVAL);
	in->p.u.start.world = htons(2);
	in->p.u.start.nchild = htons(3);
	give(in);
	in->up.src = F[2].addr;
	in->up.ifindex = F[2].l3_ifindex;
	give(in);
	expect_eq(T.row.epoch, 0);
	in->up.sport = TRIB_UDP_PORT;
	in->p.u.start.window = htons(8);
	give(in);
	expect_eq(T.row.epoch, 0);
	in->p.u.start.window = htons(4);
	in->p.u.start.nchild = htons(65);
	give(in);
	expect_eq(T.row.epoch, 0);
	in->p.u.start.nchild = htons(3);
	give(in);
	expect_eq(T.row.epoch, 4);
	expect_eq(T.last_epoch, 4);
	expect_eq(ntohs(last_start()->state), TRIB_START_RUN);
}

/* Child 1, a relay, leaves because of @rank. */
static void relay_leaves(uint16_t rank, uint64_t nonce)
{
	struct in *in = packet(TRIB_T_LEAVE, nonce);

	from(in, 1, 0xffffffff);
	in->p.h.aux = htons(rank);
	give(in);
}

static void inner__leave_carries_the_rank_that_is_the_reason(void)
{
	const struct sent *s;
	uint64_t nonce;

	start(true);
	J.world = 9;
	join_as(0, 0, 100);
	join_as(1, 0xffffffff, 101);
	s = &sent[nsent - 2];
	expect_eq(s->p.h.type, TRIB_T_JOIN);
	expect_eq(ntohs(s->p.h.aux), RANK_NONE);
	nonce = s->p.u.join.nonce;
	relay_leaves(8, 101);
	s = &sent[nsent - 1];
	expect_eq(s->p.h.type, TRIB_T_LEAVE);
	expect_eq(s->p.u.join.nonce, nonce);
	expect_eq(ntohs(s->p.h.aux), 8);
	expect_eq(s->via - F, 2);
	/* A rank outside the job is ignored. */
	later(100);
	join_as(1, 0xffffffff, 102);
	relay_leaves(9, 102);
	s = &sent[nsent - 1];
	expect_eq(s->p.h.type, TRIB_T_LEAVE);
	expect_eq(ntohs(s->p.h.aux), RANK_NONE);
}

static uint64_t nonce_towards_parent(void)
{
	start(true);
	join_as(0, 0, 100);
	join_as(1, 0xffffffff, 101);
	return T.row.parent.nonce;
}

static void inner__is_another_instance_after_each_start(void)
{
	uint64_t a = nonce_towards_parent(), b = nonce_towards_parent();

	expect_eq((uint32_t)a, 1);
	expect_eq((uint32_t)b, 1);
	expect(a >> 32 && b >> 32 && a >> 32 != b >> 32);
}

static void abort__goes_where_data_goes(void)
{
	const struct sent *s;

	start(false);
	join_as(0, 0, 100);
	join_as(1, 1, 101);
	clock_ns += 100000000;
	nsent = 0;
	join_as(1, 1, 102);
	s = &sent[0];
	expect_eq(s->p.h.type, TRIB_T_ABORT);
	expect_eq(s->p.h.flags, 0);
	expect_eq(s->via - F, 0);
	expect_eq(s->port, 0); /* the face's */
	expect_eq(s->len, sizeof(struct trib_hdr));
	expect_eq(ntohl(s->p.h.chunk), TRIB_ABORT_REJOIN);
	expect_eq(ntohl(s->p.h.epoch), 1);
	expect_eq(ntohs(s->p.h.aux), 1);
	expect_eq(T.row.epoch, 0);
}

static void gone__is_read_off_the_slots(void)
{
	unsigned int i, aborts = 0;
	struct in *in;

	start(false);
	join_as(0, 0, 100);
	join_as(1, 1, 101);
	in = packet(TRIB_T_LEAVE, 101);
	from(in, 1, 1);
	give(in);
	expect_eq(T.row.epoch, 1);
	later(3000);
	expect_eq(T.row.epoch, 1);
	slot.epoch = 1;
	slot.chunk = 77;
	slot.seen = 1;
	nsent = 0;
	later(2000);
	expect_eq(T.row.epoch, 0);
	for (i = 0; i < nsent && i < 64; i++)
		if (sent[i].p.h.type == TRIB_T_ABORT) {
			aborts++;
			expect_eq(ntohl(sent[i].p.h.chunk), TRIB_ABORT_GONE);
			expect_eq(ntohs(sent[i].p.h.aux), 1);
			expect_eq(sent[i].via - F, 0);
		}
	expect_eq(aborts, SESSION_ABORTS);
}

/* The row outlives a tribd, and the file may be an older one. */
static void row__keeps_the_newest_epoch(void)
{
	start(false);
	join_as(0, 0, 100);
	expect_eq(T.row.last_epoch, 0);
	join_as(1, 1, 101);
	expect_eq(T.row.last_epoch, 1);
	clock_ns += 100000000;
	join_as(1, 1, 201);
	expect_eq(T.row.epoch, 0);
	expect_eq(T.row.last_epoch, 1);
	clock_ns += 100000000;
	join_as(0, 0, 200);
	expect_eq(T.row.epoch, 2);
	expect_eq(T.row.last_epoch, 2);
}

static void adopt__running_epoch_goes_on(void)
{
	setup(false);
	T.row.epoch = 6;
	T.row.child[0].nonce = 100;
	T.row.child[1].nonce = 101;
	T.last_epoch = 5; /* an older file */
	expect_eq(join_tree_added(&D, &T, true), 0);
	join_as(0, 0, 100);
	expect_eq(T.last_epoch, 6);
	expect_eq(T.row.epoch, 6);
	expect_eq(ntohs(last_start()->state), TRIB_START_RUN);
	expect_eq(ntohl(last_start()->epoch), 6);
	clock_ns += 100000000;
	join_as(1, 1, 201);
	expect_eq(T.row.epoch, 0);
	clock_ns += 100000000;
	join_as(0, 0, 200);
	expect_eq(T.row.epoch, 7);
}

static void adopt__waiting_children_are_asked_to_repeat(void)
{
	setup(false);
	T.row.child[0].nonce = 100;
	T.last_epoch = 5;
	T.traced = 8; /* in the slots */
	expect_eq(join_tree_added(&D, &T, true), 0);
	join_as(1, 1, 101);
	expect_eq(T.row.epoch, 0);
	join_as(0, 0, 100);
	expect_eq(T.row.epoch, 9);
}

static void adopt__inner_node_leaves_by_the_nonce_it_joined_with(void)
{
	struct in *in;

	setup(true);
	T.row.epoch = T.last_epoch = 6;
	T.row.child[0].nonce = 100;
	T.row.parent.nonce = 777;
	expect_eq(join_tree_added(&D, &T, true), 0);
	in = packet(TRIB_T_LEAVE, 100);
	from(in, 0, 0);
	give(in);
	expect_eq(nsent, 1);
	expect_eq(sent[0].p.h.type, TRIB_T_LEAVE);
	expect_eq(be64toh(sent[0].p.u.join.nonce), 777);
	expect_eq(T.row.epoch, 0);
	/* A child that only waited joins anew. */
	setup(true);
	T.row.child[0].nonce = 100;
	T.row.parent.nonce = 777;
	expect_eq(join_tree_added(&D, &T, true), 0);
	join_as(0, 0, 100);
	join_as(1, 0xffffffff, 101);
	expect(T.row.parent.nonce && T.row.parent.nonce != 777);
}

static void removed__everybody_is_told(void)
{
	unsigned int i, n = 0;

	start(false);
	join_as(0, 0, 100);
	nsent = 0;
	join_tree_del(&T);
	join_tree_free(&D, &T);
	expect_eq(nsent, 1);
	expect_eq(ntohs(last_start()->state), TRIB_START_REFUSED);
	start(false);
	join_as(0, 0, 100);
	join_as(1, 1, 101);
	nsent = 0;
	join_tree_del(&T);
	join_tree_free(&D, &T);
	for (i = 0; i < nsent; i++)
		n += sent[i].p.h.type == TRIB_T_ABORT &&
		     ntohl(sent[i].p.h.chunk) == TRIB_ABORT_ADMIN;
	expect_eq(n, 2 * SESSION_ABORTS);
}

static void leaf__tells_its_parent_of_a_lost_rank(void)
{
	const struct sent *s = &sent[0];

	setup(true);
	T.nchild = 0;
	T.dedicated.slots = 0;
	T.nlocal = 1;
	T.local[0] = (struct local){.rank = 1, .index = 4};
	expect_eq(join_tree_added(&D, &T, false), 0);
	join_rank_gone(&D, &T, &T.local[0]);
	expect_eq(nsent, 0); /* nothing runs */
	expect_eq(join_epoch(&D, &T, 3), 0);
	expect_eq(T.row.epoch, 3);
	expect_eq(T.last_epoch, 3);
	expect_eq(join_epoch(&D, &T, 2), -ESTALE);
	join_rank_gone(&D, &T, &T.local[0]);
	expect_eq(nsent, 1);
	expect_eq(s->p.h.type, TRIB_T_ABORT);
	expect_eq(s->p.h.flags, TRIB_F_UP);
	expect_eq(ntohs(s->p.h.child), 4);
	expect_eq(ntohs(s->p.h.aux), 1);
	expect_eq(s->via - F, 2);
	join_idle(&D, &T);
	expect_eq(T.row.epoch, 0);
	later(1000);
	expect_eq(nsent, SESSION_ABORTS);
}

int main(void)
{
	run(join__all_in_starts_the_epoch);
	run(join__whoever_is_not_a_child_is_refused_or_ignored);
	run(join__malformed_datagrams_are_ignored);
	run(join__answers_are_not_longer_than_requests);
	run(leave__short_packet_counts);
	run(inner__speaks_to_its_parent);
	run(inner__leave_carries_the_rank_that_is_the_reason);
	run(inner__is_another_instance_after_each_start);
	run(abort__goes_where_data_goes);
	run(gone__is_read_off_the_slots);
	run(full_disk__all_wait_and_the_parent_is_not_asked);
	run(row__keeps_the_newest_epoch);
	run(adopt__running_epoch_goes_on);
	run(adopt__waiting_children_are_asked_to_repeat);
	run(adopt__inner_node_leaves_by_the_nonce_it_joined_with);
	run(removed__everybody_is_told);
	run(leaf__tells_its_parent_of_a_lost_rank);
	join_exit(&D);
	return tap_done();
}
