// SPDX-License-Identifier: BSD-2-Clause
/* Checks, makes and frees jobs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ps.h"

/* Reserve: a worker's signature may be this much longer than that of the PS. */
#define WORKER_KEY_ROOM 64

struct nps *nps_new(const struct nps_ops *ops, void *ctx, uint64_t seed)
{
	struct nps *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return NULL;
	ps->ops = ops;
	ps->ctx = ctx;
	ps->random.state = seed;
	return ps;
}

/*
 * Free a job, but not its model: the caller owns that until nps_add() succeeds.
 */
static void job_free(struct nps_job *job)
{
	unsigned int i;

	for (i = 0; job->guests && i < job->spec.nworker; i++) {
		free(job->guests[i].bits);
		free(job->guests[i].values);
	}
	free(job->guests);
	nps_kept_free(job);
	free(job);
}

void nps_free(struct nps *ps)
{
	unsigned int i;

	if (!ps)
		return;
	for (i = 0; i < ps->njob; i++) {
		free(ps->job[i]->model.values);
		free(ps->job[i]->model.momentum);
		job_free(ps->job[i]);
	}
	free(ps);
}

uint32_t nps_segment_fitting(const struct nps_spec *spec, size_t packet)
{
	struct ndn_name_parts parts = {.version = UINT64_MAX, .segment = NDN_SEGMENTS_MAX};
	uint8_t value[4] = {0}, gpu[NDN_GPU_MAX] = {0};
	uint8_t buf[TRIB_NDN_PACKET_MAX];
	struct ndn_data d = {
		.has_freshness = true,
		.freshness = UINT32_MAX,
		.has_final = true,
		.final_block = {TRIB_NDN_SEGMENT, {value, sizeof(value)}},
	};
	struct ndn_name name = ndn_name_of(&spec->name);
	struct ndn_job_names names;
	struct ndn_name_buf full;
	size_t len, longest = 1, n;
	unsigned int i;

	if (ndn_job_names_init(&names, &name, &spec->markers))
		return 0;
	for (i = 0; i < spec->nworker; i++)
		if (spec->workers[i].len > longest)
			longest = spec->workers[i].len;
	n = strlen(spec->markers.distribute);
	/* Take the longer of a worker's name and the marker. */
	parts.gpu = (struct ndn_bytes){gpu, longest > n ? longest : n};
	if (ndn_job_name(&full, &names, NDN_IS_GRADIENT, &parts))
		return 0;
	d.name = ndn_name_of(&full);
	if (ndn_data_encode(&d, spec->key, buf, sizeof(buf), &len))
		return 0;
	/* The lengths of Data and Content may take two more bytes each. */
	len += 4 + 4 + sizeof(struct ndn_wire_gradient) + WORKER_KEY_ROOM;
	if (len + NDN_VALUE_SIZE > packet)
		return 0;
	n = (packet - len) / NDN_VALUE_SIZE * NDN_VALUE_SIZE;
	return n < NDN_SEGMENT_MAX ? (uint32_t)n : NDN_SEGMENT_MAX;
}

/* ---- adding ---- */

static int worker_order(const void *a, const void *b)
{
	const struct nps_worker *x = ((const struct nps_guest *)a)->worker;
	const struct nps_worker *y = ((const struct nps_guest *)b)->worker;
	int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);

	return order ? order : x->len - y->len;
}

static int guests_make(struct nps_job *job, char *why, size_t size)
{
	const struct nps_spec *spec = &job->spec;
	unsigned int i;

	if (!spec->nworker || spec->nworker > NPS_WORKERS_MAX)
		return text_fail(why, size, -EINVAL, "workers: want 1 to %d", NPS_WORKERS_MAX);
	job->guests = calloc(spec->nworker, sizeof(*job->guests));
	if (!job->guests)
		return text_fail(why, size, -ENOMEM, "out of memory");
	for (i = 0; i < spec->nworker; i++)
		job->guests[i].worker = &spec->workers[i];
	qsort(job->guests, spec->nworker, sizeof(*job->guests), worker_order);
	for (i = 0; i < spec->nworker; i++) {
		struct nps_guest *g = &job->guests[i];
		struct ndn_name_parts parts = {.gpu = {g->worker->name, g->worker->len}};
		struct ndn_name_buf name;

		if (ndn_job_name(&name, &job->names, NDN_IS_OFFER, &parts))
			return text_fail(
				why, size, -EINVAL,
				"workers: '%.*s' is not a name of one short component, or is a marker",
				g->worker->len, (const char *)g->worker->name);
		if (i && !worker_order(g - 1, g))
			return text_fail(why, size, -EEXIST, "workers: '%.*s' is given twice",
					 g->worker->len, (const char *)g->worker->name);
	}
	return 0;
}

static int spec_check(const struct nps *ps, const struct nps_spec *spec, char *why, size_t size)
{
	struct ndn_name name = ndn_name_of(&spec->name), other;
	unsigned int i;

	if (ps->njob == NPS_JOBS_MAX)
		return text_fail(why, size, -E2BIG, "more than %d jobs", NPS_JOBS_MAX);
	for (i = 0; i < ps->njob; i++) {
		other = ndn_name_of(&ps->job[i]->names.plain);
		if (ndn_name_is_equal(&name, &other))
			return text_fail(why, size, -EEXIST, "prefix: another job has the same");
	}
	if (!ndn_content_segments(spec->elements, spec->segment))
		return text_fail(
			why, size, -EINVAL,
			"elements, segment: want 1 to %u segments of at most %u bytes, a multiple of 4",
			NDN_SEGMENTS_MAX, NDN_SEGMENT_MAX);
	if (spec->lease_ms < NDN_LEASE_MIN_MS || spec->lease_ms > NDN_LEASE_MAX_MS)
		return text_fail(why, size, -EINVAL, "lease_ms: want %d to %d", NDN_LEASE_MIN_MS,
				 NDN_LEASE_MAX_MS);
	if (!spec->rto_ms || spec->rto_ms > spec->lease_ms / 16)
		return text_fail(why, size, -EINVAL, "rto_ms: want 1 to lease_ms / 16, %u",
				 spec->lease_ms / 16);
	if (spec->tree_job != NDN_NO_TREE && spec->mode != NDN_MODE_SYNC)
		return text_fail(why, size, -EINVAL, "tree: needs a synchronous job");
	if (!spec->versions || !spec->every)
		return text_fail(why, size, -EINVAL, "versions, every: 0");
	if (spec->least > spec->nworker)
		return text_fail(why, size, -EINVAL,
				 "min_workers: larger than the number of workers");
	if (!spec->key->has_secret && spec->key->type != TRIB_NDN_SIG_SHA256)
		return text_fail(why, size, -EINVAL, "key: %s", ndn_err_text(NDN_E_KEY_PUBLIC));
	return 0;
}

static int job_make(struct nps_job *job, char *why, size_t size)
{
	const struct nps_spec *spec = &job->spec;
	struct ndn_name name = ndn_name_of(&spec->name);
	enum ndn_err bad = ndn_job_names_init(&job->names, &name, &spec->markers);
	int err;

	if (bad)
		return text_fail(why, size, -EINVAL, "prefix, markers: %s", ndn_err_text(bad));
	job->lease = spec->lease_ms * NDN_MS;
	job->rto = spec->rto_ms * NDN_MS;
	job->segments = ndn_content_segments(spec->elements, spec->segment);
	job->pace.rate = spec->rate;
	job->pace.burst = NPS_PACE_BURST;
	err = guests_make(job, why, size);
	if (err)
		return err;
	err = nps_kept_init(job);
	if (err == -EINVAL)
		return text_fail(why, size, err, "segment: %u bytes do not fit into a packet",
				 spec->segment);
	return err ? text_fail(why, size, err, "out of memory") : 0;
}

/* Spread the first offers. */
static void guests_start(struct nps_job *job)
{
	struct nps *ps = job->ps;
	unsigned int i;

	job->due = NDN_NEVER;
	for (i = 0; i < job->spec.nworker; i++) {
		struct nps_guest *g = &job->guests[i];

		g->job = job;
		g->heard = ps->now;
		g->window = NPS_WINDOW_FIRST * 256;
		ndn_estimate_init(&g->estimate, 2 * job->rto);
		ndn_estimate_init(&g->rtt, job->rto / 3);
		ndn_timer_set(&g->offer,
			      ps->now + ndn_random_between(&ps->random, 0, job->rto / 3));
		nps_due(job, &g->offer);
	}
}

static bool is_finite(const struct nps_spec *spec, const struct nps_model *m)
{
	size_t bytes = spec->elements * sizeof(float);

	return ndn_content_is_finite(m->values, bytes) &&
	       (!m->momentum || ndn_content_is_finite(m->momentum, bytes));
}

int nps_add(struct nps *ps, const struct nps_spec *spec, uint32_t incarnation,
	    const struct nps_model *model, uint64_t now, char *why, size_t size)
{
	int err = spec_check(ps, spec, why, size);
	struct nps_job *job;

	if (err)
		return err;
	job = calloc(1, sizeof(*job));
	if (!job)
		return text_fail(why, size, -ENOMEM, "out of memory");
	ps->now = now;
	job->ps = ps;
	job->spec = *spec;
	job->incarnation = incarnation;
	err = job_make(job, why, size);
	if (!err && !is_finite(spec, model))
		err = text_fail(why, size, -EINVAL, "model: contains NaN or infinity");
	if (err) {
		job_free(job);
		return err;
	}
	job->model = *model;
	guests_start(job);
	ps->job[ps->njob++] = job;
	nps_job_start(job);
	return 0;
}
