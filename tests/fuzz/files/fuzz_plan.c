// SPDX-License-Identifier: BSD-2-Clause
/*
 * The readers of topologies, jobs and plans: a program for each, by FUZZ_READS. An
 * error names a place. Accepted input survives planning, the report and the
 * drawing; and what the planner writes, it reads again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/topo/topo.h"
#include "mutate.h"

/* The paths of more nodes take too long for an input. */
#define NETWORK_NODES 64

const size_t mutate_from = FUZZ_READS == 1;

static void must(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "plan: %s\n", what);
	abort();
}

static void says_where(int rc, const struct plan_error *e)
{
	must(!rc || *e->text, "an error without text");
	must(!rc || !strncmp(e->text, "f:", 2), e->text);
	must(!strpbrk(e->text, "\r\n"), "an error of several lines");
}

static void look(const json_t *plan)
{
	char *s = plan_explain(plan), *d = plan_draw(plan);

	must(s && d, "neither a report nor a drawing");
	free(s);
	free(d);
}

/* --- topologies */

/* The document that describes a network is a topology of as many nodes. */
static void network(struct plan_topology *t)
{
	struct plan_error e = {""};
	struct plan_topology *again;
	json_t *net;
	char *text;
	int rc = plan_network(t, &net, &e);

	must(!rc || *e.text, "no network, and no reason");
	if (rc)
		return;
	text = json_dumps(json_object_get(net, "topology"), 0);
	rc = plan_topology_parse(&again, "f", text, strlen(text), &e);
	must(!rc, e.text);
	must(again->nnodes == t->nnodes && again->nlinks == t->nlinks, "another network");
	plan_topology_free(again);
	free(text);
	json_decref(net);
}

static void topology(const char *text, size_t len)
{
	struct plan_error e = {""};
	struct plan_topology *t;
	struct plan_port *port;
	json_t *out;
	size_t n;
	int rc = plan_topology_parse(&t, "f", text, len, &e);

	says_where(rc, &e);
	if (rc)
		return;
	must(!plan_wiring_check(t, NULL, 0, &out), "wiring");
	json_decref(out);
	for (int i = 0; i < t->nnodes && i < NETWORK_NODES; i++)
		if (!plan_topology_ports(t, t->node[i].name, &port, &n))
			plan_ports_free(port, n);
	if (t->nnodes <= NETWORK_NODES)
		network(t);
	plan_topology_free(t);
}

/* --- plans */

static void plan(const char *text, size_t len)
{
	struct plan_error e = {""};
	json_t *p, *again = NULL;
	char *out;
	int rc = plan_read(&p, "f", text, len, &e);

	says_where(rc, &e);
	if (rc)
		return;
	look(p);
	out = plan_write(p);
	must(out && !plan_read(&again, "f", out, strlen(out), &e), e.text);
	json_decref(again);
	free(out);
	json_decref(p);
}

/* --- jobs */

/*
 * Planning forks a solver, which takes longer than 30 readings: one input in
 * PLANNED is planned, chosen by its own bytes, so a finding repeats.
 */
#define PLANNED 16

static int is_planned(const char *text, size_t len)
{
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + (unsigned char)text[i];
	return (sum ^ sum >> 16) % PLANNED == 0;
}

static void make_plan(const struct plan_jobs *js)
{
	struct plan_error e = {""};
	json_t *made = NULL;
	int rc = plan_make(js, NULL, &made, &e);
	char *out;

	must(!rc || *e.text, "no plan, and no reason");
	out = rc ? NULL : plan_write(made);
	if (out)
		plan(out, strlen(out));
	free(out);
	json_decref(made);
}

/* The first byte selects the topology. */
static void jobs(const char *text, size_t len)
{
	static const char *const on[] = {"two-tier:2,2", "star:3", "bcube:2,2", "torus:2,2"};
	struct plan_error e = {""};
	struct plan_topology *t;
	struct plan_jobs *js;
	int rc;

	if (!len)
		return;
	must(!plan_topology_builtin(&t, on[*text & 3], &e), e.text);
	rc = plan_jobs_parse(&js, t, "f", text + 1, len - 1, &e);
	says_where(rc, &e);
	if (!rc && is_planned(text, len))
		make_plan(js);
	if (!rc)
		plan_jobs_free(js);
	plan_topology_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const reads[])(const char *text, size_t len) = {topology, jobs, plan};
	char *text = malloc(size + !size);

	if (size)
		memcpy(text, data, size);
	reads[FUZZ_READS](text, size);
	free(text);
	return 0;
}
