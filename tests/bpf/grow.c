// SPDX-License-Identifier: BSD-2-Clause
/*
 * The clsact program: packets that grow into their answers, and copies that XDP
 * cannot make. Most tests send live frames through trib_xdp, the stack and out.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <string.h>
#include <unistd.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/tap.h"

static struct frame in, out;

static void fresh(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	world_reset_as(v6, vlan0, vlan1);
	live_flush();
}

/*
 * Expect @out to be a @type from this host to @child (-1: the parent) of @tree.
 */
static void expect_for(int tree, int child, int type, int nval, uint64_t word)
{
	struct addr to = peer_of(tree, child), from = ourselves(tree, child);
	struct trib_hdr *h = frame_hdr(&out);
	uint8_t ip[16];

	expect(!memcmp(out.b, to.mac, 6));
	expect(!memcmp(out.b + 6, from.mac, 6));
	frame_ip(&out, 0, ip);
	expect(!memcmp(ip, from.ip, 16));
	frame_ip(&out, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&out, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&out, 1), to.port);
	expect_eq(frame_vlan(&out, 0), w.vlan[0]);
	expect_eq(frame_vlan(&out, 1), w.vlan[1]);
	expect(frame_sound(&out));
	expect(world_signed(h, tree, child));
	expect_eq(h->type, type);
	expect_eq(ntohs(h->nval), nval);
	expect_eq(h->attempt, 0);
	expect_eq(h->relay, 0);
	expect_eq(h->aux, 0);
	expect_eq(!!(h->flags & TRIB_F_UP), child < 0);
	if (child < 0)
		expect_eq(ntohs(h->child), UP_CHILD);
	for (int i = 0; i < nval / 2; i++)
		if (!expect(frame_word(&out, i) == word))
			return;
}

static void all_quiet(void)
{
	for (int port = 0; port < PORTS; port++)
		expect(live_quiet(port));
}

/*
 * A broadcast: child 0 sends the values, the others send packets without
 * values.
 */
static void check_broadcast(int nval)
{
	frame_grad(&in, ROOT, 0, 3, nval, 77);
	frame_hdr(&in)->scale = htonl(-3);
	frame_hdr(&in)->flags |= TRIB_F_PUSH;
	run_xdp(&in, 0);
	for (int child = 1; child < 3; child++) {
		frame_grad(&in, ROOT, child, 3, 0, 0);
		frame_hdr(&in)->scale = htonl(-3);
		if (child == 1)
			run_xdp(&in, 1);
		else
			live_send(&in, 2);
	}
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, child)))
			continue;
		expect_for(ROOT, child, TRIB_T_RESULT, nval, 77);
		expect_eq(frame_hdr(&out)->flags, TRIB_F_PUSH);
		expect_eq(frame_hdr(&out)->fmt, TRIB_FMT_Q32);
		expect_eq(frame_hdr(&out)->scale, htonl(-3));
		expect_eq(ntohs(frame_hdr(&out)->child), 2);
		expect_eq(ntohl(frame_hdr(&out)->chunk), 3);
		expect_eq(ntohl(frame_hdr(&out)->epoch), EPOCH);
	}
	all_quiet();
	expect_eq(stat_of(TRIB_TX_GROW), 1);
	expect_eq(stat_of(TRIB_TX_RESULT), 1);
	expect_eq(stat_of(TRIB_EGRESS), 3);
	expect_eq(the_drop(), -1);
}

static void grow__empty_completion_becomes_the_result(void)
{
	fresh(false, 0, 0);
	check_broadcast(352);
	fresh(false, 0, 0);
	check_broadcast(2);
}

static void grow__over_v6_and_tags(void)
{
	fresh(true, 0, 0);
	check_broadcast(352);
	fresh(false, 30, 0);
	check_broadcast(352);
	fresh(true, 30, 40);
	check_broadcast(352);
}

static void grow__shorter_zeros_do_not_complete(void)
{
	fresh(false, 0, 0);
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 352, 1);
	frame_grad(&in, ROOT, 2, 3, 16, 0);
	frame_hdr(&in)->flags |= TRIB_F_EMPTY;
	live_send(&in, 2);
	/*
	 * 16 zeros do not fit the slot's 352 values: it waits for a full
	 * packet.
	 */
	expect_eq(the_drop(), TRIB_DROP_MISMATCH);
	all_quiet();
}

static void grow__inner_sum_goes_up(void)
{
	fresh(false, 0, 0);
	run_grad(&in, INNER, 0, 3, 352, 77);
	frame_grad(&in, INNER, 1, 3, 0, 0);
	live_send(&in, 1);
	expect(live_catch(&out, 3));
	expect_for(INNER, -1, TRIB_T_GRAD, 352, 77);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP);
	all_quiet();
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	/* Once more, on request. */
	frame_hdr(&in)->flags |= TRIB_F_RESEND;
	live_send(&in, 1);
	expect(live_catch(&out, 3));
	expect_for(INNER, -1, TRIB_T_GRAD, 352, 77);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP | TRIB_F_RESEND);
}

static void check_ask(void)
{
	for (int child = 0; child < 3; child++)
		run_grad(&in, ROOT, child, 3, 352, 5);
	frame_need(&in, ROOT, 1, 3, 0);
	live_send(&in, 1);
	expect(live_catch(&out, 1));
	expect_for(ROOT, 1, TRIB_T_RESULT, 352, 15);
	expect_eq(ntohs(frame_hdr(&out)->child), 2);
	all_quiet();
	expect_eq(stat_of(TRIB_TX_ANSWER), 1);
	expect_eq(the_drop(), -1);
}

static void grow__ask_is_answered_with_the_result(void)
{
	fresh(false, 0, 0);
	check_ask();
	fresh(true, 0, 0);
	check_ask();
	fresh(false, 30, 40);
	check_ask();
}

static void grow__need_is_answered_with_the_result(void)
{
	fresh(false, 0, 0);
	frame_result(&in, INNER, -1, 3, 352, 77);
	run_xdp(&in, 3);
	frame_need(&in, INNER, -1, 3, 0);
	live_send(&in, 3);
	expect(live_catch(&out, 3));
	expect_for(INNER, -1, TRIB_T_RESULT, 352, 77);
	all_quiet();
}

static void grow__need_is_answered_with_the_sum(void)
{
	fresh(false, 0, 0);
	run_grad(&in, INNER, 0, 3, 352, 5);
	run_grad(&in, INNER, 1, 3, 352, 5);
	frame_need(&in, INNER, -1, 3, 0);
	live_send(&in, 3);
	expect(live_catch(&out, 3));
	expect_for(INNER, -1, TRIB_T_GRAD, 352, 10);
	all_quiet();
}

static void grow__result_without_values_shrinks(void)
{
	fresh(false, 0, 0);
	for (int child = 0; child < 3; child++)
		run_grad(&in, ROOT, child, 3, 0, 0);
	frame_need(&in, ROOT, 1, 3, 0);
	live_send(&in, 1);
	expect(live_catch(&out, 1));
	expect_for(ROOT, 1, TRIB_T_RESULT, 0, 0);
	expect_eq(out.len, out.pay);
}

static void grow__empty_resend_asks_who_is_missing(void)
{
	fresh(false, 0, 0);
	run_grad(&in, INNER, 0, 3, 0, 0);
	frame_grad(&in, INNER, 0, 3, 0, 0);
	frame_hdr(&in)->flags |= TRIB_F_RESEND;
	live_send(&in, 0);
	for (int child = -1; child < 2; child++) {
		expect(live_catch(&out, port_of(INNER, child)));
		expect_for(INNER, child, TRIB_T_NEED, 0, 0);
		expect_eq(frame_bitmap(&out), 1);
	}
	all_quiet();
	expect_eq(stat_of(TRIB_TX_NEED), 1);
}

static void check_empty_answer(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	fresh(v6, vlan0, vlan1);
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 352, 3);
	run_grad(&in, ROOT, 2, 3, 352, 0);
	frame_grad(&in, ROOT, 1, 3, 0, 0);
	live_send(&in, 1);
	expect(live_catch(&out, 1));
	expect_for(ROOT, 1, TRIB_T_RESULT, 352, 80);
	all_quiet();
	expect_eq(stat_of(TRIB_TX_ANSWER), 1);
	expect_eq(the_drop(), -1);
}

static void grow__empty_packet_is_answered_with_the_result(void)
{
	check_empty_answer(false, 0, 0);
	check_empty_answer(true, 30, 40);
}

static void oneport__empty_resend_asks_down_and_up(void)
{
	fresh(false, 0, 0);
	run_grad(&in, ONEPORT, 0, 3, 0, 0);
	frame_grad(&in, ONEPORT, 0, 3, 0, 0);
	frame_hdr(&in)->flags |= TRIB_F_RESEND;
	live_send(&in, 0);
	for (int child = 0; child >= -1; child--) {
		expect(live_catch(&out, 0));
		expect_for(ONEPORT, child, TRIB_T_NEED, 0, 0);
		expect_eq(frame_bitmap(&out), 1);
	}
	all_quiet();
}

static void oneport__need_and_result_go_down_and_up(void)
{
	fresh(false, 0, 0);
	run_grad(&in, ONEPORT, 0, 3, 352, 5);
	frame_need(&in, ONEPORT, 1, 3, 0);
	live_send(&in, 0);
	for (int child = 0; child >= -1; child--) {
		expect(live_catch(&out, 0));
		expect_for(ONEPORT, child, TRIB_T_NEED, 0, 0);
		expect_eq(frame_bitmap(&out), 3);
	}
	all_quiet();
	frame_result(&in, ONEPORT, 1, 3, 352, 77);
	live_send(&in, 0);
	for (int child = 0; child >= -1; child--) {
		expect(live_catch(&out, 0));
		expect_for(ONEPORT, child, TRIB_T_RESULT, 352, 77);
	}
	all_quiet();
	expect_eq(the_drop(), -1);
}

/* Generic mode: no devmaps for groups, no entries for ports. */
static void generic__clsact_sends_copies_and_answers(void)
{
	for (int v6 = 0; v6 < 2; v6++) {
		fresh(v6, 0, 0);
		group_unmap(DOWN(ROOT));
		bpf_map_delete_elem(w.ports, &w.ifindex[1]);
		run_grad(&in, ROOT, 0, 3, 352, 5);
		run_grad(&in, ROOT, 1, 3, 352, 5);
		frame_grad(&in, ROOT, 2, 3, 352, 5);
		live_send(&in, 2);
		for (int child = 0; child < 3; child++) {
			expect(live_catch(&out, child));
			expect_for(ROOT, child, TRIB_T_RESULT, 352, 15);
		}
		frame_grad(&in, ROOT, 1, 3, 352, 5);
		frame_hdr(&in)->scale = 0;
		live_send(&in, 1);
		expect(live_catch(&out, 1));
		expect_for(ROOT, 1, TRIB_T_RESULT, 352, 15);
		all_quiet();
		expect_eq(the_drop(), -1);
	}
}

static void generic__alive_keeps_its_rank(void)
{
	struct trib_hdr h = header(TRIB_T_ALIVE, ROOT, 1, 3);

	fresh(false, 0, 0);
	group_unmap(DOWN(ROOT));
	h.aux = htons(6);
	frame_of(&in, ROOT, 1, h, NULL, 0);
	live_send(&in, 1);
	for (int child = 0; child < 3; child++) {
		expect(live_catch(&out, child));
		expect_eq(frame_hdr(&out)->type, TRIB_T_ALIVE);
		expect_eq(ntohs(frame_hdr(&out)->aux), 6);
		expect_eq(frame_hdr(&out)->flags, 0);
		expect(frame_sound(&out));
	}
}

static void host__grown_result_is_delivered(void)
{
	fresh(false, 0, 0);
	desk()->armed = 1;
	run_grad(&in, HOST, 0, 3, 352, 77);
	run_grad(&in, HOST, 1, 3, 0, 0);
	frame_grad(&in, HOST, 2, 3, 0, 0);
	live_send(&in, 2);
	expect(live_catch(&out, 0));
	expect(cell_is(3, TRIB_CELL_RESULT));
	expect_eq(cell_of(3)->v[175], 77);
	expect_eq(ntohs(cell_of(3)->h.nval), 352);
	expect_eq(ntohs(cell_of(3)->h.child), 2);
	expect_eq(stat_of(TRIB_DELIVERED), 1);
	expect_eq(stat_of(TRIB_RUNG), 1);
	expect_eq(desk()->armed, 0);
}

/* The slot changes between the two programs. */
static void gone(void (*change)(void))
{
	world_reset();
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 0, 0);
	expect_eq(run_grad(&in, ROOT, 2, 3, 0, 0), XDP_PASS);
	change();
	expect_eq(run_grow(&in, 2), TC_ACT_SHOT);
	expect_eq(stat_of(TRIB_TX_GROW), 0);
	expect_eq(stat_of(TRIB_EGRESS), 0);
}

static void change_chunk(void)
{
	struct trib_slot s = *slot_of(ROOT, 3);

	s.chunk += SLOTS;
	slot_put(ROOT, 3, &s);
}

static void change_state(void)
{
	struct trib_slot s = *slot_of(ROOT, 3);

	s.state = TRIB_SLOT_COLLECT;
	slot_put(ROOT, 3, &s);
}

static void change_slot_epoch(void)
{
	struct trib_slot s = *slot_of(ROOT, 3);

	s.epoch--;
	slot_put(ROOT, 3, &s);
}

static void change_epoch(void)
{
	struct trib_tree t;

	tree_get(ROOT, &t);
	t.epoch++;
	tree_put(ROOT, &t);
}

static void change_use(void)
{
	struct trib_tree t;

	tree_get(ROOT, &t);
	t.flags &= ~TRIB_TREE_USED;
	tree_put(ROOT, &t);
}

static void lock_slot(void)
{
	struct trib_slot s = *slot_of(ROOT, 3);

	s.busy = 1;
	slot_put(ROOT, 3, &s);
}

static void grow__slot_that_moved_on_is_counted(void)
{
	static void (*const change[])(void) = {change_chunk, change_state, change_slot_epoch,
					       change_epoch, change_use};

	for (unsigned int i = 0; i < 5; i++) {
		gone(change[i]);
		expect_eq(the_drop(), TRIB_DROP_GROW_GONE);
	}
	gone(lock_slot);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
}

/* The packet changed on its way to trib_send, to a form that XDP does not admit. */
static void spoil(int at, uint8_t byte)
{
	world_reset();
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 0, 0);
	expect_eq(run_grad(&in, ROOT, 2, 3, 0, 0), XDP_PASS);
	in.b[at] = byte;
	expect_eq(run_grow(&in, 2), TC_ACT_SHOT);
	expect_eq(the_drop(), TRIB_DROP_TYPE);
	expect_eq(stat_of(TRIB_EGRESS), 0);
}

static void grow__other_forms_send_nothing(void)
{
	spoil(12, 0x81);     /* a third tag, or anything but IP */
	spoil(14, 0x46);     /* IP options */
	spoil(14 + 6, 0x20); /* a fragment */
	spoil(14 + 7, 0x01); /* a later one */
	spoil(14 + 9, IPPROTO_TCP);
	spoil(14 + 20 + 3, 0); /* another port */
}

static void grow__unadmitted_packets_send_nothing(void)
{
	world_reset();
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 0, 0);
	run_grad(&in, ROOT, 2, 3, 0, 0);
	frame_hdr(&in)->job ^= 1;
	expect_eq(run_grow(&in, 2), TC_ACT_SHOT);
	expect_eq(the_drop(), TRIB_DROP_GROW_GONE);
}

static void check_all_modes(void)
{
	fresh(false, 0, 0);
	check_broadcast(352);
	fresh(true, 30, 40);
	check_broadcast(352);
	fresh(false, 30, 0);
	check_ask();
	fresh(true, 0, 0);
	check_ask();
}

static void grow__in_generic_mode(void)
{
	live_mode(true);
	check_all_modes();
	live_mode(false);
}

/* The kernel drops the metadata of frames that tcpdump shares, once they are written. */
static void grow__while_somebody_listens(void)
{
	int fd[PORTS];

	for (int i = 0; i < PORTS; i++)
		fd[i] = live_listen(i);
	check_all_modes();
	live_mode(true);
	check_all_modes();
	live_mode(false);
	for (int i = 0; i < PORTS; i++)
		close(fd[i]);
}

/* A clone keeps what is in front of its frame, and may meet a relay in this host. */
static void grow__orders_do_not_leave(void)
{
	for (int port = 0; port < PORTS; port++)
		live_relay_behind(port);
	check_all_modes();
	generic__alive_keeps_its_rank();
	all_quiet();
	expect_eq(stat_of(TRIB_EGRESS), 3);
	expect_eq(the_drop(), -1);
}

static void retag(struct frame *f, uint16_t tpid, int n)
{
	uint8_t tag[4] = {tpid >> 8, tpid, 0, 30};

	for (int i = 0; i < n; i++) {
		memmove(f->b + 16, f->b + 12, f->len - 12);
		memcpy(f->b + 12, tag, 4);
		f->len += 4;
	}
}

/* Frames that parse() passes up unread, or that it reads: number @how. */
static void bend(int how)
{
	bool v6 = how == 4 || how == 5;

	world_reset_as(v6, 0, 0);
	frame_need(&in, ROOT, 1, 3, 0);
	if (how == 1)
		retag(&in, 0x88a8, 1);
	else if (how == 2 || how == 3)
		retag(&in, 0x8100, how);
	else if (how == 4)
		in.b[14] ^= 0x10;
	else if (how == 5)
		in.b[14 + 6] = 50;
	else if (how == 6)
		in.b[12] = 0x99;
	else if (how == 7)
		in.b[14 + 9] = IPPROTO_TCP;
	else if (how == 8)
		in.b[14 + 20 + 3]++;
	else if (how == 9)
		in.len = 14;
}

/* A stranger's frame bears a mark of ours, as if trib_xdp had written it. */
static void forged__marks_do_not_come_in(void)
{
	static const uint8_t marks[] = {0x54, 0x6e};
	uint8_t orders[6] = {3, 0, DOWN(ROOT)};

	for (int i = 0; i < 20; i++) {
		bend(i / 2);
		orders[1] = marks[i % 2];
		memcpy(in.b + 6, orders, 6);
		expect_eq(run_xdp(&in, 1), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_MARK);
		expect_eq(stat_of(TRIB_EGRESS), 0);
	}
}

static void forged__other_group_addresses_are_no_marks(void)
{
	bend(8);
	in.b[6] = 3;
	in.b[7] = 0x55;
	expect_eq(run_xdp(&in, 1), XDP_PASS);
	bend(8);
	in.b[7] = 0x54;
	expect_eq(run_xdp(&in, 1), XDP_PASS);
	expect_eq(the_drop(), -1);
}

static void grow__other_traffic_is_left_to_others(void)
{
	struct frame before;

	world_reset();
	frame_grad(&in, ROOT, 0, 3, 352, 77);
	in.b[6] = 3; /* a mark alone is no errand */
	in.b[7] = 0x54;
	before = in;
	expect_eq(run_clsact(&in, 0), TC_ACT_UNSPEC);
	expect(in.len == before.len && !memcmp(in.b, before.b, in.len));
	expect_eq(the_drop(), -1);
}

/*
 * A worker's socket behind a veth leaves the checksum to its device. The
 * receiver of the grown packet must find a checksum that can still be
 * completed.
 */
static void grow__checksum_stays_completable(void)
{
	uint32_t sum;

	fresh(false, 0, 0);
	run_grad(&in, ROOT, 0, 3, 352, 77);
	run_grad(&in, ROOT, 1, 3, 0, 0);
	frame_grad(&in, ROOT, 2, 3, 0, 0);
	live_send_train(&in, 1);
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, child)))
			continue;
		expect(live_was_offloaded());
		sum = IPPROTO_UDP + out.len - out.l4;
		for (int i = 12; i < 20; i += 2)
			sum += out.b[out.l3 + i] << 8 | out.b[out.l3 + i + 1];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		expect_eq(out.b[out.l4 + 6] << 8 | out.b[out.l4 + 7], sum);
		out.b[out.l4 + 6] = out.b[out.l4 + 7] = 0;
		expect_for(ROOT, child, TRIB_T_RESULT, 352, 77);
	}
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	live_open();
	run(grow__empty_completion_becomes_the_result);
	run(grow__over_v6_and_tags);
	run(grow__shorter_zeros_do_not_complete);
	run(grow__inner_sum_goes_up);
	run(grow__ask_is_answered_with_the_result);
	run(grow__need_is_answered_with_the_result);
	run(grow__need_is_answered_with_the_sum);
	run(grow__result_without_values_shrinks);
	run(grow__empty_resend_asks_who_is_missing);
	run(grow__empty_packet_is_answered_with_the_result);
	run(oneport__empty_resend_asks_down_and_up);
	run(oneport__need_and_result_go_down_and_up);
	run(generic__clsact_sends_copies_and_answers);
	run(generic__alive_keeps_its_rank);
	run(host__grown_result_is_delivered);
	run(grow__slot_that_moved_on_is_counted);
	run(grow__other_forms_send_nothing);
	run(grow__unadmitted_packets_send_nothing);
	run(grow__other_traffic_is_left_to_others);
	run(grow__checksum_stays_completable);
	run(grow__in_generic_mode);
	run(grow__while_somebody_listens);
	run(forged__marks_do_not_come_in);
	run(forged__other_group_addresses_are_no_marks);
	run(grow__orders_do_not_leave); /* last: the peers stay relays */
	world_close();
	return tap_done();
}
