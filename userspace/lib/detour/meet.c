// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ranks meet: the bootstrap swaps where each listens, and a nonce of each; then each
 * connects to those of lower number. Whoever connects proves once, by both nonces, that it
 * holds the job's key and is that rank; from then on all is authentic, in both directions.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/clock.h"
#include "mesh.h"
#include "peer/boot/boot.h"
#include "peer/boot/boot_priv.h"

#define AUTH_MESH 0x6873656dU /* "mesh": no other use of the job's key has it */
#define LISTEN_BACKLOG 512

/** struct card - of a rank, for all others */
struct card {
	struct in6_addr ip;
	uint16_t port;
	uint16_t rsvd[3];
	uint8_t nonce[BOOT_NONCE];
};

/** struct proof - first message on a connection, of who connects */
struct proof {
	uint32_t rank;
	uint32_t rsvd;
	uint64_t proof[2];
};

/**
 * struct meeting - until all are connected
 * @cards: of all ranks, from the bootstrap.
 * @pending: connections that have not proved who they are.
 */
struct meeting {
	struct trib_mesh *m;
	struct peer_boot *boot;
	int listener;
	struct card own;
	const void **cards;
	struct boot_conn pending[BOOT_PENDING_MAX];
	struct pollfd fds[BOOT_PENDING_MAX + 1];
	uint64_t end_ms;
};

static int fail(struct trib_peer_error *e, int err, int rank, const char *what)
{
	return peer_error(e, TRIB_PEER_SYSTEM, err, rank, "%s: %s", what, strerror(-err));
}

/* Keys of the connection by which rank @from reached rank @to. */
static void make_keys(const struct meeting *g, uint32_t from, uint32_t to, struct boot_keys *k)
{
	const struct card *f = g->cards[from], *t = g->cards[to];
	struct boot_hello hello = {
		.magic = BOOT_MAGIC,
		.job = g->m->conf.job,
		.rank = from,
		.world = g->m->conf.world,
	};
	struct trib_key base;

	memcpy(hello.nonce, f->nonce, sizeof(hello.nonce));
	trib_key_derive(&base, &g->m->conf.key, AUTH_MESH, 0);
	boot_keys_make(k, &base, &hello, t->nonce);
	explicit_bzero(&base, sizeof(base));
}

/* The own address on the way to the meeting point; rank 0's is the meeting point. */
static int own_address(struct meeting *g)
{
	union addr_sock sock;
	struct in6_addr ip;
	uint16_t port = 0;
	socklen_t len;
	int family, fd, err = 0;

	addr_parse_port(g->m->conf.address, &ip, &port);
	g->own.ip = ip;
	if (!g->m->conf.rank)
		return 0;
	family = addr_is_v4(&ip) ? AF_INET : AF_INET6;
	len = addr_to_sock(family, &ip, port, &sock);
	fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, &sock.sa, len) || (len = sizeof(sock), getsockname(fd, &sock.sa, &len)))
		err = -errno;
	else
		addr_from_sock(&sock, &g->own.ip, &port);
	close(fd);
	return err;
}

static int listen_any(struct meeting *g)
{
	int family = addr_is_v4(&g->own.ip) ? AF_INET : AF_INET6;
	union addr_sock sock;
	struct in6_addr ip;
	socklen_t len = addr_to_sock(family, &g->own.ip, 0, &sock);

	g->listener = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (g->listener < 0 || bind(g->listener, &sock.sa, len) ||
	    listen(g->listener, LISTEN_BACKLOG))
		return -errno;
	len = sizeof(sock);
	if (getsockname(g->listener, &sock.sa, &len))
		return -errno;
	addr_from_sock(&sock, &ip, &g->own.port);
	return 0;
}

/* --- to ranks of lower number */

static int reach(struct meeting *g, uint32_t rank)
{
	struct boot_conn *c = &g->m->conn[rank];
	struct proof p = {.rank = g->m->conf.rank};
	const struct card *to = g->cards[rank];
	int fd = -1, err = boot_dial(&to->ip, to->port, g->end_ms, &fd);

	if (err)
		return err;
	boot_conn_init(c, fd);
	c->rank = rank;
	make_keys(g, g->m->conf.rank, rank, &c->keys);
	memcpy(p.proof, c->keys.proof_rank, sizeof(p.proof));
	err = boot_conn_say(c, BOOT_PROOF, &p, sizeof(p));
	if (err)
		return err;
	boot_conn_secure(c, false, TRIB_MESH_BODY_MAX);
	/* An empty socket has room for it. */
	return boot_conn_flush(c) == 1 ? 0 : -ECONNRESET;
}

/* --- from those of higher number */

static void welcome(struct meeting *g, struct boot_conn *c, const struct boot_msg *msg)
{
	struct trib_mesh *m = g->m;
	struct proof p;

	if (msg->type != BOOT_PROOF || msg->len != sizeof(p))
		return;
	memcpy(&p, msg->body, sizeof(p));
	if (p.rank <= m->conf.rank || p.rank >= m->conf.world || m->conn[p.rank].fd >= 0)
		return;
	make_keys(g, p.rank, m->conf.rank, &c->keys);
	if (!boot_equal(p.proof, c->keys.proof_rank, 2))
		return;
	c->rank = p.rank;
	boot_conn_secure(c, true, TRIB_MESH_BODY_MAX);
	boot_conn_move(&m->conn[p.rank], c);
}

static void hear(struct meeting *g, struct boot_conn *c)
{
	struct boot_msg msg;
	int n = boot_conn_read(c, &msg);

	if (n == 1)
		welcome(g, c, &msg);
	if (n)
		boot_conn_end(c);
}

/* A place for a new connection: a free one, else the oldest's. */
static struct boot_conn *pending_place(struct meeting *g)
{
	struct boot_conn *oldest = &g->pending[0];
	unsigned int i;

	for (i = 0; i < BOOT_PENDING_MAX; i++) {
		if (g->pending[i].fd < 0)
			return &g->pending[i];
		if (g->pending[i].heard < oldest->heard)
			oldest = &g->pending[i];
	}
	boot_conn_end(oldest);
	return oldest;
}

static void accept_one(struct meeting *g)
{
	int fd = accept4(g->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		boot_conn_init(pending_place(g), fd);
}

static bool all_here(const struct trib_mesh *m)
{
	uint32_t i;

	for (i = 0; i < m->conf.world; i++)
		if (i != m->conf.rank && m->conn[i].fd < 0)
			return false;
	return true;
}

static int await_higher(struct meeting *g)
{
	unsigned int i;
	uint64_t now;

	while (!all_here(g->m)) {
		now = clock_ms();
		if (now >= g->end_ms)
			return -ETIMEDOUT;
		g->fds[BOOT_PENDING_MAX] = (struct pollfd){g->listener, POLLIN, 0};
		for (i = 0; i < BOOT_PENDING_MAX; i++)
			g->fds[i] = (struct pollfd){g->pending[i].fd, POLLIN, 0};
		poll(g->fds, BOOT_PENDING_MAX + 1, (int)(g->end_ms - now));
		for (i = 0; i < BOOT_PENDING_MAX; i++)
			if (g->pending[i].fd >= 0 && g->fds[i].revents)
				hear(g, &g->pending[i]);
		if (g->fds[BOOT_PENDING_MAX].revents)
			accept_one(g);
	}
	return 0;
}

static int connect_all(struct meeting *g, struct trib_peer_error *e)
{
	uint32_t i;
	int err;

	for (i = 0; i < g->m->conf.rank; i++) {
		err = reach(g, i);
		if (err)
			return fail(e, err, (int)i, "cannot reach another rank");
	}
	err = await_higher(g);
	return err ? fail(e, err, -1, "a rank does not reach this one") : 0;
}

/* --- the meeting */

static int swap_cards(struct meeting *g, struct trib_peer_error *e)
{
	size_t *lens = calloc(g->m->conf.world, sizeof(*lens));
	uint32_t i;
	int err;

	if (!lens)
		return fail(e, -ENOMEM, -1, "mesh");
	err = peer_boot_swap(g->boot, &g->own, sizeof(g->own), g->cards, lens, e);
	for (i = 0; !err && i < g->m->conf.world; i++)
		if (lens[i] != sizeof(struct card))
			err = fail(e, -EPROTO, (int)i, "its address is none");
	free(lens);
	return err;
}

/* Wait for the others: nobody goes on if some are not connected. */
static int swap_nothing(struct meeting *g, struct trib_peer_error *e)
{
	const void **all = calloc(g->m->conf.world, sizeof(*all));
	size_t *lens = calloc(g->m->conf.world, sizeof(*lens));
	int err = -ENOMEM;

	if (all && lens)
		err = peer_boot_swap(g->boot, NULL, 0, all, lens, e);
	else
		fail(e, err, -1, "mesh");
	if (all)
		peer_boot_swap_free(all);
	free(all);
	free(lens);
	return err;
}

static int meet(struct meeting *g, struct trib_peer_error *e)
{
	const struct trib_mesh_conf *c = &g->m->conf;
	struct peer_boot_conf conf = {
		.rank = c->rank,
		.world = c->world,
		.job = c->job,
		.address = c->address,
		.key = c->key,
		.join_timeout_ms = c->join_timeout_ms,
		.timeout_ms = c->timeout_ms,
	};
	int err = peer_boot_open(&g->boot, &conf, e);

	if (err)
		return err;
	err = own_address(g);
	if (!err)
		err = listen_any(g);
	if (!err)
		err = boot_nonce(g->own.nonce);
	if (err)
		return fail(e, err, -1, "cannot listen for other ranks");
	err = swap_cards(g, e);
	if (!err)
		err = connect_all(g, e);
	return err ? err : swap_nothing(g, e);
}

static int prepare(struct trib_mesh *m)
{
	uint32_t i;

	m->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	m->conn = calloc(m->conf.world, sizeof(*m->conn));
	m->fds = calloc(m->conf.world + 1, sizeof(*m->fds));
	for (i = 0; m->conn && i < m->conf.world; i++)
		boot_conn_init(&m->conn[i], -1);
	return m->wake < 0 || !m->conn || !m->fds ? -ENOMEM : 0;
}

static void disperse(struct meeting *g, int err, const struct trib_peer_error *e)
{
	unsigned int i;

	if (g->boot && err)
		peer_boot_tell(g->boot, (int)g->m->conf.rank, e->text);
	if (g->boot)
		peer_boot_close(g->boot, 1);
	for (i = 0; i < BOOT_PENDING_MAX; i++)
		boot_conn_end(&g->pending[i]);
	if (g->listener >= 0)
		close(g->listener);
	if (g->cards)
		peer_boot_swap_free(g->cards);
	free(g->cards);
	free(g);
}

int trib_mesh_meet(struct trib_mesh *m, const struct trib_mesh_conf *conf,
		   struct trib_peer_error *e)
{
	struct meeting *g = calloc(1, sizeof(*g));
	unsigned int i;
	int err;

	memset(m, 0, sizeof(*m));
	m->conf = *conf;
	err = prepare(m);
	if (err || !g) {
		free(g);
		return fail(e, -ENOMEM, -1, "mesh");
	}
	g->m = m;
	g->listener = -1;
	g->end_ms = clock_ms() + conf->join_timeout_ms;
	for (i = 0; i < BOOT_PENDING_MAX; i++)
		boot_conn_init(&g->pending[i], -1);
	g->cards = calloc(conf->world, sizeof(*g->cards));
	err = g->cards ? meet(g, e) : fail(e, -ENOMEM, -1, "mesh");
	disperse(g, err, e);
	return err;
}
