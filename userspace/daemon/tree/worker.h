/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of workers of shared trees: ranks of this host that send to relays and
 * the PS by sockets. tribd tells them where; the maps hold nothing of it.
 */
#ifndef TRIBD_WORKER_H
#define TRIBD_WORKER_H

#include "tree.h"

#define WORKER_PORT_MIN 1024 /* ranks need no privileges */

static inline bool tree_is_worker(const struct tree *t)
{
	return t->ps_port != 0;
}

/* worker_spec.c: as tree_check(), for a @spec with ps_port. Pure. */
int worker_check(struct tribd *d, const struct tree_spec *spec, struct tree *t,
		 struct reason *why);

/* --- worker.c */

/* The newest epoch that a process here takes part in, or 0. */
uint32_t worker_epoch(const struct tree *t);
/* What rank @l is told of @t. */
void worker_fill(const struct tree *t, const struct local *l,
		 struct trib_attach_tree *at);
/* If rank @l takes part in an epoch, have the PS tell all others that it is
 * over; said a few times, as nobody acknowledges it. */
void worker_abort(struct tribd *d, const struct tree *t, const struct local *l,
		  enum trib_abort why);
/* @t is about to go: its ranks' processes and the PS are told. */
void worker_removed(struct tribd *d, struct tree *t);

#endif /* TRIBD_WORKER_H */
