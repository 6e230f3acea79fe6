/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker processes of this host: what attach.c tells join.c, and the line
 * between its connections (attach.c) and what a rank is told (place.c).
 */
#ifndef TRIBD_ATTACH_H
#define TRIBD_ATTACH_H

#include "daemon/tribd.h"

/* @t is about to go: send away the ranks that it serves. */
void attach_tree_removed(struct tribd *d, struct tree *t);

/* --- place.c: ranks and their parameters; knows no sockets */

/* Descriptors that go with a reply: one per tree, and the ring. */
struct place_fds {
	unsigned int n;
	int fd[TRIB_ATTACH_TREES + 1];
};

/*
 * Checks a HELLO of process @pid, user @uid, and takes the rank it gets.
 * Fills in @rep, @fds and @job. 0, or -errno with @rep->text; then nothing
 * has changed.
 */
int place_take(struct tribd *d, const struct trib_attach_req *req, uid_t uid,
	       pid_t pid, struct trib_attach_rep *rep, struct place_fds *fds,
	       struct job **job);
/* Gives a rank back. @gone: the others are to be told that it died. */
void place_give_back(struct tribd *d, struct job *job, uint16_t rank,
		     bool gone);
/*
 * Process @pid, which is @rank of @job, takes part in an epoch of a tree. 0,
 * -ENOENT: no tree of its; or as join_epoch().
 */
int place_epoch(struct tribd *d, const struct job *job, uint16_t rank,
		pid_t pid, const struct trib_attach_epoch *req);
/* Ranks that a former tribd served, and that have not come back. */
void place_expire(struct tribd *d);

/* True while a live connection has @rank of @job; attach.c. */
bool attach_has(struct tribd *d, const struct job *job, uint16_t rank);

#endif /* TRIBD_ATTACH_H */
