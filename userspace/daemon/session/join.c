// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joining, input: check JOIN, LEAVE and START, pass them to the session machine
 * of the tree, and give it the time. join_out.c has its output.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "join.h"
#include "daemon/tree/secret.h"
#include "base/session.h"

/* The machine of @t; NULL: none. */
static struct joining *join_of(const struct tree *t)
{
	return t->kind == TREE_DEDICATED ? t->dedicated.join : NULL;
}

static uint64_t now_ms(void)
{
	return loop_now() / 1000000;
}

static void tick(struct joining *j)
{
	uint32_t ms = session_tick(&j->s, now_ms());

	if (ms)
		timer_set(j->d, &j->timer, ms);
	else
		timer_cancel(j->d, &j->timer);
}

static void on_timer(struct tribd *d, struct timer *timer)
{
	(void)d;
	tick(timer->arg);
}

/* --- packets */

/* Check lengths and version; find the tree. */
static struct tree *packet_tree(struct tribd *d, const struct udp_packet *up)
{
	const struct trib_hdr *h = up->data;
	struct tree *t;

	if (up->len < sizeof(*h) || h->version != TRIB_WIRE_VERSION || h->bmwords ||
	    ntohs(h->nval) > TRIB_NVAL_LARGE ||
	    up->len != sizeof(*h) + trib_payload_len(ntohs(h->nval)))
		return NULL;
	t = tree_find(d, ntohs(h->tree));
	if (!t || !join_of(t) || t->job->id != ntohs(h->job))
		return NULL;
	return t;
}

/*
 * Answer a sender that has the job's key but is no child: the configurations of
 * two hosts disagree.
 */
static void refuse_stranger(struct tribd *d, struct tree *t, const struct udp_packet *up,
			    const struct session_join *in)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (udp_is_from(up, f))
			break;
	if (f)
		join_refuse(join_of(t), f, in);
}

/* Does the packet prove, by all of its content, that its sender has @key? Count others. */
static bool is_authentic(struct tribd *d, const struct udp_packet *up, const struct trib_key *key)
{
	const struct trib_hdr *h = up->data;

	if (h->auth == trib_auth(key, h, h + 1, (uint32_t)(up->len - sizeof(*h))))
		return true;
	d->unproven++;
	return false;
}

/* JOIN or LEAVE. */
static void packet_from_child(struct tribd *d, struct tree *t, const struct udp_packet *up)
{
	const struct join_packet *p = up->data;
	unsigned int child = ntohs(p->h.child);
	struct joining *j = join_of(t);
	struct session_join in = {
		.len = (uint16_t)up->len,
		.port = up->sport,
	};
	uint32_t rank, want, nval = ntohs(p->h.nval);
	struct secret secret;

	/* An answer must not be longer than its request. */
	if (up->len < sizeof(p->h) +
			      (p->h.type == TRIB_T_JOIN ? sizeof(p->u.start) : sizeof(p->u.join)) ||
	    !up->sport)
		return;
	in.nonce = be64toh(p->u.join.nonce);
	in.token = be64toh(p->u.join.token);
	in.epoch = ntohl(p->u.join.epoch);
	rank = ntohl(p->u.join.rank);
	secret_up(t, rank < t->job->world ? (uint16_t)rank : RANK_NONE, &up->src, &secret);
	if (!is_authentic(d, up, &secret.key))
		return;
	in.rank = ntohs(p->h.aux);
	if (in.rank >= t->job->world)
		in.rank = SESSION_RANK_RELAY; /* no such rank */
	if (child >= t->nchild || !udp_is_from(up, t->child[child].face)) {
		if (p->h.type == TRIB_T_JOIN)
			refuse_stranger(d, t, up, &in);
		return;
	}
	want = t->child[child].rank == RANK_NONE ? RANK_RELAY32 : t->child[child].rank;
	if (p->h.type == TRIB_T_LEAVE) {
		if (rank == want)
			session_leave(&j->s, child, &in, now_ms());
	} else if (rank != want || nval > d->config.nval) {
		session_answer(&j->s, child, &in, TRIB_START_REFUSED, now_ms());
	} else if (nval < d->config.nval) {
		/* The answer has the size that its JOINs need. */
		session_answer(&j->s, child, &in, TRIB_START_WAIT, now_ms());
	} else {
		session_join(&j->s, child, &in, now_ms());
	}
	tick(j);
}

/*
 * The parent must have as many values per chunk, and the same window and world.
 */
static bool start_fits(const struct tribd *d, const struct tree *t, const struct trib_start *st)
{
	if (ntohs(st->nval) == d->config.nval && ntohs(st->window) == t->job->window &&
	    ntohs(st->world) == t->job->world)
		return true;
	log_warn(
		"tree %u: the parent has %u values per chunk, window %u, world %u; here they are %u, %u, %u",
		t->id, ntohs(st->nval), ntohs(st->window), ntohs(st->world), d->config.nval,
		t->job->window, t->job->world);
	return false;
}

static void packet_from_parent(struct tribd *d, struct tree *t, const struct udp_packet *up)
{
	const struct join_packet *p = up->data;
	const struct trib_start *st = &p->u.start;
	struct joining *j = join_of(t);
	struct session_start m = {0};
	struct secret secret;
	unsigned int i;

	if (!t->parent || up->sport != t->parent->udp_port || !udp_is_from(up, t->parent) ||
	    up->len < sizeof(p->h) + sizeof(p->u.start))
		return;
	secret_up(t, RANK_NONE, &t->parent->local, &secret);
	if (!is_authentic(d, up, &secret.key))
		return;
	m.nonce = be64toh(st->nonce);
	m.token = be64toh(st->token);
	m.epoch = ntohl(st->epoch);
	m.state = ntohs(st->state);
	m.view.seen = be64toh(st->seen);
	m.view.nchild = ntohs(st->nchild);
	if (m.view.nchild > TRIB_CHILDREN_MAX || m.nonce != j->s.up_nonce || !start_fits(d, t, st))
		return;
	if (m.state == TRIB_START_REFUSED)
		log_warn("tree %u: face %s refuses this relay as its child %u", t->id,
			 t->parent->name, t->up_child);
	for (i = 0; i < m.view.nchild; i++)
		m.view.rank[i] = ntohs(st->child_rank[i]);
	session_start(&j->s, &m, now_ms());
	tick(j);
}

void join_packet(struct tribd *d, const struct udp_packet *up)
{
	const struct trib_hdr *h = up->data;
	struct tree *t = packet_tree(d, up);

	if (!t)
		return;
	switch (h->type) {
	case TRIB_T_JOIN:
	case TRIB_T_LEAVE:
		if (h->flags & TRIB_F_UP)
			packet_from_child(d, t, up);
		break;
	case TRIB_T_START:
		if (!(h->flags & TRIB_F_UP))
			packet_from_parent(d, t, up);
		break;
	}
}

/* --- trees come and go */

void join_tree_free(struct tribd *d, struct tree *t)
{
	struct joining *j = join_of(t);

	if (!j)
		return;
	timer_cancel(d, &j->timer);
	free(j);
	t->dedicated.join = NULL;
}

void join_exit(struct tribd *d)
{
	struct tree *t;

	TAILQ_FOREACH(t, &d->trees, link)
		join_tree_free(d, t);
}

/* Continue an epoch that was running before this tribd started. */
static void joining_adopt(struct joining *j)
{
	struct session *s = &j->s;
	const struct trib_tree *row = &j->t->row;
	unsigned int i;

	if (!row->epoch)
		return;
	s->epoch = row->epoch;
	s->up_nonce = row->parent.nonce;
	for (i = 0; i < s->nchild; i++)
		s->child[i].nonce = s->child[i].known = row->child[i].nonce;
	/* Only an older state file than the row's has less. */
	if (s->last_epoch < row->epoch)
		s->last_epoch = row->epoch;
}

int join_tree_added(struct tribd *d, struct tree *t, bool adopted)
{
	uint16_t rank[TRIB_CHILDREN_MAX];
	enum session_kind kind = SESSION_INNER;
	struct joining *j;
	struct session_random random;
	unsigned int i;

	/* Workers of shared trees join at the PS. */
	if (t->kind != TREE_DEDICATED)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	for (i = 0; i < t->nchild; i++)
		rank[i] = t->child[i].rank;
	if (!t->nchild)
		kind = SESSION_LEAF;
	else if (!t->parent)
		kind = SESSION_ROOT;
	j->d = d;
	j->t = t;
	j->slots = t->dedicated.slots;
	j->timer.fn = on_timer;
	j->timer.arg = j;
	session_init(&j->s, &join_ops, j, kind, t->nchild, rank, &random);
	j->s.last_epoch = t->last_epoch > t->traced ? t->last_epoch : t->traced;
	t->dedicated.join = j;
	if (adopted)
		joining_adopt(j);
	tick(j);
	return 0;
}

void join_tree_del(struct tree *t)
{
	struct joining *j = join_of(t);
	struct session_join in;
	uint64_t now = now_ms();
	unsigned int i;

	if (!j)
		return;
	for (i = 0; i < t->nchild && !j->s.epoch; i++) {
		const struct session_child *c = &j->s.child[i];

		in = (struct session_join){.nonce = c->nonce, .len = c->len, .port = c->port};
		if (in.nonce)
			session_answer(&j->s, i, &in, TRIB_START_REFUSED, now + SESSION_ANSWER_MS);
	}
	session_abort(&j->s, TRIB_ABORT_ADMIN, t->nchild ? RANK_NONE : t->local[0].rank, -1, now);
	/* Send the remaining repeats now: the machine is about to be freed. */
	for (i = 1; i < SESSION_ABORTS; i++)
		session_tick(&j->s, now + i * 1000);
}

/* --- the ranks of this host */

int join_epoch(struct tribd *d, struct tree *t, uint32_t epoch)
{
	struct joining *j = join_of(t);

	(void)d;
	return j ? session_leaf_epoch(&j->s, epoch) : -ESTALE;
}

void join_rank_gone(struct tribd *d, struct tree *t, const struct local *l)
{
	struct joining *j = join_of(t);

	(void)d;
	if (!j)
		return;
	session_abort(&j->s, TRIB_ABORT_GONE, l->rank, t->nchild ? (int)l->index : -1, now_ms());
	tick(j);
}

void join_idle(struct tribd *d, struct tree *t)
{
	struct joining *j = join_of(t);

	(void)d;
	if (j)
		session_leaf_end(&j->s);
}
