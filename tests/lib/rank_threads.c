// SPDX-License-Identifier: BSD-2-Clause
/* A job whose ranks are threads; see rank_threads.h. */
#include "rank_threads.h"

#include <stdlib.h>
#include <time.h>

uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void nap(unsigned int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&ts, NULL);
}

struct loop_relay relay(unsigned int world)
{
	struct loop_relay l = {.world = world, .window = 64, .nval = 352, .timeout_ms = 20000};

	return l;
}

static int join_job(struct member *m)
{
	char ticket[200];
	struct trib_options o = {
		.size = sizeof(o),
		.job = loop_ticket(m->l, m->rank, ticket, sizeof(ticket)),
		.join_timeout_ms = 5000,
		.spin_us = m->rank == 1 ? 100 : 0, /* this one polls before it blocks */
	};

	return trib_attach(&m->t, &o);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	uint64_t start;

	m->rc = join_job(m);
	if (m->rc)
		return NULL;
	m->work(m);
	start = now();
	trib_detach(m->t);
	m->took = now() - start;
	return NULL;
}

void all_ranks(const struct loop_relay *l, struct member *m, void (*work)(struct member *m))
{
	unsigned int i;

	for (i = 0; i < l->world; i++) {
		m[i] = (struct member){.l = l, .rank = i, .work = work};
		pthread_create(&m[i].thread, NULL, member_main, &m[i]);
	}
	for (i = 0; i < l->world; i++)
		pthread_join(m[i].thread, NULL);
}

void sum_floats(struct member *m)
{
	static const size_t counts[] = {1, 1024, 353, 100003, 0, 7, 30000};
	int world = trib_world(m->t);
	unsigned int i;
	size_t k, n;
	float *x;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		n = counts[i];
		x = malloc(4 * n + 4);
		for (k = 0; k < n; k++)
			x[k] = (float)((int)(k % 1000) - 500 + (int)m->rank);
		m->rc = trib_allreduce(m->t, x, x, n, TRIB_F32, TRIB_SUM);
		for (k = 0; k < n; k++)
			m->wrong += x[k] != (float)(world * ((int)(k % 1000) - 500) +
						    world * (world - 1) / 2);
		free(x);
		if (m->rc)
			return;
	}
}
