// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stream of distribution Data, for what a forwarder passes on:
 *
 *	bench-stream send ROUTER JOB VERSION PACKETS BYTES FILE
 *	bench-stream take BYTES SECONDS FILE
 *
 * `send` makes and signs all PACKETS, says "ready", and sends them when a line
 * comes in: by UDP segmentation, as many in one call as fit. `take` counts the
 * Data of BYTES of content that come to port 6363, until none came for a while
 * or SECONDS are over. Both end with a line of JSON. FILE, 8 bytes, is how
 * `send` sees what has been taken: it is never more than a window ahead of that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "ndn/packet/ndn.h"

#define PORT 6363
#define UDP_MAX 65507
#define SEGMENTS_MAX 64	    /* of one call: the kernel's UDP_MAX_SEGMENTS */
#define FIRST_SEGMENT 65536 /* all have numbers of 4 bytes, and so one size */
#define IDLE_MS 300
#define BUFFER (64 << 20)
#define WINDOW (4 << 20)  /* bytes of packets that may be under way */
#define STALL_NS 20000000 /* without one taken: the window's are lost */

static void die(const char *what)
{
	fprintf(stderr, "bench-stream: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void must_ndn(enum ndn_err err)
{
	if (err == NDN_OK)
		return;
	fprintf(stderr, "bench-stream: ndn error %d\n", err);
	exit(1);
}

static int socket_open(int option, int value)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER;

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)))
		die("port 6363");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, IPPROTO_UDP, option, &value, sizeof(value)))
		die("socket");
	return fd;
}

/* Packets taken so far, shared by both programs. */
static uint64_t *taken_map(const char *path)
{
	int fd = open(path, O_RDWR);
	uint64_t *taken;

	if (fd < 0)
		die(path);
	taken = mmap(NULL, sizeof(*taken), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (taken == MAP_FAILED)
		die(path);
	close(fd);
	return taken;
}

/* ---- send ---- */

/**
 * struct window - how far the sender is ahead
 * @taken:   packets that the receiver counts.
 * @known:   as many when it was looked at last.
 * @since:   when that was new.
 * @lost:    given up.
 * @packets: that may be under way.
 */
struct window {
	uint64_t *taken;
	uint64_t known;
	uint64_t since;
	uint64_t lost;
	uint64_t packets;
};

/* Until the packets before @next may be under way. */
static void window_wait(struct window *w, uint64_t sent, uint64_t next)
{
	for (;;) {
		uint64_t taken = __atomic_load_n(w->taken, __ATOMIC_ACQUIRE);
		uint64_t now;

		if (next <= taken + w->lost + w->packets)
			return;
		now = now_ns();
		if (taken != w->known || !w->since) {
			w->known = taken;
			w->since = now;
		} else if (now - w->since > STALL_NS) {
			w->lost = sent - taken;
			w->since = 0;
		}
		sched_yield();
	}
}

/* Bytes of each packet; they follow one another at *out. */
static size_t packets_make(uint8_t **out, const char *job, uint64_t version, size_t count,
			   size_t bytes)
{
	size_t room = bytes + 512, size = 0, n, i;
	uint8_t *content = calloc(1, bytes), *buf, *one = malloc(room);
	struct ndn_name_buf base, name;
	struct ndn_name more;

	buf = mmap(NULL, room * count, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!content || !one || buf == MAP_FAILED)
		die("memory");
	must_ndn(ndn_name_parse(&base, "/distribute"));
	must_ndn(ndn_name_parse(&name, job));
	more = ndn_name_of(&name);
	must_ndn(ndn_name_append_name(&base, &more));
	must_ndn(ndn_name_append_number(&base, TRIB_NDN_VERSION, version));
	for (i = 0; i < count; i++) {
		struct ndn_data d = {.has_content = true, .content = {content, bytes}};

		name = base;
		must_ndn(ndn_name_append_number(&name, TRIB_NDN_SEGMENT, FIRST_SEGMENT + i));
		d.name = ndn_name_of(&name);
		must_ndn(ndn_data_encode(&d, NULL, one, room, &n));
		if (size && n != size) {
			errno = EMSGSIZE;
			die("packets differ in size");
		}
		size = n;
		memcpy(buf + i * size, one, size);
	}
	free(content);
	free(one);
	*out = buf;
	return size;
}

static int stream_send(char **arg)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	size_t count = strtoul(arg[3], NULL, 10), size, at = 0, most;
	struct window w = {.taken = taken_map(arg[5])};
	uint64_t began, calls = 0, ns;
	uint8_t *buf;
	int fd;

	if (!count || inet_pton(AF_INET, arg[0], &to.sin_addr) != 1) {
		errno = EINVAL;
		die("ROUTER or PACKETS");
	}
	size = packets_make(&buf, arg[1], strtoull(arg[2], NULL, 10), count,
			    strtoul(arg[4], NULL, 10));
	fd = socket_open(UDP_SEGMENT, (int)size);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die(arg[0]);
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	w.packets = WINDOW / size;
	most = UDP_MAX / size < SEGMENTS_MAX ? UDP_MAX / size : SEGMENTS_MAX;
	began = now_ns();
	while (at < count) {
		size_t n = count - at < most ? count - at : most;

		window_wait(&w, at, at + n);
		if (send(fd, buf + at * size, n * size, 0) < 0)
			die("send");
		at += n;
		calls++;
	}
	ns = now_ns() - began;
	printf("{\"packets\": %zu, \"size\": %zu, \"calls\": %llu, \"ns\": %llu}\n", count, size,
	       (unsigned long long)calls, (unsigned long long)ns);
	return 0;
}

/* ---- take ---- */

/* Length of one datagram of several, by UDP_GRO; @n if it is alone. */
static size_t piece(struct msghdr *m, size_t n)
{
	struct cmsghdr *c;
	int size;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
		if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&size, CMSG_DATA(c), sizeof(size));
			return (size_t)size;
		}
	return n;
}

static int stream_take(char **arg)
{
	static uint8_t buf[UDP_MAX + 1];
	size_t bytes = strtoul(arg[0], NULL, 10);
	int fd = socket_open(UDP_GRO, 1), wait = atoi(arg[1]) * 1000;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t packets = 0, calls = 0, first = 0, last = 0;
	uint64_t *taken = taken_map(arg[2]);

	puts("ready");
	fflush(stdout);
	while (poll(&p, 1, packets ? IDLE_MS : wait) > 0) {
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec v = {buf, sizeof(buf)};
		struct msghdr m = {.msg_iov = &v,
				   .msg_iovlen = 1,
				   .msg_control = control.room,
				   .msg_controllen = sizeof(control.room)};
		ssize_t n = recvmsg(fd, &m, 0);
		size_t size, at;

		if (n < 0)
			die("receive");
		size = piece(&m, (size_t)n);
		if (size <= bytes)
			continue; /* no Data of that content */
		for (at = 0; at < (size_t)n; at += size)
			packets += buf[at] == TRIB_NDN_DATA && (size_t)n - at >= size;
		__atomic_store_n(taken, packets, __ATOMIC_RELEASE);
		last = now_ns();
		if (!first)
			first = last;
		calls++;
	}
	printf("{\"packets\": %llu, \"calls\": %llu, \"ns\": %llu}\n", (unsigned long long)packets,
	       (unsigned long long)calls, (unsigned long long)(last - first));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 8 && !strcmp(argv[1], "send"))
		return stream_send(argv + 2);
	if (argc == 5 && !strcmp(argv[1], "take"))
		return stream_take(argv + 2);
	fputs("usage: bench-stream send ROUTER JOB VERSION PACKETS BYTES FILE\n"
	      "       bench-stream take BYTES SECONDS FILE\n",
	      stderr);
	return 2;
}
