// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two CPUs that subscribe to the same new names at the same time: each name
 * gets one entry, with both faces.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "ndn_step.h"

#define CPUS 2
#define NAMES 1024
#define TURNS 5

static struct nframe frames[CPUS][NAMES];
static atomic_uint arrived;
/* Drops of this turn: the other CPU held the entry for too long. */
static atomic_uint busy;

static const char *numbered(int n)
{
	static char name[40];

	snprintf(name, sizeof(name), "/insert/ps/job/%d", n);
	return name;
}

/* Bytes of the name without its marker. */
static const char *proper(int n)
{
	return numbered(n) + strlen("/insert");
}

static void make(int cpu, int n)
{
	struct ask a = {.name = numbered(n), .life = 4000};
	int len = ndn_make_interest(ndn, &a);

	nframe_from(&frames[cpu][n], H1 + cpu, ndn, len);
}

/* Both threads start each name at the same time. */
static void meet(unsigned int n)
{
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < CPUS * (n + 1))
		;
}

static void *subscriber(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
	for (unsigned int n = 0; n < NAMES; n++) {
		struct nframe f = frames[cpu][n];

		meet(n);
		if (ndn_run(&f, H1 + cpu) == XDP_DROP)
			atomic_fetch_add(&busy, 1);
	}
	return NULL;
}

static void turn(void)
{
	pthread_t t[CPUS];

	ndn_reset(K_V4);
	arrived = 0;
	for (int cpu = 0; cpu < CPUS; cpu++)
		for (int n = 0; n < NAMES; n++)
			make(cpu, n);
	for (intptr_t cpu = 0; cpu < CPUS; cpu++)
		if (pthread_create(&t[cpu], NULL, subscriber, (void *)cpu))
			abort();
	for (int cpu = 0; cpu < CPUS; cpu++)
		pthread_join(t[cpu], NULL);
}

static void insert__at_once_makes_one_entry(void)
{
	unsigned int both = 0, refused = 0;

	for (int i = 0; i < TURNS; i++) {
		busy = 0;
		turn();
		expect_eq(ndn_entries(), NAMES);
		expect_eq(ndn_stat(NDN_STAT_NEW), NAMES);
		/* An insert that finds the row locked for too long is dropped. */
		expect_eq(ndn_stat(NDN_DROP_BUSY), busy);
		expect_eq(ndn_stat(NDN_STAT_INSERTED), CPUS * NAMES - busy);
		refused += busy;
		for (int n = 0; n < NAMES; n++) {
			int row = ndn_entry_row(proper(n));
			struct ndn_entry *e = &nw.pit[row < 0 ? 0 : row];
			uint64_t faces = e->live[0] | e->live[1] | e->live[2];

			if (!expect(row >= 0))
				continue;
			expect(faces && !e->lock);
			both += faces == (1ULL << H1 | 1ULL << H2);
		}
	}
	expect_eq(both, TURNS * NAMES - refused);
	printf("# %u of %u have to ask again\n", refused, CPUS * NAMES * TURNS);
}

int main(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < CPUS)
		tap_skip_all("needs two CPUs");
	ndn_open();
	run(insert__at_once_makes_one_entry);
	return tap_done();
}
