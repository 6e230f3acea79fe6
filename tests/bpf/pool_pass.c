// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared pools: packets that pass without being added: RESULTs on their way
 * down, probes, and packets for others.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include "tests/bpf/world/pool_world.h"
#include "tests/lib/tap.h"

static void result__frees_marks_and_goes_down(void)
{
	struct frame before;

	pool_fresh();
	pool_send_grad(0, 3, 352, 1);
	expect_eq(pool_send_result(3, 9), XDP_REDIRECT);
	expect_eq(group_of(&pw.f), DOWN(INNER));
	expect_eq(ntohs(frame_hdr(&pw.f)->child), 5);
	pool_expect_nobody(3);
	pool_expect_mark(3, TRIB_MARK_FLAGS);
	expect_eq(stat_of(TRIB_POOL_FREED), 1);
	expect_eq(stat_of(TRIB_RX_RESULT), 1);
	expect_eq(stat_of(TRIB_TX_RESULT), 1);
	/* Once more, now that no slot holds the chunk. */
	pool_values(pool_hdr(TRIB_T_RESULT, POOL, -1, 5, 3), -1, (struct pool_who){}, 352, 9);
	before = pw.f;
	expect_eq(pool_run(-1), XDP_REDIRECT);
	pool_expect_same(&before, DOWN(INNER), 0);
	expect_eq(stat_of(TRIB_POOL_FREED), 1);
	expect_eq(the_drop(), -1);
}

static void result__frees_its_own_chunk_only(void)
{
	pool_fresh();
	pool_one_slot();
	pool_send_grad(0, 3, 32, 1);
	expect_eq(pool_send_result(4, 9), XDP_REDIRECT);
	expect_eq(group_of(&pw.f), DOWN(INNER));
	pool_expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	pool_expect_mark(4, TRIB_MARK_FLAGS);
	pool_expect_mark(3, TRIB_MARK_MET);
	expect_eq(stat_of(TRIB_POOL_FREED), 0);
}

static void result__newer_mark_stays(void)
{
	pool_fresh();
	pool_mark_put(3, EPOCH, 3 + MARKS, TRIB_MARK_MET);
	expect_eq(pool_send_result(3, 9), XDP_REDIRECT);
	pool_expect_mark(3 + MARKS, TRIB_MARK_MET);
	expect_eq(pool_send_result(3 + 2 * MARKS, 9), XDP_REDIRECT);
	pool_expect_mark(3 + 2 * MARKS, TRIB_MARK_FLAGS);
}

static void result__goes_down_past_a_slot_in_use(void)
{
	struct trib_pool_slot s;

	pool_fresh();
	pool_send_grad(0, 3, 32, 1);
	s = *pool_slot(3);
	s.busy = 1;
	pool_slot_put(3, &s);
	expect_eq(pool_send_result(3, 9), XDP_REDIRECT);
	expect_eq(group_of(&pw.f), DOWN(INNER));
	expect_eq(stat_of(TRIB_POOL_UNFREED), 1);
	expect_eq(the_drop(), -1);
}

/* --- everything else */

static void check_probe(void)
{
	struct trib_hdr h = pool_hdr(TRIB_T_PROBE, POOL, 1, pool_rank(1), 77);
	struct addr to = peer_of(INNER, 1), us = ourselves(INNER, 1);
	uint8_t ip[16];

	h.relay = htons(12);
	pool_build(1, h, NULL, 0);
	expect_eq(pool_run(1), XDP_REDIRECT);
	expect_eq(group_of(&pw.f), -1);
	expect(!memcmp(pw.f.b, to.mac, 6));
	frame_ip(&pw.f, 0, ip);
	expect(!memcmp(ip, us.ip, 16));
	frame_ip(&pw.f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&pw.f, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&pw.f, 1), 40000); /* port of the socket */
	expect_eq(frame_hdr(&pw.f)->type, TRIB_T_PROBE);
	expect_eq(frame_hdr(&pw.f)->flags, 0);
	expect_eq(ntohs(frame_hdr(&pw.f)->relay), RELAY);
	expect_eq(ntohs(frame_hdr(&pw.f)->child), pool_rank(1));
	expect_eq(ntohl(frame_hdr(&pw.f)->chunk), 77);
	expect(frame_sound(&pw.f));
	expect_eq(frame_vlan(&pw.f, 0), w.vlan[0]);
	expect_eq(frame_vlan(&pw.f, 1), w.vlan[1]);
	expect_eq(stat_of(TRIB_POOL_PROBED), 1);
	expect_eq(the_drop(), -1);
}

static void probe__is_answered_in_place(void)
{
	pool_fresh();
	check_probe();
	pool_fresh_as(true, 0, 0, 2);
	check_probe();
	pool_fresh_as(false, 8, 0, 16);
	check_probe();
	pool_fresh_as(true, 8, 9, 1);
	check_probe();
}

/* Send @h from @child, and expect it unchanged at @group. */
static void expect_forwarded(struct trib_hdr h, int child, int nval, int group)
{
	struct frame before;

	pool_fresh();
	if (nval)
		pool_values(h, child, pool_who(pool_rank(0), -1), nval, 3);
	else
		pool_build(child, h, pool_who(0, -1).bits, h.bmwords * 8);
	before = pw.f;
	expect_eq(pool_run(child), XDP_REDIRECT);
	pool_expect_same(&before, group, ntohs(h.relay));
	expect_eq(stat_of(TRIB_POOL_FORWARDED), group == UP(INNER));
	expect_eq(stat_of(TRIB_POOL_PASSED), 0);
	expect_eq(the_drop(), -1);
	pool_expect_nobody(3);
	expect_eq(pool_mark(3), 0);
}

static void other__goes_up_untouched(void)
{
	struct trib_hdr h = pool_hdr(TRIB_T_GRAD, POOL, 0, 0, 3);

	h.bmwords = 1;
	h.relay = htons(RELAY + 1);
	expect_forwarded(h, 0, 32, UP(INNER));
	h.relay = htons(TRIB_RELAY_PS);
	h.flags |= TRIB_F_RESEND;
	expect_forwarded(h, 0, 32, UP(INNER));
	h = pool_hdr(TRIB_T_RESULT, POOL, 0, 0, 3);
	expect_forwarded(h, 0, 32, UP(INNER));
	h.bmwords = 1;
	h.relay = htons(TRIB_RELAY_PS);
	expect_forwarded(h, 0, 32, UP(INNER));
	h = pool_hdr(TRIB_T_NEED, POOL, 0, 0, 3);
	expect_forwarded(h, 0, 0, UP(INNER));
	h.bmwords = 1;
	expect_forwarded(h, 0, 0, UP(INNER));
	h = pool_hdr(TRIB_T_ALIVE, POOL, 0, 0, 3);
	h.aux = htons(9);
	expect_forwarded(h, 0, 0, UP(INNER));
	h.type = TRIB_T_ABORT;
	expect_forwarded(h, 0, 0, UP(INNER));
}

static void other__goes_down_untouched(void)
{
	struct trib_hdr h = pool_hdr(TRIB_T_ALIVE, POOL, -1, 0, 3);

	h.aux = htons(9);
	expect_forwarded(h, -1, 0, DOWN(INNER));
	h.type = TRIB_T_ABORT;
	expect_forwarded(h, -1, 0, DOWN(INNER));
}

int main(void)
{
	pool_open();
	run(result__frees_marks_and_goes_down);
	run(result__frees_its_own_chunk_only);
	run(result__newer_mark_stays);
	run(result__goes_down_past_a_slot_in_use);
	run(probe__is_answered_in_place);
	run(other__goes_up_untouched);
	run(other__goes_down_untouched);
	world_close();
	return tap_done();
}
