// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes one job of the plan: figures, bottlenecks, trees, schedule, and its
 * part of the rows.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "plan/search/families.h"
#include "uapi/trib_wire.h"

#define BOTTLENECKS 16

/* Bytes of preamble, Ethernet header, checksum and gap of a frame. */
#define FRAME (8 + 14 + 4 + 12)

static bool is_v6(const struct plan_topology *t)
{
	int i;

	for (i = 0; i < t->nlinks; i++)
		if (strchr(t->link[i].addr[0], ':') || strchr(t->link[i].addr[1], ':'))
			return true;
	return false;
}

/*
 * Share of a wire's bits that are values. One exponent chunk precedes as many
 * data chunks as it has words. In shared pools, contributions carry a bitmap of
 * workers; results do not.
 */
static double goodput(const struct plan_topology *t, const struct job *job)
{
	double payload = job->nval * 4.0, words = job->nval / 2.0;
	double packet = trib_payload_len((__u32)job->nval) + FRAME +
			(is_v6(t) ? TRIB_OVERHEAD_V6 : TRIB_OVERHEAD_V4) +
			(job->shared ? 8 * ((job->nworkers + 63) / 64) : 0);

	return payload / packet * words / (words + 1);
}

static const char *name_of(const struct findings *f, int node)
{
	return f->w->t->node[node].name;
}

struct bottleneck {
	int res;
	double share;
};

static int by_share(const void *a, const void *b)
{
	const struct bottleneck *x = a, *y = b;

	if (fabs(x->share - y->share) > 1e-9)
		return x->share < y->share ? 1 : -1;
	return x->res - y->res;
}

/* Name and capacity of a resource. */
static json_t *resource(const struct findings *f, int j, int res)
{
	const struct plan_topology *t = f->w->t;
	double cap = f->w->model->cap[res] * f->w->model->unit;
	char text[2 * TOPO_NAME + 4];

	if (res < 2 * t->nlinks) {
		snprintf(text, sizeof(text), "%s - %s", name_of(f, arc_from(t, res)),
			 name_of(f, arc_to(t, res)));
		return json_pack("{s:s, s:f}", "link", text, "capacity", cap);
	}
	if (res == res_access(f->w->model, j))
		return json_pack("{s:s, s:f}", "access", "of each worker", "capacity", cap);
	return json_pack("{s:s, s:f}", "relay", name_of(f, (res - 2 * t->nlinks) % t->nnodes),
			 "capacity", cap);
}

static json_t *bottlenecks(const struct findings *f, int j)
{
	int nres = f->w->model->nres, i, n = 0;
	const double *dual = f->best.dual + (size_t)j * (size_t)nres;
	struct bottleneck *b = calloc((size_t)nres, sizeof(*b));
	json_t *list = json_array(), *v;

	for (i = 0; b && i < nres; i++)
		if (dual[i] > 0 && !isinf(f->w->model->cap[i]))
			b[n++] = (struct bottleneck){i,
						     dual[i] * f->w->model->cap[i] / f->best.g[j]};
	if (b)
		qsort(b, (size_t)n, sizeof(*b), by_share);
	for (i = 0; b && i < n && i < BOTTLENECKS; i++) {
		v = resource(f, j, b[i].res);
		json_object_set_new(v, "dual", json_real(dual[b[i].res]));
		json_object_set_new(v, "share", json_real(b[i].share));
		json_array_append_new(list, v);
	}
	free(b);
	return list;
}

static json_t *tree_json(const struct findings *f, const struct span *s, int weight)
{
	json_t *nodes = json_array(), *workers = json_array(), *v;
	int i;

	for (i = 0; i < s->ninner; i++) {
		v = json_pack("{s:s}", "node", name_of(f, s->inner[i]));
		if (s->up[i] >= 0)
			json_object_set_new(v, "up", json_integer(s->up[i]));
		json_array_append_new(nodes, v);
	}
	for (i = 0; i < s->n; i++)
		json_array_append_new(workers, json_integer(s->worker_up[i]));
	return json_pack("{s:i, s:i, s:o, s:o}", "id", s->id, "weight", weight, "nodes", nodes,
			 "workers", workers);
}

/* True if trees have different weights. */
static bool uneven(const struct schedule *sc)
{
	int i;

	for (i = 1; i < sc->ntree; i++)
		if (sc->weight[i] != sc->weight[0])
			return true;
	return false;
}

static int lp_trees(const struct findings *f, int j, struct rows *rows, int *next_tree,
		    const int *number, json_t *list)
{
	const struct job *job = &f->w->js->job[j];
	const struct schedule *sc = &f->sched[j];
	double rate = sc->rate * f->w->model->unit;
	struct span s = {0};
	int i, err = 0;

	for (i = 0; !err && i < sc->ntree; i++) {
		err = span_of_tree(&s, f->w, sc->tree[i]);
		s.id = (*next_tree)++;
		s.weight = uneven(sc) ? sc->weight[i] : 0;
		if (!err && rows)
			err = rows_add_job(rows, job, rate, &s);
		if (!err && rows)
			err = job->shared ? rows_add_shared(rows, job, &s, number)
					  : rows_add_tree(rows, job, &s);
		if (!err)
			json_array_append_new(list, tree_json(f, &s, sc->weight[i]));
		span_free(&s);
	}
	return err;
}

static int family_trees(const struct findings *f, int j, struct rows *rows, int *next_tree,
			json_t *list)
{
	const struct plan_topology *t = f->w->t;
	const struct job *job = &f->w->js->job[j];
	int n = families_bcube_count(t), i, family, owner, err;
	struct span s = {0};
	json_t *v;

	err = span_new(&s, job, job->nworkers);
	for (i = 0; !err && i < n; i++) {
		families_bcube_tree(t, i, &s, &family, &owner);
		s.id = (*next_tree)++;
		if (rows)
			err = rows_add_job(rows, job, families_bcube_rate(t), &s);
		if (!err && rows)
			err = rows_add_tree(rows, job, &s);
		v = tree_json(f, &s, 1);
		json_object_set_new(v, "family", json_integer(family));
		json_object_set_new(v, "owner", json_string(name_of(f, owner)));
		json_array_append_new(list, v);
	}
	span_free(&s);
	return err;
}

/* Names of hosts: @rows lists of @columns names, of the rows or the columns. */
static json_t *torus_lines(const struct plan_topology *t, int rows, int columns, int row_step,
			   int column_step)
{
	json_t *lines = json_array(), *line;
	int r, c;

	for (r = 0; r < rows; r++) {
		line = json_array();
		for (c = 0; c < columns; c++)
			json_array_append_new(
				line, json_string(t->node[r * row_step + c * column_step].name));
		json_array_append_new(lines, line);
	}
	return lines;
}

static json_t *torus_json(const struct plan_topology *t)
{
	return json_pack("{s:s, s:o, s:o}", "kind", "torus", "rows",
			 torus_lines(t, t->p, t->q, t->q, 1), "columns",
			 torus_lines(t, t->q, t->p, 1, t->q));
}

static json_t *schedule_json(const struct findings *f, int j)
{
	const struct schedule *sc = &f->sched[j];
	json_t *table;
	int i;

	switch (f->w->js->job[j].way) {
	case JOB_BCUBE:
		return json_pack("{s:s}", "kind", "ranges");
	case JOB_TORUS:
		return torus_json(f->w->t);
	default:
		table = json_array();
		for (i = 0; i < sc->n; i++)
			json_array_append_new(table, json_integer(sc->entry[i]));
		return json_pack("{s:s, s:o}", "kind", "table", "table", table);
	}
}

/* Relays in use. In shared pools all of them: their rows have the numbers. */
static json_t *relays_json(const struct findings *f, int j, const int *relay_number)
{
	const struct schedule *sc = &f->sched[j];
	json_t *list = json_array(), *v;
	bool used;
	int i, k, m, node;

	for (i = 0; i < f->sets.m[j]; i++) {
		used = false;
		for (k = 0; k < sc->ntree; k++)
			for (m = 0; m < sc->tree[k]->nrel; m++)
				used |= sc->tree[k]->rel[m] == f->sets.s[j][i];
		node = f->w->reach[j]->node[f->sets.s[j][i]];
		if (!used && !f->w->js->job[j].shared)
			continue;
		v = json_pack("{s:s}", "node", name_of(f, node));
		if (f->w->js->job[j].shared)
			json_object_set_new(v, "relay", json_integer(relay_number[node]));
		json_array_append_new(list, v);
	}
	return list;
}

static void put_rate(json_t *o, const char *key, double rate)
{
	if (rate >= 0)
		json_object_set_new(o, key, json_real(rate));
}

static void put_figures(const struct findings *f, int j, json_t *o)
{
	double unit = f->w->model->unit, rate;
	const struct job *job = &f->w->js->job[j];
	const struct plan_topology *t = f->w->t;

	rate = job->way == JOB_BCUBE   ? families_bcube_rate(t)
	       : job->way == JOB_TORUS ? families_torus_rate(t)
				       : f->sched[j].rate * unit;
	put_rate(o, "rate", rate);
	put_rate(o, "predicted", rate * goodput(t, job));
	if (job->way != JOB_TREE)
		return;
	put_rate(o, "tree_lp", f->best.g[j] * unit);
	put_rate(o, "seed_lp", f->seed[j] * unit);
	put_rate(o, "without_relays", f->direct[j] * unit);
	json_object_set_new(o, "bottlenecks", bottlenecks(f, j));
	if (f->more[j] >= 0)
		json_object_set_new(o, "one_more",
				    json_pack("{s:s, s:f}", "node", name_of(f, f->more[j]),
					      "tree_lp", f->more_rate[j] * unit));
}

json_t *emit_job(const struct findings *f, int j, struct rows *rows, int *next_tree,
		 const int *relay_number)
{
	static const char *const ways[] = {"tree", "bcube", "torus"};
	const struct job *job = &f->w->js->job[j];
	json_t *o, *workers = json_array(), *trees = json_array();
	int i, err = 0;

	for (i = 0; i < job->nworkers * job->ranks; i++)
		json_array_append_new(workers,
				      json_string(name_of(f, job->worker[i / job->ranks])));
	o = json_pack("{s:s, s:i, s:s, s:s, s:f}", "name", job->name, "id", job->id, "algorithm",
		      ways[job->way], "mode", job->shared ? "shared" : "dedicated", "weight",
		      job->weight);
	if (job->ps >= 0)
		json_object_set_new(o, "ps", json_string(name_of(f, job->ps)));
	if (job->ps_relay)
		json_object_set_new(o, "ps_relay", json_integer(relay_number[job->ps]));
	json_object_set_new(o, "workers", workers);
	if (job->way == JOB_TREE) {
		json_object_set_new(o, "max_relays", json_integer(job->max));
		json_object_set_new(o, "relays", relays_json(f, j, relay_number));
		err = lp_trees(f, j, rows, next_tree, relay_number, trees);
	} else if (job->way == JOB_BCUBE) {
		err = family_trees(f, j, rows, next_tree, trees);
	} else if (job->meet && rows) {
		/* Hosts need no tree to let ranks meet. */
		err = rows_add_job(rows, job, families_torus_rate(f->w->t),
				   &(struct span){.n = job->nworkers, .at = job->worker});
	}
	put_figures(f, j, o);
	json_object_set_new(o, "schedule", schedule_json(f, j));
	json_object_set_new(o, "trees", trees);
	if (!err)
		return o;
	json_decref(o);
	plan_fail(f->w->err, err,
		  err == -E2BIG ? "job %s: a node of a tree has more than 64 children"
				: "job %s: out of memory",
		  job->name);
	return NULL;
}
