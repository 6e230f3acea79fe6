/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes that went over this host's network interfaces, all but loopback, as
 * the kernel counts them in this process's network namespace.
 */
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <stdint.h>

struct wire_bytes {
	uint64_t rx;
	uint64_t tx;
};

/* 0, or -1: there are no such counters here. */
int wire_read(struct wire_bytes *w);

#endif /* PERF_WIRE_H */
