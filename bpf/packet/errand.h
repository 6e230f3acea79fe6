/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Orders of an XDP program for the clsact program of the same port. They travel as
 * XDP metadata, in front of the frame, where no sender can write; the frame itself
 * stays as it came.
 *
 * The clsact entry only reads them, into cb[], and tail-calls the program that
 * sends, which erases them: a clone that leaves through a virtual device keeps the
 * bytes in front of its frame, and may come back. Two programs, because one that
 * writes to the packet directly loses the metadata of frames that a packet socket
 * shares.
 */
#ifndef TRIB_BPF_ERRAND_H
#define TRIB_BPF_ERRAND_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "uapi/trib_errand.h"

/*
 * errand_put() - give the frame in hand orders. Packet pointers are void afterwards.
 * Return: false if the driver has no room for metadata.
 */
static __always_inline bool errand_put(struct xdp_md *ctx, __u64 magic, __u32 arg0, __u32 arg1)
{
	struct trib_errand *e;

	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(*e)))
		return false;
	e = (void *)(long)ctx->data_meta;
	if ((void *)(e + 1) > (void *)(long)ctx->data)
		return false;
	e->arg[0] = arg0;
	e->arg[1] = arg1;
	e->magic = magic;
	return true;
}

/* Copy the orders of the frame into cb[]. Return: false if it has none. */
static __always_inline bool errand_take(struct __sk_buff *skb, __u64 magic)
{
	struct trib_errand *e = (void *)(long)skb->data_meta;

	if ((void *)(e + 1) > (void *)(long)skb->data || e->magic != magic)
		return false;
	skb->cb[0] = e->arg[0];
	skb->cb[1] = e->arg[1];
	return true;
}

/* Erase the orders. Shared frames have lost them on the way here. */
static __always_inline void errand_erase(struct __sk_buff *skb)
{
	struct trib_errand *e = (void *)(long)skb->data_meta;

	if ((void *)(e + 1) <= (void *)(long)skb->data)
		e->magic = 0;
}

#endif /* TRIB_BPF_ERRAND_H */
