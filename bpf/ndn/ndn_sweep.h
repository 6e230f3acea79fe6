/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sweep: frees entries without a living face and Interests whose lifetime is
 * over. Forwarding is correct without it; only memory would run out.
 */
#ifndef TRIB_BPF_NDN_SWEEP_H
#define TRIB_BPF_NDN_SWEEP_H

#include "asks.h"

struct sweep {
	__u64 now;
	__u64 lease;
	__u32 from;
};

/* Mark an entry free under its lock, then release its row. Skips locked rows. */
static __always_inline void sweep_entry(__u32 row, const struct sweep *s)
{
	struct ndn_entry *e = pit_entry(row);
	struct ndn_more *m = pit_more(row);

	if (!e || !m)
		return;
	/* Most entries have renewed: no lock needed. */
	if ((*(volatile __u8 *)&e->flags & NDN_ENTRY_USED) &&
	    s->now < *(volatile __u64 *)&e->lap_end && *(volatile __u64 *)&e->live[0])
		return;
	if (!try_lock(&e->lock))
		return;
	if (!(e->flags & NDN_ENTRY_USED)) {
		unlock(&e->lock);
		ndn_pit_release(row);
		return;
	}
	pit_laps(e, m, s->now, s->lease);
	if (!pit_expects(e, m, s->now) && !pit_any_living(e, m))
		pit_end(e, m);
	pit_done(e, row);
}

static long sweep_bucket(__u32 i, struct sweep *s)
{
	__u32 bucket = s->from + i, way;
	struct ndn_tags *t = pit_bucket(bucket);

	if (!t)
		return 1;
	for (way = 0; way < NDN_WAYS; way++)
		if (*(volatile __u16 *)&t->tag[way])
			sweep_entry(bucket * NDN_WAYS + way, s);
	return 0;
}

/*
 * Remove an Interest whose lifetime is over. One that is gone has been removed, or
 * will be at once; a lease later somebody must have failed to.
 */
static long sweep_ask(void *map, __u64 *key, struct ndn_ask *a, struct sweep *s)
{
	__u64 word;
	__u32 seat;
	bool over;

	if (!try_lock(&a->lock))
		return 0;
	over = s->now >= a->until + (a->gone ? s->lease : 0);
	if (over)
		a->gone = 1;
	seat = a->seat;
	word = a->word;
	unlock(&a->lock);
	if (over && asks_delete(*key, seat, word))
		ndn_count(NDN_STAT_EXPIRED);
	return 0;
}

static __always_inline int sweep(const struct ndn_part *part)
{
	const struct ndn_config *c = ndn_conf();
	struct sweep s = {.now = bpf_ktime_get_ns(), .from = part->from};

	if (!c || c->abi != NDN_ABI)
		return 1;
	s.lease = c->lease_ns;
	if (!part->from)
		bpf_for_each_map_elem(&ndn_asks, sweep_ask, &s, 0);
	bpf_loop(part->buckets, sweep_bucket, &s, 0);
	return 0;
}

#endif /* TRIB_BPF_NDN_SWEEP_H */
