// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sums of integers in packets: loops that the compiler makes vectors of (-O3). Values come from
 * packets, so nothing is aligned; they are little-endian, as is every machine that relays run on.
 */
#include <string.h>

#include "kernels/cpu.h"
#include "words.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are added as they come");

typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef int64_t sword __attribute__((aligned(1), may_alias));
typedef uint32_t lane __attribute__((aligned(1), may_alias));

/* Q32: pairs that carry from the low into the high one; W64: one a word. */
void trib_words_add(void *to, const void *from, size_t words)
{
	word *restrict t = to;
	const word *restrict f = from;
	size_t i;

	for (i = 0; i < words; i++)
		t[i] += f[i];
}

/* I32: lanes of their own, modulo 2^32. */
void trib_words_add32(void *to, const void *from, size_t words)
{
	lane *restrict t = to;
	const lane *restrict f = from;
	size_t i;

	for (i = 0; i < 2 * words; i++)
		t[i] += f[i];
}

void trib_words_max(void *to, const void *from, size_t words)
{
	sword *restrict t = to;
	const sword *restrict f = from;
	size_t i;

	for (i = 0; i < words; i++)
		t[i] = f[i] > t[i] ? f[i] : t[i];
}

bool trib_words_mask_ok(const void *mask, unsigned int nval, uint8_t nm)
{
	uint32_t group = trib_nm_group(nm), want = trib_mask_want(group, trib_nm_kept(nm));
	const lane *w = mask;
	uint32_t wrong = 0;
	unsigned int i;

	for (i = 0; i < nval / TRIB_MASK_UNITS; i++)
		wrong |= trib_mask_counts(w[i], group) ^ want;
	return !wrong;
}

void trib_words_expand(void *to, const void *from, unsigned int nval, uint8_t nm, bool first)
{
	static const struct trib_sum_ops *ops;
	uint32_t caps;

	if (!ops) {
		caps = trib_cpu_caps();
		ops = trib_sum_ops(trib_sum_get(trib_sum_level_best(caps), caps), TRIB_FMT_I32);
	}
	/* It checks again; what it cannot refuse here needs no error. */
	(first ? ops->expand_store : ops->expand_add)(to, 4 * nval, from, trib_masked_len(nval, nm),
						      nm);
}
