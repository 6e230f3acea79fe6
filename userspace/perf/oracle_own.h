/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the oracle. */
#ifndef PERF_ORACLE_OWN_H
#define PERF_ORACLE_OWN_H

#include "oracle.h"

/* Index blocks that share a power of two: a multiple of ORACLE_BLOCK. */
#define ORACLE_BINADE_BLOCKS 5
/* One in this many index blocks is all zeros. */
#define ORACLE_ZERO_EVERY 37

/* A number that names the inputs of a rank. */
uint32_t oracle_key(uint64_t seed, unsigned int rank);

/* Random bits of an index. */
static inline uint32_t oracle_mix(uint32_t key, uint32_t i)
{
	uint32_t x = i * 0x9e3779b1u ^ key;

	x = (x ^ (x >> 16)) * 0x85ebca6bu;
	x = (x ^ (x >> 13)) * 0xc2b2ae35u;
	return x ^ (x >> 16);
}

/* Note a wrong element. */
void oracle_note(struct oracle_report *rep, size_t index, double got, double want, double bound);

/* --- oracle_types.c: types and operations that only peers have */

/* Is it a message of f16, bf16 or f64, or a product? */
bool oracle_is_typed(const struct oracle *o);
void oracle_typed_fill(const struct oracle *o, unsigned int rank, size_t first, size_t n,
		       void *out);
void oracle_typed_check(const struct oracle *o, size_t first, size_t n, const void *got,
			struct oracle_report *rep);
void oracle_typed_check_copy(const struct oracle *o, unsigned int rank, size_t first, size_t n,
			     const void *got, struct oracle_report *rep);

#endif /* PERF_ORACLE_OWN_H */
