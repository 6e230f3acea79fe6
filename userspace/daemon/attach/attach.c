// SPDX-License-Identifier: BSD-2-Clause
/*
 * The socket at which worker processes attach: connections, requests, and
 * noticing the end of a process. Clients are not trusted: their number, the
 * time until HELLO, and the work that a request causes are bounded, and tribd
 * never waits for them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/core/admin.h"
#include "attach.h"

#define CONNS_MAX 1024
#define STRANGERS_MAX 32 /* connections of one user before HELLO */
#define BARE_MAX 256	 /* ranks of one user in jobs without a tree */
#define HELLO_MS 5000	 /* HELLO must come within */
#define EPOCHS_MAX 64	 /* TRIB_ATTACH_EPOCH of one process in a second */

/* @job: NULL until HELLO was granted. @epochs: asked since @epochs_ns. */
struct conn {
	LIST_ENTRY(conn) link;
	struct attach *attach;
	struct watch watch;
	struct timer hello;
	struct place_peer peer;
	struct job *job;
	uint16_t rank;
	unsigned int epochs;
	uint64_t epochs_ns;
};

struct attach {
	struct watch listen;
	struct timer grace;
	unsigned int nconns;
	LIST_HEAD(, conn) conns;
};

/* The descriptor is for HELLO only. */
static void peer_close(struct conn *c)
{
	if (c->peer.pidfd >= 0)
		close(c->peer.pidfd);
	c->peer.pidfd = -1;
}

static void conn_free(struct tribd *d, struct conn *c)
{
	loop_del(d, &c->watch);
	timer_cancel(d, &c->hello);
	close(c->watch.fd);
	peer_close(c);
	LIST_REMOVE(c, link);
	c->attach->nconns--;
	free(c);
}

/*
 * Close the connection and give its rank back. @gone: the process ended without
 * BYE.
 */
static void conn_end(struct tribd *d, struct conn *c, bool gone)
{
	struct job *job = c->job;
	uint16_t rank = c->rank;

	if (job)
		log_info("job %s: rank %u (process %d) %s", job->name, rank, (int)c->peer.pid,
			 gone ? "has ended" : "has left");
	conn_free(d, c);
	if (job)
		place_give_back(d, job, rank, gone);
}

static struct conn *conn_of(struct tribd *d, const struct job *job, uint16_t rank)
{
	struct conn *c;

	LIST_FOREACH(c, &d->attach->conns, link)
		if (c->job == job && c->rank == rank)
			return c;
	return NULL;
}

pid_t attach_pid(struct tribd *d, const struct job *job, uint16_t rank)
{
	struct conn *c = conn_of(d, job, rank);
	struct pollfd p = {.events = POLLRDHUP};

	if (!c)
		return 0;
	p.fd = c->watch.fd;
	if (poll(&p, 1, 0) != 1 || !(p.revents & (POLLHUP | POLLERR | POLLRDHUP)))
		return c->peer.pid ? c->peer.pid : -1;
	/* The process has ended, but its event was not handled yet. */
	conn_end(d, c, true);
	return 0;
}

/*
 * Send one datagram with descriptors. The queue is empty, so the call never
 * waits.
 */
static int conn_reply(const struct conn *c, const void *data, size_t len,
		      const struct place_fds *fds)
{
	struct iovec iov = {(void *)(uintptr_t)data, len};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(fds->fd))];
	} control;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cm;

	if (fds && fds->n) {
		memset(&control, 0, sizeof(control));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(fds->n * sizeof(int));
		cm = CMSG_FIRSTHDR(&m);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(fds->n * sizeof(int));
		memcpy(CMSG_DATA(cm), fds->fd, fds->n * sizeof(int));
	}
	return sendmsg(c->watch.fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Return: false to close the connection. */
static bool on_hello(struct tribd *d, struct conn *c, const struct trib_attach_req *req)
{
	struct trib_attach_rep rep;
	struct place_fds fds;
	struct job *job = NULL;
	int err, sent;

	memset(&rep, 0, sizeof(rep));
	rep.magic = TRIB_ATTACH_MAGIC;
	rep.version = TRIB_ATTACH_VERSION;
	err = place_take(d, req, &c->peer, &rep, &fds, &job);
	rep.err = (uint16_t)-err;
	peer_close(c);
	if (!err) {
		c->job = job;
		c->rank = rep.rank;
		timer_cancel(d, &c->hello);
		log_info("job %s: process %d (uid %u) is rank %u%s", job->name, (int)c->peer.pid,
			 c->peer.uid, c->rank, req->flags & TRIB_ATTACH_RESUME ? " again" : "");
	} else {
		log_info("process %d (uid %u): %s", (int)c->peer.pid, c->peer.uid, rep.text);
	}
	sent = conn_reply(c, &rep, sizeof(rep), &fds);
	place_fds_close(&fds);
	return !sent && !err;
}

/* Limit requests: each may write a row and the state file. */
static bool epoch_too_often(struct conn *c)
{
	uint64_t now = loop_now();

	if (now - c->epochs_ns > 1000000000ULL) {
		c->epochs_ns = now;
		c->epochs = 0;
	}
	return ++c->epochs > EPOCHS_MAX;
}

static bool on_epoch(struct tribd *d, struct conn *c, const struct trib_attach_epoch *req)
{
	struct trib_attach_ack ack = {
		.magic = TRIB_ATTACH_MAGIC,
		.version = TRIB_ATTACH_VERSION,
	};
	int err = epoch_too_often(c) ? -EAGAIN : place_epoch(d, c->job, c->rank, c->peer.pid, req);

	ack.err = (uint16_t)-err;
	return !conn_reply(c, &ack, sizeof(ack), NULL);
}

union message {
	struct trib_attach_req req;
	struct trib_attach_epoch epoch;
};

/* Return: false if the process has ended or breaks the protocol. */
static bool on_message(struct tribd *d, struct conn *c, const union message *m, size_t len)
{
	/* The first three members are the same in all messages. */
	if (len < sizeof(m->epoch) || m->req.magic != TRIB_ATTACH_MAGIC ||
	    m->req.version != TRIB_ATTACH_VERSION)
		return false;
	switch (m->req.cmd) {
	case TRIB_ATTACH_HELLO:
		return len == sizeof(m->req) && !c->job && on_hello(d, c, &m->req);
	case TRIB_ATTACH_EPOCH:
		return len == sizeof(m->epoch) && c->job && on_epoch(d, c, &m->epoch);
	default:
		return false;
	}
}

static bool is_bye(const union message *m, size_t len)
{
	return len == sizeof(m->req) && m->req.magic == TRIB_ATTACH_MAGIC &&
	       m->req.cmd == TRIB_ATTACH_BYE;
}

static void conn_event(struct tribd *d, struct watch *w, uint32_t events)
{
	struct conn *c = w->arg;
	union message m;
	ssize_t len;

	(void)events;
	len = recv(w->fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0 && is_bye(&m, (size_t)len))
		conn_end(d, c, false);
	else if (len <= 0 || (size_t)len > sizeof(m) || !on_message(d, c, &m, (size_t)len))
		conn_end(d, c, true);
}

static void hello_late(struct tribd *d, struct timer *t)
{
	conn_end(d, t->arg, false);
}

/* --- the listening socket */

/* Count the connections of @uid before HELLO. @oldest: the first of them. */
static unsigned int strangers(const struct attach *a, uid_t uid, struct conn **oldest)
{
	unsigned int n = 0;
	struct conn *c;

	LIST_FOREACH(c, &a->conns, link)
		if (!c->job && c->peer.uid == uid) {
			*oldest = c;
			n++;
		}
	return n;
}

/* Find the oldest connection before HELLO of the user with most of them; or NULL. */
static struct conn *stranger_of_most(const struct attach *a)
{
	struct conn *oldest = NULL, *mine = NULL;
	unsigned int most = 0, n;
	const struct conn *c;

	LIST_FOREACH(c, &a->conns, link) {
		n = c->job ? 0 : strangers(a, c->peer.uid, &mine);
		if (n > most) {
			most = n;
			oldest = mine;
		}
	}
	return oldest;
}

/*
 * Make room for a connection of @peer. A user with too many before HELLO loses its
 * oldest; when all are taken, the user with most does. Return: false: all are ranks'.
 */
static bool make_room(struct tribd *d, const struct place_peer *peer)
{
	struct attach *a = d->attach;
	struct conn *oldest = NULL;
	struct reason why;

	if (strangers(a, peer->uid, &oldest) >= STRANGERS_MAX &&
	    admin_by_unix(peer->pid, peer->uid, peer->pidfd, &why)) {
		conn_end(d, oldest, false);
		return true;
	}
	if (a->nconns < CONNS_MAX)
		return true;
	oldest = stranger_of_most(a);
	if (oldest)
		conn_end(d, oldest, false);
	return oldest;
}

static void conn_new(struct tribd *d, int fd)
{
	struct attach *a = d->attach;
	socklen_t len = sizeof(struct ucred);
	struct place_peer peer;
	struct ucred cred;
	struct conn *c;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		goto close;
	peer = (struct place_peer){cred.pid, cred.uid, admin_pidfd(fd, cred.pid)};
	if (!make_room(d, &peer))
		goto close_peer;
	c = calloc(1, sizeof(*c));
	if (!c)
		goto close_peer;
	c->attach = a;
	c->peer = peer;
	c->watch = (struct watch){fd, conn_event, c};
	c->hello.fn = hello_late;
	c->hello.arg = c;
	if (loop_add(d, &c->watch, EPOLLIN)) {
		free(c);
		goto close_peer;
	}
	LIST_INSERT_HEAD(&a->conns, c, link);
	a->nconns++;
	timer_set(d, &c->hello, HELLO_MS);
	return;
close_peer:
	if (peer.pidfd >= 0)
		close(peer.pidfd);
close:
	close(fd);
}

static void listen_event(struct tribd *d, struct watch *w, uint32_t events)
{
	int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0)
		conn_new(d, fd);
	else if (errno == EMFILE || errno == ENFILE)
		log_warn("attach: %s", strerror(errno));
}

static void grace_over(struct tribd *d, struct timer *t)
{
	(void)t;
	place_expire(d);
}

/*
 * Each process needs a descriptor for its connection and one for its ring
 * buffer.
 */
static void descriptors_raise(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= 2 * CONNS_MAX + 512)
		return;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &rl))
		log_warn("attach: RLIMIT_NOFILE: %s", strerror(errno));
}

int attach_init(struct tribd *d)
{
	struct attach *a = calloc(1, sizeof(*a));
	int err;

	if (!a)
		return -ENOMEM;
	LIST_INIT(&a->conns);
	a->listen = (struct watch){d->sock[HOME_ATTACH], listen_event, a};
	a->grace.fn = grace_over;
	err = listen(a->listen.fd, 128) ? -errno : loop_add(d, &a->listen, EPOLLIN);
	if (err) {
		log_error("attach socket @%s: %s", TRIB_ATTACH_NAME, strerror(-err));
		free(a);
		return err;
	}
	descriptors_raise();
	d->attach = a;
	if (d->adopted)
		timer_set(d, &a->grace, TRIB_ATTACH_GRACE_MS);
	return 0;
}

void attach_exit(struct tribd *d)
{
	struct attach *a = d->attach;
	struct conn *c;

	if (!a)
		return;
	/* The ranks keep their maps and come back to the next tribd. */
	while ((c = LIST_FIRST(&a->conns)))
		conn_free(d, c);
	timer_cancel(d, &a->grace);
	loop_del(d, &a->listen);
	free(a);
	d->attach = NULL;
}

/* --- jobs and trees go */

void attach_job_del(struct tribd *d, struct job *job)
{
	struct conn *c, *next;

	for (c = LIST_FIRST(&d->attach->conns); c; c = next) {
		next = LIST_NEXT(c, link);
		/* Send away the ranks with the trees: that tells other hosts. */
		if (c->job == job)
			conn_free(d, c);
	}
}

void attach_tree_del(struct tribd *d, struct tree *t)
{
	struct conn *c, *next;
	const struct local *l;

	if (!d->attach)
		return;
	for (c = LIST_FIRST(&d->attach->conns); c; c = next) {
		next = LIST_NEXT(c, link);
		l = c->job == t->job ? tree_local(t, c->rank) : NULL;
		/* A process that attached while @t was held does not use it. */
		if (l && l->pid)
			conn_end(d, c, false);
	}
}

bool attach_bare_full(struct tribd *d, uid_t uid)
{
	const struct conn *c;
	unsigned int n = 0;

	LIST_FOREACH(c, &d->attach->conns, link)
		n += c->job && !c->job->ntrees && c->peer.uid == uid;
	return n >= BARE_MAX;
}

unsigned int attach_count(struct tribd *d, const struct job *job)
{
	const struct conn *c;
	unsigned int n = 0;

	LIST_FOREACH(c, &d->attach->conns, link)
		n += c->job && (!job || c->job == job);
	return n;
}
