/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gradients of a synchronous job that relays add up. The PS and its workers
 * share this code: together they are all ranks of the aggregation job.
 *
 * A round is two allreduces, issued together: a guard, and the gradients, to
 * which the PS adds zeros. The guard carries the job and the version of each
 * rank's gradient as integers, so its result is exact and all ranks see the
 * same one. If ranks disagree, all get -EAGAIN and discard the round.
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
 * @job:    its name or ticket; NULL: TRIB_JOB. The caller keeps it alive.
 * @rank:   wanted rank + 1; 0: TRIB_RANK, or any.
 * @number: number of the aggregation job, from the task's start content.
 * @name:   hash of the NDN job's name.
 * @t:      the handle; NULL while not attached.
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
 * Attach, and wait for the other ranks. Return: 0, the error of trib_attach(),
 * or -EPROTO if the job has another number.
 */
int trib_rounds_attach(struct trib_rounds *tree);
void trib_rounds_detach(struct trib_rounds *tree);
/* Fill in @own, this rank's guard, which is combined by MAX. */
void trib_rounds_guard(int32_t own[TRIB_ROUNDS_GUARD], uint32_t name, uint64_t version);
/*
 * Add up @values of @version over all ranks. Return: 0 with the sum in @values,
 * all of @version, infinite where it exceeds the largest fp32; -EAGAIN: ranks gave different versions; -EDOM: NaN or
 * infinity. After any other error the handle is detached, and @values are
 * undefined.
 */
int trib_rounds_round(struct trib_rounds *tree, uint64_t version, float *values, size_t count);

#endif /* TRIB_LIB_ROUNDS_H */
