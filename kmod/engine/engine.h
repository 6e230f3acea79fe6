/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The worker's side of trib_wire.h as a machine: one rank of one job, on all of
 * its trees. libtrib and the module's collective sockets are hosts of it.
 *
 * It makes no system calls, knows no threads, and takes the time from
 * &trib_engine.now, which the host sets before each call that is not marked
 * "any time" (monotone, ns, not 0). All calls need the host's lock. What
 * allocates says so; in the kernel it may sleep then. What the host must
 * do:
 *
 *	trib_engine_init()
 *	max_window, timeout_ns, join_timeout_ns: set, or left
 *	trib_join_start()
 *	  packets -> trib_packet_rx(), again and again
 *	  trib_join_turn() after them and at trib_join_deadline(), until it is not 0
 *	trib_engine_start()
 *	  packets -> trib_packet_rx()
 *	  trib_engine_run() after them and at trib_engine_deadline()
 *	  trib_call_issue() -> ... host->done() -> trib_req_free()
 *	trib_leave_start()
 *	  the same two, and trib_leave_turn() after them and at
 *	  trib_leave_deadline(), until it is true
 *	trib_leave_end()		also at any other time, after join_start()
 *	trib_engine_free()
 */
#ifndef TRIB_ENGINE_ENGINE_H
#define TRIB_ENGINE_ENGINE_H

#include "host.h"
#include "stream.h"
#include "transport.h"
#include "tunables.h"
#include "kernels/codec/codec.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_sock.h"

/**
 * struct trib_host_ops - what the engine tells its host
 * @done: @r's status is final; it is the host's to free, later.
 * @died: the job cannot go on: &trib_engine.dead and error are set. Comes after
 *        @done of all requests that were under way.
 *
 * @room: a tree is about to allocate @bytes, until trib_engine_free(); what is not
 *        0 is why it may not. NULL: it always may.
 *
 * All are called with the lock held, in the midst of the engine's work: note
 * it, wake somebody, and return. Requests are not freed in there.
 */
struct trib_host_ops {
	void (*done)(struct trib_req *r);
	void (*died)(struct trib_engine *eng);
	int (*room)(struct trib_engine *eng, size_t bytes);
};

/**
 * struct trib_tally - counters, since trib_engine_init()
 * As in libtrib's struct trib_counters.
 */
struct trib_tally {
	uint64_t messages; /* requests issued */
	uint64_t chunks;
	uint64_t sent_packets;
	uint64_t sent_bytes;
	uint64_t recv_packets;
	uint64_t recv_bytes;
	uint64_t resends;
	uint64_t fast_resends;
	uint64_t needs;
	uint64_t dups;
	uint64_t bad_packets;
	uint64_t last_count;
};

/**
 * struct trib_engine - one rank of a job
 *
 * The host's to set before trib_join_start() (or, @max_window, before
 * trib_engine_start()); 0 is the default:
 * @max_window: chunks whose results the transport can buffer; 0 = no bound.
 * @timeout_ns: silence after which a rank is dead; 0: START's, or the place's.
 * @join_timeout_ns: that others have to join.
 *
 * Fixed by trib_engine_init():
 * @ops, @host, @codec: see there.
 * @rep:   the place; the host's, must live as long.
 * @world, @rank: of it.
 * @stream: @nstream of them, one per tree.
 * @uneven: trees have different weights.
 * @scratch: room for one packet and one burst.
 *
 * @now:     time of this turn; the host sets it.
 * @join_ns: JOIN is sent again; @join_end_ns: nobody waits longer.
 * @running: trib_engine_start() was called.
 * @leaving: trib_leave_start() was called: no new requests.
 * @barrier: of those who leave; NULL: there is none.
 * @leave_ns: until when we listen for those who lack something.
 * @pace_ns: what was sent until now takes until then at the planned rate.
 * @inflight: chunks sent and without result, in all streams.
 * @turn:    the stream that goes first this time.
 * @nonce:   of our JOINs.
 * @seq:     requests issued.
 * @reqs:    requests that were not freed; @unfinished of them not done.
 * @dead:    negative errno of what killed the engine.
 * @error:   newest error.
 * @count:   counters.
 */
struct trib_engine {
	unsigned int max_window;
	uint64_t timeout_ns;
	uint64_t join_timeout_ns;

	const struct trib_transport_ops *ops;
	const struct trib_host_ops *host;
	const struct trib_codec *codec;
	const struct trib_attach_rep *rep;
	unsigned int world;
	unsigned int rank;
	unsigned int nstream;
	struct trib_stream *stream[TRIB_ATTACH_TREES];
	bool uneven;
	struct trib_scratch *scratch;

	uint64_t now;
	uint64_t join_ns;
	uint64_t join_end_ns;
	bool running;
	bool leaving;
	struct trib_req *barrier;
	uint64_t leave_ns;
	uint64_t pace_ns;
	uint32_t inflight;
	unsigned int turn;
	uint64_t nonce;
	uint64_t seq;
	struct trib_req *reqs;
	unsigned int unfinished;
	int dead;
	struct trib_sock_error error;
	struct trib_tally count;
};

/* --- engine.c: a life, and one turn of it ---------------------------------- */

/**
 * trib_engine_init() - a rank that has not joined yet
 * @eng: zeroed, but for what the host may set.
 * @rep: of it everything is used but addresses, ports, flags and text.
 *
 * Allocates. Return: 0; -ENOMEM, or -EINVAL if its numbers are too large, with
 * the error set. trib_engine_free() is to be called in any case.
 */
int trib_engine_init(struct trib_engine *eng,
		     const struct trib_transport_ops *ops,
		     const struct trib_host_ops *host,
		     const struct trib_codec *codec,
		     const struct trib_attach_rep *rep);

/* All trees run, and max_window is final: requests may be issued. */
void trib_engine_start(struct trib_engine *eng);

/* Streams, and requests that were not freed; tells nobody. Any time. */
void trib_engine_free(struct trib_engine *eng);

/* Timers, gaps and sending for all streams. */
void trib_engine_run(struct trib_engine *eng);

/* When trib_engine_run() must be called again at the latest; 0 = never. Any
 * time.
 */
uint64_t trib_engine_deadline(const struct trib_engine *eng);

/* What the windows are now; largest of all trees, and sum of all. Any time. */
struct trib_path {
	uint64_t rtt_us;
	uint64_t rtt_min_us;
	uint64_t window; /* chunks */
};

void trib_engine_path(const struct trib_engine *eng, struct trib_path *out);

/* --- join.c: from places to running trees and back --------------------------- */

/**
 * trib_join_start() - begin to join
 * @nonce: trib_nonce() of this attempt: the same instance has used none as large.
 */
void trib_join_start(struct trib_engine *eng, uint64_t nonce);

/**
 * trib_join_turn() - send JOINs that are due
 * Return: 1 once all trees run; 0: not yet; negative errno: never, the engine is
 * dead.
 */
int trib_join_turn(struct trib_engine *eng);
/* When to do so at the latest. Any time. */
uint64_t trib_join_deadline(const struct trib_engine *eng);

/* --- leave.c: together, or alone --------------------------------------------- */

/**
 * trib_leave_start() - no more requests; a barrier of all ranks
 * If requests are unfinished there is no barrier, and trib_leave_end() tells the
 * others that we are gone: who wants them finished waits before. Allocates.
 */
void trib_leave_start(struct trib_engine *eng);
/* Return: whether there is nothing to wait for any more. */
bool trib_leave_turn(struct trib_engine *eng);
static inline uint64_t trib_leave_deadline(const struct trib_engine *eng)
{
	return eng->leave_ns;
}
/**
 * trib_leave_end() - the last packets: ABORT if others still need us, and LEAVE
 * Requests that are unfinished end with -ECANCELED.
 */
void trib_leave_end(struct trib_engine *eng);

/* --- call.c: collectives become requests --------------------------------------- */

/**
 * struct trib_call - one collective
 * @collective: enum trib_collective.
 * @op:    enum trib_sock_op; ALLREDUCE and REDUCE_SCATTER only.
 * @dtype: enum trib_sock_dtype.
 * @src:   elements; ALLREDUCE: @count, REDUCE_SCATTER: @count * world. They must
 *	   stay until the request is done.
 * @dst:   the result, @count elements; ALLGATHER: @count * world. May be @src;
 *	   REDUCE_SCATTER: or this rank's part of it. Until the request is done
 *	   anything may be there. ALLGATHER and BROADCAST have no @src: this
 *	   rank's elements are where they are in the result.
 * @count: elements; see above.
 * @root:  BROADCAST only.
 */
struct trib_call {
	unsigned int collective;
	unsigned int op;
	unsigned int dtype;
	const void *src;
	void *dst;
	uint64_t count;
	uint32_t root;
};

/* What is wrong with the arguments, or NULL. Without lock, any time. */
const char *trib_call_wrong(const struct trib_engine *eng,
			    const struct trib_call *c);

/**
 * trib_call_issue() - a collective is under way
 * @out: the request. host->done() may have come before this returns.
 *
 * Needs trib_engine_start(). Allocates. Return: 0; -EINVAL and -ENOMEM with the
 * error set; &trib_engine.dead; -ECANCELED while leaving.
 */
int trib_call_issue(struct trib_engine *eng, const struct trib_call *c,
		    struct trib_req **out);

/**
 * trib_call_check() - may this collective be issued now?
 * Return: 0; -EINVAL with the error set; &trib_engine.dead; -ECANCELED while
 * leaving.
 */
int trib_call_check(struct trib_engine *eng, const struct trib_call *c);

/**
 * trib_req_own() - a request that the host carries out by itself
 * It is in the engine's list and ends with the engine, but is in no stream: the
 * host says when it is done. Allocates. Return: NULL without memory.
 */
struct trib_req *trib_req_own(struct trib_engine *eng);
/* Its status is final: host->done(). */
void trib_req_done(struct trib_req *r, int status);

/* Forget a request that is done. Any time. */
void trib_req_free(struct trib_req *r);
/* It shall outlive the engine: only status and ctx are left. Any time. */
void trib_req_orphan(struct trib_req *r);

/* --- error.c: the newest error, and the end ------------------------------------ */

/**
 * trib_fault() - note an error
 * @code: enum trib_sock_code.
 * @err:  negative errno. Return: the same.
 */
int trib_fault(struct trib_engine *eng, int code, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int trib_fault_rank(struct trib_engine *eng, int code, int err, int rank,
		    int64_t index, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Give up: note the error and complete all requests with it. */
void trib_die_rank(struct trib_engine *eng, int code, int err, int rank,
		   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif /* TRIB_ENGINE_ENGINE_H */
