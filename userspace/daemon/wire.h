/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of hooks that joins the rooms. */
#ifndef TRIBD_WIRE_H
#define TRIBD_WIRE_H

#include "daemon/core/tribd.h"

extern const struct hooks wire_hooks;

#endif /* TRIBD_WIRE_H */
