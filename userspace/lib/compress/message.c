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

/* Memory of a message beside its struct; parts begin at multiples of 64 bytes. */
struct plan {
	size_t old, mask, exp, sum, all;
};

static size_t align(size_t n)
{
	return (n / 64 + 1) * 64; /* never nothing */
}

static void plan_room(const struct layout *l, bool feedback, struct plan *p)
{
	struct cut all;

	layout_all(l, &all);
	p->old = 0;
	p->mask = align(feedback ? 4 * l->count : 0);
	p->exp = p->mask + align(4 * all.masks);
	p->sum = p->exp + align(4 * all.ranges);
	p->all = p->sum + align(l->lanes ? 8 * all.words : 4 * all.packed);
}

/* Set up the buckets, with their shares of @room. */
static void cut_buckets(struct message *m, uint8_t *room, const struct plan *p)
{
	uint32_t *mask = (void *)(room + p->mask);
	int32_t *exp = (void *)(room + p->exp);
	uint8_t *sum = room + p->sum;
	bool grouped = m->layout.spec.group > 1;
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		struct bucket *b = &m->bucket[i];

		b->m = m;
		b->first = i * m->layout.bucket;
		layout_bucket(&m->layout, i, &b->cut);
		b->stage = grouped && !m->layout.local && m->leader == m->c->t->eng.rank
				   ? STAGE_SELECT
				   : STAGE_MASK;
		b->mask = grouped ? mask : NULL;
		b->exp = exp;
		b->sum = sum;
		mask += b->cut.masks;
		exp += b->cut.ranges;
		sum += m->layout.lanes ? 8 * b->cut.words : 4 * b->cut.packed;
	}
}

static uint8_t nm_of(struct trib_nm_spec spec)
{
	return trib_nm((uint32_t)__builtin_ctz(spec.group), spec.kept);
}

/* Request @which of a bucket: mask, exponents, sum. */
static struct trib_call call_for(const struct bucket *b, unsigned int which)
{
	const struct message *m = b->m;
	bool dense = m->layout.local || (!b->mask && !m->layout.lanes);

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
			.dst = dense ? (void *)(m->dst + b->first) : b->sum,
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
	struct trib_compress *c = r->ctx;

	pthread_cond_signal(&c->work);
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
			trib_req_drop(*r);
		else
			trib_req_free(*r);
		*r = NULL;
	}
}

static int prepare(struct message *m)
{
	struct trib_engine *eng = &m->c->t->eng;
	unsigned int before = 1, which; /* the caller's request is the first */
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
		rc = trib_call_prepare(eng, &call, before++, r);
		if (rc)
			return rc;
		(*r)->ctx = m->c;
		(*r)->notify = notify;
	}
	m->user = trib_req_own(eng);
	if (!m->user)
		return trib_fail(m->c->t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
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
			trib_call_start(*r);
			continue;
		}
		trib_req_drop(*r);
		*r = NULL;
	}
}

static struct message *make(struct trib_compress *c, struct tensor *x, const struct layout *l)
{
	struct message *m = calloc(1, sizeof(*m) + l->nbucket * sizeof(m->bucket[0]));
	uint32_t rank = c->t->eng.rank, world = c->t->eng.world;
	struct plan p;
	uint8_t *room;

	plan_room(l, x->residual, &p);
	room = tensor_room(x, p.all);
	if (!m || !room) {
		free(m);
		return NULL;
	}
	m->c = c;
	m->tensor = x;
	m->layout = *l;
	m->old = x->residual ? (float *)(void *)room : NULL;
	m->seed = message_seed(c->seed, rank, x->key);
	m->step = c->step;
	m->leader = (uint32_t)(c->step % world);
	m->divide = 1;
	m->left = l->nbucket;
	cut_buckets(m, room, &p);
	return m;
}

int message_start(struct trib_compress *c, struct tensor *x, const float *src, float *dst,
		  enum trib_op op, struct trib_req **out)
{
	struct trib *t = c->t;
	struct layout l;
	struct message *m;
	int rc;

	layout_make(&l, schedule_spec(&c->schedule, c->step), c->local, t->eng.world, c->bucket,
		    x->count);
	m = make(c, x, &l);
	if (!m)
		return trib_fail(t, TRIB_ERR_SYSTEM, -ENOMEM, "out of memory");
	m->src = src;
	m->dst = dst;
	m->op = op;
	if (op == TRIB_AVG)
		m->divide = t->eng.world;
	rc = prepare(m);
	if (rc) {
		free_requests(m, true);
		free(m);
		return rc;
	}
	*out = m->user;
	x->busy = m;
	*c->tail = m;
	c->tail = &m->next;
	start(m);
	if (!m->left)
		message_finish(m);
	pthread_cond_signal(&c->work);
	return 0;
}

/* Put back the residuals of a message that failed. */
static void put_back(const struct message *m)
{
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		const struct bucket *b = &m->bucket[i];

		if (b->saved)
			memcpy(m->tensor->residual + b->first, m->old + b->first,
			       4 * b->cut.values);
	}
}

/* The first bucket with a bad value tells; else the first infinite sum. */
static int result_of(const struct message *m)
{
	unsigned int word;
	size_t i;

	for (i = 0; i < m->layout.nbucket; i++) {
		const struct bucket *b = &m->bucket[i];

		if (b->bad) {
			word = (unsigned int)b->bad & ~(1u << 30);
			m->user->bad =
				trib_exp_bad(word >> BUCKET_BITS,
					     b->first + BUCKET_MAX - 1 - (word & (BUCKET_MAX - 1)));
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
		put_back(m);
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
