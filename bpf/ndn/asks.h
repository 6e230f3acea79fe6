/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pending Interests by name: the ordinary PIT. A row has one lifetime, the longest
 * of its Interests, limited to a lease, and to NDN_BARE_LIFE_MS for a face without
 * any right. Its seat (seats.h) is that of the face that made it.
 */
#ifndef TRIB_BPF_ASKS_H
#define TRIB_BPF_ASKS_H

#include "seats.h"

/* Delete a row that this CPU has marked as gone. Return: whether it was there. */
static __always_inline bool asks_delete(__u64 key, __u32 seat, __u64 word)
{
	bool was = !bpf_map_delete_elem(&ndn_asks, &key);

	if (was)
		asks_counted(key, -1);
	ndn_seat_free(seat, word);
	return was;
}

/* ndn_asks_make() - add a row for the Interest in hand. 0, or reason to drop. */
__noinline int ndn_asks_make(void)
{
	struct ndn_work *w = ndn_work();
	struct ndn_ask *a;
	int seat, rc;
	__u64 key;

	if (!w)
		return NDN_DROP_FULL;
	seat = ndn_seat_get();
	if (seat < 0)
		return NDN_DROP_QUOTA;
	key = w->key;
	a = &w->new;
	__builtin_memset(a, 0, offsetof(struct ndn_ask, name));
	a->seat = seat;
	a->word = ndn_seat_fill(seat, w->face, key, w->now);
	ndn_name_copy(&a->name, w->size, w->count, w->mark);
	/* Counted first, so that no look-up misses the row. */
	asks_counted(key, 1);
	rc = bpf_map_update_elem(&ndn_asks, &key, a, BPF_NOEXIST);
	if (rc) {
		asks_counted(key, -1);
		ndn_seat_free(seat, a->word);
	}
	return rc && rc != -EEXIST ? NDN_DROP_FULL : 0;
}

/*
 * ndn_asks_expire() - remove the row if its lifetime is over: the next Interest for
 * the name needs a seat of its own face. A row that was only just made has no
 * lifetime yet.
 */
__noinline int ndn_asks_expire(__u64 key)
{
	struct ndn_work *w = ndn_work();
	struct ndn_ask *a = bpf_map_lookup_elem(&ndn_asks, &key);
	__u32 seat;
	__u64 word;

	if (!w || !a || !try_lock(&a->lock))
		return 0;
	if (a->gone || !a->until || w->now < a->until) {
		unlock(&a->lock);
		return 0;
	}
	a->gone = 1;
	seat = a->seat;
	word = a->word;
	unlock(&a->lock);
	if (asks_delete(key, seat, word))
		ndn_count(NDN_STAT_EXPIRED);
	return 0;
}

/* Longest lifetime of an Interest of the face in hand. */
static __always_inline __u64 asks_life(const struct ndn_work *w, const struct ndn_config *c)
{
	__u64 bare = NDN_BARE_LIFE_MS * SEAT_MS;

	return seat_may_share(w->face) || c->lease_ns < bare ? c->lease_ns : bare;
}

/* Under the lock. Return: 0 to forward the Interest, or the reason not to. */
static __always_inline __u32 asks_join(struct ndn_ask *a, struct ndn_work *w,
				       const struct ndn_config *c, __u32 up)
{
	__u64 life = (__u64)w->v.lifetime_ms * 1000000, most = asks_life(w, c);
	bool lives, had;

	if (life > most)
		life = most;
	lives = w->now < a->until;
	if (!lives) {
		faces_clear(a->faces);
		a->prefix = 0;
		a->until = 0;
	}
	had = face_in(a->faces, w->face);
	face_add(a->faces, w->face);
	if (a->until < w->now + life)
		a->until = w->now + life;
	a->prefix |= !!(w->v.flags & NDN_VIEW_CAN_BE_PREFIX);
	/* Another face asked already. A repeat of the same face is forwarded. */
	if (lives && a->out == up && !had)
		return NDN_DROP_PENDING;
	a->out = up;
	return 0;
}

/* ndn_asks_interest() - one that no cache could answer. Return: a verdict. */
__noinline int ndn_asks_interest(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_ask *a;
	__u32 up, why;
	__u64 key;

	if (!w || !c)
		return XDP_DROP;
	up = ndn_fib_route();
	if (up == NDN_FACE_NONE || up == w->face)
		return ndn_drop(up ? NDN_DROP_BELOW : NDN_DROP_ROUTE);
	key = w->key;
	a = bpf_map_lookup_elem(&ndn_asks, &key);
	if (a && w->now >= *(volatile __u64 *)&a->until) {
		ndn_asks_expire(key);
		a = bpf_map_lookup_elem(&ndn_asks, &key);
	}
	if (!a) {
		why = ndn_asks_make();
		if (why)
			return ndn_drop(why);
		a = bpf_map_lookup_elem(&ndn_asks, &key);
	}
	if (!a || !try_lock(&a->lock))
		return ndn_drop(NDN_DROP_BUSY);
	if (a->gone)
		why = NDN_DROP_BUSY;
	else if (!ndn_name_is(&a->name, w->size, w->mark))
		why = NDN_DROP_COLLISION;
	else
		why = asks_join(a, w, c, up);
	unlock(&a->lock);
	if (!why || why == NDN_DROP_PENDING)
		ndn_count(NDN_STAT_ASKED);
	return why ? ndn_drop(why) : pass_interest(ctx, w, up);
}

/*
 * ndn_asks_take() - remove the pending Interest for the first @len bytes of the
 * name (@prefix: one with CanBePrefix) and add its faces to the receivers.
 * Return: whether there were any.
 */
__noinline int ndn_asks_take(__u64 key, __u32 len, __u32 prefix)
{
	struct ndn_work *w = ndn_work();
	struct ndn_ask *a;
	__u64 any = 0, word;
	__u32 seat;

	if (!w)
		return 0;
	a = bpf_map_lookup_elem(&ndn_asks, &key);
	if (!a || !try_lock(&a->lock))
		return 0;
	if (a->gone || a->out != w->face || (prefix && !a->prefix) ||
	    !ndn_name_is(&a->name, len, w->mark)) {
		unlock(&a->lock);
		return 0;
	}
	a->gone = 1;
	seat = a->seat;
	word = a->word;
	if (w->now < a->until) {
#pragma clang loop unroll(full)
		for (int i = 0; i < NDN_FACE_WORDS; i++) {
			any |= a->faces[i];
			w->faces[i] |= a->faces[i];
		}
	}
	unlock(&a->lock);
	asks_delete(key, seat, word);
	return any != 0;
}

/*
 * Take the pending Interests for the Data in hand: by its whole name, or by all
 * but the last component. Names with a marker match as a whole only.
 */
static __always_inline bool asks_satisfied(struct ndn_work *w, const struct ndn_config *c)
{
	__u32 *rows = asks_rows(w->key), len;
	bool asked = false;

	if (rows && *rows)
		asked = ndn_asks_take(w->key, w->size, 0);
	if (w->mark != NDN_MARK_PLAIN || w->count < 2)
		return asked;
	len = name_at(w, w->count - 1);
	return ndn_asks_take(name_key(w, c, len, w->mark), len, 1) || asked;
}

#endif /* TRIB_BPF_ASKS_H */
