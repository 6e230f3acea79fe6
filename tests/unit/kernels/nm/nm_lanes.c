// SPDX-License-Identifier: BSD-2-Clause
/*
 * Quantised values in planar lanes, at every level, against integers of the bits
 * of floats: quantising, residuals, sums of many workers, and back.
 */
#include "nm_rig.h"

static struct rig r;
static struct call c;
static struct trib_nm_chunk chunk;

static const unsigned int worlds[] = {1, 2, 3, 4, 5, 8, 16, 31, 64, 100, 257, 512, 1000, 1024};

#define NWORLDS (sizeof(worlds) / sizeof(worlds[0]))

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static uint64_t times(uint64_t x, uint64_t by)
{
	return x * by % 0x100000000ULL;
}

/* rand.h's bits, in 64-bit arithmetic. */
static uint32_t oracle_random(uint64_t seed, uint64_t step, uint64_t index)
{
	const uint64_t golden = 0x9e3779b97f4a7c15ULL, low = 0xffffffff;
	uint64_t key = mix(mix(mix(seed + golden) + step + golden) + (index >> 32) + golden), x;

	x = (index & low) ^ (key & low);
	x = times(x ^ x >> 17, 0xed5ad4bb);
	x = times(((x ^ x >> 11) + (key >> 32)) % 0x100000000ULL, 0xac4c1b51);
	x = times(x ^ x >> 15, 0x31848bab);
	return (uint32_t)(x ^ x >> 14);
}

/* Nearest integer to the float's value * 2^-@s, ties to even, within +-2^30. */
static int64_t oracle_round(uint32_t b, int s)
{
	uint64_t m = b & 0x7fffff, q, rest, half;
	int e = b >> 23 & 0xff, shift;

	if (e)
		m |= 0x800000;
	shift = (e ? e : 1) - 150 - s;
	if (shift >= 0) {
		q = m && shift > 30 ? 1 << 30 : m << (shift & 31);
	} else if (shift < -40) {
		q = 0;
	} else {
		q = m >> -shift;
		rest = m & ((1ULL << -shift) - 1);
		half = 1ULL << (-shift - 1);
		q += rest > half || (rest == half && q & 1);
	}
	if (q > 1 << 30)
		q = 1 << 30;
	return b >> 31 ? -(int64_t)q : (int64_t)q;
}

static int32_t oracle_quantise(uint32_t acc, uint64_t index)
{
	int fraction = 31 - chunk.bits;
	int64_t unit = 1LL << fraction, limit = (1 << (chunk.bits - 1)) - 1, t, q;

	t = oracle_round(acc, chunk.scale - fraction);
	t += oracle_random(chunk.seed, chunk.step, index) >> (32 - fraction);
	q = t / unit - (t % unit < 0);
	return (int32_t)(q > limit ? limit : q < -limit ? -limit : q);
}

/* Words and residual that must come of the gradient. */
static uint64_t want_words[RIG_MAX];
static uint32_t want_residual[RIG_MAX];

static void set_wanted(void)
{
	size_t i, n = 0;
	uint32_t left;
	float sent;
	int32_t q;

	memset(want_words, 0, sizeof(want_words));
	for (i = 0; i < r.count; i++) {
		left = r.acc[i];
		if (rig_sent(&r, i)) {
			q = oracle_quantise(left, chunk.index + i);
			want_words[n % chunk.words] +=
				(uint64_t)(int64_t)q * (1ULL << n / chunk.words * chunk.lane_bits);
			sent = (float)ldexp(q, chunk.scale);
			left = float_bits((float)((double)float_of(left) - (double)sent));
			n++;
		}
		want_residual[i] = left;
	}
}

static int exponent_of(uint32_t amax)
{
	int e;

	if (!amax)
		return TRIB_EXP_ZERO;
	frexp((double)float_of(amax), &e);
	return e;
}

/* A chunk that the gradient's values fill, more or less. */
static void make_chunk(unsigned int bits, unsigned int world)
{
	size_t lanes;
	int e = exponent_of(rig_amax(&r));

	/* Other workers' values may be larger, or one's own if a guess was wrong. */
	if (e != TRIB_EXP_ZERO && rnd() & 1)
		e += (int)(rnd() % 40) - 8;
	e = e > 128 ? 128 : e < -148 && e != TRIB_EXP_ZERO ? -148 : e;
	chunk = (struct trib_nm_chunk){.seed = rnd(),
				       .step = rnd() % 1000,
				       .index = rnd() % 3 ? rnd() % 100000 * 32 : rnd() >> 20,
				       .scale = trib_nm_scale(e, bits),
				       .bits = (uint8_t)bits,
				       .lane_bits = (uint8_t)trib_nm_lane_bits(bits, world)};
	if (rnd() % 8 == 0) /* the upper half of the index changes on the way */
		chunk.index = (1ULL << 32) * (1 + rnd() % 5) - rnd() % RIG_MAX;
	lanes = 64 / chunk.lane_bits;
	chunk.words = (r.npacked + lanes - 1) / lanes + rnd() % 3 * 8;
	chunk.words = (chunk.words + 7) / 8 * 8 + (r.npacked ? 0 : 8);
}

static bool pack_right(const struct trib_nm_ops *ops)
{
	uint32_t got;
	size_t i;

	rig_call(&c, &r, chunk.words);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	rig_remember();
	ops->pack_lanes(c.words, &c.range, r.spec.group == 1 ? NULL : c.mask, &chunk);
	for (i = 0; r.feedback && i < r.count; i++) {
		memcpy(&got, c.residual + i, 4);
		if (got != want_residual[i])
			return false;
	}
	return !memcmp(c.words, want_words, 8 * chunk.words) && rig_untouched(X) &&
	       rig_untouched(MASK) && rig_same(WORDS, c.words, 8 * chunk.words) &&
	       rig_same(RESIDUAL, c.residual, r.feedback ? 4 * r.count : 0);
}

static bool gradient_right(unsigned int bits, unsigned int world)
{
	const struct trib_nm_ops *ops;

	if (rnd() & 1)
		rig_share(&r);
	make_chunk(bits, world);
	set_wanted();
	each_nm_level(ops)
	{
		if (pack_right(ops))
			continue;
		rig_print("pack_lanes", ops->name, &r);
		printf("# int%u world %u scale %d words %zu\n", bits, world, chunk.scale,
		       chunk.words);
		return expect(false);
	}
	return true;
}

static void pack__every_group_and_world_gives_the_oracle_s_bits(void)
{
	unsigned int group, kept, i, bits;

	for (group = 1; group <= 32; group *= 2)
		for (kept = 1; kept < group || kept == 1; kept++)
			for (bits = 4; bits <= 16; bits *= 2)
				for (i = 0; i < NWORLDS; i += 1 + rnd() % 4) {
					rig_make(&r, rig_group(group, kept), rig_any_count());
					if (!gradient_right(bits, worlds[i]))
						return;
				}
}

static void pack__many_values_give_the_oracle_s_bits(void)
{
	size_t left = rig_budget(1000000);

	while (left) {
		rig_make(&r, rig_any_spec(), rig_any_count());
		if (!gradient_right(4u << rnd() % 3, 1 + (unsigned int)(rnd() % 1024)))
			return;
		left -= left < r.count ? left : r.count;
	}
}

/* The lanes of a sum, the lowest first: take its sign off what is above it. */
static void oracle_lanes(int64_t *v, uint64_t w)
{
	unsigned int up = 64 - chunk.lane_bits, k;

	for (k = 0; (k + 1) * chunk.lane_bits <= 64; k++) {
		v[k] = (int64_t)(w << up) >> up;
		w = (uint64_t)((int64_t)(w - (uint64_t)v[k]) >> chunk.lane_bits);
	}
}

static size_t value_count; /* of the sum below */
static int64_t sums[RIG_MAX];

/* Words with a sum of values, the extremes among them. */
static void make_sum(unsigned int bits, unsigned int world)
{
	int64_t most = (int64_t)world * trib_nm_limit(bits);
	size_t i;

	chunk.lane_bits = (uint8_t)trib_nm_lane_bits(bits, world);
	chunk.words = 8 * (1 + rnd() % 20);
	value_count = chunk.words * (64 / chunk.lane_bits);
	value_count = value_count < RIG_MAX ? value_count : RIG_MAX;
	value_count -= rnd() % 3 ? 0 : rnd() % value_count;
	memset(want_words, 0, sizeof(want_words));
	for (i = 0; i < value_count; i++) {
		sums[i] = (int64_t)(rnd() % (uint64_t)(2 * most + 1)) - most;
		if (rnd() % 8 == 0)
			sums[i] = rnd() & 1 ? most : -most;
		want_words[i % chunk.words] +=
			(uint64_t)sums[i] * (1ULL << i / chunk.words * chunk.lane_bits);
	}
}

/* Correctly rounded: a long double holds the quotient far from any tie. */
static uint32_t oracle_restore(int64_t v, unsigned int divide)
{
	return float_bits((float)ldexpl((long double)v / divide, chunk.scale));
}

static bool unpack_right(const struct trib_nm_ops *ops, unsigned int divide)
{
	unsigned char *words = area_at(&rig_areas[WORDS], 8 * chunk.words, rnd() % 3);
	unsigned char *packed = area_at(&rig_areas[PACKED], 4 * value_count, rnd() % 3);
	uint32_t got;
	size_t i;

	memcpy(words, want_words, 8 * chunk.words);
	rig_remember();
	ops->unpack_lanes(packed, words, value_count, &chunk, divide);
	for (i = 0; i < value_count; i++) {
		memcpy(&got, packed + 4 * i, 4);
		if (got != oracle_restore(sums[i], divide)) {
			printf("# %s: value %zu: %lld / %u * 2^%d is %#x\n", ops->name, i,
			       (long long)sums[i], divide, chunk.scale, got);
			return false;
		}
	}
	return rig_untouched(WORDS) && rig_same(PACKED, packed, 4 * value_count);
}

static void unpack__every_world_is_rounded_once(void)
{
	const struct trib_nm_ops *ops;
	unsigned int world, bits, i;

	for (i = 0; i < rig_budget(1500); i++) {
		world = i < 1024 ? i + 1 : 1 + (unsigned int)(rnd() % 1024);
		bits = 4u << rnd() % 3;
		make_sum(bits, world);
		chunk.scale = (int)(rnd() % 290) - 163;
		each_nm_level(ops) if (!expect(unpack_right(ops, rnd() & 1 ? world : 1))) return;
	}
}

/* Any words, also those that no sum makes, give the same at every level. */
static void unpack__any_bits_are_lanes(void)
{
	const struct trib_nm_ops *ops;
	int64_t v[16];
	size_t i, k, lanes;
	int round;

	for (round = 0; round < 2000; round++) {
		make_sum(4u << rnd() % 3, 1 + (unsigned int)(rnd() % 1024));
		lanes = 64 / chunk.lane_bits;
		for (i = 0; i < chunk.words; i++) {
			want_words[i] = rnd();
			oracle_lanes(v, want_words[i]);
			for (k = 0; k < lanes && k * chunk.words + i < RIG_MAX; k++)
				sums[k * chunk.words + i] = v[k];
		}
		chunk.scale = (int)(rnd() % 290) - 163;
		each_nm_level(ops) if (!expect(unpack_right(ops, 1))) return;
	}
}

/* Workers' words are added as relays do, and come back as the sum of their values. */
static void sum__of_workers_is_exact(void)
{
	static uint64_t words[RIG_MAX], total[RIG_MAX];
	static int64_t sum[RIG_MAX];
	const struct trib_nm_ops *ops = trib_nm_best();
	unsigned int w, i, world, bits;
	float packed[RIG_MAX];
	size_t k, n;

	for (i = 0; i < NWORLDS; i++)
		for (bits = 4; bits <= 16; bits *= 2) {
			world = worlds[i];
			memset(total, 0, sizeof(total));
			memset(sum, 0, sizeof(sum));
			for (w = 0; w < world; w++) {
				rig_make(&r, rig_group(1, 1), 200);
				make_chunk(bits, world);
				chunk.words = 8 * ((200 / (64 / chunk.lane_bits) + 8) / 8);
				chunk.scale = rnd() & 1 ? -20 : -140;
				rig_call(&c, &r, 0);
				ops->pack_lanes(words, &c.range, NULL, &chunk);
				for (k = 0; k < chunk.words; k++)
					total[k] += words[k];
				for (k = 0; k < r.count; k++)
					sum[k] += oracle_quantise(r.acc[k], chunk.index + k);
			}
			chunk.scale = -3;
			ops->unpack_lanes(packed, total, 200, &chunk, 1);
			for (k = n = 0; k < 200; k++)
				n += packed[k] != (float)ldexp((double)sum[k], -3);
			expect_eq(n, 0);
		}
}

static void lane_bits__is_the_narrowest_that_holds_all_sums(void)
{
	unsigned int bits, world, lane;

	expect_eq(trib_nm_lane_bits(8, 4), 10);
	expect_eq(trib_nm_lane_bits(4, 4), 6);
	expect_eq(trib_nm_lane_bits(16, 1024), 26);
	for (bits = 4; bits <= 16; bits *= 2)
		for (world = 1; world <= 1024; world++) {
			lane = trib_nm_lane_bits(bits, world);
			expect(ldexp(1, (int)lane - 1) - 1 >= (double)world * trib_nm_limit(bits));
			expect(lane == bits ||
			       ldexp(1, (int)lane - 2) - 1 < (double)world * trib_nm_limit(bits));
		}
}

int main(void)
{
	rig_areas_make();
	run(lane_bits__is_the_narrowest_that_holds_all_sums);
	run(pack__every_group_and_world_gives_the_oracle_s_bits);
	run(pack__many_values_give_the_oracle_s_bits);
	run(unpack__every_world_is_rounded_once);
	run(unpack__any_bits_are_lanes);
	run(sum__of_workers_is_exact);
	return tap_done();
}
