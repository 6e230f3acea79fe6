// SPDX-License-Identifier: BSD-2-Clause
/*
 * One size of a benchmark: buffers, verification, warm-up, timing. The clock
 * runs from a barrier to this rank's last completion; the slowest rank counts.
 * Ranks exchange times and faults through the network that they measure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure.h"

/* Limit of wrong elements per rank and size: their sum must fit int32. */
#define WRONG_MAX 1000000

struct run {
	struct perf_net *net;
	const struct perf_opts *o;
	struct perf_row *row;
	size_t size;	  /* bytes of an element */
	size_t total;	  /* elements of the whole message */
	size_t src_elems; /* of each src buffer */
	size_t dst_elems; /* of each dst buffer */
	unsigned int slots;
	char *src[PERF_INFLIGHT_MAX];
	char *dst[PERF_INFLIGHT_MAX];
	void *far_src[PERF_INFLIGHT_MAX]; /* what calls take instead, or NULL */
	void *far_dst[PERF_INFLIGHT_MAX];
	float *us; /* per iteration */
	double total_us;
};

static double now_us(void)
{
	return (double)clock_ns() / 1e3;
}

double perf_bus_factor(enum perf_collective c, unsigned int world)
{
	double n = world;

	switch (c) {
	case PERF_ALLREDUCE:
		return 2 * (n - 1) / n;
	case PERF_REDUCE_SCATTER:
	case PERF_ALLGATHER:
		return (n - 1) / n;
	case PERF_BROADCAST:
		return 1;
	default:
		return 0;
	}
}

static int compare_f32(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void perf_sort(float *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_f32);
}

double perf_percentile(const float *sorted, size_t n, double percent)
{
	double rank = percent / 100 * (double)n;
	size_t i = (size_t)rank;

	if (!n)
		return 0;
	/* Smallest value with at least that share at or below it. */
	if ((double)i == rank && i)
		i--;
	return sorted[i < n ? i : n - 1];
}

static void free_buffers(struct run *r)
{
	for (unsigned int i = 0; i < r->slots; i++) {
		free(r->src[i]);
		free(r->dst[i]);
		if (r->far_src[i])
			r->net->far_free(r->net, r->far_src[i]);
		if (r->far_dst[i])
			r->net->far_free(r->net, r->far_dst[i]);
	}
	free(r->us);
}

/* Page-aligned and touched, so that no page fault is timed. */
static char *buffer(size_t len)
{
	size_t bytes = len + 64;
	char *p = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);

	if (p)
		memset(p, 0, bytes);
	return p;
}

static int alloc_far(struct run *r, unsigned int slot)
{
	struct perf_net *net = r->net;

	if (!net->far_new)
		return 0;
	r->far_src[slot] = net->far_new(net, r->src_elems * r->size);
	r->far_dst[slot] = net->far_new(net, r->dst_elems * r->size);
	return r->far_src[slot] && r->far_dst[slot] ? 0 : -ENOMEM;
}

static int alloc_buffers(struct run *r)
{
	r->us = calloc(r->o->iters, sizeof(*r->us));
	if (!r->us)
		return -ENOMEM;
	for (r->slots = 0; r->slots < r->o->inflight; r->slots++) {
		r->src[r->slots] = buffer(r->src_elems * r->size);
		r->dst[r->slots] = buffer(r->dst_elems * r->size);
		if (!r->src[r->slots] || !r->dst[r->slots] || alloc_far(r, r->slots)) {
			r->slots++;
			return -ENOMEM;
		}
	}
	return 0;
}

static void lay_out(struct run *r, size_t bytes)
{
	const struct perf_opts *o = r->o;
	size_t world = r->net->world, elems = bytes / r->size;
	size_t part = elems / world;

	r->row->count = elems;
	r->src_elems = r->dst_elems = elems;
	switch (o->collective) {
	case PERF_REDUCE_SCATTER:
		r->row->count = r->dst_elems = part;
		r->src_elems = part * world;
		break;
	case PERF_ALLGATHER:
		r->row->count = r->src_elems = part;
		r->dst_elems = part * world;
		break;
	case PERF_BARRIER:
		r->row->count = r->src_elems = r->dst_elems = 0;
		break;
	default:
		break;
	}
	r->total = r->src_elems > r->dst_elems ? r->src_elems : r->dst_elems;
	r->row->bytes = r->total * r->size;
}

/* Each slot, size and pass has its own inputs. */
static struct oracle oracle_of(const struct run *r, unsigned int pass)
{
	struct oracle o = {
		.seed = 0x7472696275746172ULL ^ (r->row->bytes << 16) ^ pass,
		.world = r->net->world,
		.dtype = r->o->dtype,
		.op = r->o->op,
		.bound = r->net->bound,
		.keep = r->net->keep,
		.total = r->total,
	};

	return o;
}

/* Bring what fill() has made to where calls find it. */
static int upload(struct run *r, unsigned int slot)
{
	struct perf_net *net = r->net;
	int rc;

	if (!net->far_new)
		return 0;
	rc = net->far_put(net, r->far_src[slot], r->src[slot], r->src_elems * r->size);
	return rc ? rc : net->far_put(net, r->far_dst[slot], r->dst[slot], r->dst_elems * r->size);
}

static int download(struct run *r, unsigned int slot)
{
	struct perf_net *net = r->net;

	if (!net->far_new)
		return 0;
	return net->far_get(net, r->dst[slot], r->far_dst[slot], r->dst_elems * r->size);
}

static int fill(struct run *r, unsigned int slot, unsigned int pass)
{
	struct oracle o = oracle_of(r, pass);
	unsigned int rank = r->net->rank;
	int root = rank == r->o->root;

	oracle_poison(r->dst[slot], r->dst_elems * r->size);
	oracle_fill(&o, rank, 0, r->src_elems, r->src[slot]);
	if (r->net->in_place || (r->o->collective == PERF_BROADCAST && root))
		memcpy(r->dst[slot], r->src[slot], r->src_elems * r->size);
	return upload(r, slot);
}

static void complain(struct run *r, const struct oracle_report *rep)
{
	size_t n = rep->wrong < ORACLE_REPORTS ? rep->wrong : ORACLE_REPORTS;

	for (size_t i = 0; i < n; i++)
		fprintf(stderr,
			"%s: rank %u: %s of %zu bytes: element %zu is %.9g, not %.9g (+-%.3g)\n",
			r->net->name, r->net->rank, perf_collective_name(r->o->collective),
			r->row->bytes, rep->first[i].index, rep->first[i].got, rep->first[i].want,
			rep->first[i].bound);
}

/* True if all ranks have the same bits as this rank's result. */
static int compare_ranks(struct run *r, const char *dst)
{
	uint64_t h = oracle_hash(dst, r->dst_elems * r->size);
	int32_t v[4] = {(int32_t)h, (int32_t)(h >> 32)};
	int rc;

	/* The smallest hash is the complement of the largest complement. */
	v[2] = ~v[0];
	v[3] = ~v[1];
	rc = r->net->max_i32(r->net, v, 4);
	if (rc)
		return rc;
	if (v[0] != ~v[2] || v[1] != ~v[3])
		r->row->differ++;
	return 0;
}

/* Check the result in @slot, whose inputs are those of @pass. */
static int verify(struct run *r, unsigned int pass, unsigned int slot)
{
	struct oracle o = oracle_of(r, pass);
	const char *dst = r->dst[slot];
	struct oracle_report rep = {0};
	size_t part = r->row->count;
	int32_t wrong;
	int rc = download(r, slot);

	if (rc)
		return rc;
	switch (r->o->collective) {
	case PERF_ALLREDUCE:
		oracle_check(&o, 0, r->dst_elems, dst, &rep);
		break;
	case PERF_REDUCE_SCATTER:
		oracle_check(&o, part * r->net->rank, part, dst, &rep);
		break;
	case PERF_ALLGATHER:
		for (unsigned int i = 0; i < r->net->world; i++)
			oracle_check_copy(&o, i, 0, part, dst + i * part * r->size, &rep);
		break;
	case PERF_BROADCAST:
		oracle_check_copy(&o, r->o->root, 0, part, dst, &rep);
		break;
	default:
		return 0;
	}
	complain(r, &rep);
	wrong = rep.wrong < WRONG_MAX ? (int32_t)rep.wrong : WRONG_MAX;
	rc = r->net->sum_i32(r->net, &wrong, 1);
	if (rc)
		return rc;
	r->row->wrong += (uint64_t)(uint32_t)wrong;
	r->row->checked++;
	if (r->o->collective == PERF_REDUCE_SCATTER)
		return 0;
	return compare_ranks(r, dst);
}

static int start(struct run *r, unsigned int slot, int in_place)
{
	void *src = r->net->far_new ? r->far_src[slot] : r->src[slot];
	void *dst = r->net->far_new ? r->far_dst[slot] : r->dst[slot];
	struct perf_call call = {
		.slot = slot,
		.src = in_place ? dst : src,
		.dst = dst,
		.count = r->row->count,
	};

	return r->net->start(r->net, &call);
}

static int one(struct run *r, unsigned int slot, int in_place)
{
	int rc = start(r, slot, in_place);

	return rc ? rc : r->net->finish(r->net, slot);
}

/* Check a result out of place and, where it differs, one in place. */
static int verify_first(struct run *r)
{
	unsigned int pass = 1000;
	int rc;

	rc = fill(r, 0, pass);
	if (!rc)
		rc = one(r, 0, r->net->in_place);
	if (!rc)
		rc = verify(r, pass, 0);
	if (rc || r->net->in_place || r->o->collective != PERF_ALLREDUCE)
		return rc;
	rc = fill(r, 0, ++pass);
	memcpy(r->dst[0], r->src[0], r->src_elems * r->size);
	if (!rc)
		rc = upload(r, 0);
	if (!rc)
		rc = one(r, 0, 1);
	return rc ? rc : verify(r, pass, 0);
}

/* CPU time that this host has used since it started; 0 if it does not say. */
static double host_cpu_us(void)
{
	unsigned long long user, nice, system, idle, wait, irq, softirq;
	FILE *f = fopen("/proc/stat", "r");
	int n = f ? fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			   &idle, &wait, &irq, &softirq)
		  : 0;

	if (f)
		fclose(f);
	if (n != 7)
		return 0;
	return (double)(user + nice + system + irq + softirq) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

/* Run iterations back to back, up to inflight of them at a time. */
static int time_pipelined(struct run *r)
{
	unsigned int iters = r->o->iters, p = r->slots, next = 0;
	double begun[PERF_INFLIGHT_MAX], t0, cpu;
	int rc = r->net->barrier(r->net);

	cpu = host_cpu_us();
	t0 = now_us();
	for (unsigned int i = 0; !rc && i < iters; i++) {
		for (; !rc && next < iters && next < i + p; next++) {
			begun[next % p] = now_us();
			rc = start(r, next % p, r->net->in_place);
		}
		if (!rc)
			rc = r->net->finish(r->net, i % p);
		r->us[i] = (float)(now_us() - begun[i % p]);
	}
	r->total_us = now_us() - t0;
	r->row->cpu_us = (host_cpu_us() - cpu) / iters;
	return rc;
}

/* Run iterations one by one, each from a barrier, and verify each. */
static int time_checked(struct run *r)
{
	int rc = 0;

	for (unsigned int i = 0; !rc && i < r->o->iters; i++) {
		unsigned int slot = i % r->slots;
		double t0;

		rc = fill(r, slot, i);
		if (!rc)
			rc = r->net->barrier(r->net);
		if (rc)
			break;
		t0 = now_us();
		rc = one(r, slot, r->net->in_place);
		r->us[i] = (float)(now_us() - t0);
		r->total_us += (double)r->us[i];
		if (!rc)
			rc = verify(r, i, slot);
	}
	return rc;
}

static int timed(struct run *r)
{
	int each = r->o->check == PERF_CHECK_EACH;
	int last = r->o->check == PERF_CHECK_SOME && !r->net->in_place;
	int rc = 0;

	for (unsigned int i = 0; !rc && i < r->slots; i++)
		rc = fill(r, i, i);
	for (unsigned int i = 0; !rc && i < r->o->warmup; i++)
		rc = one(r, i % r->slots, r->net->in_place);
	for (unsigned int i = 0; !rc && last && i < r->slots; i++)
		rc = fill(r, i, i);
	if (rc)
		return rc;
	rc = each ? time_checked(r) : time_pipelined(r);
	for (unsigned int i = 0; !rc && last && i < r->slots; i++)
		if (i < r->o->iters)
			rc = verify(r, i, i);
	return rc;
}

static int summarise(struct run *r)
{
	struct perf_row *row = r->row;
	unsigned int n = r->o->iters;
	float per_op = (float)(r->total_us / n);
	int rc;

	rc = r->net->max_f32(r->net, &per_op, 1);
	if (!rc)
		rc = r->net->max_f32(r->net, r->us, n);
	if (rc)
		return rc;
	perf_sort(r->us, n);
	row->time_us = (double)per_op;
	row->algbw = per_op > 0 ? (double)row->bytes / row->time_us / 1e3 : 0;
	row->busbw = row->algbw * perf_bus_factor(r->o->collective, r->net->world);
	row->p50_us = perf_percentile(r->us, n, 50);
	row->p99_us = perf_percentile(r->us, n, 99);
	row->min_us = (double)r->us[0];
	return 0;
}

int perf_measure(struct perf_net *net, const struct perf_opts *o, size_t bytes,
		 struct perf_row *row)
{
	struct run r = {.net = net, .o = o, .row = row, .size = oracle_size(o->dtype)};
	int rc;

	memset(row, 0, sizeof(*row));
	lay_out(&r, bytes);
	rc = alloc_buffers(&r);
	if (!rc && o->check)
		rc = verify_first(&r);
	if (!rc)
		rc = timed(&r);
	if (!rc)
		rc = summarise(&r);
	free_buffers(&r);
	return rc;
}
