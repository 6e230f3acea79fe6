/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operator takes away: an entry, a segment of the cache, all that a
 * face has left behind. Here, since only BPF can hold a row's lock.
 */
#ifndef TRIB_BPF_NAMES_FORGET_H
#define TRIB_BPF_NAMES_FORGET_H

#include "names_sweep.h"

/* Return: 0, or 1: the row was held for too long. */
static __always_inline int forget_entry(__u64 key)
{
	struct names_entry *e = bpf_map_lookup_elem(&names_pit, &key);
	bool mine;

	if (!e)
		return 0;
	if (!try_lock(&e->lock))
		return 1;
	mine = !e->gone;
	e->gone = 1;
	unlock(&e->lock);
	if (mine && !bpf_map_delete_elem(&names_pit, &key))
		names_count(NAMES_GONE);
	return 0;
}

static __always_inline int forget_kept(__u32 place)
{
	struct names_kept *k = bpf_map_lookup_elem(&names_cache, &place);

	if (!k)
		return 0;
	if (!try_lock(&k->lock))
		return 1;
	k->len = 0;
	unlock(&k->lock);
	return 0;
}

static long forget_subscriber(void *map, __u64 *key, struct names_entry *e,
			      struct names_forget *f)
{
	if (!try_lock(&e->lock)) {
		f->busy = 1;
		return 0;
	}
	for (int i = 0; i < NAMES_LAPS; i++)
		face_remove(e->live[i], f->face);
	face_remove(e->waiting, f->face);
	face_remove(e->leavers, f->face);
	if (e->up == f->face)
		pit_turn(e, NAMES_NOBODY);
	unlock(&e->lock);
	return 0;
}

static long forget_asker(void *map, __u64 *key, struct names_ask *a,
			 struct names_forget *f)
{
	if (!try_lock(&a->lock)) {
		f->busy = 1;
		return 0;
	}
	face_remove(a->faces, f->face);
	if (a->out == f->face)
		a->out = NAMES_NOBODY;
	unlock(&a->lock);
	return 0;
}

static __always_inline int forget(const struct names_forget *what)
{
	struct names_forget f = *what;

	switch (f.kind) {
	case NAMES_FORGET_ENTRY:
		return forget_entry(f.key);
	case NAMES_FORGET_KEPT:
		return forget_kept(f.place);
	case NAMES_FORGET_FACE:
		f.busy = 0;
		bpf_for_each_map_elem(&names_pit, forget_subscriber, &f, 0);
		bpf_for_each_map_elem(&names_asks, forget_asker, &f, 0);
		return f.busy;
	}
	return 0;
}

#endif /* TRIB_BPF_NAMES_FORGET_H */
