/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-perf -A ps: how long a parameter server takes for a version, as one of
 * its workers sees it.
 */
#ifndef PERF_PERF_PS_H
#define PERF_PERF_PS_H

#include "opts.h"

/*
 * Takes versions and gives gradients at once, @o->warmup and then @o->iters of
 * them, or to the job's last version. The exit status: 0, 1 (a model was wrong),
 * 2 (@o asks for what a PS cannot do) or 3 (a call failed).
 */
int perf_ps(const struct perf_opts *o);

#endif /* PERF_PERF_PS_H */
