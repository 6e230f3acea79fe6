// SPDX-License-Identifier: BSD-2-Clause
/*
 * The whole engine on a simulated network: every result is exact and every
 * collective finishes, whatever the network loses, duplicates, delays, or
 * relays forget.
 */
#include "tests/lib/engine_script.h"

#include <math.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static struct script sc;

/* Small windows that change at random. */
static bool tiny;

static bool shake(struct sim *s, struct sim_worker *w, bool up, void *pkt, size_t len)
{
	(void)up;
	(void)pkt;
	(void)len;
	if (sim_rnd(s) % 8 == 0)
		w->t->eng.stream[0]->cong.cwnd = (1 + sim_rnd(s) % 8) * TRIB_CHUNK_ONE;
	return false;
}

/* Run one random job. Return: whether it was exact and finished. */
static bool try(const struct sim_options *o, unsigned int nops, unsigned int max,
		unsigned int wipes, uint64_t think)
{
	struct sim s;
	unsigned int i;
	bool good;

	sim_init(&s, o);
	if (tiny)
		s.tap = shake;
	script_init(&sc, &s, nops, max, o->nval);
	sc.think = think;
	script_start(&sc);
	for (i = 0; i < wipes; i++)
		sim_wipe_at(&s, sim_rnd(&s) % s.nrelay, s.now + sim_rnd(&s) % (40 * TRIB_MS));
	sim_run(&s, script_done, s.now + 300 * TRIB_SEC);
	good = script_good(&sc);
	if (!good)
		printf("# seed %llu workers %u racks %u window %u nval %u\n",
		       (unsigned long long)o->seed, o->workers, o->racks, o->window, o->nval);
	script_free(&sc);
	sim_free(&s);
	return good;
}

static struct sim_options options(uint64_t seed)
{
	static const unsigned int windows[] = {1, 2, 4, 16, 64, 256};
	struct sim_options o = {
		.seed = seed,
		.workers = 2 + seed % 7,
		.window = windows[seed / 7 % 6],
		.nval = seed % 5 ? TRIB_NVAL_SMALL : TRIB_NVAL_LARGE,
		.wire = {.delay = 50000},
	};

	/* With small chunks a message has many. */
	if (seed % 3 == 0)
		o.nval = 16;
	return o;
}

static void results__are_exact_on_a_good_network(void)
{
	uint64_t seed;

	for (seed = 0; seed < 60; seed++) {
		struct sim_options o = options(seed);

		if (!expect(try(&o, 20, seed % 4 ? 3000 : 60000 / o.workers, 0,
				seed % 2 ? 3 * TRIB_MS : 0)))
			return;
	}
}

static void results__are_exact_with_loss_duplication_and_reordering(void)
{
	uint64_t seed;

	for (seed = 100; seed < 220; seed++) {
		struct sim_options o = options(seed);

		o.wire.loss = seed % 2 ? 10 : 50;
		o.wire.dup = 50;
		o.wire.late = 50;
		if (!expect(try(&o, 12, 6000, 0, TRIB_MS)))
			return;
	}
}

static void results__are_exact_when_relays_forget(void)
{
	uint64_t seed;

	for (seed = 300; seed < 420; seed++) {
		struct sim_options o = options(seed);

		o.wire.loss = 20;
		o.wire.dup = 20;
		o.wire.late = 50;
		if (!expect(try(&o, 12, 6000, 8, TRIB_MS)))
			return;
	}
}

static void results__are_exact_in_a_tree_of_depth_two(void)
{
	uint64_t seed;

	for (seed = 500; seed < 600; seed++) {
		struct sim_options o = options(seed);

		o.racks = 2 + seed % 2;
		o.workers = o.racks * (1 + seed % 3);
		o.wire.loss = seed % 4 ? 30 : 0;
		o.wire.dup = 20;
		o.wire.late = 50;
		if (!expect(try(&o, 10, 4000, seed % 4 ? 6 : 0, TRIB_MS)))
			return;
	}
}

static const uint16_t float_formats[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};

/* One kind of chunk, without exponents; the rest as in other jobs. */
static void results__are_exact_in_jobs_of_floats(void)
{
	uint64_t seed;

	for (seed = 700; seed < 820; seed++) {
		struct sim_options o = options(seed);

		o.fmt = float_formats[seed % 3];
		if (seed % 2) {
			o.racks = 2;
			o.workers = 2 * (1 + seed % 3);
		}
		o.wire.loss = seed % 4 ? 20 : 0;
		o.wire.dup = 20;
		o.wire.late = 50;
		if (!expect(try(&o, 12, 6000, seed % 5 ? 0 : 4, TRIB_MS)))
			return;
	}
}

static void floats__that_are_not_finite_are_values(void)
{
	unsigned int f, i;

	for (f = 0; f < 3; f++) {
		struct sim_options o = {
			.seed = f, .workers = 2, .window = 4, .nval = 16, .fmt = float_formats[f]};
		float x[2][4] = {{INFINITY, INFINITY, NAN, 1}, {1, -INFINITY, 2, 70000}};
		struct trib_req *r[2];
		struct sim s;

		sim_init(&s, &o);
		for (i = 0; i < 2; i++) {
			expect_eq(trib_iallreduce(s.worker[i].t, x[i], x[i], 4, TRIB_F32, TRIB_SUM,
						  &r[i]),
				  0);
			sim_call_at(&s.worker[i], s.now + 1);
		}
		sim_run(&s, NULL, s.now + TRIB_SEC);
		for (i = 0; i < 2; i++) {
			expect(r[i]->done && !r[i]->status);
			expect(isinf(x[i][0]) && x[i][0] > 0);
			expect(isnan(x[i][1]) && isnan(x[i][2]));
			/* Beyond the largest half float. */
			expect(o.fmt == TRIB_FMT_F16 ? isinf(x[i][3])
						     : fabsf(x[i][3] - 70001) < 300);
		}
		expect(!memcmp(x[0], x[1], sizeof(x[0])));
		sim_free(&s);
	}
}

static void parts__of_floats_have_all_elements_once(void)
{
	static const uint64_t counts[] = {1, 2, 351, 352, 353, 705, 1000003};
	unsigned int i, f;

	for (f = 0; f < 3; f++) {
		struct sim_options o = {
			.seed = 1, .workers = 2, .window = 4, .nval = 352, .fmt = float_formats[f]};
		struct sim s;

		sim_init(&s, &o);
		for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct trib_part p = {.kind = TRIB_KIND_FLOATS, .count = counts[i]};
			uint64_t off, next = 0;
			struct trib_shape sh;

			trib_part_count(&p, 352, o.fmt);
			expect_eq(p.nexp, 0);
			for (off = 0; off < p.nchunk; off++) {
				trib_chunk_shape(s.worker[0].t->eng.stream[0], &p, off, &sh);
				expect_eq(sh.first, next);
				expect_eq(sh.fmt, o.fmt);
				expect(sh.n && sh.n <= 352);
				expect_eq(sh.nval, f ? (sh.n + 1) / 2 : sh.n);
				next += sh.n;
			}
			expect_eq(next, counts[i]);
		}
		sim_free(&s);
	}
}

static void results__are_exact_over_several_trees(void)
{
	uint64_t seed;

	for (seed = 1000; seed < 1060; seed++) {
		struct sim_options o = options(seed);

		o.trees = 2 + seed % 3;
		o.nval = 16;
		o.wire.loss = seed % 2 ? 20 : 0;
		if (!expect(try(&o, 12, 6000, 4, TRIB_MS)))
			return;
	}
}

static void results__do_not_depend_on_one_worker_being_late(void)
{
	uint64_t seed;

	for (seed = 700; seed < 730; seed++) {
		struct sim_options o = options(seed);

		o.wire.loss = seed % 2 ? 10 : 0;
		if (!expect(try(&o, 10, 3000, 0, 200 * TRIB_MS)))
			return;
	}
}

/* Ranks with windows full of different chunks must not wait for each other. */
static void windows__that_are_tiny_do_not_lock_up(void)
{
	uint64_t seed;

	tiny = true;
	for (seed = 900; seed < 960; seed++) {
		struct sim_options o = options(seed);

		o.nval = 16;
		o.window = 64;
		o.wire.loss = 50;
		if (!expect(try(&o, 12, 300, 0, TRIB_MS)))
			break;
	}
	tiny = false;
}

static void parts__of_any_length_have_all_elements_once(void)
{
	static const uint64_t counts[] = {1,	 2,	351,	352,	353,
					  61952, 61953, 123904, 123905, 1000003};
	struct sim_options o = {.seed = 1, .workers = 2, .window = 4, .nval = 352};
	struct sim s;
	unsigned int i;

	sim_init(&s, &o);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct trib_part p = {.kind = TRIB_KIND_FSUM, .count = counts[i]};
		uint64_t off, next = 0, exps = 0, words = 0, ahead[8] = {0};
		uint8_t seen[64] = {0};
		struct trib_shape sh;

		trib_part_count(&p, 352, TRIB_FMT_Q32);
		p.exp_seen = seen;
		for (off = 0; off < p.nchunk; off++) {
			trib_chunk_shape(s.worker[0].t->eng.stream[0], &p, off, &sh);
			if (sh.exp) {
				expect_eq(sh.first, words);
				words += sh.n;
				exps++;
				/* Exponents are at most six groups ahead of the data. */
				expect(next + 7 * 176 * 352 >= sh.first * 352);
				ahead[sh.group % 8] = off;
				continue;
			}
			/* A rank can fill 1,024 cells, or all of a part. */
			expect(sh.group < 7 || off - ahead[sh.group % 8] >= 1024);
			expect_eq(sh.first, next);
			expect(sh.group < exps);
			next += sh.n;
		}
		expect_eq(next, counts[i]);
		expect_eq(exps, p.nexp);
		expect_eq(words, p.ndata);
	}
	sim_free(&s);
}

/* Chunk numbers wrap on the wire. */
static void chunks__go_on_where_their_numbers_wrap(void)
{
	struct sim_options o = options(9);
	struct sim s;
	unsigned int i;

	o.workers = 3;
	o.window = 16;
	o.wire.loss = 20;
	sim_init(&s, &o);
	for (i = 0; i < 3; i++) {
		struct trib_stream *st = s.worker[i].t->eng.stream[0];

		st->una = st->next = st->high = st->held = 0xfffffff0;
		st->cong.round_end = st->una;
		if (!st->lanes.desk)
			continue;
		/* Forget that chunks before 0 have results. */
		memset(s.worker[i].cells[0].base, 0, s.worker[i].cells[0].n * (size_t)st->stride);
		trib_cells_begin(st);
	}
	/* One window earlier it would still have been retained. */
	for (i = 0; i < 3; i++) {
		struct trib_stream *st = s.worker[i].t->eng.stream[0];
		uint64_t c;

		for (c = st->una - 32; c < st->una; c++) {
			trib_chunk(st, c)->no = c;
			trib_chunk(st, c)->state = TRIB_CHUNK_HELD;
		}
	}
	script_init(&sc, &s, 10, 6000, o.nval);
	script_start(&sc);
	sim_run(&s, script_done, s.now + 100 * TRIB_SEC);
	expect(script_good(&sc));
	expect(s.worker[0].t->eng.stream[0]->una > 0x100000000);
	script_free(&sc);
	sim_free(&s);
}

int main(void)
{
	run(parts__of_any_length_have_all_elements_once);
	run(results__are_exact_on_a_good_network);
	run(results__are_exact_with_loss_duplication_and_reordering);
	run(results__are_exact_when_relays_forget);
	run(results__are_exact_in_a_tree_of_depth_two);
	run(results__are_exact_in_jobs_of_floats);
	run(floats__that_are_not_finite_are_values);
	run(parts__of_floats_have_all_elements_once);
	run(results__are_exact_over_several_trees);
	run(results__do_not_depend_on_one_worker_being_late);
	run(windows__that_are_tiny_do_not_lock_up);
	run(chunks__go_on_where_their_numbers_wrap);
	return tap_done();
}
