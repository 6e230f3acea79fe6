/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk: one call carried out by one lane.
 *
 *	arrival of a chunk ----> ADD: vector = vector op chunk, watermark of the ADD
 *	  (in order, per link)   SET: copied, or written in place; watermark of the SET
 *	                              |
 *	                              v   every earlier operation it waits for has passed
 *	SEND: next chunk of the link ------> port: a staging slot, or the peer's memory
 *
 * Both ends cut a range into the same chunks: of peer_cut() elements from its
 * beginning, and at the borders of the lane's pieces. A range that is SET, long enough,
 * and all in one piece is written straight into the receiver's vector.
 *
 * A walk never blocks: its thread (lane.c) calls peer_walk_step() and waits for the
 * ports in between.
 */
#ifndef PEER_WALK_H
#define PEER_WALK_H

#include <stdatomic.h>

#include "kernels/reduce/reduce.h"
#include "masked.h"
#include "peer/net/port.h"
#include "plan.h"

/**
 * struct peer_link - an edge of a lane: a link of a port
 * @port:  index of the lane's port.
 * @link:  the port's number for it.
 */
struct peer_link {
	uint32_t port;
	uint32_t link;
};

/**
 * struct peer_job - a call, as the lanes see it
 * @src:  the rank's values: @vec elements. @dst: where results go; may be @src.
 * @size: bytes of an element.
 * @fn:   the reduction; NULL if the call has none.
 * @average: the last reduction of a range, if not NULL.
 * @world: divisor of @average.
 * @masked: elements are units of these values: those of @src are packed, @dst gets sums.
 * @chunk: bytes of a chunk, at most a staging slot.
 * @direct: bytes of a range from which it is written in place.
 */
struct peer_job {
	const void *src;
	void *dst;
	uint64_t vec;
	size_t size;
	trib_reduce_fn fn;
	trib_average_fn average;
	const struct peer_masked *masked;
	uint32_t world;
	size_t chunk;
	size_t direct;
};

/**
 * struct peer_port_use - a port of a lane, and its use by the walk
 * @expected: by link of the port: the number of the peer's next announcement.
 * @src, @dst: registrations of the job's memory.
 */
struct peer_port_use {
	struct peer_port *port;
	uint32_t *expected;
	struct peer_mem *src;
	struct peer_mem *dst;
};

/** struct peer_tally - activity of a lane, over all walks; any thread may read it */
struct peer_tally {
	_Atomic uint64_t chunks;
	_Atomic uint64_t recv_bytes;
	_Atomic uint64_t in_place;
	_Atomic uint64_t sent_by_nic[PEER_NICS_MAX + 1]; /* the last one: memory of the machine */
};

/** struct peer_spot - the progress of a link in one direction */
struct peer_spot {
	uint32_t op;
	uint64_t off;
};

/**
 * struct peer_walk - the state of a walk; the lane keeps it from call to call
 * @done: by operation: elements sent or received and applied.
 * @send, @recv: by link: what comes next.
 * @told: links whose peers know of this walk's memory, as far as they need it.
 * @left: operations that are not done.
 * @wrong: a chunk was not the one that must come: @wrong_peer does another call.
 * @tally: the lane's.
 * @record: if not NULL, called when an operation is done: for tests and traces.
 */
struct peer_walk {
	const struct peer_path *path;
	const struct peer_job *job;
	const struct peer_link *link;
	struct peer_port_use *use;
	uint32_t nuse;
	uint64_t *done;
	struct peer_spot *send;
	struct peer_spot *recv;
	uint32_t room_ops;
	uint32_t room_links;
	uint32_t told;
	uint32_t left;
	bool wrong;
	uint32_t wrong_peer;
	struct peer_tally *tally;
	void (*record)(void *arg, const struct peer_op *op);
	void *record_arg;
};

/**
 * peer_walk_begin() - start a call
 * @w: zeroed, or of an earlier call of the lane. @link, @use: the lane's.
 * Return: 0, -ENOMEM, or the error of a port.
 */
int peer_walk_begin(struct peer_walk *w, const struct peer_path *path, const struct peer_job *job,
		    const struct peer_link *link, struct peer_port_use *use, uint32_t nuse);

/**
 * peer_walk_step() - do what can be done now, without polling
 * Return: whether anything was done. The walk is over when peer_walk_over().
 */
bool peer_walk_step(struct peer_walk *w);

/** peer_walk_over() - all operations are done, and no port reads the job's memory any more */
bool peer_walk_over(const struct peer_walk *w);

/** peer_walk_end() - release registrations */
void peer_walk_end(struct peer_walk *w);
void peer_walk_free(struct peer_walk *w);

#endif /* PEER_WALK_H */
