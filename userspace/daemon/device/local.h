/* SPDX-License-Identifier: BSD-2-Clause */
/* The LOCAL pair: see TRIB_LOCAL_PORT. */
#ifndef TRIBD_LOCAL_H
#define TRIBD_LOCAL_H

#include "daemon/core/tribd.h"

/*
 * Make the pair with its addresses. A device of that name that exists is left
 * alone: the operator made it. 0 or -errno (logged).
 */
int local_make(struct tribd *d);
/* Remove the pair if a tribd made it. */
void local_remove(struct tribd *d);

#endif /* TRIBD_LOCAL_H */
