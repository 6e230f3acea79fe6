/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters: struct trib_stats, used as an array by enum trib_stat. A packet for
 * our port that goes no further is counted under exactly one TRIB_DROP_*.
 */
#ifndef TRIB_BPF_STATS_H
#define TRIB_BPF_STATS_H

#include "maps.h"
#include "packet.h"

static __always_inline __u64 *stat_row(void)
{
	__u32 row = 0;

	return bpf_map_lookup_elem(&stats, &row);
}

/* Count @id, a constant: the mask that the verifier wants costs nothing then. */
static __always_inline void stat(__u32 id)
{
	__u64 *v = stat_row();

	if (v)
		v[id & (TRIB_STAT__MAX - 1)]++;
}

/* stat_call() - as stat(), out of line: for slow paths and computed numbers */
__noinline int stat_call(__u32 id)
{
	stat(id);
	return 0;
}

/* Count a packet with values, by @id, and its bytes. */
static __always_inline void stat_rx(const struct pkt *p, __u32 id)
{
	__u64 *v = stat_row();

	if (!v)
		return;
	v[id & (TRIB_STAT__MAX - 1)]++;
	v[TRIB_RX_BYTES] += p->len;
	if (id == TRIB_RX_GRAD && (p->h->flags & TRIB_F_RESEND))
		v[TRIB_RX_RESEND]++;
}

/* Return: XDP_DROP, for `return drop(TRIB_DROP_...)`. */
static __always_inline int drop(__u32 why)
{
	stat_call(why);
	return XDP_DROP;
}

#endif /* TRIB_BPF_STATS_H */
