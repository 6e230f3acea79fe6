// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cost of one packet at a relay: the real program under BPF_PROG_TEST_RUN,
 * admission, sum and result of every chunk of a job of 4 workers with the
 * default window, 352 values a packet; dense, or masked, whose packets carry fewer but
 * count as what they expand to. A driver program (drive.bpf.c) makes
 * one packet into all of them and is part of the time.
 *
 * Other work on the machine only adds time, so the fastest of many short runs
 * counts; the median is shown beside it.
 *
 *	bench-relay [-r ROUNDS] [-o FILE]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/bpf/world/drive.h"

#define BENCH_SLOTS 512 /* window 256 */
#define REPEAT 4000	/* packets in one run: shorter than a time slice */
#define ROUNDS 500
#define ROUNDS_MAX 10000

/**
 * struct kind - one way to run
 * @name:    in the table.
 * @driver:  program of drive.bpf.c.
 * @lanes:   CPUs at once.
 * @nothing: the driver alone.
 * @shared:  for the shared tree.
 * @nm:      mask of its packets; 0: dense.
 * @ns:      of each round: time of one lane's packet.
 */
struct kind {
	const char *name;
	const char *driver;
	int lanes;
	bool nothing, shared;
	uint8_t nm;
	double ns[ROUNDS_MAX];
};

/* log2(N) << 5 | (M - 1) */
#define NM(log2_group, kept) ((log2_group) << 5 | ((kept)-1))

enum { ALONE, ONE, TWO, SHARED, POOL, MASK_24, MASK_14, MASK_38, MASK_78, MASK_1632, KINDS };

static struct kind kinds[KINDS] = {
	{.name = "driver alone", .driver = "drive_chunks", .lanes = 1, .nothing = true},
	{.name = "one core", .driver = "drive_chunks", .lanes = 1},
	{.name = "two cores, runs of chunks", .driver = "drive_chunks", .lanes = 2},
	{.name = "two cores, shared chunks", .driver = "drive_children", .lanes = 2},
	{.name = "one core, shared pool", .driver = "drive_shared", .lanes = 1, .shared = true},
	{.name = "one core, masks 2:4", .driver = "drive_masked", .lanes = 1, .nm = NM(2, 2)},
	{.name = "one core, masks 1:4", .driver = "drive_masked", .lanes = 1, .nm = NM(2, 1)},
	{.name = "one core, masks 3:8", .driver = "drive_masked", .lanes = 1, .nm = NM(3, 3)},
	{.name = "one core, masks 7:8", .driver = "drive_masked", .lanes = 1, .nm = NM(3, 7)},
	{.name = "one core, masks 16:32", .driver = "drive_masked", .lanes = 1, .nm = NM(5, 16)},
};

static void run_kind(struct kind *k, int round)
{
	struct drive d[2] = {};
	uint64_t packets = 0, ns = 0;

	drive_target(k->nothing);
	for (int i = 0; i < k->lanes; i++) {
		d[i].name = k->driver;
		d[i].cpu = d[i].lane = i;
		d[i].lanes = k->lanes;
		d[i].shared = k->shared;
		d[i].nm = k->nm;
		d[i].repeat = REPEAT;
	}
	drive_run(d, k->lanes);
	for (int i = 0; i < k->lanes; i++) {
		packets += d[i].count;
		if (d[i].ns > ns)
			ns = d[i].ns;
	}
	k->ns[round] = packets ? (double)ns * k->lanes / packets : 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double gbps(double ns)
{
	return TRIB_NVAL_SMALL * 32 / ns;
}

static void show(const struct kind *k, int rounds)
{
	double best = k->ns[0], median = k->ns[rounds / 2];

	printf("  %-26s %7.1f %7.1f", k->name, best, median);
	if (k->nothing)
		printf("\n");
	else
		printf(" %9.1f %9.1f\n", gbps(best) * k->lanes, gbps(median) * k->lanes);
}

static int write_json(const char *path)
{
	double one = kinds[ONE].ns[0], two = kinds[TWO].ns[0], slowest = 0;
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return 1;
	}
	for (int k = MASK_24 + 1; k < KINDS; k++)
		if (kinds[k].ns[0] > slowest)
			slowest = kinds[k].ns[0];
	fprintf(f,
		"{\"figures\": {\"gbps_per_core\": %.2f, "
		"\"scale_2_cores\": %.3f, \"scale_2_cores_shared\": %.3f, "
		"\"ns_per_packet\": %.2f, \"ns_driver\": %.2f, "
		"\"ns_per_packet_pool\": %.2f, "
		"\"gbps_expand_24_per_core\": %.2f, \"gbps_expand_any_per_core\": %.2f}}\n",
		gbps(one), 2 * one / two, 2 * one / kinds[SHARED].ns[0], one, kinds[ALONE].ns[0],
		kinds[POOL].ns[0], gbps(kinds[MASK_24].ns[0]), gbps(slowest));
	return fclose(f) ? 1 : 0;
}

/* Has the program done what was asked? Else the figures mean nothing. */
static bool all_done(void)
{
	uint64_t grads = stat_of(TRIB_RX_GRAD), done = stat_of(TRIB_DONE), dropped = 0;

	for (int i = TRIB_DROP_SHORT; i < TRIB_STAT__MAX; i++)
		dropped += stat_of(i);
	printf("  %llu packets, %llu results, %llu dropped\n", (unsigned long long)grads,
	       (unsigned long long)done, (unsigned long long)dropped);
	return grads && done * 4.04 > grads && dropped * 100 < grads;
}

int main(int argc, char **argv)
{
	int rounds = ROUNDS, opt, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	const char *path = NULL;

	while ((opt = getopt(argc, argv, "r:o:")) != -1) {
		if (opt == 'o')
			path = optarg;
		else if (opt == 'r')
			rounds = atoi(optarg);
		if (opt == '?' || rounds < 1 || rounds > ROUNDS_MAX) {
			fprintf(stderr, "usage: bench-relay [-r ROUNDS] [-o FILE]\n");
			return 2;
		}
	}
	if (cpus < 2) {
		fprintf(stderr, "bench-relay: needs two CPUs\n");
		return 1;
	}
	w.nslots = BENCH_SLOTS;
	world_open(TRIB_NVAL_SMALL);
	drive_tree(BENCH_SLOTS);
	drive_pool(BENCH_SLOTS);
	drive_open(32, ~0U);
	for (int round = 0; round < rounds; round++)
		for (int k = 0; k < KINDS; k++)
			run_kind(&kinds[k], round);
	printf("  %-26s %7s %7s %9s %9s\n", "", "ns/pkt", "median", "Gb/s", "median");
	for (int k = 0; k < KINDS; k++) {
		qsort(kinds[k].ns, rounds, sizeof(double), by_value);
		show(&kinds[k], rounds);
	}
	printf("  scale of two cores: %.2f, with shared chunks: %.2f\n",
	       2 * kinds[ONE].ns[0] / kinds[TWO].ns[0], 2 * kinds[ONE].ns[0] / kinds[SHARED].ns[0]);
	if (!all_done()) {
		fprintf(stderr, "bench-relay: packets were dropped\n");
		return 1;
	}
	return path ? write_json(path) : 0;
}
