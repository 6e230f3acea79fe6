// SPDX-License-Identifier: BSD-2-Clause
/* Frames that leave the ports: copies get new headers, answers keep theirs. */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/tap.h"

static struct frame in, out;

static void fresh(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	world_reset_as(v6, vlan0, vlan1);
	live_flush();
}

/* Expect headers in @out from this host to @child (-1: the parent) of @tree. */
static void expect_for(int tree, int child)
{
	struct addr to = peer_of(tree, child), from = ourselves(tree, child);
	uint8_t ip[16];

	expect(!memcmp(out.b, to.mac, 6));
	expect(!memcmp(out.b + 6, from.mac, 6));
	frame_ip(&out, 0, ip);
	expect(!memcmp(ip, from.ip, 16));
	frame_ip(&out, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&out, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&out, 1), to.port);
	expect(frame_sound(&out));
	expect(world_signed(frame_hdr(&out), tree, child));
	/* The traffic class stays, with ECT(0). */
	expect_eq(out.v6 ? (out.b[out.l3] << 4 | out.b[out.l3 + 1] >> 4) & 0xff : out.b[out.l3 + 1],
		  0xba);
}

static void expect_values(int type, int nval, uint64_t word)
{
	expect_eq(frame_hdr(&out)->type, type);
	expect_eq(ntohs(frame_hdr(&out)->nval), nval);
	for (int i = 0; i < nval / 2; i++)
		if (!expect(frame_word(&out, i) == word))
			return;
}

/* Contribute for all children; the last packet travels live. */
static void contribute(int tree, int n, uint32_t chunk, int nval)
{
	for (int child = 0; child < n - 1; child++)
		run_grad(&in, tree, child, chunk, nval, 5);
	frame_grad(&in, tree, n - 1, chunk, nval, 5);
	live_send(&in, port_of(tree, n - 1));
}

static void check_down(void)
{
	contribute(ROOT, 3, 3, 352);
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, child)))
			continue;
		expect_for(ROOT, child);
		expect_values(TRIB_T_RESULT, 352, 15);
		expect_eq(frame_hdr(&out)->flags, 0);
		expect_eq(ntohs(frame_hdr(&out)->child), 2);
		expect_eq(frame_vlan(&out, 0), w.vlan[0]);
		expect_eq(frame_vlan(&out, 1), w.vlan[1]);
	}
	for (int port = 0; port < PORTS; port++)
		expect(live_quiet(port));
	expect_eq(stat_of(TRIB_EGRESS), 3);
	expect_eq(the_drop(), -1);
}

static void egress__every_child_gets_a_copy_with_its_headers(void)
{
	fresh(false, 0, 0);
	check_down();
}

static void egress__copies_over_v6_and_tags(void)
{
	fresh(true, 0, 0);
	check_down();
	fresh(false, 100, 0);
	check_down();
	fresh(true, 100, 200);
	check_down();
}

static void egress__parent_gets_a_sum_from_its_child(void)
{
	fresh(false, 0, 0);
	contribute(INNER, 2, 3, 352);
	expect(live_catch(&out, 3));
	expect_for(INNER, -1);
	expect_values(TRIB_T_GRAD, 352, 10);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP);
	expect_eq(ntohs(frame_hdr(&out)->child), UP_CHILD);
	expect(live_quiet(0) && live_quiet(1));
}

static void egress__one_broadcast_goes_up_and_down(void)
{
	fresh(false, 0, 0);
	frame_result(&in, INNER, 1, 3, 352, 77);
	live_send(&in, 1);
	for (int child = 0; child < 2; child++) {
		expect(live_catch(&out, child));
		expect_for(INNER, child);
		expect_values(TRIB_T_RESULT, 352, 77);
		expect_eq(frame_hdr(&out)->flags, 0);
		expect_eq(frame_hdr(&out)->child, 0xffff);
	}
	expect(live_catch(&out, 3));
	expect_for(INNER, -1);
	expect_values(TRIB_T_RESULT, 352, 77);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP);
	expect_eq(ntohs(frame_hdr(&out)->child), UP_CHILD);
}

static void egress__short_packets_are_rewritten_too(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		fresh(v6, 0, 0);
		run_grad(&in, ROOT, 0, 3, 352, 5);
		frame_grad(&in, ROOT, 0, 3, 352, 5);
		frame_hdr(&in)->flags |= TRIB_F_RESEND;
		live_send(&in, 0);
		for (int child = 0; child < 3; child++) {
			expect(live_catch(&out, child));
			expect_for(ROOT, child);
			expect_eq(frame_hdr(&out)->type, TRIB_T_NEED);
			expect_eq(frame_bitmap(&out), 1);
		}
		fresh(v6, 0, 0);
		frame_of(&in, ROOT, 1, header(TRIB_T_ALIVE, ROOT, 1, 3), NULL, 0);
		live_send(&in, 1);
		expect(live_catch(&out, 2));
		expect_for(ROOT, 2);
		expect_eq(frame_hdr(&out)->type, TRIB_T_ALIVE);
		expect_eq(frame_hdr(&out)->flags, 0);
	}
}

/* Members with 0, 1 and 2 tags, whatever tags the completing packet had. */
static void check_tags(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	static const uint16_t tags[3][2] = {{0, 0}, {7, 0}, {8, 9}};
	struct trib_rewrite_key key = {.group = DOWN(ROOT)};
	struct trib_rewrite r;

	fresh(v6, vlan0, vlan1);
	for (int child = 0; child < 3; child++) {
		key.ifindex = w.ifindex[child];
		bpf_map_lookup_elem(w.rewrites, &key, &r);
		r.vlan[0] = htons(tags[child][0]);
		r.vlan[1] = htons(tags[child][1]);
		bpf_map_update_elem(w.rewrites, &key, &r, 0);
	}
	contribute(ROOT, 3, 3, 352);
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, child)))
			continue;
		expect_eq(out.tags, child);
		expect_eq(frame_vlan(&out, 0), tags[child][0]);
		expect_eq(frame_vlan(&out, 1), tags[child][1]);
		if (child)
			expect_eq(out.b[12] << 8 | out.b[13], child == 2 ? 0x88a8 : 0x8100);
		expect_for(ROOT, child);
		expect_values(TRIB_T_RESULT, 352, 15);
	}
}

static void egress__tags_are_pushed_and_popped(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		check_tags(v6, 0, 0);
		check_tags(v6, 3, 0);
		check_tags(v6, 3, 4);
	}
}

/*
 * All frames of a port's batch run the program of the first frame. If answers
 * skipped trib_egress, the copies behind one would keep the mark.
 */
static void egress__answers_share_a_batch_with_copies(void)
{
	static struct frame train[3];

	fresh(false, 0, 0);
	for (int child = 0; child < 3; child++)
		run_grad(&in, ROOT, child, 3, 352, 5);
	run_grad(&in, ROOT, 0, 4, 352, 6);
	run_grad(&in, ROOT, 1, 4, 352, 6);
	frame_grad(&train[0], ROOT, 2, 3, 352, 5); /* answered */
	frame_grad(&train[1], ROOT, 2, 4, 352, 6); /* completes */
	frame_grad(&train[2], ROOT, 2, 3, 352, 5); /* answered */
	live_send_train(train, 3);
	for (int i = 0; i < 3; i++) {
		expect(live_catch(&out, 2));
		expect_for(ROOT, 2);
		expect_values(TRIB_T_RESULT, 352, i == 1 ? 18 : 15);
	}
	for (int child = 0; child < 2; child++) {
		expect(live_catch(&out, child));
		expect_for(ROOT, child);
		expect_values(TRIB_T_RESULT, 352, 18);
	}
	for (int port = 0; port < PORTS; port++)
		expect(live_quiet(port));
	expect_eq(stat_of(TRIB_EGRESS), 3);
	expect_eq(stat_of(TRIB_TX_ANSWER), 2);
}

static void egress__member_without_a_row_is_counted(void)
{
	struct trib_rewrite_key key = {DOWN(ROOT), w.ifindex[1]};

	fresh(false, 0, 0);
	bpf_map_delete_elem(w.rewrites, &key);
	contribute(ROOT, 3, 3, 352);
	expect(live_catch(&out, 0) && live_catch(&out, 2));
	expect(live_quiet(1));
	expect_eq(the_drop(), TRIB_DROP_REWRITE);
	expect_eq(stat_of(TRIB_EGRESS), 2);
}

static void egress__row_of_another_family_is_counted(void)
{
	struct trib_rewrite_key key = {DOWN(ROOT), w.ifindex[1]};
	struct trib_rewrite r;

	fresh(false, 0, 0);
	bpf_map_lookup_elem(w.rewrites, &key, &r);
	r.v6 = 1;
	bpf_map_update_elem(w.rewrites, &key, &r, 0);
	contribute(ROOT, 3, 3, 352);
	expect(live_catch(&out, 0) && live_quiet(1));
	expect_eq(the_drop(), TRIB_DROP_REWRITE);
}

static void egress__congestion_mark_is_not_passed_on(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		struct trib_hdr h;
		struct link l;

		fresh(v6, 0, 0);
		run_grad(&in, ROOT, 0, 3, 16, 5);
		run_grad(&in, ROOT, 1, 3, 16, 5);
		frame_grad(&in, ROOT, 2, 3, 16, 5);
		h = *frame_hdr(&in);
		l = link_of(ROOT, 2);
		l.tos |= 3;
		frame_build(&in, &l, &h, (uint64_t[8]){5}, 64);
		live_send(&in, 2);
		expect(live_catch(&out, 1));
		/* CE moves from the IP header, which has ECT(0) again, to ours. */
		expect_for(ROOT, 1);
		expect_eq(frame_hdr(&out)->flags, TRIB_F_CE);
	}
}

/* One multicast copy down and one packet up, through the node's only port. */
static void oneport__sums_and_results_pass(void)
{
	fresh(false, 0, 0);
	contribute(ONEPORT, 2, 3, 352);
	expect(live_catch(&out, 0));
	expect_for(ONEPORT, -1);
	expect_values(TRIB_T_GRAD, 352, 10);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP);
	frame_result(&in, ONEPORT, -1, 3, 352, 77);
	live_send(&in, 0);
	expect(live_catch(&out, 0));
	expect_for(ONEPORT, 0);
	expect_values(TRIB_T_RESULT, 352, 77);
	expect(live_quiet(0));
	expect_eq(the_drop(), -1);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	live_open();
	run(egress__every_child_gets_a_copy_with_its_headers);
	run(egress__copies_over_v6_and_tags);
	run(egress__parent_gets_a_sum_from_its_child);
	run(egress__one_broadcast_goes_up_and_down);
	run(egress__short_packets_are_rewritten_too);
	run(egress__tags_are_pushed_and_popped);
	run(egress__answers_share_a_batch_with_copies);
	run(egress__member_without_a_row_is_counted);
	run(egress__row_of_another_family_is_counted);
	run(egress__congestion_mark_is_not_passed_on);
	run(oneport__sums_and_results_pass);
	world_close();
	return tap_done();
}
