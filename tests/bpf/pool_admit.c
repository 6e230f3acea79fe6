// SPDX-License-Identifier: BSD-2-Clause
/* Shared pools: who may send, and which packets are well formed. */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include "tests/bpf/world/pool_world.h"
#include "tests/lib/tap.h"

static void refused(int child, int why)
{
	uint64_t n = stat_of(TRIB_RX_GRAD) + stat_of(TRIB_RX_RESULT) + stat_of(TRIB_RX_CONTROL) +
		     stat_of(TRIB_RX_NEED);

	expect_eq(n, 0);
	expect_eq(pool_run(child), XDP_DROP);
	expect_eq(the_drop(), why);
	pool_expect_nobody(3);
	expect_eq(pool_mark(3), 0);
}

/* Set the rank of the first child; the look-up of a sender starts there. */
static void ranks_from(int rank)
{
	struct trib_pool row = pool_row_get();

	row.rank0 = rank;
	pool_row_put(row);
}

/*
 * A child at its own position needs no entry, and a child with an entry needs
 * no position.
 */
static void admit__neighbours_are_found_either_way(void)
{
	struct trib_pool_face key;

	pool_fresh();
	key = pool_face_key(POOL, 1);
	bpf_map_delete_elem(pw.faces, &key);
	expect_eq(pool_send_grad(1, 3, 16, 1), XDP_DROP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	pool_fresh();
	ranks_from(5);
	expect_eq(pool_send_grad(1, 3, 16, 1), XDP_DROP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_eq(the_drop(), -1);
}

static void admit__strangers_drop(void)
{
	struct trib_pool_face key;

	pool_fresh();
	pool_grad(0, 3, 16, 1);
	expect_eq(run_xdp(&pw.f, 1), XDP_DROP); /* by another port */
	expect_eq(the_drop(), TRIB_DROP_FACE);
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	pw.f.b[pw.f.l3 + 15] ^= 1; /* from another address */
	refused(0, TRIB_DROP_FACE);
	pool_fresh();
	key = pool_face_key(POOL, 1); /* of another tree */
	bpf_map_delete_elem(pw.faces, &key);
	ranks_from(5);
	pool_grad(1, 3, 16, 1);
	refused(1, TRIB_DROP_FACE);
	pool_fresh_as(false, 8, 0, 1);
	pool_grad(1, 3, 16, 1);
	pw.f.b[15] ^= 1; /* a foreign tag */
	refused(1, TRIB_DROP_FACE);
	pool_fresh(); /* a child poses as the next hop */
	pool_values(pool_hdr(TRIB_T_RESULT, POOL, -1, 5, 3), 1, (struct pool_who){}, 16, 9);
	frame_hdr(&pw.f)->flags = 0;
	refused(1, TRIB_DROP_FACE);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_GRAD, POOL, 1, 1, 3), 1, pool_who(1, -1), 16, 9);
	frame_hdr(&pw.f)->auth ^= 1;
	refused(1, TRIB_DROP_AUTH);
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->job = htons(JOB + 1);
	refused(0, TRIB_DROP_TREE);
}

/*
 * Ranks of a relay below are admitted when that relay is skipped; the
 * neighbour's are not.
 */
static void admit__guests_are_ranks_of_the_row(void)
{
	struct trib_hdr h = pool_hdr(TRIB_T_PROBE, POOL, 0, pool_rank(2), 3);

	pool_fresh();
	pool_build(0, h, NULL, 0);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	expect_eq(pool_run(0), XDP_REDIRECT);
	expect_eq(stat_of(TRIB_POOL_PROBED), 1);
	expect_eq(frame_port(&pw.f, 1), 40000);
	pool_fresh_as(true, 0, 0, 16);
	h = pool_hdr(TRIB_T_GRAD, POOL, 0, pool_rank(2), 3);
	h.relay = htons(RELAY);
	h.bmwords = pw.words;
	pool_values(h, 0, pool_who(pool_rank(2), -1), 16, 9);
	pw.f.b[pw.f.l3 + 23] ^= 1;
	expect_eq(pool_run(0), XDP_DROP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 9);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_NEED, POOL, 0, pool_rank(2), 3), 0, (struct pool_who){}, 0, 0);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	expect_eq(pool_run(0), XDP_REDIRECT);
	expect_eq(group_of(&pw.f), UP(INNER));
	pool_fresh();
	h = pool_hdr(TRIB_T_PROBE, POOL, 0, pool_foreign(), 3);
	pool_build(0, h, NULL, 0);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
	pool_fresh();
	h.child = htons(pool_rank(1));
	pool_build(0, h, NULL, 0);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_JOIN, POOL, 0, pool_rank(2), 0), 0, (struct pool_who){}, 16, 9);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
}

/* Packets between workers and the PS that pass this relay: IP forwards them. */
static void left_to_ip(int child)
{
	struct frame before = pw.f;

	expect_eq(pool_run(child), XDP_PASS);
	expect(pw.f.len == before.len && !memcmp(pw.f.b, before.b, pw.f.len));
	expect_eq(the_drop(), -1);
	expect_eq(stat_of(TRIB_RX_CONTROL), 0);
}

static void admit__what_is_not_for_us_is_left_to_ip(void)
{
	pool_fresh();
	pool_build(0, pool_hdr(TRIB_T_PROBE, POOL, 0, 0, 3), NULL, 0);
	pw.f.b[pw.f.l3 + 18] ^= 0x40; /* to the PS */
	left_to_ip(0);
	pool_fresh_as(true, 0, 0, 1);
	pool_build(0, pool_hdr(TRIB_T_PROBE, POOL, 0, 0, 3), NULL, 0);
	pw.f.b[pw.f.l3 + 38] ^= 0x40;
	left_to_ip(0);
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	pw.f.b[pw.f.l3 + 14] ^= 1; /* from a worker that is not our neighbour */
	pw.f.b[pw.f.l3 + 18] ^= 0x40;
	left_to_ip(0);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_RESULT, POOL, -1, 5, 3), 1, (struct pool_who){}, 16, 9);
	frame_hdr(&pw.f)->flags = 0;
	pw.f.b[pw.f.l3 + 18] ^= 0x40;
	left_to_ip(1);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_JOIN, POOL, 0, 0, 0), 0, (struct pool_who){}, 16, 9);
	left_to_ip(0);
	pool_fresh();
	pool_values(pool_hdr(TRIB_T_START, POOL, -1, 0, 0), -1, (struct pool_who){}, 16, 9);
	left_to_ip(-1);
}

static void admit__rank_is_one_of_the_job(void)
{
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->child = htons(64);
	refused(0, TRIB_DROP_CHILD);
	pool_fresh();
	pool_build(0, pool_hdr(TRIB_T_PROBE, POOL, 0, 64, 3), NULL, 0);
	refused(0, TRIB_DROP_CHILD);
}

static void admit__bitmap_is_the_jobs(void)
{
	for (int n = 0; n < 3; n += 2) {
		struct trib_hdr h = pool_hdr(TRIB_T_GRAD, POOL, 0, 0, 3);

		pool_fresh();
		h.relay = htons(RELAY);
		h.bmwords = n;
		pool_values(h, 0, pool_who(0, -1), 16, 1);
		refused(0, TRIB_DROP_BITMAP);
	}
	pool_fresh();
	pool_grad_of(POOL, 0, (struct pool_who){}, 3, 16, 1); /* an empty bitmap */
	expect_eq(pool_run(0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BITMAP);
	pool_expect_nobody(3);
	expect_eq(pool_mark(3), 0);
	pool_fresh();
	{
		struct trib_hdr h = pool_hdr(TRIB_T_RESULT, POOL, -1, 0, 3);

		h.bmwords = 2;
		pool_values(h, -1, pool_who(0, -1), 16, 1);
		refused(-1, TRIB_DROP_BITMAP);
	}
}

static void admit__form(void)
{
	struct trib_hdr h;

	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->relay = 0; /* no relay number */
	refused(0, TRIB_DROP_FORMAT);
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->epoch = 0;
	refused(0, TRIB_DROP_EPOCH);
	pool_fresh();
	h = pool_hdr(TRIB_T_PROBE, POOL, 0, 0, 3);
	h.bmwords = 1;
	pool_build(0, h, pool_who(0, -1).bits, 8);
	refused(0, TRIB_DROP_FORMAT);
	for (int i = 0; i < 2; i++) {
		pool_fresh();
		h = pool_hdr(i ? TRIB_T_PROBE : TRIB_T_NEED, POOL, -1, 0, 3);
		pool_build(-1, h, NULL, 0); /* types that only workers receive */
		refused(-1, TRIB_DROP_TYPE);
	}
	pool_fresh();
	pool_map_put(pw.rows, POOL, &(struct trib_pool){}); /* a row written by half */
	pool_grad(0, 3, 16, 1);
	refused(0, TRIB_DROP_BITMAP);
}

/* A dedicated tree refuses packets of a shared tree. */
static void admit__dedicated_trees_are_unmoved(void)
{
	struct trib_hdr h = header(TRIB_T_GRAD, INNER, 0, 3);

	pool_fresh();
	h.bmwords = 1;
	pool_values(h, 0, pool_who(0, -1), 16, 1);
	refused(0, TRIB_DROP_FORMAT);
	pool_fresh();
	h.bmwords = 0;
	h.relay = htons(RELAY);
	pool_values(h, 0, pool_who(0, -1), 16, 1);
	refused(0, TRIB_DROP_FORMAT);
}

int main(void)
{
	pool_open();
	run(admit__neighbours_are_found_either_way);
	run(admit__strangers_drop);
	run(admit__guests_are_ranks_of_the_row);
	run(admit__what_is_not_for_us_is_left_to_ip);
	run(admit__rank_is_one_of_the_job);
	run(admit__bitmap_is_the_jobs);
	run(admit__form);
	run(admit__dedicated_trees_are_unmoved);
	world_close();
	return tap_done();
}
