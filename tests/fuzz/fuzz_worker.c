// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker over NDN. An input is a list of events: bytes that come as a
 * packet, time that passes, what its caller does, and packets that are nearly
 * right, with fields of the input: Interests, and Data that the PS has signed or
 * has not. After each: what it sends is a packet, and so many at most; a model
 * that the caller gets is newer than the last, and has only values that were
 * signed; a gradient is of the version that it says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndn/app/worker/worker.h"
#include "tests/fuzz/input.h"

#define ELEMENTS 50
#define SEGMENT 64
#define SEGMENTS 4
/* An answer to each held Interest, a fetch, a delete. */
#define SENT_MAX (NDN_WORKER_HELD_MAX + NDN_WORKER_BATCH_MAX + 4)

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "worker: %s\n", what);
	abort();
}

static struct ndn_worker w;
static struct ndn_job_names names;
static struct ndn_key ps_key;
static uint64_t now, seen;
static unsigned int sent;

static float value_of(uint64_t version, uint64_t element)
{
	return (float)((version * 31 + element) % 1000);
}

static void check_gradient(const struct ndn_data *d)
{
	struct ndn_name_parts parts = {0};
	struct ndn_gradient g;
	float v;

	if (ndn_job_match_gpu(&names, &d->name, &parts) != NDN_IS_GRADIENT)
		return;
	must(!ndn_content_gradient_decode(&g, d->content), "sent a bad gradient");
	must(g.segments == SEGMENTS && parts.segment < SEGMENTS,
	     "sent another segment than there are");
	/* Asynchronous: of a newer version, too, if the question is old. */
	must(g.base >> 32 == parts.version >> 32 &&
		     (w.start.mode == NDN_MODE_ASYNC || g.base == parts.version),
	     "sent a gradient of another life");
	for (size_t i = 0; i < g.values.n; i += 4) {
		memcpy(&v, g.values.p + i, 4);
		must(v == -value_of(g.base, parts.segment * SEGMENT / 4 + i / 4),
		     "sent another gradient than it was given");
	}
}

static void on_send(void *ctx, const uint8_t *packet, size_t n)
{
	struct ndn_packet p;

	(void)ctx;
	must(++sent <= SENT_MAX, "sends too much");
	must(!ndn_packet_decode(&p, packet, n), "sent what is no packet");
	if (p.type != TRIB_NDN_DATA)
		return;
	must(!ndn_data_verify(&p.data, &ndn_key_sha256), "sent a Data with a wrong signature");
	check_gradient(&p.data);
}

static void receive(const uint8_t *packet, size_t n)
{
	/* A buffer of the exact size, so that ASan sees reads beyond it. */
	uint8_t *copy = malloc(n ? n : 1);

	memcpy(copy, packet, n);
	sent = 0;
	ndn_worker_receive(&w, now, copy, n);
	free(copy);
}

static void raw(struct input *in)
{
	size_t n = take(in, 1);

	if (n > in->left)
		n = in->left;
	receive(in->p, n);
	in->p += n;
	in->left -= n;
}

static uint64_t version_of(struct input *in)
{
	uint64_t code = take(in, 1);

	return ((code >> 6) + 1) << 32 | (code & 0x3f);
}

static void interest(struct input *in)
{
	static const enum ndn_name_kind whats[] = {NDN_IS_OFFER, NDN_IS_COLLECT, NDN_IS_GRADIENT,
						   NDN_IS_MODEL};
	struct ndn_name_parts parts = {.gpu = {(const uint8_t *)"w0", 2}};
	struct ndn_interest i = {.has_nonce = true, .has_lifetime = true};
	enum ndn_name_kind what = whats[take(in, 1) % 4];
	struct ndn_name_buf name;
	uint8_t buf[1000];
	size_t n;

	parts.version = version_of(in);
	parts.segment = take(in, 1) % (SEGMENTS + 2);
	i.lifetime = take(in, 2);
	i.can_be_prefix = i.lifetime & 1;
	if (ndn_job_name(&name, &names, what, &parts))
		return;
	i.name = ndn_name_of(&name);
	if (!ndn_interest_encode(&i, NULL, buf, sizeof(buf), &n))
		receive(buf, n);
}

static size_t content_of(struct input *in, enum ndn_name_kind what,
			 const struct ndn_name_parts *parts, bool good, uint8_t *buf)
{
	struct ndn_start s = {.mode = take(in, 1) & 1,
			      .dtype = NDN_DTYPE_F32,
			      .elements = ELEMENTS,
			      .segment = SEGMENT,
			      .lease_ms = 1000,
			      .rto_ms = 20,
			      .tree_job = NDN_NO_TREE,
			      .version = 1ULL << 32};
	struct ndn_newest newest = {.segments = SEGMENTS};
	/* n = 63 is the last of each life. */
	bool last = (parts->version & 0x3f) == 0x3f;
	struct ndn_model m = {.segments = SEGMENTS, .last = last};
	uint32_t n;
	size_t head;
	float v;

	switch (what) {
	case NDN_IS_START:
		if (!good)
			s.elements = take(in, 3);
		return ndn_content_start_encode(buf, &s);
	case NDN_IS_NEWEST:
		newest.last = last;
		return ndn_content_newest_encode(buf, &newest);
	case NDN_IS_MODEL:
		head = ndn_content_model_encode(buf, &m);
		n = parts->segment < SEGMENTS
			    ? ndn_content_segment_bytes(ELEMENTS, SEGMENT, (uint32_t)parts->segment)
			    : 4;
		for (uint32_t i = 0; i < n; i += 4) {
			v = value_of(parts->version, parts->segment * SEGMENT / 4 + i / 4);
			v += good ? 0 : 1;
			memcpy(buf + head + i, &v, 4);
		}
		return head + n;
	default:
		return 0;
	}
}

static void data(struct input *in)
{
	static const enum ndn_name_kind whats[] = {NDN_IS_START, NDN_IS_ACK,   NDN_IS_MODEL,
						   NDN_IS_MODEL, NDN_IS_MODEL, NDN_IS_NEWEST,
						   NDN_IS_DELETE};
	uint64_t code = take(in, 1);
	/* Unsigned packets carry other values than signed ones. */
	bool good = code >= 32;
	enum ndn_name_kind what = whats[code % 7];
	struct ndn_name_parts parts = {.gpu = {(const uint8_t *)"w0", 2}};
	uint8_t content[NDN_HEADER_MAX + SEGMENT], buf[1000];
	struct ndn_data d = {.has_content = true};
	struct ndn_name_buf name;
	size_t n;

	parts.version = version_of(in);
	parts.segment = take(in, 1) % (SEGMENTS + 1);
	d.content = (struct ndn_bytes){content, content_of(in, what, &parts, good, content)};
	/* Sometimes cut: signed, and of no sense. */
	if (code == 255 && d.content.n)
		d.content.n = take(in, 1) % d.content.n;
	if (ndn_job_name(&name, &names, what, &parts))
		return;
	d.name = ndn_name_of(&name);
	if (!ndn_data_encode(&d, good ? &ps_key : &ndn_key_sha256, buf, sizeof(buf), &n))
		receive(buf, n);
}

static void call(struct input *in)
{
	float values[ELEMENTS];
	uint64_t version;
	bool last;

	sent = 0;
	switch (take(in, 1) % 8) {
	case 0:
		if (!ndn_worker_want(&w, now))
			seen = 0;
		break;
	case 1:
		ndn_worker_leave(&w, now);
		break;
	case 2:
	case 3:
	case 4:
		if (ndn_worker_begin(&w, now, values, &version, &last))
			break;
		must(version > seen, "went back");
		seen = version;
		for (unsigned int i = 0; i < ELEMENTS; i++)
			must(values[i] == value_of(version, i), "believed what nobody signed");
		break;
	default:
		for (unsigned int i = 0; i < ELEMENTS; i++)
			values[i] = -value_of(seen, i);
		ndn_worker_give(&w, now, seen, values);
		break;
	}
}

static void pass(struct input *in)
{
	uint64_t end = now + take(in, 2) * NDN_MS, next;

	while ((next = ndn_worker_next(&w)) <= end) {
		must(next >= now || next + NDN_SEC > now, "time stands still");
		now = next > now ? next : now;
		sent = 0;
		ndn_worker_run(&w, now);
		must(ndn_worker_next(&w) > now, "runs without end");
	}
	now = end;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const uint8_t secret[NDN_KEY_SIZE] = {1};
	struct ndn_worker_config config = {
		.gpu = {(const uint8_t *)"w0", 2},
		.sign = ndn_key_sha256,
		.elements = 1000,
		.rto = 20 * NDN_MS,
		.send = on_send,
	};
	struct input in = {bytes, n};
	struct ndn_name_buf job;
	struct ndn_name name;

	now = NDN_SEC;
	seen = 0;
	ndn_key_hmac(&ps_key, secret);
	config.verify = ps_key;
	must(!ndn_name_parse(&job, "/ps/j"), "name");
	name = ndn_name_of(&job);
	must(!ndn_job_names_init(&names, &name, NULL), "job");
	must(!ndn_worker_init(&w, &config), "init");
	ndn_worker_want(&w, now);
	while (in.left) {
		switch (take(&in, 1) % 8) {
		case 0:
			raw(&in);
			break;
		case 1:
			interest(&in);
			break;
		case 2:
		case 3:
			pass(&in);
			break;
		case 4:
		case 5:
			call(&in);
			break;
		default:
			data(&in);
			break;
		}
	}
	ndn_worker_free(&w);
	return 0;
}
