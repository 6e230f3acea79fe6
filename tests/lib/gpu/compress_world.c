// SPDX-License-Identifier: BSD-2-Clause
/* Tests of compressed sums that are linked with this run in GPU memory. */
#include "tests/lib/compress_world.h"

enum trib_memory cw_memory = TRIB_MEMORY_CUDA;
