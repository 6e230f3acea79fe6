/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-perf -A ps: the time of a parameter server for a version, measured at
 * one of its workers.
 */
#ifndef PERF_PERF_PS_H
#define PERF_PERF_PS_H

#include "opts.h"

/*
 * Receive versions and send gradients, @o->warmup and then @o->iters of them, or
 * up to the job's last version. Returns the exit status: 0, 1 (a model was
 * wrong), 2 (@o has an option that a PS does not support) or 3 (a call failed).
 */
int perf_ps(const struct perf_opts *o);

#endif /* PERF_PERF_PS_H */
