/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * f16 and bf16 to f32 and back, one value at a time, on bits and in integers, so
 * that the kernel can use it without the FPU.
 *
 * Narrowing rounds to the nearest even, keeps denormals, and gives infinity
 * beyond the largest value. Narrowing makes a NaN quiet and keeps the upper bits
 * of its payload, as VCVTPS2PH does. Widening f16 makes a NaN quiet, too, as
 * VCVTPH2PS does; widening bf16 is a shift.
 */
#ifndef TRIB_KERNELS_HALF_H
#define TRIB_KERNELS_HALF_H

#include <linux/types.h>

/* The f16 nearest to the float with bits @b. */
static inline __u16 trib_f16_of(__u32 b)
{
	__u32 sign = b >> 16 & 0x8000, a = b & 0x7fffffff, m, r;

	if (a > 0x7f800000)
		return (__u16)(sign | 0x7e00 | (a >> 13 & 0x3ff));
	if (a >= 0x47800000) /* 2^16; below it, rounding carries to infinity */
		return (__u16)(sign | 0x7c00);
	if (a >= 0x38800000) /* 2^-14, the smallest normal f16 */
		return (__u16)(sign | (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13);
	if (a < 0x33000000) /* 2^-25, half of the smallest f16 */
		return (__u16)sign;
	/* m * 2^(exponent - 150) in units of 2^-24 */
	m = (a & 0x7fffff) | 0x800000;
	r = 126 - (a >> 23);
	return (__u16)(sign | (m + (1u << (r - 1)) - 1 + (m >> r & 1)) >> r);
}

/* Bits of the float that equals the f16 @h. */
static inline __u32 trib_f16_to(__u16 h)
{
	__u32 sign = (__u32)(h & 0x8000) << 16, a = h & 0x7fff, n;

	if (a > 0x7c00)
		return sign | 0x7fc00000 | a << 13;
	if (a == 0x7c00)
		return sign | 0x7f800000;
	if (a >= 0x400)
		return sign | ((a << 13) + 0x38000000);
	if (!a)
		return sign;
	/* The highest bit of a denormal becomes the float's implicit one. */
	n = (__u32)__builtin_clz(a) - 21;
	return sign | (113 - n) << 23 | (a << (n + 13) & 0x7fffff);
}

/* The bf16 nearest to the float with bits @b. */
static inline __u16 trib_bf16_of(__u32 b)
{
	if ((b & 0x7fffffff) > 0x7f800000)
		return (__u16)(b >> 16 | 0x40);
	return (__u16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

/* Bits of the float that equals the bf16 @h. */
static inline __u32 trib_bf16_to(__u16 h)
{
	return (__u32)h << 16;
}

/* Payloads have no alignment, and no float may pass through an FPU register. */
static inline __u32 trib_bits_at(const float *x)
{
	__u32 b;

	__builtin_memcpy(&b, x, sizeof(b));
	return b;
}

static inline void trib_bits_put(float *x, __u32 b)
{
	__builtin_memcpy(x, &b, sizeof(b));
}

static inline __u16 trib_half_at(const void *w, __kernel_size_t i)
{
	__u16 h;

	__builtin_memcpy(&h, (const char *)w + 2 * i, sizeof(h));
	return h;
}

static inline void trib_half_put(void *w, __kernel_size_t i, __u16 h)
{
	__builtin_memcpy((char *)w + 2 * i, &h, sizeof(h));
}

#endif /* TRIB_KERNELS_HALF_H */
