/* SPDX-License-Identifier: BSD-2-Clause */
/* Masks for tests, and masked payloads read bit by bit: slow and plain. */
#ifndef TEST_MASK_MAKE_H
#define TEST_MASK_MAKE_H

#include <stdint.h>
#include <string.h>
#include "uapi/trib_wire.h"

static inline uint32_t mask_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Write @n right mask words of @nm to @out, little-endian; @seed chooses them. */
static inline void mask_words(void *out, unsigned int n, uint8_t nm, uint32_t seed)
{
	unsigned int group = trib_nm_group(nm), kept = trib_nm_kept(nm);

	for (unsigned int i = 0; i < n; i++) {
		uint32_t w = 0;

		for (unsigned int g = 0; g < 32; g += group) {
			unsigned int left = kept;

			/* Choose @left of the bits that remain. */
			for (unsigned int b = 0; b < group; b++) {
				if (mask_random(&seed) % (group - b) >= left)
					continue;
				w |= 1U << (g + b);
				left--;
			}
		}
		memcpy((uint8_t *)out + 4 * i, &w, 4);
	}
}

/* The value of unit @i in a masked payload of @nval units; *@there: whether it has one. */
static inline uint32_t mask_value(const void *pay, unsigned int nval, unsigned int i, int *there)
{
	unsigned int at = nval / TRIB_MASK_UNITS;
	const uint8_t *p = pay;
	uint32_t v = 0, w;

	*there = 0;
	for (unsigned int k = 0; k <= i; k++) {
		memcpy(&w, p + k / 32 * 4, 4);
		*there = w >> k % 32 & 1;
		at += k < i && *there;
	}
	if (*there)
		memcpy(&v, p + 4 * at, 4);
	return v;
}

#endif /* TEST_MASK_MAKE_H */
