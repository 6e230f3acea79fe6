/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib: compressed sums of gradients, computed inside the network.
 *
 *	struct trib_compress_options o = {.size = sizeof(o), .schedule = "2:4+int8"};
 *	struct trib_compress *c;
 *
 *	if (trib_compress_open(&c, t, &o))
 *		errx(1, "%s", trib_error_text(t));
 *	for (;;) {
 *		...
 *		if (trib_compress_allreduce(c, 0, grad, grad, n, TRIB_F32, TRIB_AVG))
 *			errx(1, "%s", trib_error_text(t));
 *		trib_compress_step(c);
 *	}
 *	trib_compress_close(c);
 *
 * A message sends the M largest magnitudes of every N successive values, as floats or
 * as integers of 16, 8 or 4 bits. All ranks send the same positions, so relays add the
 * packed values. One rank chooses the positions: the leader of the step, in turn. With
 * local masks each rank sends positions of its own. A rank keeps what it did not send as
 * the residual of the tensor, and adds it to the next gradient of the same tensor.
 *
 * Schedules:
 *
 *	dense			all values as floats
 *	int8			all values, as integers of 8 bits
 *	2:4			2 of every 4 values, as floats
 *	2:4+int8		2 of every 4 values, as integers of 8 bits
 *	0:dense,200:4:8		dense from step 0 on, 4:8 from step 200 on
 *	auto			more compression while residuals are small
 *
 * Rules, besides those of trib.h:
 *
 * - All ranks open with the same options, and make the same calls with the same
 *   arguments in the same order; they end each training step by
 *   trib_compress_step().
 * - A key names a tensor. It has at most one message under way.
 * - Results are the same bits on all ranks, and for every order of arrival. In a job
 *   of floats that holds for integers; floats are added in the order of arrival. By
 *   peers integers have these bits, too, and floats with TRIB_REPRODUCIBLE=1; else
 *   these have an order of their own, the same each time.
 * - By peers other calls of the handle that are issued behind a message wait until it has
 *   sent its values; by relays they pass it. No value of a message may depend on them.
 * - A value that is not finite (residual added), sent or not, is an error: -EDOM
 *   with rank and index, on all ranks, in jobs of floats, too. -ERANGE is as in
 *   trib.h. Integers are exact: their sums overflow only in that way.
 * - The error of floats is that of trib.h. Integers of b bits are rounded at random,
 *   right on average: the error of a sum is at most n * 2^(2 - b) * A plus half an
 *   ulp. A is the largest magnitude that any rank sends among the values that share an
 *   exponent: those that fill 128 64-bit words, of the lanes that a sum needs. With
 *   feedback the error is sent later.
 * - Residuals change when a message succeeds (0 or -ERANGE). A message that fails
 *   leaves the residual as it was, so the same gradient may be sent again.
 *
 * Gradients in GPU memory:
 *
 *	struct trib_compress_options o = {.size = sizeof(o), .memory = TRIB_MEMORY_CUDA};
 *	struct trib_buffer b = {.data = grad, .memory = TRIB_MEMORY_CUDA, .stream = stream};
 *	...
 *	trib_compress_allreduce_buffer(c, 0, &b, &b, n, TRIB_F32, TRIB_AVG);
 *
 * The GPU selects, packs and expands, and keeps the residuals; masks, exponents and
 * packed values cross the bus, while other buckets are packed, sent and expanded. Schedule
 * "dense" sums whole floats in the same way. Results and residuals are the same bits as
 * with host memory, and some ranks of a job may use one, others the other.
 *
 * - An object uses the GPU that is the current one of the thread that opens it.
 * - The GPU reads src after the work that src's stream holds at the call, and
 *   writes dst after that of dst's stream.
 * - trib_wait() and trib_test() wait for the GPU, too: when the request is done, dst is
 *   written, and work that is given to any stream from then on finds the result. No
 *   stream needs to wait for an event. All errors of the GPU in this message are in
 *   the status.
 * - A GPU that fails ends the handle: -EIO on this rank, with a text that has the GPU's
 *   reason; for others this rank is gone once it detaches. The residual is put back;
 *   if the GPU cannot even do that, calls with this key return -EIO until
 *   trib_compress_forget() or _load(). -ENOMEM and -EIO at the call leave all as it was.
 */
#ifndef TRIB_COMPRESS_H
#define TRIB_COMPRESS_H

#include "trib.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trib_compress; /* schedule and residuals of one rank */

/**
 * struct trib_compress_options - for trib_compress_open(); set @size, zero means default
 * @size:     sizeof(struct trib_compress_options).
 * @schedule: see above. Default: the environment's TRIB_COMPRESS, else "dense".
 * @seed:     of the rounding of integers. Ranks derive different seeds from it.
 * @bucket:   values that are selected and sent together, at most 2^20: small ones
 *            overlap better, large ones have fewer round trips. Default: 2^19.
 * @no_feedback: 1: keep no residuals: values that are not sent are lost.
 * @mask:     who selects the values that are sent. "shared" (default): one rank, for
 *            all; sums come back packed, too. "local": each rank selects its own
 *            largest values; relays, or peers, expand them, and sums come back dense. For
 *            schedules without integers, in jobs of dtype int or f32.
 * @measure:  1: measure energies (struct trib_compress_counters), at the cost of
 *            reading gradients once more. "auto" does it in any case.
 * @memory:   where gradients, results and residuals are. Default: TRIB_MEMORY_HOST.
 * @gpu_library: file of the GPU's code. Default: the environment's TRIB_GPU_LIBRARY,
 *            else libtrib-gpu.so where the system looks for libraries.
 */
struct trib_compress_options {
	size_t size;
	const char *schedule;
	uint64_t seed;
	size_t bucket;
	int no_feedback;
	int measure;
	const char *mask;
	enum trib_memory memory;
	const char *gpu_library;
};

/**
 * trib_compress_open() - start to compress; all ranks
 *
 * The library runs a thread until trib_compress_close(). Detach after closing.
 * Return: 0, -EINVAL (a bad option, or other options than another rank's),
 * -EOPNOTSUPP (the handle uses a kernel socket, which has no place for residuals:
 * attach with transport udp or xdp, or by peers), -ENODEV (no GPU's library, or no GPU that it can
 * use), -EIO (the GPU failed), -ENOMEM, or as trib_wait(); trib_error() of @t tells more.
 */
int trib_compress_open(struct trib_compress **out, struct trib *t,
		       const struct trib_compress_options *opts);

/**
 * trib_compress_iallreduce() - sum or average the gradients of a tensor
 * @key:   names the tensor. Its first message fixes @count, until
 *         trib_compress_forget().
 * @src:   this rank's values; must stay unchanged until the request is done.
 * @dst:   result; may be @src.
 * @dtype: TRIB_F32.
 * @op:    TRIB_SUM or TRIB_AVG.
 * @req:   as of trib_iallreduce(): trib_wait() or trib_test() frees it.
 *
 * Return: 0, -EBUSY (the key's last message is under way), -EINVAL, -ENOMEM.
 */
int trib_compress_iallreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			     size_t count, enum trib_dtype dtype, enum trib_op op,
			     struct trib_req **req);
/* The same, and wait. */
int trib_compress_allreduce(struct trib_compress *c, uint64_t key, const void *src, void *dst,
			    size_t count, enum trib_dtype dtype, enum trib_op op);

/**
 * trib_compress_iallreduce_buffer() - the same, of values in any memory
 * @src, @dst: both in the memory of the object, see struct trib_compress_options. The structs are read by the call, the
 *         data until the request is done.
 *
 * Return: as trib_compress_iallreduce(); -EIO: the GPU refused, or the residual was
 * lost when it failed.
 */
int trib_compress_iallreduce_buffer(struct trib_compress *c, uint64_t key,
				    const struct trib_buffer *src, const struct trib_buffer *dst,
				    size_t count, enum trib_dtype dtype, enum trib_op op,
				    struct trib_req **req);
/* The same, and wait. */
int trib_compress_allreduce_buffer(struct trib_compress *c, uint64_t key,
				   const struct trib_buffer *src, const struct trib_buffer *dst,
				   size_t count, enum trib_dtype dtype, enum trib_op op);

/**
 * trib_compress_step() - end a training step; all ranks
 *
 * The next rank becomes the leader, and the schedule advances. Call it when all
 * messages of the step are done.
 *
 * Return: the number of the next step, or as trib_wait(); -EBUSY: a message is under
 * way.
 */
int trib_compress_step(struct trib_compress *c);

/* trib_compress_spec() - write the spec of the current step, as "2:4+int8"; 16 bytes */
void trib_compress_spec(const struct trib_compress *c, char *buf, size_t len);

/**
 * trib_compress_residual() - the residual of a tensor
 *
 * Zeros at first. It may be read and written while no message of the key is under
 * way; for instance to keep residuals when values move from one tensor to another.
 * It lives until trib_compress_forget(), _load() or _close(). It is in the memory of
 * the object: on a GPU it may be read and written by work that is done, or that src's
 * stream holds, when the key's next message is issued.
 *
 * Return: @count floats; NULL: without feedback, without memory, or if the tensor has
 * another count.
 */
float *trib_compress_residual(struct trib_compress *c, uint64_t key, size_t count);

/** trib_compress_forget() - drop a tensor; -EBUSY: a message is under way */
int trib_compress_forget(struct trib_compress *c, uint64_t key);

/**
 * trib_compress_save() - copy the state: step, seed, schedule, residuals
 * @buf: room for @len bytes, in host memory; NULL: only count.
 *
 * A state does not tell which memory it came from: any object may load it.
 * The state is this rank's own. All ranks save after the same step. Return: bytes of
 * the state; nothing is written if that is more than @len. -EBUSY: a message is under
 * way; -EIO: the GPU failed, or a residual was lost; or as trib_wait().
 */
int64_t trib_compress_save(struct trib_compress *c, void *buf, size_t len);

/**
 * trib_compress_load() - continue from a saved state; all ranks
 *
 * With the same options, later results are the same bits as without the interruption.
 * Return: 0; -EINVAL: not a state, or an incomplete one; -EBUSY, -ENOMEM, -EIO. On
 * failure nothing changes.
 */
int trib_compress_load(struct trib_compress *c, const void *buf, size_t len);

/**
 * trib_compress_move() - go on with another handle; all ranks
 *
 * After a fault, the living detach, attach again and move; they keep their residuals.
 * New ranks open instead, and take over the step of the others.
 *
 * Return: 0, -EBUSY: a message is under way; or as trib_compress_open(). After a
 * failure, move again or close.
 */
int trib_compress_move(struct trib_compress *c, struct trib *t);

/**
 * trib_compress_close() - free all
 *
 * Return: 0; -EBUSY: a message is under way, and nothing is freed. @c may be NULL.
 */
int trib_compress_close(struct trib_compress *c);

/**
 * struct trib_compress_counters - activity of this rank since it opened
 * @size: set by the caller: sizeof(struct trib_compress_counters).
 */
struct trib_compress_counters {
	size_t size;
	uint64_t messages;	 /* done, with any status */
	uint64_t bad;		 /* ... with -EDOM */
	uint64_t bytes_dense;	 /* of their gradients as floats */
	uint64_t bytes_sent;	 /* payload this rank sent for them: masks, exponents, values */
	uint64_t bytes_received; /* payload of results */
	uint64_t codec_ns;	 /* computing in the library's thread */
	double energy;		 /* sum of squares of gradients with residuals ... */
	double energy_left;	 /* ... and of what stayed in residuals */
};

void trib_compress_counters(const struct trib_compress *c, struct trib_compress_counters *out);

#ifdef __cplusplus
}
#endif
#endif /* TRIB_COMPRESS_H */
