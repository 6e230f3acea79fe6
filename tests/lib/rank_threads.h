/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job of a few ranks, each a thread of this process, with a relay in another
 * thread: attach, do some work, detach.
 */
#ifndef RANK_THREADS_H
#define RANK_THREADS_H

#include "relay_thread.h"
#include "trib.h"

#define RANKS 4
#define MS 1000000ULL

/**
 * struct member - one rank
 * @work: work between attaching and detaching.
 * @rc:   first error. @wrong: number of wrong elements and other errors.
 * @took: duration of detaching, ns.
 */
struct member {
	const struct loop_relay *l;
	unsigned int rank;
	void (*work)(struct member *m);
	struct trib *t;
	int rc;
	unsigned int wrong;
	uint64_t took;
	pthread_t thread;
};

uint64_t now(void);
void nap(unsigned int ms);
/* Make a star without starting it. */
struct loop_relay relay(unsigned int world);
/* Run one thread for each rank, and wait for all. */
void all_ranks(const struct loop_relay *l, struct member *m, void (*work)(struct member *m));
/* Work: sums of small integers, which are exact as floats. */
void sum_floats(struct member *m);

/* Expect no failure and no error of any rank. */
#define expect_good(l, m)                                                                          \
	do {                                                                                       \
		for (unsigned int i_ = 0; i_ < (l)->world; i_++) {                                 \
			if ((m)[i_].rc || (m)[i_].wrong)                                           \
				printf("# rank %u:\n", i_);                                        \
			expect_eq((m)[i_].rc, 0);                                                  \
			expect_eq((m)[i_].wrong, 0);                                               \
		}                                                                                  \
	} while (0)

#endif /* RANK_THREADS_H */
