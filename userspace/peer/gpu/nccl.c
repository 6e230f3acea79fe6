// SPDX-License-Identifier: BSD-2-Clause
/* Loads NCCL. See nccl.h. */
#include "nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnccl.so.2"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct {
	const char *name;
	size_t at;
} symbols[] = {
	{"ncclGetUniqueId", offsetof(struct nccl_lib, get_id)},
	{"ncclCommInitRank", offsetof(struct nccl_lib, init)},
	{"ncclAllReduce", offsetof(struct nccl_lib, allreduce)},
	{"ncclReduce", offsetof(struct nccl_lib, reduce)},
	{"ncclReduceScatter", offsetof(struct nccl_lib, reduce_scatter)},
	{"ncclAllGather", offsetof(struct nccl_lib, allgather)},
	{"ncclBroadcast", offsetof(struct nccl_lib, broadcast)},
	{"ncclCommAbort", offsetof(struct nccl_lib, abort)},
	{"ncclCommDestroy", offsetof(struct nccl_lib, destroy)},
	{"ncclGetErrorString", offsetof(struct nccl_lib, text)},
};

static const struct nccl_lib *find(const char *path, char *why, size_t room)
{
	static struct nccl_lib lib;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
	unsigned int i;

	if (!handle) {
		snprintf(why, room, "no NCCL: %s", dlerror());
		return NULL;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		symbol = dlsym(handle, symbols[i].name);
		if (!symbol) {
			snprintf(why, room, "no NCCL: %s has no %s", path, symbols[i].name);
			dlclose(handle);
			return NULL;
		}
		memcpy((char *)&lib + symbols[i].at, &symbol, sizeof(symbol));
	}
	return &lib;
}

const struct nccl_lib *gpu_nccl_find(char *why, size_t room)
{
	static const struct nccl_lib *found;
	const char *path = getenv("TRIB_NCCL_LIBRARY");
	const struct nccl_lib *lib;

	pthread_mutex_lock(&lock);
	if (!found)
		found = find(path && *path ? path : LIBRARY, why, room);
	lib = found;
	pthread_mutex_unlock(&lock);
	return lib;
}
