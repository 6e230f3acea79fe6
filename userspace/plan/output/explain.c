// SPDX-License-Identifier: BSD-2-Clause
/*
 * The report on a plan for people: the rates of each job, its bottlenecks, and
 * the gain of one more relay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v ? json_number_value(v) : -1;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "-";
}

/* "9.25 Gb/s" */
static const char *rate(double v, char buf[32])
{
	static const char *const units[] = {"", "k", "M", "G", "T"};
	int i = 0;

	for (; v >= 999.5 && i < 4; i++)
		v /= 1000;
	snprintf(buf, 32, "%.3g %sb/s", v, units[i]);
	return buf;
}

static void figures(FILE *f, const json_t *job)
{
	double tree = number(job, "tree_lp"), seed = number(job, "seed_lp");
	double direct = number(job, "without_relays"), r = number(job, "rate");
	char a[32], b[32];

	fprintf(f, "  every worker sums   %s (%s on the wire, headers included)\n",
		rate(number(job, "predicted"), a), rate(r, b));
	if (tree < 0)
		return;
	fprintf(f, "  tree LP             %s", rate(tree, a));
	if (tree > 0)
		fprintf(f, "; the schedule reaches %.1f %% of it", 100 * r / tree);
	fprintf(f, "\n  seed LP             %s\n", rate(seed, a));
	if (direct > 0)
		fprintf(f, "  without relays      %s: %.3g times less\n", rate(direct, a),
			r / direct);
}

static void relays(FILE *f, const json_t *job)
{
	const json_t *list = json_object_get(job, "relays"), *v;
	size_t i;

	if (!list)
		return;
	fprintf(f, "  relays (%zu of %.0f)   ", json_array_size(list), number(job, "max_relays"));
	json_array_foreach(list, i, v)
		fprintf(f, "%s%s", i ? ", " : "", text(v, "node"));
	fprintf(f, "%s%s\n", i ? "" : "none",
		json_object_get(job, "ps_relay") ? "; and the host of the ps" : "");
}

static void bottlenecks(FILE *f, const json_t *job)
{
	const json_t *list = json_object_get(job, "bottlenecks"), *v;
	const char *kind;
	char a[32];
	size_t i;

	if (!json_array_size(list))
		return;
	fprintf(f, "  bottlenecks (what 1 b/s more would bring, share of the rate)\n");
	json_array_foreach(list, i, v) {
		kind = json_object_get(v, "link")    ? "link"
		       : json_object_get(v, "relay") ? "relay"
						     : "access";
		fprintf(f, "    %-6s %-24s %10s  %8.4f  %5.1f %%\n", kind, text(v, kind),
			rate(number(v, "capacity"), a), number(v, "dual"),
			100 * number(v, "share"));
	}
}

static void one_more(FILE *f, const json_t *job)
{
	const json_t *more = json_object_get(job, "one_more");
	double tree = number(job, "tree_lp"), then = number(more, "tree_lp");
	char a[32];

	if (!more || !(tree > 0))
		return;
	if (then <= tree * 1.0005)
		fprintf(f, "  one more relay      would bring nothing\n");
	else
		fprintf(f, "  one more relay      at %s: %s, %+.1f %%\n", text(more, "node"),
			rate(then, a), 100 * (then / tree - 1));
}

static void explain_job(FILE *f, const json_t *job)
{
	fprintf(f, "\njob %s: %zu workers, %s, %s%s%s, %zu trees\n", text(job, "name"),
		json_array_size(json_object_get(job, "workers")), text(job, "algorithm"),
		text(job, "mode"), json_object_get(job, "ps") ? ", ps " : "",
		json_object_get(job, "ps") ? text(job, "ps") : "",
		json_array_size(json_object_get(job, "trees")));
	figures(f, job);
	relays(f, job);
	bottlenecks(f, job);
	one_more(f, job);
}

char *plan_explain(const json_t *plan)
{
	const json_t *topo = json_object_get(plan, "topology"), *v;
	const json_t *notes = json_object_get(plan, "notes");
	char *out = NULL;
	size_t size, i;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		return NULL;
	fprintf(f, "topology %s: %zu nodes, %zu links\n", text(topo, "name"),
		json_array_size(json_object_get(topo, "nodes")),
		json_array_size(json_object_get(topo, "links")));
	json_array_foreach(json_object_get(plan, "jobs"), i, v)
		explain_job(f, v);
	json_array_foreach(notes, i, v)
		fprintf(f, "%snote: %s\n", i ? "" : "\n",
			json_string_value(v) ? json_string_value(v) : "-");
	if (fclose(f)) {
		free(out);
		return NULL;
	}
	return out;
}
