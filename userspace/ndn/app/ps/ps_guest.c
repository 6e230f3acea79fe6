// SPDX-License-Identifier: BSD-2-Clause
/*
 * Membership: offers and their answers. Members get offers as keep-alives and are
 * excluded after a lease of silence.
 */
#include "ps.h"

/* A version may have waited only for this guest's gradient. */
void nps_guest_exclude(struct nps_guest *g, const char *why)
{
	struct nps_job *job = g->job;

	g->member = false;
	nps_collect_stop(g);
	/* The PS does not ask again for a gradient that it has received. */
	g->asked = g->taken;
	job->count[NPS_COUNT_EXCLUDED]++;
	nps_job_log(job, "%.*s %s", g->worker->len, (const char *)g->worker->name, why);
	nps_job_complete(job);
}

void nps_guest_offer(struct nps_guest *g)
{
	struct ndn_name_parts parts = {.gpu = {g->worker->name, g->worker->len}};
	struct nps_job *job = g->job;
	uint64_t now = job->ps->now;

	if (job->over)
		return;
	if (g->member && now - g->heard > job->lease)
		nps_guest_exclude(g, "is silent: left out");
	if (job->over)
		return;
	nps_express(job, NDN_IS_OFFER, &parts, job->lease / 4, false, true);
	job->count[NPS_COUNT_OFFER]++;
	g->offered = now + job->lease / 4;
	ndn_timer_repeat(&g->offer, now, job->rto, job->lease / (g->member ? 16 : 4));
	nps_due(job, &g->offer);
}

static void accepted(struct nps_guest *g)
{
	struct nps_job *job = g->job;

	job->count[NPS_COUNT_ACCEPT]++;
	ndn_timer_cancel(&g->offer);
	ndn_timer_set(&g->offer, job->ps->now + job->lease / 4);
	nps_due(job, &g->offer);
	g->heard = job->ps->now;
	if (g->member)
		return;
	g->member = true;
	nps_job_log(job, "%.*s takes part", g->worker->len, (const char *)g->worker->name);
	nps_collect_plan(g);
}

bool nps_guest_signed(struct nps_guest *g, const struct ndn_data *d)
{
	const struct nps_job *job = g->job;
	bool was = g->doubted;

	g->doubted = ndn_data_verify(d, g->worker->key ? g->worker->key : job->spec.verify);
	if (g->doubted && !was)
		nps_job_log(job, "%.*s: wrong signature: check that its key is the job's",
			    g->worker->len, (const char *)g->worker->name);
	return !g->doubted;
}

void nps_guest_answered(struct nps_guest *g, const struct ndn_data *d)
{
	struct nps_job *job = g->job;
	enum ndn_answer answer;

	if (job->over) {
		job->drop[NPS_DROP_ENDED]++;
		return;
	}
	if (job->ps->now > g->offered) {
		job->drop[NPS_DROP_UNASKED]++;
		return;
	}
	if (!nps_guest_signed(g, d)) {
		job->drop[NPS_DROP_SIGNATURE]++;
		return;
	}
	if (ndn_content_offer_decode(&answer, d->content)) {
		job->drop[NPS_DROP_CONTENT]++;
		return;
	}
	if (answer == NDN_ANSWER_ACCEPT) {
		accepted(g);
		return;
	}
	job->count[NPS_COUNT_BUSY]++;
	if (g->member)
		nps_guest_exclude(g, "is busy: left out");
}
