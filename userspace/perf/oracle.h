/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The exact results of collectives. Every element of every rank's input
 * is a function of (seed, rank, index), so each rank works out the right
 * answer alone and exactly, and compares.
 *
 * F32 inputs are integers of at most 40 bits times a power of two that is
 * the same on all ranks. A sum over 1024 ranks then has at most 50 bits: it
 * is formed in int64, converts to double without rounding, and so does every
 * term of its bound. The powers wander over 60 binades
 * along the message, and some stretches are all zeros. oracle_types.c has the inputs and
 * bounds of other types, and of products.
 */
#ifndef PERF_ORACLE_H
#define PERF_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trib.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A chunk of at most 832 values that holds element i lies within the block
 * of 832 that holds i and its two neighbours, whatever the chunk size is.
 */
#define ORACLE_BLOCK 832
#define ORACLE_REPORTS 3

/**
 * enum oracle_bound - allowed error of a sum of floats
 * @ORACLE_BLOCK_FP: as trib.h promises: n * 2^(ceil(log2 n) - 30) * A plus
 *                   half an ulp of the result.
 * @ORACLE_F32_SUMS: a chain of float additions in any order: (n - 1) * 2^-24
 *                   times the sum of magnitudes, to first order.
 * @ORACLE_F16_SUMS: the same of values rounded to f16, at each rank and then at
 *                   each of at most 1 + ceil(log2 n) levels of relays. Inputs
 *                   are within 2^-5 to 2^5, so that no sum of 1024 overflows.
 * @ORACLE_BF16_SUMS: the same of bf16; inputs are as for floats.
 */
enum oracle_bound {
	ORACLE_BLOCK_FP = 0,
	ORACLE_F32_SUMS = 1,
	ORACLE_F16_SUMS = 2,
	ORACLE_BF16_SUMS = 3,
};

/**
 * struct oracle_keep - compression of a message; zeros: none
 * @group, @kept: of every @group values the @kept largest magnitudes of rank @leader
 *           are summed, among equals the first; the others become 0. 1 of 1: all.
 * @bits:    values are rounded at random to integers of so many bits: the bound is
 *           n * 2^(2 - @bits) * A, A as above, plus half an ulp. 0: floats.
 * @leader:  see above.
 * @local:   each rank's own largest magnitudes are summed; @leader has no part in it.
 * @reach:   values that may share an exponent lie at most so far apart.
 */
struct oracle_keep {
	unsigned int group;
	unsigned int kept;
	unsigned int bits;
	unsigned int leader;
	bool local;
	size_t reach;
};

/**
 * struct oracle - one message of one job
 * @seed:  names the inputs.
 * @world: ranks, 1 to 1024.
 * @dtype: element type.
 * @op:    operation.
 * @bound: error bound of F32 sums and averages.
 * @total: elements of the whole message; chunks end with it.
 * @keep:  compression; F32 sums and averages only.
 */
struct oracle {
	uint64_t seed;
	unsigned int world;
	enum trib_dtype dtype;
	enum trib_op op;
	enum oracle_bound bound;
	size_t total;
	struct oracle_keep keep;
};

/**
 * struct oracle_wrong - one wrong element
 * @index: in the message.
 * @got:   value that was found.
 * @want:  right value.
 * @bound: allowed error.
 */
struct oracle_wrong {
	size_t index;
	double got;
	double want;
	double bound;
};

struct oracle_report {
	size_t wrong; /* elements */
	struct oracle_wrong first[ORACLE_REPORTS];
};

/* Bytes of an element. */
size_t oracle_size(enum trib_dtype dtype);

/* Elements @first .. @first + @n of @rank's input. */
void oracle_fill(const struct oracle *o, unsigned int rank, size_t first, size_t n, void *out);

/*
 * Compare @got with elements @first .. @first + @n of the combined message.
 * Adds to @rep.
 */
void oracle_check(const struct oracle *o, size_t first, size_t n, const void *got,
		  struct oracle_report *rep);

/* Compare @got with @rank's input, bit by bit. Adds to @rep. */
void oracle_check_copy(const struct oracle *o, unsigned int rank, size_t first, size_t n,
		       const void *got, struct oracle_report *rep);

/* Fill a buffer with bytes that are wrong in any message. */
void oracle_poison(void *buf, size_t bytes);

/*
 * A hash of @bytes bytes that differs for any two inputs that differ in one
 * 64-bit word, and in practice for any two.
 */
uint64_t oracle_hash(const void *buf, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* PERF_ORACLE_H */
