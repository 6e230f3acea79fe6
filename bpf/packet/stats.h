/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters. Every packet for our port that goes no further is counted under
 * exactly one TRIB_DROP_*.
 */
#ifndef TRIB_BPF_STATS_H
#define TRIB_BPF_STATS_H

#include "maps.h"

static __always_inline void stat_add(__u32 id, __u64 n)
{
	__u64 *v = bpf_map_lookup_elem(&stats, &id);

	if (v)
		*v += n;
}

static __always_inline void stat(__u32 id)
{
	stat_add(id, 1);
}

/* Return: XDP_DROP, for `return drop(TRIB_DROP_...)`. */
static __always_inline int drop(__u32 why)
{
	stat_add(why, 1);
	return XDP_DROP;
}

#endif /* TRIB_BPF_STATS_H */
