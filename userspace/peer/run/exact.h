/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact sums: the same bits as relays make, by any algorithm. The floats of a chunk
 * share an exponent, the largest of all ranks; scaled by it they become integers, whose
 * sums depend on no order (ints.h). A call becomes two tasks:
 *
 *	find exponents -> allreduce, largest -> scale, pack -> sum of integers -> unpack
 *	(worker 0)	  task 1	       (last worker)   task 2		(last worker)
 *
 * Task 2 is an allreduce or a reduce-scatter, as the call is. Of a reduce-scatter each
 * rank sees its part only, so a third task tells all of the first infinite sum; it is
 * skipped, by all ranks alike, where the exponents allow none.
 *
 * Chunks and integers are those of PROTOCOL.md, so a call may go by relays or peers; so
 * are those of masked values (masked.h), whose chunks are whole mask words.
 */
#ifndef PEER_EXACT_H
#define PEER_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "masked.h"
#include "peer/peer.h"

/* Numbered as in enum trib_op of libtrib. */
enum peer_op_number {
	PEER_OP_SUM = 0,
	PEER_OP_AVG = 1,
	PEER_OP_PROD = 4,
};

/**
 * struct peer_exact - a sum under way
 * @count: elements of all chunks of @nval, @nchunk of them.
 * @first, @own: elements that the caller wants, from @first on; @part: not all.
 * @word:  by chunk: exponent, or report of a value that is not finite.
 * @ints:  scaled values, then their sums. Of masked values those of @masked.
 * @bad:   the report of all ranks, or 0; @over: 1 + the first element whose sum is
 *         infinite, or 0; @over_word: the same, larger for earlier ones.
 * @look:  a sum can be infinite.
 * @garbled: a word that no rank computes came.
 */
struct peer_exact {
	const float *src;
	float *dst;
	uint64_t count;
	uint64_t first;
	uint64_t own;
	bool part;
	uint32_t nval;
	uint32_t world;
	uint32_t rank;
	bool average;
	uint64_t nchunk;
	int64_t *word;
	int32_t *ints;
	bool is_masked;
	struct peer_masked masked;
	int64_t bad;
	uint64_t over;
	int64_t over_word;
	bool look;
	bool garbled;
};

/**
 * peer_exact_make() - memory for a call; NULL: none. Nothing is computed yet
 * @chunk: as in peer_masked_init().
 */
struct peer_exact *peer_exact_make(const struct trib_peer_call *c, uint32_t nval, uint32_t rank,
				   uint32_t world, size_t chunk);
void peer_exact_free(struct peer_exact *x);

/** peer_exact_exponents() - fill in @word from the source */
void peer_exact_exponents(struct peer_exact *x);
/** peer_exact_pack() - fill in @ints; @word has those of all ranks */
void peer_exact_pack(struct peer_exact *x);
/** peer_exact_unpack() - write the result; @ints has the sums */
void peer_exact_unpack(struct peer_exact *x);
/** peer_exact_status() - the end. Return: 0, -EDOM, -ERANGE, -EPROTO */
int peer_exact_status(struct peer_exact *x);

/* Reductions of words, as trib_reduce_fn. */
void peer_exact_max(void *out, const void *a, const void *b, size_t n);
void peer_exact_add(void *out, const void *a, const void *b, size_t n);

#endif /* PEER_EXACT_H */
