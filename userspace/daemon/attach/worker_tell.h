/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of workers: where ranks are told to send, and news of them for the PS.
 */
#ifndef TRIBD_WORKER_TELL_H
#define TRIBD_WORKER_TELL_H

#include "daemon/tree/tree.h"

/* Fill @at with the addresses that rank @l of @t sends to. */
void worker_fill(const struct tree *t, const struct local *l, struct trib_attach_tree *at);
/*
 * If rank @l takes part in an epoch, have the PS tell all others that it is
 * over. Sent a few times, as it is not acknowledged.
 */
void worker_abort(struct tribd *d, struct tree *t, const struct local *l, enum trib_abort why);
/* Hook: abort the epochs of all ranks of @t. */
void worker_tree_del(struct tribd *d, struct tree *t);

#endif /* TRIBD_WORKER_TELL_H */
