// SPDX-License-Identifier: BSD-2-Clause
/*
 * How an epoch of a tree begins and ends at one node; session.h has the
 * picture. Rules that every function here keeps:
 *
 * - While an epoch runs, a child's nonce is the one it began with, or 0 once
 *   the child left. While none runs, it is that of a JOIN not older than
 *   SESSION_FRESH_MS: an epoch never begins with a child that is long dead.
 * - up_nonce is set only while all children are here, and is a new one each
 *   time: a START that the parent meant for other children does not match. A
 *   restarted tribd joins anew, as another instance, unless an epoch runs.
 * - If a child uses two nonces of one instance, the smaller one is late, and
 *   ignored.
 * - A nonce that its child gave up (by LEAVE, or by joining with another) is
 *   remembered, so that a late copy of its JOIN does no harm. A nonce that was
 *   dropped because the epoch ended for another reason is not: the child may
 *   not know of that epoch, and wait. Nonces are remembered for the life of a
 *   packet only: JOINs of two instances may overtake each other, and then the
 *   living one is retired. It repeats its JOIN and gets in again.
 * - A JOIN has an effect only with the token of this node, which START tells: copies of
 *   JOINs that somebody recorded are answered, and that is all. LEAVE needs none: its
 *   nonce is used once.
 * - An epoch is on disk before anybody hears of it: START(RUN) leaves after
 *   ops->keep(). Children wait, and repeat their JOINs, while that fails.
 * - LEAVE names the rank that is the reason: a worker itself, or the rank that
 *   made a relay leave. If a chunk waits for the child, that rank is blamed.
 */
#include <errno.h>
#include <string.h>

#include "session.h"

/* Delays of the repeats of an ABORT. */
static const unsigned int abort_after_ms[SESSION_ABORTS] = {0, 30, 120};

/* The tokens of before are void. */
static void renew_token(struct session *s)
{
	do {
		s->token = trib_sip_pair(&s->seed, s->last_epoch, ++s->tokens);
	} while (!s->token);
}

void session_init(struct session *s, const struct session_ops *ops, void *ctx,
		  enum session_kind kind, unsigned int nchild, const uint16_t *rank,
		  const struct session_random *random)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->ops = ops;
	s->ctx = ctx;
	s->kind = kind;
	s->nchild = nchild;
	s->instance = random->instance | !random->instance;
	s->seed = random->seed;
	s->stuck_child = -1;
	for (i = 0; i < nchild; i++)
		s->child[i].rank = s->child[i].blame = rank[i];
	renew_token(s);
}

uint64_t session_seen(const struct session *s)
{
	uint64_t seen = 0;
	unsigned int i;

	for (i = 0; i < s->nchild; i++)
		if (s->child[i].nonce)
			seen |= 1ULL << i;
	return seen;
}

static uint64_t all_children(const struct session *s)
{
	return s->nchild < 64 ? (1ULL << s->nchild) - 1 : ~0ULL;
}

static bool is_complete(const struct session *s)
{
	return s->nchild && session_seen(s) == all_children(s);
}

/* Index of @nonce in the list of @c; -1: not there. */
static int find_retired(const struct session_child *c, uint64_t nonce)
{
	unsigned int i;

	for (i = 0; i < SESSION_RETIRED; i++)
		if (c->retired[i].nonce == nonce)
			return (int)i;
	return -1;
}

static void retire(struct session_child *c, uint64_t nonce, uint64_t now)
{
	int i = find_retired(c, nonce);

	if (!nonce)
		return;
	if (i < 0) {
		i = (int)c->nretired;
		c->nretired = (c->nretired + 1) % SESSION_RETIRED;
	}
	c->retired[i] = (struct session_retired){nonce, now};
}

/* True if a JOIN with @nonce is a late copy of one that its child gave up. */
static bool is_retired(const struct session_child *c, uint64_t nonce, uint64_t now)
{
	int i = find_retired(c, nonce);

	return i >= 0 && now - c->retired[i].since_ms < SESSION_LATE_MS;
}

static void own_view(const struct session *s, struct session_view *v)
{
	unsigned int i;

	memset(v, 0, sizeof(*v));
	v->seen = session_seen(s);
	v->nchild = s->nchild;
	for (i = 0; i < s->nchild; i++)
		v->rank[i] = s->child[i].rank;
}

/* Send a START without pacing: callers pace, or must send now. */
static void send_start(struct session *s, unsigned int child, unsigned int state, uint64_t now)
{
	struct session_view v;

	if (state == TRIB_START_RUN && s->ops->keep(s, s->epoch))
		state = TRIB_START_WAIT;
	/* All children are here: tell them whom the parent waits for. */
	if (state == TRIB_START_WAIT && s->up_nonce && s->up_view.nchild)
		v = s->up_view;
	else
		own_view(s, &v);
	s->child[child].answered_ms = now;
	s->ops->start(s, child, state, &v);
}

static void answer(struct session *s, unsigned int child, unsigned int state, uint64_t now)
{
	uint64_t last = s->child[child].answered_ms;

	if (!last || now - last >= SESSION_ANSWER_MS)
		send_start(s, child, state, now);
}

/* @rank: the reason */
static void leave_parent(struct session *s, uint16_t rank)
{
	uint64_t nonce = s->up_nonce;

	if (!nonce)
		return;
	s->up_nonce = 0;
	memset(&s->up_view, 0, sizeof(s->up_view));
	s->ops->up(s, TRIB_T_LEAVE, nonce, rank);
}

/*
 * If @epoch cannot be kept, the node goes on waiting: a root asks again after
 * SESSION_REPEAT_MS, an inner node when its parent answers its next JOIN.
 */
static void begin(struct session *s, uint32_t epoch, uint64_t now)
{
	unsigned int i;

	s->keep_ms = now + SESSION_REPEAT_MS;
	if (s->ops->keep(s, epoch))
		return;
	s->epoch = epoch;
	s->last_epoch = epoch;
	s->stuck_child = -1;
	s->watch_ms = now;
	renew_token(s);
	/*
	 * Drop repeats that are still due: their epoch is over for all nodes
	 * here.
	 */
	s->abort.left = 0;
	s->ops->save(s);
	for (i = 0; i < s->nchild; i++)
		send_start(s, i, TRIB_START_RUN, now);
}

/* Begin or go up if the child that came was the last one. */
static void advance(struct session *s, uint64_t now)
{
	if (!is_complete(s))
		return;
	if (s->kind == SESSION_ROOT) {
		begin(s, s->last_epoch + 1, now);
	} else if (!s->up_nonce) {
		s->up_nonce = trib_nonce(s->instance, ++s->joins);
		s->up_ms = now + SESSION_REPEAT_MS;
		s->ops->save(s);
		s->ops->up(s, TRIB_T_JOIN, s->up_nonce, SESSION_RANK_RELAY);
	}
}

static void send_abort(struct session *s, uint64_t now)
{
	struct session_abort *a = &s->abort;
	unsigned int i, sent = SESSION_ABORTS - a->left;

	for (i = 0; i < s->nchild; i++)
		if (a->to & 1ULL << i)
			s->ops->abort(s, (int)i, a->epoch, a->why, a->rank);
	if (a->up)
		s->ops->abort(s, SESSION_UP, a->epoch, a->why, a->rank);
	if (--a->left)
		a->next_ms = now + abort_after_ms[sent + 1] - abort_after_ms[sent];
}

/* Go back to waiting; callers tell the others. */
static void forget_epoch(struct session *s)
{
	unsigned int i;

	s->epoch = 0;
	renew_token(s);
	for (i = 0; i < s->nchild; i++)
		s->child[i].nonce = 0;
	s->ops->save(s);
}

void session_abort(struct session *s, enum trib_abort why, uint16_t rank, int except, uint64_t now)
{
	if (!s->epoch)
		return;
	s->abort = (struct session_abort){
		.to = session_seen(s),
		.epoch = s->epoch,
		.rank = rank,
		.why = why,
		.left = SESSION_ABORTS,
		.up = s->kind != SESSION_ROOT,
	};
	if (except >= 0) {
		s->abort.to &= ~(1ULL << except);
		retire(&s->child[except], s->child[except].nonce, now);
	}
	/*
	 * A leaf continues: the ABORT must come down again through it to the
	 * other ranks of this host.
	 */
	if (s->kind != SESSION_LEAF)
		forget_epoch(s);
	send_abort(s, now);
	leave_parent(s, rank);
}

/* Answer with @j's nonce; the child's state stays. */
static void answer_once(struct session *s, unsigned int child, const struct session_join *j,
			unsigned int state, uint64_t now)
{
	struct session_child *c = &s->child[child];
	struct session_child kept = *c;

	c->nonce = j->nonce;
	c->port = j->port;
	c->len = j->len;
	send_start(s, child, state, now);
	*c = kept;
}

void session_answer(struct session *s, unsigned int child, const struct session_join *j,
		    unsigned int state, uint64_t now)
{
	struct session_child *c = &s->child[child];

	if (c->answered_ms && now - c->answered_ms < SESSION_ANSWER_MS)
		return;
	answer_once(s, child, j, state, now);
	c->answered_ms = now;
}

/*
 * Return: false if @nonce is older than the known one, or replaces it too soon.
 * This limits how often a child that invents nonces can stop the others.
 */
static bool take_nonce(struct session_child *c, uint64_t nonce, uint64_t now)
{
	if (trib_nonce_is_older(nonce, c->known))
		return false;
	if (c->changed_ms && now - c->changed_ms < SESSION_ANSWER_MS)
		return false;
	retire(c, c->known, now);
	c->known = nonce;
	c->changed_ms = now;
	c->answered_ms = 0;
	return true;
}

void session_join(struct session *s, unsigned int child, const struct session_join *j, uint64_t now)
{
	struct session_child *c = &s->child[child];

	if (!j->nonce || is_retired(c, j->nonce, now))
		return;
	/*
	 * Without pace: copies must not keep the child's own JOIN from being answered, and
	 * an answer is no longer than its JOIN. A child of this epoch needs no token: its
	 * JOIN changes nothing.
	 */
	if (j->token != s->token) {
		answer_once(s, child, j,
			    s->epoch && c->nonce == j->nonce ? TRIB_START_RUN : TRIB_START_WAIT,
			    now);
		return;
	}
	if (j->epoch > SESSION_EPOCH_MAX) {
		session_answer(s, child, j, TRIB_START_REFUSED, now);
		return;
	}
	if (j->nonce != c->known && !take_nonce(c, j->nonce, now))
		return;
	c->port = j->port;
	c->len = j->len;
	c->heard_ms = now;
	if (j->epoch > s->last_epoch)
		s->last_epoch = j->epoch;
	if (s->epoch && c->nonce == j->nonce) {
		answer(s, child, TRIB_START_RUN, now);
		return;
	}
	if (s->epoch)
		session_abort(s, TRIB_ABORT_REJOIN, c->rank, (int)child, now);
	if (c->nonce != j->nonce) {
		leave_parent(s, c->rank);
		c->nonce = j->nonce;
		s->ops->save(s);
		advance(s, now);
	}
	if (!s->epoch)
		answer(s, child, TRIB_START_WAIT, now);
}

void session_leave(struct session *s, unsigned int child, const struct session_join *j,
		   uint64_t now)
{
	struct session_child *c = &s->child[child];

	if (!j->nonce)
		return;
	retire(c, j->nonce, now);
	if (c->nonce != j->nonce)
		return;
	c->nonce = 0;
	c->blame = c->rank == SESSION_RANK_RELAY ? j->rank : c->rank;
	if (!s->epoch || !session_seen(s))
		leave_parent(s, c->blame);
	if (!session_seen(s))
		s->epoch = 0;
	s->ops->save(s);
}

void session_start(struct session *s, const struct session_start *m, uint64_t now)
{
	if (s->kind != SESSION_INNER || s->epoch || !s->up_nonce || m->nonce != s->up_nonce)
		return;
	if (m->state != TRIB_START_RUN) {
		s->up_view = m->view;
		if (m->token == s->up_token)
			return;
		/* Now it can have an effect. */
		s->up_token = m->token;
		s->up_ms = now + SESSION_REPEAT_MS;
		s->ops->up(s, TRIB_T_JOIN, s->up_nonce, SESSION_RANK_RELAY);
		return;
	}
	if (m->epoch > s->last_epoch && m->epoch <= SESSION_EPOCH_MAX + 1)
		begin(s, m->epoch, now);
}

int session_leaf_epoch(struct session *s, uint32_t epoch)
{
	int err;

	if (epoch && epoch == s->epoch)
		return 0;
	if (s->kind != SESSION_LEAF || epoch <= s->last_epoch || epoch > SESSION_EPOCH_MAX + 1)
		return -ESTALE;
	err = s->ops->keep(s, epoch);
	if (err)
		return err;
	s->epoch = epoch;
	s->last_epoch = epoch;
	s->abort.left = 0;
	s->ops->save(s);
	return 0;
}

void session_leaf_end(struct session *s)
{
	if (s->kind != SESSION_LEAF || !s->epoch)
		return;
	s->epoch = 0;
	s->ops->save(s);
}

/* Forget waiting children that are silent. */
static void expire(struct session *s, uint64_t now)
{
	uint16_t rank = SESSION_RANK_RELAY;
	bool changed = false;
	unsigned int i;

	for (i = 0; i < s->nchild; i++) {
		struct session_child *c = &s->child[i];

		if (!c->nonce || now - c->heard_ms <= SESSION_FRESH_MS)
			continue;
		c->nonce = 0;
		rank = c->rank;
		changed = true;
	}
	if (!changed)
		return;
	leave_parent(s, rank);
	s->ops->save(s);
}

/*
 * A child that left in good order contributed to every chunk that the others
 * started. A chunk can wait for it only a moment, after a relay lost its slots.
 */
static void watch_left(struct session *s, uint64_t now)
{
	uint64_t left = all_children(s) & ~session_seen(s);
	uint32_t chunk = 0;
	int child;

	s->watch_ms = now + SESSION_WATCH_MS;
	child = s->ops->stuck(s, left, &chunk);
	if (child < 0 || child != s->stuck_child || chunk != s->stuck_chunk) {
		s->stuck_child = child;
		s->stuck_chunk = chunk;
		s->stuck_since = now;
	} else if (now - s->stuck_since >= SESSION_GONE_MS) {
		session_abort(s, TRIB_ABORT_GONE, s->child[child].blame, child, now);
	}
}

/* The time until @at_ms, at least 1; the smaller of it and @least (0: none). */
static uint32_t sooner(uint32_t least, uint64_t at_ms, uint64_t now)
{
	uint32_t ms = at_ms > now ? (uint32_t)(at_ms - now) : 1;

	return !least || ms < least ? ms : least;
}

uint32_t session_tick(struct session *s, uint64_t now)
{
	uint64_t seen;
	uint32_t wait = 0;

	if (s->abort.left && now >= s->abort.next_ms)
		send_abort(s, now);
	if (s->kind != SESSION_LEAF && !s->epoch)
		expire(s, now);
	if (!s->epoch && s->up_nonce && now >= s->up_ms) {
		s->up_ms = now + SESSION_REPEAT_MS;
		s->ops->up(s, TRIB_T_JOIN, s->up_nonce, SESSION_RANK_RELAY);
	}
	/* Complete, but waiting: the epoch could not be kept. */
	if (!s->epoch && s->kind == SESSION_ROOT && is_complete(s)) {
		if (now >= s->keep_ms)
			advance(s, now);
		if (!s->epoch)
			wait = sooner(wait, s->keep_ms, now);
	}
	seen = session_seen(s);
	if (s->epoch && seen && seen != all_children(s)) {
		if (now >= s->watch_ms)
			watch_left(s, now);
		wait = sooner(wait, s->watch_ms, now);
	}
	if (s->abort.left)
		wait = sooner(wait, s->abort.next_ms, now);
	if (!s->epoch && s->up_nonce)
		wait = sooner(wait, s->up_ms, now);
	if (!s->epoch && session_seen(s))
		wait = sooner(wait, now + SESSION_FRESH_MS / 2, now);
	return wait;
}
