/* SPDX-License-Identifier: GPL-2.0 */
/* The UDP sockets of a collective socket: port.c makes them, tx.c and rx.c use them. */
#ifndef TRIB_SOCK_IO_H
#define TRIB_SOCK_IO_H

#include <net/dst.h>
#include <net/sock.h>

#include "sock.h"

/**
 * struct trib_port - a UDP socket
 * @ts:     its collective socket.
 * @sock:   the kernel's socket; NULL before it is made.
 * @v6:     IPv6, not IPv4.
 * @addr:   local address; IPv4 is mapped.
 * @port:   local UDP port, 0: any; @sport: the one that it got.
 * @streams: number of streams that send by it.
 * @ready:  the original sk_data_ready().
 */
struct trib_port {
	struct trib_sock *ts;
	struct socket *sock;
	bool v6;
	__be32 addr[4];
	u16 port;
	u16 sport;
	unsigned int streams;
	void (*ready)(struct sock *sk);
};

/**
 * struct trib_way - a destination of a stream's packets
 * @port: UDP socket that sends them.
 * @addr, @dport: address and UDP port of the relay or PS.
 * @dst:  cached route, or NULL; @cookie validates it.
 * @saddr: our address on that route.
 */
struct trib_way {
	struct trib_port *port;
	__be32 addr[4];
	u16 dport;
	struct dst_entry *dst;
	u32 cookie;
	__be32 saddr[4];
};

/**
 * struct trib_io - UDP sockets and routes of one collective socket
 * @net:   its network namespace.
 * @port:  @nport UDP sockets.
 * @way:   @nway arrays, one per stream, indexed by &trib_stream.via.
 * @first: the port that the next receive starts with.
 * @stage: linear copy of a packet that is in fragments.
 */
struct trib_io {
	struct net *net;
	struct trib_port *port;
	unsigned int nport;
	unsigned int nway;
	struct trib_way (*way)[1 + TRIB_ATTACH_HOPS];
	unsigned int first;
	u8 stage[sizeof(struct trib_hdr) + 8 * TRIB_BMWORDS_MAX + 4 * TRIB_NVAL_LARGE];
};

/* Bytes of a socket with @ntree trees, without its engine's buffers. */
static inline size_t trib_io_bytes(unsigned int ntree)
{
	return sizeof(struct trib_io) +
	       ntree * (sizeof(struct trib_port) + sizeof(struct trib_stream) +
			(1 + TRIB_ATTACH_HOPS) * sizeof(struct trib_way));
}

/* --- port.c -------------------------------------------------------------------- */

/**
 * trib_io_open() - bind all UDP ports of ts->place and join its groups
 * Return: 0 or a negative errno, with the engine's error set; then nothing is
 * left open.
 */
int trib_io_open(struct trib_sock *ts);
void trib_io_close(struct trib_sock *ts);
/* Size receive buffers for the trees' windows; lower max_window if they do not fit. */
void trib_io_size(struct trib_sock *ts);

/* --- route.c --------------------------------------------------------------------- */

/* The route of @way, looked up again if stale; NULL if there is none. */
struct dst_entry *trib_way_route(struct trib_io *io, struct trib_way *way);
/* Index of the device with this address; 0 if none. */
int trib_device_of(struct net *net, const __be32 *addr);
/* Index of the device towards the relay at @way, by our address; 0 if unknown. */
int trib_device_towards(struct trib_io *io, struct trib_way *way, const __be32 *local);

/* --- tx.c, rx.c -------------------------------------------------------------------- */

/* send() of struct trib_transport_ops. */
int trib_io_send(struct trib_engine *eng, struct trib_stream *s, const struct kvec *iov,
		 unsigned int niov, unsigned int seg);
/* Receive up to @budget trains. Return: true if more may be queued. */
bool trib_io_recv(struct trib_sock *ts, unsigned int budget);

static inline void trib_sockaddr_v4(struct sockaddr_in *to, const __be32 *addr, u16 port)
{
	memset(to, 0, sizeof(*to));
	to->sin_family = AF_INET;
	to->sin_port = htons(port);
	to->sin_addr.s_addr = addr[3];
}

static inline void trib_sockaddr_v6(struct sockaddr_in6 *to, const __be32 *addr, u16 port)
{
	memset(to, 0, sizeof(*to));
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	memcpy(&to->sin6_addr, addr, 16);
}

#endif /* TRIB_SOCK_IO_H */
