// SPDX-License-Identifier: BSD-2-Clause
/* The worker's doubts: the probe timer, and Interests for what is missing. */
#include "userspace/names/worker_int.h"

/* Doublings of the probe timer at most: from any RTO to any lease. */
#define DOUBLINGS 16

/*
 * Until something else is known, the RTO is the network's. It is less where
 * answers come sooner, down to a quarter: who is asked may be busy.
 */
static uint64_t rto(const struct names_worker *w)
{
	uint64_t late = names_estimate_late(&w->rtt);

	if (!w->rtt.known || late > w->rto)
		return w->rto;
	return late < w->rto / 4 ? w->rto / 4 : late;
}

void names_worker_round_trip(struct names_worker *w, uint64_t since)
{
	names_estimate_take(&w->rtt, w->now - since);
}

static void arm(struct names_worker *w, uint64_t delay, unsigned int times)
{
	uint64_t most = delay > w->lease ? delay : w->lease;

	if (w->training || w->state != NAMES_WORKER_JOINED)
		return;
	delay <<= times < DOUBLINGS ? times : DOUBLINGS;
	names_timer_set(&w->probe, w->now + (delay < most ? delay : most));
}

void names_worker_arm(struct names_worker *w)
{
	uint64_t delay = names_estimate_late(&w->usual);

	if (delay < 2 * w->rto)
		delay = 2 * w->rto;
	if (!w->answered && delay < w->lease / 2)
		delay = w->lease / 2;
	/* A strange estimate must not silence us. */
	if (delay > 8 * w->lease)
		delay = 8 * w->lease;
	arm(w, delay, w->fruitless);
}

void names_worker_arm_soon(struct names_worker *w)
{
	arm(w, rto(w), w->probes);
}

void names_worker_on_probe(struct names_worker *w)
{
	w->count[NAMES_WORKER_PROBES]++;
	w->probes++;
	w->fetch.again = true;
	w->fetch.size = NAMES_WORKER_BATCH;
	names_worker_fetch(w);
	names_worker_arm_soon(w);
}

void names_worker_fetch(struct names_worker *w)
{
	w->fetched = true;
	if (!w->coming || w->probes % 4 == 3)
		names_worker_fetch_newest(w);
	else
		names_worker_fetch_missing(w);
}

void names_worker_fetch_newest(struct names_worker *w)
{
	names_worker_ask(w, NAMES_IS_ASK, NULL,
			 NAMES_ASK_PREFIX | NAMES_ASK_FRESH);
}

/* Every second time past the caches: one of them may hold a forged segment. */
void names_worker_fetch_missing(struct names_worker *w)
{
	unsigned int flags = w->probes % 2 ? NAMES_ASK_FRESH : 0;
	struct names_parts parts = {.version = w->coming};
	struct names_fetch *f = &w->fetch;

	f->n = 0;
	f->at = w->now;
	for (uint32_t s = w->missing; s < w->segments && f->n < f->size; s++) {
		if (names_worker_has_segment(w, s))
			continue;
		f->open[f->n++] = s;
		parts.segment = s;
		w->count[NAMES_WORKER_FETCHES]++;
		names_worker_ask(w, NAMES_IS_MODEL, &parts, flags);
	}
}

/* When all have come, twice as many are asked for at once. */
bool names_worker_fetched(struct names_worker *w, uint32_t s)
{
	struct names_fetch *f = &w->fetch;
	unsigned int i = 0;

	while (i < f->n && f->open[i] != s)
		i++;
	if (i == f->n)
		return false;
	f->open[i] = f->open[--f->n];
	if (f->n)
		return false;
	if (!f->again)
		names_worker_round_trip(w, f->at);
	f->again = false;
	f->size *= 2;
	if (f->size > NAMES_WORKER_BATCH_MAX)
		f->size = NAMES_WORKER_BATCH_MAX;
	return true;
}
