// SPDX-License-Identifier: BSD-2-Clause
/* Assembles models from segments; only newer versions replace older ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "worker_int.h"

int ndn_worker_make_room(struct ndn_worker *w)
{
	size_t bytes = w->start.elements * NDN_VALUE_SIZE;

	ndn_worker_free_room(w);
	w->model = malloc(bytes);
	w->parts = malloc(bytes);
	w->have = calloc((w->segments + 63) / 64, sizeof(*w->have));
	if (w->model && w->parts && w->have)
		return 0;
	ndn_worker_free_room(w);
	return -ENOMEM;
}

void ndn_worker_free_room(struct ndn_worker *w)
{
	free(w->model);
	free(w->parts);
	free(w->have);
	free(w->gradient.values);
	free(w->bound.values);
	w->model = NULL;
	w->parts = NULL;
	w->have = NULL;
	w->gradient = (struct ndn_own_gradient){0};
	w->bound = (struct ndn_own_gradient){0};
}

/* A fetched version is no sample of the usual time. */
static void await_version(struct ndn_worker *w, uint64_t version, bool last)
{
	if (w->answered && !w->fetched)
		ndn_estimate_take(&w->usual, w->now - w->answered);
	if (w->coming)
		w->count[NDN_WORKER_SKIPPED]++;
	w->answered = 0;
	w->coming = version;
	w->coming_last = last;
	w->nhave = 0;
	w->missing = 0;
	memset(w->have, 0, (w->segments + 63) / 64 * sizeof(*w->have));
	w->fetch.n = 0;
	w->fetch.size = NDN_WORKER_BATCH;
	/* Asynchronous: a held collect Interest may be for this version. */
	ndn_worker_answer_held(w);
}

static void take(struct ndn_worker *w)
{
	uint8_t *old = w->model;

	w->count[NDN_WORKER_VERSIONS]++;
	w->model = w->parts;
	w->parts = old;
	w->version = w->coming;
	w->coming = 0;
	w->last = w->coming_last;
	w->fetch.n = 0;
	ndn_timer_cancel(&w->ask_newest);
	w->probes = 0;
	w->fruitless = 0;
	if (w->last) {
		w->unseen = true;
		ndn_worker_quit(w, -ESHUTDOWN);
	} else if (w->start.mode == NDN_MODE_SYNC || ndn_worker_is_outdated(w, w->version) ||
		   (!w->training && !w->gradient.base)) {
		ndn_worker_train(w);
	} else {
		ndn_worker_arm(w);
	}
}

static void keep(struct ndn_worker *w, uint32_t s, struct ndn_bytes values)
{
	uint64_t at = (uint64_t)s * w->start.segment;
	bool through = ndn_worker_fetched(w, s);

	memcpy(w->parts + at, values.p, values.n);
	w->have[s / 64] |= 1ULL << s % 64;
	w->nhave++;
	w->count[NDN_WORKER_TAKEN]++;
	while (w->missing < w->segments && ndn_worker_has_segment(w, w->missing))
		w->missing++;
	if (w->nhave == w->segments) {
		take(w);
		return;
	}
	w->probes = 0;
	if (through)
		ndn_worker_fetch_missing(w);
	ndn_worker_arm_soon(w);
}

/* Does the segment agree with the start content and with other segments? */
static bool fits(const struct ndn_worker *w, uint64_t version, uint64_t s,
		 const struct ndn_model *m)
{
	return m->segments == w->segments &&
	       m->values.n == ndn_content_segment_bytes(w->start.elements, w->start.segment,
							(uint32_t)s) &&
	       (version != w->coming || m->last == w->coming_last);
}

void ndn_worker_on_model(struct ndn_worker *w, const struct ndn_data *d,
			 const struct ndn_name_parts *parts)
{
	uint64_t v = parts->version, s = parts->segment;
	struct ndn_model m;

	/* Data before the first insert belongs to an earlier subscription. */
	if (w->state != NDN_WORKER_JOINED || s >= w->segments ||
	    (!w->acked && !ndn_timer_is_set(&w->insert))) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	if (v <= w->version || v < w->coming ||
	    (v == w->coming && ndn_worker_has_segment(w, (uint32_t)s))) {
		w->count[NDN_WORKER_AGAIN]++;
		return;
	}
	if (!ndn_worker_trusts(w, d))
		return;
	if (ndn_content_model_decode(&m, d->content) || !fits(w, v, s, &m)) {
		w->count[NDN_WORKER_BAD_CONTENT]++;
		return;
	}
	if (v != w->coming)
		await_version(w, v, m.last);
	keep(w, (uint32_t)s, m.values);
}

void ndn_worker_on_newest(struct ndn_worker *w, const struct ndn_data *d,
			  const struct ndn_name_parts *parts)
{
	uint64_t v = parts->version;
	struct ndn_newest n;

	if (w->state != NDN_WORKER_JOINED || !w->acked) {
		w->count[NDN_WORKER_STRAY]++;
		return;
	}
	if (!ndn_worker_trusts(w, d))
		return;
	if (ndn_content_newest_decode(&n, d->content) || n.segments != w->segments) {
		w->count[NDN_WORKER_BAD_CONTENT]++;
		return;
	}
	ndn_timer_cancel(&w->ask_newest);
	if (v > w->version && v > w->coming) {
		await_version(w, v, n.last);
		w->probes = 0;
		w->fruitless = 0;
		ndn_worker_fetch_missing(w);
		ndn_worker_arm_soon(w);
	} else if (!w->coming && !w->training) {
		w->probes = 0;
		w->fruitless++;
		ndn_worker_arm(w);
	}
}
