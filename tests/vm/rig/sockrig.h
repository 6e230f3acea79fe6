/* SPDX-License-Identifier: BSD-2-Clause */
/* Places, addresses and leftovers of collective sockets, for tests in the VM. */
#ifndef SOCKRIG_H
#define SOCKRIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_attach.h"
#include "uapi/trib_sock.h"

/* Of tests/lib/lib_relay.c's relay. */
#define RIG_JOB 7
#define RIG_TREE 1
#define RIG_COOKIE 0x1122334455667788ULL

/**
 * struct rig_place - one rank in a star on the loopback device
 * @relay_port: where its relay listens.
 * @recv_port:  where its results come to: + @rank.
 * @join_ms:    TRIB_SO_JOIN_TIMEOUT; 0: the default.
 */
struct rig_place {
	uint16_t job, rank, world, tree, relay_port, recv_port;
	uint64_t cookie;
	uint32_t join_ms;
};

/* Into @rep; bytes of it that count. */
size_t rig_place(struct trib_attach_rep *rep, const struct rig_place *p);
struct sockaddr_trib rig_address(const struct rig_place *p);
/* A socket that is bound there, or -1 with errno. */
int rig_socket(const struct rig_place *p);

/* What must be nothing when all sockets are closed. Ends are not awaited by
 * close(): both wait up to @ms for it. */
bool rig_no_sockets(unsigned int ms); /* of this namespace's /proc/net/trib */
bool rig_unused(long users, unsigned int ms); /* references to the module */
/* References to the module, -1: it is not there. */
long rig_users(void);
/* kB of memory that the kernel cannot take back from anybody. */
long rig_kernel_memory(void);
/* KASAN keeps what was freed for a while: leave it to kmemleak there. */
bool rig_hoards(void);

#endif /* SOCKRIG_H */
