/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of the chunks that a rank owns while a tree has no relay. One of 2W places for each
 * chunk under way; a newer chunk takes the place of one that all ranks have the result of.
 * The arithmetic is that of relays.
 */
#ifndef TRIB_LIB_OWNER_H
#define TRIB_LIB_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_wire.h"

/* Neighbouring chunks that have one owner: they come in one burst. */
#define TRIB_OWNER_STRIPE 16

/**
 * struct trib_sum_place - one chunk
 * @seen:  bit r: rank r has contributed.
 * @count: ranks that have.
 * @next:  for the caller: its list of sums to take itself.
 * @h:     RESULT; @h.nval: of @v, 0 while all were empty.
 * @v:     accumulators, later the values of the result.
 */
struct trib_sum_place {
	uint64_t chunk;
	uint64_t *seen;
	unsigned int count;
	bool listed;
	struct trib_sum_place *next;
	struct trib_hdr h;
	uint8_t v[] __attribute__((aligned(64)));
};

/**
 * struct trib_owner - the places of one tree
 * @nval: largest number of units in a chunk.
 */
struct trib_owner {
	unsigned int world;
	unsigned int nval;
	uint32_t mask;
	struct trib_sum_place **place;
};

static inline unsigned int trib_owner_of(uint64_t chunk, unsigned int world)
{
	return (unsigned int)(chunk / TRIB_OWNER_STRIPE % world);
}

/* Return: 0 or -ENOMEM. */
int trib_owner_init(struct trib_owner *o, unsigned int world, unsigned int window,
		    unsigned int nval);
void trib_owner_free(struct trib_owner *o);

/**
 * trib_owner_add() - add the GRAD of a rank; @len bytes of values at @v, any alignment
 * @out: the place, if this completed it: header and trib_payload_len() bytes.
 *
 * Return: 1 complete; 0 not, or known; -EPROTO: no rank sends that; -EINVAL: it does not fit
 * to what other ranks contributed; -ENOMEM.
 */
int trib_owner_add(struct trib_owner *o, unsigned int rank, uint64_t chunk,
		   const struct trib_hdr *h, const void *v, unsigned int len,
		   struct trib_sum_place **out);

#endif /* TRIB_LIB_OWNER_H */
