/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The persistent PIT: one entry under its lock word. Insert, delete, what
 * upstream acknowledges, and who gets a distribution.
 */
#ifndef TRIB_BPF_PIT_H
#define TRIB_BPF_PIT_H

#include "fib.h"
#include "lock.h"

/* Half leases that are over are shifted out. */
static __always_inline void pit_laps(struct names_entry *e, __u64 now,
				     __u64 lease)
{
	__u64 lap = lease / 2 + 1, n;

	if (now < e->lap_end)
		return;
	n = (now - e->lap_end) / lap + 1;
	e->lap_end += n * lap;
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++) {
		e->live[2][i] = n == 1	 ? e->live[1][i]
				: n == 2 ? e->live[0][i]
					 : 0;
		e->live[1][i] = n == 1 ? e->live[0][i] : 0;
		e->live[0][i] = 0;
	}
}

static __always_inline __u64 pit_living(const struct names_entry *e, int word)
{
	return e->live[0][word] | e->live[1][word] | e->live[2][word];
}

static __always_inline bool pit_any_living(const struct names_entry *e)
{
	__u64 any = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++)
		any |= pit_living(e, i);
	return any;
}

static __always_inline void faces_clear(__u64 *set)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++)
		set[i] = 0;
}

/* Upstream is elsewhere: nothing that was known holds there. */
static __always_inline void pit_turn(struct names_entry *e, __u32 up)
{
	e->up = up;
	e->acked = 0;
	e->asked = 0;
	e->left = 0;
	e->ack_len = 0;
	faces_clear(e->waiting);
	faces_clear(e->leavers);
}

/* pit_make() - an entry for the name, by @key. Return: 0, or why not. */
__noinline int pit_make(__u64 key, __u32 up)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	struct names_entry *e;
	int rc;

	if (!w || !c)
		return NAMES_DROP_FULL;
	e = &w->new.entry;
	__builtin_memset(e, 0, offsetof(struct names_entry, name));
	pit_turn(e, up);
	e->lap_end = w->now + c->lease_ns / 2 + 1;
	name_copy(&e->name, w->size, w->count, NAMES_PLAIN);
	rc = bpf_map_update_elem(&names_pit, &key, e, BPF_NOEXIST);
	if (!rc)
		names_count(NAMES_NEW);
	/* Another CPU was faster: its entry is as good. */
	return rc && rc != -EEXIST ? NAMES_DROP_FULL : 0;
}

/*
 * An entry is far away, and the lock's exchange lets no later load begin before
 * it is done: what will be looked at begins to come before.
 */
static __always_inline void pit_call(const struct names_entry *e)
{
	(void)*(volatile __u64 *)&e->acked;
	(void)*(volatile __u64 *)&e->live[0][0];
	(void)*(volatile __u64 *)&e->live[2][0];
	(void)*(volatile __u64 *)&e->name.value[24];
}

/* Is @e, locked, the entry of the name's first @len bytes? 0, or why not. */
static __always_inline __u32 pit_check(const struct names_entry *e, __u32 len)
{
	if (e->gone)
		return NAMES_DROP_BUSY;
	return name_is(&e->name, len, NAMES_PLAIN) ? 0 : NAMES_DROP_COLLISION;
}

/* What becomes of an insert or delete; else enum names_stat: it is dropped. */
enum pit_act {
	PIT_FORWARD = 1 << 16,
	PIT_ANSWER = 1 << 17, /* by what the entry has, or else is to be made */
	PIT_PLACED = 1 << 18, /* and this has been done: + bytes */
};

static __always_inline bool pit_confirmed(const struct names_entry *e,
					  __u64 now, __u64 lease)
{
	return e->acked && now - e->acked < lease / 3;
}

/* Under the lock. Return: enum pit_act. */
static __always_inline __u32 pit_subscribe(struct xdp_md *ctx,
					   struct names_entry *e,
					   struct names_work *w,
					   const struct names_config *c,
					   __u32 up)
{
	__u32 n;

	if (e->up != up) {
		pit_turn(e, up);
		names_count(NAMES_TURNED);
	}
	pit_laps(e, w->now, c->lease_ns);
	face_add(e->live[0], w->face);
	names_count(NAMES_INSERTED);
	if (e->left && w->now - e->left < c->leave_ns)
		return NAMES_DROP_LEAVING;
	e->left = 0;
	n = e->ack_len;
	if (n && (w->flags & NAMES_FACE_HOST) &&
	    pit_confirmed(e, w->now, c->lease_ns)) {
		names_count(NAMES_ACK);
		/* In a form in which every verifier sees its bounds. */
		n--;
		HIDE(n);
		if (n >= NAMES_ACK_MAX || n >= w->len ||
		    bpf_xdp_store_bytes(ctx, w->base, e->ack, n + 1))
			return PIT_ANSWER;
		return PIT_PLACED + n + 1;
	}
	face_add(e->waiting, w->face);
	if (!e->asked)
		e->asked = w->now;
	return PIT_FORWARD;
}

/* An Interest goes on to @up. Return: a verdict. */
static __always_inline int pass_interest(struct xdp_md *ctx,
					 struct names_work *w, __u32 up)
{
	void *end = (void *)(long)ctx->data_end;
	__u8 *hops;

	if (w->v.hop_off) {
		hops = (void *)ndn_at(ctx, w->base + w->v.hop_off);
		if ((void *)(hops + 1) <= end)
			--*hops;
	}
	names_count(NAMES_TX_INTEREST);
	return tx_one(ctx, up, w->base + w->v.packet_off, w->v.packet_len);
}

/* pit_insert() - /insert/P. Return: a verdict. */
__noinline int pit_insert(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	struct names_entry *e;
	__u32 up, act;
	__u64 key;

	if (!w || !c)
		return XDP_DROP;
	if (!may_subscribe(w))
		return names_drop(NAMES_DROP_RIGHT);
	up = fib_route();
	if (up == NAMES_NOBODY || up == w->face)
		return names_drop(up ? NAMES_DROP_BELOW : NAMES_DROP_ROUTE);
	key = name_key(w, c, w->size, NAMES_PLAIN);
	w->key = key;
	e = bpf_map_lookup_elem(&names_pit, &key);
	if (!e) {
		act = pit_make(key, up);
		if (act)
			return names_drop(act);
		e = bpf_map_lookup_elem(&names_pit, &key);
	}
	if (!e)
		return names_drop(NAMES_DROP_BUSY);
	pit_call(e);
	if (!try_lock(&e->lock))
		return names_drop(NAMES_DROP_BUSY);
	act = pit_check(e, w->size);
	if (!act)
		act = pit_subscribe(ctx, e, w, c, up);
	unlock(&e->lock);
	if (act & PIT_FORWARD)
		return pass_interest(ctx, w, up);
	if (act & PIT_PLACED)
		return tx_one(ctx, w->face, w->base, act & (PIT_PLACED - 1));
	if (!(act & PIT_ANSWER))
		return names_drop(act);
	faces_clear(w->faces);
	face_add(w->faces, w->face);
	return tx_slow(ctx, NAMES_FLIGHT_ACK);
}

/* Under the lock. Return: enum pit_act; *@over: nobody needs the entry. */
static __always_inline __u32 pit_leave(struct names_entry *e,
				       struct names_work *w,
				       const struct names_config *c, bool *over)
{
	pit_laps(e, w->now, c->lease_ns);
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_LAPS; i++)
		face_remove(e->live[i], w->face);
	names_count(NAMES_DELETED);
	if (!e->left && pit_any_living(e))
		return PIT_ANSWER;
	if (e->up == w->face) {
		e->gone = 1;
		*over = true;
		return PIT_ANSWER;
	}
	if (!e->left)
		faces_clear(e->leavers);
	e->left = w->now;
	face_add(e->leavers, w->face);
	e->acked = 0;
	e->asked = 0;
	faces_clear(e->waiting);
	return PIT_FORWARD;
}

/* SignatureInfo of type Null (200), and an empty SignatureValue. */
#define NO_SIGNATURE 0x0017c8011b0316ULL
#define NO_SIGNATURE_LEN 7

/*
 * The Interest in hand becomes an empty Data of its name, unsigned: nothing
 * depends on who says that nobody is subscribed. The Name stays where it is.
 */
static __always_inline int pit_deleted_answer(struct xdp_md *ctx,
					      struct names_work *w)
{
	void *end = (void *)(long)ctx->data_end, *p;
	__u32 value = w->base + w->v.name_off, size = w->v.name_len;
	__u32 name = value - (size < 253 ? 2 : 4), after = value + size;
	__u32 body = after - name + NO_SIGNATURE_LEN;
	__u32 head = body < 253 ? 2 : 4;

	if (after + NO_SIGNATURE_LEN >
	    w->base + w->v.packet_off + w->v.packet_len)
		return names_drop(NAMES_DROP_ROOM);
	p = (void *)ndn_at(ctx, after);
	if (p + NO_SIGNATURE_LEN > end)
		return names_drop(NAMES_DROP_ROOM);
	store32(p, (__u32)NO_SIGNATURE);
	store16(p + 4, NO_SIGNATURE >> 32);
	*(__u8 *)(p + 6) = NO_SIGNATURE >> 48;
	p = (void *)ndn_at(ctx, name - head);
	if (p + 4 > end)
		return names_drop(NAMES_DROP_ROOM);
	if (head == 2)
		store16(p, TRIB_NDN_DATA | body << 8);
	else
		store32(p, TRIB_NDN_DATA | 253 << 8 |
				   (__u32)bpf_htons(body) << 16);
	return tx_one(ctx, w->face, name - head, head + body);
}

/* pit_delete() - /delete/P. Return: a verdict. */
__noinline int pit_delete(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	__u32 act = PIT_ANSWER, up = 0;
	struct names_entry *e;
	bool over = false;
	__u64 key;

	if (!w || !c)
		return XDP_DROP;
	key = name_key(w, c, w->size, NAMES_PLAIN);
	e = bpf_map_lookup_elem(&names_pit, &key);
	if (e) {
		if (!try_lock(&e->lock))
			return names_drop(NAMES_DROP_BUSY);
		up = e->up;
		/* Of another name, or just gone: there is no such entry. */
		if (!pit_check(e, w->size))
			act = pit_leave(e, w, c, &over);
		unlock(&e->lock);
	}
	if (over && !bpf_map_delete_elem(&names_pit, &key))
		names_count(NAMES_GONE);
	if (act & PIT_FORWARD)
		return pass_interest(ctx, w, up);
	return pit_deleted_answer(ctx, w);
}

/*
 * pit_deleted() - Data /delete/P: to those who wait for it. Return: a verdict.
 */
__noinline int pit_deleted(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	bool over = false, recent;
	struct names_entry *e;
	__u64 key, any = 0;

	if (!w || !c)
		return XDP_DROP;
	key = name_key(w, c, w->size, NAMES_PLAIN);
	e = bpf_map_lookup_elem(&names_pit, &key);
	if (!e)
		return names_drop(NAMES_DROP_STRAY);
	if (!try_lock(&e->lock))
		return names_drop(NAMES_DROP_BUSY);
	if (pit_check(e, w->size) || e->up != w->face || !e->left) {
		unlock(&e->lock);
		return names_drop(NAMES_DROP_STRAY);
	}
	recent = w->now - e->left < c->leave_ns;
	e->left = 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++) {
		w->faces[i] = recent ? e->leavers[i] : 0;
		any |= w->faces[i];
	}
	pit_laps(e, w->now, c->lease_ns);
	if (!pit_any_living(e)) {
		e->gone = 1;
		over = true;
	}
	unlock(&e->lock);
	if (over && !bpf_map_delete_elem(&names_pit, &key))
		names_count(NAMES_GONE);
	return any ? tx_faces(ctx, w, c) : names_drop(NAMES_DROP_NOBODY);
}

/* Is the segment new to the entry? Then it is not any more. */
static __always_inline bool pit_window(struct names_entry *e,
				       const struct names_work *w, __u64 age)
{
	__u64 behind, ahead;

	if (!e->taken || w->now - e->taken > age || w->version > e->version) {
		e->version = w->version;
		e->segment = w->segment;
		e->bits = 1;
	} else if (w->version < e->version) {
		return false;
	} else if (w->segment > e->segment) {
		ahead = w->segment - e->segment;
		e->bits = ahead < NAMES_WINDOW ? e->bits << ahead | 1 : 1;
		e->segment = w->segment;
	} else {
		behind = e->segment - w->segment;
		if (behind >= NAMES_WINDOW || (e->bits >> behind & 1))
			return false;
		e->bits |= 1ULL << behind;
	}
	e->taken = w->now;
	return true;
}

/* Upstream acknowledges our insert: to those who wait for that. */
static __always_inline __u32 pit_acknowledged(struct xdp_md *ctx,
					      struct names_entry *e,
					      struct names_work *w)
{
	__u32 n = w->v.packet_len;

	if (!e->asked)
		return NAMES_DROP_STRAY;
	e->acked = e->asked;
	e->asked = 0;
	e->ack_len = 0;
	n--;
	HIDE(n);
	if (n < NAMES_ACK_MAX &&
	    !bpf_xdp_load_bytes(ctx, w->base + w->v.packet_off, e->ack, n + 1))
		e->ack_len = n + 1;
	names_count(NAMES_CONFIRMED);
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++) {
		w->faces[i] |= pit_living(e, i) & e->waiting[i];
		e->waiting[i] = 0;
	}
	return 0;
}

/* Under the lock. Return: 0: taken; or why not. */
static __always_inline __u32 pit_take(struct xdp_md *ctx, struct names_entry *e,
				      struct names_work *w,
				      const struct names_config *c, __u32 len)
{
	/* As pit_check(); but here a call is too dear. */
	if (e->gone)
		return NAMES_DROP_BUSY;
	if (!name_same(w, &e->name, len, NAMES_PLAIN))
		return NAMES_DROP_COLLISION;
	if (e->up != w->face)
		return NAMES_DROP_UPSTREAM;
	pit_laps(e, w->now, c->lease_ns);
	if (w->job == w->count)
		return pit_acknowledged(ctx, e, w);
	if (!pit_window(e, w, c->lease_ns / 3))
		return NAMES_DROP_SEEN;
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++)
		w->faces[i] |= pit_living(e, i);
	return 0;
}

/*
 * Data /distribute/P...: who gets it by subscription joins the faces of the
 * work. Return: 0: taken; or why not.
 */
static __always_inline __u32 pit_distribute(struct xdp_md *ctx,
					    struct names_work *w,
					    const struct names_config *c)
{
	__u32 len = name_at(w, w->job), why;
	struct names_entry *e;
	__u64 key;

	key = name_key(w, c, len, NAMES_PLAIN);
	e = bpf_map_lookup_elem(&names_pit, &key);
	if (!e)
		return NAMES_DROP_STRAY;
	pit_call(e);
	if (!try_lock(&e->lock))
		return NAMES_DROP_BUSY;
	why = pit_take(ctx, e, w, c, len);
	unlock(&e->lock);
	return why;
}

#endif /* TRIB_BPF_PIT_H */
