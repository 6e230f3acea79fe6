/* SPDX-License-Identifier: BSD-2-Clause */
/* A leaf whose XDP program sends for its rank: rows, cells, results, and what leaves. */
#ifndef TEST_REFLEX_WORLD_H
#define TEST_REFLEX_WORLD_H

#include "world.h"

#define REFLEX_CHILD 5

/* Reset the world. The rank of LEAF has sent chunks 0 to SLOTS - 1, and D is WINDOW. */
void reflex_reset(bool v6, uint16_t vlan0, uint16_t vlan1);
/* Write the row again, with another secret (0: none) and number of ranks. */
void reflex_row(uint64_t auth, int nrank);

/* Header of a cell. All that XDP must not take from it is nonsense. */
struct trib_hdr reflex_nonsense(uint8_t op, uint8_t fmt, int nval);
/* Make a chunk READY: @nval times the word @word, Q32. */
void reflex_ready(uint32_t chunk, int nval, uint64_t word);
/* Make it READY with header @h. */
void reflex_ready_as(uint32_t chunk, struct trib_hdr h, uint64_t word);

/* Header of the GRAD that leaves for cell header @h: exactly. */
struct trib_hdr reflex_expected(uint32_t chunk, struct trib_hdr h);
/*
 * Is @f a contribution from this host to the parent, with our header @h? All headers are
 * looked at, and lengths; values are not. Return: NULL, or what is wrong.
 */
const char *reflex_wrong(struct frame *f, const struct trib_hdr *h);

#endif /* TEST_REFLEX_WORLD_H */
