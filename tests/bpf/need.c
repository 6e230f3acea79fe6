// SPDX-License-Identifier: BSD-2-Clause
/* NEED down and up (ASK): the rules by which a lost chunk is found again. */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;

static int need(int tree, int child, uint32_t chunk, uint64_t seen)
{
	frame_need(&f, tree, child, chunk, seen);
	return run_xdp(&f, port_of(tree, child));
}

/* Expect the packet as NEED(@seen) for @group. */
static void expect_need(int verdict, int group, uint64_t seen)
{
	expect_eq(verdict, XDP_REDIRECT);
	expect_eq(frame_hdr(&f)->type, TRIB_T_NEED);
	expect_eq(frame_hdr(&f)->bmwords, 1);
	expect_eq(group_of(&f), group);
	expect_eq(frame_bitmap(&f), seen);
	expect(frame_lengths_agree(&f));
	expect_eq(stat_of(TRIB_RX_NEED), 1);
	expect_eq(stat_of(TRIB_TX_NEED), 1);
	expect_eq(the_drop(), -1);
}

/* Expect the packet at clsact, to become a @type for @group. */
static void expect_grow(int verdict, int type, int group)
{
	expect_eq(verdict, XDP_PASS);
	expect(ordered(&f, type, group));
	expect_eq(the_drop(), -1);
}

static void collect(int tree, int child)
{
	world_reset();
	run_grad(&f, tree, child, 3, 352, 5);
}

/* Make an inner node that has sent its sum to the parent. */
static void sent(void)
{
	world_reset();
	run_grad(&f, INNER, 0, 3, 352, 5);
	run_grad(&f, INNER, 1, 3, 352, 5);
}

/* Make a node that has the result of chunk 3. */
static void finished(int tree)
{
	world_reset();
	if (tree == ROOT) {
		for (int child = 0; child < 3; child++)
			run_grad(&f, ROOT, child, 3, 352, 5);
		return;
	}
	frame_result(&f, tree, -1, 3, 352, 7);
	run_xdp(&f, port_of(tree, -1));
}

/* The slot holds a newer chunk than 3. */
static void moved_on(int tree)
{
	world_reset();
	run_grad(&f, tree, 0, 3 + SLOTS, 352, 5);
}

static void ask__of_a_result_is_answered(void)
{
	finished(ROOT);
	expect_grow(need(ROOT, 1, 3, 0), TRIB_T_RESULT, TRIB_NONE);
	finished(INNER);
	expect_grow(need(INNER, 1, 3, 0), TRIB_T_RESULT, TRIB_NONE);
}

static void ask__of_a_sent_chunk_goes_up(void)
{
	sent();
	expect_need(need(INNER, 1, 3, 0), UP(INNER), 3);
}

static void ask__of_a_collecting_chunk_goes_to_who_is_missing(void)
{
	collect(ROOT, 0);
	expect_need(need(ROOT, 2, 3, 0), DOWN(ROOT), 1 << 0 | 1 << 2);
	collect(INNER, 0);
	expect_need(need(INNER, 1, 3, 0), ALL(INNER), 1 << 0 | 1 << 1);
}

static void ask__of_a_free_slot_goes_to_all_but_the_asker(void)
{
	world_reset();
	expect_need(need(ROOT, 1, 3, 0), DOWN(ROOT), 1 << 1);
	world_reset();
	expect_need(need(INNER, 1, 3, 0), ALL(INNER), 1 << 1);
	/*
	 * An older chunk in the slot, finished or not, says nothing about this
	 * chunk.
	 */
	finished(ROOT);
	expect_need(need(ROOT, 1, 3 + SLOTS, 0), DOWN(ROOT), 1 << 1);
	/* The slot did not change. */
	expect_eq(slot_of(ROOT, 3)->chunk, 3);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
}

static void ask__of_an_older_chunk_is_stale(void)
{
	moved_on(ROOT);
	expect_eq(need(ROOT, 1, 3, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
}

static void need__that_names_us_is_dropped(void)
{
	collect(INNER, 0);
	expect_eq(need(INNER, -1, 3, 1 << UP_CHILD), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
	collect(INNER, 0);
	expect_need(need(INNER, -1, 3, ~(1ULL << UP_CHILD)), DOWN(INNER), 1 << 0);
}

static void need__of_a_result_is_answered_up(void)
{
	finished(INNER);
	expect_grow(need(INNER, -1, 3, 0), TRIB_T_RESULT, UP(INNER));
}

static void need__of_a_sent_chunk_sends_it_again(void)
{
	sent();
	expect_grow(need(INNER, -1, 3, 0), TRIB_T_GRAD, UP(INNER));
}

static void need__of_a_collecting_chunk_goes_down(void)
{
	collect(INNER, 1);
	expect_need(need(INNER, -1, 3, 0), DOWN(INNER), 1 << 1);
}

static void need__of_a_free_slot_goes_down_to_all(void)
{
	world_reset();
	expect_need(need(INNER, -1, 3, 0), DOWN(INNER), 0);
	sent(); /* of an older chunk */
	expect_need(need(INNER, -1, 3 + SLOTS, 0), DOWN(INNER), 0);
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_SENT);
}

static void need__of_an_older_chunk_is_stale(void)
{
	moved_on(INNER);
	expect_eq(need(INNER, -1, 3, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
}

static void need__of_a_busy_slot_is_dropped(void)
{
	struct trib_slot s;

	collect(INNER, 0);
	s = *slot_of(INNER, 3);
	s.busy = 1;
	slot_put(INNER, 3, &s);
	expect_eq(need(INNER, -1, 3, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
}

static void need__slot_of_an_older_epoch_is_free(void)
{
	uint64_t none = 0;
	struct trib_tree t;
	struct trib_hdr h;

	finished(ROOT);
	tree_get(ROOT, &t);
	t.epoch++;
	tree_put(ROOT, &t);
	h = header(TRIB_T_NEED, ROOT, 1, 3);
	h.bmwords = 1;
	h.epoch = htonl(EPOCH + 1);
	frame_of(&f, ROOT, 1, h, &none, sizeof(none));
	expect_need(run_xdp(&f, 1), DOWN(ROOT), 1 << 1);
}

/* A group cannot have two members behind one port: clsact sends to both. */
static void need__through_one_port_goes_to_clsact(void)
{
	collect(ONEPORT, 0);
	expect_grow(need(ONEPORT, 1, 3, 0), TRIB_T_NEED, TRIB_NONE);
	collect(ONEPORT, 0);
	frame_grad(&f, ONEPORT, 0, 3, 352, 5);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_grow(run_xdp(&f, 0), TRIB_T_NEED, TRIB_NONE);
	/* A packet that goes down only needs one copy. */
	collect(ONEPORT, 0);
	expect_need(need(ONEPORT, -1, 3, 0), DOWN(ONEPORT), 1 << 0);
}

/* EMPTY without room for the bitmap of NEED. */
static void need__longer_than_the_packet_grows(void)
{
	world_reset();
	run_grad(&f, INNER, 0, 3, 0, 0);
	frame_grad(&f, INNER, 0, 3, 0, 0);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_grow(run_xdp(&f, 0), TRIB_T_NEED, ALL(INNER));
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(ask__of_a_result_is_answered);
	run(ask__of_a_sent_chunk_goes_up);
	run(ask__of_a_collecting_chunk_goes_to_who_is_missing);
	run(ask__of_a_free_slot_goes_to_all_but_the_asker);
	run(ask__of_an_older_chunk_is_stale);
	run(need__that_names_us_is_dropped);
	run(need__of_a_result_is_answered_up);
	run(need__of_a_sent_chunk_sends_it_again);
	run(need__of_a_collecting_chunk_goes_down);
	run(need__of_a_free_slot_goes_down_to_all);
	run(need__of_an_older_chunk_is_stale);
	run(need__of_a_busy_slot_is_dropped);
	run(need__slot_of_an_older_epoch_is_free);
	run(need__through_one_port_goes_to_clsact);
	run(need__longer_than_the_packet_grows);
	world_close();
	return tap_done();
}
