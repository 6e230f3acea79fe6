// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names forwarder: NDN with a persistent PIT. names_xdp takes UDP port 6363
 * and EtherType 0x8624, from trib_xdp by a tail call or by itself; names_egress
 * addresses copies as they leave; names_grow, at the ports' clsact ingress,
 * sends what XDP cannot; names_sweep, run by tribd, frees what is over, and
 * names_forget what an operator takes away; names_pass is for veth peers, as
 * trib_pass is.
 */
#include "cache.h"
#include "names_forget.h"
#include "names_grow.h"

/*
 * Was this Interest here before? Now it was. What a place forgets is its oldest;
 * two CPUs at one place may forget one more.
 */
static __always_inline bool seen_before(struct xdp_md *ctx,
					const struct names_work *w,
					const struct names_config *c)
{
	__u32 nonce = ndn_load(ctx, w->base + w->v.nonce_off, 4), place;
	__u64 tag = names_hash_end(w->key + nonce, w->size, NAMES_MARK__MAX);
	struct names_nonces *n;

	tag |= !tag;
	place = tag >> 32 & (c->nnonces - 1);
	n = bpf_map_lookup_elem(&names_nonces, &place);
	if (!n)
		return false;
	if (n->tag[0] == tag || n->tag[1] == tag || n->tag[2] == tag ||
	    n->tag[3] == tag)
		return true;
	n->tag[3] = n->tag[2];
	n->tag[2] = n->tag[1];
	n->tag[1] = n->tag[0];
	n->tag[0] = tag;
	return false;
}

/* names_interest() - by marker. Return: a verdict. */
__noinline int names_interest(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	int len;

	if (!w || !c)
		return XDP_DROP;
	names_count(NAMES_RX_INTEREST);
	if (w->v.flags & NDN_VIEW_NACK)
		return names_drop(NAMES_DROP_NACK);
	if (!w->v.nonce_off)
		return names_drop(NAMES_DROP_NONCE);
	if (seen_before(ctx, w, c))
		return names_drop(NAMES_DROP_LOOP);
	if (w->mark == NAMES_INSERT)
		return pit_insert(ctx);
	if (w->mark == NAMES_DELETE)
		return pit_delete(ctx);
	if (w->mark == NAMES_DISTRIBUTE) {
		/* So a stock client waits for what comes unasked. */
		if (w->v.flags & NDN_VIEW_CAN_BE_PREFIX)
			return names_drop(NAMES_DROP_WAITS);
		len = w->v.flags & NDN_VIEW_MUST_BE_FRESH ? 0 : cache_find(ctx);
		if (len)
			names_count(NAMES_HIT);
		if (len > 0)
			return tx_one(ctx, w->face, w->base, len);
		if (len < 0) {
			faces_clear(w->faces);
			face_add(w->faces, w->face);
			return tx_slow(ctx, NAMES_FLIGHT_KEPT);
		}
	}
	return asks_interest(ctx);
}

/* names_data() - to whom it goes. Return: a verdict. */
__noinline int names_data(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	__u32 why = NAMES_DROP_STRAY;
	__u64 any = 0;
	bool asked;

	if (!w || !c)
		return XDP_DROP;
	names_count(NAMES_RX_DATA);
	if (!may_write(w))
		return names_drop(NAMES_DROP_RIGHT);
	if (w->mark == NAMES_DELETE)
		return pit_deleted(ctx);
	faces_clear(w->faces);
	asked = asks_satisfied(w, c);
	if (w->mark == NAMES_DISTRIBUTE) {
		why = pit_distribute(ctx, w, c);
		if (w->segmented && (asked || !why))
			cache_put(ctx);
		if (!why)
			why = NAMES_DROP_NOBODY;
	}
	face_remove(w->faces, w->face);
#pragma clang loop unroll(full)
	for (int i = 0; i < NAMES_FACE_WORDS; i++)
		any |= w->faces[i];
	return any ? tx_faces(ctx, w, c) : names_drop(why);
}

SEC("xdp")
int names_xdp(struct xdp_md *ctx)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	__u32 err;
	int rc;

	if (!w || !c || c->abi != NAMES_ABI)
		return XDP_PASS;
	rc = names_rx(ctx, w, c);
	if (rc != RX_OK)
		return rc;
	err = ndn_read(ctx);
	w->v.verdict = err;
	if (err)
		return names_drop(NAMES_REFUSED + err);
	w->key = name_key(w, c, w->size, w->mark);
	if (w->v.type == TRIB_NDN_DATA)
		return names_data(ctx);
	return names_interest(ctx);
}

SEC("xdp/devmap")
int names_egress(struct xdp_md *ctx)
{
	return tx_egress(ctx);
}

SEC("tc")
int names_grow(struct __sk_buff *skb)
{
	return grow_flight(skb);
}

SEC("syscall")
int names_sweep(struct names_part *part)
{
	return sweep(part);
}

SEC("syscall")
int names_forget(struct names_forget *what)
{
	return forget(what);
}

SEC("xdp")
int names_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
