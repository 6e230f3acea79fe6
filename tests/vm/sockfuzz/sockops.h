/* SPDX-License-Identifier: BSD-2-Clause */
/* Random calls on collective sockets: see sockops.c. */
#ifndef SOCKOPS_H
#define SOCKOPS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/vm/rig/sockrig.h"

/* Jobs whose cookie the hostile network knows; RIG_JOB's it does not. */
#define CHAOS_JOB 8
#define CHAOS_JOBS 4
#define CHAOS_COOKIE 0x8877665544332211ULL
#define CHAOS_RANKS 8
/* Where the relay listens that means no good, and results come to: + rank. */
#define EVIL_PORT 7400
#define CHAOS_PORT 7450

/* Its trees say how many ranks they are of. */
static inline uint16_t chaos_tree(uint16_t world, uint16_t n)
{
	return world << 4 | n;
}
static inline uint16_t chaos_world(uint16_t tree)
{
	return tree >> 4;
}

/* For how often what was called, and how often it succeeded. */
enum sockop {
	OP_OPEN,
	OP_JOIN,
	OP_PLACE,
	OP_OPTION,
	OP_BIND,
	OP_SEND,
	OP_RECV,
	OP_POLL,
	OP_ASK,
	OP_IOCTL,
	OP_SHUTDOWN,
	OP_DUP,
	OP_CLOSE,
	OP_FORK,
	OP_PASS,
	OP_OTHER,
	OPS,
};
extern const char *const sockop_names[OPS];
/* Counters of struct stress: calls from 0 on, successes from OPS on. */
#define OP_GOOD OPS

/* Once a process; threads then call the other as often as they like. */
void sockops_init(void);
void sockops_one(void);
void sockops_close_all(void);

/* --- between the files of it */

int chaos_any(void);
/* Where a megabyte begins, half of which is all there; any place in it, or none. */
void *chaos_memory(void);
void *chaos_somewhere(size_t len);
struct rig_place chaos_place(void);
/* Does things to a place of @len bytes; how many they are then. */
size_t chaos_spoil(struct trib_attach_rep *rep, size_t len);
long chaos_send(void);
long chaos_recv(void);

#endif /* SOCKOPS_H */
