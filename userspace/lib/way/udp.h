/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The carrier by UDP sockets: udp_sock.c opens and sizes sockets, udp.c moves
 * packets by them.
 */
#ifndef TRIB_LIB_UDP_H
#define TRIB_LIB_UDP_H

#include "base/udp_batch.h"
#include "carrier.h"
#include "lib/place/tribd.h"

/**
 * struct trib_udp_sock - a socket
 * @local:   its address, by which streams find it.
 * @streams: number of streams that use it.
 */
struct trib_udp_sock {
	int fd;
	bool v6;
	union addr_sock local;
	unsigned int streams;
};

/* A destination, and the socket that reaches it. */
struct trib_udp_dest {
	struct trib_udp_sock *sock;
	union addr_sock to;
	socklen_t len;
};

/**
 * struct trib_udp - a handle's sockets
 * @sock:  @nsock of them.
 * @dest:  destinations of each stream, by its index and &trib_stream.via.
 * @no_gso: see udp_send_run().
 * @rx:    receive buffers of all sockets.
 * @watch: connection to tribd; off if there is none, or xdp.c has it.
 */
struct trib_udp {
	struct trib_udp_sock sock[TRIB_ATTACH_TREES];
	unsigned int nsock;
	struct trib_udp_dest dest[TRIB_ATTACH_TREES][1 + TRIB_ATTACH_HOPS];
	bool no_gso;
	struct udp_rx rx;
	struct trib_watch watch;
};

/* Find or open the socket of stream @i, and set the stream's destinations. */
int trib_udp_dest(struct trib *t, unsigned int i);
/*
 * Size receive buffers for the window. If the kernel grants less, the window
 * shrinks.
 */
int trib_udp_size(struct trib *t);

#endif /* TRIB_LIB_UDP_H */
