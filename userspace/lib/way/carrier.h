/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways, and the line between the way by the engine (by_engine.c) and
 * the carriers that move its packets. engine/transport.h is the part of that
 * line which the engine sees; the module has carriers of its own there.
 *
 * The handle's lock is held in every function except close(), which runs when
 * no other thread has the handle. None may block.
 *
 *	  user threads, progress thread		progress.c: poll()
 *		  | step
 *	  engine: chunks, window, recovery	kmod/engine
 *	 send()	  |	 ^ trib_packet_rx(), trib_rx()
 *	  carrier: udp.c | xdp.c
 *
 * A turn of the driver: poll() the descriptors of pollfds() until one is
 * readable or the engine's next deadline has come; then, under the lock,
 * recv() and trib_engine_run(). A deadline also leads to recv() with nothing
 * readable, so that a carrier may look again.
 *
 * Two threads may poll the same descriptors for a moment while the role changes
 * hands; only one of them is inside recv().
 */
#ifndef TRIB_LIB_CARRIER_H
#define TRIB_LIB_CARRIER_H

#include "engine/transport.h"
#include "lib/handle/handle.h"

/**
 * struct trib_carrier - what moves the engine's packets
 * @name:  for trib_transport_name().
 * @ops:   functions that the engine calls.
 *
 * @open:  get ready to send, and to receive START (the relay answers JOIN to
 *         the socket that sent it). t->place is filled in; streams exist
 *         without window, epoch or values per chunk. On failure record the
 *         error with trib_fail() and return it.
 * @start: all trees have started: s->window, s->nval and s->epoch of every
 *         stream are final. Size buffers, check that mapped arrays fit. May be
 *         NULL.
 * @epochs: epochs of streams have changed: tell tribd, without waiting for it.
 * @close: undo open() and start(), even where they failed.
 *
 * @pollfds: as in struct trib_way. The descriptors must stay valid.
 *
 * @recv:  receive up to a batch, and hand it to the engine. Return: the number
 *         of packets or events, or -errno if the carrier has failed for good.
 *
 * @rest:  prepare wake-ups; the caller polls next. Return: false if there is work: do not
 *         poll. NULL: descriptors wake it.
 */
struct trib_carrier {
	const char *name;
	struct trib_transport_ops ops;

	int (*open)(struct trib *t);
	int (*start)(struct trib *t);
	void (*epochs)(struct trib *t);
	void (*close)(struct trib *t);

	int (*pollfds)(struct trib *t, struct pollfd *pfd);
	int (*recv)(struct trib *t);
	bool (*rest)(struct trib *t);
};

/*
 * udp.c: plain sockets. xdp.c sends, joins and receives START through them,
 * too: trib_udp's functions work on t->udp whatever t->transport is.
 */
extern const struct trib_carrier trib_udp;
/* xdp.c: results in cells that XDP writes and this process maps. */
extern const struct trib_carrier trib_xdp;

/* by_engine.c: the engine in this process. */
extern const struct trib_way trib_by_engine;
/* ksock.c: a collective socket of the kernel. */
extern const struct trib_way trib_by_ksock;
/* Can this host's module take part by cells of tribd? */
bool trib_ksock_takes_cells(void);
/* peer.c: exchange with the other ranks, without relays. */
extern const struct trib_way trib_by_peer;

#endif /* TRIB_LIB_CARRIER_H */
