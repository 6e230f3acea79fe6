/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live frames: they enter through the peers of the veth ports, where the
 * programs are attached as on a relay, and are caught at the peers when they
 * leave. (BPF_PROG_TEST_RUN has a live mode, but 6.1 clones its frames to the
 * wrong place.)
 */
#ifndef TEST_LIVE_H
#define TEST_LIVE_H

#include "world.h"

/* Attach the programs to the ports, and trib_pass and sockets to their peers. */
void live_open(void);
/* Run trib_xdp at the ports in generic mode, or again in native mode. */
void live_mode(bool generic);
/* Run trib_grow at the peer of @port, too, as at the port of another relay. */
void live_relay_behind(int port);
/* Open a packet socket that shares all frames that arrive at @port. */
int live_listen(int port);
/* Discard the frames caught so far. */
void live_flush(void);
/* Let @f arrive at @port, and wait until the frames that it causes have left. */
void live_send(const struct frame *f, int port);
/*
 * Send the datagrams of @f[0] to @f[n - 1] from a worker's socket (IPv4, child
 * 2 of ROOT, equal lengths), so that they arrive as one batch.
 */
void live_send_train(const struct frame *f, int n);
/* Catch the next frame of this protocol at the peer of @port; waits up to 1 s. */
bool live_catch(struct frame *f, int port);
/* Return: whether no such frame is waiting there. Does not wait. */
bool live_quiet(int port);
/* Return: whether the frame caught last left its UDP checksum to a device. */
bool live_was_offloaded(void);

#endif /* TEST_LIVE_H */
