/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A double of a kernel with collective sockets, for ranks that are threads of
 * this process. It wraps socket() and all calls on its descriptors (KSOCK_WRAPS
 * in the Makefile fragment), and sums when all ranks have sent a message. The
 * descriptors are ends of socket pairs, so poll() works on them.
 */
#ifndef KSOCK_DOUBLE_H
#define KSOCK_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_sock.h"

#define KSOCK_RANKS 4

/**
 * struct ksock_double - orders to the double, and its records
 * @mem_max: limit of each socket.
 * @no_module: socket() fails.
 * @bind_errno: bind() fails with this.
 * @deaf:    rank that never takes part; -1: none. Joining then fails at once.
 * @odd_id:  rank whose results have a wrong id; -1: none.
 * @again:   number of messages to refuse for lack of memory.
 * @send_errno: all messages fail with this.
 *
 * @place_len, @timeout_ms, @join_timeout_ms: options of the newest socket.
 * @most:    peak of bytes that the messages of a socket took.
 * @refused: messages refused for lack of memory.
 * @left:    sockets that were shut down. @closed: sockets that were closed.
 * @wrong:   errors: addresses, control messages, sequences that differ.
 */
struct ksock_double {
	uint64_t mem_max;
	bool no_module;
	int bind_errno;
	int deaf;
	int odd_id;
	unsigned int again;
	int send_errno;

	unsigned int place_len;
	uint32_t timeout_ms, join_timeout_ms;
	uint64_t most;
	unsigned int refused;
	unsigned int left, closed;
	unsigned int wrong;
};

extern struct ksock_double ksock_double;

/* Reset the double. */
void ksock_double_reset(void);
/* Tell the other ranks that @rank is gone. */
void ksock_double_kill(unsigned int rank);

#endif /* KSOCK_DOUBLE_H */
