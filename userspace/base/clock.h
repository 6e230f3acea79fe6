/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock that all programs measure with: CLOCK_MONOTONIC, which BPF's
 * bpf_ktime_get_ns() reads, too. Inline, because packets are stamped with it.
 */
#ifndef TRIB_BASE_CLOCK_H
#define TRIB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_MS 1000000u
#define CLOCK_NS_PER_SEC 1000000000u

/* Nanoseconds since some time before boot. */
static inline uint64_t clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * CLOCK_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* The same in milliseconds, rounded down. */
static inline uint64_t clock_ms(void)
{
	return clock_ns() / CLOCK_NS_PER_MS;
}

/* The same in seconds, for durations that people read. */
static inline double clock_seconds(void)
{
	return (double)clock_ns() / CLOCK_NS_PER_SEC;
}

#endif /* TRIB_BASE_CLOCK_H */
