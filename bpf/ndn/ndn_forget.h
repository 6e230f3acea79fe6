/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Removal by command: an entry, a segment of the cache, or all traces of a face.
 * It is a BPF program because only BPF can hold the lock of a row.
 */
#ifndef TRIB_BPF_NDN_FORGET_H
#define TRIB_BPF_NDN_FORGET_H

#include "ndn_sweep.h"

/* Return: 0, or 1: the row stayed locked. */
static __always_inline int forget_entry(__u64 key, __u32 row)
{
	struct ndn_tags *t = pit_bucket(row / NDN_WAYS);
	struct ndn_entry *e = pit_entry(row);
	struct ndn_more *m = pit_more(row);
	__u32 way = row % NDN_WAYS;

	HIDE(way);
	/* The row may have a new entry by now. */
	if (!t || !e || !m || way >= NDN_WAYS || t->tag[way] != ndn_tag(key))
		return 0;
	if (!try_lock(&e->lock))
		return 1;
	pit_end(e, m);
	pit_done(e, row);
	return 0;
}

static __always_inline int forget_kept(__u32 place)
{
	struct ndn_kept *k = bpf_map_lookup_elem(&ndn_cache, &place);

	if (!k)
		return 0;
	if (!try_lock(&k->lock))
		return 1;
	k->len = 0;
	unlock(&k->lock);
	return 0;
}

static __always_inline void forget_subscriber(__u32 row, struct ndn_forget *f)
{
	struct ndn_entry *e = pit_entry(row);
	struct ndn_more *m = pit_more(row);
	__u32 face = f->face & (NDN_FACES - 1);

	if (!e || !m || !(*(volatile __u8 *)&e->flags & NDN_ENTRY_USED))
		return;
	if (!try_lock(&e->lock)) {
		f->busy = 1;
		return;
	}
	pit_remove(e, m, face);
	face_remove(m->waiting, face);
	face_remove(m->leavers, face);
	if (e->up == face)
		pit_turn(e, m, NDN_FACE_NONE);
	if (m->owner == face)
		pit_heir(e, m);
	unlock(&e->lock);
}

static long forget_bucket(__u32 i, struct ndn_forget *f)
{
	__u32 bucket = f->place + i, way;
	struct ndn_tags *t = pit_bucket(bucket);

	if (!t)
		return 1;
	for (way = 0; way < NDN_WAYS; way++)
		if (*(volatile __u16 *)&t->tag[way])
			forget_subscriber(bucket * NDN_WAYS + way, f);
	return 0;
}

/* Remove a face from an Interest, which goes on for another that joined. */
static long forget_asker(void *map, __u64 *key, struct ndn_ask *a, struct ndn_forget *f)
{
	__u64 word, now = bpf_ktime_get_ns();
	bool mine, gone = false;
	__u32 seat;

	if (!try_lock(&a->lock)) {
		f->busy = 1;
		return 0;
	}
	seat = a->seat;
	word = a->word;
	face_remove(a->faces, f->face);
	if (a->out == f->face)
		a->out = NDN_FACE_NONE;
	mine = !a->gone && seat_face(word) == f->face;
	if (mine && !(ask_is_joined(a, now) && ndn_ask_heir(a, *key, now)))
		gone = a->gone = 1;
	unlock(&a->lock);
	if (gone)
		asks_delete(*key, seat, word);
	else if (mine)
		ndn_seat_free(seat, word);
	return 0;
}

static __always_inline int forget(const struct ndn_forget *what)
{
	struct ndn_forget f = *what;

	switch (f.kind) {
	case NDN_FORGET_ENTRY:
		return forget_entry(f.key, f.place);
	case NDN_FORGET_KEPT:
		return forget_kept(f.place);
	case NDN_FORGET_FACE:
		f.busy = 0;
		bpf_loop(f.count, forget_bucket, &f, 0);
		if (!f.place)
			bpf_for_each_map_elem(&ndn_asks, forget_asker, &f, 0);
		return f.busy;
	}
	return 0;
}

#endif /* TRIB_BPF_NDN_FORGET_H */
