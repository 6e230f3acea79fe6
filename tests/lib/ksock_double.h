/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel with collective sockets, for ranks that are threads of this process:
 * socket() and what is done with its descriptors are wrapped (KSOCK_WRAPS in
 * the Makefile fragment). Sums are made when all ranks have sent a message. The
 * descriptors can be polled: they are ends of socket pairs.
 */
#ifndef KSOCK_DOUBLE_H
#define KSOCK_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_sock.h"

#define KSOCK_RANKS 4

/**
 * struct ksock_double - what the kernel is to do, and what it saw
 * @mem_max: of each socket.
 * @no_module: socket() fails.
 * @bind_errno: bind() fails with it.
 * @deaf:    the rank that never takes part; -1: none. Joining then fails at once.
 * @odd_id:  results of this rank have a wrong id; -1: none.
 * @again:   so many messages are refused for want of memory.
 *
 * @place_len, @timeout_ms, @join_timeout_ms: options of the newest socket.
 * @most:    bytes that messages of a socket took at most.
 * @refused: messages refused for want of memory.
 * @left:    sockets that were shut down. @closed: that were closed.
 * @wrong:   complaints: addresses, control messages, sequences that differ.
 */
struct ksock_double {
	uint64_t mem_max;
	bool no_module;
	int bind_errno;
	int deaf;
	int odd_id;
	unsigned int again;

	unsigned int place_len;
	uint32_t timeout_ms, join_timeout_ms;
	uint64_t most;
	unsigned int refused;
	unsigned int left, closed;
	unsigned int wrong;
};

extern struct ksock_double ksock_double;

/* A new kernel. */
void ksock_double_reset(void);
/* The others are told that @rank is gone. */
void ksock_double_kill(unsigned int rank);

#endif /* KSOCK_DOUBLE_H */
