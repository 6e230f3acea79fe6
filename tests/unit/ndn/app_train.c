// SPDX-License-Identifier: BSD-2-Clause
/*
 * Workers and a PS on a simulated network: every model is the sum of its
 * gradients, whatever the network loses, and training ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "tests/lib/ndn/worker_world.h"

#define SEEDS 30

static void begin(struct world *world, uint64_t seed, unsigned int n)
{
	world_init(world, seed, n);
	for (unsigned int i = 0; i < n; i++)
		world_start_worker(world, i);
}

/* Run until training ends, within @seconds and without an error. */
static bool ends(struct world *world, uint64_t seed, unsigned int seconds)
{
	bool done = world_run(world, seconds * NDN_SEC);

	if (!done)
		printf("# seed %llu: %s\n", (unsigned long long)seed,
		       *world->bad ? world->bad : "training does not end");
	return expect(done);
}

static uint64_t total(const struct world *world, enum ndn_worker_count what)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < world->nworker; i++)
		n += world->worker[i].w.count[what];
	return n;
}

static void sync__every_worker_takes_every_version(void)
{
	struct world world;

	begin(&world, 1, 4);
	world_start_ps(&world);
	ends(&world, 1, 10);
	/*
	 * The workers join while the first version is distributed, and fetch
	 * it. No more fetches follow.
	 */
	for (unsigned int i = 0; i < 4; i++) {
		expect_eq(world.worker[i].taken, 11);
		expect_eq(world.worker[i].w.count[NDN_WORKER_SKIPPED], 0);
		expect(world.worker[i].w.count[NDN_WORKER_FETCHES] <= 8);
		/*
		 * At most one probe: the first worker waited until the last one
		 * had joined.
		 */
		expect(world.worker[i].w.count[NDN_WORKER_PROBES] <= 1);
	}
	expect_eq(total(&world, NDN_WORKER_BAD_SIGNATURE), 0);
	expect_eq(total(&world, NDN_WORKER_BAD_CONTENT), 0);
	expect_eq(total(&world, NDN_WORKER_UNSENT), 0);
	world_free(&world);
}

static void storm(enum ndn_mode mode)
{
	struct world world;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		begin(&world, seed, 1 + seed % WORLD_WORKERS);
		world.spec.mode = mode;
		world.spec.versions = 30;
		world.loss = 150;
		world.dup = 50;
		world.late = 20 * NDN_MS;
		world_start_ps(&world);
		if (!ends(&world, seed, 600))
			seed = SEEDS;
		world_free(&world);
	}
}

static void sync__survives_loss_and_disorder(void)
{
	storm(NDN_MODE_SYNC);
}

static void async__survives_loss_and_disorder(void)
{
	storm(NDN_MODE_ASYNC);
}

static void async__a_slow_worker_holds_nobody_up(void)
{
	struct world world;

	begin(&world, 1, 4);
	world.spec.mode = NDN_MODE_ASYNC;
	world.spec.versions = 60;
	world.worker[3].compute = 100 * NDN_MS;
	world_start_ps(&world);
	ends(&world, 1, 20);
	expect(world.now < 3 * NDN_SEC);
	expect(world.worker[3].taken >= 2 && world.worker[3].taken < 20);
	expect(world.worker[0].taken > 2 * world.worker[3].taken);
	world_free(&world);
}

/*
 * The PS must not exclude a slow worker: it is silent while it computes, but
 * alive.
 */
static void sync__a_slow_worker_is_waited_for(void)
{
	struct world world;

	begin(&world, 1, 3);
	world.worker[2].compute = 5 * NDN_SEC;
	world.spec.versions = 3;
	world_start_ps(&world);
	ends(&world, 1, 60);
	expect_eq(world.worker[2].taken, 4);
	expect_eq(world.ps->job[0]->count[NPS_COUNT_EXCLUDED], 0);
	world_free(&world);
}

static void dead__the_others_go_on_without(void)
{
	struct world world;

	begin(&world, 1, 4);
	world.spec.versions = 40;
	world_start_ps(&world);
	world_pass(&world, 400 * NDN_MS);
	expect(world.worker[1].taken > 1);
	world_stop_worker(&world, 1);
	ends(&world, 1, 30);
	expect_eq(world.ps->job[0]->count[NPS_COUNT_EXCLUDED], 1);
	world_free(&world);
}

static void dead__comes_back_with_another_gradient(void)
{
	struct world world;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		begin(&world, seed, 3);
		world.spec.versions = 20;
		world.loss = 50;
		world_start_ps(&world);
		for (unsigned int i = 0; i < 5; i++) {
			world_pass(&world, 60 * NDN_MS);
			world_stop_worker(&world, i % 3);
			world_start_worker(&world, i % 3);
		}
		if (!ends(&world, seed, 300))
			seed = SEEDS;
		world_free(&world);
	}
}

static void late__joins_with_the_newest(void)
{
	struct world world;

	world_init(&world, 1, 4);
	for (unsigned int i = 0; i < 3; i++)
		world_start_worker(&world, i);
	world.spec.versions = 40;
	world_start_ps(&world);
	world_pass(&world, 200 * NDN_MS);
	world_start_worker(&world, 3);
	ends(&world, 1, 30);
	expect(world.worker[0].taken == 41);
	expect(world.worker[3].taken > 1 && world.worker[3].taken < 41);
	world_free(&world);
}

static void restart(enum ndn_mode mode)
{
	struct world world;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		begin(&world, seed, 3);
		world.spec.mode = mode;
		world.spec.versions = 30;
		world.loss = 50;
		world.late = 5 * NDN_MS;
		world_start_ps(&world);
		for (unsigned int i = 0; i < 4; i++) {
			world_pass(&world, 150 * NDN_MS);
			world_stop_ps(&world);
			world_pass(&world, 50 * NDN_MS);
			world_start_ps(&world);
		}
		if (!ends(&world, seed, 300))
			seed = SEEDS;
		world_free(&world);
	}
}

static void restart__sync_goes_on_from_the_checkpoint(void)
{
	restart(NDN_MODE_SYNC);
}

static void restart__async_gradients_are_of_one_life(void)
{
	restart(NDN_MODE_ASYNC);
}

/* ---- losses of single packets ---- */

static bool lose_distribution(struct world *world, int from, int to, enum ndn_name_kind what,
			      const struct ndn_name_parts *parts)
{
	static uint64_t asked_at[2];

	(void)parts;
	/* The answer follows its Interest after a short time. */
	if (from == 2 && what == NDN_IS_MODEL)
		asked_at[0] = world->now;
	return from == WORLD_PS && to == 2 && what == NDN_IS_MODEL &&
	       world->now > asked_at[0] + 5 * NDN_MS;
}

static void lost__distribution_is_fetched(void)
{
	struct world world;

	begin(&world, 1, 3);
	world.drop = lose_distribution;
	world_start_ps(&world);
	ends(&world, 1, 60);
	expect(world.worker[2].w.count[NDN_WORKER_FETCHES] >= 80);
	expect(world.worker[0].w.count[NDN_WORKER_FETCHES] <= 16);
	world_free(&world);
}

static bool lose_acks(struct world *world, int from, int to, enum ndn_name_kind what,
		      const struct ndn_name_parts *parts)
{
	static unsigned int n;

	(void)world;
	(void)to;
	(void)parts;
	return from == WORLD_PS && what == NDN_IS_ACK && n++ % 4;
}

static void lost__acknowledgements_are_asked_again(void)
{
	struct world world;

	begin(&world, 1, 3);
	world.drop = lose_acks;
	world_start_ps(&world);
	ends(&world, 1, 30);
	world_free(&world);
}

static bool lose_deletes(struct world *world, int from, int to, enum ndn_name_kind what,
			 const struct ndn_name_parts *parts)
{
	(void)world;
	(void)from;
	(void)to;
	(void)parts;
	return what == NDN_IS_DELETE;
}

static void lost__nobody_answers_a_delete(void)
{
	struct world world;

	begin(&world, 1, 2);
	world.drop = lose_deletes;
	world_start_ps(&world);
	ends(&world, 1, 30);
	world_free(&world);
}

static bool lose_answers(struct world *world, int from, int to, enum ndn_name_kind what,
			 const struct ndn_name_parts *parts)
{
	(void)to;
	/* Lose the first answer with the second segment of each gradient. */
	return from >= 0 && what == NDN_IS_GRADIENT && parts->segment == 1 &&
	       world->step++ % 2 == 0;
}

static void lost__an_answer_is_given_again(void)
{
	struct world world;

	begin(&world, 1, 3);
	world.drop = lose_answers;
	world_start_ps(&world);
	ends(&world, 1, 30);
	expect(total(&world, NDN_WORKER_ANSWERS) > 3 * 10 * 8);
	world_free(&world);
}

static bool lose_all_of_ps(struct world *world, int from, int to, enum ndn_name_kind what,
			   const struct ndn_name_parts *parts)
{
	(void)world;
	(void)to;
	(void)what;
	(void)parts;
	return from == WORLD_PS;
}

static void silence__of_leases_ends_the_task(void)
{
	struct world world;

	begin(&world, 1, 2);
	world.spec.versions = 1000;
	world_start_ps(&world);
	world_pass(&world, NDN_SEC / 2);
	expect(world.worker[0].taken > 2);
	world.drop = lose_all_of_ps;
	world_pass(&world, 12 * NDN_SEC);
	expect_eq(world.worker[0].over, 0);
	world_pass(&world, 12 * NDN_SEC);
	expect_eq(world.worker[0].over, -EHOSTDOWN);
	expect_eq(world.worker[0].w.count[NDN_WORKER_LOST], 1);
	expect_eq(world.worker[0].w.state, NDN_WORKER_IDLE);
	world_free(&world);
}

/* ---- keys ---- */

static void keys__of_both_ends(void)
{
	static const uint8_t secret[NDN_KEY_SIZE] = {1}, seed[NDN_KEY_SIZE] = {2};
	struct world world;

	world_init(&world, 1, 2);
	ndn_key_hmac(&world.worker_key, secret);
	ndn_key_ed25519(&world.ps_key, seed);
	for (unsigned int i = 0; i < 2; i++)
		world_start_worker(&world, i);
	world_start_ps(&world);
	ends(&world, 1, 10);
	expect_eq(total(&world, NDN_WORKER_BAD_SIGNATURE), 0);
	world_free(&world);
}

/* The PS signs with a key that the workers do not expect. */
static void keys__another_ps_is_not_believed(void)
{
	static const uint8_t one[NDN_KEY_SIZE] = {1}, other[NDN_KEY_SIZE] = {2};
	struct world world;

	world_init(&world, 1, 2);
	ndn_key_ed25519(&world.ps_key, one);
	for (unsigned int i = 0; i < 2; i++)
		world_start_worker(&world, i);
	ndn_key_ed25519(&world.ps_key, other);
	world_start_ps(&world);
	world_pass(&world, 20 * NDN_SEC);
	for (unsigned int i = 0; i < 2; i++) {
		const struct ndn_worker *w = &world.worker[i].w;

		expect_eq(world.worker[i].taken, 0);
		expect(w->count[NDN_WORKER_BAD_SIGNATURE] > 2);
		/*
		 * The worker gives up, and waits for an offer that it can
		 * verify.
		 */
		expect(w->count[NDN_WORKER_UNSTARTED] >= 1);
	}
	world_free(&world);
}

int main(void)
{
	run(sync__every_worker_takes_every_version);
	run(sync__survives_loss_and_disorder);
	run(async__survives_loss_and_disorder);
	run(async__a_slow_worker_holds_nobody_up);
	run(sync__a_slow_worker_is_waited_for);
	run(dead__the_others_go_on_without);
	run(dead__comes_back_with_another_gradient);
	run(late__joins_with_the_newest);
	run(restart__sync_goes_on_from_the_checkpoint);
	run(restart__async_gradients_are_of_one_life);
	run(lost__distribution_is_fetched);
	run(lost__acknowledgements_are_asked_again);
	run(lost__nobody_answers_a_delete);
	run(lost__an_answer_is_given_again);
	run(silence__of_leases_ends_the_task);
	run(keys__of_both_ends);
	run(keys__another_ps_is_not_believed);
	return tap_done();
}
