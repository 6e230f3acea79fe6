/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-ps ndn: the PS as a rank of the aggregation job that adds up a job's
 * gradients. A thread attaches and waits for rounds; the loop tells it which
 * version is wanted and takes the sum.
 */
#ifndef TRIB_PS_NDN_SUMS_H
#define TRIB_PS_NDN_SUMS_H

#include "ndn/app/ps/ps_file.h"

struct ps_sums;

/*
 * Of @job, as @file has it. @wake: eventfd, written when ps_sums_run() has
 * something to do. 0 or -errno.
 */
int ps_sums_open(struct ps_sums **tree, const struct nps_file *file,
		 struct nps_job *job, int wake);
/*
 * Gives the job what has come, and asks for the next. 0, or -errno: there will
 * never be a sum, for a reason that was logged.
 */
int ps_sums_run(struct ps_sums *tree);
/* Workers whose gradients a version has. */
unsigned int ps_sums_workers(const struct ps_sums *tree);
/*
 * Of a job that is over: leaves the aggregation job. Else the thread may be
 * waiting for others: it ends with the process, which must not go on for long.
 */
void ps_sums_close(struct ps_sums *tree);

#endif /* TRIB_PS_NDN_SUMS_H */
