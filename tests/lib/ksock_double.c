// SPDX-License-Identifier: BSD-2-Clause
/* A double of the kernel's collective sockets; see ksock_double.h. */
#include "ksock_double.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct ksock_double ksock_double;

int __real_socket(int domain, int type, int protocol);
int __real_close(int fd);
int __real_bind(int fd, const struct sockaddr *sa, socklen_t len);
int __real_shutdown(int fd, int how);
int __real_setsockopt(int fd, int level, int name, const void *v, socklen_t len);
int __real_getsockopt(int fd, int level, int name, void *v, socklen_t *len);
ssize_t __real_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *m, int flags);

/* One rank's share of a message, and its result. */
struct share {
	struct trib_cm_send what;
	uint64_t in_len, out_len;
	uint32_t *in, *out;
	bool sent;
	struct trib_cm_recv how;
};

#define MESSAGES 4096

/*
 * @fd:   the end that the program has; 0: none. @end: the end of this double.
 * @sent, @read: number of messages.
 */
struct sock {
	int fd, end;
	unsigned int job, rank, world;
	uint8_t secret[8];
	bool bound, shut;
	unsigned int sent, read;
	uint64_t mem;
	struct trib_sock_error error;
	struct share share[MESSAGES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sock socks[KSOCK_RANKS];

void ksock_double_reset(void)
{
	unsigned int i, k;

	for (i = 0; i < KSOCK_RANKS; i++)
		for (k = 0; k < MESSAGES; k++) {
			free(socks[i].share[k].in);
			free(socks[i].share[k].out);
		}
	memset(socks, 0, sizeof(socks));
	ksock_double = (struct ksock_double){.mem_max = 1 << 26, .deaf = -1, .odd_id = -1};
}

static struct sock *of(int fd)
{
	unsigned int i;

	for (i = 0; fd > 0 && i < KSOCK_RANKS; i++)
		if (socks[i].fd == fd)
			return &socks[i];
	return NULL;
}

static int fails(int err)
{
	pthread_mutex_unlock(&lock);
	errno = err;
	return -1;
}

/* --- the life of a socket */

/* The program cannot write before all ranks have joined. */
static void fill(struct sock *s)
{
	char byte = 0;

	while (send(s->fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		;
}

static void drain(struct sock *s)
{
	char byte;

	while (recv(s->end, &byte, 1, MSG_DONTWAIT) == 1)
		;
}

/* End the socket: the program polls POLLHUP. */
static void hang_up(struct sock *s)
{
	if (s->end > 0)
		__real_close(s->end);
	s->end = 0;
}

static void end(struct sock *s, int code, int err, int rank, const char *text)
{
	if (s->error.code)
		return;
	s->error = (struct trib_sock_error){.code = code, .err = err, .rank = rank, .index = -1};
	snprintf(s->error.text, sizeof(s->error.text), "%s", text);
	hang_up(s);
}

static void gone(unsigned int rank)
{
	char text[64];
	unsigned int i;

	snprintf(text, sizeof(text), "rank %u ended", rank);
	for (i = 0; i < KSOCK_RANKS; i++) {
		if (!socks[i].bound || socks[i].rank == rank)
			continue;
		if (socks[i].shut)
			hang_up(&socks[i]);
		else
			end(&socks[i], TRIB_SOCK_ERR_GONE, EHOSTDOWN, (int)rank, text);
	}
}

void ksock_double_kill(unsigned int rank)
{
	pthread_mutex_lock(&lock);
	gone(rank);
	pthread_mutex_unlock(&lock);
}

int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol)
{
	struct sock *s = NULL;
	unsigned int i;
	int pair[2];

	if (domain != AF_INET || protocol != IPPROTO_TRIB)
		return __real_socket(domain, type, protocol);
	pthread_mutex_lock(&lock);
	if (ksock_double.no_module)
		return fails(EPROTONOSUPPORT);
	for (i = 0; i < KSOCK_RANKS && !s; i++)
		if (!socks[i].fd && !socks[i].sent)
			s = &socks[i];
	if (!s || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair))
		return fails(EMFILE);
	s->fd = pair[0];
	s->end = pair[1];
	pthread_mutex_unlock(&lock);
	return s->fd;
}

int __wrap_close(int fd);
int __wrap_close(int fd)
{
	struct sock *s;

	pthread_mutex_lock(&lock);
	s = of(fd);
	if (s) {
		if (s->bound && !s->shut && !s->error.code)
			gone(s->rank);
		hang_up(s);
		s->fd = 0;
		s->bound = false;
		ksock_double.closed++;
	}
	pthread_mutex_unlock(&lock);
	return __real_close(fd);
}

static void place(struct sock *s, const struct trib_attach_rep *rep, size_t len)
{
	ksock_double.wrong +=
		rep->err || rep->flags || !rep->ntree ||
		len < offsetof(struct trib_attach_rep, tree) + rep->ntree * sizeof(rep->tree[0]);
	s->job = rep->job;
	s->rank = rep->rank;
	s->world = rep->world;
	memcpy(s->secret, rep->up.b, sizeof(s->secret));
}

int __wrap_setsockopt(int fd, int level, int name, const void *v, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *v, socklen_t len)
{
	struct sock *s;

	if (level != SOL_TRIB)
		return __real_setsockopt(fd, level, name, v, len);
	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s || s->bound)
		return fails(EINVAL);
	if (name == TRIB_SO_PLACE) {
		ksock_double.place_len = len;
		place(s, v, len);
	} else if (name == TRIB_SO_TIMEOUT) {
		memcpy(&ksock_double.timeout_ms, v, 4);
	} else if (name == TRIB_SO_JOIN_TIMEOUT) {
		memcpy(&ksock_double.join_timeout_ms, v, 4);
	} else {
		return fails(ENOPROTOOPT);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void *v, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *v, socklen_t *len)
{
	struct trib_sock_info info = {.window = 256};
	struct sock *s;

	if (level != SOL_TRIB)
		return __real_getsockopt(fd, level, name, v, len);
	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s)
		return fails(EBADF);
	if (name == TRIB_SO_ERROR) {
		memcpy(v, &s->error, sizeof(s->error));
	} else if (name == TRIB_SO_INFO) {
		info.messages = s->sent;
		info.chunks = s->read;
		memcpy(v, &info, sizeof(info));
	} else {
		return fails(ENOPROTOOPT);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

/*
 * Once all ranks are here, let them write. A deaf rank ends the socket at once.
 */
static void join(struct sock *s)
{
	unsigned int i, n = 0;
	char text[64];

	for (i = 0; i < KSOCK_RANKS; i++)
		n += socks[i].bound;
	if (ksock_double.deaf >= 0) {
		snprintf(text, sizeof(text), "rank %d did not join", ksock_double.deaf);
		end(s, TRIB_SOCK_ERR_MISSING, ETIMEDOUT, ksock_double.deaf, text);
		return;
	}
	for (i = 0; n == s->world && i < KSOCK_RANKS; i++)
		if (socks[i].bound)
			drain(&socks[i]);
}

int __wrap_bind(int fd, const struct sockaddr *sa, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *sa, socklen_t len)
{
	struct sockaddr_trib at;
	struct sock *s;

	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s) {
		pthread_mutex_unlock(&lock);
		return __real_bind(fd, sa, len);
	}
	if (ksock_double.bind_errno)
		return fails(ksock_double.bind_errno);
	memcpy(&at, sa, sizeof(at));
	if (len != sizeof(at) || at.family != AF_INET || at.zero || ntohs(at.job) != s->job ||
	    ntohs(at.rank) != s->rank || memcmp(at.secret, s->secret, sizeof(s->secret))) {
		ksock_double.wrong++;
		return fails(EINVAL);
	}
	s->bound = true;
	fill(s);
	join(s);
	pthread_mutex_unlock(&lock);
	return 0;
}

int __wrap_shutdown(int fd, int how);
int __wrap_shutdown(int fd, int how)
{
	unsigned int i, n = 0;
	struct sock *s;

	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s) {
		pthread_mutex_unlock(&lock);
		return __real_shutdown(fd, how);
	}
	s->shut = true;
	for (i = 0; i < KSOCK_RANKS; i++)
		n += socks[i].bound && (socks[i].shut || socks[i].error.code);
	ksock_double.left++;
	for (i = 0; n == s->world && i < KSOCK_RANKS; i++)
		if (socks[i].shut)
			hang_up(&socks[i]);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* --- messages */

static double value(const struct share *s, uint64_t i)
{
	float f;

	if (s->what.dtype == TRIB_SOCK_I32)
		return (int32_t)s->in[i];
	memcpy(&f, &s->in[i], 4);
	return (double)f;
}

static uint32_t bits(const struct share *s, double v)
{
	float f = (float)v;
	uint32_t u;

	if (s->what.dtype == TRIB_SOCK_I32)
		return (uint32_t)(int64_t)v;
	memcpy(&u, &f, 4);
	return u;
}

static uint32_t combined(unsigned int k, unsigned int world, uint64_t i)
{
	const struct share *first = &socks[0].share[k];
	double v = value(first, i), x;
	unsigned int r;

	for (r = 1; r < world; r++) {
		x = value(&socks[r].share[k], i);
		switch (first->what.op) {
		case TRIB_SOCK_MAX:
			v = x > v ? x : v;
			break;
		case TRIB_SOCK_MIN:
			v = x < v ? x : v;
			break;
		default:
			v += x;
		}
	}
	return bits(first, first->what.op == TRIB_SOCK_AVG ? v / (double)world : v);
}

static struct sock *rank_of(unsigned int rank)
{
	unsigned int i;

	for (i = 0; i < KSOCK_RANKS; i++)
		if (socks[i].bound && socks[i].rank == rank)
			return &socks[i];
	return NULL;
}

/* Write the result of message @k for rank @to. */
static void result(struct sock *to, unsigned int k)
{
	struct share *s = &to->share[k];
	uint64_t i, n = s->in_len / 4;
	unsigned int r;

	s->out = malloc(s->out_len + 1);
	switch (s->what.collective) {
	case TRIB_COLL_ALLREDUCE:
		for (i = 0; i < n; i++)
			s->out[i] = combined(k, to->world, i);
		break;
	case TRIB_COLL_REDUCE_SCATTER:
		n /= to->world;
		for (i = 0; i < n; i++)
			s->out[i] = combined(k, to->world, n * to->rank + i);
		break;
	case TRIB_COLL_ALLGATHER:
		for (r = 0; r < to->world; r++)
			memcpy(s->out + n * r, rank_of(r)->share[k].in, 4 * n);
		break;
	case TRIB_COLL_BROADCAST:
		memcpy(s->out, rank_of(s->what.root)->share[k].in, 4 * n);
		break;
	}
}

/* The first value that is not finite is an error for all ranks. */
static bool all_finite(unsigned int k, unsigned int world, struct trib_cm_recv *how)
{
	unsigned int r;
	uint64_t i;

	for (r = 0; r < world; r++) {
		const struct share *s = &rank_of(r)->share[k];

		for (i = 0; i < s->in_len / 4; i++)
			if (!isfinite(value(s, i))) {
				how->err = EDOM;
				how->rank = (int32_t)r;
				how->index = (int64_t)i;
				return false;
			}
	}
	return true;
}

/* The first float sum that is infinite is an error for all ranks. */
static void find_overflow(unsigned int k, unsigned int world, struct trib_cm_recv *how)
{
	const struct share *s = &socks[0].share[k];
	uint64_t i;

	if (s->what.dtype != TRIB_SOCK_F32 || s->what.op != TRIB_SOCK_SUM ||
	    s->what.collective > TRIB_COLL_REDUCE_SCATTER)
		return;
	for (i = 0; i < s->in_len / 4 && !how->err; i++) {
		uint32_t sum = combined(k, world, i);

		if ((sum & 0x7fffffff) == 0x7f800000) {
			how->err = ERANGE;
			how->index = (int64_t)i;
		}
	}
}

static void complete(unsigned int k, unsigned int world)
{
	struct trib_cm_recv how = {.rank = -1, .index = -1};
	struct share *first = &socks[0].share[k], *s;
	bool ok = all_finite(k, world, &how);
	unsigned int r;
	char byte = 0;

	if (ok)
		find_overflow(k, world, &how);
	for (r = 0; r < world; r++) {
		struct sock *to = rank_of(r);

		s = &to->share[k];
		ksock_double.wrong +=
			s->what.collective != first->what.collective ||
			s->what.op != first->what.op || s->what.dtype != first->what.dtype ||
			s->what.root != first->what.root || s->in_len != first->in_len;
		s->how = how;
		s->how.id = s->what.id + (ksock_double.odd_id == (int)r);
		if (ok) {
			result(to, k);
			s->how.bytes = s->out_len;
		}
		send(to->end, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static bool label(const struct msghdr *m, struct trib_cm_send *out)
{
	struct cmsghdr *cm = CMSG_FIRSTHDR(m);

	if (!cm || cm->cmsg_level != SOL_TRIB || cm->cmsg_type != TRIB_CM_SEND ||
	    cm->cmsg_len != CMSG_LEN(sizeof(*out)))
		return false;
	memcpy(out, CMSG_DATA(cm), sizeof(*out));
	return !out->zero && out->collective <= TRIB_COLL_BARRIER;
}

static int take(struct sock *s, const struct msghdr *m)
{
	struct share *x = &s->share[s->sent];
	uint64_t most;

	if (s->error.code)
		return s->error.err;
	if (s->sent == MESSAGES || !label(m, &x->what) || m->msg_iovlen != 1) {
		ksock_double.wrong++;
		return EINVAL;
	}
	x->in_len = x->out_len = m->msg_iov->iov_len;
	if (x->what.collective == TRIB_COLL_ALLGATHER)
		x->out_len *= s->world;
	if (x->what.collective == TRIB_COLL_REDUCE_SCATTER)
		x->out_len /= s->world;
	most = x->in_len > x->out_len ? x->in_len : x->out_len;
	if (ksock_double.send_errno)
		return ksock_double.send_errno;
	if (most > ksock_double.mem_max)
		return EMSGSIZE;
	if (s->mem + most > ksock_double.mem_max || ksock_double.again) {
		ksock_double.again -= !!ksock_double.again;
		ksock_double.refused++;
		return EAGAIN;
	}
	s->mem += most;
	if (s->mem > ksock_double.most)
		ksock_double.most = s->mem;
	x->in = malloc(x->in_len + 1);
	if (x->in_len)
		memcpy(x->in, m->msg_iov->iov_base, x->in_len);
	x->sent = true;
	return 0;
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *m, int flags)
{
	unsigned int i, n = 0, k;
	struct sock *s;
	int err;

	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s) {
		pthread_mutex_unlock(&lock);
		return __real_sendmsg(fd, m, flags);
	}
	err = take(s, m);
	if (err)
		return fails(err);
	k = s->sent++;
	for (i = 0; i < KSOCK_RANKS; i++)
		n += socks[i].bound && socks[i].share[k].sent;
	if (n == s->world)
		complete(k, n);
	pthread_mutex_unlock(&lock);
	return (ssize_t)m->msg_iov->iov_len;
}

static ssize_t give(struct sock *s, struct msghdr *m)
{
	struct share *x = &s->share[s->read++];
	uint64_t n = x->how.bytes, room = m->msg_iov->iov_len;
	struct cmsghdr *cm = CMSG_FIRSTHDR(m);

	m->msg_flags = n > room ? MSG_TRUNC : 0;
	if (n > room)
		n = room;
	if (n)
		memcpy(m->msg_iov->iov_base, x->out, n);
	cm->cmsg_level = SOL_TRIB;
	cm->cmsg_type = TRIB_CM_RECV;
	cm->cmsg_len = CMSG_LEN(sizeof(x->how));
	memcpy(CMSG_DATA(cm), &x->how, sizeof(x->how));
	s->mem -= x->in_len > x->out_len ? x->in_len : x->out_len;
	return (ssize_t)n;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *m, int flags)
{
	struct sock *s;
	char byte;
	ssize_t n;

	pthread_mutex_lock(&lock);
	s = of(fd);
	if (!s) {
		pthread_mutex_unlock(&lock);
		return __real_recvmsg(fd, m, flags);
	}
	/* A dead socket still returns the results that are there. */
	if (recv(fd, &byte, 1, MSG_DONTWAIT) != 1)
		return fails(s->error.code ? s->error.err : EAGAIN);
	n = give(s, m);
	pthread_mutex_unlock(&lock);
	return n;
}
