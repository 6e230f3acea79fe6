// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-perf: measures and verifies the collectives of a job. One process per
 * rank; uses only the public API of libtrib.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "opts.h"
#include "perf_compress.h"
#include "perf_ps.h"
#include "report.h"
#include "trib.h"

enum {
	EXIT_OK = 0,
	EXIT_WRONG = 1, /* a value was wrong */
	EXIT_USAGE = 2,
	EXIT_FAILED = 3, /* a collective, or attaching, failed */
};

struct run_trib {
	struct trib *t;
	const struct perf_opts *o;
	struct trib_req *req[PERF_INFLIGHT_MAX];
	struct perf_compress z;
	char detail[384];
};

static int start(struct perf_net *net, const struct perf_call *call)
{
	struct run_trib *r = net->ctx;
	const struct perf_opts *o = r->o;
	struct trib_req **req = &r->req[call->slot];

	if (r->z.c)
		return perf_compress_start(&r->z, o, call, req);
	if (r->z.device.memory != PERF_HOST)
		return perf_device_plain(&r->z.device, r->t, o, call, req);
	switch (o->collective) {
	case PERF_ALLREDUCE:
		return trib_iallreduce(r->t, call->src, call->dst, call->count, o->dtype, o->op,
				       req);
	case PERF_REDUCE_SCATTER:
		return trib_ireduce_scatter(r->t, call->src, call->dst, call->count, o->dtype,
					    o->op, req);
	case PERF_ALLGATHER:
		return trib_iallgather(r->t, call->src, call->dst, call->count, o->dtype, req);
	case PERF_BROADCAST:
		return trib_ibroadcast(r->t, call->dst, call->count, o->dtype, (int)o->root, req);
	default:
		return trib_ibarrier(r->t, req);
	}
}

static int finish(struct perf_net *net, unsigned int slot)
{
	struct run_trib *r = net->ctx;
	int rc = trib_wait(r->req[slot]);

	if (rc)
		return rc;
	return r->z.c ? perf_compress_finish(&r->z, net) : perf_device_finish(&r->z.device);
}

static int barrier(struct perf_net *net)
{
	struct run_trib *r = net->ctx;

	return trib_barrier(r->t);
}

static int max_f32(struct perf_net *net, float *v, size_t n)
{
	struct run_trib *r = net->ctx;

	return trib_allreduce(r->t, v, v, n, TRIB_F32, TRIB_MAX);
}

static int max_i32(struct perf_net *net, int32_t *v, size_t n)
{
	struct run_trib *r = net->ctx;

	return trib_allreduce(r->t, v, v, n, TRIB_I32, TRIB_MAX);
}

static int sum_i32(struct perf_net *net, int32_t *v, size_t n)
{
	struct run_trib *r = net->ctx;

	return trib_allreduce(r->t, v, v, n, TRIB_I32, TRIB_SUM);
}

/* libtrib's error, which names the rank at fault. */
static const char *fault(struct perf_net *net)
{
	struct run_trib *r = net->ctx;

	return trib_error_text(r->t);
}

/* True if @world is n^k for some n >= 2 and @trees is k * @world. */
static bool is_bcube(unsigned int world, unsigned int trees)
{
	unsigned int k = world ? trees / world : 0, n, i, p = 0;

	if (!k || trees % world)
		return false;
	for (n = 2; p < world; n++)
		for (p = 1, i = 0; i < k && p < world; i++)
			p *= n;
	return p == world && world > 1;
}

/* Check shape and rank of the job against the options; 0 or -1. */
static int check_job(const struct perf_net *net, const struct perf_opts *o)
{
	const struct run_trib *r = net->ctx;
	unsigned int trees = (unsigned int)trib_trees(r->t);

	if (o->root >= net->world) {
		fprintf(stderr, "%s: -r: the job has no rank %u\n", o->tool, o->root);
		return -1;
	}
	if (strcmp(o->algorithm, "bcube") || is_bcube(net->world, trees))
		return 0;
	fprintf(stderr,
		"%s: -A bcube: %u ranks with %u trees are no BCube: n^k ranks have k * n^k\n",
		o->tool, net->world, trees);
	return -1;
}

/* The bound for sums of floats in such a job. */
static enum oracle_bound bound_of(const char *format)
{
	if (!strcmp(format, "f32"))
		return ORACLE_F32_SUMS;
	if (!strcmp(format, "f16"))
		return ORACLE_F16_SUMS;
	return strcmp(format, "bf16") ? ORACLE_BLOCK_FP : ORACLE_BF16_SUMS;
}

static int measure_all(struct perf_net *net, const struct perf_opts *o, int *wrong)
{
	struct run_trib *r = net->ctx;
	struct trib_counters counters = {.size = sizeof(counters)};
	struct perf_report *report = NULL;
	size_t bytes = o->min_bytes;
	struct perf_row row;
	int rc = 0, json;

	if (!net->rank) {
		report = perf_report_begin(net, o);
		if (!report)
			return -ENOMEM;
	}
	do {
		rc = perf_measure(net, o, bytes, &row);
		if (rc) {
			fprintf(stderr, "%s: rank %u: %s of %zu bytes: %s\n", o->tool, net->rank,
				perf_collective_name(o->collective), bytes,
				*fault(net) ? fault(net) : strerror(-rc));
			break;
		}
		*wrong |= row.wrong || row.differ;
		perf_compress_forget(&r->z, row.count);
		if (report)
			rc = perf_report_row(report, &row);
		bytes = perf_opts_next(o, bytes);
	} while (!rc && bytes);
	if (report) {
		trib_counters(r->t, &counters);
		perf_compress_count(&r->z);
		json = perf_report_end(report, &counters, rc);
		rc = rc ? rc : json;
	}
	return rc;
}

static int on_extra(void *arg, int letter, const char *value)
{
	struct run_trib *r = arg;

	if (letter == 'D')
		return perf_device_option(&r->z.device, value);
	r->z.spec = value;
	return 0;
}

struct perf_device *perf_device_of(struct perf_net *net)
{
	struct run_trib *r = net->ctx;

	return &r->z.device;
}

/* Measure in the job that is attached. Return: 0, or not. */
static int run_job(struct perf_net *net, const struct perf_opts *o, int *wrong)
{
	struct run_trib *r = net->ctx;
	int rc = check_job(net, o);

	if (!rc)
		rc = perf_device_open(&r->z.device, net);
	if (rc)
		return rc;
	rc = perf_compress_open(&r->z, o, net, r->t);
	if (rc) {
		fprintf(stderr, "%s: -z: %s\n", o->tool, trib_error_text(r->t));
	} else {
		rc = measure_all(net, o, wrong);
		perf_compress_close(&r->z);
	}
	perf_device_close(&r->z.device);
	return rc;
}

/* Algorithms of peers, which exchange without relays: names for -A, and for libtrib. */
static const struct {
	const char *name;
	const char *algorithm;
} peers[] = {
	{"auto", "auto"},	{"direct", "direct"},	 {"ring", "ring"},
	{"halving", "halving"}, {"peer-bcube", "bcube"}, {"torus", "torus"},
};
#define PEERS ((int)(sizeof(peers) / sizeof(peers[0])))

static void choose_peers(const struct perf_opts *o)
{
	for (int i = 0; i < PEERS; i++)
		if (!strcmp(o->algorithm, peers[i].name)) {
			setenv("TRIB_TRANSPORT", "peer", 1);
			setenv("TRIB_PEER_ALGORITHM", peers[i].algorithm, 1);
		}
}

int main(int argc, char **argv)
{
	static const struct option names[] = {{"device", required_argument, NULL, 'D'}, {0}};
	const char *algorithms[PEERS + 4] = {"tree", "bcube", "ps"};
	struct run_trib r = {0};
	struct perf_opts o = {
		.tool = "trib-perf",
		.algorithms = algorithms,
		.extra = "z:D:",
		.extra_long = names,
		.extra_help =
			"  -z SPEC    compress: 2:4 (2 of every 4), 2:4/local, int8, 2:4+int8, ...\n"
			"  -D, --device MEMORY\n"
			"             values are in memory of: host (default), cuda; or staged: in a\n"
			"             GPU's, copied to the host and back\n",
		.on_extra = on_extra,
		.arg = &r,
	};
	struct perf_net net = {
		.name = o.tool,
		.ctx = &r,
		.start = start,
		.finish = finish,
		.barrier = barrier,
		.max_f32 = max_f32,
		.max_i32 = max_i32,
		.sum_i32 = sum_i32,
		.fault = fault,
	};
	char way[256];
	int rc, wrong = 0;

	for (rc = 0; rc < PEERS; rc++)
		algorithms[3 + rc] = peers[rc].name;
	rc = perf_opts_parse(&o, argc, argv);
	r.o = &o;
	if (rc)
		return rc == 1 ? EXIT_OK : EXIT_USAGE;
	if (perf_compress_options(&r.z, &o))
		return EXIT_USAGE;
	if (!strcmp(o.algorithm, "ps"))
		return perf_ps(&o);
	choose_peers(&o);
	rc = trib_attach(&r.t, NULL);
	if (rc) {
		fprintf(stderr, "%s: attach: %s: %s\n", o.tool, strerror(-rc),
			trib_error_text(NULL));
		return EXIT_FAILED;
	}
	net.rank = (unsigned int)trib_rank(r.t);
	net.world = (unsigned int)trib_world(r.t);
	trib_describe(r.t, way, sizeof(way));
	snprintf(r.detail, sizeof(r.detail), "%s, %s transport%s%s, sums as %s", o.algorithm,
		 trib_transport_name(r.t), *way ? ": " : "", way, trib_sum_format(r.t));
	net.detail = r.detail;
	net.bound = bound_of(trib_sum_format(r.t));
	rc = run_job(&net, &o, &wrong);
	trib_detach(r.t);
	if (rc)
		return EXIT_FAILED;
	return wrong ? EXIT_WRONG : EXIT_OK;
}
