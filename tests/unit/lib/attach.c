// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attaching and detaching over real sockets and threads: ranks join, leave
 * together or alone, join again, and get the reason if they cannot.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "tests/lib/rank_threads.h"

static void second_later(struct member *m)
{
	if (m->rank)
		nap(1200);
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
		m->wrong +=
			trib_allreduce(m->t, x[1], x[1], 1000, TRIB_F32, TRIB_SUM) != -EHOSTDOWN;
		return;
	}
	nap(100); /* until the other has attached */
	m->rc = trib_iallreduce(m->t, x[0], x[0], 1000, TRIB_F32, TRIB_SUM, &r[0]);
	m->rc |= trib_iallreduce(m->t, x[0], x[0], 1000, TRIB_F32, TRIB_SUM, &r[1]);
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

/* --- attaching that fails */

static int attach_alone(struct loop_relay *l, unsigned int rank, unsigned int timeout,
			struct trib_error *e)
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

/* The nonce lets a relay recognise late copies of the first attempt's JOINs. */
static void attach__every_attempt_has_a_larger_nonce(void)
{
	struct loop_relay l = relay(2);
	struct trib_error e;
	uint64_t first;

	loop_start(&l);
	expect_eq(attach_alone(&l, 1, 100, &e), -ETIMEDOUT);
	first = l.nonce[1];
	expect_eq(attach_alone(&l, 1, 100, &e), -ETIMEDOUT);
	expect(first >> 32 != 0);
	expect(trib_nonce_is_older(first, l.nonce[1]));
	loop_stop(&l);
}

static void attach__start_of_another_attempt_is_ignored(void)
{
	struct loop_relay l = relay(2);
	struct member m[2];

	l.stale = true;
	loop_start(&l);
	all_ranks(&l, m, sum_floats);
	expect_good(&l, m);
	loop_stop(&l);
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
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(TRIB_UDP_PORT_WORKER + 1)};
	struct loop_relay l = relay(2);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct trib_error e;

	expect_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	expect_eq(attach_alone(&l, 1, 300, &e), -EBUSY);
	expect(strstr(e.text, "7419 is taken: by another process") != NULL);
	expect(strstr(e.text, "name another port") != NULL);
	close(fd);
}

static void set_mtu(int mtu)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_mtu = mtu};
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
	l.nval = 832; /* only the relay knows that it takes larger packets */
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
	run(detach__waits_for_the_others);
	run(detach__is_bounded_and_tells_those_who_stay);
	run(detach__cancels_what_is_under_way);
	run(job__can_be_joined_again);
	run(attach__every_attempt_has_a_larger_nonce);
	run(attach__start_of_another_attempt_is_ignored);
	run(attach__names_the_ranks_that_are_missing);
	run(attach__says_when_the_relay_is_silent);
	run(attach__says_when_the_port_is_taken);
	run(attach__says_when_the_path_is_too_small);
	run(attach__refuses_bad_settings);
	return tap_done();
}
