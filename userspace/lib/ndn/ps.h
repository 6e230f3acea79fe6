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
 * @link:    the socket; used under @lock only.
 * @gpu:     the worker's name, one component.
 * @markers: the network's markers; this struct owns their text.
 * @lock:    protects all fields but @thread, @wake and @ready.
 * @changed: signals that a packet came or a deadline passed.
 * @thread:  runs drive().
 * @wake:    eventfd by which the caller wakes @thread after a change.
 * @ready:   eventfd that trib_ps_fd() returns.
 * @is_set:  @ready is readable.
 * @stop:    tells @thread to end.
 * @has_task: trib_ps_join() gave the caller a task.
 * @tree:    the aggregation job of the task's gradients, if it has one; only
 *           the
 * caller's thread uses it.
 * @sum:     buffer for the sum of a round in @tree.
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

/* Store an error text in @p, or in this thread if @p is NULL. Return: @err. */
int trib_ps_fail(struct trib_ps *p, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read options and environment into @c, and into @p what owns memory. @a gets
 * the arguments of ndn_socket_open(). Return: 0, or -errno with a text.
 */
int trib_ps_read_options(struct trib_ps *p, struct ndn_worker_config *c, struct ndn_socket_addr *a,
			 const struct trib_ps_options *o);
void trib_ps_free_options(struct trib_ps *p);

/*
 * ps.c: store the text of @rc, which an ndn_worker_...() returned. Return: @rc.
 */
int trib_ps_explain(struct trib_ps *p, int rc);
/* Call after each change of the worker: sends what is due, wakes who waits. */
void trib_ps_tell(struct trib_ps *p);
void trib_ps_wake(struct trib_ps *p);

/*
 * ps_rounds.c. The caller holds the lock; the functions release it while they
 * wait.
 */
/*
 * Prepare the tree of a new task. Return: 0, or -ENOENT or -ENOMEM with a text.
 */
int trib_ps_tree_join(struct trib_ps *p);
/* Return: whether relays add up the task's gradients. */
bool trib_ps_has_tree(const struct trib_ps *p);
int trib_ps_tree_give(struct trib_ps *p, uint64_t version, const float *grad, size_t count);
/* The caller does not hold the lock. */
void trib_ps_tree_leave(struct trib_ps *p);

#endif /* TRIB_LIB_PS_H */
