// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns membership: JOIN, START, LEAVE of the workers, by the session that tribd
 * uses, too (userspace/base/session.c). A session has 64 children at most, so a
 * larger job is a tree of sessions: one for each 64 ranks, and a root above
 * them. They exchange function calls instead of packets.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ps.h"
#include "base/session.h"

#define GROUP TRIB_CHILDREN_MAX
#define GROUPS (TRIB_WORLD_MAX / GROUP)

/**
 * struct ps_group - ranks @first to @first + s.nchild - 1
 * @index: of ours among the root's children.
 */
struct ps_group {
	struct ps_tree *t;
	struct session s;
	unsigned int first;
	unsigned int index;
};

/**
 * struct ps_members
 * @root: of the groups, if there are several; else group[0] is a root itself.
 * @told: epoch that the log has: 0 none runs.
 * @disk_epoch: newest epoch in the state file.
 * @coming: epoch that is about to begin; 0: none.
 */
struct ps_members {
	struct ps_tree *t;
	struct session root;
	unsigned int ngroup;
	uint32_t told;
	uint32_t disk_epoch;
	uint32_t coming;
	struct ps_group group[]; /* @ngroup */
};

static struct session *top(struct ps_members *m)
{
	return m->ngroup > 1 ? &m->root : &m->group[0].s;
}

/* Any packet of ours: as long as the longest JOIN. */
struct start_packet {
	struct trib_hdr h;
	struct trib_start start;
	uint8_t pad[PS_PACKET_MAX];
};

/* --- what the machines put out */

/* Ranks that leave, one by one, shall not cost a write each. */
#define SAVE_MS 500

static void save_soon(struct ps *ps)
{
	if (!ps->save_ms)
		ps->save_ms = ps->now + SAVE_MS;
}

static int save_now(struct ps *ps)
{
	int err = ps->ops->save(ps->ctx);

	ps->save_ms = err ? ps->now + SAVE_MS : 0;
	return err;
}

/*
 * The state file has an epoch, and who takes part in it, before anybody hears
 * of it. Relays elsewhere keep sums of each epoch that ran: it must not come
 * again, not even after a power failure.
 */
static int kept(struct ps_members *m, uint32_t epoch)
{
	int err;

	if (epoch <= m->disk_epoch)
		return 0;
	m->coming = epoch;
	err = save_now(m->t->ps);
	m->coming = 0;
	if (!err)
		m->disk_epoch = epoch;
	return err;
}

static void saved(struct ps_members *m)
{
	struct ps_tree *t = m->t;
	uint32_t epoch = top(m)->epoch, was = m->told;
	char line[80];

	if (epoch)
		ps_tree_epoch(t, epoch);
	if (epoch != m->told) {
		snprintf(line, sizeof(line), "job %u tree %u: epoch %u %s", t->job->number,
			 t->number, epoch ? epoch : m->told, epoch ? "runs" : "has ended");
		t->ps->ops->log(t->ps->ctx, line);
		m->told = epoch;
	}
	/* A waiting rank repeats its JOIN, so it is not saved. */
	if (epoch || was)
		save_soon(t->ps);
}

static int on_keep(struct session *s, uint32_t epoch)
{
	struct ps_group *g = s->ctx;

	return kept(g->t->members, epoch);
}

static void on_save(struct session *s)
{
	struct ps_group *g = s->ctx;

	saved(g->t->members);
}

static void on_start(struct session *s, unsigned int child, unsigned int state,
		     const struct session_view *view)
{
	const struct session_child *c = &s->child[child];
	const struct ps_group *g = s->ctx;
	const struct ps_job *job = g->t->job;
	struct ps_addr to = job->worker[g->first + child];
	struct start_packet p;
	struct trib_start *st = &p.start;
	unsigned int i;

	memset(&p, 0, sizeof(p));
	ps_hdr_fill(g->t, &p.h, TRIB_T_START);
	p.h.child = htobe16((uint16_t)(g->first + child));
	p.h.nval = htobe16((uint16_t)((c->len - sizeof(p.h)) / 4));
	st->nonce = htobe64(c->nonce);
	st->seen = htobe64(view->seen);
	st->epoch = htobe32(state == TRIB_START_RUN ? s->epoch : 0);
	st->timeout_ms = htobe32(job->timeout_ms);
	st->state = htobe16((uint16_t)state);
	st->window = htobe16(job->window);
	st->nval = htobe16(job->nval);
	st->world = htobe16(job->world);
	st->nchild = htobe16(view->nchild);
	for (i = 0; i < view->nchild; i++)
		st->child_rank[i] = htobe16(view->rank[i]);
	st->token = htobe64(s->token);
	to.port = c->port;
	ps_auth_sign(g->t, g->first + child, &p.h, &p.start, c->len - sizeof(p.h));
	g->t->ps->ops->to(g->t->ps->ctx, &to, &p, c->len, NULL);
}

static void send_abort(struct ps_tree *t, unsigned int rank, uint32_t epoch, enum trib_abort why,
		       uint16_t blame)
{
	struct trib_hdr h;

	ps_hdr_fill(t, &h, TRIB_T_ABORT);
	h.chunk = htobe32(why);
	h.epoch = htobe32(epoch);
	h.aux = htobe16(blame);
	ps_auth_all(t, &h);
	t->ps->ops->to(t->ps->ctx, &t->job->worker[rank], &h, sizeof(h), NULL);
}

/* The end of an epoch in one group ends it in all. */
static void on_abort(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		     uint16_t blame)
{
	const struct ps_group *g = s->ctx;
	struct ps_members *m = g->t->members;
	unsigned int i;

	if (child >= 0) {
		send_abort(g->t, g->first + (unsigned int)child, epoch, why, blame);
		return;
	}
	for (i = 0; i < m->ngroup; i++)
		if (i != g->index && m->group[i].s.epoch == epoch)
			session_abort(&m->group[i].s, why, blame, -1, g->t->ps->now);
}

static void on_up(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank)
{
	const struct ps_group *g = s->ctx;
	struct ps_tree *t = g->t;
	struct session_join j = {
		.nonce = nonce,
		.epoch = s->last_epoch,
		.rank = rank,
		.token = t->members->root.token,
	};

	if (type == TRIB_T_JOIN)
		session_join(&t->members->root, g->index, &j, t->ps->now);
	else
		session_leave(&t->members->root, g->index, &j, t->ps->now);
}

static int on_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	const struct ps_group *g = s->ctx;
	uint64_t bitmap[TRIB_BMWORDS_MAX] = {0};
	int rank;

	bitmap[g->first / GROUP] = missing;
	rank = ps_chunk_stuck(g->t, bitmap, chunk);
	return rank < 0 ? -1 : rank - (int)g->first;
}

static const struct session_ops group_ops = {
	.keep = on_keep,
	.save = on_save,
	.start = on_start,
	.abort = on_abort,
	.up = on_up,
	.stuck = on_stuck,
};

/* --- the root of several groups */

static int root_keep(struct session *s, uint32_t epoch)
{
	return kept(s->ctx, epoch);
}

static void root_save(struct session *s)
{
	saved(s->ctx);
}

static void root_start(struct session *s, unsigned int child, unsigned int state,
		       const struct session_view *view)
{
	struct ps_members *m = s->ctx;
	struct session_start st = {
		.nonce = s->child[child].nonce,
		.token = s->token,
		.epoch = s->epoch,
		.state = (uint16_t)state,
		.view = *view,
	};

	/* Its JOIN was not refused: see on_up(). */
	m->group[child].s.up_token = s->token;
	session_start(&m->group[child].s, &st, m->t->ps->now);
}

static void root_abort(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		       uint16_t blame)
{
	struct ps_members *m = s->ctx;

	if (child >= 0 && m->group[child].s.epoch == epoch)
		session_abort(&m->group[child].s, why, blame, -1, m->t->ps->now);
}

static void root_up(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank)
{
	(void)s; /* a root has no parent */
	(void)type;
	(void)nonce;
	(void)rank;
}

/* Return: the groups whose ranks have all left. */
static int root_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	struct ps_members *m = s->ctx;
	uint64_t bitmap[TRIB_BMWORDS_MAX] = {0};
	unsigned int i;
	int rank;

	for (i = 0; i < m->ngroup; i++)
		if (missing >> i & 1)
			bitmap[i] = m->t->all[i];
	rank = ps_chunk_stuck(m->t, bitmap, chunk);
	return rank < 0 ? -1 : rank / GROUP;
}

static const struct session_ops root_ops = {
	.keep = root_keep,
	.save = root_save,
	.start = root_start,
	.abort = root_abort,
	.up = root_up,
	.stuck = root_stuck,
};

/* --- packets */

void ps_members_packet(struct ps_tree *t, const struct ps_packet *p)
{
	struct ps_group *g = &t->members->group[p->child / GROUP];
	unsigned int child = p->child % GROUP;
	struct session_join j = {.rank = p->child, .port = p->from->port};
	struct trib_join in;
	unsigned int room = p->nval;

	/* The answer is not longer than what it answers. */
	if (trib_payload_len(room) <
		    (p->h->type == TRIB_T_JOIN ? sizeof(struct trib_start) : sizeof(in)) ||
	    !p->from->port) {
		t->stats.drop[PS_DROP_JOIN]++;
		return;
	}
	memcpy(&in, p->v, sizeof(in));
	j.nonce = be64toh(in.nonce);
	j.token = be64toh(in.token);
	j.epoch = be32toh(in.epoch);
	j.len = (uint16_t)(sizeof(struct trib_hdr) + trib_payload_len(room));
	if (!IN6_ARE_ADDR_EQUAL(&p->from->ip, &t->job->worker[p->child].ip)) {
		t->stats.drop[PS_DROP_SOURCE]++;
		return;
	}
	t->stats.count[PS_COUNT_JOIN]++;
	if (p->h->type == TRIB_T_LEAVE) {
		if (be32toh(in.rank) == p->child)
			session_leave(&g->s, child, &j, t->ps->now);
		else
			t->stats.drop[PS_DROP_JOIN]++;
	} else if (be32toh(in.rank) != p->child || room > t->job->nval ||
		   (room == t->job->nval && p->h->bmwords != t->bmwords)) {
		t->stats.drop[PS_DROP_JOIN]++;
		session_answer(&g->s, child, &j, TRIB_START_REFUSED, t->ps->now);
	} else if (room < t->job->nval) {
		/* The answer names the size that its JOINs must have. */
		session_answer(&g->s, child, &j, TRIB_START_WAIT, t->ps->now);
	} else {
		session_join(&g->s, child, &j, t->ps->now);
	}
}

/* Packets know of an epoch that we do not: we are older than them. */
static void catch_up(struct session *s, uint32_t epoch)
{
	if (s->last_epoch < epoch)
		s->last_epoch = epoch;
	if (s->epoch)
		s->epoch = s->last_epoch;
}

void ps_members_epoch(struct ps_tree *t, uint32_t epoch)
{
	struct ps_members *m = t->members;
	unsigned int i;

	for (i = 0; i < m->ngroup; i++)
		catch_up(&m->group[i].s, epoch);
	catch_up(&m->root, epoch);
	saved(m);
	save_soon(t->ps);
}

/* --- time */

static uint32_t sooner(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

uint32_t ps_tick(struct ps *ps, uint64_t now_ms)
{
	struct ps_members *m;
	uint32_t wait = 0;
	unsigned int i, k;

	ps->now = now_ms;
	if (ps->save_ms && now_ms >= ps->save_ms)
		save_now(ps);
	for (i = 0; i < ps->ntree; i++) {
		m = ps->tree[i]->members;
		for (k = 0; k < m->ngroup; k++)
			wait = sooner(wait, session_tick(&m->group[k].s, now_ms));
		if (m->ngroup > 1)
			wait = sooner(wait, session_tick(&m->root, now_ms));
	}
	if (ps->save_ms)
		wait = sooner(wait, ps->save_ms > now_ms ? (uint32_t)(ps->save_ms - now_ms) : 1);
	return wait;
}

/* --- beginning, keeping, restoring */

int ps_members_new(struct ps_tree *t)
{
	unsigned int i, r, n, world = t->job->world, ngroup = (world + GROUP - 1) / GROUP;
	struct ps_members *m = calloc(1, sizeof(*m) + ngroup * sizeof(*m->group));
	uint16_t rank[GROUP], relay[GROUPS];
	struct session_random random;

	if (!m)
		return -ENOMEM;
	t->members = m;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	m->t = t;
	m->ngroup = ngroup;
	for (i = 0; i < m->ngroup; i++) {
		struct ps_group *g = &m->group[i];

		g->t = t;
		g->index = i;
		g->first = i * GROUP;
		n = world - g->first < GROUP ? world - g->first : GROUP;
		for (r = 0; r < n; r++)
			rank[r] = (uint16_t)(g->first + r);
		relay[i] = SESSION_RANK_RELAY;
		session_init(&g->s, &group_ops, g, m->ngroup > 1 ? SESSION_INNER : SESSION_ROOT, n,
			     rank, &random);
	}
	session_init(&m->root, &root_ops, m, SESSION_ROOT, m->ngroup, relay, &random);
	return 0;
}

void ps_members_free(struct ps_tree *t)
{
	free(t->members);
}

void ps_members_keep(const struct ps_tree *t, struct ps_lasting *out)
{
	struct ps_members *m = t->members;
	unsigned int i, r;

	out->epoch = m->coming ? m->coming : top(m)->epoch;
	out->last_epoch = m->coming ? m->coming : top(m)->last_epoch;
	for (i = 0; i < m->ngroup; i++)
		for (r = 0; r < m->group[i].s.nchild; r++)
			out->nonce[m->group[i].first + r] = m->group[i].s.child[r].nonce;
}

/* Return: whether one of its ranks takes part. */
static bool restore_group(struct ps_group *g, const struct ps_lasting *in)
{
	struct session *s = &g->s;
	bool any = false;
	unsigned int i;

	s->last_epoch = in->last_epoch;
	if (!in->epoch)
		return false;
	for (i = 0; i < s->nchild; i++) {
		s->child[i].nonce = s->child[i].known = in->nonce[g->first + i];
		any |= s->child[i].nonce != 0;
	}
	if (any)
		s->epoch = in->epoch;
	return any;
}

void ps_members_restore(struct ps_tree *t, const struct ps_lasting *in)
{
	struct ps_members *m = t->members;
	unsigned int i;

	m->root.last_epoch = m->disk_epoch = in->last_epoch;
	for (i = 0; i < m->ngroup; i++) {
		struct session *s = &m->group[i].s;

		if (!restore_group(&m->group[i], in) || m->ngroup == 1)
			continue;
		s->up_nonce = trib_nonce(s->instance, ++s->joins);
		m->root.child[i].nonce = m->root.child[i].known = s->up_nonce;
		m->root.epoch = in->epoch;
	}
	if (in->last_epoch)
		ps_tree_epoch(t, in->last_epoch);
	m->told = top(m)->epoch;
}
