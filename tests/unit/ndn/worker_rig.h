/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One worker that a test drives packet by packet, as its PS or as an attacker.
 * Everything is static: each test program includes this file once.
 */
#ifndef TEST_WORKER_RIG_H
#define TEST_WORKER_RIG_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "ndn/app/worker/worker.h"

#define ELEMENTS 300
#define SEGMENT 512
#define SEGMENTS 3
#define V(n) ((1ULL << 32) + (n))

/* A worker, its last packet, and counters of its packets. */
struct rig {
	struct ndn_worker w;
	struct ndn_job_names names;
	struct ndn_key key;
	uint64_t now;
	enum ndn_mode mode;
	unsigned int interests[NDN_IS_NEWEST + 1];
	unsigned int fresh; /* Interests with MustBeFresh in the last turn */
	unsigned int data;
	struct ndn_packet last;
	uint8_t bytes[TRIB_NDN_PACKET_MAX];
	float values[ELEMENTS];
	uint64_t version;
	bool is_last;
};

static inline void sent(void *ctx, const uint8_t *packet, size_t n)
{
	struct ndn_name_parts parts;
	struct rig *r = ctx;

	memcpy(r->bytes, packet, n);
	expect_eq(ndn_packet_decode(&r->last, r->bytes, n), NDN_OK);
	if (r->last.type == TRIB_NDN_DATA) {
		r->data++;
		return;
	}
	r->interests[ndn_job_match_ps(&r->names, &r->last.interest.name, &parts)]++;
	r->fresh += r->last.interest.must_be_fresh;
	expect(r->last.interest.has_hop_limit && r->last.interest.has_nonce &&
	       r->last.interest.has_lifetime);
}

static inline void data(struct rig *r, enum ndn_name_kind what, uint64_t v, uint64_t s,
			const void *content, size_t n, const struct ndn_key *key)
{
	struct ndn_name_parts parts = {
		.gpu = {(const uint8_t *)"w0", 2}, .version = v, .segment = s};
	struct ndn_data d = {.has_content = true, .content = {(const uint8_t *)content, n}};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct ndn_name_buf name;
	size_t len;

	expect_eq(ndn_job_name(&name, &r->names, what, &parts), NDN_OK);
	d.name = ndn_name_of(&name);
	expect_eq(ndn_data_encode(&d, key, buf, sizeof(buf), &len), NDN_OK);
	ndn_worker_receive(&r->w, r->now, buf, len);
}

static inline void interest(struct rig *r, const char *text, uint64_t life)
{
	struct ndn_interest i = {
		.has_nonce = true, .has_lifetime = true, .lifetime = life, .can_be_prefix = true};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct ndn_name_buf name;
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	i.name = ndn_name_of(&name);
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), NDN_OK);
	ndn_worker_receive(&r->w, r->now, buf, len);
}

static inline void collect(struct rig *r, uint64_t v)
{
	char text[64];

	snprintf(text, sizeof(text), "/w0/ps/job/v=%llu", (unsigned long long)v);
	interest(r, text, 1000);
}

static inline struct ndn_start start_of(const struct rig *r)
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

static inline void start(struct rig *r, const struct ndn_start *s)
{
	uint8_t content[NDN_HEADER_MAX];

	data(r, NDN_IS_START, 0, 0, content, ndn_content_start_encode(content, s), &r->key);
}

static inline void ack(struct rig *r)
{
	data(r, NDN_IS_ACK, 0, 0, NULL, 0, &r->key);
}

/* Send segment @s of a model whose values are all @v. */
static inline void segment(struct rig *r, uint64_t v, uint32_t s, bool last,
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

static inline void model(struct rig *r, uint64_t v, bool last)
{
	for (uint32_t s = 0; s < SEGMENTS; s++)
		segment(r, v, s, last, &r->key);
}

static inline int take(struct rig *r)
{
	return ndn_worker_begin(&r->w, r->now, r->values, &r->version, &r->is_last);
}

static inline int give(struct rig *r)
{
	return ndn_worker_give(&r->w, r->now, r->version, r->values);
}

static inline void pass(struct rig *r, uint64_t ns)
{
	uint64_t end = r->now + ns, next;

	while ((next = ndn_worker_next(&r->w)) <= end) {
		r->now = next > r->now ? next : r->now;
		ndn_worker_run(&r->w, r->now);
	}
	r->now = end;
}

static inline void rig_init(struct rig *r, enum ndn_mode mode)
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

/* Join a task, until the worker has model 1 and owes a gradient. */
static inline void rig_join(struct rig *r, enum ndn_mode mode)
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

static inline enum ndn_answer answer(const struct rig *r)
{
	enum ndn_answer a = 0;

	expect_eq(r->last.type, TRIB_NDN_DATA);
	expect_eq(ndn_content_offer_decode(&a, r->last.data.content), 0);
	return a;
}

#endif /* TEST_WORKER_RIG_H */
