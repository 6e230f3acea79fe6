// SPDX-License-Identifier: BSD-2-Clause
/* Sockets without a kernel; see sockets_double.h. Their descriptors begin at FIRST. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/fuzz/sockets_double.h"

#define FIRST 1000 /* smaller ones are the kernel's: the fuzzer's own files */
#define FILES 64
#define QUEUE 32

struct message {
	void *data;
	size_t len;
	unsigned int nfd;
};

/* @peer: NULL when it is closed, and for a file that is no socket. */
struct file {
	bool open, socket, reset;
	struct file *peer;
	unsigned int head, n;
	struct message queue[QUEUE];
};

static struct file files[FILES];

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "sockets: %s\n", what);
	abort();
}

static struct file *file_of(int fd, const char *what)
{
	must(fd >= FIRST && fd < FIRST + FILES && files[fd - FIRST].open, what);
	return &files[fd - FIRST];
}

static struct file *socket_of(int fd, const char *what)
{
	struct file *f = file_of(fd, what);

	must(f->socket, what);
	return f;
}

int sockets_file(void)
{
	for (int i = 0; i < FILES; i++)
		if (!files[i].open) {
			files[i].open = true;
			return FIRST + i;
		}
	must(false, "more files than thought");
	return -1;
}

void sockets_pair(int fd[2])
{
	struct file *f[2];

	for (int i = 0; i < 2; i++) {
		fd[i] = sockets_file();
		f[i] = file_of(fd[i], "pair");
		f[i]->socket = true;
	}
	f[0]->peer = f[1];
	f[1]->peer = f[0];
}

static struct message *next(struct file *f)
{
	return &f->queue[f->head];
}

static void drop(struct file *f)
{
	free(next(f)->data);
	f->head = (f->head + 1) % QUEUE;
	f->n--;
}

void sockets_close(int fd)
{
	struct file *f = file_of(fd, "closed, and not open");

	if (f->peer) {
		f->peer->reset = f->n;
		f->peer->peer = NULL;
	}
	while (f->n)
		drop(f);
	memset(f, 0, offsetof(struct file, queue));
}

unsigned int sockets_open(void)
{
	unsigned int n = 0;

	for (int i = 0; i < FILES; i++)
		n += files[i].open;
	return n;
}

/* Queue @data, which it owns from now on. Return: @len, or -1 with errno. */
static ssize_t queue(struct file *f, void *data, size_t len, unsigned int nfd)
{
	struct file *to = f->peer;

	if (to && to->n < QUEUE) {
		to->queue[(to->head + to->n++) % QUEUE] = (struct message){data, len, nfd};
		return (ssize_t)len;
	}
	free(data);
	errno = to ? EAGAIN : EPIPE;
	return -1;
}

/* Memory of the exact size, so that ASan sees reads beyond it. */
static void *room_of(size_t len)
{
	void *p = malloc(len + !len);

	must(p != NULL, "memory");
	return p;
}

void sockets_send(int fd, const void *data, size_t len)
{
	void *copy = room_of(len);

	memcpy(copy, data, len);
	queue(socket_of(fd, "sent to what is no socket"), copy, len, 0);
}

ssize_t sockets_take(int fd, void *data, size_t room, unsigned int *nfd)
{
	struct file *f = socket_of(fd, "received from what is no socket");
	const struct message *m = next(f);
	ssize_t len = (ssize_t)m->len;

	*nfd = 0;
	if (f->reset) {
		f->reset = false;
		errno = ECONNRESET;
		return -1;
	}
	if (!f->n) {
		errno = EAGAIN;
		return f->peer ? -1 : 0;
	}
	memcpy(data, m->data, m->len < room ? m->len : room);
	*nfd = m->nfd;
	drop(f);
	return len;
}

/* --- linked in place of the C library's */

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	if (fd >= 0 && fd < FIRST)
		return __real_close(fd);
	sockets_close(fd);
	return 0;
}

ssize_t __wrap_recv(int fd, void *data, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t room, int flags)
{
	unsigned int nfd;
	ssize_t n = sockets_take(fd, data, room, &nfd);

	must(flags == (MSG_DONTWAIT | MSG_TRUNC) && !nfd, "how tribd receives");
	return n;
}

/* Descriptors that are sent must be open, if they are ours. */
static unsigned int count_fds(const struct msghdr *m)
{
	const struct cmsghdr *cm = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
	unsigned int n = 0;
	int fd;

	if (!cm)
		return 0;
	must(cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_RIGHTS, "what is sent");
	for (; n < (cm->cmsg_len - CMSG_LEN(0)) / sizeof(fd); n++) {
		memcpy(&fd, CMSG_DATA(cm) + n * sizeof(fd), sizeof(fd));
		if (fd < 0 || fd >= FIRST)
			file_of(fd, "sent, and not open");
	}
	return n;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	size_t len = m->msg_iov->iov_len;
	void *copy;

	must(flags == (MSG_DONTWAIT | MSG_NOSIGNAL) && m->msg_iovlen == 1, "how tribd sends");
	copy = room_of(len);
	memcpy(copy, m->msg_iov->iov_base, len);
	return queue(socket_of(fd, "sent to what is no socket"), copy, len, count_fds(m));
}

int __wrap_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	const struct file *f = socket_of(p->fd, "polled, and no socket");

	must(n == 1 && !ms, "how tribd polls");
	p->revents = f->peer ? 0 : POLLHUP | (p->events & POLLRDHUP);
	if (f->reset)
		p->revents |= POLLERR;
	return p->revents != 0;
}
