/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compression on the GPU: the contract of kernels/nm/nm.h on device memory, for
 * whole gradients instead of single chunks, with the same bits. And reductions of the
 * values of several GPUs, with the bits of kernels/reduce/reduce.h.
 *
 * The code is in a library of its own, libtrib-gpu.so, which `make gpu` builds
 * where nvcc is. trib_gpu_load() finds it at run time, so nothing else needs CUDA.
 *
 * All functions that take a stream (a cudaStream_t; NULL is the default one) only
 * enqueue work. They return 0, or -EINVAL if arguments break the rules below, or
 * -EIO if the runtime refused; error_text() says why, for the calling thread. The
 * caller keeps all memory until the stream has passed the call.
 */
#ifndef TRIB_GPU_H
#define TRIB_GPU_H

#include "kernels/nm/nm.h"
#include "kernels/reduce/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRIB_GPU_ABI 3
#define TRIB_GPU_HANDLE 64
#define TRIB_GPU_UUID 16

/**
 * struct trib_gpu_rows - how a gradient is cut into chunks
 * @values:  dense values of each chunk, a multiple of 32; the last may have fewer.
 * @scales:  device memory: a chunk's &trib_nm_chunk.scale each.
 * @chunk:   the rest of what all chunks share. @index is that of the first value;
 *           chunk c has words c * @words to (c + 1) * @words - 1.
 */
struct trib_gpu_rows {
	size_t values;
	const int32_t *scales;
	struct trib_nm_chunk chunk;
};

/* Areas that one call of &trib_gpu_ops.reduce adds. */
#define TRIB_GPU_REDUCE_MAX 16

/**
 * struct trib_gpu_sum - values that are combined
 * @out:   @count elements; may be one of @in.
 * @in:    1 to TRIB_GPU_REDUCE_MAX areas of as many elements, @n of them; some may be
 *         another process's memory, opened by &trib_gpu_ops.open.
 * @type, @op: enum trib_reduce_type, enum trib_reduce_op.
 * @world: not 0: SUM, and the last addition becomes an average of so many (up to 2^24),
 *         as trib_average_fn has it; floats only.
 */
struct trib_gpu_sum {
	void *out;
	const void *const *in;
	unsigned int n;
	size_t count;
	unsigned int type;
	unsigned int op;
	unsigned int world;
};

/* For &trib_gpu_ops.tell. */
typedef void (*trib_gpu_told)(void *arg, const char *why);

/* Words of a chunk times lanes of a word, at most: they fit in shared memory. */
#define TRIB_GPU_CHUNK_MAX 16384

/**
 * struct trib_gpu_ops - the library
 *
 * All areas are device memory. Masks, packed floats, residuals and amax are aligned
 * to 4 bytes, words to 8; x, residuals and packed floats that are aligned to 16
 * bytes are fastest. Counts are below 2^40.
 *
 * amax has a word for each chunk of @row values, a multiple of 32: bits of the
 * largest |acc| that is sent; TRIB_NM_BAD if any value is not finite.
 *
 * @select: as &trib_nm_ops.select.
 * @amax:   as &trib_nm_ops.amax.
 * @pack:   as &trib_nm_ops.pack. Packed value k of the whole gradient is at
 *          packed[k].
 * @pack_lanes: as &trib_nm_ops.pack_lanes for each chunk of @rows.
 * @select_pack: @select and @pack in one pass over memory. The new residual is
 *          written to @next. It may be the old one; with another area, a caller
 *          that finds TRIB_NM_BAD in @amax still has the old one.
 * @unpack_lanes: as &trib_nm_ops.unpack_lanes for each chunk; @count dense values
 *          of @spec.
 * @expand: as &trib_nm_ops.expand.
 * @check:  *@wrong becomes 1 if the mask breaks &trib_nm_ops.check, else 0.
 * @first_bad: *@index becomes that of the first acc that is not finite, or ~0.
 * @add_peer: acc[i] += value i of a peer's mask and packed values. They may be
 *          another process's memory, opened by @open.
 * @energy: as trib_nm_energy(), three numbers for each TRIB_NM_ENERGY_ROW values.
 * @reduce: out = (((in[0] op in[1]) op in[2]) ...), rounded to the type at each step: the
 *          bits of trib_reduce_scalar(). Areas are aligned to their elements; those
 *          that are aligned to 16 bytes are fastest.
 *
 * @memory_new, @memory_free, @copy, @stream_new, @stream_free: the runtime's.
 *          @copy works between host and device in any direction; with memory of
 *          @host_new it is asynchronous.
 * @wait:   until the stream's work is done. Return: 0, or -EIO if some of it failed.
 *          @tell of that work has been called.
 * @host_new, @host_free: host memory that GPUs copy from and to without a detour.
 *          It is no faster or slower than other memory for the CPU.
 * @clear:  set bytes to 0.
 * @event_new, @event_free: an event, for @record and @follow.
 * @record: the event happens after what @stream holds now.
 * @follow: @stream's later work waits until the event's newest @record happened.
 * @tell:   call @fn after what @stream holds now, in a thread of the runtime: with
 *          NULL, or if any work of the GPU failed with a text that lives until @fn
 *          returns. @fn must not call any of these functions.
 * @device: the GPU that this thread uses. Memory, streams and events are the GPU's
 *          that their maker used.
 * @use:    make this thread use another one.
 * @owner:  the GPU whose memory @p is in; -1: memory of none.
 * @export_memory: describe an area of @memory_new for other processes.
 * @open, @close: use the area of another process on the same machine.
 * @identify: the UUID of the GPU that this thread uses: two processes with the same one
 *          share a GPU.
 * @describe: write GPU, its architecture and the driver's version as JSON members.
 *          Return: 0, -ENODEV if there is no GPU that can be used.
 */
struct trib_gpu_ops {
	uint32_t abi;
	const char *name;
	int (*select)(uint32_t *mask, uint32_t *amax, const struct trib_nm_range *range, size_t row,
		      void *stream);
	int (*amax)(uint32_t *amax, const struct trib_nm_range *range, const uint32_t *mask,
		    size_t row, void *stream);
	int (*pack)(float *packed, const struct trib_nm_range *range, const uint32_t *mask,
		    void *stream);
	int (*pack_lanes)(uint64_t *words, const struct trib_nm_range *range, const uint32_t *mask,
			  const struct trib_gpu_rows *rows, void *stream);
	int (*select_pack)(uint32_t *mask, float *packed, float *next, uint32_t *amax,
			   const struct trib_nm_range *range, size_t row, void *stream);
	int (*unpack_lanes)(float *packed, const uint64_t *words, size_t count,
			    struct trib_nm_spec spec, const struct trib_gpu_rows *rows,
			    unsigned int divide, void *stream);
	int (*expand)(void *x, uint32_t fmt, size_t count, struct trib_nm_spec spec,
		      const uint32_t *mask, const float *packed, unsigned int divide, void *stream);
	int (*check)(uint32_t *wrong, const uint32_t *mask, size_t count, struct trib_nm_spec spec,
		     void *stream);
	int (*first_bad)(uint64_t *index, const struct trib_nm_range *range, void *stream);
	int (*add_peer)(float *acc, size_t count, struct trib_nm_spec spec, const uint32_t *mask,
			const float *packed, void *stream);
	int (*energy)(double *sums, const struct trib_nm_range *range, const float *old,
		      void *stream);

	void *(*memory_new)(size_t len);
	void (*memory_free)(void *p);
	int (*copy)(void *to, const void *from, size_t len, void *stream);
	int (*stream_new)(void **stream);
	void (*stream_free)(void *stream);
	int (*wait)(void *stream);
	int (*export_memory)(unsigned char handle[TRIB_GPU_HANDLE], void *p);
	int (*open)(void **p, const unsigned char handle[TRIB_GPU_HANDLE]);
	void (*close)(void *p);
	int (*describe)(char *text, size_t len);
	const char *(*error_text)(void);

	void *(*host_new)(size_t len);
	void (*host_free)(void *p);
	int (*clear)(void *p, size_t len, void *stream);
	int (*event_new)(void **event);
	void (*event_free)(void *event);
	int (*record)(void *event, void *stream);
	int (*follow)(void *stream, void *event);
	int (*tell)(void *stream, trib_gpu_told fn, void *arg);
	int (*device)(int *number);
	int (*use)(int number);
	int (*owner)(const void *p);
	int (*reduce)(const struct trib_gpu_sum *sum, void *stream);
	int (*identify)(unsigned char uuid[TRIB_GPU_UUID]);
};

/**
 * trib_gpu_load() - load libtrib-gpu.so
 * @path: the file; NULL searches $TRIB_GPU_LIBRARY, then the system's folders.
 * @why:  receives a sentence if there is none, or it is of another version.
 *
 * The library stays loaded until the process ends. A loaded library does not mean
 * that there is a GPU: &trib_gpu_ops.describe tells.
 *
 * Return: NULL if compression on the GPU is not possible.
 */
const struct trib_gpu_ops *trib_gpu_load(const char *path, char *why, size_t why_len);

/* The library's only symbol. Return: NULL unless @abi is its own. */
__attribute__((visibility("default"))) const struct trib_gpu_ops *trib_gpu_library(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif /* TRIB_GPU_H */
