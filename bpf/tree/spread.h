/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spreading the lanes of trees over CPUs (struct trib_spread). A frame is moved before its
 * slot is touched, and admitted again where it arrives: so a move can be late, lost or
 * wrong, and no sum changes.
 */
#ifndef TRIB_BPF_SPREAD_H
#define TRIB_BPF_SPREAD_H

#include "node.h"
#include "slot.h"

/* Results in a tick, of 1 to 10 ms, from which moving pays. */
#define SPREAD_BUSY 512

/* Would the contribution fill its slot? Another CPU may change the slot at once. */
static __always_inline bool spread_fills(const struct slot_arg *a)
{
	__u32 key = a->key;
	const struct trib_slot *s = bpf_map_lookup_elem(&slots, &key);

	return s && s->chunk == a->chunk && s->epoch == a->epoch && (s->seen | a->who) == a->full &&
	       s->state == TRIB_SLOT_COLLECT;
}

/* Count a result that is about to be made here. Return: does this CPU make many? */
static __always_inline bool spread_busy(struct trib_spread_cpu *c)
{
	__u64 tick = bpf_jiffies64();

	if (c->tick != tick) {
		c->was = c->tick + 1 == tick ? c->made : 0;
		c->made = 0;
		c->tick = tick;
	}
	return ++c->made > SPREAD_BUSY || c->was > SPREAD_BUSY;
}

/* Move the frame to the CPU of its lane, if it ends its chunk and this one is busy. */
static __always_inline bool spread_move(const struct slot_arg *a)
{
	__u32 zero = 0, me, to;
	struct trib_spread *d = bpf_map_lookup_elem(&spread, &zero);

	if (!d || d->n < 2 || (a->flags & TRIB_F_RESEND) || !spread_fills(a))
		return false;
	me = bpf_get_smp_processor_id();
	to = trib_spread_home(d->n, a->chunk);
	if (me >= TRIB_SPREAD_MAX)
		return false;
	/* Not every verifier keeps the bound of a spilled word. */
	HIDE(me);
	if (!spread_busy(&d->cpu[me & (TRIB_SPREAD_MAX - 1)]))
		return false;
	return to != me && bpf_redirect_map(&cpus, to, XDP_ABORTED) == XDP_REDIRECT;
}

#endif /* TRIB_BPF_SPREAD_H */
