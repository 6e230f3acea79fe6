/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link to a forwarder: a UDP socket, one packet a datagram, sent and received
 * in batches. One thread uses it at a time. Packets may be lost, duplicated and
 * reordered. A packet that the kernel refuses is counted and dropped.
 */
#ifndef TRIB_NDN_LINK_H
#define TRIB_NDN_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_ndn.h"

struct ndn_socket;

/**
 * struct ndn_socket_addr - ends of a link
 * @forwarder: ADDR or ADDR:PORT, for IPv6 ADDR or [ADDR]:PORT; default port
 *             6363.
 * @bind:      this end, in the same form; port 0 is any. NULL: any address of
 *             this host, port 6363, which forwarders' faces usually name.
 */
struct ndn_socket_addr {
	const char *forwarder;
	const char *bind;
};

/**
 * struct ndn_socket_stats - counters of a link
 * @rx_packets: datagrams received; @rx_bytes their bytes.
 * @rx_long:    datagrams longer than a packet may be, which are dropped.
 * @rx_lost:    datagrams that the kernel dropped for lack of room.
 * @tx_packets: sent; @tx_bytes their bytes.
 * @tx_full:    not sent: no room, or no route at that time.
 * @tx_error:   not sent: refused by the kernel for another reason, @tx_errno.
 */
struct ndn_socket_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t rx_long;
	uint64_t rx_lost;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t tx_full;
	uint64_t tx_error;
	int tx_errno;
};

/* Called for each received packet, which is valid during the call. */
typedef void ndn_socket_take(void *ctx, const uint8_t *pkt, size_t n);

/* Return: 0, or -errno with a line in @why. */
int ndn_socket_open(struct ndn_socket **link, const struct ndn_socket_addr *a, char *why,
		    size_t size);
void ndn_socket_close(struct ndn_socket *link);
/* Descriptor to poll for POLLIN. */
int ndn_socket_fd(const struct ndn_socket *link);
/* Receive at most one batch. Return: number of packets, 0: none, or -errno. */
int ndn_socket_receive(struct ndn_socket *link, ndn_socket_take *take, void *ctx);
/* Queue a copy. It is sent when the queue is full, or by ndn_socket_flush(). */
void ndn_socket_send(struct ndn_socket *link, const void *pkt, size_t n);
void ndn_socket_flush(struct ndn_socket *link);
struct ndn_socket_stats ndn_socket_stats(const struct ndn_socket *link);
/*
 * Longest NDN packet that passes unfragmented on the current route to the
 * forwarder; -errno.
 */
int ndn_socket_room(const struct ndn_socket *link);
/* Time of CLOCK_MONOTONIC, ns. */
uint64_t ndn_socket_now(void);

#endif /* TRIB_NDN_LINK_H */
