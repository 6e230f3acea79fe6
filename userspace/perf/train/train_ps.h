/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-train as a worker of a parameter server (trib-ps ndn): it receives
 * versions of the model and sends gradients of its own samples.
 */
#ifndef PERF_TRAIN_PS_H
#define PERF_TRAIN_PS_H

#include "train.h"

/* Train up to the last version. Returns the exit status: 0, 2 (usage) or 3. */
int train_ps(const struct train_opts *o);

/* Write the first parameters to @o->initial, in the form of trib-ps. */
int train_ps_initial(const struct train_opts *o);

#endif /* PERF_TRAIN_PS_H */
