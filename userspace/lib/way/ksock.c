// SPDX-License-Identifier: BSD-2-Clause
/*
 * The way by a collective socket of the kernel module (uapi/trib_sock.h): its
 * life, and its errors. The kernel speaks the protocol; this file finds a
 * place, hands over cells that tribd gave, and messages (ksock_call.c), and waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ksock.h"

#define PROTOCOL_FILE "/sys/module/trib/parameters/protocol"
/*
 * Extra wait: the kernel ends joining by itself, and then can name the missing
 * ranks.
 */
#define JOIN_SLACK_MS 2000

/* The module's protocol number: a module parameter may have changed it. */
static int protocol(void)
{
	char text[16] = "";
	int fd = open(PROTOCOL_FILE, O_RDONLY | O_CLOEXEC), n = 0;

	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) > 0)
			n = atoi(text);
		close(fd);
	}
	return n > 0 && n < 256 ? n : IPPROTO_TRIB;
}

static int make_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol());
}

bool trib_ksock_takes_cells(void)
{
	uint32_t epoch[TRIB_ATTACH_TREES];
	socklen_t len = sizeof(epoch);
	int fd = make_socket();
	bool takes;

	if (fd < 0)
		return false;
	takes = !getsockopt(fd, SOL_TRIB, TRIB_SO_EPOCHS, epoch, &len);
	close(fd);
	return takes;
}

/* Read the socket's own error. Return: whether it has one. */
static bool its_error(const struct trib *t, struct trib_sock_error *e)
{
	socklen_t len = sizeof(*e);

	memset(e, 0, sizeof(*e));
	if (getsockopt(t->ksock->fd, SOL_TRIB, TRIB_SO_ERROR, e, &len) || len != sizeof(*e) ||
	    !e->code || e->err <= 0)
		return false;
	e->text[sizeof(e->text) - 1] = '\0';
	return true;
}

void trib_ksock_die(struct trib *t, int err, const char *what)
{
	struct trib_sock_error e;

	if (its_error(t, &e))
		trib_die_rank(&t->eng, e.code, -e.err, e.rank, "%s", e.text);
	else
		trib_die_rank(&t->eng, TRIB_ERR_SYSTEM, err, -1, "%s: %s", what, strerror(-err));
}

/* --- opening */

static int option(struct trib *t, int name, const void *v, size_t len)
{
	struct trib_sock_error e;

	if (!setsockopt(t->ksock->fd, SOL_TRIB, name, v, (socklen_t)len))
		return 0;
	if (errno != ENOPROTOOPT && its_error(t, &e))
		return trib_fail(t, e.code, -e.err, "%s", e.text);
	return trib_fail(t, TRIB_ERR_SYSTEM, -errno, "the kernel refuses socket option %d: %s",
			 name, strerror(errno));
}

static int option_ms(struct trib *t, int name, uint64_t ns)
{
	uint32_t ms = (uint32_t)((ns + TRIB_MS - 1) / TRIB_MS);

	return ns ? option(t, name, &ms, sizeof(ms)) : 0;
}

/* With mapped delivery the kernel takes part by the cells that tribd gave this process. */
static int hand_over_cells(struct trib *t)
{
	const struct trib_place *p = &t->place;
	struct trib_sock_cells c = {.ring = p->ring_fd};
	unsigned int i;

	if (!(p->rep.flags & TRIB_ATTACH_MAPPED))
		return 0;
	for (i = 0; i < p->rep.ntree; i++)
		c.cells[i] = p->cells_fd[i];
	return option(t, TRIB_SO_CELLS, &c, offsetof(struct trib_sock_cells, cells[p->rep.ntree]));
}

static int bind_error(struct trib *t, int err)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	struct trib_sock_error e;

	if (its_error(t, &e))
		return trib_fail(t, e.code, -err, "%s", e.text);
	if (err == EACCES)
		return trib_fail(
			t, TRIB_ERR_SYSTEM, -err,
			"job %u at the kernel module is claimed for another user: trib module claim shows whom",
			rep->job);
	if (err == EADDRINUSE)
		return trib_fail(
			t, TRIB_ERR_SYSTEM, -err,
			"another socket of this host is rank %u of job %u or has its UDP port: end that process",
			rep->rank, rep->job);
	return trib_fail(t, TRIB_ERR_SYSTEM, -err, "cannot bind to rank %u of job %u: %s",
			 rep->rank, rep->job, strerror(err));
}

static int bind_place(struct trib *t)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	struct sockaddr_trib sa = {
		.family = AF_INET,
		.job = htobe16(rep->job),
		.rank = htobe16(rep->rank),
	};
	union {
		struct sockaddr sa;
		struct sockaddr_trib trib;
	} addr = {.trib = sa};

	memcpy(addr.trib.secret, rep->up.b, sizeof(addr.trib.secret));
	return bind(t->ksock->fd, &addr.sa, sizeof(sa)) ? bind_error(t, errno) : 0;
}

/*
 * The relay's face may name the port of ranks without cells (trib-socket(7)), which XDP leaves
 * alone: results that come there count, too.
 */
static void choose_ports(struct trib_attach_rep *rep, bool any)
{
	unsigned int i;

	for (i = 0; rep->flags & TRIB_ATTACH_MAPPED && i < rep->ntree; i++)
		rep->tree[i].recv_port =
			any ? 0 : (uint16_t)(TRIB_UDP_PORT_WORKER + rep->tree[i].child);
}

/* @any: let the kernel choose UDP ports, if the place has cells. */
static int take_place(struct trib *t, bool any)
{
	struct trib_attach_rep *rep = &t->place.rep;
	int rc;

	choose_ports(rep, any);
	rc = option(t, TRIB_SO_PLACE, rep,
		    offsetof(struct trib_attach_rep, tree) + rep->ntree * sizeof(rep->tree[0]));
	if (!rc)
		rc = hand_over_cells(t);
	return rc ? rc : bind_place(t);
}

static int ksock_open(struct trib *t)
{
	struct trib_ksock *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	t->ksock = k;
	k->tail = &k->head;
	k->fd = make_socket();
	if (k->fd < 0)
		return trib_fail(
			t, TRIB_ERR_SYSTEM, -errno,
			errno == EPROTONOSUPPORT || errno == ESOCKTNOSUPPORT
				? "the kernel has no collective sockets: module trib is not loaded (modprobe trib)"
				: "cannot make a collective socket: %s",
			strerror(errno));
	rc = option_ms(t, TRIB_SO_TIMEOUT, t->eng.timeout_ns);
	if (!rc)
		rc = option_ms(t, TRIB_SO_JOIN_TIMEOUT, t->eng.join_timeout_ns);
	if (!rc)
		rc = take_place(t, false);
	/* A rank of another job may have the port. */
	if (rc == -EADDRINUSE && t->place.rep.flags & TRIB_ATTACH_MAPPED)
		rc = take_place(t, true);
	/*
	 * If this process dies, the kernel tells the other ranks. The watch
	 * keeps the rank at a new
	 * tribd: another process that got it there would find the socket's rank
	 * taken.
	 */
	if (!rc && t->place.sock >= 0)
		(void)trib_watch_open(t, &k->watch);
	return rc;
}

static int ksock_pollfds(struct trib *t, struct pollfd *pfd)
{
	int n = 0;

	pfd[n++] = (struct pollfd){.fd = t->ksock->fd, .events = POLLIN};
	if (t->ksock->watch.state != TRIB_WATCH_OFF)
		pfd[n++] = (struct pollfd){t->ksock->watch.fd, POLLIN, 0};
	return n;
}

/* Wait for @events or the socket's end, until @until (0: for ever). */
static int await(struct trib *t, short events, uint64_t until)
{
	struct pollfd p = {.fd = t->ksock->fd, .events = events};
	uint64_t now;
	int n, ms;

	do {
		now = clock_ns();
		ms = !until ? -1 : until > now ? (int)((until - now) / TRIB_MS + 1) : 0;
		pthread_mutex_unlock(&t->lock);
		n = poll(&p, 1, ms);
		pthread_mutex_lock(&t->lock);
	} while (n < 0 || (!n && (!until || until > clock_ns())));
	return n ? p.revents : 0;
}

/* tribd admits results to cells once it knows the epoch. */
static int tell_epochs(struct trib *t)
{
	uint32_t epoch[TRIB_ATTACH_TREES] = {0};
	socklen_t len = sizeof(epoch);
	unsigned int i;
	int rc = 0;

	if (getsockopt(t->ksock->fd, SOL_TRIB, TRIB_SO_EPOCHS, epoch, &len))
		return -errno;
	for (i = 0; !rc && i < t->eng.nstream; i++) {
		/* If tribd restarts, the watch tells the next one. */
		t->eng.stream[i]->epoch = epoch[i];
		rc = trib_watch_epoch(t, &t->ksock->watch, t->eng.stream[i]->tree, epoch[i]);
	}
	return rc;
}

static int ksock_join(struct trib *t)
{
	uint64_t until = clock_ns() + t->eng.join_timeout_ns + JOIN_SLACK_MS * TRIB_MS;
	int rc, got = await(t, POLLOUT, until);

	if (got & (POLLERR | POLLHUP))
		trib_ksock_die(t, -EIO, "the collective socket failed");
	else if (!got)
		trib_die_rank(
			&t->eng, TRIB_ERR_MISSING, -ETIMEDOUT, -1,
			"not all ranks joined in time: raise join_timeout_ms or check the other ranks");
	if (t->eng.dead || !(t->place.rep.flags & TRIB_ATTACH_MAPPED))
		return t->eng.dead;
	rc = tell_epochs(t);
	if (rc)
		trib_die_rank(&t->eng, TRIB_ERR_SYSTEM, rc, -1,
			      "tribd refuses the epoch of a tree: %s", strerror(-rc));
	return t->eng.dead;
}

/* --- turns */

/*
 * Stop polling: nothing is received any more, so poll() would always return at
 * once.
 */
static void rest(struct trib *t)
{
	unsigned int i;

	for (i = 0; i + 1 < t->npfd; i++)
		t->pfd[i].fd = -1;
}

static int ksock_turn(struct trib *t)
{
	struct trib_ksock *k = t->ksock;
	int n;

	if (t->eng.dead || t->eng.leaving) {
		rest(t);
		return 0;
	}
	n = trib_ksock_results(t);
	trib_watch_run(t, &k->watch, n > 0);
	if (k->unsent && (n || t->eng.now >= k->retry_ns))
		trib_ksock_send(t);
	return n;
}

static uint64_t ksock_due(const struct trib *t)
{
	return t->eng.dead ? 0 : t->ksock->retry_ns;
}

static void ksock_count(struct trib *t, struct trib_counters *c)
{
	struct trib_sock_info i;
	socklen_t len = sizeof(i);

	memset(&i, 0, sizeof(i));
	if (getsockopt(t->ksock->fd, SOL_TRIB, TRIB_SO_INFO, &i, &len))
		return;
	*c = (struct trib_counters){
		.chunks = i.chunks,
		.sent_packets = i.sent_packets,
		.sent_bytes = i.sent_bytes,
		.recv_packets = i.recv_packets,
		.recv_bytes = i.recv_bytes,
		.resends = i.resends,
		.fast_resends = i.fast_resends,
		.needs = i.needs,
		.dups = i.dups,
		.bad_packets = i.bad_packets,
		.rtt_us = i.rtt_us,
		.rtt_min_us = i.rtt_min_us,
		.window = i.window,
		.last_count = i.last_count,
		.carried = i.carried,
	};
}

/* --- closing */

static void ksock_leave(struct trib *t)
{
	t->eng.leaving = true;
	rest(t);
	/*
	 * POLLHUP comes when all ranks have left, or those that did not are
	 * given up.
	 */
	if (!t->eng.dead && !t->eng.unfinished && !shutdown(t->ksock->fd, SHUT_WR))
		await(t, 0, 0);
	/* Closing the socket tells the other ranks, unless this one has left. */
	if (t->eng.unfinished)
		trib_die_rank(&t->eng, TRIB_ERR_GONE, -ECANCELED, (int)t->eng.rank,
			      "this rank detached");
}

static void ksock_close(struct trib *t)
{
	struct trib_ksock *k = t->ksock;

	if (!k)
		return;
	trib_watch_close(&k->watch);
	if (k->fd >= 0)
		close(k->fd);
	trib_ksock_drop(k);
	free(k);
	t->ksock = NULL;
}

const struct trib_way trib_by_ksock = {
	.name = "kernel",
	.open = ksock_open,
	.pollfds = ksock_pollfds,
	.join = ksock_join,
	.issue = trib_ksock_issue,
	.turn = ksock_turn,
	.due = ksock_due,
	.leave = ksock_leave,
	.count = ksock_count,
	.close = ksock_close,
};
