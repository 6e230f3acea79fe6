// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two processes of one machine meet: by a socket in /dev/shm, under the job's name, of
 * which only this user can make use; they check each other's user and the token of the
 * blob, pass the memory and descriptors that wake them, and keep the connection, which
 * ends with the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "peer/net/shm.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define EVENTS_MAX 32

/* Subjects of events of epoll: a link, or one of these. */
enum { EV_WAKE = 1 << 16, EV_LISTENER, EV_PENDING };

static int meet_fault(struct shm_port *s, int err, int peer, const char *doing)
{
	return peer_fault_set(&s->fault, err, peer, "shared memory: %s: %s", doing, strerror(err));
}

static int meet_watch(struct shm_port *s, int fd, uint32_t what)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = what};

	return epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Whether the process at the other end is this user's. */
static bool meet_own(int sock, pid_t *pid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.uid != geteuid())
		return false;
	*pid = cred.pid;
	return true;
}

static void meet_path(const struct shm_port *s, uint32_t rank, struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	snprintf(a->sun_path, sizeof(a->sun_path), "/dev/shm/trib-%s-%u", s->name, rank);
}

static int meet_listen(struct shm_port *s)
{
	struct sockaddr_un a;

	meet_path(s, s->rank, &a);
	s->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->listener < 0)
		return meet_fault(s, errno, -1, "socket");
	/* The name is this job's: what is there is of a process that was killed. */
	unlink(a.sun_path);
	/* The mode of the file follows that of the socket. */
	if (fchmod(s->listener, 0600) || bind(s->listener, (struct sockaddr *)&a, sizeof(a)))
		return meet_fault(s, errno, -1, a.sun_path);
	s->listed = true;
	snprintf(s->path, sizeof(s->path), "%s", a.sun_path);
	if (listen(s->listener, 4096))
		return meet_fault(s, errno, -1, "listen");
	return 0;
}

int shm_meet_open(struct shm_port *s)
{
	int err;

	if (getrandom(s->token, sizeof(s->token), 0) != sizeof(s->token))
		return meet_fault(s, EIO, -1, "random numbers");
	s->events = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (s->events < 0 || s->wake < 0)
		return meet_fault(s, errno, -1, "eventfd");
	err = meet_listen(s);
	if (err)
		return err;
	if (meet_watch(s, s->wake, EV_WAKE) || meet_watch(s, s->listener, EV_LISTENER))
		return meet_fault(s, ENOMEM, -1, "epoll");
	return 0;
}

/* The name is needed no longer, once all higher ranks have come. */
static void meet_unlist(struct shm_port *s)
{
	if (s->listed)
		unlink(s->path);
	s->listed = false;
	if (s->listener >= 0)
		close(s->listener);
	s->listener = -1;
}

void shm_meet_close(struct shm_port *s)
{
	struct shm_link *l;
	uint32_t i;

	meet_unlist(s);
	for (i = 0; i < SHM_PENDING; i++)
		if (s->pending[i] >= 0)
			close(s->pending[i]);
	for (i = 0; s->links && i < s->npeer; i++) {
		l = &s->links[i];
		if (l->area)
			munmap(l->area, s->area_len);
		if (l->sock >= 0)
			close(l->sock);
		if (l->kick >= 0)
			close(l->kick);
	}
	if (s->wake >= 0)
		close(s->wake);
	if (s->events >= 0)
		close(s->events);
}

/* Send a hello with descriptors. Return: 0 or -errno. */
static int meet_send(int sock, const struct shm_hello *h, const int *fds, unsigned int n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)(uintptr_t)h, sizeof(*h)};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(n * sizeof(int)),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(sock, &m, MSG_NOSIGNAL) == (ssize_t)sizeof(*h) ? 0 : -errno;
}

/* Receive one with exactly @want descriptors. Return: 1, 0: none yet, or -errno. */
static int meet_receive(int sock, struct shm_hello *h, int *fds, unsigned int want)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec iov = {h, sizeof(*h)};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(sock, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	unsigned int got = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n > 0 && c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		got = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), got * sizeof(int));
	}
	if (n == (ssize_t)sizeof(*h) && h->magic == SHM_MAGIC && got == want &&
	    !(m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)))
		return 1;
	while (got)
		close(fds[--got]);
	return n > 0 ? -EPROTO : -ECONNRESET;
}

/* Map the memory of a link. @high: this is the higher rank. */
static int meet_map(struct shm_port *s, struct shm_link *l, int fd, bool high)
{
	size_t slots = s->slots * s->chunk;
	struct shm_side *sides;
	uint8_t *p;

	p = mmap(NULL, s->area_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	sides = (struct shm_side *)p;
	l->area = p;
	l->mine = &sides[high];
	l->theirs = &sides[!high];
	p += 2 * sizeof(*sides);
	l->slots_out = p + high * slots;
	l->slots_in = p + !high * slots;
	return 0;
}

/* Memory that the other end cannot take away. Return: descriptor or -errno. */
static int meet_memory(size_t len)
{
	int fd = memfd_create("trib-peer", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)len) || fcntl(fd, F_ADD_SEALS, SEALS)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

static bool meet_memory_ok(int fd, size_t len)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS && !(seals & F_SEAL_WRITE) &&
	       !fstat(fd, &st) && st.st_size == (off_t)len;
}

/* The higher rank goes to the lower one. Return: 0 or -errno. */
static int meet_go(struct shm_port *s, uint32_t link)
{
	struct shm_link *l = &s->links[link];
	struct shm_hello h = {.magic = SHM_MAGIC, .rank = s->rank};
	struct sockaddr_un a;
	int fds[2] = {-1, s->wake}, err;

	meet_path(s, l->rank, &a);
	memcpy(h.token, l->token, sizeof(h.token));
	l->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->sock < 0 || connect(l->sock, (struct sockaddr *)&a, sizeof(a)))
		return -errno;
	if (!meet_own(l->sock, &l->pid))
		return -EPERM;
	fds[0] = meet_memory(s->area_len);
	if (fds[0] < 0)
		return fds[0];
	err = meet_map(s, l, fds[0], true);
	if (!err)
		err = meet_send(l->sock, &h, fds, 2);
	close(fds[0]);
	return err ? err : meet_watch(s, l->sock, link);
}

int shm_meet_connect(struct shm_port *s, uint32_t link)
{
	struct shm_link *l = &s->links[link];
	int err;

	if (s->rank < l->rank)
		return 0;
	err = meet_go(s, link);
	return err ? meet_fault(s, -err, (int)l->rank, "meeting a rank") : 0;
}

/* A new connection waits to say who it is; the oldest of too many makes room. */
static void meet_accept(struct shm_port *s)
{
	pid_t pid;
	int *place = &s->pending[s->next_pending];
	int sock = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (sock < 0)
		return;
	if (!meet_own(sock, &pid) || meet_watch(s, sock, EV_PENDING)) {
		close(sock);
		return;
	}
	if (*place >= 0)
		close(*place);
	*place = sock;
	s->next_pending = (s->next_pending + 1) % SHM_PENDING;
}

/* Link to a higher rank that is still to come, or NULL. */
static struct shm_link *meet_expected(struct shm_port *s, const struct shm_hello *h, uint32_t *link)
{
	uint32_t i;

	for (i = 0; i < s->npeer; i++) {
		if (s->links[i].rank != h->rank || h->rank < s->rank || s->links[i].area)
			continue;
		*link = i;
		return memcmp(h->token, s->token, SHM_TOKEN) ? NULL : &s->links[i];
	}
	return NULL;
}

/* A link has all it needs. */
static void meet_up(struct shm_port *s, struct shm_link *l)
{
	uint32_t i;

	l->up = true;
	s->ups++;
	for (i = 0; i < s->npeer; i++)
		if (s->links[i].rank > s->rank && !s->links[i].up)
			return;
	meet_unlist(s);
}

/* Read the hello of a higher rank. Return: 1: it may wait on, 0: the socket is done. */
static int meet_hello(struct shm_port *s, int sock)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct shm_hello h, answer = {.magic = SHM_MAGIC, .rank = s->rank};
	struct shm_link *l;
	uint32_t link = 0;
	int fds[2], n = meet_receive(sock, &h, fds, 2);

	if (n != 1)
		return n == 0;
	l = meet_expected(s, &h, &link);
	e.data.u32 = link;
	if (!l || !meet_own(sock, &l->pid) || !meet_memory_ok(fds[0], s->area_len) ||
	    meet_map(s, l, fds[0], false)) {
		close(fds[0]);
		close(fds[1]);
		return 0;
	}
	close(fds[0]);
	l->kick = fds[1];
	l->sock = sock;
	if (epoll_ctl(s->events, EPOLL_CTL_MOD, sock, &e) || meet_send(sock, &answer, &s->wake, 1))
		meet_fault(s, EIO, (int)l->rank, "answer");
	else
		meet_up(s, l);
	return 2;
}

static void meet_pendings(struct shm_port *s)
{
	unsigned int i;
	int n;

	for (i = 0; i < SHM_PENDING; i++) {
		if (s->pending[i] < 0)
			continue;
		n = meet_hello(s, s->pending[i]);
		if (n == 1)
			continue;
		if (!n)
			close(s->pending[i]);
		s->pending[i] = -1;
	}
}

/* A socket of a link: its answer, or its end. Return: 0 or -errno. */
static int meet_link(struct shm_port *s, uint32_t link)
{
	struct shm_link *l = &s->links[link];
	bool closed;
	struct shm_hello h;
	int fds[2], n = meet_receive(l->sock, &h, fds, 1);

	if (!n)
		return 0;
	if (n == 1 && !l->up && h.rank == l->rank && s->rank > l->rank) {
		l->kick = fds[0];
		meet_up(s, l);
		return 0;
	}
	if (n == 1)
		close(fds[0]);
	if (l->up && shm_link_take(s, link) < 0)
		return -s->fault.err;
	closed = l->area && atomic_load(&l->theirs->closed);
	return peer_fault_set(&s->fault, ECONNRESET, (int)l->rank, "rank %u %s", l->rank,
			      n == 1   ? "sent garbage"
			      : closed ? "has closed"
				       : "has ended");
}

int shm_meet_poll(struct shm_port *s)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(s->events, events, EVENTS_MAX, 0), i, err = 0;
	uint64_t drain;

	for (i = 0; i < n && !err; i++) {
		switch (events[i].data.u32) {
		case EV_WAKE:
			if (read(s->wake, &drain, sizeof(drain)) < 0 && errno != EAGAIN)
				err = meet_fault(s, errno, -1, "eventfd");
			break;
		case EV_LISTENER:
			meet_accept(s);
			meet_pendings(s);
			break;
		case EV_PENDING:
			meet_pendings(s);
			break;
		default:
			if (events[i].data.u32 < s->npeer)
				err = meet_link(s, events[i].data.u32);
		}
	}
	if (s->fault.err)
		return -s->fault.err;
	return n > 0 ? n : 0;
}
