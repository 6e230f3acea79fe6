// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compressed sums with real sockets and threads: the codec thread beside those of the
 * caller, agreement at the beginning, and handles that end or are replaced. With ON_GPU
 * values are in the memory of a GPU; with ON_DOUBLE that is a double with threads. With
 * BY_PEERS the ranks exchange among themselves, and the relay has nothing to do.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "tests/lib/rank_threads.h"
#include "trib_compress.h"

#ifdef BY_PEERS
#include "tests/lib/peer/env.h"
#else
static void peer_env_on(const char *algorithm)
{
	(void)algorithm;
}
#endif

#define COUNT 30000
#define TENSORS 3

/* --- values in host memory, or beside it on the GPU */

struct values {
	float *x;
	struct trib_buffer buffer;
};

#ifdef ON_GPU
#include "tests/lib/gpu/double.h"

#define MEMORY TRIB_MEMORY_CUDA

static const struct trib_gpu_ops *gpu;

static void find_gpu(void)
{
	char text[300];

	gpu = trib_gpu_load(NULL, text, sizeof(text));
	if (!gpu)
		tap_skip_all(text);
	if (gpu->describe(text, sizeof(text)))
		tap_skip_all(gpu->error_text());
#ifdef ON_DOUBLE
	gpu_double_start(3);
#endif
}

static void leave_gpu(void)
{
#ifdef ON_DOUBLE
	gpu_double_stop();
	expect_eq(gpu_double_reset(0), 0);
#endif
}

/* The object's GPU is not the one that new threads use, if there are several. */
static void choose_gpu(void)
{
	gpu->use(1);
}

static void values_new(struct values *v)
{
	v->x = malloc(COUNT * sizeof(float));
	v->buffer.data = gpu->memory_new(COUNT * sizeof(float));
	v->buffer.memory = MEMORY;
	gpu->stream_new(&v->buffer.stream);
}

static void values_free(struct values *v)
{
	gpu->stream_free(v->buffer.stream);
	gpu->memory_free(v->buffer.data);
	free(v->x);
}

static void values_up(struct values *v)
{
	gpu->copy(v->buffer.data, v->x, COUNT * sizeof(float), v->buffer.stream);
}

static void values_down(struct values *v)
{
	gpu->copy(v->x, v->buffer.data, COUNT * sizeof(float), v->buffer.stream);
	gpu->wait(v->buffer.stream);
}

/* Copy the first residual to or from @value. */
static void first_residual(float *residual, float *value, bool write)
{
	void *s;

	gpu->stream_new(&s);
	gpu->copy(write ? residual : value, write ? value : residual, sizeof(*value), s);
	gpu->wait(s);
	gpu->stream_free(s);
}
#else
#define MEMORY TRIB_MEMORY_HOST

static void find_gpu(void)
{
}

static void leave_gpu(void)
{
}

static void choose_gpu(void)
{
}

static void values_new(struct values *v)
{
	v->x = malloc(COUNT * sizeof(float));
	v->buffer = (struct trib_buffer){.data = v->x};
}

static void values_free(struct values *v)
{
	free(v->x);
}

static void values_up(struct values *v)
{
	(void)v;
}

static void values_down(struct values *v)
{
	(void)v;
}

static void first_residual(float *residual, float *value, bool write)
{
	*(write ? residual : value) = *(write ? value : residual);
}
#endif

static int sum_start(struct trib_compress *c, uint64_t key, struct values *v, struct trib_req **req)
{
	values_up(v);
	return trib_compress_iallreduce_buffer(c, key, &v->buffer, &v->buffer, COUNT, TRIB_F32,
					       TRIB_SUM, req);
}

static struct trib_compress *open_with(struct member *m, const char *schedule)
{
	struct trib_compress_options o = {.size = sizeof(o),
					  .schedule = schedule,
					  .seed = 3,
					  .bucket = 4096,
					  .memory = MEMORY};
	struct trib_compress *c = NULL;

	choose_gpu();
	m->rc = trib_compress_open(&c, m->t, &o);
	return c;
}

/* Gradients of which 2:4 sends the larger half exactly. */
static void fill(float *x, unsigned int rank, unsigned int step)
{
	size_t k;

	for (k = 0; k < COUNT; k++)
		x[k] = k % 4 < 2 ? 0 : (float)(100 + (k + rank + step) % 7);
}

static unsigned int wrong(const float *y, unsigned int step, unsigned int n)
{
	unsigned int bad = 0, r;
	float want;
	size_t k;

	for (k = 0; k < COUNT; k++) {
		for (want = 0, r = 0; r < n && k % 4 >= 2; r++)
			want += (float)(100 + (k + r + step) % 7);
		bad += y[k] != want;
	}
	return bad;
}

static void train(struct member *m, struct trib_compress *c, unsigned int from, unsigned int steps)
{
	struct trib_req *req[TENSORS];
	struct values v[TENSORS];
	unsigned int s, i;

	for (i = 0; i < TENSORS; i++)
		values_new(&v[i]);
	for (s = from; s < from + steps && !m->rc; s++) {
		for (i = 0; i < TENSORS && !m->rc; i++) {
			fill(v[i].x, m->rank, s);
			m->rc = sum_start(c, i, &v[i], &req[i]);
		}
		for (i = 0; i < TENSORS && !m->rc; i++)
			m->rc = trib_wait(req[TENSORS - 1 - i]);
		for (i = 0; i < TENSORS && !m->rc; i++) {
			values_down(&v[i]);
			m->wrong += wrong(v[i].x, s, RANKS);
		}
		m->wrong += !m->rc && trib_compress_step(c) != (int)s + 1;
	}
	for (i = 0; i < TENSORS; i++)
		values_free(&v[i]);
}

static void sum_shared(struct member *m)
{
	struct trib_compress *c = open_with(m, "2:4");

	if (m->rc)
		return;
	train(m, c, 0, 6);
	m->rc |= trib_compress_close(c);
}

static void sums__are_right_with_loss(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	l.loss = 10;
	loop_start(&l);
	all_ranks(&l, m, sum_shared);
	expect_good(&l, m);
	loop_stop(&l);
}

/*
 * Norms are under way after each step. Rank 0 detaches at once, before the others have
 * sent theirs, and stays until they have the sums.
 */
static void sum_auto(struct member *m)
{
	struct trib_compress *c = open_with(m, "auto");

	if (m->rc)
		return;
	train(m, c, 0, 8);
	if (m->rank)
		nap(100);
	m->wrong += trib_compress_step(c) != 9;
	m->wrong += m->rank && trib_compress_save(c, NULL, 0) <= 0;
	trib_detach(m->t);
	m->t = NULL;
	m->wrong += trib_compress_step(c) != -ECANCELED;
	m->rc |= trib_compress_close(c);
}

static void ladder__leaves_nothing_under_way(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	loop_start(&l);
	all_ranks(&l, m, sum_auto);
	expect_good(&l, m);
	loop_stop(&l);
}

static void disagree(struct member *m)
{
	struct trib_compress *c = open_with(m, m->rank == 2 ? "2:4+int8" : "2:4+int4");

	m->wrong += m->rc != -EINVAL || c;
	m->wrong += !strstr(trib_error_text(m->t), "different options");
	/* The handle is usable. */
	c = open_with(m, "2:4");
	if (m->rc)
		return;
	train(m, c, 0, 1);
	m->rc |= trib_compress_close(c);
	/* Nobody is asked about options that are wrong in themselves. */
	c = open_with(m, "2:5");
	m->wrong += m->rc != -EINVAL || c || !strstr(trib_error_text(m->t), "schedule \"2:5\"");
	m->rc = 0;
}

static void options__must_be_the_same(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	loop_start(&l);
	all_ranks(&l, m, disagree);
	expect_good(&l, m);
	loop_stop(&l);
}

static pthread_barrier_t there;

/* Some ranks go while messages are under way; the buffers are the caller's again. */
static void go(struct member *m)
{
	struct trib_compress *c = open_with(m, "2:4");
	struct trib_req *req[TENSORS];
	struct values v[TENSORS];
	unsigned int i;
	int rc;

	/* A rank that goes while others still attach lets them fail. */
	pthread_barrier_wait(&there);
	if (m->rc)
		return;
	for (i = 0; i < TENSORS; i++) {
		values_new(&v[i]);
		fill(v[i].x, m->rank, 0);
		/* Others may have gone already. */
		if (sum_start(c, i, &v[i], &req[i]))
			req[i] = NULL;
	}
	if (m->rank % 2) {
		trib_detach(m->t);
		m->t = NULL;
	}
	for (i = 0; i < TENSORS; i++) {
		rc = req[i] ? trib_wait(req[i]) : 0;
		m->wrong += rc && rc != -ECANCELED && rc != -EHOSTDOWN;
		values_free(&v[i]);
	}
	m->rc |= trib_compress_close(c);
}

static void detach__ends_messages_and_lets_go_of_buffers(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	pthread_barrier_init(&there, NULL, RANKS);
	loop_start(&l);
	all_ranks(&l, m, go);
	pthread_barrier_destroy(&there);
	expect_good(&l, m);
	loop_stop(&l);
}

static int attach_again(struct member *m)
{
	char ticket[200];
	struct trib_options o = {
		.size = sizeof(o),
		.job = loop_ticket(m->l, m->rank, ticket, sizeof(ticket)),
		.join_timeout_ms = 10000,
	};

	m->t = NULL;
	return trib_attach(&m->t, &o);
}

static pthread_barrier_t trained;

/*
 * Rank 3 dies in step 2. The living repeat the step with their residuals; the new rank
 * 3 opens, and is in step 2 as well.
 */
static void survive(struct member *m)
{
	struct trib_compress *c = open_with(m, "2:4");
	struct trib_req *req;
	struct values v;
	float *rest, half = 0.5f; /* too small to be sent */
	int rc;

	if (m->rc)
		return;
	train(m, c, 0, 2);
	/* Rank 3 does not die while another still lacks a result. */
	pthread_barrier_wait(&trained);
	if (m->rank == 3) {
		/* With a request under way it does not wait for the others. */
		m->rc |= trib_ibarrier(m->t, &req);
		trib_detach(m->t);
		m->wrong += trib_wait(req) != -ECANCELED;
		m->rc |= trib_compress_close(c) | attach_again(m);
		if (!m->rc)
			c = open_with(m, "2:4");
	} else {
		first_residual(trib_compress_residual(c, 0, COUNT), &half, true);
		values_new(&v);
		fill(v.x, m->rank, 2);
		rc = sum_start(c, 0, &v, &req);
		rc = rc ? rc : trib_wait(req);
		values_free(&v);
		m->wrong += rc != -EHOSTDOWN;
		trib_detach(m->t);
		m->rc |= attach_again(m);
		if (!m->rc)
			m->rc = trib_compress_move(c, m->t);
		rest = trib_compress_residual(c, 0, COUNT);
		half = 0;
		if (rest)
			first_residual(rest, &half, false);
		m->wrong += half != 0.5f;
	}
	if (m->rc)
		return;
	train(m, c, 2, 2);
	m->rc |= trib_compress_close(c);
}

static void move__keeps_residuals_and_the_step(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	loop_start(&l);
	pthread_barrier_init(&trained, NULL, RANKS);
	all_ranks(&l, m, survive);
	pthread_barrier_destroy(&trained);
	expect_good(&l, m);
	loop_stop(&l);
}

int main(void)
{
	unsetenv("TRIB_JOB");
	unsetenv("TRIB_RANK");
	unsetenv("RANK");
	unsetenv("TRIB_COMPRESS");
	if (!loop_netns())
		tap_skip_all("cannot make a network namespace");
	find_gpu();
	peer_env_on("ring");
	run(sums__are_right_with_loss);
	run(ladder__leaves_nothing_under_way);
	run(options__must_be_the_same);
	run(detach__ends_messages_and_lets_go_of_buffers);
	run(move__keeps_residuals_and_the_step);
	leave_gpu();
	return tap_done();
}
