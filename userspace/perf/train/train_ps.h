/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-train as a worker of a parameter server (trib-ps ndn): it takes
 * versions of the model and gives gradients of its own samples.
 */
#ifndef PERF_TRAIN_PS_H
#define PERF_TRAIN_PS_H

#include "train.h"

/* Trains to the last version. The exit status: 0, 2 (usage) or 3. */
int train_ps(const struct train_opts *o);

/* Writes the first parameters to @o->initial, as trib-ps takes them. */
int train_ps_initial(const struct train_opts *o);

#endif /* PERF_TRAIN_PS_H */
