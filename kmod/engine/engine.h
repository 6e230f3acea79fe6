/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine: the worker's side of trib_wire.h, for one rank of one job on all of
 * its trees. libtrib and the module's collective sockets host it.
 *
 * The engine makes no system calls and has no threads. It takes the time from
 * &trib_engine.now (monotonic, ns, not 0), which the host sets before each call
 * that is not marked "any time". All calls need the host's lock. Functions that
 * allocate are marked; in the kernel they may sleep. The host calls:
 *
 *	trib_engine_init()
 *	set max_window, timeout_ns, join_timeout_ns, if wanted
 *	trib_join_start()
 *	  trib_packet_rx() with each packet
 *	  trib_join_turn() after packets and at trib_join_deadline(), until not 0
 *	trib_engine_start()
 *	  trib_packet_rx() with each packet
 *	  trib_engine_run() after packets and at trib_engine_deadline()
 *	  trib_call_issue(); after host->done() trib_req_free()
 *	trib_leave_start()
 *	  the same calls, and trib_leave_turn() after packets and at
 *	  trib_leave_deadline(), until true
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
 * struct trib_host_ops - callbacks to the host
 * @done: the status of @r is final. The host frees @r later.
 * @died: the job cannot go on: &trib_engine.dead and error are set. Called after
 *        @done of all unfinished requests that are not kept.
 * @room: asks whether a tree may allocate @bytes, until trib_engine_free(). Return:
 *        0, or the errno of the refusal. NULL allows all.
 *
 * @relay_lost: the relay of a stream gives no sign of life. The host calls
 *        trib_detour_begin(). NULL: the engine dies.
 * @detour: a stream on a detour sends a GRAD: @len bytes at @h, valid for the call. The host
 *        loses none, or ends the engine. NULL, if @relay_lost is.
 *
 * All run with the lock held, inside the engine: record the event, wake a thread,
 * return. They must not free requests.
 */
struct trib_host_ops {
	void (*done)(struct trib_req *r);
	void (*died)(struct trib_engine *eng);
	int (*room)(struct trib_engine *eng, size_t bytes);
	void (*relay_lost)(struct trib_stream *s);
	void (*detour)(struct trib_stream *s, uint64_t chunk, const struct trib_hdr *h,
		       unsigned int len);
};

/**
 * struct trib_tally - counters since trib_engine_init()
 * See libtrib's struct trib_counters.
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
	uint64_t carried; /* of sent_packets, those that XDP sent */
	uint64_t detours; /* relays lost, on any tree */
	uint64_t detour_chunks;
};

/**
 * struct trib_engine - one rank of a job
 *
 * The host sets these before trib_join_start() (@max_window: before
 * trib_engine_start()); 0 is the default:
 * @max_window: chunks whose results the transport can buffer; 0: no bound.
 * @timeout_ns: silence after which a rank is dead; 0: from START or the place.
 * @join_timeout_ns: time for other ranks to join.
 *
 * Fixed by trib_engine_init():
 * @ops, @host, @codec: its arguments.
 * @rep:   the place. The host owns it and keeps it until trib_engine_free().
 * @world, @rank: copies from the place.
 * @stream: @nstream streams, one per tree.
 * @uneven: trees have different weights.
 * @scratch: room for one packet and one burst.
 *
 * @now:     time of this turn; the host sets it.
 * @join_ns: time of the next JOIN; @join_end_ns: end of the join timeout.
 * @running: trib_engine_start() was called.
 * @leaving: trib_leave_start() was called: no new requests.
 * @barrier: the request of leaving together; NULL: none.
 * @leave_ns: end of listening for ranks that lack results.
 * @pace_ns: time at which the planned rate has carried all sent packets.
 * @inflight: chunks sent and without result, in all streams.
 * @turn:    rotates the stream that sends first.
 * @reqs:    list of requests not freed; @unfinished of them are not done.
 * @dead:    0, or the negative errno that ended the engine.
 * @error:   newest error.
 * @death:   the error that ended the engine; every later call reports it again.
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
	struct trib_req *reqs;
	unsigned int unfinished;
	int dead;
	struct trib_sock_error error;
	struct trib_sock_error death;
	struct trib_tally count;
};

/* --- engine.c: a life, and one turn of it ---------------------------------- */

/**
 * trib_engine_init() - initialise the engine of a rank that has not joined
 * @eng: zeroed, except fields that the host may set.
 * @rep: the place. The engine ignores its addresses, ports, flags and text.
 *
 * Allocates. Return: 0, -ENOMEM, or -EINVAL if a number in @rep is too large, with
 * the error set. Call trib_engine_free() in any case.
 */
int trib_engine_init(struct trib_engine *eng, const struct trib_transport_ops *ops,
		     const struct trib_host_ops *host, const struct trib_codec *codec,
		     const struct trib_attach_rep *rep);

/**
 * trib_engine_start() - accept requests
 * Call it once all trees run; max_window is final then.
 */
void trib_engine_start(struct trib_engine *eng);

/**
 * trib_engine_free() - free streams and remaining requests, without callbacks
 * Any time.
 */
void trib_engine_free(struct trib_engine *eng);

/** trib_engine_run() - run timers, resend losses, send, in all streams */
void trib_engine_run(struct trib_engine *eng);

/**
 * trib_engine_deadline() - latest time of the next trib_engine_run()
 * Any time. Return: ns, or 0 if only packets need a run.
 */
uint64_t trib_engine_deadline(const struct trib_engine *eng);

/* --- lanes.c: for transports with cells ------------------------------------ */

/** trib_cells_read() - process the results in the cells of a stream. Return: their number */
unsigned int trib_cells_read(struct trib_stream *s);
/**
 * trib_cells_rest() - ask XDP for a wake-up, before the host sleeps
 * Return: false if there is work: run again instead.
 */
bool trib_cells_rest(struct trib_engine *eng);

/* Round trips (largest of all trees) and windows (sum of all trees). */
struct trib_path {
	uint64_t rtt_us;
	uint64_t rtt_min_us;
	uint64_t window; /* chunks */
};

/** trib_engine_path() - report round trips and windows; any time */
void trib_engine_path(const struct trib_engine *eng, struct trib_path *out);

/* --- join.c: from places to running trees and back --------------------------- */

/**
 * trib_join_start() - begin to join
 * @nonce: trib_nonce() of this attempt, larger than all before of this instance.
 */
void trib_join_start(struct trib_engine *eng, uint64_t nonce);

/**
 * trib_join_turn() - send JOINs that are due
 * Return: 1 once all trees run, 0 before, or the negative errno of a dead engine.
 */
int trib_join_turn(struct trib_engine *eng);
/** trib_join_deadline() - latest time of the next trib_join_turn(); any time */
uint64_t trib_join_deadline(const struct trib_engine *eng);

/* --- join.c: leaving together, or alone ----------------------------------------- */

/**
 * trib_leave_start() - refuse new requests and issue a barrier of all ranks
 * Allocates. With unfinished requests there is no barrier, and trib_leave_end()
 * tells the others that we are gone. So hosts wait for requests first.
 */
void trib_leave_start(struct trib_engine *eng);
/** trib_leave_turn() - true once there is nothing left to wait for */
bool trib_leave_turn(struct trib_engine *eng);
/** trib_leave_deadline() - latest time of the next trib_leave_turn(); any time */
static inline uint64_t trib_leave_deadline(const struct trib_engine *eng)
{
	return eng->leave_ns;
}
/**
 * trib_leave_end() - send ABORT, if other ranks still need us, and LEAVE
 * Unfinished requests end with -ECANCELED.
 */
void trib_leave_end(struct trib_engine *eng);

/* --- detour.c: trees whose relay is dead -------------------------------------- */

/**
 * trib_detour_begin() - freeze a stream: its relay is dead, or another rank says so
 * Also on a detour: all that is not finished will be given to the host again. From here on
 * nothing that the relay or XDP sends changes a result.
 */
void trib_detour_begin(struct trib_stream *s);
/** trib_detour_has() - has this rank consumed the result of chunk @c? */
bool trib_detour_has(const struct trib_stream *s, uint64_t c);
/**
 * trib_detour_result() - find a result that another rank may lack
 * Those of at least W chunks before the first one that is missing are kept. Return: the
 * packet, of *@len bytes, valid until the stream sends; NULL: not kept.
 */
const struct trib_hdr *trib_detour_result(struct trib_stream *s, uint64_t c, unsigned int *len);
/** trib_detour_go() - send again: the states of all ranks are known */
void trib_detour_go(struct trib_stream *s);
/**
 * trib_detour_take() - take the result of a chunk; @len bytes of values at @v
 * One that is there already is counted. Return: 0, or -EPROTO: it is not of a chunk that this
 * rank has sent, or has another shape.
 */
int trib_detour_take(struct trib_stream *s, uint64_t c, const struct trib_hdr *h, const void *v,
		     unsigned int len);
/** trib_detour_hold() - send no chunk from @c on */
static inline void trib_detour_hold(struct trib_stream *s, uint64_t c)
{
	s->hold = c;
}
/**
 * trib_detour_join() - send a JOIN to the relay, which may be back
 * @nonce: the same as last time, or a larger one.
 *
 * If all ranks have joined, s->detour.back becomes the epoch.
 */
void trib_detour_join(struct trib_stream *s, uint64_t nonce);
/** trib_detour_end() - go on by the relay in @epoch: all that was sent has results */
void trib_detour_end(struct trib_stream *s, uint32_t epoch);

/* --- call.c: collectives become requests --------------------------------------- */

/**
 * struct trib_call - one collective
 * @collective: enum trib_collective.
 * @op:    enum trib_sock_op; ALLREDUCE and REDUCE_SCATTER only.
 * @dtype: enum trib_sock_dtype.
 * @src:   ALLREDUCE: @count elements; REDUCE_SCATTER: @count * world. The caller
 *	   keeps them unchanged until the request is done. ALLGATHER and
 *	   BROADCAST take this rank's elements from their place in @dst.
 * @dst:   the result: @count elements; ALLGATHER: @count * world. May equal
 *	   @src or, for REDUCE_SCATTER, this rank's part of @src. Undefined until
 *	   the request is done.
 * @count: see above.
 * @root:  BROADCAST only.
 * @words: ALLREDUCE sum of @count 64-bit words modulo 2^64; @dtype is ignored. Only
 *	   hosts make such calls.
 * @nm:    not 0: ALLREDUCE sum or average of @count f32 elements, of which this rank
 *	   sends those in its own mask, trib_nm(). @src are these, trib_nm_per_word()
 *	   for each mask word; elements behind the last one count as zeros, and the
 *	   mask has bits for them if M of a group do not fit before. In a job of
 *	   integers values that are not finite are found like those of other sums, in
 *	   a job of fp32 they are values. Only hosts make such calls.
 * @mask:  the mask words.
 * @held:  nothing is sent before trib_req_release(); until then @src may change.
 *	   Later requests are sent before it, as far as windows reach.
 */
struct trib_call {
	unsigned int collective;
	unsigned int op;
	unsigned int dtype;
	const void *src;
	void *dst;
	uint64_t count;
	uint32_t root;
	bool words;
	bool held;
	const void *mask;
	uint8_t nm;
};

/**
 * trib_call_wrong() - check the arguments of a collective
 * Any time, without the lock. Return: NULL, or a text that names the mistake.
 */
const char *trib_call_wrong(const struct trib_engine *eng, const struct trib_call *c);

/**
 * trib_call_issue() - start a collective
 * @out: the request; the host frees it. host->done() may run before the return.
 *
 * Needs trib_engine_start(). Allocates. Return: 0, -ENOMEM with the error set, or as
 * trib_call_check().
 */
int trib_call_issue(struct trib_engine *eng, const struct trib_call *c, struct trib_req **out);

/**
 * trib_call_prepare() - make the request of a collective, without starting it
 *
 * For hosts that issue several requests, all or none: trib_call_start() cannot fail.
 * Its trees are chosen now, so start or drop it before another request is made.
 * Allocates. Return: as trib_call_issue(). trib_req_drop() frees a request that is
 * not started.
 */
int trib_call_prepare(struct trib_engine *eng, const struct trib_call *c, struct trib_req **out);
/** trib_call_start() - start a prepared request, on an engine that is not dead */
void trib_call_start(struct trib_req *r);

/**
 * trib_call_check() - check whether a collective may be issued now
 * Return: 0, or with the error set -EINVAL, &trib_engine.dead, or -ECANCELED while
 * leaving.
 */
int trib_call_check(struct trib_engine *eng, const struct trib_call *c);

/* --- req.c: life of requests ----------------------------------------------------- */

/**
 * trib_req_own() - make a request that the host carries out itself
 * It is in the engine's list and ends with the engine, but in no stream: the host
 * calls trib_req_done(). If the host sets &trib_req.kept, it does so also after the
 * engine's death, because until then it uses the caller's buffers. Allocates.
 * Return: NULL without memory.
 */
struct trib_req *trib_req_own(struct trib_engine *eng);
/**
 * trib_req_done() - set the final status, and the error if it failed; call host->done()
 *
 * @status is 0, &trib_engine.dead, -EDOM with &trib_req.bad or -ERANGE with
 * &trib_req.over.
 */
void trib_req_done(struct trib_req *r, int status);
/**
 * trib_req_blame() - make the error of a request that failed the engine's newest
 *
 * For a host that returns the status to its caller: other calls may have failed since.
 * Return: the status.
 */
int trib_req_blame(const struct trib_req *r);

/**
 * trib_req_release() - send a held request: its elements are there
 * A request that is not held, or done because the engine died, stays as it is.
 */
void trib_req_release(struct trib_req *r);

/** trib_req_drop() - free a request that was not started; any time */
void trib_req_drop(struct trib_req *r);
/** trib_req_free() - free a request that is done; any time */
void trib_req_free(struct trib_req *r);
/** trib_req_orphan() - let a request outlive the engine with status and ctx */
void trib_req_orphan(struct trib_req *r);

/* --- engine.c: the newest error, and the end ------------------------------------ */

/**
 * trib_fault() - set the newest error
 * @code: enum trib_sock_code.
 * @err:  negative errno.
 *
 * Return: @err.
 */
int trib_fault(struct trib_engine *eng, int code, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** trib_fault_rank() - trib_fault() with the rank and element to blame, or -1 */
int trib_fault_rank(struct trib_engine *eng, int code, int err, int rank, int64_t index,
		    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/** trib_die_rank() - end the engine: set the error, complete all requests with it */
void trib_die_rank(struct trib_engine *eng, int code, int err, int rank, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#endif /* TRIB_ENGINE_ENGINE_H */
