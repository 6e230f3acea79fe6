// SPDX-License-Identifier: BSD-2-Clause
/* When a wait polls before it blocks. */
#include <sched.h>

#include "tests/lib/tap.h"
#include "lib/handle/spin.h"

/* Waits that block at once before the next one that polls. */
static unsigned int skipped(struct trib_spin *s)
{
	unsigned int n = 0;

	while (!trib_spin_may(s))
		n++;
	return n;
}

static void spin__is_off_without_a_time(void)
{
	struct trib_spin s;

	trib_spin_init(&s, 0);
	expect(!trib_spin_may(&s));
}

static void spin__goes_on_while_it_gains(void)
{
	struct trib_spin s = {.most_ns = 1};

	for (int i = 0; i < 5; i++) {
		expect_eq(skipped(&s), 0);
		trib_spin_note(&s, true);
	}
}

static void spin__backs_off_and_comes_back(void)
{
	struct trib_spin s = {.most_ns = 1};
	unsigned int want = 1;

	for (int i = 0; i < 30; i++) {
		trib_spin_note(&s, false);
		expect_eq(skipped(&s), want);
		if (i + 1 < TRIB_SPIN_MISSES)
			want = 2 * want + 1;
	}
	trib_spin_note(&s, true);
	expect_eq(skipped(&s), 0);
}

static void spin__is_off_on_one_cpu(void)
{
	cpu_set_t all, one;
	struct trib_spin s;
	int cpu = 0;

	expect(!sched_getaffinity(0, sizeof(all), &all));
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	expect(!sched_setaffinity(0, sizeof(one), &one));
	trib_spin_init(&s, 50);
	expect(!trib_spin_may(&s));
	expect(!sched_setaffinity(0, sizeof(all), &all));
	trib_spin_init(&s, 50);
	expect_eq(trib_spin_may(&s), CPU_COUNT(&all) > 1);
}

int main(void)
{
	run(spin__is_off_without_a_time);
	run(spin__goes_on_while_it_gains);
	run(spin__backs_off_and_comes_back);
	run(spin__is_off_on_one_cpu);
	return tap_done();
}
