/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The interface between the engine and a transport.
 *
 * The engine decides when to send which packet. A transport carries complete
 * packets (struct trib_hdr and payload) up, and reports received ones by
 * trib_packet_rx(), or by trib_rx() if it has parsed them or has an event that
 * stands for a packet. libtrib has several transports; sockets have kmod/sock/tx.c.
 */
#ifndef TRIB_ENGINE_TRANSPORT_H
#define TRIB_ENGINE_TRANSPORT_H

#include "host.h"
#include "uapi/trib_wire.h"

struct trib_engine;
struct trib_req;
struct trib_stream;

/* Error text of transports whose UDP port is in use. */
#define TRIB_TEXT_PORT_TAKEN                                                                       \
	"UDP port %u is taken: by another process of this rank, or by this "                       \
	"host's tribd: then the relay's face must name another port"

/**
 * struct trib_rx - one received packet, or an event that stands for one
 * @type:  enum trib_type: RESULT, NEED, ALIVE, ABORT, PROBE or START.
 * @flags: enum trib_flags. The transport adds TRIB_F_CE if the IP header has a
 *         congestion mark.
 * @op:    RESULT: enum trib_wire_op.
 * @fmt:   RESULT: enum trib_fmt.
 * @child: RESULT: our relay's child that completed the chunk.
 * @nval:  RESULT: 32-bit units of values in @v.
 * @aux:   ALIVE, ABORT: rank.
 * @relay: PROBE: the relay that answers.
 * @chunk: as on the wire.
 * @epoch: as on the wire.
 * @scale: RESULT; PROBE: number of the one that is answered.
 * @seen:  NEED: children the sender has. Shared pools: 0.
 * @took_ns: RESULT: time since the first sending, measured outside; 0: unknown.
 * @v:     payload, or NULL; valid until trib_rx() returns. Any alignment.
 * @len:   readable bytes at @v; at least trib_payload_len(@nval).
 *
 * Host byte order, except @v. The transport (or packet.c) has checked lengths and
 * that version, job and tree are the stream's, and that it is authentic. trib_rx()
 * checks epoch, chunk, sizes and state, and counts what it refuses.
 */
struct trib_rx {
	uint8_t type;
	uint8_t flags;
	uint8_t op;
	uint8_t fmt;
	uint16_t child;
	uint16_t nval;
	uint16_t aux;
	uint16_t relay;
	uint32_t chunk;
	uint32_t epoch;
	int32_t scale;
	uint32_t took_ns;
	uint64_t seen;
	const void *v;
	uint32_t len;
};

/**
 * struct trib_cells - cells of a stream that an XDP program shares (uapi/trib_cell.h)
 * @base:   @n cells and a desk, zeroed.
 * @n:      N, a power of 2, at least 2W.
 * @reflex: XDP sends what the desk allows; else all leave by send().
 */
struct trib_cells {
	void *base;
	uint32_t n;
	bool reflex;
};

/**
 * struct trib_transport_ops - a transport
 *
 * All functions run with the host's lock held, inside a call of the engine. They
 * must not block or call the engine.
 *
 * @send:  send packets of a stream to the destination s->via. @iov holds whole
 *         packets back to back, all of @seg bytes except the last, which may be
 *         shorter (as UDP_SEGMENT wants them). A packet may span several elements
 *         only if it is the only one. Return: number of packets taken, from the
 *         first on, or -errno if none. The engine retries after -EAGAIN and gives
 *         up after -EMSGSIZE. Packets may get lost; @iov's memory must not be
 *         changed, or used after return.
 * @cells: find the cells of a stream, whose window and nval are set. They stay until
 *         trib_leave_end(). Return: 0 or -errno. NULL: the engine allocates its own,
 *         and receives all results by trib_rx().
 */
struct trib_transport_ops {
	int (*send)(struct trib_engine *eng, struct trib_stream *s, const struct trib_iovec *iov,
		    unsigned int niov, unsigned int seg);
	int (*cells)(struct trib_engine *eng, struct trib_stream *s, struct trib_cells *out);
};

/**
 * trib_packet_rx() - process a received packet
 * @p:   @len bytes: struct trib_hdr and payload; any alignment.
 * @ce:  the IP header has a congestion mark.
 *
 * Checks everything. Malformed and forged packets and those of another job or tree are
 * counted in bad_packets. The host has set eng->now. The first START(RUN) of each tree
 * allocates.
 */
void trib_packet_rx(struct trib_engine *eng, const void *p, size_t len, bool ce);

/**
 * trib_rx() - process a parsed packet
 * The caller has checked version, job, tree and lengths, and that it is authentic.
 */
void trib_rx(struct trib_stream *s, const struct trib_rx *rx);

/** trib_stream_of() - find the stream of a tree number, or NULL */
struct trib_stream *trib_stream_of(struct trib_engine *eng, uint16_t tree);

#endif /* TRIB_ENGINE_TRANSPORT_H */
