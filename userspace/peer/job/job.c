// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine of peers as libtrib calls it: meet, agree, connect; then calls go to the
 * crew. See peer.h.
 */
#include "peer/peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hello.h"
#include "peer/gpu/gpu.h"
#include "peer/run/crew.h"
#include "peer/error.h"

#define CHUNK_MAX (4 << 20)
#define SLOTS 8
/* Shorter ranges go through staging slots: an announcement costs more than the copy. */
#define DIRECT (64 << 10)

/**
 * struct trib_peer - a rank's membership
 * @agreed: what all ranks agreed on; the crew's shapes are in it.
 * @boot:  NULL in a world of one.
 * @gpu:   from the first call of GPU memory on. @gpu_conf: for it.
 * @refused: why the last call was not taken; .err 0: it was.
 * @died:  the bootstrap's word, which may come before there is a crew.
 */
struct trib_peer {
	struct peer_agreed agreed;
	struct peer_crew *crew;
	struct peer_boot *boot;
	struct peer_gpu *gpu;
	struct peer_gpu_conf gpu_conf;
	struct trib_peer_error refused;
	char *gpu_texts[2];
	pthread_mutex_t lock;
	struct trib_peer_error died;
	uint32_t rank, world;
	bool chunk_is_given;
};

/* The bootstrap's thread: a rank ended, or was silent. */
static void on_death(void *arg, const struct trib_peer_error *why)
{
	struct trib_peer *p = arg;

	pthread_mutex_lock(&p->lock);
	if (!p->died.err)
		p->died = *why;
	if (p->crew)
		peer_crew_end(p->crew, why->code, why->err, why->rank, why->text);
	pthread_mutex_unlock(&p->lock);
}

static void tell(void *arg, int rank, const char *text)
{
	struct trib_peer *p = arg;

	if (p->boot)
		peer_boot_tell(p->boot, rank, text);
}

static int meet(struct trib_peer *p, const struct trib_peer_conf *conf,
		struct trib_peer_error *error)
{
	struct peer_boot_conf bc = {
		.rank = conf->rank,
		.world = conf->world,
		.job = conf->job,
		.address = conf->address,
		.key = conf->key,
		.join_timeout_ms = conf->join_timeout_ms,
		.timeout_ms = conf->timeout_ms,
		.died = on_death,
		.arg = p,
	};

	return conf->world == 1 ? 0 : peer_boot_open(&p->boot, &bc, error);
}

/* Give all ranks @blob, and hand those of all to @use. */
static int swap(struct trib_peer *p, const void *blob, size_t len,
		int (*use)(struct trib_peer *p, const void **all, const size_t *lens,
			   struct trib_peer_error *error),
		struct trib_peer_error *error)
{
	const void **all = calloc(p->world, sizeof(*all));
	size_t *lens = calloc(p->world, sizeof(*lens));
	int rc = -ENOMEM;

	if (!all || !lens) {
		peer_error(error, TRIB_PEER_SYSTEM, rc, -1, "out of memory");
		goto out;
	}
	if (!p->boot) {
		all[0] = blob;
		lens[0] = len;
		rc = use(p, all, lens, error);
		goto out;
	}
	rc = peer_boot_swap(p->boot, blob, len, all, lens, error);
	if (rc)
		goto out;
	rc = use(p, all, lens, error);
	peer_boot_swap_free(all);
out:
	free(lens);
	free(all);
	return rc;
}

static int agree(struct trib_peer *p, const void **all, const size_t *lens,
		 struct trib_peer_error *error)
{
	return peer_hello_agree(&p->agreed, all, lens, p->world, p->rank, error);
}

static int lead(struct trib_peer *p, const void **all, const size_t *lens,
		struct trib_peer_error *error)
{
	return peer_agreed_lead(&p->agreed, all, lens, p->world, error);
}

static int connect_crew(struct trib_peer *p, const void **all, const size_t *lens,
			struct trib_peer_error *error)
{
	return peer_crew_connect(p->crew, all, lens, error);
}

static int nothing(struct trib_peer *p, const void **all, const size_t *lens,
		   struct trib_peer_error *error)
{
	(void)p;
	(void)all;
	(void)lens;
	(void)error;
	return 0;
}

static int make_crew(struct trib_peer *p, const struct trib_peer_conf *conf,
		     struct trib_peer_error *error)
{
	struct peer_agreed *a = &p->agreed;
	struct peer_crew_conf cc = {
		.rank = conf->rank,
		.world = conf->world,
		.shape = a->shape,
		.nshape = a->nshape + a->napart,
		.provider = a->provider,
		.shm_name = a->shm_name,
		.ops = a->provider && !strcmp(a->provider, PEER_PROVIDER_STREAM) ? &peer_port_stream
										 : &peer_port_ofi,
		.local = &peer_port_shm,
		.slot = conf->chunk ? conf->chunk : PEER_CHUNK_MAX,
		.slots = SLOTS,
		.direct = DIRECT,
		.exact = conf->exact,
		.nval = conf->nval ? conf->nval : TRIB_NVAL_SMALL,
	};
	struct peer_crew *crew;
	unsigned int i;
	int rc;

	if (cc.slot > CHUNK_MAX || cc.slot % 64)
		return peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1,
				  "chunk of %zu bytes: want a multiple of 64, at most %d", cc.slot,
				  CHUNK_MAX);
	for (i = 0; i < a->nnic; i++)
		cc.nic[i] = a->nic[i];
	rc = peer_crew_open(&crew, &cc, error);
	if (rc)
		return rc;
	crew->tell = tell;
	crew->tell_arg = p;
	pthread_mutex_lock(&p->lock);
	p->crew = crew;
	if (p->died.err)
		peer_crew_end(crew, p->died.code, p->died.err, p->died.rank, p->died.text);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static int take_rates(struct trib_peer *p, const void **all, const size_t *lens,
		      struct trib_peer_error *error)
{
	struct peer_rates r;

	if (lens[0] != sizeof(r))
		return peer_error(error, TRIB_PEER_SYSTEM, -EPROTO, 0, "rank 0 sent no rates");
	memcpy(&r, all[0], sizeof(r));
	if (!(r.alpha >= 0 && r.alpha < 10 && r.beta >= 0 && r.beta < 1 && r.gamma >= 0 &&
	      r.gamma < 1))
		return peer_error(error, TRIB_PEER_SYSTEM, -EPROTO, 0, "rank 0 sent wrong rates");
	if (!p->chunk_is_given)
		p->crew->chunk = peer_rates_chunk(&r);
	peer_agreed_rate(&p->agreed, p->crew->chunk, &r);
	return 0;
}

/* "auto" needs to know the network, and so does the size of chunks. */
static int measure(struct trib_peer *p, struct trib_peer_error *error)
{
	struct peer_rates r;
	int rc;

	if (p->world == 1)
		return 0;
	rc = peer_measure(p->crew, &r, error);
	return rc ? rc : swap(p, &r, sizeof(r), take_rates, error);
}

static int connect_all(struct trib_peer *p, struct trib_peer_error *error)
{
	size_t len;
	void *blob = peer_crew_blob(p->crew, &len);
	int rc;

	if (!blob)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	rc = swap(p, blob, len, connect_crew, error);
	free(blob);
	/* A rank that is ahead must not write to one that knows it not yet. */
	return rc ? rc : swap(p, "", 0, nothing, error);
}

/* The options for GPUs, which are needed only when a call wants one. */
static int keep_gpu_conf(struct trib_peer *p, const struct trib_peer_conf *conf,
			 struct trib_peer_error *error)
{
	const char *wrong, *text[2] = {conf->gpu_way, conf->gpu_library};
	unsigned int i;

	p->gpu_conf.segment = conf->gpu_segment;
	for (i = 0; i < 2; i++) {
		if (!text[i] || !*text[i])
			continue;
		p->gpu_texts[i] = strdup(text[i]);
		if (!p->gpu_texts[i])
			return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	}
	p->gpu_conf.way = p->gpu_texts[0];
	p->gpu_conf.library = p->gpu_texts[1];
	wrong = peer_gpu_conf_wrong(&p->gpu_conf);
	return wrong ? peer_error(error, TRIB_PEER_ARGUMENT, -EINVAL, -1, "%s", wrong) : 0;
}

static int open_gpu(struct trib_peer *p, const struct trib_peer_call *c)
{
	struct peer_agreed *a = &p->agreed;
	struct peer_gpu_conf *gc = &p->gpu_conf;

	gc->crew = p->crew;
	gc->boot = p->boot;
	gc->rank = p->rank;
	gc->world = p->world;
	gc->machine = a->machine;
	gc->leader = a->leader;
	gc->machines = a->machines;
	gc->intra = a->intra;
	gc->apart = a->napart;
	gc->shm_name = a->shm_name;
	gc->provider = a->provider;
	return peer_gpu_open(&p->gpu, gc, c->dst, &p->refused);
}

static void peer_leave(struct trib_peer *p, bool orderly)
{
	/* Its thread may wait for others by the bootstrap. */
	if (p->gpu && !orderly && p->boot)
		peer_boot_tell(p->boot, (int)p->rank, "this rank detached");
	if (p->gpu)
		peer_gpu_stop(p->gpu, orderly);
	/* The others may still wait for what the ports have not sent: leave together. */
	if (p->boot)
		peer_boot_close(p->boot, orderly);
	p->boot = NULL;
	if (p->crew)
		peer_crew_stop(p->crew);
}

static void peer_close(struct trib_peer *p)
{
	if (p->gpu)
		peer_gpu_close(p->gpu);
	if (p->crew)
		peer_crew_close(p->crew);
	free(p->gpu_texts[0]);
	free(p->gpu_texts[1]);
	peer_agreed_free(&p->agreed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static int peer_open(struct trib_peer **out, const struct trib_peer_conf *conf,
		     struct trib_peer_error *error)
{
	struct trib_peer *p = calloc(1, sizeof(*p));
	struct peer_hello *hello = NULL;
	uint32_t leader;
	size_t len;
	int rc;

	if (!p)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	pthread_mutex_init(&p->lock, NULL);
	p->rank = conf->rank;
	p->world = conf->world;
	p->chunk_is_given = conf->chunk;
	rc = keep_gpu_conf(p, conf, error);
	if (!rc)
		rc = peer_agreed_begin(&p->agreed, conf, &hello, &len, error);
	if (!rc)
		rc = meet(p, conf, error);
	if (!rc)
		rc = swap(p, hello, len, agree, error);
	free(hello);
	if (!rc) {
		leader = peer_agreed_leader(&p->agreed, p->rank);
		rc = swap(p, &leader, sizeof(leader), lead, error);
	}
	if (!rc)
		rc = make_crew(p, conf, error);
	if (!rc)
		rc = connect_all(p, error);
	if (!rc)
		rc = peer_crew_start(p->crew, error);
	if (!rc)
		rc = measure(p, error);
	if (!rc) {
		*out = p;
		return 0;
	}
	if (p->boot)
		peer_boot_tell(p->boot, (int)p->rank, error->text);
	peer_leave(p, false);
	peer_close(p);
	return rc;
}

/* Calls that only libtrib's compression makes. */
static const char *inner_wrong(const struct trib_peer *p, const struct trib_peer_call *c)
{
	if (c->collective != PEER_ALLREDUCE || c->memory != PEER_MEMORY_HOST)
		return "words and masks are for allreduce of host memory";
	if (c->words)
		return c->op || c->nm ? "64-bit words are for sums" : NULL;
	if (c->dtype != TRIB_REDUCE_F32 || c->op > PEER_OP_AVG)
		return "masks are for sums and averages of f32";
	if (!trib_nm_is_mask(c->nm) || (c->count && !c->mask))
		return "the mask is not M of every 2, 4, 8, 16 or 32 values";
	return p->crew->conf.nval < TRIB_MASK_UNITS ? "packets have no room for a mask" : NULL;
}

static const char *peer_wrong(const struct trib_peer *p, const struct trib_peer_call *c)
{
	bool reduces = c->collective <= PEER_REDUCE_SCATTER, all;

	all = c->collective == PEER_REDUCE_SCATTER || c->collective == PEER_ALLGATHER;
	if (c->collective > PEER_BARRIER)
		return "the collective is not one of enum trib_collective";
	if (c->collective == PEER_BARRIER)
		return c->count ? "a barrier has no elements" : NULL;
	if (!trib_reduce_size(c->dtype))
		return "the element type does not exist";
	if (c->op > PEER_OP_PROD)
		return "the operation is not sum, avg, max, min or prod";
	if (c->op == PEER_OP_AVG && c->dtype == TRIB_REDUCE_I32)
		return "averages take floats only";
	if (c->op && !reduces)
		return "only allreduce and reduce_scatter take an operation";
	if (c->count > SIZE_MAX / 16 / (all ? p->world : 1))
		return "too many elements";
	if (c->count && (!c->dst || (reduces && !c->src)))
		return "a buffer is NULL";
	if (c->collective == PEER_BROADCAST && c->root >= p->world)
		return "root is not a rank";
	if (c->memory >= PEER_MEMORY__MAX)
		return "the memory of a buffer does not exist";
	if (c->words || c->nm)
		return inner_wrong(p, c);
	return c->memory && p->gpu ? peer_gpu_wrong(p->gpu, c) : NULL;
}

/* A call of this rank cannot be made, so the others would wait for it for ever. */
static int refuse(struct trib_peer *p)
{
	struct trib_peer_error *e = &p->refused;

	if (e->err == -EINVAL || e->err == -ENOMEM)
		return e->err;
	peer_crew_end(p->crew, e->code, e->err, e->rank, e->text);
	tell(p, (int)p->rank, e->text);
	return e->err;
}

static int peer_issue(struct trib_peer *p, const struct trib_peer_call *c, void *cookie)
{
	struct trib_peer_call seg = *c;
	int rc = 0;

	p->refused.err = 0;
	if (c->memory && c->count && !p->gpu)
		rc = open_gpu(p, c);
	if (rc)
		return refuse(p);
	if (!p->gpu)
		return peer_crew_issue(p->crew, c, peer_agreed_pick(&p->agreed, c), cookie);
	if (c->memory && c->count) {
		seg.count = peer_gpu_bytes(p->gpu, c) / trib_reduce_size(c->dtype);
		rc = peer_gpu_wrong(p->gpu, c) ? -EINVAL : 0;
	}
	if (rc)
		return rc;
	rc = peer_gpu_issue(p->gpu, c, peer_agreed_pick(&p->agreed, &seg), cookie, &p->refused);
	return p->refused.err ? refuse(p) : rc;
}

static int peer_fd(const struct trib_peer *p)
{
	return p->crew->done_fd;
}

static bool peer_collect(struct trib_peer *p, struct trib_peer_done *done)
{
	return peer_crew_collect(p->crew, done);
}

static void peer_get_error(struct trib_peer *p, struct trib_peer_error *error)
{
	pthread_mutex_lock(&p->crew->lock);
	*error = p->crew->verdict;
	pthread_mutex_unlock(&p->crew->lock);
	if (error->err)
		return;
	*error = p->refused;
	p->refused.err = 0;
}

static void peer_count(struct trib_peer *p, struct trib_peer_counters *out)
{
	peer_crew_count(p->crew, out);
}

static void peer_describe(struct trib_peer *p, char *buf, size_t room)
{
	peer_agreed_describe(&p->agreed, buf, room);
	if (p->gpu)
		peer_gpu_describe(p->gpu, buf, room);
}

const struct trib_peer_ops trib_peer_ops = {
	.abi = TRIB_PEER_ABI,
	.open = peer_open,
	.wrong = peer_wrong,
	.element = trib_reduce_size,
	.issue = peer_issue,
	.fd = peer_fd,
	.collect = peer_collect,
	.error = peer_get_error,
	.count = peer_count,
	.describe = peer_describe,
	.leave = peer_leave,
	.close = peer_close,
};
