/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sums of integers in packets, in user space: the arithmetic of bpf/packet/lanes.h. For
 * programs that sum as relays do. Any alignment.
 */
#ifndef TRIB_WORDS_H
#define TRIB_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/sum/sum.h"

/* Q32 and W64: add @words 64-bit words. */
void trib_words_add(void *to, const void *from, size_t words);
/* I32: add twice as many lanes, modulo 2^32. */
void trib_words_add32(void *to, const void *from, size_t words);
/* W64: keep the larger, signed. */
void trib_words_max(void *to, const void *from, size_t words);
/* Has each group of the mask of @nval values as many bits as @nm says? */
bool trib_words_mask_ok(const void *mask, unsigned int nval, uint8_t nm);
/* Add @nval I32 values, masked by a right mask, or, @first, write them. */
void trib_words_expand(void *to, const void *from, unsigned int nval, uint8_t nm, bool first);

#endif /* TRIB_WORDS_H */
