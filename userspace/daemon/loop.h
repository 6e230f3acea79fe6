/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of the event loop that only main.c (and tests) use. */
#ifndef TRIBD_LOOP_H
#define TRIBD_LOOP_H

#include "tribd.h"

int loop_init(struct tribd *d);
void loop_exit(struct tribd *d);
/* Until d->stop; 0 or -errno. */
int loop_run(struct tribd *d);

#endif /* TRIBD_LOOP_H */
