// SPDX-License-Identifier: BSD-2-Clause
/* The scripted workers of the simulated network. */
#include "ps_world.h"

#include <stdlib.h>
#include <string.h>

#define TICK WORLD_TICK

/* ---- a worker's packets ---- */

static void ask(struct world_worker *k, enum ndn_name_kind what, uint64_t v, uint64_t s)
{
	struct world *w = k->w;
	struct ndn_name_parts parts = {{k->id.name, k->id.len}, v, s};
	struct ndn_interest i = {
		.can_be_prefix = what == NDN_IS_ASK,
		.must_be_fresh = what == NDN_IS_ASK || what == NDN_IS_START,
		.has_nonce = true,
		.nonce = (uint32_t)ndn_random_next(&w->random),
		.has_lifetime = true,
		.lifetime = 200,
	};
	struct ndn_name_buf name;
	uint8_t buf[WORLD_PACKET];
	size_t len;

	if (ndn_job_name(&name, &w->job[k->job].names, what, &parts))
		abort();
	i.name = ndn_name_of(&name);
	if (ndn_interest_encode(&i, NULL, buf, sizeof(buf), &len))
		abort();
	k->asked_at = w->now;
	world_from_worker(w, (unsigned int)(k - w->worker), buf, len);
}

static void say(struct world_worker *k, const struct ndn_name *name, const uint8_t *content,
		size_t n)
{
	struct ndn_data d = {
		.name = *name,
		.has_content = true,
		.content = {content, n},
	};
	uint8_t buf[WORLD_PACKET];
	size_t len;

	if (ndn_data_encode(&d, &k->key, buf, sizeof(buf), &len))
		abort();
	world_from_worker(k->w, (unsigned int)(k - k->w->worker), buf, len);
}

float world_gradient(unsigned int i, uint32_t n, unsigned int at)
{
	return (float)((int)((i + 1) * 37 + n * 11 + at * 5) % 64 - 32);
}

static void give(struct world_worker *k, uint64_t s)
{
	unsigned int me = (unsigned int)(k - k->w->worker), i;
	struct ndn_name_parts parts = {{k->id.name, k->id.len}, k->bound, s};
	struct ndn_gradient g = {
		.segments = ndn_content_segments(k->start.elements, k->start.segment),
		.id = k->life << 32 ^ k->given,
		.base = k->given,
	};
	uint8_t buf[WORLD_PACKET];
	size_t n = ndn_content_gradient_encode(buf, &g);
	struct ndn_name_buf name;
	struct ndn_name is;
	uint32_t bytes;

	if (s >= g.segments)
		return;
	bytes = ndn_content_segment_bytes(k->start.elements, k->start.segment, (uint32_t)s);
	for (i = 0; i < bytes / 4; i++) {
		float f = world_gradient(me, (uint32_t)k->given,
					 (unsigned int)s * k->start.segment / 4 + i);

		memcpy(buf + n + 4 * i, &f, 4);
	}
	ndn_job_name(&name, &k->w->job[k->job].names, NDN_IS_GRADIENT, &parts);
	is = ndn_name_of(&name);
	say(k, &is, buf, n + bytes);
}

static void train(struct world_worker *k)
{
	k->base = 0;
	k->training = k->v;
	k->ready_at = k->w->now + k->speed;
}

static void collected(struct world_worker *k, uint64_t v, uint64_t s)
{
	bool fits = k->start.mode == NDN_MODE_SYNC ? k->base == v : k->base >> 32 == v >> 32;

	if (v < k->bound)
		return;
	if (v > k->bound && k->base && fits) {
		k->bound = v;
		k->given = k->base;
		k->base = 0;
		/*
		 * Asynchronous: continue with the version that came in the
		 * meantime.
		 */
		if (k->v > k->given && !k->ready_at)
			train(k);
	}
	if (v == k->bound) {
		give(k, s);
		return;
	}
	k->held = v;
	k->held_until = k->w->now + 200 * NDN_MS;
}

static void offered(struct world_worker *k, const struct ndn_name *name, int j)
{
	bool mine = k->job == j || (k->job < 0 && !k->final[j]);
	uint8_t buf[NDN_HEADER_MAX];

	if (mine && k->job < 0) {
		k->job = j;
		k->step = 0;
		k->v = k->base = k->bound = k->ready_at = k->held = 0;
		k->training = 0;
		memset(&k->in, 0, sizeof(k->in));
	}
	say(k, name, buf,
	    ndn_content_offer_encode(buf, mine ? NDN_ANSWER_ACCEPT : NDN_ANSWER_BUSY));
	if (mine && k->step == 0)
		ask(k, NDN_IS_START, 0, 0);
}

void world_worker_interest(struct world_worker *k, const struct ndn_name *name)
{
	struct ndn_name_parts parts;
	unsigned int j;

	for (j = 0; j < k->w->njob; j++) {
		enum ndn_name_kind what = ndn_job_match_gpu(&k->w->job[j].names, name, &parts);

		if (what == NDN_IS_OFFER)
			offered(k, name, (int)j);
		else if (what && k->job == (int)j && k->step == 2)
			collected(k, parts.version, parts.segment);
	}
}

/* ---- versions, at the worker ---- */

static void check_model(struct world_worker *k)
{
	struct world_job *j = &k->w->job[k->job];
	unsigned int i;

	for (i = 0; i < 2; i++) {
		uint32_t n = (uint32_t)k->in.v;

		if (n <= WORLD_VERSIONS_MAX && j->line[i][n].v == k->in.v) {
			if (memcmp(j->line[i][n].values, k->in.values,
				   j->spec.elements * sizeof(float)))
				world_wrong(k->w, "a worker has a model with wrong values");
			return;
		}
	}
	world_wrong(k->w, "a worker has a version that the PS never made");
}

static void whole(struct world_worker *k)
{
	check_model(k);
	k->done = k->in;
	k->v = k->in.v;
	k->in.v = 0;
	if (k->done.last) {
		k->final[k->job] = k->v;
		ask(k, NDN_IS_DELETE, 0, 0);
		k->job = -1;
		return;
	}
	/* Drop the gradient in work, if any. */
	if (k->start.mode == NDN_MODE_SYNC || k->training >> 32 < k->v >> 32 ||
	    (!k->ready_at && !k->base))
		train(k);
}

static void segment_came(struct world_worker *k, const struct ndn_name_parts *parts,
			 const struct ndn_data *d)
{
	uint32_t n = ndn_content_segments(k->start.elements, k->start.segment);
	uint64_t at = parts->segment * k->start.segment;
	struct ndn_model m;

	if (k->step != 2 || parts->version <= k->v || parts->version < k->in.v)
		return;
	if (ndn_content_model_decode(&m, d->content) || m.segments != n || parts->segment >= n ||
	    m.values.n != ndn_content_segment_bytes(k->start.elements, k->start.segment,
						    (uint32_t)parts->segment)) {
		world_wrong(k->w, "a bad segment of a model");
		return;
	}
	if (parts->version > k->in.v) {
		k->in.v = parts->version;
		k->in.bits = 0;
	}
	k->in.last = m.last;
	memcpy((uint8_t *)k->in.values + at, m.values.p, m.values.n);
	k->in.bits |= 1ULL << parts->segment;
	k->heard_at = k->w->now;
	if (k->in.bits == (n == 64 ? ~0ULL : (1ULL << n) - 1))
		whole(k);
}

void world_worker_data(struct world_worker *k, const struct ndn_data *d)
{
	struct ndn_newest newest;
	struct ndn_name_parts parts;
	enum ndn_name_kind what;

	if (k->job < 0)
		return;
	if (ndn_data_verify(d, &k->w->key)) {
		world_wrong(k->w, "the PS's signature is wrong");
		return;
	}
	what = ndn_job_match_ps(&k->w->job[k->job].names, &d->name, &parts);
	if (what == NDN_IS_START && k->step == 0) {
		if (ndn_content_start_decode(&k->start, d->content))
			world_wrong(k->w, "a bad start content");
		k->step = 1;
	} else if (what == NDN_IS_ACK && k->step == 1) {
		k->step = 2;
		k->inserted_at = k->w->now;
		ask(k, NDN_IS_ASK, 0, 0);
	} else if (what == NDN_IS_NEWEST && k->step == 2 &&
		   !ndn_content_newest_decode(&newest, d->content) && parts.version > k->v &&
		   parts.version > k->in.v) {
		k->in.v = parts.version;
		k->in.bits = 0;
	} else if (what == NDN_IS_MODEL) {
		segment_came(k, &parts, d);
	}
}

/* Ask again for everything that is missing. */
void world_worker_tick(struct world_worker *k)
{
	uint64_t now = k->w->now;
	uint32_t n, s;

	if (k->job < 0)
		return;
	if (k->step == 0 && now > k->asked_at + 2 * TICK)
		ask(k, NDN_IS_START, 0, 0);
	if (k->step == 1 && now > k->asked_at + 2 * TICK)
		ask(k, NDN_IS_INSERT, 0, 0);
	if (k->step != 2)
		return;
	if (now > k->inserted_at + WORLD_LEASE_MS * NDN_MS / 8) {
		k->inserted_at = now;
		ask(k, NDN_IS_INSERT, 0, 0);
	}
	if (k->ready_at && now >= k->ready_at) {
		k->ready_at = 0;
		k->base = k->training;
		if (k->held && k->held_until > now)
			collected(k, k->held, 0);
		k->held = 0;
	}
	if (k->ready_at || now < k->heard_at + 10 * TICK)
		return;
	k->heard_at = now;
	n = ndn_content_segments(k->start.elements, k->start.segment);
	for (s = 0; k->in.v && s < n; s++)
		if (!(k->in.bits >> s & 1))
			ask(k, NDN_IS_MODEL, k->in.v, s);
	ask(k, NDN_IS_ASK, 0, 0);
}
