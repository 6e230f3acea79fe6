// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reflex: the frame of a RESULT leaves as the contribution that it lets go. Cells hold
 * SLOTS chunks, twice the window.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include <time.h>
#include "tests/bpf/world/reflex_world.h"
#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"

static struct frame f;
static struct ring_buffer *reader;
static int rung;

static int take(void *ctx, void *data, size_t size)
{
	const struct trib_event *ev = data;

	(void)ctx;
	expect_eq(size, sizeof(*ev));
	expect_eq(ev->type, TRIB_T_RESULT);
	expect_eq(ev->tree, LEAF);
	rung++;
	return 0;
}

/* Return: the number of records since the last call. */
static int rings(void)
{
	rung = 0;
	ring_buffer__consume(reader);
	return rung;
}

static void fresh(void)
{
	reflex_reset(false, 0, 0);
	rings();
}

/* RESULT @chunk comes, with as many values. Return: the verdict. */
static int result(uint32_t chunk, int nval)
{
	frame_result(&f, LEAF, -1, chunk, nval, 0x1111);
	frame_hdr(&f)->child = htons(1);
	frame_hdr(&f)->flags |= TRIB_F_PUSH;
	return run_xdp(&f, 3);
}

/* GRAD @chunk left, made of @h and @nval times @word. */
static void expect_left(uint32_t chunk, struct trib_hdr h, uint64_t word)
{
	struct trib_hdr want = reflex_expected(chunk, h);
	int len = trib_values_len(h.flags, h.nm, ntohs(h.nval));
	const char *wrong = reflex_wrong(&f, &want);

	if (wrong)
		printf("# chunk %u: %s\n", chunk, wrong);
	expect(!wrong);
	expect(cell_is(chunk, TRIB_CELL_SENT));
	for (int i = 0; i < len / 8; i++)
		if (!expect(frame_word(&f, i) == word))
			return;
}

static void expect_grad(uint32_t chunk, int nval, uint64_t word)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_Q32, nval);

	h.flags = nval ? 0 : TRIB_F_EMPTY;
	expect_left(chunk, h, word);
}

static void expect_none(int left)
{
	expect_eq(stat_of(TRIB_TX_REFLEX), 0);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), left);
	expect_eq(rings(), left);
}

static uint64_t carried(void)
{
	uint64_t n = 0;

	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		n += desk()->cpu[i].carried;
	return n;
}

static void reflex__result_lets_a_contribution_go(void)
{
	fresh();
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_grad(7, 352, 77);
	expect(cell_is(3, TRIB_CELL_RESULT));
	expect_eq(cell_of(3)->v[175], 0x1111);
	expect_eq(stat_of(TRIB_TX_REFLEX), 1);
	expect_eq(stat_of(TRIB_DELIVERED), 1);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), 0);
	expect_eq(carried(), 1);
	expect_eq(rings(), 0);
	expect_eq(the_drop(), -1);
	/* And only once. */
	expect_eq(result(3, 352), XDP_DROP);
	expect_eq(stat_of(TRIB_TX_REFLEX), 1);
}

static void reflex__headers_are_of_the_row(void)
{
	static const uint16_t tags[][2] = {{0, 0}, {30, 0}, {30, 40}};

	for (int i = 0; i < 6; i++) {
		reflex_reset(i % 2, tags[i / 2][0], tags[i / 2][1]);
		reflex_ready(7, 352, 77);
		expect_eq(result(3, 352), XDP_REDIRECT);
		expect_grad(7, 352, 77);
		if (f.v6)
			expect_eq(f.b[f.l3] << 8 | f.b[f.l3 + 1], 0x6ba0);
		else
			expect_eq(f.b[f.l3 + 1], 0xba);
		/* It shrinks, too. */
		reflex_ready(6, 17, 78);
		expect_eq(result(2, 352), XDP_REDIRECT);
		expect_grad(6, 17, 78);
		expect_eq(f.len, f.pay + 128);
	}
}

static void reflex__congestion_ends_here(void)
{
	struct link l;
	struct trib_hdr h;

	for (int v6 = 0; v6 < 2; v6++) {
		reflex_reset(v6, 0, 0);
		h = header(TRIB_T_RESULT, LEAF, -1, 3);
		l = link_of(LEAF, -1);
		l.tos |= 3;
		h.fmt = TRIB_FMT_Q32;
		world_sign(&h, NULL, 0, world_key(LEAF, -1));
		frame_build(&f, &l, &h, NULL, 0);
		reflex_ready(7, 0, 0);
		expect_eq(run_xdp(&f, 3), XDP_REDIRECT);
		expect_grad(7, 0, 0);
		expect_eq((v6 ? f.b[f.l3 + 1] >> 4 : f.b[f.l3 + 1]) & 3, 2);
	}
}

static void ready__nothing_else_leaves(void)
{
	const uint64_t words[] = {
		0,
		TRIB_CELL(EPOCH, 7, TRIB_CELL_FREE),
		TRIB_CELL(EPOCH, 7, TRIB_CELL_SENT),
		TRIB_CELL(EPOCH, 7, TRIB_CELL_WRITING),
		TRIB_CELL(EPOCH, 7, TRIB_CELL_RESULT),
		TRIB_CELL(EPOCH, 7, 7),
		TRIB_CELL(EPOCH, 7 + SLOTS, TRIB_CELL_READY),
		TRIB_CELL(EPOCH, 7 - SLOTS, TRIB_CELL_READY),
		TRIB_CELL(EPOCH + 1, 7, TRIB_CELL_READY),
		TRIB_CELL(0, 7, TRIB_CELL_READY),
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		fresh();
		reflex_ready(7, 352, 77);
		cell_of(7)->state = words[i];
		expect_eq(result(3, 352), XDP_DROP);
		expect_eq(cell_of(7)->state, words[i]);
		expect_none(0);
	}
}

static void ready__only_a_new_result_counts(void)
{
	static const int states[] = {TRIB_CELL_FREE, TRIB_CELL_READY, TRIB_CELL_WRITING};
	struct trib_tree t;

	for (int i = 0; i < 3; i++) {
		fresh();
		reflex_ready(7, 352, 77);
		cell_set(3, states[i]);
		expect_eq(result(3, 352), XDP_DROP);
		expect_none(0);
	}
	fresh();
	cell_set(3, TRIB_CELL_RESULT);
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_DROP);
	expect_eq(stat_of(TRIB_TX_REFLEX), 0);
	/* The row has another epoch. */
	fresh();
	reflex_ready(7, 352, 77);
	tree_get(LEAF, &t);
	t.epoch++;
	tree_put(LEAF, &t);
	expect_eq(result(3, 352), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_EPOCH);
	expect_none(0);
	/* The row's epoch is the cells', too. */
	frame_result(&f, LEAF, -1, 3, 352, 5);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	cell_of(3)->state = TRIB_CELL(EPOCH + 1, 3, TRIB_CELL_SENT);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	expect_none(0);
	cell_of(4)->state = TRIB_CELL(EPOCH + 1, 4, TRIB_CELL_SENT);
	reflex_ready(8, 352, 78);
	cell_of(8)->state = TRIB_CELL(EPOCH + 1, 8, TRIB_CELL_READY);
	frame_result(&f, LEAF, -1, 4, 352, 5);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	expect_eq(run_xdp(&f, 3), XDP_REDIRECT);
	expect_eq(ntohl(frame_hdr(&f)->epoch), EPOCH + 1);
	expect_eq(ntohl(frame_hdr(&f)->chunk), 8);
}

/* All cells but that of RESULT 3 are READY, whatever their chunk. */
static void distance__is_one_to_the_window(void)
{
	static const uint32_t bad[] = {0, WINDOW + 1, SLOTS, 0x80000004, 0xffffffff, 0xfffffffc};

	for (int i = 0; i < 6; i++) {
		fresh();
		desk()->dist = bad[i];
		for (uint32_t c = 4; c < 4 + SLOTS - 1; c++)
			reflex_ready(c, 352, c);
		expect_eq(result(3, 352), XDP_DROP);
		expect_none(0);
	}
	for (uint32_t d = 1; d <= WINDOW; d++) {
		fresh();
		desk()->dist = d;
		for (uint32_t c = 0; c < 3; c++)
			cell_set(c, TRIB_CELL_RESULT);
		reflex_ready(3 + d, 352, d);
		expect_eq(result(3, 352), XDP_REDIRECT);
		expect_grad(3 + d, 352, d);
	}
}

/* RESULT 3, D = 2: GRAD 5 needs RESULT 1, of the window. */
static void window__is_kept_whatever_the_distance(void)
{
	static const int states[] = {TRIB_CELL_FREE, TRIB_CELL_READY, TRIB_CELL_SENT,
				     TRIB_CELL_WRITING};

	for (int i = 0; i < 4; i++) {
		fresh();
		desk()->dist = 2;
		cell_set(1, states[i]);
		reflex_ready(5, 352, 77);
		expect_eq(result(3, 352), XDP_DROP);
		expect(cell_is(5, TRIB_CELL_READY));
		expect_none(0);
	}
	cell_set(3, TRIB_CELL_SENT);
	cell_set(1 + SLOTS, TRIB_CELL_RESULT);
	expect_eq(result(3, 352), XDP_DROP);
	cell_set(3, TRIB_CELL_SENT);
	cell_set(1, TRIB_CELL_RESULT);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_grad(5, 352, 77);
}

/* RESULT 3, D = 2: GRAD 7 has RESULT 5 of its distance, and has waited for the window. */
static void window__second_look_frees_what_waited(void)
{
	fresh();
	desk()->dist = 2;
	cell_set(1, TRIB_CELL_RESULT);
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_DROP);
	expect_none(0); /* RESULT 5 is missing */
	cell_set(3, TRIB_CELL_SENT);
	cell_set(5, TRIB_CELL_RESULT);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_grad(7, 352, 77);
	expect_eq(rings(), 0);
}

static void window__two_contributions_are_one_frame_and_a_ring(void)
{
	fresh();
	desk()->dist = 1;
	cell_set(0, TRIB_CELL_RESULT);
	cell_set(6, TRIB_CELL_RESULT);
	reflex_ready(4, 352, 77);
	reflex_ready(7, 352, 78);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_grad(4, 352, 77);
	expect(cell_is(7, TRIB_CELL_READY));
	expect_eq(stat_of(TRIB_TX_REFLEX), 1);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), 1);
	expect_eq(rings(), 1);
}

/* Chunks before 0 have no result; those before a chunk that has wrapped have. */
static void window__begins_with_the_epoch(void)
{
	for (uint32_t c = 0; c < 2; c++) {
		fresh();
		desk()->dist = 2;
		if (c)
			cell_of(7)->state = 0;
		reflex_ready(c + 2, 352, 77);
		expect_eq(result(c, 352), XDP_REDIRECT);
		expect_grad(c + 2, 352, 77);
	}
	for (int state = TRIB_CELL_FREE; state <= TRIB_CELL_RESULT; state++) {
		bool none = state == TRIB_CELL_FREE || state == TRIB_CELL_RESULT;

		fresh();
		desk()->dist = 2;
		cell_set(-2, state);
		reflex_ready(2, 352, 77);
		expect_eq(result(0, 352), none ? XDP_REDIRECT : XDP_DROP);
	}
	fresh();
	cell_set(-2, TRIB_CELL_SENT);
	reflex_ready(2, 352, 77);
	expect_eq(result(-2, 352), XDP_REDIRECT);
	expect_grad(2, 352, 77);
}

static void length__frame_is_cut(void)
{
	static const int nvals[] = {0, 1, 16, 17, 336, 351};

	for (int i = 0; i < 6; i++) {
		fresh();
		reflex_ready(7, nvals[i], 77);
		expect_eq(result(3, 352), XDP_REDIRECT);
		expect_grad(7, nvals[i], 77);
	}
	/* From the very short to the shortest. */
	fresh();
	reflex_ready(7, 0, 0);
	expect_eq(result(3, 0), XDP_REDIRECT);
	expect_grad(7, 0, 0);
}

static void length__longer_chunk_is_left_to_the_rank(void)
{
	static const int nvals[][2] = {{0, 1}, {16, 17}, {336, 337}, {1, 352}};

	for (int i = 0; i < 4; i++) {
		fresh();
		reflex_ready(7, nvals[i][1], 77);
		expect_eq(result(3, nvals[i][0]), XDP_DROP);
		expect(cell_is(7, TRIB_CELL_READY));
		expect(cell_is(3, TRIB_CELL_RESULT));
		expect_none(1);
	}
	/* The frame is free for the second look. */
	fresh();
	desk()->dist = 1;
	cell_set(0, TRIB_CELL_RESULT);
	cell_set(6, TRIB_CELL_RESULT);
	reflex_ready(4, 352, 77);
	reflex_ready(7, 16, 78);
	expect_eq(result(3, 16), XDP_REDIRECT);
	expect_grad(7, 16, 78);
	expect(cell_is(4, TRIB_CELL_READY));
	expect_eq(rings(), 1);
}

/* Send a chunk of this shape. Return: the verdict. */
static int shape(uint8_t op, uint8_t fmt, int nval, uint8_t flags, uint8_t nm)
{
	struct trib_hdr h = reflex_nonsense(op, fmt, nval);
	int verdict;

	fresh();
	h.flags = flags;
	h.nm = nm;
	reflex_ready_as(7, h, 77);
	verdict = result(3, 352);
	if (verdict == XDP_REDIRECT)
		expect_left(7, h, 77);
	return verdict;
}

static void shape__known_ones_leave(void)
{
	const uint8_t nm = trib_nm(2, 1), all = TRIB_F_PUSH | TRIB_F_HEAD;

	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_I32, 352, TRIB_F_PUSH, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_W64, 351, TRIB_F_HEAD, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_MAX, TRIB_FMT_W64, 2, all, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_F32, 352, 0, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_F16, 176, 0, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_BF16, 176, 0, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_Q32, 352, TRIB_F_EMPTY, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_MAX, TRIB_FMT_W64, 0, TRIB_F_EMPTY | all, 0), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_I32, 352, TRIB_F_MASK | all, nm), XDP_REDIRECT);
	expect_eq(f.len, f.pay + (int)trib_masked_len(352, nm));
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_F32, 32, TRIB_F_MASK, trib_nm(5, 31)), XDP_REDIRECT);
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_F32, 320, TRIB_F_MASK, trib_nm(1, 1)), XDP_REDIRECT);
	/* The rank decides about these flags alone. */
	expect_eq(shape(TRIB_WOP_ADD, TRIB_FMT_I32, 352, 0xff & ~(TRIB_F_MASK | TRIB_F_EMPTY), 0),
		  XDP_REDIRECT);
	expect_eq(frame_hdr(&f)->flags, TRIB_F_UP | all);
}

/* Expect that a shape is left to the rank. */
static void bad(uint8_t op, uint8_t fmt, int nval, uint8_t flags, uint8_t nm)
{
	expect_eq(shape(op, fmt, nval, flags, nm), XDP_DROP);
	expect(cell_is(7, TRIB_CELL_READY));
	expect_none(1);
}

static void shape__malformed_ones_are_left_to_the_rank(void)
{
	const uint8_t add = TRIB_WOP_ADD, nm = trib_nm(2, 1);

	bad(add, TRIB_FMT_NONE, 352, 0, 0);
	bad(add, TRIB_FMT_Q16, 352, 0, 0);
	bad(add, TRIB_FMT_Q8, 352, 0, 0);
	bad(add, 255, 352, 0, 0);
	bad(TRIB_WOP__MAX, TRIB_FMT_W64, 352, 0, 0);
	bad(255, TRIB_FMT_W64, 352, 0, 0);
	bad(TRIB_WOP_MAX, TRIB_FMT_Q32, 352, 0, 0);
	bad(TRIB_WOP_MAX, TRIB_FMT_F32, 352, 0, 0);
	bad(add, TRIB_FMT_Q32, 353, 0, 0);
	bad(add, TRIB_FMT_Q32, 65535, 0, 0);
	bad(add, TRIB_FMT_F16, 177, 0, 0);
	bad(add, TRIB_FMT_BF16, 352, 0, 0);
	bad(add, TRIB_FMT_Q32, 0, 0, 0);
	bad(add, TRIB_FMT_Q32, 352, 0, nm);
	bad(add, TRIB_FMT_I32, 352, TRIB_F_MASK, 0);
	bad(add, TRIB_FMT_I32, 352, TRIB_F_MASK, trib_nm(2, 4));
	bad(add, TRIB_FMT_I32, 352, TRIB_F_MASK, trib_nm(6, 1));
	bad(add, TRIB_FMT_I32, 351, TRIB_F_MASK, nm);
	bad(add, TRIB_FMT_I32, 0, TRIB_F_MASK, nm);
	bad(add, TRIB_FMT_I32, 352, TRIB_F_MASK | TRIB_F_EMPTY, nm);
	bad(add, TRIB_FMT_Q32, 352, TRIB_F_MASK, nm);
	bad(add, TRIB_FMT_BF16, 32, TRIB_F_MASK, nm);
	bad(TRIB_WOP_MAX, TRIB_FMT_W64, 352, TRIB_F_MASK, nm);
}

/* The relay at the other end must take what leaves here. */
static void shape__relay_admits_the_frame(void)
{
	uint32_t pay[TRIB_NVAL_SMALL];
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_I32, 352), *out;
	struct trib_key key;

	for (int masked = 0; masked < 2; masked++) {
		fresh();
		if (masked) {
			h.flags = TRIB_F_MASK;
			h.nm = trib_nm(2, 2);
			mask_words(pay, 11, h.nm, 1);
		}
		reflex_ready_as(7, h, 77);
		if (masked)
			memcpy(cell_of(7)->v, pay, 44);
		expect_eq(result(3, 352), XDP_REDIRECT);
		/* The root's child 1, instead of the leaf's parent. */
		key = world_key(ROOT, 1);
		out = frame_hdr(&f);
		out->tree = htons(ROOT);
		out->child = htons(1);
		out->auth = trib_key_secret(&key);
		f.b[f.l4 + 2] = TRIB_UDP_PORT >> 8;
		f.b[f.l4 + 3] = TRIB_UDP_PORT & 255;
		memcpy(f.b + f.l3 + 12, peer_of(ROOT, 1).ip + 12, 4);
		expect_eq(run_xdp(&f, 1), XDP_DROP);
		expect_eq(stat_of(TRIB_ADDED), 1);
		expect_eq(the_drop(), -1);
	}
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void stamp__some_chunks_have_one(void)
{
	for (uint32_t chunk = 8; chunk < 40; chunk++) {
		uint64_t begin = now_ns(), sent;

		fresh();
		reflex_ready(chunk, 352, 77);
		cell_of(chunk)->sent_ns = 1;
		cell_set(chunk - 4, TRIB_CELL_SENT);
		expect_eq(result(chunk - 4, 352), XDP_REDIRECT);
		sent = cell_of(chunk)->sent_ns;
		if (chunk % 4 == chunk / 16)
			expect(sent >= begin && sent <= now_ns());
		else
			expect_eq(sent, 1);
	}
	/* From there to the result. */
	cell_set(17, TRIB_CELL_SENT);
	cell_of(17)->sent_ns = now_ns();
	result(17, 352);
	expect(cell_of(17)->took_ns > 0 && cell_of(17)->took_ns < 1000000000);
}

static void row__without_reflex_nothing_leaves(void)
{
	fresh();
	reflex_row(0, 1);
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_DROP);
	expect_none(0);
	fresh();
	reflex_row(5, 2); /* two ranks: their host is another node of the tree */
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_DROP);
	expect_none(0);
	/* A relay with the same row. */
	fresh();
	reflex_ready(7, 352, 77);
	for (int child = 0; child < 3; child++)
		run_grad(&f, HOST, child, 3, 352, 5);
	expect(cell_is(3, TRIB_CELL_RESULT));
	expect(cell_is(7, TRIB_CELL_READY));
	expect_none(0);
}

/* A port in generic mode, or one that tribd has just taken away. */
static void row__port_without_xdp_leaves_it_to_the_rank(void)
{
	fresh();
	bpf_map_delete_elem(w.ports, &w.ifindex[3]);
	reflex_ready(7, 352, 77);
	expect_eq(result(3, 352), XDP_DROP);
	expect(cell_is(7, TRIB_CELL_READY));
	expect_none(1);
}

static void large__full_frames(void)
{
	fresh();
	reflex_ready(7, TRIB_NVAL_LARGE, 77);
	expect_eq(result(3, TRIB_NVAL_LARGE), XDP_REDIRECT);
	expect_grad(7, TRIB_NVAL_LARGE, 77);
	reflex_ready(6, TRIB_NVAL_LARGE + 1, 77);
	expect_eq(result(2, TRIB_NVAL_LARGE), XDP_DROP);
	reflex_ready(5, TRIB_NVAL_SMALL, 78);
	expect_eq(result(1, TRIB_NVAL_LARGE), XDP_REDIRECT);
	expect_grad(5, TRIB_NVAL_SMALL, 78);
}

static void open_as(int nval)
{
	world_open(nval);
	reader = ring_buffer__new(w.ring, take, NULL, NULL);
}

static void close_all(void)
{
	ring_buffer__free(reader);
	world_close();
}

int main(void)
{
	open_as(TRIB_NVAL_SMALL);
	run(reflex__result_lets_a_contribution_go);
	run(reflex__headers_are_of_the_row);
	run(reflex__congestion_ends_here);
	run(ready__nothing_else_leaves);
	run(ready__only_a_new_result_counts);
	run(distance__is_one_to_the_window);
	run(window__is_kept_whatever_the_distance);
	run(window__second_look_frees_what_waited);
	run(window__two_contributions_are_one_frame_and_a_ring);
	run(window__begins_with_the_epoch);
	run(length__frame_is_cut);
	run(length__longer_chunk_is_left_to_the_rank);
	run(shape__known_ones_leave);
	run(shape__malformed_ones_are_left_to_the_rank);
	run(shape__relay_admits_the_frame);
	run(stamp__some_chunks_have_one);
	run(row__without_reflex_nothing_leaves);
	run(row__port_without_xdp_leaves_it_to_the_rank);
	close_all();
	open_as(TRIB_NVAL_LARGE);
	run(large__full_frames);
	close_all();
	return tap_done();
}
