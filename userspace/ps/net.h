/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net.c: the socket. Packets arrive in trains (recvmmsg, UDP_GRO), and RESULTs
 * leave in trains (sendmmsg, UDP_SEGMENT), straight from their places. The
 * queue is sent at the end of each turn, and before a place in it is reused.
 * Packets for the relay on this host leave through TRIB_LOCAL_PEER, which may
 * come and go.
 */
#ifndef TRIB_PS_NET_H
#define TRIB_PS_NET_H

#include "ps/sum/ps.h"

/**
 * struct ps_net_stats - counters of the socket
 * @rx_datagrams: received; @rx_trains of them held more than one packet.
 * @rx_overflow: dropped by the kernel for lack of room in the receive buffer.
 * @tx_full:  packets dropped because the network took none for a while.
 * @tx_error: packets dropped for other reasons; @tx_errno is the newest one.
 */
struct ps_net_stats {
	uint64_t rx_datagrams;
	uint64_t rx_trains;
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_overflow;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_full;
	uint64_t tx_error;
	int tx_errno;
};

struct ps_net;

/* Return: 0, or -errno with one line in @why. */
int ps_net_open(struct ps_net **out, struct ps *ps, const struct ps_addr *listen, char *why,
		size_t size);
void ps_net_close(struct ps_net *n);
int ps_net_fd(const struct ps_net *n);
/* Receive up to a batch. Return: datagrams, 0 if there are none. */
int ps_net_turn(struct ps_net *n);
/* Send the queue. */
void ps_net_flush(struct ps_net *n);
struct ps_net_stats ps_net_stats(const struct ps_net *n);

/* Callbacks for struct ps_ops. */
void ps_net_to(struct ps_net *n, const struct ps_addr *to, const void *pkt, size_t len,
	       struct ps_place *z);
void ps_net_result(struct ps_net *n, struct ps_tree *t, struct ps_place *z);
void ps_net_settle(struct ps_net *n, const struct ps_place *z);

#endif /* TRIB_PS_NET_H */
