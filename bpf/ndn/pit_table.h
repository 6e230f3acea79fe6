/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of the persistent PIT: buckets of tags. Rows never move. A look-up
 * takes only the row's lock and compares the name under it. Adding or removing a
 * row takes the bucket's lock (both buckets, lower first), then the row's, never
 * the other way round.
 */
#ifndef TRIB_BPF_PIT_TABLE_H
#define TRIB_BPF_PIT_TABLE_H

#include "pit_row.h"

#define LANES(x) ((x)*0x0001000100010001ULL)
#define TAG_WORDS (sizeof(struct ndn_tags) / 8)
#define TAG_LANES 2 /* of the first word, taken by the lock */

static __always_inline struct ndn_tags *pit_bucket(__u32 bucket)
{
	return bpf_map_lookup_elem(&ndn_tags, &bucket);
}

/*
 * Find the rows of a bucket with this tag: bit 16 * l + i stands for lane l (a
 * tag) of word i. One set has room for eight words, so both buckets are searched
 * without a branch.
 */
static __always_inline __u64 pit_lanes(const struct ndn_tags *t, __u64 tag)
{
	__u64 hits = 0, diff;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < TAG_WORDS; i++) {
		diff = load64((const void *)t + 8 * i) ^ LANES(tag);
		diff |= (diff & LANES(0x7fffULL)) + LANES(0x7fffULL);
		/* The upper bit of a lane is 0 if all its bits were. */
		diff = ~diff >> 15 & LANES(1ULL);
		if (!i)
			diff &= ~0ULL << 16 * TAG_LANES;
		hits |= diff << i;
	}
	return hits;
}

/**
 * struct pit_found - candidates for a name
 * @hits:   pit_lanes() of the first bucket, then of the second.
 * @bucket: their numbers.
 */
struct pit_found {
	__u64 hits;
	__u32 bucket[2];
};

static __always_inline void pit_look(const struct ndn_config *c, __u64 key, struct pit_found *f)
{
	const struct ndn_tags *one, *two;
	__u64 tag = ndn_tag(key);

	f->bucket[0] = ndn_bucket(key, c->buckets, 0);
	f->bucket[1] = ndn_bucket(key, c->buckets, 1);
	one = pit_bucket(f->bucket[0]);
	two = pit_bucket(f->bucket[1]);
	f->hits = one && two ? pit_lanes(one, tag) | pit_lanes(two, tag) << TAG_WORDS : 0;
}

/* Row of the lowest bit of a set, which must not be empty. */
static __always_inline __u32 pit_lowest(__u64 hits, __u32 one, __u32 two)
{
	__u32 place = __builtin_popcountll((hits & -hits) - 1);
	__u32 lane = place >> 4, word = place & (2 * TAG_WORDS - 1);

	/* Either bucket is as likely: no branch. */
	one += (two - one) * (word / TAG_WORDS);
	return one * NDN_WAYS + word % TAG_WORDS * 4 + lane - TAG_LANES;
}

/*
 * ndn_pit_find() - find and lock the entry of the first @len bytes of the name
 * @key: their hash.
 *
 * Return: its row; -NDN_DROP_BUSY: locked; -NDN_DROP_STRAY: there is none.
 */
__noinline int ndn_pit_find(__u64 key, __u32 len)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_entry *e;
	struct ndn_more *m;
	struct pit_found f;
	__u32 row, i;

	if (!w || !c)
		return -NDN_DROP_STRAY;
	pit_look(c, key, &f);
	for (i = 0; i < 2 * NDN_WAYS; i++) {
		if (!f.hits)
			break;
		row = pit_lowest(f.hits, f.bucket[0], f.bucket[1]);
		f.hits &= f.hits - 1;
		e = pit_entry(row);
		m = pit_more(row);
		if (!e || !m)
			break;
		if (e->len != len)
			continue;
		if (!try_lock(&e->lock))
			return -NDN_DROP_BUSY;
		if (pit_is(w, e, m, len))
			return row & 0x7fffffff;
		unlock(&e->lock);
	}
	return -NDN_DROP_STRAY;
}

/*
 * Prefetch an entry. The exchange that takes its lock lets no later load begin
 * before it is done, so the loads begin here.
 */
static __always_inline void pit_call(const struct ndn_entry *e)
{
	(void)*(volatile __u64 *)&e->lap_end;
	(void)*(volatile __u64 *)&e->name[24];
}

/* Read component @n as a number of @type. Return: whether it is one. */
static __always_inline bool name_number(const struct ndn_work *w, __u32 n, __u8 type, __u64 *number)
{
	__u32 off = name_at(w, n), len = name_at(w, n + 1) - off - 2;

	if (w->raw[off & 0xff] != type || !ndn_number_ok(len))
		return false;
	*number = bpf_be64_to_cpu(name_word(w, off + 2)) >> (64 - 8 * len);
	return true;
}

/* Split the name of a distribution: entry, version, segment. */
static __always_inline void data_job(struct ndn_work *w)
{
	__u32 n = w->count;
	__u64 number = 0;

	w->job = n;
	w->segmented = 0;
	w->segment = 0;
	if (n > 1 && name_number(w, n - 1, TRIB_NDN_SEGMENT, &number)) {
		w->segment = number;
		if (!name_number(w, n - 2, TRIB_NDN_VERSION, &number))
			return;
		w->job = n - 2;
		w->segmented = 1;
	} else if (n && name_number(w, n - 1, TRIB_NDN_VERSION, &number)) {
		w->job = n - 1;
	}
	w->version = number;
}

/*
 * ndn_pit_ahead() - prefetch the entry of a packet whose name has been read
 * @type: of the packet.
 *
 * Takes no lock. Stores the candidate row in struct ndn_work.
 */
__noinline int ndn_pit_ahead(__u32 type)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	const struct ndn_entry *e;
	const struct ndn_more *m;
	struct pit_found f;
	__u32 len, row;

	if (!w || !c)
		return 0;
	len = w->size;
	if (type == TRIB_NDN_DATA) {
		data_job(w);
		len = name_at(w, w->job);
	}
	w->pit_len = len;
	w->pit_key = name_key(w, c, len, NDN_MARK_PLAIN);
	pit_look(c, w->pit_key, &f);
	w->pit_row = NDN_NO_ROW;
	if (!f.hits)
		return 0;
	row = pit_lowest(f.hits, f.bucket[0], f.bucket[1]);
	w->pit_row = row;
	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return 0;
	pit_call(e);
	if (type != TRIB_NDN_DATA)
		(void)*(volatile __u64 *)&m->asked;
	return 0;
}

/* Find a free row in the emptier bucket. Return: < 0: both buckets are full. */
static __always_inline long pit_free_row(const struct ndn_config *c, __u64 key)
{
	__u32 one = ndn_bucket(key, c->buckets, 0);
	__u32 two = ndn_bucket(key, c->buckets, 1);
	const struct ndn_tags *a = pit_bucket(one), *b = pit_bucket(two);
	__u64 first, second;

	if (!a || !b)
		return -1;
	first = pit_lanes(a, 0);
	second = pit_lanes(b, 0);
	if (!(first | second))
		return -1;
	if (__builtin_popcountll(first) >= __builtin_popcountll(second))
		return pit_lowest(first, one, one);
	return pit_lowest(second, two, two);
}

static __always_inline void pit_tag(__u32 row, __u16 tag)
{
	struct ndn_tags *t = pit_bucket(row / NDN_WAYS);
	__u32 way = row % NDN_WAYS;

	HIDE(way);
	if (t && way < NDN_WAYS)
		*(volatile __u16 *)&t->tag[way] = tag;
}

/* May the face in hand have another entry? A host has at most a part of what is shared. */
static __always_inline bool pit_has_room(const struct ndn_work *w, const struct ndn_config *c)
{
	const struct ndn_owner *o = ndn_owner(w->face), *all = ndn_owner(0);
	__u32 most = c->entries;

	if (w->flags & NDN_FACE_HOST)
		most /= NDN_SHARED_PARTS;
	return o && all &&
	       (o->entries < NDN_ENTRIES_OWN ||
		(o->entries < NDN_ENTRIES_OWN + most && all->entries < c->entries));
}

/* ndn_pit_put() - ndn_pit_make() with the locks of both buckets held */
__noinline int ndn_pit_put(__u64 key, __u32 up)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_entry *e;
	struct ndn_more *m;
	long row;

	if (!w || !c)
		return -NDN_DROP_FULL;
	/* Another CPU may have made the entry meanwhile. */
	row = ndn_pit_find(key, w->size);
	if (row != -NDN_DROP_STRAY)
		return row;
	if (!pit_has_room(w, c))
		return -NDN_DROP_QUOTA;
	row = pit_free_row(c, key);
	if (row < 0)
		return -NDN_DROP_FULL;
	e = pit_entry(row);
	m = pit_more(row);
	if (!e || !m)
		return -NDN_DROP_FULL;
	pit_call(e);
	(void)*(volatile __u64 *)&m->asked;
	/* A look-up for the entry that was here before may hold the lock. */
	if (!try_lock(&e->lock))
		return -NDN_DROP_BUSY;
	e->flags = NDN_ENTRY_USED;
	e->lap_end = w->now + c->lease_ns / 2 + 1;
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_LAPS; i++)
		e->live[i] = 0;
	e->taken = 0;
	pit_turn(e, m, up);
	m->owner = w->face;
	pit_count(w->face);
	ndn_pit_name(e, m);
	pit_tag(row, ndn_tag(key));
	ndn_count(NDN_STAT_NEW);
	return row & 0x7fffffff;
}

/*
 * ndn_pit_make() - insert an entry for the name of the packet
 * @key: hash of the name.
 * @up:  upstream face.
 *
 * Return: its row, locked, or minus the reason to drop.
 */
__noinline int ndn_pit_make(__u64 key, __u32 up)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_tags *a, *b;
	__u32 one, two, low;
	int rc;

	if (!c)
		return -NDN_DROP_FULL;
	one = ndn_bucket(key, c->buckets, 0);
	two = ndn_bucket(key, c->buckets, 1);
	low = one < two ? one : two;
	a = pit_bucket(low);
	b = pit_bucket(one + two - low);
	if (!a || !b)
		return -NDN_DROP_FULL;
	if (!try_lock(&a->lock))
		return -NDN_DROP_BUSY;
	if (one != two && !try_lock(&b->lock)) {
		unlock(&a->lock);
		return -NDN_DROP_BUSY;
	}
	rc = ndn_pit_put(key, up);
	if (one != two)
		unlock(&b->lock);
	unlock(&a->lock);
	return rc;
}

/*
 * ndn_pit_release() - free a row whose entry is not USED any more
 *
 * The sweep frees rows of buckets that are locked now.
 */
__noinline int ndn_pit_release(__u32 row)
{
	struct ndn_tags *t = pit_bucket(row / NDN_WAYS);
	struct ndn_entry *e = pit_entry(row);

	if (!t || !e || !try_lock(&t->lock))
		return 0;
	/* A row becomes USED under this lock only. */
	if (!(*(volatile __u8 *)&e->flags & NDN_ENTRY_USED))
		pit_tag(row, 0);
	unlock(&t->lock);
	return 0;
}

#endif /* TRIB_BPF_PIT_TABLE_H */
