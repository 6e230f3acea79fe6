/* SPDX-License-Identifier: BSD-2-Clause */
/* Finding a place in a job, by a ticket or by this host's tribd. */
#ifndef TRIB_LIB_PLACE_H
#define TRIB_LIB_PLACE_H

#include "lib/handle/handle.h"

/**
 * trib_ticket_parse() - fill in @p from the ticket "trib://..."
 * Return: 0, or -EINVAL with the thread's error set.
 */
int trib_ticket_parse(struct trib_place *p, const char *text);

/**
 * trib_tribd_attach() - ask this host's tribd for a place in @job
 * @rank:   wanted rank, or TRIB_RANK_ANY.
 * @mapped: ask for mapped delivery; p->rep.flags tells whether it was given.
 *
 * On success @p owns the connection and the descriptors that came with it.
 *
 * Return: 0 or a negative errno with the thread's error set: -ENOENT if there
 * is no tribd or no such job, -EACCES, -EBUSY, -EPERM if the peer is not uid 0.
 */
int trib_tribd_attach(struct trib_place *p, const char *job, unsigned int rank, bool mapped);

/**
 * trib_tribd_release() - send BYE if @clean, and close all descriptors of @p
 * Has no effect on a place that came from a ticket.
 */
void trib_tribd_release(struct trib_place *p, bool clean);

/* Draw a nonce that this process has not used yet; 0: no random numbers. */
uint64_t trib_nonce_next(void);

#endif /* TRIB_LIB_PLACE_H */
