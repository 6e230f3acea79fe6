/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks with collective sockets and ranks with libtrib in one job: they make the
 * same calls and get the same bits. Also run with packet loss.
 */
#include "sock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "trib.h"

/* Ranks from here on use libtrib, each in a process. */
#define FIRST_LIB 2
#define COUNT 50000
#define ROUNDS 6

static pid_t child[WORLD];

/* Not exact in any format: the result depends on the computation. */
static float value(unsigned int rank, unsigned int round, size_t i)
{
	return (float)(((i + round) * 2654435761u >> 7) % 100003) / (float)(rank + 3);
}

static void fill(float *x, unsigned int rank, unsigned int round)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		x[i] = value(rank, round, i);
}

static uint64_t mix(uint64_t h, const void *p, size_t len)
{
	const uint8_t *b = p;

	while (len--)
		h = (h ^ *b++) * 1099511628211u;
	return h;
}

/* Calls of all ranks; @one makes one call. Return: a checksum of all results. */
static uint64_t sequence(unsigned int rank,
			 int (*one)(unsigned int rank, unsigned int coll, unsigned int op,
				    const float *x, float *y, size_t n))
{
	float *x = malloc(4 * COUNT), *y = malloc(4 * COUNT * WORLD);
	uint64_t h = 14695981039346656037u;
	unsigned int k;

	for (k = 0; k < ROUNDS; k++) {
		fill(x, rank, k);
		if (one(rank, TRIB_COLL_ALLREDUCE, k % 4, x, y, COUNT))
			return 0;
		h = mix(h, y, 4 * COUNT);
		if (one(rank, TRIB_COLL_ALLGATHER, 0, x, y, 1000))
			return 0;
		h = mix(h, y, 4 * 1000 * WORLD);
		if (one(rank, TRIB_COLL_BARRIER, 0, x, y, 0))
			return 0;
		if (one(rank, TRIB_COLL_BROADCAST, 0, x, y, 3000))
			return 0;
		h = mix(h, y, 4 * 3000);
	}
	free(x);
	free(y);
	return h;
}

static int by_socket(unsigned int rank, unsigned int coll, unsigned int op, const float *x,
		     float *y, size_t n)
{
	struct trib_cm_send cm = {.collective = (uint8_t)coll,
				  .op = (uint8_t)op,
				  .root = coll == TRIB_COLL_BROADCAST};
	size_t out = coll == TRIB_COLL_ALLGATHER ? n * WORLD : n;

	return send_cm(w.fd[rank], x, 4 * n, &cm, 0) != (ssize_t)(4 * n) ||
	       recv(w.fd[rank], y, 4 * out, 0) != (ssize_t)(4 * out);
}

static struct trib *handle;

static int by_lib(unsigned int rank, unsigned int coll, unsigned int op, const float *x, float *y,
		  size_t n)
{
	(void)rank;
	switch (coll) {
	case TRIB_COLL_ALLREDUCE:
		return trib_allreduce(handle, x, y, n, TRIB_F32, op);
	case TRIB_COLL_ALLGATHER:
		return trib_allgather(handle, x, y, n, TRIB_F32);
	case TRIB_COLL_BROADCAST:
		memcpy(y, x, 4 * n);
		return trib_broadcast(handle, y, n, TRIB_F32, 1);
	}
	return trib_barrier(handle);
}

static int attach(unsigned int rank)
{
	struct trib_options o = {
		.size = sizeof(o),
		.job = w.ticket[rank],
		.transport = TRIB_TRANSPORT_UDP,
	};

	enter(rank);
	return trib_attach(&handle, &o);
}

/* Run the ranks with libtrib, a process each; @out: their checksums. */
static void fork_libs(int out, void (*fn)(unsigned int rank, int out))
{
	unsigned int r;

	fflush(stdout);
	for (r = FIRST_LIB; r < w.n; r++) {
		child[r] = fork();
		if (child[r])
			continue;
		alarm(120);
		fn(r, out);
		_exit(0);
	}
}

static void lib_sequence(unsigned int rank, int out)
{
	uint64_t h;

	if (attach(rank))
		_exit(1);
	h = sequence(rank, by_lib);
	trib_detach(handle);
	if (write(out, &h, sizeof(h)) != sizeof(h))
		_exit(2);
}

/* Ranks with sockets are processes, too: they wait for each other. */
static void sock_sequence(unsigned int rank, int out)
{
	uint64_t h;

	w.fd[rank] = make_socket(rank);
	if (bind_socket(w.fd[rank], rank) || await(w.fd[rank], POLLOUT, 30000) != POLLOUT)
		_exit(1);
	h = sequence(rank, by_socket);
	shutdown(w.fd[rank], SHUT_WR);
	if (!(await(w.fd[rank], 0, 30000) & POLLHUP))
		_exit(3);
	if (write(out, &h, sizeof(h)) != sizeof(h))
		_exit(2);
}

static void mixed__all_get_the_same_bits(void)
{
	uint64_t h[WORLD] = {0};
	unsigned int r;
	int fd[2], status;

	expect_eq(pipe(fd), 0);
	fork_libs(fd[1], lib_sequence);
	for (r = 0; r < FIRST_LIB; r++) {
		child[r] = fork();
		if (child[r])
			continue;
		alarm(120);
		sock_sequence(r, fd[1]);
		_exit(0);
	}
	close(fd[1]);
	for (r = 0; r < w.n; r++) {
		waitpid(child[r], &status, 0);
		expect_eq(status, 0);
		expect_eq(read(fd[0], &h[r], sizeof(h[r])), sizeof(h[r]));
	}
	for (r = 0; r < w.n; r++) {
		expect(h[r]);
		expect(h[r] == h[0]);
	}
	close(fd[0]);
}

static void lib_until_killed(unsigned int rank, int out)
{
	float x = 1, y;

	if (attach(rank))
		_exit(1);
	if (trib_allreduce(handle, &x, &y, 1, TRIB_F32, TRIB_SUM))
		_exit(2);
	if (write(out, &y, 1) != 1)
		_exit(3);
	pause();
}

/* A process with libtrib is killed: the job's timeout reports it. */
static void killed__sockets_hear_who(void)
{
	unsigned int r;
	int fd[2], status;
	float x = 1, y;
	char c;

	expect_eq(pipe(fd), 0);
	fork_libs(fd[1], lib_until_killed);
	w.n = FIRST_LIB;
	expect_eq(join_all(0), 0);
	for (r = 0; r < w.n; r++)
		expect_eq(send(w.fd[r], &x, 4, 0), 4);
	for (r = 0; r < w.n; r++)
		expect_eq(recv(w.fd[r], &y, 4, 0), 4);
	w.n = WORLD;
	for (r = FIRST_LIB; r < w.n; r++)
		expect_eq(read(fd[0], &c, 1), 1);
	kill(child[3], SIGKILL);
	for (r = 0; r < FIRST_LIB; r++)
		expect_eq(send(w.fd[r], &x, 4, 0), 4);
	for (r = 0; r < FIRST_LIB; r++) {
		expect_eq(recv(w.fd[r], &y, 4, 0), -1);
		expect_eq(errno, EHOSTDOWN);
		expect_eq(error_of(w.fd[r]).code, TRIB_SOCK_ERR_DEAD);
		close(w.fd[r]);
		w.fd[r] = -1;
	}
	kill(child[2], SIGKILL);
	waitpid(child[2], &status, 0);
	waitpid(child[3], &status, 0);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	world_read();
	alarm(150);
	run(mixed__all_get_the_same_bits);
	run(killed__sockets_hear_who);
	return tap_done();
}
