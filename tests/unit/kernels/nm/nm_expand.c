// SPDX-License-Identifier: BSD-2-Clause
/*
 * Expanding: every N:M, format and length, with and without division, at every
 * level, against double and a search for the nearest value. And whole round trips:
 * nothing of a gradient is lost.
 */
#include "nm_rig.h"

static struct rig r;
static struct call c;

/* Correctly rounded, since a double has more than twice a float's digits. */
static uint32_t oracle_divide(uint32_t b, unsigned int divide)
{
	return float_bits((float)((double)float_of(b) / divide));
}

static bool expand_right(const struct trib_nm_ops *ops, unsigned int divide)
{
	unsigned char want[4];
	size_t i, n = 0;

	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	memcpy(c.packed, r.packed, 4 * r.npacked);
	rig_remember();
	ops->expand(c.x, r.fmt, r.count, r.spec.group == 1 ? NULL : c.mask, c.packed, divide);
	for (i = 0; i < r.count; i++) {
		memset(want, 0, sizeof(want));
		if (rig_sent(&r, i))
			oracle_narrow((enum trib_fmt)r.fmt, want,
				      oracle_divide(r.packed[n++], divide));
		if (memcmp(c.x + i * r.size, want, r.size))
			return false;
	}
	return rig_untouched(MASK) && rig_untouched(PACKED) && rig_same(X, c.x, r.count * r.size);
}

static bool all_right(unsigned int divide)
{
	const struct trib_nm_ops *ops;

	each_nm_level(ops)
	{
		if (expand_right(ops, divide))
			continue;
		rig_print("expand", ops->name, &r);
		return expect(false);
	}
	return true;
}

/* Sums have more digits than gradients of 16 bits. */
static void make(struct trib_nm_spec spec)
{
	size_t i;

	rig_make(&r, spec, rig_any_count());
	for (i = 0; i < r.npacked; i++)
		if (rnd() & 1)
			do
				r.packed[i] = any_float();
			while (!rig_finite(r.packed[i]));
}

static void expand__every_group_gives_the_oracle_s_bits(void)
{
	unsigned int group, kept, i;

	for (group = 1; group <= 32; group *= 2)
		for (kept = 1; kept < group || kept == 1; kept++)
			for (i = 0; i < 6; i++) {
				make(rig_group(group, kept));
				if (!all_right(i & 1 ? 1 : 1 + (unsigned int)(rnd() % 1024)))
					return;
			}
}

static void expand__many_values_give_the_oracle_s_bits(void)
{
	size_t left = rig_budget(1000000);

	while (left) {
		make(rig_any_spec());
		if (!all_right(rnd() & 1 ? 1 : 1 + (unsigned int)(rnd() % 1024)))
			return;
		left -= left < r.count ? left : r.count;
	}
}

/* One worker's gradient: what comes back and what is kept make up acc. */
static bool round_trip(const struct trib_nm_ops *ops, unsigned int bits)
{
	struct trib_nm_chunk chunk = {.seed = rnd(), .step = rnd(), .bits = (uint8_t)bits};
	static float out[RIG_MAX], back[RIG_MAX];
	uint32_t amax = rig_amax(&r);
	size_t i, bad = 0;
	void *mask;
	int e;

	rig_call(&c, &r, 0);
	mask = r.spec.group == 1 ? NULL : c.mask;
	c.range.residual = c.residual;
	if (!bits) {
		expect(ops->select_pack(mask, c.packed, &c.range) == amax);
		ops->expand(out, TRIB_FMT_F32, r.count, mask, c.packed, 1);
	} else {
		static uint64_t words[RIG_MAX];

		frexp((double)float_of(amax), &e);
		chunk.scale = trib_nm_scale(amax ? e : TRIB_EXP_ZERO, bits);
		chunk.lane_bits = (uint8_t)trib_nm_lane_bits(bits, 1);
		chunk.words = (r.npacked * chunk.lane_bits / 64 / 8 + 2) * 8;
		expect(ops->select(mask, &c.range) == amax);
		ops->pack_lanes(words, &c.range, mask, &chunk);
		ops->unpack_lanes(back, words, r.npacked, &chunk, 1);
		ops->expand(out, TRIB_FMT_F32, r.count, mask, back, 1);
	}
	for (i = 0; i < r.count; i++)
		bad += (double)out[i] + (double)c.residual[i] != (double)float_of(r.acc[i]) &&
		       fabs((double)out[i] + (double)c.residual[i] - (double)float_of(r.acc[i])) >
			       fabs((double)c.residual[i]) * 0x1p-24;
	return !bad;
}

static void round_trip__loses_nothing(void)
{
	static const unsigned int bits[] = {0, 4, 8, 16};
	const struct trib_nm_ops *ops;
	int i;

	for (i = 0; i < 1200; i++) {
		do
			rig_make(&r, rig_any_spec(), rig_any_count());
		while (!r.feedback);
		each_nm_level(ops)
		{
			if (expect(round_trip(ops, bits[i % 4])))
				continue;
			rig_print("round trip", ops->name, &r);
			return;
		}
	}
}

int main(void)
{
	rig_areas_make();
	run(expand__every_group_gives_the_oracle_s_bits);
	run(expand__many_values_give_the_oracle_s_bits);
	run(round_trip__loses_nothing);
	return tap_done();
}
