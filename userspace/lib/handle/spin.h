/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a wait is worth polling before it blocks. Polling saves a wake-up if the result
 * comes soon, and takes the CPU from others if it does not, or if they need it. So waits
 * that gained nothing make the next ones block at once: one, three, seven, ...
 */
#ifndef TRIB_LIB_SPIN_H
#define TRIB_LIB_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/* Waits that gained nothing, in a row, after which no more are skipped: 2^10 - 1. */
#define TRIB_SPIN_MISSES 10

/**
 * struct trib_spin - one handle's
 * @most_ns: longest time; 0: never poll.
 * @misses:  waits in a row that gained nothing.
 * @skip:    waits that block at once from now on.
 */
struct trib_spin {
	uint64_t most_ns;
	unsigned int misses;
	unsigned int skip;
};

/* Start a handle's. A process that may use one CPU only never polls. */
void trib_spin_init(struct trib_spin *s, unsigned int most_us);
/* May the next wait poll? */
bool trib_spin_may(struct trib_spin *s);
/* It did: @hit: something came, and nobody else needed the CPU meanwhile. */
void trib_spin_note(struct trib_spin *s, bool hit);
/* Times that the kernel has taken the CPU from this thread. */
long trib_spin_evicted(void);

#endif /* TRIB_LIB_SPIN_H */
