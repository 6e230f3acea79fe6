/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting the data plane: anew, or by adopting what a former tribd pinned. */
#ifndef TRIBD_START_H
#define TRIBD_START_H

#include "daemon/core/tribd.h"

/*
 * Load programs and maps, restore the objects of the state file, pin.
 * 0 or -errno, logged. After an error the caller frees the objects.
 */
int start_data_plane(struct tribd *d);

#endif /* TRIBD_START_H */
