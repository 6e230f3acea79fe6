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

/* The newest epoch that a process here takes part in, or 0. */
uint32_t worker_epoch(const struct tree *t);

#endif /* TRIBD_WORKER_H */
