// SPDX-License-Identifier: BSD-2-Clause
/*
 * The attach socket: a few processes connect, send anything and end, in any
 * order. No rank is given twice, every rank that was given comes back, and only
 * users who may get one get one. Each process has arrays of its own, which no other
 * has had, and tribd keeps no descriptor of them. The sockets are sockets_double.c's:
 * the kernel's took four fifths of the time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int fuzz_getsockopt(int fd, int level, int name, void *v, socklen_t *len);

/* The code under test; the input chooses the user that connects. */
#define getsockopt fuzz_getsockopt
#include "daemon/attach/attach.c"
#undef getsockopt

#include "daemon/attach/deliver.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/sockets_double.h"

#define OWNER 1000
#define CONNS 6
#define RANKS 3
#define TREES 2
#define NCELL 64

static struct tribd D;
static struct job J = {.name = "train", .id = 7, .world = RANKS, .owner = OWNER, .window = 4};
static struct tree T[TREES];
static struct port P = {.ifname = "p0", .ifindex = 3};
static struct face F, group[TREES];
static int peer[CONNS]; /* the other ends; -1: none */
static struct conn *conn[CONNS];
static bool resumes[CONNS]; /* said so, without mapped delivery */
static const struct in6_addr PS = {.s6_addr = {[15] = 9}};
static uint32_t next_uid;
static int plugging;
static unsigned int rings;
static unsigned int fail_at; /* array that cannot be made; 0: none */
static bool bare;	     /* the job has no tree here, but peers */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "attach: %s\n", what);
	abort();
}

static int fuzz_getsockopt(int fd, int level, int name, void *v, socklen_t *len)
{
	struct ucred cred = {.pid = 77, .uid = next_uid};

	(void)fd;
	(void)level;
	must(name == SO_PEERCRED && *len == sizeof(cred), "getsockopt()");
	memcpy(v, &cred, sizeof(cred));
	return 0;
}

/* --- tribd, as far as attach.c and place.c see it */

void log_line(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
}

/* Root has all capabilities, others have none. */
int admin_by_unix(pid_t pid, uid_t uid, int pidfd, struct reason *why)
{
	(void)pid;
	(void)pidfd;
	why->text[0] = '\0';
	return uid ? -EPERM : 0;
}

int admin_pidfd(int sock, pid_t pid)
{
	(void)sock;
	(void)pid;
	return -1;
}

uint64_t loop_now(void)
{
	static uint64_t now;

	return now += 100000000;
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	(void)d;
	t->at_ns = ms;
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	t->at_ns = 0;
}

int loop_add(struct tribd *d, struct watch *w, uint32_t events)
{
	(void)d;
	(void)events;
	conn[plugging] = w->arg;
	return 0;
}

void loop_del(struct tribd *d, struct watch *w)
{
	(void)d;
	for (int i = 0; i < CONNS; i++)
		if (conn[i] == w->arg)
			conn[i] = NULL;
}

struct job *job_find(struct tribd *d, const char *name)
{
	(void)d;
	return strcmp(name, J.name) ? NULL : &J;
}

struct tree *tree_next_of_job(struct tribd *d, const struct job *job, const struct tree *after)
{
	(void)d;
	(void)job;
	if (bare)
		return NULL;
	return !after ? &T[0] : after == &T[0] ? &T[1] : NULL;
}

struct tree *tree_find(struct tribd *d, uint16_t id)
{
	(void)d;
	return id >= 1 && id <= TREES ? &T[id - 1] : NULL;
}

/* Port 0: results come to the host's own address. */
int tree_row_store(struct tribd *d, struct tree *t)
{
	(void)d;
	must(!t->row.flags || (t->row.port && !t->nchild && t->nlocal == 1), "a socket's row");
	return 0;
}

const struct face *tree_multicast(const struct tree *t, const struct port *port)
{
	const struct face *f = &group[t->id - 1];

	must(port == t->parent->port, "a group behind another port");
	return f->udp_port ? f : NULL;
}

int reason_set(struct reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return err;
	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}

/* Any file will do as an array; standard input as a ring. */
int deliver_rank_add(struct tribd *d, struct job *job, uint16_t rank, struct place_fds *fds)
{
	(void)d;
	(void)job;
	for (int i = 0; i < TREES; i++) {
		struct local *l = tree_local(&T[i], rank);

		must(!l || !l->ring, "a rank has two rings");
		if (!l)
			continue;
		if (fail_at && !--fail_at)
			return -ENOMEM;
		fds->fd[fds->n++] = sockets_file();
		fds->own = fds->n;
	}
	for (int i = 0; i < TREES; i++) {
		struct local *l = tree_local(&T[i], rank);

		if (l)
			l->ring = 1 + rank;
	}
	rings++;
	fds->fd[fds->n++] = 0;
	return 0;
}

void deliver_rank_del(struct tribd *d, struct job *job, uint16_t rank)
{
	bool had = false;

	(void)d;
	(void)job;
	for (int i = 0; i < TREES; i++) {
		struct local *l = tree_local(&T[i], rank);

		had |= l && l->ring;
		if (l)
			l->ring = 0;
	}
	rings -= had;
}

uint32_t deliver_cells(const struct tree *t)
{
	(void)t;
	return NCELL;
}

int join_epoch(struct tribd *d, struct tree *t, uint32_t epoch)
{
	(void)d;
	(void)t;
	return epoch ? 0 : -ESTALE;
}

void join_rank_gone(struct tribd *d, struct tree *t, const struct local *l)
{
	(void)d;
	(void)t;
	must(l->pid, "a rank is gone that nobody had");
}

void join_idle(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
}

/* ABORT to the PS, for a row of workers. */
int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port, const void *data,
		size_t len)
{
	const struct trib_hdr *h = data;

	(void)d;
	must(IN6_ARE_ADDR_EQUAL(to, &PS) && port == TRIB_UDP_PORT, "not the PS");
	must(len == sizeof(*h) && h->type == TRIB_T_ABORT && h->epoch, "not what the PS is told");
	return 0;
}

/* --- what must hold */

static void ranks_hold(void)
{
	unsigned int have[RANKS] = {0}, held = 0;
	bool taken[RANKS] = {false}, here[RANKS] = {false};
	bool late[RANKS] = {false}; /* by sockets: its trees are to be named */

	for (int i = 0; i < CONNS; i++) {
		if (!conn[i] || !conn[i]->job)
			continue;
		must(conn[i]->rank < RANKS && !have[conn[i]->rank]++, "a rank is taken twice");
		must(!conn[i]->peer.uid || conn[i]->peer.uid == OWNER, "a stranger has a rank");
		held++;
		late[conn[i]->rank] = resumes[i];
	}
	for (int i = 0; i < TREES; i++)
		for (unsigned int k = 0; k < T[i].nlocal; k++) {
			here[T[i].local[k].rank] = true;
			taken[T[i].local[k].rank] |= T[i].local[k].pid != 0;
		}
	/*
	 * A process that resumes keeps the trees that it had, and gets no newer
	 * ones.
	 */
	for (int i = 0; i < RANKS; i++)
		must(bare || !here[i] || taken[i] == (have[i] != 0) || late[i],
		     "a rank is neither free nor taken");
	must(rings <= held, "a ring has no rank");
}

/* --- what processes do */

/* Trees of the job that processes may get. */
static unsigned int offered(const struct job *job)
{
	const struct tree *t;
	unsigned int n = 0;

	TAILQ_FOREACH(t, &D.trees, link)
		n += t->job == job && !t->held;
	return n;
}

/*
 * XDP sends for a rank that is alone at the leaf of a job's only tree, is mapped, and whose
 * source is known.
 */
static void reflex_holds(const struct trib_attach_rep *rep, const struct trib_attach_tree *a)
{
	const struct tree *t = &T[a->tree - 1];
	bool want = rep->ncell && t->kind == TREE_DEDICATED && t->nlocal == 1 && !D.opt.no_reflex &&
		    P.mode == TRIB_XDP_MODE_NATIVE && F.local_known &&
		    offered(t->job) <= (t->held ? 0u : 1u);

	must(!(a->flags & TRIB_ATTACH_REFLEX) == !want, "reflex");
}

/* Sockets are told of groups, and never of one that XDP takes. */
static void groups_hold(const struct trib_attach_rep *rep)
{
	must(!(rep->flags & TRIB_ATTACH_MAPPED) || rep->ncell == NCELL, "maps without cells");
	must(rep->peers_port == J.peers_port, "another meeting");
	must(rep->ntree ? !bare : bare && !rep->flags, "trees of a bare rank, or none");
	for (unsigned int i = 0; i < rep->ntree; i++) {
		const struct trib_attach_tree *a = &rep->tree[i];
		uint16_t port = group[a->tree - 1].udp_port;

		reflex_holds(rep, a);
		if (T[a->tree - 1].kind == TREE_WORKERS) {
			must(!(rep->flags & TRIB_ATTACH_MAPPED) && a->flags == TRIB_ATTACH_SHARED &&
				     a->recv_port == 7500 + rep->rank && a->child == rep->rank &&
				     a->nhop == 1 && a->hop[0].relay == 3,
			     "not what the row of workers says");
			continue;
		}
		if (!a->recv_port) {
			must(!port || port == TRIB_UDP_PORT, "cells for what XDP does not see");
			must(!a->mcast_addr[3], "a group that XDP serves");
		} else {
			must(port != TRIB_UDP_PORT, "a socket for what XDP takes");
			must(!port || a->recv_port == port, "another port");
			must(!port == !a->mcast_addr[3], "a group that is not told, or not there");
		}
	}
}

static void take_answers(int i)
{
	static struct trib_attach_rep rep;
	unsigned int nfd;
	ssize_t n;

	while ((n = sockets_take(peer[i], &rep, sizeof(rep), &nfd)) > 0) {
		must(n == sizeof(struct trib_attach_rep) || n == sizeof(struct trib_attach_ack),
		     "an answer of odd size");
		must(nfd == (n == sizeof(rep) && !rep.err && rep.flags & TRIB_ATTACH_MAPPED
				     ? rep.ntree + 1u
				     : 0),
		     "not an array for each tree and a ring");
		if (n == sizeof(rep) && !rep.err)
			groups_hold(&rep);
	}
}

static void say(struct input *in, int i)
{
	union {
		struct trib_attach_req req;
		struct trib_attach_epoch epoch;
		uint8_t raw[128];
	} m;
	uint8_t how = take8(in), rank = take8(in), bend = take8(in);
	size_t len = sizeof(m.req);

	memset(&m, 0, sizeof(m));
	m.req.magic = TRIB_ATTACH_MAGIC;
	m.req.version = TRIB_ATTACH_VERSION;
	m.req.cmd = how % 5;
	if (m.req.cmd == TRIB_ATTACH_EPOCH) {
		m.epoch.tree = rank % 4;
		m.epoch.epoch = rank >> 4;
		len = sizeof(m.epoch);
	} else {
		m.req.flags = how >> 5;
		m.req.rank = rank < 0xf0 ? rank % (RANKS + 2) : TRIB_RANK_ANY;
		strcpy(m.req.job, J.name);
	}
	if (bend >= 0xc0)
		m.raw[take8(in) % sizeof(m.req)] ^= take8(in);
	if (bend >= 0xe0)
		len = take8(in) % sizeof(m.raw);
	resumes[i] |=
		(m.req.flags & (TRIB_ATTACH_RESUME | TRIB_ATTACH_MAPPED)) == TRIB_ATTACH_RESUME;
	sockets_send(peer[i], &m, len);
}

static void plug(struct input *in, int i)
{
	static const uint32_t uids[] = {OWNER, OWNER, 0, OWNER + 1};
	int fd[2];

	sockets_pair(fd);
	next_uid = uids[take8(in) & 3];
	peer[i] = fd[0];
	resumes[i] = false;
	plugging = i;
	conn_new(&D, fd[1]);
	must(conn[i] != NULL, "a connection is refused");
}

static void unplug(int i)
{
	if (peer[i] >= 0)
		sockets_close(peer[i]);
	peer[i] = -1;
	if (conn[i])
		conn_event(&D, &conn[i]->watch, EPOLLIN);
}

static void act(struct input *in)
{
	uint8_t op = take8(in);
	int i = op % CONNS;

	if (!conn[i] && peer[i] >= 0)
		unplug(i); /* it was closed at the other end */
	switch (op >> 5) {
	case 0:
		unplug(i);
		break;
	case 1: /* a process says something, and tribd does not look yet */
		if (peer[i] >= 0)
			say(in, i);
		break;
	case 2:
		if (conn[i] && conn[i]->hello.at_ns)
			hello_late(&D, &conn[i]->hello);
		break;
	case 3:
		if (take8(in) == 0xff)
			attach_tree_del(&D, &T[op & 1]);
		break;
	default:
		if (peer[i] < 0)
			plug(in, i);
		say(in, i);
		if (conn[i])
			conn_event(&D, &conn[i]->watch, EPOLLIN);
	}
	if (peer[i] >= 0)
		take_answers(i);
	ranks_hold();
}

static void start(struct input *in)
{
	static const uint16_t ports[] = {0, 7418, 0, TRIB_UDP_PORT};
	uint8_t groups = take8(in), way = groups >> 4 & 7;

	memset(&D, 0, sizeof(D));
	/* Reflex, and three reasons against it; an array that cannot be made. */
	D.opt.no_reflex = way == 2;
	P.mode = way == 3 ? TRIB_XDP_MODE_GENERIC : TRIB_XDP_MODE_NATIVE;
	F.port = &P;
	F.local_known = way != 4;
	F.local_mac[5] = 1;
	fail_at = way > 4 ? way - 4u : 0;
	bare = (groups & 0xf3) == 0x81;
	J.peers_port = bare || groups & 4 ? 7416 : 0;
	memset(T, 0, sizeof(T));
	TAILQ_INIT(&D.trees);
	D.attach = calloc(1, sizeof(*D.attach));
	LIST_INIT(&D.attach->conns);
	for (int i = 0; i < CONNS; i++)
		peer[i] = -1;
	for (int i = 0; i < TREES; i++) {
		T[i].id = (uint16_t)(1 + i);
		T[i].job = &J;
		T[i].parent = &F;
		if (i && groups & 0x80) {
			T[i].parent = NULL;
			T[i].kind = TREE_WORKERS;
			T[i].workers.ps = PS;
			T[i].workers.ps_port = TRIB_UDP_PORT;
			T[i].workers.nhop = 1;
			T[i].workers.hop[0] = (struct hop){&F, 3};
		}
		group[i].udp_port = ports[groups >> 2 * i & 3];
		group[i].addr.s6_addr[12] = 239;
		T[i].nlocal = way ? 1 : RANKS - (unsigned int)i;
		for (unsigned int k = 0; k < T[i].nlocal; k++) {
			T[i].local[k].rank = (uint16_t)k;
			T[i].local[k].port = (uint16_t)(7500 + k);
		}
		TAILQ_INSERT_TAIL(&D.trees, &T[i], link);
	}
	rings = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	start(&in);
	while (in.left)
		act(&in);
	for (int i = 0; i < CONNS; i++)
		unplug(i);
	ranks_hold();
	must(!D.attach->nconns && !rings, "something is left");
	must(!sockets_open(), "tribd keeps a descriptor");
	free(D.attach);
	return 0;
}
