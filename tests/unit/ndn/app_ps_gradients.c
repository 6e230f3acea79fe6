// SPDX-License-Identifier: BSD-2-Clause
/* The PS, packet by packet: gradients, and the versions made from them. */
#include "ps_rig.h"

/* ---- gradients ---- */

static void gradient__is_taken_once(void)
{
	setup(NDN_MODE_ASYNC, 1);
	begin("/a/ps/job");
	expect(questions > 0);
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	/* The PS does not ask for this gradient again. */
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	expect_eq(dropped(NPS_DROP_UNASKED), 3);
	/* It refuses this gradient even after the worker has left and come back. */
	answer("/a/ps/job", NDN_ANSWER_BUSY);
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	expect(job->model.values[0] == -2 && job->model.values[299] == -2);
	teardown();
}

static void taken__gradient_is_not_asked_again_of_who_comes_back(void)
{
	setup(NDN_MODE_ASYNC, 1);
	/* Distribution takes so long that V(0) stays the distributed version. */
	job->pace.rate = 300;
	begin("/a/ps/job");
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	expect_eq(nps_published(job), V(0));
	answer("/a/ps/job", NDN_ANSWER_BUSY);
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	teardown();
}

static void gradient__of_another_shape_is_refused(void)
{
	struct ndn_gradient good = {3, 1, V(0), {NULL, 0}}, g = good;

	setup(NDN_MODE_SYNC, 1);
	begin("/a/ps/job");
	g.segments = 2;
	gradient_of("a", V(0), 0, g, 1, SEGMENT);
	gradient_of("a", V(0), 3, good, 1, SEGMENT);
	gradient_of("a", V(0), 0, good, 1, SEGMENT - 4);
	gradient_of("a", V(0), 0, good, 1, SEGMENT + 4);
	expect_eq(dropped(NPS_DROP_SHAPE), 4);
	gradient_of("a", V(0), 0, good, 1, SEGMENT - 3);
	gradient_of("a", V(0), 0, good, 1, 0);
	data("/a/ps/job/v=4294967296/seg=0", "gradient", 8);
	expect_eq(dropped(NPS_DROP_CONTENT), 3);
	gradient("b", V(0), 0, 1, 1);
	expect_eq(dropped(NPS_DROP_STRANGER), 1);
	gradient("a", V(1), 0, 1, 1);
	expect_eq(dropped(NPS_DROP_UNASKED), 1);
	expect_eq(job->count[NPS_COUNT_SEGMENT], 0);
	gradient("a", V(0), 0, 1, 1);
	gradient("a", V(0), 0, 1, 1);
	expect_eq(dropped(NPS_DROP_COPY), 1);
	expect_eq(job->count[NPS_COUNT_SEGMENT], 1);
	teardown();
}

static void gradient__that_is_not_finite_leaves_its_worker_out(void)
{
	static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setup(NDN_MODE_SYNC, 2);
		begin("/a/ps/job");
		answer("/b/ps/job", NDN_ANSWER_ACCEPT);
		run_until(now + 200 * NDN_MS);
		for (uint32_t s = 0; s < 3; s++)
			gradient("a", V(0), s, 1, 2);
		gradient("b", V(0), 0, 1, FLT_MAX);
		expect_eq(job->count[NPS_COUNT_SEGMENT], 4);
		expect_eq(job->model.n, 0);
		gradient("b", V(0), 1, 1, bad[i]);
		expect_eq(dropped(NPS_DROP_FINITE), 1);
		expect_eq(job->count[NPS_COUNT_EXCLUDED], 1);
		/* The other workers continue without b, and b may come back. */
		expect_eq(job->model.n, 1);
		expect(job->model.values[0] == -2 && job->model.values[299] == -2);
		gradient("b", V(0), 2, 1, 1);
		expect_eq(dropped(NPS_DROP_UNASKED), 1);
		teardown();
	}
}

/* Each value is finite, but the sum is not, nor is the model made from it. */
static void model__is_held_at_the_largest_value(void)
{
	static const float to[] = {FLT_MAX, -FLT_MAX};

	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		setup(NDN_MODE_SYNC, 2);
		begin("/a/ps/job");
		answer("/b/ps/job", NDN_ANSWER_ACCEPT);
		run_until(now + 200 * NDN_MS);
		for (uint32_t s = 0; s < 3; s++) {
			gradient("a", V(0), s, 1, to[i]);
			gradient("b", V(0), s, 1, to[i]);
		}
		expect_eq(job->model.n, 1);
		for (uint32_t k = 0; k < ELEMENTS; k++)
			expect(job->model.values[k] == -to[i]);
		expect_eq(job->count[NPS_COUNT_HELD], ELEMENTS);
		expect_eq(dropped(NPS_DROP_FINITE), 0);
		teardown();
	}
}

static void model__that_is_not_finite_is_refused(void)
{
	float values[ELEMENTS] = {0}, momentum[ELEMENTS] = {0};
	struct nps_model m = {.values = values, .momentum = momentum};
	char why[200] = "";

	setup(NDN_MODE_SYNC, 1);
	ndn_name_parse(&spec.name, "/ps/other");
	spec.momentum = 0.5f;
	values[ELEMENTS - 1] = NAN;
	expect_eq(nps_add(ps, &spec, 1, &m, now, why, sizeof(why)), -EINVAL);
	expect(strstr(why, "NaN"));
	values[ELEMENTS - 1] = 0;
	momentum[0] = -INFINITY;
	expect_eq(nps_add(ps, &spec, 1, &m, now, why, sizeof(why)), -EINVAL);
	teardown();
}

static void base__must_be_of_this_incarnation(void)
{
	struct ndn_gradient g = {3, 1, V(0), {NULL, 0}};

	setup(NDN_MODE_ASYNC, 1);
	begin("/a/ps/job");
	g.base = 0;
	gradient_of("a", V(0), 0, g, 1, SEGMENT);
	g.base = V(1);
	gradient_of("a", V(0), 0, g, 1, SEGMENT);
	g.base = 2ULL << 32;
	gradient_of("a", V(0), 0, g, 1, SEGMENT);
	expect_eq(dropped(NPS_DROP_BASE), 3);
	g.base = V(0);
	gradient_of("a", V(0), 0, g, 1, SEGMENT);
	expect_eq(job->count[NPS_COUNT_SEGMENT], 1);
	teardown();
	/* Synchronous: the gradient must have the version that was asked for. */
	setup(NDN_MODE_SYNC, 1);
	begin("/a/ps/job");
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	run_until(now + 200 * NDN_MS);
	g.base = V(0);
	gradient_of("a", V(1), 0, g, 1, SEGMENT);
	expect_eq(dropped(NPS_DROP_BASE), 1);
	teardown();
}

static void segments__of_two_gradients_are_not_mixed(void)
{
	setup(NDN_MODE_SYNC, 1);
	begin("/a/ps/job");
	gradient("a", V(0), 0, 1, 5);
	gradient("a", V(0), 1, 1, 5);
	gradient("a", V(0), 2, 2, 7);
	expect_eq(job->model.n, 0);
	expect_eq(job->count[NPS_COUNT_AGAIN], 1);
	gradient("a", V(0), 0, 2, 7);
	gradient("a", V(0), 1, 2, 7);
	expect_eq(job->model.n, 1);
	expect(job->model.values[0] == -7 && job->model.values[299] == -7);
	teardown();
}

static void missing__segments_are_asked_for(void)
{
	setup(NDN_MODE_SYNC, 1);
	begin("/a/ps/job");
	gradient("a", V(0), 0, 1, 5);
	expect_eq(segments, 2);
	gradient("a", V(0), 2, 1, 5);
	/* The PS repeats its Interest for the missing segment only. */
	segments = 0;
	run_until(now + 300 * NDN_MS);
	expect(segments >= 2);
	gradient("a", V(0), 1, 1, 5);
	expect_eq(job->model.n, 1);
	segments = 0;
	run_until(now + 300 * NDN_MS);
	expect_eq(segments, 0);
	teardown();
}

static void sum__of_a_tree_makes_a_version(void)
{
	float sum[ELEMENTS];
	unsigned int i;

	setup(NDN_MODE_SYNC, 2);
	run_until(now + 100 * NDN_MS);
	for (i = 0; i < ELEMENTS; i++)
		sum[i] = 2 * (float)i;
	expect_eq(nps_gradient_sum(job, V(1), sum, 2), -ESTALE);
	expect_eq(nps_gradient_sum(job, V(0), sum, 0), -EINVAL);
	expect_eq(nps_gradient_sum(job, V(0), sum, 2), 0);
	expect_eq(nps_version(job), V(1));
	for (i = 0; i < ELEMENTS; i++)
		expect(job->model.values[i] == -(float)i);
	teardown();
	setup(NDN_MODE_ASYNC, 1);
	expect_eq(nps_gradient_sum(job, V(0), sum, 2), -EINVAL);
	teardown();
}

static void sum__that_is_lost_makes_a_version_without_a_step(void)
{
	float before[ELEMENTS];

	setup(NDN_MODE_SYNC, 2);
	run_until(now + 100 * NDN_MS);
	memcpy(before, job->model.values, sizeof(before));
	expect_eq(nps_gradient_lost(job, V(1)), -ESTALE);
	expect_eq(nps_gradient_lost(job, V(0)), 0);
	expect_eq(nps_version(job), V(1));
	expect(!memcmp(before, job->model.values, sizeof(before)));
	expect_eq(nps_gradient_lost(job, V(0)), -ESTALE);
	teardown();
	setup(NDN_MODE_ASYNC, 1);
	expect_eq(nps_gradient_lost(job, V(0)), -EINVAL);
	teardown();
}

/* Another asked the worker for a newer version: it answers no older one any more. */
static void collect__moves_on_to_the_newest(void)
{
	setup(NDN_MODE_ASYNC, 2);
	begin("/a/ps/job");
	answer("/b/ps/job", NDN_ANSWER_ACCEPT);
	run_until(now + 200 * NDN_MS);
	gradient("b", V(0), 0, 1, 5);
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	run_until(now + 200 * NDN_MS);
	expect_eq(nps_published(job), V(1));
	/* Worker b is not given up: it may be slow. */
	for (unsigned int i = 0; i < 7; i++) {
		answer("/b/ps/job", NDN_ANSWER_ACCEPT);
		gradient("b", V(1), 0, 1, 5);
		run_until(now + LEASE / 8);
	}
	expect_eq(job->count[NPS_COUNT_SEGMENT], 4);
	for (unsigned int i = 0; i < 4; i++) {
		answer("/b/ps/job", NDN_ANSWER_ACCEPT);
		run_until(now + LEASE / 8);
	}
	for (uint32_t s = 0; s < 3; s++)
		gradient("b", V(1), s, 1, 5);
	expect_eq(job->model.n, 2);
	expect(job->model.values[0] == -7 && job->model.values[299] == -7);
	teardown();
}

/* ---- versions ---- */

static void kept__are_the_last_two(void)
{
	setup(NDN_MODE_SYNC, 1);
	begin("/a/ps/job");
	for (unsigned int n = 0; n < 2; n++) {
		for (uint32_t s = 0; s < 3; s++)
			gradient("a", V(n), s, 1, 2);
		run_until(now + 200 * NDN_MS);
	}
	interest("/distribute/ps/job/v=4294967298/seg=0", false, NULL);
	answered("/distribute/ps/job/v=4294967298/seg=0");
	interest("/distribute/ps/job/v=4294967297/seg=0", false, NULL);
	answered("/distribute/ps/job/v=4294967297/seg=0");
	interest("/distribute/ps/job/v=4294967296/seg=0", false, NULL);
	expect_eq(last_len, 0);
	expect_eq(dropped(NPS_DROP_VERSION), 1);
	teardown();
}

static void checkpoints__are_written_now_and_then(void)
{
	setup(NDN_MODE_SYNC, 1);
	job->spec.every = 2;
	job->spec.versions = 5;
	begin("/a/ps/job");
	for (unsigned int n = 0; n < 5; n++) {
		for (uint32_t s = 0; s < 3; s++)
			gradient("a", V(n), s, 1, 2);
		run_until(now + 200 * NDN_MS);
	}
	expect_eq(job->model.n, 5);
	expect_eq(saves, 3);
	expect(job->over && job->ended && nps_ended(ps));
	/*
	 * The job is over: the PS asks no worker for gradients, but still
	 * serves versions.
	 */
	offers = questions = 0;
	run_until(now + 2 * LEASE);
	expect_eq(offers + questions, 0);
	answer("/a/ps/job", NDN_ANSWER_ACCEPT);
	expect_eq(dropped(NPS_DROP_ENDED), 1);
	interest("/distribute/ps/job/v=4294967301/seg=0", false, NULL);
	expect(last_len > 0);
	teardown();
}

static void segment__fits_into_the_packet(void)
{
	setup(NDN_MODE_SYNC, 2);
	for (size_t room = 300; room < 3000; room += 100) {
		struct nps *other = nps_new(&ops, NULL, 1);
		struct nps_model m = {.values = calloc(100000, sizeof(float))};
		struct nps_spec s = spec;
		char why[200];

		s.segment = nps_segment_fitting(&spec, room);
		s.elements = 100000;
		expect_eq(nps_add(other, &s, 1, &m, now, why, sizeof(why)), 0);
		/* The reserve has room for the worker's key and no more. */
		expect(other->job[0]->room <= room && other->job[0]->room + 110 > room);
		nps_free(other);
	}
	expect_eq(nps_segment_fitting(&spec, 150), 0);
	teardown();
}

int main(void)
{
	run(gradient__is_taken_once);
	run(taken__gradient_is_not_asked_again_of_who_comes_back);
	run(gradient__of_another_shape_is_refused);
	run(gradient__that_is_not_finite_leaves_its_worker_out);
	run(model__is_held_at_the_largest_value);
	run(model__that_is_not_finite_is_refused);
	run(base__must_be_of_this_incarnation);
	run(segments__of_two_gradients_are_not_mixed);
	run(missing__segments_are_asked_for);
	run(sum__of_a_tree_makes_a_version);
	run(sum__that_is_lost_makes_a_version_without_a_step);
	run(collect__moves_on_to_the_newest);
	run(kept__are_the_last_two);
	run(checkpoints__are_written_now_and_then);
	run(segment__fits_into_the_packet);
	return tap_done();
}
