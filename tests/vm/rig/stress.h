/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the module's random tests: random numbers from a seed, processes that
 * run for some time, shared counters and a shared complaint, and failing
 * allocations if the kernel supports them.
 */
#ifndef STRESS_H
#define STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- random numbers */

/* Seed this thread: each has its own generator. */
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
 * struct stress - shared by all processes
 * @seed:    seed of the run; process i starts with a seed made of it and i.
 * @seconds: duration, until stress_over(). A busy machine continues until each
 *	     counter has reached its @floor, or for three minutes more.
 * @nproc:   number of processes.
 * @dead:    a process was killed by a signal, or hangs.
 * @count:   counters of the test.
 * @floor:   minimum of each counter: see @seconds.
 * @text:    the first complaint.
 */
struct stress {
	uint64_t seed;
	unsigned int seconds;
	unsigned int nproc;
	uint64_t end_ms;
	int complained;
	int dead;
	uint64_t count[STRESS_COUNTERS];
	uint64_t floor[STRESS_COUNTERS];
	char text[4096];
};

extern struct stress *stress;

/* Parse -s SEED, -t SECONDS, -p PROCESSES. */
void stress_init(int argc, char **argv, unsigned int seconds, unsigned int nproc);
/* Run @fn(i) in each process, and wait for all. */
void stress_run(void (*fn)(unsigned int i));
bool stress_over(void);
uint64_t stress_now_ms(void);
static inline void stress_count(int what)
{
	__atomic_add_fetch(&stress->count[what], 1, __ATOMIC_RELAXED);
}
/* Complain and end the process. The first complaint is kept. */
void stress_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Bytes as text for a complaint, as many as fit. */
const char *stress_hex(const void *bytes, size_t len);

/* --- allocations that fail */

/* With probability 1 in @n, make kernel allocations of this thread fail, until
 * stress_fail_end(). Return: true if so. */
bool stress_fail_some(unsigned int n);
void stress_fail_end(void);

/* --- identities */

#define STRESS_NOBODY 65534

/* Change the user; complain if the kernel refuses. */
void stress_be_nobody(void);
/* Become root of new user and network namespaces. Return: false if the kernel has
 * none. */
bool stress_be_root_of_own(void);

#endif /* STRESS_H */
