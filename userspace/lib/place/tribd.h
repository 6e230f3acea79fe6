/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection to this host's tribd after trib_tribd_attach(): telling it
 * the epoch, and living on when it restarts. xdp.c and udp.c use it; tribd.c
 * connects, watch.c keeps.
 */
#ifndef TRIB_LIB_TRIBD_H
#define TRIB_LIB_TRIBD_H

#include "place.h"

/* --- tribd.c */

/* Connect to tribd, and see that it is uid 0. A descriptor, or -errno. */
int trib_tribd_connect(void);
/* The HELLO, or BYE, of a rank. */
void trib_tribd_fill(struct trib_attach_req *req, unsigned int cmd, unsigned int flags,
		     unsigned int rank, const char *job);
/* An answer to HELLO is one, and its numbers are possible. */
bool trib_tribd_rep_ok(const struct trib_attach_rep *rep, size_t len);

/**
 * trib_tribd_epoch() - have tribd admit results of an epoch; waits for it
 * Return: 0, or a negative errno. -ENOTCONN: there is no tribd now.
 */
int trib_tribd_epoch(const struct trib_place *p, uint16_t tree, uint32_t epoch);

/* --- watch.c: notices that tribd ended, and comes back to the next one */

enum trib_watch_state {
	TRIB_WATCH_OFF,
	TRIB_WATCH_UP,	  /* attached */
	TRIB_WATCH_DOWN,  /* it ended; tried again at every tick */
	TRIB_WATCH_ASKED, /* HELLO was sent to a new one */
};

/**
 * struct trib_watch - see above
 * @fd:    to poll: an epoll instance of what follows.
 * @timer: ticks while the state is not UP.
 * @seen_ns: when trib_watch_run() last looked.
 */
struct trib_watch {
	enum trib_watch_state state;
	int fd;
	int timer;
	uint64_t seen_ns;
};

int trib_watch_open(struct trib *t, struct trib_watch *w);
void trib_watch_close(struct trib_watch *w);
/* Look at what @w->fd was readable for; now and then only, if @busy. May end
 * the handle. Lock held. */
void trib_watch_run(struct trib *t, struct trib_watch *w, bool busy);
/*
 * Tell tribd the epochs of all trees, if it is there. Without mapped delivery it
 * needs them for one thing only, to tell the others should this process die:
 * nothing waits for it.
 */
void trib_watch_tell(const struct trib *t, const struct trib_watch *w);
/* trib_tribd_epoch(), waiting for the next tribd if there is none. */
int trib_watch_epoch(struct trib *t, struct trib_watch *w, uint16_t tree, uint32_t epoch);

#endif /* TRIB_LIB_TRIBD_H */
