/* SPDX-License-Identifier: GPL-2.0 */
/* The UDP sockets of a collective socket: port.c makes them, tx.c and rx.c use them. */
#ifndef TRIB_SOCK_IO_H
#define TRIB_SOCK_IO_H

#include <net/dst.h>
#include <net/sock.h>

#include "sock.h"

/**
 * struct trib_port - a UDP socket
 * @ts:     whose it is.
 * @sock:   the kernel's.
 * @v6:     it is one of IPv6.
 * @addr:   it is bound to.
 * @port:   it is bound to.
 * @streams: that send by it.
 * @ready:  what the kernel calls when something has come, before us.
 */
struct trib_port {
	struct trib_sock *ts;
	struct socket *sock;
	bool v6;
	__be32 addr[4];
	u16 port;
	unsigned int streams;
	void (*ready)(struct sock *sk);
};

/**
 * struct trib_way - where a stream's packets go
 * @port: that they leave by.
 * @addr, @dport: of the relay or PS.
 * @dst:  route, or NULL; @cookie says whether it still holds.
 * @saddr: our address on it.
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
 * struct trib_io - of one socket
 * @net:   its namespace.
 * @port:  @nport of them.
 * @way:   of each stream, by &trib_stream.via.
 * @first: port that is looked at first the next time.
 * @stage: a packet that lies in pieces.
 */
struct trib_io {
	struct net *net;
	struct trib_port *port;
	unsigned int nport;
	unsigned int nway;
	struct trib_way (*way)[1 + TRIB_ATTACH_HOPS];
	unsigned int first;
	u8 stage[sizeof(struct trib_hdr) + 8 * TRIB_BMWORDS_MAX +
		 4 * TRIB_NVAL_LARGE];
};

/* What a socket of @ntree trees takes besides its engine's. */
static inline size_t trib_io_bytes(unsigned int ntree)
{
	return sizeof(struct trib_io) +
	       ntree * (sizeof(struct trib_port) + sizeof(struct trib_stream) +
			(1 + TRIB_ATTACH_HOPS) * sizeof(struct trib_way));
}

/* --- port.c -------------------------------------------------------------------- */

/**
 * trib_io_open() - bind all UDP ports of ts->place, join groups
 * Errors are the engine's, too. On failure nothing is left.
 */
int trib_io_open(struct trib_sock *ts);
void trib_io_close(struct trib_sock *ts);
/* Buffers for the running trees' windows; what does not fit bounds them. */
void trib_io_size(struct trib_sock *ts);

/* --- route.c --------------------------------------------------------------------- */

/* The route of @way; NULL: there is none now. */
struct dst_entry *trib_way_route(struct trib_io *io, struct trib_way *way);
/* The device that has this address; 0: none. */
int trib_device_of(struct net *net, const __be32 *addr);
/* The device that the relay at @way is behind, by our address; 0: unknown. */
int trib_device_towards(struct trib_io *io, struct trib_way *way,
			const __be32 *local);

/* --- tx.c, rx.c -------------------------------------------------------------------- */

int trib_io_send(struct trib_engine *eng, struct trib_stream *s,
		 const struct kvec *iov, unsigned int niov, unsigned int seg);
/* Up to @budget trains. Return: whether there may be more. */
bool trib_io_recv(struct trib_sock *ts, unsigned int budget);

static inline void trib_sockaddr_v4(struct sockaddr_in *to, const __be32 *addr,
				    u16 port)
{
	memset(to, 0, sizeof(*to));
	to->sin_family = AF_INET;
	to->sin_port = htons(port);
	to->sin_addr.s_addr = addr[3];
}

static inline void trib_sockaddr_v6(struct sockaddr_in6 *to, const __be32 *addr,
				    u16 port)
{
	memset(to, 0, sizeof(*to));
	to->sin6_family = AF_INET6;
	to->sin6_port = htons(port);
	memcpy(&to->sin6_addr, addr, 16);
}

#endif /* TRIB_SOCK_IO_H */
