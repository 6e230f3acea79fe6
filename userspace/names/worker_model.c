// SPDX-License-Identifier: BSD-2-Clause
/* The worker's versions: segments to models, only newer ones. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/names/worker_int.h"

int names_worker_make_room(struct names_worker *w)
{
	size_t bytes = w->start.elements * NAMES_VALUE_SIZE;

	names_worker_free_room(w);
	w->model = malloc(bytes);
	w->parts = malloc(bytes);
	w->have = calloc((w->segments + 63) / 64, sizeof(*w->have));
	if (w->model && w->parts && w->have)
		return 0;
	names_worker_free_room(w);
	return -ENOMEM;
}

void names_worker_free_room(struct names_worker *w)
{
	free(w->model);
	free(w->parts);
	free(w->have);
	free(w->gradient.values);
	free(w->bound.values);
	w->model = NULL;
	w->parts = NULL;
	w->have = NULL;
	w->gradient = (struct names_own_gradient){0};
	w->bound = (struct names_own_gradient){0};
}

bool names_worker_has_segment(const struct names_worker *w, uint32_t s)
{
	return w->have[s / 64] >> s % 64 & 1;
}

/* A version that had to be fetched says nothing of how long they take. */
static void await_version(struct names_worker *w, uint64_t version, bool last)
{
	if (w->answered && !w->fetched)
		names_estimate_take(&w->usual, w->now - w->answered);
	if (w->coming)
		w->count[NAMES_WORKER_SKIPPED]++;
	w->answered = 0;
	w->coming = version;
	w->coming_last = last;
	w->nhave = 0;
	w->missing = 0;
	memset(w->have, 0, (w->segments + 63) / 64 * sizeof(*w->have));
	w->fetch.n = 0;
	w->fetch.size = NAMES_WORKER_BATCH;
	/* Asynchronous: a gradient may have waited for somebody to tell it. */
	names_worker_answer_held(w);
}

static void take(struct names_worker *w)
{
	uint8_t *old = w->model;

	w->count[NAMES_WORKER_VERSIONS]++;
	w->model = w->parts;
	w->parts = old;
	w->version = w->coming;
	w->coming = 0;
	w->last = w->coming_last;
	w->fetch.n = 0;
	names_timer_cancel(&w->ask_newest);
	w->probes = 0;
	w->fruitless = 0;
	if (w->last) {
		w->unseen = true;
		names_worker_quit(w, -ESHUTDOWN);
	} else if (w->start.mode == NAMES_SYNC ||
		   names_worker_is_outdated(w, w->version) ||
		   (!w->training && !w->gradient.base)) {
		names_worker_train(w);
	} else {
		names_worker_arm(w);
	}
}

static void keep(struct names_worker *w, uint32_t s, struct ndn_bytes values)
{
	uint64_t at = (uint64_t)s * w->start.segment;
	bool through = names_worker_fetched(w, s);

	memcpy(w->parts + at, values.p, values.n);
	w->have[s / 64] |= 1ULL << s % 64;
	w->nhave++;
	w->count[NAMES_WORKER_TAKEN]++;
	while (w->missing < w->segments &&
	       names_worker_has_segment(w, w->missing))
		w->missing++;
	if (w->nhave == w->segments) {
		take(w);
		return;
	}
	w->probes = 0;
	if (through)
		names_worker_fetch_missing(w);
	names_worker_arm_soon(w);
}

/* As this task's are, and as its other segments. */
static bool fits(const struct names_worker *w, uint64_t version, uint64_t s,
		 const struct names_model *m)
{
	return m->segments == w->segments &&
	       m->values.n == names_segment_bytes(w->start.elements,
						  w->start.segment,
						  (uint32_t)s) &&
	       (version != w->coming || m->last == w->coming_last);
}

void names_worker_on_model(struct names_worker *w, const struct ndn_data *d,
			   const struct names_parts *parts)
{
	uint64_t v = parts->version, s = parts->segment;
	struct names_model m;

	/* What comes before we asked for it is of an earlier life of ours. */
	if (w->state != NAMES_WORKER_JOINED || s >= w->segments ||
	    (!w->acked && !names_timer_is_set(&w->insert))) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	if (v <= w->version || v < w->coming ||
	    (v == w->coming && names_worker_has_segment(w, (uint32_t)s))) {
		w->count[NAMES_WORKER_AGAIN]++;
		return;
	}
	if (!names_worker_trusts(w, d))
		return;
	if (names_model_decode(&m, d->content) || !fits(w, v, s, &m)) {
		w->count[NAMES_WORKER_BAD_CONTENT]++;
		return;
	}
	if (v != w->coming)
		await_version(w, v, m.last);
	keep(w, (uint32_t)s, m.values);
}

void names_worker_on_newest(struct names_worker *w, const struct ndn_data *d,
			    const struct names_parts *parts)
{
	uint64_t v = parts->version;
	struct names_newest n;

	if (w->state != NAMES_WORKER_JOINED || !w->acked) {
		w->count[NAMES_WORKER_STRAY]++;
		return;
	}
	if (!names_worker_trusts(w, d))
		return;
	if (names_newest_decode(&n, d->content) || n.segments != w->segments) {
		w->count[NAMES_WORKER_BAD_CONTENT]++;
		return;
	}
	names_timer_cancel(&w->ask_newest);
	if (v > w->version && v > w->coming) {
		await_version(w, v, n.last);
		w->probes = 0;
		w->fruitless = 0;
		names_worker_fetch_missing(w);
		names_worker_arm_soon(w);
	} else if (!w->coming && !w->training) {
		w->probes = 0;
		w->fruitless++;
		names_worker_arm(w);
	}
}
