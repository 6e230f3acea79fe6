// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two ranks of a job whose cookie nobody else knows, whose relay loses packets:
 * sums of integers, of lengths that follow from their numbers, some of them
 * under way at once. Whatever happens around them, each sum must be right.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/lib_relay.h"
#include "tests/vm/sockevil.h"
#include "tests/vm/sockhonest.h"
#include "tests/vm/stress.h"

#define RANKS 2
#define LENGTHS 12000
#define UNDERWAY 3
/* Results need both ranks, so that neither is further ahead than that. */
#define AHEAD 20
/* Where many want the processors a relay may not run for a minute. Who leaves
 * may wait as long for what the other had already; STANDSTILL_MS is more. */
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
	pthread_t thread;
	int32_t buf[LENGTHS];
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
		stress_complain("honest rank %u, message %lu of %u bytes: %s",
				h->rank, n, 4 * len,
				rc < 0 ? strerror(errno) : "cut");
}

static void recv_one(struct honest *h, uint64_t n)
{
	struct {
		struct cmsghdr c;
		struct trib_cm_recv cm;
	} control;
	struct iovec iov = {h->buf, sizeof(h->buf)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	unsigned int len = length(n), i, r;
	ssize_t rc = recvmsg(h->fd, &m, 0);
	uint32_t sum;

	if (rc != 4 * (ssize_t)len || control.cm.id != n || control.cm.err)
		stress_complain("honest rank %u, sum %lu of %u bytes: %zd "
				"bytes of %llu, error %d (%s)",
				h->rank, n, 4 * len, rc,
				(unsigned long long)control.cm.id,
				control.cm.err, rc < 0 ? strerror(errno) : "");
	for (i = 0; i < len; i++) {
		for (sum = r = 0; r < RANKS; r++)
			sum += value(r, n, i);
		if ((uint32_t)h->buf[i] != sum)
			stress_complain("honest rank %u, sum %lu, element %u "
					"of %u: %#x, not %#x",
					h->rank, n, i, len, h->buf[i], sum);
	}
	stress_count(HONEST_DONE);
}

static void *honest(void *arg)
{
	struct honest *h = arg;
	struct pollfd p = {.fd = h->fd};
	uint64_t n, got = 0;

	for (n = 0; n < __atomic_load_n(&last, __ATOMIC_SEQ_CST); n++) {
		send_one(h, n);
		if (n - got >= UNDERWAY)
			recv_one(h, got++);
		/* They are to be there, not to take all of the time. */
		usleep(3000);
		if (h->rank == 0 && stress_over() && last == UINT64_MAX)
			__atomic_store_n(&last, n + AHEAD, __ATOMIC_SEQ_CST);
	}
	while (got < n)
		recv_one(h, got++);
	if (shutdown(h->fd, SHUT_WR) || poll(&p, 1, LEAVING_MS) != 1 ||
	    p.revents != POLLHUP)
		stress_complain("honest rank %u does not leave: %#x", h->rank,
				p.revents);
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
			      .cookie = RIG_COOKIE};

	loop_start(&relay);
	for (p.rank = 0; p.rank < RANKS; p.rank++) {
		struct honest *h = &ranks[p.rank];

		h->rank = p.rank;
		h->fd = rig_socket(&p);
		if (h->fd < 0)
			stress_complain("honest rank %u has no socket: %s",
					p.rank, strerror(errno));
		pthread_create(&h->thread, NULL, honest, h);
	}
}

void honest_stop(void)
{
	for (int i = 0; i < RANKS; i++)
		pthread_join(ranks[i].thread, NULL);
	loop_stop(&relay);
}
