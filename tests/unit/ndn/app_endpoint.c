// SPDX-License-Identifier: BSD-2-Clause
/* Timers, back-off and estimates of both ends of the NDN protocol. */
#include "tests/lib/tap.h"
#include "ndn/app/endpoint.h"

static void timer__doubles_from_least_to_most(void)
{
	static const uint64_t waits[] = {30, 60, 120, 240, 250, 250};
	struct ndn_timer t = {0};
	uint64_t now = 1000;

	expect(!ndn_timer_is_set(&t));
	for (unsigned int i = 0; i < 6; i++) {
		ndn_timer_repeat(&t, now, 30, 250);
		expect_eq(t.at, now + waits[i]);
		expect(!ndn_timer_take(&t, t.at - 1));
		now = t.at;
		expect(ndn_timer_take(&t, now));
		expect(!ndn_timer_take(&t, now));
	}
	ndn_timer_repeat(&t, now, 30, 250);
	ndn_timer_cancel(&t);
	expect(!ndn_timer_take(&t, NDN_NEVER));
	ndn_timer_repeat(&t, now, 30, 250);
	expect_eq(t.at, now + 30);
}

static void timer__at_0_is_set(void)
{
	struct ndn_timer t = {0};

	expect_eq(ndn_timer_sooner(&t, 7), 7);
	ndn_timer_set(&t, 0);
	expect(ndn_timer_is_set(&t));
	expect_eq(ndn_timer_sooner(&t, 7), 1);
	expect(ndn_timer_take(&t, 1));
}

/* The numbers must equal those of tests/sim/ndn/endpoint.py, to a unit. */
static void estimate__follows_mean_and_deviation(void)
{
	struct ndn_estimate e;

	ndn_estimate_init(&e, 100);
	expect(!e.known);
	expect_eq(ndn_estimate_early(&e), 0);
	expect_eq(ndn_estimate_late(&e), 301);
	ndn_estimate_take(&e, 800);
	expect(e.known);
	expect_eq(e.mean, 800);
	expect_eq(e.dev, 400);
	ndn_estimate_take(&e, 1600);
	expect_eq(e.mean, 900);
	expect_eq(e.dev, 500);
	ndn_estimate_take(&e, 100);
	expect_eq(e.mean, 800);
	expect_eq(e.dev, 575);
	for (unsigned int i = 0; i < 200; i++)
		ndn_estimate_take(&e, 1000);
	expect(e.mean > 990 && e.mean <= 1000);
	expect(e.dev <= 12);
	expect(ndn_estimate_early(&e) > 960);
	expect(ndn_estimate_late(&e) < 1050);
}

static void estimate__strange_samples_do_not_overflow(void)
{
	struct ndn_estimate e;

	ndn_estimate_init(&e, 1);
	ndn_estimate_take(&e, UINT64_MAX);
	ndn_estimate_take(&e, 0);
	ndn_estimate_take(&e, UINT64_MAX);
	expect(ndn_estimate_late(&e) >= e.mean);
}

static void random__is_within_both_ends(void)
{
	struct ndn_random r = {1}, same = {1};
	bool low = false, high = false;
	uint64_t v;

	for (unsigned int i = 0; i < 1000; i++) {
		v = ndn_random_between(&r, 5, 9);
		expect(v >= 5 && v <= 9);
		expect_eq(v, ndn_random_between(&same, 5, 9));
		low |= v == 5;
		high |= v == 9;
	}
	expect(low && high);
	expect_eq(ndn_random_between(&r, 9, 5), 9);
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
