/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One node of an aggregation tree in plain C, by the rules that the BPF
 * programs follow: for tests of what talks to it. No clock, no sockets; every
 * packet that leaves goes through a callback.
 */
#ifndef RELAY_MODEL_H
#define RELAY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_wire.h"

#define RELAY_UP (-1) /* in place of a child: the parent */
#define RELAY_PACKET_MAX (sizeof(struct trib_hdr) + 4 * TRIB_NVAL_LARGE)

struct relay_slot {
	bool used;
	uint32_t chunk;
	int state; /* 0 collect, 1 sent, 2 result */
	uint64_t seen;
	uint16_t nval;
	uint8_t flags;
	uint8_t op;
	uint8_t fmt;
	uint32_t scale; /* as on the wire */
	uint16_t last;
	uint64_t v[TRIB_NVAL_LARGE / 2];
};

/**
 * struct relay - a node
 * @nchild: children.
 * @root:   no parent.
 * @up_child: our index at the parent.
 * @slots:  2W.
 * @epoch:  running.
 * @out:    send @len bytes to child @to, or RELAY_UP.
 * @dups, @mismatches: what it dropped for these reasons.
 * @resets: how often it was wiped.
 */
struct relay {
	unsigned int nchild;
	bool root;
	unsigned int up_child;
	unsigned int slots;
	uint32_t epoch;
	struct relay_slot *slot;
	void (*out)(struct relay *r, int to, const void *pkt, size_t len);
	void *ctx;
	unsigned long dups, mismatches, resets, needs;
};

int relay_init(struct relay *r, unsigned int nchild, unsigned int window);
void relay_free(struct relay *r);
/* Lose all slots. */
void relay_wipe(struct relay *r);
/* A packet from child @from, or RELAY_UP. It is not changed. */
void relay_rx(struct relay *r, int from, const void *pkt, size_t len);

#endif /* RELAY_MODEL_H */
