// SPDX-License-Identifier: BSD-2-Clause
/* slots.c: ranges never overlap, and gaps are found. */
#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "daemon/tree/pool.h"
#include "daemon/tree/slots.h"

static void find__empty_pool_starts_at_zero(void)
{
	uint32_t first = 99;

	expect_eq(slots_find(NULL, 0, 1024, 512, &first), 0);
	expect_eq(first, 0);
}

static void find__whole_pool_fits_and_one_more_does_not(void)
{
	uint32_t first;

	expect_eq(slots_find(NULL, 0, 1024, 1024, &first), 0);
	expect_eq(slots_find(NULL, 0, 1024, 1025, &first), -ENOSPC);
	expect_eq(slots_find(NULL, 0, 1024, 0, &first), -EINVAL);
}

static void find__takes_the_lowest_gap_that_is_long_enough(void)
{
	struct slot_range used[] = {{512, 256}, {0, 128}, {192, 64}};
	uint32_t first;

	expect_eq(slots_find(used, 3, 1024, 64, &first), 0);
	expect_eq(first, 128);
	expect_eq(slots_find(used, 3, 1024, 128, &first), 0);
	expect_eq(first, 256);
	expect_eq(slots_find(used, 3, 1024, 256, &first), 0);
	expect_eq(first, 256);
	expect_eq(slots_find(used, 3, 1024, 257, &first), -ENOSPC);
}

static void find__numbers_near_the_end_do_not_wrap(void)
{
	struct slot_range used[] = {{UINT32_MAX - 10, 10}};
	uint32_t first;

	expect_eq(slots_find(used, 1, UINT32_MAX, UINT32_MAX - 5, &first), -ENOSPC);
}

static void check__outside_and_overlap_are_refused(void)
{
	struct slot_range used[] = {{100, 50}};
	struct slot_range r = {1000, 25};

	expect_eq(slots_check(used, 1, 1024, &r), -ERANGE);
	r = (struct slot_range){UINT32_MAX, 2};
	expect_eq(slots_check(used, 1, 1024, &r), -ERANGE);
	r = (struct slot_range){0, 0};
	expect_eq(slots_check(used, 1, 1024, &r), -ERANGE);
	r = (struct slot_range){149, 1};
	expect_eq(slots_check(used, 1, 1024, &r), -EEXIST);
	r = (struct slot_range){90, 11};
	expect_eq(slots_check(used, 1, 1024, &r), -EEXIST);
	r = (struct slot_range){150, 10};
	expect_eq(slots_check(used, 1, 1024, &r), 0);
	r = (struct slot_range){90, 10};
	expect_eq(slots_check(used, 1, 1024, &r), 0);
}

#define POOL 4096
#define OWNERS 64

/* Random additions and removals, against a map of single slots. */
static void find__random_ranges_never_overlap(void)
{
	static uint8_t owned[POOL];
	struct slot_range live[OWNERS], sorted[OWNERS];
	unsigned int seed = 1, step, n = 0, i, k;

	memset(owned, 0, sizeof(owned));
	for (step = 0; step < 20000; step++) {
		uint32_t want = 2u << rand_r(&seed) % 9, first;

		if (n && (n == OWNERS || rand_r(&seed) % 2)) {
			k = rand_r(&seed) % n;
			memset(owned + live[k].first, 0, live[k].count);
			live[k] = live[--n];
			continue;
		}
		memcpy(sorted, live, sizeof(sorted));
		if (slots_find(sorted, n, POOL, want, &first)) {
			/* Then no gap of that length may exist. */
			for (i = 0, k = 0; i < POOL && k < want; i++)
				k = owned[i] ? 0 : k + 1;
			expect(k < want);
			continue;
		}
		expect(first + want <= POOL);
		for (i = first; i < first + want; i++)
			expect(!owned[i]);
		memset(owned + first, 1, want);
		live[n++] = (struct slot_range){first, want};
	}
}

static void pool__a_slot_more_moves_its_own_share_only(void)
{
	unsigned int n = pool_buckets(100), moved = 0, share[101] = {0};
	uint32_t i, a, b;

	for (i = 0; i < n; i++) {
		a = pool_slot_of(i, 100);
		b = pool_slot_of(i, 101);
		expect(a < 100 && (b == a || b == 100));
		moved += a != b;
		share[b]++;
	}
	expect(moved > n / 202 && moved < n / 50);
	for (i = 0; i < 101; i++)
		expect(share[i] > n / 404 && share[i] < n / 25);
}

static void pool__buckets_are_a_power_of_two_and_enough(void)
{
	for (uint32_t slots = 1; slots <= POOL_MAX; slots++) {
		uint32_t n = pool_buckets(slots);

		if (!expect(n >= 16 * slots && !(n & (n - 1))))
			return;
	}
	expect_eq(pool_slot_of(17, 1), 0);
}

int main(void)
{
	run(pool__a_slot_more_moves_its_own_share_only);
	run(pool__buckets_are_a_power_of_two_and_enough);
	run(find__empty_pool_starts_at_zero);
	run(find__whole_pool_fits_and_one_more_does_not);
	run(find__takes_the_lowest_gap_that_is_long_enough);
	run(find__numbers_near_the_end_do_not_wrap);
	run(check__outside_and_overlap_are_refused);
	run(find__random_ranges_never_overlap);
	return tap_done();
}
