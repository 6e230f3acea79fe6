/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that really travel: in by BPF_PROG_TEST_RUN's live mode, out of the
 * veth ports, caught at their peers.
 */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include "world.h"

/* trib_grow at the ports' clsact, trib_pass and a socket at their peers. */
void live_open(void);
/* Forget what was caught. */
void live_flush(void);
/* @f arrives @n times in a row at @port, and what follows from it happens. */
void live_run(const struct frame *f, int port, int n);
/* The next frame of ours at the peer of @port, into @f; waits up to 1 s. */
bool live_catch(struct frame *f, int port);
/* Nothing of ours there? Does not wait. */
bool live_quiet(int port);
/* Had the frame caught last its UDP checksum left to a device? */
bool live_was_offloaded(void);

#endif /* TEST_LIVE_H */
