/* SPDX-License-Identifier: BSD-2-Clause */
/* The LOCAL pair: see TRIB_LOCAL_PORT. */
#ifndef TRIBD_LOCAL_H
#define TRIBD_LOCAL_H

#include "daemon/core/tribd.h"

/*
 * Makes the pair with its addresses, unless there is a device of that name:
 * that is somebody's who wants it otherwise. 0 or -errno (logged).
 */
int local_make(struct tribd *d);
/* Removes it, if it is one that a tribd made. */
void local_remove(struct tribd *d);

#endif /* TRIBD_LOCAL_H */
