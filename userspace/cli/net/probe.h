/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes of trib doctor: is an address there, do full-sized packets get
 * through unfragmented, does its UDP port refuse?
 */
#ifndef TRIB_CLI_PROBE_H
#define TRIB_CLI_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_kind {
	PROBE_PING, /* ICMP echo of @size bytes, never fragmented */
	PROBE_PORT, /* an empty UDP packet: only a refusal is an answer */
};

/**
 * struct probe - one question
 * @addr:  of whom; IPv4 mapped.
 * @local: our address, or all zeros.
 * @dev:   PROBE_PING: ask through this device, and hear the answer through it;
 *         NULL: whichever.
 * @scope: device that a link-local address is behind, or 0.
 * @port:  PROBE_PORT.
 * @size:  PROBE_PING: bytes of the whole IP packet.
 * @answered: out: an answer came.
 * @err:   out: what the kernel or the network said instead: EMSGSIZE,
 *         ECONNREFUSED, EHOSTUNREACH, EPERM, ...; 0: nothing.
 * @rtt_ms: out: time to the answer.
 */
struct probe {
	enum probe_kind kind;
	uint8_t addr[16];
	uint8_t local[16];
	const char *dev;
	uint32_t scope;
	uint16_t port;
	uint32_t size;
	bool answered;
	int err;
	double rtt_ms;

	/* Its own: */
	int fd;
	bool raw;
	uint64_t token;
	double sent;
	unsigned int tries;
};

/* Ask all at once; returns when all are answered or after @ms. */
void probe_run(struct probe *p, size_t n, int ms);

#endif /* TRIB_CLI_PROBE_H */
