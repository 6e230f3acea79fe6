/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of which each rank sends the values that it chose, as local masks of compression
 * do: M of every N, packed, with a mask word for each 32.
 *
 *	packed values, mask words ---> units: a mask word and its values each
 *	  (of this rank)		 |
 *	unit of another rank ----------> sum: 32 values a unit, zeros where neither
 *	sum of other ranks ------------>      rank has one
 *
 * The lanes work on units. A rank sends its own values as units, as long as it has added
 * nothing to them; sums travel whole. So every algorithm saves bytes in its first step,
 * and "direct", which has one step of additions, in all of them.
 */
#ifndef PEER_MASKED_H
#define PEER_MASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/reduce/reduce.h"

/**
 * struct peer_masked - the values of a call
 * @mask, @values: this rank's, as the caller has them. @per: values of a mask word.
 * @units: mask words.
 * @size:  bytes of a unit on its way.
 * @whole: units have no fewer bytes than sums, or do not fit into a chunk: nothing is
 *         masked on its way.
 * @own:   units of this rank; NULL: @whole. @sum: 32 values a unit.
 * @fn:    adds values.
 */
struct peer_masked {
	const uint32_t *mask;
	const void *values;
	uint32_t per;
	uint64_t units;
	size_t size;
	bool whole;
	unsigned char *own;
	uint32_t *sum;
	bool ints;
	trib_reduce_fn fn;
};

/* Bytes of a unit's sum. */
#define PEER_MASKED_SUM 128

/**
 * peer_masked_init() - memory for @count elements
 * @chunk: bytes that travel together.
 * Return: 0 or -ENOMEM; peer_masked_free() in any case.
 */
int peer_masked_init(struct peer_masked *m, const void *mask, uint32_t per, uint64_t count,
		     bool ints, size_t chunk);
void peer_masked_free(struct peer_masked *m);

/** peer_masked_put() - fill in @n of this rank's units, from the @first on */
void peer_masked_put(struct peer_masked *m, uint64_t first, const void *values, uint64_t n);

/** peer_masked_expand() - write the sum of this rank alone */
void peer_masked_expand(struct peer_masked *m);

/**
 * peer_masked_add() - out = own + in, of @n units; with @swap out = in + own
 * @own, @in: units if @own_packed, @in_packed, else sums. @own, if a sum, is @out.
 * Return: false: a mask from another rank does not select @per values; nothing is written.
 */
bool peer_masked_add(const struct peer_masked *m, void *out, const void *own, bool own_packed,
		     const void *in, bool in_packed, bool swap, uint64_t n);

#endif /* PEER_MASKED_H */
