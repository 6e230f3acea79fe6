/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two files of the UDP transport share: udp_sock.c opens and sizes
 * sockets, udp.c moves packets.
 */
#ifndef TRIB_LIB_UDP_H
#define TRIB_LIB_UDP_H

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "carrier.h"
#include "lib/place/tribd.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

#define BATCH TRIB_TUNE_RECV_BATCH
#define CONTROL (CMSG_SPACE(sizeof(int)) * 2)
#define ECN_MASK 3
#define ECN_ECT0 2
#define ECN_CE 3

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct sock {
	int fd;
	bool v6;
	union address local;
	unsigned int streams;
};

struct dest {
	struct sock *sock;
	union address to;
	socklen_t len;
};

/**
 * struct trib_udp
 * @sock:  the sockets.
 * @dest:  where each stream sends, by its index and &trib_stream.via.
 * @no_gso: UDP_SEGMENT was refused: one system call takes many packets still,
 *         but each is a packet from the start.
 * @slots: BATCH receive buffers of SLOT bytes.
 * @trains: BATCH areas of SLOT + TRAIN bytes.
 * @watch: of the connection to tribd, if there is one and xdp.c has none.
 */
struct trib_udp {
	struct sock sock[TRIB_ATTACH_TREES];
	unsigned int nsock;
	struct dest dest[TRIB_ATTACH_TREES][1 + TRIB_ATTACH_HOPS];
	bool no_gso;
	uint8_t *slots;
	uint8_t *trains;
	struct trib_watch watch;
	struct mmsghdr msg[BATCH];
	struct iovec iov[BATCH][2];
	union {
		char buf[CONTROL];
		struct cmsghdr align;
	} control[BATCH];
};

/* The socket, new or not, and the addresses that stream @i sends to. */
int trib_udp_dest(struct trib *t, unsigned int i);
/* Receive buffers for the window; what does not fit bounds it. */
int trib_udp_size(struct trib *t);

#endif /* TRIB_LIB_UDP_H */
