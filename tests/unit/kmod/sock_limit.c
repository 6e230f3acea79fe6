/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of the memory of collective sockets. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "sock/check/limit.h"
#include "tests/lib/tap.h"

static void fits__up_to_the_limit(void)
{
	expect(trib_limit_fits(0, 100, 100));
	expect(trib_limit_fits(60, 40, 100));
	expect(!trib_limit_fits(60, 41, 100));
	expect(!trib_limit_fits(0, 101, 100));
	expect(trib_limit_fits(100, 0, 100));
}

/* The limit was lowered below the sum. */
static void fits__not_above_a_lowered_limit(void)
{
	expect(!trib_limit_fits(200, 1, 100));
	expect(!trib_limit_fits(200, 0, 100));
}

static void fits__does_not_overflow(void)
{
	expect(!trib_limit_fits(INT64_MAX, UINT64_MAX, 100));
	expect(!trib_limit_fits(1, UINT64_MAX, UINT64_MAX));
	expect(!trib_limit_fits(INT64_MAX, 1, INT64_MAX));
	expect(trib_limit_fits(-5, 100, 100));
}

static void user__has_half_of_all_unless_told(void)
{
	expect_eq(trib_limit_user(0, 1000), 500);
	expect_eq(trib_limit_user(10, 1000), 10);
	expect_eq(trib_limit_user(2000, 1000), 2000);
}

static void text__names_the_parameter(void)
{
	expect(strstr(trib_limit_text(-EDQUOT), "mem_user"));
	expect(strstr(trib_limit_text(-ENOBUFS), "mem_total"));
	expect(strstr(trib_limit_text(-E2BIG), "mem_max"));
	expect(trib_limit_text(-EIO) != NULL);
}

int main(void)
{
	run(fits__up_to_the_limit);
	run(fits__not_above_a_lowered_limit);
	run(fits__does_not_overflow);
	run(user__has_half_of_all_unless_told);
	run(text__names_the_parameter);
	return tap_done();
}
