// SPDX-License-Identifier: BSD-2-Clause
/* Timers, back-off and estimates of both ends of the names protocol. */
#include "tests/tap.h"
#include "userspace/names/endpoint.h"

static void timer__doubles_from_least_to_most(void)
{
	static const uint64_t waits[] = {30, 60, 120, 240, 250, 250};
	struct names_timer t = {0};
	uint64_t now = 1000;

	expect(!names_timer_is_set(&t));
	for (unsigned int i = 0; i < 6; i++) {
		names_timer_repeat(&t, now, 30, 250);
		expect_eq(t.at, now + waits[i]);
		expect(!names_timer_take(&t, t.at - 1));
		now = t.at;
		expect(names_timer_take(&t, now));
		expect(!names_timer_take(&t, now));
	}
	names_timer_repeat(&t, now, 30, 250);
	names_timer_cancel(&t);
	expect(!names_timer_take(&t, NAMES_NEVER));
	names_timer_repeat(&t, now, 30, 250);
	expect_eq(t.at, now + 30);
}

static void timer__at_0_is_set(void)
{
	struct names_timer t = {0};

	expect_eq(names_timer_sooner(&t, 7), 7);
	names_timer_set(&t, 0);
	expect(names_timer_is_set(&t));
	expect_eq(names_timer_sooner(&t, 7), 1);
	expect(names_timer_take(&t, 1));
}

/* As tests/sim/names/endpoint.py has them, to a unit. */
static void estimate__follows_mean_and_deviation(void)
{
	struct names_estimate e;

	names_estimate_init(&e, 100);
	expect(!e.known);
	expect_eq(names_estimate_early(&e), 0);
	expect_eq(names_estimate_late(&e), 301);
	names_estimate_take(&e, 800);
	expect(e.known);
	expect_eq(e.mean, 800);
	expect_eq(e.dev, 400);
	names_estimate_take(&e, 1600);
	expect_eq(e.mean, 900);
	expect_eq(e.dev, 500);
	names_estimate_take(&e, 100);
	expect_eq(e.mean, 800);
	expect_eq(e.dev, 575);
	for (unsigned int i = 0; i < 200; i++)
		names_estimate_take(&e, 1000);
	expect(e.mean > 990 && e.mean <= 1000);
	expect(e.dev <= 12);
	expect(names_estimate_early(&e) > 960);
	expect(names_estimate_late(&e) < 1050);
}

static void estimate__strange_samples_do_not_overflow(void)
{
	struct names_estimate e;

	names_estimate_init(&e, 1);
	names_estimate_take(&e, UINT64_MAX);
	names_estimate_take(&e, 0);
	names_estimate_take(&e, UINT64_MAX);
	expect(names_estimate_late(&e) >= e.mean);
}

static void random__is_within_both_ends(void)
{
	struct names_random r = {1}, same = {1};
	bool low = false, high = false;
	uint64_t v;

	for (unsigned int i = 0; i < 1000; i++) {
		v = names_random_between(&r, 5, 9);
		expect(v >= 5 && v <= 9);
		expect_eq(v, names_random_between(&same, 5, 9));
		low |= v == 5;
		high |= v == 9;
	}
	expect(low && high);
	expect_eq(names_random_between(&r, 9, 5), 9);
}

int main(void)
{
	run(timer__doubles_from_least_to_most);
	run(timer__at_0_is_set);
	run(estimate__follows_mean_and_deviation);
	run(estimate__strange_samples_do_not_overflow);
	run(random__is_within_both_ends);
	return tap_done();
}
