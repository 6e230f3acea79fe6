// SPDX-License-Identifier: BSD-2-Clause
/*
 * One worker and whoever sends it packets: what it takes, what it refuses and
 * counts, and what it answers. Some of who sends is no PS.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/app/worker/worker.h"

#define ELEMENTS 300
#define SEGMENT 512
#define SEGMENTS 3
#define V(n) ((1ULL << 32) + (n))

/* A worker, and what it sent last and in all. */
struct rig {
	struct ndn_worker w;
	struct ndn_job_names names;
	struct ndn_key key;
	uint64_t now;
	enum ndn_mode mode;
	unsigned int interests[NDN_IS_NEWEST + 1];
	unsigned int fresh; /* Interests of the last turn with MustBeFresh */
	unsigned int data;
	struct ndn_packet last;
	uint8_t bytes[TRIB_NDN_PACKET_MAX];
	float values[ELEMENTS];
	uint64_t version;
	bool is_last;
};

static void sent(void *ctx, const uint8_t *packet, size_t n)
{
	struct ndn_name_parts parts;
	struct rig *r = ctx;

	memcpy(r->bytes, packet, n);
	expect_eq(ndn_packet_decode(&r->last, r->bytes, n), NDN_OK);
	if (r->last.type == TRIB_NDN_DATA) {
		r->data++;
		return;
	}
	r->interests[ndn_job_match_ps(&r->names, &r->last.interest.name,
				      &parts)]++;
	r->fresh += r->last.interest.must_be_fresh;
	expect(r->last.interest.has_hop_limit && r->last.interest.has_nonce &&
	       r->last.interest.has_lifetime);
}

static void data(struct rig *r, enum ndn_name_kind what, uint64_t v, uint64_t s,
		 const void *content, size_t n, const struct ndn_key *key)
{
	struct ndn_name_parts parts = {
		.gpu = {(const uint8_t *)"w0", 2}, .version = v, .segment = s};
	struct ndn_data d = {.has_content = true,
			     .content = {(const uint8_t *)content, n}};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct ndn_name_buf name;
	size_t len;

	expect_eq(ndn_job_name(&name, &r->names, what, &parts), NDN_OK);
	d.name = ndn_name_of(&name);
	expect_eq(ndn_data_encode(&d, key, buf, sizeof(buf), &len), NDN_OK);
	ndn_worker_receive(&r->w, r->now, buf, len);
}

static void interest(struct rig *r, const char *text, uint64_t life)
{
	struct ndn_interest i = {.has_nonce = true,
				 .has_lifetime = true,
				 .lifetime = life,
				 .can_be_prefix = true};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct ndn_name_buf name;
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	i.name = ndn_name_of(&name);
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len),
		  NDN_OK);
	ndn_worker_receive(&r->w, r->now, buf, len);
}

static void collect(struct rig *r, uint64_t v)
{
	char text[64];

	snprintf(text, sizeof(text), "/w0/ps/job/v=%llu",
		 (unsigned long long)v);
	interest(r, text, 1000);
}

static struct ndn_start start_of(const struct rig *r)
{
	return (struct ndn_start){.mode = r->mode,
				  .dtype = NDN_DTYPE_F32,
				  .elements = ELEMENTS,
				  .segment = SEGMENT,
				  .lease_ms = 3000,
				  .rto_ms = 40,
				  .tree_job = NDN_NO_TREE,
				  .version = V(0)};
}

static void start(struct rig *r, const struct ndn_start *s)
{
	uint8_t content[NDN_HEADER_MAX];

	data(r, NDN_IS_START, 0, 0, content,
	     ndn_content_start_encode(content, s), &r->key);
}

static void ack(struct rig *r)
{
	data(r, NDN_IS_ACK, 0, 0, NULL, 0, &r->key);
}

/* Segment @s of a model of which every value is @v. */
static void segment(struct rig *r, uint64_t v, uint32_t s, bool last,
		    const struct ndn_key *key)
{
	uint32_t n = ndn_content_segment_bytes(ELEMENTS, SEGMENT, s);
	struct ndn_model m = {.segments = SEGMENTS, .last = last};
	uint8_t content[NDN_HEADER_MAX + SEGMENT];
	size_t head = ndn_content_model_encode(content, &m);
	float value = (float)(uint32_t)v;

	for (uint32_t i = 0; i < n; i += 4)
		memcpy(content + head + i, &value, 4);
	data(r, NDN_IS_MODEL, v, s, content, head + n, key);
}

static void model(struct rig *r, uint64_t v, bool last)
{
	for (uint32_t s = 0; s < SEGMENTS; s++)
		segment(r, v, s, last, &r->key);
}

static int take(struct rig *r)
{
	return ndn_worker_begin(&r->w, r->now, r->values, &r->version,
				&r->is_last);
}

static int give(struct rig *r)
{
	return ndn_worker_give(&r->w, r->now, r->version, r->values);
}

static void pass(struct rig *r, uint64_t ns)
{
	uint64_t end = r->now + ns, next;

	while ((next = ndn_worker_next(&r->w)) <= end) {
		r->now = next > r->now ? next : r->now;
		ndn_worker_run(&r->w, r->now);
	}
	r->now = end;
}

static void rig_init(struct rig *r, enum ndn_mode mode)
{
	struct ndn_worker_config config = {
		.gpu = {(const uint8_t *)"w0", 2},
		.sign = ndn_key_sha256,
		.rto = 40 * NDN_MS,
		.seed = 1,
		.send = sent,
		.ctx = r,
	};
	static const uint8_t secret[NDN_KEY_SIZE] = {1, 2, 3};
	struct ndn_name_buf job;
	struct ndn_name name;

	memset(r, 0, sizeof(*r));
	r->now = NDN_SEC;
	r->mode = mode;
	ndn_key_hmac(&r->key, secret);
	config.verify = r->key;
	ndn_name_parse(&job, "/ps/job");
	ndn_name_parse(&config.filter, "/ps");
	name = ndn_name_of(&job);
	ndn_job_names_init(&r->names, &name, NULL);
	expect_eq(ndn_worker_init(&r->w, &config), 0);
}

/* Up to where it has model 1 and a gradient is due. */
static void rig_join(struct rig *r, enum ndn_mode mode)
{
	struct ndn_start s;

	rig_init(r, mode);
	s = start_of(r);
	ndn_worker_want(&r->w, r->now);
	interest(r, "/w0/ps/job", 1000);
	start(r, &s);
	ack(r);
	model(r, V(1), false);
	expect_eq(take(r), 0);
	expect_eq(r->version, V(1));
}

static enum ndn_answer answer(const struct rig *r)
{
	enum ndn_answer a = 0;

	expect_eq(r->last.type, TRIB_NDN_DATA);
	expect_eq(ndn_content_offer_decode(&a, r->last.data.content), 0);
	return a;
}

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
	/* The same again; another is too late. */
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
		/* With trees, but not of an asynchronous job. */
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
	/* Whether it is the last one is not for one segment to say. */
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
	/* Routers answer, too, and cannot sign. */
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

/* ---- leases ---- */

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
		/* Unanswered: again. */
		before = r.interests[NDN_IS_INSERT];
		pass(&r, 300 * NDN_MS);
		expect(r.interests[NDN_IS_INSERT] > before);
		ack(&r);
	}
	ndn_worker_free(&r.w);
}

/* ---- gradients ---- */

static struct ndn_gradient gradient_sent(const struct rig *r, uint64_t v)
{
	struct ndn_gradient g = {0};
	struct ndn_name_parts parts = {0};

	expect_eq(r->last.type, TRIB_NDN_DATA);
	expect_eq(ndn_job_match_gpu(&r->names, &r->last.data.name, &parts),
		  NDN_IS_GRADIENT);
	expect_eq(parts.version, v);
	expect_eq(ndn_content_gradient_decode(&g, r->last.data.content), 0);
	expect_eq(g.segments, SEGMENTS);
	return g;
}

static void collect__is_held_and_answered_again(void)
{
	struct ndn_gradient g;
	struct rig r;
	uint64_t id;

	rig_join(&r, NDN_MODE_SYNC);
	r.data = 0;
	collect(&r, V(1));
	expect_eq(r.data, 0);
	expect_eq(give(&r), 0);
	expect_eq(r.data, 1);
	g = gradient_sent(&r, V(1));
	id = g.id;
	expect_eq(g.base, V(1));
	interest(&r, "/w0/ps/job/v=4294967297/seg=2", 1000);
	g = gradient_sent(&r, V(1));
	expect_eq(g.id, id);
	expect_eq(g.values.n, ELEMENTS * 4 - 2 * SEGMENT);
	/* Not beyond its end, not by another's name. */
	interest(&r, "/w0/ps/job/v=4294967297/seg=3", 1000);
	interest(&r, "/w1/ps/job/v=4294967297", 1000);
	interest(&r, "/w0/ps/job2/v=4294967297", 1000);
	expect_eq(r.data, 2);
	ndn_worker_free(&r.w);
}

static void collect__is_forgotten_with_its_lifetime(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	r.data = 0;
	collect(&r, V(1));
	r.now += 1001 * NDN_MS;
	expect_eq(give(&r), 0);
	expect_eq(r.data, 0);
	collect(&r, V(1));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__for_a_newer_version_makes_it_fetch(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	collect(&r, V(1));
	r.interests[NDN_IS_ASK] = 0;
	collect(&r, V(2));
	expect_eq(r.interests[NDN_IS_ASK], 1);
	/* A flood of them does not. */
	for (unsigned int i = 0; i < 100; i++)
		collect(&r, V(3 + i));
	expect_eq(r.interests[NDN_IS_ASK], 1);
	expect(r.w.count[NDN_WORKER_PUSHED] > 60);
	ndn_worker_free(&r.w);
}

/* A sum would have it twice, or not at all. */
static void collect__binds_a_gradient_to_one_version(void)
{
	struct ndn_gradient g;
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	model(&r, V(2), false);
	model(&r, V(3), false);
	expect_eq(take(&r), -EAGAIN);
	expect_eq(give(&r), 0);
	collect(&r, V(2));
	g = gradient_sent(&r, V(2));
	expect_eq(g.base, V(1));
	r.data = 0;
	collect(&r, V(3));
	expect_eq(r.data, 0);
	/* And what it does next is about the newest. */
	expect_eq(take(&r), 0);
	expect_eq(r.version, V(3));
	expect_eq(give(&r), 0);
	expect_eq(r.data, 1);
	g = gradient_sent(&r, V(3));
	expect_eq(g.base, V(3));
	collect(&r, V(2));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__forged_takes_no_gradient(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	r.data = 0;
	collect(&r, V(0xffffffff));
	expect_eq(r.data, 0);
	model(&r, V(2), false);
	collect(&r, V(2));
	expect_eq(r.data, 1);
	ndn_worker_free(&r.w);
}

static void collect__waits_until_the_ps_tells_of_the_version(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	r.data = 0;
	collect(&r, V(2));
	expect_eq(r.data, 0);
	segment(&r, V(2), 1, false, &r.key);
	expect_eq(r.data, 1);
	expect_eq(gradient_sent(&r, V(2)).base, V(1));
	ndn_worker_free(&r.w);
}

static void async__another_life_of_the_ps_voids_the_gradient(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_ASYNC);
	expect_eq(give(&r), 0);
	model(&r, (2ULL << 32) + 1, false);
	r.data = 0;
	collect(&r, (2ULL << 32) + 1);
	expect_eq(r.data, 0);
	expect_eq(take(&r), 0);
	expect_eq(r.version, (2ULL << 32) + 1);
	ndn_worker_free(&r.w);
}

/* ---- what is missing ---- */

static void probe__asks_past_caches_and_for_the_newest(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	segment(&r, V(2), 1, false, &r.key);
	r.fresh = 0;
	r.interests[NDN_IS_ASK] = r.interests[NDN_IS_MODEL] = 0;
	/* One after another: fresh, not, the newest, not, fresh ... */
	while (r.w.count[NDN_WORKER_PROBES] < 8)
		pass(&r, NDN_MS);
	expect_eq(r.interests[NDN_IS_ASK], 2);
	expect_eq(r.interests[NDN_IS_MODEL], 6 * 2);
	/* Of the six, those that are the 1st and 5th; the newest always is. */
	expect_eq(r.fresh, 2 * 2 + 2);
	ndn_worker_free(&r.w);
}

static void probe__backs_off(void)
{
	struct rig r;

	rig_join(&r, NDN_MODE_SYNC);
	expect_eq(give(&r), 0);
	collect(&r, V(1));
	/* Leases of silence, but for renewals. */
	for (unsigned int i = 0; i < 40; i++) {
		pass(&r, 500 * NDN_MS);
		ack(&r);
	}
	expect(r.w.count[NDN_WORKER_PROBES] >= 8);
	expect(r.w.count[NDN_WORKER_PROBES] <= 16);
	ndn_worker_free(&r.w);
}

static void fetch__of_a_large_model_grows(void)
{
	uint8_t content[NDN_HEADER_MAX];
	struct ndn_newest n = {.segments = 500};
	struct ndn_start s;
	struct rig r;

	rig_init(&r, NDN_MODE_SYNC);
	s = start_of(&r);
	s.elements = 500 * SEGMENT / 4;
	ndn_worker_want(&r.w, r.now);
	interest(&r, "/w0/ps/job", 1000);
	start(&r, &s);
	ack(&r);
	data(&r, NDN_IS_NEWEST, V(1), 0, content,
	     ndn_content_newest_encode(content, &n), &r.key);
	expect_eq(r.interests[NDN_IS_MODEL], 8);
	for (uint32_t i = 0, want = 8; i < 500; i++) {
		uint8_t segment_content[NDN_HEADER_MAX + SEGMENT] = {0};
		struct ndn_model m = {.segments = 500};
		size_t head = ndn_content_model_encode(segment_content, &m);

		r.now += NDN_MS / 10;
		data(&r, NDN_IS_MODEL, V(1), i, segment_content, head + SEGMENT,
		     &r.key);
		if (i + 1 == want)
			want += want < 120 ? want + 8 : 64;
		expect_eq(r.interests[NDN_IS_MODEL], want < 500 ? want : 500);
	}
	expect_eq(r.w.version, V(1));
	ndn_worker_free(&r.w);
}

/* ---- rubbish ---- */

static void rubbish__is_counted(void)
{
	static const uint8_t junk[] = {6, 3, 1, 2, 3};
	struct ndn_lp lp = {.is_nack = true, .nack_reason = 150};
	uint8_t buf[256];
	struct rig r;
	size_t len;

	rig_join(&r, NDN_MODE_SYNC);
	ndn_worker_receive(&r.w, r.now, junk, sizeof(junk));
	ndn_worker_receive(&r.w, r.now, junk, 0);
	expect_eq(r.w.count[NDN_WORKER_BAD_NDN], 2);
	ndn_worker_leave(&r.w, r.now);
	expect_eq(r.last.type, TRIB_NDN_INTEREST);
	expect_eq(ndn_lp_encode(&lp, r.last.interest.wire, buf, sizeof(buf),
				&len),
		  NDN_OK);
	ndn_worker_receive(&r.w, r.now, buf, len);
	expect_eq(r.w.count[NDN_WORKER_NACKS], 1);
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
	run(lease__is_renewed_within_a_quarter);
	run(collect__is_held_and_answered_again);
	run(collect__is_forgotten_with_its_lifetime);
	run(collect__for_a_newer_version_makes_it_fetch);
	run(collect__binds_a_gradient_to_one_version);
	run(collect__forged_takes_no_gradient);
	run(collect__waits_until_the_ps_tells_of_the_version);
	run(async__another_life_of_the_ps_voids_the_gradient);
	run(probe__asks_past_caches_and_for_the_newest);
	run(probe__backs_off);
	run(fetch__of_a_large_model_grows);
	run(rubbish__is_counted);
	return tap_done();
}
