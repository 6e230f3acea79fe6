// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed sums on simulated networks: results and residuals are those of an oracle,
 * bit by bit, whatever the network loses, duplicates and reorders.
 */
#include "compress_rig.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void sums__are_those_of_the_oracle_for_all_specs(void)
{
	unsigned int i;

	for (i = 0; i < NSPEC; i++) {
		struct sim_options net = bad_network(1 + i % 5, i);
		struct trib_compress_options o = {.schedule = specs[i], .seed = i, .bucket = 4096};

		net.racks = i % 3 == 1 && net.workers > 1 ? 2 : 0;
		net.trees = i % 3 == 2 ? 2 : 0;
		if (i % 2)
			net.nval = TRIB_NVAL_SMALL;
		cw_init(&w, &sim, &net, &o, 20000 + i);
		steps(3);
		cw_free(&w);
	}
}

static void sums__are_right_for_all_tails(void)
{
	all_tails(specs, NSPEC, (struct trib_compress_options){.memory = TRIB_MEMORY_HOST});
}

static void sums__may_be_in_place_averages_and_without_feedback(void)
{
	unsigned int i;

	for (i = 0; i < NSPEC; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {
			.schedule = specs[i], .bucket = 2048, .no_feedback = i % 2};

		cw_init(&w, &sim, &net, &o, 9000);
		w.in_place = true;
		w.op = i % 4 < 2 ? TRIB_AVG : TRIB_SUM;
		steps(3);
		cw_free(&w);
	}
}

/* Specs of floats, with masks that each rank selects by itself. */
static const char *const local_specs[] = {"dense", "2:4", "4:8", "1:32", "7:16", "31:32", "1:2"};

#define NLOCAL (sizeof(local_specs) / sizeof(local_specs[0]))

static void local__sums_are_those_of_the_oracle(void)
{
	unsigned int i;

	for (i = 0; i < 2 * NLOCAL; i++) {
		struct sim_options net = bad_network(2 + i % 4, i);
		struct trib_compress_options o = {
			.schedule = local_specs[i / 2], .bucket = 4096, .mask = "local"};

		net.racks = i % 3 == 1 ? 2 : 0;
		net.trees = i % 3 == 2 ? 2 : 0;
		if (i % 2)
			net.nval = TRIB_NVAL_SMALL;
		o.no_feedback = i % 5 == 4;
		cw_init(&w, &sim, &net, &o, 20000 + i);
		w.in_place = i % 4 == 3;
		w.op = i % 3 ? TRIB_SUM : TRIB_AVG;
		steps(3);
		cw_free(&w);
	}
}

static void local__sums_are_right_for_all_tails(void)
{
	all_tails(local_specs, NLOCAL, (struct trib_compress_options){.mask = "local"});
}

static void local__sums_are_right_in_jobs_of_floats(void)
{
	unsigned int i;

	for (i = 0; i < NLOCAL; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {
			.schedule = local_specs[i], .bucket = 2048, .mask = "local"};

		net.fmt = TRIB_FMT_F32;
		net.racks = i % 2 ? 2 : 0;
		cw_init(&w, &sim, &net, &o, 9001);
		steps(3);
		cw_free(&w);
	}
}

/* Averages of integers are rounded once, for any number of ranks. */
static void averages__of_three_are_exact(void)
{
	struct sim_options net = sim_star(3);
	struct trib_compress_options o = {.schedule = "2:4+int8"};

	cw_init(&w, &sim, &net, &o, 5000);
	w.op = TRIB_AVG;
	steps(3);
	cw_free(&w);
}

static void sums__follow_the_schedule(void)
{
	struct sim_options net = sim_star(3);
	struct trib_compress_options o = {.schedule = "0:dense,2:4:8,4:2:4+int8", .bucket = 1024};
	char text[16];

	cw_init(&w, &sim, &net, &o, 3000);
	steps(2);
	trib_compress_spec(w.rank[1].c, text, sizeof(text));
	expect(!strcmp(text, "4:8"));
	steps(2);
	trib_compress_spec(w.rank[2].c, text, sizeof(text));
	expect(!strcmp(text, "2:4+int8"));
	steps(3);
	cw_free(&w);
}

/* Whatever words carry, relays of jobs of floats add them as words. */
static void sums__of_integers_are_exact_in_jobs_of_floats(void)
{
	static const uint16_t formats[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {.schedule = "2:4+int8", .bucket = 2048};

		net.fmt = formats[i];
		cw_init(&w, &sim, &net, &o, 9000);
		steps(3);
		cw_free(&w);
	}
}

/* Sums of few bits are exact in any order. */
static void sums__of_floats_are_right_in_jobs_of_floats(void)
{
	static const char *const few[] = {"dense", "2:4", "1:32"};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct sim_options net = bad_network(4, i);
		struct trib_compress_options o = {.schedule = few[i], .bucket = 2048};

		net.fmt = TRIB_FMT_F32;
		cw_init(&w, &sim, &net, &o, 9000);
		w.op = i % 2 ? TRIB_AVG : TRIB_SUM;
		steps(3);
		cw_free(&w);
	}
}

/* Results do not depend on the sizes of packets or on windows. */
static void sums__are_the_same_in_packets_of_all_sizes(void)
{
	static const unsigned int nval[] = {16, 32, TRIB_NVAL_SMALL, TRIB_NVAL_LARGE};
	static float first[3000];
	unsigned int i;
	size_t k;

	for (i = 0; i < 4; i++) {
		struct sim_options net = sim_star(3);
		struct trib_compress_options o = {.schedule = "2:4+int4", .seed = 9};

		net.nval = nval[i];
		net.window = 4 << i;
		cw_init(&w, &sim, &net, &o, 3000);
		for (k = 0; k < 3000; k++)
			w.rank[0].x[k] = w.rank[1].x[k] = w.rank[2].x[k] = (float)k / 7;
		cw_issue(&w);
		expect(cw_run(&w));
		if (!i)
			memcpy(first, cw_result(&w, 0), sizeof(first));
		expect(!memcmp(first, cw_result(&w, 2), sizeof(first)));
		cw_free(&w);
	}
}

/* Ranks with equal gradients round differently, or their errors would add up. */
static void ranks__round_differently(void)
{
	struct sim_options net = sim_star(4);
	struct trib_compress_options o = {.schedule = "int4"};
	const float *a, *b;
	unsigned int differ = 0;
	size_t k;

	cw_init(&w, &sim, &net, &o, 1000);
	for (k = 0; k < 1000; k++)
		w.rank[0].x[k] = w.rank[1].x[k] = w.rank[2].x[k] = w.rank[3].x[k] = (float)k;
	cw_issue(&w);
	expect(cw_run(&w));
	a = cw_residual(&w, 0);
	b = cw_residual(&w, 1);
	for (k = 0; k < 1000; k++)
		differ += a[k] != b[k];
	expect(differ > 100);
	cw_free(&w);
}

/* Other collectives pass a compressed one that waits, and tensors overlap. */
static void messages__of_several_tensors_and_a_barrier_overlap(void)
{
	struct sim_options net = bad_network(3, 4);
	struct trib_compress_options o = {.schedule = "2:4+int8", .bucket = 1024};
	static float x[3][2000], y[3][2000];
	struct trib_buffer src[3], dst[3];
	const float *sum;
	struct trib_req *req[3], *barrier[3];
	unsigned int r, wrong = 0;
	int done;
	size_t k;

	cw_init(&w, &sim, &net, &o, 5000);
	cw_gradients(&w);
	cw_oracle(&w);
	expect_eq(cw_issue(&w), 0);
	for (r = 0; r < 3; r++) {
		for (k = 0; k < 2000; k++)
			x[r][k] = (float)(k % 64);
		src[r] = cw_buffer(&w, r, x[r], 2000);
		dst[r] = cw_buffer(&w, r, y[r], 2000);
		expect_eq(trib_compress_iallreduce_buffer(w.rank[r].c, 6, &src[r], &dst[r], 2000,
							  TRIB_F32, TRIB_SUM, &req[r]),
			  0);
		expect_eq(trib_ibarrier(sim.worker[r].t, &barrier[r]), 0);
		/* The key's message is under way. */
		expect_eq(trib_compress_iallreduce_buffer(w.rank[r].c, 6, &src[r], &dst[r], 2000,
							  TRIB_F32, TRIB_SUM, &req[r]),
			  -EBUSY);
		expect_eq(trib_compress_step(w.rank[r].c), -EBUSY);
		expect_eq(trib_compress_close(w.rank[r].c), -EBUSY);
	}
	expect(cw_run(&w));
	sim_run(&sim, NULL, sim.now + 2 * TRIB_SEC);
	expect_eq(cw_wrong(&w), 0);
	for (r = 0; r < 3; r++) {
		expect(req[r]->done && barrier[r]->done);
		expect_eq(trib_test(req[r], &done), 0);
		expect_eq(trib_test(barrier[r], &done), 0);
		sum = cw_view(&dst[r]);
		for (k = 0; k < 2000; k++)
			wrong += k % 4 >= 2 ? fabsf(sum[k] - 3 * x[r][k]) > 3 * 0.5f : sum[k] != 0;
		cw_buffer_free(&src[r]);
		cw_buffer_free(&dst[r]);
	}
	expect_eq(wrong, 0);
	cw_free(&w);
}

/* --- many tensors in flight */

#define FLIGHT 5

static struct trib_req *flight[SIM_WORKERS][FLIGHT];
static float *grad[SIM_WORKERS][FLIGHT];
static struct trib_buffer buffer[SIM_WORKERS][FLIGHT];

static bool flight_done(struct sim *s)
{
	unsigned int r, i;

	for (r = 0; r < s->nworker; r++)
		for (i = 0; i < FLIGHT; i++)
			if (!flight[r][i]->done)
				return false;
	return true;
}

static void launch(unsigned int n, const size_t *counts)
{
	unsigned int r, i;
	size_t k;

	for (r = 0; r < n; r++) {
		for (i = 0; i < FLIGHT; i++) {
			grad[r][i] = calloc(counts[i] + 1, sizeof(float));
			for (k = 0; k < counts[i]; k++)
				grad[r][i][k] = (float)(sim_rnd(&sim) % 999);
			buffer[r][i] = cw_buffer(&w, r, grad[r][i], counts[i]);
			expect_eq(trib_compress_iallreduce_buffer(
					  w.rank[r].c, i, &buffer[r][i], &buffer[r][i], counts[i],
					  TRIB_F32, TRIB_SUM, &flight[r][i]),
				  0);
		}
		sim_call_at(&sim.worker[r], sim.now);
	}
}

static void land(unsigned int n, const size_t *counts)
{
	unsigned int r, i;
	int done;

	for (r = 0; r < n; r++)
		for (i = 0; i < FLIGHT; i++)
			expect_eq(trib_test(flight[r][i], &done), 0);
	for (i = 0; i < FLIGHT; i++) {
		for (r = 1; r < n; r++)
			expect(!memcmp(cw_view(&buffer[r][i]), cw_view(&buffer[0][i]),
				       counts[i] * sizeof(float)));
		for (r = 0; r < n; r++) {
			cw_buffer_free(&buffer[r][i]);
			free(grad[r][i]);
		}
	}
}

/* Windows are small, and codecs stop and go: no rank waits for ever. */
static void messages__in_flight_never_block_each_other(void)
{
	static const unsigned int windows[] = {1, 2, 4, 16};
	unsigned int seed, i;

	for (seed = 0; seed < 48; seed++) {
		struct sim_options net = bad_network(2 + seed % 4, seed);
		struct trib_compress_options o = {.schedule = specs[seed % NSPEC], .bucket = 512};
		size_t counts[FLIGHT];

		net.window = windows[seed % 4];
		net.racks = seed % 3 == 1 ? 2 : 0;
		net.trees = seed % 3 == 2 ? 3 : 0;
		net.timeout_ms = 60000;
		cw_init(&w, &sim, &net, &o, 1);
		for (i = 0; i < FLIGHT; i++)
			counts[i] = sim_rnd(&sim) % 4000;
		launch(net.workers, counts);
		for (i = 0; i < 60; i++) {
			w.rank[sim_rnd(&sim) % net.workers].mute ^= 1;
			sim_run(&sim, flight_done, sim.now + 300000);
		}
		for (i = 0; i < net.workers; i++) {
			w.rank[i].mute = false;
			sim_call_at(&sim.worker[i], sim.now);
		}
		if (!expect(sim_run(&sim, flight_done, sim.now + 30 * TRIB_SEC)))
			printf("# seed %u\n", seed);
		land(net.workers, counts);
		cw_free(&w);
	}
}

static void counters__tell_bytes_and_energy(void)
{
	struct sim_options net = sim_star(2);
	struct trib_compress_options o = {.schedule = "2:4+int8", .measure = 1};
	struct trib_compress_counters n[2];
	unsigned int r;

	cw_init(&w, &sim, &net, &o, 1 << 16);
	steps(1);
	for (r = 0; r < 2; r++) {
		n[r].size = sizeof(n[r]);
		trib_compress_counters(w.rank[r].c, &n[r]);
		expect_eq(n[r].messages, 1);
		expect_eq(n[r].bad, 0);
		expect_eq(n[r].bytes_dense, 4 << 16);
		/* The mask suits the leader, rank 0. */
		expect(n[r].energy_left > (r ? 0.4 : 0.1) * n[r].energy);
		expect(n[r].energy_left < (r ? 0.6 : 0.3) * n[r].energy);
	}
	/* 7 lanes of 9 bits in a word; the leader sends the mask. */
	expect(n[1].bytes_sent > (1 << 15) / 7 * 8 && n[1].bytes_sent < 1.05 * (1 << 15) / 7 * 8);
	expect_eq(n[0].bytes_sent - n[1].bytes_sent, 1 << 13);
	expect_eq(n[1].bytes_received, n[0].bytes_sent);
	cw_free(&w);
}

int main(void)
{
	run(sums__are_those_of_the_oracle_for_all_specs);
	run(sums__are_right_for_all_tails);
	run(sums__may_be_in_place_averages_and_without_feedback);
	run(local__sums_are_those_of_the_oracle);
	run(local__sums_are_right_for_all_tails);
	run(local__sums_are_right_in_jobs_of_floats);
	run(averages__of_three_are_exact);
	run(sums__follow_the_schedule);
	run(sums__of_integers_are_exact_in_jobs_of_floats);
	run(sums__of_floats_are_right_in_jobs_of_floats);
	run(sums__are_the_same_in_packets_of_all_sizes);
	run(ranks__round_differently);
	run(messages__of_several_tensors_and_a_barrier_overlap);
	run(messages__in_flight_never_block_each_other);
	run(counters__tell_bytes_and_energy);
	return tap_done();
}
