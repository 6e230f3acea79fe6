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
 * @forwarder: ADDR or ADDR:PORT, for IPv6 ADDR or [ADDR]:PORT; port 6363 if
 *             none is given.
 * @bind:      the same for our end, port 0 included: any. NULL: any address of
 *             ours, port 6363, by which forwarders usually know a face.
 */
struct ndn_socket_addr {
	const char *forwarder;
	const char *bind;
};

/**
 * struct ndn_socket_stats - what came and went
 * @rx_packets: datagrams received; @rx_bytes their bytes.
 * @rx_long:    of them, longer than a packet may be: dropped.
 * @rx_lost:    that the kernel dropped, for want of room.
 * @tx_packets: sent; @tx_bytes their bytes.
 * @tx_full:    not sent: no room, or no way at the time.
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

/* A packet that came: valid during the call. */
typedef void ndn_socket_take(void *ctx, const uint8_t *pkt, size_t n);

/* -errno; then @why says in words what failed. */
int ndn_socket_open(struct ndn_socket **link, const struct ndn_socket_addr *a, char *why,
		    size_t size);
void ndn_socket_close(struct ndn_socket *link);
/* To poll for POLLIN. */
int ndn_socket_fd(const struct ndn_socket *link);
/* At most one batch; how many came, 0: none are there, or -errno. */
int ndn_socket_receive(struct ndn_socket *link, ndn_socket_take *take, void *ctx);
/* Queues a copy; it leaves when many are there, or at ndn_socket_flush(). */
void ndn_socket_send(struct ndn_socket *link, const void *pkt, size_t n);
void ndn_socket_flush(struct ndn_socket *link);
struct ndn_socket_stats ndn_socket_stats(const struct ndn_socket *link);
/*
 * Longest NDN packet that passes in one piece, as the route to the forwarder
 * has it now; -errno.
 */
int ndn_socket_room(const struct ndn_socket *link);
/* CLOCK_MONOTONIC, ns. */
uint64_t ndn_socket_now(void);

#endif /* TRIB_NDN_LINK_H */
