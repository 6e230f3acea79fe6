// SPDX-License-Identifier: BSD-2-Clause
/* Polling before blocking: see spin.h. */
#include <sched.h>
#include <sys/resource.h>

#include "spin.h"

/* CPUs that this process may use; 2 if the kernel does not say. */
static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 2 : CPU_COUNT(&set);
}

void trib_spin_init(struct trib_spin *s, unsigned int most_us)
{
	*s = (struct trib_spin){.most_ns = cpus() > 1 ? most_us * 1000ULL : 0};
}

bool trib_spin_may(struct trib_spin *s)
{
	if (!s->most_ns)
		return false;
	if (!s->skip)
		return true;
	s->skip--;
	return false;
}

void trib_spin_note(struct trib_spin *s, bool hit)
{
	if (hit)
		s->misses = 0;
	else if (s->misses < TRIB_SPIN_MISSES)
		s->misses++;
	s->skip = (1U << s->misses) - 1;
}

long trib_spin_evicted(void)
{
	struct rusage use;

	return getrusage(RUSAGE_THREAD, &use) ? 0 : use.ru_nivcsw;
}
