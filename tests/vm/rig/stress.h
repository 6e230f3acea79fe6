/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the random tests of the module share: chance that a seed repeats,
 * processes that run until a time is over, counters and a complaint that all of
 * them see, and allocations that fail, where the kernel can do that.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- chance */

/* Of this thread: each has chance of its own. */
void chance_seed(uint64_t seed);
uint64_t chance(void);
/* 0 to n - 1; n > 0. */
uint32_t chance_below(uint32_t n);
static inline bool chance_one_in(uint32_t n)
{
	return !chance_below(n);
}
/* A number that is small, large, or near a power of two. */
uint64_t chance_odd(void);
void chance_bytes(void *to, size_t len);

/* --- a run */

#define STRESS_COUNTERS 96
#define STRESS_PROCS 16

/**
 * struct stress - what all processes see
 * @seed:    of the run; process i begins with one made of it and i.
 * @seconds: after which stress_over() is true, if @floor things were counted in
 *	     @count[@floor_of]; later, on a machine that is busy otherwise.
 * @nproc:   processes.
 * @dead:    one was killed by a signal, or never came back.
 * @count:   of whatever the test likes.
 * @text:    the first complaint.
 */
struct stress {
	uint64_t seed;
	unsigned int seconds;
	unsigned int nproc;
	uint64_t end_ms;
	uint64_t floor;
	unsigned int floor_of;
	int complained;
	int dead;
	uint64_t count[STRESS_COUNTERS];
	char text[4096];
};

extern struct stress *stress;

/* Reads -s SEED, -t SECONDS, -p PROCESSES. */
void stress_init(int argc, char **argv, unsigned int seconds,
		 unsigned int nproc);
/* Runs @fn(i) in a process each, until all have ended. */
void stress_run(void (*fn)(unsigned int i));
bool stress_over(void);
uint64_t stress_now_ms(void);
static inline void stress_count(int what)
{
	__atomic_add_fetch(&stress->count[what], 1, __ATOMIC_RELAXED);
}
/* The first one is kept; the process ends. */
void stress_complain(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* As many bytes as there is room for, to complain with. */
const char *stress_hex(const void *bytes, size_t len);

/* --- allocations that fail */

/* With a probability of 1 in @n one of this thread's next allocations in the
 * kernel will fail, or several, until stress_fail_end(); whether it is so. */
bool stress_fail_some(unsigned int n);
void stress_fail_end(void);

/* --- who one is */

#define STRESS_NOBODY 65534

/* Ends in a complaint if the kernel will not. */
void stress_be_nobody(void);
/* Root of a user namespace and network namespace of one's own; false: there
 * are none. */
bool stress_be_root_of_own(void);

#endif /* STRESS_H */
