/* SPDX-License-Identifier: GPL-2.0 */
/* Messages and their pages. */
#ifndef TRIB_SOCK_BUFFER_H
#define TRIB_SOCK_BUFFER_H

#include "sock.h"
#include "sock/check/want.h"

/**
 * trib_msg_make() - make a message from @len bytes of @from
 * @buf: @w->size bytes, which the message owns from now on; NULL allocates them.
 *
 * The caller has charged the memory. Return: the message with one reference, or
 * an error pointer; then @buf is freed, but still charged.
 */
struct trib_msg *trib_msg_make(struct trib_sock *ts, const struct trib_want *w, void *buf,
			       struct iov_iter *from, size_t len);
/* Drop a reference. The last one frees the message and uncharges its memory. */
void trib_msg_put(struct trib_msg *m);

/*
 * The spare buffer: pages of the newest large message that was received, kept
 * for the next one, because allocating, zeroing and freeing pages takes as long
 * as filling them. It is charged to mem_total, not to the socket. Lock held.
 */
void trib_spare_keep(struct trib_sock *ts, struct trib_msg *m);
/* Take the spare for a charged message that fills all of it. Return: or NULL. */
void *trib_spare_take(struct trib_sock *ts, const struct trib_want *w, size_t len);
/* Free the spare. Return: false if there was none. */
bool trib_spare_drop(struct trib_sock *ts);

#endif /* TRIB_SOCK_BUFFER_H */
