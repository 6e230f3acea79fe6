/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NCCL, found at run time: as much of its interface as is used here, for nothing else
 * needs its header. Numbers and types are those of its ABI, version 2.
 */
#ifndef PEER_GPU_NCCL_H
#define PEER_GPU_NCCL_H

#include <stddef.h>

#define NCCL_ID 128

/* ncclUniqueId: passed by value. */
struct nccl_id {
	char internal[NCCL_ID];
};

enum nccl_type {
	NCCL_INT32 = 2,
	NCCL_FLOAT16 = 6,
	NCCL_FLOAT32 = 7,
	NCCL_FLOAT64 = 8,
	NCCL_BFLOAT16 = 9,
};

enum nccl_op { NCCL_SUM = 0, NCCL_PROD = 1, NCCL_MAX = 2, NCCL_MIN = 3, NCCL_AVG = 4 };

/**
 * struct nccl_lib - the library's functions; they return 0, or an error for @text
 * Communicators are opaque, streams are cudaStream_t.
 */
struct nccl_lib {
	int (*get_id)(struct nccl_id *id);
	int (*init)(void **comm, int ranks, struct nccl_id id, int rank);
	int (*allreduce)(const void *src, void *dst, size_t n, int type, int op, void *comm,
			 void *stream);
	int (*reduce)(const void *src, void *dst, size_t n, int type, int op, int root, void *comm,
		      void *stream);
	int (*reduce_scatter)(const void *src, void *dst, size_t n, int type, int op, void *comm,
			      void *stream);
	int (*allgather)(const void *src, void *dst, size_t n, int type, void *comm, void *stream);
	int (*broadcast)(const void *src, void *dst, size_t n, int type, int root, void *comm,
			 void *stream);
	int (*abort)(void *comm);
	int (*destroy)(void *comm);
	const char *(*text)(int error);
};

/**
 * gpu_nccl_find() - load $TRIB_NCCL_LIBRARY, or libnccl.so.2
 * Return: its functions, which stay; NULL with a sentence.
 */
const struct nccl_lib *gpu_nccl_find(char *why, size_t room);

#endif /* PEER_GPU_NCCL_H */
