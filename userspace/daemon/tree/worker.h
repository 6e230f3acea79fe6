/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of workers of shared trees: ranks of this host that send to relays and
 * the PS by sockets. tribd tells them the addresses; no map has an entry.
 */
#ifndef TRIBD_WORKER_H
#define TRIBD_WORKER_H

#include "daemon/core/tribd.h"

struct face;
struct tree;
struct tree_ops;

#define WORKER_PORT_MIN 1024 /* unprivileged ranks can bind to it */

/* A relay between the ranks of this host and the PS of a shared tree. */
struct hop {
	struct face *face;
	uint16_t relay;
};

struct tree_workers {
	struct in6_addr ps;
	uint16_t ps_port; /* host order */
	unsigned int nhop;
	struct hop hop[TRIB_ATTACH_HOPS];
	struct in6_addr group; /* all zeros: none */
};

struct hop_spec {
	char face[TRIB_NAME_MAX];
	uint16_t relay;
};

struct workers_spec {
	struct in6_addr ps;
	uint16_t ps_port; /* 0: no row of workers */
	unsigned int nhop;
	struct hop_spec hop[TRIB_ATTACH_HOPS];
	struct in6_addr group; /* all zeros: none */
};

extern const struct tree_ops worker_ops;

/* The newest epoch that a process here takes part in, or 0. */
uint32_t worker_epoch(const struct tree *t);

#endif /* TRIBD_WORKER_H */
