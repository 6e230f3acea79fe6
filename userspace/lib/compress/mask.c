// SPDX-License-Identifier: BSD-2-Clause
/* Masks that are not selected by values, and what masks say about places. */
#include "compress.h"

void mask_fill(const struct bucket *b)
{
	const struct trib_nm_spec spec = b->m->layout.spec;
	size_t i;

	memset(b->mask, 0, 4 * b->cut.masks);
	for (i = 0; i < b->cut.values; i++)
		if (i % spec.group < spec.kept)
			b->mask[i / 32] |= htole32(1u << i % 32);
}

void mask_pad(const struct bucket *b)
{
	struct trib_nm_spec spec = b->m->layout.spec;
	size_t packed = trib_nm_packed(spec, b->cut.values), i;
	uint32_t *last = &b->mask[b->cut.masks - 1], w = le32toh(*last);
	unsigned int in, n = 0;

	/* Values of the new bits are zeros. */
	memset((float *)b->sum + packed, 0, 4 * (b->cut.packed - packed));
	for (i = 0; i < 32; i++) {
		in = (unsigned int)i % spec.group;
		n = in ? n : 0;
		/* Set the missing bits, behind the last value. */
		if ((b->cut.masks - 1) * 32 + i >= b->cut.values && n < spec.kept)
			w |= 1u << i;
		n += w >> i & 1;
	}
	*last = htole32(w);
}

size_t mask_unpacked(const struct bucket *b, size_t k)
{
	uint32_t bits;
	size_t i = 0;

	if (!b->mask)
		return k;
	while (k >= (unsigned int)__builtin_popcount(b->mask[i]))
		k -= (unsigned int)__builtin_popcount(b->mask[i++]);
	bits = le32toh(b->mask[i]);
	while (k--)
		bits &= bits - 1;
	return 32 * i + (unsigned int)__builtin_ctz(bits);
}

void mask_empty(const struct bucket *b)
{
	const struct layout *l = &b->m->layout;

	memset(b->sum, 0, l->lanes ? 8 * b->cut.words : 4 * b->cut.packed);
	if (l->local)
		mask_pad(b);
}
