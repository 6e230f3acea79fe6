/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test Anything Protocol for C tests: ok(), skip(), and done() for main's
 * return. Failed checks inside a test print `# file:line: expression`.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed, tap_bad;

/* Inside a test: record a failed expectation and continue. */
#define expect(cond)                                                                               \
	((cond) ? 1 : (printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond), tap_bad++, 0))

/* Compare two integers; a failure prints both. */
#define expect_eq(a, b)                                                                            \
	do {                                                                                       \
		long long a_ = (long long)(a), b_ = (long long)(b);                                \
		if (a_ != b_) {                                                                    \
			printf("# %s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #a, a_, \
			       #b, b_);                                                            \
			tap_bad++;                                                                 \
		}                                                                                  \
	} while (0)

/* Run one test, and report under its function's name. */
#define run(fn)                                                                                    \
	do {                                                                                       \
		tap_bad = 0;                                                                       \
		fn();                                                                              \
		tap_ok(!tap_bad, #fn);                                                             \
	} while (0)

static inline void tap_ok(int good, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !good;
}

static inline void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, name, why);
}

/* Skip the whole program, which cannot run here. */
static inline void tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(4);
}

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif /* TAP_H */
