/* SPDX-License-Identifier: BSD-2-Clause */
/* The LOCAL pair: trib0, a port like others, and trib1, where ranks send. */
#ifndef TRIBD_LOCAL_H
#define TRIBD_LOCAL_H

#include "tribd.h"

#define LOCAL_PORT "trib0" /* ours, with XDP */
#define LOCAL_PEER "trib1" /* the ranks' */

/*
 * Makes the pair with its addresses, unless there is a device of that name:
 * that is somebody's who wants it otherwise. 0 or -errno (logged).
 */
int local_make(struct tribd *d);
/* Removes it, if it is one that a tribd made. */
void local_remove(struct tribd *d);

#endif /* TRIBD_LOCAL_H */
