// SPDX-License-Identifier: BSD-2-Clause
/*
 * add, store, final and emit of every level and format against the oracle: lengths
 * up to two blocks and that of a packet, ending at unmapped memory and elsewhere.
 */
#include "tests/lib/sum_oracle.h"

static struct area acc, in, out, acc_want, in_want, out_want;

enum what { ADD, STORE, FINAL, FINAL_IN_PLACE, EMIT };

static void call_it(const struct trib_sum_ops *ops, enum what what, void *o, void *a, const void *p,
		    uint32_t len)
{
	if (what == ADD)
		ops->add(a, p, len);
	else if (what == STORE)
		ops->store(a, p, len);
	else if (what == EMIT)
		ops->emit(o, a, len);
	else
		ops->final(o, a, p, len);
}

/* The oracle, value by value. */
static void oracle_it(enum trib_fmt fmt, unsigned int size, enum what what, unsigned char *o,
		      unsigned char *a, const unsigned char *p, uint32_t len)
{
	uint32_t i, v, r;

	for (i = 0; i < len / size; i++) {
		memcpy(&v, a + i * 4, 4);
		r = what == EMIT    ? v
		    : what == STORE ? oracle_widen(fmt, p + i * size)
				    : oracle_sum(fmt, v, oracle_widen(fmt, p + i * size));
		memcpy(a + i * 4, &r, 4);
		if (what != ADD && what != STORE)
			oracle_narrow(fmt, o + i * size, r);
	}
}

/* One call; all memory around is compared afterwards. */
static bool one(const struct trib_sum *s, unsigned int f, enum what what, uint32_t len,
		const size_t off[3])
{
	enum trib_fmt fmt = sum_formats[f].fmt;
	const struct trib_sum_ops *ops = trib_sum_ops(s, fmt);
	unsigned int size = sum_formats[f].size, i, n = len / size;
	unsigned char *a = area_at(&acc, n * 4, off[0]);
	unsigned char *p = area_at(&in, len, off[1]);
	unsigned char *o = area_at(&out, len, off[2]);
	uint32_t v;

	if (what == FINAL_IN_PLACE)
		o = p;
	for (i = 0; i < n; i++) {
		v = any_float();
		memcpy(a + i * 4, &v, 4);
		any_value(fmt, p + i * size, v);
	}
	memcpy(acc_want.base, acc.base, AREA);
	memcpy(in_want.base, in.base, AREA);
	memcpy(out_want.base, out.base, AREA);
	oracle_it(fmt, size, what,
		  o == p ? in_want.base + (p - in.base) : out_want.base + (o - out.base),
		  acc_want.base + (a - acc.base), p, len);
	call_it(ops, what, o, a, p, len);
	if (area_same(&acc, &acc_want) && area_same(&in, &in_want) && area_same(&out, &out_want))
		return true;
	printf("# %s %s what %d len %u off %zu %zu %zu\n", s->name, sum_formats[f].name, what, len,
	       off[0], off[1], off[2]);
	return false;
}

static void everywhere(enum what what)
{
	static const uint32_t more[] = {1408, 1406, 1400, 3328};
	const struct trib_sum *s;
	unsigned int f, len, i;
	size_t off[3];

	for (f = 0; f < NFORMATS; f++)
		each_level(s)
		{
			for (len = 0; len < 132 + 4; len++) {
				uint32_t n = len < 132 ? len : more[len - 132];

				for (i = 0; i < 12; i++) {
					off[0] = i & 1 ? rnd() % 64 : 0;
					off[1] = i & 2 ? rnd() % 64 : 0;
					off[2] = i & 4 ? rnd() % 64 : 0;
					if (!expect(one(s, f, what, n, off)))
						return;
				}
			}
		}
}

static void add__every_length_and_alignment(void)
{
	everywhere(ADD);
}

static void store__every_length_and_alignment(void)
{
	everywhere(STORE);
}

static void final__every_length_and_alignment(void)
{
	everywhere(FINAL);
}

static void final__in_place(void)
{
	everywhere(FINAL_IN_PLACE);
}

static void emit__every_length_and_alignment(void)
{
	everywhere(EMIT);
}

#define MANY 256

static bool adds_as(const struct trib_sum *s, const uint32_t *x, const uint32_t *y, unsigned int n,
		    const uint32_t *want)
{
	uint32_t sum[MANY];
	unsigned int i;

	memcpy(sum, x, n * 4);
	trib_sum_ops(s, TRIB_FMT_F32)->add(sum, y, n * 4);
	for (i = 0; i < n; i++)
		if (sum[i] != want[i]) {
			printf("# %s: %08x + %08x is %08x, not %08x\n", s->name, x[i], y[i], sum[i],
			       want[i]);
			return false;
		}
	return true;
}

static void add__all_pairs_of_specials(void)
{
	uint32_t x[MANY], y[MANY], want[MANY], sign;
	const struct trib_sum *s;
	unsigned int i, j, n;

	for (i = 0; i < 2 * NSPECIALS; i++) {
		for (n = 0, j = 0; j < 2 * NSPECIALS; j++, n++) {
			sign = i & 1 ? 0x80000000 : 0;
			x[n] = specials[i / 2] | sign;
			sign = j & 1 ? 0x80000000 : 0;
			y[n] = specials[j / 2] | sign;
			want[n] = oracle_add(x[n], y[n]);
		}
		each_level(s) expect(adds_as(s, x, y, n, want));
	}
}

static void add__a_million_hard_pairs(void)
{
	uint32_t x[MANY], y[MANY], want[MANY];
	const struct trib_sum *s;
	unsigned int i, j;

	for (i = 0; i < 4096; i++) {
		for (j = 0; j < MANY; j++) {
			x[j] = any_float();
			y[j] = partner(x[j]);
			want[j] = oracle_add(x[j], y[j]);
		}
		each_level(s) if (!expect(adds_as(s, x, y, MANY, want))) return;
	}
}

#if defined(__x86_64__)
/* The definition: the CPU's ADDSS, accumulator first. */
static void add__equals_addss(void)
{
	uint32_t x[MANY], y[MANY], want[MANY];
	const struct trib_sum *s;
	unsigned int i, j;
	float a, b;

	for (i = 0; i < 1024; i++) {
		for (j = 0; j < MANY; j++) {
			x[j] = any_float();
			y[j] = partner(x[j]);
			memcpy(&a, &x[j], 4);
			memcpy(&b, &y[j], 4);
			__asm__("addss %1, %0" : "+x"(a) : "x"(b));
			memcpy(&want[j], &a, 4);
		}
		each_level(s) if (!expect(adds_as(s, x, y, MANY, want))) return;
	}
}
#endif

int main(void)
{
	area_make(&acc);
	area_make(&in);
	area_make(&out);
	area_make(&acc_want);
	area_make(&in_want);
	area_make(&out_want);
	run(add__every_length_and_alignment);
	run(store__every_length_and_alignment);
	run(final__every_length_and_alignment);
	run(final__in_place);
	run(emit__every_length_and_alignment);
	run(add__all_pairs_of_specials);
	run(add__a_million_hard_pairs);
#if defined(__x86_64__)
	run(add__equals_addss);
#endif
	return tap_done();
}
