// SPDX-License-Identifier: BSD-2-Clause
/*
 * The curve of scale: predicted time of an allreduce by number of ranks, for each
 * algorithm, up to 1,088 ranks, by the cost model of userspace/peer/choose.
 *
 *	bench-peer-scale --bytes 65536 --alpha 1e-3 --beta 8e-9
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer/choose/choose.h"

struct options {
	struct peer_costs costs;
	struct peer_load load;
	uint32_t nics;
	uint32_t most;
	double bytes;
};

static int usage(void)
{
	fprintf(stderr, "usage: bench-peer-scale [OPTION]...\n"
			"  --bytes N     of the vector (65536)\n"
			"  --alpha S     seconds from a message's start to its first byte (1e-3)\n"
			"  --overhead S  seconds that a message keeps its sender busy (1e-6)\n"
			"  --beta S      seconds per byte (8e-9: 1 Gb/s)\n"
			"  --gamma S     seconds per byte added (1e-10)\n"
			"  --work S      seconds of CPU that a message costs at each end (0)\n"
			"  --cpus N      CPUs that all ranks share (0: each has its own)\n"
			"  --chunk N     bytes that travel together (65536)\n"
			"  --nics N      of each rank (1)\n"
			"  --ranks N     the last of the curve, up to 1088 (1088)\n");
	return 2;
}

static const struct option longopts[] = {
	{"bytes", required_argument, NULL, 'n'},
	{"alpha", required_argument, NULL, 'a'},
	{"overhead", required_argument, NULL, 'o'},
	{"beta", required_argument, NULL, 'b'},
	{"gamma", required_argument, NULL, 'g'},
	{"work", required_argument, NULL, 'w'},
	{"cpus", required_argument, NULL, 'p'},
	{"chunk", required_argument, NULL, 'c'},
	{"nics", required_argument, NULL, 'k'},
	{"ranks", required_argument, NULL, 'r'},
	{NULL, 0, NULL, 0},
};

static bool set(struct options *o, int opt, double v)
{
	switch (opt) {
	case 'n':
		o->bytes = v;
		return v >= 0 && v <= 1e12;
	case 'a':
		o->costs.nic[0].alpha = v;
		return v >= 0;
	case 'o':
		o->costs.nic[0].overhead = v;
		return v >= 0;
	case 'b':
		o->costs.nic[0].beta = v;
		return v >= 0;
	case 'g':
		o->costs.gamma = v;
		return v >= 0;
	case 'w':
		o->costs.work = v;
		return v >= 0;
	case 'p':
		o->costs.cpus = v;
		return v >= 0 && v <= PEER_CPUS_MAX;
	case 'c':
		o->load.chunk = v;
		return v >= 4 && v <= 1e9;
	case 'k':
		o->nics = v;
		return v >= 1 && v <= PEER_NICS_MAX;
	case 'r':
		o->most = v;
		return v >= 2 && v <= 1088;
	}
	return false;
}

static bool parse(struct options *o, int argc, char **argv)
{
	int opt, i;

	*o = (struct options){.bytes = 65536, .nics = 1, .most = 1088};
	o->costs.nic[0] = (struct peer_rate){1e-3, 1e-6, 8e-9};
	o->costs.gamma = 1e-10;
	o->load = (struct peer_load){.size = 4, .chunk = 65536};
	while ((opt = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		char *end = optarg;
		double v = optarg ? strtod(optarg, &end) : 0;

		if (opt == '?' || end == optarg || *end || !set(o, opt, v))
			return false;
	}
	for (i = 1; i < PEER_NICS_MAX; i++)
		o->costs.nic[i] = o->costs.nic[0];
	o->load.what.count = o->bytes / 4;
	return optind == argc;
}

static void print(const struct peer_option *p, bool *first)
{
	const struct peer_shape *s = &p->shape;
	char text[64];

	peer_shape_text(s, text, sizeof(text));
	printf("%s\n  {\"ranks\": %u, \"algorithm\": \"%s\", \"shape\": \"%s\", ",
	       *first ? "" : ",", s->world, peer_alg_name(s->alg), text);
	if (s->alg == PEER_ALG_TORUS)
		printf("\"columns\": \"%s\", ", s->halving_below ? "halving" : "ring");
	printf("\"seconds\": %.9g}", p->seconds);
	*first = false;
}

/* The squarest matrix is a torus as people think of it: rings both ways. */
static int print_square(const struct options *o, uint32_t world, bool *first)
{
	struct peer_option p = {
		.shape = {.alg = PEER_ALG_TORUS, .world = world, .nics = o->nics},
	};

	if (!peer_shape_torus(world, &p.shape.rows, &p.shape.cols) || world < 4)
		return 0;
	p.seconds = peer_cost(&p.shape, &o->load, &o->costs);
	if (p.seconds < 0)
		return p.seconds;
	print(&p, first);
	return 0;
}

/* The best arrangement of each algorithm for a number of ranks, and the squarest torus. */
static int point(const struct options *o, uint32_t world, bool *first)
{
	struct peer_place place = {.world = world, .nics = o->nics};
	bool said[PEER_ALG__MAX] = {false};
	struct peer_choice c;
	uint32_t i;
	int err = peer_choose(&c, &place, &o->load, &o->costs);

	for (i = 0; !err && i < c.n; i++) {
		const struct peer_option *p = &c.option[i];

		if (p->seconds < 0 || said[p->shape.alg])
			continue;
		said[p->shape.alg] = true;
		print(p, first);
	}
	return err ? err : print_square(o, world, first);
}

int main(int argc, char **argv)
{
	static const uint32_t ranks[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1088};
	struct options o;
	bool first = true;
	unsigned int i;
	int err = 0;

	if (!parse(&o, argc, argv))
		return usage();
	printf("{\"bytes\": %.0f, \"alpha\": %g, \"overhead\": %g, \"beta\": %g, \"gamma\": %g, "
	       "\"chunk\": %llu, \"nics\": %u, \"points\": [",
	       o.bytes, o.costs.nic[0].alpha, o.costs.nic[0].overhead, o.costs.nic[0].beta,
	       o.costs.gamma, (unsigned long long)o.load.chunk, o.nics);
	for (i = 0; !err && i < sizeof(ranks) / sizeof(*ranks) && ranks[i] <= o.most; i++)
		err = point(&o, ranks[i], &first);
	puts("\n]}");
	if (err)
		fprintf(stderr, "bench-peer-scale: %s\n", strerror(-err));
	return err ? 1 : 0;
}
