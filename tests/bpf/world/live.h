/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that really travel: in through the peers of the veth ports, where the
 * programs are attached as on a relay, and out to be caught at the peers.
 * (BPF_PROG_TEST_RUN's live mode would be simpler, but 6.1 clones its frames
 * to the wrong place.)
 */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include "world.h"

/* The programs at the ports, trib_pass and sockets at their peers. */
void live_open(void);
/* Drop the frames caught so far. */
void live_flush(void);
/* Let @f arrive at @port, and wait until the frames that it causes have left. */
void live_send(const struct frame *f, int port);
/*
 * A worker's socket sends the datagrams of @f[0] to @f[n - 1] (IPv4, from
 * child 2 of ROOT, of one length), which arrive as one batch.
 */
void live_send_train(const struct frame *f, int n);
/* The next frame of ours at the peer of @port, into @f; waits up to 1 s. */
bool live_catch(struct frame *f, int port);
/* Nothing of ours there? Does not wait. */
bool live_quiet(int port);
/* Had the frame caught last its UDP checksum left to a device? */
bool live_was_offloaded(void);

#endif /* TEST_LIVE_H */
