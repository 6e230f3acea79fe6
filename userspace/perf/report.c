// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prints rows as they come and keeps them for the JSON at the end. Names in
 * the JSON carry their units.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

struct perf_report {
	const struct perf_net *net;
	const struct perf_opts *o;
	struct perf_row *rows;
	size_t n;
};

struct perf_report *perf_report_begin(const struct perf_net *net, const struct perf_opts *o)
{
	struct perf_report *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->net = net;
	p->o = o;
	printf("# %s %s: %s, %u ranks, %s, %u in flight, %u warm-up and %u timed iterations\n",
	       o->tool, TRIB_VERSION, perf_collective_name(o->collective), net->world, net->detail,
	       o->inflight, o->warmup, o->iters);
	if (perf_bus_factor(o->collective, net->world) > 1)
		printf("# busbw is algbw * %.2f, as nccl-tests has it for rings. Sums formed in the network\n"
		       "# do not travel twice, so it may exceed the link; algbw cannot.\n",
		       perf_bus_factor(o->collective, net->world));
	printf("#\n"
	       "#%11s %12s %7s %6s %5s %9s %8s %8s %7s %9s %9s\n"
	       "#%11s %12s %7s %6s %5s %9s %8s %8s %7s %9s %9s\n",
	       "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "p50",
	       "p99", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
	       "(us)");
	fflush(stdout);
	return p;
}

static const char *redop(const struct perf_opts *o)
{
	return o->collective == PERF_ALLREDUCE || o->collective == PERF_REDUCE_SCATTER
		       ? perf_op_name(o->op)
		       : "none";
}

static int root(const struct perf_opts *o)
{
	return o->collective == PERF_BROADCAST ? (int)o->root : -1;
}

int perf_report_row(struct perf_report *p, const struct perf_row *row)
{
	struct perf_row *rows = realloc(p->rows, (p->n + 1) * sizeof(*rows));
	char wrong[24] = "N/A";

	if (!rows)
		return -ENOMEM;
	p->rows = rows;
	rows[p->n++] = *row;
	if (row->checked)
		snprintf(wrong, sizeof(wrong), "%llu",
			 (unsigned long long)(row->wrong + row->differ));
	printf(" %11zu %12zu %7s %6s %5d %9.2f %8.3f %8.3f %7s %9.2f %9.2f\n", row->bytes,
	       row->count, perf_dtype_name(p->o->dtype), redop(p->o), root(p->o), row->time_us,
	       row->algbw, row->busbw, wrong, row->p50_us, row->p99_us);
	if (row->differ)
		printf("# %llu of %u results of %zu bytes were not bit-identical on all ranks\n",
		       (unsigned long long)row->differ, row->checked, row->bytes);
	fflush(stdout);
	return 0;
}

static void json_row(FILE *f, const struct perf_row *r)
{
	fprintf(f,
		"{\"bytes\": %zu, \"count\": %zu, \"time_us\": %.3f, "
		"\"algbw_GBps\": %.6f, \"busbw_GBps\": %.6f, "
		"\"p50_us\": %.3f, \"p99_us\": %.3f, \"min_us\": %.3f, \"cpu_us\": %.3f, "
		"\"checked\": %u, \"wrong\": %llu, \"differ\": %llu}",
		r->bytes, r->count, r->time_us, r->algbw, r->busbw, r->p50_us, r->p99_us, r->min_us,
		r->cpu_us, r->checked, (unsigned long long)r->wrong, (unsigned long long)r->differ);
}

static void json_counters(FILE *f, const struct trib_counters *c)
{
#define FIELD(name)                                                                                \
	{                                                                                          \
#name, c->name                                                                     \
	}
	const struct {
		const char *name;
		uint64_t value;
	} fields[] = {
		FIELD(chunks),	   FIELD(sent_packets),	 FIELD(sent_bytes),   FIELD(recv_packets),
		FIELD(recv_bytes), FIELD(resends),	 FIELD(fast_resends), FIELD(needs),
		FIELD(dups),	   FIELD(bad_packets),	 FIELD(rtt_us),	      FIELD(rtt_min_us),
		FIELD(window),	   FIELD(last_count),	 FIELD(waits),	      FIELD(carried),
		FIELD(detours),	   FIELD(detour_chunks),
	};
#undef FIELD

	fprintf(f, ",\n \"counters\": {");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		fprintf(f, "%s\"%s\": %llu", i ? ", " : "", fields[i].name,
			(unsigned long long)fields[i].value);
	fprintf(f, "}");
}

static double ratio_of(const struct perf_saved *s)
{
	return s->sent ? (double)s->dense / (double)s->sent : 0;
}

static void json_saved(FILE *f, const struct perf_saved *s)
{
	fprintf(f,
		",\n \"compression\": {\"spec\": \"%s\", \"messages\": %llu, "
		"\"bytes_dense\": %llu, \"bytes_sent\": %llu, \"bytes_received\": %llu, "
		"\"ratio\": %.4f, \"codec_us\": %.3f}",
		s->spec, (unsigned long long)s->messages, (unsigned long long)s->dense,
		(unsigned long long)s->sent, (unsigned long long)s->received, ratio_of(s),
		s->codec_us);
}

static int write_json(const struct perf_report *p, const struct trib_counters *counters)
{
	const struct perf_opts *o = p->o;
	int to_stdout = !strcmp(o->json, "-");
	FILE *f = to_stdout ? stdout : fopen(o->json, "w");
	int rc;

	if (!f)
		return -errno;
	fprintf(f,
		"{\"tool\": \"%s\", \"version\": \"%s\", \"ranks\": %u, "
		"\"detail\": \"%s\", \"collective\": \"%s\", "
		"\"algorithm\": \"%s\", \"dtype\": \"%s\", \"op\": \"%s\", "
		"\"inflight\": %u, \"warmup\": %u, \"iterations\": %u,\n"
		" \"results\": [",
		o->tool, TRIB_VERSION, p->net->world, p->net->detail,
		perf_collective_name(o->collective), o->algorithm, perf_dtype_name(o->dtype),
		redop(o), o->inflight, o->warmup, o->iters);
	for (size_t i = 0; i < p->n; i++) {
		fprintf(f, "%s\n  ", i ? "," : "");
		json_row(f, &p->rows[i]);
	}
	fprintf(f, "]");
	if (counters)
		json_counters(f, counters);
	if (p->net->saved)
		json_saved(f, p->net->saved);
	fprintf(f, "}\n");
	rc = ferror(f) || fflush(f) ? -EIO : 0;
	if (!to_stdout && fclose(f))
		rc = -errno;
	return rc;
}

int perf_report_end(struct perf_report *p, const struct trib_counters *counters, int failed)
{
	unsigned long long wrong = 0, differ = 0;
	double bus = 0;
	int rc = 0;

	for (size_t i = 0; i < p->n; i++) {
		wrong += p->rows[i].wrong;
		differ += p->rows[i].differ;
		bus += p->rows[i].busbw;
	}
	if (failed)
		printf("# Out of bounds values : unknown, a collective failed\n");
	else if (!p->o->check || p->o->collective == PERF_BARRIER)
		printf("# Out of bounds values : not checked\n");
	else
		printf("# Out of bounds values : %llu %s\n", wrong + differ,
		       wrong + differ ? "FAILED" : "OK");
	if (p->n)
		printf("# Avg bus bandwidth    : %.4f\n", bus / (double)p->n);
	if (p->net->saved && !failed)
		printf("# Compression          : %s, %llu of %llu bytes sent (1/%.2f), codec %.1f us per message\n",
		       p->net->saved->spec, (unsigned long long)p->net->saved->sent,
		       (unsigned long long)p->net->saved->dense, ratio_of(p->net->saved),
		       p->net->saved->codec_us / (double)(p->net->saved->messages ?: 1));
	if (p->o->json && !failed) {
		rc = write_json(p, counters);
		if (rc)
			fprintf(stderr, "%s: %s: %s\n", p->o->tool, p->o->json, strerror(-rc));
	}
	fflush(stdout);
	free(p->rows);
	free(p);
	return rc;
}
