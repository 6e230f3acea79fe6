/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an operator takes away: an entry, a segment of the cache, all that a
 * face has left behind. Here, since only BPF can hold a row's lock.
 */
#ifndef TRIB_BPF_NAMES_FORGET_H
#define TRIB_BPF_NAMES_FORGET_H

#include "names_sweep.h"

/* names_hash() of the row's name. */
static __always_inline __u64 entry_key(const struct names_config *c,
				       const struct names_entry *e,
				       const struct names_more *m)
{
	__u32 near = NAMES_NEAR_BYTES / 8, len = e->len, i;
	__u64 sum = 0;

	for (i = 0; i < NAMES_NEAR_BYTES / 8 && 8 * i < len; i++)
		sum += names_hash_word(load64(e->name + 8 * i), c->seed[i]);
	for (i = 0; i < sizeof(m->name) / 8 && 8 * (near + i) < len; i++)
		sum += names_hash_word(load64(m->name + 8 * i),
				       c->seed[near + i]);
	return names_hash_end(sum, len, NAMES_PLAIN);
}

/* Return: 0, or 1: the row was held for too long. */
static __always_inline int forget_entry(const struct names_forget *f)
{
	const struct names_config *c = names_conf();
	struct names_entry *e = pit_entry(f->row);
	struct names_more *m = pit_more(f->row);

	if (!c || !e || !m)
		return 0;
	if (!try_lock(&e->lock))
		return 1;
	/* It may be another name's by now. */
	if (!(e->flags & NAMES_ENTRY_USED) || entry_key(c, e, m) != f->key) {
		unlock(&e->lock);
		return 0;
	}
	e->flags = 0;
	pit_done(e, f->row);
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

static __always_inline void forget_subscriber(__u32 row, struct names_forget *f)
{
	struct names_entry *e = pit_entry(row);
	struct names_more *m = pit_more(row);

	if (!e || !m)
		return;
	if (!try_lock(&e->lock)) {
		f->busy = 1;
		return;
	}
	if (e->flags & NAMES_ENTRY_USED) {
		pit_remove(e, m, f->face);
		face_remove(m->waiting, f->face);
		face_remove(m->leavers, f->face);
		if (e->up == f->face)
			pit_turn(e, m, NAMES_NOBODY);
	}
	unlock(&e->lock);
}

static long forget_bucket(__u32 bucket, struct names_forget *f)
{
	struct names_tags *t = pit_bucket(bucket);
	__u32 way;

	if (!t)
		return 1;
	for (way = 0; way < NAMES_WAYS; way++)
		if (*(volatile __u16 *)&t->tag[way])
			forget_subscriber(bucket * NAMES_WAYS + way, f);
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
	const struct names_config *c = names_conf();
	struct names_forget f = *what;

	if (!c)
		return 0;
	switch (f.kind) {
	case NAMES_FORGET_ENTRY:
		return forget_entry(&f);
	case NAMES_FORGET_KEPT:
		return forget_kept(f.place);
	case NAMES_FORGET_FACE:
		f.busy = 0;
		bpf_loop(c->buckets, forget_bucket, &f, 0);
		bpf_for_each_map_elem(&names_asks, forget_asker, &f, 0);
		return f.busy;
	}
	return 0;
}

#endif /* TRIB_BPF_NAMES_FORGET_H */
