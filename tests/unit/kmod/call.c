/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod/kfunc/call.c: arguments of BPF programs, and counters. Sums are scalar; this
 * file mocks the FPU and the counters.
 */
#include <errno.h>
#include <string.h>

#include "kfunc/call.h"
#include "uapi/trib_kfunc.h"
#include "tests/lib/tap.h"

/* --- mocks */

static int fpu = 1; /* result of trib_fpu_begin() */
static int fpu_depth;
static int level = TRIB_SUM_SCALAR; /* level that it returns */
static unsigned int done, refused, fallbacks;
static unsigned long long bytes;

int trib_fpu_begin(const struct trib_sum **s)
{
	*s = trib_sum_get(level, 0);
	fpu_depth += fpu > 0;
	return fpu;
}

void trib_fpu_end(void)
{
	fpu_depth--;
}

void trib_stats_done(enum trib_kfunc_id id, __u32 n, int fallback)
{
	(void)id;
	done++;
	bytes += n;
	fallbacks += fallback;
}

void trib_stats_refused(enum trib_kfunc_id id)
{
	(void)id;
	refused++;
}

/* --- tests, with exact sizes, so that ASan sees each overrun */

#define ADD TRIB_KFUNC_PKT_ADD
#define F32(n) TRIB_KFUNC_WHAT(TRIB_FMT_F32, 0, n)
/* 2:4 as in &trib_hdr.nm. */
#define NM24 ((2 << 5) | (2 - 1))

static void clear(void)
{
	fpu = 1;
	done = refused = fallbacks = 0;
	bytes = 0;
}

static float *floats(int n, float first)
{
	float *f = malloc(n ? n * sizeof(*f) : 1);
	int i;

	for (i = 0; i < n; i++)
		f[i] = first + (float)i;
	return f;
}

static void mem__adds_stores_and_emits(void)
{
	float *acc = floats(17, 1), *val = floats(17, 100);
	int i;

	clear();
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 68, val, 68, TRIB_FMT_F32), 0);
	for (i = 0; i < 17; i++)
		expect(acc[i] == 101.0f + 2.0f * (float)i);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_STORE, acc, 68, val, 68, TRIB_FMT_F32), 0);
	expect(acc[16] == 116.0f);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_FINAL, acc, 68, val, 68, TRIB_FMT_F32), 0);
	expect(acc[16] == 232.0f && val[16] == 232.0f);
	acc[3] = 7;
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_EMIT, acc, 68, val, 68, TRIB_FMT_F32), 0);
	expect(val[3] == 7.0f);
	expect_eq(done, 4);
	expect_eq(bytes, 4 * 68);
	expect_eq(refused, 0);
	free(acc);
	free(val);
}

static void mem__narrow_values_need_wide_accumulators(void)
{
	float *acc = floats(8, 0), *val = floats(4, 0);

	clear();
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 32, val, 16, TRIB_FMT_BF16), 0);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 31, val, 16, TRIB_FMT_BF16), -EINVAL);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 16, val, 16, TRIB_FMT_F16), -EINVAL);
	expect_eq(refused, 2);
	free(acc);
	free(val);
}

static void mem__wrong_arguments_are_refused(void)
{
	static const __u32 none[] = {TRIB_FMT_NONE, TRIB_FMT_Q32,	TRIB_FMT_Q8,
				     TRIB_FMT__MAX, 256 + TRIB_FMT_F32, 0xffffffff};
	float *acc = floats(4, 1), *val = floats(4, 1);
	size_t i;

	clear();
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 16, val, 16, none[i]), -EINVAL);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, NULL, 16, val, 16, TRIB_FMT_F32), -EINVAL);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 16, NULL, 16, TRIB_FMT_F32), -EINVAL);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 16, val, 15, TRIB_FMT_F32), -EINVAL);
	expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 0xffffffff, val, 4 * TRIB_KFUNC_MAX + 4,
				TRIB_FMT_F32),
		  -E2BIG);
	expect_eq(refused, i + 4);
	expect_eq(done, 0);
	expect(acc[0] == 1.0f);
	free(acc);
	free(val);
}

static void pkt__values_are_at_the_offset(void)
{
	float *acc = floats(4, 1), in[4] = {10, 20, 30, 40};
	char *pkt = malloc(42 + 16);

	clear();
	memcpy(pkt + 42, in, 16);
	expect_eq(trib_call_pkt(ADD, pkt, 58, 42, acc, 16, F32(4)), 0);
	expect(acc[0] == 11.0f && acc[3] == 44.0f);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_FINAL, pkt, 58, 42, acc, 16, F32(4)), 0);
	memcpy(in, pkt + 42, 16);
	expect(in[0] == 21.0f && in[3] == 84.0f);
	free(acc);
	free(pkt);
}

static void pkt__end_is_checked(void)
{
	float *acc = floats(4, 1);
	char *pkt = calloc(1, 58);

	clear();
	expect_eq(trib_call_pkt(ADD, pkt, 58, 43, acc, 16, F32(4)), -ERANGE);
	expect_eq(trib_call_pkt(ADD, pkt, 58, 59, acc, 16, F32(0)), -ERANGE);
	expect_eq(trib_call_pkt(ADD, pkt, 58, 58, acc, 16, F32(0)), 0);
	expect_eq(trib_call_pkt(ADD, pkt, 58, 0xfffffffc, acc, 16, F32(4)), -ERANGE);
	expect_eq(trib_call_pkt(ADD, pkt, 58, 0xffffffff, acc, 16, F32(1)), -ERANGE);
	expect_eq(trib_call_pkt(ADD, pkt, 0, 0, acc, 16, F32(1)), -ERANGE);
	expect_eq(refused, 5);
	free(acc);
	free(pkt);
}

static void pkt__wrong_arguments_are_refused(void)
{
	float *acc = floats(4, 1);
	char *pkt = calloc(1, 64);

	clear();
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, NULL, 16, F32(4)), -EINVAL);
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, acc, 16, F32(5)), -EINVAL);
	/* n * 4 would wrap. */
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, acc, 16, F32(0x40000001)), -E2BIG);
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, acc, 16, F32(4) | 1ULL << 16), -EINVAL);
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, acc, 16, TRIB_KFUNC_WHAT(TRIB_FMT_F32, NM24, 4)),
		  -EINVAL);
	expect_eq(trib_call_pkt(ADD, pkt, 64, 0, acc, 16, TRIB_KFUNC_WHAT(TRIB_FMT_W64, 0, 4)),
		  -EINVAL);
	expect_eq(refused, 6);
	expect_eq(done, 0);
	free(acc);
	free(pkt);
}

static void expand__adds_masked_values(void)
{
	__u64 what = TRIB_KFUNC_WHAT(TRIB_FMT_F32, NM24, 32);
	float *acc = floats(32, 0), val[16];
	__u32 mask = 0x33333333;
	char *pkt = malloc(68);
	int i;

	clear();
	for (i = 0; i < 16; i++)
		val[i] = 100;
	memcpy(pkt, &mask, 4);
	memcpy(pkt + 4, val, 64);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 0, acc, 128, what), 0);
	for (i = 0; i < 32; i++)
		expect(acc[i] == (float)(i + (i % 4 < 2 ? 100 : 0)));
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_STORE, pkt, 68, 0, acc, 128, what), 0);
	for (i = 0; i < 32; i++)
		expect(acc[i] == (i % 4 < 2 ? 100.0f : 0.0f));
	expect_eq(bytes, 2 * 68);
	free(acc);
	free(pkt);
}

static void expand__masks_and_lengths_are_checked(void)
{
	__u64 what = TRIB_KFUNC_WHAT(TRIB_FMT_F32, NM24, 32);
	float *acc = floats(64, 1);
	__u32 mask = 0x33333337;
	char *pkt = calloc(1, 68);

	clear();
	memcpy(pkt, &mask, 4);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 0, acc, 256, what), -EINVAL);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 1, acc, 256, what), -ERANGE);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 0, acc, 256,
				TRIB_KFUNC_WHAT(TRIB_FMT_F32, NM24, 33)),
		  -EINVAL);
	/* 1:1, and 3 of 2. */
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 0, acc, 256,
				TRIB_KFUNC_WHAT(TRIB_FMT_F32, 0, 32)),
		  -EINVAL);
	expect_eq(trib_call_pkt(TRIB_KFUNC_PKT_EXPAND_ADD, pkt, 68, 0, acc, 256,
				TRIB_KFUNC_WHAT(TRIB_FMT_F32, 1 << 5 | 2, 32)),
		  -EINVAL);
	expect_eq(refused, 5);
	expect_eq(fpu_depth, 0);
	expect(acc[0] == 1.0f);
	free(acc);
	free(pkt);
}

static void fpu__is_released(void)
{
	float *acc = floats(4, 1), *val = floats(4, 1);

	clear();
	for (fpu = -EBUSY; fpu <= 1; fpu++)
		if (fpu == -EBUSY || fpu >= 0)
			expect_eq(trib_call_mem(TRIB_KFUNC_MEM_ADD, acc, 16, val, 16, TRIB_FMT_F32),
				  0);
	expect_eq(fpu_depth, 0);
	/* The scalar level as the best one is no fallback. */
	expect_eq(fallbacks, 1);
	expect_eq(done, 3);
	expect(acc[3] == 16.0f);
	free(acc);
	free(val);
}

static void formats__are_those_with_sums(void)
{
	expect_eq(trib_call_formats(),
		  1 << TRIB_FMT_I32 | 1 << TRIB_FMT_F32 | 1 << TRIB_FMT_F16 | 1 << TRIB_FMT_BF16);
}

static void names__are_all_there(void)
{
	int id;

	for (id = 0; id < TRIB_KFUNC__MAX; id++)
		expect(trib_kfunc_names[id] != NULL);
}

int main(void)
{
	run(mem__adds_stores_and_emits);
	run(mem__narrow_values_need_wide_accumulators);
	run(mem__wrong_arguments_are_refused);
	run(pkt__values_are_at_the_offset);
	run(pkt__end_is_checked);
	run(pkt__wrong_arguments_are_refused);
	run(expand__adds_masked_values);
	run(expand__masks_and_lengths_are_checked);
	run(fpu__is_released);
	run(formats__are_those_with_sums);
	run(names__are_all_there);
	return tap_done();
}
