// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exact sums, words and masked values, over libfabric's TCP: results are right, and ranks
 * send no byte more than they need.
 */
#include <endian.h>

#include "tests/unit/peer/engine_rig.h"
#include "uapi/trib_wire.h"

/* 2:4: the lower two of each group, so that a mask word has 16 values. */
#define NM trib_nm(2, 2)
#define MASK 0x33333333u
#define UNIT (4 + 4 * 16)
#define SUM_UNIT (4 * 32)

static uint64_t sent(struct trib_peer *p)
{
	struct trib_peer_counters n;

	trib_peer_ops.count(p, &n);
	return n.sent_bytes;
}

/*
 * Halving may exchange whole vectors where they are short, which depends on rates that were
 * measured: @more bytes, and another @most for a second vector.
 */
static void expect_sent(struct job *j, uint32_t rank, uint64_t got, uint64_t want, uint64_t more,
			uint64_t most)
{
	if (got == want)
		return;
	if (!strcmp(j->algorithm, "halving") && (got == want + more || got == want + more + most))
		return;
	printf("# %s: rank %u sent %lu bytes, not %lu\n", j->algorithm, rank, got, want);
	fail_rank(j, rank, "the number of bytes is wrong");
}

/* --- exact reduce-scatters */

enum { PART = 352 * 24 };

/* Whole chunks a part, so all algorithms divide alike. */
static uint64_t exact_bytes(uint32_t world, bool part)
{
	uint64_t chunks = PART / 352, others = world - 1;

	return others * (2 * 8 * chunks + 4 * PART * (part ? 1 : 2));
}

static void exact_part(struct job *j, uint32_t rank, struct trib_peer *p)
{
	uint64_t n = (uint64_t)j->world * PART, i, before = sent(p);
	float *src = malloc(n * sizeof(*src)), *dst = malloc(n * sizeof(*dst));
	struct trib_peer_call c = {
		.collective = PEER_REDUCE_SCATTER, .src = src, .dst = dst, .count = PART};
	uint64_t wrong = 0;

	for (i = 0; i < n; i++)
		src[i] = (float)(i % 1000) + (float)rank;
	if (call(p, c))
		fail_rank(j, rank, "the call failed");
	for (i = 0; i < PART; i++)
		wrong += dst[i] != (float)(j->world * ((i + rank * PART) % 1000) +
					   j->world * (j->world - 1) / 2);
	if (wrong)
		fail_rank(j, rank, "a value is wrong");
	/* Exponents are an allreduce in any case. */
	expect_sent(j, rank, sent(p) - before, exact_bytes(j->world, true), 2 * 8 * (PART / 352),
		    0);
	c.collective = PEER_ALLREDUCE;
	c.count = n;
	before = sent(p);
	if (call(p, c))
		fail_rank(j, rank, "the allreduce failed");
	expect_sent(j, rank, sent(p) - before, exact_bytes(j->world, false), 2 * 8 * (PART / 352),
		    2 * 4 * PART);
	trib_peer_ops.leave(p, true);
	free(src);
	free(dst);
}

static void exact__reduce_scatters_move_what_they_need(void)
{
	static const char *const algs[] = {"ring", "halving", "direct", "torus"};

	for (unsigned int a = 0; a < 4; a++) {
		struct job j = {
			.world = 4, .algorithm = algs[a], .exact = true, .work = exact_part};

		if (!expect(run_job(&j)))
			printf("# %s\n", algs[a]);
	}
}

/* Elements of two ranks' parts overflow; all hear of the first one. */
static void overflowing(struct job *j, uint32_t rank, struct trib_peer *p)
{
	enum { N = 1001 };
	float *v = calloc((size_t)j->world * N, sizeof(*v)), out[N];
	struct trib_peer_call c = {
		.collective = PEER_REDUCE_SCATTER, .src = v, .dst = out, .count = N};
	struct trib_peer_done d = {0};

	v[1 * N + 17] = v[2 * N + 3] = 3e38f;
	trib_peer_ops.issue(p, &c, &c);
	if (await(p, &d) != -ERANGE || d.detail != N + 18)
		fail_rank(j, rank, "no report of the first element");
	v[2 * N + 3] = v[1 * N + 17] = 1e38f;
	v[5] = rank == 1 ? 0.0f / 0.0f : 0;
	trib_peer_ops.issue(p, &c, &c);
	if (await(p, &d) != -EDOM || trib_exp_bad_rank(d.detail) != 1)
		fail_rank(j, rank, "no report of a value that is not finite");
	v[5] = 0;
	if (call(p, c) || (rank == 1 && out[17] != 3e38f && out[17] != 1e38f * 3))
		fail_rank(j, rank, "the job does not go on");
	trib_peer_ops.leave(p, true);
	free(v);
}

static void exact__all_hear_of_an_overflow_in_one_part(void)
{
	struct job j = {.world = 3, .algorithm = "ring", .exact = true, .work = overflowing};

	expect(run_job(&j));
}

/* --- words */

static void add_words(struct job *j, uint32_t rank, struct trib_peer *p)
{
	enum { N = 4 * 1000 };
	uint64_t src[N], dst[N], before = sent(p), wrong = 0, i;
	struct trib_peer_call c = {.src = src, .dst = dst, .count = N, .words = true};

	for (i = 0; i < N; i++)
		src[i] = 0xffffffff00000000ULL + i * (rank + 1);
	if (call(p, c))
		fail_rank(j, rank, "the call failed");
	for (i = 0; i < N; i++)
		wrong += dst[i] != 4 * 0xffffffff00000000ULL + i * 10;
	if (wrong)
		fail_rank(j, rank, "a word is wrong");
	expect_sent(j, rank, sent(p) - before, 2 * 3 * 1000 * 8, 2 * 1000 * 8, 0);
	trib_peer_ops.leave(p, true);
}

static void words__are_added_by_every_algorithm(void)
{
	static const char *const algs[] = {"ring", "halving", "direct", "torus"};

	for (unsigned int a = 0; a < 4; a++) {
		struct job j = {.world = 4, .algorithm = algs[a], .work = add_words};

		expect(run_job(&j));
	}
}

/* --- values that each rank chooses */

enum { UNITS = 400, WORLD = 4 };

/* In units of 32 values: own ones travel packed, sums whole. */
static uint64_t masked_bytes(const char *alg)
{
	uint64_t quarter = UNITS / WORLD, gather = 3 * quarter * SUM_UNIT;

	if (!strcmp(alg, "direct"))
		return 3 * quarter * UNIT + gather;
	if (!strcmp(alg, "halving"))
		return 2 * quarter * UNIT + quarter * SUM_UNIT + gather;
	return quarter * UNIT + 2 * quarter * SUM_UNIT + gather;
}

static void masked(struct job *j, uint32_t rank, struct trib_peer *p)
{
	uint32_t mask[UNITS], i, wrong = 0;
	float src[UNITS * 16], dst[UNITS * 32];
	uint64_t before = sent(p);
	struct trib_peer_call c = {
		.src = src, .dst = dst, .count = UNITS * 32, .nm = NM, .mask = mask};

	for (i = 0; i < UNITS; i++)
		mask[i] = htole32(rank % 2 ? ~MASK : MASK);
	for (i = 0; i < UNITS * 16; i++)
		src[i] = (float)(i + rank);
	if (call(p, c))
		fail_rank(j, rank, "the call failed");
	/* Ranks 0 and 2 send the lower two of each group, 1 and 3 the others. */
	for (i = 0; i < UNITS * 32; i++)
		wrong += dst[i] != 2 * (float)(i / 4 * 2 + i % 2) + (i % 4 < 2 ? 2 : 4);
	if (wrong)
		fail_rank(j, rank, "a value is wrong");
	if (!j->exact)
		expect_sent(j, rank, sent(p) - before, masked_bytes(j->algorithm),
			    UNITS * (UNIT + SUM_UNIT) - masked_bytes(j->algorithm), 0);
	trib_peer_ops.leave(p, true);
}

static void masked__values_travel_packed_until_they_are_added(void)
{
	static const char *const algs[] = {"ring", "halving", "direct"};

	for (unsigned int a = 0; a < 6; a++) {
		struct job j = {
			.world = WORLD, .algorithm = algs[a % 3], .exact = a >= 3, .work = masked};

		expect(run_job(&j));
	}
}

/* One rank's mask has a bit too many. */
static void hostile(struct job *j, uint32_t rank, struct trib_peer *p)
{
	uint32_t mask[UNITS];
	float src[UNITS * 16] = {0}, dst[UNITS * 32];
	struct trib_peer_call c = {
		.src = src, .dst = dst, .count = UNITS * 32, .nm = NM, .mask = mask};
	int rc;

	for (int i = 0; i < UNITS; i++)
		mask[i] = htole32(MASK);
	if ((int)rank == j->odd)
		mask[UNITS - 1] = 0xffffffff;
	rc = call(p, c);
	trib_peer_ops.error(p, &j->error[rank]);
	if (!rc || !j->error[rank].err)
		fail_rank(j, rank, "nobody noticed");
	trib_peer_ops.leave(p, false);
}

static void masked__masks_of_others_are_checked(void)
{
	struct job j = {.world = 3, .algorithm = "direct", .odd = 1, .work = hostile};

	expect(run_job(&j));
}

static void ask_for_nonsense(struct job *j, uint32_t rank, struct trib_peer *p)
{
	float v[64] = {0};
	struct trib_peer_call good = {.src = v, .dst = v, .count = 32}, c;
	bool all = true;

	c = good, c.words = true, c.collective = PEER_REDUCE_SCATTER;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.words = true, c.op = 2;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.nm = NM;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.nm = NM, c.mask = v, c.op = 2;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.nm = NM, c.mask = v, c.dtype = TRIB_REDUCE_I32;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.nm = trib_nm(2, 4), c.mask = v;
	all = all && trib_peer_ops.wrong(p, &c);
	c = good, c.nm = NM, c.mask = v;
	all = all && !trib_peer_ops.wrong(p, &c);
	if (!all)
		fail_rank(j, rank, "a call that is wrong is not, or the reverse");
	trib_peer_ops.leave(p, true);
}

static void calls__that_are_wrong_are_known(void)
{
	struct job j = {.world = 2, .algorithm = "ring", .work = ask_for_nonsense};

	expect(run_job(&j));
}

/* --- more lengths under way than plans are kept */

static void many_lengths(struct job *j, uint32_t rank, struct trib_peer *p)
{
	enum { CALLS = 300 };
	int32_t(*v)[CALLS] = calloc(CALLS, sizeof(*v));
	struct trib_peer_done d;
	int k, bad = 0;

	for (k = 0; k < CALLS; k++) {
		struct trib_peer_call c = {.dtype = TRIB_REDUCE_I32,
					   .src = v[k],
					   .dst = v[k],
					   .count = (uint64_t)k + 1};

		v[k][k] = k;
		bad |= trib_peer_ops.issue(p, &c, v[k]);
	}
	for (k = 0; k < CALLS && !bad; k++)
		bad |= await(p, &d) || d.cookie != v[k] || v[k][k] != 3 * k;
	if (bad)
		fail_rank(j, rank, "a call failed");
	trib_peer_ops.leave(p, true);
	free(v);
}

static void calls__of_any_number_of_lengths_are_taken(void)
{
	struct job j = {.world = 3, .algorithm = "ring", .work = many_lengths};

	expect(run_job(&j));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	run(exact__reduce_scatters_move_what_they_need);
	run(exact__all_hear_of_an_overflow_in_one_part);
	run(words__are_added_by_every_algorithm);
	run(masked__values_travel_packed_until_they_are_added);
	run(masked__masks_of_others_are_checked);
	run(calls__that_are_wrong_are_known);
	run(calls__of_any_number_of_lengths_are_taken);
	return tap_done();
}
