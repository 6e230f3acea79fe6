// SPDX-License-Identifier: BSD-2-Clause
/*
 * Admission: packets of this protocol that are admitted, those that are refused, and those that
 * pass to the stack.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/bpf/world/spoil.h"

static void admission__good_packet_is_admitted(void)
{
	good();
	expect_eq(run_xdp(&f, 1), XDP_DROP);
	expect_eq(the_drop(), -1);
	expect_eq(slot_of(ROOT, 3)->seen, 1 << 1);
}

static void admission__every_address_family_and_tag(void)
{
	static const uint16_t tags[][4] = {
		{0, 0, 0, 0},
		{5, 0, 0x8100, 0},
		{5, 0, 0x88a8, 0},
		{5, 4000, 0x88a8, 0x8100},
		{5, 4000, 0x8100, 0x8100},
	};

	for (int i = 0; i < 10; i++) {
		const uint16_t *t = tags[i / 2];
		struct trib_hdr h;
		struct link l;

		world_reset_as(i % 2, t[0], t[1]);
		frame_grad(&f, ROOT, 1, 3, 16, 7);
		h = *frame_hdr(&f);
		l = link_of(ROOT, 1);
		l.tpid[0] = t[2];
		l.tpid[1] = t[3];
		frame_build(&f, &l, &h, (uint64_t[8]){7}, 64);
		/* The priority bits of a tag are not part of the VLAN id. */
		if (t[0])
			f.b[14] |= 0xe0;
		run_xdp(&f, 1);
		expect_eq(the_drop(), -1);
		expect_eq(slot_of(ROOT, 3)->seen, 1 << 1);
		expect_eq(slot_of(ROOT, 3)->v[0], 7);
	}
	world_reset();
}

static void admission__other_traffic_passes(void)
{
	good();
	put16(12, 0x0806); /* ARP */
	expect_pass();
	good();
	f.b[f.l3 + 9] = IPPROTO_TCP;
	expect_pass();
	good();
	put16(f.l4 + 2, 7418); /* another UDP port */
	expect_pass();
	good();
	f.len = f.l4 + 4; /* no whole UDP header */
	expect_pass();
	good();
	f.len = 20; /* the minimum that the kernel accepts for a test run is 14 */
	expect_pass();
	good();
	put16(f.l3 + 6, 0x2001); /* not the first fragment: the UDP header is missing */
	expect_pass();
	good();
	f.b[f.l3] = 0x44; /* impossible header length */
	expect_pass();
	good();
	f.b[f.l3] = 0x65; /* not IPv4 */
	expect_pass();
}

static void admission__other_v6_traffic_passes(void)
{
	w.v6 = true;
	good();
	f.b[f.l3 + 6] = IPPROTO_TCP;
	expect_pass();
	good();
	put16(f.l4 + 2, 7418);
	expect_pass();
	good();
	f.b[f.l3 + 6] = 44; /* a later fragment */
	insert(f.l4, 8);
	f.b[f.l4] = IPPROTO_UDP;
	put16(f.l4 + 2, 0x0009);
	expect_pass();
	good();
	f.b[f.l3 + 6] = 60; /* options before another protocol */
	insert(f.l4, 8);
	f.b[f.l4] = IPPROTO_TCP;
	expect_pass();
	w.v6 = false;
}

static void admission__three_tags_pass(void)
{
	w.vlan[0] = 5;
	w.vlan[1] = 6;
	good();
	insert(14, 4);
	put16(14, 9);
	put16(16, 0x8100);
	expect_pass();
	world_reset();
}

/* A JOIN, LEAVE or START as libtrib or another tribd sends it passes to tribd. */
static void control(int type, int tree, int child, int nval)
{
	static const uint64_t zeros[NVAL_MAX / 2];
	struct trib_hdr h = header(type, tree, child, 0);

	h.epoch = 0;
	h.nval = htons(nval);
	frame_of(&f, tree, child, h, zeros, trib_payload_len(nval));
}

static void control__goes_to_tribd_after_admission(void)
{
	static const struct {
		int type, tree, child, nval;
	} good[] = {
		{TRIB_T_JOIN, ROOT, 1, 352},
		{TRIB_T_JOIN, ROOT, 1, 832}, /* tribd answers with the reason */
		{TRIB_T_LEAVE, INNER, 1, 4},
		{TRIB_T_START, INNER, -1, 352},
		{TRIB_T_START, LEAF, -1, 352},
	};

	for (unsigned int i = 0; i < sizeof(good) / sizeof(*good); i++) {
		world_reset();
		control(good[i].type, good[i].tree, good[i].child, good[i].nval);
		expect_eq(run_xdp(&f, port_of(good[i].tree, good[i].child)), XDP_PASS);
		expect_eq(frame_hdr(&f)->type, good[i].type);
		expect_eq(the_drop(), -1);
		expect_eq(stat_of(TRIB_RX_CONTROL), 1);
	}
}

static void control__is_not_passed_to_tribd_unadmitted(void)
{
	world_reset();
	control(TRIB_T_JOIN, ROOT, 1, 352);
	frame_hdr(&f)->job = 0;
	expect_drop(TRIB_DROP_TREE);
	world_reset();
	control(TRIB_T_JOIN, ROOT, 0, 352); /* by the wrong port */
	expect_drop(TRIB_DROP_FACE);
	world_reset();
	control(TRIB_T_LEAVE, ROOT, 1, 352);
	f.len -= 4;
	expect_drop(TRIB_DROP_LENGTH);
	world_reset();
	control(TRIB_T_START, INNER, 1, 352);
	frame_hdr(&f)->flags = 0; /* a child poses as the parent */
	expect_drop(TRIB_DROP_FACE);
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(admission__good_packet_is_admitted);
	run(admission__every_address_family_and_tag);
	run(admission__other_traffic_passes);
	run(admission__other_v6_traffic_passes);
	run(admission__three_tags_pass);
	run(control__goes_to_tribd_after_admission);
	run(control__is_not_passed_to_tribd_unadmitted);
	world_close();
	return tap_done();
}
