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
 * Start the thread for @job. It writes the eventfd @wake when ps_sums_run() has
 * something to do. Return: 0 or -errno.
 */
int ps_sums_open(struct ps_sums **tree, const struct nps_file *file, struct nps_job *job, int wake);
/*
 * Give the job the sum that has arrived, and ask for the next. Return: 0, or
 * -errno if there will never be a sum; the reason is in the log.
 */
int ps_sums_run(struct ps_sums *tree);
/* Number of workers whose gradients are in a version. */
unsigned int ps_sums_workers(const struct ps_sums *tree);
/*
 * Leave the aggregation job and end the thread, if the job is over. Otherwise
 * the thread may wait for other ranks; it ends with the process, which must end
 * soon.
 */
void ps_sums_close(struct ps_sums *tree);

#endif /* TRIB_PS_NDN_SUMS_H */
