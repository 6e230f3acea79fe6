// SPDX-License-Identifier: BSD-2-Clause
/*
 * Widening and narrowing of f16 and bf16: every value, every boundary of rounding,
 * and every value added to every special.
 */
#include "tests/lib/sum_oracle.h"

#define ALL 65536

static uint16_t packet[ALL], got_packet[ALL];
static uint32_t acc[ALL], want[ALL], start[ALL];

static void all_values(void)
{
	unsigned int i;

	for (i = 0; i < ALL; i++)
		packet[i] = (uint16_t)i;
}

static void widens(enum trib_fmt fmt)
{
	const struct trib_sum *s;
	unsigned int i;

	all_values();
	for (i = 0; i < ALL; i++)
		want[i] = oracle_widen(fmt, &packet[i]);
	each_level(s)
	{
		memset(acc, 0xee, sizeof(acc));
		trib_sum_ops(s, fmt)->store(acc, packet, sizeof(packet));
		if (!expect(!memcmp(acc, want, sizeof(acc))))
			printf("# %s\n", s->name);
	}
}

static void store__all_f16(void)
{
	widens(TRIB_FMT_F16);
}

static void store__all_bf16(void)
{
	widens(TRIB_FMT_BF16);
}

/* Narrow acc[] with all levels. */
static bool narrows(enum trib_fmt fmt)
{
	const struct trib_sum *s;
	unsigned int i;

	for (i = 0; i < ALL; i++)
		oracle_narrow(fmt, &packet[i], acc[i]);
	each_level(s)
	{
		memset(got_packet, 0xee, sizeof(got_packet));
		trib_sum_ops(s, fmt)->emit(got_packet, acc, sizeof(got_packet));
		for (i = 0; i < ALL; i++) {
			if (got_packet[i] == packet[i])
				continue;
			printf("# %s: %08x to %04x, not %04x\n", s->name, acc[i], got_packet[i],
			       packet[i]);
			return false;
		}
	}
	return true;
}

/* Floats at, next to and between all boundaries of rounding to f16. */
/* A slot that keeps its result: values overwrite accumulators. */
static void emit__in_place(void)
{
	static const enum trib_fmt fmts[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16,
					     TRIB_FMT_I32};
	const struct trib_sum *s;
	unsigned int i, f, n;

	for (i = 0; i < ALL; i++)
		start[i] = i * 0x9e3779b1u;
	for (f = 0; f < 4; f++) {
		for (n = 0; n < 900; n = n < 70 ? n + 1 : n + 97) {
			each_level(s)
			{
				const struct trib_sum_ops *ops = trib_sum_ops(s, fmts[f]);

				ops->emit(want, start, n * ops->size);
				memcpy(acc, start, sizeof(acc));
				ops->emit(acc, acc, n * ops->size);
				expect(!memcmp(acc, want, n * ops->size));
				/* Bytes behind the values stay. */
				expect(!memcmp((char *)acc + n * ops->size,
					       (char *)start + n * ops->size, 64));
			}
		}
	}
}

static void emit__around_all_f16(void)
{
	unsigned int i, h;
	int d;

	for (d = -2; d <= 2; d++) {
		for (i = 0; i < ALL; i++) {
			h = i & 0x7fff;
			if (h > 0x7c00)
				acc[i] = oracle_f16_widen(i) + (uint32_t)d;
			else if (i & 1 || h == 0x7c00)
				acc[i] = float_bits(f16_magnitude(h)) + d;
			else
				acc[i] = float_bits((f16_magnitude(h) + f16_magnitude(h + 1)) / 2) +
					 d;
			acc[i] |= (i & 0x8000u) << 16;
		}
		expect(narrows(TRIB_FMT_F16));
		for (i = 0; i < ALL; i++) {
			h = i & 0x7fff;
			if (h < 0x7c00)
				acc[i] = float_bits((f16_magnitude(h) + f16_magnitude(h + 1)) / 2) +
					 d;
		}
		expect(narrows(TRIB_FMT_F16));
	}
}

static void emit__around_all_bf16(void)
{
	static const uint16_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
	unsigned int i, j;

	for (j = 0; j < sizeof(low) / sizeof(low[0]); j++) {
		for (i = 0; i < ALL; i++)
			acc[i] = i << 16 | low[j];
		expect(narrows(TRIB_FMT_BF16));
	}
}

static void emit__random_floats(void)
{
	unsigned int i, j;

	for (j = 0; j < 8; j++) {
		for (i = 0; i < ALL; i++)
			acc[i] = any_float();
		expect(narrows(TRIB_FMT_F16));
		expect(narrows(TRIB_FMT_BF16));
	}
}

/* Add every value of the format to every special, and narrow the sum. */
static void all_on_specials(enum trib_fmt fmt)
{
	static uint16_t want_packet[ALL];
	const struct trib_sum *s;
	unsigned int i, j;

	for (j = 0; j < NSPECIALS * 2; j++) {
		all_values();
		for (i = 0; i < ALL; i++) {
			start[i] = specials[j / 2] | (j & 1 ? 0x80000000 : 0);
			want[i] = oracle_add(start[i], oracle_widen(fmt, &packet[i]));
			oracle_narrow(fmt, &want_packet[i], want[i]);
		}
		each_level(s)
		{
			memcpy(acc, start, sizeof(acc));
			trib_sum_ops(s, fmt)->final(got_packet, acc, packet, sizeof(packet));
			if (!expect(!memcmp(acc, want, sizeof(acc))) ||
			    !expect(!memcmp(got_packet, want_packet, sizeof(got_packet)))) {
				printf("# %s, on %08x\n", s->name, start[0]);
				return;
			}
		}
	}
}

static void final__all_f16_on_specials(void)
{
	all_on_specials(TRIB_FMT_F16);
}

static void final__all_bf16_on_specials(void)
{
	all_on_specials(TRIB_FMT_BF16);
}

int main(void)
{
	run(store__all_f16);
	run(store__all_bf16);
	run(emit__in_place);
	run(emit__around_all_f16);
	run(emit__around_all_bf16);
	run(emit__random_floats);
	run(final__all_f16_on_specials);
	run(final__all_bf16_on_specials);
	return tap_done();
}
