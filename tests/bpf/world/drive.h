/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running trib_xdp from drive.bpf.c, on several CPUs at once.
 */
#ifndef TEST_DRIVE_H
#define TEST_DRIVE_H

#include "world.h"

#define DRIVE_CHILDREN 4

/* A tree of 4 children over all of the world's slots, into row ROOT. */
void drive_tree(int slots);
/*
 * A shared tree of as many workers, into row DRIVE_SHARED; any chunk may take
 * any slot, since no RESULTs come by to free them.
 */
#define DRIVE_SHARED 6
void drive_pool(int marks);
/* Load the drivers; lanes are at most @ahead chunks apart and end at @end. */
void drive_open(uint32_t ahead, uint32_t end);
void drive_close(void);
/* Point them at trib_xdp, or at nothing. */
void drive_target(bool nothing);

/**
 * struct drive - one CPU's run
 * @name:   program of drive.bpf.c.
 * @cpu:    where.
 * @lane:   this one.
 * @lanes:  of so many.
 * @shared: packets for DRIVE_SHARED, not for ROOT.
 * @until:  stop when the counter gets there (0: after one call).
 * @repeat: runs in one call.
 * @threads: how many run (drive_run() sets it).
 * @count:  out: the counter.
 * @ns:     out: time it took.
 */
struct drive {
	const char *name;
	int cpu, lane, lanes;
	int shared;
	uint32_t until, repeat;
	int threads;
	uint32_t count;
	uint64_t ns;
};

/* Run @n at the same time, from counter 0, in a new epoch. */
void drive_run(struct drive *d, int n);

#endif /* TEST_DRIVE_H */
