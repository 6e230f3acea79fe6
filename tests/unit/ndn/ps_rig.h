/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A PS with one or two workers that a test drives packet by packet. Everything
 * is static: each test program includes this file once.
 */
#ifndef TEST_PS_RIG_H
#define TEST_PS_RIG_H

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
/* The packet sent last, and counters of packets by kind. */
static uint8_t last[TRIB_NDN_PACKET_MAX];
static size_t last_len;
static unsigned int sent, saves, fresh_offers, offers, questions, segments;
static unsigned int doubts;
static uint64_t last_life;

static inline void on_send(void *ctx, const void *pkt, size_t n)
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

static inline int on_save(void *ctx, const struct nps_job *j)
{
	(void)ctx;
	(void)j;
	saves++;
	return 0;
}

static inline void on_log(void *ctx, const struct nps_job *j, const char *line)
{
	(void)ctx;
	(void)j;
	doubts += !!strstr(line, "wrong signature");
}

static const struct nps_ops ops = {.send = on_send, .save = on_save, .log = on_log};

static inline void setup(enum ndn_mode mode, unsigned int workers)
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
	/* on_send() needs this; packets are sent by nps_run() only. */
	expect_eq(nps_add(ps, &spec, 1, &m, now, why, sizeof(why)), 0);
	job = ps->job[0];
}

static inline void run_until(uint64_t until)
{
	while (now < until) {
		uint64_t next = nps_run(ps, now);

		now = next <= now ? now + 1000 : next < until ? next : until;
	}
	nps_run(ps, now);
}

static inline void teardown(void)
{
	nps_free(ps);
}

/* ---- packets to the PS ---- */

static inline void interest(const char *text, bool prefix, const char *token)
{
	struct ndn_name_buf name;
	struct ndn_interest i = {.can_be_prefix = prefix, .has_nonce = true, .nonce = 7};
	uint8_t buf[2000], wrapped[2000];
	struct ndn_lp lp = {0};
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	i.name = ndn_name_of(&name);
	expect_eq(ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), NDN_OK);
	last_len = 0;
	if (token) {
		lp.pit_token = (struct ndn_bytes){(const uint8_t *)token, strlen(token)};
		ndn_lp_encode(&lp, (struct ndn_bytes){buf, len}, wrapped, sizeof(wrapped), &len);
		memcpy(buf, wrapped, len);
	}
	nps_rx(ps, buf, len, now);
}

/*
 * Return the content of the packet sent last, which must be a Data named @text.
 */
static inline struct ndn_bytes answered(const char *text)
{
	struct ndn_name_buf name;
	static struct ndn_packet p;
	struct ndn_name is;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	is = ndn_name_of(&name);
	if (!expect(last_len && !ndn_packet_decode(&p, last, last_len) && p.type == TRIB_NDN_DATA &&
		    ndn_name_is_equal(&is, &p.data.name)))
		return (struct ndn_bytes){NULL, 0};
	expect_eq(ndn_data_verify(&p.data, &key), NDN_OK);
	return p.data.content;
}

static inline void data(const char *text, const void *content, size_t n)
{
	struct ndn_name_buf name;
	struct ndn_data d = {.has_content = true, .content = {content, n}};
	uint8_t buf[3000];
	size_t len;

	expect_eq(ndn_name_parse(&name, text), NDN_OK);
	d.name = ndn_name_of(&name);
	expect_eq(ndn_data_encode(&d, &worker_key, buf, sizeof(buf), &len), NDN_OK);
	nps_rx(ps, buf, len, now);
}

static inline void answer(const char *text, enum ndn_answer a)
{
	uint8_t buf[NDN_HEADER_MAX];

	data(text, buf, ndn_content_offer_encode(buf, a));
}

/* Send segment @s of a gradient whose values are all @value. */
static inline void gradient_of(const char *gpu, uint64_t v, uint32_t s, struct ndn_gradient g,
			       float value, size_t bytes)
{
	uint8_t buf[NDN_HEADER_MAX + 2 * SEGMENT] = {0};
	size_t n = ndn_content_gradient_encode(buf, &g), i;
	char text[100];

	for (i = 0; i < bytes / 4; i++)
		memcpy(buf + n + 4 * i, &value, 4);
	snprintf(text, sizeof(text), "/%s/ps/job/v=%llu/seg=%u", gpu, (unsigned long long)v, s);
	data(text, buf, n + bytes);
}

static inline void gradient(const char *gpu, uint64_t v, uint32_t s, uint64_t id, float value)
{
	struct ndn_gradient g = {3, id, v, {NULL, 0}};

	gradient_of(gpu, v, s, g, value, s < 2 ? SEGMENT : 400);
}

static inline uint64_t dropped(enum nps_drop why)
{
	return job->drop[why];
}

/*
 * A worker accepts the offer, and the PS asks it for the gradient of the newest
 * version.
 */
static inline void begin(const char *offer)
{
	run_until(now + 200 * NDN_MS);
	answer(offer, NDN_ANSWER_ACCEPT);
	run_until(now + 200 * NDN_MS);
}

#endif /* TEST_PS_RIG_H */
