/* SPDX-License-Identifier: BSD-2-Clause */
/* Places, addresses and leftovers of collective sockets, for tests in the VM. */
#ifndef SOCKRIG_H
#define SOCKRIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_attach.h"
#include "uapi/trib_sock.h"

/* Job of the relay in tests/lib/relay_thread.c. */
#define RIG_JOB 7
#define RIG_TREE 1
#define RIG_SEED 0 /* of the key in tests/lib/secrets.h */

/**
 * struct rig_place - one rank in a star on the loopback device
 * @seed:    of the job's key.
 * @relay_port: UDP port of its relay.
 * @recv_port:  UDP port of its results, minus @rank.
 * @join_ms:    TRIB_SO_JOIN_TIMEOUT; 0: the default.
 */
struct rig_place {
	uint16_t job, rank, world, tree, relay_port, recv_port;
	uint64_t seed;
	uint32_t join_ms;
};

/* Key of the job with @seed. */
struct trib_key rig_key(uint64_t seed);
/* Fill @rep. Return: bytes used. */
size_t rig_place(struct trib_attach_rep *rep, const struct rig_place *p);
struct sockaddr_trib rig_address(const struct rig_place *p);
/* Open and bind a socket. Return: -1 with errno. */
int rig_socket(const struct rig_place *p);

/* Are all sockets gone? close() does not wait for their end, so both functions wait
 * up to @ms. */
bool rig_no_sockets(unsigned int ms);	      /* of this namespace's /proc/net/trib */
bool rig_unused(long users, unsigned int ms); /* references to the module */
/* References to the module; -1 if it is not loaded. */
long rig_users(void);
/* Unreclaimable kernel memory in kB. */
long rig_kernel_memory(void);
/* KASAN delays frees: kmemleak finds leaks there instead. */
bool rig_hoards(void);

#endif /* SOCKRIG_H */
