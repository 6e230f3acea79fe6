// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ask this host's tribd for a place in a job. The peer of the socket must be
 * root; its numbers are checked all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/dtype.h"
#include "tribd.h"
#include "uapi/trib_cell.h"

/* tribd answers at once, unless it is loading its programs. */
#define ANSWER_MS 5000
/* Far above what tribd makes: sizes in bytes must not overflow. */
#define CELLS_MOST (1U << 20)

static int peer_check(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	return cred.uid ? -EPERM : 0;
}

int trib_tribd_connect(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	size_t n = strlen(TRIB_ATTACH_NAME);
	int fd, err;

	memcpy(sa.sun_path + 1, TRIB_ATTACH_NAME, n);
	n += offsetof(struct sockaddr_un, sun_path) + 1;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (struct sockaddr *)&sa, (socklen_t)n) ? -errno : 0;
	if (!err)
		err = peer_check(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

void trib_tribd_fill(struct trib_attach_req *req, unsigned int cmd, unsigned int flags,
		     unsigned int rank, const char *job)
{
	memset(req, 0, sizeof(*req));
	req->magic = TRIB_ATTACH_MAGIC;
	req->version = TRIB_ATTACH_VERSION;
	req->cmd = (uint16_t)cmd;
	req->flags = flags;
	req->rank = rank;
	snprintf(req->job, sizeof(req->job), "%s", job);
}

static bool tree_ok(const struct trib_attach_rep *r, const struct trib_attach_tree *a)
{
	unsigned int i;

	if (!a->port || a->flags & ~(TRIB_ATTACH_SHARED | TRIB_ATTACH_REFLEX))
		return false;
	if (!(a->flags & TRIB_ATTACH_SHARED))
		return a->child < TRIB_CHILDREN_MAX && !a->nhop;
	if (a->child != r->rank || a->nhop > TRIB_ATTACH_HOPS)
		return false;
	for (i = 0; i < a->nhop; i++)
		if (!a->hop[i].port || !a->hop[i].relay || a->hop[i].relay == TRIB_RELAY_PS)
			return false;
	return true;
}

/* A shared pool has no float sums. */
static bool fmt_ok(const struct trib_attach_rep *r)
{
	unsigned int i;

	if (r->fmt && (r->fmt > UINT8_MAX || !trib_dtype_name(r->fmt)))
		return false;
	for (i = 0; trib_fmt_is_float((uint8_t)r->fmt) && i < r->ntree; i++)
		if (r->tree[i].flags & TRIB_ATTACH_SHARED)
			return false;
	return true;
}

static bool cells_ok(const struct trib_attach_rep *r)
{
	return r->ncell >= 2u * r->window && r->ncell >= TRIB_CELLS_MIN && r->ncell <= CELLS_MOST &&
	       !(r->ncell & (r->ncell - 1));
}

/* Only ranks that meet by themselves can do without a tree; then there are no cells. */
static bool trees_ok(const struct trib_attach_rep *r)
{
	if (!r->ntree)
		return r->peers_port && !(r->flags & TRIB_ATTACH_MAPPED);
	return r->ntree <= TRIB_ATTACH_TREES;
}

bool trib_tribd_rep_ok(const struct trib_attach_rep *r, size_t len)
{
	unsigned int i;

	if (len != sizeof(*r) || r->magic != TRIB_ATTACH_MAGIC || r->version != TRIB_ATTACH_VERSION)
		return false;
	if (r->err)
		return true;
	if (!r->world || r->world > TRIB_WORLD_MAX || r->rank >= r->world || !trees_ok(r) ||
	    (r->nval != TRIB_NVAL_SMALL && r->nval != TRIB_NVAL_LARGE) || !r->window ||
	    r->window & (r->window - 1) || !fmt_ok(r))
		return false;
	for (i = 0; i < r->ntree; i++)
		if (!tree_ok(r, &r->tree[i]))
			return false;
	if (r->flags & TRIB_ATTACH_MAPPED && !cells_ok(r))
		return false;
	/* tribd does not write results of shared trees into cells. */
	for (i = 0; r->flags & TRIB_ATTACH_MAPPED && i < r->ntree; i++)
		if (r->tree[i].flags & TRIB_ATTACH_SHARED)
			return false;
	return true;
}

/* Return: whether @fd becomes readable within @ms. */
static int await(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t until = clock_ns() + (uint64_t)ms * TRIB_MS, now;
	int n;

	do {
		now = clock_ns();
		n = poll(&p, 1, now < until ? (int)((until - now) / TRIB_MS) : 0);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n ? 0 : -ETIMEDOUT;
}

static void close_all(const int *fd, unsigned int n)
{
	while (n--)
		close(fd[n]);
}

/* Take the descriptors of a message; close them all if they are too many. */
static unsigned int take_fds(struct msghdr *m, int *fd, unsigned int max)
{
	unsigned int n = 0, k;
	struct cmsghdr *cm;

	for (cm = CMSG_FIRSTHDR(m); cm; cm = CMSG_NXTHDR(m, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_RIGHTS)
			continue;
		k = (unsigned int)((cm->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		/*
		 * The kernel merges them into one control message, so a second
		 * one is an error.
		 */
		if (n || k > max)
			continue;
		memcpy(fd, CMSG_DATA(cm), k * sizeof(int));
		n = k;
	}
	return n;
}

static ssize_t recv_rep(int sock, struct trib_attach_rep *rep, int *fd, unsigned int *nfd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE((TRIB_ATTACH_TREES + 1) * sizeof(int))];
	} control;
	struct iovec iov = {rep, sizeof(*rep)};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	*nfd = len < 0 ? 0 : take_fds(&m, fd, TRIB_ATTACH_TREES + 1);
	if (len < 0)
		return -errno;
	return m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? 0 : len;
}

/* Return: whether the reply is whole and grants the place. */
static int place_fill(struct trib_place *p, const int *fd, unsigned int nfd)
{
	unsigned int i, want = 0;

	if (p->rep.flags & TRIB_ATTACH_MAPPED)
		want = p->rep.ntree + 1u;
	if (nfd != want) {
		close_all(fd, nfd);
		return -EPROTO;
	}
	for (i = 0; i + 1 < want; i++)
		p->cells_fd[i] = fd[i];
	if (want)
		p->ring_fd = fd[want - 1];
	return 0;
}

static int hello(struct trib_place *p, const struct trib_attach_req *req)
{
	int fd[TRIB_ATTACH_TREES + 1], err;
	unsigned int nfd = 0;
	ssize_t len;

	if (send(p->sock, req, sizeof(*req), MSG_NOSIGNAL) < 0)
		return -errno;
	err = await(p->sock, ANSWER_MS);
	if (err)
		return err;
	len = recv_rep(p->sock, &p->rep, fd, &nfd);
	if (len < 0)
		return (int)len;
	if (!len && !nfd)
		return -ECONNRESET;
	if (!trib_tribd_rep_ok(&p->rep, (size_t)len)) {
		close_all(fd, nfd);
		return -EPROTO;
	}
	if (p->rep.err) {
		close_all(fd, nfd);
		return -p->rep.err;
	}
	return place_fill(p, fd, nfd);
}

static void place_clear(struct trib_place *p)
{
	unsigned int i;

	memset(p, 0, sizeof(*p));
	p->sock = -1;
	p->ring_fd = -1;
	for (i = 0; i < TRIB_ATTACH_TREES; i++)
		p->cells_fd[i] = -1;
}

static void peers_fill(struct trib_place *p)
{
	struct in6_addr ip;

	_Static_assert(sizeof(p->peers) >= ADDR_TEXT_MAX, "peers");
	memcpy(&ip, p->rep.peers, sizeof(ip));
	addr_text_port(&ip, p->rep.peers_port, p->peers);
}

static int connect_fail(int err)
{
	if (err == -ECONNREFUSED || err == -ENOENT)
		return trib_fail(
			NULL, TRIB_ERR_SYSTEM, -ENOENT,
			"no tribd runs on this host in this network namespace: start it, or use a ticket");
	if (err == -EPERM)
		return trib_fail(
			NULL, TRIB_ERR_SYSTEM, err,
			"the process that listens on tribd's socket is not root: not trusted");
	return trib_fail(NULL, TRIB_ERR_SYSTEM, err, "cannot reach tribd: %s", strerror(-err));
}

int trib_tribd_attach(struct trib_place *p, const char *job, unsigned int rank, bool mapped)
{
	struct trib_attach_req req;
	int err;

	place_clear(p);
	if (!*job || strlen(job) >= sizeof(p->job))
		return trib_fail(NULL, TRIB_ERR_ARGUMENT, -EINVAL,
				 "job '%.80s': want a name of 1 to %zu bytes", job,
				 sizeof(p->job) - 1);
	strcpy(p->job, job);
	p->sock = trib_tribd_connect();
	if (p->sock < 0)
		return connect_fail(p->sock);
	trib_tribd_fill(&req, TRIB_ATTACH_HELLO, mapped ? TRIB_ATTACH_MAPPED : 0, rank, job);
	err = hello(p, &req);
	if (!err && p->rep.peers_port)
		peers_fill(p);
	if (!err)
		return 0;
	close(p->sock);
	p->sock = -1;
	if (p->rep.err)
		return trib_fail(NULL, TRIB_ERR_SYSTEM, err, "%.*s", (int)sizeof(p->rep.text),
				 p->rep.text);
	return trib_fail(NULL, TRIB_ERR_SYSTEM, err,
			 "tribd gave no valid answer about job '%s': %s", job, strerror(-err));
}

void trib_tribd_release(struct trib_place *p, bool clean)
{
	struct trib_attach_req req;
	unsigned int i;

	if (p->sock >= 0) {
		trib_tribd_fill(&req, TRIB_ATTACH_BYE, 0, p->rep.rank, p->job);
		if (clean)
			send(p->sock, &req, sizeof(req), MSG_NOSIGNAL | MSG_DONTWAIT);
		close(p->sock);
	}
	if (p->ring_fd >= 0)
		close(p->ring_fd);
	for (i = 0; i < p->rep.ntree && i < TRIB_ATTACH_TREES; i++)
		if (p->cells_fd[i] >= 0)
			close(p->cells_fd[i]);
	place_clear(p);
}

int trib_tribd_epoch(const struct trib_place *p, uint16_t tree, uint32_t epoch)
{
	struct trib_attach_epoch req = {
		.magic = TRIB_ATTACH_MAGIC,
		.version = TRIB_ATTACH_VERSION,
		.cmd = TRIB_ATTACH_EPOCH,
		.tree = tree,
		.epoch = epoch,
	};
	struct trib_attach_ack ack;
	ssize_t len;
	int err;

	if (p->sock < 0)
		return -ENOTCONN;
	if (send(p->sock, &req, sizeof(req), MSG_NOSIGNAL) < 0)
		return errno == EPIPE ? -ENOTCONN : -errno;
	err = await(p->sock, ANSWER_MS);
	if (err)
		return err;
	len = recv(p->sock, &ack, sizeof(ack), MSG_DONTWAIT);
	if (len <= 0)
		return -ENOTCONN;
	if (len != sizeof(ack) || ack.magic != TRIB_ATTACH_MAGIC)
		return -EPROTO;
	return -ack.err;
}
