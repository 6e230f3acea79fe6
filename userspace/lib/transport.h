/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line between libtrib's engine and what moves packets.
 *
 * The engine (stream.c, window.c, result.c) decides what is sent when; it does
 * no system calls and knows no threads. A transport carries whole packets up
 * (struct trib_hdr and payload, ready made) and reports what comes down by
 * calling trib_rx(). All functions here run with the handle's lock held,
 * except close(), which runs when nobody else has the handle. None may block.
 *
 *	  user threads, progress thread		progress.c: who drives, poll()
 *		  | step
 *	  engine: chunks, window, recovery	stream.c window.c result.c
 *	 send()	  |	 ^ trib_rx()
 *	  transport: udp.c | xdp.c
 *
 * A driver's turn is: poll() on the descriptors of pollfds() until one is
 * readable or the engine's next deadline has come; then, under the lock,
 * recv() and trib_engine_run(). recv() is also called when a deadline has
 * come and nothing was readable, so a transport may look again then.
 *
 * Two threads may poll the same descriptors for a moment when the role
 * changes hands; only one of them is inside recv().
 */
#ifndef TRIB_LIB_TRANSPORT_H
#define TRIB_LIB_TRANSPORT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "uapi/trib_wire.h"

struct trib;
struct trib_stream;

/* Descriptors a transport may ask to be polled. */
#define TRIB_POLLFDS_MAX (32 + 4)

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
 * Host byte order, except @v. The transport has checked that lengths agree
 * and that version, job, tree and cookie are the stream's; trib_rx() checks
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
 * @name:  for trib_transport_name().
 * @flags: enum trib_transport_flags.
 *
 * @open:  t->place is filled in, streams exist but have no window, epoch or
 *         values-per-chunk yet. Get ready to send, and to receive START (the
 *         relay answers JOIN to the socket that sent it). On failure set the
 *         error with trib_fail() and return it.
 * @start: all trees have started: s->window, s->nval and s->epoch of every
 *         stream are final. Size buffers, check that mapped arrays fit. May be
 *         NULL.
 * @close: undo open() and start(), also after they failed.
 *
 * @pollfds: fill in descriptors to poll, at most TRIB_POLLFDS_MAX, and return
 *         how many. Called once, after open(); they must stay valid.
 *
 * @send:  send packets of one stream up, to where s->via says. @iov holds whole packets back to
 *         back; all are @seg bytes long but the last, which may be shorter
 *         (so: UDP_SEGMENT). One packet may be spread over several elements
 *         only if it is the only one. Returns the number of packets
 *         that were taken, counted from the first, or -errno if none was.
 *         -EAGAIN: tried again later. Losing packets is allowed; changing or
 *         keeping pointers to @iov's memory after return is not.
 *
 * @recv:  take what has arrived, up to a batch, and call trib_rx() for each.
 *         Returns how many packets or events that were, so that the driver can
 *         tell an empty call, or -errno if the transport has failed for good.
 *
 * @result: TRIB_TRANSPORT_HOLDS only: the payload of a result that trib_rx()
 *         accepted before and whose chunk + 2W was not sent yet; fills in
 *         @rx, or returns -ENOENT if it is no longer there.
 */
struct trib_transport_ops {
	const char *name;
	unsigned int flags;

	int (*open)(struct trib *t);
	int (*start)(struct trib *t);
	void (*close)(struct trib *t);

	int (*pollfds)(struct trib *t, struct pollfd *pfd);

	int (*send)(struct trib *t, struct trib_stream *s,
		    const struct iovec *iov, unsigned int niov,
		    unsigned int seg);
	int (*recv)(struct trib *t);
	int (*result)(struct trib *t, struct trib_stream *s, uint32_t chunk,
		      struct trib_rx *rx);
};

/* udp.c: plain sockets. xdp.c sends, joins and hears START through them, too:
 * trib_udp's functions work on t->udp whatever t->ops is.
 */
extern const struct trib_transport_ops trib_udp;
/* xdp.c: results in cells that XDP writes and this process maps. */
extern const struct trib_transport_ops trib_xdp;

#endif /* TRIB_LIB_TRANSPORT_H */
