/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ways round dead links: tribd watches the neighbours of faces that have a key for it
 * (`watch`), and keeps the routes to all hosts that are found through them.
 */
#ifndef TRIBD_WAYS_H
#define TRIBD_WAYS_H

#include "daemon/core/tribd.h"

/* 0 or -errno. The faces may be there already. */
int ways_init(struct tribd *d);
/* Routes stay. */
void ways_exit(struct tribd *d);
/* Remove all routes that tribd made in this network namespace. */
void ways_purge(struct tribd *d);

/* Hook of face/: faces came, changed, or went. */
void ways_faces_changed(struct tribd *d);
/* Hook of device/. */
void ways_routes_changed(struct tribd *d);

#endif /* TRIBD_WAYS_H */
