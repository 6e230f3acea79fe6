/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line between libtrib's engine (by_engine.c) and what moves packets. engine/transport.h has the
 * engine's part of it.
 *
 * All functions here run with the handle's lock held, except close(), which
 * runs when nobody else has the handle. None may block.
 *
 *	  user threads, progress thread		progress.c: who drives, poll()
 *		  | step
 *	  engine: chunks, window, recovery	kmod/engine
 *	 send()	  |	 ^ trib_packet_rx(), trib_rx()
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

#include "engine/transport.h"
#include "way.h"

struct trib;

/**
 * struct trib_carrier - a transport as libtrib has it
 * @name:  for trib_transport_name().
 * @ops:   what the engine calls.
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
 * @recv:  take what has arrived, up to a batch, and hand it to the engine.
 *         Returns how many packets or events that were, so that the driver can
 *         tell an empty call, or -errno if the transport has failed for good.
 */
struct trib_carrier {
	const char *name;
	struct trib_transport_ops ops;

	int (*open)(struct trib *t);
	int (*start)(struct trib *t);
	void (*close)(struct trib *t);

	int (*pollfds)(struct trib *t, struct pollfd *pfd);
	int (*recv)(struct trib *t);
};

/* udp.c: plain sockets. xdp.c sends, joins and hears START through them, too:
 * trib_udp's functions work on t->udp whatever t->transport is.
 */
extern const struct trib_carrier trib_udp;
/* xdp.c: results in cells that XDP writes and this process maps. */
extern const struct trib_carrier trib_xdp;

#endif /* TRIB_LIB_TRANSPORT_H */
