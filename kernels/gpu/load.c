// SPDX-License-Identifier: BSD-2-Clause
/* Finds the GPU's library at run time, so that nothing else needs CUDA. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define LIBRARY "libtrib-gpu.so"
#define SYMBOL "trib_gpu_library"

const struct trib_gpu_ops *trib_gpu_load(const char *path, char *why, size_t why_len)
{
	const struct trib_gpu_ops *(*library)(uint32_t abi);
	const struct trib_gpu_ops *ops = NULL;
	void *handle, *symbol;

	if (!path)
		path = getenv("TRIB_GPU_LIBRARY");
	if (!path)
		path = LIBRARY;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		snprintf(why, why_len,
			 "no compression on the GPU: %s; `make gpu` builds %s where nvcc is",
			 dlerror(), LIBRARY);
		return NULL;
	}
	symbol = dlsym(handle, SYMBOL);
	if (symbol) {
		memcpy(&library, &symbol, sizeof(library));
		ops = library(TRIB_GPU_ABI);
	}
	if (!ops) {
		snprintf(why, why_len,
			 "no compression on the GPU: %s is not of version %d; build it again: "
			 "make gpu",
			 path, TRIB_GPU_ABI);
		dlclose(handle);
	}
	return ops;
}
