/* SPDX-License-Identifier: BSD-2-Clause */
/* One node of base/session.c by itself: its calls are recorded. */
#ifndef TEST_SESSION_NODE_H
#define TEST_SESSION_NODE_H

#include <errno.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "base/session.h"

#define INSTANCE 0xabcdef
static const struct session_random RANDOM = {INSTANCE, {"a seed"}};
#define N(instance, count) trib_nonce(instance, count)

enum what { SAVE, START, ABORT, UP };

struct call {
	enum what what;
	int child;
	unsigned int state; /* START; UP: the type */
	uint64_t nonce;
	uint32_t epoch;
	unsigned int why;
	uint16_t rank;
	uint16_t port;
	uint16_t len;
	struct session_view view;
};

static struct call calls[1024];
static unsigned int ncalls;
static struct session S;
static int stuck_child;
static uint32_t stuck_chunk;

static struct call *note(enum what what, int child)
{
	struct call *c = &calls[ncalls < 1023 ? ncalls++ : ncalls];

	memset(c, 0, sizeof(*c));
	c->what = what;
	c->child = child;
	return c;
}

/* The disk of the node: full, or it has a newest epoch. */
static bool disk_full;
static uint32_t disk_epoch;

static int on_keep(struct session *s, uint32_t epoch)
{
	(void)s;
	if (epoch <= disk_epoch)
		return 0;
	if (disk_full)
		return -ENOSPC;
	disk_epoch = epoch;
	return 0;
}

static void on_save(struct session *s)
{
	note(SAVE, 0)->epoch = s->epoch;
}

static void on_start(struct session *s, unsigned int child, unsigned int state,
		     const struct session_view *view)
{
	struct call *c = note(START, (int)child);

	c->state = state;
	c->nonce = s->child[child].nonce;
	c->port = s->child[child].port;
	c->len = s->child[child].len;
	c->epoch = s->epoch;
	c->view = *view;
}

static void on_abort(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		     uint16_t rank)
{
	struct call *c = note(ABORT, child);

	(void)s;
	c->epoch = epoch;
	c->why = why;
	c->rank = rank;
}

static void on_up(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank)
{
	struct call *c = note(UP, 0);

	c->rank = rank;
	c->state = type;
	c->nonce = nonce;
	c->epoch = s->last_epoch;
}

static int on_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	(void)s;
	*chunk = stuck_chunk;
	return stuck_child >= 0 && missing & 1ULL << stuck_child ? stuck_child : -1;
}

static const struct session_ops ops = {on_keep, on_save, on_start, on_abort, on_up, on_stuck};

static inline void fresh(enum session_kind kind, unsigned int nchild)
{
	uint16_t rank[TRIB_CHILDREN_MAX];
	unsigned int i;

	for (i = 0; i < TRIB_CHILDREN_MAX; i++)
		rank[i] = (uint16_t)(10 + i);
	stuck_child = -1;
	ncalls = 0;
	disk_full = false;
	disk_epoch = 0;
	session_init(&S, &ops, NULL, kind, nchild, rank, &RANDOM);
}

/* Two children: a worker of rank 10, and a relay. */
static inline void fresh_with_relay(enum session_kind kind)
{
	static const uint16_t rank[] = {10, SESSION_RANK_RELAY};

	fresh(kind, 2);
	session_init(&S, &ops, NULL, kind, 2, rank, &RANDOM);
}

static inline void join(unsigned int child, uint64_t nonce, uint64_t now)
{
	struct session_join j = {
		.nonce = nonce, .token = S.token, .len = 1448, .port = (uint16_t)(5000 + child)};

	session_join(&S, child, &j, now);
}

static inline void leave_for(unsigned int child, uint64_t nonce, uint16_t rank, uint64_t now)
{
	struct session_join j = {
		.nonce = nonce, .len = 1448, .port = (uint16_t)(5000 + child), .rank = rank};

	session_leave(&S, child, &j, now);
}

static inline void leave(unsigned int child, uint64_t nonce, uint64_t now)
{
	leave_for(child, nonce, SESSION_RANK_RELAY, now);
}

static inline unsigned int count(enum what what)
{
	unsigned int i, n = 0;

	for (i = 0; i < ncalls; i++)
		n += calls[i].what == what;
	return n;
}

static inline const struct call *last(enum what what)
{
	static const struct call none;
	unsigned int i;

	for (i = ncalls; i > 0; i--)
		if (calls[i - 1].what == what)
			return &calls[i - 1];
	return &none;
}

/* Three children run epoch 1 with nonces 101, 102, 103. */
static inline void running(enum session_kind kind)
{
	struct session_start m = {.epoch = 1, .state = TRIB_START_RUN};

	fresh(kind, 3);
	join(0, 101, 1000);
	join(1, 102, 1000);
	join(2, 103, 1000);
	if (kind == SESSION_INNER) {
		m.nonce = S.up_nonce;
		session_start(&S, &m, 1000);
	}
	ncalls = 0;
}

#endif /* TEST_SESSION_NODE_H */
