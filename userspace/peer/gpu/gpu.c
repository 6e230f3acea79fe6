// SPDX-License-Identifier: BSD-2-Clause
/* Life of the object, calls from the caller's thread, and failures. See gpu.h. */
#include "gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "own.h"

static const char *const ways_text[GPU_WANTED__MAX] = {
	[GPU_AUTO] = "auto", [GPU_HOST] = "host", [GPU_IPC] = "ipc", [GPU_NCCL] = "nccl"};

static bool find_way(const char *name, unsigned int *out)
{
	*out = GPU_AUTO;
	if (!name || !*name)
		return true;
	while (*out < GPU_WANTED__MAX && strcmp(name, ways_text[*out]))
		++*out;
	return *out < GPU_WANTED__MAX;
}

const char *peer_gpu_conf_wrong(const struct peer_gpu_conf *conf)
{
	unsigned int way;

	if (!find_way(conf->way, &way))
		return "the way of GPUs does not exist: use auto, host, ipc or nccl";
	if (conf->segment && (conf->segment < PEER_GPU_SEGMENT_MIN ||
			      conf->segment > PEER_GPU_SEGMENT_MAX || conf->segment % 4096))
		return "segment of GPUs: want a multiple of 4096, from 65536 to 268435456 bytes";
	return NULL;
}

static void on_end(void *gpu)
{
	gpu_ring(gpu);
}

/* Find the library, and the GPU. Return: 0 or -errno with @error. */
static int find_gpu(struct peer_gpu *g, const void *memory, struct trib_peer_error *error)
{
	char text[512];

	g->ops = trib_gpu_load(g->conf.library, text, sizeof(text));
	if (!g->ops)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENODEV, -1, "%s", text);
	if (g->ops->describe(text, sizeof(text)))
		return peer_error(error, TRIB_PEER_SYSTEM, -ENODEV, -1,
				  "there is no GPU to use: %s; nvidia-smi lists them",
				  g->ops->error_text());
	g->number = g->ops->owner(memory);
	if (g->number < 0)
		return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "a buffer is not in the memory of a GPU");
	return 0;
}

static int start(struct peer_gpu *g, struct trib_peer_error *error)
{
	int rc;

	g->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (g->wake < 0)
		return peer_error(error, TRIB_PEER_SYSTEM, -errno, -1, "eventfd: %s",
				  strerror(errno));
	rc = pthread_create(&g->thread, NULL, gpu_main, g);
	if (rc)
		return peer_error(error, TRIB_PEER_SYSTEM, -rc, -1, "cannot start a thread: %s",
				  strerror(rc));
	g->runs = true;
	pthread_mutex_lock(&g->conf.crew->lock);
	g->conf.crew->ended_arg = g;
	g->conf.crew->ended = on_end;
	pthread_mutex_unlock(&g->conf.crew->lock);
	return 0;
}

int peer_gpu_open(struct peer_gpu **out, const struct peer_gpu_conf *conf, const void *memory,
		  struct trib_peer_error *error)
{
	struct peer_gpu *g = calloc(1, sizeof(*g));
	unsigned int i;
	int rc;

	if (!g)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	g->conf = *conf;
	g->wake = -1;
	g->tail = &g->head;
	find_way(conf->way, &g->wanted);
	g->slot = conf->segment ? conf->segment : PEER_GPU_SEGMENT;
	/* A piece of every rank fits, of the largest elements. */
	if (g->slot < 8ULL * PEER_GPU_ALIGN * conf->world)
		g->slot = 8ULL * PEER_GPU_ALIGN * conf->world;
	for (i = 0; i < GPU_STAGES; i++)
		g->told[i] = (struct gpu_told){g, (enum gpu_stage)i};
	pthread_mutex_init(&g->lock, NULL);
	pthread_mutex_init(&g->fail_lock, NULL);
	rc = find_gpu(g, memory, error);
	if (!rc)
		rc = start(g, error);
	if (rc)
		peer_gpu_close(g);
	else
		*out = g;
	return rc;
}

/* --- calls */

const char *peer_gpu_wrong(const struct peer_gpu *g, const struct trib_peer_call *c)
{
	size_t size = trib_reduce_size(c->dtype);
	const void *buffer[2] = {c->src, c->dst};
	unsigned int i;

	for (i = 0; i < 2 && c->count; i++) {
		if (!buffer[i])
			continue;
		if (g->ops->owner(buffer[i]) != g->number)
			return "a buffer is not in the memory of the GPU of this handle's first call";
		if ((uintptr_t)buffer[i] % size)
			return "a buffer is not aligned to its elements";
	}
	return NULL;
}

/* An event after what @stream holds. */
static int mark(struct peer_gpu *g, void **event, void *stream)
{
	int rc = g->ops->event_new(event);

	return rc ? rc : g->ops->record(*event, stream);
}

static int mark_streams(struct peer_gpu *g, struct gpu_call *k)
{
	const struct trib_peer_call *c = &k->c;
	int now = g->number, rc;

	if (c->memory == PEER_MEMORY_HOST || !c->count)
		return 0;
	rc = g->ops->device(&now);
	if (!rc && now != g->number)
		rc = g->ops->use(g->number);
	if (!rc)
		rc = mark(g, &k->event[0], c->dst_stream);
	if (!rc && c->src && c->src_stream != c->dst_stream)
		rc = mark(g, &k->event[1], c->src_stream);
	if (now != g->number)
		g->ops->use(now);
	return rc;
}

/* Return: 0, or why the thread takes no more calls. */
static int push(struct peer_gpu *g, struct gpu_call *k)
{
	int rc;

	pthread_mutex_lock(&g->lock);
	rc = g->over;
	if (!rc) {
		*g->tail = k;
		g->tail = &k->next;
		if (!g->uncut)
			g->uncut = k;
	}
	pthread_mutex_unlock(&g->lock);
	return rc;
}

int peer_gpu_issue(struct peer_gpu *g, const struct trib_peer_call *c, unsigned int shape,
		   void *cookie, struct trib_peer_error *error)
{
	struct gpu_call *k = calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return -ENOMEM;
	*k = (struct gpu_call){.g = g, .c = *c, .cookie = cookie, .shape = shape};
	k->token = peer_crew_token(cookie);
	rc = k->token ? 0 : -ENOMEM;
	if (!rc && mark_streams(g, k))
		rc = peer_error(error, TRIB_PEER_SYSTEM, -EIO, (int)g->conf.rank, "%s",
				g->ops->error_text());
	if (!rc)
		rc = push(g, k);
	if (rc)
		gpu_call_free(k);
	else
		gpu_ring(g);
	return rc;
}

void peer_gpu_describe(struct peer_gpu *g, char *buf, size_t room)
{
	size_t at = strlen(buf);

	pthread_mutex_lock(&g->lock);
	if (g->chosen && at < room)
		snprintf(buf + at, room - at, "; GPU: %s", g->why);
	pthread_mutex_unlock(&g->lock);
}

/* --- the end */

void peer_gpu_stop(struct peer_gpu *g, bool orderly)
{
	if (!orderly)
		peer_crew_end(g->conf.crew, TRIB_PEER_GONE, -ECANCELED, (int)g->conf.rank,
			      "this rank detached");
	pthread_mutex_lock(&g->lock);
	g->stop = true;
	pthread_mutex_unlock(&g->lock);
	gpu_ring(g);
	if (g->runs)
		pthread_join(g->thread, NULL);
	g->runs = false;
	gpu_part(g);
}

void peer_gpu_close(struct peer_gpu *g)
{
	struct peer_crew *c = g->conf.crew;
	unsigned int i;

	pthread_mutex_lock(&c->lock);
	c->ended = NULL;
	pthread_mutex_unlock(&c->lock);
	if (g->runs)
		peer_gpu_stop(g, false);
	if (g->port)
		g->port->ops->close(g->port);
	for (i = 0; i < GPU_STAGES; i++)
		if (g->stream[i])
			g->ops->stream_free(g->stream[i]);
	if (g->in)
		g->ops->memory_free(g->in);
	if (g->pinned)
		g->ops->host_free(g->pinned);
	if (g->whole)
		g->ops->host_free(g->whole);
	if (g->wake >= 0)
		close(g->wake);
	pthread_mutex_destroy(&g->fail_lock);
	pthread_mutex_destroy(&g->lock);
	free(g->local);
	free(g);
}
