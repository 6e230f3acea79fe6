// SPDX-License-Identifier: BSD-2-Clause
/* The PS, packet by packet: answers to Interests, and offers. */
#include "ps_rig.h"

/* ---- Interests ---- */

static void answers__are_those_of_the_contract(void)
{
	struct ndn_newest newest;
	struct ndn_start start;
	struct ndn_model model;

	setup(NDN_MODE_ASYNC, 2);
	run_until(now + 100 * NDN_MS);
	interest("/insert/ps/job", false, NULL);
	expect_eq(answered("/distribute/ps/job").n, 0);
	interest("/delete/ps/job", false, NULL);
	expect_eq(answered("/delete/ps/job").n, 0);
	interest("/ps/job/b", false, NULL);
	expect_eq(ndn_content_start_decode(&start, answered("/ps/job/b")), 0);
	expect(start.mode == NDN_MODE_ASYNC && start.elements == ELEMENTS &&
	       start.segment == SEGMENT && start.lease_ms == 1600 && start.rto_ms == 20 &&
	       start.tree_job == NDN_NO_TREE && start.version == V(0));
	interest("/ps/job/32=newest", true, NULL);
	expect_eq(ndn_content_newest_decode(&newest, answered("/ps/job/32=newest/v=4294967296")),
		  0);
	expect(newest.segments == 3 && !newest.last);
	interest("/distribute/ps/job/v=4294967296/seg=2", false, NULL);
	expect_eq(
		ndn_content_model_decode(&model, answered("/distribute/ps/job/v=4294967296/seg=2")),
		0);
	expect(model.segments == 3 && !model.last && model.values.n == 400);
	teardown();
}

static void answers__are_made_once(void)
{
	uint64_t made;

	setup(NDN_MODE_SYNC, 1);
	run_until(now + 100 * NDN_MS);
	interest("/insert/ps/job", false, NULL);
	interest("/delete/ps/job", false, NULL);
	interest("/ps/job/32=newest", true, NULL);
	made = job->count[NPS_COUNT_SIGNED];
	for (int i = 0; i < 5; i++) {
		interest("/insert/ps/job", false, NULL);
		interest("/delete/ps/job", false, NULL);
		interest("/ps/job/32=newest", true, NULL);
		interest("/distribute/ps/job/v=4294967296/seg=1", false, NULL);
	}
	expect_eq(job->count[NPS_COUNT_SIGNED], made);
	expect_eq(job->count[NPS_COUNT_FETCH], 5);
	teardown();
}

static void token__comes_back(void)
{
	struct ndn_packet p;

	setup(NDN_MODE_SYNC, 1);
	interest("/insert/ps/job", false, "token");
	expect_eq(ndn_packet_decode(&p, last, last_len), NDN_OK);
	expect(p.lp.pit_token.n == 5 && !memcmp(p.lp.pit_token.p, "token", 5));
	expect_eq(p.type, TRIB_NDN_DATA);
	teardown();
}

static void questions__without_an_answer_are_counted(void)
{
	setup(NDN_MODE_SYNC, 1);
	run_until(now + 100 * NDN_MS);
#define REFUSED(text, prefix, why)                                                                 \
	do {                                                                                       \
		uint64_t before = dropped(why);                                                    \
		interest(text, prefix, NULL);                                                      \
		expect_eq(last_len, 0);                                                            \
		expect_eq(dropped(why), before + 1);                                               \
	} while (0)
	REFUSED("/ps/job/c", false, NPS_DROP_STRANGER);
	REFUSED("/ps/job/32=newest", false, NPS_DROP_PREFIX);
	REFUSED("/distribute/ps/job/v=4294967297/seg=0", false, NPS_DROP_VERSION);
	REFUSED("/distribute/ps/job/v=0/seg=0", false, NPS_DROP_VERSION);
	REFUSED("/distribute/ps/job/v=4294967296/seg=3", false, NPS_DROP_SEGMENT);
	REFUSED("/ps/job/a/b", false, NPS_DROP_NAME);
	REFUSED("/ps/job", true, NPS_DROP_NAME);
#undef REFUSED
	interest("/ps/other/a", false, NULL);
	interest("/distribute/ps/job", true, NULL);
	expect_eq(ps->stray[NPS_STRAY_NAME], 2);
	nps_rx(ps, (const uint8_t *)"\x05\x01", 2, now);
	expect_eq(ps->stray[NPS_STRAY_PACKET], 1);
	teardown();
}

static void nack__is_counted(void)
{
	struct ndn_lp lp = {.is_nack = true, .nack_reason = TRIB_NDN_NACK_NO_ROUTE};
	uint8_t buf[2000];
	size_t len;

	setup(NDN_MODE_SYNC, 1);
	run_until(now + 50 * NDN_MS);
	expect_eq(ndn_lp_encode(&lp, (struct ndn_bytes){last, last_len}, buf, sizeof(buf), &len),
		  NDN_OK);
	nps_rx(ps, buf, len, now);
	expect_eq(ps->stray[NPS_STRAY_NACK], 1);
	teardown();
}

/* ---- offers ---- */

static void offer__is_repeated_to_a_quarter_of_the_lease(void)
{
	setup(NDN_MODE_SYNC, 1);
	run_until(now + LEASE);
	/* 20, 40, ... 320, 400, 400 ms. */
	expect(offers >= 7 && offers <= 9);
	expect_eq(fresh_offers, offers);
	expect_eq(last_life, 401);
	teardown();
}

static void accept__is_taken_if_it_was_asked_for(void)
{
	setup(NDN_MODE_SYNC, 2);
	/* The first offers are still in the queue. */
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	expect_eq(dropped(NPS_DROP_UNASKED), 1);
	expect_eq(nps_members(job), 0);
	begin("/a/ps/job");
	expect_eq(nps_members(job), 1);
	answer("/c/ps/job", NDN_ANSWER_ACCEPT);
	expect_eq(dropped(NPS_DROP_STRANGER), 1);
	data("/b/ps/job", "accept", 6);
	expect_eq(dropped(NPS_DROP_CONTENT), 1);
	answer("/a/ps/job", NDN_ANSWER_BUSY);
	expect_eq(nps_members(job), 0);
	expect_eq(job->count[NPS_COUNT_EXCLUDED], 1);
	teardown();
}

static void signature__of_another_kind_is_refused(void)
{
	uint8_t secret[NDN_KEY_SIZE] = {1};
	struct ndn_key hmac = {0};

	setup(NDN_MODE_SYNC, 2);
	ndn_key_hmac(&hmac, secret);
	worker[0].key = &hmac;
	begin("/a/ps/job");
	expect_eq(dropped(NPS_DROP_SIGNATURE), 1);
	expect_eq(nps_members(job), 0);
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	expect_eq(dropped(NPS_DROP_SIGNATURE), 2);
	expect_eq(doubts, 1);
	worker_key = hmac;
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	expect_eq(nps_members(job), 1);
	run_until(now + 100 * NDN_MS);
	worker_key = ndn_key_sha256;
	gradient("a", V(0), 0, 1, 1);
	expect_eq(dropped(NPS_DROP_SIGNATURE), 3);
	expect_eq(doubts, 2);
	expect_eq(job->count[NPS_COUNT_SEGMENT], 0);
	teardown();
}

int main(void)
{
	run(answers__are_those_of_the_contract);
	run(answers__are_made_once);
	run(token__comes_back);
	run(questions__without_an_answer_are_counted);
	run(nack__is_counted);
	run(offer__is_repeated_to_a_quarter_of_the_lease);
	run(accept__is_taken_if_it_was_asked_for);
	run(signature__of_another_kind_is_refused);
	return tap_done();
}
