// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of the NDN forwarder, whose PIT is persistent.
 *
 * ndn_xdp	UDP port 6363 and EtherType 0x8624; trib_xdp calls it, or it is
 *		attached alone
 * ndn_egress	devmap program: addresses copies as they leave
 * ndn_grow	clsact ingress: takes the orders of ndn_xdp
 * ndn_send	tail-called by it: sends what XDP cannot
 * ndn_sweep	run by tribd: frees expired entries and Interests
 * ndn_forget	run by tribd: removes what an operator deletes
 * ndn_pass	for veth peers, like trib_pass
 */
#include "ndn/cache.h"
#include "ndn/ndn_forget.h"
#include "ndn/ndn_grow.h"

/*
 * Test and set: was this Interest here before? A row forgets its oldest tag. Two
 * CPUs that write one row at a time may lose a tag more.
 */
static __always_inline bool seen_before(struct xdp_md *ctx, const struct ndn_work *w,
					const struct ndn_config *c)
{
	__u32 nonce = ndn_load(ctx, w->base + w->v.nonce_off, 4), place;
	__u64 tag = ndn_hash_end(w->key + nonce, w->size, NDN_MARK__MAX);
	struct ndn_nonces *n;

	tag |= !tag;
	place = tag >> 32 & (c->nnonces - 1);
	n = bpf_map_lookup_elem(&ndn_nonces, &place);
	if (!n)
		return false;
	if (n->tag[0] == tag || n->tag[1] == tag || n->tag[2] == tag || n->tag[3] == tag)
		return true;
	n->tag[3] = n->tag[2];
	n->tag[2] = n->tag[1];
	n->tag[1] = n->tag[0];
	n->tag[0] = tag;
	return false;
}

/* ndn_on_interest() - handle an Interest by its marker. Return: a verdict. */
__noinline int ndn_on_interest(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	int len;

	if (!w || !c)
		return XDP_DROP;
	ndn_count(NDN_STAT_RX_INTEREST);
	if (w->v.flags & NDN_VIEW_NACK)
		return ndn_drop(NDN_DROP_NACK);
	if (!w->v.nonce_off)
		return ndn_drop(NDN_DROP_NONCE);
	if (seen_before(ctx, w, c))
		return ndn_drop(NDN_DROP_LOOP);
	if (w->mark == NDN_MARK_INSERT)
		return ndn_pit_insert(ctx);
	if (w->mark == NDN_MARK_DELETE)
		return ndn_pit_delete(ctx);
	if (w->mark == NDN_MARK_DISTRIBUTE) {
		/* A stock client sends it to accept Data that comes unasked. */
		if (w->v.flags & NDN_VIEW_CAN_BE_PREFIX)
			return ndn_drop(NDN_DROP_WAITS);
		len = w->v.flags & NDN_VIEW_MUST_BE_FRESH ? 0 : ndn_cache_find(ctx);
		if (len)
			ndn_count(NDN_STAT_HIT);
		if (len > 0)
			return ndn_tx_one(ctx, w->face, w->base, len);
		if (len < 0) {
			faces_clear(w->faces);
			face_add(w->faces, w->face);
			return ndn_tx_slow(ctx, NDN_FLIGHT_KEPT);
		}
	}
	return ndn_asks_interest(ctx);
}

/* ndn_on_data() - forward Data to subscribers and askers. Return: a verdict. */
__noinline int ndn_on_data(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	__u32 why = NDN_DROP_STRAY;
	__u64 any = 0;
	bool asked;

	if (!w || !c)
		return XDP_DROP;
	ndn_count(NDN_STAT_RX_DATA);
	if (!may_write(w))
		return ndn_drop(NDN_DROP_RIGHT);
	if (w->mark == NDN_MARK_DELETE)
		return ndn_pit_deleted(ctx);
	faces_clear(w->faces);
	asked = asks_satisfied(w, c);
	if (w->mark == NDN_MARK_DISTRIBUTE) {
		why = pit_distribute(ctx, w, c);
		if (w->segmented && (asked || !why))
			ndn_cache_put(ctx);
		if (!why)
			why = NDN_DROP_NOBODY;
	}
	face_remove(w->faces, w->face);
#pragma clang loop unroll(full)
	for (int i = 0; i < NDN_FACE_WORDS; i++)
		any |= w->faces[i];
	return any ? tx_faces(ctx, w, c) : ndn_drop(why);
}

SEC("xdp")
int ndn_xdp(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	__u32 err;
	int rc;

	if (!w || !c || c->abi != NDN_ABI)
		return XDP_PASS;
	rc = ndn_rx(ctx, w, c);
	if (rc != RX_OK)
		return rc;
	err = ndn_read(ctx);
	w->v.verdict = err;
	if (err)
		return ndn_drop(NDN_STAT_BAD + err);
	w->key = name_key(w, c, w->size, w->mark);
	if (w->v.type == TRIB_NDN_DATA)
		return ndn_on_data(ctx);
	return ndn_on_interest(ctx);
}

SEC("xdp/devmap")
int ndn_egress(struct xdp_md *ctx)
{
	return tx_egress(ctx);
}

SEC("tc")
int ndn_send(struct __sk_buff *skb)
{
	__u32 place = skb->cb[0], tick = skb->cb[1];

	errand_erase(skb);
	return grow_flight(skb, place, tick);
}

/* The libbpf that loads the object fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} ndn_next SEC(".maps") = {
	.values = {(void *)&ndn_send},
};

SEC("tc")
int ndn_grow(struct __sk_buff *skb)
{
	if (!errand_take(skb, TRIB_ERRAND_NDN))
		return TC_ACT_UNSPEC;
	bpf_tail_call(skb, &ndn_next, 0);
	return grow_drop(NDN_DROP_FLIGHT);
}

SEC("syscall")
int ndn_sweep(struct ndn_part *part)
{
	return sweep(part);
}

SEC("syscall")
int ndn_forget(struct ndn_forget *what)
{
	return forget(what);
}

SEC("xdp")
int ndn_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
