/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One row of the persistent PIT, under its lock: name, subscribers, window. A
 * distribution touches the two cache lines of struct ndn_entry; struct ndn_more
 * costs a cache miss more and is read only where needed.
 */
#ifndef TRIB_BPF_PIT_ROW_H
#define TRIB_BPF_PIT_ROW_H

#include "fib.h"
#include "packet/lock.h"

static __always_inline struct ndn_entry *pit_entry(__u32 row)
{
	return bpf_map_lookup_elem(&ndn_pit, &row);
}

static __always_inline struct ndn_more *pit_more(__u32 row)
{
	return bpf_map_lookup_elem(&ndn_more, &row);
}

/* ndn_pit_rest_is() - compare the part of the name behind NDN_NEAR_BYTES */
__noinline int ndn_pit_rest_is(const struct ndn_more *m, __u32 len)
{
	struct ndn_work *w = ndn_work();
	__u32 i;

	if (!w || !m)
		return 0;
	for (i = 0; i < sizeof(m->name) / 8; i++) {
		if (NDN_NEAR_BYTES + 8 * i >= len)
			break;
		if (load64(m->name + 8 * i) != name_word_of(w, NDN_NEAR_BYTES + 8 * i, len))
			return 0;
	}
	return 1;
}

/* Does the row hold the entry of the name's first @len bytes? */
static __always_inline bool pit_is(const struct ndn_work *w, const struct ndn_entry *e,
				   const struct ndn_more *m, __u32 len)
{
	__u32 i;

	if (!(e->flags & NDN_ENTRY_USED) || e->len != len)
		return false;
	for (i = 0; i < NDN_NEAR_BYTES / 8; i++) {
		if (8 * i >= len)
			return true;
		if (load64(e->name + 8 * i) != name_word_of(w, 8 * i, len))
			return false;
	}
	return len <= NDN_NEAR_BYTES || ndn_pit_rest_is(m, len);
}

/* ndn_pit_name() - store the name of the packet in the row */
__noinline int ndn_pit_name(struct ndn_entry *e, struct ndn_more *m)
{
	struct ndn_work *w = ndn_work();
	__u32 i, len;

	if (!w || !e || !m)
		return 0;
	len = w->size;
	e->len = len;
	m->count = w->count;
	for (i = 0; i < NDN_NEAR_BYTES / 8; i++)
		store64(e->name + 8 * i, name_word_of(w, 8 * i, len));
	if (len <= NDN_NEAR_BYTES)
		return 0;
	for (i = 0; i < sizeof(m->name) / 8; i++)
		store64(m->name + 8 * i, name_word_of(w, NDN_NEAR_BYTES + 8 * i, len));
	return 0;
}

/* ndn_pit_wide_laps() - pit_laps() for faces from 64 on. Return: any alive? */
__noinline int ndn_pit_wide_laps(struct ndn_more *m, __u64 n)
{
	__u64 any = 0;

	if (!m)
		return 0;
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS - 1; i++) {
		m->live[2][i] = n == 1 ? m->live[1][i] : n == 2 ? m->live[0][i] : 0;
		m->live[1][i] = n == 1 ? m->live[0][i] : 0;
		m->live[0][i] = 0;
		any |= m->live[2][i] | m->live[1][i];
	}
	return any != 0;
}

/* Shift out the half leases that are over. */
static __always_inline void pit_laps(struct ndn_entry *e, struct ndn_more *m, __u64 now,
				     __u64 lease)
{
	__u64 lap = lease / 2 + 1, n;

	if (now < e->lap_end)
		return;
	n = (now - e->lap_end) / lap + 1;
	e->lap_end += n * lap;
	e->live[2] = n == 1 ? e->live[1] : n == 2 ? e->live[0] : 0;
	e->live[1] = n == 1 ? e->live[0] : 0;
	e->live[0] = 0;
	if ((e->flags & NDN_ENTRY_WIDE) && !ndn_pit_wide_laps(m, n))
		e->flags &= ~NDN_ENTRY_WIDE;
}

/* Word @word of the set of subscribed faces. */
static __always_inline __u64 pit_living(const struct ndn_entry *e, const struct ndn_more *m,
					int word)
{
	if (!word)
		return e->live[0] | e->live[1] | e->live[2];
	if (!(e->flags & NDN_ENTRY_WIDE))
		return 0;
	return m->live[0][word - 1] | m->live[1][word - 1] | m->live[2][word - 1];
}

static __always_inline bool pit_any_living(const struct ndn_entry *e, const struct ndn_more *m)
{
	__u64 any = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		any |= pit_living(e, m, i);
	return any;
}

/* ndn_pit_wide_add() - pit_add() for faces from 64 on */
__noinline int ndn_pit_wide_add(struct ndn_entry *e, struct ndn_more *m, __u32 face)
{
	__u32 word = (face >> 6) - 1;

	HIDE(word);
	if (!e || !m || word >= NDN_FACE_WORDS - 1)
		return 0;
	if (!(e->flags & NDN_ENTRY_WIDE)) {
		__builtin_memset(m->live, 0, sizeof(m->live));
		e->flags |= NDN_ENTRY_WIDE;
	}
	m->live[0][word] |= 1ULL << (face & 63);
	return 0;
}

/* Subscribe a face, or renew it. */
static __always_inline void pit_add(struct ndn_entry *e, struct ndn_more *m, __u32 face)
{
	if (face < 64)
		e->live[0] |= 1ULL << face;
	else
		ndn_pit_wide_add(e, m, face);
}

/* Unsubscribe a face. */
static __always_inline void pit_remove(struct ndn_entry *e, struct ndn_more *m, __u32 face)
{
	__u64 others = ~(1ULL << (face & 63));
	__u32 word = (face >> 6) - 1;

	HIDE(word);
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_LAPS; i++)
		if (face < 64)
			e->live[i] &= others;
		else if ((e->flags & NDN_ENTRY_WIDE) && word < NDN_FACE_WORDS - 1)
			m->live[i][word] &= others;
}

/* Is @face subscribed? */
static __always_inline bool pit_lives(const struct ndn_entry *e, const struct ndn_more *m,
				      __u32 face)
{
	__u64 set = 0;

	if (face < 64)
		return (e->live[0] | e->live[1] | e->live[2]) >> face & 1;
#pragma clang loop unroll(full)
	for (int i = 1; i < NDN_FACE_WORDS; i++)
		if (face >> 6 == i)
			set = pit_living(e, m, i);
	return set >> (face & 63) & 1;
}

/* The entry begins to count for @face. The order of changes does not matter. */
static __always_inline void pit_count(__u32 face)
{
	struct ndn_owner *o = ndn_owner(face), *all = ndn_owner(0);

	if (o && all && __sync_fetch_and_add(&o->entries, 1) >= NDN_ENTRIES_OWN)
		__sync_fetch_and_add(&all->entries, 1);
}

static __always_inline void pit_uncount(__u32 face)
{
	struct ndn_owner *o = ndn_owner(face), *all = ndn_owner(0);

	if (o && all && __sync_fetch_and_add(&o->entries, -1) > NDN_ENTRIES_OWN)
		__sync_fetch_and_add(&all->entries, -1);
}

/* ndn_pit_own() - the owner left: count the entry for @face instead */
__noinline int ndn_pit_own(struct ndn_more *m, __u32 face)
{
	if (!m)
		return 0;
	pit_uncount(m->owner);
	m->owner = face;
	pit_count(face);
	return 0;
}

/* The owner is gone: the entry counts for one of its subscribers, if there are any. */
static __always_inline void pit_heir(struct ndn_entry *e, struct ndn_more *m)
{
	__u32 face = NDN_FACE_NONE;
	__u64 set;

#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++) {
		set = pit_living(e, m, i);
		if (!face && set)
			face = 64 * i + __builtin_popcountll((set & -set) - 1);
	}
	if (face)
		ndn_pit_own(m, face);
}

/* End an entry. */
static __always_inline void pit_end(struct ndn_entry *e, struct ndn_more *m)
{
	if (e->flags & NDN_ENTRY_USED)
		pit_uncount(m->owner);
	e->flags = 0;
}

static __always_inline void faces_clear(__u64 *set)
{
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		set[i] = 0;
}

/* Change the upstream face: PENDING again. */
static __always_inline void pit_turn(struct ndn_entry *e, struct ndn_more *m, __u32 up)
{
	e->up = up;
	e->flags &= ~NDN_ENTRY_LEAVING;
	e->acked = 0;
	m->asked = 0;
	m->ack_len = 0;
	m->until = 0;
	m->sent = 0;
	m->inserts = 0;
	m->old = 0;
	m->deletes = 0;
	faces_clear(m->waiting);
}

/*
 * Acknowledgements of one job are all alike, and so are answers to its deletes.
 * Only their number shows that an older one may still come.
 */

/* Is a delete under way, and not old enough to be lost? */
static __always_inline bool pit_leaving(const struct ndn_entry *e, const struct ndn_more *m,
					__u64 now)
{
	return (e->flags & NDN_ENTRY_LEAVING) && now < m->until;
}

/* May an answer come to what left before the last delete's answer? */
static __always_inline bool pit_expects(const struct ndn_entry *e, const struct ndn_more *m,
					__u64 now)
{
	return now < m->until && (m->old || (e->flags & NDN_ENTRY_LEAVING));
}

/* An insert goes up. Earlier ones without an acknowledgement are lost after a while. */
static __always_inline void pit_insert_left(struct ndn_more *m, __u64 now, __u64 lease)
{
	if (now - m->sent >= lease / 4)
		m->inserts = 0;
	m->inserts += m->inserts < 255;
	m->sent = now;
}

/* A delete goes up. */
static __always_inline void pit_delete_left(struct ndn_entry *e, struct ndn_more *m, __u64 now,
					    __u64 leave)
{
	__u32 old = m->inserts;

	if (now < m->until)
		old += m->old;
	else
		m->deletes = 0;
	m->old = old < 255 ? old : 255;
	m->inserts = 0;
	m->deletes += m->deletes < 255;
	m->until = now + leave;
	e->flags |= NDN_ENTRY_LEAVING;
}

/*
 * A delete is answered: whatever left before it is on the last link now, if it is
 * not lost, and is not late for longer than a quarter of @leave.
 */
static __always_inline void pit_delete_done(struct ndn_entry *e, struct ndn_more *m, __u64 now,
					    __u64 leave)
{
	if (now + leave / 4 < m->until)
		m->until = now + leave / 4;
	m->deletes -= m->deletes > 0;
	if (!m->deletes)
		e->flags &= ~NDN_ENTRY_LEAVING;
}

/* An acknowledgement comes. Is it for an insert from before the last delete? */
static __always_inline bool pit_ack_is_old(struct ndn_more *m, __u64 now)
{
	if (m->old && now < m->until) {
		m->old--;
		return true;
	}
	m->inserts -= m->inserts > 0;
	return false;
}

/* Test and set: is the segment new to the entry? */
static __always_inline bool pit_window(struct ndn_entry *e, const struct ndn_work *w, __u64 age)
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
		e->bits = ahead < NDN_WINDOW ? e->bits << ahead | 1 : 1;
		e->segment = w->segment;
	} else {
		behind = e->segment - w->segment;
		if (behind >= NDN_WINDOW || (e->bits >> behind & 1))
			return false;
		e->bits |= 1ULL << behind;
	}
	e->taken = w->now;
	return true;
}

#endif /* TRIB_BPF_PIT_ROW_H */
