// SPDX-License-Identifier: BSD-2-Clause
/* The PS of names, packet by packet: what it answers, takes, and refuses. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/app/ps/ps.h"

#define ELEMENTS 300
#define SEGMENT 400 /* three of them */
#define LEASE (1600 * NDN_MS)
#define V(n) (1ULL << 32 | (n))

static struct nps *ps;
static struct nps_job *job;
static struct nps_worker worker[2];
static struct ndn_key key, worker_key;
static struct nps_spec spec;
static uint64_t now;
/* What was sent last, and how much of what. */
static uint8_t last[TRIB_NDN_PACKET_MAX];
static size_t last_len;
static unsigned int sent, saves, fresh_offers, offers, questions, segments;
static unsigned int doubts;
static uint64_t last_life;

static void on_send(void *ctx, const void *pkt, size_t n)
{
	struct ndn_name_parts parts;
	struct ndn_packet p;

	(void)ctx;
	memcpy(last, pkt, n);
	last_len = n;
	sent++;
	expect_eq(ndn_packet_decode(&p, pkt, n), NDN_OK);
	if (p.type != TRIB_NDN_INTEREST)
		return;
	last_life = p.interest.lifetime;
	expect(p.interest.has_hop_limit && p.interest.has_nonce);
	switch (ndn_job_match_gpu(&job->names, &p.interest.name, &parts)) {
	case NDN_IS_OFFER:
		offers++;
		fresh_offers += p.interest.must_be_fresh;
		break;
	case NDN_IS_COLLECT:
		expect(p.interest.can_be_prefix);
		questions++;
		break;
	case NDN_IS_GRADIENT:
		segments++;
		break;
	default:
		tap_bad++;
	}
}

static int on_save(void *ctx, const struct nps_job *j)
{
	(void)ctx;
	(void)j;
	saves++;
	return 0;
}

static void on_log(void *ctx, const struct nps_job *j, const char *line)
{
	(void)ctx;
	(void)j;
	doubts += !!strstr(line, "wrong signature");
}

static const struct nps_ops ops = {
	.send = on_send, .save = on_save, .log = on_log};

static void setup(enum ndn_mode mode, unsigned int workers)
{
	struct nps_model m = {.values = calloc(ELEMENTS, sizeof(float))};
	static const char *const name[] = {"a", "b"};
	char why[200];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		worker[i] = (struct nps_worker){.len = 1};
		memcpy(worker[i].name, name[i], 1);
	}
	spec = (struct nps_spec){
		.title = "job",
		.markers = ndn_markers_default,
		.mode = mode,
		.elements = ELEMENTS,
		.segment = SEGMENT,
		.lease_ms = 1600,
		.rto_ms = 20,
		.tree_job = NDN_NO_TREE,
		.versions = 100,
		.every = 10,
		.least = 1,
		.lr = 1,
		.key = &key,
		.verify = &worker_key,
		.workers = worker,
		.nworker = workers,
	};
	key = worker_key = ndn_key_sha256;
	ndn_name_parse(&spec.name, "/ps/job");
	now = NDN_SEC;
	doubts = 0;
	sent = saves = fresh_offers = offers = questions = segments = 0;
	ps = nps_new(&ops, NULL, 1);
	/* on_send() needs it; packets are sent by nps_run() only. */
	expect_eq(nps_add(ps, &spec, 1, &m, now, why, sizeof(why)), 0);
	job = ps->job[0];
}

static void run_until(uint64_t until)
{
	while (now < until) {
		uint64_t next = nps_run(ps, now);

		now = next <= now ? now + 1000 : next < until ? next : until;
	}
	nps_run(ps, now);
}

static void teardown(void)
{
	nps_free(ps);
}

/* ---- packets to the PS ---- */

static void interest(const char *text, bool prefix, const char *token)
{
	struct ndn_name_buf name;
	struct ndn_interest i = {
		.can_be_prefix = prefix, .has_nonce = true, .nonce = 7};
	uint8_t buf[2000], wrapped[2000];
	struct ndn_lp lp = {0};
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	i.name = ndn_name_of(&name);
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len),
		  NDN_OK);
	last_len = 0;
	if (token) {
		lp.pit_token = (struct ndn_bytes){(const uint8_t *)token,
						  strlen(token)};
		ndn_lp_encode(&lp, (struct ndn_bytes){buf, len}, wrapped,
			      sizeof(wrapped), &len);
		memcpy(buf, wrapped, len);
	}
	nps_rx(ps, buf, len, now);
}

/* What was sent last is a Data of this name; its content. */
static struct ndn_bytes answered(const char *text)
{
	struct ndn_name_buf name;
	static struct ndn_packet p;
	struct ndn_name is;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	is = ndn_name_of(&name);
	if (!expect(last_len && !ndn_packet_decode(&p, last, last_len) &&
		    p.type == TRIB_NDN_DATA &&
		    ndn_name_is_equal(&is, &p.data.name)))
		return (struct ndn_bytes){NULL, 0};
	expect_eq(ndn_data_verify(&p.data, &key), NDN_OK);
	return p.data.content;
}

static void data(const char *text, const void *content, size_t n)
{
	struct ndn_name_buf name;
	struct ndn_data d = {.has_content = true, .content = {content, n}};
	uint8_t buf[3000];
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	d.name = ndn_name_of(&name);
	expect_eq(ndn_data_encode(&d, &worker_key, buf, sizeof(buf), &len),
		  NDN_OK);
	nps_rx(ps, buf, len, now);
}

static void answer(const char *text, enum ndn_answer a)
{
	uint8_t buf[NDN_HEADER_MAX];

	data(text, buf, ndn_content_offer_encode(buf, a));
}

/* Segment @s of a gradient whose values all are @value. */
static void gradient_of(const char *gpu, uint64_t v, uint32_t s,
			struct ndn_gradient g, float value, size_t bytes)
{
	uint8_t buf[NDN_HEADER_MAX + 2 * SEGMENT] = {0};
	size_t n = ndn_content_gradient_encode(buf, &g), i;
	char text[100];

	for (i = 0; i < bytes / 4; i++)
		memcpy(buf + n + 4 * i, &value, 4);
	snprintf(text, sizeof(text), "/%s/ps/job/v=%llu/seg=%u", gpu,
		 (unsigned long long)v, s);
	data(text, buf, n + bytes);
}

static void gradient(const char *gpu, uint64_t v, uint32_t s, uint64_t id,
		     float value)
{
	struct ndn_gradient g = {3, id, v, {NULL, 0}};

	gradient_of(gpu, v, s, g, value, s < 2 ? SEGMENT : 400);
}

static uint64_t dropped(enum nps_drop why)
{
	return job->drop[why];
}

/* A worker takes part, and is being asked for version @v. */
static void begin(const char *offer)
{
	run_until(now + 200 * NDN_MS);
	answer(offer, NDN_ANSWER_ACCEPT);
	run_until(now + 200 * NDN_MS);
}

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
	       start.segment == SEGMENT && start.lease_ms == 1600 &&
	       start.rto_ms == 20 && start.tree_job == NDN_NO_TREE &&
	       start.version == V(0));
	interest("/ps/job/32=newest", true, NULL);
	expect_eq(ndn_content_newest_decode(
			  &newest, answered("/ps/job/32=newest/v=4294967296")),
		  0);
	expect(newest.segments == 3 && !newest.last);
	interest("/distribute/ps/job/v=4294967296/seg=2", false, NULL);
	expect_eq(ndn_content_model_decode(
			  &model,
			  answered("/distribute/ps/job/v=4294967296/seg=2")),
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
#define REFUSED(text, prefix, why)                                             \
	do {                                                                   \
		uint64_t before = dropped(why);                                \
		interest(text, prefix, NULL);                                  \
		expect_eq(last_len, 0);                                        \
		expect_eq(dropped(why), before + 1);                           \
	} while (0)
	REFUSED("/ps/job/c", false, NPS_DROP_STRANGER);
	REFUSED("/ps/job/32=newest", false, NPS_DROP_PREFIX);
	REFUSED("/distribute/ps/job/v=4294967297/seg=0", false,
		NPS_DROP_VERSION);
	REFUSED("/distribute/ps/job/v=0/seg=0", false, NPS_DROP_VERSION);
	REFUSED("/distribute/ps/job/v=4294967296/seg=3", false,
		NPS_DROP_SEGMENT);
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
	struct ndn_lp lp = {.is_nack = true,
			    .nack_reason = TRIB_NDN_NACK_NO_ROUTE};
	uint8_t buf[2000];
	size_t len;

	setup(NDN_MODE_SYNC, 1);
	run_until(now + 50 * NDN_MS);
	expect_eq(ndn_lp_encode(&lp, (struct ndn_bytes){last, last_len}, buf,
				sizeof(buf), &len),
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
	/* The first offers have not left yet. */
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

/* ---- gradients ---- */

static void gradient__is_taken_once(void)
{
	setup(NDN_MODE_ASYNC, 1);
	begin("/a/ps/job");
	expect(questions > 0);
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	/* It is not asked for any more, */
	for (uint32_t s = 0; s < 3; s++)
		gradient("a", V(0), s, 1, 2);
	expect_eq(job->model.n, 1);
	expect_eq(dropped(NPS_DROP_UNASKED), 3);
	/* not even after the worker has left and come again. */
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
	/* Distribution takes so long that V(0) is what is out all the time. */
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
		/* The others go on without it, and it may come back. */
		expect_eq(job->model.n, 1);
		expect(job->model.values[0] == -2 &&
		       job->model.values[299] == -2);
		gradient("b", V(0), 2, 1, 1);
		expect_eq(dropped(NPS_DROP_UNASKED), 1);
		teardown();
	}
}

/* Each is finite, but neither their sum nor what the model becomes. */
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
	/* Synchronous: of the very version that is asked for. */
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
	/* Only the one that is missing, again and again. */
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
	/* Nobody is asked any more; fetching goes on. */
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
		/* The reserve is for the worker's key, no more. */
		expect(other->job[0]->room <= room &&
		       other->job[0]->room + 110 > room);
		nps_free(other);
	}
	expect_eq(nps_segment_fitting(&spec, 150), 0);
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
	run(kept__are_the_last_two);
	run(checkpoints__are_written_now_and_then);
	run(segment__fits_into_the_packet);
	return tap_done();
}
