// SPDX-License-Identifier: BSD-2-Clause
/*
 * Inputs and right results of benchmark messages: see oracle.h. Works block by
 * block, so that it needs little memory and the compiler can vectorise the
 * loops.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_own.h"
#include "uapi/trib_wire.h"

/* Mantissa bits, and the further bits of magnitude within a block. */
#define MANT_BITS 24
#define SPREAD_BITS 15

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR
#endif

/* Inputs of one rank, as integers, and their sums over ranks. */
struct block {
	int64_t sum[ORACLE_BLOCK];
	int64_t mag[ORACLE_BLOCK];
	int64_t max[ORACLE_BLOCK];
	int64_t min[ORACLE_BLOCK];
	double peak; /* largest magnitude, in the values' own unit */
};

uint32_t oracle_key(uint64_t seed, unsigned int rank)
{
	uint64_t x = seed + (rank + 1) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (uint32_t)(x ^ (x >> 31));
}

/* One F32 input in units of unit_of() its block: at most 39 bits and a sign. */
static inline int64_t f32_units(uint32_t h)
{
	int64_t m = h & ((1u << MANT_BITS) - 1);

	m <<= SPREAD_BITS - ((h >> MANT_BITS) & SPREAD_BITS);
	return h >> 31 ? -m : m;
}

/* Unit of block @b's integers, a power of two; 0.0 for a block of zeros. */
static double unit_of(const struct oracle *o, size_t b)
{
	unsigned int k = (unsigned int)(b / ORACLE_BINADE_BLOCKS);
	int e = (int)(k % 120);

	if (k % ORACLE_ZERO_EVERY == ORACLE_ZERO_EVERY - 1)
		return 0.0;
	e = e < 60 ? e - 30 : 90 - e;
	if (o->bound == ORACLE_F16_SUMS)
		e /= 6;
	return ldexp(1.0, e - MANT_BITS - SPREAD_BITS);
}

VECTOR static void fill_f32(uint32_t key, size_t first, size_t n, float unit, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (float)f32_units(oracle_mix(key, (uint32_t)(first + i))) * unit;
}

VECTOR static void fill_i32(uint32_t key, size_t first, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int32_t)oracle_mix(key, (uint32_t)(first + i));
}

/* Elements from @first to the end of its block, at most @n. */
static size_t block_left(size_t first, size_t n)
{
	size_t left = ORACLE_BLOCK - first % ORACLE_BLOCK;

	return left < n ? left : n;
}

void oracle_fill(const struct oracle *o, unsigned int rank, size_t first, size_t n, void *out)
{
	uint32_t key = oracle_key(o->seed, rank);
	float *f = out;
	size_t len;

	if (oracle_is_typed(o)) {
		oracle_typed_fill(o, rank, first, n, out);
		return;
	}
	if (o->dtype == TRIB_I32) {
		fill_i32(key, first, n, out);
		return;
	}
	for (; n; n -= len, first += len, f += len) {
		double unit = unit_of(o, first / ORACLE_BLOCK);

		len = block_left(first, n);
		if (unit == 0.0)
			memset(f, 0, len * sizeof(*f));
		else
			fill_f32(key, first, len, (float)unit, f);
	}
}

VECTOR static void add_f32(struct block *s, uint32_t key, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v = f32_units(oracle_mix(key, (uint32_t)(first + i)));
		int64_t a = v < 0 ? -v : v;

		s->sum[i] += v;
		s->mag[i] += a;
		s->max[i] = v > s->max[i] ? v : s->max[i];
		s->min[i] = v < s->min[i] ? v : s->min[i];
	}
}

VECTOR static void add_i32(struct block *s, uint32_t key, size_t first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t v = (int32_t)oracle_mix(key, (uint32_t)(first + i));

		s->sum[i] += v;
		s->max[i] = v > s->max[i] ? v : s->max[i];
		s->min[i] = v < s->min[i] ? v : s->min[i];
	}
}

/* Combine all ranks' inputs of block @b. */
static void combine(const struct oracle *o, size_t b, struct block *s)
{
	size_t first = b * ORACLE_BLOCK;
	size_t n = block_left(first, o->total - first);
	double unit = unit_of(o, b);
	int64_t peak = 0;

	memset(s, 0, sizeof(*s));
	if (o->dtype == TRIB_F32 && unit == 0.0)
		return;
	for (size_t i = 0; i < n; i++) {
		s->max[i] = INT64_MIN;
		s->min[i] = INT64_MAX;
	}
	for (unsigned int r = 0; r < o->world; r++) {
		uint32_t key = oracle_key(o->seed, r);

		if (o->dtype == TRIB_F32)
			add_f32(s, key, first, n);
		else
			add_i32(s, key, first, n);
	}
	for (size_t i = 0; i < n; i++) {
		peak = s->max[i] > peak ? s->max[i] : peak;
		peak = -s->min[i] > peak ? -s->min[i] : peak;
	}
	s->peak = (double)peak * unit;
}

static double peak_of(const struct oracle *o, size_t b)
{
	struct block s;

	if (b * ORACLE_BLOCK >= o->total)
		return 0.0;
	combine(o, b, &s);
	return s.peak;
}

/* Half the distance between floats around @g: exact for every finite one. */
static double half_ulp(float g)
{
	uint32_t bits, e;

	memcpy(&bits, &g, 4);
	e = (bits >> 23) & 0xff;
	return ldexp(1.0, (int)(e ? e : 1) - 127 - 24);
}

/* Error of rounding values, whose magnitudes sum up to @mag, to @bits bits. */
static double half_error(const struct oracle *o, double mag, int bits)
{
	int times = 2 + (int)trib_log2_ceil(o->world);
	double denormals = o->bound == ORACLE_F16_SUMS ? ldexp(2.0 * o->world, -25) : 0.0;

	return ldexp(mag * times, -bits) * (1 + 0x1p-4) + denormals;
}

void oracle_note(struct oracle_report *rep, size_t index, double got, double want, double bound)
{
	if (rep->wrong < ORACLE_REPORTS) {
		struct oracle_wrong *w = &rep->first[rep->wrong];

		w->index = index;
		w->got = got;
		w->want = want;
		w->bound = bound;
	}
	rep->wrong++;
}

/* Error of a sum whose values share exponents with values up to @peak. */
static double shared_error(const struct oracle *o, double peak)
{
	int e = o->keep.bits ? 2 - (int)o->keep.bits : (int)trib_log2_ceil(o->world) - 30;

	return ldexp(o->world * peak, e);
}

/*
 * Check sums and averages of floats. @peak is the largest magnitude around. The
 * bound of an average is that of its sum plus the rounding of the division;
 * n * got is exact in double. Values that are not in @sent must be 0; NULL: all are.
 */
static void check_f32_sum(const struct oracle *o, const struct block *s, double unit, double peak,
			  const bool *sent, size_t first, size_t n, const float *got,
			  struct oracle_report *rep)
{
	double world = o->world, div = o->op == TRIB_AVG ? world : 1.0;
	double fp = shared_error(o, peak);
	size_t at = first % ORACLE_BLOCK;

	for (size_t i = 0; i < n; i++) {
		double want = (double)s->sum[at + i] * unit;
		double have = (double)got[i] * div, bound;

		if (sent && !sent[at + i]) {
			if (got[i] != 0)
				oracle_note(rep, first + i, got[i], 0, 0);
			continue;
		}
		if (o->bound == ORACLE_BLOCK_FP || o->keep.bits)
			bound = fp + half_ulp(got[i]) * div;
		else
			bound = ldexp((double)s->mag[at + i] * unit * (world - 1), -24) *
				(1 + 0x1p-10);
		if (o->bound == ORACLE_F16_SUMS && !o->keep.bits)
			bound += half_error(o, (double)s->mag[at + i] * unit, 11);
		if (o->bound == ORACLE_BF16_SUMS && !o->keep.bits)
			bound += half_error(o, (double)s->mag[at + i] * unit, 8);
		if (o->op == TRIB_AVG)
			bound += half_ulp(got[i]) * div;
		/* Negated, so that a NaN does not pass. */
		if (!(fabs(have - want) <= bound))
			oracle_note(rep, first + i, got[i], want / div, bound / div);
	}
}

/* Check results that must be exact. */
static void check_exact(const struct oracle *o, const struct block *s, double unit, size_t first,
			size_t n, const void *got, struct oracle_report *rep)
{
	const int64_t *v = o->op == TRIB_MAX ? s->max : o->op == TRIB_MIN ? s->min : s->sum;
	size_t at = first % ORACLE_BLOCK;

	for (size_t i = 0; i < n; i++) {
		uint32_t want, have;
		float f = (float)((double)v[at + i] * unit);

		if (o->dtype == TRIB_F32)
			memcpy(&want, &f, 4);
		else
			want = (uint32_t)v[at + i];
		memcpy(&have, (const char *)got + 4 * i, 4);
		if (have == want)
			continue;
		if (o->dtype == TRIB_F32) {
			float g;

			memcpy(&g, &have, 4);
			oracle_note(rep, first + i, g, f, 0);
		} else {
			oracle_note(rep, first + i, (int32_t)have, (int32_t)want, 0);
		}
	}
}

/* Mark the values of block @b that @rank selects. */
static void mark_sent(const struct oracle *o, unsigned int rank, size_t b, bool sent[ORACLE_BLOCK])
{
	size_t n = block_left(b * ORACLE_BLOCK, o->total - b * ORACLE_BLOCK), i, j, from, end;
	float x[ORACLE_BLOCK];
	unsigned int larger;

	oracle_fill(o, rank, b * ORACLE_BLOCK, n, x);
	for (i = 0; i < n; i++) {
		from = i - i % o->keep.group;
		end = from + o->keep.group < n ? from + o->keep.group : n;
		for (larger = 0, j = from; j < end; j++)
			larger +=
				fabsf(x[j]) > fabsf(x[i]) || (fabsf(x[j]) == fabsf(x[i]) && j < i);
		sent[i] = larger < o->keep.kept;
	}
}

/* Sum what each rank selects of block @b: units, as combine() does. */
static void combine_local(const struct oracle *o, size_t b, struct block *s)
{
	size_t n = block_left(b * ORACLE_BLOCK, o->total - b * ORACLE_BLOCK);
	double unit = unit_of(o, b);
	bool sent[ORACLE_BLOCK];
	float x[ORACLE_BLOCK];

	memset(s, 0, sizeof(*s));
	for (unsigned int r = 0; unit != 0 && r < o->world; r++) {
		mark_sent(o, r, b, sent);
		oracle_fill(o, r, b * ORACLE_BLOCK, n, x);
		for (size_t i = 0; i < n; i++) {
			int64_t v = sent[i] ? (int64_t)((double)x[i] / unit) : 0;

			s->sum[i] += v;
			s->mag[i] += v < 0 ? -v : v;
		}
	}
}

/* Check a compressed sum. */
static void check_kept(const struct oracle *o, size_t first, size_t n, const float *got,
		       struct oracle_report *rep)
{
	size_t blocks = (o->total + ORACLE_BLOCK - 1) / ORACLE_BLOCK, b, i, len;
	size_t reach = (o->keep.reach + ORACLE_BLOCK - 1) / ORACLE_BLOCK;
	double *peaks = calloc(blocks + 1, sizeof(*peaks)), peak;
	bool sent[ORACLE_BLOCK];
	struct block here;

	if (!peaks) {
		oracle_note(rep, first, 0, 0, 0);
		return;
	}
	for (b = 0; b < blocks; b++)
		peaks[b] = peak_of(o, b);
	for (; n; n -= len, first += len, got += len) {
		len = block_left(first, n);
		b = first / ORACLE_BLOCK;
		if (o->keep.local) {
			combine_local(o, b, &here);
		} else {
			combine(o, b, &here);
			mark_sent(o, o->keep.leader, b, sent);
		}
		peak = 0;
		for (i = b > reach ? b - reach : 0; i < blocks && i <= b + reach; i++)
			peak = fmax(peak, peaks[i]);
		check_f32_sum(o, &here, unit_of(o, b), peak, o->keep.local ? NULL : sent, first,
			      len, got, rep);
	}
	free(peaks);
}

void oracle_check(const struct oracle *o, size_t first, size_t n, const void *got,
		  struct oracle_report *rep)
{
	int sums = o->dtype == TRIB_F32 && (o->op == TRIB_SUM || o->op == TRIB_AVG);
	size_t b = first / ORACLE_BLOCK, len;
	double before = b && n && sums ? peak_of(o, b - 1) : 0.0;
	struct block pair[2], *here = &pair[0], *next = &pair[1];

	if (!n)
		return;
	if (oracle_is_typed(o)) {
		oracle_typed_check(o, first, n, got, rep);
		return;
	}
	if (o->keep.group) {
		check_kept(o, first, n, got, rep);
		return;
	}
	combine(o, b, here);
	for (; n; b++, n -= len, first += len) {
		double unit = o->dtype == TRIB_F32 ? unit_of(o, b) : 1.0;

		len = block_left(first, n);
		next->peak = 0.0;
		if ((b + 1) * ORACLE_BLOCK < o->total)
			combine(o, b + 1, next);
		if (sums)
			check_f32_sum(o, here, unit, fmax(before, fmax(here->peak, next->peak)),
				      NULL, first, len, got, rep);
		else
			check_exact(o, here, unit, first, len, got, rep);
		got = (const char *)got + 4 * len;
		before = here->peak;
		here = next;
		next = here == &pair[0] ? &pair[1] : &pair[0];
	}
}

void oracle_check_copy(const struct oracle *o, unsigned int rank, size_t first, size_t n,
		       const void *got, struct oracle_report *rep)
{
	uint32_t want[ORACLE_BLOCK], have[ORACLE_BLOCK];
	size_t len;

	if (oracle_is_typed(o)) {
		oracle_typed_check_copy(o, rank, first, n, got, rep);
		return;
	}
	for (; n; n -= len, first += len) {
		len = block_left(first, n);
		oracle_fill(o, rank, first, len, want);
		memcpy(have, got, 4 * len);
		for (size_t i = 0; i < len; i++) {
			float g, w;

			if (have[i] == want[i])
				continue;
			memcpy(&g, &have[i], 4);
			memcpy(&w, &want[i], 4);
			if (o->dtype == TRIB_F32)
				oracle_note(rep, first + i, g, w, 0);
			else
				oracle_note(rep, first + i, (int32_t)have[i], (int32_t)want[i], 0);
		}
		got = (const char *)got + 4 * len;
	}
}

void oracle_poison(void *buf, size_t bytes)
{
	/* A NaN as float; -1 as integer, right once in 2^32 elements. */
	memset(buf, 0xff, bytes);
}

uint64_t oracle_hash(const void *buf, size_t bytes)
{
	const unsigned char *p = buf;
	uint64_t h = 0x9e3779b97f4a7c15ULL ^ bytes, w;

	/* Each step is a bijection of h for fixed w, and of w for fixed h. */
	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9fb21c651e98df25ULL;
		h ^= h >> 35;
	}
	w = 0;
	memcpy(&w, p, bytes);
	h = (h ^ w) * 0x9fb21c651e98df25ULL;
	return h ^ (h >> 32);
}
