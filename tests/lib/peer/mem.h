/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports of ranks that are all in one thread, over a network in memory that is as late
 * as it may be: a chunk is copied out of its source only when it arrives, chunks of
 * different links overtake each other, credits and announcements travel, too. All by
 * one random seed.
 */
#ifndef TESTS_PEER_MEM_H
#define TESTS_PEER_MEM_H

#include "peer/net/port.h"

extern const struct peer_port_ops peer_port_mem;

/* Start a new network with a seed. All ports must be closed. */
void peer_mem_reset(uint64_t seed);
/* Deliver some of what is on the way. Return: false if nothing is on the way. */
bool peer_mem_deliver(void);

#endif /* TESTS_PEER_MEM_H */
