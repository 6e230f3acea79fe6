// SPDX-License-Identifier: BSD-2-Clause
/*
 * Versions of a job: made when the gradients are complete, distributed one at a
 * time and paced, saved every few versions.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "ps.h"

void nps_job_log(const struct nps_job *job, const char *fmt, ...)
{
	const struct nps *ps = job->ps;
	char line[256];
	va_list ap;

	if (!ps->ops->log)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	ps->ops->log(ps->ctx, job, line);
}

unsigned int nps_members(const struct nps_job *job)
{
	unsigned int i, n = 0;

	for (i = 0; i < job->spec.nworker; i++)
		n += job->guests[i].member;
	return n;
}

/* ---- distributing ---- */

static void publish(struct nps_job *job)
{
	unsigned int i;

	if (job->busy)
		return;
	job->busy = true;
	job->next = 0;
	nps_kept_put(job);
	job->count[NPS_COUNT_PUBLISHED]++;
	for (i = 0; i < job->spec.nworker; i++)
		nps_collect_plan(&job->guests[i]);
}

static void through(struct nps_job *job)
{
	job->busy = false;
	if (nps_version(job) != nps_published(job))
		publish(job);
	else if (job->over && !job->ended)
		job->ended = job->ps->now;
}

void nps_job_distribute(struct nps_job *job)
{
	struct nps *ps = job->ps;
	unsigned int n;

	for (n = 0; job->busy && n < NPS_BURST; n++) {
		const uint8_t *pkt;
		size_t len;

		if (!ndn_pace_is_open(&job->pace, ps->now))
			return;
		pkt = nps_kept_segment(job, nps_job_out(job), job->next, &len);
		if (pkt) {
			nps_send(ps, NULL, pkt, len);
			job->count[NPS_COUNT_DISTRIBUTE]++;
			ndn_pace_take(&job->pace, ps->now, (uint32_t)len + NPS_WIRE_HEAD);
		}
		if (++job->next == job->segments)
			through(job);
	}
}

void nps_job_start(struct nps_job *job)
{
	job->over = job->model.n >= job->spec.versions;
	publish(job);
}

/* ---- the next version ---- */

static void save(struct nps_job *job)
{
	struct nps *ps = job->ps;
	int err;

	if (job->model.n % job->spec.every && !job->over)
		return;
	err = ps->ops->save(ps->ctx, job);
	job->count[err ? NPS_COUNT_SAVE_FAILED : NPS_COUNT_SAVE]++;
}

static void held_log(struct nps_job *job)
{
	if (job->held_said || !job->count[NPS_COUNT_HELD])
		return;
	job->held_said = true;
	nps_job_log(job,
		    "version %u has values too large for binary32: "
		    "gradients or lr are",
		    job->model.n);
}

/* The model has been updated: publish it as the next version. */
static void made(struct nps_job *job)
{
	struct nps *ps = job->ps;
	unsigned int i;

	job->model.n++;
	held_log(job);
	job->over = job->model.n >= job->spec.versions;
	job->count[NPS_COUNT_VERSION]++;
	if (ps->ops->version)
		ps->ops->version(ps->ctx, job);
	for (i = 0; i < job->spec.nworker; i++)
		job->guests[i].got = false;
	if (job->over)
		for (i = 0; i < job->spec.nworker; i++)
			nps_collect_stop(&job->guests[i]);
	save(job);
	publish(job);
}

void nps_job_complete(struct nps_job *job)
{
	unsigned int i, members = 0, missing = 0, got = 0;

	for (i = 0; i < job->spec.nworker; i++) {
		const struct nps_guest *g = &job->guests[i];

		members += g->member;
		missing += g->member && !g->got;
		got += g->got;
	}
	if (job->over || !got)
		return;
	if (job->spec.mode == NDN_MODE_SYNC && (!members || missing || got < job->spec.least))
		return;
	nps_update_guests(job);
	job->count[NPS_COUNT_GRADIENT] += got;
	made(job);
}

static bool is_wanted(const struct nps_job *job, uint64_t version)
{
	return !job->over && version == nps_version(job) && version == nps_published(job);
}

int nps_gradient_lost(struct nps_job *job, uint64_t version)
{
	if (job->spec.mode != NDN_MODE_SYNC)
		return -EINVAL;
	if (!is_wanted(job, version))
		return -ESTALE;
	made(job);
	return 0;
}

int nps_gradient_sum(struct nps_job *job, uint64_t version, const float *sum, unsigned int nworkers)
{
	if (!nworkers || job->spec.mode != NDN_MODE_SYNC)
		return -EINVAL;
	if (!is_wanted(job, version))
		return -ESTALE;
	nps_update_sum(job, sum, nworkers);
	job->count[NPS_COUNT_GRADIENT] += nworkers;
	made(job);
	return 0;
}
