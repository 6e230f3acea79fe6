// SPDX-License-Identifier: BSD-2-Clause
/*
 * GPUs that fail: each call once, each work once. The message ends with an error and the
 * GPU's reason, or begins again without harm; residuals are put back; all is freed.
 */
#include "tests/lib/compress_world.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/compress/device.h"
#include "tests/lib/gpu/double.h"
#include "tests/lib/tap.h"

#define COUNT 3000

static struct sim sim;
static struct cw w;

/* Ways to fail: the GPU is rank @gpu's. Step 0 is led by rank 0. */
struct way {
	const char *schedule;
	bool local;
	unsigned int gpu;
	bool first; /* the tensor's first message, which makes its memory */
	bool bad;   /* a value is not finite, in the last bucket */
};

static const struct way ways[] = {
	{"dense", false, 0, false, false},   {"2:4", false, 0, true, false},
	{"2:4", false, 1, false, false},     {"2:4+int8", false, 0, false, false},
	{"2:4+int8", false, 1, true, false}, {"int4", false, 1, false, false},
	{"2:4", true, 1, true, false},	     {"2:4", false, 0, false, true},
	{"2:4+int8", false, 1, false, true}, {"1:32", true, 1, false, true},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void begin(const struct way *way)
{
	struct trib_compress_options o = {
		.schedule = way->schedule,
		.bucket = 1024,
		.mask = way->local ? "local" : "shared",
		.memory = TRIB_MEMORY_CUDA,
		.measure = 1,
	};
	struct sim_options net = sim_star(2);
	unsigned int r;

	cw_hosts = 1u << !way->gpu;
	cw_init(&w, &sim, &net, &o, COUNT);
	cw_gradients(&w);
	if (!way->first) {
		cw_oracle(&w);
		expect_eq(cw_issue(&w), 0);
		expect(cw_run(&w));
		expect_eq(cw_wrong(&w), 0);
	}
	for (r = 0; way->bad && r < 2; r++)
		w.rank[r].x[2999] = r == way->gpu ? NAN : 1;
}

/* Wrong values in the residual of the rank with the GPU; all if it is lost. */
static unsigned int wrong_residual(const struct way *way)
{
	const float *have = cw_residual(&w, way->gpu), *want = w.rank[way->gpu].want_residual;
	unsigned int wrong = 0, i;

	for (i = 0; i < COUNT; i++)
		wrong += !have || have[i] != want[i];
	return wrong;
}

/* The call failed: nothing is under way, and the next try is a good one. */
static void expect_refused(const struct way *way)
{
	struct cw_rank *me = &w.rank[way->gpu];
	const char *text = trib_error_text(sim.worker[way->gpu].t);

	expect(me->status == -ENOMEM || me->status == -EIO);
	if (!expect(strstr(text, "GPU") || strstr(text, "a call that fails")))
		printf("# %s\n", text);
	expect(!me->c->first && !sim.worker[way->gpu].t->eng.reqs);
	w.fail_call = 0;
	expect_eq(cw_issue_one(&w, way->gpu), 0);
}

/* All ranks have the result. */
static void expect_result(const struct way *way)
{
	unsigned int r;

	expect(cw_run(&w));
	for (r = 0; r < 2; r++)
		expect_eq(w.rank[r].status, way->bad ? -EDOM : 0);
	if (way->bad) {
		expect_eq(cw_wrong_residuals(&w), 0);
		expect_eq(sim.worker[0].t->eng.error.rank, (int)way->gpu);
		expect_eq(sim.worker[0].t->eng.error.index, 2999);
		return;
	}
	cw_oracle(&w);
	expect_eq(cw_wrong(&w), 0);
}

/* The key cannot be used before it is forgotten. */
static void expect_lost(const struct way *way)
{
	struct cw_rank *me = &w.rank[way->gpu];
	struct trib_buffer b = {me->far_x, TRIB_MEMORY_CUDA, me->stream};
	uint8_t buf[64];

	expect(!cw_residual(&w, way->gpu));
	expect_eq(trib_compress_iallreduce_buffer(me->c, CW_KEY, &b, &b, COUNT, TRIB_F32, w.op,
						  &me->req),
		  -EIO);
	expect(strstr(trib_error_text(sim.worker[way->gpu].t), "trib_compress_forget"));
	expect(trib_compress_save(me->c, buf, sizeof(buf)) != 0);
	expect_eq(trib_compress_forget(me->c, CW_KEY), 0);
}

/* The message failed on the rank, and the others have a result or know. */
static void expect_failed(const struct way *way, const char *why, bool may_lose)
{
	const struct trib_sock_error *e = &sim.worker[way->gpu].t->eng.error;
	struct cw_rank *me = &w.rank[way->gpu];

	expect(cw_run(&w));
	/* Only putting residuals back failed, or the message. */
	if (!way->bad || me->status != -EDOM) {
		expect_eq(me->status, -EIO);
		if (!expect(strstr(e->text, "the GPU: ") && strstr(e->text, why)))
			printf("# %s\n", e->text);
		expect_eq(e->code, TRIB_ERR_SYSTEM);
		expect_eq(e->rank, (int)way->gpu);
		expect(w.rank[!way->gpu].status <= 0);
	}
	if (tensor_find(me->c, CW_KEY)->lost) {
		expect(may_lose || me->status == -EDOM);
		expect_lost(way);
	} else if (!expect(!wrong_residual(way))) {
		printf("# %s, rank %u\n", way->schedule, way->gpu);
	}
}

static void calls__may_fail_once(void)
{
	unsigned int i, nth, refused, failed;
	bool more;

	for (i = 0; i < WAYS; i++) {
		refused = failed = 0;
		for (nth = 1, more = true; more; nth++) {
			begin(&ways[i]);
			w.fail_call = nth;
			cw_issue_one(&w, !ways[i].gpu);
			if (cw_issue_one(&w, ways[i].gpu)) {
				expect_refused(&ways[i]);
				expect_result(&ways[i]);
				refused++;
			} else {
				cw_run(&w);
				more = gpu_double_failed();
				failed += more;
				if (more)
					expect_failed(&ways[i], "a call that fails", false);
				else
					expect_result(&ways[i]);
			}
			cw_free(&w);
			if (tap_bad) {
				printf("# way %u, call %u\n", i, nth);
				return;
			}
		}
		if (!expect(refused >= 3 && failed > 12))
			printf("# way %u: %u, %u\n", i, refused, failed);
	}
}

static void work__that_fails_breaks_the_gpu(void)
{
	unsigned int i, nth, failed, lost;
	bool more;

	for (i = 0; i < WAYS; i++) {
		failed = lost = 0;
		for (nth = 1, more = true; more; nth++) {
			begin(&ways[i]);
			gpu_double_fail_work(nth);
			if (cw_issue_one(&w, ways[i].gpu)) {
				/* While memory was made. */
				expect(ways[i].first && gpu_double_failed());
				cw_free(&w);
				continue;
			}
			cw_issue_one(&w, !ways[i].gpu);
			cw_run(&w);
			more = gpu_double_failed();
			failed += more;
			if (more)
				expect_failed(&ways[i], "work that fails", true);
			else
				expect_result(&ways[i]);
			lost += !tensor_find(w.rank[ways[i].gpu].c, CW_KEY);
			cw_free(&w);
			if (tap_bad) {
				printf("# way %u, work %u\n", i, nth);
				return;
			}
		}
		if (!expect(failed > 10 && lost > 0 && lost < failed))
			printf("# way %u: %u, %u\n", i, failed, lost);
	}
}

/* A message ends when the GPU has let go of its memory, and not before. */
static void death__waits_for_the_gpu(void)
{
	const struct way way = {.schedule = "2:4", .gpu = 1};
	struct trib_compress *c;
	struct trib *t;
	unsigned int s;

	for (s = 0; s < STREAM_IDLE; s++) {
		begin(&way);
		c = w.rank[1].c;
		t = sim.worker[1].t;
		gpu_double_hold(c->device->stream[s], true);
		expect_eq(cw_issue(&w), 0);
		sim_run(&sim, NULL, sim.now + 50 * TRIB_MS);
		expect_eq(w.rank[1].status, 1);
		expect(!message_rests(c->first));
		pthread_mutex_lock(&t->lock);
		t->eng.now = sim.now;
		trib_die_rank(&t->eng, TRIB_ERR_GONE, -ECANCELED, 1, "dead");
		pthread_mutex_unlock(&t->lock);
		cw_turn(&w, 1);
		expect(c->first && !w.rank[1].req->done);
		gpu_double_hold(c->device->stream[s], false);
		cw_turn(&w, 1);
		expect(!c->first && w.rank[1].req->done);
		sim_call_at(&sim.worker[1], sim.now);
		expect(cw_run(&w));
		expect_eq(w.rank[1].status, -ECANCELED);
		expect_eq(wrong_residual(&way), 0);
		cw_free(&w);
	}
}

/* Callers may use another GPU than the object's. */
static void gpus__of_callers_stay_theirs(void)
{
	struct trib_compress_options o = {
		.size = sizeof(o), .schedule = "2:4", .memory = TRIB_MEMORY_CUDA};
	struct sim_options net = sim_star(1);
	struct trib_compress *c;
	int number;
	float *p;

	sim_init(&sim, &net);
	expect_eq(gpu_double.use(3), 0);
	expect_eq(compress_make(&c, sim.worker[0].t, &o, false), 0);
	expect_eq(gpu_double.use(1), 0);
	p = trib_compress_residual(c, 1, 100);
	expect_eq(gpu_double.owner(p), 3);
	expect_eq(((float *)gpu_double_view(p))[99], 0);
	expect_eq(gpu_double.device(&number), 0);
	expect_eq(number, 1);
	expect_eq(trib_compress_close(c), 0);
	expect_eq(gpu_double.use(0), 0);
	sim_free(&sim);
	expect_eq(gpu_double_reset(0), 0);
}

int main(void)
{
	run(calls__may_fail_once);
	run(work__that_fails_breaks_the_gpu);
	run(death__waits_for_the_gpu);
	run(gpus__of_callers_stay_theirs);
	return tap_done();
}
