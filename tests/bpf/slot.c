// SPDX-License-Identifier: BSD-2-Clause
/*
 * Contributions to one slot: sums, formats, repeats, order.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;

/* Expect @nval units of @word in the slot. */
static void expect_words(const struct trib_slot *s, int nval, uint64_t word)
{
	expect_eq(s->nval, nval);
	for (int i = 0; i < (nval + 1) / 2; i++)
		if (!expect(s->v[i] == word))
			return;
}

static void slot__first_contribution_takes_it(void)
{
	struct trib_slot *s;

	world_reset();
	expect_eq(run_grad(&f, ROOT, 1, 3, 352, 0x500000007), XDP_DROP);
	s = slot_of(ROOT, 3);
	expect_words(s, 352, 0x500000007);
	expect_eq(s->chunk, 3);
	expect_eq(s->epoch, EPOCH);
	expect_eq(s->seen, 1 << 1);
	expect_eq(s->state, TRIB_SLOT_COLLECT);
	expect_eq(s->fmt, TRIB_FMT_Q32);
	expect_eq(s->busy, 0);
	expect_eq(the_drop(), -1);
	expect_eq(stat_of(TRIB_ADDED), 1);
	expect_eq(stat_of(TRIB_RX_GRAD), 1);
	expect_eq(stat_of(TRIB_RX_BYTES), 1408);
}

/* Pairs of int32 in wire order: (hi << 32) + lo, lo signed. */
static uint64_t pair(int32_t hi, int32_t lo)
{
	return ((uint64_t)(uint32_t)hi << 32) + (uint64_t)(int64_t)lo;
}

static void slot__sums_of_every_length_are_exact(void)
{
	static const int lens[] = {1, 2, 15, 16, 17, 31, 32, 176, 336, 351, 352};

	for (unsigned int i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		world_reset();
		run_grad(&f, ROOT, 0, i, lens[i], pair(-7, 100));
		run_grad(&f, ROOT, 1, i, lens[i], pair(20, -101));
		expect_words(slot_of(ROOT, i), lens[i], pair(13, -1));
		expect_eq(run_grad(&f, ROOT, 2, i, lens[i], pair(1, -5)), XDP_REDIRECT);
		expect_words(slot_of(ROOT, i), lens[i], pair(14, -6));
		expect_eq(slot_of(ROOT, i)->state, TRIB_SLOT_RESULT);
		expect(frame_lengths_agree(&f));
		expect_eq(f.len - f.pay, trib_payload_len(lens[i]));
		for (int j = 0; j < (lens[i] + 1) / 2; j++)
			if (!expect(frame_word(&f, j) == pair(14, -6)))
				return;
	}
}

/* Each word has its own value: none is moved or skipped. */
static void slot__every_word_is_added_in_its_place(void)
{
	uint64_t v[176], want[176] = {};

	world_reset();
	for (int child = 0; child < 3; child++) {
		struct trib_hdr h = header(TRIB_T_GRAD, ROOT, child, 9);

		for (int i = 0; i < 176; i++) {
			v[i] = pair(1000 * i + child, child - 77 * i);
			want[i] += v[i];
		}
		h.fmt = TRIB_FMT_Q32;
		h.nval = htons(352);
		frame_of(&f, ROOT, child, h, v, sizeof(v));
		run_xdp(&f, child);
	}
	expect(!memcmp(slot_of(ROOT, 9)->v, want, sizeof(want)));
	expect(!memcmp(f.b + f.pay, want, sizeof(want)));
}

/*
 * Add @nval units in another format from three children; check the slot's
 * words.
 */
static void check_op(int op, int fmt, int nval, const uint64_t in[3], uint64_t want)
{
	world_reset();
	for (int child = 0; child < 3; child++) {
		frame_grad(&f, ROOT, child, 1, nval, in[child]);
		frame_hdr(&f)->op = op;
		frame_hdr(&f)->fmt = fmt;
		run_xdp(&f, child);
	}
	expect_words(slot_of(ROOT, 1), nval, want);
	expect_eq(frame_hdr(&f)->op, op);
	expect_eq(frame_hdr(&f)->fmt, fmt);
	expect_eq(frame_word(&f, 0), want);
	expect_eq(frame_word(&f, nval / 2 - 1), want);
}

static void slot__i32_lanes_wrap_apart(void)
{
	static const uint64_t in[3] = {0x7fffffffffffffff, 0x0000000180000001, 0x80000000ffffffff};

	for (int nval = 320; nval <= 352; nval += 32)
		check_op(TRIB_WOP_ADD, TRIB_FMT_I32, nval, in,
			 0x00000000u + ((uint64_t)(0x7fffffffu + 1u + 0x80000000u) << 32) +
				 (uint32_t)(0xffffffffu + 0x80000001u + 0xffffffffu));
}

static void slot__max_compares_signed_words(void)
{
	static const uint64_t in[][4] = {
		{-5, 3, -7, 3},
		{1ULL << 63, (1ULL << 63) - 1, 0, (1ULL << 63) - 1},
		{(1ULL << 63) - 1, 1ULL << 63, -1, (1ULL << 63) - 1},
		{-4096, -4096, -4096, -4096},
		{100, 1ULL << 62, -100, 1ULL << 62},
		{1ULL << 63, -1, 1ULL << 63, -1},
	};

	for (unsigned int i = 0; i < sizeof(in) / sizeof(*in); i++) {
		check_op(TRIB_WOP_MAX, TRIB_FMT_W64, 352, in[i], in[i][3]);
		check_op(TRIB_WOP_MAX, TRIB_FMT_W64, 48, in[i], in[i][3]);
	}
}

static void slot__w64_adds_modulo_2_64(void)
{
	static const uint64_t in[3] = {1ULL << 63, 1ULL << 63, 12345};

	check_op(TRIB_WOP_ADD, TRIB_FMT_W64, 352, in, 12345);
	check_op(TRIB_WOP_ADD, TRIB_FMT_W64, 10, in, 12345);
}

static void slot__duplicate_child_is_ignored(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3, 352, 7);
	expect_eq(run_grad(&f, ROOT, 0, 3, 352, 7), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	expect_words(slot_of(ROOT, 3), 352, 7);
}

static void slot__older_chunk_is_stale(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3 + SLOTS, 352, 7);
	expect_eq(run_grad(&f, ROOT, 1, 3, 352, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	expect_words(slot_of(ROOT, 3), 352, 7);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
}

static void slot__newer_chunk_takes_it_over(void)
{
	world_reset();
	for (int child = 0; child < 3; child++)
		run_grad(&f, ROOT, child, 3, 352, 1);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
	run_grad(&f, ROOT, 2, 3 + SLOTS, 16, 50);
	expect_words(slot_of(ROOT, 3), 16, 50);
	expect_eq(slot_of(ROOT, 3)->chunk, 3 + SLOTS);
	expect_eq(slot_of(ROOT, 3)->seen, 1 << 2);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_COLLECT);
	expect_eq(the_drop(), -1);
}

static void slot__chunk_numbers_wrap(void)
{
	uint32_t last = 0xffffffff; /* slot 7 */

	world_reset();
	run_grad(&f, ROOT, 0, last, 352, 7);
	/* Eight chunks later, slot 7 is in use again. */
	run_grad(&f, ROOT, 1, 7, 352, 9);
	expect_eq(slot_of(ROOT, 7)->chunk, 7);
	expect_words(slot_of(ROOT, 7), 352, 9);
	run_grad(&f, ROOT, 2, last, 352, 1);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	expect_words(slot_of(ROOT, 7), 352, 9);
}

static void slot__new_epoch_frees_it(void)
{
	struct trib_tree t;

	world_reset();
	run_grad(&f, ROOT, 0, 3 + SLOTS, 352, 7);
	tree_get(ROOT, &t);
	t.epoch = EPOCH + 1;
	tree_put(ROOT, &t);
	/* The chunk number is older, but the epoch is the one that runs now. */
	frame_grad(&f, ROOT, 1, 3, 352, 9);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	run_xdp(&f, 1);
	expect_eq(the_drop(), -1);
	expect_eq(slot_of(ROOT, 3)->epoch, EPOCH + 1);
	expect_eq(slot_of(ROOT, 3)->seen, 1 << 1);
	expect_words(slot_of(ROOT, 3), 352, 9);
}

static void slot__other_scale_is_dropped(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3, 352, 7);
	frame_grad(&f, ROOT, 1, 3, 352, 1);
	frame_hdr(&f)->scale = htonl(-20);
	expect_eq(run_xdp(&f, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_SCALE);
	expect_words(slot_of(ROOT, 3), 352, 7);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
}

static void check_mismatch(int op, int fmt, int nval)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3, 352, 7);
	frame_grad(&f, ROOT, 1, 3, nval, 1);
	frame_hdr(&f)->op = op;
	frame_hdr(&f)->fmt = fmt;
	expect_eq(run_xdp(&f, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_MISMATCH);
	expect_words(slot_of(ROOT, 3), 352, 7);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
}

static void slot__other_op_format_or_length_is_dropped(void)
{
	check_mismatch(TRIB_WOP_ADD, TRIB_FMT_I32, 352);
	check_mismatch(TRIB_WOP_ADD, TRIB_FMT_W64, 352);
	check_mismatch(TRIB_WOP_MAX, TRIB_FMT_W64, 352);
	check_mismatch(TRIB_WOP_ADD, TRIB_FMT_Q32, 336);
	check_mismatch(TRIB_WOP_ADD, TRIB_FMT_Q32, 351);
}

/* EMPTY with @nval zeros. */
static void run_empty(int tree, int child, uint32_t chunk, int nval, int fmt)
{
	frame_grad(&f, tree, child, chunk, nval, 0);
	frame_hdr(&f)->flags |= TRIB_F_EMPTY;
	frame_hdr(&f)->fmt = fmt;
	run_xdp(&f, port_of(tree, child));
}

static void slot__empty_contribution_only_marks(void)
{
	world_reset();
	run_empty(ROOT, 0, 3, 352, TRIB_FMT_Q32);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
	expect_eq(slot_of(ROOT, 3)->nval, 0);
	run_grad(&f, ROOT, 1, 3, 352, -5);
	expect_words(slot_of(ROOT, 3), 352, -5);
	/* The zeros that make room are not values: -5 stays the maximum. */
	run_empty(ROOT, 2, 3, 352, TRIB_FMT_Q32);
	expect_words(slot_of(ROOT, 3), 352, -5);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
	expect_eq(frame_word(&f, 0), -5);
	expect_eq(frame_word(&f, 175), -5);
	expect_eq(frame_hdr(&f)->type, TRIB_T_RESULT);
	expect_eq(frame_hdr(&f)->flags & TRIB_F_EMPTY, 0);
}

/* EMPTY from a rank that has issued another collective. */
static void slot__empty_of_another_kind_is_not_counted(void)
{
	world_reset();
	run_empty(ROOT, 0, 3, 0, TRIB_FMT_W64);
	frame_grad(&f, ROOT, 1, 3, 64, 11);
	run_xdp(&f, 1);
	expect_eq(the_drop(), TRIB_DROP_MISMATCH);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
	world_reset();
	frame_grad(&f, ROOT, 1, 3, 64, 11);
	frame_hdr(&f)->scale = htonl(-9);
	run_xdp(&f, 1);
	run_empty(ROOT, 2, 3, 64, TRIB_FMT_Q32);
	expect_eq(the_drop(), TRIB_DROP_SCALE);
	expect_eq(slot_of(ROOT, 3)->seen, 2);
	expect_words(slot_of(ROOT, 3), 64, 11);
}

/* No child had values, so the result is shorter than the packet. */
static void slot__all_empty_completes_without_values(void)
{
	world_reset();
	for (int child = 0; child < 3; child++)
		run_empty(ROOT, child, 3, child == 2 ? 64 : 0, TRIB_FMT_I32);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
	expect_eq(frame_hdr(&f)->type, TRIB_T_RESULT);
	expect_eq(frame_hdr(&f)->nval, 0);
	expect(frame_lengths_agree(&f));
	expect_eq(f.len, f.pay);
}

static void slot__push_and_congestion_are_collected(void)
{
	struct link l = link_of(ROOT, 1);
	struct trib_hdr h;

	world_reset();
	run_grad(&f, ROOT, 0, 3, 16, 1);
	expect_eq(slot_of(ROOT, 3)->flags, 0);
	/* The slot keeps CE, which the network sets on one packet. */
	frame_grad(&f, ROOT, 1, 3, 16, 1);
	h = *frame_hdr(&f);
	l.tos |= 3;
	frame_build(&f, &l, &h, (uint64_t[8]){1}, 64);
	run_xdp(&f, 1);
	expect_eq(slot_of(ROOT, 3)->flags, TRIB_F_CE);
	/* It keeps PUSH, too, by which a worker ends a message. */
	frame_grad(&f, ROOT, 2, 3, 16, 1);
	frame_hdr(&f)->flags |= TRIB_F_PUSH;
	run_xdp(&f, 2);
	expect_eq(slot_of(ROOT, 3)->flags, TRIB_F_CE | TRIB_F_PUSH);
	expect_eq(frame_hdr(&f)->flags, TRIB_F_CE | TRIB_F_PUSH);
}

static void slot__sole_child_completes_at_once(void)
{
	struct trib_tree t;

	world_reset();
	tree_get(ROOT, &t);
	t.nchild = 1;
	t.full = 1;
	tree_put(ROOT, &t);
	expect_eq(run_grad(&f, ROOT, 0, 3, 352, 99), XDP_REDIRECT);
	expect_words(slot_of(ROOT, 3), 352, 99);
	expect_eq(frame_hdr(&f)->type, TRIB_T_RESULT);
	expect_eq(frame_word(&f, 175), 99);
}

static void slot__sixty_four_children_complete(void)
{
	struct trib_tree t;

	world_reset();
	tree_get(ROOT, &t);
	t.nchild = 64;
	t.full = ~0ULL;
	for (int i = 0; i < 64; i++)
		t.child[i] = t.child[0];
	tree_put(ROOT, &t);
	for (int i = 0; i < 64; i++) {
		frame_grad(&f, ROOT, 0, 3, 352, 1);
		frame_hdr(&f)->child = htons(i);
		expect_eq(run_xdp(&f, 0), i < 63 ? XDP_DROP : XDP_REDIRECT);
	}
	expect_words(slot_of(ROOT, 3), 352, 64);
	expect_eq(slot_of(ROOT, 3)->last, 63);
}

static void slot__busy_one_is_left_alone(void)
{
	struct trib_slot s;

	world_reset();
	run_grad(&f, ROOT, 0, 3, 352, 7);
	s = *slot_of(ROOT, 3);
	s.busy = 1;
	slot_put(ROOT, 3, &s);
	expect_eq(run_grad(&f, ROOT, 1, 3, 352, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
	expect_words(slot_of(ROOT, 3), 352, 7);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
	expect_eq(slot_of(ROOT, 3)->busy, 1);
}

static void slot__row_beyond_the_pool_is_dropped(void)
{
	struct trib_tree t;

	world_reset();
	tree_get(ROOT, &t);
	t.slot0 = 1 << 20;
	tree_put(ROOT, &t);
	expect_eq(run_grad(&f, ROOT, 1, 3, 352, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_TREE);
}

static void lag__slow_child_shows(void)
{
	struct trib_lag lag;

	world_reset();
	for (int child = 0; child < 3; child++)
		run_grad(&f, ROOT, child, 2 * TRIB_LAG_EVERY, 16, 1);
	for (int child = 0; child < 3; child++)
		run_grad(&f, ROOT, child, 2 * TRIB_LAG_EVERY + 1, 16, 1);
	bpf_map_lookup_elem(w.lag, &(int){ROOT}, &lag);
	for (int child = 0; child < 3; child++) {
		expect_eq(lag.child[child].samples, 1);
		expect_eq(lag.child[child].chunk, 2 * TRIB_LAG_EVERY);
		expect_eq(lag.child[child].last, child == 2);
		expect(lag.child[child].seen_ns > 0);
	}
	/* Children 1 and 2 came after 0, and 2 after 1. */
	expect(lag.child[0].lag_ns < lag.child[1].lag_ns);
	expect(lag.child[1].lag_ns < lag.child[2].lag_ns);
	expect(lag.child[2].lag_ns < 10000000000ULL);
}

/* One contribution to a chunk, the first of its message or not. */
static void lag_grad(int child, __u32 chunk, bool head)
{
	frame_grad(&f, ROOT, child, chunk, 16, 1);
	if (head)
		frame_hdr(&f)->flags |= TRIB_F_HEAD;
	run_xdp(&f, child);
}

/* The start is delayed from the last child but one until the last. */
static void lag__start_waits_for_the_last(void)
{
	struct trib_lag lag;

	world_reset();
	lag_grad(1, 3, true);
	usleep(20000);
	lag_grad(0, 3, true);
	usleep(5000);
	lag_grad(2, 3, true);
	bpf_map_lookup_elem(w.lag, &(int){ROOT}, &lag);
	for (int child = 0; child < 3; child++) {
		expect_eq(lag.child[child].starts, 1);
		expect_eq(lag.child[child].start_last, child == 2);
		expect_eq(lag.child[child].samples, 0);
		expect_eq(lag.child[child].data_wait_ns, 0);
	}
	expect_eq(lag.child[0].start_wait_ns, 0);
	expect_eq(lag.child[1].start_wait_ns, 0);
	expect(lag.child[2].start_wait_ns >= 5000000);
	expect_eq(lag.child[2].start_wait_ns, lag.child[2].behind_ns);
}

/* A data wait is what exceeds the delay at the start: no time counts twice. */
static void lag__data_waits_exceed_the_start(void)
{
	struct trib_lag lag;
	__u64 late;

	world_reset();
	lag_grad(0, 3, true);
	lag_grad(1, 3, true);
	for (__u32 chunk = TRIB_LAG_EVERY; chunk <= 2 * TRIB_LAG_EVERY; chunk += TRIB_LAG_EVERY)
		for (int child = 0; child < 2; child++)
			lag_grad(child, chunk, false);
	usleep(50000);
	/* Child 2 is late, and its wire is fast. */
	lag_grad(2, 3, true);
	lag_grad(2, TRIB_LAG_EVERY, false);
	bpf_map_lookup_elem(w.lag, &(int){ROOT}, &lag);
	late = lag.child[2].start_wait_ns;
	expect(late >= 50000000);
	expect(lag.child[2].data_wait_ns < 10000000);
	/* Now its wire is slow: only these 60 ms are new. */
	usleep(60000);
	lag_grad(2, 2 * TRIB_LAG_EVERY, false);
	bpf_map_lookup_elem(w.lag, &(int){ROOT}, &lag);
	expect(lag.child[2].data_wait_ns >= 50000000);
	expect(lag.child[2].data_wait_ns < late + 60000000);
	expect_eq(lag.child[2].start_wait_ns, late);
	expect_eq(lag.child[0].data_wait_ns + lag.child[1].data_wait_ns, 0);
}

/* A relay's parent times the start, too. */
static void lag__head_goes_up(void)
{
	world_reset();
	run_grad(&f, INNER, 0, 5, 16, 1);
	frame_grad(&f, INNER, 1, 5, 16, 1);
	frame_hdr(&f)->flags |= TRIB_F_HEAD;
	expect_eq(run_xdp(&f, 1), XDP_REDIRECT);
	expect(frame_hdr(&f)->flags & TRIB_F_HEAD);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(slot__first_contribution_takes_it);
	run(slot__sums_of_every_length_are_exact);
	run(slot__every_word_is_added_in_its_place);
	run(slot__i32_lanes_wrap_apart);
	run(slot__max_compares_signed_words);
	run(slot__w64_adds_modulo_2_64);
	run(slot__duplicate_child_is_ignored);
	run(slot__older_chunk_is_stale);
	run(slot__newer_chunk_takes_it_over);
	run(slot__chunk_numbers_wrap);
	run(slot__new_epoch_frees_it);
	run(slot__other_scale_is_dropped);
	run(slot__other_op_format_or_length_is_dropped);
	run(slot__empty_contribution_only_marks);
	run(slot__empty_of_another_kind_is_not_counted);
	run(slot__all_empty_completes_without_values);
	run(slot__push_and_congestion_are_collected);
	run(slot__sole_child_completes_at_once);
	run(slot__sixty_four_children_complete);
	run(slot__busy_one_is_left_alone);
	run(slot__row_beyond_the_pool_is_dropped);
	run(lag__slow_child_shows);
	run(lag__start_waits_for_the_last);
	run(lag__data_waits_exceed_the_start);
	run(lag__head_goes_up);
	world_close();
	return tap_done();
}
