/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The line between the engine and what moves packets.
 *
 * The engine decides what is sent when. A transport carries whole packets up
 * (struct trib_hdr and payload, ready made) and reports what comes down, by
 * calling trib_packet_rx() with a packet, or trib_rx() with what stands for one.
 */
#ifndef TRIB_ENGINE_TRANSPORT_H
#define TRIB_ENGINE_TRANSPORT_H

#include "host.h"
#include "uapi/trib_wire.h"

struct trib_engine;
struct trib_req;
struct trib_stream;

/* What transports that bind UDP ports say of one, by trib_fault() or the like. */
#define TRIB_TEXT_PORT_TAKEN                                                   \
	"UDP port %u is taken: by another process of this rank, or by this "   \
	"host's tribd: then the relay's face must name another port"

/**
 * struct trib_rx - one packet, or one event that stands for a packet
 * @type:  enum trib_type: RESULT, NEED, ALIVE, ABORT, PROBE or START.
 * @flags: enum trib_flags. The transport adds TRIB_F_CE if the packet itself
 *         met congestion.
 * @op:    RESULT: enum trib_wire_op.
 * @fmt:   RESULT: enum trib_fmt.
 * @child: RESULT: root's child that completed the chunk.
 * @nval:  RESULT: 32-bit units of values in @v.
 * @aux:   rank (ALIVE, ABORT).
 * @relay: PROBE: who answers.
 * @chunk: as on the wire.
 * @epoch: as on the wire.
 * @scale: RESULT.
 * @seen:  NEED: children the sender has. Shared pools: 0.
 * @v:     payload, or NULL: valid until trib_rx() returns, or, with
 *         TRIB_TRANSPORT_HOLDS, as result() promises. Any alignment.
 * @len:   bytes at @v that may be read; at least trib_payload_len(@nval).
 *
 * Host byte order, except @v. The transport (or packet.c) has checked that lengths
 * agree and that version, job, tree and cookie are the stream's; trib_rx() checks
 * everything else (epoch, chunk, sizes, state) and counts what it refuses.
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
	uint64_t seen;
	const void *v;
	uint32_t len;
};

/**
 * enum trib_transport_flags - what the engine may rely on
 * @TRIB_TRANSPORT_HOLDS: a result stays where the transport found it until
 *         chunk + 2W is delivered, so the engine keeps no copy and asks
 *         result() for it again when a peer needs it.
 */
enum trib_transport_flags {
	TRIB_TRANSPORT_HOLDS = 1 << 0,
};

/**
 * struct trib_transport_ops - one way to move packets
 * @flags: enum trib_transport_flags.
 *
 * All run with the host's lock held, from within a call of the engine. None may
 * block, nor call the engine again.
 *
 * @send:  send packets of one stream up, to where s->via says. @iov holds whole
 *         packets back to back; all are @seg bytes long but the last, which may
 *         be shorter (so: UDP_SEGMENT). One packet may be spread over several
 *         elements only if it is the only one. Returns the number of packets
 *         that were taken, counted from the first, or -errno if none was.
 *         -EAGAIN: tried again later. -EMSGSIZE: such packets do not go, the
 *         engine gives up. Losing packets is allowed; changing or keeping
 *         pointers to @iov's memory after return is not.
 *
 * @result: TRIB_TRANSPORT_HOLDS only: the payload of a result that trib_rx()
 *         accepted before and whose chunk + 2W was not sent yet; fills in
 *         @rx, or returns -ENOENT if it is no longer there.
 */
struct trib_transport_ops {
	unsigned int flags;
	int (*send)(struct trib_engine *eng, struct trib_stream *s,
		    const struct trib_iovec *iov, unsigned int niov,
		    unsigned int seg);
	int (*result)(struct trib_engine *eng, struct trib_stream *s,
		      uint32_t chunk, struct trib_rx *rx);
};

/**
 * trib_packet_rx() - a packet has come, as it was sent
 * @p:   struct trib_hdr and what follows, @len bytes; any alignment.
 * @ce:  the packet met congestion.
 *
 * Checks all of it; what is not for this place, or not as it must be, is
 * counted in bad_packets. eng->now is set. The first START(RUN) of each tree
 * allocates.
 */
void trib_packet_rx(struct trib_engine *eng, const void *p, size_t len,
		    bool ce);

/**
 * trib_rx() - the same for what was read already
 * Version, job, tree, cookie and lengths were checked.
 */
void trib_rx(struct trib_stream *s, const struct trib_rx *rx);

/* The stream of a tree number, or NULL. */
struct trib_stream *trib_stream_of(struct trib_engine *eng, uint16_t tree);

#endif /* TRIB_ENGINE_TRANSPORT_H */
