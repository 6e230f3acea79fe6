// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Collectives: each becomes a request with one part per tree that it uses. The
 * parts follow from the arguments alone, so all ranks make the same ones.
 */
#include "inner.h"

/* Limit of elements: a report of a non-finite value must hold the index. */
#define COUNT_MAX (1ULL << TRIB_EXP_INDEX_BITS)

/* Number of trees that carry a message of @count elements. */
static unsigned int parts_of(const struct trib_engine *eng, enum trib_kind kind, uint64_t count)
{
	unsigned int nval = eng->stream[0]->nval;

	if (kind == TRIB_KIND_LEAVE)
		return eng->nstream;
	if (kind == TRIB_KIND_BARRIER || count <= (uint64_t)nval * TRIB_TUNE_SPLIT_CHUNKS)
		return 1;
	return eng->nstream;
}

/* Allocate the exponents of a float sum, and behind them a bit for each group. */
static int make_exponents(struct trib_part *p)
{
	size_t groups = (size_t)(p->nexp + 7) / 8;

	p->exp = trib_alloc((size_t)p->ndata * sizeof(*p->exp) + groups);
	if (!p->exp)
		return -ENOMEM;
	p->exp_seen = (uint8_t *)(p->exp + p->ndata);
	return 0;
}

/* Elements of @count that stream @s carries; @all is the sum of weights. */
static uint64_t share_of(const struct trib_stream *s, enum trib_kind kind, uint64_t count,
			 uint64_t all)
{
	unsigned int unit = kind == TRIB_KIND_LOCAL ? TRIB_MASK_UNITS : TRIB_NVAL_BLOCK;
	/* No overflow: @count elements fit into memory. */
	uint64_t share = (count * s->weight + all - 1) / all;

	return (share + unit - 1) / unit * unit;
}

/*
 * The tree for a message in one tree: the one that is furthest behind its share of all
 * chunks so far. All ranks have made the same requests, so they choose alike.
 */
static unsigned int idlest(const struct trib_engine *eng)
{
	unsigned int i, best = 0;

	for (i = 1; i < eng->nstream; i++)
		if (eng->stream[i]->assigned * eng->stream[best]->weight <
		    eng->stream[best]->assigned * eng->stream[i]->weight)
			best = i;
	return best;
}

/* Make a request over @count elements, in one tree if @whole. */
static struct trib_req *make(struct trib_engine *eng, enum trib_kind kind, uint64_t count,
			     bool whole)
{
	unsigned int n = whole ? 1 : parts_of(eng, kind, count), only, i;
	uint64_t share, all = 0, first = 0;
	struct trib_req *r;

	r = trib_alloc(sizeof(*r) + n * sizeof(r->part[0]));
	if (!r)
		return NULL;
	r->eng = eng;
	r->npart = n;
	r->left = n;
	r->dst_count = count;
	for (i = 0; i < n; i++)
		all += eng->stream[i]->weight;
	only = n == 1 ? idlest(eng) : 0;
	for (i = 0; i < n; i++) {
		struct trib_part *p = &r->part[i];

		p->req = r;
		p->stream = eng->stream[n == 1 ? only : i];
		p->kind = kind;
		p->first = first;
		share = n == 1 ? count : share_of(p->stream, kind, count, all);
		p->count = count - first < share ? count - first : share;
		first += p->count;
		trib_part_count(p, p->stream->nval, eng->rep->fmt);
		p->stream->assigned += p->nchunk;
		if (!p->nchunk)
			r->left--;
		if (p->nexp && make_exponents(p)) {
			trib_req_drop(r);
			return NULL;
		}
	}
	return r;
}

void trib_call_start(struct trib_req *r)
{
	struct trib_engine *eng = r->eng;
	unsigned int i;

	eng->count.messages++;
	trib_req_link(r);
	for (i = 0; i < r->npart; i++)
		if (r->part[i].nchunk)
			trib_stream_queue(r->part[i].stream, &r->part[i]);
	if (!r->left)
		trib_req_done(r, 0);
	for (i = 0; i < r->npart; i++)
		if (!eng->dead)
			trib_stream_push(r->part[i].stream);
}

struct trib_req *trib_req_leave(struct trib_engine *eng)
{
	struct trib_req *r = make(eng, TRIB_KIND_LEAVE, 0, false);

	if (r)
		trib_call_start(r);
	return r;
}

static bool has_values(const struct trib_call *c)
{
	return c->collective == TRIB_COLL_ALLREDUCE || c->collective == TRIB_COLL_REDUCE_SCATTER;
}

/* Broadcasts and allgathers have no @src: their elements are in the result. */
static bool has_buffers(const struct trib_call *c)
{
	return !c->count || (c->dst && (c->src || !has_values(c)));
}

/* Total elements = count * times(). */
static unsigned int times(const struct trib_engine *eng, const struct trib_call *c)
{
	return c->collective == TRIB_COLL_REDUCE_SCATTER || c->collective == TRIB_COLL_ALLGATHER
		       ? eng->world
		       : 1;
}

static const char *local_wrong(const struct trib_engine *eng, const struct trib_call *c)
{
	if (c->collective != TRIB_COLL_ALLREDUCE || c->dtype != TRIB_SOCK_F32 || c->words ||
	    c->op > TRIB_SOCK_AVG)
		return "masks are for sums and averages of f32 by allreduce";
	if (!trib_nm_is_mask(c->nm) || (c->count && !c->mask))
		return "the mask is not M of every 2, 4, 8, 16 or 32 values";
	if (trib_fmt_is_half((uint8_t)eng->rep->fmt))
		return "a job of 16-bit floats has no masks";
	if (eng->stream[0]->nval < TRIB_MASK_UNITS)
		return "packets have no room for a mask";
	return NULL;
}

const char *trib_call_wrong(const struct trib_engine *eng, const struct trib_call *c)
{
	unsigned int n = times(eng, c);

	if (c->collective > TRIB_COLL_BARRIER)
		return "the collective is not one of enum trib_collective";
	if (c->dtype > TRIB_SOCK_I32)
		return "the element type is neither f32 nor i32";
	if (c->op > TRIB_SOCK_MIN)
		return "the operation is not sum, avg, max or min";
	if (c->op == TRIB_SOCK_AVG && c->dtype != TRIB_SOCK_F32)
		return "averages take f32 elements only";
	if (c->op && !has_values(c))
		return "only allreduce and reduce_scatter take an operation";
	if (c->count >= COUNT_MAX / n || c->count > SIZE_MAX / 8 / n)
		return "too many elements";
	if (c->collective == TRIB_COLL_BARRIER)
		return c->count ? "a barrier has no elements" : NULL;
	if (!has_buffers(c))
		return "a buffer is NULL";
	if (c->collective == TRIB_COLL_BROADCAST && c->root >= eng->world)
		return "root is not a rank";
	if (c->words && (c->collective != TRIB_COLL_ALLREDUCE || c->op != TRIB_SOCK_SUM))
		return "64-bit words are for sums by allreduce";
	return c->nm ? local_wrong(eng, c) : NULL;
}

static enum trib_kind kind_of(const struct trib_engine *eng, const struct trib_call *c)
{
	switch (c->collective) {
	case TRIB_COLL_BARRIER:
		return TRIB_KIND_BARRIER;
	case TRIB_COLL_ALLGATHER:
	case TRIB_COLL_BROADCAST:
		return TRIB_KIND_BITS;
	}
	if (c->words)
		return TRIB_KIND_WORDS;
	if (c->nm)
		return TRIB_KIND_LOCAL;
	if (c->op == TRIB_SOCK_MAX || c->op == TRIB_SOCK_MIN)
		return TRIB_KIND_ORDER;
	if (c->dtype != TRIB_SOCK_F32)
		return TRIB_KIND_ISUM;
	return trib_fmt_is_float(eng->rep->fmt) ? TRIB_KIND_FLOATS : TRIB_KIND_FSUM;
}

/* Set the regions of the message that this rank sends and stores. */
static void fill(struct trib_req *r, const struct trib_call *c)
{
	const struct trib_engine *eng = r->eng;

	r->src = has_values(c) ? c->src : c->dst;
	r->mask = c->mask;
	r->nm = c->nm;
	r->dst = c->dst;
	r->op = c->op;
	r->dtype = c->dtype;
	r->held = c->held;
	switch (c->collective) {
	case TRIB_COLL_REDUCE_SCATTER:
		/*
		 * Each rank receives the whole sum and stores its share. If
		 * @dst is @src, a result overwrites elements that come earlier
		 * in the message. They are packed already, because the message
		 * is in one tree. That holds for any @dst: all ranks must make
		 * the same parts.
		 */
		r->dst_first = c->count * eng->rank;
		r->dst_count = c->count;
		break;
	case TRIB_COLL_ALLGATHER:
		/* Results of other ranks must not overwrite unsent elements. */
		r->own_first = c->count * eng->rank;
		r->own_count = c->count;
		r->src = (const uint32_t *)c->dst + r->own_first;
		break;
	case TRIB_COLL_BROADCAST:
		r->own_count = c->root == eng->rank ? c->count : 0;
		break;
	}
}

int trib_call_check(struct trib_engine *eng, const struct trib_call *c)
{
	const char *wrong = trib_call_wrong(eng, c);

	if (eng->dead) {
		eng->error = eng->death;
		return eng->dead;
	}
	if (eng->leaving)
		return trib_fault(eng, TRIB_SOCK_ERR_ARGUMENT, -ECANCELED,
				  "this rank is leaving: no collective may follow");
	if (wrong)
		return trib_fault(eng, TRIB_SOCK_ERR_ARGUMENT, -EINVAL, "%s", wrong);
	return 0;
}

int trib_call_prepare(struct trib_engine *eng, const struct trib_call *c, struct trib_req **out)
{
	struct trib_req *r;
	int rc = trib_call_check(eng, c);

	if (rc)
		return rc;
	r = make(eng, kind_of(eng, c), c->count * times(eng, c),
		 c->collective == TRIB_COLL_REDUCE_SCATTER);
	if (!r)
		return trib_fault(eng, TRIB_SOCK_ERR_SYSTEM, -ENOMEM, "out of memory");
	fill(r, c);
	*out = r;
	return 0;
}

int trib_call_issue(struct trib_engine *eng, const struct trib_call *c, struct trib_req **out)
{
	int rc = trib_call_prepare(eng, c, out);

	if (!rc)
		trib_call_start(*out);
	return rc;
}
