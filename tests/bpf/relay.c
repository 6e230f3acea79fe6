// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rules of a node for contributions and results, at the root and at an
 * inner node. Each test checks verdict, packet out and slot.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;

/* Expect the packet as a @type for @group with @nval units of @word. */
static void expect_out(int type, int group, int flags, int nval, uint64_t word)
{
	struct trib_hdr *h = frame_hdr(&f);

	expect_eq(h->type, type);
	expect_eq(group_of(&f), group);
	expect_eq(h->flags & ~TRIB_F_UP, flags);
	expect_eq(ntohs(h->nval), nval);
	expect_eq(ntohs(h->tree) != 0 && ntohs(h->job) == JOB, 1);
	expect_eq(h->aux, 0);
	expect_eq(h->attempt, 0);
	expect_eq(h->relay, 0);
	expect(frame_lengths_agree(&f));
	for (int i = 0; i < nval / 2; i++)
		if (!expect(frame_word(&f, i) == word))
			return;
}

/* Contribute for children 0 to n - 1. Return: the verdict of the last packet. */
static int contribute(int tree, int n, uint32_t chunk, int nval, uint64_t word)
{
	int verdict = -1;

	for (int child = 0; child < n; child++)
		verdict = run_grad(&f, tree, child, chunk, nval, word);
	return verdict;
}

static int resend(int tree, int child, uint32_t chunk, int nval, uint64_t word)
{
	frame_grad(&f, tree, child, chunk, nval, word);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	return run_xdp(&f, port_of(tree, child));
}

static void root__last_contribution_becomes_the_result(void)
{
	world_reset();
	expect_eq(contribute(ROOT, 3, 3, 352, 5), XDP_REDIRECT);
	expect_out(TRIB_T_RESULT, DOWN(ROOT), 0, 352, 15);
	expect_eq(ntohs(frame_hdr(&f)->child), 2);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
	expect_eq(slot_of(ROOT, 3)->last, 2);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(stat_of(TRIB_TX_RESULT), 1);
	expect_eq(stat_of(TRIB_ADDED), 3);
	expect_eq(the_drop(), -1);
}

static void root__result_names_who_was_last(void)
{
	world_reset();
	run_grad(&f, ROOT, 2, 3, 16, 1);
	run_grad(&f, ROOT, 0, 3, 16, 1);
	run_grad(&f, ROOT, 1, 3, 16, 1);
	expect_eq(ntohs(frame_hdr(&f)->child), 1);
	expect_eq(slot_of(ROOT, 3)->last, 1);
}

/* Expect an answer: it leaves by the port it came from, towards its sender. */
static void expect_answer(int tree, int child)
{
	struct addr to = peer_of(tree, child), from = ourselves(tree, child);
	uint8_t ip[16];

	expect_eq(group_of(&f), -1);
	expect(!memcmp(f.b, to.mac, 6));
	expect(!memcmp(f.b + 6, from.mac, 6));
	frame_ip(&f, 0, ip);
	expect(!memcmp(ip, from.ip, 16));
	frame_ip(&f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&f, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&f, 1), to.port);
	expect(frame_sound(&f));
	expect_eq(frame_vlan(&f, 0), w.vlan[0]);
	expect_eq(frame_vlan(&f, 1), w.vlan[1]);
}

static void check_answer(void)
{
	contribute(ROOT, 3, 3, 352, 5);
	expect_eq(resend(ROOT, 1, 3, 352, 5), XDP_REDIRECT);
	expect_answer(ROOT, 1);
	expect_out(TRIB_T_RESULT, -1, 0, 352, 15);
	expect_eq(ntohs(frame_hdr(&f)->child), 2);
	expect_eq(slot_of(ROOT, 3)->v[0], 15);
	expect_eq(stat_of(TRIB_TX_ANSWER), 1);
	expect_eq(stat_of(TRIB_TX_RESULT), 1);
	expect_eq(stat_of(TRIB_RX_RESEND), 1);
	expect_eq(the_drop(), -1);
}

static void root__finished_chunk_is_answered_in_place(void)
{
	world_reset();
	check_answer();
	/*
	 * The same without RESEND: a duplicate made by the network does no
	 * harm.
	 */
	expect_eq(run_grad(&f, ROOT, 0, 3, 352, 5), XDP_REDIRECT);
	expect_answer(ROOT, 0);
}

static void root__answers_over_v6_and_tags(void)
{
	world_reset_as(true, 0, 0);
	check_answer();
	world_reset_as(true, 8, 9);
	check_answer();
	world_reset_as(false, 8, 0);
	check_answer();
}

static void root__answer_carries_push_and_congestion(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3, 16, 1);
	frame_grad(&f, ROOT, 1, 3, 16, 1);
	frame_hdr(&f)->flags |= TRIB_F_CE | TRIB_F_PUSH;
	run_xdp(&f, 1);
	run_grad(&f, ROOT, 2, 3, 16, 1);
	expect_out(TRIB_T_RESULT, DOWN(ROOT), TRIB_F_CE | TRIB_F_PUSH, 16, 3);
	resend(ROOT, 0, 3, 16, 1);
	expect_out(TRIB_T_RESULT, -1, TRIB_F_CE | TRIB_F_PUSH, 16, 3);
}

/* A packet arrived with CE. The IP header of its answer must not repeat that. */
static void root__congestion_mark_does_not_go_back(void)
{
	struct link l = link_of(ROOT, 1);
	struct trib_hdr h;

	for (int v6 = 0; v6 < 2; v6++) {
		world_reset_as(v6, 0, 0);
		contribute(ROOT, 3, 3, 16, 1);
		frame_grad(&f, ROOT, 1, 3, 16, 1);
		h = *frame_hdr(&f);
		l = link_of(ROOT, 1);
		l.tos |= 3;
		frame_build(&f, &l, &h, (uint64_t[8]){1}, 64);
		run_xdp(&f, 1);
		expect(frame_sound(&f));
		if (v6)
			expect_eq(f.b[f.l3 + 1] >> 4, 0xa);
		else
			expect_eq(f.b[f.l3 + 1], 0xba);
	}
	world_reset();
}

static void root__resend_in_collect_asks_who_is_missing(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		world_reset_as(v6, 0, 0);
		run_grad(&f, ROOT, 0, 3, 352, 5);
		run_grad(&f, ROOT, 2, 3, 352, 5);
		expect_eq(resend(ROOT, 0, 3, 352, 5), XDP_REDIRECT);
		expect_eq(frame_hdr(&f)->type, TRIB_T_NEED);
		expect_eq(group_of(&f), DOWN(ROOT));
		expect_eq(frame_hdr(&f)->bmwords, 1);
		expect_eq(frame_hdr(&f)->nval, 0);
		expect_eq(frame_hdr(&f)->fmt, 0);
		expect_eq(frame_hdr(&f)->flags, 0);
		expect_eq(f.len - f.pay, 8);
		expect_eq(frame_bitmap(&f), 1 << 0 | 1 << 2);
		expect_eq(ntohl(frame_hdr(&f)->chunk), 3);
		expect(frame_lengths_agree(&f));
		expect_eq(slot_of(ROOT, 3)->v[0], 10);
		expect_eq(stat_of(TRIB_TX_NEED), 1);
		expect_eq(the_drop(), -1);
	}
	world_reset();
}

static void root__resend_that_is_new_counts(void)
{
	world_reset();
	contribute(ROOT, 2, 3, 352, 5);
	expect_eq(resend(ROOT, 2, 3, 352, 5), XDP_REDIRECT);
	expect_out(TRIB_T_RESULT, DOWN(ROOT), 0, 352, 15);
}

static void root__resend_of_an_older_chunk_is_stale(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3 + SLOTS, 16, 5);
	expect_eq(resend(ROOT, 0, 3, 16, 5), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
}

static void group__none_is_counted(void)
{
	struct trib_tree t;

	world_reset();
	tree_get(ROOT, &t);
	t.down = TRIB_NONE;
	tree_put(ROOT, &t);
	expect_eq(contribute(ROOT, 3, 3, 16, 5), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_HOPS);
}

static void group__empty_one_is_counted(void)
{
	struct trib_tree t;

	world_reset();
	tree_get(ROOT, &t);
	t.down = TREES_MAX * 3 - 1;
	tree_put(ROOT, &t);
	expect_eq(contribute(ROOT, 3, 3, 16, 5), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_GROUP);
	world_reset();
	t.down = 1000000; /* no row */
	tree_put(ROOT, &t);
	expect_eq(contribute(ROOT, 3, 3, 16, 5), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_GROUP);
}

static void inner__full_slot_goes_to_the_parent(void)
{
	world_reset();
	expect_eq(run_grad(&f, INNER, 0, 3, 352, 5), XDP_DROP);
	frame_grad(&f, INNER, 1, 3, 352, 6);
	frame_hdr(&f)->flags |= TRIB_F_PUSH;
	expect_eq(run_xdp(&f, 1), XDP_REDIRECT);
	expect_out(TRIB_T_GRAD, UP(INNER), TRIB_F_PUSH, 352, 11);
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_SENT);
	expect_eq(slot_of(INNER, 3)->v[175], 11);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(the_drop(), -1);
}

static void inner__sent_chunk_is_sent_again_on_resend(void)
{
	world_reset();
	contribute(INNER, 2, 3, 352, 5);
	expect_eq(run_grad(&f, INNER, 0, 3, 352, 5), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	expect_eq(resend(INNER, 0, 3, 352, 5), XDP_REDIRECT);
	expect_out(TRIB_T_GRAD, UP(INNER), TRIB_F_RESEND, 352, 10);
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_SENT);
	expect_eq(slot_of(INNER, 3)->v[0], 10);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 2);
}

static void inner__all_empty_goes_up_empty(void)
{
	world_reset();
	expect_eq(contribute(INNER, 2, 3, 0, 0), XDP_REDIRECT);
	expect_out(TRIB_T_GRAD, UP(INNER), TRIB_F_EMPTY, 0, 0);
}

static void inner__resend_in_collect_asks_children_and_parent(void)
{
	world_reset();
	run_grad(&f, INNER, 1, 3, 352, 5);
	expect_eq(resend(INNER, 1, 3, 352, 5), XDP_REDIRECT);
	expect_eq(frame_hdr(&f)->type, TRIB_T_NEED);
	expect_eq(group_of(&f), ALL(INNER));
	expect_eq(frame_bitmap(&f), 1 << 1);
	expect(frame_lengths_agree(&f));
}

static int result(int tree, int child, uint32_t chunk, int nval, uint64_t word)
{
	frame_result(&f, tree, child, chunk, nval, word);
	if (child < 0)
		frame_hdr(&f)->child = htons(5); /* the parent's number for the last child */
	return run_xdp(&f, port_of(tree, child));
}

static void inner__result_is_kept_and_goes_down(void)
{
	world_reset();
	contribute(INNER, 2, 3, 352, 5);
	frame_result(&f, INNER, -1, 3, 352, 77);
	frame_hdr(&f)->child = htons(UP_CHILD);
	frame_hdr(&f)->flags = TRIB_F_PUSH | TRIB_F_CE;
	expect_eq(run_xdp(&f, 3), XDP_REDIRECT);
	expect_out(TRIB_T_RESULT, DOWN(INNER), TRIB_F_PUSH | TRIB_F_CE, 352, 77);
	/* We completed it at the parent; child 1 did here. */
	expect_eq(ntohs(frame_hdr(&f)->child), 1);
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_RESULT);
	expect_eq(slot_of(INNER, 3)->v[175], 77);
	expect_eq(slot_of(INNER, 3)->last, 1);
	expect_eq(stat_of(TRIB_RX_RESULT), 1);
	/* A child that asks again gets the result. */
	expect_eq(resend(INNER, 0, 3, 352, 5), XDP_REDIRECT);
	expect_answer(INNER, 0);
	expect_out(TRIB_T_RESULT, -1, TRIB_F_PUSH | TRIB_F_CE, 352, 77);
	expect_eq(ntohs(frame_hdr(&f)->child), 1);
	/* Another child of the parent did, or nobody knows. */
	world_reset();
	contribute(INNER, 2, 3, 352, 5);
	expect_eq(result(INNER, -1, 3, 352, 77), XDP_REDIRECT);
	expect_eq(ntohs(frame_hdr(&f)->child), 0xffff);
	frame_result(&f, INNER, -1, 4, 352, 77);
	frame_hdr(&f)->child = htons(UP_CHILD);
	expect_eq(run_xdp(&f, 3), XDP_REDIRECT);
	expect_eq(ntohs(frame_hdr(&f)->child), 0xffff);
}

static void inner__result_without_own_sum_is_kept_too(void)
{
	world_reset(); /* free slot, as after a reset */
	expect_eq(result(INNER, -1, 3, 352, 77), XDP_REDIRECT);
	expect_eq(slot_of(INNER, 3)->v[0], 77);
	world_reset(); /* slot is half complete */
	run_grad(&f, INNER, 0, 3, 352, 5);
	expect_eq(result(INNER, -1, 3, 352, 77), XDP_REDIRECT);
	expect_eq(slot_of(INNER, 3)->v[0], 77);
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_RESULT);
	world_reset(); /* an older chunk */
	contribute(INNER, 2, 3, 352, 5);
	expect_eq(result(INNER, -1, 3 + SLOTS, 16, 77), XDP_REDIRECT);
	expect_eq(slot_of(INNER, 3)->chunk, 3 + SLOTS);
	expect_eq(slot_of(INNER, 3)->nval, 16);
}

static void inner__result_again_is_seen(void)
{
	world_reset();
	result(INNER, -1, 3, 352, 77);
	expect_eq(result(INNER, -1, 3, 352, 78), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
	expect_eq(slot_of(INNER, 3)->v[0], 77);
}

static void inner__older_result_is_stale(void)
{
	world_reset();
	run_grad(&f, INNER, 0, 3 + SLOTS, 352, 5);
	expect_eq(result(INNER, -1, 3, 352, 77), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	expect_eq(slot_of(INNER, 3)->v[0], 5);
}

static void inner__result_from_a_child_goes_everywhere(void)
{
	world_reset();
	expect_eq(result(INNER, 1, 3, 352, 77), XDP_REDIRECT);
	expect_out(TRIB_T_RESULT, ALL(INNER), 0, 352, 77);
	expect_eq(frame_hdr(&f)->child, 0xffff); /* the last child is unknown */
	expect_eq(slot_of(INNER, 3)->state, TRIB_SLOT_RESULT);
	expect_eq(slot_of(INNER, 3)->last, 0xff);
	expect_eq(result(INNER, 0, 3, 352, 77), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_SEEN);
}

static void root__result_from_a_child_goes_down(void)
{
	world_reset();
	run_grad(&f, ROOT, 0, 3, 352, 5);
	expect_eq(result(ROOT, 1, 3, 352, 77), XDP_REDIRECT);
	expect_out(TRIB_T_RESULT, DOWN(ROOT), 0, 352, 77);
	expect_eq(slot_of(ROOT, 3)->v[0], 77);
	expect_eq(slot_of(ROOT, 3)->state, TRIB_SLOT_RESULT);
}

static int control(int type, int tree, int child)
{
	struct trib_hdr h = header(type, tree, child, 2);

	h.aux = htons(6);
	frame_of(&f, tree, child, h, NULL, 0);
	return run_xdp(&f, port_of(tree, child));
}

static void control__alive_and_abort_go_up_then_down(void)
{
	for (int type = TRIB_T_ALIVE; type <= TRIB_T_ABORT; type++) {
		world_reset();
		expect_eq(control(type, INNER, 1), XDP_REDIRECT);
		expect_eq(group_of(&f), UP(INNER));
		expect_eq(control(type, ROOT, 1), XDP_REDIRECT);
		expect_eq(group_of(&f), DOWN(ROOT));
		expect_eq(frame_hdr(&f)->flags & TRIB_F_UP, 0);
		expect_eq(control(type, INNER, -1), XDP_REDIRECT);
		expect_eq(group_of(&f), DOWN(INNER));
		expect_eq(frame_hdr(&f)->type, type);
		expect_eq(ntohs(frame_hdr(&f)->aux), 6);
		expect_eq(ntohl(frame_hdr(&f)->chunk), 2);
		expect_eq(stat_of(TRIB_RX_CONTROL), 3);
		expect_eq(the_drop(), -1);
	}
}

/*
 * XDP passes on packets for a port without an entry or a group without a
 * devmap: clsact sends them.
 */
static void generic__what_xdp_cannot_send_goes_to_clsact(void)
{
	world_reset();
	group_unmap(DOWN(ROOT));
	expect_eq(contribute(ROOT, 3, 3, 352, 5), XDP_PASS);
	expect(ordered(&f, TRIB_T_RESULT, DOWN(ROOT)));
	bpf_map_delete_elem(w.ports, &w.ifindex[1]);
	expect_eq(resend(ROOT, 1, 3, 352, 5), XDP_PASS);
	expect(ordered(&f, TRIB_T_RESULT, TRIB_NONE));
	expect_eq(the_drop(), -1);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(root__last_contribution_becomes_the_result);
	run(root__result_names_who_was_last);
	run(root__finished_chunk_is_answered_in_place);
	run(root__answers_over_v6_and_tags);
	run(root__answer_carries_push_and_congestion);
	run(root__congestion_mark_does_not_go_back);
	run(root__resend_in_collect_asks_who_is_missing);
	run(root__resend_that_is_new_counts);
	run(root__resend_of_an_older_chunk_is_stale);
	run(root__result_from_a_child_goes_down);
	run(group__none_is_counted);
	run(group__empty_one_is_counted);
	run(inner__full_slot_goes_to_the_parent);
	run(inner__sent_chunk_is_sent_again_on_resend);
	run(inner__all_empty_goes_up_empty);
	run(inner__resend_in_collect_asks_children_and_parent);
	run(inner__result_is_kept_and_goes_down);
	run(inner__result_without_own_sum_is_kept_too);
	run(inner__result_again_is_seen);
	run(inner__older_result_is_stale);
	run(inner__result_from_a_child_goes_everywhere);
	run(control__alive_and_abort_go_up_then_down);
	run(generic__what_xdp_cannot_send_goes_to_clsact);
	world_close();
	return tap_done();
}
