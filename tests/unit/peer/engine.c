// SPDX-License-Identifier: BSD-2-Clause
/* The whole engine of peers, over libfabric's TCP on the loopback device. */
#include "engine_rig.h"

static float value(uint32_t rank, uint64_t i)
{
	return (float)((int)((i * 7 + rank * 13) % 101) - 50);
}

static float sum(uint32_t world, uint64_t i)
{
	float s = 0;

	for (uint32_t r = 0; r < world; r++)
		s += value(r, i);
	return s;
}

static void all_kinds(struct job *j, uint32_t rank, struct trib_peer *p)
{
	static const uint64_t counts[] = {0, 1, 5, 1000, COUNT};
	float *src = malloc(WORLD_MAX * COUNT * sizeof(*src)),
	      *dst = malloc(WORLD_MAX * COUNT * sizeof(*dst));
	uint64_t n, i;
	bool good = true;

	for (unsigned int k = 0; k < sizeof(counts) / sizeof(counts[0]) && good; k++) {
		n = counts[k];
		for (i = 0; i < n * j->world; i++)
			src[i] = value(rank, i);
		good = !call(p, (struct trib_peer_call){.collective = PEER_ALLREDUCE,
							.src = src,
							.dst = dst,
							.count = n});
		for (i = 0; i < n && good; i++)
			good = dst[i] == sum(j->world, i);
		good = good && !call(p, (struct trib_peer_call){.collective = PEER_REDUCE_SCATTER,
								.src = src,
								.dst = dst,
								.count = n});
		for (i = 0; i < n && good; i++)
			good = dst[i] == sum(j->world, rank * n + i);
		memcpy(dst + rank * n, src, n * sizeof(*src));
		good = good &&
		       !call(p, (struct trib_peer_call){
					.collective = PEER_ALLGATHER, .dst = dst, .count = n});
		for (i = 0; i < n * j->world && good; i++)
			good = dst[i] == value((uint32_t)(i / (n ?: 1)), i % (n ?: 1));
		memcpy(dst, src, n * sizeof(*src));
		good = good && !call(p, (struct trib_peer_call){.collective = PEER_BROADCAST,
								.dst = dst,
								.count = n,
								.root = j->world - 1});
		for (i = 0; i < n && good; i++)
			good = dst[i] == value(j->world - 1, i);
		good = good && !call(p, (struct trib_peer_call){.collective = PEER_BARRIER});
	}
	if (!good)
		fail_rank(j, rank, "a value is wrong, or a call failed");
	trib_peer_ops.leave(p, good);
	free(src);
	free(dst);
}

static void engine__each_algorithm_is_right(void)
{
	static const char *const algs[] = {"auto", "ring", "halving", "direct", "torus"};

	for (unsigned int a = 0; a < sizeof(algs) / sizeof(algs[0]); a++)
		for (uint32_t n = a == 4 ? 4 : 2; n <= 5; n++) {
			struct job j = {.world = n, .algorithm = algs[a], .work = all_kinds};

			if (!expect(run_job(&j)))
				printf("# %s of %u\n", algs[a], n);
		}
}

static void engine__bcube_of_two_nics_is_right(void)
{
	struct job j = {
		.world = 4, .algorithm = "bcube", .nics = "127.0.0.1,127.0.0.1", .work = all_kinds};

	expect(run_job(&j));
}

static void engine__ranks_of_a_machine_share_memory(void)
{
	struct job j = {.world = 4, .algorithm = "ring", .intra = "allreduce", .work = all_kinds};
	struct job k = {.world = 3, .algorithm = "ring", .intra = "reduce", .work = all_kinds};

	expect(run_job(&j));
	expect(run_job(&k));
}

static void engine__one_rank_needs_nobody(void)
{
	struct job j = {.world = 1, .work = all_kinds};
	struct job k = {.world = 1, .exact = true, .work = all_kinds};

	expect(run_job(&j));
	expect(run_job(&k));
}

/* --- exact sums */

/* Values whose float sums depend on the order. */
static void rough(struct job *j, uint32_t rank, struct trib_peer *p)
{
	float *src = malloc(COUNT * sizeof(*src)), *dst = malloc(COUNT * sizeof(*dst));

	for (int i = 0; i < COUNT; i++)
		src[i] = (float)((i * 2654435761u >> (rank % 7 + 3)) % 100003) * 1.37e-3f *
			 (i % 3 ? 1 : -1);
	if (call(p, (struct trib_peer_call){
			    .collective = PEER_ALLREDUCE, .src = src, .dst = dst, .count = COUNT}))
		fail_rank(j, rank, "the call failed");
	for (int i = 0; i < 64; i++)
		j->sum[rank][i] = dst[i * (COUNT / 64)];
	trib_peer_ops.leave(p, true);
	free(src);
	free(dst);
}

static void engine__exact_sums_are_the_same_by_any_algorithm(void)
{
	static const char *const algs[] = {"ring", "halving", "direct", "torus"};
	struct job first = {.world = 4, .algorithm = "auto", .exact = true, .work = rough};

	expect(run_job(&first));
	for (unsigned int a = 0; a < 4; a++) {
		struct job j = {.world = 4, .algorithm = algs[a], .exact = true, .work = rough};

		expect(run_job(&j));
		for (int r = 0; r < 4; r++)
			expect(!memcmp(j.sum[r], first.sum[0], sizeof(j.sum[r])));
	}
}

static void not_finite(struct job *j, uint32_t rank, struct trib_peer *p)
{
	float *v = calloc(COUNT, sizeof(*v));
	struct trib_peer_call c = {
		.collective = PEER_ALLREDUCE, .src = v, .dst = v, .count = COUNT};
	struct trib_peer_done d = {0};

	if (rank == 1)
		v[777] = 1.0f / 0.0f;
	trib_peer_ops.issue(p, &c, &c);
	if (await(p, &d) != -EDOM || trib_exp_bad_rank(d.detail) != 1 ||
	    trib_exp_bad_index(d.detail) != 777)
		fail_rank(j, rank, "no report of rank 1's element 777");
	for (int i = 0; i < COUNT; i++)
		v[i] = i == 12345 ? 3e38f : 0;
	trib_peer_ops.issue(p, &c, &c);
	if (await(p, &d) != -ERANGE || d.detail != 12346)
		fail_rank(j, rank, "no report of element 12345");
	trib_peer_ops.leave(p, true);
	free(v);
}

static void engine__exact_sums_report_what_is_not_finite(void)
{
	struct job j = {.world = 3, .exact = true, .work = not_finite};

	expect(run_job(&j));
}

/* --- many calls under way */

static void pipelined(struct job *j, uint32_t rank, struct trib_peer *p)
{
	enum { CALLS = 30, N = 3000 };
	static int32_t v[WORLD_MAX][CALLS][N];
	struct trib_peer_done d;
	int i, k, bad = 0;

	for (k = 0; k < CALLS; k++) {
		struct trib_peer_call c = {.collective = PEER_ALLREDUCE,
					   .dtype = TRIB_REDUCE_I32,
					   .src = v[rank][k],
					   .dst = v[rank][k],
					   .count = N - (unsigned int)k};

		for (i = 0; i < N; i++)
			v[rank][k][i] = i * (k + 1) + (int)rank;
		bad |= trib_peer_ops.issue(p, &c, v[rank][k]);
	}
	for (k = 0; k < CALLS; k++)
		bad |= await(p, &d) || d.cookie != v[rank][k];
	for (k = 0; k < CALLS && !bad; k++)
		for (i = 0; i < N - k; i++)
			bad |= v[rank][k][i] !=
			       (int)j->world * i * (k + 1) + (int)(j->world * (j->world - 1) / 2);
	if (bad)
		fail_rank(j, rank, "a call failed, or came out of order");
	trib_peer_ops.leave(p, true);
}

static void engine__calls_end_in_their_order(void)
{
	struct job j = {.world = 4, .algorithm = "ring", .chunk = 1024, .work = pipelined};

	expect(run_job(&j));
}

/* --- ranks that end */

static void one_leaves(struct job *j, uint32_t rank, struct trib_peer *p)
{
	float *v = calloc(COUNT, sizeof(*v));
	int rc = 0;

	if ((int)rank == j->odd) {
		trib_peer_ops.leave(p, false);
		free(v);
		return;
	}
	for (int i = 0; i < 1000 && !rc; i++)
		rc = call(p, (struct trib_peer_call){.collective = PEER_ALLREDUCE,
						     .src = v,
						     .dst = v,
						     .count = COUNT});
	trib_peer_ops.error(p, &j->error[rank]);
	if (!rc || j->error[rank].rank != j->odd)
		fail_rank(j, rank, "another rank is to blame");
	trib_peer_ops.leave(p, false);
	free(v);
}

static void engine__a_rank_that_ends_is_named_by_all(void)
{
	for (int odd = 0; odd < 3; odd++) {
		struct job j = {.world = 4, .algorithm = "ring", .odd = odd, .work = one_leaves};

		expect(run_job(&j));
	}
}

static void lengths_differ(struct job *j, uint32_t rank, struct trib_peer *p)
{
	float *v = calloc(COUNT, sizeof(*v));
	int rc = call(p, (struct trib_peer_call){.collective = PEER_ALLREDUCE,
						 .src = v,
						 .dst = v,
						 .count = (int)rank == j->odd ? 1001 : 1000});

	trib_peer_ops.error(p, &j->error[rank]);
	if (!rc || !j->error[rank].err)
		fail_rank(j, rank, "nobody noticed");
	trib_peer_ops.leave(p, false);
	free(v);
}

static void engine__ranks_that_disagree_end(void)
{
	struct job j = {.world = 3, .algorithm = "ring", .odd = 1, .work = lengths_differ};

	expect(run_job(&j));
}

/* Keys differ: nobody meets. */
static void engine__another_key_is_refused(void)
{
	struct job j = {.world = 2, .odd = -2, .work = all_kinds};

	expect(!run_job(&j));
	expect(j.failed[0] && j.failed[1]);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	run(engine__one_rank_needs_nobody);
	run(engine__each_algorithm_is_right);
	run(engine__bcube_of_two_nics_is_right);
	run(engine__ranks_of_a_machine_share_memory);
	run(engine__exact_sums_are_the_same_by_any_algorithm);
	run(engine__exact_sums_report_what_is_not_finite);
	run(engine__calls_end_in_their_order);
	run(engine__a_rank_that_ends_is_named_by_all);
	run(engine__ranks_that_disagree_end);
	run(engine__another_key_is_refused);
	return tap_done();
}
