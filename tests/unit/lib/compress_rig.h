/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs, networks and steps of the tests that compare compressed sums with the oracle. */
#ifndef COMPRESS_RIG_H
#define COMPRESS_RIG_H

#include "tests/lib/compress_world.h"
#include "tests/lib/tap.h"

static struct sim sim;
static struct cw w;

static const char *const specs[] = {
	"dense", "2:4",	 "4:8",	      "1:32",	  "7:16",     "1:2",	   "int16",
	"int8",	 "int4", "2:4+int16", "2:4+int8", "2:4+int4", "1:32+int4", "3:8+int8",
};

#define NSPEC (sizeof(specs) / sizeof(specs[0]))

static inline struct sim_options bad_network(unsigned int workers, uint64_t seed)
{
	struct sim_options net = sim_star(workers);

	net.seed = seed;
	net.wire.loss = 20;
	net.wire.dup = 20;
	net.wire.late = 50;
	return net;
}

/* Some steps, with the same leader not twice in a row. */
static inline void steps(unsigned int n)
{
	unsigned int r;

	while (n--) {
		cw_gradients(&w);
		cw_oracle(&w);
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		for (r = 0; r < sim.nworker; r++)
			expect_eq(w.rank[r].status, 0);
		expect_eq(cw_wrong(&w), 0);
		cw_step(&w);
	}
}

/* Each of @n specs on gradients of all kinds of length, otherwise with the options @o. */
static inline void all_tails(const char *const *list, unsigned int n,
			     struct trib_compress_options o)
{
	static const size_t counts[] = {0, 1, 3, 31, 32, 33, 63, 1000, 1025, 4097};
	unsigned int i, k;

	o.bucket = 1024;
	for (i = 0; i < n; i++) {
		o.schedule = list[i];
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
			struct sim_options net = sim_star(3);

			cw_init(&w, &sim, &net, &o, counts[k]);
			steps(2);
			cw_free(&w);
		}
	}
}

#endif /* COMPRESS_RIG_H */
