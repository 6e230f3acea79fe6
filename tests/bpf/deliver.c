// SPDX-License-Identifier: BSD-2-Clause
/*
 * Delivery to the ranks of a host: cells, desks, and when their rings are rung.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
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

/* The rank is to be woken by the next result of this CPU, if that makes it @more. */
static void arm(int more)
{
	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		desk()->cpu[i].wake_at = desk()->cpu[i].delivered + more;
	desk()->armed = 1;
}

static uint64_t delivered(void)
{
	uint64_t n = 0;

	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		n += desk()->cpu[i].delivered;
	return n;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void cell__holds_the_result(void)
{
	struct trib_cell *c;
	struct trib_hdr h;

	fresh();
	c = cell_of(3);
	memset(&c->h, 0xaa, sizeof(c->h));
	cell_shape(c, TRIB_WOP_ADD, TRIB_FMT_Q32, -11);
	c->took_ns = 77;
	frame_result(&f, LEAF, -1, 3, 352, 0x600000009);
	frame_hdr(&f)->flags = TRIB_F_PUSH | TRIB_F_HEAD;
	frame_hdr(&f)->child = htons(4);
	frame_hdr(&f)->scale = htonl(-11);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	expect(cell_is(3, TRIB_CELL_RESULT));
	memset(&h, 0xaa, sizeof(h)); /* the rest is the rank's */
	h.version = TRIB_WIRE_VERSION;
	h.type = TRIB_T_RESULT;
	h.flags = TRIB_F_PUSH | TRIB_F_HEAD;
	h.op = TRIB_WOP_ADD;
	h.fmt = TRIB_FMT_Q32;
	h.nm = h.attempt = h.bmwords = 0;
	h.child = htons(4);
	h.nval = htons(352);
	h.aux = 0;
	h.scale = htonl(-11);
	expect(!memcmp(&c->h, &h, sizeof(h)));
	expect_eq(c->took_ns, 0);
	for (int i = 0; i < 176; i++)
		if (!expect(c->v[i] == 0x600000009))
			break;
	expect_eq(stat_of(TRIB_DELIVERED), 1);
	expect_eq(stat_of(TRIB_RX_RESULT), 1);
	expect_eq(delivered(), 1);
	expect_eq(the_drop(), -1);
}

static void cell__short_and_empty_results(void)
{
	static const int lens[] = {0, 1, 17, 351};

	for (unsigned int i = 0; i < 4; i++) {
		fresh();
		expect_eq(result(LEAF, 3, lens[i], 8, 0), XDP_DROP);
		expect(cell_is(3, TRIB_CELL_RESULT));
		expect_eq(ntohs(cell_of(3)->h.nval), lens[i]);
		if (lens[i])
			expect_eq(cell_of(3)->v[(lens[i] - 1) / 2], 8);
		expect_eq(the_drop(), -1);
	}
}

/* The rank has not sent the chunk, or it has gone on: nothing of it may change. */
static void cell__only_sent_ones_are_written(void)
{
	const uint64_t words[] = {
		0,
		TRIB_CELL(EPOCH, 3, TRIB_CELL_FREE),
		TRIB_CELL(EPOCH, 3, TRIB_CELL_READY),
		TRIB_CELL(EPOCH, 3, TRIB_CELL_WRITING),
		TRIB_CELL(EPOCH, 3, 5),
		TRIB_CELL(EPOCH, 3 + SLOTS, TRIB_CELL_SENT),
		TRIB_CELL(EPOCH, 3 - SLOTS, TRIB_CELL_SENT),
		TRIB_CELL(EPOCH, 3 + SLOTS, TRIB_CELL_RESULT),
		TRIB_CELL(EPOCH + 1, 3, TRIB_CELL_SENT),
		TRIB_CELL(EPOCH - 1, 3, TRIB_CELL_RESULT),
	};
	struct trib_cell before;

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		fresh();
		arm(0);
		cell_of(3)->state = words[i];
		memcpy(&before, cell_of(3), 64 + 64);
		expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_STALE);
		expect(!memcmp(&before, cell_of(3), 64 + 64));
		expect_eq(rings(), 0);
		expect_eq(delivered(), 0);
	}
}

/* A wrong result, from who knows the secret, must not keep the right one out. */
static void cell__takes_what_fits_its_contribution(void)
{
	static const struct {
		uint8_t op, fmt;
		uint16_t nval;
		int32_t scale;
	} wrong[] = {
		{TRIB_WOP_MAX, TRIB_FMT_W64, 352, 5},
		{TRIB_WOP_ADD, TRIB_FMT_I32, 352, 5},
		{TRIB_WOP_ADD, TRIB_FMT_Q32, 336, 5},
		{TRIB_WOP_ADD, TRIB_FMT_Q32, 352, 4},
	};

	for (int i = 0; i < 5; i++) {
		fresh();
		cell_shape(cell_of(3), TRIB_WOP_ADD, TRIB_FMT_Q32, 5);
		cell_of(3)->h.flags = TRIB_F_UP;
		cell_of(3)->h.nval = htons(352);
		frame_result(&f, LEAF, -1, 3, i < 4 ? wrong[i].nval : 352, 9);
		frame_hdr(&f)->op = i < 4 ? wrong[i].op : TRIB_WOP_ADD;
		frame_hdr(&f)->fmt = i < 4 ? wrong[i].fmt : TRIB_FMT_Q32;
		frame_hdr(&f)->scale = htonl(i < 4 ? (uint32_t)wrong[i].scale : 5);
		expect_eq(run_xdp(&f, 3), XDP_DROP);
		expect_eq(the_drop(), i < 4 ? TRIB_DROP_MISMATCH : -1);
		expect(cell_is(3, i < 4 ? TRIB_CELL_SENT : TRIB_CELL_RESULT));
		expect_eq(cell_of(3)->v[0], i < 4 ? 0 : 9);
	}
}

static void cell__is_written_once(void)
{
	fresh();
	result(LEAF, 3, 16, 42, 0);
	result(LEAF, 3, 16, 1, 0);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
	expect_eq(cell_of(3)->v[0], 42);
	expect_eq(delivered(), 1);
	cell_set(3 + SLOTS, TRIB_CELL_SENT);
	result(LEAF, 3 + SLOTS, 16, 43, 0);
	expect_eq(cell_of(3)->v[0], 43);
	expect(cell_is(3 + SLOTS, TRIB_CELL_RESULT));
}

static void cell__has_its_epoch(void)
{
	struct trib_tree t;

	fresh();
	tree_get(LEAF, &t);
	t.epoch = EPOCH + 1;
	tree_put(LEAF, &t);
	cell_of(0)->state = TRIB_CELL(EPOCH + 1, 0, TRIB_CELL_SENT);
	frame_result(&f, LEAF, -1, 0, 16, 7);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	run_xdp(&f, 3);
	expect_eq(the_drop(), -1);
	expect_eq(cell_of(0)->state, TRIB_CELL(EPOCH + 1, 0, TRIB_CELL_RESULT));
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
	expect_eq(cell_of(3)->h.flags, TRIB_F_CE);
}

static uint32_t took(uint32_t chunk, uint64_t sent_ns)
{
	fresh();
	cell_set(chunk, TRIB_CELL_SENT);
	cell_of(chunk)->sent_ns = sent_ns;
	cell_of(chunk)->took_ns = 99;
	result(LEAF, chunk, 16, 1, 0);
	expect(cell_is(chunk, TRIB_CELL_RESULT));
	return cell_of(chunk)->took_ns;
}

static void cell__stamped_ones_have_a_time(void)
{
	uint64_t begin = now_ns();
	uint32_t ns = took(17, begin - 1000000);

	expect(ns >= 1000000 && ns <= now_ns() - begin + 1000000);
	expect_eq(took(0, begin - 5000000000ULL), 0xffffffff);
	expect_eq(took(0, ~0ULL), 0xffffffff); /* the rank's nonsense */
	expect_eq(took(0, 0), 0);
	expect_eq(took(1, begin), 0);
	expect_eq(took(16, begin), 0);
}

static void cell__none_is_counted(void)
{
	struct trib_deliver d = {.cell_mask = SLOTS - 1, .nrank = 1, .ring = {1}};
	struct trib_tree t;

	fresh();
	tree_get(LEAF, &t);
	/* 0: no packet; 2: no array; 3: none attached; 4: no rank; 5: an array without a desk */
	bpf_map_update_elem(w.delivers, &(int){2}, &d, 0);
	d.cell_mask = 2 * SLOTS - 1;
	bpf_map_update_elem(w.delivers, &(int){5}, &d, 0);
	bpf_map_update_elem(w.cells, &(int){TRIB_CELLS_ROW(5, 0)}, &w.cell_array, 0);
	d.ring[0] = TRIB_NONE;
	bpf_map_update_elem(w.delivers, &(int){3}, &d, 0);
	for (int row = 0; row < 6; row++) {
		if (row == 1)
			continue;
		world_reset();
		t.deliver = row;
		tree_put(LEAF, &t);
		expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_DELIVER);
	}
	bpf_map_delete_elem(w.cells, &(int){TRIB_CELLS_ROW(5, 0)});
}

/* --- several ranks of a host */

static uint8_t *others[3]; /* cells of ranks 1 to 3 */

/* Rank 2 is not attached. */
static void ranks_begin(void)
{
	static int fd[3];
	struct trib_deliver d = {.cell_mask = SLOTS - 1, .nrank = 4, .ring = {1, 1, TRIB_NONE, 1}};

	fresh();
	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
	for (int i = 0; i < 3; i++) {
		if (!others[i]) {
			fd[i] = world_cells();
			others[i] = world_map_cells(fd[i]);
		}
		bpf_map_update_elem(w.cells, &(int){TRIB_CELLS_ROW(1, i + 1)}, &fd[i], 0);
		cells_empty(others[i]);
	}
}

static void ranks_end(void)
{
	for (int i = 0; i < 3; i++)
		bpf_map_delete_elem(w.cells, &(int){TRIB_CELLS_ROW(1, i + 1)});
}

static void ranks__each_has_its_cells(void)
{
	ranks_begin();
	desk_in(others[2])->armed = 1;
	expect_eq(result(LEAF, 3, 352, 42, 0), XDP_DROP);
	expect_eq(the_drop(), -1);
	expect_eq(stat_of(TRIB_DELIVERED), 3);
	expect_eq(cell_of(3)->v[175], 42);
	expect_eq(cell_in(others[0], 3)->v[175], 42);
	expect_eq(cell_in(others[2], 3)->v[175], 42);
	expect_eq(cell_in(others[2], 3)->state, TRIB_CELL(EPOCH, 3, TRIB_CELL_RESULT));
	/* Its rank is not attached. */
	expect_eq(cell_in(others[1], 3)->state, TRIB_CELL(EPOCH, 3, TRIB_CELL_SENT));
	expect_eq(rings(), 1);
	ranks_end();
}

static void ranks__one_reason_is_counted(void)
{
	ranks_begin();
	cell_set(3, TRIB_CELL_RESULT);
	cell_in(others[0], 3)->state = 0;
	expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP); /* new to rank 3 */
	expect_eq(the_drop(), -1);
	expect_eq(rings(), 1);
	expect_eq(result(LEAF, 3, 16, 1, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
	expect_eq(rings(), 2);
	cell_in(others[2], 4)->state = 0;
	cell_in(others[0], 4)->state = 0;
	cell_of(4)->state = 0;
	expect_eq(result(LEAF, 4, 16, 1, 0), XDP_DROP);
	expect_eq(stat_of(TRIB_DROP_STALE), 1);
	cell_in(others[2], 4)->state = TRIB_CELL(EPOCH, 4, TRIB_CELL_RESULT);
	expect_eq(result(LEAF, 4, 16, 1, 0), XDP_DROP);
	expect_eq(stat_of(TRIB_DROP_STALE), 1);
	expect_eq(stat_of(TRIB_DROP_SEEN), 2);
	cell_in(others[2], 5)->state = 0;
	expect_eq(result(LEAF, 5, 16, 1, 0), XDP_DROP); /* new to the first */
	expect_eq(stat_of(TRIB_DROP_STALE), 1);
	ranks_end();
}

static void ranks__events_reach_the_attached(void)
{
	ranks_begin();
	frame_need(&f, LEAF, -1, 12, 1);
	expect_eq(run_xdp(&f, 3), XDP_DROP);
	expect_eq(rings(), 3);
	expect_eq(stat_of(TRIB_RUNG), 3);
	ranks_end();
}

/* --- desks */

static void desk__no_chunk_rings_by_itself(void)
{
	fresh();
	desk()->dist = WINDOW; /* no row of tribd for it */
	result(LEAF, 0, 16, 1, 0);
	result(LEAF, 2, 16, 1, 0);
	result(LEAF, 1, 16, 1, TRIB_F_PUSH);
	expect_eq(rings(), 0);
	expect_eq(delivered(), 3);
}

static void desk__rings_at_the_count_that_it_was_asked_for(void)
{
	fresh();
	result(LEAF, 0, 16, 1, 0);
	arm(3);
	result(LEAF, 1, 16, 1, 0);
	result(LEAF, 2, 16, 1, 0);
	expect_eq(rings(), 0);
	expect_eq(desk()->armed, 1);
	result(LEAF, 3, 16, 1, TRIB_F_PUSH);
	expect_eq(desk()->armed, 0);
	expect_eq(rings(), 1);
	expect_eq(ring[0].type, TRIB_T_RESULT);
	expect_eq(ring[0].flags, TRIB_F_PUSH);
	expect_eq(ring[0].tree, LEAF);
	expect_eq(ring[0].chunk, 3);
	expect_eq(ring[0].epoch, EPOCH);
	result(LEAF, 4, 16, 1, 0);
	expect_eq(rings(), 0);
	expect_eq(stat_of(TRIB_RUNG), 1);
}

/* The rank armed too late: the count was there before. */
static void desk__rings_late(void)
{
	fresh();
	result(LEAF, 0, 16, 1, 0);
	result(LEAF, 1, 16, 1, 0);
	arm(-1);
	result(LEAF, 2, 16, 1, 0);
	expect_eq(rings(), 1);
}

static void desk__counts_wrap(void)
{
	fresh();
	for (int i = 0; i < TRIB_DESK_CPUS; i++)
		desk()->cpu[i].delivered = ~1ULL;
	arm(3);
	result(LEAF, 0, 16, 1, 0);
	result(LEAF, 1, 16, 1, 0);
	expect_eq(rings(), 0);
	result(LEAF, 2, 16, 1, 0);
	expect_eq(rings(), 1);
}

static void desk__each_cpu_counts_for_itself(void)
{
	cpu_set_t was, one;
	int cpu, n = 0, chunk = 0;

	fresh();
	sched_getaffinity(0, sizeof(was), &was);
	for (cpu = 0; cpu < TRIB_DESK_CPUS; cpu++)
		desk()->cpu[cpu].wake_at = 2;
	desk()->armed = 1;
	for (cpu = 0; cpu < 4; cpu++) {
		if (!CPU_ISSET(cpu, &was))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		expect_eq(sched_setaffinity(0, sizeof(one), &one), 0);
		result(LEAF, chunk++, 16, 1, 0);
		expect_eq(desk()->cpu[cpu].delivered, 1);
		n++;
	}
	expect_eq(delivered(), n);
	expect_eq(rings(), 0); /* two of one CPU, not of all */
	result(LEAF, chunk, 16, 1, 0);
	expect_eq(rings(), 1);
	sched_setaffinity(0, sizeof(was), &was);
}

/* A line that the rank has not written: it did not know of this CPU. */
static void desk__unknown_cpu_rings_at_once(void)
{
	fresh();
	desk()->armed = 1;
	result(LEAF, 0, 16, 1, 0);
	expect_eq(rings(), 1);
}

/* A rank that looks at its desk only leaves records unread: it must wake nevertheless. */
static void desk__wakes_past_unread_records(void)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	int fd = epoll_create1(EPOLL_CLOEXEC);

	fresh();
	expect_eq(epoll_ctl(fd, EPOLL_CTL_ADD, w.ring, &ev), 0);
	for (int i = 0; i < 3; i++) {
		arm(1);
		result(LEAF, i, 16, 1, 0);
		expect_eq(epoll_wait(fd, &ev, 1, 1000), 1);
	}
	close(fd);
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

static void ring__full_one_is_counted(void)
{
	fresh();
	/* 4096 bytes hold 128 records of 32 bytes, header included. */
	for (int chunk = 0; chunk < 200; chunk++) {
		arm(1);
		cell_set(chunk, TRIB_CELL_SENT);
		result(LEAF, chunk, 16, 1, TRIB_F_PUSH);
	}
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
	expect(cell_is(3, TRIB_CELL_RESULT));
	expect_eq(cell_of(3)->v[175], 15);
	expect_eq(ntohs(cell_of(3)->h.child), 2);
	expect_eq(rings(), 0);
	/* The child that asks again may be a rank of this host: ring. */
	expect_eq(run_grad(&f, HOST, 0, 3, 352, 5), XDP_REDIRECT);
	expect_eq(rings(), 1);
	expect_eq(the_drop(), -1);
}

/* A relay's own ranks may be late, or dead: the packet goes on. */
static void host__result_goes_on_without_its_ranks(void)
{
	fresh();
	cell_of(3)->state = 0;
	expect_eq(contribute(3, 3), XDP_REDIRECT);
	expect_eq(cell_of(3)->state, 0);
	expect_eq(the_drop(), TRIB_DROP_STALE);
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
	run(cell__short_and_empty_results);
	run(cell__only_sent_ones_are_written);
	run(cell__takes_what_fits_its_contribution);
	run(cell__is_written_once);
	run(cell__has_its_epoch);
	run(cell__congestion_of_the_result_shows);
	run(cell__stamped_ones_have_a_time);
	run(cell__none_is_counted);
	run(ranks__each_has_its_cells);
	run(ranks__one_reason_is_counted);
	run(ranks__events_reach_the_attached);
	run(desk__no_chunk_rings_by_itself);
	run(desk__rings_at_the_count_that_it_was_asked_for);
	run(desk__rings_late);
	run(desk__counts_wrap);
	run(desk__each_cpu_counts_for_itself);
	run(desk__unknown_cpu_rings_at_once);
	run(desk__wakes_past_unread_records);
	run(ring__is_rung_by_a_result_that_is_there);
	run(ring__full_one_is_counted);
	run(leaf__need_alive_and_abort_are_events);
	run(leaf__without_ranks_is_counted);
	run(host__relay_delivers_its_own_results);
	run(host__result_goes_on_without_its_ranks);
	run(host__all_ranks_here_needs_no_group);
	run(host__need_alive_and_abort_are_events_too);
	ring_buffer__free(reader);
	world_close();
	return tap_done();
}
