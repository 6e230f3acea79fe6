// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtrib over real sockets and threads, with a relay model on the loopback
 * device: sending in trains and one by one, receiving both, and the role of
 * driver.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tests/lib/tap.h"
#include "tests/lib/rank_threads.h"

/* sendmsg() that fails for UDP_SEGMENT on request. */
static bool refuse_trains;
static unsigned long trains;
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	if (m->msg_controllen && flags) {
		if (refuse_trains) {
			errno = EIO;
			return -1;
		}
		__atomic_add_fetch(&trains, 1, __ATOMIC_RELAXED);
	}
	return __real_sendmsg(fd, m, flags);
}

static uint64_t loop_left(struct loop_relay *l)
{
	uint64_t left;

	pthread_mutex_lock(&l->lock);
	left = l->left;
	pthread_mutex_unlock(&l->lock);
	return left;
}

static void allreduce__is_right_with_trains_both_ways(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];
	unsigned int i;

	l.trains = true;
	trains = 0;
	loop_start(&l);
	all_ranks(&l, m, sum_floats);
	expect_good(&l, m);
	expect(trains > 0);
	for (i = 0; i < 100 && loop_left(&l) != 15; i++)
		nap(10);
	expect_eq(loop_left(&l), 15);
	loop_stop(&l);
}

static void allreduce__is_right_where_trains_are_refused(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	refuse_trains = true;
	loop_start(&l);
	all_ranks(&l, m, sum_floats);
	expect_good(&l, m);
	loop_stop(&l);
	refuse_trains = false;
}

static void allreduce__is_right_with_loss(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	l.loss = 20;
	loop_start(&l);
	all_ranks(&l, m, sum_floats);
	expect_good(&l, m);
	loop_stop(&l);
}

static void allreduce__takes_the_chunk_size_of_the_relay(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	l.nval = 832;
	loop_start(&l);
	all_ranks(&l, m, sum_floats);
	expect_good(&l, m);
	loop_stop(&l);
}

/* Several threads wait for requests that one thread issued, in any order. */
#define FLIGHT 24
struct waiter {
	struct trib_req **req;
	unsigned int from, step;
	int rc;
};

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;
	unsigned int i;
	int done;

	for (i = w->from; i < FLIGHT; i += w->step) {
		if (i % 5) {
			w->rc |= trib_wait(w->req[i]);
			continue;
		}
		do
			w->rc |= trib_test(w->req[i], &done);
		while (!done);
	}
	return NULL;
}

static void many_in_flight(struct member *m)
{
	static const size_t n = 3000;
	struct trib_req *req[FLIGHT];
	struct waiter w[3];
	pthread_t th[3];
	int32_t *x[FLIGHT];
	unsigned int i, round;
	size_t k;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < FLIGHT; i++) {
			x[i] = malloc(4 * n);
			for (k = 0; k < n; k++)
				x[i][k] = (int32_t)(k * i + m->rank);
			m->rc = trib_iallreduce(m->t, x[i], x[i], n, TRIB_I32,
						i & 1 ? TRIB_SUM : TRIB_MAX, &req[i]);
			if (m->rc)
				return;
		}
		for (i = 0; i < 3; i++) {
			w[i] = (struct waiter){req, 2 - i, 3, 0};
			pthread_create(&th[i], NULL, waiter_main, &w[i]);
		}
		for (i = 0; i < 3; i++) {
			pthread_join(th[i], NULL);
			m->rc |= w[i].rc;
		}
		for (i = 0; i < FLIGHT; i++) {
			for (k = 0; k < n; k++)
				m->wrong += x[i][k] != (i & 1 ? (int32_t)(k * i * RANKS) + 6
							      : (int32_t)(k * i) + 3);
			free(x[i]);
		}
	}
}

static void requests__may_be_waited_for_by_several_threads(void)
{
	struct loop_relay l = relay(RANKS);
	struct member m[RANKS];

	l.loss = 5;
	loop_start(&l);
	all_ranks(&l, m, many_in_flight);
	expect_good(&l, m);
	loop_stop(&l);
}

/* Requests are issued and no thread waits: the progress thread drives. */
static void no_waiting(struct member *m)
{
	static float x[2][200000];
	struct trib_req *req;
	int done = 0;
	unsigned int i;

	m->rc = trib_iallreduce(m->t, x[m->rank], x[m->rank], 200000, TRIB_F32, TRIB_SUM, &req);
	nap(500);
	m->rc |= trib_test(req, &done);
	m->wrong += !done;
	for (i = 0; !done && i < 1000; i++) {
		nap(5);
		m->rc |= trib_test(req, &done);
	}
}

static void requests__make_progress_while_the_caller_computes(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	loop_start(&l);
	all_ranks(&l, m, no_waiting);
	expect_good(&l, m);
	loop_stop(&l);
}

/* After the calls have returned. */
static struct loop_relay *asked;
static uint64_t answer_ns;

static void be_asked(struct member *m)
{
	unsigned long before;
	uint64_t start;
	float x[100] = {0};

	m->rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
	if (m->rank)
		return; /* detaches, and waits until rank 0 does */
	nap(100);
	pthread_mutex_lock(&asked->lock);
	before = asked->results_up;
	pthread_mutex_unlock(&asked->lock);
	start = now();
	loop_need(asked, 0, 1);
	do {
		nap(1);
		pthread_mutex_lock(&asked->lock);
		answer_ns = asked->results_up > before ? now() - start : 0;
		pthread_mutex_unlock(&asked->lock);
	} while (!answer_ns && now() - start < 3000 * MS);
}

static void need__is_answered_after_calls_have_returned(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	asked = &l;
	loop_start(&l);
	all_ranks(&l, m, be_asked);
	expect_good(&l, m);
	expect(answer_ns && answer_ns < 500 * MS);
	loop_stop(&l);
}

/* Rank 1 leaves while another rank still fetches a result from it. */
static bool answered_late;

static void fetch_from_who_leaves(struct member *m)
{
	unsigned long before = 0;
	float x[100] = {0};
	unsigned int i;

	m->rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
	for (i = 0; !m->rank && i < 20; i++) {
		pthread_mutex_lock(&asked->lock);
		before = asked->results_up;
		pthread_mutex_unlock(&asked->lock);
		loop_need(asked, 1, 1);
		nap(60);
	}
	if (m->rank)
		return;
	pthread_mutex_lock(&asked->lock);
	answered_late = asked->results_up > before;
	pthread_mutex_unlock(&asked->lock);
}

static void detach__stays_while_others_fetch_results(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	l.timeout_ms = 400;
	asked = &l;
	loop_start(&l);
	all_ranks(&l, m, fetch_from_who_leaves);
	expect_good(&l, m);
	expect(answered_late);
	loop_stop(&l);
}

/* Nothing is under way, so no timer wakes a thread. */
static void idle(struct member *m)
{
	struct trib_counters c = {.size = sizeof(c)};
	float x[100] = {0};
	uint64_t waits;

	m->rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
	nap(800);
	trib_counters(m->t, &c);
	waits = c.waits;
	nap(500);
	trib_counters(m->t, &c);
	m->wrong = c.waits != waits;
	nap(100); /* let the other thread look, too, before leaving */
}

static void thread__sleeps_when_there_is_nothing_to_do(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	loop_start(&l);
	all_ranks(&l, m, idle);
	expect_good(&l, m);
	loop_stop(&l);
}

int main(void)
{
	unsetenv("TRIB_JOB");
	unsetenv("TRIB_RANK");
	unsetenv("RANK");
	if (!loop_netns())
		tap_skip_all("cannot make a network namespace");
	run(allreduce__is_right_with_trains_both_ways);
	run(allreduce__is_right_where_trains_are_refused);
	run(allreduce__is_right_with_loss);
	run(allreduce__takes_the_chunk_size_of_the_relay);
	run(requests__may_be_waited_for_by_several_threads);
	run(requests__make_progress_while_the_caller_computes);
	run(need__is_answered_after_calls_have_returned);
	run(detach__stays_while_others_fetch_results);
	run(thread__sleeps_when_there_is_nothing_to_do);
	return tap_done();
}
