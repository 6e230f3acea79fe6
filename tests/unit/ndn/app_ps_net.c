// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PS with scripted workers on a simulated network. The oracle knows the
 * bits of every version, and which gradients belong to it; ps_world.c records
 * errors.
 */
#include <string.h>

#include "tests/lib/tap.h"
#include "tests/lib/ndn/ps_world.h"

#define SEEDS 40

static void lossy(struct world *w)
{
	w->loss = 20;
	w->copies = 10;
	w->jitter = 30 * NDN_MS;
}

/* Run the job to its end, without any error. */
static bool finish(struct world *w)
{
	bool over = world_run(w, 600 * NDN_SEC);

	expect(over);
	expect_eq(w->wrong, 0);
	return over && !w->wrong;
}

static const struct nps_job *job_of(const struct world *w, unsigned int j)
{
	return w->ps->job[j];
}

static void quiet__takes_no_more_packets_than_it_needs(void)
{
	struct world *w = world_new(1, 3, 1);
	const uint64_t *count;

	world_start(w);
	finish(w);
	count = job_of(w, 0)->count;
	expect_eq(w->job[0].made, 8);
	expect_eq(w->job[0].gradients, 24);
	expect_eq(count[NPS_COUNT_PUBLISHED], 9);
	expect_eq(count[NPS_COUNT_DISTRIBUTE], 9 * 8);
	expect_eq(count[NPS_COUNT_SEGMENT], 24 * 8);
	expect_eq(count[NPS_COUNT_EXCLUDED], 0);
	expect_eq(count[NPS_COUNT_STALL], 0);
	/* The first Interest for some gradients came early, and was repeated. */
	expect(count[NPS_COUNT_COLLECT] <= 24 * 8 + 24);
	/*
	 * Each packet is signed once: repeats of fetched or acknowledged ones
	 * are not signed again.
	 */
	expect(count[NPS_COUNT_SIGNED] <= 9 * 8 + 2 + 9 + count[NPS_COUNT_START] + 1);
	world_free(w);
}

static void sync__is_exact_whatever_is_lost(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world *w = world_new(seed, 1 + seed % 4, 1);

		lossy(w);
		world_spec(w, 0)->elements = seed % 3 ? 1000 : 100;
		world_start(w);
		if (!finish(w))
			printf("# seed %d\n", (int)seed);
		world_free(w);
	}
}

static void sync__momentum_is_exact(void)
{
	struct world *w = world_new(3, 3, 1);

	lossy(w);
	world_spec(w, 0)->momentum = 0.75f;
	world_spec(w, 0)->versions = 12;
	world_start(w);
	finish(w);
	world_free(w);
}

static void async__is_exact_whatever_is_lost(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world *w = world_new(seed, 2 + seed % 3, 1);

		lossy(w);
		world_spec(w, 0)->mode = NDN_MODE_ASYNC;
		world_spec(w, 0)->versions = 20;
		w->worker[1].speed = 900 * NDN_MS;
		world_start(w);
		if (!finish(w))
			printf("# seed %d\n", (int)seed);
		expect_eq(w->job[0].alone, w->job[0].made);
		world_free(w);
	}
}

static void async__does_not_wait_for_the_slow(void)
{
	struct world *w = world_new(2, 2, 1);
	uint64_t began;

	world_spec(w, 0)->mode = NDN_MODE_ASYNC;
	world_spec(w, 0)->versions = 60;
	w->worker[1].speed = 2 * NDN_SEC;
	world_start(w);
	began = w->now;
	finish(w);
	expect(w->now - began < 15 * NDN_SEC);
	/* The PS did not exclude it: its own gradients arrived, too. */
	expect(w->job[0].taken[1]);
	expect_eq(job_of(w, 0)->count[NPS_COUNT_EXCLUDED], 0);
	world_free(w);
}

static void restart__goes_on_with_a_new_incarnation(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world *w = world_new(seed, 3, 1);
		unsigned int i;

		lossy(w);
		world_spec(w, 0)->versions = 10;
		world_spec(w, 0)->mode = seed % 2 ? NDN_MODE_SYNC : NDN_MODE_ASYNC;
		world_spec(w, 0)->momentum = seed % 3 ? 0.5f : 0;
		world_start(w);
		for (i = 0; i < 3 && !world_over(w); i++) {
			world_run_until(w, w->now + ndn_random_between(&w->random, NDN_SEC / 4,
								       2 * NDN_SEC));
			world_stop(w);
			world_run_until(w, w->now + NDN_SEC / 2);
			world_start(w);
		}
		if (!finish(w))
			printf("# seed %d\n", (int)seed);
		expect_eq(job_of(w, 0)->incarnation, i + 1);
		expect_eq(nps_version(job_of(w, 0)), (uint64_t)(i + 1) << 32 | 10);
		world_free(w);
	}
}

static void dead__is_left_out_after_a_lease(void)
{
	struct world *w = world_new(5, 3, 1);
	const struct nps_job *j;
	uint64_t lease = WORLD_LEASE_MS * NDN_MS, died;

	world_spec(w, 0)->versions = 30;
	world_start(w);
	world_run_until(w, w->now + 2 * NDN_SEC);
	j = job_of(w, 0);
	expect_eq(nps_members(j), 3);
	died = w->now;
	world_worker_kill(w, 2);
	world_run_until(w, died + lease * 7 / 10);
	expect_eq(nps_members(j), 3);
	world_run_until(w, died + lease * 12 / 10);
	expect_eq(nps_members(j), 2);
	expect_eq(j->count[NPS_COUNT_EXCLUDED], 1);
	/* The worker comes back without any state. */
	world_worker_start(w, 2);
	world_run_until(w, w->now + lease / 2);
	expect_eq(nps_members(j), 3);
	finish(w);
	world_free(w);
}

static void restarted__worker_gives_another_gradient(void)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world *w = world_new(seed, 3, 1);
		unsigned int i;

		lossy(w);
		world_spec(w, 0)->mode = seed % 2 ? NDN_MODE_SYNC : NDN_MODE_ASYNC;
		world_spec(w, 0)->versions = 10;
		world_start(w);
		for (i = 0; i < 6 && !world_over(w); i++) {
			unsigned int k = (unsigned int)ndn_random_between(&w->random, 0, 2);

			world_run_until(w, w->now + NDN_SEC / 3);
			/*
			 * A worker that has the last version is done; restarted, it would fetch
			 * that again.
			 */
			if (w->worker[k].final[0])
				continue;
			world_worker_kill(w, k);
			world_worker_start(w, k);
		}
		if (!finish(w))
			printf("# seed %d\n", (int)seed);
		world_free(w);
	}
}

static void slow__worker_lives_for_leases(void)
{
	struct world *w = world_new(6, 2, 1);

	world_spec(w, 0)->versions = 3;
	w->worker[1].speed = 3 * WORLD_LEASE_MS * NDN_MS;
	world_start(w);
	finish(w);
	expect_eq(job_of(w, 0)->count[NPS_COUNT_EXCLUDED], 0);
	expect_eq(w->job[0].gradients, 6);
	world_free(w);
}

static void jobs__share_workers_one_after_the_other(void)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct world *w = world_new(seed, 3, 2);

		lossy(w);
		world_spec(w, 0)->versions = 3;
		world_spec(w, 1)->versions = 5;
		world_spec(w, 1)->mode = NDN_MODE_ASYNC;
		world_start(w);
		if (!finish(w))
			printf("# seed %d\n", (int)seed);
		expect(w->job[0].made >= 3 && w->job[1].made >= 5);
		expect(job_of(w, 1)->count[NPS_COUNT_BUSY] + job_of(w, 0)->count[NPS_COUNT_BUSY]);
		world_free(w);
	}
}

static void key_of(struct ndn_key *key, uint8_t byte)
{
	uint8_t secret[NDN_KEY_SIZE];

	memset(secret, byte, sizeof(secret));
	memset(key, 0, sizeof(*key));
	ndn_key_hmac(key, secret);
}

static void hmac__signs_and_is_checked(void)
{
	struct world *w = world_new(7, 3, 1);
	unsigned int i;

	lossy(w);
	key_of(&w->key, 1);
	for (i = 0; i < 3; i++)
		w->worker[i].key = w->key;
	/* Worker 2 has another key, so it never takes part. */
	key_of(&w->worker[2].key, 2);
	world_start(w);
	world_run(w, 100 * NDN_SEC);
	expect_eq(w->wrong, 0);
	expect(nps_ended(w->ps));
	expect_eq(w->job[0].gradients, 16);
	expect(job_of(w, 0)->drop[NPS_DROP_SIGNATURE] > 0);
	world_free(w);
}

static void flip(struct world *w, uint8_t *pkt, size_t n)
{
	if (ndn_random_between(&w->random, 1, 100) <= 20)
		pkt[n - 40 - ndn_random_between(&w->random, 0, 4)] ^= 1;
}

static void damage__is_no_gradient(void)
{
	struct world *w = world_new(8, 3, 1);

	w->forge = flip;
	world_start(w);
	finish(w);
	expect(job_of(w, 0)->drop[NPS_DROP_SIGNATURE] + w->ps->stray[NPS_STRAY_PACKET] > 10);
	world_free(w);
}

static void rate__is_kept(void)
{
	struct world *w = world_new(9, 1, 1);
	struct nps_spec *s = world_spec(w, 0);
	const struct nps_job *j;
	uint64_t began = w->now, bytes;

	/* 8 segments of about 650 bytes each at 10 kB/s. */
	s->rate = 10000;
	world_start(w);
	j = job_of(w, 0);
	bytes = 8 * (j->room + NPS_WIRE_HEAD);
	world_run_until(w, began + bytes * 80 / 1000 * NDN_MS);
	expect(j->busy);
	world_run_until(w, began + bytes * 110 / 1000 * NDN_MS);
	expect(!j->busy);
	expect_eq(w->wrong, 0);
	world_free(w);
}

int main(void)
{
	run(quiet__takes_no_more_packets_than_it_needs);
	run(sync__is_exact_whatever_is_lost);
	run(sync__momentum_is_exact);
	run(async__is_exact_whatever_is_lost);
	run(async__does_not_wait_for_the_slow);
	run(restart__goes_on_with_a_new_incarnation);
	run(dead__is_left_out_after_a_lease);
	run(restarted__worker_gives_another_gradient);
	run(slow__worker_lives_for_leases);
	run(jobs__share_workers_one_after_the_other);
	run(hmac__signs_and_is_checked);
	run(damage__is_no_gradient);
	run(rate__is_kept);
	return tap_done();
}
