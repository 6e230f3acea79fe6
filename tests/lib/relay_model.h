/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A relay for tests of its neighbours: tests/model with a callback for every
 * packet that leaves. It has no clock and no sockets.
 */
#ifndef RELAY_MODEL_H
#define RELAY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_wire.h"

#define RELAY_UP (-1) /* number of the parent, in place of a child's */
#define RELAY_PACKET_MAX (sizeof(struct trib_hdr) + 4 * TRIB_NVAL_LARGE)

/**
 * struct relay - a node
 * @nchild: number of children.
 * @root:   has no parent.
 * @up_child: its index at the parent.
 * @epoch:  the running epoch.
 * @addr:   its address, as children know it.
 * @impl:   state of relay_model.c, or of its substitute with trib-ps.
 * @out:    send @len bytes to child @to, or RELAY_UP.
 * @mismatches: number of mismatches that trib-ps logged.
 * @resets: number of wipes.
 */
struct relay {
	unsigned int nchild;
	bool root;
	unsigned int up_child;
	uint32_t epoch;
	uint8_t addr[16];
	void *impl;
	void (*out)(struct relay *r, int to, const void *pkt, size_t len);
	void *ctx;
	unsigned long mismatches, resets;
};

/* Make room for the slots of @window. Return: 0 or -ENOMEM. */
int relay_init(struct relay *r, unsigned int nchild, unsigned int window);
void relay_free(struct relay *r);
/* Lose all slots. */
void relay_wipe(struct relay *r);
/* Handle a packet from child @from, or RELAY_UP. @pkt does not change. */
void relay_rx(struct relay *r, int from, const void *pkt, size_t len);

#endif /* RELAY_MODEL_H */
