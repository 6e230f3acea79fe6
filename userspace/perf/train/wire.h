/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's byte counters of all interfaces but loopback in this process's
 * network namespace.
 */
#ifndef PERF_WIRE_H
#define PERF_WIRE_H

#include <stdint.h>

struct wire_bytes {
	uint64_t rx;
	uint64_t tx;
};

/* 0, or -1 if there are no such counters. */
int wire_read(struct wire_bytes *w);

#endif /* PERF_WIRE_H */
