/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Single values of the CPU's backends: loads, stores, and the mask of a group. */
#ifndef TRIB_NM_VALUE_H
#define TRIB_NM_VALUE_H

#include <string.h>

#include "kernels/half.h"
#include "nm.h"

#define NM_EACH static inline __attribute__((always_inline))

NM_EACH uint32_t nm_bits(float f)
{
	uint32_t b;

	memcpy(&b, &f, sizeof(b));
	return b;
}

NM_EACH float nm_float(uint32_t b)
{
	float f;

	memcpy(&f, &b, sizeof(f));
	return f;
}

NM_EACH size_t nm_size(uint32_t fmt)
{
	return fmt == TRIB_FMT_F32 ? 4 : 2;
}

NM_EACH float nm_get(const void *x, uint32_t fmt, size_t i)
{
	if (fmt == TRIB_FMT_F16)
		return nm_float(trib_f16_to(trib_half_at(x, i)));
	if (fmt == TRIB_FMT_BF16)
		return nm_float(trib_bf16_to(trib_half_at(x, i)));
	return nm_float(trib_bits_at((const float *)x + i));
}

NM_EACH void nm_put(void *x, uint32_t fmt, size_t i, float f)
{
	if (fmt == TRIB_FMT_F16)
		trib_half_put(x, i, trib_f16_of(nm_bits(f)));
	else if (fmt == TRIB_FMT_BF16)
		trib_half_put(x, i, trib_bf16_of(nm_bits(f)));
	else
		trib_bits_put((float *)x + i, nm_bits(f));
}

NM_EACH float nm_acc(const struct trib_nm_range *g, uint32_t fmt, size_t i)
{
	float x = nm_get(g->x, fmt, i);

	return g->residual ? x + g->residual[i] : x;
}

NM_EACH uint32_t nm_word(const void *mask, size_t i)
{
	uint32_t w;

	memcpy(&w, (const char *)mask + 4 * i, sizeof(w));
	return w;
}

NM_EACH void nm_word_put(void *mask, size_t i, uint32_t w)
{
	memcpy((char *)mask + 4 * i, &w, sizeof(w));
}

/* The part of a range that begins at value @first, a multiple of 32. */
NM_EACH struct trib_nm_range nm_rest(const struct trib_nm_range *g, size_t first)
{
	struct trib_nm_range rest = *g;

	rest.x = (const char *)g->x + first * nm_size(g->fmt);
	rest.residual = g->residual ? g->residual + first : NULL;
	rest.count -= first;
	return rest;
}

/* Call fn(args, fmt) with a constant format, so that its loops have no branch. */
#define NM_BY_FMT(fmt, fn, ...)                                                                    \
	((fmt) == TRIB_FMT_F32	 ? fn(__VA_ARGS__, TRIB_FMT_F32)                                   \
	 : (fmt) == TRIB_FMT_F16 ? fn(__VA_ARGS__, TRIB_FMT_F16)                                   \
				 : fn(__VA_ARGS__, TRIB_FMT_BF16))

/* The same with a constant group: fn(args, group). */
#define NM_BY_GROUP(group, fn, ...)                                                                \
	((group) == 4	 ? fn(__VA_ARGS__, 4)                                                      \
	 : (group) == 2	 ? fn(__VA_ARGS__, 2)                                                      \
	 : (group) == 8	 ? fn(__VA_ARGS__, 8)                                                      \
	 : (group) == 16 ? fn(__VA_ARGS__, 16)                                                     \
			 : fn(__VA_ARGS__, 32))

#endif /* TRIB_NM_VALUE_H */
