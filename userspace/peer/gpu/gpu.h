/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls whose values are in a GPU's memory. A thread of its own cuts them into segments
 * and takes these through their stages, several at a time:
 *
 *	host	copy to pinned memory -> the crew's call -> copy back
 *	ipc	copy to this rank's area -> GPUs of the machine add each other's areas
 *		  -> leader: to pinned memory, the crew's call among leaders, back
 *		  -> copy from the others' areas
 *	nccl	the same, with NCCL in place of areas
 *
 * The first such call is when ranks agree on one of them: nobody else pays for a GPU.
 * From then on host calls pass through the thread, too, so that all ranks issue in one
 * order.
 */
#ifndef PEER_GPU_H
#define PEER_GPU_H

#include "peer/boot/boot.h"
#include "peer/run/crew.h"

struct peer_gpu;

/* Numbered as in libtrib's enum trib_memory. */
enum peer_memory {
	PEER_MEMORY_HOST = 0,
	PEER_MEMORY_CUDA = 1,
	PEER_MEMORY__MAX,
};

/**
 * struct peer_gpu_conf - for peer_gpu_open()
 * @crew, @boot: of this rank; they outlive the object. @boot: NULL in a world of one.
 * @machine: by rank: its machine, below @machines; @leader: by machine.
 * @intra: enum peer_intra. @apart: index distance from a shape of the crew to that of
 *         leaders alone; 0: there is none.
 * @shm_name, @provider: as in struct peer_crew_conf.
 * @way:   "auto", "host", "ipc" or "nccl"; NULL: auto.
 * @library: of the GPU; NULL: as trib_gpu_load() finds it.
 * @segment: bytes of a segment at most; 0: default.
 */
struct peer_gpu_conf {
	struct peer_crew *crew;
	struct peer_boot *boot;
	uint32_t rank, world;
	const uint32_t *machine;
	const uint32_t *leader;
	uint32_t machines;
	unsigned int intra;
	unsigned int apart;
	const char *shm_name;
	const char *provider;
	const char *way;
	const char *library;
	size_t segment;
};

/** peer_gpu_conf_wrong() - check @way and @segment; NULL, or a text */
const char *peer_gpu_conf_wrong(const struct peer_gpu_conf *conf);

/**
 * peer_gpu_open() - find the GPU that has @memory, and start the thread
 * Nothing is agreed yet. Return: 0, or a negative errno with @error.
 */
int peer_gpu_open(struct peer_gpu **out, const struct peer_gpu_conf *conf, const void *memory,
		  struct trib_peer_error *error);

/** peer_gpu_wrong() - check the memory of a call; NULL, or a text that names the mistake */
const char *peer_gpu_wrong(const struct peer_gpu *g, const struct trib_peer_call *c);

/** peer_gpu_bytes() - bytes of a segment of the call, for the choice of its shape */
uint64_t peer_gpu_bytes(const struct peer_gpu *g, const struct trib_peer_call *c);

/**
 * peer_gpu_issue() - queue a call, of host memory, too; the crew's collect() returns it
 * The thread that issued the work of the call's streams. Return: 0, -ENOMEM, -EIO with
 * @error, or the verdict's errno.
 */
int peer_gpu_issue(struct peer_gpu *g, const struct trib_peer_call *c, unsigned int shape,
		   void *cookie, struct trib_peer_error *error);

/** peer_gpu_describe() - append which way is in use, and why */
void peer_gpu_describe(struct peer_gpu *g, char *buf, size_t room);

/**
 * peer_gpu_stop() - end the thread and let go of the others' memory
 * @orderly: all calls are done. Else the crew has a verdict or gets one, and calls under
 *           way end when the GPU has left their memory.
 */
void peer_gpu_stop(struct peer_gpu *g, bool orderly);

/** peer_gpu_close() - free all, after peer_gpu_stop() */
void peer_gpu_close(struct peer_gpu *g);

#endif /* PEER_GPU_H */
