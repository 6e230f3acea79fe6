// SPDX-License-Identifier: GPL-2.0
/*
 * Sending: each packet becomes a frame with headroom for XDP at the other end of
 * a veth, which would copy the frame otherwise. The frames of a call leave with
 * softirqs off, so they arrive as one batch.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "io.h"

/* XDP_PACKET_HEADROOM, plus the Ethernet header. */
#define HEADROOM (256 + 64)

/* A cursor that copies packets out of @iov. */
struct cut {
	const struct kvec *iov;
	unsigned int niov;
	size_t skip;
};

static unsigned int left(const struct cut *c)
{
	unsigned int i;
	size_t n = 0;

	for (i = 0; i < c->niov; i++)
		n += c->iov[i].iov_len;
	return n - c->skip;
}

static void take(struct cut *c, void *to, unsigned int len)
{
	unsigned int n;

	while (len) {
		n = min_t(size_t, len, c->iov->iov_len - c->skip);
		memcpy(to, (u8 *)c->iov->iov_base + c->skip, n);
		to += n;
		len -= n;
		c->skip += n;
		if (c->skip == c->iov->iov_len) {
			c->iov++;
			c->niov--;
			c->skip = 0;
		}
	}
}

static void push_udp(const struct trib_way *w, struct sk_buff *skb)
{
	struct udphdr *uh = __skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = htons(w->port->sport);
	uh->dest = htons(w->dport);
	uh->len = htons(skb->len);
	uh->check = 0;
}

static void xmit_v4(struct net *net, const struct trib_way *w, struct sk_buff *skb)
{
	struct iphdr *ip;

	udp_set_csum(false, skb, w->saddr[3], w->addr[3], skb->len);
	ip = __skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.tos = INET_ECN_ECT_0,
		.frag_off = htons(IP_DF),
		.ttl = ip4_dst_hoplimit(w->dst),
		.protocol = IPPROTO_UDP,
		.saddr = w->saddr[3],
		.daddr = w->addr[3],
	};
	ip_local_out(net, skb->sk, skb);
}

static void xmit_v6(struct net *net, const struct trib_way *w, struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_IPV6)
	const struct in6_addr *saddr = (const struct in6_addr *)w->saddr;
	const struct in6_addr *daddr = (const struct in6_addr *)w->addr;
	struct ipv6hdr *ip;

	udp6_set_csum(false, skb, saddr, daddr, skb->len);
	ip = __skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	ip6_flow_hdr(ip, INET_ECN_ECT_0, 0);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = ip6_dst_hoplimit(w->dst);
	ip->saddr = *saddr;
	ip->daddr = *daddr;
	ip6_local_out(net, skb->sk, skb);
#else
	kfree_skb(skb);
#endif
}

/* Send the next packet of @len bytes as a frame. */
static int send_one(struct trib_io *io, struct trib_way *w, struct cut *c, unsigned int len)
{
	unsigned int head = sizeof(struct udphdr) +
			    (w->port->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));
	struct sock *sk = w->port->sock->sk;
	unsigned int room = HEADROOM + LL_RESERVED_SPACE(w->dst->dev) + head;
	struct sk_buff *skb;

	if (head + len > dst_mtu(w->dst))
		return -EMSGSIZE;
	if (refcount_read(&sk->sk_wmem_alloc) > READ_ONCE(sk->sk_sndbuf))
		return -EAGAIN;
	/* Page fragments, unlike alloc_skb(): XDP uses them without a copy. */
	skb = netdev_alloc_skb(NULL, room + len);
	if (!skb)
		return -EAGAIN;
	skb_reserve(skb, room);
	take(c, __skb_put(skb, len), len);
	skb_set_owner_w(skb, sk);
	skb_dst_set(skb, dst_clone(w->dst));
	push_udp(w, skb);
	if (w->port->v6)
		xmit_v6(io->net, w, skb);
	else
		xmit_v4(io->net, w, skb);
	return 0;
}

int trib_io_send(struct trib_engine *eng, struct trib_stream *s, const struct kvec *iov,
		 unsigned int niov, unsigned int seg)
{
	struct trib_io *io = trib_sock_of(eng)->io;
	struct trib_way *w = &io->way[s->index][s->via];
	struct cut c = {iov, niov, 0};
	unsigned int total = left(&c);
	int n = 0, rc = 0;

	if (!trib_way_route(io, w))
		return -EAGAIN;
	local_bh_disable();
	rcu_read_lock();
	while (total) {
		unsigned int len = min(total, seg);

		rc = send_one(io, w, &c, len);
		if (rc)
			break;
		total -= len;
		n++;
	}
	rcu_read_unlock();
	local_bh_enable();
	return n ? n : rc;
}
