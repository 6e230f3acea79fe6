// SPDX-License-Identifier: BSD-2-Clause
/* The worker, packet by packet: offers, models, leases. */
#include "worker_rig.h"

/* ---- offers ---- */

static void offer__is_taken_by_who_wants_one(void)
{
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	interest(&r, "/w0/ps/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_BUSY);
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/other/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_BUSY);
	interest(&r, "/w1/ps/job", 1000);
	expect_eq(r.data, 2);
	interest(&r, "/w0/ps/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_ACCEPT);
	expect_eq(r.interests[NDN_IS_START], 1);
	/* The same offer again is accepted; another job's comes too late. */
	interest(&r, "/w0/ps/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_ACCEPT);
	interest(&r, "/w0/ps/job2", 1000);
	expect_eq(answer(&r), NDN_ANSWER_BUSY);
	expect_eq(r.interests[NDN_IS_START], 1);
	expect_eq(r.w.count[NDN_WORKER_ACCEPTED], 2);
	expect_eq(r.w.count[NDN_WORKER_REFUSED], 3);
	ndn_worker_free(&r.w);
}

static void offer__of_nobody_is_given_up(void)
{
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/ps/bogus", 1000);
	pass(&r, 20 * NDN_SEC);
	expect_eq(r.w.state, NDN_WORKER_IDLE);
	expect_eq(r.w.count[NDN_WORKER_UNSTARTED], 1);
	expect_eq(ndn_worker_next(&r.w), NDN_NEVER);
	interest(&r, "/w0/ps/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_ACCEPT);
	ndn_worker_free(&r.w);
}

static void start__is_asked_with_back_off(void)
{
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/ps/job", 1000);
	/* At 0, 40, 120, 280, 600, 1240 ms, then each second. */
	pass(&r, 600 * NDN_MS);
	expect_eq(r.interests[NDN_IS_START], 5);
	pass(&r, 4 * NDN_SEC);
	expect_eq(r.interests[NDN_IS_START], 9);
	ndn_worker_free(&r.w);
}

static void start__that_cannot_be_done_is_refused(void)
{
	struct ndn_start s;
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	ndn_worker_want(&r.w, r.now);
	r.w.config.elements = 1000;
	for (unsigned int i = 0; i < 4; i++) {
		interest(&r, "/w0/ps/job", 1000);
		s = start_of(&r);
		if (i == 0)
			s.elements = 1001;
		else
			s.tree_job = 7;
		/* Trees are accepted, but not for an asynchronous job. */
		r.w.config.trees = i > 1;
		if (i == 2)
			s.mode = NDN_MODE_ASYNC;
		start(&r, &s);
		expect_eq(ndn_worker_has_task(&r.w), i == 3);
	}
	expect_eq(r.w.count[NDN_WORKER_BAD_CONTENT], 3);
	expect_eq(r.w.count[NDN_WORKER_UNSTARTED], 3);
	ndn_worker_free(&r.w);
}

/* ---- models ---- */

static void model__needs_all_segments_in_any_order(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	segment(&r, V(2), 2, false, &r.key);
	segment(&r, V(2), 0, false, &r.key);
	segment(&r, V(2), 0, false, &r.key);
	expect_eq(take(&r), -EAGAIN);
	expect(ndn_worker_is_wanted(&r.w, V(1)));
	segment(&r, V(2), 1, false, &r.key);
	expect(!ndn_worker_is_wanted(&r.w, V(1)));
	r.version = V(1);
	expect_eq(give(&r), -ESTALE);
	expect_eq(take(&r), 0);
	expect_eq(r.version, V(2));
	for (unsigned int i = 0; i < ELEMENTS; i++)
		expect(r.values[i] == 2);
	expect_eq(r.w.count[NDN_WORKER_AGAIN], 1);
	ndn_worker_free(&r.w);
}

static void model__never_goes_back(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	segment(&r, V(3), 0, false, &r.key);
	model(&r, V(2), false);
	model(&r, V(1), false);
	expect_eq(take(&r), -EAGAIN);
	segment(&r, V(3), 1, false, &r.key);
	segment(&r, V(5), 0, false, &r.key);
	segment(&r, V(3), 2, false, &r.key);
	expect_eq(take(&r), -EAGAIN);
	expect_eq(r.w.count[NDN_WORKER_SKIPPED], 1);
	segment(&r, V(5), 1, false, &r.key);
	segment(&r, V(5), 2, false, &r.key);
	expect_eq(take(&r), 0);
	expect_eq(r.version, V(5));
	ndn_worker_free(&r.w);
}

static void model__unsigned_or_forged_is_refused(void)
{
	static const uint8_t other[NDN_KEY_SIZE] = {9};
	struct ndn_key wrong;
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_key_hmac(&wrong, other);
	for (uint32_t s = 0; s < SEGMENTS; s++) {
		segment(&r, V(2), s, false, &ndn_key_sha256);
		segment(&r, V(2), s, false, &wrong);
	}
	expect_eq(take(&r), -EAGAIN);
	expect_eq(r.w.count[NDN_WORKER_BAD_SIGNATURE], 2 * SEGMENTS);
	expect_eq(r.w.coming, 0);
	model(&r, V(2), false);
	expect_eq(take(&r), 0);
	ndn_worker_free(&r.w);
}

static void model__of_another_shape_is_refused(void)
{
	struct ndn_model m = {.segments = SEGMENTS + 1};
	uint8_t content[NDN_HEADER_MAX + SEGMENT + 4] = {0};
	size_t head;
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	head = ndn_content_model_encode(content, &m);
	data(&r, NDN_IS_MODEL, V(2), 0, content, head + SEGMENT, &r.key);
	m.segments = SEGMENTS;
	head = ndn_content_model_encode(content, &m);
	data(&r, NDN_IS_MODEL, V(2), 0, content, head + SEGMENT + 4, &r.key);
	data(&r, NDN_IS_MODEL, V(2), 2, content, head + SEGMENT, &r.key);
	data(&r, NDN_IS_MODEL, V(2), 0, content, 3, &r.key);
	expect_eq(r.w.count[NDN_WORKER_BAD_CONTENT], 4);
	data(&r, NDN_IS_MODEL, V(2), SEGMENTS, content, head, &r.key);
	data(&r, NDN_IS_MODEL, V(2), 1ULL << 40, content, head, &r.key);
	expect_eq(r.w.count[NDN_WORKER_STRAY], 2);
	/* The segments of a version must agree on whether it is the last one. */
	segment(&r, V(2), 0, false, &r.key);
	segment(&r, V(2), 1, true, &r.key);
	expect_eq(r.w.count[NDN_WORKER_BAD_CONTENT], 5);
	ndn_worker_free(&r.w);
}

static void model__before_the_subscription_is_of_an_earlier_life(void)
{
	struct ndn_start s;
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	s = start_of(&r);
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/ps/job", 1000);
	model(&r, V(1), false);
	expect_eq(r.w.count[NDN_WORKER_STRAY], SEGMENTS);
	start(&r, &s);
	expect_eq(r.interests[NDN_IS_INSERT], 1);
	model(&r, V(1), false);
	expect_eq(take(&r), 0);
	ndn_worker_free(&r.w);
}

static void model__last_ends_the_task(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	model(&r, V(2), true);
	expect_eq(r.interests[NDN_IS_DELETE], 1);
	expect_eq(give(&r), -ESTALE);
	expect_eq(take(&r), 0);
	expect(r.is_last);
	expect_eq(r.version, V(2));
	expect_eq(give(&r), -ESHUTDOWN);
	expect_eq(take(&r), -ESHUTDOWN);
	interest(&r, "/w0/ps/job", 1000);
	expect_eq(answer(&r), NDN_ANSWER_BUSY);
	/* Routers may answer deletes, and cannot sign: a digest suffices. */
	data(&r, NDN_IS_DELETE, 0, 0, NULL, 0, &ndn_key_sha256);
	expect_eq(r.w.state, NDN_WORKER_IDLE);
	expect_eq(ndn_worker_next(&r.w), NDN_NEVER);
	ndn_worker_free(&r.w);
}

static void delete__is_repeated_six_times(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_worker_leave(&r.w, r.now);
	expect_eq(ndn_worker_want(&r.w, r.now), -EBUSY);
	pass(&r, 60 * NDN_SEC);
	expect_eq(r.interests[NDN_IS_DELETE], 6);
	expect_eq(r.w.state, NDN_WORKER_IDLE);
	expect_eq(ndn_worker_want(&r.w, r.now), 0);
	ndn_worker_free(&r.w);
}

/* Take the next task of the same job, up to the start content. */
static void again(struct rig *r)
{
	struct ndn_start s = start_of(r);

	expect_eq(r->w.state, NDN_WORKER_IDLE);
	ndn_worker_want(&r->w, r->now);
	interest(r, "/w0/ps/job", 1000);
	start(r, &s);
}

/* A repeat of the delete may still be under way, and would end the subscription. */
static void delete__that_was_repeated_may_be_late(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_worker_leave(&r.w, r.now);
	pass(&r, 50 * NDN_MS);
	expect_eq(r.interests[NDN_IS_DELETE], 2);
	data(&r, NDN_IS_DELETE, 0, 0, NULL, 0, &ndn_key_sha256);
	again(&r);
	expect_eq(r.interests[NDN_IS_INSERT], 1);
	/* Nobody has acknowledged an insert that was not sent. */
	ack(&r);
	expect(!r.w.acked);
	pass(&r, 374 * NDN_MS);
	expect_eq(r.interests[NDN_IS_INSERT], 1);
	pass(&r, 2 * NDN_MS);
	expect_eq(r.interests[NDN_IS_INSERT], 2);
	ack(&r);
	expect(r.w.acked);
	ndn_worker_free(&r.w);
}

static void delete__that_was_sent_once_is_over(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_worker_leave(&r.w, r.now);
	data(&r, NDN_IS_DELETE, 0, 0, NULL, 0, &ndn_key_sha256);
	again(&r);
	expect_eq(r.interests[NDN_IS_INSERT], 2);
	ack(&r);
	expect(r.w.acked);
	ndn_worker_free(&r.w);
}

/* ---- leases ---- */

/* The acknowledgement of an insert that a delete followed says nothing. */
static void ack__of_the_last_task_does_not_count(void)
{
	struct rig r;

	for (unsigned int late = 0; late < 2; late++) {
		rig_join(&r, NDN_MODE_SYNC);
		while (r.interests[NDN_IS_INSERT] < 2)
			pass(&r, NDN_MS);
		ndn_worker_leave(&r.w, r.now);
		data(&r, NDN_IS_DELETE, 0, 0, NULL, 0, &ndn_key_sha256);
		pass(&r, late ? 376 * NDN_MS : 300 * NDN_MS);
		again(&r);
		expect_eq(r.interests[NDN_IS_INSERT], 3);
		ack(&r);
		expect_eq(!!r.w.acked, late);
		pass(&r, 50 * NDN_MS);
		ack(&r);
		expect(r.w.acked);
		ndn_worker_free(&r.w);
	}
}

static void lease__is_renewed_within_a_quarter(void)
{
	unsigned int before;
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	for (unsigned int i = 0; i < 10; i++) {
		before = r.interests[NDN_IS_INSERT];
		pass(&r, 599 * NDN_MS);
		expect_eq(r.interests[NDN_IS_INSERT], before);
		pass(&r, 152 * NDN_MS);
		expect(r.interests[NDN_IS_INSERT] > before);
		/* No answer came: the worker repeats the Interest. */
		before = r.interests[NDN_IS_INSERT];
		pass(&r, 300 * NDN_MS);
		expect(r.interests[NDN_IS_INSERT] > before);
		ack(&r);
	}
	ndn_worker_free(&r.w);
}

int main(void)
{
	run(offer__is_taken_by_who_wants_one);
	run(offer__of_nobody_is_given_up);
	run(start__is_asked_with_back_off);
	run(start__that_cannot_be_done_is_refused);
	run(model__needs_all_segments_in_any_order);
	run(model__never_goes_back);
	run(model__unsigned_or_forged_is_refused);
	run(model__of_another_shape_is_refused);
	run(model__before_the_subscription_is_of_an_earlier_life);
	run(model__last_ends_the_task);
	run(delete__is_repeated_six_times);
	run(delete__that_was_repeated_may_be_late);
	run(delete__that_was_sent_once_is_over);
	run(ack__of_the_last_task_does_not_count);
	run(lease__is_renewed_within_a_quarter);
	return tap_done();
}
