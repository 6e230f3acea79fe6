/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib's own structures and what its files call of each other. README.md
 * has the picture; transport.h the line towards sockets and mapped memory.
 *
 * Locking: everything in struct trib is protected by its lock, except what is
 * set before the progress thread starts and never changes afterwards (marked
 * "fixed").
 */
#ifndef TRIB_LIB_INTERNAL_H
#define TRIB_LIB_INTERNAL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "trib.h"
#include "transport.h"
#include "tunables.h"
#include "uapi/trib_attach.h"
#include "kernels/codec.h"

struct trib_udp;
struct trib_xdp;

/**
 * struct trib_place - where and as whom this process takes part
 *
 * Filled in by ticket.c from a ticket or by tribd.c from tribd's answer.
 *
 * @rep:  as tribd answers it. From a ticket: @rep.nval and @rep.window are 0
 *        (START tells them), @rep.flags has no TRIB_ATTACH_MAPPED.
 * @job:  name that tribd was asked for, or "".
 * @sock: connection to tribd, or -1.
 * @cells_fd: one frozen cells array per tree, or -1.
 * @ring_fd: this rank's ring buffer, or -1.
 */
struct trib_place {
	struct trib_attach_rep rep;
	char job[TRIB_NAME_MAX];
	int sock;
	int cells_fd[TRIB_ATTACH_TREES];
	int ring_fd;
};

enum trib_chunk_state {
	TRIB_CHUNK_FREE = 0, /* not sent yet */
	TRIB_CHUNK_SENT = 1, /* GRAD frozen and sent, no RESULT */
	TRIB_CHUNK_HELD = 2, /* RESULT consumed, and retained */
};

/**
 * struct trib_chunk - what the engine knows of one of the newest 2W chunks
 * @no: which chunk this is about; see trib_chunk_state().
 * @sent_ns: last transmission, or last answer to NEED.
 * @first_ns: first transmission.
 * @missing: children that the relay lacked, as of its newest NEED.
 * @part: the message part it belongs to; only while SENT.
 * @off:  its place in the part's sequence.
 * @tx:   serial number of the last transmission, over all chunks.
 * @state: enum trib_chunk_state.
 * @tries: resends so far, saturating.
 * @lost: our packet, or its answer, was taken for lost (counted once).
 * @known: the relay once had our contribution.
 */
struct trib_chunk {
	uint64_t no;
	uint64_t sent_ns;
	uint64_t first_ns;
	uint64_t missing;
	struct trib_part *part;
	uint32_t off;
	uint32_t tx;
	uint8_t state;
	uint8_t tries;
	bool lost;
	bool known;
};

enum trib_kind {
	TRIB_KIND_FSUM,	   /* f32 sum or average: EXP and Q32 chunks */
	TRIB_KIND_ISUM,	   /* i32 sum: I32 chunks */
	TRIB_KIND_ORDER,   /* max, min: W64 chunks */
	TRIB_KIND_BITS,	   /* allgather, broadcast: I32 chunks, one author */
	TRIB_KIND_BARRIER, /* one chunk without values */
	TRIB_KIND_LEAVE,   /* the same, of trib_detach() */
};

/**
 * struct trib_part - the share of one request that travels in one tree
 * @req:    request.
 * @stream: that it travels in.
 * @next:   in the stream's queue, in order of chunks.
 * @kind:   enum trib_kind.
 * @first:  first element.
 * @count:  elements.
 * @chunk0: its first chunk in the stream.
 * @ndata:  data chunks.
 * @nexp:   EXP chunks.
 * @nchunk: @ndata + @nexp.
 * @sent:   chunks sent; they go in order within a part.
 * @left:   chunks without result.
 * @exp:    float sums: exponent of every data chunk, as EXP results come.
 * @exp_seen: bit i: that of EXP group i came.
 */
struct trib_part {
	struct trib_req *req;
	struct trib_stream *stream;
	struct trib_part *next;
	enum trib_kind kind;
	uint64_t first;
	uint64_t count;
	uint64_t chunk0;
	uint64_t ndata;
	uint64_t nexp;
	uint64_t nchunk;
	uint64_t sent;
	uint64_t left;
	int16_t *exp;
	uint8_t *exp_seen;
};

/**
 * struct trib_req - one collective
 * @t:      handle.
 * @src:    this rank's elements; for allgather, of its own region.
 * @dst:    where the result goes.
 * @dst_first: element that @dst[0] stands for; elements outside
 *          @dst_first .. + @dst_count are not stored.
 * @dst_count: see above.
 * @own_first: BITS: elements this rank is the author of.
 * @own_count: see above.
 * @dtype:  element type.
 * @op:     operation.
 * @left:   parts without result.
 * @status: 0, or the negative errno it failed with.
 * @done:   @status is final; the caller's to free by waiting for it.
 * @bad:    largest non-finite report among its words, or 0.
 * @next:   in the handle's list of requests that were not freed.
 * @prev:   see above.
 * @part:   one per tree used.
 */
struct trib_req {
	struct trib *t;
	const void *src;
	void *dst;
	uint64_t dst_first;
	uint64_t dst_count;
	uint64_t own_first;
	uint64_t own_count;
	enum trib_dtype dtype;
	enum trib_op op;
	unsigned int left;
	int status;
	bool done;
	int64_t bad;
	struct trib_req *next;
	struct trib_req *prev;
	unsigned int npart;
	struct trib_part part[];
};

/**
 * struct trib_cong - congestion window of one stream (window.c)
 * @cwnd: chunks in flight allowed.
 * @cap:  its upper bound: W, receive buffer, planned rate.
 * @limited: it is what held the last push back.
 * @slow_start: doubling per round trip, until something speaks against it.
 * @compete: there is a standing queue that is not ours: delay says nothing.
 * @srtt, @rttvar: of all samples: waiting for others included.
 * @rtt_min: least sample of this period and the one before: no queue.
 * @rtt_pure: smoothed, of samples without waiting for others; 0 = none yet.
 * @min_now, @min_before, @min_ns: the two periods, and when this one began.
 * @round_end: chunk whose result ends this round trip.
 * @round_any: least sample of this round; 0 = none.
 * @round_pure: least pure sample of this round; 0 = none.
 * @last_pure: that of the round before, or of an older one.
 * @round_ce: results of this round with a congestion mark.
 * @cut_ns: last reduction.
 * @base_cwnd, @base_rtt: at the first of a row of reductions because of delay:
 *        halving the one must shorten the other, if the queue is ours.
 * @loss: share of own packets lost, of recent chunks.
 */
struct trib_cong {
	double cwnd;
	double cap;
	bool limited;
	bool slow_start;
	bool compete;
	uint64_t srtt, rttvar;
	uint64_t rtt_min;
	uint64_t rtt_pure;
	uint64_t min_now, min_before, min_ns;
	uint64_t round_end;
	uint64_t round_any;
	uint64_t round_pure;
	uint64_t last_pure;
	unsigned int round_ce;
	uint64_t cut_ns;
	double base_cwnd;
	uint64_t base_rtt;
	double loss;
};

/**
 * struct trib_stream - one tree: a sequence of chunks
 *
 * Chunks are counted in 64 bits here and truncated on the wire. What is known
 * of chunk c is in chunk[c & mask], its packet in cell c & cell_mask, until
 * c + 2W is sent (cells of transports with TRIB_TRANSPORT_HOLDS: W of them,
 * until c + W is sent).
 *
 * A transport that looks for results itself looks at the chunks from @una to
 * @high - 1 whose trib_chunk_state() is TRIB_CHUNK_SENT.
 *
 * @index:  among the handle's streams, and in place.rep.tree (fixed).
 * @tree:   number (fixed).
 * @child:  ours at the relay (fixed).
 * @overhead: bytes around a packet, Ethernet to UDP header; set by the
 *          transport's open().
 * @epoch:  running epoch; 0 = not started.
 * @window: W (fixed once started).
 * @nval:   values per chunk (fixed once started).
 * @nchild: children of our relay, @child_rank their ranks (fixed once started).
 * @una:    lowest chunk without result: all before are held and consumed.
 * @next:   chunk number the next part begins with.
 * @high:   highest chunk sent + 1.
 * @held:   highest chunk with a result + 1.
 * @stride: bytes of a cell: header and nval values.
 * @cells:  packets: a frozen GRAD, later the RESULT.
 * @head:   parts with chunks not sent, @tail its end.
 * @inflight: chunks sent and without result.
 * @tx:     transmissions so far; @tx_acked the newest that was answered.
 * @timer_ns: no time-out is due before; 0 = none runs.
 * @check_ns: when to look who has been silent for too long; 0 = not.
 * @retry_ns: the socket was full: send again then; 0 = it was not.
 * @refused_ns: since when the transport takes nothing; 0 = it does.
 * @heard_ns: last sign of life of the relay.
 * @result_ns: last new RESULT.
 * @alive_ns: we last said ALIVE.
 * @child_ns: last sign of life of each child.
 * @join_seen: children that had joined by the newest START(WAIT).
 * @join_nval: JOIN is padded to so many values.
 */
struct trib_stream {
	struct trib *t;
	unsigned int index;
	unsigned int overhead;
	uint16_t tree;
	uint16_t child;
	uint32_t epoch;
	uint16_t window;
	uint16_t nval;
	uint16_t nchild;
	uint16_t child_rank[TRIB_CHILDREN_MAX];

	uint64_t una;
	uint64_t next;
	uint64_t high;
	uint64_t held;
	uint32_t mask;
	struct trib_chunk *chunk;
	uint32_t cell_mask;
	uint32_t stride;
	uint8_t *cells;

	struct trib_part *head, **tail;
	uint32_t inflight;
	uint32_t tx;
	uint32_t tx_acked;

	struct trib_cong cong;
	uint64_t timer_ns;
	uint64_t check_ns;
	uint64_t retry_ns;
	uint64_t refused_ns;

	uint64_t heard_ns;
	uint64_t result_ns;
	uint64_t alive_ns;
	uint64_t child_ns[TRIB_CHILDREN_MAX];

	uint64_t join_seen;
	uint16_t join_nval;
};

enum trib_driver {
	TRIB_DRIVER_NONE = 0,
	TRIB_DRIVER_USER = 1,
	TRIB_DRIVER_PROGRESS = 2,
};

/**
 * struct trib - a handle
 *
 * Fixed once attached:
 * @ops, @codec, @place: see there. @udp, @xdp: the transports' own.
 * @max_window: chunks whose results the transport can buffer; 0 = no bound.
 * @timeout_ns, @join_timeout_ns, @spin_ns: from the options.
 * @pfd:      what the driver polls: the transport's and, last, a place for
 *            one of the two eventfds. @npfd of them.
 * @kick_fd:  calls a user thread back from poll().
 * @progress_fd: calls the progress thread back from poll().
 *
 * Under @lock:
 * @cond:     a request is done, or nobody drives any more. @waiters in it.
 * @progress_cond: there is work and nobody drives.
 * @driver:   who is, or may at any time be, in poll() and recv().
 * @poll_until: when a driver in poll() wakes by itself; 0 = never.
 * @now:      time of this turn.
 * @nonce:    of our JOINs.
 * @seq:      requests issued.
 * @reqs:     requests that were not freed; @unfinished of them not done.
 * @inside:   threads in trib_wait().
 * @dead:     negative errno of what killed the handle.
 * @leaving:  detach has begun: no new requests.
 */
struct trib {
	const struct trib_transport_ops *ops;
	const struct trib_codec *codec;
	struct trib_place place;
	struct trib_udp *udp;
	struct trib_xdp *xdp;
	unsigned int max_window;
	uint64_t timeout_ns;
	uint64_t join_timeout_ns;
	uint64_t spin_ns;
	unsigned int world;
	unsigned int rank;
	unsigned int nstream;
	struct trib_stream *stream[TRIB_ATTACH_TREES];
	struct pollfd pfd[TRIB_POLLFDS_MAX + 1];
	unsigned int npfd;
	int kick_fd;
	int progress_fd;

	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned int waiters;
	pthread_cond_t progress_cond;
	pthread_t progress;
	bool progress_runs;
	bool progress_stop;
	enum trib_driver driver;
	uint64_t poll_until;
	uint64_t now;
	uint64_t nonce;
	uint64_t seq;
	struct trib_req *reqs;
	unsigned int unfinished;
	unsigned int inside;
	int dead;
	bool leaving;
	struct trib_error error;
	struct trib_counters count;
};

static inline uint64_t trib_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * TRIB_SEC + (uint64_t)ts.tv_nsec;
}

static inline struct trib_chunk *trib_chunk(const struct trib_stream *s,
					    uint64_t c)
{
	return &s->chunk[c & s->mask];
}

/* What is known of chunk @c; FREE if nothing, or nothing any more. */
static inline enum trib_chunk_state
trib_chunk_state(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);

	return e->no == c ? (enum trib_chunk_state)e->state : TRIB_CHUNK_FREE;
}

static inline uint8_t *trib_cell(struct trib_stream *s, uint64_t c)
{
	return s->cells + (size_t)(c & s->cell_mask) * s->stride;
}

/* The 64-bit number of a chunk named on the wire, near what is under way. */
static inline uint64_t trib_chunk_wide(const struct trib_stream *s, uint32_t c)
{
	return s->una + (int64_t)trib_chunk_diff(c, (uint32_t)s->una);
}

/* --- err.c: the newest error, of a handle or of a thread's attach -------- */

/**
 * trib_fail() - note an error and return its errno
 * @t:    handle, or NULL: this thread's attach.
 * @code: enum trib_error_code.
 * @err:  negative errno.
 */
int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int trib_fail_rank(struct trib *t, int code, int err, int rank, int64_t index,
		   const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* Give up the handle: note the error and complete all requests with it. */
void trib_die_rank(struct trib *t, int code, int err, int rank,
		   const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Copy a handle's error to this thread's slot, before the handle goes. */
void trib_error_keep(const struct trib *t);

/* --- ticket.c, tribd.c: where we are ------------------------------------- */

/**
 * trib_ticket_parse() - read "trib://..." into @p
 * Return: 0, or -EINVAL with the thread's error set.
 */
int trib_ticket_parse(struct trib_place *p, const char *text);

/**
 * trib_tribd_attach() - ask this host's tribd for a place in @job
 * @rank:   wanted rank, or TRIB_RANK_ANY.
 * @mapped: ask for mapped delivery; p->rep.flags tells whether it was given.
 *
 * On success @p owns the connection and the descriptors that came with it.
 * Return: 0 or a negative errno with the thread's error (trib_fail(NULL))
 * set: -ENOENT if there is no tribd or no such job, -EACCES, -EBUSY,
 * -EPERM if the peer is not uid 0, ...
 */
int trib_tribd_attach(struct trib_place *p, const char *job, unsigned int rank,
		      bool mapped);

/**
 * trib_tribd_release() - say BYE if @clean, close everything in @p
 * Harmless on a place that came from a ticket.
 */
void trib_tribd_release(struct trib_place *p, bool clean);

/* --- join.c: from places to running trees and back ------------------------ */

int trib_join(struct trib *t);
void trib_join_rx(struct trib_stream *s, const struct trib_rx *rx);
void trib_leave(struct trib *t);

/* --- chunk.c: what one chunk holds: elements to packet and back ------------ */

/**
 * struct trib_shape - what a chunk is, the same on all ranks
 * @op, @fmt, @nval, @scale: of its RESULT.
 * @push:  it carries TRIB_F_PUSH.
 * @exp:   it is an EXP chunk: @first is its first data chunk, @n their number.
 * @group: the EXP group that its scale comes from.
 * @first: first element in the message; @n their number.
 * @bad:   its exponent is a report of a value that is not finite.
 *
 * Whole words, because compilers compare neighbouring bytes as one word: that
 * load would wait until all stores before it have left for the cache, and
 * those of the chunk before are still on their way.
 */
struct trib_shape {
	unsigned int op;
	unsigned int fmt;
	unsigned int nval;
	int32_t scale;
	bool push;
	bool exp;
	bool bad;
	uint64_t group;
	uint64_t first;
	uint32_t n;
};

/* Count a part's chunks, for streams of @nval values per chunk. */
void trib_part_count(struct trib_part *p, uint16_t nval);
void trib_chunk_shape(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off, struct trib_shape *shape);
/* Is what chunk @off is made of there? (Its exponents may not be.) */
bool trib_chunk_ready(const struct trib_stream *s, const struct trib_part *p,
		      uint64_t off);
/* Freeze GRAD @c in its cell. */
void trib_chunk_pack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		     uint64_t c);
/* Consume RESULT @c; -EPROTO if it is not what it must be. */
int trib_chunk_unpack(struct trib_stream *s, struct trib_part *p, uint64_t off,
		      uint64_t c, const struct trib_rx *rx);
/* Bytes of the packet in a cell. */
unsigned int trib_packet_len(const void *cell);

/* --- stream.c: requests become chunks, chunks become packets -------------- */

/* START(RUN) has set window, nval, epoch: allocate. */
int trib_stream_start(struct trib_stream *s);
void trib_stream_free(struct trib_stream *s);
/* Queue a part; its chunk numbers are fixed by this. */
void trib_stream_queue(struct trib_stream *s, struct trib_part *p);
/* Send what the rules and the window allow. */
void trib_stream_push(struct trib_stream *s);
/* Send chunk @c as it stands in its cell, with or without TRIB_F_RESEND. */
void trib_stream_resend(struct trib_stream *s, uint64_t c, bool resend);
/* Send a packet without values up. */
void trib_stream_control(struct trib_stream *s, uint8_t type, uint32_t chunk,
			 uint16_t aux);
/* A header that goes up from @s. */
void trib_hdr_fill(const struct trib_stream *s, struct trib_hdr *h,
		   uint8_t type, uint32_t chunk);

/* --- result.c: what comes down -------------------------------------------- */

/**
 * trib_rx() - a packet or event for @s has arrived
 * Called by transports, within recv(); t->now is set.
 */
void trib_rx(struct trib_stream *s, const struct trib_rx *rx);
/* The stream of a tree number, or NULL. */
struct trib_stream *trib_stream_of(struct trib *t, uint16_t tree);
/* Who has been silent for too long? Ends the handle if somebody has. */
void trib_silence_check(struct trib_stream *s);

/* --- window.c: how much is in flight, and what is taken for lost ----------- */

void trib_window_start(struct trib_stream *s);
/* May chunk @c be in flight, too? */
bool trib_window_open(const struct trib_stream *s, uint64_t c);
void trib_window_sent(struct trib_stream *s, uint64_t c);
void trib_window_resent(struct trib_stream *s, uint64_t c);
void trib_window_result(struct trib_stream *s, uint64_t c,
			const struct trib_rx *rx);
/* The relay said that it has our packet of @c. */
void trib_window_known(struct trib_stream *s, uint64_t c);
/* Our packet of @c was lost, as far as can be known. */
void trib_window_lost(struct trib_stream *s, uint64_t c);
/* Gaps, after a batch; time-outs, when due. */
void trib_window_gaps(struct trib_stream *s);
void trib_window_timer(struct trib_stream *s);

/* --- engine.c: one turn ----------------------------------------------------- */

/* Timers, gaps and sending for all streams; t->now is set by the caller. */
void trib_engine_run(struct trib *t);
/* When trib_engine_run() must be called again at the latest; 0 = never. */
uint64_t trib_engine_deadline(const struct trib *t);
/* The result of a request is final. */
void trib_req_done(struct trib_req *req, int status);

/* --- progress.c: who drives -------------------------------------------------- */

int trib_progress_start(struct trib *t);
void trib_progress_stop(struct trib *t);
/* Drive, or sleep while another user thread does, until @req is done or the
 * time (0 = none) has come. Lock held.
 */
void trib_drive_until(struct trib *t, const struct trib_req *req,
		      uint64_t until);
/* One turn without blocking, if nobody drives. Lock held. */
void trib_drive_once(struct trib *t);
/* Call a user thread that drives back from poll(). Lock held. */
void trib_drive_interrupt(struct trib *t);
/* There is new work: have somebody go on with it. Lock held. */
void trib_drive_wake(struct trib *t);

/* --- request.c: collectives become requests ----------------------------------- */

/* The barrier of trib_detach(), on every stream; NULL: out of memory. */
struct trib_req *trib_req_leave(struct trib *t);
/* Take @r off the handle and free it. Lock held. */
void trib_req_free(struct trib_req *r);

#endif /* TRIB_LIB_INTERNAL_H */
