// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cells that a hostile process writes, as it can with those of a collective socket: the
 * engine stays within its own memory, which ASan watches.
 */
#include "tests/lib/engine_script.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

/* The cells that are written, all the time. */
static struct cells *victim;
static atomic_bool over;
static struct script sc;

static uint64_t mix(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Change one thing: a state to another one that is possible, or any word. */
static void spoil(struct cells *c, uint64_t *seed)
{
	uint64_t r = mix(seed);
	struct trib_cell *cell = cells_at(c, (uint32_t)r);
	struct trib_desk *desk = cells_desk(c);
	uint32_t word = (uint32_t)(r >> 32);

	switch (r >> 20 & 7) {
	case 0:
	case 1:
		cell->state = (cell->state & ~7ull) | word % 5;
		break;
	case 2:
		cell->h.bmwords = (uint8_t)word;
		break;
	case 3:
		cell->h.nval = (uint16_t)word;
		cell->h.flags = (uint8_t)(word >> 16);
		break;
	case 4:
		cell->h.flags ^= TRIB_F_MASK;
		cell->h.nm = (uint8_t)word;
		break;
	case 5:
		cell->v[word % 4] = mix(seed);
		cell->took_ns = word;
		break;
	case 6:
		desk->cpu[word % TRIB_DESK_CPUS].delivered += word % 3;
		break;
	default:
		desk->armed = word & 1;
		desk->dist = word % 20;
	}
}

static void *spoil_all(void *arg)
{
	uint64_t seed = 99;

	while (!atomic_load(&over)) {
		spoil(victim, &seed);
		sched_yield();
	}
	return arg;
}

/* Between any two packets as well; the relay sees only packets that XDP would let pass. */
static bool tap(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	static uint64_t seed = 7;
	const struct trib_hdr *h = pkt;
	unsigned int i;

	(void)s;
	for (i = mix(&seed) % 64 < 8 ? 4 : 0; i; i--)
		spoil(victim, &seed);
	if (!up || w->cells != victim)
		return false;
	return len != trib_packet_len(h) || h->bmwords || h->flags & TRIB_F_MASK ||
	       be16toh(h->child) != w->child || be16toh(h->nval) > 32;
}

static void survive(unsigned int reflex, uint64_t seed)
{
	struct sim_options o = sim_star(3);
	pthread_t thread;
	unsigned int i;
	struct sim s;

	o.cells = 64;
	o.reflex = reflex;
	o.seed = seed;
	o.nap = 3000;
	sim_init(&s, &o);
	victim = s.worker[0].cells;
	s.tap = tap;
	over = false;
	expect(!pthread_create(&thread, NULL, spoil_all, NULL));
	script_init(&sc, &s, 20, 3000, o.nval);
	script_start(&sc);
	expect(sim_run(&s, script_done, s.now + 100 * TRIB_SEC) || s.worker[0].t->eng.inflight);
	over = true;
	pthread_join(thread, NULL);
	for (i = 1; i < 3; i++)
		printf("# rank %u: error %d\n", i, sc.rank[i].error);
	script_free(&sc);
	sim_free(&s);
}

static void cells__of_a_hostile_process_crash_nothing(void)
{
	uint64_t seed;

	for (seed = 1; seed <= 40; seed++)
		survive(seed & 1 ? 7 : 0, seed);
}

int main(void)
{
	run(cells__of_a_hostile_process_crash_nothing);
	return tap_done();
}
