/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The results that sum.h promises, computed in another way: in double, with a
 * search for the nearest value. Also inputs and memory for the tests of sums.
 *
 * Adding two floats in double rounds twice, with the same result as rounding
 * once: 53 bits are more than 2 * 24 + 1 (Figueroa), and a sum that is a
 * denormal float is exact in both.
 */
#ifndef SUM_ORACLE_H
#define SUM_ORACLE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/cpu.h"
#include "kernels/sum/sum.h"
#include "float_bits.h"
#include "tap.h"

static uint64_t rng = 0x9e3779b97f4a7c15ULL;

static inline uint64_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dULL;
}

static inline bool f32_nan(uint32_t b)
{
	return (b << 1) > 0xff000000;
}

static inline uint32_t oracle_add(uint32_t acc, uint32_t in)
{
	if (f32_nan(acc))
		return acc | 1 << 22;
	if (f32_nan(in))
		return in | 1 << 22;
	if (isinf(float_of(acc)) && in == (acc ^ 0x80000000))
		return 0xffc00000;
	return float_bits((float)((double)float_of(acc) + (double)float_of(in)));
}

/*
 * Magnitude of the half float h; Inf counts as the next value after the
 * largest.
 */
static inline double f16_magnitude(unsigned int h)
{
	unsigned int e = h >> 10 & 31, m = h & 0x3ff;

	return e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
}

static inline uint32_t oracle_f16_widen(uint16_t h)
{
	uint32_t sign = h & 0x8000 ? 0x80000000 : 0;

	if ((h & 0x7fff) > 0x7c00)
		return sign | 0x7fc00000 | (h & 0x3ffu) << 13;
	if ((h & 0x7fff) == 0x7c00)
		return sign | 0x7f800000;
	return sign | float_bits((float)f16_magnitude(h & 0x7fff));
}

static inline uint16_t oracle_f16_narrow(uint32_t x)
{
	uint16_t sign = x >> 31 ? 0x8000 : 0;
	unsigned int low = 0, high = 0x7c00, mid;
	double want = fabs((double)float_of(x)), half;

	if (f32_nan(x))
		return sign | 0x7e00 | (x >> 13 & 0x3ff);
	if (want >= f16_magnitude(high))
		return sign | high;
	/* low <= want < high */
	while (high - low > 1) {
		mid = (low + high) / 2;
		if (f16_magnitude(mid) <= want)
			low = mid;
		else
			high = mid;
	}
	half = (f16_magnitude(low) + f16_magnitude(high)) / 2;
	if (want == half)
		return sign | (low & 1 ? high : low);
	return sign | (want < half ? low : high);
}

static inline double bf16_magnitude(unsigned int h)
{
	return h == 0x7f80 ? 0x1p128 : (double)float_of(h << 16);
}

static inline uint16_t oracle_bf16_narrow(uint32_t x)
{
	uint16_t sign = x >> 31 ? 0x8000 : 0;
	unsigned int low = x >> 16 & 0x7fff;
	double want = fabs((double)float_of(x)), half;

	if (f32_nan(x))
		return sign | 0x7fc0 | low;
	if (low == 0x7f80)
		return sign | low;
	half = (bf16_magnitude(low) + bf16_magnitude(low + 1)) / 2;
	if (want == half)
		return sign | (low + (low & 1));
	return sign | (want < half ? low : low + 1);
}

static const struct {
	enum trib_fmt fmt;
	const char *name;
	unsigned int size;
} sum_formats[] = {
	{TRIB_FMT_F32, "f32", 4},
	{TRIB_FMT_F16, "f16", 2},
	{TRIB_FMT_BF16, "bf16", 2},
	{TRIB_FMT_I32, "i32", 4},
};

#define NFORMATS (sizeof(sum_formats) / sizeof(sum_formats[0]))

static inline uint32_t oracle_widen(enum trib_fmt fmt, const void *p)
{
	uint32_t w;
	uint16_t h;

	if (fmt == TRIB_FMT_F32 || fmt == TRIB_FMT_I32) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&h, p, sizeof(h));
	return fmt == TRIB_FMT_F16 ? oracle_f16_widen(h) : (uint32_t)h << 16;
}

static inline uint32_t oracle_sum(enum trib_fmt fmt, uint32_t acc, uint32_t in)
{
	return fmt == TRIB_FMT_I32 ? acc + in : oracle_add(acc, in);
}

static inline void oracle_narrow(enum trib_fmt fmt, void *p, uint32_t v)
{
	uint16_t h;

	if (fmt == TRIB_FMT_F32 || fmt == TRIB_FMT_I32) {
		memcpy(p, &v, sizeof(v));
		return;
	}
	h = fmt == TRIB_FMT_F16 ? oracle_f16_narrow(v) : oracle_bf16_narrow(v);
	memcpy(p, &h, sizeof(h));
}

/* Floats at every edge; the tests also use them with the other sign. */
static const uint32_t specials[] = {
	0,	    1,		2,	    0x007fffff, 0x00800000, 0x00800001, 0x00ffffff,
	0x01000000, 0x33000000, 0x33000001, 0x33800000, 0x387fe000, 0x387ff000, 0x38800000,
	0x3f7fffff, 0x3f800000, 0x3f800001, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000,
	0x4b7fffff, 0x4b800000, 0x7f000000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000,
	0x7f800001, 0x7f802000, 0x7fa5a5a5, 0x7fbfffff, 0x7fc00000, 0x7fc12345, 0x7fffffff,
};

#define NSPECIALS (sizeof(specials) / sizeof(specials[0]))

static inline uint32_t any_float(void)
{
	uint32_t sign = rnd() & 0x80000000;

	switch (rnd() % 8) {
	case 0:
		return sign | specials[rnd() % NSPECIALS];
	case 1: /* a denormal */
		return sign | (rnd() & 0x7fffff);
	case 2: /* few bits: ties */
		return sign | (rnd() % 255) << 23 | (rnd() & 3) << 21;
	case 3: /* about the precision of half floats */
		return sign | (100 + rnd() % 45) << 23 | (rnd() & 0x7fffff);
	case 4:
	case 5:
		return sign | (110 + rnd() % 30) << 23 | (rnd() & 0x7fffff);
	default:
		return (uint32_t)rnd();
	}
}

/*
 * Make a partner of @a that cancels it, almost cancels it, or is near half its
 * last place.
 */
static inline uint32_t partner(uint32_t a)
{
	uint32_t e = a >> 23 & 0xff, sign = rnd() & 0x80000000;

	switch (rnd() % 4) {
	case 0:
		return (a ^ 0x80000000) + (uint32_t)(rnd() % 5) - 2;
	case 1: /* a tie, or next to one */
		if (e > 26)
			return sign | (((e - 24) << 23) + (uint32_t)(rnd() % 3) - 1);
		return any_float();
	case 2: /* any distance that can matter */
		if (e > 60)
			return sign | (e - rnd() % 60) << 23 | (rnd() & 0x7fffff);
		return any_float();
	default:
		return any_float();
	}
}

static inline void any_value(enum trib_fmt fmt, void *p, uint32_t acc)
{
	uint16_t h = rnd() >> 32;

	/* Half of the random values have the exponent of their partner. */
	if (sum_formats[0].fmt == fmt || fmt == TRIB_FMT_I32)
		oracle_narrow(fmt, p, partner(acc));
	else if (rnd() & 1)
		oracle_narrow(fmt, p, partner(acc));
	else
		memcpy(p, &h, sizeof(h));
}

/*
 * Memory whose end borders on unmapped memory. area_at() returns @len bytes
 * that end
 * @off bytes before it, after filling everything with a pattern.
 */
#define AREA 16384

struct area {
	unsigned char *base;
};

static inline void area_make(struct area *a)
{
	a->base =
		mmap(NULL, AREA + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (a->base == MAP_FAILED || mprotect(a->base + AREA, 4096, PROT_NONE)) {
		puts("Bail out! no memory");
		exit(1);
	}
}

static inline unsigned char *area_at(struct area *a, size_t len, size_t off)
{
	memset(a->base, 0xa5, AREA);
	return a->base + AREA - len - off;
}

static inline bool area_same(const struct area *a, const struct area *b)
{
	return !memcmp(a->base, b->base, AREA);
}

/* Each level that this CPU supports. */
#define each_level(s)                                                                              \
	for (int l_ = 0; l_ < TRIB_SUM__MAX; l_++)                                                 \
		if (((s) = trib_sum_get(l_, trib_cpu_caps())))

#endif /* SUM_ORACLE_H */
