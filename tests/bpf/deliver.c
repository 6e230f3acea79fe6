// SPDX-License-Identifier: BSD-2-Clause
/*
 * Delivery to the ranks of a host: cells, and when their rings are rung.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;
static struct ring_buffer *reader;
static struct trib_event ring[64]; /* records since ring_empty() */
static int rung;

static int take(void *ctx, void *data, size_t size)
{
	(void)ctx;
	expect_eq(size, sizeof(struct trib_event));
	if (rung < 64)
		memcpy(&ring[rung], data, sizeof(*ring));
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
	world_reset();
	rings();
}

static int result(int tree, uint32_t chunk, int nval, uint64_t word, int flags)
{
	frame_result(&f, tree, -1, chunk, nval, word);
	frame_hdr(&f)->flags |= flags;
	frame_hdr(&f)->child = htons(4);
	return run_xdp(&f, port_of(tree, -1));
}

static void cell__holds_the_result(void)
{
	struct trib_cell *c;

	fresh();
	frame_result(&f, LEAF, -1, 3, 352, 0x600000009);
	frame_hdr(&f)->flags = TRIB_F_PUSH;
	frame_hdr(&f)->child = htons(4);
	frame_hdr(&f)->scale = htonl(-11);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	c = cell_of(3);
	expect_eq(c->id, TRIB_CELL_ID(EPOCH, 3));
	expect_eq(c->nval, 352);
	expect_eq(c->flags, TRIB_F_PUSH);
	expect_eq(c->last, 4);
	expect_eq(c->scale, -11);
	expect_eq(c->op, TRIB_WOP_ADD);
	expect_eq(c->fmt, TRIB_FMT_Q32);
	expect_eq(c->busy, 0);
	for (int i = 0; i < 176; i++)
		if (!expect(c->v[i] == 0x600000009))
			break;
	expect_eq(stat_of(TRIB_DELIVERED), 1);
	expect_eq(stat_of(TRIB_RX_RESULT), 1);
	expect_eq(the_drop(), -1);
}

/* Map the cells as ranks do: tribd froze the map, so no process can write. */
static void cell__shows_in_a_frozen_mapping(void)
{
	size_t step = 64 + 4 * w.nval, len = (SLOTS * step + 4095) & ~4095;
	struct trib_deliver d = {.cell_mask = SLOTS - 1};
	int fd = world_cells(), row = 2;
	struct trib_cell c = {};
	struct trib_tree t;
	const uint8_t *map;

	fresh();
	bpf_map_update_elem(w.cells, &row, &fd, 0);
	bpf_map_update_elem(w.delivers, &row, &d, 0);
	tree_get(LEAF, &t);
	t.deliver = row;
	tree_put(LEAF, &t);
	expect_eq(bpf_map_freeze(fd), 0);
	expect(bpf_map_update_elem(fd, &row, &c, 0) < 0);
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	if (expect(map != MAP_FAILED)) {
		result(LEAF, 5, 16, 42, 0);
		expect_eq(*(uint64_t *)(map + 5 * step), TRIB_CELL_ID(EPOCH, 5));
		expect_eq(*(uint64_t *)(map + 5 * step + 64), 42);
		munmap((void *)map, len);
	}
	bpf_map_delete_elem(w.cells, &row);
	close(fd);
}

static void cell__short_and_empty_results(void)
{
	static const int lens[] = {0, 1, 17, 351};

	for (unsigned int i = 0; i < 4; i++) {
		fresh();
		expect_eq(result(LEAF, 3, lens[i], 8, 0), XDP_DROP);
		expect_eq(cell_of(3)->nval, lens[i]);
		if (lens[i])
			expect_eq(cell_of(3)->v[(lens[i] - 1) / 2], 8);
		expect_eq(the_drop(), -1);
	}
}

static void cell__only_newer_ones_are_written(void)
{
	fresh();
	result(LEAF, 3 + SLOTS, 16, 42, 0);
	result(LEAF, 3, 16, 1, 0);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	expect_eq(cell_of(3)->v[0], 42);
	fresh();
	result(LEAF, 3, 16, 42, 0);
	result(LEAF, 3, 16, 1, 0);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
	expect_eq(cell_of(3)->v[0], 42);
	result(LEAF, 3 + SLOTS, 16, 43, 0);
	expect_eq(cell_of(3)->v[0], 43);
	expect_eq(cell_of(3)->id, TRIB_CELL_ID(EPOCH, 3 + SLOTS));
}

static void cell__new_epoch_starts_over(void)
{
	struct trib_tree t;

	fresh();
	result(LEAF, 8 * SLOTS, 16, 42, 0);
	tree_get(LEAF, &t);
	t.epoch = EPOCH + 1;
	tree_put(LEAF, &t);
	frame_result(&f, LEAF, -1, 0, 16, 7);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	run_xdp(&f, 3);
	expect_eq(the_drop(), -1);
	expect_eq(cell_of(0)->id, TRIB_CELL_ID(EPOCH + 1, 0));
	expect_eq(cell_of(0)->v[0], 7);
}

static void cell__congestion_of_the_result_shows(void)
{
	struct link l = link_of(LEAF, -1);
	struct trib_hdr h = header(TRIB_T_RESULT, LEAF, -1, 3);

	fresh();
	l = link_of(LEAF, -1);
	l.tos |= 3;
	h.fmt = TRIB_FMT_Q32;
	h.nval = htons(16);
	world_sign(&h, NULL, 0, world_key(LEAF, -1));
	frame_build(&f, &l, &h, (uint64_t[8]){1}, 64);
	run_xdp(&f, 3);
	expect_eq(cell_of(3)->flags, TRIB_F_CE);
}

static void cell__none_is_counted(void)
{
	struct trib_tree t;

	fresh();
	tree_get(LEAF, &t);
	for (int row = 0; row < 3; row += 2) { /* 0: no packet; 2: one without values */
		world_reset();
		t.deliver = row;
		tree_put(LEAF, &t);
		expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_DELIVER);
	}
}

static void cell__busy_one_is_left_alone(void)
{
	struct trib_cell c = {.busy = 1};

	fresh();
	bpf_map_update_elem(w.cell_array, &(int){3}, &c, 0);
	expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
	expect_eq(cell_of(3)->id, 0);
}

static void ring__is_rung_on_push(void)
{
	fresh();
	result(LEAF, 0, 16, 1, 0);
	result(LEAF, 1, 16, 1, 0);
	expect_eq(rings(), 0);
	result(LEAF, 2, 16, 1, TRIB_F_PUSH);
	expect_eq(rings(), 1);
	expect_eq(ring[0].type, TRIB_T_RESULT);
	expect_eq(ring[0].flags, TRIB_F_PUSH);
	expect_eq(ring[0].tree, LEAF);
	expect_eq(ring[0].chunk, 2);
	expect_eq(ring[0].epoch, EPOCH);
	expect_eq(stat_of(TRIB_RUNG), 1);
}

static void ring__is_rung_when_a_gap_opens_and_when_it_closes(void)
{
	fresh();
	result(LEAF, 0, 16, 1, 0);
	expect_eq(rings(), 0);
	result(LEAF, 2, 16, 1, 0); /* 1 is missing */
	expect_eq(rings(), 1);
	result(LEAF, 3, 16, 1, 0);
	expect_eq(rings(), 0);
	result(LEAF, 1, 16, 1, 0);
	expect_eq(rings(), 1);
	expect_eq(ring[0].chunk, 1);
	result(LEAF, 4, 16, 1, 0);
	expect_eq(rings(), 0);
}

static void ring__is_rung_at_every_sixty_fourth(void)
{
	int n = 0;

	fresh();
	for (int chunk = 0; chunk < 3 * TRIB_RING_EVERY; chunk++) {
		result(LEAF, chunk, 16, 1, 0);
		n += rings();
	}
	expect_eq(n, 3);
	expect_eq(stat_of(TRIB_DELIVERED), 3 * TRIB_RING_EVERY);
}

/* An epoch's stream begins at 0, wherever the stream before it ended. */
static void ring__new_epoch_is_in_a_row(void)
{
	struct trib_tree t;
	int n = 0;

	fresh();
	for (int chunk = 0; chunk < 20; chunk++)
		result(LEAF, chunk, 16, 1, 0);
	tree_get(LEAF, &t);
	t.epoch = EPOCH + 1;
	tree_put(LEAF, &t);
	rings();
	for (int chunk = 0; chunk < 10; chunk++) {
		frame_result(&f, LEAF, -1, chunk, 16, 7);
		frame_hdr(&f)->epoch = htonl(EPOCH + 1);
		run_xdp(&f, 3);
		n += rings();
	}
	expect_eq(n, 1); /* chunk 0 did not extend the row */
}

/*
 * A packet that asks for a present result rings again: the first ring may be
 * lost.
 */
static void ring__is_rung_by_a_result_that_is_there(void)
{
	fresh();
	result(LEAF, 0, 16, 1, 0);
	expect_eq(rings(), 0);
	result(LEAF, 0, 16, 1, 0);
	expect_eq(rings(), 1);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
}

static void ring__every_rank_has_its_own(void)
{
	struct trib_deliver d = {
		.cell_mask = SLOTS - 1, .nring = 3, .ring = {1, 9, 1}}; /* ring 9 does not exist */

	fresh();
	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
	result(LEAF, 0, 16, 1, TRIB_F_PUSH);
	expect_eq(rings(), 2);
	expect_eq(stat_of(TRIB_RUNG), 2);
}

static void ring__full_one_is_counted(void)
{
	fresh();
	/* 4096 bytes hold 128 records of 32 bytes, header included. */
	for (int chunk = 0; chunk < 200; chunk++)
		result(LEAF, chunk, 16, 1, TRIB_F_PUSH);
	expect(stat_of(TRIB_DROP_RING) > 50);
	expect_eq(stat_of(TRIB_DELIVERED), 200);
	expect_eq(stat_of(TRIB_RUNG) + stat_of(TRIB_DROP_RING), 200);
	expect_eq(rings(), stat_of(TRIB_RUNG));
}

static void leaf__need_alive_and_abort_are_events(void)
{
	struct trib_hdr h;

	fresh();
	frame_need(&f, LEAF, -1, 12, 0x8000000000000005);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	expect_eq(rings(), 1);
	expect_eq(ring[0].type, TRIB_T_NEED);
	expect_eq(ring[0].chunk, 12);
	expect_eq(ring[0].seen, 0x8000000000000005);
	for (int type = TRIB_T_ALIVE; type <= TRIB_T_ABORT; type++) {
		h = header(type, LEAF, -1, 2);
		h.aux = htons(6);
		frame_of(&f, LEAF, -1, h, NULL, 0);
		expect_eq(run_xdp(&f, 3), XDP_DROP);
		expect_eq(rings(), 1);
		expect_eq(ring[0].type, type);
		expect_eq(ring[0].aux, 6);
		expect_eq(ring[0].chunk, 2);
		expect_eq(ring[0].tree, LEAF);
		expect_eq(ring[0].epoch, EPOCH);
	}
	expect_eq(the_drop(), -1);
}

static void leaf__without_ranks_is_counted(void)
{
	struct trib_tree t;

	fresh();
	tree_get(LEAF, &t);
	t.deliver = TRIB_NONE;
	tree_put(LEAF, &t);
	frame_need(&f, LEAF, -1, 12, 0);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_DELIVER);
}

static int contribute(int chunk, int n)
{
	int verdict = 0;

	for (int child = 0; child < n; child++)
		verdict = run_grad(&f, HOST, child, chunk, 352, 5);
	return verdict;
}

static void host__relay_delivers_its_own_results(void)
{
	fresh();
	expect_eq(contribute(3, 3), XDP_REDIRECT);
	expect_eq(group_of(&f), DOWN(HOST));
	expect_eq(cell_of(3)->id, TRIB_CELL_ID(EPOCH, 3));
	expect_eq(cell_of(3)->v[175], 15);
	expect_eq(cell_of(3)->last, 2);
	expect_eq(rings(), 1); /* chunk 3 arrives before 0 to 2 */
	/* The child that asks again may be a rank of this host: ring. */
	expect_eq(run_grad(&f, HOST, 0, 3, 352, 5), XDP_REDIRECT);
	expect_eq(rings(), 1);
	expect_eq(the_drop(), -1);
}

static void host__all_ranks_here_needs_no_group(void)
{
	struct trib_tree t;

	fresh();
	tree_get(HOST, &t);
	t.down = t.all = TRIB_NONE;
	tree_put(HOST, &t);
	expect_eq(contribute(3, 3), XDP_DROP);
	expect_eq(cell_of(3)->v[0], 15);
	expect_eq(the_drop(), -1);
}

static void host__need_alive_and_abort_are_events_too(void)
{
	struct trib_hdr h = header(TRIB_T_ABORT, HOST, 1, 2);

	fresh();
	run_grad(&f, HOST, 0, 3, 352, 5);
	frame_grad(&f, HOST, 0, 3, 352, 5);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_eq(run_xdp(&f, 0), XDP_REDIRECT);
	expect_eq(frame_hdr(&f)->type, TRIB_T_NEED);
	expect_eq(rings(), 1);
	expect_eq(ring[0].type, TRIB_T_NEED);
	expect_eq(ring[0].seen, 1);
	frame_of(&f, HOST, 1, h, NULL, 0);
	expect_eq(run_xdp(&f, 1), XDP_REDIRECT);
	expect_eq(rings(), 1);
	expect_eq(ring[0].type, TRIB_T_ABORT);
	expect_eq(ring[0].flags & TRIB_F_UP, 0);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	reader = ring_buffer__new(w.ring, take, NULL, NULL);
	run(cell__holds_the_result);
	run(cell__shows_in_a_frozen_mapping);
	run(cell__short_and_empty_results);
	run(cell__only_newer_ones_are_written);
	run(cell__new_epoch_starts_over);
	run(cell__congestion_of_the_result_shows);
	run(cell__none_is_counted);
	run(cell__busy_one_is_left_alone);
	run(ring__is_rung_on_push);
	run(ring__is_rung_when_a_gap_opens_and_when_it_closes);
	run(ring__is_rung_at_every_sixty_fourth);
	run(ring__new_epoch_is_in_a_row);
	run(ring__is_rung_by_a_result_that_is_there);
	run(ring__every_rank_has_its_own);
	run(ring__full_one_is_counted);
	run(leaf__need_alive_and_abort_are_events);
	run(leaf__without_ranks_is_counted);
	run(host__relay_delivers_its_own_results);
	run(host__all_ranks_here_needs_no_group);
	run(host__need_alive_and_abort_are_events_too);
	ring_buffer__free(reader);
	world_close();
	return tap_done();
}
