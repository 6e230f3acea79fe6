// SPDX-License-Identifier: BSD-2-Clause
/* Compression between messages: schedules, the ladder, saved states. */
#include "tests/lib/compress_world.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static struct sim sim;
static struct cw w;
static char why[200];

static bool takes(const char *text)
{
	struct schedule s;

	return !schedule_parse(&s, text, why, sizeof(why));
}

static void schedule__accepts_and_refuses(void)
{
	static const char *const good[] = {"dense",   "auto",		"2:4",
					   "4:8",     "1:32+int4",	"int8",
					   "0:dense", "0:2:4,10:dense", "0:int8,7:2:4,8:auto"};
	static const char *const bad[] = {"",
					  "2:5",
					  "5:4",
					  "2:4,3:dense",
					  "1:dense",
					  "0:dense,",
					  "0:dense,0:2:4",
					  "0:dense,5",
					  "0:dense,5:",
					  "0:dense,x:2:4",
					  "0:dense,-1:2:4",
					  "0:auto",
					  ",",
					  "2:4+int9",
					  "0:dense,99999999999:2:4"};
	char many[700] = "0:dense";
	unsigned int i;

	for (i = 0; i < sizeof(good) / sizeof(*good) - 1; i++)
		expect(takes(good[i]));
	expect(!takes(good[i]));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why[0] = 0;
		if (!expect(!takes(bad[i])))
			printf("# %s\n", bad[i]);
		expect(why[0]);
	}
	for (i = 1; i < SCHEDULE_ENTRIES; i++)
		snprintf(many + strlen(many), 16, ",%u:2:4", i);
	expect(takes(many));
	strcat(many, ",99:4:8");
	expect(!takes(many));
}

static void schedule__changes_at_its_steps(void)
{
	struct schedule s;

	expect(!schedule_parse(&s, "0:dense,200:4:8,1000:2:4+int8", why, sizeof(why)));
	expect_eq(schedule_spec(&s, 0).group, 1);
	expect_eq(schedule_spec(&s, 199).group, 1);
	expect_eq(schedule_spec(&s, 200).group, 8);
	expect_eq(schedule_spec(&s, 999).group, 8);
	expect_eq(schedule_spec(&s, 1000).bits, 8);
	expect_eq(schedule_spec(&s, 1u << 30).bits, 8);
}

static void ladder__climbs_slowly_and_descends_at_once(void)
{
	struct schedule s;
	unsigned int i;

	expect(!schedule_parse(&s, "auto", why, sizeof(why)));
	for (i = 0; i < 15; i++)
		schedule_judge(&s, 1, 0.5f);
	expect_eq(s.rung, 0);
	schedule_judge(&s, 1, 1.5f); /* neither calm nor high: count again */
	for (i = 0; i < 16; i++)
		schedule_judge(&s, 1, 0.5f);
	expect_eq(s.rung, 1);
	for (i = 0; i < 200; i++)
		schedule_judge(&s, 0, 0);
	expect_eq(s.rung, schedule_rungs() - 1);
	schedule_judge(&s, 1, 2.5f);
	expect_eq(s.rung, schedule_rungs() - 2);
	for (i = 0; i < 64 + 15; i++)
		schedule_judge(&s, 1, 0.5f);
	expect_eq(s.rung, schedule_rungs() - 2);
	schedule_judge(&s, 1, 0.5f);
	expect_eq(s.rung, schedule_rungs() - 1);
	for (i = 0; i < 9; i++)
		schedule_judge(&s, 0, 1);
	expect_eq(s.rung, 0);
}

/* One step of a message of all, without the oracle. */
static void step(bool bad_rank)
{
	size_t i;

	cw_gradients(&w);
	for (i = 0; bad_rank && i < w.count; i++)
		w.rank[1].x[i] *= 1e-3f; /* its residual is large beside its gradient */
	expect_eq(cw_issue(&w), 0);
	expect(cw_run(&w));
	cw_step(&w);
}

/* Ranks see different norms, and decide alike by their sums. */
static void ladder__is_the_same_on_all_ranks(void)
{
	struct sim_options net = sim_star(3);
	struct trib_compress_options o = {.schedule = "auto"};
	unsigned int i, r, climbed = 0, last = 0;

	net.wire.loss = 20;
	cw_init(&w, &sim, &net, &o, 2000);
	for (i = 0; i < 100; i++) {
		step(i % 2);
		for (r = 1; r < 3; r++)
			expect_eq(w.rank[r].c->schedule.rung, w.rank[0].c->schedule.rung);
		climbed += w.rank[0].c->schedule.rung > (int)last;
		last = (unsigned int)w.rank[0].c->schedule.rung;
		/* The first norms are those of step 0; step 17 is the first decided by 16. */
		if (i < 16)
			expect_eq(last, 0);
	}
	expect(climbed >= 3);
	cw_free(&w);
}

/* Save all ranks' states, and load them into new objects on the same network. */
static void reload(void)
{
	unsigned int r;
	int64_t len;
	void *buf;

	for (r = 0; r < sim.nworker; r++) {
		struct trib_compress **c = &w.rank[r].c;

		len = trib_compress_save(*c, NULL, 0);
		expect(len > 0);
		buf = malloc((size_t)len);
		expect_eq(trib_compress_save(*c, buf, (size_t)len), len);
		expect_eq(trib_compress_close(*c), 0);
		expect_eq(compress_make(c, sim.worker[r].t, &w.o, false), 0);
		expect_eq(trib_compress_load(*c, buf, (size_t)len), 0);
		free(buf);
	}
}

static void resuming__is_bit_identical(void)
{
	static const char *const schedules[] = {"auto", "2:4+int4", "0:dense,3:2:4+int8"};
	static float y[2][3000], rest[2][3000];
	struct trib_compress_options o = {.seed = 7};
	struct sim_options net = sim_star(3);
	unsigned int i, k, again;

	for (i = 0; i < 3; i++) {
		o.schedule = schedules[i];
		for (again = 0; again < 2; again++) {
			cw_init(&w, &sim, &net, &o, 3000);
			for (k = 0; k < 40; k++) {
				sim.rng = 1000 + k; /* gradients of the step, whatever was before */
				step(false);
				if (again && (k == 20 || k == 16))
					reload();
			}
			memcpy(y[again], cw_result(&w, 2), sizeof(y[0]));
			memcpy(rest[again], cw_residual(&w, 1), sizeof(rest[0]));
			expect_eq(w.rank[0].c->step, 40);
			cw_free(&w);
		}
		expect(!memcmp(y[0], y[1], sizeof(y[0])));
		expect(!memcmp(rest[0], rest[1], sizeof(rest[0])));
	}
}

static void state__that_is_wrong_is_refused_and_changes_nothing(void)
{
	struct trib_compress_options o = {.schedule = "2:4"};
	struct sim_options net = sim_star(2);
	uint8_t buf[4096], copy[4096];
	size_t len, i;

	cw_init(&w, &sim, &net, &o, 100);
	step(false);
	trib_compress_residual(w.rank[0].c, 77, 10);
	len = (size_t)trib_compress_save(w.rank[0].c, buf, sizeof(buf));
	expect(len < sizeof(buf));
	expect_eq(trib_compress_save(w.rank[0].c, copy, len - 1), len);
	for (i = 0; i < len; i++)
		expect_eq(trib_compress_load(w.rank[0].c, buf, i), -EINVAL);
	expect_eq(trib_compress_load(w.rank[0].c, buf, len + 1), -EINVAL);
	/* All but step, seed, calm, norms and a key, which may have any value. */
	for (i = 0; i < 72; i++) {
		bool any = (i >= 8 && i < 11) || (i >= 16 && i < 24) || (i >= 28 && i < 44) ||
			   (i >= 56 && i < 64);

		memcpy(copy, buf, len);
		copy[i] ^= 0x80;
		if (!any && !expect(trib_compress_load(w.rank[0].c, copy, len) == -EINVAL))
			printf("# byte %zu\n", i);
	}
	/* Both tensors with one key. */
	memcpy(copy, buf, len);
	for (i = 56; i + 16 <= len; i += 16 + 4 * copy[i + 8])
		copy[i] = 5;
	expect_eq(trib_compress_load(w.rank[0].c, copy, len), -EINVAL);
	expect_eq(trib_compress_save(w.rank[0].c, copy, sizeof(copy)), len);
	expect(!memcmp(copy, buf, len));
	expect_eq(trib_compress_load(w.rank[0].c, buf, len), 0);
	cw_free(&w);
}

static float *residual_of(uint64_t key)
{
	float *p = trib_compress_residual(w.rank[0].c, key, 32);
	struct trib_buffer b = {.data = p, .memory = w.o.memory};

	return cw_view(&b);
}

/* Residuals move with values when tensors are cut in another way. */
static void residuals__may_be_moved_between_tensors(void)
{
	struct trib_compress_options o = {.schedule = "2:4"};
	struct sim_options net = sim_star(2);
	float *a, *b;

	cw_init(&w, &sim, &net, &o, 64);
	step(false);
	a = cw_residual(&w, 0);
	b = residual_of(6);
	memcpy(b, a, 32 * sizeof(*b));
	expect(b[0] != 0 || b[1] != 0 || b[2] != 0); /* two of four are sent */
	expect_eq(trib_compress_forget(w.rank[0].c, CW_KEY), 0);
	a = residual_of(CW_KEY);
	expect(a && a[0] == 0);
	cw_free(&w);
}

/* All sizes fit together: no value is lost, no index leaves its report. */
static void layout__covers_every_value_once(void)
{
	static const char *const specs[] = {"dense", "int16", "1:32+int4", "31:32+int16", "1:2"};
	static const unsigned int worlds[] = {1, 2, 3, 64, 1000, 1024};
	static const size_t buckets[] = {1, 100, 5000, BUCKET_DEFAULT, BUCKET_MAX};
	unsigned int i, k, j;
	size_t n, b, values;

	for (i = 0; i < 5; i++) {
		for (k = 0; k < 6; k++) {
			for (j = 0; j < 5; j++) {
				struct trib_nm_spec spec;
				struct cut cut, all, sum = {0};
				struct layout l;

				trib_nm_parse(&spec, specs[i], strlen(specs[i]), why, sizeof(why));
				n = 3 * buckets[j] + 77;
				layout_make(&l, spec, false, worlds[k], buckets[j], n);
				expect(l.bucket && l.bucket <= BUCKET_MAX && l.bucket % 32 == 0);
				expect(l.range % 32 == 0 && l.bucket % l.range == 0);
				for (values = b = 0; b < l.nbucket; b++) {
					layout_bucket(&l, b, &cut);
					values += cut.values;
					sum.masks += cut.masks;
					sum.ranges += cut.ranges;
					sum.packed += cut.packed;
					sum.words += cut.words;
				}
				layout_all(&l, &all);
				expect_eq(values, n);
				expect(all.masks == sum.masks && all.ranges == sum.ranges &&
				       all.packed == sum.packed && all.words == sum.words);
				expect(!l.lanes || all.packed <= all.words * l.lanes);
				expect(!l.lanes ||
				       trib_nm_packed(spec, l.range) <= RANGE_WORDS * l.lanes);
			}
		}
	}
}

int main(void)
{
	run(schedule__accepts_and_refuses);
	run(schedule__changes_at_its_steps);
	run(ladder__climbs_slowly_and_descends_at_once);
	run(ladder__is_the_same_on_all_ranks);
	run(resuming__is_bit_identical);
	run(state__that_is_wrong_is_refused_and_changes_nothing);
	run(residuals__may_be_moved_between_tensors);
	run(layout__covers_every_value_once);
	return tap_done();
}
