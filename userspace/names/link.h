/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way to a forwarder: a UDP socket, a packet a datagram, many at once.
 * It is used by one thread. Packets may be lost, doubled and overtake each
 * other, and what the kernel does not take is lost, too: counted, no error.
 */
#ifndef TRIB_NAMES_LINK_H
#define TRIB_NAMES_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_ndn.h"

struct names_link;

/**
 * struct names_link_addr - ends of a link
 * @forwarder: ADDR or ADDR:PORT, for IPv6 ADDR or [ADDR]:PORT; port 6363 if
 *             none is given.
 * @bind:      the same for our end, port 0 included: any. NULL: any address of
 *             ours, port 6363, by which forwarders usually know a face.
 */
struct names_link_addr {
	const char *forwarder;
	const char *bind;
};

/**
 * struct names_link_stats - what came and went
 * @rx_packets: datagrams received; @rx_bytes their bytes.
 * @rx_long:    of them, longer than a packet may be: dropped.
 * @rx_lost:    that the kernel dropped, for want of room.
 * @tx_packets: sent; @tx_bytes their bytes.
 * @tx_full:    not sent: no room, or no way at the time.
 * @tx_error:   not sent: refused by the kernel for another reason, @tx_errno.
 */
struct names_link_stats {
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
typedef void names_link_take(void *ctx, const uint8_t *pkt, size_t n);

/* -errno; then @why says in words what failed. */
int names_link_open(struct names_link **link, const struct names_link_addr *a,
		    char *why, size_t size);
void names_link_close(struct names_link *link);
/* To poll for POLLIN. */
int names_link_fd(const struct names_link *link);
/* At most one batch; how many came, 0: none are there, or -errno. */
int names_link_receive(struct names_link *link, names_link_take *take,
		       void *ctx);
/* Queues a copy; it leaves when many are there, or at names_link_flush(). */
void names_link_send(struct names_link *link, const void *pkt, size_t n);
void names_link_flush(struct names_link *link);
const struct names_link_stats *names_link_stats(const struct names_link *link);
/*
 * Longest NDN packet that passes in one piece, as the route to the forwarder
 * has it now; -errno.
 */
int names_link_room(const struct names_link *link);
/* CLOCK_MONOTONIC, ns. */
uint64_t names_link_now(void);

#endif /* TRIB_NAMES_LINK_H */
