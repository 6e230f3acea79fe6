/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gradients of a synchronous job by the trees of an aggregation job: what the
 * PS and its workers, who are all its ranks, have in common.
 *
 * A round is two allreduces, issued together: a guard, and the gradients, to
 * which the PS adds zeros. The guard says of which job and version what a rank
 * gives is, in integers, so that it is exact; all ranks see it. Ranks that were
 * not of one mind all get -EAGAIN, and what they gave counts for nothing.
 */
#ifndef TRIB_LIB_ROUNDS_H
#define TRIB_LIB_ROUNDS_H

#include <stddef.h>
#include <stdint.h>

#include "trib.h"
#include "ndn/app/job_names.h"

/* Integers of a guard: three words, each followed by its complement. */
#define TRIB_ROUNDS_GUARD 6

/**
 * struct trib_rounds - a rank of the aggregation job
 * @job:    its name or ticket; NULL: TRIB_JOB. It outlives this.
 * @rank:   wanted rank + 1; 0: TRIB_RANK, or any.
 * @number: of the aggregation job, as the start content has it.
 * @name:   hash of the names job's name.
 * @t:      NULL: not attached.
 * @error:  text of the newest failure.
 */
struct trib_rounds {
	const char *job;
	unsigned int rank;
	uint32_t number;
	uint32_t name;
	struct trib *t;
	char error[256];
};

uint32_t trib_rounds_hash(const struct ndn_name *job);
/*
 * Waits for the other ranks. 0, what trib_attach() returns, or -EPROTO: the job
 * has another number.
 */
int trib_rounds_attach(struct trib_rounds *tree);
void trib_rounds_detach(struct trib_rounds *tree);
/* @own: what this rank's guard is made of; it goes into MAX. */
void trib_rounds_guard(int32_t own[TRIB_ROUNDS_GUARD], uint32_t name, uint64_t version);
/*
 * Gives @values for @version; 0: there is their sum over all ranks, all of that
 * version. -EAGAIN: ranks gave for different versions. -EDOM: NaN or infinity.
 * All else: it is detached by now, and @values are of no use.
 */
int trib_rounds_round(struct trib_rounds *tree, uint64_t version, float *values, size_t count);

#endif /* TRIB_LIB_ROUNDS_H */
