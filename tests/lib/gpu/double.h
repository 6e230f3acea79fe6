/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GPU without one, for what a program does with it: memory that the CPU cannot touch,
 * streams whose work is done late and in random order among streams, events, calls
 * and work that fail. Kernels are the CPU's codec. (The emulator of tests/gpu runs
 * the real kernels, at once.) Memory can be opened by other processes of this user, and,
 * unlike a GPU's, by the one that has it, so that ranks can be threads.
 *
 * Host memory that a copy will fill is spoilt until it is done. Work that reaches
 * beyond its memory, or a kernel on host memory, ends the program.
 *
 * Work is done by gpu_double_step(), or by threads. Programs that are linked with
 * --wrap=trib_gpu_load find it as the GPU's library.
 */
#ifndef GPU_DOUBLE_H
#define GPU_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/gpu/gpu.h"

extern const struct trib_gpu_ops gpu_double;

/* Begin anew: no failures, counters 0. Return: objects of before that were not freed. */
unsigned int gpu_double_reset(uint64_t seed);
/* Do the first work of a stream. Return: false if no stream has work that can go on. */
bool gpu_double_step(void);
/* Is all work done? */
bool gpu_double_idle(void);
/* Do work in so many threads, until gpu_double_stop(). */
void gpu_double_start(unsigned int threads);
void gpu_double_stop(void);

/* The CPU's view of device memory; NULL if it is none. */
void *gpu_double_view(const void *p);

/* Let the stream's work wait. */
void gpu_double_hold(void *stream, bool hold);

/* Let the nth call from now fail (1: the next), or the nth work; 0: none. */
void gpu_double_fail_call(unsigned int nth);
void gpu_double_fail_work(unsigned int nth);
/* Has that failed? */
bool gpu_double_failed(void);
/* There is no GPU, or no library. */
void gpu_double_absent(bool absent);
void gpu_double_missing(bool missing);

#endif /* GPU_DOUBLE_H */
