// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects gradients: asks when they should be ready, assembles their segments,
 * takes one for each (worker, version).
 *
 * The first Interest, /<gpu>/P/v, waits at the worker. After its answer the other
 * segments are asked for in order within a window. The window grows with each
 * segment. After a timeout it is halved and missing segments are asked for again.
 */
#include <stdlib.h>
#include <string.h>

#include "ps.h"

#define WINDOW_ONE 256 /* fixed point of &nps_guest.window */
#define RTO_MIN (2 * NDN_MS)
#define TRIES_MAX 16

static bool has(const struct nps_guest *g, uint32_t s)
{
	return g->bits[s / 64] >> s % 64 & 1;
}

static struct ndn_name_parts parts_of(const struct nps_guest *g, uint32_t s)
{
	return (struct ndn_name_parts){
		.gpu = {g->worker->name, g->worker->len},
		.version = g->asked,
		.segment = s,
	};
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void nps_collect_stop(struct nps_guest *g)
{
	g->asking = false;
	ndn_timer_cancel(&g->ask);
}

static void collect(struct nps_guest *g, uint64_t v)
{
	g->asking = true;
	g->asked = v;
	g->tries = 0;
	g->begun = false;
	g->since = g->moved = g->job->ps->now;
}

void nps_collect_plan(struct nps_guest *g)
{
	struct nps_job *job = g->job;
	uint64_t v = nps_published(job);

	if (g->asking || g->got || !g->member || nps_job_out(job)->last || g->asked >= v ||
	    job->spec.tree_job != NDN_NO_TREE)
		return;
	/* The next version exists and will be distributed soon. */
	if (job->spec.mode == NDN_MODE_SYNC && v != nps_version(job))
		return;
	collect(g, v);
	ndn_timer_cancel(&g->ask);
	ndn_timer_set(&g->ask, g->since + ndn_estimate_early(&g->estimate));
	nps_due(job, &g->ask);
}

/* ---- segments ---- */

static uint64_t segment_wait(const struct nps_guest *g)
{
	uint64_t rto = ndn_estimate_late(&g->rtt);

	if (rto < RTO_MIN)
		rto = RTO_MIN;
	return at_most(rto << (g->tries < 8 ? g->tries : 8), g->job->lease / 4);
}

static void segment_ask(struct nps_guest *g, uint32_t s)
{
	struct nps_job *job = g->job;
	struct ndn_name_parts parts = parts_of(g, s);

	nps_express(job, NDN_IS_GRADIENT, &parts,
		    at_most(2 * segment_wait(g) + job->rto, job->lease / 4), false, false);
	job->count[NPS_COUNT_COLLECT]++;
	g->flying++;
	if (s < g->fresh)
		return;
	/* Measure one segment at a time, and none that was repeated. */
	g->fresh = s + 1;
	if (!g->timed_at) {
		g->timed = s;
		g->timed_at = job->ps->now;
	}
}

static void fill(struct nps_guest *g)
{
	while (g->flying < g->window / WINDOW_ONE && g->cursor < g->job->segments) {
		if (!has(g, g->cursor))
			segment_ask(g, g->cursor);
		g->cursor++;
	}
	ndn_timer_set(&g->ask, g->job->ps->now + segment_wait(g));
	nps_due(g->job, &g->ask);
}

/* Timeout: ask for the missing segments again, with half the window. */
static void stalled(struct nps_guest *g)
{
	g->job->count[NPS_COUNT_STALL]++;
	g->window /= 2;
	if (g->window < NPS_WINDOW_MIN * WINDOW_ONE)
		g->window = NPS_WINDOW_MIN * WINDOW_ONE;
	g->tries += g->tries < TRIES_MAX;
	g->timed_at = 0;
	g->cursor = 0;
	g->flying = 0;
	fill(g);
}

/* ---- Interests ---- */

/* The lifetime doubles: a slow worker holds the Interest that long. */
static void first_ask(struct nps_guest *g)
{
	struct ndn_name_parts parts = parts_of(g, 0);
	struct nps_job *job = g->job;
	unsigned int shift = g->tries < 4 ? g->tries : 4;
	uint64_t life = at_most((2 * job->rto + 4 * g->estimate.dev) << shift, job->lease / 4);

	g->tries += g->tries < TRIES_MAX;
	nps_express(job, NDN_IS_COLLECT, &parts, life, true, false);
	job->count[NPS_COUNT_COLLECT]++;
	ndn_timer_set(&g->ask, job->ps->now + life);
	nps_due(job, &g->ask);
}

/*
 * Interests are not signed. If somebody else asked for a newer version, the gradient
 * went there, and the worker answers no older one: ask for the newest, too.
 */
static bool moves_on(const struct nps_guest *g)
{
	struct nps_job *job = g->job;

	return job->spec.mode == NDN_MODE_ASYNC && !nps_job_out(job)->last &&
	       nps_published(job) > g->asked && job->ps->now - g->moved > job->lease;
}

void nps_collect_ask(struct nps_guest *g)
{
	if (!g->asking)
		return;
	if (moves_on(g))
		collect(g, nps_published(g->job));
	if (g->begun)
		stalled(g);
	else
		first_ask(g);
}

/* ---- answers ---- */

static void begin(struct nps_guest *g, const struct ndn_gradient *got)
{
	uint32_t words = (g->job->segments + 63) / 64;

	if (g->begun)
		g->job->count[NPS_COUNT_AGAIN]++;
	g->begun = true;
	g->id = got->id;
	g->base = got->base;
	memset(g->bits, 0, words * sizeof(*g->bits));
	g->have = 0;
	g->cursor = 0;
	g->fresh = 0;
	g->flying = 0;
	g->tries = 0;
	g->timed_at = 0;
}

/* Memory for a gradient is allocated with its first segment. */
static bool has_room(struct nps_guest *g)
{
	uint32_t words = (g->job->segments + 63) / 64;

	if (!g->bits)
		g->bits = calloc(words, sizeof(*g->bits));
	if (!g->values)
		g->values = calloc(g->job->spec.elements, sizeof(*g->values));
	return g->bits && g->values;
}

static bool may_have_base(const struct nps_guest *g, uint64_t base)
{
	if (g->job->spec.mode == NDN_MODE_SYNC)
		return base == g->asked;
	return base >> 32 == g->asked >> 32 && base <= nps_published(g->job);
}

/* Check a segment. Return: a reason to drop it, or NPS_DROP__MAX. */
static enum nps_drop check(struct nps_guest *g, uint64_t s, const struct ndn_data *d,
			   struct ndn_gradient *got)
{
	const struct nps_spec *spec = &g->job->spec;

	if (!nps_guest_signed(g, d))
		return NPS_DROP_SIGNATURE;
	if (ndn_content_gradient_decode(got, d->content))
		return NPS_DROP_CONTENT;
	if (got->segments != g->job->segments || s >= got->segments ||
	    got->values.n != ndn_content_segment_bytes(spec->elements, spec->segment, (uint32_t)s))
		return NPS_DROP_SHAPE;
	if (!may_have_base(g, got->base) || (g->begun && got->id == g->id && got->base != g->base))
		return NPS_DROP_BASE;
	if (!ndn_content_is_finite(got->values.p, got->values.n))
		return NPS_DROP_FINITE;
	return NPS_DROP__MAX;
}

static void measure(struct nps_guest *g, uint32_t s)
{
	uint64_t now = g->job->ps->now;

	if (!g->timed_at || g->timed != s)
		return;
	ndn_estimate_take(&g->rtt, now - g->timed_at);
	g->timed_at = 0;
}

static void complete(struct nps_guest *g)
{
	struct nps_job *job = g->job;

	nps_collect_stop(g);
	ndn_estimate_take(&g->estimate, job->ps->now - g->since);
	g->got = true;
	g->taken = g->asked;
	nps_job_complete(job);
	nps_collect_plan(g);
}

void nps_collect_take(struct nps_guest *g, const struct ndn_name_parts *parts,
		      const struct ndn_data *d)
{
	struct nps_job *job = g->job;
	struct ndn_gradient got;
	enum nps_drop why = NPS_DROP_UNASKED;
	uint32_t s;

	if (g->asking && g->asked == parts->version) {
		why = check(g, parts->segment, d, &got);
		if (why == NPS_DROP__MAX && !has_room(g))
			why = NPS_DROP_ENCODE;
	}
	if (why != NPS_DROP__MAX) {
		job->drop[why]++;
		/* Asking again would give the same values. */
		if (why == NPS_DROP_FINITE)
			nps_guest_exclude(g, "gave NaN or infinity: left out");
		return;
	}
	s = (uint32_t)parts->segment;
	g->heard = job->ps->now;
	if (!g->begun || got.id != g->id)
		begin(g, &got);
	if (has(g, s)) {
		job->drop[NPS_DROP_COPY]++;
		return;
	}
	memcpy((uint8_t *)g->values + (uint64_t)s * job->spec.segment, got.values.p, got.values.n);
	g->bits[s / 64] |= 1ULL << s % 64;
	g->have++;
	g->flying -= g->flying > 0;
	job->count[NPS_COUNT_SEGMENT]++;
	g->moved = job->ps->now;
	measure(g, s);
	g->tries = 0;
	if (g->have == job->segments) {
		complete(g);
		return;
	}
	if (g->window < NPS_WINDOW_MAX * WINDOW_ONE)
		g->window += WINDOW_ONE * WINDOW_ONE / g->window + 1;
	fill(g);
}
