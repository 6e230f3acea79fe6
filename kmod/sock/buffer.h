/* SPDX-License-Identifier: GPL-2.0 */
/* Messages and their pages. */
#ifndef TRIB_SOCK_BUFFER_H
#define TRIB_SOCK_BUFFER_H

#include "sock.h"
#include "want.h"

/**
 * trib_msg_make() - a message of @len bytes out of @from
 * @buf: @w->size bytes, which it owns from now on, or NULL: some are allocated.
 *
 * All is charged already. Return: the message, or an error pointer.
 */
struct trib_msg *trib_msg_make(struct trib_sock *ts, const struct trib_want *w,
			       void *buf, struct iov_iter *from, size_t len);
/* The last one frees it, and gives back what was charged. */
void trib_msg_put(struct trib_msg *m);

/*
 * The pages of the newest large message that was received, for the next one:
 * getting pages that are zero, and giving them back, takes as long as filling
 * them. They count for all sockets together alone. Lock held.
 */
void trib_spare_keep(struct trib_sock *ts, struct trib_msg *m);
/* For a message whose size is charged, and which fills all of it; or NULL. */
void *trib_spare_take(struct trib_sock *ts, const struct trib_want *w,
		      size_t len);
/* Return: whether there was one. */
bool trib_spare_drop(struct trib_sock *ts);

#endif /* TRIB_SOCK_BUFFER_H */
