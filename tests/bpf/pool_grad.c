// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared pools: GRADs addressed to this relay, one case for each of its rules,
 * in the order of kmod/uapi/PROTOCOL.md.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include "tests/bpf/world/pool_world.h"
#include "tests/lib/tap.h"

static void grad__newer_mark_drops(void)
{
	pool_fresh();
	pool_mark_put(3, EPOCH, 3 + MARKS, TRIB_MARK_MET);
	expect_eq(pool_send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	pool_expect_nobody(3);
	pool_fresh();
	pool_mark_put(3, EPOCH + 1, 3, 0);
	expect_eq(pool_send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	pool_fresh(); /* serial order: from before the numbers wrapped */
	pool_mark_put(3, EPOCH, 3, TRIB_MARK_MET);
	expect_eq(pool_send_grad(0, 0xfffffffb, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	pool_fresh(); /* epochs wrap at 30 bits */
	pool_mark_put(3, 0x40000001, 3, TRIB_MARK_MET);
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->epoch = htonl(0x3fffffff);
	expect_eq(pool_run(0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
}

static void grad__older_mark_becomes_ours(void)
{
	pool_fresh();
	pool_mark_put(3, EPOCH, 3, TRIB_MARK_MET | TRIB_MARK_ACKED);
	expect_eq(pool_send_grad(0, 3 + MARKS, 16, 1), XDP_DROP);
	pool_expect_mark(3 + MARKS, TRIB_MARK_MET);
	pool_expect_slot(3 + MARKS, TRIB_POOL_COLLECT, 1, 1);
	pool_fresh();
	pool_mark_put(3, EPOCH - 1, 3 + 5 * MARKS, TRIB_MARK_FLAGS);
	expect_eq(pool_send_grad(0, 3, 16, 1), XDP_DROP);
	pool_expect_mark(3, TRIB_MARK_MET);
	expect_eq(the_drop(), -1);
}

static void grad__late_copy_of_an_acked_chunk_drops(void)
{
	pool_fresh();
	pool_mark_put(3, EPOCH, 3, TRIB_MARK_FLAGS);
	expect_eq(pool_send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_ACKED);
	pool_expect_nobody(3);
	pool_expect_mark(3, TRIB_MARK_FLAGS);
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->flags |= TRIB_F_RESEND; /* the PS will answer the packet */
	pool_expect_passed(0);
	pool_expect_nobody(3);
}

static void grad__workers_of_others_pass(void)
{
	pool_fresh_as(false, 0, 0, 2);
	pool_grad_of(POOL, 0, pool_who(pool_rank(0), pool_foreign()), 3, 16, 1);
	pool_expect_passed(0);
	pool_expect_nobody(3);
	pool_expect_mark(3, 0);
	/* Packets of this chunk still meet here. */
	expect_eq(pool_send_grad(1, 3, 16, 1), XDP_DROP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_eq(the_drop(), -1);
}

static void check_sum(void)
{
	expect_eq(pool_send_grad(0, 3, 352, 5), XDP_DROP);
	pool_expect_mark(3, TRIB_MARK_MET);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 5);
	expect_eq(pool_send_grad(2, 3, 352, 6), XDP_DROP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 2, 11);
	expect_eq(pool_send_grad(1, 3, 352, 7), XDP_REDIRECT);
	pool_expect_sum(0, 1, 352, 18);
	pool_expect_slot(3, TRIB_POOL_SENT, 3, 18);
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	expect_eq(stat_of(TRIB_RX_GRAD), 3);
	expect_eq(stat_of(TRIB_POOL_PASSED), 0);
	expect_eq(the_drop(), -1);
}

static void grad__disjoint_workers_add_up(void)
{
	static const int sizes[] = {1, 2, 16};

	for (int i = 0; i < 3; i++) {
		pool_fresh_as(false, 0, 0, sizes[i]);
		check_sum();
		pool_fresh_as(true, 0, 0, sizes[i]);
		check_sum();
		pool_fresh_as(false, 8, 0, sizes[i]);
		check_sum();
		pool_fresh_as(true, 8, 9, sizes[i]);
		check_sum();
	}
}

static void grad__sums_of_relays_add_up(void)
{
	pool_fresh();
	pool_grad_of(POOL, 0, pool_who(pool_rank(0), pool_rank(2)), 3, 32, 5);
	expect_eq(pool_run(0), XDP_DROP);
	expect_eq(pool_send_grad(1, 3, 32, 7), XDP_REDIRECT);
	pool_expect_sum(0, 1, 32, 12);
}

static void grad__maximum_and_single_lanes(void)
{
	static const struct {
		uint8_t op, fmt;
		uint64_t sum;
	} kind[] = {{TRIB_WOP_MAX, TRIB_FMT_W64, 0x100000002},
		    {TRIB_WOP_ADD, TRIB_FMT_I32, 0x1fffffff8},
		    {TRIB_WOP_ADD, TRIB_FMT_W64, 0x2fffffff8}};

	for (int k = 0; k < 3; k++) {
		pool_fresh();
		for (int i = 0; i < 3; i++) {
			pool_grad(i, 3, 352, i ? 0xfffffffb : 0x100000002);
			frame_hdr(&pw.f)->op = kind[k].op;
			frame_hdr(&pw.f)->fmt = kind[k].fmt;
			pool_run(i);
		}
		expect_eq(frame_hdr(&pw.f)->op, kind[k].op);
		expect_eq(pool_slot(3)->v[0], kind[k].sum);
		expect_eq(frame_word(&pw.f, 1), kind[k].sum);
	}
}

static void grad__flags_are_collected(void)
{
	struct trib_hdr h;
	uint8_t pay[8 + 64];
	struct link l;

	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->flags |= TRIB_F_PUSH;
	pool_run(0);
	pool_grad(1, 3, 16, 1);
	h = *frame_hdr(&pw.f);
	l = link_of(INNER, 1);
	l.tos |= 3; /* congestion, experienced on the way here */
	memcpy(pay, pw.f.b + pw.f.pay, sizeof(pay));
	frame_build(&pw.f, &l, &h, pay, sizeof(pay));
	pool_run(1);
	pool_send_grad(2, 3, 16, 1);
	pool_expect_sum(TRIB_F_PUSH | TRIB_F_CE, 2, 16, 3);
}

static void grad__resend_that_completes_is_new_to_the_parent(void)
{
	pool_fresh();
	pool_send_grad(0, 3, 16, 1);
	pool_send_grad(1, 3, 16, 1);
	expect_eq(pool_send_resend(2, 3, 16, 1), XDP_REDIRECT);
	pool_expect_sum(0, 2, 16, 3);
	expect_eq(stat_of(TRIB_RX_RESEND), 1);
}

static void spoil_shape(int how)
{
	struct trib_hdr *h = frame_hdr(&pw.f);

	if (how == 0)
		h->scale = htonl(1);
	else if (how == 1)
		h->fmt = TRIB_FMT_W64;
	else if (how == 2)
		h->op = TRIB_WOP_MAX, h->fmt = TRIB_FMT_W64;
}

static void grad__other_shape_passes(void)
{
	for (int how = 0; how < 4; how++) {
		pool_fresh();
		pool_send_grad(0, 3, 32, 1);
		pool_grad(1, 3, how == 3 ? 16 : 32, 1);
		spoil_shape(how);
		pool_expect_passed(1);
		pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
		expect_eq(the_drop(), -1);
	}
}

static void grad__overlap_passes(void)
{
	pool_fresh();
	pool_send_grad(0, 3, 32, 1);
	pool_grad_of(POOL, 1, pool_who(pool_rank(0), pool_rank(1)), 3, 32, 2);
	pool_expect_passed(1);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void grad__known_drops(void)
{
	pool_fresh();
	pool_send_grad(0, 3, 32, 1);
	expect_eq(pool_send_grad(0, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void check_again(void)
{
	for (int i = 0; i < 3; i++)
		pool_send_grad(i, 3, 352, 5);
	expect_eq(pool_send_resend(1, 3, 352, 5), XDP_REDIRECT);
	pool_expect_sum(TRIB_F_RESEND, 1, 352, 15);
	pool_expect_slot(3, TRIB_POOL_SENT, 3, 15);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 2);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
}

static void grad__resend_of_a_sent_sum_sends_it_again(void)
{
	pool_fresh();
	check_again();
	pool_fresh_as(true, 8, 9, 16);
	check_again();
}

static void grad__resend_that_waits_for_others_drops(void)
{
	pool_fresh();
	pool_send_grad(0, 3, 32, 1);
	expect_eq(pool_send_resend(0, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_WAITING);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void grad__rest_follows_what_passed(void)
{
	pool_fresh();
	pool_mark_put(3, EPOCH, 3, TRIB_MARK_MET);
	pool_grad(0, 3, 32, 1);
	pool_expect_passed(0);
	pool_expect_nobody(3);
}

static void grad__resend_takes_no_slot(void)
{
	pool_fresh();
	pool_grad(0, 3, 32, 1);
	frame_hdr(&pw.f)->flags |= TRIB_F_RESEND;
	pool_expect_passed(0);
	pool_expect_nobody(3);
	pool_expect_mark(3, TRIB_MARK_MET);
	pool_grad(1, 3, 32, 1); /* the last rank completes the sum */
	pool_expect_passed(1);
}

static void grad__slot_of_another_chunk_passes(void)
{
	pool_fresh();
	pool_one_slot();
	pool_send_grad(0, 3, 32, 1);
	pool_grad(1, 4, 32, 2);
	pool_expect_passed(1);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	pool_expect_mark(4, TRIB_MARK_MET);
	expect_eq(stat_of(TRIB_POOL_TAKEN_OVER), 0);
}

/*
 * The slot's owner is job, tree, chunk and epoch together: one difference means
 * another owner.
 */
static void grad__identity_is_all_of_it(void)
{
	struct trib_pool_slot s;

	for (int i = 0; i < 4; i++) {
		pool_fresh();
		pool_send_grad(0, 3, 32, 1);
		s = *pool_slot(3);
		if (i == 0)
			s.job++;
		else if (i == 1)
			s.tree++;
		else if (i == 2)
			s.epoch--;
		else
			s.chunk += MARKS;
		pool_slot_put(3, &s);
		pool_grad(1, 3, 32, 2);
		pool_expect_passed(1);
		expect(!memcmp(&s, pool_slot(3), 192));
	}
	pool_fresh();
	pool_one_slot();
	pool_send_grad(0, 3, 32, 1);
	pool_grad_of(OTHER, 1, pool_who(pool_rank(1), -1), 3, 32, 2);
	pool_expect_passed(1);
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void set_age(uint64_t ns)
{
	struct trib_pool row = pool_row_get();

	row.age_ns = ns;
	pool_row_put(row);
}

static void grad__old_slot_is_taken_over(void)
{
	struct trib_pool_slot s;

	pool_fresh();
	pool_one_slot();
	set_age(10000000000ULL);
	pool_send_grad(0, 3, 32, 1);
	pool_send_grad(2, 3, 32, 1);
	s = *pool_slot(3);
	expect(s.time_ns > 0);
	s.time_ns -= 9000000000ULL;
	pool_slot_put(3, &s);
	pool_grad(1, 5, 32, 2); /* the slot is not old enough to take over */
	pool_expect_passed(1);
	s.time_ns -= 2000000000ULL;
	pool_slot_put(3, &s);
	expect_eq(pool_send_grad(1, 4, 16, 2), XDP_DROP);
	pool_expect_slot(4, TRIB_POOL_COLLECT, 1, 2);
	expect_eq(pool_slot(4)->nval, 16);
	expect(pool_slot(4)->time_ns > s.time_ns + 9000000000ULL);
	expect_eq(stat_of(TRIB_POOL_TAKEN_OVER), 1);
	/* A worker that misses the old chunk asks the PS. */
	pool_grad(1, 3, 32, 1);
	pool_expect_passed(1);
	expect_eq(the_drop(), -1);
}

static void grad__contribution_keeps_the_slot_young(void)
{
	struct trib_pool_slot s;

	pool_fresh();
	pool_one_slot();
	set_age(10000000000ULL);
	pool_send_grad(0, 3, 32, 1);
	s = *pool_slot(3);
	s.time_ns -= 20000000000ULL;
	pool_slot_put(3, &s);
	pool_send_grad(1, 3, 32, 1);
	pool_grad(1, 4, 32, 2);
	pool_expect_passed(1);
}

static void grad__without_any_slot_passes(void)
{
	uint32_t none = ~0U;

	pool_fresh();
	for (uint32_t i = 0; i < SLOTS_IN; i++)
		pool_map_put(pw.table, i, &none);
	pool_grad(0, 3, 32, 1);
	pool_expect_passed(0);
	expect_eq(the_drop(), -1);
}

static void grad__slot_in_use_drops(void)
{
	struct trib_pool_slot s;

	pool_fresh();
	pool_send_grad(0, 3, 32, 1);
	s = *pool_slot(3);
	s.busy = 1;
	pool_slot_put(3, &s);
	expect_eq(pool_send_grad(1, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
	expect_eq(pool_slot(3)->workers[0], s.workers[0]);
}

static void grad__capped_job_has_so_many_keys(void)
{
	struct trib_pool row;
	uint32_t slot;

	pool_fresh();
	row = pool_row_get();
	row.cap = 3;
	pool_row_put(row);
	for (uint32_t chunk = 0; chunk < 8; chunk++) {
		pool_grad(0, chunk, 16, 1);
		pool_run(0);
	}
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
	expect_eq(stat_of(TRIB_POOL_PASSED), 5);
	for (uint32_t chunk = 0; chunk < 3; chunk++) {
		struct trib_pool_slot s;

		slot = pool_slot_number(POOL, chunk);
		pool_map_get(pw.slots, slot, &s);
		expect_eq(s.chunk, chunk);
	}
}

int main(void)
{
	pool_open();
	run(grad__newer_mark_drops);
	run(grad__older_mark_becomes_ours);
	run(grad__late_copy_of_an_acked_chunk_drops);
	run(grad__workers_of_others_pass);
	run(grad__disjoint_workers_add_up);
	run(grad__sums_of_relays_add_up);
	run(grad__maximum_and_single_lanes);
	run(grad__flags_are_collected);
	run(grad__resend_that_completes_is_new_to_the_parent);
	run(grad__other_shape_passes);
	run(grad__overlap_passes);
	run(grad__known_drops);
	run(grad__resend_of_a_sent_sum_sends_it_again);
	run(grad__resend_that_waits_for_others_drops);
	run(grad__rest_follows_what_passed);
	run(grad__resend_takes_no_slot);
	run(grad__slot_of_another_chunk_passes);
	run(grad__identity_is_all_of_it);
	run(grad__old_slot_is_taken_over);
	run(grad__contribution_keeps_the_slot_young);
	run(grad__without_any_slot_passes);
	run(grad__slot_in_use_drops);
	run(grad__capped_job_has_so_many_keys);
	world_close();
	return tap_done();
}
