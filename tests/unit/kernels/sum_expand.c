// SPDX-License-Identifier: BSD-2-Clause
/*
 * Masked payloads: every N:M, level and format, ending at unmapped memory. Wrong
 * arguments change nothing.
 */
#include <errno.h>

#include "tests/lib/sum_oracle.h"

static struct area acc, in, acc_want;

static uint8_t nm_of(unsigned int log_group, unsigned int kept)
{
	return (uint8_t)(log_group << 5 | (kept - 1));
}

/* A random mask word in which each group has @kept bits. */
static uint32_t any_mask(unsigned int group, unsigned int kept)
{
	uint32_t w = 0, bit;
	unsigned int g, left;

	for (g = 0; g < 32; g += group)
		for (left = kept; left;) {
			bit = 1u << (g + rnd() % group);
			left -= !(w & bit);
			w |= bit;
		}
	return w;
}

struct payload {
	unsigned char *acc, *in;
	uint32_t acc_len, len;
};

/* Make a random payload of @words mask words, and its result in acc_want. */
static void make(struct payload *p, unsigned int f, unsigned int words, uint8_t nm, bool add,
		 const size_t off[2])
{
	unsigned int size = sum_formats[f].size, i, at, group = 1u << (nm >> 5);
	enum trib_fmt fmt = sum_formats[f].fmt;
	unsigned char *packed;
	uint32_t w = 0, v, r;

	p->acc_len = words * 128;
	p->len = words * (4 + 32 / group * ((nm & 31) + 1u) * size);
	p->acc = area_at(&acc, p->acc_len, off[0]);
	p->in = area_at(&in, p->len, off[1]);
	packed = p->in + words * 4;
	for (i = 0; i < words * 32; i++) {
		v = any_float();
		memcpy(p->acc + i * 4, &v, 4);
	}
	memcpy(acc_want.base, acc.base, AREA);
	for (i = 0; i < words * 32; i++) {
		if (i % 32 == 0) {
			w = any_mask(group, (nm & 31) + 1u);
			memcpy(p->in + i / 8, &w, 4);
		}
		at = (unsigned int)(p->acc - acc.base) + i * 4;
		memcpy(&v, acc.base + at, 4);
		if (w >> i % 32 & 1) {
			any_value(fmt, packed, v);
			r = oracle_widen(fmt, packed);
			if (add)
				r = oracle_sum(fmt, v, r);
			packed += size;
		} else {
			r = add ? v : 0;
		}
		memcpy(acc_want.base + at, &r, 4);
	}
}

static int call_it(const struct trib_sum_ops *ops, const struct payload *p, uint8_t nm, bool add)
{
	if (add)
		return ops->expand_add(p->acc, p->acc_len, p->in, p->len, nm);
	return ops->expand_store(p->acc, p->acc_len, p->in, p->len, nm);
}

/* One call; all memory around is compared afterwards. */
static bool one(const struct trib_sum *s, unsigned int f, unsigned int words, uint8_t nm, bool add,
		const size_t off[2])
{
	struct payload p;

	make(&p, f, words, nm, add, off);
	if (!call_it(trib_sum_ops(s, sum_formats[f].fmt), &p, nm, add) &&
	    area_same(&acc, &acc_want))
		return true;
	printf("# %s %s %u:%u words %u\n", s->name, sum_formats[f].name, 1u << (nm >> 5),
	       (nm & 31) + 1u, words);
	return false;
}

static bool every_place(unsigned int f, uint8_t nm, bool add)
{
	static const unsigned int words[] = {1, 2, 3, 5, 11, 22, 26};
	const struct trib_sum *s;
	size_t off[2] = {0, 0};
	unsigned int i;

	each_level(s)
	{
		for (i = 0; i < 14; i++) {
			off[0] = i < 7 ? 0 : rnd() % 64;
			off[1] = i < 7 ? 0 : rnd() % 64;
			if (!one(s, f, words[i % 7], nm, add, off))
				return false;
		}
	}
	return true;
}

static void everywhere(bool add)
{
	unsigned int f, log_group, kept;

	for (f = 0; f < NFORMATS; f++)
		for (log_group = 1; log_group <= 5; log_group++)
			for (kept = 1; kept <= 1u << log_group; kept++)
				if (!expect(every_place(f, nm_of(log_group, kept), add)))
					return;
}

static void expand_add__every_group_and_alignment(void)
{
	everywhere(true);
}

static void expand_store__every_group_and_alignment(void)
{
	everywhere(false);
}

/* Both functions refuse it and leave the accumulators unchanged. */
static bool refused(const struct trib_sum_ops *ops, const struct payload *p, uint8_t nm)
{
	memcpy(acc_want.base, acc.base, AREA);
	return call_it(ops, p, nm, true) == -EINVAL && call_it(ops, p, nm, false) == -EINVAL &&
	       area_same(&acc, &acc_want);
}

static void flip_bits(struct payload *p, unsigned int f, uint8_t nm)
{
	const struct trib_sum *s;
	unsigned int i, bit;

	for (i = 0; i < 16; i++) {
		bit = rnd() % (11 * 32);
		p->in[bit / 8] ^= 1 << bit % 8;
		each_level(s)
		{
			expect(refused(trib_sum_ops(s, sum_formats[f].fmt), p, nm));
		}
		p->in[bit / 8] ^= 1 << bit % 8;
	}
}

static void expand__wrong_numbers_of_bits_are_refused(void)
{
	static const size_t off[2];
	unsigned int f, log_group, kept;
	struct payload p;

	for (f = 0; f < NFORMATS; f++)
		for (log_group = 1; log_group <= 5; log_group++)
			for (kept = 1; kept <= 1u << log_group; kept++) {
				make(&p, f, 11, nm_of(log_group, kept), true, off);
				flip_bits(&p, f, nm_of(log_group, kept));
			}
}

/* The right number of bits, but two in one group and none in another. */
static void expand__a_bit_in_the_wrong_group_is_refused(void)
{
	static const size_t off[2];
	const struct trib_sum *s;
	struct payload p;
	uint32_t w;

	each_level(s)
	{
		make(&p, 0, 11, nm_of(2, 2), true, off);
		w = 0x33333137;
		memcpy(p.in + 10 * 4, &w, 4);
		expect(refused(trib_sum_ops(s, TRIB_FMT_F32), &p, nm_of(2, 2)));
	}
}

static void expand__wrong_lengths_are_refused(void)
{
	static const size_t off[2];
	const struct trib_sum_ops *ops;
	const struct trib_sum *s;
	struct payload p, q;
	unsigned int f;

	for (f = 0; f < NFORMATS; f++)
		each_level(s)
		{
			ops = trib_sum_ops(s, sum_formats[f].fmt);
			make(&p, f, 11, nm_of(2, 2), true, off);
			q = p;
			q.len--;
			expect(refused(ops, &q, nm_of(2, 2)));
			q.len = 0;
			expect(refused(ops, &q, nm_of(2, 2)));
			q = p;
			q.acc_len = 0;
			expect(refused(ops, &q, nm_of(2, 2)));
			q.acc_len = p.acc_len - 4;
			expect(refused(ops, &q, nm_of(2, 2)));
			q.acc_len = p.acc_len + 128;
			expect(refused(ops, &q, nm_of(2, 2)));
			/* Lengths that would wrap to small ones. */
			q.acc_len = 0xffffff80;
			expect(refused(ops, &q, nm_of(5, 32)));
			q.acc_len = TRIB_SUM_ACC_MAX + 128;
			q.len = 0xffffffff;
			expect(refused(ops, &q, nm_of(5, 32)));
		}
}

/* All values of the header's field that are no N:M are refused. */
static void expand__invalid_nm_is_refused(void)
{
	static const size_t off[2];
	const struct trib_sum_ops *ops;
	const struct trib_sum *s;
	unsigned int nm, n;
	struct payload p;

	each_level(s)
	{
		ops = trib_sum_ops(s, TRIB_FMT_F32);
		for (n = 0, nm = 0; nm < 256; nm++) {
			unsigned int log_group = nm >> 5, kept = (nm & 31) + 1;

			if (log_group && log_group <= 5 && kept <= 1u << log_group) {
				n++;
				continue;
			}
			make(&p, 0, 2, nm_of(1, 1), true, off);
			expect(refused(ops, &p, (uint8_t)nm));
		}
		expect_eq(n, 2 + 4 + 8 + 16 + 32);
	}
}

int main(void)
{
	area_make(&acc);
	area_make(&in);
	area_make(&acc_want);
	run(expand_add__every_group_and_alignment);
	run(expand_store__every_group_and_alignment);
	run(expand__wrong_numbers_of_bits_are_refused);
	run(expand__a_bit_in_the_wrong_group_is_refused);
	run(expand__wrong_lengths_are_refused);
	run(expand__invalid_nm_is_refused);
	return tap_done();
}
