// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selecting and packing of floats: every N:M, format, length and kind of values, at
 * every level, against sorting and double. Memory around each piece stays.
 */
#include <errno.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "nm_rig.h"

static struct rig r;
static struct call c;

/* Sent values leave 0 in the residual, others stay there. */
static bool residual_right(void)
{
	uint32_t got;
	size_t i;

	for (i = 0; r.feedback && i < r.count; i++) {
		memcpy(&got, c.residual + i, 4);
		if (got != (rig_sent(&r, i) ? 0 : r.acc[i]))
			return false;
	}
	return rig_same(RESIDUAL, c.residual, r.feedback ? 4 * r.count : 0);
}

static bool mask_right(void)
{
	size_t len = 4 * trib_nm_mask_words(r.spec, r.count);

	return !memcmp(c.mask, r.mask, len) && rig_same(MASK, c.mask, len);
}

static bool packed_right(void)
{
	return !memcmp(c.packed, r.packed, 4 * r.npacked) &&
	       rig_same(PACKED, c.packed, 4 * r.npacked) && rig_untouched(X);
}

static void *mask_of(void)
{
	return r.spec.group == 1 ? NULL : c.mask;
}

static bool select_right(const struct trib_nm_ops *ops)
{
	rig_call(&c, &r, 0);
	rig_remember();
	return ops->select(mask_of(), &c.range) == rig_amax(&r) && mask_right() &&
	       rig_untouched(RESIDUAL) && rig_untouched(X);
}

static bool select_pack_right(const struct trib_nm_ops *ops)
{
	rig_call(&c, &r, 0);
	rig_remember();
	return ops->select_pack(mask_of(), c.packed, &c.range) == rig_amax(&r) && mask_right() &&
	       packed_right() && residual_right();
}

static bool amax_right(const struct trib_nm_ops *ops)
{
	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	rig_remember();
	return ops->amax(&c.range, mask_of()) == rig_amax(&r) && rig_untouched(RESIDUAL) &&
	       rig_untouched(MASK) && rig_untouched(X);
}

static bool pack_right(const struct trib_nm_ops *ops)
{
	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	rig_remember();
	ops->pack(c.packed, &c.range, mask_of());
	return rig_untouched(MASK) && packed_right() && residual_right();
}

static bool check_right(const struct trib_nm_ops *ops)
{
	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	return !ops->check(mask_of(), r.count, r.spec);
}

static bool all_levels(const char *op, bool (*right)(const struct trib_nm_ops *ops))
{
	const struct trib_nm_ops *ops;

	each_nm_level(ops)
	{
		if (right(ops))
			continue;
		rig_print(op, ops->name, &r);
		return expect(false);
	}
	return true;
}

static bool gradient_right(void)
{
	bool good;

	good = all_levels("select", select_right) && all_levels("select_pack", select_pack_right);
	if (rnd() & 1)
		rig_share(&r);
	return good && expect(r.npacked == trib_nm_packed(r.spec, r.count)) &&
	       all_levels("amax", amax_right) && all_levels("pack", pack_right) &&
	       all_levels("check", check_right);
}

static void levels__every_group_gives_the_oracle_s_bits(void)
{
	unsigned int group, kept, i;

	for (group = 1; group <= 32; group *= 2)
		for (kept = 1; kept < group || kept == 1; kept++)
			for (i = 0; i < 6; i++) {
				rig_make(&r, rig_group(group, kept), rig_any_count());
				if (!gradient_right())
					return;
			}
}

static void levels__many_values_give_the_oracle_s_bits(void)
{
	size_t left = rig_budget(1000000);

	while (left) {
		rig_make(&r, rig_any_spec(), rig_any_count());
		if (!gradient_right())
			return;
		left -= left < r.count ? left : r.count;
	}
}

/* A value that is not finite, or two whose sum is not. */
static void spoil(size_t i)
{
	static const uint32_t bad[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001};
	uint32_t b = bad[rnd() % 5];

	if (r.feedback && r.fmt != TRIB_FMT_F16 && rnd() % 3 == 0) {
		oracle_narrow((enum trib_fmt)r.fmt, r.x + i * r.size, 0x7f700000);
		r.residual[i] = 0x7f700000;
	} else if (r.feedback && rnd() & 1) {
		r.residual[i] = b;
	} else {
		oracle_narrow((enum trib_fmt)r.fmt, r.x + i * r.size, b);
	}
}

static bool bad_seen(const struct trib_nm_ops *ops, size_t first)
{
	rig_call(&c, &r, 0);
	memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
	rig_remember();
	if (ops->select_pack(mask_of(), c.packed, &c.range) != TRIB_NM_BAD)
		return false;
	if (!rig_untouched(X) || !rig_untouched(RESIDUAL) || !rig_untouched(MASK) ||
	    !rig_untouched(PACKED))
		return false;
	return ops->amax(&c.range, mask_of()) == TRIB_NM_BAD &&
	       ops->select(mask_of(), &c.range) == TRIB_NM_BAD && rig_untouched(RESIDUAL) &&
	       trib_nm_first_bad(&c.range) == first;
}

static void bad__values_are_seen_wherever_they_are_and_change_nothing(void)
{
	const struct trib_nm_ops *ops;
	size_t i, first, more;

	for (i = 0; i < 4000; i++) {
		rig_make(&r, rig_any_spec(), 1 + rig_any_count());
		first = rnd() % r.count;
		for (more = rnd() % 3; more; more--)
			spoil(first + rnd() % (r.count - first));
		spoil(first);
		each_nm_level(ops)
		{
			if (!expect(bad_seen(ops, first))) {
				rig_print("bad", ops->name, &r);
				return;
			}
		}
	}
}

static void check__refuses_every_wrong_bit(void)
{
	const struct trib_nm_ops *ops;
	unsigned int group, kept;
	size_t bit;

	for (group = 2; group <= 32; group *= 2)
		for (kept = 1; kept < group; kept++) {
			rig_make(&r, rig_group(group, kept), 1 + rnd() % 200);
			rig_call(&c, &r, 0);
			memcpy(c.mask, r.mask, 4 * trib_nm_mask_words(r.spec, r.count));
			for (bit = 0; bit < 32 * trib_nm_mask_words(r.spec, r.count); bit++) {
				c.mask[bit / 8] ^= 1 << bit % 8;
				each_nm_level(ops)
					expect_eq(ops->check(c.mask, r.count, r.spec), -EINVAL);
				c.mask[bit / 8] ^= 1 << bit % 8;
			}
		}
}

/* Two wrong bits that leave the number of bits in a word right. */
static void check__counts_each_group_by_itself(void)
{
	const struct trib_nm_ops *ops;
	uint32_t mask[16];
	int i;

	for (i = 0; i < 16; i++)
		mask[i] = 0x33333333;
	each_nm_level(ops) expect_eq(ops->check(mask, 512, rig_group(4, 2)), 0);
	mask[5] = 0x33333371;
	each_nm_level(ops) expect_eq(ops->check(mask, 512, rig_group(4, 2)), -EINVAL);
	each_nm_level(ops) expect_eq(ops->check(mask, 512, rig_group(8, 4)), 0);
}

/* Callers that flush denormals or round up get the same bits. */
static void environment__of_the_caller_does_not_matter(void)
{
#if defined(__x86_64__)
	static const unsigned int modes[] = {0x9fc0, 0x5f80, 0x7f80};
	unsigned int before = _mm_getcsr(), after;
	const struct trib_nm_ops *ops;
	bool right;
	int i;

	for (i = 0; i < 300; i++) {
		rig_make(&r, rig_any_spec(), rig_any_count());
		each_nm_level(ops)
		{
			_mm_setcsr(modes[i % 3]);
			right = select_pack_right(ops) && amax_right(ops) && pack_right(ops);
			after = _mm_getcsr() & ~0x3fu;
			_mm_setcsr(before);
			expect(right);
			expect_eq(after, modes[i % 3] & ~0x3fu);
		}
	}
#endif
}

static void best__runs_on_this_cpu(void)
{
	expect(trib_nm_best() == trib_nm_get(TRIB_NM_AVX512) ||
	       (!trib_nm_get(TRIB_NM_AVX512) && trib_nm_best()));
	expect(!trib_nm_get(TRIB_NM__MAX));
	printf("# best: %s\n", trib_nm_best()->name);
}

int main(void)
{
	rig_areas_make();
	run(levels__every_group_gives_the_oracle_s_bits);
	run(levels__many_values_give_the_oracle_s_bits);
	run(bad__values_are_seen_wherever_they_are_and_change_nothing);
	run(check__refuses_every_wrong_bit);
	run(check__counts_each_group_by_itself);
	run(environment__of_the_caller_does_not_matter);
	run(best__runs_on_this_cpu);
	return tap_done();
}
