/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Providers verbs and tcp themselves: a connected endpoint a link, instead of one for all. ofi.c calls these
 * where struct ofi_port has an rc.
 */
#ifndef PEER_OFI_RC_H
#define PEER_OFI_RC_H

#include "peer/net/ofi.h"

/* The completion queue must hold what it holds for datagrams, and all receives. */
#define OFI_RC_RECEIVES (2 * PEER_FLOW_WINDOW + 32)

int ofi_rc_open(struct ofi_port *o);
void ofi_rc_close(struct ofi_port *o);
/* The address where peers find this port. Return: 0 or -errno. */
int ofi_rc_name(const struct ofi_port *o, void *name, size_t *len);
/* The lower rank connects, the higher one listens. Return: 0 or -errno. */
int ofi_rc_connect(struct ofi_port *o, uint32_t link, const struct ofi_blob *b);
bool ofi_rc_ready(const struct ofi_link *l);
/* Whether a context is that of a receive. */
bool ofi_rc_is_receive(const struct ofi_port *o, const void *context);
/* Its link. @again: post it anew. */
int ofi_rc_take(struct ofi_port *o, void *context, bool again);
/* Connection events. Return: 0 or -errno. */
int ofi_rc_poll(struct ofi_port *o);
int ofi_rc_fd(const struct ofi_port *o);
bool ofi_rc_rest(struct ofi_port *o);

#endif /* PEER_OFI_RC_H */
