/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node of session/join.c: replaces the parts of tribd that it and join_out.c call,
 * and records the calls. Packets in are signed as their senders do.
 */
#ifndef TEST_JOIN_NODE_H
#define TEST_JOIN_NODE_H

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "daemon/tree/secret.h"
#include "daemon/session/join.h"

#define NVAL TRIB_NVAL_SMALL
#define FULL (sizeof(struct trib_hdr) + NVAL * 4)

static int save_fails; /* -errno of a full disk */
enum step { STEP_ROW = 1, STEP_STATE, STEP_SEND };

struct sent {
	const struct face *via;
	uint16_t port;
	size_t len;
	struct join_packet p;
};

static struct tribd D;
static struct job J;
static struct tree T;
static struct face F[4]; /* children 0 and 1, the parent, a stranger */
static struct sent sent[64];
static unsigned int nsent;
static enum step step[256];
static unsigned int nstep;
static uint64_t clock_ns;
static struct trib_slot slot;

/* --- tribd, as join.c sees it */

void log_line(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	(void)d;
	t->at_ns = clock_ns + ms * 1000000ULL;
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	t->at_ns = 0;
}

uint64_t loop_now(void)
{
	return clock_ns;
}

struct tree *tree_find(struct tribd *d, uint16_t id)
{
	(void)d;
	return id == T.id ? &T : NULL;
}

int tree_row_store(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
	step[nstep++ % 256] = STEP_ROW;
	return 0;
}

int hooks_save(struct tribd *d, struct reason *why)
{
	(void)d;
	(void)why;
	step[nstep++ % 256] = STEP_STATE;
	return save_fails;
}

int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to, uint16_t port,
	     const void *data, size_t len)
{
	struct sent *s = &sent[nsent++ % 64];

	(void)d;
	expect(!to && len <= sizeof(s->p));
	step[nstep++ % 256] = STEP_SEND;
	s->via = via;
	s->port = port;
	s->len = len;
	memcpy(&s->p, data, len);
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)fd;
	if (*(const uint32_t *)key != 5)
		memset(value, 0, sizeof(slot));
	else
		memcpy(value, &slot, sizeof(slot));
	return 0;
}

/* --- helpers */

static void setup(bool parent)
{
	unsigned int i;

	if (T.dedicated.join)
		join_exit(&D);
	memset(&T, 0, sizeof(T));
	memset(&D, 0, sizeof(D));
	memset(&slot, 0, sizeof(slot));
	nsent = nstep = 0;
	save_fails = 0;
	clock_ns = 1000000000000ULL;
	TAILQ_INIT(&D.trees);
	TAILQ_INIT(&D.faces);
	D.config.nval = NVAL;
	J = (struct job){.id = 7, .world = 2, .window = 4, .timeout_ms = 5000};
	for (i = 0; i < 4; i++) {
		memset(&F[i], 0, sizeof(F[i]));
		F[i].l3_ifindex = 10 + i;
		F[i].addr.s6_addr[15] = (uint8_t)(1 + i);
		F[i].udp_port = i == 2 ? TRIB_UDP_PORT : 7418;
		TAILQ_INSERT_TAIL(&D.faces, &F[i], link);
	}
	T.id = 3;
	T.job = &J;
	T.nchild = 2;
	T.child[0] = (struct child){&F[0], 0};
	T.child[1] = (struct child){&F[1], parent ? RANK_NONE : 1};
	T.parent = parent ? &F[2] : NULL;
	T.up_child = 9;
	T.dedicated.slots = 8;
	TAILQ_INSERT_TAIL(&D.trees, &T, link);
}

static void start(bool parent)
{
	setup(parent);
	expect_eq(join_tree_added(&D, &T, false), 0);
}

struct in {
	struct join_packet p;
	struct udp_packet up;
};

/* Make a correct datagram of @type from child 0. */
static struct in *packet(uint8_t type, uint64_t nonce)
{
	static struct in in;

	memset(&in, 0, sizeof(in));
	in.p.h.version = TRIB_WIRE_VERSION;
	in.p.h.type = type;
	in.p.h.flags = type == TRIB_T_START ? 0 : TRIB_F_UP;
	in.p.h.job = htons(7);
	in.p.h.tree = htons(3);
	in.p.h.nval = htons(NVAL);
	in.p.u.join.nonce = htobe64(nonce);
	if (type == TRIB_T_JOIN)
		in.p.u.join.token = htobe64(T.dedicated.join->s.token);
	in.up.data = &in.p;
	in.up.len = FULL;
	in.up.src = F[0].addr;
	in.up.ifindex = F[0].l3_ifindex;
	in.up.sport = 40000;
	return &in;
}

static void from(struct in *in, unsigned int child, uint32_t rank)
{
	in->p.h.child = htons((uint16_t)child);
	in->p.u.join.rank = htonl(rank);
	in->up.src = F[child].addr;
	in->up.ifindex = F[child].l3_ifindex;
	in->up.sport = (uint16_t)(40000 + child);
}

/* The key that its sender, or for START its receiver, has. */
static struct trib_key key_of(const struct in *in)
{
	uint32_t rank = ntohl(in->p.u.join.rank);
	struct secret secret;

	if (in->p.h.type == TRIB_T_START)
		secret_up(&T, RANK_NONE, &F[2].local, &secret);
	else
		secret_up(&T, rank < J.world ? (uint16_t)rank : RANK_NONE, &in->up.src, &secret);
	return secret.key;
}

static void give(struct in *in)
{
	struct trib_key key = key_of(in);

	if (in->up.len >= sizeof(in->p.h) && in->up.len <= sizeof(in->p))
		in->p.h.auth = trib_auth(&key, &in->p.h, &in->p.u,
					 (uint32_t)(in->up.len - sizeof(in->p.h)));
	join_packet(&D, &in->up);
}

static void join_as(unsigned int child, uint32_t rank, uint64_t nonce)
{
	struct in *in = packet(TRIB_T_JOIN, nonce);

	from(in, child, rank);
	give(in);
}

/* Did the node sign it for the worker @rank? */
static bool is_signed(const struct sent *s, uint16_t rank)
{
	struct secret secret;

	secret_up(&T, rank, NULL, &secret);
	return s->p.h.auth ==
	       trib_auth(&secret.key, &s->p.h, &s->p.u, (uint32_t)(s->len - sizeof(s->p.h)));
}

static const struct trib_start *last_start(void)
{
	static const struct trib_start none;

	return nsent && sent[nsent - 1].p.h.type == TRIB_T_START ? &sent[nsent - 1].p.u.start
								 : &none;
}

static void later(unsigned int ms)
{
	struct joining *j = T.dedicated.join;
	uint64_t end = clock_ns + ms * 1000000ULL;

	while (j->timer.at_ns && j->timer.at_ns <= end) {
		clock_ns = j->timer.at_ns;
		j->timer.at_ns = 0;
		j->timer.fn(&D, &j->timer);
	}
	clock_ns = end;
}

#endif /* TEST_JOIN_NODE_H */
