/* SPDX-License-Identifier: BSD-2-Clause */
/* Random calls on collective sockets: see sockops.c. */
#ifndef SOCKOPS_H
#define SOCKOPS_H

#include <stddef.h>
#include <stdint.h>

#include "tests/vm/rig/sockrig.h"

/* Jobs whose key the hostile network knows; it does not know RIG_JOB's. */
#define CHAOS_JOB 8
#define CHAOS_JOBS 4
#define CHAOS_SEED 0x8877665544332211ULL
#define CHAOS_RANKS 8
/* UDP ports of the hostile relay, and of results (plus the rank). */
#define EVIL_PORT 7400
#define CHAOS_PORT 7450

/* Tree numbers encode the number of ranks. */
static inline uint16_t chaos_tree(uint16_t world, uint16_t n)
{
	return world << 4 | n;
}
static inline uint16_t chaos_world(uint16_t tree)
{
	return tree >> 4;
}

/* Calls, for counters of attempts and successes. */
enum sockop {
	OP_OPEN,
	OP_JOIN,
	OP_PLACE,
	OP_CELLS,
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
/* Counters of struct stress: attempts from 0 on, successes from OPS on. */
#define OP_GOOD OPS

/* Call the first once per process; threads then call the second. */
void sockops_init(void);
void sockops_one(void);
void sockops_close_all(void);

/* --- shared by the files of sockops.c */

int chaos_any(void);
/* A megabyte whose first half is mapped; a random address in it, or NULL. */
void *chaos_memory(void);
void *chaos_somewhere(size_t len);
struct rig_place chaos_place(void);
/* Damage a place of @len bytes. Return: its new length. */
size_t chaos_spoil(struct trib_attach_rep *rep, size_t len);
long chaos_send(void);
long chaos_recv(void);
/* TRIB_SO_CELLS, and writes to cells. The first makes the maps, once. */
void chaos_cells_make(void);
long chaos_cells(void);

#endif /* SOCKOPS_H */
