/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib's own structures and what its files call of each other. README.md
 * has the picture; transport.h the line towards sockets and mapped memory;
 * engine/engine.h what speaks the protocol.
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
#include "lib/way/transport.h"
#include "tunables.h"
#include "lib/way/way.h"
#include "engine/engine.h"
#include "uapi/trib_attach.h"

struct trib_udp;
struct trib_xdp;
struct trib_ksock;

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
 * @way, @place: see there.
 * @transport: of the way by the engine. @udp, @xdp: the transports' own.
 * @ksock: of the way by a kernel socket.
 * @spin_ns:  from the options.
 * @pfd:      what the driver polls: the way's and, last, a place for
 *            one of the two eventfds. @npfd of them.
 * @kick_fd:  calls a user thread back from poll().
 * @progress_fd: calls the progress thread back from poll().
 *
 * Under @lock:
 * @eng:      the engine. Its requests are what callers hold.
 * @cond:     a request is done, or nobody drives any more. @waiters in it.
 * @progress_cond: there is work and nobody drives.
 * @driver:   who is, or may at any time be, in poll() and recv().
 * @poll_until: when a driver in poll() wakes by itself; 0 = never.
 * @inside:   threads in trib_wait().
 * @waits:    times a thread blocked.
 */
struct trib {
	const struct trib_way *way;
	const struct trib_carrier *transport;
	struct trib_place place;
	struct trib_udp *udp;
	struct trib_xdp *xdp;
	struct trib_ksock *ksock;
	uint64_t spin_ns;
	struct pollfd pfd[TRIB_POLLFDS_MAX + 1];
	unsigned int npfd;
	int kick_fd;
	int progress_fd;

	pthread_mutex_t lock;
	struct trib_engine eng;
	pthread_cond_t cond;
	unsigned int waiters;
	pthread_cond_t progress_cond;
	pthread_t progress;
	bool progress_runs;
	bool progress_stop;
	enum trib_driver driver;
	uint64_t poll_until;
	unsigned int inside;
	uint64_t waits;
};

/* The handle whose engine that is. */
static inline struct trib *trib_of(struct trib_engine *eng)
{
	return (struct trib *)((char *)eng - offsetof(struct trib, eng));
}

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
/* What the engine tells: somebody may wait for it. */
extern const struct trib_host_ops trib_host;

#endif /* TRIB_LIB_INTERNAL_H */
