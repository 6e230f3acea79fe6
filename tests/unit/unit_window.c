// SPDX-License-Identifier: BSD-2-Clause
/*
 * The congestion window on imagined wires: it fills them, keeps queues short,
 * shrugs off single losses and late ranks, gives way to marks and to much
 * loss, and shares with TCP.
 */
#include "tests/unit/lib_sim.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/tap.h"

#define MIB (1u << 20)

/* Every worker sums one big message. */
struct job {
	float *x[SIM_WORKERS];
	struct trib_req *req[SIM_WORKERS];
	uint64_t end[SIM_WORKERS];
	uint64_t late; /* ns that rank 0 sleeps every now and then */
	uint64_t window_sum, window_n, window_min;
	size_t n;
};

static struct job job;

static void step(struct sim_worker *w)
{
	unsigned int me = w->t->rank;
	struct trib_req *r = job.req[me];
	int done;

	if (!r && !job.end[me]) {
		if (trib_iallreduce(w->t, job.x[me], job.x[me], job.n, TRIB_F32,
				    TRIB_SUM, &job.req[me]))
			abort();
		return;
	}
	if (me == 1) {
		double cwnd = w->t->stream[0]->cong.cwnd;

		job.window_sum += (uint64_t)cwnd;
		job.window_n++;
		if (cwnd < (double)job.window_min)
			job.window_min = (uint64_t)cwnd;
	}
	if (!r || !r->done)
		return;
	trib_test(r, &done);
	job.req[me] = NULL;
	job.end[me] = w->sim->now;
}

static bool all_done(struct sim *s)
{
	unsigned int i;

	for (i = 0; i < s->nworker; i++)
		if (!job.end[i])
			return false;
	return true;
}

static void job_start(struct sim *s, size_t bytes)
{
	unsigned int i;

	memset(&job, 0, sizeof(job));
	job.n = bytes / 4;
	job.window_min = UINT64_MAX;
	for (i = 0; i < s->nworker; i++) {
		job.x[i] = calloc(job.n, 4);
		if (!job.x[i])
			abort();
		s->worker[i].app = step;
		sim_call_at(&s->worker[i], s->now + i * 1000);
	}
}

static void job_end(struct sim *s)
{
	unsigned int i;

	for (i = 0; i < s->nworker; i++)
		free(job.x[i]);
}

/* Share of the wire that the message's bytes had, headers not counted. */
static double share(struct sim *s, double rate, uint64_t start)
{
	uint64_t end = 0;
	unsigned int i;

	for (i = 0; i < s->nworker; i++)
		if (job.end[i] > end)
			end = job.end[i];
	return (double)job.n * 32e9 / (double)(end - start) / rate;
}

static struct sim_options wires(unsigned int workers, double rate)
{
	struct sim_options o = {
		.seed = 5,
		.workers = workers,
		.window = 256,
		.nval = 352,
		.wire = {
			.rate = rate,
			.delay = 60000,
			.queue = (uint64_t)(rate / 8 * 0.025),
		},
	};

	return o;
}

static void tell(const struct sim_worker *w)
{
	const struct trib_cong *g = &w->t->stream[0]->cong;
	const struct trib_counters *c = &w->t->count;

	printf("# rank %u: window %.0f%s, rtt %llu pure %llu min %llu us, resends %llu fast %llu needs %llu, last %llu, dropped %lu\n",
	       w->t->rank, g->cwnd, g->compete ? " competes" : "",
	       (unsigned long long)g->srtt / 1000,
	       (unsigned long long)g->rtt_pure / 1000,
	       (unsigned long long)g->rtt_min / 1000,
	       (unsigned long long)c->resends,
	       (unsigned long long)c->fast_resends,
	       (unsigned long long)c->needs,
	       (unsigned long long)c->last_count,
	       w->up.dropped + w->down.dropped);
}

static double measure(const struct sim_options *o, size_t bytes)
{
	struct sim s;
	uint64_t start;
	double got = 0;

	sim_init(&s, o);
	job_start(&s, bytes);
	start = s.now;
	if (sim_run(&s, all_done, s.now + 100 * TRIB_SEC))
		got = share(&s, o->wire.rate, start);
	printf("# share %.3f\n", got);
	if (getenv("TELL"))
		for (unsigned int i = 0; i < s.nworker; i++)
			tell(&s.worker[i]);
	job_end(&s);
	sim_free(&s);
	return got;
}

static void wire__is_filled(void)
{
	struct sim_options o = wires(4, 500e6);

	/* 1408 of 1490 bytes are values: 0.945 at most. */
	expect(measure(&o, 16 * MIB) > 0.92);
	o = wires(8, 200e6);
	expect(measure(&o, 8 * MIB) > 0.92);
	o.nval = 832;
	expect(measure(&o, 8 * MIB) > 0.95);
	o = wires(4, 10e9);
	expect(measure(&o, 16 * MIB) > 0.5);
}

static void wire__with_a_short_queue_is_filled(void)
{
	struct sim_options o = wires(4, 500e6);

	o.wire.queue = 40000;
	expect(measure(&o, 16 * MIB) > 0.85);
	o.wire.queue = 100000;
	expect(measure(&o, 16 * MIB) > 0.85);
}

static void window__survives_single_losses(void)
{
	struct sim_options o = wires(4, 500e6);
	double none = measure(&o, 16 * MIB), one, five;

	o.wire.loss = 10;
	one = measure(&o, 16 * MIB);
	expect(one > 0.8 * none);
	o.wire.loss = 50;
	five = measure(&o, 4 * MIB);
	expect(five > 0.2 * none);
}

int main(void)
{
	run(wire__is_filled);
	run(wire__with_a_short_queue_is_filled);
	run(window__survives_single_losses);
	return tap_done();
}
