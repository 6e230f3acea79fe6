// SPDX-License-Identifier: BSD-2-Clause
/* The probe timer, and Interests for missing segments and versions. */
#include "worker_int.h"

/* Doublings of the probe timer at most; enough from any RTO to any lease. */
#define DOUBLINGS 16

/*
 * The RTO of the start content is the upper limit. Fast answers reduce it to a
 * quarter at least, because the other side may be busy.
 */
static uint64_t rto(const struct ndn_worker *w)
{
	uint64_t late = ndn_estimate_late(&w->rtt);

	if (!w->rtt.known || late > w->rto)
		return w->rto;
	return late < w->rto / 4 ? w->rto / 4 : late;
}

void ndn_worker_round_trip(struct ndn_worker *w, uint64_t since)
{
	ndn_estimate_take(&w->rtt, w->now - since);
}

static void arm(struct ndn_worker *w, uint64_t delay, unsigned int times)
{
	uint64_t most = delay > w->lease ? delay : w->lease;

	if (w->training || w->state != NDN_WORKER_JOINED)
		return;
	delay <<= times < DOUBLINGS ? times : DOUBLINGS;
	ndn_timer_set(&w->probe, w->now + (delay < most ? delay : most));
}

void ndn_worker_arm(struct ndn_worker *w)
{
	uint64_t delay = ndn_estimate_late(&w->usual);

	if (delay < 2 * w->rto)
		delay = 2 * w->rto;
	if (!w->answered && delay < w->lease / 2)
		delay = w->lease / 2;
	/* An extreme estimate must not stop the probes. */
	if (delay > 8 * w->lease)
		delay = 8 * w->lease;
	arm(w, delay, w->fruitless);
}

void ndn_worker_arm_soon(struct ndn_worker *w)
{
	arm(w, rto(w), w->probes);
}

void ndn_worker_on_probe(struct ndn_worker *w)
{
	w->count[NDN_WORKER_PROBES]++;
	w->probes++;
	w->fetch.again = true;
	w->fetch.size = NDN_WORKER_BATCH;
	ndn_worker_fetch(w);
	ndn_worker_arm_soon(w);
}

void ndn_worker_fetch(struct ndn_worker *w)
{
	w->fetched = true;
	if (!w->coming || w->probes % 4 == 3)
		ndn_worker_fetch_newest(w);
	else
		ndn_worker_fetch_missing(w);
}

void ndn_worker_fetch_newest(struct ndn_worker *w)
{
	ndn_worker_ask(w, NDN_IS_ASK, NULL, NDN_WORKER_ASK_PREFIX | NDN_WORKER_ASK_FRESH);
}

/* Every second probe bypasses caches: one may hold a forged segment. */
void ndn_worker_fetch_missing(struct ndn_worker *w)
{
	unsigned int flags = w->probes % 2 ? NDN_WORKER_ASK_FRESH : 0;
	struct ndn_name_parts parts = {.version = w->coming};
	struct ndn_fetch *f = &w->fetch;

	f->n = 0;
	f->at = w->now;
	for (uint32_t s = w->missing; s < w->segments && f->n < f->size; s++) {
		if (ndn_worker_has_segment(w, s))
			continue;
		f->open[f->n++] = s;
		parts.segment = s;
		w->count[NDN_WORKER_FETCHES]++;
		ndn_worker_ask(w, NDN_IS_MODEL, &parts, flags);
	}
}

/* A complete batch doubles the size of the next. */
bool ndn_worker_fetched(struct ndn_worker *w, uint32_t s)
{
	struct ndn_fetch *f = &w->fetch;
	unsigned int i = 0;

	while (i < f->n && f->open[i] != s)
		i++;
	if (i == f->n)
		return false;
	f->open[i] = f->open[--f->n];
	if (f->n)
		return false;
	if (!f->again)
		ndn_worker_round_trip(w, f->at);
	f->again = false;
	f->size *= 2;
	if (f->size > NDN_WORKER_BATCH_MAX)
		f->size = NDN_WORKER_BATCH_MAX;
	return true;
}
