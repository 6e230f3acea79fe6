// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PS over NDN. An input describes two jobs, then events: bytes
 * that come as a packet, time that passes, and packets that are nearly right:
 * Interests and signed Data of the protocol's names, with fields of the input.
 * After each, what the PS holds of its workers must agree with itself, what it
 * sent be a packet, and no more than one for a packet that is none of ours; and
 * every value that it holds is finite, whatever gradients have in them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndn/app/ps/ps.h"
#include "tests/fuzz/input.h"

#define WORKERS 3
#define ELEMENTS 50
#define SEGMENT 64
#define SEGMENTS 4

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "ps: %s\n", what);
	abort();
}

static struct nps *ps;
static unsigned int answers, made[2];
static uint64_t taken[2][WORKERS];

static void on_send(void *ctx, const void *pkt, size_t n)
{
	struct ndn_packet p;

	(void)ctx;
	must(!ndn_packet_decode(&p, pkt, n), "sent what is no packet");
	answers += p.type == TRIB_NDN_DATA;
	if (p.type == TRIB_NDN_DATA)
		must(!ndn_data_verify(&p.data, &ndn_key_sha256),
		     "sent a Data with a wrong signature");
}

static int on_save(void *ctx, const struct nps_job *job)
{
	(void)ctx;
	must(job->model.n > 0, "saved what was not made");
	return 0;
}

static void on_version(void *ctx, const struct nps_job *job)
{
	unsigned int at = job != ps->job[0], i, got = 0;

	(void)ctx;
	made[at]++;
	for (i = 0; i < job->spec.nworker; i++) {
		const struct nps_guest *g = &job->guests[i];

		if (!g->got)
			continue;
		got++;
		must(g->have == job->segments, "half a gradient counts");
		must(g->asked > taken[at][i], "a gradient counts twice");
		taken[at][i] = g->asked;
	}
	must(got > 0, "a version of nothing");
	must(job->spec.mode == NDN_MODE_SYNC || got == 1, "not one by one");
}

static const struct nps_ops ops = {.send = on_send, .save = on_save, .version = on_version};

static struct nps_worker workers[WORKERS] = {{1, "a", NULL}, {1, "b", NULL}, {2, "bc", NULL}};

static void add(unsigned int at, uint8_t how)
{
	struct nps_spec s = {
		.markers = ndn_markers_default,
		.mode = how & 1 ? NDN_MODE_ASYNC : NDN_MODE_SYNC,
		.elements = ELEMENTS,
		.segment = SEGMENT,
		.lease_ms = 1600,
		.rto_ms = 20,
		.tree_job = NDN_NO_TREE,
		.versions = 1 + (how >> 4),
		.every = 1 + (how >> 1 & 1),
		.least = 1 + (how >> 2 & 1),
		.rate = how & 8 ? 10000 : 0,
		.lr = 1,
		.momentum = 0.5f,
		.key = &ndn_key_sha256,
		.verify = &ndn_key_sha256,
		.workers = workers,
		.nworker = WORKERS,
	};
	struct nps_model m = {.values = calloc(ELEMENTS, sizeof(float)),
			      .momentum = calloc(ELEMENTS, sizeof(float))};
	char why[200];

	/* One is the beginning of the other. */
	must(!ndn_name_parse(&s.name, at ? "/ps/job" : "/ps"), "name");
	must(!nps_add(ps, &s, 1 + at, &m, NDN_SEC, why, sizeof(why)), why);
}

static bool all_finite(const float *v)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < ELEMENTS; i++)
		good &= isfinite(v[i]);
	return good;
}

static void check(const struct nps_job *job)
{
	unsigned int i, k;

	must(all_finite(job->model.values), "a model that is not finite");
	must(all_finite(job->model.momentum), "a momentum that is not finite");

	must(job->model.n <= job->spec.versions, "beyond the last version");
	must(job->over == (job->model.n == job->spec.versions), "over");
	must(nps_published(job) <= nps_version(job), "ahead of itself");
	must(job->next <= job->segments, "beyond the last segment");
	for (i = 0; i < job->spec.nworker; i++) {
		const struct nps_guest *g = &job->guests[i];
		unsigned int have = 0;

		must(g->asked >= g->taken, "took what was not asked for");
		must(g->asked <= nps_published(job), "asked for the future");
		must(!g->asking || (g->member && g->ask.at), "asks for ever");
		must(!g->got || !g->asking, "asks for what it has");
		must(job->over || g->offer.at, "offers no more");
		must(g->flying <= job->segments, "more under way than exist");
		must(!g->values || all_finite(g->values), "took NaN or infinity");
		if (!g->begun)
			continue;
		for (k = 0; k < job->segments; k++)
			have += g->bits[k / 64] >> k % 64 & 1;
		must(have == g->have, "miscounts segments");
	}
}

/* ---- packets that are nearly right ---- */

static void interest(struct input *in, struct nps_job *job, uint64_t now)
{
	static const enum ndn_name_kind what[] = {NDN_IS_START,	 NDN_IS_INSERT, NDN_IS_DELETE,
						  NDN_IS_ACK,	 NDN_IS_MODEL,	NDN_IS_ASK,
						  NDN_IS_NEWEST, NDN_IS_OFFER};
	uint8_t which = (uint8_t)take(in, 1), where = (uint8_t)take(in, 1);
	const struct nps_worker *w = &workers[where % WORKERS];
	struct ndn_name_parts parts = {
		{w->name, w->len}, nps_published(job) - (where >> 4 & 3), where >> 6};
	struct ndn_interest i = {
		.can_be_prefix = which & 8,
		.must_be_fresh = which & 16,
		.has_nonce = true,
	};
	struct ndn_name_buf name;
	uint8_t buf[1000];
	size_t len;

	must(!ndn_job_name(&name, &job->names, what[which & 7], &parts), "make");
	i.name = ndn_name_of(&name);
	must(!ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len), "encode");
	answers = 0;
	nps_rx(ps, buf, len, now);
	must(answers <= 1, "several answers");
}

static size_t content_make(struct input *in, const struct nps_guest *g, bool offer, uint8_t *buf)
{
	uint8_t how = (uint8_t)take(in, 1);
	struct ndn_gradient v = {
		.segments = how & 1 ? (uint32_t)take(in, 4) : SEGMENTS,
		.id = how >> 6,
		.base = how & 2 ? take(in, 8) : g->asked - (how >> 4 & 1),
	};
	size_t n =
		offer ? ndn_content_offer_encode(buf, how & 1 ? NDN_ANSWER_BUSY : NDN_ANSWER_ACCEPT)
		      : ndn_content_gradient_encode(buf, &v);

	if (how & 4)
		buf[take(in, 1) % n] ^= (uint8_t)take(in, 1);
	/* A value of the input's, among zeros. */
	if (how & 8) {
		uint8_t at = (uint8_t)take(in, 1);
		uint32_t value = (uint32_t)take(in, 4);

		memcpy(buf + n + (at & 3) * 4, &value, 4);
	}
	return n;
}

static void data(struct input *in, struct nps_job *job, uint64_t now)
{
	uint8_t which = (uint8_t)take(in, 1), buf[1000];
	uint8_t content[NDN_HEADER_MAX + SEGMENT] = {0};
	struct nps_guest *g = &job->guests[(which & 3) % WORKERS];
	bool offer = which & 4;
	uint32_t s = which >> 3 & 7;
	uint64_t refused = job->drop[NPS_DROP_FINITE];
	struct ndn_name_parts parts = {
		{g->worker->name, g->worker->len}, g->asked + (which >> 6 & 1), s};
	struct ndn_data d = {.has_content = true};
	struct ndn_name_buf name;
	size_t n = content_make(in, g, offer, content), len;

	if (!offer)
		n += which & 128    ? take(in, 1) % SEGMENT
		     : s < SEGMENTS ? ndn_content_segment_bytes(ELEMENTS, SEGMENT, s)
				    : SEGMENT;
	must(!ndn_job_name(&name, &job->names, offer ? NDN_IS_OFFER : NDN_IS_GRADIENT, &parts),
	     "make");
	d.name = ndn_name_of(&name);
	d.content = (struct ndn_bytes){content, n};
	must(!ndn_data_encode(&d, NULL, buf, sizeof(buf), &len), "encode");
	nps_rx(ps, buf, len, now);
	must(job->drop[NPS_DROP_FINITE] == refused || !g->member, "a worker of NaN takes part");
}

static void raw(struct input *in, uint64_t now)
{
	size_t n = take(in, 1);
	uint8_t *copy;

	if (n > in->left)
		n = in->left;
	/* A buffer of the exact size, so that ASan sees reads beyond it. */
	copy = malloc(n ? n : 1);
	memcpy(copy, in->p, n);
	in->p += n;
	in->left -= n;
	nps_rx(ps, copy, n, now);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct input in = {p, n};
	uint64_t now = NDN_SEC;
	unsigned int i;

	memset(made, 0, sizeof(made));
	memset(taken, 0, sizeof(taken));
	ps = nps_new(&ops, NULL, 1);
	for (i = 0; i < 2; i++)
		add(i, (uint8_t)take(&in, 1));
	while (in.left) {
		uint8_t op = (uint8_t)take(&in, 1);
		struct nps_job *job = ps->job[op >> 7];

		switch (op & 3) {
		case 0:
			raw(&in, now);
			break;
		case 1:
			now += (uint64_t)(op >> 2 & 31) * 5 * NDN_MS;
			must(nps_run(ps, now) >= now, "a time that is past");
			break;
		case 2:
			interest(&in, job, now);
			break;
		default:
			data(&in, job, now);
		}
		nps_run(ps, now);
		for (i = 0; i < 2; i++)
			check(ps->job[i]);
	}
	for (i = 0; i < 2; i++)
		must(ps->job[i]->model.n == made[i], "miscounts versions");
	nps_free(ps);
	return 0;
}
