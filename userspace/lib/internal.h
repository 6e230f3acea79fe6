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

#include "stream.h"

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
 * @pace_ns:  what was sent until now takes until then at the planned rate.
 * @inflight: chunks sent and without result, in all streams.
 * @turn:     the stream that goes first this time.
 * @uneven:   trees have different weights (fixed).
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
	uint64_t pace_ns;
	uint32_t inflight;
	unsigned int turn;
	bool uneven;
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
		   const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Give up the handle: note the error and complete all requests with it. */
void trib_die_rank(struct trib *t, int code, int err, int rank, const char *fmt,
		   ...) __attribute__((format(printf, 5, 6)));
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

/* --- nonce.c: the names of attempts to join -------------------------------- */

/* A nonce that this process has not used yet; 0: no random numbers. */
uint64_t trib_nonce_next(void);

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

/* Where a chunk's values are in its cell: behind the bitmap, if it has one. */
static inline uint8_t *trib_cell_values(void *cell)
{
	struct trib_hdr *h = (struct trib_hdr *)cell;

	return (uint8_t *)(h + 1) + 8u * h->bmwords;
}

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
/* Send a packet without values up, with @flags beside TRIB_F_UP. */
void trib_stream_control(struct trib_stream *s, uint8_t type, uint8_t flags,
			 uint32_t chunk, uint16_t aux);
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

/* --- shared.c: trees of shared pools ---------------------------------------- */

/* From the place, before anything is sent. */
void trib_shared_init(struct trib_stream *s, const struct trib_attach_tree *a);
/* What a GRAD has besides: for whom it is, and whose values these are. */
void trib_shared_label(const struct trib_stream *s, struct trib_hdr *h);
/* Where GRADs go: for &trib_stream.via. */
unsigned int trib_shared_via(const struct trib_stream *s);
/* Chunk @c is taken for lost (@timeout), or asked for by NEED: send it, or ask.
 * Return: whether its values were sent.
 */
bool trib_shared_resend(struct trib_stream *s, uint64_t c, bool timeout);
/* The answer to a PROBE. */
void trib_shared_alive(struct trib_stream *s, const struct trib_rx *rx);
void trib_shared_timer(struct trib_stream *s);

/* How errors call what a stream sends to. */
static inline const char *trib_peer(const struct trib_stream *s)
{
	return s->shared ? "PS" : "relay";
}

/* --- silence.c: who is alive ------------------------------------------------ */

/* START(RUN) has come. Return: 0 or -ENOMEM. */
int trib_silence_start(struct trib_stream *s);
/* Something is under way: look at it once a beat. */
void trib_silence_arm(struct trib_stream *s);
/* Nothing is under way any more. */
void trib_silence_rest(struct trib_stream *s);
/* Say what is to be said; ends the handle if somebody was silent too long. */
void trib_silence_check(struct trib_stream *s);
/* A NEED named chunk @c, which is not ours to answer. */
void trib_silence_asked(struct trib_stream *s, uint64_t c);
/* Somebody else lacks chunk @c. */
void trib_silence_lacks(struct trib_stream *s, uint64_t c);
void trib_silence_alive(struct trib_stream *s, const struct trib_rx *rx);

/* --- window.c: how much is in flight, and what is taken for lost ----------- */

void trib_window_start(struct trib_stream *s);
/* May chunk @c be in flight, too? */
bool trib_window_open(const struct trib_stream *s, uint64_t c);
/* Does the planned rate allow another packet? And one of @len bytes goes. */
bool trib_window_paced(struct trib_stream *s);
void trib_window_pace(struct trib_stream *s, unsigned int len);
void trib_window_sent(struct trib_stream *s, uint64_t c);
void trib_window_resent(struct trib_stream *s, uint64_t c);
void trib_window_result(struct trib_stream *s, uint64_t c,
			const struct trib_rx *rx);
/* The relay said that it has our packet of @c. */
void trib_window_known(struct trib_stream *s, uint64_t c);
/* Our packet of @c was lost, as far as can be known. */
void trib_window_lost(struct trib_stream *s, uint64_t c);
/* The longest time-out that there is. */
uint64_t trib_window_longest(const struct trib *t);
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
