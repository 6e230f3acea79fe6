// SPDX-License-Identifier: BSD-2-Clause
/* Rank 0 meets the others: listens, lets them prove the key, says who is missing. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "peer/boot/boot_priv.h"

#define NEWS_MS 200    /* between two WAITs */
#define ACCEPTS_MAX 32 /* at once */
#define GOODBYE_MS 200 /* for a last message to leave */

/**
 * struct join - state of the meeting
 * @pending:   connections that have not proved the key.
 * @fds:       listener, pending ones, connections of ranks.
 * @there:     a byte a rank.
 * @strangers: connections whose proof was wrong.
 */
struct join {
	struct peer_boot *b;
	int listener;
	struct boot_conn pending[BOOT_PENDING_MAX];
	struct pollfd *fds;
	uint8_t *there;
	uint32_t have, strangers;
	uint64_t end, news;
};

static int join_listen(struct join *j, struct trib_peer_error *e)
{
	const char *address = j->b->conf.address;
	union addr_sock sock;
	struct in6_addr ip;
	uint16_t port = 0;
	int family, one = 1;
	socklen_t len;

	addr_parse_port(address, &ip, &port);
	family = addr_is_v4(&ip) ? AF_INET : AF_INET6;
	len = addr_to_sock(family, &ip, port, &sock);
	j->listener = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (j->listener < 0)
		return peer_error(e, TRIB_PEER_SYSTEM, -errno, -1, "socket: %s", strerror(errno));
	setsockopt(j->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(j->listener, &sock.sa, len) || listen(j->listener, 1024))
		return peer_error(e, TRIB_PEER_SYSTEM, -errno, -1, "cannot listen at %s: %s",
				  address, strerror(errno));
	return 0;
}

/* A place for a new connection: a free one, else the oldest's. */
static struct boot_conn *pending_place(struct join *j)
{
	struct boot_conn *oldest = &j->pending[0];
	unsigned int i;

	for (i = 0; i < BOOT_PENDING_MAX; i++) {
		if (j->pending[i].fd < 0)
			return &j->pending[i];
		if (j->pending[i].end < oldest->end)
			oldest = &j->pending[i];
	}
	boot_conn_end(oldest);
	return oldest;
}

static void join_accept(struct join *j)
{
	struct boot_conn *c;
	unsigned int i;
	int fd;

	for (i = 0; i < ACCEPTS_MAX; i++) {
		fd = accept4(j->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		c = pending_place(j);
		boot_conn_init(c, fd);
		c->end = clock_ms() + BOOT_HANDSHAKE_MS;
	}
}

/* HELLO came: answer with the proof. Return: 0 or -errno. */
static int pending_hello(struct join *j, struct boot_conn *c, const struct boot_msg *m)
{
	struct boot_proof p;
	int err;

	if (m->len != sizeof(c->hello) || c->has_hello)
		return -EPROTO;
	memcpy(&c->hello, m->body, sizeof(c->hello));
	if (c->hello.magic != BOOT_MAGIC)
		return -EPROTO;
	c->has_hello = true;
	err = boot_nonce(p.nonce);
	if (err)
		return err;
	boot_keys_make(&c->keys, &j->b->conf.key, &c->hello, p.nonce);
	memcpy(p.proof, c->keys.proof_root, sizeof(p.proof));
	return boot_conn_say(c, BOOT_CHALLENGE, &p, sizeof(p));
}

/* A rank of this key wants in. Return: NULL, or why it cannot. */
static const char *rank_wrong(const struct join *j, const struct boot_hello *h)
{
	if (h->job != j->b->conf.job)
		return "is of another job";
	if (h->world != j->b->conf.world)
		return "counts other ranks than rank 0";
	if (!h->rank || h->rank >= j->b->conf.world)
		return "is not a rank of this job";
	if (j->there[h->rank])
		return "is here already";
	return NULL;
}

/* PROOF came. Return: 0: it is a rank now, or -errno: refused. */
static int pending_proof(struct join *j, struct boot_conn *c, const struct boot_msg *m)
{
	struct boot_proof p;
	char text[BOOT_TEXT_MAX];
	const char *wrong;

	if (m->len != sizeof(p) || !c->has_hello)
		return -EPROTO;
	memcpy(&p, m->body, sizeof(p));
	if (!boot_equal(p.proof, c->keys.proof_rank, 2)) {
		j->strangers++;
		return -EACCES;
	}
	boot_conn_secure(c, true, sizeof(uint32_t) + PEER_BOOT_BLOB_MAX);
	wrong = rank_wrong(j, &c->hello);
	if (wrong) {
		snprintf(text, sizeof(text), "rank %u %s", c->hello.rank, wrong);
		boot_conn_fault(c, BOOT_REFUSE, TRIB_PEER_ARGUMENT, -1, text);
		boot_conn_flush(c);
		return -EINVAL;
	}
	c->rank = c->hello.rank;
	j->there[c->rank] = 1;
	boot_conn_move(&j->b->conns[c->rank - 1], c);
	j->have++;
	j->news = 0;
	return 0;
}

/* Read what one of them says. */
static void pending_read(struct join *j, struct boot_conn *c, uint64_t now)
{
	struct boot_msg m;
	int n = boot_conn_read(c, &m);

	if (n == 1 && m.type == BOOT_HELLO)
		n = pending_hello(j, c, &m);
	else if (n == 1 && m.type == BOOT_PROOF)
		n = pending_proof(j, c, &m);
	else if (n == 1)
		n = -EPROTO;
	if (n >= 0 && c->fd >= 0)
		n = boot_conn_flush(c);
	if (n < 0 || now > c->end)
		boot_conn_end(c);
}

/* Read from a rank that is here: it says nothing yet, but it may go. */
static void rank_read(struct join *j, struct boot_conn *c)
{
	struct boot_msg m;
	int n = boot_conn_read(c, &m);

	if (!n)
		return;
	j->there[c->rank] = 0;
	j->have--;
	j->news = 0;
	boot_conn_end(c);
}

/* Tell all who is missing. */
static void join_news(struct join *j, uint64_t now)
{
	struct peer_boot *b = j->b;
	char text[BOOT_TEXT_MAX];
	uint32_t i, first;

	if (now < j->news)
		return;
	j->news = now + NEWS_MS;
	boot_ranks_text(j->there, b->conf.world, text, sizeof(text), &first);
	for (i = 0; i < b->nconn; i++) {
		if (b->conns[i].fd < 0)
			continue;
		boot_conn_say(&b->conns[i], BOOT_WAIT, text, strlen(text));
		boot_conn_flush(&b->conns[i]);
	}
}

/* Wait for events and take them. */
static void join_step(struct join *j)
{
	struct peer_boot *b = j->b;
	struct pollfd *ranks = j->fds + 1 + BOOT_PENDING_MAX;
	uint64_t now = clock_ms();
	uint32_t i;
	int wait = j->news > now ? (int)(j->news - now) : 0;

	j->fds[0] = (struct pollfd){.fd = j->listener, .events = POLLIN};
	for (i = 0; i < BOOT_PENDING_MAX; i++)
		j->fds[1 + i] = (struct pollfd){.fd = j->pending[i].fd, .events = POLLIN};
	for (i = 0; i < b->nconn; i++)
		ranks[i] = (struct pollfd){.fd = b->conns[i].fd, .events = POLLIN};
	if (poll(j->fds, 1 + BOOT_PENDING_MAX + b->nconn, wait) < 0)
		return;
	now = clock_ms();
	/* Ranks first: one that comes anew takes the place of one that went. */
	for (i = 0; i < b->nconn; i++)
		if (ranks[i].revents)
			rank_read(j, &b->conns[i]);
	for (i = 0; i < BOOT_PENDING_MAX; i++)
		if (j->pending[i].fd >= 0 && (j->fds[1 + i].revents || now > j->pending[i].end))
			pending_read(j, &j->pending[i], now);
	if (j->fds[0].revents)
		join_accept(j);
	join_news(j, now);
}

/* The time is over. Tell those who came, too. */
static int join_missing(struct join *j, struct trib_peer_error *e)
{
	struct peer_boot *b = j->b;
	char ranks[BOOT_TEXT_MAX / 2], strangers[48] = "";
	uint32_t first = 0, i, n;
	uint64_t end = clock_ms() + GOODBYE_MS;

	n = boot_ranks_text(j->there, b->conf.world, ranks, sizeof(ranks), &first);
	if (j->strangers)
		snprintf(strangers, sizeof(strangers), "; %u came with another key", j->strangers);
	peer_error(e, TRIB_PEER_MISSING, -ETIMEDOUT, (int)first,
		   "rank%s %s did not come in %u ms%s", n == 1 ? "" : "s", ranks,
		   b->conf.join_timeout_ms, strangers);
	for (i = 0; i < b->nconn; i++) {
		if (b->conns[i].fd < 0)
			continue;
		boot_conn_fault(&b->conns[i], BOOT_FAULT, e->code, e->rank, e->text);
		while (!boot_conn_flush(&b->conns[i]) && clock_ms() < end)
			poll(NULL, 0, 1);
	}
	return e->err;
}

static int join_all(struct join *j, struct trib_peer_error *e)
{
	struct peer_boot *b = j->b;
	uint32_t i;
	int err = join_listen(j, e);

	if (err)
		return err;
	while (j->have < b->conf.world) {
		if (clock_ms() > j->end)
			return join_missing(j, e);
		join_step(j);
	}
	for (i = 0; i < b->nconn; i++) {
		boot_conn_say(&b->conns[i], BOOT_START, NULL, 0);
		boot_conn_flush(&b->conns[i]);
	}
	return 0;
}

int boot_join_root(struct peer_boot *b, struct trib_peer_error *e)
{
	struct join j = {.b = b, .listener = -1, .have = 1};
	uint32_t i;
	int err;

	for (i = 0; i < BOOT_PENDING_MAX; i++)
		boot_conn_init(&j.pending[i], -1);
	j.end = clock_ms() + b->conf.join_timeout_ms;
	j.there = calloc(b->conf.world, 1);
	j.fds = calloc(1 + BOOT_PENDING_MAX + b->nconn, sizeof(*j.fds));
	if (j.there && j.fds) {
		j.there[0] = 1;
		err = join_all(&j, e);
	} else {
		err = peer_error(e, TRIB_PEER_SYSTEM, -ENOMEM, -1, "no memory");
	}
	for (i = 0; i < BOOT_PENDING_MAX; i++)
		boot_conn_end(&j.pending[i]);
	if (j.listener >= 0)
		close(j.listener);
	free(j.there);
	free(j.fds);
	return err;
}
