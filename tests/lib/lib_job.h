/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job of a few ranks, each a thread of this process, with lib_relay.c's
 * relay: attach, do something, detach.
 */
#ifndef LIB_JOB_H
#define LIB_JOB_H

#include "lib_relay.h"
#include "trib.h"

#define RANKS 4
#define MS 1000000ULL

/**
 * struct member - one rank
 * @work: what it does between attaching and detaching.
 * @rc:   first error. @wrong: wrong elements, or other complaints.
 * @took: how long it took to detach, ns.
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
/* A star that is not started yet. */
struct loop_relay relay(unsigned int world);
/* Run one thread per rank, and wait for them. */
void all_ranks(const struct loop_relay *l, struct member *m, void (*work)(struct member *m));
/* Work: sums of small integers, which floats hold exactly. */
void sum_floats(struct member *m);

/* No rank failed or complained; for use in tests. */
#define expect_good(l, m)                                                                          \
	do {                                                                                       \
		for (unsigned int i_ = 0; i_ < (l)->world; i_++) {                                 \
			if ((m)[i_].rc || (m)[i_].wrong)                                           \
				printf("# rank %u:\n", i_);                                        \
			expect_eq((m)[i_].rc, 0);                                                  \
			expect_eq((m)[i_].wrong, 0);                                               \
		}                                                                                  \
	} while (0)

#endif /* LIB_JOB_H */
