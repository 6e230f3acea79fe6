// SPDX-License-Identifier: BSD-2-Clause
/* The worker's gradients: handed over by the caller, asked for by the PS. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker_int.h"

#define INCARNATION(version) ((version) >> 32)

/* ---- the caller's side ---- */

static void copy_out(float *to, const uint8_t *from, size_t n)
{
	uint32_t word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, from + 4 * i, 4);
		word = le32toh(word);
		memcpy(to + i, &word, 4);
	}
}

static void copy_in(uint8_t *to, const float *from, size_t n)
{
	uint32_t word;

	for (size_t i = 0; i < n; i++) {
		memcpy(&word, from + i, 4);
		word = htole32(word);
		memcpy(to + 4 * i, &word, 4);
	}
}

static int over(const struct ndn_worker *w)
{
	return w->over ? w->over : -ESHUTDOWN;
}

bool ndn_worker_is_ready(const struct ndn_worker *w)
{
	return w->unseen || (w->training && !w->begun) || w->state == NDN_WORKER_IDLE ||
	       w->state == NDN_WORKER_LEAVING;
}

bool ndn_worker_is_wanted(const struct ndn_worker *w, uint64_t version)
{
	return w->training && w->begun && w->training == version;
}

int ndn_worker_begin(struct ndn_worker *w, uint64_t now, float *values, uint64_t *version,
		     bool *last)
{
	w->now = now;
	if (!ndn_worker_is_ready(w))
		return -EAGAIN;
	if (!w->unseen && !w->training)
		return over(w);
	copy_out(values, w->model, w->start.elements);
	*version = w->version;
	*last = w->unseen;
	if (!w->unseen) {
		/* Asynchronous: a newer version may be complete. */
		w->training = w->version;
		w->begun = true;
	}
	w->unseen = false;
	return 0;
}

/* ---- the network's side ---- */

void ndn_worker_train(struct ndn_worker *w)
{
	w->gradient.base = 0;
	w->training = w->version;
	w->begun = false;
	ndn_timer_cancel(&w->probe);
}

bool ndn_worker_is_outdated(const struct ndn_worker *w, uint64_t version)
{
	uint64_t base = w->training ? w->training : w->gradient.base;

	return base && INCARNATION(base) < INCARNATION(version);
}

/*
 * May the waiting gradient answer version @v? Asynchronous: only if signed Data
 * has named @v or a newer version, because a forged Interest would bind the
 * gradient to a version that never comes.
 */
static bool fits(const struct ndn_worker *w, uint64_t v)
{
	uint64_t base = w->gradient.base;

	if (!base || w->start.mode == NDN_MODE_SYNC)
		return base && base == v;
	return INCARNATION(base) == INCARNATION(v) && (v <= w->version || v <= w->coming);
}

static void answer(struct ndn_worker *w, uint64_t v, uint64_t s)
{
	uint8_t content[NDN_HEADER_MAX + NDN_SEGMENT_MAX];
	struct ndn_name_parts parts = {.gpu = w->config.gpu, .version = v, .segment = s};
	struct ndn_gradient g = {.segments = w->segments, .id = w->bound.id, .base = w->bound.base};
	struct ndn_name_buf buf;
	struct ndn_name name;
	size_t head, n;

	if (s >= w->segments || ndn_job_name(&buf, &w->job, NDN_IS_GRADIENT, &parts)) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	name = ndn_name_of(&buf);
	head = ndn_content_gradient_encode(content, &g);
	n = ndn_content_segment_bytes(w->start.elements, w->start.segment, (uint32_t)s);
	memcpy(content + head, w->bound.values + s * w->start.segment, n);
	w->count[NDN_WORKER_ANSWERS]++;
	ndn_worker_put(w, &name, (struct ndn_bytes){content, head + n});
}

/* Bind the waiting gradient to @v: it never answers another version. */
static void bind(struct ndn_worker *w, uint64_t v)
{
	struct ndn_own_gradient old = w->bound;

	w->bound = w->gradient;
	w->bound_to = v;
	w->gradient = (struct ndn_own_gradient){.values = old.values};
	w->answered = w->now;
	w->fetched = false;
	w->count[NDN_WORKER_ASKED]++;
}

/*
 * Anybody can send an Interest. Those for the first segment of a version that signed
 * Data has named are the PS's, most likely: they ask for more only when it is there.
 */
static unsigned int held_worth(const struct ndn_worker *w, uint64_t v, uint64_t s)
{
	return (s ? 0 : 2) + (v <= w->version || v <= w->coming);
}

/* Is @a the better row to give up? */
static bool held_is_worse(const struct ndn_worker *w, const struct ndn_held *a,
			  const struct ndn_held *b)
{
	unsigned int x = held_worth(w, a->version, a->segment);
	unsigned int y = held_worth(w, b->version, b->segment);

	if (a->until <= w->now || b->until <= w->now)
		return a->until < b->until;
	return x != y ? x < y : a->until < b->until;
}

/* Hold a collect Interest, in a free row or in that of one that matters less. */
static void hold(struct ndn_worker *w, uint64_t v, uint64_t s, uint64_t lifetime)
{
	struct ndn_held *row = w->held;

	for (unsigned int i = 0; i < NDN_WORKER_HELD_MAX; i++) {
		struct ndn_held *h = &w->held[i];

		if (h->until && h->version == v && h->segment == s) {
			row = h;
			break;
		}
		if (held_is_worse(w, h, row))
			row = h;
	}
	if (row->until > w->now && (row->version != v || row->segment != s)) {
		w->count[NDN_WORKER_PUSHED]++;
		if (held_worth(w, v, s) < held_worth(w, row->version, row->segment))
			return;
	}
	if (lifetime > w->lease)
		lifetime = w->lease;
	*row = (struct ndn_held){v, s, w->now + lifetime};
	w->count[NDN_WORKER_HELD]++;
}

/* Answer if possible. Return: false: hold the Interest. */
static bool try_answer(struct ndn_worker *w, uint64_t v, uint64_t s)
{
	if (v < w->bound_to) {
		w->count[NDN_WORKER_STRAY]++;
		return true;
	}
	if (w->bound_to && v == w->bound_to) {
		answer(w, v, s);
		return true;
	}
	if (!fits(w, v))
		return false;
	bind(w, v);
	answer(w, v, s);
	if (w->version > w->bound.base)
		ndn_worker_train(w);
	else
		ndn_worker_arm(w);
	return true;
}

/*
 * An idle worker fetches version @v, unless it is arriving already. Limited to
 * once an RTO, because Interests may be forged.
 */
static void fetch_for_collect(struct ndn_worker *w, uint64_t v)
{
	if (w->training || v <= w->version || !w->acked || w->now < w->nudge ||
	    (v <= w->coming && !w->probes))
		return;
	w->nudge = w->now + w->rto;
	ndn_worker_fetch(w);
}

void ndn_worker_on_collect(struct ndn_worker *w, uint64_t v, uint64_t s, uint64_t lifetime)
{
	if (try_answer(w, v, s))
		return;
	hold(w, v, s, lifetime);
	fetch_for_collect(w, v);
}

static int by_name(const void *x, const void *y)
{
	const struct ndn_held *a = x, *b = y;

	if (a->version != b->version)
		return a->version < b->version ? -1 : 1;
	return a->segment < b->segment ? -1 : a->segment > b->segment;
}

void ndn_worker_answer_held(struct ndn_worker *w)
{
	qsort(w->held, NDN_WORKER_HELD_MAX, sizeof(*w->held), by_name);
	for (unsigned int i = 0; i < NDN_WORKER_HELD_MAX; i++) {
		struct ndn_held *h = &w->held[i];

		if (h->until <= w->now || try_answer(w, h->version, h->segment))
			h->until = 0;
	}
}

/* ---- given ---- */

int ndn_worker_may_give(const struct ndn_worker *w, uint64_t version)
{
	/* The caller must fetch the last version first. */
	if (w->unseen)
		return -ESTALE;
	if (w->state != NDN_WORKER_JOINED)
		return over(w);
	return ndn_worker_is_wanted(w, version) ? 0 : -ESTALE;
}

void ndn_worker_gave(struct ndn_worker *w, uint64_t now, uint64_t version)
{
	w->now = now;
	w->count[NDN_WORKER_ASKED]++;
	/* The next version may have arrived. */
	if (!ndn_worker_is_wanted(w, version))
		return;
	w->training = 0;
	w->begun = false;
	w->answered = now;
	w->fetched = false;
	ndn_worker_arm(w);
}

int ndn_worker_give(struct ndn_worker *w, uint64_t now, uint64_t version, const float *values)
{
	struct ndn_own_gradient *g = &w->gradient;

	int rc = ndn_worker_may_give(w, version);

	w->now = now;
	if (rc)
		return rc;
	if (!g->values)
		g->values = malloc(w->start.elements * NDN_VALUE_SIZE);
	if (!g->values)
		return -ENOMEM;
	copy_in(g->values, values, w->start.elements);
	g->base = version;
	g->id = ndn_random_next(&w->random);
	w->training = 0;
	w->begun = false;
	ndn_worker_answer_held(w);
	if (!w->training)
		ndn_worker_arm(w);
	for (unsigned int i = 0; i < NDN_WORKER_HELD_MAX; i++)
		if (w->held[i].until)
			fetch_for_collect(w, w->held[i].version);
	return 0;
}
