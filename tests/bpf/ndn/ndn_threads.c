// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two CPUs at once. Those that subscribe to the same new names: each name gets one
 * entry, with both faces. Those that ask for more names than they may, and answer
 * each other's: each Interest has one seat, and none is lost.
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
		ndn_make_router(H1 + cpu);
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

#define ASKED 97

/* Interests of the same two faces from both CPUs, and Data; each in its own order. */
static void *asker(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	uint32_t x = cpu + 1;
	struct nframe f;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
	for (unsigned int n = 0; n < 20 * NAMES; n++) {
		uint8_t packet[NFRAME_MAX];
		struct ask a = {.life = 4000, .nonce = 1 + cpu + 2 * n};
		char name[40];
		int face;

		x = x * 1664525 + 1013904223;
		face = x >> 30 == 3 ? UP : x >> 29 & 1 ? H1 : H2;
		snprintf(name, sizeof(name), "/ps/q/%d", (x >> 16) % (4 * ASKED));
		a.name = name;
		nframe_from(&f, face, packet,
			    face == UP ? ndn_make_data(packet, name, 5)
				       : ndn_make_interest(packet, &a));
		ndn_run(&f, face);
	}
	return NULL;
}

static void ask__at_once_has_one_seat(void)
{
	unsigned int held = 0, shared = 0, used = 0;
	pthread_t t[CPUS];
	struct ndn_face r;
	struct ndn_seat s;
	struct ndn_ask a;
	uint64_t set;

	ndn_reset(K_V4);
	/* A router replaces its own at once. */
	r = ndn_face(H2);
	r.flags &= ~NDN_FACE_HOST;
	ndn_face_put(H2, &r);
	for (intptr_t cpu = 0; cpu < CPUS; cpu++)
		if (pthread_create(&t[cpu], NULL, asker, (void *)cpu))
			abort();
	for (int cpu = 0; cpu < CPUS; cpu++)
		pthread_join(t[cpu], NULL);
	for (uint32_t i = 0; i < NDN_SEATS_SHARED + (uint32_t)nw.nshared; i++) {
		expect(!bpf_map_lookup_elem(ndn_map("ndn_seats"), &i, &s));
		if (!s.word)
			continue;
		held++;
		expect(!bpf_map_lookup_elem(ndn_map("ndn_asks"), &s.key, &a));
		expect_eq(a.word, s.word);
		expect_eq(a.seat, i);
		expect_eq(a.gone, 0);
	}
	expect_eq(ndn_rows("ndn_asks"), held);
	for (int i = 0; i < nw.nshared / 64; i++) {
		expect(!bpf_map_lookup_elem(ndn_map("ndn_taken"), &i, &set));
		shared += __builtin_popcountll(set);
	}
	for (int face = H1; face <= H2; face++)
		used += __builtin_popcountll(ndn_owner(face).used);
	expect_eq(ndn_owner(H1).shared + ndn_owner(H2).shared, shared);
	expect_eq(shared + used, held);
	printf("# %u seats held, %llu replaced, %llu refused, %llu busy\n", held,
	       (unsigned long long)ndn_stat(NDN_STAT_REPLACED),
	       (unsigned long long)ndn_stat(NDN_DROP_QUOTA),
	       (unsigned long long)ndn_stat(NDN_DROP_BUSY));
	expect(ndn_stat(NDN_STAT_REPLACED) > 1000);
}

int main(void)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) < CPUS)
		tap_skip_all("needs two CPUs");
	nw.nshared = 64;
	ndn_open();
	run(insert__at_once_makes_one_entry);
	run(ask__at_once_has_one_seat);
	return tap_done();
}
