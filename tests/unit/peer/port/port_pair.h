/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports in two processes, which wait by their descriptors; and one that is killed. */
#ifndef PORT_PAIR_H
#define PORT_PAIR_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/port/port_rig.h"

#define AREA (1 << 20)

static struct rig *rig;
static uint8_t area[RIG_MAX][AREA], place[RIG_MAX][AREA];

static void start(uint32_t n, size_t chunk, unsigned int slots)
{
	rig->chunk = chunk;
	rig->slots = slots;
	rig->rng = 1;
	if (!rig_open(rig, n)) {
		printf("Bail out! cannot open ports\n");
		exit(1);
	}
}

static struct peer_mem *mem(uint32_t rank, void *p, size_t len)
{
	return rig->ops->mem_get(rig->p[rank], p, len);
}

/* The port of @rank in this process; its only peer is in another, at socket @s. */
static bool pair_open(uint32_t rank, int s)
{
	static uint8_t blob[PEER_BLOB_MAX];
	struct peer_fault fault;
	size_t len;

	rig->n = 2;
	memset(rig->p, 0, sizeof(rig->p));
	if (rig_open_one(rig, rank, &fault))
		return false;
	len = rig->ops->blob(rig->p[rank], blob, sizeof(blob));
	if (file_write_full(s, &len, sizeof(len)) || file_write_full(s, blob, len) ||
	    file_read_full(s, &len, sizeof(len)) || file_read_full(s, blob, len))
		return false;
	return !rig->ops->connect(rig->p[rank], 0, blob, len);
}

/* Wait by the descriptor. Return: events. */
static int wait_poll(struct peer_port *p, unsigned int *sleeps)
{
	struct pollfd fd = {.fd = rig->ops->fd(p), .events = POLLIN};
	int n = rig->ops->poll(p);

	if (n)
		return n;
	if (fd.fd < 0 || !rig->ops->rest(p))
		return 0;
	if (poll(&fd, 1, 100) > 0)
		++*sleeps;
	return rig->ops->poll(p);
}

/* Echo what comes, for @n chunks; or forever. */
static void echo(uint32_t rank, int n)
{
	struct peer_mem *m = mem(rank, area[rank], AREA);
	unsigned int sleeps = 0;
	struct peer_chunk c;

	while (n) {
		if (wait_poll(rig->p[rank], &sleeps) < 0)
			return;
		if (!rig->ops->next(rig->p[rank], 0, &c))
			continue;
		memcpy(area[rank], c.data, c.len);
		rig->ops->done(rig->p[rank], 0);
		while (rig->ops->send(rig->p[rank], 0, m, area[rank], c.len) == -EAGAIN)
			if (wait_poll(rig->p[rank], &sleeps) < 0)
				return;
		n--;
	}
}

/*
 * This program as the other end of a pair: a process of its own from its beginning, as
 * verbs does not outlive fork(). Returns if it is not that.
 */
static void echo_main(struct rig *r, int argc, char **argv)
{
	if (argc < 6 || strcmp(argv[1], "echo"))
		return;
	rig = r;
	rig->chunk = 1024;
	rig->slots = 4;
	rig->provider = argv[3];
	rig->nic = argv[4];
	rig->name = argv[5];
	alarm(60);
	if (!pair_open(1, atoi(argv[2])))
		_exit(2);
	echo(1, -1);
	_exit(3);
}

static void echo_exec(int s)
{
	char number[16];
	/* A copy, which is not closed by exec. */
	int copy = dup(s);

	snprintf(number, sizeof(number), "%d", copy);
	execl("/proc/self/exe", "port", "echo", number, rig->provider ? rig->provider : "",
	      rig->nic ? rig->nic : "", rig->name ? rig->name : "", NULL);
	_exit(4);
}

static pid_t echo_fork(int *s)
{
	int both[2];
	pid_t pid;

	rig->chunk = 1024;
	rig->slots = 4;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid)
		echo_exec(both[1]);
	close(both[1]);
	*s = both[0];
	return pid;
}

/* Send one chunk of @len and wait for its echo, asleep. */
static bool ping(struct peer_mem *m, size_t len, unsigned int *sleeps)
{
	uint64_t end = clock_ms() + 5000;
	struct peer_chunk c;

	memset(area[0], (int)len, len);
	while (rig->ops->send(rig->p[0], 0, m, area[0], len) == -EAGAIN)
		if (wait_poll(rig->p[0], sleeps) < 0 || clock_ms() > end)
			return false;
	while (!rig->ops->next(rig->p[0], 0, &c))
		if (wait_poll(rig->p[0], sleeps) < 0 || clock_ms() > end)
			return false;
	if (c.len != len || memcmp(c.data, area[0], len))
		return false;
	rig->ops->done(rig->p[0], 0);
	return true;
}

static void wait__a_descriptor_wakes_either_end(void)
{
	unsigned int sleeps = 0, i;
	struct peer_mem *m;
	pid_t pid;
	int s;

	pid = echo_fork(&s);
	expect(pid > 0);
	expect(pair_open(0, s));
	m = mem(0, area[0], AREA);
	for (i = 0; i < 500; i++)
		if (!expect(ping(m, 1 + i * 2, &sleeps)))
			break;
	expect(rig->ops->fd(rig->p[0]) >= 0);
	expect(sleeps > 100);
	rig->ops->mem_put(rig->p[0], m);
	rig_close(rig);
	close(s);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Send until the port fails. Return: milliseconds, or -1. */
static int until_fault(struct peer_mem *m, unsigned int *sleeps)
{
	uint64_t begin = clock_ms();

	while (clock_ms() - begin < 5000) {
		rig->ops->send(rig->p[0], 0, m, area[0], 1024);
		if (wait_poll(rig->p[0], sleeps) < 0)
			return (int)(clock_ms() - begin);
	}
	return -1;
}

static void peer__that_is_killed_is_named(void)
{
	struct peer_fault f = {0};
	unsigned int sleeps = 0;
	struct peer_mem *m;
	int s, status, ms;
	pid_t pid;

	pid = echo_fork(&s);
	expect(pid > 0);
	expect(pair_open(0, s));
	m = mem(0, area[0], AREA);
	expect(ping(m, 1000, &sleeps));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	ms = until_fault(m, &sleeps);
	expect(ms >= 0 && ms < 2000);
	rig->ops->fault(rig->p[0], &f);
	expect_eq(f.peer, 1);
	expect(strlen(f.text) > 0);
	printf("# after %d ms: %s\n", ms, f.text);
	rig_close(rig);
	close(s);
}

/* Nothing is on its way to the peer; not every kind of port notices. */
static inline void pair_idle_death(void)
{
	uint64_t begin;
	unsigned int sleeps = 0;
	struct peer_fault f;
	struct peer_mem *m;
	pid_t pid;
	int s, n = 0;

	pid = echo_fork(&s);
	expect(pair_open(0, s));
	m = mem(0, area[0], AREA);
	expect(ping(m, 100, &sleeps));
	kill(pid, SIGKILL);
	begin = clock_ms();
	while (n >= 0 && clock_ms() - begin < 2000)
		n = wait_poll(rig->p[0], &sleeps);
	expect(n < 0 && clock_ms() - begin < 500);
	rig->ops->fault(rig->p[0], &f);
	expect_eq(f.peer, 1);
	printf("# %s\n", f.text);
	waitpid(pid, NULL, 0);
	close(s);
	rig_close(rig);
}

#endif /* PORT_PAIR_H */
