// SPDX-License-Identifier: BSD-2-Clause
/* Values: merged word by word; floats in fp32, in the order of arrival. */
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "kernels/half.h"
#include "node.h"

bool values_mask_ok(const struct trib_hdr *h, const void *values)
{
	unsigned int group = trib_nm_group(h->nm), bits, i, j;
	const uint8_t *mask = values;

	if (!(h->flags & TRIB_F_MASK))
		return true;
	for (i = 0; i < be16toh(h->nval); i += group) {
		for (bits = 0, j = i; j < i + group; j++)
			bits += mask[j / 8] >> j % 8 & 1;
		if (bits != trib_nm_kept(h->nm))
			return false;
	}
	return true;
}

/* Add a masked payload value by value, to zeros if it is the first. */
static void merge_masked(uint32_t *v, bool first, const struct trib_hdr *h, const void *values)
{
	unsigned int nval = be16toh(h->nval), i;
	const uint8_t *mask = values, *packed = mask + nval / 8;
	uint32_t in;
	float f, acc;

	if (first)
		memset(v, 0, 4 * nval);
	for (i = 0; i < nval; i++) {
		if (!(mask[i / 8] >> i % 8 & 1))
			continue;
		memcpy(&in, packed, 4);
		packed += 4;
		if (h->fmt == TRIB_FMT_I32) {
			v[i] += in;
		} else if (first) {
			v[i] = in;
		} else {
			memcpy(&f, &in, 4);
			memcpy(&acc, v + i, 4);
			acc += f;
			memcpy(v + i, &acc, 4);
		}
	}
}

static void merge_floats(float *acc, bool first, const struct trib_hdr *h, const void *values)
{
	unsigned int n = trib_fmt_values(h->fmt, be16toh(h->nval)), i;
	float in;

	for (i = 0; i < n; i++) {
		if (h->fmt == TRIB_FMT_F16)
			trib_bits_put(&in, trib_f16_to(trib_half_at(values, i)));
		else if (h->fmt == TRIB_FMT_BF16)
			trib_bits_put(&in, trib_bf16_to(trib_half_at(values, i)));
		else
			memcpy(&in, (const uint8_t *)values + 4 * i, 4);
		acc[i] = first ? in : acc[i] + in;
	}
}

static uint64_t combine(const struct trib_hdr *h, uint64_t a, uint64_t b)
{
	if (h->op == TRIB_WOP_MAX)
		return (int64_t)a > (int64_t)b ? a : b;
	if (h->fmt == TRIB_FMT_I32)
		return (uint32_t)(a + b) | ((a >> 32) + (b >> 32)) << 32;
	return a + b;
}

void values_merge(__u64 *v, unsigned int had, const struct trib_hdr *h, const void *values)
{
	unsigned int len = trib_payload_len(be16toh(h->nval)), i;
	uint64_t word;

	if (h->flags & TRIB_F_MASK) {
		merge_masked((uint32_t *)v, !had, h, values);
		return;
	}
	if (trib_fmt_is_float(h->fmt)) {
		merge_floats((float *)v, !had, h, values);
		return;
	}
	for (i = 0; i < len / 8; i++) {
		memcpy(&word, (const uint8_t *)values + 8 * i, 8);
		v[i] = had ? combine(h, v[i], word) : word;
	}
}

void values_round(__u64 *v, uint8_t fmt, unsigned int nval)
{
	unsigned int n = trib_fmt_values(fmt, nval), i;
	float acc[TRIB_NVAL_LARGE];

	if (!trib_fmt_is_half(fmt))
		return;
	memcpy(acc, v, 4 * n);
	memset(v, 0, trib_payload_len(nval));
	for (i = 0; i < n; i++) {
		uint32_t b = trib_bits_at(acc + i);

		trib_half_put(v, i, fmt == TRIB_FMT_F16 ? trib_f16_of(b) : trib_bf16_of(b));
	}
}
