/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker processes of this host, and how their connections (attach.c) and
 * their parameters (place.c) use each other.
 */
#ifndef TRIBD_ATTACH_H
#define TRIBD_ATTACH_H

#include "daemon/tree/tree.h"

/* Hook: send away the ranks that @t serves; join.c must still know @t. */
void attach_tree_del(struct tribd *d, struct tree *t);
int attach_init(struct tribd *d);
void attach_exit(struct tribd *d);
/* Hook: close the connections of @job; its trees follow. */
void attach_job_del(struct tribd *d, struct job *job);
/* Count attached processes of @job, or (NULL) of all jobs. */
unsigned int attach_count(struct tribd *d, const struct job *job);

/* --- place.c: ranks and their parameters; knows no sockets */

/*
 * Descriptors that go with a reply: one per tree, and the ring. The first @own are of who
 * has this struct, and place_fds_close() closes them; the ring is deliver.c's.
 */
struct place_fds {
	unsigned int n;
	unsigned int own;
	int fd[TRIB_ATTACH_TREES + 1];
};

void place_fds_close(struct place_fds *fds);

/*
 * Process @pid of user @uid, as it was when it connected. @pidfd: from admin_pidfd();
 * -1: it has ended.
 */
struct place_peer {
	pid_t pid;
	uid_t uid;
	int pidfd;
};

/*
 * Check a HELLO of @peer, and give it a rank. Fill in @rep, @fds and @job.
 * 0, or -errno with @rep->text; then nothing has changed.
 */
int place_take(struct tribd *d, const struct trib_attach_req *req, const struct place_peer *peer,
	       struct trib_attach_rep *rep, struct place_fds *fds, struct job **job);
/* Take a rank back. @gone: tell the others that its process died. */
void place_give_back(struct tribd *d, struct job *job, uint16_t rank, bool gone);
/*
 * Process @pid, which is @rank of @job, takes part in an epoch of a tree. 0,
 * -ENOENT (the rank is not in that tree), or as join_epoch().
 */
int place_epoch(struct tribd *d, const struct job *job, uint16_t rank, pid_t pid,
		const struct trib_attach_epoch *req);
/* Take back ranks that a former tribd served and that have not come back. */
void place_expire(struct tribd *d);

/*
 * True if @uid has all the ranks that a user may have in jobs without a tree: root did not
 * give it these one by one. attach.c
 */
bool attach_bare_full(struct tribd *d, uid_t uid);
/*
 * Find the process whose live connection has @rank of @job; 0: none. It is -1 in another
 * PID namespace. attach.c
 */
pid_t attach_pid(struct tribd *d, const struct job *job, uint16_t rank);

#endif /* TRIBD_ATTACH_H */
