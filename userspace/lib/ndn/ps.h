/* SPDX-License-Identifier: BSD-2-Clause */
/* The handle of the API to parameter servers, for its files. */
#ifndef TRIB_LIB_PS_H
#define TRIB_LIB_PS_H

#include <pthread.h>

#include "trib.h"
#include "ndn/app/link.h"
#include "rounds.h"
#include "ndn/app/worker/worker.h"

/**
 * struct trib_ps - a worker, its socket, and the thread that drives both
 * @w:       the worker.
 * @link:    the socket. It is used under @lock only.
 * @gpu:     the worker's name, one component.
 * @markers: of the network; they own their words.
 * @lock:    of everything here but @thread, @wake and @ready.
 * @changed: something came or was due.
 * @thread:  it runs drive().
 * @wake:    eventfd: the caller changed something.
 * @ready:   eventfd: trib_ps_fd().
 * @is_set:  @ready is readable.
 * @stop:    the thread is to end.
 * @has_task: trib_ps_join() gave the caller a task.
 * @tree:    by which gradients go, if the task says so; the caller's thread's.
 * @sum:     room for a round of it.
 * @error:   text of the newest failure.
 */
struct trib_ps {
	struct ndn_worker w;
	struct ndn_socket *link;
	struct ndn_name_buf gpu;
	struct ndn_markers markers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int wake;
	int ready;
	bool is_set;
	bool stop;
	bool has_task;
	struct trib_rounds tree;
	float *sum;
	char error[256];
};

/* Remembers a line about @err, for @p or for this thread, and returns @err. */
int trib_ps_fail(struct trib_ps *p, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Options and environment into @c, and what owns memory into @p. 0 or -errno,
 * with a text. @a has what ndn_socket_open() wants, of @o or the environment.
 */
int trib_ps_read_options(struct trib_ps *p, struct ndn_worker_config *c, struct ndn_socket_addr *a,
			 const struct trib_ps_options *o);
void trib_ps_free_options(struct trib_ps *p);

/* ps.c: a line about what ndn_worker_...() returned; @rc. */
int trib_ps_explain(struct trib_ps *p, int rc);
/* After whatever may have changed the worker: sends, and tells who waits. */
void trib_ps_tell(struct trib_ps *p);
void trib_ps_wake(struct trib_ps *p);

/* ps_rounds.c; with the lock held, which is given up meanwhile. */
/* There is a new task: may it go by trees? 0 or -ENOENT, -ENOMEM with a text. */
int trib_ps_tree_join(struct trib_ps *p);
/* Whether the task's gradients go by trees. */
bool trib_ps_has_tree(const struct trib_ps *p);
int trib_ps_tree_give(struct trib_ps *p, uint64_t version, const float *grad, size_t count);
/* Without the lock. */
void trib_ps_tree_leave(struct trib_ps *p);

#endif /* TRIB_LIB_PS_H */
