/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to this host's tribd after trib_tribd_attach(): it reports
 * epochs, and is renewed when tribd restarts. xdp.c and udp.c use it; tribd.c
 * connects, watch.c keeps the connection.
 */
#ifndef TRIB_LIB_TRIBD_H
#define TRIB_LIB_TRIBD_H

#include "place.h"

/* --- tribd.c */

/*
 * Connect to tribd, and check that it is uid 0. Return: a descriptor, or
 * -errno.
 */
int trib_tribd_connect(void);
/* Fill in the HELLO or BYE of a rank. */
void trib_tribd_fill(struct trib_attach_req *req, unsigned int cmd, unsigned int flags,
		     unsigned int rank, const char *job);
/* Return: whether @rep is a reply to HELLO with possible numbers. */
bool trib_tribd_rep_ok(const struct trib_attach_rep *rep, size_t len);

/**
 * trib_tribd_epoch() - ask tribd to admit results of an epoch, and wait for it
 * Return: 0, or a negative errno. -ENOTCONN: there is no tribd now.
 */
int trib_tribd_epoch(const struct trib_place *p, uint16_t tree, uint32_t epoch);

/* --- watch.c: notices that tribd ended, and connects to the next one */

enum trib_watch_state {
	TRIB_WATCH_OFF,
	TRIB_WATCH_UP,	  /* attached */
	TRIB_WATCH_DOWN,  /* it ended; every tick tries again */
	TRIB_WATCH_ASKED, /* HELLO was sent to the new one */
};

/**
 * struct trib_watch - see above
 * @fd:    epoll instance of the fields below; the driver polls it.
 * @timer: ticks while the state is not UP.
 * @seen_ns: time of the last trib_watch_run().
 */
struct trib_watch {
	enum trib_watch_state state;
	int fd;
	int timer;
	uint64_t seen_ns;
};

int trib_watch_open(struct trib *t, struct trib_watch *w);
void trib_watch_close(struct trib_watch *w);
/*
 * Handle what made @w->fd readable; if @busy, look only now and then. May end
 * the handle. Lock held.
 */
void trib_watch_run(struct trib *t, struct trib_watch *w, bool busy);
/*
 * Tell tribd the epochs of all trees, if it runs; does not wait. Without mapped
 * delivery tribd needs them only to tell the other ranks if this process dies.
 */
void trib_watch_tell(const struct trib *t, const struct trib_watch *w);
/* Like trib_tribd_epoch(), but waits for the next tribd if none runs. */
int trib_watch_epoch(struct trib *t, struct trib_watch *w, uint16_t tree, uint32_t epoch);

#endif /* TRIB_LIB_TRIBD_H */
