// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two ranks of a job with a secret key, whose relay loses packets: sums of
 * integers, several at once, of lengths that follow from their numbers. Each sum
 * must be right, also for a thread that only peeks, and after a recv() into
 * unmapped memory.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/relay_thread.h"
#include "sockevil.h"
#include "sockhonest.h"
#include "tests/vm/rig/stress.h"

#define RANKS 2
#define LENGTHS 12000
#define UNDERWAY 3
/* Results need both ranks, so neither is further ahead than this. */
#define AHEAD 20
/* On a busy machine a relay may not run for a minute, and a leaving rank may wait
 * as long. STANDSTILL_MS is longer. */
#define SILENCE_MS 150000
#define LEAVING_MS 180000

static struct loop_relay relay = {
	.world = RANKS,
	.window = 32,
	.nval = TRIB_NVAL_SMALL,
	.timeout_ms = SILENCE_MS,
	.loss = 5,
};
static struct honest {
	unsigned int rank;
	int fd;
	bool left;
	pthread_t thread, peeker;
	int32_t buf[LENGTHS], seen[LENGTHS];
} ranks[RANKS];
static uint64_t last = UINT64_MAX;

static uint32_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ULL;
	return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ULL >> 32;
}

static unsigned int length(uint64_t n)
{
	return mix(n) % (n % 5 ? 400 : LENGTHS);
}

static int32_t value(unsigned int rank, uint64_t n, unsigned int i)
{
	return mix(n << 32 | i << 4 | rank);
}

static void send_one(struct honest *h, uint64_t n)
{
	unsigned int len = length(n), i;
	struct {
		struct cmsghdr c;
		struct trib_cm_send cm;
	} control = {{CMSG_LEN(sizeof(control.cm)), SOL_TRIB, TRIB_CM_SEND},
		     {.id = n, .dtype = TRIB_SOCK_I32}};
	struct iovec iov = {h->buf, 4 * len};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t rc;

	for (i = 0; i < len; i++)
		h->buf[i] = value(h->rank, n, i);
	rc = sendmsg(h->fd, &m, 0);
	if (rc != 4 * (ssize_t)len)
		stress_complain("honest rank %u, message %lu of %u bytes: %s", h->rank, n, 4 * len,
				rc < 0 ? strerror(errno) : "cut");
}

/* Receive, or peek at, message number @n into @buf. */
static ssize_t take(struct honest *h, void *buf, int flags, uint64_t *n)
{
	struct {
		struct cmsghdr c;
		struct trib_cm_recv cm;
	} control = {};
	struct iovec iov = {buf, sizeof(h->buf)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	ssize_t rc = recvmsg(h->fd, &m, flags);

	if (rc < 0)
		return -errno;
	*n = control.cm.id;
	return control.cm.err ? -control.cm.err : rc;
}

static void check(const struct honest *h, const int32_t *buf, ssize_t rc, uint64_t n)
{
	unsigned int len = length(n), i, r;
	uint32_t sum;

	if (rc != 4 * (ssize_t)len)
		stress_complain("honest rank %u, sum %lu of %u bytes: %zd", h->rank, n, 4 * len,
				rc);
	for (i = 0; i < len; i++) {
		for (sum = r = 0; r < RANKS; r++)
			sum += value(r, n, i);
		if ((uint32_t)buf[i] != sum)
			stress_complain("honest rank %u, sum %lu, element %u "
					"of %u: %#x, not %#x",
					h->rank, n, i, len, buf[i], sum);
	}
}

/* Receive into unmapped memory: the result is not lost. */
static void take_into_nothing(struct honest *h, int flags)
{
	uint64_t n;
	ssize_t rc = take(h, NULL, flags, &n);

	if (rc && rc != -EFAULT && !(flags && rc == -EAGAIN))
		stress_complain("honest rank %u receives into nothing: %zd", h->rank, rc);
	stress_count(HONEST_NOWHERE);
}

static void recv_one(struct honest *h, uint64_t n)
{
	uint64_t got = n;
	ssize_t rc;

	if (length(n) && chance_one_in(4))
		take_into_nothing(h, 0);
	rc = take(h, h->buf, 0, &got);
	if (got != n)
		stress_complain("honest rank %u: sum %lu, not %lu", h->rank, got, n);
	check(h, h->buf, rc, n);
	stress_count(HONEST_DONE);
}

static void *peek(void *arg)
{
	struct honest *h = arg;
	uint64_t n;
	ssize_t rc;

	chance_seed(stress->seed + h->rank);
	while (!__atomic_load_n(&h->left, __ATOMIC_SEQ_CST)) {
		usleep(1000);
		if (chance_one_in(3)) {
			take_into_nothing(h, MSG_PEEK | MSG_DONTWAIT);
			continue;
		}
		rc = take(h, h->seen, MSG_PEEK | MSG_DONTWAIT, &n);
		if (rc == -EAGAIN)
			continue;
		check(h, h->seen, rc, n);
		stress_count(HONEST_SEEN);
	}
	return NULL;
}

static void *honest(void *arg)
{
	struct honest *h = arg;
	struct pollfd p = {.fd = h->fd};
	uint64_t n, got = 0;

	chance_seed(~stress->seed - h->rank);
	for (n = 0; n < __atomic_load_n(&last, __ATOMIC_SEQ_CST); n++) {
		send_one(h, n);
		if (n - got >= UNDERWAY)
			recv_one(h, got++);
		/* Leave CPU time to the other threads. */
		usleep(3000);
		if (h->rank == 0 && stress_over() && last == UINT64_MAX)
			__atomic_store_n(&last, n + AHEAD, __ATOMIC_SEQ_CST);
	}
	while (got < n)
		recv_one(h, got++);
	__atomic_store_n(&h->left, true, __ATOMIC_SEQ_CST);
	pthread_join(h->peeker, NULL);
	if (shutdown(h->fd, SHUT_WR) || poll(&p, 1, LEAVING_MS) != 1 || p.revents != POLLHUP)
		stress_complain("honest rank %u does not leave: %#x", h->rank, p.revents);
	close(h->fd);
	return NULL;
}

void honest_start(void)
{
	struct rig_place p = {.job = RIG_JOB,
			      .world = RANKS,
			      .tree = RIG_TREE,
			      .relay_port = TRIB_UDP_PORT,
			      .recv_port = TRIB_UDP_PORT_WORKER,
			      .seed = RIG_SEED};

	loop_start(&relay);
	for (p.rank = 0; p.rank < RANKS; p.rank++) {
		struct honest *h = &ranks[p.rank];

		h->rank = p.rank;
		h->fd = rig_socket(&p);
		if (h->fd < 0)
			stress_complain("honest rank %u has no socket: %s", p.rank,
					strerror(errno));
		pthread_create(&h->peeker, NULL, peek, h);
		pthread_create(&h->thread, NULL, honest, h);
	}
}

void honest_stop(void)
{
	for (int i = 0; i < RANKS; i++)
		pthread_join(ranks[i].thread, NULL);
	loop_stop(&relay);
}
