// SPDX-License-Identifier: BSD-2-Clause
/* Compressed sums on the simulated network; see compress_world.h. */
#include "compress_world.h"

#include <stdlib.h>

#include "gpu/double.h"

static struct cw *current_world;
unsigned int cw_hosts;
__attribute__((weak)) enum trib_memory cw_memory = TRIB_MEMORY_HOST;

static float *floats(size_t n)
{
	float *x = calloc(n + 1, sizeof(*x));

	if (!x)
		abort();
	return x;
}

static void turn(struct cw_rank *me, struct trib *t)
{
	pthread_mutex_lock(&t->lock);
	while (trib_compress_turn(me->c))
		;
	pthread_mutex_unlock(&t->lock);
}

struct trib_buffer cw_buffer(struct cw *w, unsigned int r, float *x, size_t count)
{
	const struct cw_rank *me = &w->rank[r];
	struct trib_buffer b = {.data = x};

	if (!me->gpu)
		return b;
	b = (struct trib_buffer){gpu_double.memory_new(4 * count), TRIB_MEMORY_CUDA, me->stream};
	if (!b.data || gpu_double.copy(b.data, x, 4 * count, me->stream))
		abort();
	return b;
}

float *cw_view(const struct trib_buffer *b)
{
	return b->memory == TRIB_MEMORY_CUDA ? gpu_double_view(b->data) : b->data;
}

void cw_buffer_free(const struct trib_buffer *b)
{
	if (b->memory == TRIB_MEMORY_CUDA)
		gpu_double.memory_free(b->data);
}

void cw_turn(struct cw *w, unsigned int r)
{
	do {
		turn(&w->rank[r], w->sim->worker[r].t);
	} while (w->rank[r].gpu && gpu_double_step());
}

/* The rank's codec thread; and the caller, who tests the request. */
static void app(struct sim_worker *sw)
{
	struct cw *w = current_world;
	struct cw_rank *me = &w->rank[sw->t->eng.rank];
	int done = 0, rc;
	uint64_t n;

	if (me->mute || !me->c)
		return;
	turn(me, sw->t);
	if (me->gpu && !gpu_double_idle()) {
		/* Some work is done soon, of any rank's; more later. */
		for (n = sim_rnd(w->sim) % 8; n && gpu_double_step(); n--)
			;
		turn(me, sw->t);
		sim_call_at(sw, w->sim->now + 1 + sim_rnd(w->sim) % 20000);
	}
	if (!me->req || !me->req->done)
		return;
	rc = trib_test(me->req, &done);
	me->status = rc;
	me->req = NULL;
}

static void init_gpu(struct cw *w, struct cw_rank *me)
{
	me->gpu = true;
	me->far_x = gpu_double.memory_new(4 * w->count);
	me->far_y = gpu_double.memory_new(4 * w->count);
	if (!me->far_x || !me->far_y || gpu_double.stream_new(&me->stream))
		abort();
}

static void free_gpu(struct cw_rank *me)
{
	gpu_double.stream_free(me->stream);
	gpu_double.memory_free(me->far_x);
	gpu_double.memory_free(me->far_y);
}

void cw_init(struct cw *w, struct sim *s, const struct sim_options *net,
	     const struct trib_compress_options *o, size_t count)
{
	unsigned int r;

	memset(w, 0, sizeof(*w));
	current_world = w;
	sim_init(s, net);
	w->sim = s;
	w->o = *o;
	w->o.size = sizeof(w->o);
	w->count = count;
	w->want = floats(count);
	gpu_double_reset(net->seed);
	for (r = 0; r < s->nworker; r++) {
		struct cw_rank *me = &w->rank[r];

		me->x = floats(count);
		me->y = floats(count);
		me->want_residual = floats(count);
		s->worker[r].app = app;
		w->o.memory = o->memory ? o->memory : cw_memory;
		if (cw_hosts >> r & 1)
			w->o.memory = TRIB_MEMORY_HOST;
		if (w->o.memory == TRIB_MEMORY_CUDA)
			init_gpu(w, me);
		if (compress_make(&me->c, s->worker[r].t, &w->o, false))
			abort();
	}
}

void cw_free(struct cw *w)
{
	unsigned int r;

	for (r = 0; r < w->sim->nworker; r++) {
		if (w->rank[r].c && trib_compress_close(w->rank[r].c))
			abort();
		if (w->rank[r].gpu)
			free_gpu(&w->rank[r]);
		free(w->rank[r].x);
		free(w->rank[r].y);
		free(w->rank[r].want_residual);
	}
	free(w->want);
	sim_free(w->sim);
	if (gpu_double_reset(0)) {
		printf("Bail out! not all of the GPU's memory, streams and events was freed\n");
		exit(1);
	}
}

void cw_gradients(struct cw *w)
{
	unsigned int r;
	size_t i;

	for (r = 0; r < w->sim->nworker; r++)
		for (i = 0; i < w->count; i++)
			w->rank[r].x[i] = (float)((int)(sim_rnd(w->sim) % 4001) - 2000) / 1024;
}

/* Sum a bucket's values of type float: the packed values of all, which are exact. */
static void oracle_floats(struct cw *w, struct trib_nm_range *r, const uint32_t *mask, size_t first)
{
	size_t packed = trib_nm_packed(r->spec, r->count), i;
	unsigned int n = w->sim->nworker, k;
	float *one = floats(packed);
	double *sum = calloc(packed + 1, sizeof(*sum));

	for (k = 0; sum && k < n; k++) {
		r->x = w->rank[k].x + first;
		r->residual = w->o.no_feedback ? NULL : w->rank[k].want_residual + first;
		trib_nm_scalar.pack(one, r, mask);
		for (i = 0; i < packed; i++)
			sum[i] += (double)one[i];
	}
	for (i = 0; sum && i < packed; i++)
		one[i] = (float)(w->op == TRIB_AVG ? sum[i] / n : sum[i]);
	trib_nm_scalar.expand(w->want + first, TRIB_FMT_F32, r->count, mask, one, 1);
	free(sum);
	free(one);
}

/* Sum a bucket of which each rank sends the values that it selects. */
static void oracle_local(struct cw *w, struct trib_nm_range *r, uint32_t *mask, size_t first)
{
	double *sum = calloc(r->count + 1, sizeof(*sum));
	float *one = floats(r->count), *all = floats(r->count);
	unsigned int n = w->sim->nworker, k;
	size_t i;

	for (k = 0; sum && k < n; k++) {
		r->x = w->rank[k].x + first;
		r->residual = w->o.no_feedback ? NULL : w->rank[k].want_residual + first;
		trib_nm_scalar.select(mask, r);
		trib_nm_scalar.pack(one, r, mask);
		trib_nm_scalar.expand(all, TRIB_FMT_F32, r->count, mask, one, 1);
		for (i = 0; i < r->count; i++)
			sum[i] += (double)all[i];
	}
	for (i = 0; sum && i < r->count; i++)
		w->want[first + i] = (float)(w->op == TRIB_AVG ? sum[i] / n : sum[i]);
	free(sum);
	free(one);
	free(all);
}

/* Sum a range's integers, each rank's read back by itself. */
static void oracle_lanes(struct cw *w, struct trib_nm_range *r, const uint32_t *mask, size_t first,
			 struct trib_nm_chunk *ch)
{
	size_t packed = trib_nm_packed(r->spec, r->count), i;
	static float one[RANGE_VALUES];
	static double sum[RANGE_VALUES];
	static uint64_t words[RANGE_WORDS];
	unsigned int n = w->sim->nworker, k;
	uint32_t amax = 0, a;

	for (k = 0; k < n; k++) {
		r->x = w->rank[k].x + first;
		r->residual = w->o.no_feedback ? NULL : w->rank[k].want_residual + first;
		a = trib_nm_scalar.amax(r, mask);
		amax = a > amax ? a : amax;
	}
	ch->scale = trib_nm_scale(trib_exponent(amax), ch->bits);
	memset(sum, 0, sizeof(sum));
	for (k = 0; k < n; k++) {
		r->x = w->rank[k].x + first;
		r->residual = w->o.no_feedback ? NULL : w->rank[k].want_residual + first;
		ch->seed = message_seed(w->o.seed, k, CW_KEY);
		trib_nm_scalar.pack_lanes(words, r, mask, ch);
		trib_nm_scalar.unpack_lanes(one, words, packed, ch, 1);
		for (i = 0; i < packed; i++)
			sum[i] += (double)one[i];
	}
	for (i = 0; i < packed; i++)
		one[i] = (float)(w->op == TRIB_AVG ? sum[i] / n : sum[i]);
	trib_nm_scalar.expand(w->want + first, TRIB_FMT_F32, r->count, mask, one, 1);
}

void cw_oracle(struct cw *w)
{
	const struct trib_compress *c = w->rank[0].c;
	struct trib_nm_spec spec = schedule_spec(&c->schedule, c->step);
	unsigned int n = w->sim->nworker, leader = (unsigned int)(c->step % n);
	unsigned int bits = spec.bits ? trib_nm_lane_bits(spec.bits, n) : 0;
	unsigned int lanes = bits ? 64 / bits : 0, sent = 32u * spec.kept / spec.group;
	size_t range = RANGE_WORDS * lanes / sent * 32, bucket, first, off, len;
	static uint32_t mask[BUCKET_MAX / 32];
	size_t wanted = w->o.bucket ? w->o.bucket : BUCKET_DEFAULT;

	if (range)
		bucket = wanted < range ? range : wanted - wanted % range;
	else
		bucket = wanted < 32 ? 32 : wanted - wanted % 32;
	for (first = 0; first < w->count; first += bucket) {
		struct trib_nm_range r = {
			.count = w->count - first < bucket ? w->count - first : bucket,
			.fmt = TRIB_FMT_F32,
			.spec = spec,
		};

		if (w->o.mask && !strcmp(w->o.mask, "local") && spec.group > 1) {
			oracle_local(w, &r, mask, first);
			continue;
		}
		len = r.count;
		r.x = w->rank[leader].x + first;
		r.residual = w->o.no_feedback ? NULL : w->rank[leader].want_residual + first;
		if (spec.group > 1)
			trib_nm_scalar.select(mask, &r);
		if (!bits) {
			oracle_floats(w, &r, spec.group > 1 ? mask : NULL, first);
			continue;
		}
		for (off = 0; off < len; off += range) {
			struct trib_nm_chunk ch = {
				.step = c->step,
				.index = first + off,
				.bits = spec.bits,
				.lane_bits = (uint8_t)bits,
			};

			r.count = len - off < range ? len - off : range;
			ch.words = trib_nm_packed(spec, r.count);
			ch.words = ((ch.words + lanes - 1) / lanes + 7) / 8 * 8;
			oracle_lanes(w, &r, spec.group > 1 ? mask + off / 32 : NULL, first + off,
				     &ch);
		}
	}
}

/* The gradient comes late: by a copy that the caller's stream has yet to do. */
static int issue_far(struct cw *w, struct cw_rank *me)
{
	struct trib_buffer src = {me->far_x, TRIB_MEMORY_CUDA, me->stream}, dst = src;

	if (!w->in_place)
		dst.data = me->far_y;
	if (gpu_double.copy(me->far_x, me->x, 4 * w->count, me->stream))
		abort();
	if (w->fail_call)
		gpu_double_fail_call(w->fail_call);
	return trib_compress_iallreduce_buffer(me->c, CW_KEY, &src, &dst, w->count, TRIB_F32, w->op,
					       &me->req);
}

int cw_issue_one(struct cw *w, unsigned int r)
{
	struct cw_rank *me = &w->rank[r];
	float *dst = w->in_place ? me->x : me->y;

	if (me->gpu)
		me->status = issue_far(w, me);
	else
		me->status = trib_compress_iallreduce(me->c, CW_KEY, me->x, dst, w->count, TRIB_F32,
						      w->op, &me->req);
	if (me->status)
		return me->status;
	me->status = 1;
	sim_call_at(&w->sim->worker[r], w->sim->now + sim_rnd(w->sim) % 100000);
	return 0;
}

int cw_issue(struct cw *w)
{
	unsigned int r;
	int rc = 0;

	for (r = 0; !rc && r < w->sim->nworker; r++)
		if (!w->sim->worker[r].dead)
			rc = cw_issue_one(w, r);
	return rc;
}

static bool all_done(struct sim *s)
{
	unsigned int r;

	for (r = 0; r < s->nworker; r++)
		if (!s->worker[r].dead && current_world->rank[r].status == 1)
			return false;
	return true;
}

bool cw_run(struct cw *w)
{
	return sim_run(w->sim, all_done, w->sim->now + 60 * TRIB_SEC);
}

static bool norms_done(struct sim *s)
{
	unsigned int r;

	for (r = 0; r < s->nworker; r++)
		if (current_world->rank[r].c->norm_req && !current_world->rank[r].c->norm_req->done)
			return false;
	return true;
}

void cw_step(struct cw *w)
{
	unsigned int r;

	for (r = 0; r < w->sim->nworker; r++) {
		if (trib_compress_step(w->rank[r].c) < 0)
			abort();
		sim_call_at(&w->sim->worker[r], w->sim->now);
	}
	if (!sim_run(w->sim, norms_done, w->sim->now + 60 * TRIB_SEC))
		abort();
}

const float *cw_result(const struct cw *w, unsigned int r)
{
	const struct cw_rank *me = &w->rank[r];

	if (me->gpu)
		return gpu_double_view(w->in_place ? me->far_x : me->far_y);
	return w->in_place ? me->x : me->y;
}

float *cw_residual(struct cw *w, unsigned int r)
{
	float *p = trib_compress_residual(w->rank[r].c, CW_KEY, w->count);

	return w->rank[r].gpu && p ? gpu_double_view(p) : p;
}

unsigned long cw_wrong(struct cw *w)
{
	unsigned long wrong = 0;
	unsigned int r;
	size_t i;

	for (r = 0; r < w->sim->nworker; r++) {
		const float *y = cw_result(w, r);

		for (i = 0; i < w->count; i++)
			wrong += y[i] != w->want[i];
	}
	return wrong + cw_wrong_residuals(w);
}

unsigned long cw_wrong_residuals(struct cw *w)
{
	unsigned long wrong = 0;
	const float *have;
	unsigned int r;
	size_t i;

	for (r = 0; r < w->sim->nworker && !w->o.no_feedback; r++) {
		have = cw_residual(w, r);
		for (i = 0; i < w->count; i++)
			wrong += !have || have[i] != w->rank[r].want_residual[i];
	}
	return wrong;
}
