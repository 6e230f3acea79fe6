// SPDX-License-Identifier: GPL-2.0
/*
 * The codec of collective sockets. All codecs give the same bits, so speed alone
 * decides, and a stopwatch measures it: on some CPUs, and on emulated ones, wider
 * vectors are slower.
 *
 * A call converts one chunk and holds the FPU for less than a microsecond. If
 * the FPU is not free, scalar code does the work.
 */
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>

#include "codec.h"
#include "fpu.h"

static char *codec;
module_param(codec, charp, 0444);
MODULE_PARM_DESC(codec, "Codec of sockets: scalar, avx2, avx512 (default: the fastest)");

static const struct trib_codec *simd = &trib_codec_scalar;

#define FPU_CALL(name, params, args)                                                               \
	static void fpu_##name params                                                              \
	{                                                                                          \
		if (trib_fpu_enter()) {                                                            \
			simd->name args;                                                           \
			trib_fpu_end();                                                            \
		} else {                                                                           \
			trib_codec_scalar.name args;                                               \
		}                                                                                  \
	}

#define FPU_CALL_RETURNS(type, name, params, args)                                                 \
	static type fpu_##name params                                                              \
	{                                                                                          \
		type r;                                                                            \
                                                                                                   \
		if (!trib_fpu_enter())                                                             \
			return trib_codec_scalar.name args;                                        \
		r = simd->name args;                                                               \
		trib_fpu_end();                                                                    \
		return r;                                                                          \
	}

FPU_CALL_RETURNS(uint32_t, amax, (const float *x, size_t n), (x, n))
FPU_CALL_RETURNS(size_t, f32_nan, (const float *x, size_t n), (x, n))
FPU_CALL(q32_pack, (void *w, const float *x, size_t n, int scale, int32_t limit),
	 (w, x, n, scale, limit))
FPU_CALL(q32_unpack, (float *x, const void *w, size_t n, int scale), (x, w, n, scale))
FPU_CALL(q32_unpack_avg, (float *x, const void *w, size_t n, int scale, unsigned int world),
	 (x, w, n, scale, world))
FPU_CALL(f32_order, (void *w, const float *x, size_t n, int neg), (w, x, n, neg))
FPU_CALL(f32_unorder, (float *x, const void *w, size_t n, int neg), (x, w, n, neg))
FPU_CALL(i32_order, (void *w, const int32_t *x, size_t n, int neg), (w, x, n, neg))
FPU_CALL(i32_unorder, (int32_t * x, const void *w, size_t n, int neg), (x, w, n, neg))
FPU_CALL(f16_pack, (void *w, const float *x, size_t n), (w, x, n))
FPU_CALL(f16_unpack, (float *x, const void *w, size_t n), (x, w, n))
FPU_CALL(bf16_pack, (void *w, const float *x, size_t n), (w, x, n))
FPU_CALL(bf16_unpack, (float *x, const void *w, size_t n), (x, w, n))
FPU_CALL(f32_div, (float *x, size_t n, unsigned int world), (x, n, world))

static struct trib_codec guarded = {
	.amax = fpu_amax,
	.q32_pack = fpu_q32_pack,
	.q32_unpack = fpu_q32_unpack,
	.q32_unpack_avg = fpu_q32_unpack_avg,
	.f32_order = fpu_f32_order,
	.f32_unorder = fpu_f32_unorder,
	.f32_nan = fpu_f32_nan,
	.i32_order = fpu_i32_order,
	.i32_unorder = fpu_i32_unorder,
	.f16_pack = fpu_f16_pack,
	.f16_unpack = fpu_f16_unpack,
	.bf16_pack = fpu_bf16_pack,
	.bf16_unpack = fpu_bf16_unpack,
	.f32_div = fpu_f32_div,
};

const struct trib_codec *trib_codec_kernel(void)
{
	return simd == &trib_codec_scalar ? simd : &guarded;
}

#define RACE_VALUES 352
#define RACE_HEATS 16

/* Best time in ns to pack and unpack a chunk as sockets do. */
static u64 __init race(const struct trib_codec *c)
{
	static float x[RACE_VALUES] __initdata;
	static u64 w[RACE_VALUES / 2] __initdata;
	const struct trib_codec *k;
	u64 start, best = U64_MAX;
	u32 bits;
	int i;

	/* Floats of both signs from 2^-8 to 1; 4 ranks use scale -29. */
	for (i = 0; i < RACE_VALUES; i++) {
		bits = (u32)i * 0x9e3779b1;
		bits = (bits & 0x83ffffff) | 0x3b800000;
		memcpy(&x[i], &bits, sizeof(bits));
	}
	simd = c;
	k = trib_codec_kernel();
	for (i = 0; i < RACE_HEATS; i++) {
		start = ktime_get_ns();
		k->q32_pack(w, x, RACE_VALUES, -29, 0x1fffffff);
		k->q32_unpack(x, w, RACE_VALUES, -29);
		best = min(best, ktime_get_ns() - start);
	}
	return best;
}

int __init trib_codec_init(void)
{
	const struct trib_codec *c, *winner = NULL;
	u64 ns, least = U64_MAX;
	int level;

	for (level = TRIB_CODEC_SCALAR; level < TRIB_CODEC__MAX; level++) {
		c = trib_codec_get(level);
		if (!c || (codec && strcmp(codec, c->name)))
			continue;
		ns = race(c);
		pr_info("trib: codec %s: %llu ns a chunk\n", c->name, ns);
		if (ns < least) {
			least = ns;
			winner = c;
		}
	}
	if (!winner) {
		pr_err("trib: this CPU lacks codec '%s'; load with codec=scalar, avx2 or avx512, or without codec\n",
		       codec);
		return -EINVAL;
	}
	simd = winner;
	guarded.name = winner->name;
	return 0;
}
