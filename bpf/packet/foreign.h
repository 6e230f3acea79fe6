/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets for our UDP port whose destination is another host. The kernel routes
 * them, by its tables and past its firewall. Packets of a neighbour that has the
 * right `forward` are routed here, by the same tables, without the firewall; those
 * that XDP cannot send (unknown neighbour, port without XDP) go to the kernel, too.
 */
#ifndef TRIB_BPF_FOREIGN_H
#define TRIB_BPF_FOREIGN_H

#include "maps.h"
#include "packet.h"
#include "stats.h"

#define FAMILY_V4 2
#define FAMILY_V6 10

static __always_inline void foreign_ask(struct xdp_md *ctx, const struct pkt *p,
					struct bpf_fib_lookup *fib)
{
	const struct ipv6hdr *ip6 = p->l3;
	const struct iphdr *ip = p->l3;

	fib->l4_protocol = IPPROTO_UDP;
	fib->ifindex = p->ifindex;
	if (p->v6) {
		fib->family = FAMILY_V6;
		fib->tot_len = bpf_ntohs(ip6->payload_len) + 40;
		__builtin_memcpy(fib->ipv6_src, &ip6->saddr, 16);
		__builtin_memcpy(fib->ipv6_dst, &ip6->daddr, 16);
	} else {
		fib->family = FAMILY_V4;
		fib->tot_len = bpf_ntohs(ip->tot_len);
		fib->ipv4_src = load32(&ip->saddr);
		fib->ipv4_dst = load32(&ip->daddr);
	}
}

/* May the sender's packets pass the firewall? */
static __always_inline bool foreign_may(const struct pkt *p)
{
	struct trib_forward key = {.ifindex = p->ifindex};

	__builtin_memcpy(key.mac, p->eth->h_source, ETH_ALEN);
	return bpf_map_lookup_elem(&forwards, &key);
}

/* Count down the hops. Return: true if none is left. */
static __always_inline bool foreign_age(struct pkt *p)
{
	struct ipv6hdr *ip6 = p->l3;
	struct iphdr *ip = p->l3;

	if (p->v6)
		return ip6->hop_limit <= 1 || !--ip6->hop_limit;
	if (ip->ttl <= 1)
		return true;
	ip->ttl--;
	/*
	 * No UDP checksum, as in all packets of ours: the sender of a veth may
	 * have left it to the device, so the field holds no sum to update.
	 */
	p->udp->check = 0;
	ip->check = 0;
	ip->check = ip_checksum(ip);
	return false;
}

/*
 * Route a packet that this host refuses, for @why, or let the kernel route it, to the
 * host it is for. Dropped and counted as @why if it is for this one. Return: a verdict.
 */
static __noinline int foreign_pass(struct xdp_md *ctx, struct pkt *p, __u32 why)
{
	struct bpf_fib_lookup fib = {};
	int rc;

	if (!p || p->vlan || !pkt_locate(ctx, p))
		return drop(why);
	/* Multicast: unicast routes would send it back. */
	if (p->eth->h_dest[0] & 1)
		return drop(why);
	foreign_ask(ctx, p, &fib);
	rc = bpf_fib_lookup(ctx, &fib, sizeof(fib), 0);
	if (rc == BPF_FIB_LKUP_RET_NO_NEIGH || rc == BPF_FIB_LKUP_RET_FRAG_NEEDED)
		return XDP_PASS;
	if (rc != BPF_FIB_LKUP_RET_SUCCESS)
		return drop(why);
	if (!foreign_may(p))
		return XDP_PASS;
	if (bpf_redirect_map(&ports, fib.ifindex, XDP_ABORTED) != XDP_REDIRECT)
		return XDP_PASS;
	if (foreign_age(p))
		return drop(TRIB_DROP_HOPS);
	__builtin_memcpy(p->eth->h_dest, fib.dmac, ETH_ALEN);
	__builtin_memcpy(p->eth->h_source, fib.smac, ETH_ALEN);
	stat(TRIB_RELAYED);
	return XDP_REDIRECT;
}

#endif /* TRIB_BPF_FOREIGN_H */
