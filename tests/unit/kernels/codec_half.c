// SPDX-License-Identifier: BSD-2-Clause
/*
 * f16, bf16 and averages of floats against the compiler's conversions and the
 * CPU's division. Every level gives the same bits in any floating-point
 * environment of the caller.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "kernels/codec/codec.h"
#include "tests/lib/float_bits.h"
#include "tests/lib/tap.h"

#define N 4099

static const struct trib_codec *codecs[TRIB_CODEC__MAX];
static int ncodec;

static uint64_t rng = 0x9e3779b97f4a7c15ULL;

static uint32_t rnd(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng * 0x2545f4914f6cdd1dULL >> 32);
}

static uint16_t f16_bits(_Float16 h)
{
	uint16_t b;

	memcpy(&b, &h, sizeof(b));
	return b;
}

static _Float16 f16_of(uint16_t b)
{
	_Float16 h;

	memcpy(&h, &b, sizeof(h));
	return h;
}

/* The nearer of the two bf16 around @x, or the even one. */
static uint16_t bf16_near(float x)
{
	uint16_t low = (uint16_t)(float_bits(x) >> 16);
	double down, up;

	if (isinf(x))
		return low;
	down = fabs((double)x - float_of((uint32_t)low << 16));
	up = (low & 0x7fff) == 0x7f7f ? fabs(copysign(0x1p128, x) - (double)x)
				      : fabs(float_of((uint32_t)(low + 1) << 16) - (double)x);
	return up < down || (up == down && low & 1) ? low + 1 : low;
}

/* Random floats, many next to boundaries of rounding. */
static float number(void)
{
	static const uint32_t edge[] = {
		0x47800000, 0x477ff000, 0x38800000, 0x33000000, 0x33800000,
		0x7f7f8000, 0x7f800000, 0x00008000, 0x00000000, 0x38000000,
	};
	uint32_t b = rnd();

	if (b & 1)
		return float_of((rnd() & 0x80000000) + rnd() % 7 - 3 + edge[rnd() % 10]);
	if (b & 2) /* in the range of f16 */
		return float_of((rnd() & 0x8fffffff) | 0x30000000);
	return float_of(rnd());
}

static void f16__widens_every_value_exactly(void)
{
	static uint16_t all[65536];
	static float got[65536];
	int i, k;

	for (i = 0; i < 65536; i++)
		all[i] = (uint16_t)i;
	for (k = 0; k < ncodec; k++) {
		codecs[k]->f16_unpack(got, all, 65536);
		for (i = 0; i < 65536; i++) {
			uint32_t want = float_bits((float)f16_of((uint16_t)i));

			/* A NaN keeps its payload and becomes quiet. */
			if ((i & 0x7fff) > 0x7c00)
				want = (uint32_t)(i & 0x8000) << 16 | 0x7fc00000 |
				       (uint32_t)(i & 0x3ff) << 13;
			if (!expect(float_bits(got[i]) == want))
				return;
		}
	}
}

static void bf16__widens_every_value_exactly(void)
{
	static uint16_t all[65536];
	static float got[65536];
	int i, k;

	for (i = 0; i < 65536; i++)
		all[i] = (uint16_t)i;
	for (k = 0; k < ncodec; k++) {
		codecs[k]->bf16_unpack(got, all, 65536);
		for (i = 0; i < 65536; i++)
			if (!expect(float_bits(got[i]) == (uint32_t)i << 16))
				return;
	}
}

static void half__narrows_to_the_nearest_even(void)
{
	static float x[N];
	static uint16_t f[N + 32], b[N + 32];
	int i, k, round;

	for (round = 0; round < 200; round++) {
		for (i = 0; i < N; i++)
			x[i] = number();
		for (k = 0; k < ncodec; k++) {
			codecs[k]->f16_pack(f, x, N);
			codecs[k]->bf16_pack(b, x, N);
			for (i = 0; i < N; i++) {
				uint16_t fw = f16_bits((_Float16)x[i]);
				uint16_t bw = bf16_near(x[i]);
				uint32_t v = float_bits(x[i]);

				if (isnan(x[i])) {
					fw = (uint16_t)((v >> 16 & 0x8000) | 0x7e00 |
							(v >> 13 & 0x3ff));
					bw = (uint16_t)(v >> 16 | 0x40);
				}
				if (f[i] == fw && b[i] == bw)
					continue;
				printf("# %s: %08x becomes %04x, %04x\n", codecs[k]->name, v, f[i],
				       b[i]);
				expect(f[i] == fw && b[i] == bw);
				return;
			}
		}
	}
}

static void half__payload_ends_in_zeros(void)
{
	static float x[64], back[64];
	static uint16_t w[128];
	int n, i, k;

	for (i = 0; i < 64; i++)
		x[i] = (float)i + 1;
	for (k = 0; k < ncodec; k++) {
		for (n = 0; n <= 64; n++) {
			int len = (int)trib_payload_len((uint32_t)(n + 1) / 2) / 2;

			memset(w, 0xff, sizeof(w));
			memset(back, 0xff, sizeof(back));
			codecs[k]->f16_pack(w, x, (size_t)n);
			codecs[k]->f16_unpack(back, w, (size_t)n);
			expect(!memcmp(back, x, 4 * (size_t)n));
			expect(n == 64 || float_bits(back[n]) == 0xffffffff);
			for (i = n; i < len; i++)
				expect_eq(w[i], 0);
			expect_eq(w[len], 0xffff);
			memset(w, 0xff, sizeof(w));
			codecs[k]->bf16_pack(w, x, (size_t)n);
			codecs[k]->bf16_unpack(back, w, (size_t)n);
			expect(!memcmp(back, x, 4 * (size_t)n));
			for (i = n; i < len; i++)
				expect_eq(w[i], 0);
			expect_eq(w[len], 0xffff);
		}
	}
}

static void div__equals_the_cpus(void)
{
	static float x[N], got[N];
	unsigned int world;
	int i, k;

	for (world = 1; world <= TRIB_WORLD_MAX; world += 1 + world / 7) {
		for (i = 0; i < N; i++)
			x[i] = rnd() & 7 ? float_of(rnd()) : float_of(rnd() & 0x80ffffff);
		for (k = 0; k < ncodec; k++) {
			memcpy(got, x, sizeof(x));
			codecs[k]->f32_div(got, N, world);
			for (i = 0; i < N; i++) {
				float want = x[i] / (float)world;

				if (float_bits(got[i]) == float_bits(want))
					continue;
				printf("# %s: %a / %u is %a, not %a\n", codecs[k]->name,
				       (double)x[i], world, (double)got[i], (double)want);
				expect(float_bits(got[i]) == float_bits(want));
				return;
			}
		}
	}
}

static void environment__of_the_caller_does_not_matter(void)
{
#if defined(__x86_64__)
	static const unsigned int modes[] = {0x1f80, 0x9fc0, 0x7f80, 0x0000};
	unsigned int before = _mm_getcsr(), m;
	float x[33], want[33], got[33];
	uint16_t a[64], b[64];
	int i, k;

	for (i = 0; i < 33; i++)
		x[i] = float_of(0x33000000u + (uint32_t)i * 0x00123457u);
	x[7] = float_of(3);
	x[9] = float_of(0x007fffff);
	codecs[0]->f16_pack(a, x, 33);
	codecs[0]->f16_unpack(want, a, 33);
	codecs[0]->f32_div(want, 33, 3);
	for (k = 0; k < ncodec; k++) {
		for (m = 0; m < 4; m++) {
			_mm_setcsr(modes[m]);
			codecs[k]->f16_pack(b, x, 33);
			codecs[k]->f16_unpack(got, b, 33);
			codecs[k]->f32_div(got, 33, 3);
			unsigned int after = _mm_getcsr() & ~0x3fu;

			_mm_setcsr(before);
			expect_eq(after, modes[m] & ~0x3fu);
			expect(!memcmp(a, b, 66));
			expect(!memcmp(want, got, sizeof(want)));
		}
	}
#endif
}

int main(void)
{
	int level;

	for (level = 0; level < TRIB_CODEC__MAX; level++)
		if (trib_codec_get(level))
			codecs[ncodec++] = trib_codec_get(level);

	run(f16__widens_every_value_exactly);
	run(bf16__widens_every_value_exactly);
	run(half__narrows_to_the_nearest_even);
	run(half__payload_ends_in_zeros);
	run(div__equals_the_cpus);
	run(environment__of_the_caller_does_not_matter);
	return tap_done();
}
