// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads plans and checks the fields that the report and the drawing use.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/doc/doc.h"

static int want_number(const struct json_read *d, const struct json_at *at, const json_t *o,
		       const char *key, bool needed)
{
	const json_t *v = json_object_get(o, key);

	if (!v)
		return needed ? json_read_fail(d, at, "%s is missing", key) : 0;
	if (!json_is_number(v) || !(json_number_value(v) >= -1e18) ||
	    !(json_number_value(v) <= 1e18))
		return json_read_fail(d, &JSON_KEY(at, key),
				      "is not a number within -1e18 to 1e18");
	return 0;
}

static int want_list(const struct json_read *d, const struct json_at *at, const json_t *o,
		     const char *key, size_t max, const json_t **list)
{
	*list = json_object_get(o, key);
	if (!*list)
		return json_read_fail(d, at, "%s is missing", key);
	return json_read_array(d, &JSON_KEY(at, key), *list, max);
}

static int want_name(const struct json_read *d, const struct json_at *at, const json_t *o,
		     const char *key)
{
	const char *name = NULL;
	int err = json_read_string(d, at, o, key, JSON_NEEDED, &name);

	return err ? err : doc_name(d, &JSON_KEY(at, key), name);
}

static int is_object(const struct json_read *d, const struct json_at *at, const json_t *v)
{
	return json_is_object(v) ? 0 : json_read_fail(d, at, "is not an object");
}

static int check_links(const struct json_read *d, const struct json_at *at, const json_t *links,
		       size_t nnodes)
{
	const struct json_at list = JSON_KEY(at, "links");
	const json_t *v, *load;
	int64_t n;
	size_t i;
	int err;

	json_array_foreach(links, i, v) {
		const struct json_at here = JSON_INDEX(&list, i);

		err = is_object(d, &here, v);
		if (!err)
			err = json_read_int(d, &here, v, "a", JSON_NEEDED, 0, (int64_t)nnodes - 1,
					    &n);
		if (!err)
			err = json_read_int(d, &here, v, "b", JSON_NEEDED, 0, (int64_t)nnodes - 1,
					    &n);
		if (!err)
			err = want_number(d, &here, v, "capacity", JSON_NEEDED);
		if (!err && !(json_number_value(json_object_get(v, "capacity")) > 0))
			err = json_read_fail(d, &JSON_KEY(&here, "capacity"), "must be above 0");
		load = json_object_get(v, "load");
		if (!err &&
		    (json_array_size(load) != 2 || !json_is_number(json_array_get(load, 0)) ||
		     !json_is_number(json_array_get(load, 1))))
			err = json_read_fail(d, &here, "load is not a list of two numbers");
		if (err)
			return err;
	}
	return 0;
}

static int check_topology(const struct json_read *d)
{
	const json_t *t = json_object_get(d->root, "topology"), *nodes, *links;
	const struct json_at at = JSON_KEY(NULL, "topology");
	const struct json_at list = JSON_KEY(&at, "nodes");
	const json_t *v;
	size_t i;
	int err;

	if (!t)
		return json_read_fail(d, NULL, "topology is missing");
	err = is_object(d, &at, t);
	if (!err)
		err = want_name(d, &at, t, "name");
	if (err && json_is_string(json_object_get(t, "name")))
		err = 0; /* builtin topologies have names like "fat-tree:8" */
	if (!err)
		err = want_list(d, &at, t, "nodes", PLAN_NODES_MAX, &nodes);
	if (!err)
		err = want_list(d, &at, t, "links", PLAN_LINKS_MAX, &links);
	if (err)
		return err;
	json_array_foreach(nodes, i, v) {
		const struct json_at here = JSON_INDEX(&list, i);

		err = is_object(d, &here, v);
		if (!err)
			err = want_name(d, &here, v, "name");
		if (!err)
			err = want_number(d, &here, v, "x", JSON_NEEDED);
		if (!err)
			err = want_number(d, &here, v, "y", JSON_NEEDED);
		if (err)
			return err;
	}
	return check_links(d, &at, links, json_array_size(nodes));
}

static int check_figures(const struct json_read *d, const struct json_at *at, const json_t *job)
{
	static const char *const keys[] = {"rate",	     "predicted",  "tree_lp", "seed_lp",
					   "without_relays", "max_relays", "weight"};
	const struct json_at b = JSON_KEY(at, "bottlenecks");
	const struct json_at more_at = JSON_KEY(at, "one_more");
	const json_t *list = json_object_get(job, "bottlenecks"), *v;
	const json_t *more = json_object_get(job, "one_more");
	int err = 0;
	size_t i;

	for (i = 0; !err && i < sizeof(keys) / sizeof(keys[0]); i++)
		err = want_number(d, at, job, keys[i], i < 2);
	if (!err && list)
		err = json_read_array(d, &b, list, 1024);
	json_array_foreach(list, i, v) {
		const struct json_at here = JSON_INDEX(&b, i);

		if (!err)
			err = is_object(d, &here, v);
		if (!err)
			err = want_number(d, &here, v, "capacity", JSON_NEEDED);
		if (!err)
			err = want_number(d, &here, v, "dual", JSON_NEEDED);
		if (!err)
			err = want_number(d, &here, v, "share", JSON_NEEDED);
	}
	if (!err && more)
		err = is_object(d, &more_at, more);
	if (!err && more)
		err = want_name(d, &more_at, more, "node");
	if (!err && more)
		err = want_number(d, &more_at, more, "tree_lp", JSON_NEEDED);
	return err;
}

static int check_job(const struct json_read *d, const struct json_at *at, const json_t *job)
{
	const json_t *list, *v;
	const struct json_at relays = JSON_KEY(at, "relays");
	const char *name = NULL;
	size_t i;
	int err;

	err = is_object(d, at, job);
	if (!err)
		err = json_read_string(d, at, job, "name", JSON_NEEDED, &name);
	if (!err)
		err = doc_job_name(d, &JSON_KEY(at, "name"), name);
	if (!err)
		err = want_list(d, at, job, "workers", PLAN_NODES_MAX, &list);
	if (!err)
		err = want_list(d, at, job, "trees", 65535, &list);
	if (!err && json_object_get(job, "relays"))
		err = want_list(d, at, job, "relays", PLAN_NODES_MAX, &list);
	if (!err && json_object_get(job, "relays"))
		json_array_foreach(list, i, v) {
			const struct json_at here = JSON_INDEX(&relays, i);

			if (!err)
				err = is_object(d, &here, v);
			if (!err)
				err = want_name(d, &here, v, "node");
		}
	return err ? err : check_figures(d, at, job);
}

static int check(const struct json_read *d)
{
	const struct json_at at = JSON_KEY(NULL, "jobs");
	const char *what = NULL;
	int64_t version = 0;
	const json_t *jobs, *v;
	size_t i;
	int err;

	err = is_object(d, NULL, d->root);
	if (!err)
		err = json_read_string(d, NULL, d->root, "tributary", JSON_NEEDED, &what);
	if (!err && strcmp(what, "plan"))
		err = json_read_fail(d, &JSON_KEY(NULL, "tributary"), "\"%.40s\" is not a plan",
				     what);
	if (!err)
		err = json_read_int(d, NULL, d->root, "version", JSON_NEEDED, 1, 1, &version);
	if (!err)
		err = check_topology(d);
	if (!err)
		err = want_list(d, NULL, d->root, "jobs", PLAN_JOBS_MAX, &jobs);
	if (err)
		return err;
	json_array_foreach(jobs, i, v)
		if (!err)
			err = check_job(d, &JSON_INDEX(&at, i), v);
	return err;
}

int plan_read(json_t **out, const char *name, const char *text, size_t len, struct plan_error *err)
{
	struct json_read d;
	int rc;

	*out = NULL;
	rc = doc_open(&d, name, text, len, err);
	if (rc)
		return rc;
	rc = check(&d);
	if (rc)
		json_read_close(&d);
	else
		*out = d.root;
	return rc;
}
