// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cost of a port pair beside a plain TCP socket, in the same run: two processes on this
 * machine, bytes in one direction through staging slots and straight to their place,
 * and a chunk of 64 bytes there and back, asleep and awake. Rounds take turns; the
 * fastest counts, since other work only adds time.
 *
 *	bench-port [-k ofi|shm] [-p PROVIDER] [-a NIC] [-c CHUNK] [-s SLOTS] [-b BYTES]
 *		   [-r ROUNDS]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/peer/port/port_rig.h"

#define BUF (8u << 20)
#define PINGS 3000

/** struct job - one measurement, which both processes carry out */
struct job {
	enum { STAGED, DIRECT, SOCKET, PING_ASLEEP, PING_AWAKE, PING_SOCKET, KINDS } kind;
	uint64_t bytes;
};

/** struct best - of all rounds */
struct best {
	double seconds, cpu;
};

static const char *const names[KINDS] = {
	[STAGED] = "port, staged",	[DIRECT] = "port, in place",
	[SOCKET] = "TCP socket",	[PING_ASLEEP] = "port, asleep",
	[PING_AWAKE] = "port, polling", [PING_SOCKET] = "TCP socket, asleep",
};

static char name[32];
static struct rig rig = {
	.ops = &peer_port_ofi,
	.nic = "127.0.0.1",
	.provider = "tcp;ofi_rxm",
	.chunk = 65536,
	.slots = 8,
	.name = name,
};
static uint8_t *buf;
static uint32_t announced[2];

static void die(const char *what)
{
	struct peer_fault f = {0};

	if (rig.p[0])
		rig.ops->fault(rig.p[0], &f);
	fprintf(stderr, "bench-port: %s: %s\n", what, f.err ? f.text : strerror(errno));
	_exit(1);
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void step(struct peer_port *p, bool asleep)
{
	struct pollfd fd = {.fd = rig.ops->fd(p), .events = POLLIN};
	int n = rig.ops->poll(p);

	if (n < 0)
		die("poll");
	if (!n && asleep && fd.fd >= 0 && rig.ops->rest(p))
		poll(&fd, 1, 100);
}

static void give_chunk(struct peer_port *p, struct peer_mem *m, const uint8_t *src, size_t len,
		       bool asleep)
{
	while (rig.ops->send(p, 0, m, src, len))
		step(p, asleep);
}

static size_t take_chunk(struct peer_port *p, bool asleep)
{
	struct peer_chunk c;

	while (!rig.ops->next(p, 0, &c))
		step(p, asleep);
	rig.ops->done(p, 0);
	return c.len;
}

/* The sender's part; ends when the receiver has all. */
static void stream_out(struct peer_port *p, struct peer_mem *m, const struct job *j)
{
	uint64_t at = 0;
	int err;

	while (j->kind == DIRECT && !rig.ops->ready(p, 0, announced[0]))
		step(p, true);
	announced[0] += j->kind == DIRECT;
	while (at < j->bytes) {
		err = j->kind == DIRECT
			      ? rig.ops->write(p, 0, m, buf + at % BUF, rig.chunk, at % BUF)
			      : rig.ops->send(p, 0, m, buf + at % BUF, rig.chunk);
		if (err)
			step(p, true);
		else
			at += rig.chunk;
	}
	take_chunk(p, true);
}

static void stream_in(struct peer_port *p, struct peer_mem *m, const struct job *j)
{
	uint64_t at = 0;

	while (j->kind == DIRECT && rig.ops->announce(p, 0, m, buf, BUF))
		step(p, true);
	while (at < j->bytes)
		at += take_chunk(p, true);
	give_chunk(p, m, buf, 64, true);
}

static void pings(struct peer_port *p, struct peer_mem *m, bool first, bool asleep)
{
	int i;

	for (i = 0; i < PINGS; i++) {
		if (first)
			give_chunk(p, m, buf, 64, asleep);
		take_chunk(p, asleep);
		if (!first)
			give_chunk(p, m, buf, 64, asleep);
	}
}

static void socket_job(int s, bool first, const struct job *j)
{
	uint64_t at;
	int i;

	for (at = 0; j->kind == SOCKET && at < j->bytes; at += rig.chunk)
		if (first ? file_write_full(s, buf + at % BUF, rig.chunk)
			  : file_read_full(s, buf + at % BUF, rig.chunk))
			die("socket");
	for (i = 0; i < (j->kind == SOCKET ? 1 : PINGS); i++) {
		if ((j->kind != SOCKET && first && file_write_full(s, buf, 64)) ||
		    ((first || j->kind != SOCKET) && file_read_full(s, buf, 64)) ||
		    (!first && file_write_full(s, buf, 64)))
			die("socket");
	}
}

static void job_run(struct peer_port *p, struct peer_mem *m, int s, bool first, const struct job *j)
{
	if (j->kind == SOCKET || j->kind == PING_SOCKET)
		socket_job(s, first, j);
	else if (j->kind == PING_ASLEEP || j->kind == PING_AWAKE)
		pings(p, m, first, j->kind == PING_ASLEEP);
	else if (first)
		stream_out(p, m, j);
	else
		stream_in(p, m, j);
}

/* A connected pair of TCP sockets over the loopback device. */
static void tcp_pair(int out[2])
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), one = 1, i;

	out[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(l, (struct sockaddr *)&a, sizeof(a)) || listen(l, 1) ||
	    getsockname(l, (struct sockaddr *)&a, &len) ||
	    connect(out[0], (struct sockaddr *)&a, sizeof(a)))
		die("TCP");
	out[1] = accept(l, NULL, NULL);
	for (i = 0; i < 2; i++)
		setsockopt(out[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(l);
}

static void port_open(uint32_t rank, int control)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct peer_fault fault;
	size_t len;

	rig.n = 2;
	if (rig_open_one(&rig, rank, &fault)) {
		fprintf(stderr, "bench-port: %s\n", fault.text);
		_exit(1);
	}
	len = rig.ops->blob(rig.p[rank], blob, sizeof(blob));
	if (file_write_full(control, &len, sizeof(len)) || file_write_full(control, blob, len) ||
	    file_read_full(control, &len, sizeof(len)) || file_read_full(control, blob, len) ||
	    rig.ops->connect(rig.p[rank], 0, blob, len))
		die("connect");
}

/* Rank 1: does as it is told, and says how much CPU that took. */
static void child(int control, int s)
{
	struct peer_mem *m;
	struct job j;
	double cpu;

	port_open(1, control);
	m = rig.ops->mem_get(rig.p[1], buf, BUF);
	while (!file_read_full(control, &j, sizeof(j))) {
		cpu = cpu_seconds();
		job_run(rig.p[1], m, s, false, &j);
		cpu = cpu_seconds() - cpu;
		if (file_write_full(control, &cpu, sizeof(cpu)))
			break;
	}
	_exit(0);
}

static void measure(int control, int s, struct peer_mem *m, const struct job *j, struct best *b)
{
	double begin, cpu, other;

	if (file_write_full(control, j, sizeof(*j)))
		die("control");
	cpu = cpu_seconds();
	begin = clock_seconds();
	job_run(rig.p[0], m, s, true, j);
	begin = clock_seconds() - begin;
	cpu = cpu_seconds() - cpu;
	if (file_read_full(control, &other, sizeof(other)))
		die("control");
	if (!b->seconds || begin < b->seconds)
		b->seconds = begin;
	if (!b->cpu || cpu + other < b->cpu)
		b->cpu = cpu + other;
}

static void report(const struct best *best, uint64_t bytes)
{
	double gib = (double)bytes / (1u << 30);
	int k;

	printf("%s, chunks of %zu, %u slots\n", rig.ops == &peer_port_ofi ? rig.provider : "shm",
	       rig.chunk, rig.slots);
	printf("%-20s %8s %12s %8s\n", "stream", "GiB/s", "CPU s/GiB", "vs TCP");
	for (k = STAGED; k <= SOCKET; k++)
		printf("%-20s %8.2f %12.2f %8.2f\n", names[k], gib / best[k].seconds,
		       best[k].cpu / gib, best[SOCKET].seconds / best[k].seconds);
	printf("%-20s %8s %12s %8s\n", "64 bytes", "us", "CPU us", "vs TCP");
	for (k = PING_ASLEEP; k < KINDS; k++)
		printf("%-20s %8.1f %12.1f %8.2f\n", names[k], best[k].seconds / PINGS / 2 * 1e6,
		       best[k].cpu / PINGS / 2 * 1e6, best[PING_SOCKET].seconds / best[k].seconds);
}

int main(int argc, char **argv)
{
	static struct best best[KINDS];
	uint64_t bytes = 256u << 20;
	int control[2], s[2], rounds = 5, o, k;
	struct peer_mem *m;
	struct job j;
	pid_t pid;

	while ((o = getopt(argc, argv, "k:p:a:c:s:b:r:")) != -1) {
		switch (o) {
		case 'k':
			rig.ops = strcmp(optarg, "shm") ? &peer_port_ofi : &peer_port_shm;
			break;
		case 'p':
			rig.provider = optarg;
			break;
		case 'a':
			rig.nic = optarg;
			break;
		case 'c':
			rig.chunk = strtoul(optarg, NULL, 0);
			break;
		case 's':
			rig.slots = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 'b':
			bytes = strtoull(optarg, NULL, 0);
			break;
		case 'r':
			rounds = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	bytes -= bytes % rig.chunk;
	buf = calloc(1, BUF);
	if (!buf || !rig.chunk || BUF % rig.chunk || socketpair(AF_UNIX, SOCK_STREAM, 0, control))
		return 2;
	snprintf(name, sizeof(name), "bench-%d", (int)getpid());
	tcp_pair(s);
	pid = fork();
	if (!pid) {
		close(control[0]);
		close(s[0]);
		child(control[1], s[1]);
	}
	close(control[1]);
	port_open(0, control[0]);
	m = rig.ops->mem_get(rig.p[0], buf, BUF);
	while (rounds--) {
		for (k = 0; k < KINDS; k++) {
			j = (struct job){.kind = k, .bytes = bytes};
			measure(control[0], s[0], m, &j, &best[k]);
		}
	}
	report(best, bytes);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
