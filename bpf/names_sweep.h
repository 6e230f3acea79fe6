/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Freeing what nobody holds any more: entries without a living face, Interests
 * whose lifetime is over. Forwarding is right without it, but for memory.
 */
#ifndef TRIB_BPF_NAMES_SWEEP_H
#define TRIB_BPF_NAMES_SWEEP_H

#include "asks.h"

struct sweep {
	__u64 now;
	__u64 lease;
	__u64 leave;
};

/* What an insert holds is not swept: marked under its lock, then taken out. */
static long sweep_entry(void *map, __u64 *key, struct names_entry *e,
			struct sweep *s)
{
	bool over, leaving;

	if (!try_lock(&e->lock))
		return 0;
	pit_laps(e, s->now, s->lease);
	leaving = e->left && s->now - e->left < s->leave;
	over = !e->gone && !leaving && !pit_any_living(e);
	if (over)
		e->gone = 1;
	unlock(&e->lock);
	if (over && !bpf_map_delete_elem(&names_pit, key))
		names_count(NAMES_GONE);
	return 0;
}

static long sweep_ask(void *map, __u64 *key, struct names_ask *a,
		      struct sweep *s)
{
	bool over;

	if (!try_lock(&a->lock))
		return 0;
	over = !a->gone && s->now >= a->until;
	if (over)
		a->gone = 1;
	unlock(&a->lock);
	if (over && !bpf_map_delete_elem(&names_asks, key)) {
		asks_counted(*key, -1);
		names_count(NAMES_EXPIRED);
	}
	return 0;
}

static __always_inline int sweep(void)
{
	const struct names_config *c = names_conf();
	struct sweep s = {.now = bpf_ktime_get_ns()};

	if (!c || c->abi != NAMES_ABI)
		return 1;
	s.lease = c->lease_ns;
	s.leave = c->leave_ns;
	bpf_for_each_map_elem(&names_pit, sweep_entry, &s, 0);
	bpf_for_each_map_elem(&names_asks, sweep_ask, &s, 0);
	return 0;
}

#endif /* TRIB_BPF_NAMES_SWEEP_H */
