// SPDX-License-Identifier: BSD-2-Clause
/* The GPU of an object: its streams, when work lands, and when messages may begin. */
#include <errno.h>
#include <stdlib.h>

#include "device.h"

/* Note why the GPU failed; the first reason stays. */
static void note(struct trib_compress *c, const char *why)
{
	pthread_mutex_lock(&c->bell);
	if (!c->why[0])
		snprintf(c->why, sizeof(c->why), "%s", why);
	pthread_mutex_unlock(&c->bell);
}

int device_rc(struct trib_compress *c, int rc)
{
	if (!rc)
		return 0;
	note(c, c->device->gpu->error_text());
	return -EIO;
}

/* In a thread of the runtime. Once @flight is set, its owner may be freed. */
static void land(struct trib_compress *c, int *flight, const char *why)
{
	if (why)
		note(c, why);
	__atomic_store_n(flight, why ? FLIGHT_FAILED : FLIGHT_LANDED, __ATOMIC_RELEASE);
	bell_ring(c);
}

static void on_bucket(void *arg, const char *why)
{
	struct bucket *b = arg;

	land(b->m->c, &b->flight, why);
}

static void on_gate(void *arg, const char *why)
{
	struct message *m = arg;

	land(m->c, &m->gate, why);
}

int device_fly(struct bucket *b, void *stream)
{
	struct trib_compress *c = b->m->c;
	int rc;

	__atomic_store_n(&b->flight, FLIGHT_UP, __ATOMIC_RELAXED);
	rc = device_rc(c, c->device->gpu->tell(stream, on_bucket, b));
	if (!rc)
		return 1;
	__atomic_store_n(&b->flight, FLIGHT_NONE, __ATOMIC_RELAXED);
	return rc;
}

static int device_gate(struct message *m, const struct message_args *a)
{
	struct trib_compress *c = m->c;
	struct device *d = c->device;
	void *gate = d->stream[STREAM_GATE];
	int rc;

	if (!m->left)
		return 0;
	rc = d->gpu->record(d->event, a->src->stream);
	if (!rc)
		rc = d->gpu->follow(gate, d->event);
	if (!rc && a->dst->stream != a->src->stream) {
		rc = d->gpu->record(d->event, a->dst->stream);
		if (!rc)
			rc = d->gpu->follow(gate, d->event);
	}
	m->gate = FLIGHT_UP;
	if (!rc)
		rc = d->gpu->tell(gate, on_gate, m);
	return rc ? -EIO : 0;
}

static void device_shut(struct message *m)
{
	const struct device *d = m->c->device;

	d->gpu->wait(d->stream[STREAM_GATE]);
}

static const char *device_error(const struct trib_compress *c)
{
	return c->device->gpu->error_text();
}

const char *device_wrong(const struct trib_compress *c, const struct trib_buffer *b)
{
	if (c->device->gpu->owner(b->data) != c->device->number)
		return "a buffer is not in the memory of the GPU of trib_compress_open()";
	if ((uintptr_t)b->data % sizeof(float))
		return "a buffer is not aligned to 4 bytes";
	return NULL;
}

static void device_enter(struct trib_compress *c)
{
	device_rc(c, c->device->gpu->use(c->device->number));
}

static void device_close(struct trib_compress *c)
{
	struct device *d = c->device;
	unsigned int i;

	for (i = 0; i < STREAM__MAX; i++) {
		if (!d->stream[i])
			continue;
		/* The runtime's threads leave the object before it goes. */
		d->gpu->wait(d->stream[i]);
		d->gpu->stream_free(d->stream[i]);
	}
	if (d->event)
		d->gpu->event_free(d->event);
	free(d);
	c->device = NULL;
}

static int make_streams(struct trib_compress *c)
{
	struct device *d = c->device;
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < STREAM__MAX; i++)
		rc = d->gpu->stream_new(&d->stream[i]);
	if (!rc)
		rc = d->gpu->event_new(&d->event);
	if (!rc)
		rc = d->gpu->device(&d->number);
	if (rc)
		snprintf(c->why, sizeof(c->why), "the GPU: %s", d->gpu->error_text());
	return rc ? -EIO : 0;
}

int device_open(struct trib_compress *c, const char *library)
{
	const struct trib_gpu_ops *gpu = trib_gpu_load(library, c->why, sizeof(c->why));
	char text[256];

	if (!gpu)
		return -ENODEV;
	if (gpu->describe(text, sizeof(text))) {
		snprintf(c->why, sizeof(c->why),
			 "memory is CUDA, but there is no GPU to use: %s; nvidia-smi lists them",
			 gpu->error_text());
		return -ENODEV;
	}
	c->device = calloc(1, sizeof(*c->device));
	if (!c->device) {
		snprintf(c->why, sizeof(c->why), "out of memory");
		return -ENOMEM;
	}
	c->device->gpu = gpu;
	c->work = &work_device;
	return make_streams(c); /* the object's end frees what there is */
}

const struct work_ops work_device = {
	.begin = device_begin,
	.end = device_end,
	.put_back = device_put_back,
	.open = device_gate,
	.shut = device_shut,
	.error = device_error,
	.room = device_room,
	.room_free = device_room_free,
	.residual_new = device_residual_new,
	.residual_free = device_residual_free,
	.residual_get = device_residual_get,
	.residual_put = device_residual_put,
	.enter = device_enter,
	.close = device_close,
};
