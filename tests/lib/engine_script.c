// SPDX-License-Identifier: BSD-2-Clause
/* A random list of collectives and its oracle; see engine_script.h. */
#include "engine_script.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "float_bits.h"

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

/* The sum of floats of one chunk, as trib.h promises it. */
static void want_chunk(const struct script *sc, const struct script_op *op, unsigned int from,
		       unsigned int n)
{
	unsigned int world = sc->sim->nworker, i, r;
	int32_t limit = trib_q32_limit(world);
	uint32_t amax = 0;
	int e, s;

	for (r = 0; r < world; r++)
		for (i = 0; i < n; i++)
			if ((op->src[r][from + i] & 0x7fffffff) > amax)
				amax = op->src[r][from + i] & 0x7fffffff;
	e = trib_exponent(amax);
	s = e == TRIB_EXP_ZERO ? 0 : trib_q32_scale(e, world);
	for (i = 0; i < n; i++) {
		int64_t sum = 0;
		double q;

		for (r = 0; r < world; r++) {
			q = rint(ldexp(float_of(op->src[r][from + i]), -s));
			if (q > limit)
				q = limit;
			if (q < -limit)
				q = -limit;
			sum += (int64_t)q;
		}
		q = ldexp((double)sum, s);
		if (op->op == TRIB_AVG)
			q = (double)sum * (ldexp(1, s) / world);
		op->want[from + i] = float_bits((float)q);
	}
}

/*
 * Return: whether this is a sum in a job of floats. Its elements are chosen so
 * that any order gives the exact sum.
 */
static bool of_floats(const struct sim *s, const struct script_op *op)
{
	return trib_fmt_is_float((uint8_t)s->worker[0].t->place.rep.fmt) && op->dtype == TRIB_F32 &&
	       (op->op == TRIB_SUM || op->op == TRIB_AVG) &&
	       (op->kind == SCRIPT_ALLREDUCE || op->kind == SCRIPT_REDUCE_SCATTER);
}

static void want_floats(const struct script *sc, const struct script_op *op, unsigned int total)
{
	unsigned int world = sc->sim->nworker, i, r;

	for (i = 0; i < total; i++) {
		float sum = float_of(op->src[0][i]);

		for (r = 1; r < world; r++)
			sum += float_of(op->src[r][i]);
		op->want[i] = float_bits(op->op == TRIB_AVG ? sum / (float)world : sum);
	}
}

/* Each tree's part of the message begins with a new chunk. */
static void want_fsum(const struct script *sc, const struct script_op *op, unsigned int total)
{
	unsigned int trees = sc->sim->worker[0].t->eng.nstream, from, end, n;
	unsigned int share = total;

	if (op->kind == SCRIPT_ALLREDUCE && total > sc->nval * TRIB_TUNE_SPLIT_CHUNKS)
		share = ((total + trees - 1) / trees + 15) / 16 * 16;
	for (from = 0; from < total; from += n) {
		end = (from / share + 1) * share;
		if (end > total)
			end = total;
		n = end - from < sc->nval ? end - from : sc->nval;
		want_chunk(sc, op, from, n);
	}
}

static uint32_t combine(const struct script_op *op, uint32_t a, uint32_t b)
{
	bool less;

	if (op->op == TRIB_SUM)
		return a + b;
	less = op->dtype == TRIB_I32	    ? (int32_t)a < (int32_t)b
	       : float_of(a) != float_of(b) ? float_of(a) < float_of(b)
					    : (int32_t)a < (int32_t)b; /* -0 < 0 */
	return less == (op->op == TRIB_MAX) ? b : a;
}

static void make_want(const struct script *sc, struct script_op *op)
{
	unsigned int world = sc->sim->nworker, i, r, total = op->count;

	if (op->kind == SCRIPT_REDUCE_SCATTER || op->kind == SCRIPT_ALLGATHER)
		total *= world;
	op->want = need(calloc(total + 1, 4));
	switch (op->kind) {
	case SCRIPT_ALLGATHER:
		for (r = 0; r < world; r++)
			memcpy(op->want + r * op->count, op->src[r], 4 * op->count);
		break;
	case SCRIPT_BROADCAST:
		memcpy(op->want, op->src[op->root], 4 * op->count);
		break;
	case SCRIPT_ALLREDUCE:
	case SCRIPT_REDUCE_SCATTER:
		if (of_floats(sc->sim, op)) {
			want_floats(sc, op, total);
			break;
		}
		if (op->dtype == TRIB_F32 && (op->op == TRIB_SUM || op->op == TRIB_AVG)) {
			want_fsum(sc, op, total);
			break;
		}
		memcpy(op->want, op->src[0], 4 * total);
		for (r = 1; r < world; r++)
			for (i = 0; i < total; i++)
				op->want[i] = combine(op, op->want[i], op->src[r][i]);
		break;
	default:
		break;
	}
}

static uint32_t element(struct sim *s, const struct script_op *op, int e)
{
	uint32_t r = (uint32_t)sim_rnd(s);

	if (op->dtype == TRIB_I32 || op->kind == SCRIPT_ALLGATHER || op->kind == SCRIPT_BROADCAST)
		return r;
	/* Elements have so few bits that sums of 16 fit the 8 bits of a bf16. */
	if (of_floats(s, op))
		return float_bits((float)ldexp((int)(r % 15) - 7, e % 8));
	if (r % 16 == 0)
		return r & 0x80000000;
	return float_bits((float)ldexp((int32_t)r, e - 31 - (int)(r % 7)));
}

static void make_op(struct script *sc, struct script_op *op, unsigned int max)
{
	static const unsigned int primes[] = {1, 2, 3, 7, 31, 353, 1009};
	struct sim *s = sc->sim;
	unsigned int r, i, total;
	int e = (int)(sim_rnd(s) % 240) - 140;

	op->kind = sim_rnd(s) % 3 ? SCRIPT_ALLREDUCE : sim_rnd(s) % SCRIPT__MAX;
	op->dtype = sim_rnd(s) % 3 ? TRIB_F32 : TRIB_I32;
	op->op = sim_rnd(s) % 2 ? TRIB_SUM : sim_rnd(s) % 4;
	if (op->dtype == TRIB_I32 && op->op == TRIB_AVG)
		op->op = TRIB_SUM;
	op->count = sim_rnd(s) % 4 ? sim_rnd(s) % (max + 1) : primes[sim_rnd(s) % 7];
	op->root = sim_rnd(s) % s->nworker;
	op->in_place = sim_rnd(s) & 1;
	total = op->count;
	if (op->kind == SCRIPT_REDUCE_SCATTER)
		total = op->count * s->nworker;
	for (r = 0; r < s->nworker; r++) {
		op->src[r] = need(calloc(total + 1, 4));
		for (i = 0; i < total; i++)
			op->src[r][i] = element(s, op, e);
	}
	make_want(sc, op);
}

void script_init(struct script *sc, struct sim *s, unsigned int nops, unsigned int max,
		 unsigned int nval)
{
	unsigned int i;

	memset(sc, 0, sizeof(*sc));
	sc->sim = s;
	sc->nops = nops;
	sc->nval = nval;
	sc->flight = SCRIPT_FLIGHT;
	for (i = 0; i < nops; i++)
		make_op(sc, &sc->op[i], max);
}

void script_free(struct script *sc)
{
	unsigned int i, r;

	for (i = 0; i < sc->nops; i++) {
		for (r = 0; r < sc->sim->nworker; r++)
			free(sc->op[i].src[r]);
		free(sc->op[i].want);
	}
	for (r = 0; r < sc->sim->nworker; r++)
		for (i = 0; i < SCRIPT_FLIGHT; i++)
			if (sc->rank[r].flight[i].req)
				free(sc->rank[r].flight[i].base);
}

static int issue(struct sim_worker *w, const struct script_op *op, struct script_flight *f)
{
	unsigned int world = w->t->eng.world, rank = w->t->eng.rank;
	unsigned int n = op->count, big = n * world;

	/*
	 * Extra room of one message before and behind, so that buffers may
	 * overlap.
	 */
	f->base = need(calloc(2 * big + 2, 4));
	f->src = f->base;
	f->dst = f->base + big + 1;
	switch (op->kind) {
	case SCRIPT_ALLREDUCE:
		if (op->in_place)
			f->dst = f->src;
		memcpy(f->src, op->src[rank], 4 * n);
		return trib_iallreduce(w->t, f->src, f->dst, n, op->dtype, op->op, &f->req);
	case SCRIPT_REDUCE_SCATTER:
		if (op->in_place)
			f->dst = f->src + (op->root % 2 ? rank * n : 0);
		memcpy(f->src, op->src[rank], 4 * big);
		return trib_ireduce_scatter(w->t, f->src, f->dst, n, op->dtype, op->op, &f->req);
	case SCRIPT_ALLGATHER:
		if (op->in_place)
			f->src = f->dst + (op->root % 2 ? rank * n : 0);
		memcpy(f->src, op->src[rank], 4 * n);
		return trib_iallgather(w->t, f->src, f->dst, n, op->dtype, &f->req);
	case SCRIPT_BROADCAST:
		if (rank == op->root)
			memcpy(f->dst, op->src[rank], 4 * n);
		return trib_ibroadcast(w->t, f->dst, n, op->dtype, (int)op->root, &f->req);
	default:
		return trib_ibarrier(w->t, &f->req);
	}
}

static unsigned int compare(const struct script *sc, const struct script_op *op, unsigned int rank,
			    const struct script_flight *f)
{
	const uint32_t *want = op->want;
	unsigned int n = op->count, i, wrong = 0;

	if (op->kind == SCRIPT_BARRIER)
		return 0;
	if (op->kind == SCRIPT_REDUCE_SCATTER)
		want += rank * n;
	if (op->kind == SCRIPT_ALLGATHER)
		n *= sc->sim->nworker;
	for (i = 0; i < n; i++)
		wrong += f->dst[i] != want[i];
	return wrong;
}

static void step(struct sim_worker *w)
{
	struct script *sc = w->ctx;
	struct script_rank *me = &sc->rank[w->t->eng.rank];
	unsigned int i, free_slots = 0, from = sim_rnd(w->sim) % SCRIPT_FLIGHT;
	struct script_flight *f, *room = NULL;
	int done, rc;

	for (i = 0; i < SCRIPT_FLIGHT; i++) {
		f = &me->flight[(i + from) % SCRIPT_FLIGHT];
		if (!f->req) {
			free_slots++;
			room = f;
			continue;
		}
		if (!f->req->done)
			continue;
		rc = trib_test(f->req, &done);
		if (rc)
			me->error = rc;
		else
			me->wrong += compare(sc, &sc->op[f->op], w->t->eng.rank, f);
		free(f->base);
		f->req = NULL;
		me->done++;
	}
	if (!room || SCRIPT_FLIGHT - free_slots >= sc->flight || me->next >= sc->nops ||
	    w->sim->now < me->think_until || me->error)
		return;
	room->op = me->next;
	rc = issue(w, &sc->op[me->next], room);
	if (rc) {
		free(room->base);
		room->req = NULL;
		me->error = rc;
		return;
	}
	me->next++;
	me->think_until = w->sim->now + (sc->think ? sim_rnd(w->sim) % sc->think : 0);
	sim_call_at(w, me->think_until + 1);
}

void script_start(struct script *sc)
{
	unsigned int i;

	for (i = 0; i < sc->sim->nworker; i++) {
		struct sim_worker *w = &sc->sim->worker[i];

		w->app = step;
		w->ctx = sc;
		sim_call_at(w, sc->sim->now + i * 1000);
	}
}

bool script_done(struct sim *s)
{
	unsigned int i;

	for (i = 0; i < s->nworker; i++) {
		const struct script *sc = s->worker[i].ctx;
		const struct script_rank *r = &sc->rank[i];

		if (!s->worker[i].dead && !r->error && r->done < sc->nops)
			return false;
	}
	return true;
}

bool script_good(struct script *sc)
{
	unsigned int i;
	bool good = true;

	for (i = 0; i < sc->sim->nworker; i++) {
		const struct script_rank *r = &sc->rank[i];

		if (!r->wrong && !r->error && r->done == sc->nops)
			continue;
		good = false;
		printf("# rank %u: %u of %u done, %u wrong, error %d (%s)\n", i, r->done, sc->nops,
		       r->wrong, r->error, sc->sim->worker[i].t->eng.error.text);
	}
	return good;
}
