/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes: does an address answer, do full-sized packets pass unfragmented, does
 * its UDP port refuse?
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
 * struct probe - one probe
 * @addr:  address of the peer, IPv4 mapped.
 * @local: our address, or all zeros.
 * @dev:   PROBE_PING: send and receive through this device only; NULL: any.
 * @scope: device of a link-local address, else 0.
 * @port:  PROBE_PORT: UDP port.
 * @size:  PROBE_PING: bytes of the whole IP packet.
 * @answered: out: an answer came.
 * @err:   out: error from the kernel or the network: EMSGSIZE, ECONNREFUSED,
 *         EHOSTUNREACH, EPERM, ...; 0 without one.
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

	/* private to probe.c */
	int fd;
	bool raw;
	uint64_t token;
	double sent;
	unsigned int tries;
};

/* Run all probes at once; returns when all are answered, or after @ms. */
void probe_run(struct probe *p, size_t n, int ms);

#endif /* TRIB_CLI_PROBE_H */
