// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PS: finds the job of a packet, answers Interests, runs timers.
 */
#include "ps.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nps_count_name[NPS_COUNT__MAX] = {
	[NPS_COUNT_OFFER] = "offer",	     [NPS_COUNT_ACCEPT] = "accept",
	[NPS_COUNT_BUSY] = "busy",	     [NPS_COUNT_EXCLUDED] = "excluded",
	[NPS_COUNT_START] = "start",	     [NPS_COUNT_INSERT] = "insert",
	[NPS_COUNT_DELETE] = "delete",	     [NPS_COUNT_NEWEST] = "newest",
	[NPS_COUNT_COLLECT] = "collect",     [NPS_COUNT_SEGMENT] = "segment",
	[NPS_COUNT_AGAIN] = "again",	     [NPS_COUNT_STALL] = "stall",
	[NPS_COUNT_GRADIENT] = "gradient",   [NPS_COUNT_VERSION] = "version",
	[NPS_COUNT_PUBLISHED] = "published", [NPS_COUNT_DISTRIBUTE] = "distribute",
	[NPS_COUNT_FETCH] = "fetch",	     [NPS_COUNT_FRESH] = "fresh",
	[NPS_COUNT_SAVE] = "save",	     [NPS_COUNT_SAVE_FAILED] = "save-failed",
	[NPS_COUNT_SIGNED] = "signed",	     [NPS_COUNT_HELD] = "held",
};

const char *const nps_drop_name[NPS_DROP__MAX] = {
	[NPS_DROP_STRANGER] = "drop-stranger", [NPS_DROP_SIGNATURE] = "drop-signature",
	[NPS_DROP_UNASKED] = "drop-unasked",   [NPS_DROP_COPY] = "drop-copy",
	[NPS_DROP_CONTENT] = "drop-content",   [NPS_DROP_SHAPE] = "drop-shape",
	[NPS_DROP_BASE] = "drop-base",	       [NPS_DROP_VERSION] = "drop-version",
	[NPS_DROP_SEGMENT] = "drop-segment",   [NPS_DROP_PREFIX] = "drop-prefix",
	[NPS_DROP_NAME] = "drop-name",	       [NPS_DROP_ENDED] = "drop-ended",
	[NPS_DROP_ENCODE] = "drop-encode",     [NPS_DROP_FINITE] = "drop-finite",
};

const char *const nps_stray_name[NPS_STRAY__MAX] = {
	[NPS_STRAY_PACKET] = "drop-packet",
	[NPS_STRAY_NACK] = "nack",
	[NPS_STRAY_NAME] = "drop-name",
};

/* ---- Interests ---- */

static struct nps_guest *guest_find(struct nps_job *job, struct ndn_bytes name)
{
	unsigned int low = 0, high = job->spec.nworker;

	while (low < high) {
		unsigned int at = (low + high) / 2;
		const struct nps_worker *w = job->guests[at].worker;
		size_t n = w->len < name.n ? w->len : name.n;
		int order = memcmp(name.p, w->name, n);

		if (!order)
			order = (name.n > w->len) - (name.n < w->len);
		if (!order)
			return &job->guests[at];
		if (order < 0)
			high = at;
		else
			low = at + 1;
	}
	return NULL;
}

static void answer(struct nps_job *job, const struct ndn_packet *asked, enum ndn_name_kind what,
		   const struct ndn_name_parts *parts, struct ndn_bytes content,
		   struct nps_packet *keep)
{
	struct nps_packet once;
	struct nps_packet *p = keep ? keep : &once;

	if ((!keep || !p->len) &&
	    nps_data_make(job, what, parts, content, NULL, p->buf, sizeof(p->buf), &p->len)) {
		p->len = 0;
		job->drop[NPS_DROP_ENCODE]++;
		return;
	}
	nps_send(job->ps, asked, p->buf, p->len);
}

static void answer_start(struct nps_job *job, const struct ndn_packet *asked,
			 const struct ndn_name_parts *parts)
{
	const struct nps_spec *spec = &job->spec;
	struct ndn_start s = {
		.mode = spec->mode,
		.dtype = NDN_DTYPE_F32,
		.elements = spec->elements,
		.segment = spec->segment,
		.lease_ms = spec->lease_ms,
		.rto_ms = spec->rto_ms,
		.tree_job = spec->tree_job,
		.version = nps_published(job),
	};
	uint8_t buf[NDN_HEADER_MAX];
	struct ndn_bytes content = {buf, ndn_content_start_encode(buf, &s)};

	if (!guest_find(job, parts->gpu)) {
		job->drop[NPS_DROP_STRANGER]++;
		return;
	}
	job->count[NPS_COUNT_START]++;
	answer(job, asked, NDN_IS_START, parts, content, NULL);
}

static void answer_newest(struct nps_job *job, const struct ndn_packet *asked)
{
	const struct nps_kept *k = nps_job_out(job);
	struct ndn_newest n = {job->segments, k->last};
	struct ndn_name_parts parts = {.version = k->version};
	uint8_t buf[NDN_HEADER_MAX];
	struct ndn_bytes content = {buf, ndn_content_newest_encode(buf, &n)};

	/* The name of the answer is longer. */
	if (!asked->interest.can_be_prefix) {
		job->drop[NPS_DROP_PREFIX]++;
		return;
	}
	job->count[NPS_COUNT_NEWEST]++;
	answer(job, asked, NDN_IS_NEWEST, &parts, content, &job->newest);
}

static void answer_segment(struct nps_job *job, const struct ndn_packet *asked,
			   const struct ndn_name_parts *parts)
{
	struct nps_kept *k = nps_kept_find(job, parts->version);
	const uint8_t *pkt;
	size_t len;

	if (!k || parts->segment >= job->segments) {
		job->drop[k ? NPS_DROP_SEGMENT : NPS_DROP_VERSION]++;
		return;
	}
	pkt = nps_kept_segment(job, k, (uint32_t)parts->segment, &len);
	if (!pkt)
		return;
	job->count[NPS_COUNT_FETCH]++;
	job->count[NPS_COUNT_FRESH] += asked->interest.must_be_fresh;
	nps_send(job->ps, asked, pkt, len);
}

static bool take_interest(struct nps_job *job, const struct ndn_packet *p)
{
	struct ndn_bytes none = {NULL, 0};
	struct ndn_name_parts parts;
	struct ndn_name plain = ndn_name_of(&job->names.plain);

	switch (ndn_job_match_ps(&job->names, &p->interest.name, &parts)) {
	case NDN_IS_START:
		answer_start(job, p, &parts);
		return true;
	case NDN_IS_INSERT:
		job->count[NPS_COUNT_INSERT]++;
		answer(job, p, NDN_IS_ACK, &parts, none, &job->ack);
		return true;
	case NDN_IS_DELETE:
		job->count[NPS_COUNT_DELETE]++;
		answer(job, p, NDN_IS_DELETE, &parts, none, &job->deleted);
		return true;
	case NDN_IS_ASK:
		answer_newest(job, p);
		return true;
	case NDN_IS_MODEL:
		answer_segment(job, p, &parts);
		return true;
	default:
		if (!ndn_name_is_prefix(&plain, &p->interest.name))
			return false;
		job->drop[NPS_DROP_NAME]++;
		return true;
	}
}

/* ---- Data ---- */

static bool take_data(struct nps_job *job, const struct ndn_data *d)
{
	struct ndn_name_parts parts;
	enum ndn_name_kind what = ndn_job_match_gpu(&job->names, &d->name, &parts);
	struct nps_guest *g;

	if (what != NDN_IS_OFFER && what != NDN_IS_GRADIENT)
		return false;
	g = guest_find(job, parts.gpu);
	if (!g)
		job->drop[NPS_DROP_STRANGER]++;
	else if (what == NDN_IS_OFFER)
		nps_guest_answered(g, d);
	else
		nps_collect_take(g, &parts, d);
	return true;
}

void nps_rx(struct nps *ps, const uint8_t *pkt, size_t n, uint64_t now)
{
	struct ndn_packet p;
	unsigned int i;

	ps->now = now;
	if (ndn_packet_decode(&p, pkt, n)) {
		ps->stray[NPS_STRAY_PACKET]++;
		return;
	}
	if (p.lp.is_nack) {
		ps->stray[NPS_STRAY_NACK]++;
		return;
	}
	for (i = 0; i < ps->njob; i++)
		if (p.type == TRIB_NDN_INTEREST ? take_interest(ps->job[i], &p)
						: take_data(ps->job[i], &p.data))
			return;
	ps->stray[NPS_STRAY_NAME]++;
}

/* ---- time ---- */

static void run_guests(struct nps_job *job, uint64_t now)
{
	unsigned int i;

	/* Timers set during the loop are included by the loop after it. */
	job->due = NDN_NEVER;
	for (i = 0; i < job->spec.nworker; i++) {
		struct nps_guest *g = &job->guests[i];

		if (ndn_timer_take(&g->offer, now))
			nps_guest_offer(g);
		if (ndn_timer_take(&g->ask, now))
			nps_collect_ask(g);
	}
	for (i = 0; i < job->spec.nworker; i++) {
		nps_due(job, &job->guests[i].offer);
		nps_due(job, &job->guests[i].ask);
	}
}

static uint64_t run_job(struct nps_job *job, uint64_t now)
{
	uint64_t next;

	if (job->due <= now)
		run_guests(job, now);
	nps_job_distribute(job);
	next = job->due;
	if (job->busy) {
		uint64_t open = ndn_pace_is_open(&job->pace, now) ? now : job->pace.next;

		next = open < next ? open : next;
	}
	return next;
}

uint64_t nps_run(struct nps *ps, uint64_t now)
{
	uint64_t next = NDN_NEVER, t;
	unsigned int i;

	ps->now = now;
	for (i = 0; i < ps->njob; i++) {
		t = run_job(ps->job[i], now);
		next = t < next ? t : next;
	}
	return next;
}

uint64_t nps_ended(const struct nps *ps)
{
	uint64_t last = 0;
	unsigned int i;

	for (i = 0; i < ps->njob; i++) {
		if (!ps->job[i]->ended)
			return 0;
		if (ps->job[i]->ended > last)
			last = ps->job[i]->ended;
	}
	return last;
}
