// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-perf -A ps. Every worker sends the same gradient of small integers, so a
 * job with lr 1 and no momentum must subtract exactly that in each version.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure.h"
#include "perf_ps.h"
#include "trib.h"

enum {
	EXIT_OK = 0,
	EXIT_WRONG = 1,
	EXIT_USAGE = 2,
	EXIT_FAILED = 3,
};

/* Integers up to this, and their sums, are exact in a float. */
#define EXACT (1 << 24)
#define STEP_MAX 7

/**
 * struct ps_run - a measurement
 * @model:   values of the last version.
 * @first:   values of version @first_version.
 * @grad:    gradient for each version.
 * @us:      times between versions, @n of them.
 * @made:    versions that the PS made meanwhile.
 * @wrong:   wrong values.
 * @checked: verified versions.
 */
struct ps_run {
	const struct perf_opts *o;
	struct trib_ps *p;
	struct trib_ps_task task;
	struct trib_ps_version v;
	float *model;
	float *first;
	float *grad;
	float *us;
	uint64_t first_version;
	unsigned int n;
	uint64_t made;
	uint64_t wrong;
	unsigned int checked;
	double seconds;
	struct trib_ps_counters before;
	struct trib_ps_counters after;
};

static double now_s(void)
{
	return (double)clock_ns() / 1e9;
}

static int refuse(const struct perf_opts *o, const char *what)
{
	fprintf(stderr, "%s: -A ps: %s\n", o->tool, what);
	return EXIT_USAGE;
}

static int fail(const struct ps_run *r, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", r->o->tool, what, trib_ps_error_text(r->p));
	return EXIT_FAILED;
}

static float step_of(size_t i)
{
	return (float)(1 + i % STEP_MAX);
}

static int check_opts(const struct perf_opts *o)
{
	if (o->collective != PERF_ALLREDUCE || o->op != TRIB_SUM || o->dtype != TRIB_F32)
		return refuse(o, "-C, -o and -d follow from the job: leave them out");
	if (o->inflight != 1 || o->root)
		return refuse(o, "-p and -r do not apply to -A ps: leave them out");
	return EXIT_OK;
}

static int prepare(struct ps_run *r)
{
	int rc = trib_ps_open(&r->p, NULL);

	if (rc)
		return fail(r, "open");
	r->task.size = sizeof(r->task);
	if (trib_ps_join(r->p, &r->task, 60000))
		return fail(r, "join");
	r->model = calloc(r->task.count, sizeof(float));
	r->first = calloc(r->task.count, sizeof(float));
	r->grad = calloc(r->task.count, sizeof(float));
	r->us = calloc(r->o->iters, sizeof(float));
	if (!r->model || !r->first || !r->grad || !r->us) {
		fprintf(stderr, "%s: out of memory\n", r->o->tool);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < r->task.count; i++)
		r->grad[i] = step_of(i);
	return EXIT_OK;
}

/* A restarted server continues from its checkpoint, so begin again. */
static void check(struct ps_run *r)
{
	uint64_t steps = r->v.version - r->first_version;

	if (!r->first_version || r->first_version >> 32 != r->v.version >> 32) {
		r->first_version = r->v.version;
		memcpy(r->first, r->model, r->task.count * sizeof(float));
		return;
	}
	if (steps * STEP_MAX > EXACT / 2)
		return;
	r->checked++;
	for (size_t i = 0; i < r->task.count; i++)
		r->wrong += r->model[i] != r->first[i] - (float)steps * step_of(i);
}

/* Receive the next version into r->model; r->v describes it. */
static int turn(struct ps_run *r)
{
	int rc;

	r->v.size = sizeof(r->v);
	rc = trib_ps_model(r->p, r->model, r->task.count, &r->v, -1);
	if (rc || r->v.last)
		return rc;
	rc = trib_ps_gradient(r->p, r->v.version, r->grad, r->task.count);
	return rc == -ESTALE ? 0 : rc;
}

static int measure(struct ps_run *r)
{
	const struct perf_opts *o = r->o;
	double last = 0, now;
	uint64_t from = 0;
	int rc = 0;

	for (unsigned int i = 0; i <= o->warmup + o->iters; i++) {
		rc = turn(r);
		if (rc)
			return fail(r, "version");
		now = now_s();
		if (i == o->warmup) {
			from = r->v.version;
			r->before.size = sizeof(r->before);
			trib_ps_counters(r->p, &r->before);
		} else if (i > o->warmup) {
			r->us[r->n++] = (float)((now - last) * 1e6);
			r->seconds += now - last;
			r->made = r->v.version - from;
		}
		if (o->check != PERF_CHECK_NONE)
			check(r);
		/* Do not count the time of checking. */
		last = now_s();
		if (r->v.last)
			break;
	}
	r->after.size = sizeof(r->after);
	trib_ps_counters(r->p, &r->after);
	if (r->n)
		return EXIT_OK;
	fprintf(stderr, "%s: the job ended before %u versions: give it more\n", o->tool,
		o->warmup + 1);
	return EXIT_FAILED;
}

struct figures {
	size_t bytes;
	double time_us;
	double algbw;
	double p50;
	double p99;
	double rx;
	double tx;
};

static struct figures sum_up(struct ps_run *r)
{
	struct figures f = {.bytes = r->task.count * sizeof(float)};

	perf_sort(r->us, r->n);
	f.time_us = r->seconds * 1e6 / r->n;
	f.algbw = (double)f.bytes / (f.time_us * 1e3);
	f.p50 = perf_percentile(r->us, r->n, 50);
	f.p99 = perf_percentile(r->us, r->n, 99);
	f.rx = (double)(r->after.recv_bytes - r->before.recv_bytes) / r->n;
	f.tx = (double)(r->after.sent_bytes - r->before.sent_bytes) / r->n;
	return f;
}

static int write_json(const struct ps_run *r, const struct figures *f)
{
	const char *path = r->o->json;
	FILE *out;
	int bad;

	if (!path)
		return EXIT_OK;
	out = strcmp(path, "-") ? fopen(path, "w") : stdout;
	if (out)
		fprintf(out,
			"{\"tool\": \"%s\", \"algorithm\": \"ps\", \"job\": \"%s\", \"async\": %s,\n"
			" \"rows\": [{\"bytes\": %zu, \"count\": %zu, \"versions\": %u, \"made\": %llu, \"time_us\": %.3f, \"algbw_GBps\": %.6f, \"p50_us\": %.3f, \"p99_us\": %.3f, \"recv_bytes\": %.0f, \"sent_bytes\": %.0f, \"fetches\": %llu, \"checked\": %u, \"wrong\": %llu}]}\n",
			r->o->tool, r->task.job, r->task.async ? "true" : "false", f->bytes,
			r->task.count, r->n, (unsigned long long)r->made, f->time_us, f->algbw,
			f->p50, f->p99, f->rx, f->tx,
			(unsigned long long)(r->after.fetches - r->before.fetches), r->checked,
			(unsigned long long)r->wrong);
	bad = !out || (out == stdout ? fflush(out) : fclose(out));
	if (bad)
		fprintf(stderr, "%s: %s: %s\n", r->o->tool, path, strerror(errno));
	return bad ? EXIT_FAILED : EXIT_OK;
}

static int report(struct ps_run *r)
{
	struct figures f = sum_up(r);
	char wrong[24] = "N/A";
	int status;

	if (r->checked)
		snprintf(wrong, sizeof(wrong), "%llu", (unsigned long long)r->wrong);
	printf("# %s of %s, %s\n", r->o->tool, r->task.job,
	       r->task.async ? "asynchronous" : "synchronous");
	printf("# %10s %12s %8s %8s %10s %9s %10s %10s %10s %10s %7s\n", "size", "count",
	       "versions", "made", "time", "algbw", "p50", "p99", "received", "sent", "#wrong");
	printf("# %10s %12s %8s %8s %10s %9s %10s %10s %10s %10s\n", "(B)", "(elements)", "", "",
	       "(us)", "(GB/s)", "(us)", "(us)", "(B)", "(B)");
	printf("  %10zu %12zu %8u %8llu %10.1f %9.3f %10.1f %10.1f %10.0f %10.0f %7s\n", f.bytes,
	       r->task.count, r->n, (unsigned long long)r->made, f.time_us, f.algbw, f.p50, f.p99,
	       f.rx, f.tx, wrong);
	status = write_json(r, &f);
	return status ? status : r->wrong ? EXIT_WRONG : EXIT_OK;
}

int perf_ps(const struct perf_opts *o)
{
	struct ps_run r = {.o = o};
	int status = check_opts(o);

	if (status)
		return status;
	status = prepare(&r);
	if (!status)
		status = measure(&r);
	if (!status)
		status = report(&r);
	trib_ps_close(r.p);
	free(r.model);
	free(r.first);
	free(r.grad);
	free(r.us);
	return status;
}
