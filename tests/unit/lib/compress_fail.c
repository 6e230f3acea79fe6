// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed sums that fail: bad values, infinite sums, ranks that lie or die, and no
 * memory. All ranks get the same error, and no residual changes.
 */
#include "tests/lib/compress_world.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/lib/tap.h"

static struct sim sim;
static struct cw w;

/* --- memory: the @fail_at-th allocation fails */

static unsigned int allocations, fail_at;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return ++allocations == fail_at ? NULL : __real_calloc(n, size);
}

/* @schedule may end with "/local": each rank selects by itself. */
static void begin(unsigned int workers, const char *schedule, size_t count)
{
	struct sim_options net = sim_star(workers);
	struct trib_compress_options o = {.bucket = 1024};
	static char spec[32];

	snprintf(spec, sizeof(spec), "%s", schedule);
	o.mask = strchr(spec, '/') ? "local" : "shared";
	*strchrnul(spec, '/') = 0;
	o.schedule = spec;
	net.wire.loss = 10;
	cw_init(&w, &sim, &net, &o, count);
	cw_gradients(&w);
}

/* A good message, whose residuals the next must keep. */
static void good_message(void)
{
	cw_oracle(&w);
	expect_eq(cw_issue(&w), 0);
	expect(cw_run(&w));
	expect_eq(cw_wrong(&w), 0);
}

static void expect_error(int status, int code, int rank, int64_t index)
{
	unsigned int r;

	for (r = 0; r < sim.nworker; r++) {
		if (sim.worker[r].dead)
			continue;
		expect_eq(w.rank[r].status, status);
		expect_eq(sim.worker[r].t->eng.error.code, code);
		expect_eq(sim.worker[r].t->eng.error.rank, rank);
		expect_eq(sim.worker[r].t->eng.error.index, index);
	}
	expect_eq(cw_wrong_residuals(&w), 0);
}

/* --- bad values */

static void bad__values_are_reported_with_rank_and_index(void)
{
	static const char *const specs[] = {"dense",	 "int8",      "2:4",	   "2:4+int8",
					    "1:32+int4", "2:4/local", "1:32/local"};
	/* Step 0: the leader is rank 0. Buckets have about 1024 values. */
	static const struct {
		unsigned int rank, index;
	} at[] = {{0, 0}, {1, 17}, {2, 1500}, {0, 2999}, {2, 2998}};
	static const float bad[] = {NAN, INFINITY, -INFINITY};
	unsigned int i, k;

	for (i = 0; i < 7; i++) {
		for (k = 0; k < 5; k++) {
			begin(3, specs[i], 3000);
			good_message();
			w.rank[at[k].rank].x[at[k].index] = bad[k % 3];
			expect_eq(cw_issue(&w), 0);
			expect(cw_run(&w));
			expect_error(-EDOM, TRIB_ERR_NONFINITE, (int)at[k].rank, at[k].index);
			w.rank[at[k].rank].x[at[k].index] = 1;
			good_message();
			cw_free(&w);
		}
	}
}

/* Compressed sums report NaN even in jobs whose other sums carry it as a value. */
static void bad__values_are_reported_in_jobs_of_floats(void)
{
	static const char *const specs[] = {"dense", "2:4", "2:4+int8"};
	struct trib_compress_options o = {.bucket = 1024};
	struct sim_options net = sim_star(3);
	unsigned int i;

	net.fmt = TRIB_FMT_BF16;
	for (i = 0; i < 3; i++) {
		o.schedule = specs[i];
		cw_init(&w, &sim, &net, &o, 3000);
		cw_gradients(&w);
		w.rank[1].x[2047] = INFINITY;
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		expect_error(-EDOM, TRIB_ERR_NONFINITE, 1, 2047);
		cw_free(&w);
	}
}

/* The value would not be sent: the leader's mask selects others. */
static void bad__values_count_where_they_are_not_sent(void)
{
	size_t i;

	begin(2, "1:32", 2048);
	for (i = 0; i < 2048; i++)
		w.rank[0].x[i] = i % 32 == 5 ? 100 : 1;
	w.rank[1].x[1033] = NAN;
	expect_eq(cw_issue(&w), 0);
	expect(cw_run(&w));
	expect_error(-EDOM, TRIB_ERR_NONFINITE, 1, 1033);
	cw_free(&w);
}

/* One of several is reported: of the first bucket, there the largest rank, its first value. */
static void bad__values_of_many_are_reported_alike(void)
{
	struct trib_compress_counters n = {.size = sizeof(n)};

	begin(3, "2:4+int8", 4000);
	w.rank[0].x[100] = NAN;
	w.rank[1].x[900] = NAN;
	w.rank[1].x[800] = NAN;
	w.rank[2].x[3999] = NAN;
	expect_eq(cw_issue(&w), 0);
	expect(cw_run(&w));
	expect_error(-EDOM, TRIB_ERR_NONFINITE, 1, 800);
	trib_compress_counters(w.rank[2].c, &n);
	expect_eq(n.bad, 1);
	cw_free(&w);
}

/* A codec may leave anything in the mask then. */
static uint32_t spoil(void *mask, const struct trib_nm_range *range)
{
	memset(mask, 0xff, 4 * trib_nm_mask_words(range->spec, range->count));
	return TRIB_NM_BAD;
}

static void bad__values_leave_the_leaders_mask_valid(void)
{
	static const char *const specs[] = {"2:4", "1:32", "7:16+int8"};
	struct trib_nm_ops ops;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		begin(3, specs[i], 1003);
		ops = *w.rank[0].c->nm;
		ops.select = spoil;
		w.rank[0].c->nm = &ops;
		w.rank[0].x[1000] = NAN;
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		expect_error(-EDOM, TRIB_ERR_NONFINITE, 0, 1000);
		cw_free(&w);
	}
}

static void sums__beyond_the_largest_float_name_the_first(void)
{
	static const char *const specs[] = {"dense", "int8", "2:4", "2:4+int16", "2:4/local"};
	unsigned int i, r;

	for (i = 0; i < 5; i++) {
		begin(2, specs[i], 3000);
		for (r = 0; r < 2; r++)
			w.rank[r].x[1501] = w.rank[r].x[2222] = 3e38f;
		cw_oracle(&w);
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		for (r = 0; r < 2; r++) {
			expect_eq(w.rank[r].status, -ERANGE);
			expect_eq(sim.worker[r].t->eng.error.index, 1501);
			expect(isinf(cw_result(&w, r)[1501]) && isinf(cw_result(&w, r)[2222]));
		}
		/* Sums of floats with so large neighbours are not exact. */
		if (i % 2)
			expect_eq(cw_wrong(&w), 0);
		cw_free(&w);

		/* An average does not overflow. */
		begin(2, specs[i], 3000);
		w.op = TRIB_AVG;
		w.rank[0].x[1501] = w.rank[1].x[1501] = 3e38f;
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		expect_eq(w.rank[0].status, 0);
		expect(fabsf(cw_result(&w, 1)[1501] / 3e38f - 1) < 0.02f);
		cw_free(&w);
	}
}

/* --- ranks that lie: the tap changes values of rank @liar in packets of one kind */

static unsigned int liar, lie_fmt, lie_op;
static int64_t lie_value;

static bool lie(struct sim *s, struct sim_worker *sw, bool up, void *pkt, size_t len)
{
	struct trib_hdr *h = pkt;
	uint64_t v = htole64((uint64_t)lie_value);
	size_t i;

	(void)s;
	if (!up || sw->t->eng.rank != liar || h->type != TRIB_T_GRAD || h->fmt != lie_fmt ||
	    h->op != lie_op)
		return false;
	for (i = sizeof(*h); i + 8 <= len; i += 8)
		memcpy((uint8_t *)pkt + i, &v, 8);
	return false;
}

static void expect_lie(const char *schedule, unsigned int who, unsigned int fmt, unsigned int op,
		       int64_t value, int blamed)
{
	begin(3, schedule, 3000);
	liar = who;
	lie_fmt = fmt;
	lie_op = op;
	lie_value = value;
	sim.tap = lie;
	expect_eq(cw_issue(&w), 0);
	expect(cw_run(&w));
	expect_error(-EPROTO, TRIB_ERR_ARGUMENT, blamed, -1);
	cw_free(&w);
}

static void lies__in_masks_are_found_and_the_leader_is_named(void)
{
	expect_lie("2:4", 0, TRIB_FMT_I32, TRIB_WOP_ADD, 0x3333333333333337, 0);
	expect_lie("2:4+int8", 0, TRIB_FMT_I32, TRIB_WOP_ADD, 0, 0);
	expect_lie("1:32+int8", 0, TRIB_FMT_I32, TRIB_WOP_ADD, -1, 0);
}

static void lies__in_exponents_are_found(void)
{
	/* Beyond all floats; a rank and an index that do not exist. */
	expect_lie("int8", 1, TRIB_FMT_W64, TRIB_WOP_MAX, 129, -1);
	expect_lie("2:4", 2, TRIB_FMT_W64, TRIB_WOP_MAX, 1 << 30 | 3 << 20 | 0xfffff, -1);
	expect_lie("2:4", 2, TRIB_FMT_W64, TRIB_WOP_MAX, 1 << 30 | 2 << 20, -1);
}

/* Spoil some values of one rank. Small numbers, and reports, pass more checks. */
static bool scramble(struct sim *s, struct sim_worker *sw, bool up, void *pkt, size_t len)
{
	struct trib_hdr *h = pkt;
	uint64_t v;
	size_t at;

	if (!up || sw->t->eng.rank != liar || h->type != TRIB_T_GRAD || len < sizeof(*h) + 8 ||
	    sim_rnd(s) % 8)
		return false;
	at = sizeof(*h) + sim_rnd(s) % ((len - sizeof(*h)) / 8) * 8;
	v = sim_rnd(s) << 11 ^ sim_rnd(s);
	if (sim_rnd(s) % 2)
		v = (uint64_t)((int64_t)v >> sim_rnd(s) % 64);
	else
		v = 1u << 30 | v % 4 << 20 | (0xfffff - sim_rnd(s) % 1700);
	v = htole64(v);
	memcpy((uint8_t *)pkt + at, &v, 8);
	return false;
}

/* Whatever a rank sends, the others end with a result or an error that makes sense. */
static void lies__of_any_kind_do_no_harm(void)
{
	static const char *const specs[] = {"dense", "int8", "2:4", "2:4+int8", "1:32+int4"};
	unsigned int i, r, seen[4] = {0};
	int status;

	for (i = 0; i < 200; i++) {
		begin(3, specs[i % 5], 5000);
		for (r = 0; r <= i; r++)
			sim_rnd(&sim);
		liar = i / 5 % 3;
		sim.tap = scramble;
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		for (r = 0; r < 3; r++) {
			const struct trib_sock_error *e = &sim.worker[r].t->eng.error;

			status = w.rank[r].status;
			expect_eq(status, w.rank[0].status);
			seen[!status ? 0 : status == -EPROTO ? 1 : status == -EDOM ? 2 : 3]++;
			expect(!status || status == -EPROTO || status == -EDOM ||
			       status == -ERANGE);
			if (status == -EDOM || status == -ERANGE)
				expect(e->rank < 3 && e->index >= 0 && e->index < 5000);
		}
		cw_free(&w);
	}
	if (!expect(seen[0] > 3 && seen[1] > 3 && seen[2] > 3))
		printf("# %u %u %u %u\n", seen[0], seen[1], seen[2], seen[3]);
}

/* --- death */

static void death__in_the_middle_ends_messages_and_keeps_residuals(void)
{
	unsigned int r, success;
	uint64_t after;

	for (after = 0; after < 2 * TRIB_MS; after += 100000) {
		begin(3, after / 100000 % 2 ? "2:4/local" : "2:4+int8", 5000);
		good_message();
		expect_eq(cw_issue(&w), 0);
		sim_run(&sim, NULL, sim.now + after);
		sim.worker[1].dead = true;
		expect(cw_run(&w));
		/* The dead rank's own message is still there. */
		pthread_mutex_lock(&sim.worker[1].t->lock);
		sim.worker[1].t->eng.now = sim.now;
		trib_die_rank(&sim.worker[1].t->eng, TRIB_ERR_GONE, -ECANCELED, 1, "dead");
		pthread_mutex_unlock(&sim.worker[1].t->lock);
		cw_turn(&w, 1);
		success = !w.rank[1].status;
		for (r = 0; r < 3; r += 2) {
			/* The last result may have been there. */
			success += !w.rank[r].status;
			if (!w.rank[r].status)
				continue;
			expect_eq(w.rank[r].status, -EHOSTDOWN);
			expect_eq(sim.worker[r].t->eng.error.rank, 1);
		}
		expect(after || !success);
		if (!success)
			expect_eq(cw_wrong_residuals(&w), 0);
		cw_free(&w);
	}
}

/* A rank whose codec is slow is waited for, as one that computes. */
static void death__is_not_a_slow_codec(void)
{
	unsigned int r;

	begin(3, "2:4", 5000);
	cw_oracle(&w);
	w.rank[0].mute = true;
	expect_eq(cw_issue(&w), 0);
	sim_run(&sim, NULL, sim.now + 4 * 500 * TRIB_MS);
	w.rank[0].mute = false;
	sim_call_at(&sim.worker[0], sim.now + 1);
	expect(cw_run(&w));
	for (r = 0; r < 3; r++)
		expect_eq(w.rank[r].status, 0);
	expect_eq(cw_wrong(&w), 0);
	cw_free(&w);
}

/* --- memory */

static void memory__fails_before_anything_is_issued(void)
{
	static const char *const specs[] = {"dense", "2:4", "2:4+int8", "2:4/local"};
	struct trib_engine *eng;
	unsigned int i, nth, r;

	for (i = 0; i < 4; i++) {
		begin(2, specs[i], 4000);
		cw_oracle(&w);
		eng = &sim.worker[0].t->eng;
		for (nth = 1;; nth++) {
			allocations = 0;
			fail_at = nth;
			if (!cw_issue_one(&w, 0))
				break;
			fail_at = 0;
			expect_eq(w.rank[0].status, -ENOMEM);
			expect_eq(eng->error.code, TRIB_ERR_SYSTEM);
			expect_eq(eng->unfinished, 0);
			expect_eq(eng->stream[0]->assigned, 0);
			expect(!eng->reqs && !w.rank[0].c->first);
		}
		fail_at = 0;
		expect(nth > 10);
		expect_eq(cw_issue_one(&w, 1), 0);
		expect(cw_run(&w));
		for (r = 0; r < 2; r++)
			expect_eq(w.rank[r].status, 0);
		expect_eq(cw_wrong(&w), 0);
		cw_free(&w);
	}
}

static void arguments__that_are_wrong_are_refused(void)
{
	struct trib_compress *c;
	struct trib_req *r;
	float x[4] = {0};

	begin(2, "2:4", 4);
	c = w.rank[0].c;
	expect_eq(trib_compress_iallreduce(c, 1, x, x, 4, TRIB_I32, TRIB_SUM, &r), -EINVAL);
	expect_eq(trib_compress_iallreduce(c, 1, x, x, 4, TRIB_F32, TRIB_MAX, &r), -EINVAL);
	expect_eq(trib_compress_iallreduce(c, 1, NULL, x, 4, TRIB_F32, TRIB_SUM, &r), -EINVAL);
	expect_eq(trib_compress_iallreduce(c, 1, x, x, SIZE_MAX, TRIB_F32, TRIB_SUM, &r), -EINVAL);
	expect(trib_compress_residual(c, 1, 3));
	expect(!trib_compress_residual(c, 1, 4));
	expect_eq(trib_compress_iallreduce(c, 1, x, x, 4, TRIB_F32, TRIB_SUM, &r), -EINVAL);
	expect(strstr(trib_error_text(sim.worker[0].t), "trib_compress_forget"));
	expect_eq(trib_compress_forget(c, 1), 0);
	expect_eq(trib_compress_forget(c, 1), 0);
	expect(trib_compress_residual(c, 1, 4));
	expect_eq(sim.worker[0].t->eng.stream[0]->assigned, 0);
	cw_free(&w);
}

static void local__masks_are_refused_where_they_cannot_be(void)
{
	static const struct {
		const char *schedule, *mask;
		uint16_t fmt;
		int rc;
	} try[] = {
		{"2:4", "mine", 0, -EINVAL},
		{"2:4+int8", "local", 0, -EINVAL},
		{"auto", "local", 0, -EINVAL},
		{"0:2:4,5:int8", "local", 0, -EINVAL},
		{"2:4", "local", TRIB_FMT_F16, -EOPNOTSUPP},
		{"2:4", "local", TRIB_FMT_BF16, -EOPNOTSUPP},
	};
	struct trib_compress *c;
	unsigned int i;

	for (i = 0; i < sizeof(try) / sizeof(try[0]); i++) {
		struct sim_options net = sim_star(2);
		struct trib_compress_options o = {
			.size = sizeof(o), .schedule = try[i].schedule, .mask = try[i].mask};

		net.fmt = try[i].fmt;
		sim_init(&sim, &net);
		expect_eq(compress_make(&c, sim.worker[0].t, &o, false), try[i].rc);
		expect(strstr(trib_error_text(sim.worker[0].t), "mask"));
		sim_free(&sim);
	}
}

int main(void)
{
	run(bad__values_are_reported_with_rank_and_index);
	run(bad__values_are_reported_in_jobs_of_floats);
	run(bad__values_count_where_they_are_not_sent);
	run(bad__values_of_many_are_reported_alike);
	run(bad__values_leave_the_leaders_mask_valid);
	run(sums__beyond_the_largest_float_name_the_first);
	run(lies__in_masks_are_found_and_the_leader_is_named);
	run(lies__in_exponents_are_found);
	run(lies__of_any_kind_do_no_harm);
	run(death__in_the_middle_ends_messages_and_keeps_residuals);
	run(death__is_not_a_slow_codec);
	run(memory__fails_before_anything_is_issued);
	run(local__masks_are_refused_where_they_cannot_be);
	run(arguments__that_are_wrong_are_refused);
	return tap_done();
}
