// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes the plan: topology with loads, jobs, rows, notes.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "plan/search/families.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_wire.h"

/* Sum bit/s in each direction of every link with all jobs as scheduled. */
static void sum_loads(const struct findings *f, double *load)
{
	struct work *w = f->w;
	int j, i, k, narcs = 2 * w->t->nlinks;

	for (j = 0; j < w->njobs; j++) {
		const struct schedule *s = &f->sched[j];
		double rate = s->rate * w->model->unit;

		if (!work_by_lp(w, j))
			continue;
		for (i = 0; i < s->ntree; i++)
			for (k = 0; k < s->tree[i]->nres; k++)
				if (s->tree[i]->res[k] < narcs)
					load[s->tree[i]->res[k] / 2] +=
						rate * s->weight[i] / s->n * s->tree[i]->amount[k];
		/* Access links that share one resource. */
		for (i = 0; i < w->model->job[j].ngroup; i++) {
			const struct group *g = &w->model->job[j].group[i];

			for (k = 0; k < g->n; k++) {
				int node = w->js->job[j].worker[g->worker[k]];

				if (node != g->at)
					load[w->model->up[node] / 2] += rate;
			}
		}
	}
}

static json_t *topology(const struct findings *f)
{
	const struct plan_topology *t = f->w->t;
	double *load = calloc((size_t)t->nlinks + 1, sizeof(double));
	json_t *nodes = json_array(), *links = json_array();
	int i;

	if (!load)
		return NULL;
	sum_loads(f, load);
	for (i = 0; i < t->nnodes; i++)
		json_array_append_new(nodes, json_pack("{s:s, s:b, s:f, s:f}", "name",
						       t->node[i].name, "host", t->node[i].host,
						       "x", t->node[i].x, "y", t->node[i].y));
	for (i = 0; i < t->nlinks; i++)
		json_array_append_new(links, json_pack("{s:i, s:i, s:f, s:[f, f]}", "a",
						       t->link[i].a, "b", t->link[i].b, "capacity",
						       t->link[i].cap, "load", load[i], load[i]));
	free(load);
	return json_pack("{s:s, s:o, s:o}", "name", t->name, "nodes", nodes, "links", links);
}

static void note(json_t *notes, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(json_t *notes, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(notes, json_string(text));
}

/* Number of rows for trees. */
static double count_rows(const struct findings *f)
{
	double n = 0;
	int j;

	for (j = 0; j < f->w->njobs; j++) {
		const struct job *job = &f->w->js->job[j];

		if (job->way == JOB_BCUBE)
			n += (double)families_bcube_count(f->w->t) * job->nworkers;
		else if (job->way == JOB_TREE)
			n += (double)f->sched[j].ntree *
			     (job->nworkers + f->sets.m[j] + 1 + job->ps_relay);
	}
	return n;
}

/* True if rows are wanted and possible; otherwise a note says why not. */
static bool want_rows(const struct findings *f, json_t *notes)
{
	const struct plan_topology *t = f->w->t;
	int i = t->unplaced / 2;

	if (f->w->opt->no_rows)
		return false;
	if (t->unplaced >= 0) {
		note(notes, "no rows for hosts: links[%d] (%s to %s) lacks %s_dev or %s_addr", i,
		     t->node[t->link[i].a].name, t->node[t->link[i].b].name,
		     t->unplaced & 1 ? "b" : "a", t->unplaced & 1 ? "b" : "a");
		return false;
	}
	if (count_rows(f) > PLAN_ROWS_MAX) {
		note(notes, "no rows for hosts: %.0f rows for trees: at most %d", count_rows(f),
		     PLAN_ROWS_MAX);
		return false;
	}
	return true;
}

/* Nodes that may relay get a row: they may have trees of a former plan. */
static void add_idle(const struct findings *f, struct rows *rows)
{
	int i;

	for (i = 0; rows && i < f->w->t->nnodes; i++)
		if (f->w->t->node[i].relay)
			(void)rows_host(rows, i);
}

static void add_notes(const struct findings *f, const struct rows *rows, json_t *notes)
{
	int j, trees;

	for (j = 0; j < f->w->njobs; j++) {
		const struct job *job = &f->w->js->job[j];

		if (!*job->key)
			note(notes, "job %s: no key: trib apply makes one for all hosts",
			     job->name);
		trees = job->way == JOB_BCUBE ? families_bcube_count(f->w->t) : 0;
		if (trees > TRIB_ATTACH_TREES)
			note(notes,
			     "job %s: %d trees: libtrib attaches to at most %d of a job; the peer engine has no such limit",
			     job->name, trees, TRIB_ATTACH_TREES);
	}
	if (rows && rows->multicast)
		note(notes,
		     "results to several children behind one port are multicast to groups in 239.77.0.0/16: the switches between must deliver these");
	if (rows && rows->local)
		note(notes,
		     "hosts that both work and sum need a veth pair trib0 (169.254.77.1) and trib1 (169.254.77.2)");
}

/* Number the relays of shared pools from 1 in the order of the topology. */
static int *number_relays(const struct findings *f)
{
	int *number = calloc((size_t)f->w->t->nnodes, sizeof(int));
	int j, i, n = 0;

	for (j = 0; number && j < f->w->njobs; j++)
		for (i = 0; i < f->sets.m[j]; i++)
			if (f->w->js->job[j].shared)
				number[f->w->reach[j]->node[f->sets.s[j][i]]] = 1;
	for (j = 0; number && j < f->w->njobs; j++)
		if (f->w->js->job[j].ps_relay)
			number[f->w->js->job[j].ps] = 1;
	for (i = 0; number && i < f->w->t->nnodes; i++)
		if (number[i])
			number[i] = ++n;
	return number;
}

/* Refuses plans with too many trees. */
static int emit_jobs(const struct findings *f, struct rows *rows, json_t *jobs)
{
	int *number = number_relays(f), next_tree = 1, j, err = 0;
	json_t *o;

	if (!number)
		return plan_fail(f->w->err, -ENOMEM, "out of memory");
	if (count_rows(f) > 4.0 * PLAN_ROWS_MAX)
		err = plan_fail(f->w->err, -E2BIG,
				"%.0f nodes in all trees: at most %d; use fewer jobs or trees",
				count_rows(f), 4 * PLAN_ROWS_MAX);
	for (j = 0; !err && j < f->w->njobs; j++) {
		o = emit_job(f, j, rows, &next_tree, number);
		if (!o)
			err = -EINVAL;
		else if (json_array_append_new(jobs, o))
			err = plan_fail(f->w->err, -ENOMEM, "out of memory");
	}
	if (!err && next_tree > 65536)
		err = plan_fail(f->w->err, -E2BIG, "%d trees: at most 65535 in a cluster",
				next_tree - 1);
	free(number);
	return err;
}

int emit_plan(const struct findings *f, json_t **out)
{
	json_t *notes = json_array(), *jobs = json_array(), *hosts = NULL;
	struct rows *rows = NULL;
	int err = 0;

	if (want_rows(f, notes))
		err = rows_new(&rows, f->w->model, f->w->err);
	if (err)
		plan_fail(f->w->err, err, "out of memory");
	if (!err)
		err = emit_jobs(f, rows, jobs);
	add_notes(f, rows, notes);
	if (!err && rows) {
		add_idle(f, rows);
		hosts = rows_list(rows);
	}
	rows_free(rows);
	if (err) {
		json_decref(notes);
		json_decref(jobs);
		return err;
	}
	*out = json_pack("{s:s, s:i, s:o, s:o, s:o, s:o}", "tributary", "plan", "version", 1,
			 "topology", topology(f), "jobs", jobs, "hosts",
			 hosts ? hosts : json_array(), "notes", notes);
	return *out ? 0 : plan_fail(f->w->err, -ENOMEM, "out of memory");
}
