// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns schedules: rates of trees to integers by largest remainder, for the
 * table size that serves best, improved by single exchanges, and interleaved.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

/**
 * struct rounding - of one job
 * @room: capacity that the other jobs leave, by resource.
 * @load: of the table as it is, per entry.
 */
struct rounding {
	struct work *w;
	int j, limit;
	int n;
	struct tree **tree;
	double *z;
	int *count, *best;
	double *room, *load;
	int nactive, *active; /* resources that some tree loads */
	bool *is_active;
	int space; /* of the arrays by tree */
	double sum;    /* of the trees' rates */
	double target; /* what the tree LP reaches with as many as it likes */
};

/* How sharply a full resource is felt. */
#define SHARP 30.0
/* Trees that may be found on the way, and rounds of exchanges. */
#define MORE 2048
#define ROUNDS 40
/* Of the tree LP's rate: then it is not worth looking on. */
#define ENOUGH 0.99

static void activate(struct rounding *r, const struct tree *t)
{
	int k;

	for (k = 0; k < t->nres; k++)
		if (!r->is_active[t->res[k]]) {
			r->is_active[t->res[k]] = true;
			r->active[r->nactive++] = t->res[k];
		}
}

static void put(struct rounding *r, int i, int entries)
{
	const struct tree *t = r->tree[i];
	int k;

	r->count[i] += entries;
	for (k = 0; k < t->nres; k++)
		r->load[t->res[k]] += entries * t->amount[k];
}

static double rate_now(const struct rounding *r, int entries)
{
	double least = INFINITY;
	int i, k, res;

	for (i = 0; i < r->n; i++)
		for (k = 0; r->count[i] && k < r->tree[i]->nres; k++) {
			res = r->tree[i]->res[k];
			if (r->load[res] > 0)
				least = fmin(least, r->room[res] * entries /
							    r->load[res]);
		}
	return isinf(least) ? 0 : least;
}

/* A smooth stand-in for the rate: small where no resource is very full. */
static double strain(const struct rounding *r, int entries)
{
	double sum = 0, u;
	int i, res;

	for (i = 0; i < r->nactive; i++) {
		res = r->active[i];
		u = r->load[res] / entries / r->room[res] * r->target;
		sum += exp(fmin(SHARP * (u - 1), 300));
	}
	return sum;
}

static int distinct(const struct rounding *r)
{
	int i, n = 0;

	for (i = 0; i < r->n; i++)
		n += r->count[i] > 0;
	return n;
}

/* Largest remainder; among equals the earlier one. */
static void apportion(struct rounding *r, int entries)
{
	int i, pick, left = entries;
	double most, rest;

	memset(r->load, 0, (size_t)r->w->net->nres * sizeof(double));
	for (i = 0; i < r->n; i++) {
		r->count[i] = 0;
		put(r, i, (int)floor(r->z[i] / r->sum * entries + 1e-9));
		left -= r->count[i];
	}
	while (left > 0) {
		most = -INFINITY;
		pick = -1;
		for (i = 0; i < r->n; i++) {
			rest = r->z[i] / r->sum * entries - r->count[i];
			if (!r->count[i] && distinct(r) >= r->limit)
				continue;
			if (rest > most + 1e-9) {
				most = rest;
				pick = i;
			}
		}
		put(r, pick, 1);
		left--;
	}
}

/* Prices that make trees around what is full look cheap. */
static void set_prices(struct rounding *r, int entries)
{
	double *price = r->w->price, u;
	int i, res;

	for (res = 0; res < r->w->net->nres; res++)
		price[res] = isinf(r->room[res])
				     ? 0
				     : exp(-SHARP) / r->room[res];
	for (i = 0; i < r->nactive; i++) {
		res = r->active[i];
		u = r->load[res] / entries / r->room[res] * r->target;
		price[res] = exp(fmin(SHARP * (u - 1), 300)) / r->room[res];
	}
}

/* Place of a tree among ours, appended if it is new; -1: no room. */
static int find_tree(struct rounding *r, struct tree *t)
{
	int i;

	for (i = 0; i < r->n; i++)
		if (r->tree[i] == t)
			return i;
	if (r->n == r->space)
		return -1;
	r->tree[r->n] = t;
	r->z[r->n] = 0;
	r->count[r->n] = r->best[r->n] = 0;
	activate(r, t);
	return r->n++;
}

/* The tree that fits best beside the others; -1: none. */
static int price_tree(struct rounding *r, const struct sets *sets, int entries)
{
	struct pricer *p = r->w->pricer[r->j];
	struct tree *best = NULL, *t;
	double cost, least = INFINITY;
	int start;

	set_prices(r, entries);
	if (pricer_set(p, sets->s[r->j], sets->m[r->j], r->w->price))
		return -1;
	for (start = 0; start < PRICE__STARTS; start++) {
		t = pricer_tree(p, (enum pricer_start)start, &cost);
		if (t && cost < least) {
			tree_free(best);
			best = t;
			least = cost;
		} else {
			tree_free(t);
		}
	}
	best = best ? work_keep(r->w, best) : NULL;
	return best ? find_tree(r, best) : -1;
}

/* Take one entry of each tree out, and put what then fits best in its place. */
static bool exchange(struct rounding *r, const struct sets *sets, int entries)
{
	double now = strain(r, entries), then;
	bool better = false;
	int a, b, n = r->n;

	for (a = 0; a < n; a++) {
		if (!r->count[a])
			continue;
		put(r, a, -1);
		b = price_tree(r, sets, entries);
		if (b < 0 || (!r->count[b] && distinct(r) >= r->limit)) {
			put(r, a, 1);
			continue;
		}
		put(r, b, 1);
		then = strain(r, entries);
		if (then < now * (1 - 1e-6)) {
			now = then;
			better = true;
			continue;
		}
		put(r, b, -1);
		put(r, a, 1);
	}
	return better;
}

/* Each tree in turn as its weight asks, as evenly as can be. */
static void interleave(struct schedule *s)
{
	int credit[PLAN_TREES_MAX] = {0}, i, k, pick;

	for (k = 0; k < s->n; k++) {
		pick = 0;
		for (i = 0; i < s->ntree; i++) {
			credit[i] += s->weight[i];
			if (credit[i] > credit[pick])
				pick = i;
		}
		credit[pick] -= s->n;
		s->entry[k] = pick;
	}
}

static int gcd(int a, int b)
{
	return b ? gcd(b, a % b) : a;
}

static void tell(const struct rounding *r, double rate, struct schedule *s)
{
	int i, common = 0;

	*s = (struct schedule){.rate = rate};
	for (i = 0; i < r->n; i++) {
		if (!r->best[i])
			continue;
		s->tree[s->ntree] = r->tree[i];
		s->weight[s->ntree++] = r->best[i];
		common = gcd(common, r->best[i]);
	}
	for (i = 0; i < s->ntree; i++) {
		s->weight[i] /= common;
		s->n += s->weight[i];
	}
	interleave(s);
}

static void note_best(struct rounding *r, int entries, double *most)
{
	double rate = rate_now(r, entries);

	if (rate <= *most * (1 + 1e-6))
		return;
	*most = rate;
	memcpy(r->best, r->count, (size_t)r->n * sizeof(int));
}

static void round_off(struct rounding *r, const struct sets *sets,
		      double target, struct schedule *s)
{
	double rate, most = -1;
	int n, i, k, size = 1;

	r->target = target;
	for (n = 1; n <= PLAN_SCHEDULE_MAX; n++) {
		apportion(r, n);
		rate = most;
		note_best(r, n, &most);
		if (most > rate)
			size = n;
	}
	/* From the best, from one entry a tree, and from the longest. */
	for (i = 0; i < 3; i++) {
		n = i == 0 ? size : i == 1 ? r->limit : PLAN_SCHEDULE_MAX;
		apportion(r, n);
		for (k = 0; k < ROUNDS && most < target * ENOUGH &&
			    exchange(r, sets, n);
		     k++)
			note_best(r, n, &most);
	}
	tell(r, fmin(most, target), s);
}

/* What the others leave of each resource; at least what the LP gave us. */
static void leave_room(struct rounding *r, const struct outcome *o)
{
	struct work *w = r->w;
	double *own = r->load;
	int i, k;

	memcpy(r->room, w->net->cap, (size_t)w->net->nres * sizeof(double));
	memset(own, 0, (size_t)w->net->nres * sizeof(double));
	for (i = 0; i < o->ncol; i++)
		for (k = 0; k < o->col[i]->nres; k++) {
			double v = o->z[i] * o->col[i]->amount[k];

			if (o->col[i]->job == r->j)
				own[o->col[i]->res[k]] += v;
			else
				r->room[o->col[i]->res[k]] -= v;
		}
	for (i = 0; i < w->net->nres; i++)
		if (r->room[i] < own[i])
			r->room[i] = own[i];
}

static int round_job(struct work *w, const struct sets *sets,
		     const struct outcome *o, int j, double target,
		     struct schedule *s)
{
	size_t nres = (size_t)w->net->nres, n = (size_t)o->ncol + MORE;
	struct rounding r = {.w = w, .j = j, .limit = w->js->job[j].trees};
	int i, err = -ENOMEM;

	r.tree = calloc(n, sizeof(*r.tree));
	r.z = calloc(n, sizeof(double));
	r.count = calloc(n, sizeof(int));
	r.best = calloc(n, sizeof(int));
	r.room = calloc(nres, sizeof(double));
	r.load = calloc(nres, sizeof(double));
	r.active = calloc(nres, sizeof(int));
	r.is_active = calloc(nres, sizeof(bool));
	r.space = (int)n;
	if (r.tree && r.z && r.count && r.best && r.room && r.load &&
	    r.active && r.is_active) {
		for (i = 0; i < o->ncol; i++)
			if (o->col[i]->job == j) {
				r.tree[r.n] = o->col[i];
				r.z[r.n++] = o->z[i];
				r.sum += o->z[i];
				activate(&r, o->col[i]);
			}
		err = -EDOM;
	}
	if (err == -EDOM && r.n) {
		leave_room(&r, o);
		round_off(&r, sets, target, s);
		err = 0;
	}
	free(r.tree);
	free(r.z);
	free(r.count);
	free(r.best);
	free(r.room);
	free(r.load);
	free(r.active);
	free(r.is_active);
	return err;
}

/* The heaviest trees of each job, as many as it may have. */
static int heaviest(const struct work *w, const struct outcome *o,
		    struct tree **out)
{
	int *order = malloc(((size_t)o->ncol + 1) * sizeof(int));
	int have[PLAN_JOBS_MAX] = {0}, i, k, x, n = 0;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < o->ncol; i++) {
		x = i;
		for (k = i; k > 0 && o->z[order[k - 1]] < o->z[x]; k--)
			order[k] = order[k - 1];
		order[k] = x;
	}
	for (i = 0; i < o->ncol; i++) {
		struct tree *t = o->col[order[i]];

		if (have[t->job]++ < w->js->job[t->job].trees)
			out[n++] = t;
	}
	free(order);
	return n;
}

int make_schedules(struct work *w, const struct sets *sets,
		   const struct outcome *best, struct schedule *out)
{
	struct tree **few = calloc((size_t)best->ncol + 1, sizeof(*few));
	struct outcome o = {0};
	int j, n, err;

	if (!few)
		return -ENOMEM;
	n = heaviest(w, best, few);
	err = n < 0 ? n : 0;
	/* Rates anew if some trees had to go. */
	if (!err)
		err = tree_lp(w, sets, 0, few, n, false, &o);
	for (j = 0; !err && j < w->njobs; j++)
		if (by_lp(w, j))
			err = round_job(w, sets, &o, j, best->g[j], &out[j]);
	outcome_free(&o);
	free(few);
	return err;
}
