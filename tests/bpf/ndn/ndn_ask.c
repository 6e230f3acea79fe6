// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ordinary Interests, cache, arrival and sending, packet by packet.
 * tests/sim/ndn/README.md has the rules.
 */
#include "ndn_step.h"

/* --- ordinary Interests */

static void ask__is_passed_and_answered(void)
{
	ndn_reset(K_V4);
	expect_eq(interest(H1, "/ps/job/gpu"), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_eq(ndn_rows("ndn_asks"), 1);
	expect_eq(send_data(UP, "/ps/job/gpu", 50), XDP_REDIRECT);
	expect_passed_to(H1);
	expect_eq(ndn_rows("ndn_asks"), 0);
	expect_dropped(send_data(UP, "/ps/job/gpu", 50), NDN_DROP_STRAY);
}

static void ask__is_aggregated_but_repeats_pass(void)
{
	ndn_reset(K_V4);
	interest(H1, "/ps/x");
	expect_dropped(interest(H2, "/ps/x"), NDN_DROP_PENDING);
	expect_eq(interest(H1, "/ps/x"), XDP_REDIRECT);
	expect_eq(send_data(UP, "/ps/x", 50), XDP_REDIRECT);
	expect_eq(faces_of_flight(), 1 << H1 | 1 << H2);
}

static void ask__prefix_is_one_component(void)
{
	ndn_reset(K_V4);
	interest(H1, "/ps/32=newest", .prefix = true);
	expect_eq(send_data(UP, "/ps/32=newest/v=9", 5), XDP_REDIRECT);
	expect_passed_to(H1);
	ndn_reset(K_V4);
	interest(H1, "/ps/32=newest");
	expect_dropped(send_data(UP, "/ps/32=newest/v=9", 5), NDN_DROP_STRAY);
}

static void ask__only_whom_it_went_to_answers(void)
{
	ndn_reset(K_V4);
	ndn_right(H2, "/ps", NDN_MAY_WRITE);
	interest(H1, "/ps/x");
	expect_dropped(send_data(H2, "/ps/x", 5), NDN_DROP_STRAY);
	expect_eq(ndn_rows("ndn_asks"), 1);
}

static void ask__loops_end(void)
{
	ndn_reset(K_V4);
	interest(H1, "/ps/x", .nonce = 77);
	expect_dropped(interest(H2, "/ps/x", .nonce = 77), NDN_DROP_LOOP);
	ndn_reset(K_V4);
	expect_dropped(interest(H1, "/ps/x", .no_nonce = true), NDN_DROP_NONCE);
	expect_eq(ndn_rows("ndn_asks"), 0);
}

static void ask__of_a_waiting_client_stays(void)
{
	ndn_reset(K_V4);
	expect_dropped(interest(H1, "/distribute" JOB, .prefix = true), NDN_DROP_WAITS);
	expect_eq(ndn_rows("ndn_asks"), 0);
}

static void ask__longest_prefix_routes(void)
{
	ndn_reset(K_V4);
	ndn_route("/ps/far/away", H2);
	interest(H1, "/ps/far/away/job");
	expect(nframe_is_for(&f, H2));
	interest(H1, "/ps/far/off/job");
	expect(nframe_is_for(&f, UP));
}

static void ask__nack_is_dropped(void)
{
	struct ask a = {.name = "/ps/x"};

	ndn_reset(K_V4);
	ndn_len = ndn_make_interest(ndn, &a);
	ndn_len = ndn_make_link(ndn, ndn_len, true);
	nframe_from(&f, UP, ndn, ndn_len);
	expect_dropped(ndn_run(&f, UP), NDN_DROP_NACK);
}

/* --- cache */

static void cache__answers_segments(void)
{
	uint8_t kept[NFRAME_MAX];
	int n;

	ndn_reset(K_V4);
	subscribe(H1);
	send_data(UP, "/distribute" JOB "/v=1/seg=0", 900);
	n = ndn_len;
	memcpy(kept, ndn, n);
	expect_eq(interest(H2, "/distribute" JOB "/v=1/seg=0", .pad = 1000), XDP_REDIRECT);
	expect(nframe_is_for(&f, H2));
	expect_eq(f.n, n);
	expect(!memcmp(f.b + f.off, kept, n));
	expect_eq(ndn_stat(NDN_STAT_HIT), 1);
	/* clsact sends longer answers; MustBeFresh goes to the PS. */
	expect_eq(interest(H2, "/distribute" JOB "/v=1/seg=0"), XDP_PASS);
	expect_eq(faces_of_flight(), 1 << H2);
	expect_eq(interest(H2, "/distribute" JOB "/v=1/seg=0", .fresh = true), XDP_REDIRECT);
	expect_passed_to(UP);
}

static void cache__takes_only_what_was_accepted(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	send_data(H2, "/distribute" JOB "/v=1/seg=0", 50);
	expect_eq(ndn_stat(NDN_STAT_KEPT), 0);
	send_data(UP, "/distribute" JOB "/v=1", 50);
	expect_eq(ndn_stat(NDN_STAT_KEPT), 0);
}

/* --- arrival */

static void rx__unknown_sender_is_no_face(void)
{
	ndn_reset(K_V4);
	ndn_len = ndn_make_data(ndn, "/ps/x", 5);
	nframe_from(&f, H1, ndn, ndn_len);
	f.b[14 + 15]++; /* source address */
	expect_dropped(ndn_run(&f, H1), NDN_DROP_FACE);
}

static void rx__other_ports_are_not_ours(void)
{
	ndn_reset(K_V4);
	nframe_from(&f, H1, "x", 1);
	f.b[14 + 20 + 3]++;
	expect_eq(ndn_run(&f, H1), XDP_PASS);
	/* Packets for another host pass, too. */
	nframe_from(&f, H1, "x", 1);
	f.b[14 + 19]++;
	expect_eq(ndn_run(&f, H1), XDP_PASS);
	expect_eq(ndn_the_drop(), -1);
}

static void rx__marks_from_outside_are_dropped(void)
{
	ndn_reset(K_V4);
	nframe_from(&f, H1, "x", 1);
	f.b[6] = 3;
	f.b[7] = 0x6e;
	expect_dropped(ndn_run(&f, H1), NDN_DROP_SOURCE);
	f.b[7] = 0x70;
	expect_dropped(ndn_run(&f, H1), NDN_DROP_SOURCE);
}

static void retag(uint16_t tpid, int n)
{
	uint8_t tag[4] = {tpid >> 8, tpid, 0, 30};

	for (int i = 0; i < n; i++) {
		memmove(f.b + 16, f.b + 12, f.len - 12);
		memcpy(f.b + 12, tag, 4);
		f.len += 4;
	}
}

/* Also in frames that the forwarder passes up unread: number @how. */
static void rx__marks_are_dropped_in_any_form(void)
{
	for (int how = 0; how < 14; how++) {
		ndn_reset(how / 2 == 3 || how / 2 == 4 ? K_V6 : K_V4);
		nframe_from(&f, H1, "xyz", 3);
		if (how / 2 == 0)
			retag(0x88a8, 1);
		else if (how / 2 <= 2)
			retag(0x8100, how / 2 + 1);
		else if (how / 2 == 3)
			f.b[14] ^= 0x10;
		else if (how / 2 == 4)
			f.b[14 + 6] = 50;
		else if (how / 2 == 5)
			f.b[14 + 20 + 3]++;
		else
			f.b[12] = 0x99;
		f.b[6] = 3;
		f.b[7] = how % 2 ? 0x6e : 0x54;
		expect_dropped(ndn_run(&f, H1), NDN_DROP_SOURCE);
		expect(!nw.errand.magic);
	}
}

static void rx__lengths_must_agree(void)
{
	ndn_reset(K_V4);
	nframe_from(&f, H1, "xyz", 3);
	f.b[14 + 20 + 5]++;
	expect_dropped(ndn_run(&f, H1), NDN_DROP_LENGTH);
}

/* The same steps with all kinds of headers; link headers are removed. */
static void rx__all_kinds_of_faces(void)
{
	static const int kinds[] = {K_V6, K_ETHER, K_VLAN, K_V6 | K_VLAN, K_ETHER | K_VLAN};
	struct ask a = {.name = "/insert" JOB, .life = 4000};
	uint8_t bare[NFRAME_MAX];
	int n;

	for (int i = 0; i < 5; i++) {
		ndn_reset(kinds[i]);
		n = ndn_make_interest(bare, &a);
		memcpy(ndn, bare, n);
		ndn_len = ndn_make_link(ndn, n, false);
		nframe_from(&f, H1, ndn, ndn_len);
		expect_eq(ndn_run(&f, H1), XDP_REDIRECT);
		expect(nframe_is_for(&f, UP));
		expect_eq(f.n, n);
		expect(!memcmp(f.b + f.off, bare, n));
		expect_eq(send_data(UP, "/distribute" JOB, 0), XDP_REDIRECT);
		expect_passed_to(H1);
	}
}

/* Packets between faces of different kinds. */
static void tx__kinds_mix(void)
{
	struct ndn_face v4;

	ndn_reset(K_V4);
	v4 = ndn_face(UP);
	ndn_reset(K_V6 | K_VLAN);
	ndn_face_put(UP, &v4);
	expect_eq(interest(H1, "/insert" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 501), XDP_REDIRECT);
	expect_passed_to(H1);
}

static void tx__too_long_is_counted(void)
{
	struct ndn_face row;

	ndn_reset(K_V4);
	subscribe(H1);
	row = ndn_face(H1);
	row.max = 500;
	ndn_face_put(H1, &row);
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=0", 600), NDN_DROP_MTU);
}

int main(void)
{
	ndn_open();
	run(ask__is_passed_and_answered);
	run(ask__is_aggregated_but_repeats_pass);
	run(ask__prefix_is_one_component);
	run(ask__only_whom_it_went_to_answers);
	run(ask__loops_end);
	run(ask__of_a_waiting_client_stays);
	run(ask__longest_prefix_routes);
	run(ask__nack_is_dropped);
	run(cache__answers_segments);
	run(cache__takes_only_what_was_accepted);
	run(rx__unknown_sender_is_no_face);
	run(rx__other_ports_are_not_ours);
	run(rx__marks_from_outside_are_dropped);
	run(rx__marks_are_dropped_in_any_form);
	run(rx__lengths_must_agree);
	run(rx__all_kinds_of_faces);
	run(tx__kinds_mix);
	run(tx__too_long_is_counted);
	return tap_done();
}
