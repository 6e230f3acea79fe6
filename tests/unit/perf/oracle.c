// SPDX-License-Identifier: BSD-2-Clause
/*
 * The oracle of the benchmarks: right results pass, and any value off by more
 * than the stated bound fails.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "perf/oracle.h"
#include "tests/lib/tap.h"
#include "uapi/trib_wire.h"

/* Several blocks, a binade change, part of a block; no zeros yet. */
#define N 20011
#define RANKS 16

static float in[RANKS][N], out[N];
static int32_t iin[RANKS][N], iout[N];

static struct oracle make(unsigned int world, enum trib_dtype d, enum trib_op op)
{
	return (struct oracle){.seed = 7, .world = world, .dtype = d, .op = op, .total = N};
}

static size_t wrong(const struct oracle *o, const void *got)
{
	struct oracle_report rep = {0};

	oracle_check(o, 0, N, got, &rep);
	return rep.wrong;
}

/* Sum like the relays: quantise by the chunk's exponent, add integers. */
static void block_fp_sum(const struct oracle *o, size_t chunk)
{
	int bits = 31 - (int)trib_log2_ceil(o->world);
	double limit = (double)trib_q32_limit(o->world);

	for (unsigned int r = 0; r < o->world; r++)
		oracle_fill(o, r, 0, N, in[r]);
	for (size_t at = 0; at < N; at += chunk) {
		size_t len = N - at < chunk ? N - at : chunk;
		int e = -4096;

		for (unsigned int r = 0; r < o->world; r++) {
			for (size_t i = at; i < at + len; i++) {
				int x;

				frexp((double)in[r][i], &x);
				if (in[r][i] != 0.0f && x > e)
					e = x;
			}
		}
		for (size_t i = at; i < at + len; i++) {
			double q = 0;

			for (unsigned int r = 0; r < o->world; r++)
				q += fmin(fmax(rint(ldexp((double)in[r][i], bits - e)), -limit),
					  limit);
			out[i] = (float)ldexp(q, e - bits);
			if (o->op == TRIB_AVG)
				out[i] /= (float)o->world;
		}
	}
}

static void int_sum(const struct oracle *o)
{
	memset(iout, 0, sizeof(iout));
	for (unsigned int r = 0; r < o->world; r++) {
		oracle_fill(o, r, 0, N, iin[r]);
		for (size_t i = 0; i < N; i++)
			iout[i] = (int32_t)((uint32_t)iout[i] + (uint32_t)iin[r][i]);
	}
}

static void oracle__block_floating_point_sums_pass(void)
{
	static const size_t chunks[] = {16, 352, 832};

	for (unsigned int world = 1; world <= RANKS; world++) {
		struct oracle o = make(world, TRIB_F32, TRIB_SUM);

		for (size_t c = 0; c < 3; c++) {
			block_fp_sum(&o, chunks[c]);
			expect_eq(wrong(&o, out), 0);
		}
		o.op = TRIB_AVG;
		block_fp_sum(&o, 352);
		expect_eq(wrong(&o, out), 0);
	}
}

/*
 * The bound of oracle.h for @i, computed in another way: over the whole
 * neighbourhood.
 */
static double bound_of(const struct oracle *o, size_t i)
{
	size_t b = i / ORACLE_BLOCK, at = b ? (b - 1) * ORACLE_BLOCK : 0;
	size_t end = (b + 2) * ORACLE_BLOCK < N ? (b + 2) * ORACLE_BLOCK : N;
	double peak = 0;

	for (unsigned int r = 0; r < o->world; r++)
		for (size_t k = at; k < end; k++)
			peak = fmax(peak, fabs((double)in[r][k]));
	return o->world * ldexp(peak, (int)trib_log2_ceil(o->world) - 30);
}

static void oracle__a_flipped_bit_worth_twice_the_bound_is_wrong(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);
	size_t flipped = 0;

	block_fp_sum(&o, 832);
	for (size_t i = 0; i < N; i += 997) {
		double bound = bound_of(&o, i);
		float right = out[i];
		uint32_t bits;

		for (int b = 0; b < 32; b++) {
			struct oracle_report rep = {0};
			double off;

			memcpy(&bits, &right, 4);
			bits ^= 1u << b;
			memcpy(&out[i], &bits, 4);
			off = fabs((double)out[i] - (double)right);
			/* Half an ulp of either is below 2^-23 of it. */
			if (off <= 2 * bound + ldexp(fabs((double)out[i]), -23))
				continue;
			flipped++;
			oracle_check(&o, i, 1, &out[i], &rep);
			expect_eq(rep.wrong, 1);
		}
		out[i] = right;
	}
	/* Most bits of most elements. */
	expect(flipped > N / 997 * 20);
}

static void oracle__any_flipped_bit_of_an_int_sum_is_wrong(void)
{
	struct oracle o = make(5, TRIB_I32, TRIB_SUM);

	int_sum(&o);
	expect_eq(wrong(&o, iout), 0);
	for (int b = 0; b < 32; b++) {
		iout[b * 601] ^= (int32_t)(1u << b);
		expect_eq(wrong(&o, iout), 1);
		iout[b * 601] ^= (int32_t)(1u << b);
	}
}

static void oracle__int_sum_off_by_one_is_wrong(void)
{
	struct oracle o = make(4, TRIB_I32, TRIB_SUM);

	int_sum(&o);
	iout[0]++;
	iout[N - 1]--;
	expect_eq(wrong(&o, iout), 2);
}

static void oracle__missing_or_double_contribution_is_wrong(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);
	size_t zeros = 0;

	block_fp_sum(&o, 352);
	for (size_t i = 0; i < N; i++)
		zeros += in[2][i] == 0.0f;
	for (size_t i = 0; i < N; i++)
		out[i] -= in[2][i];
	/* All but inputs that are zero or smaller than the bound. */
	expect(wrong(&o, out) + zeros > N - N / 100);
	for (size_t i = 0; i < N; i++)
		out[i] += 2 * in[2][i];
	expect(wrong(&o, out) + zeros > N - N / 100);
}

static void oracle__inside_the_bound_passes_and_outside_does_not(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);

	block_fp_sum(&o, 832);
	for (size_t i = 0; i < N; i += 499) {
		double exact = 0, bound = bound_of(&o, i);
		struct oracle_report rep = {0};
		float right = out[i];

		for (unsigned int r = 0; r < 4; r++)
			exact += (double)in[r][i];
		out[i] = (float)(exact + bound * 0.99);
		oracle_check(&o, i, 1, &out[i], &rep);
		expect_eq(rep.wrong, 0);
		/* 2 ulp beyond the bound, however it is rounded. */
		out[i] = (float)(exact + bound);
		out[i] += fabsf(out[i]) * 0x1p-21f + (float)bound * 0.01f;
		oracle_check(&o, i, 1, &out[i], &rep);
		expect_eq(rep.wrong, bound > 0);
		out[i] = right;
	}
}

static void oracle__nan_inf_and_poison_are_wrong(void)
{
	struct oracle o = make(3, TRIB_F32, TRIB_SUM);

	block_fp_sum(&o, 352);
	out[5] = NAN;
	out[6] = INFINITY;
	expect_eq(wrong(&o, out), 2);
	oracle_poison(out, sizeof(out));
	expect_eq(wrong(&o, out), N);
}

static void oracle__max_and_min_are_exact(void)
{
	for (int op = TRIB_MAX; op <= TRIB_MIN; op++) {
		struct oracle o = make(6, TRIB_F32, (enum trib_op)op);

		for (unsigned int r = 0; r < 6; r++) {
			oracle_fill(&o, r, 0, N, in[r]);
			for (size_t i = 0; i < N; i++)
				out[i] = !r		  ? in[r][i]
					 : op == TRIB_MAX ? fmaxf(out[i], in[r][i])
							  : fminf(out[i], in[r][i]);
		}
		expect_eq(wrong(&o, out), 0);
		out[3] = nextafterf(out[3], 0.0f);
		expect_eq(wrong(&o, out), 1);
	}
}

static void oracle__parts_agree_with_the_whole(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);
	struct oracle_report rep = {0};
	size_t part = N / 4;

	block_fp_sum(&o, 352);
	for (size_t r = 0; r < 4; r++)
		oracle_check(&o, r * part, part, out + r * part, &rep);
	expect_eq(rep.wrong, 0);
	oracle_check(&o, part, part, out, &rep);
	expect(rep.wrong > part / 2);
}

static void oracle__copies_are_compared_to_the_bit(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);
	struct oracle_report rep = {0};

	oracle_fill(&o, 3, 10, N - 10, out);
	oracle_check_copy(&o, 3, 10, N - 10, out, &rep);
	expect_eq(rep.wrong, 0);
	oracle_check_copy(&o, 2, 10, N - 10, out, &rep);
	expect(rep.wrong > N / 2);
	memset(&rep, 0, sizeof(rep));
	out[N - 11] = nextafterf(out[N - 11], 1.0f);
	oracle_check_copy(&o, 3, 10, N - 10, out, &rep);
	expect_eq(rep.wrong, 1);
	expect_eq(rep.first[0].index, N - 1);
}

static void oracle__inputs_cover_60_binades_and_zeros(void)
{
	struct oracle o = make(2, TRIB_F32, TRIB_SUM);
	size_t zeros = 0, len = 400000;
	int lo = 1000, hi = -1000;
	float *f = malloc(len * sizeof(*f));

	if (!expect(f != NULL))
		return;
	o.total = len;
	oracle_fill(&o, 1, 0, len, f);
	for (size_t i = 0; i < len; i++) {
		int e;

		zeros += f[i] == 0.0f;
		if (f[i] == 0.0f)
			continue;
		frexpf(f[i], &e);
		lo = e < lo ? e : lo;
		hi = e > hi ? e : hi;
	}
	expect(zeros >= 4160);
	expect(hi - lo >= 60);
	free(f);
}

static void oracle__ranks_and_seeds_differ(void)
{
	struct oracle o = make(2, TRIB_I32, TRIB_SUM);

	oracle_fill(&o, 0, 0, N, iin[0]);
	oracle_fill(&o, 1, 0, N, iin[1]);
	o.seed++;
	oracle_fill(&o, 0, 0, N, iin[2]);
	expect(memcmp(iin[0], iin[1], sizeof(iin[0])) != 0);
	expect(memcmp(iin[0], iin[2], sizeof(iin[0])) != 0);
}

static void hash__one_bit_anywhere_changes_it(void)
{
	unsigned char buf[77] = {0};
	uint64_t h = oracle_hash(buf, sizeof(buf));

	for (size_t i = 0; i < sizeof(buf) * 8; i++) {
		buf[i / 8] ^= (unsigned char)(1 << i % 8);
		expect(oracle_hash(buf, sizeof(buf)) != h);
		buf[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	expect(oracle_hash(buf, sizeof(buf) - 1) != h);
}

static void oracle__f32_chain_bound_takes_float_sums_only(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);

	o.bound = ORACLE_F32_SUMS;
	for (unsigned int r = 0; r < 4; r++) {
		oracle_fill(&o, r, 0, N, in[r]);
		for (size_t i = 0; i < N; i++)
			out[i] = r ? out[i] + in[r][i] : in[r][i];
	}
	expect_eq(wrong(&o, out), 0);
	out[1] = out[1] * 1.00001f;
	expect_eq(wrong(&o, out), 1);
}

static float half_of(enum oracle_bound bound, float x)
{
	uint32_t b;

	if (bound == ORACLE_F16_SUMS)
		return (float)(_Float16)x;
	memcpy(&b, &x, 4);
	b = (b + 0x7fff + (b >> 16 & 1)) & 0xffff0000;
	memcpy(&x, &b, 4);
	return x;
}

/* Two relays of @world / 2 ranks each below a third. */
static void half_sum(const struct oracle *o)
{
	for (unsigned int r = 0; r < o->world; r++)
		oracle_fill(o, r, 0, N, in[r]);
	for (size_t i = 0; i < N; i++) {
		float part[2] = {0, 0};

		for (unsigned int r = 0; r < o->world; r++)
			part[r % 2] += half_of(o->bound, in[r][i]);
		out[i] = half_of(o->bound, half_of(o->bound, part[0]) + half_of(o->bound, part[1]));
		if (o->op == TRIB_AVG)
			out[i] /= (float)o->world;
	}
}

static void oracle__sums_of_halves_pass_and_missing_ones_do_not(void)
{
	for (unsigned int world = 2; world <= RANKS; world += 2) {
		struct oracle o = make(world, TRIB_F32, TRIB_SUM);

		for (o.bound = ORACLE_F16_SUMS; o.bound <= ORACLE_BF16_SUMS; o.bound++) {
			o.op = TRIB_AVG;
			half_sum(&o);
			expect_eq(wrong(&o, out), 0);
			o.op = TRIB_SUM;
			half_sum(&o);
			expect_eq(wrong(&o, out), 0);
			for (size_t i = 0; i < N; i++)
				out[i] -= in[1][i];
			expect(wrong(&o, out) > N / 10);
		}
	}
}

/* Zero what rank @leader does not select: per group, repeatedly the largest. */
static void drop(const struct oracle *o)
{
	bool keep[N] = {false};

	for (size_t g = 0; g < N; g += o->keep.group) {
		size_t end = g + o->keep.group < N ? g + o->keep.group : N;

		for (unsigned int k = 0; k < o->keep.kept; k++) {
			size_t best = end;

			for (size_t i = g; i < end; i++)
				if (!keep[i] &&
				    (best == end || fabsf(in[o->keep.leader][i]) >
							    fabsf(in[o->keep.leader][best])))
					best = i;
			if (best < end)
				keep[best] = true;
		}
	}
	for (size_t i = 0; i < N; i++)
		if (!keep[i])
			out[i] = 0;
}

static void oracle__compressed_sums_pass_and_others_do_not(void)
{
	static const unsigned int group[] = {4, 2, 32, 1}, kept[] = {2, 1, 5, 1};

	for (unsigned int k = 0; k < 4; k++) {
		struct oracle o = make(3, TRIB_F32, k % 2 ? TRIB_AVG : TRIB_SUM);
		size_t most;

		o.keep = (struct oracle_keep){
			.group = group[k], .kept = kept[k], .leader = k % 3, .reach = 900};
		most = 0;
		block_fp_sum(&o, 352);
		expect_eq(wrong(&o, out) > N / 4, group[k] > 1);
		drop(&o);
		expect_eq(wrong(&o, out), 0);
		/* The mask of another rank; a kept value that is lost. */
		o.keep.leader = (k + 1) % 3;
		expect_eq(wrong(&o, out) > N / 50, group[k] > 1);
		o.keep.leader = k % 3;
		for (size_t i = 0; i < N; i++)
			most = fabsf(out[i]) > fabsf(out[most]) ? i : most;
		out[most] = 0;
		expect_eq(wrong(&o, out), 1);
	}
}

static void oracle__local_sums_pass_and_others_do_not(void)
{
	static double all[N];

	for (unsigned int k = 0; k < 2; k++) {
		struct oracle o = make(3, TRIB_F32, TRIB_SUM);
		size_t most = 0;

		o.keep = (struct oracle_keep){.group = k ? 32 : 4, .kept = k ? 5 : 2, .reach = 900};
		memset(all, 0, sizeof(all));
		for (unsigned int r = 0; r < 3; r++) {
			o.keep.leader = r;
			memcpy(out, in[r], sizeof(out));
			drop(&o);
			for (size_t i = 0; i < N; i++)
				all[i] += (double)out[i];
		}
		for (size_t i = 0; i < N; i++)
			out[i] = (float)all[i];
		expect(wrong(&o, out) > N / 50);
		o.keep.local = true;
		expect_eq(wrong(&o, out), 0);
		for (size_t i = 0; i < N; i++)
			most = fabsf(out[i]) > fabsf(out[most]) ? i : most;
		out[most] = 0;
		expect_eq(wrong(&o, out), 1);
	}
}

/* Each rank is off by less than a unit of the range's exponent. */
static void oracle__bound_of_integers_is_that_of_their_unit(void)
{
	struct oracle o = make(4, TRIB_F32, TRIB_SUM);
	size_t b = 2 * ORACLE_BLOCK;
	double peak = 0;

	o.keep = (struct oracle_keep){.group = 1, .kept = 1, .bits = 8, .reach = ORACLE_BLOCK};
	block_fp_sum(&o, 352);
	for (unsigned int r = 0; r < 4; r++)
		for (size_t i = b - ORACLE_BLOCK; i < b + 2 * ORACLE_BLOCK; i++)
			peak = fmax(peak, fabs((double)in[r][i]));
	out[b + 5] += (float)(4 * peak / 64 * 0.99);
	out[b + 9] -= (float)(4 * peak / 64 * 0.99);
	expect_eq(wrong(&o, out), 0);
	out[b + 5] += (float)(4 * peak / 64 * 0.02);
	expect_eq(wrong(&o, out), 1);
}

int main(void)
{
	run(oracle__block_floating_point_sums_pass);
	run(oracle__a_flipped_bit_worth_twice_the_bound_is_wrong);
	run(oracle__any_flipped_bit_of_an_int_sum_is_wrong);
	run(oracle__int_sum_off_by_one_is_wrong);
	run(oracle__missing_or_double_contribution_is_wrong);
	run(oracle__inside_the_bound_passes_and_outside_does_not);
	run(oracle__nan_inf_and_poison_are_wrong);
	run(oracle__max_and_min_are_exact);
	run(oracle__parts_agree_with_the_whole);
	run(oracle__copies_are_compared_to_the_bit);
	run(oracle__inputs_cover_60_binades_and_zeros);
	run(oracle__ranks_and_seeds_differ);
	run(oracle__f32_chain_bound_takes_float_sums_only);
	run(oracle__sums_of_halves_pass_and_missing_ones_do_not);
	run(oracle__compressed_sums_pass_and_others_do_not);
	run(oracle__local_sums_pass_and_others_do_not);
	run(oracle__bound_of_integers_is_that_of_their_unit);
	run(hash__one_bit_anywhere_changes_it);
	return tap_done();
}
