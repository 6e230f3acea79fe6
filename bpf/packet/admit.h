/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that all trees share: the tree of a packet, and the face it comes from. */
#ifndef TRIB_BPF_ADMIT_H
#define TRIB_BPF_ADMIT_H

#include "auth.h"
#include "maps.h"
#include "packet.h"

/* Did @p come from @peer's address, through its port and VLAN? */
static __always_inline bool face_ok(const struct pkt *p, const struct trib_peer *peer, bool v6)
{
	const struct ipv6hdr *ip6 = p->l3;
	const struct iphdr *ip = p->l3;

	if ((peer->ifindex != p->ifindex && peer->ifindex != TRIB_PORT_ANY) || p->v6 != v6 ||
	    load32(peer->vlan) != p->vlan)
		return false;
	if (!v6)
		return load32(&ip->saddr) == peer->addr[3];
	return load32(&ip6->saddr.s6_addr32[0]) == peer->addr[0] &&
	       load32(&ip6->saddr.s6_addr32[1]) == peer->addr[1] &&
	       load32(&ip6->saddr.s6_addr32[2]) == peer->addr[2] &&
	       load32(&ip6->saddr.s6_addr32[3]) == peer->addr[3];
}

/* Find the packet's tree. Return: 0 with *@tree, or the reason to drop. */
static __always_inline __u32 admit_tree(struct pkt *p, struct trib_tree **tree)
{
	__u32 row = bpf_ntohs(load16(&p->h->tree));
	struct trib_tree *t = bpf_map_lookup_elem(&trees, &row);

	if (!t || !(t->flags & TRIB_TREE_USED) || t->job != bpf_ntohs(load16(&p->h->job)))
		return TRIB_DROP_TREE;
	*tree = t;
	return 0;
}

#endif /* TRIB_BPF_ADMIT_H */
