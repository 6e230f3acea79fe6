// SPDX-License-Identifier: BSD-2-Clause
/*
 * Life of a message. All its requests are issued at once, so that all ranks number
 * their chunks alike; those whose elements are not there yet are held. The masks are
 * a bucket ahead of the values:
 *
 *	M0 E0 M1 S0 E1 M2 S1 E2 ... S(n-1)
 *
 * The elements of a request depend on requests before it only.
 */
#include <errno.h>
#include <stdlib.h>

#include "compress.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t message_seed(uint64_t seed, unsigned int rank, uint64_t key)
{
	return mix(mix(mix(seed + 1) + rank) ^ key);
}

static uint8_t nm_of(struct trib_nm_spec spec)
{
	return trib_nm((uint32_t)__builtin_ctz(spec.group), spec.kept);
}

/* Request @which of a bucket: mask, exponents, sum. */
static struct trib_call call_for(const struct bucket *b, unsigned int which)
{
	const struct message *m = b->m;

	switch (which) {
	case 0:
		return (struct trib_call){
			.collective = TRIB_COLL_BROADCAST,
			.dtype = TRIB_SOCK_I32,
			.dst = b->mask,
			.count = b->cut.masks,
			.root = m->leader,
			.held = b->stage == STAGE_SELECT,
		};
	case 1:
		return (struct trib_call){
			.op = TRIB_SOCK_MAX,
			.dtype = TRIB_SOCK_I32,
			.src = b->exp,
			.dst = b->exp,
			.count = b->cut.ranges,
			.held = true,
		};
	default:
		return (struct trib_call){
			.op = !m->layout.lanes && m->op == TRIB_AVG ? TRIB_SOCK_AVG : TRIB_SOCK_SUM,
			.src = b->sum,
			.dst = b->result,
			.count = m->layout.lanes   ? b->cut.words
				 : m->layout.local ? b->cut.values
						   : b->cut.packed,
			.mask = m->layout.local ? b->mask : NULL,
			.nm = m->layout.local ? nm_of(m->layout.spec) : 0,
			.words = m->layout.lanes,
			.held = true,
		};
	}
}

/* Place of request @n in the order of issue. NULL: this message has none there. */
static struct trib_req **nth(struct message *m, size_t n, struct bucket **b, unsigned int *which)
{
	/* M0 E0 (M1 S0 E1) (M2 S1 E2) ... (none S(n-1) none) */
	size_t row = n < 2 ? 0 : (n - 2) / 3 + 1, col = n < 2 ? n * 2 : (n - 2) % 3;
	size_t i = col == 1 ? row - 1 : row;

	if (i >= m->layout.nbucket)
		return NULL;
	*b = &m->bucket[i];
	*which = col == 0 ? 0 : col == 1 ? 2 : 1;
	if (!*which && (!(*b)->mask || m->layout.local))
		return NULL;
	return *which == 0 ? &(*b)->mask_req : *which == 1 ? &(*b)->exp_req : &(*b)->sum_req;
}

static size_t nth_end(const struct message *m)
{
	return 3 * m->layout.nbucket + 2;
}

static void notify(struct trib_req *r)
{
	bell_ring(r->ctx);
}

/* Free requests: not started ones if @drop, else those that are done. */
static void free_requests(struct message *m, bool drop)
{
	struct trib_req **r;
	struct bucket *b;
	unsigned int which;
	size_t n;

	for (n = 0; n < nth_end(m); n++) {
		r = nth(m, n, &b, &which);
		if (!r || !*r)
			continue;
		if (drop)
			trib_compose_drop(*r);
		else
			trib_req_free(*r);
		*r = NULL;
	}
}

static int prepare(struct message *m)
{
	unsigned int which;
	struct trib_req **r;
	struct bucket *b;
	size_t n;
	int rc;

	for (n = 0; n < nth_end(m); n++) {
		struct trib_call call;

		r = nth(m, n, &b, &which);
		if (!r)
			continue;
		call = call_for(b, which);
		rc = trib_compose_prepare(m->c->t, &call, r);
		if (rc)
			return rc;
		(*r)->ctx = m->c;
		(*r)->notify = notify;
	}
	return 0;
}

/* Let the message begin, and make the caller's request, which cannot be undone. */
static int open_gate(struct message *m, const struct message_args *a)
{
	struct trib_compress *c = m->c;

	if (c->work->open(m, a))
		return trib_fail(c->t, TRIB_ERR_SYSTEM, -EIO, "the GPU: %s", c->work->error(c));
	m->user = trib_req_own(&c->t->eng);
	if (!m->user) {
		c->work->shut(m);
		return trib_fail(c->t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	}
	m->user->kept = true;
	return 0;
}

/* Start all. If the engine dies meanwhile, the rest is not started. */
static void start(struct message *m)
{
	struct trib_engine *eng = &m->c->t->eng;
	struct trib_req **r;
	struct bucket *b;
	unsigned int which;
	size_t n;

	for (n = 0; n < nth_end(m); n++) {
		r = nth(m, n, &b, &which);
		if (!r)
			continue;
		if (!eng->dead) {
			trib_compose_start(*r);
			continue;
		}
		trib_compose_drop(*r);
		*r = NULL;
	}
}

static void set_up_buckets(struct message *m)
{
	bool leads = !m->layout.local && m->leader == m->c->t->eng.rank;
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		struct bucket *b = &m->bucket[i];

		b->m = m;
		b->first = i * m->layout.bucket;
		layout_bucket(&m->layout, i, &b->cut);
		b->stage = b->cut.masks && leads ? STAGE_SELECT : STAGE_MASK;
	}
}

struct message *message_make(struct trib_compress *c, struct tensor *x,
			     const struct message_args *a)
{
	uint32_t rank = c->t->eng.rank, world = c->t->eng.world;
	struct message *m;
	struct layout l;

	layout_make(&l, schedule_spec(&c->schedule, c->step), c->local, world, c->bucket, x->count);
	m = calloc(1, sizeof(*m) + l.nbucket * sizeof(m->bucket[0]));
	if (!m)
		return NULL;
	m->c = c;
	m->tensor = x;
	m->layout = l;
	m->src = a->src->data;
	m->dst = a->dst->data;
	m->op = a->op;
	m->seed = message_seed(c->seed, rank, x->key);
	m->step = c->step;
	m->leader = (uint32_t)(c->step % world);
	m->divide = a->op == TRIB_AVG ? world : 1;
	m->left = l.nbucket;
	set_up_buckets(m);
	if (c->work->room(m)) {
		free(m);
		return NULL;
	}
	return m;
}

int message_start(struct message *m, const struct message_args *a, struct trib_req **out)
{
	struct trib_compress *c = m->c;
	int rc = prepare(m);

	if (!rc)
		rc = open_gate(m, a);
	if (rc) {
		free_requests(m, true);
		free(m);
		return rc;
	}
	*out = m->user;
	m->tensor->busy = m;
	*c->tail = m;
	c->tail = &m->next;
	start(m);
	if (!m->left)
		message_finish(m);
	bell_ring(c);
	return 0;
}

static bool is_up(const int *flight)
{
	return __atomic_load_n(flight, __ATOMIC_ACQUIRE) == FLIGHT_UP;
}

/* A request of a way that still uses its buffers, although the engine is dead. */
static bool is_kept(const struct trib_req *r)
{
	return r && r->kept && !r->done;
}

bool message_rests(const struct message *m)
{
	const struct bucket *b;

	if (is_up(&m->gate))
		return false;
	for (b = m->bucket; b < m->bucket + m->layout.nbucket; b++)
		if (is_up(&b->flight) || is_kept(b->mask_req) || is_kept(b->exp_req) ||
		    is_kept(b->sum_req))
			return false;
	return true;
}

/* The first bucket with a bad value tells; else the first infinite sum. */
static int result_of(const struct message *m)
{
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		const struct bucket *b = &m->bucket[i];

		if (b->bad) {
			m->user->bad = report_of(b);
			return -EDOM;
		}
		if (b->over && !m->user->over)
			m->user->over = b->over;
	}
	return m->user->over ? -ERANGE : 0;
}

static void count(const struct message *m, int status)
{
	struct trib_compress_counters *n = &m->c->count;
	struct trib_compress *c = m->c;
	struct cut all;
	size_t i, sum;

	layout_all(&m->layout, &all);
	sum = m->layout.lanes ? 8 * all.words : 4 * all.packed;
	n->messages++;
	n->bad += status == -EDOM;
	n->bytes_dense += 4 * m->layout.count;
	n->bytes_sent += 8 * all.ranges + sum;
	n->bytes_received += m->layout.local ? 8 * all.ranges + 4 * m->layout.count
					     : 4 * all.masks + 8 * all.ranges + sum;
	if (m->layout.local || m->leader == c->t->eng.rank)
		n->bytes_sent += 4 * all.masks;
	for (i = 0; i < m->layout.nbucket && (!status || status == -ERANGE); i++) {
		c->grad += m->bucket[i].grad;
		c->left += m->bucket[i].left;
		n->energy += m->bucket[i].all;
		n->energy_left += m->bucket[i].left;
	}
	c->values += m->layout.count;
}

void message_finish(struct message *m)
{
	struct trib_compress *c = m->c;
	struct message **link = &c->first;
	int status = m->left ? c->t->eng.dead : result_of(m);

	if (status && status != -ERANGE)
		c->work->put_back(m);
	count(m, status);
	while (*link != m)
		link = &(*link)->next;
	*link = m->next;
	if (!m->next)
		c->tail = link;
	m->tensor->busy = NULL;
	free_requests(m, false);
	trib_req_done(m->user, status);
	trib_drive_interrupt(c->t);
	free(m);
}
