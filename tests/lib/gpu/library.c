// SPDX-License-Identifier: BSD-2-Clause
/* The double of a GPU as a library, for whole programs: TRIB_GPU_LIBRARY names it. */
#include <pthread.h>

#include "double.h"

#define THREADS 2

static void start(void)
{
	gpu_double_start(THREADS);
}

const struct trib_gpu_ops *trib_gpu_library(uint32_t abi)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	return abi == TRIB_GPU_ABI ? &gpu_double : NULL;
}
