/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handle, and the parts of it that other folders of libtrib call. The
 * folder uses none of them: a handle reaches its way through struct trib_way.
 *
 * Locking: the lock of struct trib protects everything in it, except the fields
 * marked "fixed", which are set before the progress thread starts and never
 * change afterwards.
 */
#ifndef TRIB_LIB_HANDLE_H
#define TRIB_LIB_HANDLE_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trib.h"
#include "base/clock.h"
#include "engine/engine.h"
#include "spin.h"
#include "tunables.h"
#include "uapi/trib_attach.h"
#include "way.h"

struct trib_carrier;
struct trib_udp;
struct trib_xdp;
struct trib_ksock;
struct trib_by_peers;
struct trib_detours;

/**
 * struct trib_place - the rank, relays and descriptors of this process in a job
 *
 * place/ fills it in, from a ticket or from tribd's answer.
 *
 * @rep:  as tribd sends it. A ticket leaves @rep.nval and @rep.window at 0
 *        (START sets them), and TRIB_ATTACH_MAPPED out of @rep.flags.
 * @job:  name that tribd was asked for, or "".
 * @sock: connection to tribd, or -1.
 * @cells_fd: one frozen cells array per tree, or -1.
 * @ring_fd: this rank's ring buffer, or -1.
 * @peers: "ADDR:PORT" where ranks meet that exchange without relays, or "".
 */
struct trib_place {
	struct trib_attach_rep rep;
	char job[TRIB_NAME_MAX];
	int sock;
	int cells_fd[TRIB_ATTACH_TREES];
	int ring_fd;
	char peers[64];
};

/* The thread that drives a handle: it polls and receives. */
enum trib_driver {
	TRIB_DRIVER_NONE = 0,
	TRIB_DRIVER_USER = 1,
	TRIB_DRIVER_PROGRESS = 2,
};

/**
 * struct trib_guest - a part of the library that works for a handle by a thread of its own
 *
 * It makes requests that it keeps (&trib_req.kept), and completes them, also after the
 * engine's death. All functions run with the lock held.
 *
 * @next:  in the handle's list, which holds it until the guest takes itself out, or
 *         gone().
 * @died:  the engine died: wake the thread.
 * @leave: the handle is about to leave: wait for requests that no caller waits for.
 *         The lock may be released meanwhile.
 * @gone:  the handle is about to be freed: complete all requests, and end the thread.
 *         The lock may be released meanwhile.
 */
struct trib_guest {
	struct trib_guest *next;
	void (*died)(struct trib_guest *g);
	void (*leave)(struct trib_guest *g);
	void (*gone)(struct trib_guest *g);
};

/**
 * struct trib - a handle
 *
 * Fixed once attached:
 * @way, @place: see there.
 * @transport: the carrier that the engine sends by; unused by a kernel socket.
 * @udp, @xdp: private to the carriers of these names.
 * @ksock: private to the way by a kernel socket.
 * @peers: private to the way by peers.
 * @detours: private to detour/; NULL: none.
 * @pfd:      descriptors that the driver polls: the way's, @npfd of them, and
 *            behind them room for one of the two eventfds.
 * @kick_fd:  wakes a user thread from poll().
 * @progress_fd: wakes the progress thread from poll().
 *
 * Under @lock:
 * @eng:      the engine, which owns the requests that callers hold.
 * @cond:     signals that a request is done or that nobody drives any more;
 *            @waiters threads sleep on it.
 * @progress_cond: signals that there is work and nobody drives.
 * @driver:   the thread that is, or may at any time be, in poll() and recv().
 * @poll_until: when a driver in poll() wakes by itself; 0 = never.
 * @inside:   threads in trib_wait().
 * @waits:    times a thread blocked.
 * @spin:     polling before blocking.
 * @guests:   list of guests.
 */
struct trib {
	const struct trib_way *way;
	const struct trib_carrier *transport;
	struct trib_place place;
	struct trib_udp *udp;
	struct trib_xdp *xdp;
	struct trib_ksock *ksock;
	struct trib_by_peers *peers;
	struct trib_detours *detours;
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
	struct trib_spin spin;
	struct trib_guest *guests;
};

/* The handle that contains @eng. */
static inline struct trib *trib_of(struct trib_engine *eng)
{
	return (struct trib *)((char *)eng - offsetof(struct trib, eng));
}

/* --- err.c: the newest error of a handle, or of a thread's last attach ---- */

/**
 * trib_fail() - record an error, and return @err
 * @t:    handle, whose lock is held, or NULL: this thread's attach.
 * @code: enum trib_error_code.
 * @err:  negative errno.
 */
int trib_fail(struct trib *t, int code, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Copy a handle's error to this thread's slot, before the handle is freed. */
void trib_error_keep(const struct trib *t);

/* --- progress.c: the thread that drives a handle --------------------------- */

/* Start and stop the progress thread. Return: 0, or an errno that is recorded. */
int trib_progress_start(struct trib *t);
void trib_progress_stop(struct trib *t);
/*
 * Drive, or sleep while another user thread drives, until @req is done or the
 * time @until has come (0: never), or the engine is dead and @req not kept. Lock held.
 */
void trib_drive_until(struct trib *t, const struct trib_req *req, uint64_t until);
/* Take one turn without blocking, if nobody drives. Lock held. */
void trib_drive_once(struct trib *t);
/* Wake the user thread that drives from poll(). Lock held. */
void trib_drive_interrupt(struct trib *t);
/* Make some thread take up new work. Lock held. */
void trib_drive_wake(struct trib *t);
/* Callbacks of the engine: they wake the threads that wait. */
extern const struct trib_host_ops trib_host;

#endif /* TRIB_LIB_HANDLE_H */
