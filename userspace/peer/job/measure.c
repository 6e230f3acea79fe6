// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rates of this job's network, for "auto": a few calls by the first shape are timed,
 * and the model (choose/) says how many latencies and bytes such a call costs. All ranks
 * take rank 0's rates, so all choose alike.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure.h"
#include "peer/error.h"

#define BYTES (256 << 10)
#define TRIES 3
#define TIMEOUT_MS 10000

/* One call, waited for. Return: seconds, or a negative errno. */
static double timed(struct peer_crew *c, const struct trib_peer_call *call)
{
	struct pollfd pfd = {.fd = c->done_fd, .events = POLLIN};
	struct trib_peer_done d = {0};
	uint64_t before = clock_ns();
	int rc = peer_crew_issue(c, call, 0, NULL);

	if (rc)
		return rc;
	while (!peer_crew_collect(c, &d))
		if (!poll(&pfd, 1, TIMEOUT_MS))
			return -ETIMEDOUT;
	return d.status ? d.status : (double)(clock_ns() - before) * 1e-9;
}

/* The fastest of a few: the others met other work. */
static double fastest(struct peer_crew *c, const struct trib_peer_call *call)
{
	double t, best = -1;
	int i;

	for (i = 0; i < TRIES; i++) {
		t = timed(c, call);
		if (t < 0)
			return t;
		if (best < 0 || t < best)
			best = t;
	}
	return best;
}

/* Seconds that a call would take if only one thing cost: @alpha or @beta is 1. */
static double units(const struct peer_crew *c, enum peer_collective what, double alpha, double beta)
{
	struct peer_costs costs = {.local = {alpha, 0, beta}};
	struct peer_load load = {
		.what = {.collective = what, .count = what == PEER_BARRIER ? 0 : BYTES / 4},
		.size = 4,
		.chunk = c->chunk,
	};
	unsigned int i;

	for (i = 0; i < PEER_NICS_MAX; i++)
		costs.nic[i] = (struct peer_rate){alpha, 0, beta};
	return peer_cost(c->conf.shape, &load, &costs);
}

static double time_to_add(void)
{
	enum { N = 64 << 10 };
	float *v = calloc(2 * N, sizeof(*v));
	uint64_t before, took = UINT64_MAX;
	int i;

	for (i = 0; v && i < TRIES; i++) {
		before = clock_ns();
		trib_reduce(TRIB_REDUCE_F32, TRIB_REDUCE_SUM)(v, v, v + N, N);
		if (clock_ns() - before < took)
			took = clock_ns() - before;
	}
	free(v);
	return v ? (double)took * 1e-9 / (N * sizeof(*v)) : 1e-10;
}

int peer_measure(struct peer_crew *c, struct peer_rates *out, struct trib_peer_error *error)
{
	struct trib_peer_call barrier = {.collective = PEER_BARRIER};
	struct trib_peer_call sum = {.collective = PEER_ALLREDUCE, .count = BYTES / 4};
	void *v = calloc(1, BYTES);
	double t0 = v ? fastest(c, &barrier) : -ENOMEM, t1 = 0, steps, bytes;

	sum.src = sum.dst = v;
	if (t0 >= 0)
		t1 = fastest(c, &sum);
	free(v);
	if (t0 < 0 || t1 < 0)
		return c->verdict.err ? (*error = c->verdict, error->err)
				      : peer_error(error, TRIB_PEER_SYSTEM, (int)(t0 < 0 ? t0 : t1),
						   -1, "cannot measure the network: %s",
						   strerror((int)(t0 < 0 ? -t0 : -t1)));
	steps = units(c, PEER_BARRIER, 1, 0);
	bytes = units(c, PEER_ALLREDUCE, 0, 1);
	out->alpha = steps > 0 ? t0 / steps : 1e-5;
	out->gamma = time_to_add();
	out->beta = bytes > 0 && t1 > t0 ? (t1 - t0) / bytes : 1e-10;
	return 0;
}

size_t peer_rates_chunk(const struct peer_rates *r)
{
	double bytes = r->beta > 0 ? PEER_CHUNK_SECONDS / r->beta : PEER_CHUNK_MAX;
	size_t chunk = PEER_CHUNK_MIN;

	while (chunk < PEER_CHUNK_MAX && 2 * (double)chunk <= bytes)
		chunk *= 2;
	return chunk;
}

void peer_rates_costs(const struct peer_rates *r, struct peer_costs *costs)
{
	struct peer_rate nic = {.alpha = r->alpha, .overhead = r->alpha / 4, .beta = r->beta};
	unsigned int i;

	for (i = 0; i < PEER_NICS_MAX; i++)
		costs->nic[i] = nic;
	/* Memory: a copy costs about as much as an addition, a wake-up some microseconds. */
	costs->local = (struct peer_rate){.alpha = 5e-6, .overhead = 2e-6, .beta = r->gamma};
	costs->gamma = r->gamma;
}
