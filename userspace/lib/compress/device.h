/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files about the GPU. Work is only given to streams; it lands when the
 * runtime calls device_told(), and then the codec thread goes on.
 *
 * Work of one bucket is in one stream, and its next stage begins after it has landed, so
 * no stream waits for another. Neighbours take turns, and sums have streams of their
 * own: copies in both directions and kernels run at the same time.
 */
#ifndef TRIB_LIB_COMPRESS_DEVICE_H
#define TRIB_LIB_COMPRESS_DEVICE_H

#include "compress.h"
#include "kernels/gpu/gpu.h"

enum device_stream {
	STREAM_DOWN = 0, /* select and pack; two of them */
	STREAM_UP = 2,	 /* expand; two of them */
	STREAM_GATE = 4, /* follows callers' streams */
	STREAM_IDLE = 5, /* for work that is waited for */
	STREAM__MAX,
};

/**
 * struct device - a GPU at work for an object
 * @gpu:    its functions.
 * @number: the runtime's number of it.
 * @stream: by enum device_stream.
 * @event:  the callers' streams reach it.
 */
struct device {
	const struct trib_gpu_ops *gpu;
	int number;
	void *stream[STREAM__MAX];
	void *event;
};

/*
 * For the codec thread: note why a function of the GPU returned @rc, unless 0; the first
 * reason stays. Return: 0 or -EIO.
 */
int device_rc(struct trib_compress *c, int rc);
/* Let the bucket land when @stream has done what it holds. Return: 1, or -EIO. */
int device_fly(struct bucket *b, void *stream);

/* device_room.c */
void device_put_back(struct message *m);
int device_room(struct message *m);
void device_room_free(struct trib_compress *c, struct tensor *x);
int device_residual_new(struct trib_compress *c, size_t count, float **out);
void device_residual_free(struct trib_compress *c, float *residual);
int device_residual_get(struct trib_compress *c, float *to, const float *residual, size_t count);
int device_residual_put(struct trib_compress *c, float *residual, const float *from, size_t count);

/* device_work.c */
int device_begin(struct bucket *b);
int device_end(struct bucket *b);

#endif /* TRIB_LIB_COMPRESS_DEVICE_H */
