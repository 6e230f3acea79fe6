/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reproducible random numbers for generated data and initial weights: a
 * splitmix64 stream per purpose.
 */
#ifndef PERF_RANDOM_H
#define PERF_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* In [0, 1). */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* Standard normal (Box and Muller). */
static inline double random_normal(uint64_t *state)
{
	double r = sqrt(-2 * log(1 - random_unit(state)));

	return r * cos(2 * M_PI * random_unit(state));
}

#endif /* PERF_RANDOM_H */
