// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving: the driver takes packets from the UDP sockets' queues. The kernel has
 * merged packets of one relay into trains (UDP_GRO).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/inet_ecn.h>
#include <net/udp.h>

#include "io.h"

static bool met_congestion(const struct sk_buff *skb)
{
	u8 tos = skb->protocol == htons(ETH_P_IPV6) ? ipv6_get_dsfield(ipv6_hdr(skb))
						    : ip_hdr(skb)->tos;

	return INET_ECN_is_ce(tos);
}

/* Hand a datagram or a train to the engine, packet by packet. */
static void rx_train(struct trib_engine *eng, struct trib_io *io, struct sk_buff *skb)
{
	unsigned int seg = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size : skb->len;
	bool ce = met_congestion(skb);
	unsigned int off, len;
	const void *p;

	for (off = 0; off < skb->len; off += len) {
		len = min(seg, skb->len - off);
		p = len > sizeof(io->stage) ? NULL : skb_header_pointer(skb, off, len, io->stage);
		if (p)
			trib_packet_rx(eng, p, len, ce);
		else
			eng->count.bad_packets++;
	}
	/* An empty datagram has no packet. */
	if (!skb->len)
		eng->count.bad_packets++;
}

static bool rx_one(struct trib_sock *ts, struct sock *sk)
{
	struct sk_buff *skb;
	int off = 0, err;

	skb = __skb_recv_udp(sk, MSG_DONTWAIT, &off, &err);
	if (!skb)
		return false;
	if (udp_lib_checksum_complete(skb))
		ts->eng.count.bad_packets++;
	else
		rx_train(&ts->eng, ts->io, skb);
	skb_consume_udp(sk, skb, skb->len);
	return true;
}

bool trib_io_recv(struct trib_sock *ts, unsigned int budget)
{
	struct trib_io *io = ts->io;
	unsigned int i, p, n = 0;

	for (i = 0; i < io->nport; i++) {
		p = (io->first + i) % io->nport;
		while (n < budget && rx_one(ts, io->port[p].sock->sk))
			n++;
		if (n == budget) {
			/* Start with the next port the next time. */
			io->first = (p + 1) % io->nport;
			return true;
		}
	}
	return false;
}
