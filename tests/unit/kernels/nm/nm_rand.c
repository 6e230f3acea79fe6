// SPDX-License-Identifier: BSD-2-Clause
/*
 * The random bits of rounding: fixed vectors, and whether they are good enough for
 * it. Bounds are five standard deviations or more; seeds are fixed.
 */
#include "kernels/nm/quant.h"
#include "tests/lib/sum_oracle.h"

#define N (1 << 20)

static double u_of(uint32_t bits)
{
	return bits * 0x1p-32;
}

/* These never change: saved runs depend on them. */
static void random__has_the_fixed_bits(void)
{
	static const struct {
		uint64_t seed, step, index;
		uint32_t bits;
	} want[] = {
		{0x0, 0x0, 0x0, 0x0c6de78b},
		{0x0, 0x0, 0x1, 0xd0296309},
		{0x1, 0x0, 0x0, 0x83b8fd12},
		{0x0, 0x1, 0x0, 0xe713c8aa},
		{0x0, 0x0, 0x100000000, 0xab9234be},
		{0x123456789abcdef, 0xf4240, 0xffffffff, 0x58ba2c2f},
		{0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0x1794c314},
		{0x2a, 0x7, 0x75bcd15, 0x6c8fe2e6},
	};
	unsigned int i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		expect_eq(trib_nm_random(trib_nm_key(want[i].seed, want[i].step,
						     (uint32_t)(want[i].index >> 32)),
					 (uint32_t)want[i].index),
			  want[i].bits);
}

/* Every one of the 32 bits, the highest most of all, is 1 half of the time. */
static void random__bits_are_even(void)
{
	struct trib_nm_key key;
	uint32_t i, x, b;
	uint64_t seed;

	for (seed = 0; seed < 8; seed++) {
		uint32_t ones[32] = {0};

		key = trib_nm_key(seed, 3, 0);
		for (i = 0; i < N; i++) {
			x = trib_nm_random(key, i);
			for (b = 0; b < 32; b++)
				ones[b] += x >> b & 1;
		}
		for (b = 0; b < 32; b++)
			expect(fabs(ones[b] - N / 2.0) < 5.5 * sqrt(N / 4.0));
	}
}

/* Chi-square of the upper byte, and of pairs of upper nibbles of neighbours. */
static void random__bytes_and_pairs_are_even(void)
{
	uint32_t i, x, next, lag;
	double chi[2];
	uint64_t step;

	for (step = 0; step < 6; step++) {
		struct trib_nm_key key = trib_nm_key(1, step, 0);

		for (lag = 1; lag <= 64; lag *= 2) {
			uint32_t one[256] = {0}, two[256] = {0};

			for (i = 0; i < N; i++) {
				x = trib_nm_random(key, i);
				next = trib_nm_random(key, i + lag);
				one[x >> 24]++;
				two[(x >> 28) << 4 | next >> 28]++;
			}
			chi[0] = chi[1] = 0;
			for (i = 0; i < 256; i++) {
				chi[0] += pow(one[i] - N / 256.0, 2) / (N / 256.0);
				chi[1] += pow(two[i] - N / 256.0, 2) / (N / 256.0);
			}
			/* 255 degrees of freedom: deviation sqrt(510) = 22.6 */
			if (!expect(chi[0] < 255 + 130 && chi[1] < 255 + 130))
				printf("# step %u lag %u: %.0f, %.0f\n", (unsigned int)step, lag,
				       chi[0], chi[1]);
		}
	}
}

static double correlation(struct trib_nm_key a, struct trib_nm_key b, uint32_t lag)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < N; i++)
		sum += (u_of(trib_nm_random(a, i)) - 0.5) *
		       (u_of(trib_nm_random(b, i + lag)) - 0.5);
	return sum / N * 12;
}

static void random__neighbours_steps_and_seeds_are_unrelated(void)
{
	static const uint32_t lags[] = {1, 2, 3, 4, 8, 16, 31, 32, 64, 176, 1024, 4096, 65536};
	const double most = 5.5 / sqrt(N);
	uint64_t d;
	unsigned int i;

	for (i = 0; i < sizeof(lags) / sizeof(lags[0]); i++)
		expect(fabs(correlation(trib_nm_key(7, 1, 0), trib_nm_key(7, 1, 0), lags[i])) <
		       most);
	for (d = 1; d <= 1ULL << 40; d *= 4) {
		expect(fabs(correlation(trib_nm_key(7, 1, 0), trib_nm_key(7, 1 + d, 0), 0)) < most);
		expect(fabs(correlation(trib_nm_key(7, 1, 0), trib_nm_key(7 + d, 1, 0), 0)) < most);
	}
	expect(fabs(correlation(trib_nm_key(7, 1, 0), trib_nm_key(7, 1, 1), 0)) < most);
}

/* A changed bit of the index, seed or step changes half of the result's bits. */
static void random__every_bit_spreads(void)
{
	enum { SAMPLES = 20000 };
	uint64_t seed, step;
	uint32_t i, b, low, x;
	unsigned int what;

	for (what = 0; what < 3; what++)
		for (b = 0; b < 32; b++) {
			double flips = 0;

			for (i = 0; i < SAMPLES; i++) {
				seed = rnd();
				step = rnd() % 100000;
				low = (uint32_t)rnd();
				x = trib_nm_random(trib_nm_key(seed, step, 0), low);
				x ^= trib_nm_random(trib_nm_key(seed ^ (uint64_t)(what == 1) << b,
								step ^ (uint64_t)(what == 2) << b,
								0),
						    low ^ (uint32_t)(what == 0) << b);
				flips += __builtin_popcount(x);
			}
			expect(fabs(flips / SAMPLES - 16) < 0.2);
		}
}

/* On average the rounded value is the value. */
static void quantise__is_right_on_average(void)
{
	static const float values[] = {0.5f, 0.25f, 0.001f, 1.5f, -0.5f, -0.003f, 3.3f, -6.75f};
	unsigned int bits, v;
	uint32_t i;

	for (bits = 4; bits <= 16; bits *= 2)
		for (v = 0; v < 8; v++) {
			struct trib_nm_unit u = trib_nm_unit(0, bits);
			struct trib_nm_key key = trib_nm_key(5, v, 0);
			double sum = 0, f = values[v] - floor(values[v]);

			for (i = 0; i < N; i++)
				sum += trib_nm_quantise(values[v], &u, trib_nm_random(key, i));
			expect(fabs(sum / N - values[v]) < 5.5 * sqrt(f * (1 - f) / N) + 0x1p-15);
		}
}

static void quantise__clamps_and_keeps_whole_numbers(void)
{
	unsigned int bits, i;
	int32_t q, limit;

	for (bits = 4; bits <= 16; bits *= 2) {
		struct trib_nm_unit u = trib_nm_unit(-7, bits);

		limit = trib_nm_limit(bits);
		for (i = 0; i < 100000; i++) {
			q = (int32_t)(rnd() % (uint32_t)(2 * limit + 1)) - limit;
			expect(trib_nm_quantise((float)ldexp(q, -7), &u, (uint32_t)rnd()) == q);
		}
		expect_eq(trib_nm_quantise(3e38f, &u, (uint32_t)rnd()), limit);
		expect_eq(trib_nm_quantise(-3e38f, &u, (uint32_t)rnd()), -limit);
		expect_eq(trib_nm_quantise((float)ldexp(limit + 0.999, -7), &u, 0xffffffff), limit);
		expect_eq(trib_nm_quantise((float)-ldexp(limit + 0.999, -7), &u, 0), -limit);
		expect_eq(trib_nm_quantise(0.f, &u, 0xffffffff), 0);
	}
}

int main(void)
{
	run(random__has_the_fixed_bits);
	run(random__bits_are_even);
	run(random__bytes_and_pairs_are_even);
	run(random__neighbours_steps_and_seeds_are_unrelated);
	run(random__every_bit_spreads);
	run(quantise__is_right_on_average);
	run(quantise__clamps_and_keeps_whole_numbers);
	return tap_done();
}
