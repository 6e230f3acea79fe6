// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a message is cut: into buckets, and, if quantised, buckets into ranges with an
 * exponent each. All follows from spec, world and count.
 */
#include "compress.h"

static size_t div_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

void layout_make(struct layout *l, struct trib_nm_spec spec, bool local, unsigned int world,
		 size_t bucket, size_t count)
{
	size_t sent = 32u * spec.kept / spec.group; /* of 32 values */

	*l = (struct layout){.spec = spec, .local = local && spec.group > 1, .count = count};
	if (spec.bits) {
		l->lane_bits = trib_nm_lane_bits(spec.bits, world);
		l->lanes = 64 / l->lane_bits;
		l->range = RANGE_WORDS * l->lanes / sent * 32;
	}
	if (l->range > bucket)
		bucket = l->range;
	else if (l->range)
		bucket = bucket / l->range * l->range;
	else
		bucket = bucket < 32 ? 32 : bucket / 32 * 32;
	if (!l->range)
		l->range = bucket;
	l->bucket = bucket;
	l->nbucket = div_up(count, bucket);
}

/* Words of @n values that share an exponent; the codec wants multiples of 8. */
static size_t words_of(const struct layout *l, size_t n)
{
	return l->lanes ? div_up(div_up(trib_nm_packed(l->spec, n), l->lanes), 8) * 8 : 0;
}

static void cut(const struct layout *l, size_t n, struct cut *out)
{
	size_t full = n / l->range;

	*out = (struct cut){
		.values = n,
		.masks = trib_nm_mask_words(l->spec, n),
		.ranges = div_up(n, l->range),
		.packed = l->local ? div_up(n, 32) * (32u * l->spec.kept / l->spec.group)
				   : trib_nm_packed(l->spec, n),
		.words = full * (l->lanes ? RANGE_WORDS : 0) + words_of(l, n - full * l->range),
	};
}

void layout_bucket(const struct layout *l, size_t i, struct cut *out)
{
	size_t rest = l->count - i * l->bucket;

	cut(l, rest < l->bucket ? rest : l->bucket, out);
}

void layout_all(const struct layout *l, struct cut *out)
{
	cut(l, l->count, out);
}
