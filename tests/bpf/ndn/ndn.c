// SPDX-License-Identifier: BSD-2-Clause
/*
 * The persistent PIT, packet by packet: verdict, packet out, rows, counter.
 * tests/sim/ndn/README.md has the rules.
 */
#include "ndn_step.h"

/* --- subscriptions */

static void insert__new_entry_goes_up(void)
{
	ndn_reset(K_V4);
	expect_eq(interest(H1, "/insert" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_eq(entry()->up, UP);
	expect_eq(entry()->acked, 0);
	expect(more()->asked);
	expect_eq(living(), 1 << H1);
	expect_eq(more()->waiting[0], 1 << H1);
	expect_eq(ndn_entries(), 1);
	expect_eq(ndn_stat(NDN_STAT_NEW), 1);
	expect_eq(ndn_stat(NDN_STAT_INSERTED), 1);
}

static void insert__counts_hops_down(void)
{
	ndn_reset(K_V4);
	expect_eq(interest(H1, "/insert" JOB, .hops = 1 + 7), XDP_REDIRECT);
	expect(nframe_is_for(&f, UP));
	/* HopLimit is the last element. */
	expect_eq(f.b[f.len - 1], 6);
	expect_dropped(interest(H1, "/insert" JOB, .hops = 1 + 0), NDN_STAT_BAD + NDN_E_HOPS);
}

static void insert__pending_passes_repeats(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	expect_eq(interest(H2, "/insert" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_eq(more()->waiting[0], 1 << H1 | 1 << H2);
}

static void insert__acknowledgement_goes_to_those_who_wait(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	expect_eq(send_data(UP, "/distribute" JOB, 0), XDP_REDIRECT);
	expect_passed_to(H1);
	expect(entry()->acked);
	expect_eq(more()->asked, 0);
	expect_eq(more()->waiting[0], 0);
	expect_eq(more()->ack_len, ndn_len);
	expect(!memcmp(more()->ack, ndn, ndn_len));
	/* A second acknowledgement has no receiver. */
	expect_dropped(send_data(UP, "/distribute" JOB, 0), NDN_DROP_STRAY);
}

static void insert__confirmed_entry_answers_in_place(void)
{
	uint8_t ack[NDN_ACK_MAX];
	ndn_reset(K_V4);
	subscribe(H1);
	memcpy(ack, more()->ack, sizeof(ack));
	expect_eq(interest(H2, "/insert" JOB, .pad = 100), XDP_REDIRECT);
	expect(nframe_is_for(&f, H2));
	expect_eq(f.n, more()->ack_len);
	expect(!memcmp(f.b + f.off, ack, f.n));
	expect_eq(living(), 1 << H1 | 1 << H2);
	expect_eq(more()->waiting[0], 0);
	expect_eq(ndn_stat(NDN_STAT_ACK), 1);
	expect_eq(ndn_the_drop(), -1);
}

static void insert__longer_answer_is_left_to_clsact(void)
{
	struct ndn_flight *l;

	ndn_reset(K_V4);
	subscribe(H1);
	expect_eq(interest(H2, "/insert" JOB), XDP_PASS);
	l = ndn_flight_of(&f);
	if (!expect(l))
		return;
	expect_eq(l->kind, NDN_FLIGHT_ACK);
	expect_eq(l->faces[0], 1 << H2);
}

static void insert__of_a_router_always_goes_up(void)
{
	struct ndn_face row;

	ndn_reset(K_V4);
	subscribe(H1);
	row = ndn_face(H2);
	row.flags &= ~NDN_FACE_HOST;
	ndn_face_put(H2, &row);
	expect_eq(interest(H2, "/insert" JOB, .pad = 100), XDP_REDIRECT);
	expect_passed_to(UP);
}

static void insert__renewal_goes_up_after_a_third(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	age(LEASE / 3 - 1000000000);
	expect_eq(interest(H1, "/insert" JOB, .pad = 100), XDP_REDIRECT);
	expect(nframe_is_for(&f, H1));
	age(2000000000);
	expect_eq(interest(H1, "/insert" JOB, .pad = 100), XDP_REDIRECT);
	expect_passed_to(UP);
}

static void insert__without_right_is_dropped(void)
{
	ndn_reset(K_V4);
	expect_dropped(interest(H1, "/insert/other/job"), NDN_DROP_RIGHT);
	ndn_reset(K_V4);
	/* The right to write does not include the right to subscribe. */
	expect_dropped(interest(H1, "/insert/gpu/job"), NDN_DROP_RIGHT);
	expect_eq(ndn_entries(), 0);
}

static void insert__without_route_or_from_below_is_dropped(void)
{
	ndn_reset(K_V4);
	expect_dropped(interest(UP, "/insert/nowhere"), NDN_DROP_ROUTE);
	ndn_reset(K_V4);
	expect_dropped(interest(UP, "/insert" JOB), NDN_DROP_BELOW);
	expect_eq(ndn_entries(), 0);
}

static void insert__new_route_turns_the_entry(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	ndn_route("/ps/job", H3);
	expect_eq(interest(H1, "/insert" JOB, .pad = 100), XDP_REDIRECT);
	expect_passed_to(H3);
	expect_eq(entry()->up, H3);
	expect_eq(entry()->acked, 0);
	expect_eq(more()->ack_len, 0);
	expect_eq(ndn_stat(NDN_STAT_TURNED), 1);
}

/* --- ends of subscriptions */

static void delete__others_stay(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	subscribe(H2);
	expect_eq(interest(H1, "/delete" JOB), XDP_REDIRECT);
	expect(nframe_is_for(&f, H1));
	expect_eq(living(), 1 << H2);
	expect(!(entry()->flags & NDN_ENTRY_LEAVING));
}

/* The codec of user space decodes the answer as Data with that name. */
static void delete__answer_is_a_packet(void)
{
	struct ndn_packet p;
	struct ndn_name_buf want;
	struct ndn_name name;

	ndn_reset(K_V4);
	expect_eq(interest(H1, "/delete" JOB), XDP_REDIRECT);
	expect(nframe_is_for(&f, H1));
	expect_eq(ndn_packet_decode(&p, f.b + f.off, f.n), NDN_OK);
	expect_eq(p.type, TRIB_NDN_DATA);
	ndn_name_parse(&want, "/delete" JOB);
	name = ndn_name_of(&want);
	expect(ndn_name_is_equal(&p.data.name, &name));
}

static void delete__of_the_last_goes_up_and_comes_back(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	expect_eq(interest(H1, "/delete" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect(entry()->flags & NDN_ENTRY_LEAVING);
	expect_eq(entry()->acked, 0);
	expect_eq(more()->leavers[0], 1 << H1);
	expect_eq(send_data(UP, "/delete" JOB, 0), XDP_REDIRECT);
	expect_passed_to(H1);
	expect_eq(ndn_entries(), 0);
	expect_eq(ndn_stat(NDN_STAT_GONE), 1);
}

static void delete__insert_waits_for_it(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	interest(H1, "/delete" JOB);
	expect_dropped(interest(H2, "/insert" JOB), NDN_DROP_LEAVING);
	/* After T inserts pass again. */
	age(LEAVE + 1000000000);
	expect_eq(interest(H2, "/insert" JOB), XDP_REDIRECT);
	expect(!(entry()->flags & NDN_ENTRY_LEAVING));
	/* A face that subscribed in the meantime keeps the entry. */
	interest(H2, "/delete" JOB);
	interest(H3, "/insert" JOB);
	send_data(UP, "/delete" JOB, 0);
	expect_eq(ndn_entries(), 1);
	expect_eq(living(), 1 << H3);
}

/* All acknowledgements of a job are alike: it may be for the insert before the delete. */
static void delete__late_acknowledgement_does_not_confirm(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	interest(H1, "/delete" JOB);
	expect_eq(send_data(UP, "/delete" JOB, 0), XDP_REDIRECT);
	expect_passed_to(H1);
	expect_eq(more()->old, 1);
	/* The new insert goes up at once. */
	expect_eq(interest(H2, "/insert" JOB), XDP_REDIRECT);
	expect_passed_to(UP);
	expect_dropped(send_data(UP, "/distribute" JOB, 0), NDN_DROP_LATE);
	expect_eq(entry()->acked, 0);
	expect_eq(more()->waiting[0], 1 << H2);
	/* A subscriber without an acknowledgement is served, too. */
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
	expect_eq(send_data(UP, "/distribute" JOB, 0), XDP_REDIRECT);
	expect(nframe_is_for(&f, H2));
	expect(entry()->acked);
}

static void delete__acknowledgement_is_late_for_a_while(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	interest(H1, "/delete" JOB);
	send_data(UP, "/delete" JOB, 0);
	interest(H2, "/insert" JOB);
	age(LEAVE / 4 + 1000000000);
	expect_eq(send_data(UP, "/distribute" JOB, 0), XDP_REDIRECT);
	expect_passed_to(H2);
	/* An insert that was lost long ago is not waited for. */
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	age(LEASE / 4 + 1000000000);
	subscribe(H1);
	interest(H1, "/delete" JOB);
	send_data(UP, "/delete" JOB, 0);
	expect_eq(ndn_entries(), 0);
}

static void delete__entry_stays_for_late_answers(void)
{
	ndn_reset(K_V4);
	interest(H1, "/insert" JOB);
	interest(H1, "/delete" JOB);
	send_data(UP, "/delete" JOB, 0);
	ndn_run_sweep();
	expect_eq(ndn_entries(), 1);
	expect_eq(living(), 0);
	age(LEAVE / 4 + 1000000000);
	ndn_run_sweep();
	expect_eq(ndn_entries(), 0);
}

/* A late repeat would end what a later insert begins. */
static void delete__insert_waits_for_repeats(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	interest(H1, "/delete" JOB);
	interest(H1, "/delete" JOB);
	expect_passed_to(UP);
	expect_eq(more()->deletes, 2);
	expect_eq(send_data(UP, "/delete" JOB, 0), XDP_REDIRECT);
	expect_passed_to(H1);
	expect_dropped(interest(H2, "/insert" JOB), NDN_DROP_LEAVING);
	/* No receiver, but now both are answered. */
	expect_eq(send_data(UP, "/delete" JOB, 0), XDP_DROP);
	expect_eq(ndn_stat(NDN_DROP_NOBODY), 1);
	expect_eq(interest(H2, "/insert" JOB), XDP_REDIRECT);
	expect(nframe_is_for(&f, UP));
	expect_eq(living(), 1 << H2);
}

/* The first delete was lost. */
static void delete__insert_waits_for_repeats_for_a_while(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	interest(H1, "/delete" JOB);
	interest(H1, "/delete" JOB);
	send_data(UP, "/delete" JOB, 0);
	expect_dropped(interest(H2, "/insert" JOB), NDN_DROP_LEAVING);
	age(LEAVE / 4 + 1000000000);
	expect_eq(interest(H2, "/insert" JOB), XDP_REDIRECT);
	expect(nframe_is_for(&f, UP));
	expect(!(entry()->flags & NDN_ENTRY_LEAVING));
	expect_eq(more()->deletes, 0);
}

/* --- distribution */

static void distribute__goes_to_the_only_one_at_once(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 900), XDP_REDIRECT);
	expect_passed_to(H1);
	expect_eq(ndn_entries(), 1);
	expect_eq(ndn_stat(NDN_STAT_KEPT), 1);
}

static void distribute__goes_to_all_as_a_flight(void)
{
	struct ndn_flight *l;

	ndn_reset(K_V4);
	subscribe(H1);
	subscribe(H2);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 900), XDP_REDIRECT);
	l = ndn_flight_of(&f);
	if (!expect(l))
		return;
	expect_eq(l->kind, NDN_FLIGHT_COPY);
	expect_eq(l->faces[0], 1 << H1 | 1 << H2);
	expect_eq(l->len, ndn_len);
}

static void distribute__faces_of_one_port_are_for_clsact(void)
{
	ndn_reset(K_V4);
	subscribe(H3);
	subscribe(EXTRA);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_PASS);
	expect_eq(faces_of_flight(), 1 << H3 | 1 << EXTRA);
}

static void distribute__once_and_nothing_older(void)
{
	static const struct {
		const char *name;
		bool taken;
	} steps[] = {
		{"/distribute" JOB "/v=7/seg=5", true},	 {"/distribute" JOB "/v=7/seg=5", false},
		{"/distribute" JOB "/v=7/seg=3", true},	 {"/distribute" JOB "/v=7/seg=3", false},
		{"/distribute" JOB "/v=6/seg=9", false}, {"/distribute" JOB "/v=7/seg=70", true},
		{"/distribute" JOB "/v=7/seg=6", false}, {"/distribute" JOB "/v=7/seg=7", true},
		{"/distribute" JOB "/v=7/seg=7", false}, {"/distribute" JOB "/v=300/seg=0", true},
	};

	ndn_reset(K_V4);
	subscribe(H1);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		expect_eq(send_data(UP, steps[i].name, 9),
			  steps[i].taken ? XDP_REDIRECT : XDP_DROP);
	expect_eq(ndn_the_drop(), NDN_DROP_SEEN);
	expect_eq(ndn_stat(NDN_DROP_SEEN), 5);
	/* A window that accepted nothing for a while starts anew. */
	age(LEASE / 3 + 1000000000);
	expect_eq(send_data(UP, "/distribute" JOB "/v=7/seg=0", 9), XDP_REDIRECT);
}

static void distribute__only_from_upstream(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	ndn_right(H2, "/ps", NDN_MAY_WRITE);
	expect_dropped(send_data(H2, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_UPSTREAM);
}

/* The upstream face subscribed before the route led to it. */
static void distribute__never_back(void)
{
	ndn_reset(K_V4);
	ndn_route("/ps/job", H3);
	interest(UP, "/insert" JOB);
	ndn_route("/ps/job", UP);
	subscribe(H1);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
	expect_passed_to(H1);
}

static void distribute__only_with_the_right(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	expect_dropped(send_data(H2, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_RIGHT);
}

static void distribute__without_entry_is_stray(void)
{
	ndn_reset(K_V4);
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), NDN_DROP_STRAY);
	expect_eq(ndn_stat(NDN_STAT_KEPT), 0);
}

static void distribute__leases_end(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	age(LEASE);
	expect_eq(send_data(UP, "/distribute" JOB "/v=1/seg=0", 9), XDP_REDIRECT);
	age(LEASE / 2 + 1000000000);
	expect_dropped(send_data(UP, "/distribute" JOB "/v=1/seg=1", 9), NDN_DROP_NOBODY);
	ndn_run_sweep();
	expect_eq(ndn_entries(), 0);
	expect_eq(ndn_entry_row(JOB), -1);
}

static void sweep__leaves_the_living(void)
{
	ndn_reset(K_V4);
	subscribe(H1);
	interest(H2, "/ps/question");
	ndn_run_sweep();
	expect_eq(ndn_entries(), 1);
	expect_eq(ndn_rows("ndn_asks"), 1);
}

int main(void)
{
	ndn_open();
	run(insert__new_entry_goes_up);
	run(insert__counts_hops_down);
	run(insert__pending_passes_repeats);
	run(insert__acknowledgement_goes_to_those_who_wait);
	run(insert__confirmed_entry_answers_in_place);
	run(insert__longer_answer_is_left_to_clsact);
	run(insert__of_a_router_always_goes_up);
	run(insert__renewal_goes_up_after_a_third);
	run(insert__without_right_is_dropped);
	run(insert__without_route_or_from_below_is_dropped);
	run(insert__new_route_turns_the_entry);
	run(delete__others_stay);
	run(delete__answer_is_a_packet);
	run(delete__of_the_last_goes_up_and_comes_back);
	run(delete__insert_waits_for_it);
	run(delete__late_acknowledgement_does_not_confirm);
	run(delete__acknowledgement_is_late_for_a_while);
	run(delete__entry_stays_for_late_answers);
	run(delete__insert_waits_for_repeats);
	run(delete__insert_waits_for_repeats_for_a_while);
	run(distribute__goes_to_the_only_one_at_once);
	run(distribute__goes_to_all_as_a_flight);
	run(distribute__faces_of_one_port_are_for_clsact);
	run(distribute__once_and_nothing_older);
	run(distribute__only_from_upstream);
	run(distribute__never_back);
	run(distribute__only_with_the_right);
	run(distribute__without_entry_is_stray);
	run(distribute__leases_end);
	run(sweep__leaves_the_living);
	return tap_done();
}
