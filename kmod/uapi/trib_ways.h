/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * How the tribds of neighbouring hosts find ways round dead links: probes of watched
 * faces, and news of which links each host has. PROTOCOL.md ("Ways round dead links")
 * has the rules.
 *
 *	host a                                            host b
 *	each 50 ms: PROBE, number m, echo of b's  ---->
 *	                             <----  each 50 ms: PROBE, number n, echo m
 *	no echo of the last 10: (a, b) is dead, the report's number + 1
 *	if the digests of what both know differ: NEWS, all reports  ---->
 *
 * Both ends of a link have its key. UDP, port TRIB_WAYS_PORT at both ends, sent through
 * the device of the face whatever the routes are.
 */
#ifndef _UAPI_TRIB_WAYS_H
#define _UAPI_TRIB_WAYS_H

#include "trib_wire.h"

#define TRIB_WAYS_PORT 7415
#define TRIB_WAYS_VERSION 1
#define TRIB_WAYS_LINKS 32 /* watched faces of a host */
#define TRIB_WAYS_NODES 256

/* Protocol and metric of the routes that tribd makes, as `ip route` shows them. */
#define TRIB_WAYS_ROUTE_PROTO 74
#define TRIB_WAYS_ROUTE_METRIC 7415

/**
 * enum trib_ways_type - messages
 * @TRIB_WAYS_PROBE: each 50 ms; alive if the other end echoes its number.
 * @TRIB_WAYS_NEWS:  behind the header @count reports of hosts, struct trib_ways_report.
 */
enum trib_ways_type {
	TRIB_WAYS_PROBE = 1,
	TRIB_WAYS_NEWS = 2,
};

/**
 * struct trib_ways_hdr - begin of every message
 * @auth:    authenticator (SipHash-2-4 of the link's key, little-endian) of: the
 *           sender's address and the receiver's, 16 bytes each, IPv4 mapped; then all
 *           that follows @auth, filled with zeros to a multiple of 8.
 * @magic:   TRIB_WAYS_MAGIC.
 * @version: TRIB_WAYS_VERSION.
 * @type:    enum trib_ways_type.
 * @count:   of reports.
 * @number:  PROBE: larger than all before, the last 20 bits at random. NEWS: 0.
 * @echo:    PROBE: the newest number of the other end; 0: none was heard. NEWS: 0.
 * @digest:  XOR of a hash of node and number of every report that the sender has.
 */
struct trib_ways_hdr {
	__be64 auth;
	__be32 magic;
	__u8 version;
	__u8 type;
	__be16 count;
	__be64 number;
	__be64 echo;
	__be64 digest;
};
TRIB_ASSERT(sizeof(struct trib_ways_hdr) == 40, "trib_ways_hdr");

#define TRIB_WAYS_MAGIC 0x54574159U /* "TWAY" */

/* Flags of a report: the host passes on packets for others. */
#define TRIB_WAYS_PASSES_V4 1
#define TRIB_WAYS_PASSES_V6 2

/**
 * struct trib_ways_report - the links of one host
 * @node:   random number of the host's tribd, kept with its maps.
 * @number: of reports of a node, and of those of one address, the highest counts. A
 *          tribd begins at its clock, in microseconds.
 * @flags:  TRIB_WAYS_PASSES_...
 * @nlinks: links that follow, 1 to TRIB_WAYS_LINKS: a byte of flags, the local and the
 *          peer's address, 4 bytes each, or 16 each with TRIB_WAYS_LINK_V6.
 */
struct trib_ways_report {
	__be64 node;
	__be64 number;
	__u8 flags;
	__u8 nlinks;
	__u8 pad[6];
};
TRIB_ASSERT(sizeof(struct trib_ways_report) == 24, "trib_ways_report");

#define TRIB_WAYS_LINK_DEAD 1
#define TRIB_WAYS_LINK_V6 2

#endif /* _UAPI_TRIB_WAYS_H */
