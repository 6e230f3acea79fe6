/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting the data plane: anew, or by adopting what a former tribd pinned. */
#ifndef TRIBD_START_H
#define TRIBD_START_H

#include "daemon/core/tribd.h"

/*
 * Decide whether to adopt, make the records of the state file, load programs and
 * maps. Nothing that runs is touched: a refusal harms no job. With --check the log
 * has the decision. 0 or -errno, logged. After an error the caller frees the objects.
 */
int start_look(struct tribd *d);
/* Put the loaded programs into the ports, and pin. 0 or -errno, logged. */
int start_take(struct tribd *d);

#endif /* TRIBD_START_H */
