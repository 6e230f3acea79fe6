/* SPDX-License-Identifier: BSD-2-Clause */
/* Life of collective sockets: waiting, interruption, and early ends. */
#include "sock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "tests/lib/tap.h"

static const float one[1] = {1};

static void send_ones(unsigned int first)
{
	unsigned int r;

	for (r = first; r < w.n; r++)
		expect_eq(send(w.fd[r], one, 4, 0), 4);
}

static void recv_sums(unsigned int first)
{
	unsigned int r;
	float y;

	for (r = first; r < w.n; r++) {
		y = 0;
		expect_eq(recv(w.fd[r], &y, 4, 0), 4);
		expect(y == w.n);
	}
}

static void on_alarm(int sig)
{
	(void)sig;
}

static void dontwait__says_again(void)
{
	float y;

	expect_eq(recv(w.fd[0], &y, 4, MSG_DONTWAIT), -1);
	expect_eq(errno, EAGAIN);
	expect_eq(await(w.fd[0], POLLIN | POLLOUT, 0), POLLOUT);
	send_ones(0);
	expect_eq(await(w.fd[0], POLLIN, 5000), POLLIN);
	recv_sums(0);
	expect_eq(await(w.fd[0], POLLIN, 0), 0);
}

static void epoll__tells_edges(void)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET};
	int ep = epoll_create1(EPOLL_CLOEXEC);

	expect_eq(epoll_ctl(ep, EPOLL_CTL_ADD, w.fd[1], &e), 0);
	expect_eq(epoll_wait(ep, &e, 1, 0), 0);
	send_ones(0);
	expect_eq(epoll_wait(ep, &e, 1, 5000), 1);
	expect_eq(e.events, EPOLLIN);
	expect_eq(epoll_wait(ep, &e, 1, 50), 0);
	recv_sums(0);
	close(ep);
}

static void timeouts__are_those_of_the_socket(void)
{
	struct timeval tv = {.tv_usec = 50000};
	float y;

	setsockopt(w.fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	expect_eq(recv(w.fd[0], &y, 4, 0), -1);
	expect_eq(errno, EAGAIN);
	tv.tv_usec = 0;
	setsockopt(w.fd[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
}

static void signals__interrupt(void)
{
	struct sigaction act = {.sa_handler = on_alarm};
	struct itimerval soon = {.it_value = {.tv_usec = 100000}};
	float y;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	expect_eq(recv(w.fd[0], &y, 4, 0), -1);
	expect_eq(errno, EINTR);
	/* The result is not lost. */
	send_ones(0);
	recv_sums(0);
}

static void peek__leaves_it_there(void)
{
	struct trib_cm_recv cm;
	float y[4];
	int n = -1;

	expect_eq(ioctl(w.fd[0], SIOCINQ, &n), 0);
	expect_eq(n, 0);
	send_ones(1);
	expect_eq(ioctl(w.fd[1], SIOCOUTQ, &n), 0);
	expect_eq(n, 4);
	expect_eq(send(w.fd[0], one, 4, 0), 4);
	expect_eq(recv_cm(w.fd[0], y, 16, &cm, MSG_PEEK), 4);
	expect_eq(recv_cm(w.fd[0], y, 16, &cm, MSG_PEEK), 4);
	expect_eq(ioctl(w.fd[0], SIOCINQ, &n), 0);
	expect_eq(n, 4);
	expect_eq(recv_cm(w.fd[0], y, 0, &cm, MSG_PEEK | MSG_TRUNC), 4);
	expect_eq(cm.bytes, 4);
	expect_eq(await(w.fd[1], POLLIN, 5000), POLLIN);
	expect_eq(ioctl(w.fd[1], SIOCOUTQ, &n), 0);
	expect_eq(n, 0);
	recv_sums(0);
	expect_eq(ioctl(w.fd[0], FIOASYNC + 1000, &n), -1);
}

static void short_buffers__cut_the_result(void)
{
	float x[3] = {1, 2, 3}, y[3] = {0};
	struct iovec iov = {y, 8};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	unsigned int r;

	for (r = 0; r < w.n; r++)
		expect_eq(send(w.fd[r], x, sizeof(x), 0), sizeof(x));
	expect_eq(recvmsg(w.fd[0], &m, 0), 8);
	expect_eq(m.msg_flags & MSG_TRUNC, MSG_TRUNC);
	expect(y[0] == 4 && y[1] == 8 && y[2] == 0);
	for (r = 1; r < w.n; r++)
		expect_eq(recv(w.fd[r], y, 4, MSG_TRUNC), 12);
}

/* Unmapped pages: nothing is lost, and nothing is sent. */
static void bad_pages__are_refused(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = info_of(w.fd[0]).messages;

	munmap(p + 4096, 4096);
	expect_eq(send(w.fd[0], p + 4092, 8, 0), -1);
	expect_eq(errno, EFAULT);
	expect_eq(info_of(w.fd[0]).messages, before);
	expect_eq(info_of(w.fd[0]).mem, 0);
	send_ones(0);
	expect_eq(recv(w.fd[0], p + 4096, 4, 0), -1);
	expect_eq(errno, EFAULT);
	recv_sums(0);
	munmap(p, 4096);
}

static void wrong_messages__are_refused(void)
{
	struct trib_cm_send cm = {0};
	float x[8] = {0};
	int fd = w.fd[0];

	expect_eq(send(fd, x, 3, 0), -1);
	expect_eq(errno, EINVAL);
	cm.collective = TRIB_COLL_BARRIER;
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm.collective = TRIB_COLL_BARRIER + 1;
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.op = TRIB_SOCK_MIN + 1};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.dtype = 2};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.op = TRIB_SOCK_AVG, .dtype = TRIB_SOCK_I32};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.root = 1};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.collective = TRIB_COLL_BROADCAST, .root = WORLD};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.collective = TRIB_COLL_ALLGATHER, .op = 2};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.collective = TRIB_COLL_REDUCE_SCATTER};
	expect_eq(send_cm(fd, x, 12, &cm, 0), -EINVAL);
	cm = (struct trib_cm_send){.zero = 1};
	expect_eq(send_cm(fd, x, 4, &cm, 0), -EINVAL);
	expect_eq(send(fd, x, 4, MSG_OOB), -1);
	expect_eq(errno, EOPNOTSUPP);
	expect_eq(sendto(fd, x, 4, 0, (struct sockaddr *)&w.addr[0], 16), -1);
	expect_eq(errno, EISCONN);
	expect_eq(recv(fd, x, 4, MSG_OOB), -1);
	expect_eq(errno, EOPNOTSUPP);
	expect_eq(listen(fd, 1), -1);
	expect_eq(connect(fd, (struct sockaddr *)&w.addr[0], 16), -1);
}

static void dup__only_the_last_close_counts(void)
{
	int copy = dup(w.fd[0]), status;
	pid_t pid;

	close(w.fd[0]);
	w.fd[0] = copy;
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, &status, 0);
	send_ones(0);
	recv_sums(0);
}

static void shutdown__leaves_together(void)
{
	unsigned int r;
	float y;

	/* Unfinished messages are completed. */
	send_ones(0);
	for (r = 0; r < w.n; r++) {
		expect_eq(shutdown(w.fd[r], SHUT_WR), 0);
		expect_eq(send(w.fd[r], one, 4, 0), -1);
		expect_eq(errno, EPIPE);
	}
	for (r = 0; r < w.n; r++) {
		expect(await(w.fd[r], 0, 10000) & POLLHUP);
		expect_eq(state_of(w.fd[r]), TRIB_SOCK_LEFT);
		expect_eq(error_of(w.fd[r]).code, 0);
	}
	recv_sums(0);
	/* recv() returns 0 at the end. */
	expect_eq(recv(w.fd[0], &y, 4, 0), 0);
	close_all(0);
}

/* The other ranks see the error at once, for all unfinished messages. */
static void close__tells_the_others(void)
{
	struct trib_cm_recv cm;
	struct trib_sock_error e;
	unsigned int r;
	float y;

	expect_eq(join_all(0), 0);
	send_ones(0);
	recv_sums(0);
	send_ones(1);
	close(w.fd[0]);
	w.fd[0] = -1;
	for (r = 1; r < w.n; r++) {
		expect_eq(recv_cm(w.fd[r], &y, 4, &cm, 0), 0);
		expect_eq(cm.err, EHOSTDOWN);
		expect(await(w.fd[r], 0, 0) & POLLERR);
		expect_eq(recv(w.fd[r], &y, 4, 0), -1);
		expect_eq(errno, EHOSTDOWN);
		expect_eq(send(w.fd[r], one, 4, 0), -1);
		expect_eq(errno, EHOSTDOWN);
		e = error_of(w.fd[r]);
		expect_eq(e.code, TRIB_SOCK_ERR_GONE);
		expect_eq(e.rank, 0);
		expect_eq(state_of(w.fd[r]), TRIB_SOCK_DEAD);
	}
	close_all(1);
}

static void kill__frees_all_and_tells(void)
{
	char *p = calloc(1, 1 << 20);
	pid_t pid;
	unsigned int r, k;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		w.fd[0] = make_socket(0);
		if (bind_socket(w.fd[0], 0) || await(w.fd[0], POLLOUT, 20000) != POLLOUT)
			_exit(1);
		for (k = 0; k < 4; k++)
			send(w.fd[0], p, 1 << 20, 0);
		pause();
	}
	expect_eq(join_all(1), 0);
	for (k = 0; k < 8; k++)
		for (r = 1; r < w.n; r++)
			expect_eq(send(w.fd[r], p, 1 << 20, 0), 1 << 20);
	for (r = 1; r < w.n; r++)
		expect_eq(recv(w.fd[r], p, 1 << 20, 0), 1 << 20);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (r = 1; r < w.n; r++)
		expect(await(w.fd[r], 0, 10000) & POLLERR);
	close_all(1);
	free(p);
}

int main(void)
{
	world_read();
	tap_ok(!join_all(0), "join__all_ranks_run");
	run(dontwait__says_again);
	run(epoll__tells_edges);
	run(timeouts__are_those_of_the_socket);
	run(signals__interrupt);
	run(peek__leaves_it_there);
	run(short_buffers__cut_the_result);
	run(bad_pages__are_refused);
	run(wrong_messages__are_refused);
	run(dup__only_the_last_close_counts);
	run(shutdown__leaves_together);
	run(close__tells_the_others);
	run(kill__frees_all_and_tells);
	return tap_done();
}
