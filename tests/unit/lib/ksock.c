// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtrib with collective sockets, against a double of the kernel: its calls,
 * and its reaction to results and errors.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/tap.h"
#include "tests/lib/ksock_double.h"
#include "tests/lib/rank_threads.h"
#include "trib_compress.h"

/* Run a job of @world ranks on the double. */
static struct loop_relay job(unsigned int world)
{
	ksock_double_reset();
	return relay(world);
}

#define expect_job(l, m, work)                                                                     \
	do {                                                                                       \
		all_ranks(&(l), m, work);                                                          \
		expect_good(&(l), m);                                                              \
		expect_eq(ksock_double.wrong, 0);                                                  \
	} while (0)

static void is_kernel(struct member *m)
{
	struct trib_counters c = {.size = sizeof(c)};

	sum_floats(m);
	m->wrong += !!strcmp(trib_transport_name(m->t), "kernel");
	m->wrong += trib_trees(m->t) != 1 || trib_number(m->t) == 0;
	trib_counters(m->t, &c);
	m->wrong += c.chunks != 7 || c.window != 256;
}

static void allreduce__is_right(void)
{
	struct loop_relay l = job(4);
	struct member m[4];

	expect_job(l, m, is_kernel);
	expect_eq(ksock_double.left, 4);
	expect_eq(ksock_double.closed, 4);
}

#define N 1000

static void every_collective(struct member *m)
{
	static const enum trib_op ops[] = {TRIB_SUM, TRIB_MAX, TRIB_MIN};
	int world = trib_world(m->t), rank = (int)m->rank, k, i;
	int32_t *x = malloc(4 * N * (size_t)world);
	float f[2] = {(float)rank, 1};

	for (i = 0; i < 3; i++) {
		for (k = 0; k < N; k++)
			x[k] = k + rank;
		m->rc |= trib_allreduce(m->t, x, x, N, TRIB_I32, ops[i]);
		for (k = 0; k < N; k++)
			m->wrong += x[k] != (i == 0 ? world * k + 6 : i == 1 ? k + world - 1 : k);
	}
	m->rc |= trib_allreduce(m->t, f, f, 2, TRIB_F32, TRIB_AVG);
	m->wrong += f[0] != 1.5f || f[1] != 1;
	/* In place, and to a share of the input. */
	for (k = 0; k < N * world; k++)
		x[k] = k + rank;
	m->rc |= trib_reduce_scatter(m->t, x, x + N * rank, N, TRIB_I32, TRIB_SUM);
	for (k = 0; k < N; k++)
		m->wrong += x[N * rank + k] != world * (N * rank + k) + 6;
	x[0] = 100 + rank;
	m->rc |= trib_allgather(m->t, x, x, 1, TRIB_I32);
	for (k = 0; k < world; k++)
		m->wrong += x[k] != 100 + k;
	for (k = 0; k < N; k++)
		x[k] = rank == 2 ? k : -1;
	m->rc |= trib_broadcast(m->t, x, N, TRIB_I32, 2);
	for (k = 0; k < N; k++)
		m->wrong += x[k] != k;
	m->rc |= trib_barrier(m->t);
	m->rc |= trib_allreduce(m->t, x, x, 0, TRIB_I32, TRIB_SUM);
	free(x);
}

static void collectives__are_what_they_are_elsewhere(void)
{
	struct loop_relay l = job(4);
	struct member m[4];

	expect_job(l, m, every_collective);
}

#define MANY 200
#define EACH 5000

/* Issue all, then wait for them from the last to the first. */
static void many_at_once(struct member *m)
{
	static int32_t x[2][MANY][EACH];
	struct trib_req *r[MANY];
	int i, k;

	for (i = 0; i < MANY; i++) {
		for (k = 0; k < EACH; k++)
			x[m->rank][i][k] = i * k;
		m->rc |= trib_iallreduce(m->t, x[m->rank][i], x[m->rank][i], EACH, TRIB_I32,
					 TRIB_SUM, &r[i]);
	}
	for (i = MANY; i--;)
		m->rc |= trib_wait(r[i]);
	for (i = 0; i < MANY; i++)
		for (k = 0; k < EACH; k++)
			m->wrong += x[m->rank][i][k] != 2 * i * k;
}

static void requests__wait_for_the_kernels_memory(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	ksock_double.mem_max = 3 * 4 * EACH;
	expect_job(l, m, many_at_once);
	expect(ksock_double.refused > 0);
	expect(ksock_double.most <= ksock_double.mem_max);
}

/*
 * No message is in flight whose result would make room: the timer offers again.
 */
static void requests__are_offered_again_without_results(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	ksock_double.again = 7;
	expect_job(l, m, sum_floats);
	expect_eq(ksock_double.refused, 7);
}

/* The kernel keeps no masks and residuals: the text says how it works instead. */
static void no_compression(struct member *m)
{
	struct trib_compress *c = NULL;

	m->wrong += trib_compress_open(&c, m->t, NULL) != -EOPNOTSUPP || c;
	m->wrong += !strstr(trib_error_text(m->t), "attach with transport udp or xdp");
	sum_floats(m);
}

static void compression__is_refused(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, no_compression);
}

static void *wait_for(void *req)
{
	return (void *)(intptr_t)trib_wait(req);
}

static void by_threads(struct member *m)
{
	int32_t x[4][N];
	struct trib_req *r[4];
	pthread_t thread[4];
	void *rc;
	int i, k;

	for (i = 0; i < 4; i++) {
		for (k = 0; k < N; k++)
			x[i][k] = i + k;
		m->rc |= trib_iallreduce(m->t, x[i], x[i], N, TRIB_I32, TRIB_SUM, &r[i]);
		pthread_create(&thread[i], NULL, wait_for, r[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &rc);
		m->wrong += rc != NULL;
		for (k = 0; k < N; k++)
			m->wrong += x[i][k] != 2 * (i + k);
	}
}

static void requests__may_be_waited_for_by_several_threads(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, by_threads);
}

static void computes(struct member *m)
{
	struct trib_counters c = {.size = sizeof(c)};
	int32_t x = 1;
	struct trib_req *r;
	int done = 0, i;

	m->rc = trib_iallreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_SUM, &r);
	/* No thread waits: the progress thread takes the result. */
	for (i = 0; i < 500 && !c.chunks; i++) {
		nap(10);
		trib_counters(m->t, &c);
	}
	m->wrong += !c.chunks;
	m->rc |= trib_test(r, &done);
	m->wrong += !done || x != 2;
}

static void requests__are_done_while_the_caller_computes(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, computes);
}

/* --- errors */

static void not_finite(struct member *m)
{
	struct trib_error e;
	float x[3] = {1, 2, 3};

	if (m->rank == 1)
		x[2] = NAN;
	m->wrong += trib_allreduce(m->t, x, x, 3, TRIB_F32, TRIB_SUM) != -EDOM;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_NONFINITE || e.rank != 1 || e.index != 2;
	sum_floats(m); /* the handle lives */
}

static void error__not_finite_is_everybodys_and_survived(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, not_finite);
}

static void overflows(struct member *m)
{
	float x[4] = {1, FLT_MAX, -FLT_MAX, FLT_MAX}, y[2];
	struct trib_req *bad, *over;
	struct trib_error e;

	x[1] = m->rank ? x[1] : -x[1];
	y[0] = m->rank ? NAN : 0;
	m->wrong += !!trib_iallreduce(m->t, y, y, 1, TRIB_F32, TRIB_SUM, &bad);
	m->wrong += !!trib_iallreduce(m->t, x, x, 4, TRIB_F32, TRIB_SUM, &over);
	m->wrong += trib_wait(over) != -ERANGE;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_OVERFLOW || e.rank != -1 || e.index != 2;
	m->wrong += x[0] != 2 || x[1] != 0 || !isinf(x[2]) || !isinf(x[3]);
	/* The error of the older call, which returns only now. */
	m->wrong += trib_wait(bad) != -EDOM;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_NONFINITE || e.rank != 1 || e.index != 0;
	sum_floats(m); /* the handle lives */
}

static void error__overflow_is_everybodys_and_has_the_sums(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, overflows);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Rank 0 stays; rank 1 "dies" while a sum is under way. */
static void loses_a_rank(struct member *m)
{
	struct trib_error e;
	uint64_t cpu;
	int32_t x = 1;

	if (m->rank) {
		nap(200);
		ksock_double_kill(1);
		return;
	}
	m->wrong += trib_allreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_SUM) != -EHOSTDOWN;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_GONE || e.rank != 1 || !!strcmp(e.text, "rank 1 ended");
	m->wrong += trib_barrier(m->t) != -EHOSTDOWN;
	/* poll() always reports a dead socket: no thread may spin on it. */
	cpu = cpu_ns();
	nap(300);
	m->wrong += cpu_ns() - cpu > 100 * MS;
}

static void error__a_lost_rank_ends_the_handle_quietly(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, loses_a_rank);
}

/* A result arrives when the handle is dead, and is never received. */
static void too_large(struct member *m)
{
	static int32_t x[2][N];
	struct trib_error e;
	struct trib_req *r;
	uint64_t cpu;

	nap(m->rank ? 200 : 100);
	m->rc = trib_iallreduce(m->t, x[m->rank], x[m->rank], 1, TRIB_I32, TRIB_SUM, &r);
	m->wrong +=
		trib_allreduce(m->t, x[m->rank], x[m->rank], N, TRIB_I32, TRIB_SUM) != -EMSGSIZE;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_ARGUMENT || !strstr(e.text, "mem_max") ||
		    !strstr(e.text, "4000 bytes");
	nap(300);
	cpu = cpu_ns();
	nap(300);
	m->wrong += cpu_ns() - cpu > 100 * MS;
	m->wrong += trib_wait(r) != -EMSGSIZE && !m->rank;
}

static void error__messages_beyond_the_kernels_limit(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	ksock_double.mem_max = 4 * N - 1;
	expect_job(l, m, too_large);
}

static void beyond_a_limit(struct member *m)
{
	static const struct {
		int err;
		const char *word;
	} limit[] = {{EDQUOT, "mem_user"}, {ENOBUFS, "mem_total"}};
	unsigned int i = ksock_double.send_errno == ENOBUFS;
	struct trib_error e;
	int32_t x = 1;
	int rc;

	nap(m->rank ? 200 : 100);
	rc = trib_allreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_SUM);
	trib_error(m->t, &e);
	m->wrong += rc != -limit[i].err && (!m->rank || rc != -EHOSTDOWN);
	m->wrong += !m->rank && !strstr(e.text, limit[i].word);
}

static void error__names_the_limit_of_memory(void)
{
	struct member m[2];
	struct loop_relay l;

	l = job(2);
	ksock_double.send_errno = EDQUOT;
	expect_job(l, m, beyond_a_limit);
	l = job(2);
	ksock_double.send_errno = ENOBUFS;
	expect_job(l, m, beyond_a_limit);
}

static void odd_result(struct member *m)
{
	struct trib_error e;
	int32_t x = 1;

	m->wrong += trib_allreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_SUM) != (m->rank ? -EPROTO : 0);
	trib_error(m->t, &e);
	m->wrong += m->rank && e.code != TRIB_ERR_SYSTEM;
}

static void error__a_result_that_was_not_asked_for(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	ksock_double.odd_id = 1;
	expect_job(l, m, odd_result);
}

static void bad_arguments(struct member *m)
{
	int32_t x = 1;
	float f = 1;

	m->wrong += trib_allreduce(m->t, &x, &x, 1, TRIB_I32, TRIB_AVG) != -EINVAL;
	m->wrong += trib_allreduce(m->t, NULL, &x, 1, TRIB_I32, TRIB_SUM) != -EINVAL;
	m->wrong += trib_broadcast(m->t, &f, 1, TRIB_F32, 7) != -EINVAL;
	sum_floats(m);
}

static void error__bad_arguments_send_nothing(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, bad_arguments);
}

/* --- attaching and detaching */

static int attach(unsigned int timeout, struct trib_error *e)
{
	struct loop_relay l = relay(1);
	char ticket[200];
	struct trib_options o = {
		.size = sizeof(o),
		.job = loop_ticket(&l, 0, ticket, sizeof(ticket)),
		.transport = TRIB_TRANSPORT_KERNEL,
		.timeout_ms = timeout,
		.join_timeout_ms = 4321,
	};
	struct trib *t;
	int rc = trib_attach(&t, &o);

	trib_error(NULL, e);
	if (!rc)
		trib_detach(t);
	return rc;
}

static void attach__passes_place_and_times_on(void)
{
	struct trib_error e;

	ksock_double_reset();
	expect_eq(attach(1234, &e), 0);
	expect_eq(ksock_double.timeout_ms, 1234);
	expect_eq(ksock_double.join_timeout_ms, 4321);
	expect_eq(ksock_double.place_len,
		  offsetof(struct trib_attach_rep, tree) + sizeof(struct trib_attach_tree));
	ksock_double_reset();
	expect_eq(attach(0, &e), 0);
	expect_eq(ksock_double.timeout_ms, 0); /* the job's */
	expect_eq(ksock_double.wrong, 0);
}

static void attach__says_what_is_missing(void)
{
	struct trib_error e;

	ksock_double_reset();
	ksock_double.no_module = true;
	expect_eq(attach(0, &e), -EPROTONOSUPPORT);
	expect(strstr(e.text, "module trib is not loaded") != NULL);

	ksock_double_reset();
	ksock_double.bind_errno = EACCES;
	expect_eq(attach(0, &e), -EACCES);
	expect(strstr(e.text, "claimed for another user") != NULL);

	ksock_double_reset();
	ksock_double.bind_errno = EADDRINUSE;
	expect_eq(attach(0, &e), -EADDRINUSE);
	expect(strstr(e.text, "rank 0") != NULL);

	ksock_double_reset();
	ksock_double.deaf = 3;
	expect_eq(attach(0, &e), -ETIMEDOUT);
	expect_eq(e.code, TRIB_ERR_MISSING);
	expect_eq(e.rank, 3);
	expect(!strcmp(e.text, "rank 3 did not join"));
	expect_eq(ksock_double.closed, 1);
}

static void attach__knows_its_name(void)
{
	struct trib_options o = {.size = sizeof(o), .job = "trib://x", 0};
	struct trib *t;

	o.transport = TRIB_TRANSPORT_KERNEL + 1;
	expect_eq(trib_attach(&t, &o), -EINVAL);
	o.transport = 0;
	setenv("TRIB_TRANSPORT", "kernels", 1);
	expect_eq(trib_attach(&t, &o), -EINVAL);
	expect(strstr(trib_error_text(NULL), "kernel") != NULL);
	setenv("TRIB_TRANSPORT", "kernel", 1);
}

static void second_later(struct member *m)
{
	if (m->rank)
		nap(700);
}

static void detach__waits_for_the_others(void)
{
	struct loop_relay l = job(2);
	struct member m[2];
	uint64_t cpu = cpu_ns();

	expect_job(l, m, second_later);
	expect(m[0].took > 400 * MS);
	expect(m[1].took < 300 * MS);
	expect(cpu_ns() - cpu < 300 * MS);
}

static void leave_requests(struct member *m)
{
	static int32_t x[2];
	struct trib_req *r;

	if (m->rank) {
		nap(300);
		m->wrong += trib_allreduce(m->t, &x[1], &x[1], 1, TRIB_I32, TRIB_SUM) != -EHOSTDOWN;
		return;
	}
	nap(100); /* until the other has attached */
	m->rc = trib_iallreduce(m->t, &x[0], &x[0], 1, TRIB_I32, TRIB_SUM, &r);
	trib_detach(m->t);
	m->wrong += trib_wait(r) != -ECANCELED;
	m->t = NULL;
}

static void detach__cancels_what_is_under_way_and_tells(void)
{
	struct loop_relay l = job(2);
	struct member m[2];

	expect_job(l, m, leave_requests);
	expect_eq(ksock_double.left, 0);
}

int main(void)
{
	unsetenv("TRIB_JOB");
	unsetenv("TRIB_RANK");
	unsetenv("RANK");
	setenv("TRIB_TRANSPORT", "kernel", 1);
	run(allreduce__is_right);
	run(collectives__are_what_they_are_elsewhere);
	run(requests__wait_for_the_kernels_memory);
	run(compression__is_refused);
	run(requests__are_offered_again_without_results);
	run(requests__may_be_waited_for_by_several_threads);
	run(requests__are_done_while_the_caller_computes);
	run(error__not_finite_is_everybodys_and_survived);
	run(error__overflow_is_everybodys_and_has_the_sums);
	run(error__a_lost_rank_ends_the_handle_quietly);
	run(error__messages_beyond_the_kernels_limit);
	run(error__names_the_limit_of_memory);
	run(error__a_result_that_was_not_asked_for);
	run(error__bad_arguments_send_nothing);
	run(attach__passes_place_and_times_on);
	run(attach__says_what_is_missing);
	run(attach__knows_its_name);
	run(detach__waits_for_the_others);
	run(detach__cancels_what_is_under_way_and_tells);
	ksock_double_reset();
	return tap_done();
}
