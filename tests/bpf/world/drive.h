/* SPDX-License-Identifier: BSD-2-Clause */
/* Run trib_xdp from drive.bpf.c, on several CPUs at once. */
#ifndef TEST_DRIVE_H
#define TEST_DRIVE_H

#include "world.h"

#define DRIVE_CHILDREN 4

/* Make tree ROOT with 4 children, which uses all slots of the world. */
void drive_tree(int slots);
/*
 * Make DRIVE_SHARED, a shared tree with as many workers. Any chunk may take any
 * slot, because no RESULTs free the slots.
 */
#define DRIVE_SHARED 6
void drive_pool(int marks);
/* Load the drivers; lanes are at most @ahead chunks apart and end at @end. */
void drive_open(uint32_t ahead, uint32_t end);
void drive_close(void);
/* Point the drivers at trib_xdp, or at an empty program. */
void drive_target(bool nothing);

/**
 * struct drive - one CPU's run
 * @name:   program of drive.bpf.c.
 * @cpu:    CPU to run on.
 * @lane:   index of this lane.
 * @lanes:  number of lanes.
 * @shared: send packets for DRIVE_SHARED instead of ROOT.
 * @nm:     for drive_masked: the mask.
 * @until:  stop when the counter reaches this (0: after one call).
 * @repeat: runs in one call.
 * @threads: number of threads that run (drive_run() sets it).
 * @count:  out: the counter.
 * @ns:     out: duration.
 */
struct drive {
	const char *name;
	int cpu, lane, lanes;
	int shared;
	uint8_t nm;
	uint32_t until, repeat;
	int threads;
	uint32_t count;
	uint64_t ns;
};

/* Run @n at the same time, from counter 0, in a new epoch. */
void drive_run(struct drive *d, int n);

#endif /* TEST_DRIVE_H */
