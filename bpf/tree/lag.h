/* SPDX-License-Identifier: GPL-2.0-only */
/* Lag: how far each child is behind the others, and how long they waited for it. */
#ifndef TRIB_BPF_LAG_H
#define TRIB_BPF_LAG_H

#include "packet/stats.h"
#include "slot.h"

/*
 * Note a contribution to a timed chunk. Return: ns since the one before it. The
 * slot's owner word is free: two at once cost a wrong time, no more.
 */
static __always_inline __u64 lag_gap(const struct slot_arg *a, __u64 now)
{
	__u32 key = a->key; /* old verifiers want keys on this function's stack */
	struct trib_slot *s = bpf_map_lookup_elem(&slots, &key);
	__u64 before;

	if (!s)
		return 0;
	before = s->newest_ns;
	s->newest_ns = now;
	if (before < a->first_ns)
		before = a->first_ns;
	return now > before ? now - before : 0;
}

/* The child was the last: the others waited for it for @gap. */
static __always_inline void lag_wait(struct trib_lag_child *c, bool head, __u64 gap, __u64 since)
{
	if (head) {
		__sync_fetch_and_add(&c->start_last, 1);
		__sync_fetch_and_add(&c->start_wait_ns, gap);
		c->behind_ns = gap;
		return;
	}
	gap = gap > c->behind_ns ? gap - c->behind_ns : 0;
	__sync_fetch_and_add(&c->data_wait_ns, gap < since ? gap : since);
}

/* Record how far behind the others this child is at a timed chunk. */
static __noinline void lag_sample(__u32 tree, __u32 child, const struct slot_arg *a, bool last,
				  bool head)
{
	struct trib_lag *row = bpf_map_lookup_elem(&lag, &tree);
	__u64 now = bpf_ktime_get_ns(), gap = lag_gap(a, now);
	struct trib_lag_child *c;

	if (!row || child >= TRIB_CHILDREN_MAX)
		return;
	c = &row->child[child];
	if (head) {
		__sync_fetch_and_add(&c->starts, 1);
		c->behind_ns = 0;
	}
	if (last)
		lag_wait(c, head, gap, now > c->seen_ns ? now - c->seen_ns : 0);
	if (!(a->chunk % TRIB_LAG_EVERY)) {
		__sync_fetch_and_add(&c->samples, 1);
		if (now > a->first_ns)
			__sync_fetch_and_add(&c->lag_ns, now - a->first_ns);
		if (last)
			__sync_fetch_and_add(&c->last, 1);
	}
	c->chunk = a->chunk;
	c->seen_ns = now;
}

#endif /* TRIB_BPF_LAG_H */
