// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory for the GPU: residuals, and that of messages, on the GPU and in host memory that
 * it copies from and to. Callers' threads come here, which may use other GPUs.
 */
#include <errno.h>

#include "device.h"

/* Make this thread use the object's GPU; @before for leave_gpu(). */
static int enter_gpu(const struct trib_compress *c, int *before)
{
	const struct trib_gpu_ops *gpu = c->device->gpu;
	int rc = gpu->device(before);

	return rc || *before == c->device->number ? rc : gpu->use(c->device->number);
}

static void leave_gpu(const struct trib_compress *c, int before)
{
	if (before != c->device->number)
		c->device->gpu->use(before);
}

static void *make(struct trib_compress *c, void *(*new_memory)(size_t len), size_t len)
{
	void *p = NULL;
	int before;

	if (enter_gpu(c, &before))
		return NULL;
	p = new_memory(len);
	leave_gpu(c, before);
	return p;
}

static int zero(struct trib_compress *c, float *p, size_t count)
{
	const struct trib_gpu_ops *gpu = c->device->gpu;
	void *s = c->device->stream[STREAM_IDLE];
	int before, rc;

	if (enter_gpu(c, &before))
		return -EIO;
	rc = gpu->clear(p, 4 * count, s) || gpu->wait(s) ? -EIO : 0;
	leave_gpu(c, before);
	return rc;
}

/* Copy, and wait for it. */
static int copy_now(struct trib_compress *c, void *to, const void *from, size_t len)
{
	const struct trib_gpu_ops *gpu = c->device->gpu;
	void *s = c->device->stream[STREAM_IDLE];

	return gpu->copy(to, from, len, s) || gpu->wait(s) ? -EIO : 0;
}

int device_residual_new(struct trib_compress *c, size_t count, float **out)
{
	const struct trib_gpu_ops *gpu = c->device->gpu;
	float *p = make(c, gpu->memory_new, 4 * count);

	if (!p)
		return -ENOMEM;
	if (zero(c, p, count)) {
		gpu->memory_free(p);
		return -EIO;
	}
	*out = p;
	return 0;
}

void device_residual_free(struct trib_compress *c, float *residual)
{
	c->device->gpu->memory_free(residual);
}

int device_residual_get(struct trib_compress *c, float *to, const float *residual, size_t count)
{
	return copy_now(c, to, residual, 4 * count);
}

int device_residual_put(struct trib_compress *c, float *residual, const float *from, size_t count)
{
	return copy_now(c, residual, from, 4 * count);
}

int device_room(struct message *m)
{
	struct trib_compress *c = m->c;
	const struct trib_gpu_ops *gpu = c->device->gpu;
	struct area near = {0}, far = {0};
	struct tensor *x = m->tensor;

	room_cut(m, &near, &far);
	if (near.len > x->room_len) {
		near.base = make(c, gpu->host_new, near.len);
		if (!near.base)
			return -ENOMEM;
		if (x->room)
			gpu->host_free(x->room);
		x->room = near.base;
		x->room_len = near.len;
	}
	if (far.len > x->far_len) {
		far.base = make(c, gpu->memory_new, far.len);
		if (!far.base)
			return -ENOMEM;
		if (x->far)
			gpu->memory_free(x->far);
		x->far = far.base;
		x->far_len = far.len;
	}
	near = (struct area){.base = x->room};
	far = (struct area){.base = x->far};
	room_cut(m, &near, &far);
	return 0;
}

void device_room_free(struct trib_compress *c, struct tensor *x)
{
	if (x->room)
		c->device->gpu->host_free(x->room);
	if (x->far)
		c->device->gpu->memory_free(x->far);
}

void device_put_back(struct message *m)
{
	struct trib_compress *c = m->c;
	const struct trib_gpu_ops *gpu = c->device->gpu;
	float *residual = m->tensor->residual;
	void *s = c->device->stream[STREAM_IDLE];
	bool any = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < m->layout.nbucket; i++) {
		const struct bucket *b = &m->bucket[i];

		if (!b->saved || rc)
			continue;
		rc = gpu->copy(residual + b->first, m->old + b->first, 4 * b->cut.values, s);
		any = true;
	}
	/* Also after an error: the memory may be freed from now on. */
	if (any && gpu->wait(s))
		rc = -EIO;
	m->tensor->lost = rc;
}
