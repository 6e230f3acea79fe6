// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib-perf -z: allreduces by trib_compress.h. Each message is a training step
 * without feedback, so that every result follows from its inputs alone, and another
 * rank chooses the values each time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "perf_compress.h"

/* 64-bit words that share an exponent: see trib_compress.h. */
#define RANGE_WORDS 128

int perf_compress_options(struct perf_compress *z, const struct perf_opts *o)
{
	static char spec[32];
	const char *want = NULL, *slash;

	if (!z->spec)
		return 0;
	slash = strchr(z->spec, '/');
	if (slash && !strcmp(slash, "/local") && (size_t)(slash - z->spec) < sizeof(spec)) {
		memcpy(spec, z->spec, (size_t)(slash - z->spec));
		z->spec = spec;
		z->local = true;
	}
	if (strpbrk(z->spec, ",") || !strcmp(z->spec, "auto"))
		want = "one spec for the whole run, as 2:4+int8";
	else if (o->collective != PERF_ALLREDUCE || !strcmp(o->algorithm, "ps"))
		want = "-C allreduce, and no parameter server";
	else if (o->dtype != TRIB_F32 || (o->op != TRIB_SUM && o->op != TRIB_AVG))
		want = "-d float and -o sum or avg";
	else if (o->inflight > 1)
		want = "-p 1: each message ends a step";
	if (want)
		fprintf(stderr, "%s: -z %s: want %s; see -h\n", o->tool, z->spec, want);
	return want ? -1 : 0;
}

/* Bits of a lane that holds the sum of @world integers of @bits bits. */
static unsigned int lane_bits(unsigned int bits, unsigned int world)
{
	unsigned int r = bits;

	while ((1ULL << (r - 1)) - 1 < (uint64_t)world * ((1u << (bits - 1)) - 1))
		r++;
	return r;
}

/* Read the library's text, as "2:4+int8". */
static void read_spec(struct perf_compress *z, unsigned int world)
{
	struct oracle_keep *k = &z->keep;
	const char *bits = strstr(z->text, "int");
	unsigned int sent;

	k->group = k->kept = 1;
	if (strchr(z->text, ':'))
		sscanf(z->text, "%u:%u", &k->kept, &k->group);
	if (bits)
		sscanf(bits, "int%u", &k->bits);
	sent = 32 * k->kept / k->group;
	if (k->bits)
		k->reach = RANGE_WORDS * (64 / lane_bits(k->bits, world)) / sent * 32;
	else
		k->reach = (size_t)ORACLE_BLOCK * 32 / sent;
}

int perf_compress_open(struct perf_compress *z, const struct perf_opts *opts, struct perf_net *net,
		       struct trib *t)
{
	struct trib_compress_options o = {
		.size = sizeof(o),
		.schedule = z->spec,
		.seed = 1,
		.no_feedback = 1,
		.mask = z->local ? "local" : "shared",
		.memory = z->device.memory == PERF_CUDA ? TRIB_MEMORY_CUDA : TRIB_MEMORY_HOST,
	};
	int rc;

	/* Only peers take whole values from a GPU. */
	if (!z->spec && z->device.memory != PERF_HOST && strcmp(trib_transport_name(t), "peer")) {
		z->spec = "dense";
		o.schedule = z->spec;
		if (perf_compress_options(z, opts))
			return -EINVAL;
	}
	if (!z->spec)
		return 0;
	rc = trib_compress_open(&z->c, t, &o);
	if (rc)
		return rc;
	trib_compress_spec(z->c, z->text, 16);
	read_spec(z, net->world);
	if (z->local) {
		z->keep.local = true;
		strcat(z->text, "/local");
	}
	z->saved.spec = z->text;
	net->keep = z->keep;
	net->saved = &z->saved;
	return 0;
}

int perf_compress_start(struct perf_compress *z, const struct perf_opts *o,
			const struct perf_call *call, struct trib_req **req)
{
	if (z->device.memory != PERF_HOST)
		return perf_device_start(&z->device, z->c, o->op, call, req);
	/* A key has one count, so each size has its own. */
	return trib_compress_iallreduce(z->c, call->count, call->src, call->dst, call->count,
					TRIB_F32, o->op, req);
}

int perf_compress_finish(struct perf_compress *z, struct perf_net *net)
{
	int rc = perf_device_finish(&z->device);

	net->keep = z->keep;
	net->keep.leader = z->step++ % net->world;
	if (!rc)
		rc = trib_compress_step(z->c);
	return rc < 0 ? rc : 0;
}

int perf_compress_forget(struct perf_compress *z, size_t count)
{
	return z->c ? trib_compress_forget(z->c, count) : 0;
}

void perf_compress_count(struct perf_compress *z)
{
	struct trib_compress_counters n = {.size = sizeof(n)};

	if (!z->c)
		return;
	trib_compress_counters(z->c, &n);
	z->saved.messages = n.messages;
	z->saved.dense = n.bytes_dense;
	z->saved.sent = n.bytes_sent;
	z->saved.received = n.bytes_received;
	z->saved.codec_us = (double)n.codec_ns / 1e3;
}

void perf_compress_close(struct perf_compress *z)
{
	trib_compress_close(z->c);
}
