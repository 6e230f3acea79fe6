// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joining, output: rows and the state file; START, ABORT, and our own JOIN and
 * LEAVE; and the search for a stuck chunk in the slots.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "join.h"
#include "daemon/tree/secret.h"

/* Slots that one search for a stuck chunk looks at. */
#define SCAN_SLOTS 1024

static void hdr_fill(const struct tree *t, struct trib_hdr *h, uint8_t type, uint8_t flags,
		     uint32_t nval)
{
	memset(h, 0, sizeof(*h));
	h->version = TRIB_WIRE_VERSION;
	h->type = type;
	h->flags = flags;
	h->job = htons(t->job->id);
	h->tree = htons(t->id);
	h->child = htons(flags & TRIB_F_UP ? t->up_child : 0);
	h->nval = htons((uint16_t)nval);
}

/* Sign @len bytes for, or of, the child that is @rank or sends from @addr. */
static void sign_up(const struct tree *t, uint16_t rank, const struct in6_addr *addr,
		    struct join_packet *p, size_t len)
{
	struct secret secret;

	secret_up(t, rank, addr, &secret);
	p->h.auth = trib_auth(&secret.key, &p->h, &p->u, (uint32_t)(len - sizeof(p->h)));
}

static void packet_send(struct tribd *d, const struct face *via, uint16_t port,
			const struct join_packet *p, size_t len)
{
	int err = udp_send(d, via, NULL, port, p, len);

	/* A full queue is like loss on the way: the packet is repeated. */
	if (err && err != -EAGAIN)
		log_debug("face %s: cannot send type %u: %s", via->name, p->h.type, strerror(-err));
}

/* --- outputs of the machine */

/*
 * The state file has an epoch before its row has, and before anybody hears of
 * it: no restart can number another one the same. A leaf numbers none, and its
 * row tells a restart which one ran (on_save()): it goes on without the file.
 */
static int on_keep(struct session *s, uint32_t epoch)
{
	struct joining *j = s->ctx;
	uint32_t old = j->t->last_epoch;
	int err;

	if (epoch <= old)
		return 0;
	j->t->last_epoch = epoch;
	err = hooks_save(j->d, NULL);
	if (err && s->kind != SESSION_LEAF) {
		j->t->last_epoch = old;
		return err;
	}
	return 0;
}

static void on_save(struct session *s)
{
	struct joining *j = s->ctx;
	struct tree *t = j->t;
	unsigned int i;

	if (s->epoch != t->row.epoch)
		log_info("tree %u: epoch %u %s", t->id, s->epoch ? s->epoch : t->row.epoch,
			 s->epoch ? "runs" : "has ended");
	t->row.epoch = s->epoch;
	if (s->epoch > t->row.last_epoch)
		t->row.last_epoch = s->epoch;
	t->row.parent.nonce = s->up_nonce;
	for (i = 0; i < s->nchild; i++)
		t->row.child[i].nonce = s->child[i].nonce;
	tree_row_store(j->d, t);
}

static void start_fill(const struct joining *j, struct trib_start *st, unsigned int state,
		       const struct session_view *view)
{
	const struct tree *t = j->t;
	unsigned int i;

	memset(st, 0, sizeof(*st));
	st->seen = htobe64(view->seen);
	st->epoch = htonl(state == TRIB_START_RUN ? j->s.epoch : 0);
	st->timeout_ms = htonl(t->job->timeout_ms);
	st->state = htons((uint16_t)state);
	st->window = htons((uint16_t)t->job->window);
	st->nval = htons((uint16_t)j->d->config.nval);
	st->world = htons((uint16_t)t->job->world);
	st->token = htobe64(j->s.token);
	st->nchild = htons(view->nchild);
	for (i = 0; i < view->nchild && i < TRIB_CHILDREN_MAX; i++)
		st->child_rank[i] = htons(view->rank[i]);
}

static void on_start(struct session *s, unsigned int child, unsigned int state,
		     const struct session_view *view)
{
	const struct session_child *c = &s->child[child];
	struct joining *j = s->ctx;
	struct join_packet p;

	memset(&p, 0, sizeof(p));
	hdr_fill(j->t, &p.h, TRIB_T_START, 0, (c->len - (uint32_t)sizeof(p.h)) / 4);
	start_fill(j, &p.u.start, state, view);
	p.u.start.nonce = htobe64(c->nonce);
	sign_up(j->t, j->t->child[child].rank, &j->t->child[child].face->addr, &p, c->len);
	packet_send(j->d, j->t->child[child].face, c->port, &p, c->len);
}

/* A leaf has no index of its own: the parent knows it by those of its ranks. */
static const struct local *leaf_local(struct tree *t, uint16_t rank)
{
	const struct local *l = tree_local(t, rank);

	return l ? l : &t->local[0];
}

/* Port of a rank of this host: that of its JOIN; 0: the port of the face. */
static uint16_t local_port(const struct joining *j, int child)
{
	unsigned int i;

	for (i = 0; child >= 0 && i < j->t->nlocal; i++)
		if (j->t->local[i].index == child)
			return j->s.child[child].port;
	return 0;
}

static void abort_down(struct joining *j, int child, struct join_packet *p)
{
	const struct face *f = j->t->child[child].face;
	struct secret secret;

	secret_down(j->t, &f->local, &secret);
	p->h.auth = trib_auth(&secret.key, &p->h, NULL, 0);
	packet_send(j->d, f, local_port(j, child), p, sizeof(p->h));
}

static void on_abort(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		     uint16_t rank)
{
	struct joining *j = s->ctx;
	bool up = child == SESSION_UP;
	uint16_t signer = RANK_NONE;
	const struct local *l;
	struct join_packet p;

	hdr_fill(j->t, &p.h, TRIB_T_ABORT, up ? TRIB_F_UP : 0, 0);
	if (s->kind == SESSION_LEAF) {
		l = leaf_local(j->t, rank);
		p.h.child = htons(l->index);
		signer = l->rank;
	}
	p.h.chunk = htonl(why);
	p.h.epoch = htonl(epoch);
	p.h.aux = htons(rank);
	p.h.scale = secret_number(j->t);
	if (!up) {
		abort_down(j, child, &p);
		return;
	}
	sign_up(j->t, signer, &j->t->parent->local, &p, sizeof(p.h));
	packet_send(j->d, j->t->parent, 0, &p, sizeof(p.h));
}

static void on_up(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank)
{
	struct joining *j = s->ctx;
	uint32_t nval = j->d->config.nval;
	struct join_packet p;

	/*
	 * Do not let the parent begin what this node could not: the others
	 * would wait for its ranks. The JOIN is due again soon.
	 */
	if (type == TRIB_T_JOIN && on_keep(s, s->last_epoch + 1))
		return;
	memset(&p, 0, sizeof(p));
	hdr_fill(j->t, &p.h, type, TRIB_F_UP, nval);
	p.h.aux = htons(rank);
	p.u.join.nonce = htobe64(nonce);
	p.u.join.epoch = htonl(s->last_epoch);
	p.u.join.rank = htonl(RANK_RELAY32);
	p.u.join.token = type == TRIB_T_JOIN ? htobe64(s->up_token) : 0;
	sign_up(j->t, RANK_NONE, &j->t->parent->local, &p, sizeof(p.h) + trib_payload_len(nval));
	packet_send(j->d, j->t->parent, 0, &p, sizeof(p.h) + trib_payload_len(nval));
}

/* Find the child in @missing that @slot waits for; -1: none. */
static int slot_waits_for(const struct trib_slot *slot, uint32_t epoch, uint64_t missing)
{
	uint64_t lacks = missing & ~slot->seen;

	if (slot->epoch != epoch || slot->state != TRIB_SLOT_COLLECT || !slot->seen || !lacks)
		return -1;
	return __builtin_ctzll(lacks);
}

/* Search from the slot that was found last time, if there is one. */
static int on_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	struct joining *j = s->ctx;
	const struct trib_tree *row = &j->t->row;
	/* The object may have more values a slot than TRIB_NVAL here. */
	union {
		struct trib_slot slot;
		uint8_t room[64 + TRIB_NVAL_LARGE * 4];
	} v;
	uint32_t i, nr;
	int child;

	for (i = 0; i < SCAN_SLOTS && i < j->slots; i++) {
		nr = row->slot0 + j->scan;
		if (bpf_map_lookup_elem(j->d->map[MAP_SLOTS], &nr, &v))
			return -1;
		child = slot_waits_for(&v.slot, s->epoch, missing);
		if (child >= 0) {
			*chunk = v.slot.chunk;
			return child;
		}
		j->scan = (j->scan + 1) % j->slots;
	}
	return -1;
}

const struct session_ops join_ops = {
	.keep = on_keep,
	.save = on_save,
	.start = on_start,
	.abort = on_abort,
	.up = on_up,
	.stuck = on_stuck,
};

void join_refuse(struct joining *j, const struct face *via, const struct session_join *in)
{
	static const struct session_view none;
	struct join_packet p;

	memset(&p, 0, sizeof(p));
	hdr_fill(j->t, &p.h, TRIB_T_START, 0, (in->len - (uint32_t)sizeof(p.h)) / 4);
	start_fill(j, &p.u.start, TRIB_START_REFUSED, &none);
	p.u.start.nonce = htobe64(in->nonce);
	sign_up(j->t, in->rank, &via->addr, &p, in->len);
	packet_send(j->d, via, in->port, &p, in->len);
}
