// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtrib as a whole over real sockets and threads, with a relay model on the
 * loopback device: joining, sending in trains and one by one, receiving both,
 * who drives, and leaving.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"
#include "tests/unit/lib_relay.h"
#include "trib.h"

#define RANKS 4
#define MS 1000000ULL

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void nap(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000,
			       .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* sendmsg() that knows no UDP_SEGMENT, when told so. */
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

static struct loop_relay relay(unsigned int world)
{
	struct loop_relay l = { .world = world, .window = 64, .nval = 352,
				.timeout_ms = 20000 };

	return l;
}

/* One thread per rank: attach, do, detach. */
struct member {
	const struct loop_relay *l;
	unsigned int rank;
	void (*work)(struct member *m);
	struct trib *t;
	int rc;
	unsigned int wrong;
	uint64_t took;
	pthread_t thread;
};

static int join_job(struct member *m)
{
	char ticket[200];
	struct trib_options o = {
		.size = sizeof(o),
		.job = loop_ticket(m->l, m->rank, ticket, sizeof(ticket)),
		.join_timeout_ms = 5000,
	};

	return trib_attach(&m->t, &o);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	uint64_t start;

	m->rc = join_job(m);
	if (m->rc)
		return NULL;
	m->work(m);
	start = now();
	trib_detach(m->t);
	m->took = now() - start;
	return NULL;
}

static void all_ranks(const struct loop_relay *l, struct member *m,
		      void (*work)(struct member *m))
{
	unsigned int i;

	for (i = 0; i < l->world; i++) {
		m[i] = (struct member){ .l = l, .rank = i, .work = work };
		pthread_create(&m[i].thread, NULL, member_main, &m[i]);
	}
	for (i = 0; i < l->world; i++)
		pthread_join(m[i].thread, NULL);
}

static void expect_good(const struct loop_relay *l, const struct member *m)
{
	unsigned int i;

	for (i = 0; i < l->world; i++) {
		if (m[i].rc || m[i].wrong)
			printf("# rank %u:\n", i);
		expect_eq(m[i].rc, 0);
		expect_eq(m[i].wrong, 0);
	}
}

/* Sums of small integers, which floats hold exactly. */
static void sum_floats(struct member *m)
{
	static const size_t counts[] = { 1, 1024, 353, 100003, 0, 7, 30000 };
	int world = trib_world(m->t);
	unsigned int i;
	size_t k, n;
	float *x;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		n = counts[i];
		x = malloc(4 * n + 4);
		for (k = 0; k < n; k++)
			x[k] = (float)((int)(k % 1000) - 500 + (int)m->rank);
		m->rc = trib_allreduce(m->t, x, x, n, TRIB_F32, TRIB_SUM);
		for (k = 0; k < n; k++)
			m->wrong += x[k] !=
				    (float)(world * ((int)(k % 1000) - 500) +
					    world * (world - 1) / 2);
		free(x);
		if (m->rc)
			return;
	}
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

/* Several threads wait for requests that one has issued, in any order. */
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
						i & 1 ? TRIB_SUM : TRIB_MAX,
						&req[i]);
			if (m->rc)
				return;
		}
		for (i = 0; i < 3; i++) {
			w[i] = (struct waiter){ req, 2 - i, 3, 0 };
			pthread_create(&th[i], NULL, waiter_main, &w[i]);
		}
		for (i = 0; i < 3; i++) {
			pthread_join(th[i], NULL);
			m->rc |= w[i].rc;
		}
		for (i = 0; i < FLIGHT; i++) {
			for (k = 0; k < n; k++)
				m->wrong += x[i][k] !=
					    (i & 1 ? (int32_t)(k * i * RANKS) +
							     6 :
						     (int32_t)(k * i) + 3);
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

/* Issued and not waited for: our own thread has to go on. */
static void no_waiting(struct member *m)
{
	static float x[2][200000];
	struct trib_req *req;
	int done = 0;
	unsigned int i;

	m->rc = trib_iallreduce(m->t, x[m->rank], x[m->rank], 200000, TRIB_F32,
				TRIB_SUM, &req);
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

/* After calls have returned. */
static struct loop_relay *asked;
static uint64_t answer_ns;

static void be_asked(struct member *m)
{
	unsigned long before;
	uint64_t start;
	float x[100] = { 0 };

	m->rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
	if (m->rank)
		return; /* detaches: stays until rank 0 does */
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

/* When nothing is under way, nothing wakes. */
static void idle(struct member *m)
{
	struct trib_counters c = { .size = sizeof(c) };
	float x[100] = { 0 };
	uint64_t waits;

	m->rc = trib_allreduce(m->t, x, x, 100, TRIB_F32, TRIB_SUM);
	nap(800);
	trib_counters(m->t, &c);
	waits = c.waits;
	nap(500);
	trib_counters(m->t, &c);
	m->wrong = c.waits != waits;
	nap(100); /* the other looks, too, before we leave */
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

/* --- leaving */


static void second_later(struct member *m)
{
	if (m->rank)
		nap(300);
}

static void detach__waits_for_the_others(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	loop_start(&l);
	all_ranks(&l, m, second_later);
	expect_good(&l, m);
	expect(m[0].took > 200 * MS && m[0].took < 5000 * MS);
	expect(m[1].took < 5000 * MS);
	loop_stop(&l);
}

static void stay(struct member *m)
{
	struct trib_error e;

	if (!m->rank)
		return;
	nap(3000); /* rank 0 gives up waiting */
	m->rc = trib_barrier(m->t) == -EHOSTDOWN ? 0 : -EIO;
	trib_error(m->t, &e);
	m->wrong += e.code != TRIB_ERR_GONE || e.rank != 0;
}

static void detach__is_bounded_and_tells_those_who_stay(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	l.timeout_ms = 1000;
	loop_start(&l);
	all_ranks(&l, m, stay);
	expect_good(&l, m);
	expect(m[0].took > 900 * MS && m[0].took < 5000 * MS);
	loop_stop(&l);
}

static void leave_requests(struct member *m)
{
	static float x[2][1000];
	struct trib_req *r[2];
	int done;

	if (m->rank) {
		nap(400);
		m->wrong += trib_allreduce(m->t, x[1], x[1], 1000, TRIB_F32,
					   TRIB_SUM) != -EHOSTDOWN;
		return;
	}
	nap(100); /* until the other has attached */
	m->rc = trib_iallreduce(m->t, x[0], x[0], 1000, TRIB_F32, TRIB_SUM,
				&r[0]);
	m->rc |= trib_iallreduce(m->t, x[0], x[0], 1000, TRIB_F32, TRIB_SUM,
				 &r[1]);
	trib_detach(m->t);
	m->wrong += trib_wait(r[0]) != -ECANCELED;
	m->wrong += trib_test(r[1], &done) != -ECANCELED || !done;
	m->t = NULL;
}

static void detach__cancels_what_is_under_way(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	loop_start(&l);
	all_ranks(&l, m, leave_requests);
	expect_good(&l, m);
	loop_stop(&l);
}

static void job__can_be_joined_again(void)
{
	struct loop_relay l = relay(3);
	struct member m[3];
	unsigned int i;

	loop_start(&l);
	for (i = 0; i < 5; i++) {
		all_ranks(&l, m, sum_floats);
		expect_good(&l, m);
	}
	expect_eq(l.r.epoch, 5);
	loop_stop(&l);
}

/* --- attaching in vain */

static int attach_alone(struct loop_relay *l, unsigned int rank,
			unsigned int timeout, struct trib_error *e)
{
	char ticket[200];
	struct trib_options o = {
		.size = sizeof(o),
		.job = loop_ticket(l, rank, ticket, sizeof(ticket)),
		.join_timeout_ms = timeout,
	};
	struct trib *t;
	int rc = trib_attach(&t, &o);

	if (!rc)
		trib_detach(t);
	trib_error(NULL, e);
	return rc;
}

static void attach__names_the_ranks_that_are_missing(void)
{
	struct loop_relay l = relay(4);
	struct trib_error e;

	loop_start(&l);
	expect_eq(attach_alone(&l, 1, 300, &e), -ETIMEDOUT);
	expect_eq(e.code, TRIB_ERR_MISSING);
	expect_eq(e.rank, 0);
	expect(strstr(e.text, "ranks 0, 2, 3 ") != NULL);
	loop_stop(&l);
}

static void attach__says_when_the_relay_is_silent(void)
{
	struct loop_relay l = relay(2);
	struct trib_error e;

	l.mute = true;
	loop_start(&l);
	expect_eq(attach_alone(&l, 1, 300, &e), -ETIMEDOUT);
	expect_eq(e.code, TRIB_ERR_RELAY);
	loop_stop(&l);
}

static void attach__says_when_the_port_is_taken(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(TRIB_UDP_PORT_WORKER + 1) };
	struct loop_relay l = relay(2);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct trib_error e;

	expect_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	expect_eq(attach_alone(&l, 1, 300, &e), -EBUSY);
	close(fd);
}

static void set_mtu(int mtu)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	expect_eq(ioctl(fd, SIOCSIFMTU, &ifr), 0);
	close(fd);
}

static void attach__says_when_the_path_is_too_small(void)
{
	struct loop_relay l = relay(2);
	struct trib_error e;

	set_mtu(1400);
	loop_start(&l);
	expect_eq(attach_alone(&l, 1, 300, &e), -EMSGSIZE);
	expect(strstr(e.text, "MTU") != NULL);
	set_mtu(1500);
	loop_stop(&l);
	l = relay(2);
	l.nval = 832; /* only the relay knows that it takes more */
	loop_start(&l);
	expect_eq(attach_alone(&l, 1, 300, &e), -EMSGSIZE);
	loop_stop(&l);
	set_mtu(65536);
}

static void attach__refuses_bad_settings(void)
{
	struct loop_relay l = relay(2);
	struct trib_error e;

	setenv("TRIB_TRANSPORT", "pigeon", 1);
	expect_eq(attach_alone(&l, 1, 300, &e), -EINVAL);
	expect(strstr(e.text, "pigeon") != NULL);
	setenv("TRIB_TRANSPORT", "xdp", 1);
	expect_eq(attach_alone(&l, 1, 300, &e), -EOPNOTSUPP);
	unsetenv("TRIB_TRANSPORT");
	setenv("TRIB_RANK", "0", 1);
	expect_eq(attach_alone(&l, 1, 300, &e), -EINVAL);
	setenv("TRIB_RANK", "-1", 1);
	expect_eq(attach_alone(&l, 1, 300, &e), -EINVAL);
	unsetenv("TRIB_RANK");
	expect_eq(trib_attach(NULL, NULL), -EINVAL);
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
	run(thread__sleeps_when_there_is_nothing_to_do);
	run(detach__waits_for_the_others);
	run(detach__is_bounded_and_tells_those_who_stay);
	run(detach__cancels_what_is_under_way);
	run(job__can_be_joined_again);
	run(attach__names_the_ranks_that_are_missing);
	run(attach__says_when_the_relay_is_silent);
	run(attach__says_when_the_port_is_taken);
	run(attach__says_when_the_path_is_too_small);
	run(attach__refuses_bad_settings);
	return tap_done();
}
