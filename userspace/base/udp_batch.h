/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP in batches: options, receiving and sending of many packets by one system
 * call, segmented or merged by the kernel where it can (UDP_SEGMENT, UDP_GRO).
 *
 *	packets ----> udp_tx_post() ... udp_tx_push() ----> sendmmsg()
 *	a run of packets, at once ----> udp_send_run() ----> sendmsg()
 *	callback, once a packet <---- udp_rx_batch() <---- recvmmsg()
 *
 * Nothing is copied on the way out. Callers own sockets and memory; no function
 * locks. A train is a datagram that holds several packets of one size, the last
 * of which may be shorter.
 */
#ifndef TRIB_BASE_UDP_BATCH_H
#define TRIB_BASE_UDP_BATCH_H

#include <netinet/udp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "addr.h"

#define UDP_BATCH_MAX 64
#define UDP_TRAIN_PACKETS 64 /* packets of one train that the kernel takes */
#define UDP_TRAIN_BYTES 65000

/**
 * struct udp_options - of a socket
 * @ecn:    mark packets as ECN-capable, and receive marks.
 * @gro:    receive trains.
 * @lost:   count packets that the kernel dropped for lack of room.
 * @v6only: an IPv6 socket takes no IPv4.
 * @rcvbuf, @sndbuf: bytes; 0: the default.
 */
struct udp_options {
	bool ecn;
	bool gro;
	bool lost;
	bool v6only;
	int rcvbuf;
	int sndbuf;
};

/*
 * Set options, and that packets are never fragmented, whatever path MTU the kernel
 * has learned: it would refuse large packets until ten minutes after the path is
 * mended. An option that the kernel lacks costs speed or a counter, so its failure
 * is ignored.
 */
void udp_set_options(int fd, int family, const struct udp_options *o);
/* Set the receive buffer, beyond the system's limit where that is allowed. */
void udp_set_rcvbuf(int fd, int bytes);

/*
 * Is @err one that ICMP reported about an earlier packet? The socket is good
 * then, and the next packet may get through.
 */
bool udp_is_passing(int err);

/* --- receiving */

/**
 * struct udp_packet - one packet, valid during the callback
 * @data: of any alignment.
 * @from: sender; only with UDP_RX_FROM.
 * @ce:   it met congestion.
 */
struct udp_packet {
	const void *data;
	size_t len;
	const union addr_sock *from;
	bool ce;
};

typedef void udp_rx_fn(void *ctx, const struct udp_packet *p);

enum {
	UDP_RX_TRAINS = 1, /* the socket has the option gro */
	UDP_RX_FROM = 2,
};

/**
 * struct udp_rx - buffers for one batch of datagrams
 * @slot:  bytes of a receive buffer. Buffers stand back to back, so that they
 *         stay in the CPU's cache.
 * @train: areas for the rest of trains, untouched as long as there are none.
 *         Before each is room for the slot's bytes, to close the gap.
 * @datagrams, @trains, @packets, @bytes: received.
 * @lost:  packets that the kernel dropped for lack of room.
 * @kernel_lost: the same as the kernel counts, modulo 2^32.
 */
struct udp_rx {
	size_t slot;
	unsigned int batch;
	unsigned int flags;
	uint8_t *slots;
	uint8_t *train;
	uint64_t datagrams;
	uint64_t trains;
	uint64_t packets;
	uint64_t bytes;
	uint64_t lost;
	uint32_t kernel_lost;
	struct mmsghdr msg[UDP_BATCH_MAX];
	struct iovec iov[UDP_BATCH_MAX][2];
	union addr_sock from[UDP_BATCH_MAX];
	union {
		char room[CMSG_SPACE(sizeof(int)) * 3];
		struct cmsghdr align;
	} control[UDP_BATCH_MAX];
};

/*
 * Prepare for batches of @batch datagrams. Without UDP_RX_TRAINS, a longer
 * packet than @slot is cut to it. Return: 0 or -ENOMEM; udp_rx_free() in
 * either case.
 */
int udp_rx_init(struct udp_rx *rx, size_t slot, unsigned int batch, unsigned int flags);
void udp_rx_free(struct udp_rx *rx);
/* Receive without waiting. Return: datagrams, 0 if there are none, or -errno. */
int udp_rx_batch(struct udp_rx *rx, int fd, udp_rx_fn *fn, void *ctx);

/* --- sending */

/**
 * struct udp_tx - packets on their way into one system call
 * @fd, @flags: for sendmmsg(); set by the caller.
 * @connected: errors that ICMP reports count as @full, not as @error.
 * @no_gso:  the kernel refused a train; callers should build none from now on.
 * @packets, @bytes: sent.
 * @full:    packets dropped because the network took none for a while.
 * @error:   packets dropped for another reason; @error_no is the newest one.
 */
struct udp_tx {
	int fd;
	int flags;
	bool connected;
	bool no_gso;
	uint64_t packets;
	uint64_t bytes;
	uint64_t full;
	uint64_t error;
	int error_no;
	unsigned int n;
	struct mmsghdr msg[UDP_BATCH_MAX];
	union addr_sock to[UDP_BATCH_MAX];
	union {
		char room[CMSG_SPACE(sizeof(struct in_pktinfo)) + CMSG_SPACE(sizeof(uint16_t))];
		struct cmsghdr align;
	} control[UDP_BATCH_MAX];
};

/**
 * udp_tx_post() - queue a packet or a train
 * @to:   destination of @to_len bytes, copied; NULL on a connected socket.
 * @iov:  one packet each, all but the last of @seg bytes. They and the bytes
 *        must stay until udp_tx_push(), which a full queue calls by itself.
 * @device: index of the device by which IPv4 packets leave; 0: as routes say.
 */
void udp_tx_post(struct udp_tx *tx, const union addr_sock *to, socklen_t to_len, struct iovec *iov,
		 unsigned int niov, size_t seg, unsigned int device);
/* Send everything queued. What the kernel refuses is dropped and counted. */
void udp_tx_push(struct udp_tx *tx);

/**
 * udp_send_run() - send a run of packets at once, without waiting
 * @iov:    bytes of all packets, back to back: @seg each, the last may be
 *          shorter. A packet may span two elements.
 * @no_gso: the kernel refused a train before; set when it does.
 *
 * Return: packets sent, at least 1, or -errno.
 */
int udp_send_run(int fd, const union addr_sock *to, socklen_t to_len, const struct iovec *iov,
		 unsigned int niov, size_t seg, bool *no_gso);

#endif /* TRIB_BASE_UDP_BATCH_H */
