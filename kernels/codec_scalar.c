// SPDX-License-Identifier: BSD-2-Clause
/*
 * The codec in plain C: the reference that the others must equal, and what
 * runs where there is no AVX2. Products are formed in double, where they are
 * exact.
 */
#include <math.h>
#include <stdbool.h>

#include "codec.h"
#include "codec_fp.h"

static void put64(void *w, size_t i, int64_t v)
{
	memcpy((char *)w + i * 8, &v, 8);
}

static int64_t get64(const void *w, size_t i)
{
	int64_t v;

	memcpy(&v, (const char *)w + i * 8, 8);
	return v;
}

static void pad(void *w, size_t used, size_t units)
{
	memset((char *)w + used, 0, trib_payload_len((uint32_t)units) - used);
}

static uint32_t scalar_amax(const float *x, size_t n)
{
	uint32_t b, m = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		b &= 0x7fffffff;
		if (b > m)
			m = b;
	}
	return m;
}

static int64_t quantise(float x, double unit, int32_t limit)
{
	double q = rint((double)x * unit);

	if (!(q < limit))
		return limit;
	if (q < -limit)
		return -limit;
	return (int64_t)q;
}

static void scalar_q32_pack(void *w, const float *x, size_t n, int scale,
			    int32_t limit)
{
	double unit = trib_pow2(-scale);
	size_t i;

	__auto_type fp = trib_fp_enter();
	for (i = 0; i + 1 < n; i += 2)
		put64(w, i / 2,
		      quantise(x[i], unit, limit) +
			      quantise(x[i + 1], unit, limit) * (1LL << 32));
	if (i < n) {
		put64(w, i / 2, quantise(x[i], unit, limit));
		i += 2;
	}
	trib_fp_leave(fp);
	pad(w, i * 4, n);
}

/* Paired lanes: lo sign-extended was added to hi * 2^32. */
static int32_t lane(const void *w, size_t i)
{
	int64_t v = get64(w, i / 2);

	if (!(i & 1))
		return (int32_t)v;
	return (int32_t)(((uint64_t)v - (uint64_t)(int64_t)(int32_t)v) >> 32);
}

static void unpack(float *x, const void *w, size_t n, double unit)
{
	size_t i;

	__auto_type fp = trib_fp_enter();
	for (i = 0; i < n; i++)
		x[i] = (float)(lane(w, i) * unit);
	trib_fp_leave(fp);
}

static void scalar_q32_unpack(float *x, const void *w, size_t n, int scale)
{
	unpack(x, w, n, trib_pow2(scale));
}

static void scalar_q32_unpack_avg(float *x, const void *w, size_t n, int scale,
				  unsigned int world)
{
	double unit;

	__auto_type fp = trib_fp_enter();
	unit = trib_pow2(scale) / world;
	trib_fp_leave(fp);
	unpack(x, w, n, unit);
}

static void scalar_f32_order(void *w, const float *x, size_t n, int neg)
{
	int64_t v;
	int32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		v = b ^ ((b >> 31) & 0x7fffffff);
		put64(w, i, neg ? -v : v);
	}
	pad(w, n * 8, n * 2);
}

static void scalar_f32_unorder(float *x, const void *w, size_t n, int neg)
{
	int64_t v;
	int32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		v = get64(w, i);
		b = (int32_t)(neg ? -v : v);
		b ^= (b >> 31) & 0x7fffffff;
		memcpy(&x[i], &b, sizeof(b));
	}
}

static size_t scalar_f32_nan(const float *x, size_t n)
{
	uint32_t b;
	size_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, &x[i], sizeof(b));
		if ((b & 0x7fffffff) > 0x7f800000)
			break;
	}
	return i;
}

static void scalar_i32_order(void *w, const int32_t *x, size_t n, int neg)
{
	size_t i;

	for (i = 0; i < n; i++)
		put64(w, i, neg ? -(int64_t)x[i] : (int64_t)x[i]);
	pad(w, n * 8, n * 2);
}

static void scalar_i32_unorder(int32_t *x, const void *w, size_t n, int neg)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = (int32_t)(neg ? -get64(w, i) : get64(w, i));
}

const struct trib_codec trib_codec_scalar = {
	.name = "scalar",
	.amax = scalar_amax,
	.q32_pack = scalar_q32_pack,
	.q32_unpack = scalar_q32_unpack,
	.q32_unpack_avg = scalar_q32_unpack_avg,
	.f32_order = scalar_f32_order,
	.f32_unorder = scalar_f32_unorder,
	.f32_nan = scalar_f32_nan,
	.i32_order = scalar_i32_order,
	.i32_unorder = scalar_i32_unorder,
};
