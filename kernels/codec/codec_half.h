/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One float of 16 bits, there and back, as bits and in integers: rounded to
 * the nearest even, denormals kept, beyond the largest one infinity. NaNs come
 * out quiet with the upper bits of their payload, as the CPU's own conversions
 * have it; but a bfloat's widening changes nothing.
 */
#ifndef TRIB_CODEC_HALF_H
#define TRIB_CODEC_HALF_H

static inline uint16_t trib_f16_of(uint32_t b)
{
	uint32_t sign = b >> 16 & 0x8000, a = b & 0x7fffffff, m, r;

	if (a > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
	if (a >= 0x47800000) /* 2^16; what rounds to it carries below */
		return (uint16_t)(sign | 0x7c00);
	if (a >= 0x38800000) /* 2^-14, the least that is normal */
		return (uint16_t)(sign |
				  (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >>
					  13);
	if (a < 0x33000000) /* 2^-25, half of the least one */
		return (uint16_t)sign;
	/* m * 2^(exponent - 150) in units of 2^-24 */
	m = (a & 0x7fffff) | 0x800000;
	r = 126 - (a >> 23);
	return (uint16_t)(sign | (m + (1u << (r - 1)) - 1 + (m >> r & 1)) >> r);
}

static inline uint32_t trib_f16_to(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, a = h & 0x7fff, n;

	if (a > 0x7c00)
		return sign | 0x7fc00000 | a << 13;
	if (a == 0x7c00)
		return sign | 0x7f800000;
	if (a >= 0x400)
		return sign | ((a << 13) + 0x38000000);
	if (!a)
		return sign;
	/* Its highest bit becomes the one that is not written. */
	n = (uint32_t)__builtin_clz(a) - 21;
	return sign | (113 - n) << 23 | (a << (n + 13) & 0x7fffff);
}

static inline uint16_t trib_bf16_of(uint32_t b)
{
	if ((b & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(b >> 16 | 0x40);
	return (uint16_t)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

static inline uint32_t trib_bf16_to(uint16_t h)
{
	return (uint32_t)h << 16;
}

/* Payloads have no alignment, and floats are not to be seen as such. */
static inline uint32_t trib_bits_at(const float *x)
{
	uint32_t b;

	memcpy(&b, x, sizeof(b));
	return b;
}

static inline void trib_bits_put(float *x, uint32_t b)
{
	memcpy(x, &b, sizeof(b));
}

static inline uint16_t trib_half_at(const void *w, size_t i)
{
	uint16_t h;

	memcpy(&h, (const char *)w + 2 * i, sizeof(h));
	return h;
}

static inline void trib_half_put(void *w, size_t i, uint16_t h)
{
	memcpy((char *)w + 2 * i, &h, sizeof(h));
}

#endif /* TRIB_CODEC_HALF_H */
