// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts that add up: a RESULT lets contributions of several ranks go, which are added to
 * the node's slots in its frame. INNER's children 0 and 1 are ranks here, children 1 and 0
 * of the row: rank i of the row is child 1 - i. Their contributions by socket come from
 * their faces. Cells hold SLOTS chunks, twice the window.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/bpf/world/reflex_world.h"
#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"

#define RANKS 2
#define CHILD(rank) (1 - (rank))

static struct frame f;
static uint8_t *memory[RANKS];
static struct ring_buffer *reader[RANKS];
static int rung[RANKS];

static int take(void *ctx, void *data, size_t size)
{
	const struct trib_event *ev = data;

	expect_eq(size, sizeof(*ev));
	expect_eq(ev->type, TRIB_T_RESULT);
	expect_eq(ev->tree, INNER);
	++*(int *)ctx;
	return 0;
}

/* Return: the number of records for the rank since the last call. */
static int rings(int rank)
{
	rung[rank] = 0;
	ring_buffer__consume(reader[rank]);
	return rung[rank];
}

static struct trib_cell *cell(int rank, uint32_t chunk)
{
	return cell_in(memory[rank], chunk);
}

static void set(int rank, uint32_t chunk, enum trib_cell_state state)
{
	cell(rank, chunk)->state = TRIB_CELL(EPOCH, chunk, state);
}

static bool is(int rank, uint32_t chunk, enum trib_cell_state state)
{
	return cell(rank, chunk)->state == TRIB_CELL(EPOCH, chunk, state);
}

static void row(int host, int nrank)
{
	struct trib_deliver d = {
		.cell_mask = SLOTS - 1,
		.nrank = nrank,
		.ring = {1, 2},
		.child = {1, 0},
		.host = host,
	};

	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
}

/* Ranks have sent chunks 0 to SLOTS - 1 but wait; D is WINDOW. */
static void fresh_as(bool v6, uint16_t vlan0)
{
	struct trib_tree t;

	world_reset_as(v6, vlan0, 0);
	tree_get(INNER, &t);
	t.deliver = 1;
	t.down = TRIB_NONE;
	tree_put(INNER, &t);
	row(1, RANKS);
	for (int i = 0; i < RANKS; i++) {
		cells_empty(memory[i]);
		desk_in(memory[i])->dist = WINDOW;
		rings(i);
	}
}

static void fresh(void)
{
	fresh_as(false, 0);
}

/* Make a chunk of the rank READY with header @h and values @word. */
static void ready_as(int rank, uint32_t chunk, struct trib_hdr h, uint64_t word)
{
	struct trib_cell *c = cell(rank, chunk);

	c->h = h;
	for (int i = 0; i < w.nval / 2; i++)
		c->v[i] = word;
	set(rank, chunk, TRIB_CELL_READY);
}

static void ready(int rank, uint32_t chunk, int nval, uint64_t word)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_Q32, nval);

	h.scale = 0;
	h.flags = nval ? 0 : TRIB_F_EMPTY;
	ready_as(rank, chunk, h, word);
}

/* RESULT @chunk comes, with as many values. Return: the verdict. */
static int result(uint32_t chunk, int nval)
{
	frame_result(&f, INNER, -1, chunk, nval, 0x1111);
	return run_xdp(&f, 3);
}

/* Chunk @chunk has left for the parent: @nval times @word. */
static void expect_sum(uint32_t chunk, int nval, uint64_t word)
{
	struct trib_hdr *h = frame_hdr(&f);

	expect_eq(group_of(&f), UP(INNER));
	expect(frame_parse(&f)); /* trib_egress writes the headers below ours */
	expect_eq(h->type, TRIB_T_GRAD);
	expect_eq(ntohl(h->chunk), chunk);
	expect_eq(ntohl(h->epoch), EPOCH);
	expect_eq(ntohs(h->nval), nval);
	expect_eq(h->flags & TRIB_F_RESEND, 0);
	expect_eq(!!(h->flags & TRIB_F_EMPTY), !nval);
	for (int i = 0; i < nval / 2; i++)
		if (!expect(frame_word(&f, i) == word))
			return;
	expect_eq(slot_of(INNER, chunk)->state, TRIB_SLOT_SENT);
}

static void expect_held(uint32_t chunk, uint64_t seen, uint64_t word)
{
	struct trib_slot *s = slot_of(INNER, chunk);

	expect_eq(s->state, TRIB_SLOT_COLLECT);
	expect_eq(s->chunk, chunk);
	expect_eq(s->seen, seen);
	expect_eq(s->v[0], word);
}

/* Nothing of the ranks went, and @left contributions were left to each of them. */
static void expect_none(int left0, int left1)
{
	expect_eq(stat_of(TRIB_ADDED_HERE), 0);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 0);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), left0 + left1);
	expect_eq(rings(0), left0);
	expect_eq(rings(1), left1);
}

static uint64_t carried(int rank)
{
	uint64_t n = 0;

	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		n += desk_in(memory[rank])->cpu[i].carried;
	return n;
}

static void host__one_packet_leaves_for_all_ranks(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		fresh_as(v6, v6 ? 30 : 0);
		ready(0, 7, 352, 70);
		ready(1, 7, 352, 7);
		expect_eq(result(3, 352), XDP_REDIRECT);
		expect_sum(7, 352, 77);
		for (int i = 0; i < RANKS; i++) {
			expect(is(i, 3, TRIB_CELL_RESULT));
			expect_eq(cell(i, 3)->v[175], 0x1111);
			expect(is(i, 7, TRIB_CELL_SENT));
			expect_eq(carried(i), 1);
			expect_eq(rings(i), 0);
		}
		expect_eq(stat_of(TRIB_ADDED_HERE), 2);
		expect_eq(stat_of(TRIB_DONE), 1);
		expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
		expect_eq(stat_of(TRIB_REFLEX_LEFT), 0);
		expect_eq(the_drop(), -1);
		/* The slot knows who completed it: the rank that was looked at last. */
		expect_eq(slot_of(INNER, 7)->last, CHILD(1));
		/* And only once. */
		expect_eq(result(3, 352), XDP_DROP);
		expect_eq(stat_of(TRIB_ADDED_HERE), 2);
	}
}

static void late__rank_completes_by_socket(void)
{
	fresh();
	ready(0, 7, 352, 70);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(7, 1 << CHILD(0), 70);
	expect_eq(the_drop(), -1);
	expect_eq(run_grad(&f, INNER, CHILD(1), 7, 352, 7), XDP_REDIRECT);
	expect_sum(7, 352, 77);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	/* The other way round: it was early. */
	fresh();
	expect_eq(run_grad(&f, INNER, CHILD(1), 7, 352, 7), XDP_DROP);
	set(1, 7, TRIB_CELL_SENT);
	ready(0, 7, 352, 70);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(7, 352, 77);
	expect_eq(slot_of(INNER, 7)->last, CHILD(0));
}

/* A rank that lacks RESULT c may not send c + D; the others may. */
static void late__rank_without_the_result_is_not_added(void)
{
	static const int states[] = {TRIB_CELL_FREE, TRIB_CELL_READY, TRIB_CELL_WRITING};

	for (int i = 0; i < 3; i++) {
		fresh();
		set(1, 3, states[i]);
		ready(0, 7, 352, 70);
		ready(1, 7, 352, 7);
		expect_eq(result(3, 352), XDP_DROP);
		expect_held(7, 1 << CHILD(0), 70);
		expect(is(1, 7, TRIB_CELL_READY));
		expect_eq(rings(1), 0);
	}
}

/* Ranks do not attach together. */
static void late__rank_without_cells_is_not_added(void)
{
	struct trib_deliver d;

	fresh();
	bpf_map_lookup_elem(w.delivers, &(int){1}, &d);
	d.ring[1] = TRIB_NONE;
	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
	ready(0, 7, 352, 70);
	ready(1, 7, 352, 7);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(7, 1 << CHILD(0), 70);
}

/* D of rank 0 is 2 and RESULT 1 is there: it may send 5, and rank 1 may send 7. */
static void two_distances(void)
{
	fresh();
	desk_in(memory[0])->dist = 2;
	set(0, 1, TRIB_CELL_RESULT);
	ready(0, 5, 352, 50);
	ready(1, 7, 352, 7);
}

static void frame__leaves_once(void)
{
	two_distances();
	run_grad(&f, INNER, CHILD(1), 5, 352, 5);
	run_grad(&f, INNER, CHILD(0), 7, 352, 70);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(5, 352, 55);
	expect(is(1, 7, TRIB_CELL_READY));
	expect_held(7, 1 << CHILD(0), 70);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), 1);
	expect_eq(rings(0), 0);
	expect_eq(rings(1), 1);
}

/* Rank 0 is looked at first, and fills a slot; rank 1 must not find the frame used. */
static void frame__is_for_those_that_fill_a_slot_last(void)
{
	two_distances();
	run_grad(&f, INNER, CHILD(1), 5, 352, 5);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(5, 352, 55);
	expect_held(7, 1 << CHILD(1), 7);
	expect_eq(stat_of(TRIB_ADDED_HERE), 2);
	expect_eq(stat_of(TRIB_REFLEX_LEFT), 0);
	/* Neither fills one: nothing leaves, and both are added. */
	two_distances();
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(5, 1 << CHILD(0), 50);
	expect_held(7, 1 << CHILD(1), 7);
}

/* RESULT 3, D = 2: GRAD 7 has RESULT 5 of its distance, and has waited for the window. */
static void window__second_look_frees_what_waited(void)
{
	fresh();
	for (int i = 0; i < RANKS; i++) {
		desk_in(memory[i])->dist = 2;
		ready(i, 7, 352, 7);
	}
	set(0, 5, TRIB_CELL_RESULT);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(7, 1 << CHILD(0), 7); /* rank 1 lacks RESULT 5 */
	fresh();
	for (int i = 0; i < RANKS; i++) {
		desk_in(memory[i])->dist = 2;
		set(i, 1, TRIB_CELL_RESULT);
		set(i, 5, TRIB_CELL_RESULT);
		ready(i, 7, 352, 7);
	}
	ready(0, 5, 352, 5);
	set(0, 5, TRIB_CELL_READY);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(5, 1 << CHILD(0), 5);
	expect_held(7, 1 << CHILD(1), 7);
}

static void window__is_kept_whatever_the_distance(void)
{
	static const uint32_t bad[] = {0, WINDOW + 1, SLOTS, 0xffffffff, 0xfffffffc};

	for (int i = 0; i < 5; i++) {
		fresh();
		for (int rank = 0; rank < RANKS; rank++) {
			desk_in(memory[rank])->dist = bad[i];
			for (uint32_t c = 4; c < 4 + SLOTS - 1; c++)
				ready(rank, c, 352, c);
		}
		expect_eq(result(3, 352), XDP_DROP);
		expect_none(0, 0);
	}
	/* D = 2: GRAD 5 needs RESULT 1, of the window. */
	fresh();
	desk_in(memory[0])->dist = 2;
	ready(0, 5, 352, 5);
	expect_eq(result(3, 352), XDP_DROP);
	expect(is(0, 5, TRIB_CELL_READY));
	expect_none(0, 0);
}

static void ready__nothing_else_is_added(void)
{
	const uint64_t words[] = {
		0,
		TRIB_CELL(EPOCH, 7, TRIB_CELL_SENT),
		TRIB_CELL(EPOCH, 7, TRIB_CELL_WRITING),
		TRIB_CELL(EPOCH, 7, TRIB_CELL_RESULT),
		TRIB_CELL(EPOCH, 7 + SLOTS, TRIB_CELL_READY),
		TRIB_CELL(EPOCH + 1, 7, TRIB_CELL_READY),
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		fresh();
		ready(0, 7, 352, 77);
		cell(0, 7)->state = words[i];
		expect_eq(result(3, 352), XDP_DROP);
		expect_eq(cell(0, 7)->state, words[i]);
		expect_none(0, 0);
	}
}

/* A slot has a contribution of each child once, whatever states a rank writes. */
static void rank__is_added_once(void)
{
	fresh();
	run_grad(&f, INNER, CHILD(0), 7, 352, 70);
	ready(0, 7, 352, 1000);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(7, 1 << CHILD(0), 70);
	expect_eq(stat_of(TRIB_ADDED_HERE), 0);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	/* The other rank's contribution leaves. */
	ready(1, 7, 352, 7);
	set(0, 3, TRIB_CELL_SENT);
	set(1, 3, TRIB_CELL_SENT);
	slot_put(INNER, 3, &(struct trib_slot){});
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(7, 352, 77);
}

static void rank__speaks_for_its_own_child_only(void)
{
	fresh();
	ready(1, 7, 352, 7);
	cell(1, 7)->h.child = htons(CHILD(0));
	cell(1, 7)->h.epoch = htonl(EPOCH + 1);
	cell(1, 7)->h.tree = htons(ROOT);
	cell(1, 7)->h.chunk = htonl(6);
	expect_eq(result(3, 352), XDP_DROP);
	expect_held(7, 1 << CHILD(1), 7);
}

static void shape__is_compared_with_the_slots(void)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_Q32, 352);
	static const int why[] = {TRIB_DROP_SCALE, TRIB_DROP_MISMATCH, TRIB_DROP_MISMATCH};

	for (int i = 0; i < 3; i++) {
		fresh();
		h.scale = htonl(i == 0);
		h.fmt = i == 1 ? TRIB_FMT_W64 : TRIB_FMT_Q32;
		h.nval = htons(i == 2 ? 336 : 352);
		ready(0, 7, 352, 70);
		ready_as(1, 7, h, 7);
		expect_eq(result(3, 352), XDP_DROP);
		expect_held(7, 1 << CHILD(0), 70);
		expect_eq(the_drop(), why[i]);
	}
}

static void shape__malformed_and_long_ones_are_left_to_the_rank(void)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, 255, 352);

	fresh();
	ready_as(0, 7, h, 70);
	expect_eq(result(3, 352), XDP_DROP);
	expect(is(0, 7, TRIB_CELL_READY));
	expect_none(1, 0);
	fresh();
	ready(0, 7, 17, 70);
	ready(1, 7, 17, 7);
	expect_eq(result(3, 16), XDP_DROP);
	expect_none(1, 1);
	/* Floats need the module. */
	fresh();
	h.fmt = TRIB_FMT_F32;
	ready_as(0, 7, h, 70);
	expect_eq(result(3, 352), XDP_DROP);
	expect_none(1, 0);
}

static void length__frame_is_cut(void)
{
	static const int nvals[] = {2, 16, 18, 336, 350};

	for (int i = 0; i < 5; i++) {
		fresh();
		ready(0, 7, nvals[i], 70);
		ready(1, 7, nvals[i], 7);
		expect_eq(result(3, 352), XDP_REDIRECT);
		expect_sum(7, nvals[i], 77);
		expect_eq(f.len, f.pay + (int)trib_payload_len(nvals[i]));
	}
}

static void empty__marks_its_child(void)
{
	fresh();
	ready(0, 7, 0, 0);
	ready(1, 7, 0, 0);
	expect_eq(result(3, 0), XDP_REDIRECT);
	expect_sum(7, 0, 0);
	fresh();
	ready(0, 7, 352, 70);
	ready(1, 7, 0, 0);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(7, 352, 70);
	/* Not the values that the frame had. */
	fresh();
	run_grad(&f, INNER, CHILD(0), 7, 352, 70);
	ready(1, 7, 0, 0);
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect_sum(7, 352, 70);
	/* The frame is too short for the sum: trib_grow sends it. */
	fresh();
	run_grad(&f, INNER, CHILD(0), 7, 352, 70);
	ready(1, 7, 0, 0);
	expect_eq(result(3, 16), XDP_PASS);
	expect(ordered(&f, TRIB_T_GRAD, UP(INNER)));
	expect_eq(ntohl(frame_hdr(&f)->chunk), 7);
}

/* Add masked I32 by the plain rules, and compare. */
static void mask__is_expanded(void)
{
	struct trib_hdr h = reflex_nonsense(TRIB_WOP_ADD, TRIB_FMT_I32, 352);
	uint32_t pay[RANKS][TRIB_NVAL_SMALL];
	int32_t want;
	int there;

	h.scale = 0;
	h.flags = TRIB_F_MASK;
	h.nm = trib_nm(2, 1);
	fresh();
	for (int i = 0; i < RANKS; i++) {
		ready_as(i, 7, h, 0x300000005);
		mask_words(pay[i], 11, h.nm, 11 + i);
		memcpy(cell(i, 7)->v, pay[i], 44);
		memcpy(pay[i], cell(i, 7)->v, sizeof(pay[i]));
	}
	expect_eq(result(3, 352), XDP_REDIRECT);
	expect(frame_parse(&f));
	expect_eq(ntohs(frame_hdr(&f)->nval), 352);
	expect_eq(frame_hdr(&f)->nm, 0);
	for (unsigned int u = 0; u < 352; u++) {
		want = 0;
		for (int i = 0; i < RANKS; i++) {
			uint32_t v = mask_value(pay[i], 352, u, &there);

			want += there ? (int32_t)v : 0;
		}
		if (!expect((int32_t)(frame_word(&f, u / 2) >> (u % 2 * 32)) == want))
			break;
	}
	/* A wrong one touches no slot. */
	fresh();
	ready_as(0, 7, h, ~0ULL);
	expect_eq(result(3, 352), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_MASK);
	expect_eq(slot_of(INNER, 7)->epoch, 0);
}

static void timed__chunks_tell_who_was_late(void)
{
	struct trib_lag lag;
	int tree = INNER;

	fresh();
	for (int i = 0; i < RANKS; i++) {
		set(i, 12, TRIB_CELL_SENT);
		ready(i, 16, 352, 7);
	}
	expect_eq(result(12, 352), XDP_REDIRECT);
	expect_sum(16, 352, 14);
	bpf_map_lookup_elem(w.lag, &tree, &lag);
	expect_eq(lag.child[CHILD(0)].samples, 1);
	expect_eq(lag.child[CHILD(1)].samples, 1);
	expect_eq(lag.child[CHILD(0)].last, 0);
	expect_eq(lag.child[CHILD(1)].last, 1);
}

/* Rows of nodes that need the frame, or that tribd wants to use sockets. */
static void row__without_host_nothing_is_added(void)
{
	struct trib_tree t;

	for (int i = 0; i < 3; i++) {
		fresh();
		ready(0, 7, 352, 70);
		ready(1, 7, 352, 7);
		tree_get(INNER, &t);
		if (i == 0)
			row(0, RANKS);
		else if (i == 1)
			t.down = DOWN(INNER);
		else
			t.deliver = TRIB_NONE;
		tree_put(INNER, &t);
		result(3, 352);
		expect(is(0, 7, TRIB_CELL_READY));
		expect_none(0, 0);
	}
	/* A root. */
	fresh();
	ready(0, 7, 352, 70);
	tree_get(INNER, &t);
	t.flags |= TRIB_TREE_ROOT;
	tree_put(INNER, &t);
	run_grad(&f, INNER, 0, 3, 352, 1);
	run_grad(&f, INNER, 1, 3, 352, 1);
	expect(is(0, 3, TRIB_CELL_RESULT));
	expect(is(0, 7, TRIB_CELL_READY));
	expect_eq(stat_of(TRIB_ADDED_HERE), 0);
}

/* A RESULT that goes up serves the parent. */
static void row__result_that_goes_up_needs_the_frame(void)
{
	fresh();
	ready(0, 7, 352, 70);
	frame_result(&f, INNER, 0, 3, 352, 0x1111);
	run_xdp(&f, 0);
	expect(is(0, 3, TRIB_CELL_RESULT));
	expect_none(0, 0);
}

static void large__full_frames(void)
{
	fresh();
	ready(0, 7, TRIB_NVAL_LARGE, 70);
	ready(1, 7, TRIB_NVAL_LARGE, 7);
	expect_eq(result(3, TRIB_NVAL_LARGE), XDP_REDIRECT);
	expect_sum(7, TRIB_NVAL_LARGE, 77);
}

/* Open the object; rank 1 of the row gets a ring and an array, too. */
static void open_as(int nval)
{
	int row1 = TRIB_CELLS_ROW(1, 1), fd, ring;

	world_open(nval);
	fd = world_cells();
	ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring_2", 0, 0, 4096, NULL);
	bpf_map_update_elem(w.cells, &row1, &fd, 0);
	bpf_map_update_elem(w.rings, &(int){2}, &ring, 0);
	memory[0] = w.cell_memory;
	memory[1] = world_map_cells(fd);
	reader[0] = ring_buffer__new(w.ring, take, &rung[0], NULL);
	reader[1] = ring_buffer__new(ring, take, &rung[1], NULL);
	close(fd);
	close(ring);
}

int main(void)
{
	open_as(TRIB_NVAL_SMALL);
	run(host__one_packet_leaves_for_all_ranks);
	run(late__rank_completes_by_socket);
	run(late__rank_without_the_result_is_not_added);
	run(late__rank_without_cells_is_not_added);
	run(frame__leaves_once);
	run(frame__is_for_those_that_fill_a_slot_last);
	run(window__second_look_frees_what_waited);
	run(window__is_kept_whatever_the_distance);
	run(ready__nothing_else_is_added);
	run(rank__is_added_once);
	run(rank__speaks_for_its_own_child_only);
	run(shape__is_compared_with_the_slots);
	run(shape__malformed_and_long_ones_are_left_to_the_rank);
	run(length__frame_is_cut);
	run(empty__marks_its_child);
	run(mask__is_expanded);
	run(timed__chunks_tell_who_was_late);
	run(row__without_host_nothing_is_added);
	run(row__result_that_goes_up_needs_the_frame);
	groups_forget();
	world_close();
	open_as(TRIB_NVAL_LARGE);
	run(large__full_frames);
	return tap_done();
}
