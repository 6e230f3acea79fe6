/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line between a handle and the code that speaks the job's protocol. Three
 * ways exist (way/carrier.h): the engine in this process, which sends packets
 * by a carrier; a collective socket, where the kernel keeps windows and
 * resends and takes whole messages; and peers, which exchange without relays.
 *
 *	api/, handle/progress.c		calls, waiting, driving
 *		|
 *	struct trib_way
 *		|			     |				|
 *	by_engine.c			ksock.c			peer.c
 *	engine, udp.c | xdp.c		a collective socket	threads of
 *					of the kernel		libtrib-peer.so
 *
 * With all, callers hold the engine's struct trib_req, and the engine keeps
 * the list of requests, errors and the end of a handle (trib_fault(),
 * trib_die_rank()). The other ways make their requests with trib_req_own(),
 * complete them with trib_req_done(), and start no stream.
 *
 * The handle's lock is held in every function except open() and close(), which
 * run when no other thread has the handle. A function that waits releases the
 * lock meanwhile.
 */
#ifndef TRIB_LIB_WAY_H
#define TRIB_LIB_WAY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct trib;
struct trib_call;
struct trib_counters;
struct trib_req;

/* Descriptors that a way may ask to be polled. */
#define TRIB_POLLFDS_MAX (32 + 4)

/**
 * struct trib_where - the memory of a call
 * @memory: enum trib_memory. @src_stream, @dst_stream: of a GPU; the call begins after
 *         what they hold.
 */
struct trib_where {
	unsigned int memory;
	void *src_stream;
	void *dst_stream;
};

/**
 * struct trib_way - a way to speak the protocol
 * @name:  for trib_transport_name(); NULL: the carrier's name.
 * @composes: guests may prepare requests and hold them, by compose.h.
 * @threads: threads of its own carry requests out, so nobody need drive at once.
 *
 * @open:  prepare. t->place is filled in; the engine exists and has joined
 *         nothing. On failure record the error with trib_fail() and return it.
 * @pollfds: write the descriptors to poll, at most TRIB_POLLFDS_MAX, and return
 *         their number. Called once, after open(). To end the polling of one,
 *         set it to -1 in t->pfd.
 * @size:  bytes of an element of this call, or 0: issue() will refuse it. NULL: all
 *         elements have 4.
 * @join:  wait until all ranks take part. Return: 0, or an errno that is
 *         recorded.
 * @issue: check the arguments and start the collective. Return: 0 with the
 *         request, or an errno that is recorded.
 * @issue_where: the same, of values in any memory. NULL: of host memory only.
 * @prepare, @start, @release, @drop: for compose.h, where requests of a way that composes
 *         are its own; a held request may keep later ones waiting. NULL: they are the
 *         engine's.
 * @died:  the engine died: let go of the buffers of kept requests soon. NULL: nothing to do.
 * @turn:  receive up to a batch, and do what is due. Return: the number of
 *         packets or results; fewer than TRIB_TUNE_RECV_BATCH mean that no more
 *         are there now.
 * @rest:  as in struct trib_carrier.
 * @due:   the time of the next turn() at the latest; 0 = never.
 * @leave: take no more requests. If all requests succeeded, wait until no other
 *         rank needs this one; else cancel them and tell the others. Called for
 *         a dead handle, too.
 * @count: fill in all counters but waits.
 * @describe: as trib_describe(). May be NULL.
 * @close: undo open() and join(), even where they failed.
 */
struct trib_way {
	const char *name;
	bool composes;
	bool threads;
	int (*open)(struct trib *t);
	int (*pollfds)(struct trib *t, struct pollfd *pfd);
	size_t (*size)(struct trib *t, const struct trib_call *call);
	int (*join)(struct trib *t);
	int (*issue)(struct trib *t, const struct trib_call *call, struct trib_req **out);
	int (*issue_where)(struct trib *t, const struct trib_call *call,
			   const struct trib_where *where, struct trib_req **out);
	int (*prepare)(struct trib *t, const struct trib_call *call, struct trib_req **out);
	void (*start)(struct trib *t, struct trib_req *r);
	void (*release)(struct trib *t, struct trib_req *r);
	void (*drop)(struct trib *t, struct trib_req *r);
	void (*died)(struct trib *t);
	int (*turn)(struct trib *t);
	bool (*rest)(struct trib *t);
	uint64_t (*due)(const struct trib *t);
	void (*leave)(struct trib *t);
	void (*count)(struct trib *t, struct trib_counters *c);
	void (*describe)(struct trib *t, char *buf, size_t room);
	void (*close)(struct trib *t);
};

#endif /* TRIB_LIB_WAY_H */
