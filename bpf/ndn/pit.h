/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The persistent PIT: insert, delete, acknowledgements from upstream, and the
 * receivers of a distribution.
 */
#ifndef TRIB_BPF_PIT_H
#define TRIB_BPF_PIT_H

#include "pit_table.h"

/* Result for an insert or delete. Values below are enum ndn_stat: drop it. */
enum pit_act {
	PIT_FORWARD = 1 << 16,
	PIT_ANSWER = 1 << 17, /* answer it */
	PIT_PLACED = 1 << 18, /* the answer is in the frame: + its bytes */
};

/* Unlock the entry, and release its row if it is not USED any more. */
static __always_inline void pit_done(struct ndn_entry *e, __u32 row)
{
	bool over = !(e->flags & NDN_ENTRY_USED);

	unlock(&e->lock);
	if (!over)
		return;
	ndn_count(NDN_STAT_GONE);
	ndn_pit_release(row);
}

static __always_inline bool pit_confirmed(const struct ndn_entry *e, __u64 now, __u64 lease)
{
	return e->acked && now - e->acked < lease / 3;
}

/* Under the lock. Return: enum pit_act. */
static __always_inline __u32 pit_subscribe(struct xdp_md *ctx, struct ndn_entry *e,
					   struct ndn_more *m, struct ndn_work *w,
					   const struct ndn_config *c, __u32 up)
{
	__u32 n;

	if (e->up != up) {
		pit_turn(e, m, up);
		ndn_count(NDN_STAT_TURNED);
	}
	pit_laps(e, m, w->now, c->lease_ns);
	if (m->owner != w->face && !pit_lives(e, m, m->owner))
		ndn_pit_own(m, w->face);
	pit_add(e, m, w->face);
	ndn_count(NDN_STAT_INSERTED);
	if (pit_leaving(e, m, w->now))
		return NDN_DROP_LEAVING;
	e->flags &= ~NDN_ENTRY_LEAVING;
	m->deletes = 0;
	n = m->ack_len;
	if (n && (w->flags & NDN_FACE_HOST) && pit_confirmed(e, w->now, c->lease_ns)) {
		ndn_count(NDN_STAT_ACK);
		/* Every verifier sees the bounds of a size in this form. */
		n--;
		HIDE(n);
		if (n >= NDN_ACK_MAX || n >= w->len ||
		    bpf_xdp_store_bytes(ctx, w->base, m->ack, n + 1))
			return PIT_ANSWER;
		return PIT_PLACED + n + 1;
	}
	face_add(m->waiting, w->face);
	if (!m->asked)
		m->asked = w->now;
	pit_insert_left(m, w->now, c->lease_ns);
	return PIT_FORWARD;
}

/* Forward an Interest to @up. Return: a verdict. */
static __always_inline int pass_interest(struct xdp_md *ctx, struct ndn_work *w, __u32 up)
{
	void *end = (void *)(long)ctx->data_end;
	__u8 *hops;

	if (w->v.hop_off) {
		hops = (void *)ndn_at(ctx, w->base + w->v.hop_off);
		if ((void *)(hops + 1) <= end)
			--*hops;
	}
	ndn_count(NDN_STAT_TX_INTEREST);
	return ndn_tx_one(ctx, up, w->base + w->v.packet_off, w->v.packet_len);
}

/* ndn_pit_insert() - handle Interest /insert/P. Return: a verdict. */
__noinline int ndn_pit_insert(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_entry *e;
	struct ndn_more *m;
	__u32 up, act;
	__u64 key;
	int row;

	if (!w || !c)
		return XDP_DROP;
	if (!may_subscribe(w))
		return ndn_drop(NDN_DROP_RIGHT);
	up = ndn_fib_route();
	if (up == NDN_FACE_NONE || up == w->face)
		return ndn_drop(up ? NDN_DROP_BELOW : NDN_DROP_ROUTE);
	key = name_key(w, c, w->size, NDN_MARK_PLAIN);
	w->key = key;
	row = ndn_pit_find(key, w->size);
	if (row == -NDN_DROP_STRAY)
		row = ndn_pit_make(key, up);
	if (row < 0)
		return ndn_drop(-row);
	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return ndn_drop(NDN_DROP_BUSY);
	act = pit_subscribe(ctx, e, m, w, c, up);
	unlock(&e->lock);
	if (act & PIT_FORWARD)
		return pass_interest(ctx, w, up);
	if (act & PIT_PLACED)
		return ndn_tx_one(ctx, w->face, w->base, act & (PIT_PLACED - 1));
	if (!(act & PIT_ANSWER))
		return ndn_drop(act);
	faces_clear(w->faces);
	face_add(w->faces, w->face);
	return ndn_tx_slow(ctx, NDN_FLIGHT_ACK);
}

/* Under the lock. Return: enum pit_act. Clears USED if the entry can go. */
static __always_inline __u32 pit_leave(struct ndn_entry *e, struct ndn_more *m, struct ndn_work *w,
				       const struct ndn_config *c)
{
	bool leaving = e->flags & NDN_ENTRY_LEAVING;

	pit_laps(e, m, w->now, c->lease_ns);
	pit_remove(e, m, w->face);
	ndn_count(NDN_STAT_DELETED);
	if (m->owner == w->face)
		pit_heir(e, m);
	if (!leaving && pit_any_living(e, m))
		return PIT_ANSWER;
	if (e->up == w->face) {
		pit_end(e, m);
		return PIT_ANSWER;
	}
	if (!leaving)
		faces_clear(m->leavers);
	pit_delete_left(e, m, w->now, c->leave_ns);
	face_add(m->leavers, w->face);
	e->acked = 0;
	m->asked = 0;
	faces_clear(m->waiting);
	return PIT_FORWARD;
}

/* SignatureInfo of type Null (200), and an empty SignatureValue. */
#define NO_SIGNATURE 0x0017c8011b0316ULL
#define NO_SIGNATURE_LEN 7

/*
 * Turn the Interest in hand into an empty, unsigned Data of the same name. It
 * needs no signature: it only ends repeats. The Name stays where it is.
 */
static __always_inline int pit_deleted_answer(struct xdp_md *ctx, struct ndn_work *w)
{
	void *end = (void *)(long)ctx->data_end, *p;
	__u32 value = w->base + w->v.name_off, size = w->v.name_len;
	__u32 name = value - (size < 253 ? 2 : 4), after = value + size;
	__u32 body = after - name + NO_SIGNATURE_LEN;
	__u32 head = body < 253 ? 2 : 4;

	if (after + NO_SIGNATURE_LEN > w->base + w->v.packet_off + w->v.packet_len)
		return ndn_drop(NDN_DROP_ROOM);
	p = (void *)ndn_at(ctx, after);
	if (p + NO_SIGNATURE_LEN > end)
		return ndn_drop(NDN_DROP_ROOM);
	store32(p, (__u32)NO_SIGNATURE);
	store16(p + 4, NO_SIGNATURE >> 32);
	*(__u8 *)(p + 6) = NO_SIGNATURE >> 48;
	p = (void *)ndn_at(ctx, name - head);
	if (p + 4 > end)
		return ndn_drop(NDN_DROP_ROOM);
	if (head == 2)
		store16(p, TRIB_NDN_DATA | body << 8);
	else
		store32(p, TRIB_NDN_DATA | 253 << 8 | (__u32)bpf_htons(body) << 16);
	return ndn_tx_one(ctx, w->face, name - head, head + body);
}

/* ndn_pit_delete() - handle Interest /delete/P. Return: a verdict. */
__noinline int ndn_pit_delete(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	__u32 act = PIT_ANSWER, up = 0;
	struct ndn_entry *e;
	struct ndn_more *m;
	int row;

	if (!w || !c)
		return XDP_DROP;
	row = ndn_pit_find(name_key(w, c, w->size, NDN_MARK_PLAIN), w->size);
	if (row == -NDN_DROP_BUSY)
		return ndn_drop(NDN_DROP_BUSY);
	if (row < 0)
		return pit_deleted_answer(ctx, w);
	e = pit_entry(row);
	m = pit_more(row);
	if (e && m) {
		up = e->up;
		act = pit_leave(e, m, w, c);
		pit_done(e, row);
	}
	if (act & PIT_FORWARD)
		return pass_interest(ctx, w, up);
	return pit_deleted_answer(ctx, w);
}

/* ndn_pit_deleted() - send Data /delete/P to its askers. Return: a verdict. */
__noinline int ndn_pit_deleted(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_entry *e;
	struct ndn_more *m;
	__u64 any = 0;
	bool recent;
	int row;

	if (!w || !c)
		return XDP_DROP;
	row = ndn_pit_find(name_key(w, c, w->size, NDN_MARK_PLAIN), w->size);
	if (row < 0)
		return ndn_drop(-row);
	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return ndn_drop(NDN_DROP_BUSY);
	if (e->up != w->face || !(e->flags & NDN_ENTRY_LEAVING)) {
		unlock(&e->lock);
		return ndn_drop(NDN_DROP_STRAY);
	}
	recent = pit_leaving(e, m, w->now);
	pit_delete_done(e, m, w->now, c->leave_ns);
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++) {
		w->faces[i] = recent ? m->leavers[i] : 0;
		any |= w->faces[i];
		m->leavers[i] = 0;
	}
	pit_laps(e, m, w->now, c->lease_ns);
	if (!pit_any_living(e, m) && !pit_expects(e, m, w->now))
		pit_end(e, m);
	pit_done(e, row);
	return any ? tx_faces(ctx, w, c) : ndn_drop(NDN_DROP_NOBODY);
}

/* Upstream acknowledges an insert: the receivers are the faces that wait. */
static __always_inline __u32 pit_acknowledged(struct xdp_md *ctx, struct ndn_entry *e,
					      struct ndn_more *m, struct ndn_work *w)
{
	__u32 n = w->v.packet_len;

	if (pit_ack_is_old(m, w->now))
		return NDN_DROP_LATE;
	if (!m->asked)
		return NDN_DROP_STRAY;
	e->acked = m->asked;
	m->asked = 0;
	m->ack_len = 0;
	n--;
	HIDE(n);
	if (n < NDN_ACK_MAX && !bpf_xdp_load_bytes(ctx, w->base + w->v.packet_off, m->ack, n + 1))
		m->ack_len = n + 1;
	ndn_count(NDN_STAT_CONFIRMED);
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++) {
		w->faces[i] |= pit_living(e, m, i) & m->waiting[i];
		m->waiting[i] = 0;
	}
	return 0;
}

/* Under the lock. Return: 0, or the reason to drop. */
static __always_inline __u32 pit_take(struct xdp_md *ctx, struct ndn_entry *e, struct ndn_more *m,
				      struct ndn_work *w, const struct ndn_config *c)
{
	if (e->up != w->face)
		return NDN_DROP_UPSTREAM;
	pit_laps(e, m, w->now, c->lease_ns);
	if (w->job == w->count)
		return pit_acknowledged(ctx, e, m, w);
	if (!pit_window(e, w, c->lease_ns / 3))
		return NDN_DROP_SEEN;
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		w->faces[i] |= pit_living(e, m, i);
	return 0;
}

/*
 * Add the subscribers to the receivers of Data /distribute/P... Return: 0, or
 * the reason to drop.
 */
static __always_inline __u32 pit_distribute(struct xdp_md *ctx, struct ndn_work *w,
					    const struct ndn_config *c)
{
	struct ndn_entry *e;
	struct ndn_more *m;
	__u32 why;
	int row = w->pit_row;

	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return NDN_DROP_STRAY;
	if (!try_lock(&e->lock))
		return NDN_DROP_BUSY;
	/* ndn_pit_find() inlined for the usual case: a call costs too much here. */
	if (!pit_is(w, e, m, w->pit_len)) {
		unlock(&e->lock);
		row = ndn_pit_find(w->pit_key, w->pit_len);
		if (row < 0)
			return -row;
		e = pit_entry(row);
		m = pit_more(row);
		if (!e || !m)
			return NDN_DROP_BUSY;
	}
	why = pit_take(ctx, e, m, w, c);
	unlock(&e->lock);
	return why;
}

#endif /* TRIB_BPF_PIT_H */
