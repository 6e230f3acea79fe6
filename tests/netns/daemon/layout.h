/* SPDX-License-Identifier: BSD-2-Clause */
/* Included before each file of tribd-layout, whose maps are those of another version. */
#ifndef TESTS_LAYOUT_H
#define TESTS_LAYOUT_H

#include "uapi/trib_maps.h"

#undef TRIB_MAPS_ABI
#define TRIB_MAPS_ABI 999

#endif /* TESTS_LAYOUT_H */
