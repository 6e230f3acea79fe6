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
 * @sock: connection to tribd, or -1.
 * @cells_fd: one frozen cells array per tree, or -1.
 * @ring_fd: this rank's ring buffer, or -1.
 */
struct trib_place {
	struct trib_attach_rep rep;
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
 * @sent_ns: last transmission, or last answer to NEED.
 * @first_ns: first transmission.
 * @part: the message part it belongs to; only while SENT.
 * @off:  its place in the part's sequence.
 * @tx:   serial number of the last transmission, over all chunks.
 * @state: enum trib_chunk_state.
 * @tries: resends so far, saturating.
 * @lost: resent because of a gap, or named missing by NEED: our packet, or
 *        its answer, was lost.
 * @known: the relay said that it has our contribution.
 */
struct trib_chunk {
	uint64_t sent_ns;
	uint64_t first_ns;
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
};

/**
 * struct trib_part - the share of one request that travels in one tree
 * @req:    request.
 * @next:   in the stream's queue, in order of chunks.
 * @kind:   enum trib_kind.
 * @first:  first element.
 * @count:  elements.
 * @chunk0: its first chunk in the stream.
 * @ndata:  data chunks.
 * @nexp:   EXP chunks.
 * @sent:   chunks sent; they go in order within a part.
 * @left:   chunks without result.
 * @exp:    exponent of every data chunk, as far as EXP results came.
 * @exp_have: EXP groups whose result came, as long as they came in row.
 */
struct trib_part {
	struct trib_req *req;
	struct trib_part *next;
	enum trib_kind kind;
	uint64_t first;
	uint64_t count;
	uint64_t chunk0;
	uint64_t ndata;
	uint64_t nexp;
	uint64_t sent;
	uint64_t left;
	int16_t *exp;
	uint64_t exp_have;
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
 * @done:   @status is final.
 * @bad:    largest non-finite report among its words, or 0.
 * @next:   in the handle's list of unfinished requests.
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
 */
struct trib_cong {
	double cwnd;	      /* chunks in flight allowed */
	double cap;	      /* upper bound: W, socket buffer, planned rate */
	bool slow_start;
	bool compete;	      /* a standing queue that is not ours */
	uint64_t srtt, rttvar; /* of all samples, stragglers included */
	uint64_t rtt_min;      /* least sample: no queue */
	uint64_t rtt_pure;     /* smoothed, network only */
	uint64_t round_end;   /* chunk whose result ends this round */
	uint64_t round_min;   /* least pure sample of this round */
	uint64_t cut_ns;      /* last reduction */
	unsigned int round_acked;
	unsigned int round_ce;
	unsigned int stuck;   /* rounds in which shrinking did not help */
	unsigned int win_acked, win_lost; /* own losses among recent chunks */
};

/**
 * struct trib_stream - one tree: a sequence of chunks
 *
 * Chunks are counted in 64 bits here and truncated on the wire. Chunk c lives
 * in chunk[c & mask] and in cell c & cell_mask until c + 2W is sent (cells of
 * transports with TRIB_TRANSPORT_HOLDS: W of them, until c + W is sent).
 *
 * @index:  among the handle's streams, and in place.rep.tree (fixed).
 * @tree:   number (fixed).
 * @child:  ours at the relay (fixed).
 * @epoch:  running epoch; 0 = not started.
 * @window: W (fixed once started).
 * @nval:   values per chunk (fixed once started).
 * @una:    lowest chunk without result: all before are held and consumed.
 * @next:   chunk number the next part begins with.
 * @high:   highest chunk sent + 1.
 * @stride: bytes of a cell: header and nval values.
 * @cells:  packets: a frozen GRAD, later the RESULT.
 */
struct trib_stream {
	struct trib *t;
	unsigned int index;
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
	uint32_t mask;
	struct trib_chunk *chunk;
	uint32_t cell_mask;
	uint32_t stride;
	uint8_t *cells;

	struct trib_part *head, **tail; /* parts with chunks not sent */
	uint32_t inflight;
	uint32_t tx;	   /* transmissions so far */
	uint32_t tx_acked; /* newest of them that was answered */
	uint32_t push_blocked;

	struct trib_cong cong;
	uint64_t timer_ns; /* no time-out is due before; 0 = none runs */
	uint64_t send_retry_ns; /* socket was full: try again then; 0 = no */

	uint64_t heard_ns; /* last sign of life of the relay */
	uint64_t result_ns; /* last new RESULT */
	uint64_t alive_ns; /* we last said ALIVE */
	uint64_t child_ns[TRIB_CHILDREN_MAX]; /* last sign of life of each */
	uint64_t missing;  /* children the relay lacks, by the newest NEED */
	uint64_t missing_chunk;

	/* Joining (join.c). */
	uint64_t join_seen;
	uint16_t join_nval; /* JOIN is padded to so many values */
};

enum trib_driver {
	TRIB_DRIVER_NONE = 0,
	TRIB_DRIVER_USER = 1,
	TRIB_DRIVER_PROGRESS = 2,
};

struct trib {
	/* Fixed. */
	const struct trib_transport_ops *ops;
	const struct trib_codec *codec;
	struct trib_place place;
	struct trib_udp *udp;
	struct trib_xdp *xdp;
	uint64_t timeout_ns;
	uint64_t join_timeout_ns;
	uint64_t spin_ns;
	unsigned int world;
	unsigned int rank;
	unsigned int nstream;
	struct trib_stream *stream[TRIB_ATTACH_TREES];
	struct pollfd pfd[TRIB_POLLFDS_MAX + 1]; /* the last: kick_fd */
	unsigned int npfd;
	int kick_fd; /* eventfd: calls a driver back from poll() */

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t cond;	 /* a request is done, or the driver left */
	pthread_cond_t progress_cond; /* the progress thread has to look */
	pthread_t progress;
	bool progress_runs;
	bool progress_stop;
	enum trib_driver driver;
	unsigned int waiters; /* threads in cond */
	uint64_t now;	      /* of this step */
	uint64_t nonce;	      /* of our JOINs */
	uint64_t seq;	      /* requests issued */
	struct trib_req *reqs; /* unfinished */
	int dead;	      /* negative errno of what killed the handle */
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

static inline struct trib_chunk *trib_chunk(struct trib_stream *s, uint64_t c)
{
	return &s->chunk[c & s->mask];
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

/* --- stream.c: requests become chunks, chunks become packets -------------- */

int trib_stream_start(struct trib_stream *s);
void trib_stream_free(struct trib_stream *s);
/* Queue a request's parts; the chunk numbers are fixed by this. */
void trib_stream_queue(struct trib_req *req);
/* Send what the rules and the window allow. */
void trib_stream_push(struct trib_stream *s);
/* Send chunk @c as it stands in its cell, with or without TRIB_F_RESEND. */
void trib_stream_resend(struct trib_stream *s, uint64_t c, bool resend);
/* Send a packet without values up. */
void trib_stream_control(struct trib_stream *s, uint8_t type, uint32_t chunk,
			 uint16_t aux);
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

/* --- window.c: how much is in flight, and what is taken for lost ----------- */

void trib_window_start(struct trib_stream *s);
bool trib_window_open(const struct trib_stream *s);
void trib_window_sent(struct trib_stream *s, uint64_t c);
void trib_window_result(struct trib_stream *s, uint64_t c,
			const struct trib_rx *rx);
void trib_window_lost(struct trib_stream *s, uint64_t c);
/* Gaps, after a batch; time-outs, when due. */
void trib_window_gaps(struct trib_stream *s);
void trib_window_timer(struct trib_stream *s);

/* --- engine.c: one turn ----------------------------------------------------- */

/* Timers, gaps and sending for all streams; t->now is set by the caller. */
void trib_engine_run(struct trib *t);
/* When trib_engine_run() must be called again at the latest; 0 = never. */
uint64_t trib_engine_deadline(const struct trib *t);
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
/* Have the progress thread go on with what is under way. Lock held. */
void trib_drive_hand_over(struct trib *t);

#endif /* TRIB_LIB_INTERNAL_H */
