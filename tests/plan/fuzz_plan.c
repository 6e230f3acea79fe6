// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fuzzes the readers of topologies, jobs and plans; the first byte selects one.
 * Jobs use a builtin topology. An error must name a place. Accepted input must
 * survive planning, the report and the drawing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

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

static void topology(const char *text, size_t len)
{
	struct plan_error e = {""};
	struct plan_topology *t;
	json_t *out;
	int rc = plan_topology_parse(&t, "f", text, len, &e);

	says_where(rc, &e);
	if (rc)
		return;
	must(!plan_wiring_check(t, NULL, 0, &out), "wiring");
	json_decref(out);
	plan_topology_free(t);
}

static void jobs(const char *text, size_t len)
{
	struct plan_error e = {""};
	struct plan_topology *t;
	struct plan_jobs *js;
	json_t *plan = NULL;
	int rc;

	must(!plan_topology_builtin(&t, "two-tier:2,2", &e), e.text);
	rc = plan_jobs_parse(&js, t, "f", text, len, &e);
	says_where(rc, &e);
	if (!rc) {
		rc = plan_make(js, NULL, &plan, &e);
		must(!rc || *e.text, "no plan, and no reason");
		if (!rc)
			look(plan);
		json_decref(plan);
		plan_jobs_free(js);
	}
	plan_topology_free(t);
}

static void plan(const char *text, size_t len)
{
	struct plan_error e = {""};
	json_t *p;
	int rc = plan_read(&p, "f", text, len, &e);

	says_where(rc, &e);
	if (rc)
		return;
	look(p);
	json_decref(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (size) {
		memcpy(text, data + 1, size - 1);
		if (data[0] == 't')
			topology(text, size - 1);
		else if (data[0] == 'j')
			jobs(text, size - 1);
		else
			plan(text, size - 1);
	}
	free(text);
	return 0;
}
