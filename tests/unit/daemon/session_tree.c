// SPDX-License-Identifier: BSD-2-Clause
/*
 * session.c in whole trees: nodes and workers exchange messages that are lost,
 * duplicated and reordered; workers restart; tribd is killed between any two of
 * its steps and continues from what the maps and the state file hold. Disks are
 * full at times.
 *
 * At all times: epochs are on disk before they run, and only grow, at every node
 * and for every worker, and no worker is in one epoch with two nonces (after a
 * restart it would send chunk 0 again, and sums would be wrong). At the end all
 * run the same epoch.
 */
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include "tests/lib/tap.h"
#include "base/session.h"

#define NODES 96
#define TRAFFIC 65536
#define CHAOS 20000 /* ms of restarts */
#define CALM 40000  /* ms in which the tree must then come to rest */

enum kind { M_JOIN, M_LEAVE, M_START, M_ABORT_UP, M_ABORT_DOWN };

struct msg {
	uint64_t at;
	int to;
	unsigned int child; /* up: index at the receiver */
	enum kind kind;
	unsigned int state;
	uint64_t token;
	uint64_t nonce;
	uint32_t epoch;
};

/* State that outlives a tribd: the row of `trees`, and the state file. */
struct disk {
	uint32_t epoch;
	uint64_t up_nonce;
	uint64_t nonce[TRIB_CHILDREN_MAX];
	uint32_t last_epoch;
};

struct node {
	int parent;
	unsigned int index;
	unsigned int nchild;
	int child[TRIB_CHILDREN_MAX];
	/* relay */
	struct session s;
	struct disk disk;
	uint32_t newest; /* largest disk.epoch ever */
	uint64_t tick_at;
	uint64_t up_at;	     /* tribd is down until this time; 0: it is up */
	int crash_after;     /* steps until the crash; -1: none */
	uint64_t full_until; /* its disk has no room */
	/* worker: nchild == 0 */
	uint32_t instance;
	uint32_t joins;
	uint64_t token;
	uint64_t nonce;
	uint32_t epoch;
	uint32_t last_epoch;
	uint64_t join_at; /* next JOIN; 0: none */
	uint64_t bad_since;
};

static struct node node[NODES];
static int nnodes;
static struct msg heap[TRAFFIC];
static int nheap;
static uint64_t now;
static uint64_t rng;
static unsigned int loss, dup; /* per 1000 */
static jmp_buf crashed;
static int violations;

/* The children of an epoch, by nonce. */
static uint64_t member[NODES][4096];

static uint32_t rnd(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)((rng * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

static void violated(const char *what, int n)
{
	if (violations++ < 5)
		printf("# t=%llu node %d: %s\n", (unsigned long long)now, n, what);
}

static void heap_push(const struct msg *m)
{
	int i = nheap++;

	if (nheap == TRAFFIC) {
		violated("too much traffic", m->to);
		nheap--;
		return;
	}
	for (; i && heap[(i - 1) / 2].at > m->at; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = *m;
}

static struct msg heap_pop(void)
{
	struct msg top = heap[0], m = heap[--nheap];
	int i = 0, c;

	while ((c = 2 * i + 1) < nheap) {
		if (c + 1 < nheap && heap[c + 1].at < heap[c].at)
			c++;
		if (m.at <= heap[c].at)
			break;
		heap[i] = heap[c];
		i = c;
	}
	heap[i] = m;
	return top;
}

static void put(struct msg m)
{
	int copies = 1 + (rnd(1000) < dup);

	if (m.to < 0)
		return;
	while (copies--) {
		if (rnd(1000) < loss)
			continue;
		m.at = now + 1 + rnd(12);
		if (rnd(100) < 2)
			m.at += rnd(1500);
		heap_push(&m);
	}
}

/* --- outputs of a node */

static void step(struct node *n)
{
	if (n->crash_after < 0 || n->crash_after--)
		return;
	n->up_at = now + 20 + rnd(600);
	longjmp(crashed, 1);
}

static int on_keep(struct session *s, uint32_t epoch)
{
	struct node *n = s->ctx;

	if (epoch <= n->disk.last_epoch)
		return 0;
	step(n);
	if (now < n->full_until)
		return -ENOSPC;
	n->disk.last_epoch = epoch;
	step(n);
	return 0;
}

static void on_save(struct session *s)
{
	struct node *n = s->ctx;
	unsigned int i;

	step(n);
	if (s->epoch > n->disk.last_epoch)
		violated("runs an epoch that is not on disk", (int)(n - node));
	n->disk.epoch = s->epoch;
	n->disk.up_nonce = s->up_nonce;
	for (i = 0; i < s->nchild; i++)
		n->disk.nonce[i] = s->child[i].nonce;
	if (s->epoch && s->epoch != n->newest) {
		if (s->epoch < n->newest)
			violated("epoch shrank", (int)(n - node));
		n->newest = s->epoch;
	}
	step(n);
}

static void on_start(struct session *s, unsigned int child, unsigned int state,
		     const struct session_view *view)
{
	struct node *n = s->ctx;

	(void)view;
	step(n);
	put((struct msg){.to = n->child[child],
			 .kind = M_START,
			 .state = state,
			 .token = s->token,
			 .nonce = s->child[child].nonce,
			 .epoch = s->epoch});
}

static void on_abort(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		     uint16_t rank)
{
	struct node *n = s->ctx;
	bool up = child == SESSION_UP;

	(void)why;
	(void)rank;
	step(n);
	put((struct msg){.to = up ? n->parent : n->child[child],
			 .kind = up ? M_ABORT_UP : M_ABORT_DOWN,
			 .epoch = epoch});
}

static void on_up(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank)
{
	struct node *n = s->ctx;

	(void)rank;
	if (type == TRIB_T_JOIN && on_keep(s, s->last_epoch + 1))
		return;
	step(n);
	put((struct msg){.to = n->parent,
			 .child = n->index,
			 .kind = type == TRIB_T_JOIN ? M_JOIN : M_LEAVE,
			 .token = s->up_token,
			 .nonce = nonce,
			 .epoch = s->last_epoch});
}

static int on_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	(void)s;
	(void)missing;
	(void)chunk;
	return -1;
}

static const struct session_ops ops = {on_keep, on_save, on_start, on_abort, on_up, on_stuck};

/* Start tribd with the state on disk. */
static void boot(struct node *n)
{
	struct session_random random = {.instance = 1 + rnd(1 << 30)};
	uint16_t rank[TRIB_CHILDREN_MAX] = {0};
	unsigned int i;

	n->up_at = 0;
	n->crash_after = -1;
	random.seed.b[0] = (uint8_t)rnd(256);
	session_init(&n->s, &ops, n, n->parent < 0 ? SESSION_ROOT : SESSION_INNER, n->nchild, rank,
		     &random);
	n->s.last_epoch = n->disk.last_epoch;
	n->s.epoch = n->disk.epoch;
	for (i = 0; n->s.epoch && i < n->nchild; i++)
		n->s.child[i].nonce = n->s.child[i].known = n->disk.nonce[i];
	if (n->s.epoch)
		n->s.up_nonce = n->disk.up_nonce;
	n->tick_at = now + 1;
}

/* XDP handles an ABORT like this, whether tribd runs or not. */
static void relay_abort(struct node *n, const struct msg *m)
{
	struct msg out = *m;
	unsigned int i;

	if (!n->disk.epoch || m->epoch != n->disk.epoch)
		return;
	if (m->kind == M_ABORT_UP && n->parent >= 0) {
		out.to = n->parent;
		put(out);
		return;
	}
	out.kind = M_ABORT_DOWN;
	for (i = 0; i < n->nchild; i++) {
		out.to = n->child[i];
		put(out);
	}
}

static void relay_packet(struct node *n, const struct msg *m)
{
	struct session_join j = {
		.nonce = m->nonce, .token = m->token, .epoch = m->epoch, .len = 1448, .port = 1};
	struct session_start st = {.nonce = m->nonce,
				   .token = m->token,
				   .epoch = m->epoch,
				   .state = (uint16_t)m->state};

	if (m->kind == M_ABORT_UP || m->kind == M_ABORT_DOWN) {
		relay_abort(n, m);
		return;
	}
	if (n->up_at)
		return;
	if (m->kind == M_JOIN)
		session_join(&n->s, m->child, &j, now);
	else if (m->kind == M_LEAVE)
		session_leave(&n->s, m->child, &j, now);
	else
		session_start(&n->s, &st, now);
	n->tick_at = now;
}

/* --- workers */

static bool is_worker(const struct node *n)
{
	return !n->nchild;
}

/* @forgets: a new process, which knows nothing of the old one. */
static void worker_restart(struct node *n, bool politely, bool forgets)
{
	if (politely && n->nonce)
		put((struct msg){
			.to = n->parent, .child = n->index, .kind = M_LEAVE, .nonce = n->nonce});
	n->epoch = 0;
	n->bad_since = 0;
	if (forgets) {
		n->last_epoch = 0;
		n->instance = 1 + rnd(1 << 30);
		n->joins = 0;
	}
	n->nonce = trib_nonce(n->instance, ++n->joins);
	n->join_at = now + 1 + rnd(300);
}

static void worker_packet(struct node *n, const struct msg *m)
{
	int w = (int)(n - node);

	if (m->kind == M_ABORT_DOWN && n->epoch && m->epoch == n->epoch) {
		worker_restart(n, rnd(2), false);
	} else if (m->kind == M_START && m->state == TRIB_START_RUN && !n->epoch &&
		   m->nonce == n->nonce) {
		if (m->epoch <= n->last_epoch || !m->epoch)
			violated("worker told of an old epoch", w);
		n->epoch = n->last_epoch = m->epoch;
		n->join_at = 0;
		if (m->epoch >= 4096)
			violated("far too many epochs", w);
		else if (member[w][m->epoch] && member[w][m->epoch] != n->nonce)
			violated("twice in one epoch", w);
		else
			member[w][m->epoch] = n->nonce;
	} else if (m->kind == M_START && m->state == TRIB_START_WAIT && !n->epoch &&
		   m->nonce == n->nonce && m->token != n->token) {
		n->token = m->token;
		n->join_at = now;
	}
}

static bool all_in(uint32_t epoch)
{
	int i;

	for (i = 0; i < nnodes; i++)
		if ((is_worker(&node[i]) ? node[i].epoch : node[i].disk.epoch) != epoch)
			return false;
	return epoch != 0;
}

/* Once a millisecond: repeat JOIN; give up when a collective hangs. */
static void worker_turn(struct node *n, bool good)
{
	if (n->join_at && now >= n->join_at) {
		n->join_at = now + 200;
		put((struct msg){.to = n->parent,
				 .child = n->index,
				 .kind = M_JOIN,
				 .token = n->token,
				 .nonce = n->nonce,
				 .epoch = n->last_epoch});
	}
	if (!n->epoch || good)
		n->bad_since = 0;
	else if (!n->bad_since)
		n->bad_since = now;
	else if (now - n->bad_since > 5000)
		worker_restart(n, rnd(2), false);
}

/* --- the run */

static int grow(int parent, unsigned int index, int depth)
{
	int me = nnodes++;
	struct node *n = &node[me];
	unsigned int i;

	memset(n, 0, sizeof(*n));
	n->parent = parent;
	n->index = index;
	n->crash_after = -1;
	if (!depth || (parent >= 0 && !rnd(5))) {
		worker_restart(n, false, true);
		return me;
	}
	n->nchild = 1 + rnd(4);
	for (i = 0; i < n->nchild; i++)
		n->child[i] = grow(me, i, depth - 1);
	boot(n);
	return me;
}

static void chaos(void)
{
	struct node *n = &node[rnd((uint32_t)nnodes)];

	if (rnd(1000) >= 4)
		return;
	if (is_worker(n))
		worker_restart(n, rnd(3) == 0, true);
	else if (!rnd(3))
		n->full_until = now + rnd(2000);
	else if (!n->up_at)
		n->crash_after = (int)rnd(12);
}

static void relay_turn(struct node *n)
{
	uint32_t wait;

	if (n->up_at && now >= n->up_at)
		boot(n);
	if (n->up_at || !n->tick_at || now < n->tick_at)
		return;
	wait = session_tick(&n->s, now);
	n->tick_at = wait ? now + wait : 0;
}

/* A crash jumps back here; the node's memory counts as lost. */
static void guarded(struct node *n, const struct msg *m)
{
	if (setjmp(crashed))
		return;
	if (m)
		relay_packet(n, m);
	else
		relay_turn(n);
}

static void turn(void)
{
	bool good = all_in(node[0].disk.epoch);
	int i;

	for (i = 0; i < nnodes; i++) {
		if (is_worker(&node[i]))
			worker_turn(&node[i], good);
		else
			guarded(&node[i], NULL);
	}
	while (nheap && heap[0].at <= now) {
		struct msg m = heap_pop();

		if (is_worker(&node[m.to]))
			worker_packet(&node[m.to], &m);
		else
			guarded(&node[m.to], &m);
	}
}

/* Return: whether all nodes stay in one epoch for three seconds. */
static bool simulate(uint64_t seed, int depth, bool restarts)
{
	uint64_t good_since = 0, end = (restarts ? CHAOS : 0) + CALM;
	int i;

	rng = seed * 0x9e3779b97f4a7c15ULL + 88172645463325252ULL;
	memset(member, 0, sizeof(member));
	nnodes = nheap = 0;
	now = 1;
	loss = rnd(150);
	dup = rnd(150);
	grow(-1, 0, depth);
	for (; now < end; now++) {
		if (restarts && now < CHAOS)
			chaos();
		if (now == CHAOS)
			for (i = 0; i < nnodes; i++)
				node[i].crash_after = -1;
		turn();
		if (!all_in(node[0].disk.epoch))
			good_since = 0;
		else if (!good_since)
			good_since = now;
		else if ((!restarts || now > CHAOS) && now - good_since > 3000)
			return true;
	}
	printf("# seed %llu depth %d: no common epoch\n", (unsigned long long)seed, depth);
	return false;
}

static void many(int seeds, int depth, bool restarts)
{
	int i, bad = 0;

	violations = 0;
	for (i = 1; i <= seeds; i++)
		bad += !simulate((uint64_t)i * 3 + (uint64_t)depth, depth, restarts);
	expect_eq(bad, 0);
	expect_eq(violations, 0);
}

static void tree__loss_only_ends_in_one_epoch(void)
{
	int depth;

	for (depth = 1; depth <= 3; depth++)
		many(300, depth, false);
}

static void tree__restarts_depth_1_end_in_one_epoch(void)
{
	many(300, 1, true);
}

static void tree__restarts_depth_2_end_in_one_epoch(void)
{
	many(300, 2, true);
}

static void tree__restarts_depth_3_end_in_one_epoch(void)
{
	many(300, 3, true);
}

int main(void)
{
	run(tree__loss_only_ends_in_one_epoch);
	run(tree__restarts_depth_1_end_in_one_epoch);
	run(tree__restarts_depth_2_end_in_one_epoch);
	run(tree__restarts_depth_3_end_in_one_epoch);
	return tap_done();
}
