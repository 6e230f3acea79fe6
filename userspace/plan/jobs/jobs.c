// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the jobs document and checks each job.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "jobs.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_maps.h"

_Static_assert(PLAN_TREES_MAX <= TRIB_ATTACH_TREES, "trees of a job");

void plan_jobs_free(struct plan_jobs *j)
{
	int i;

	if (!j)
		return;
	for (i = 0; j->job && i < j->n; i++) {
		free(j->job[i].worker);
		free(j->job[i].may);
		json_decref(j->job[i].owner);
	}
	free(j->job);
	free(j);
}

static int parse_way(struct job *j, const struct plan_topology *t, const struct json_read *d,
		     const struct json_at *at, const json_t *v)
{
	static const char *const ways[] = {"tree", "bcube", "torus"};
	static const enum topo_kind kinds[] = {TOPO_PLAIN, TOPO_BCUBE, TOPO_TORUS};
	const struct json_at key = JSON_KEY(at, "algorithm");
	const char *name = NULL;
	int err, i, hosts = 0;

	err = json_read_string(d, at, v, "algorithm", JSON_OPTIONAL, &name);
	if (err)
		return err;
	for (i = 0; i < t->nnodes; i++)
		hosts += t->node[i].host;
	j->way = JOB_TREE;
	if (!name || !strcmp(name, "auto")) {
		for (i = 1; i < 3; i++)
			if (t->kind == kinds[i] && j->ps < 0 && j->nworkers == hosts)
				j->way = (enum job_way)i;
		return 0;
	}
	for (i = 0; i < 3 && strcmp(ways[i], name);)
		i++;
	if (i == 3)
		return json_read_fail(d, &key, "\"%.40s\" is not auto, tree, bcube or torus", name);
	if (i && t->kind != kinds[i])
		return json_read_fail(d, &key, "the topology is not a %s: use \"tree\"", name);
	if (i && j->ps >= 0)
		return json_read_fail(d, &key, "%s works without a ps: remove it", name);
	if (i && j->nworkers != hosts)
		return json_read_fail(d, &key, "%s needs all %d hosts as workers, the job has %d",
				      name, hosts, j->nworkers);
	j->way = (enum job_way)i;
	return 0;
}

static int parse_mode(struct job *j, const struct json_read *d, const struct json_at *at,
		      const json_t *v)
{
	const struct json_at key = JSON_KEY(at, "mode");
	const char *mode = "dedicated";
	int err;

	err = json_read_string(d, at, v, "mode", JSON_OPTIONAL, &mode);
	if (err)
		return err;
	j->shared = !strcmp(mode, "shared");
	if (!j->shared && strcmp(mode, "dedicated"))
		return json_read_fail(d, &key, "\"%.40s\" is not dedicated or shared", mode);
	if (j->shared && j->ps < 0)
		return json_read_fail(d, &key, "shared pools need a ps: name one");
	if (j->shared && j->way != JOB_TREE)
		return json_read_fail(d, &key, "shared pools need \"algorithm\": \"tree\"");
	j->ps_relay = j->shared;
	if (!j->shared && json_object_get(v, "ps_relay"))
		return json_read_fail(d, &JSON_KEY(at, "ps_relay"),
				      "is for shared pools only: remove it");
	return json_read_bool(d, at, v, "ps_relay", &j->ps_relay);
}

static int parse_dtype(struct job *j, const struct json_read *d, const struct json_at *at,
		       const char *text)
{
	__u8 fmt = trib_dtype_parse(text);

	if (!fmt)
		return json_read_fail(d, &JSON_KEY(at, "dtype"),
				      "\"%s\" is not int, f32, f16 or bf16", text);
	if (trib_fmt_is_float(fmt) && j->shared)
		return json_read_fail(d, &JSON_KEY(at, "dtype"),
				      "\"%s\": shared pools add up integers only", text);
	j->dtype = trib_fmt_is_float(fmt) ? trib_dtype_name(fmt) : NULL;
	return 0;
}

/* Read true, false, or ADDR:PORT. */
static int parse_peers(struct job *j, const struct json_read *d, const struct json_at *at,
		       const json_t *v)
{
	const json_t *peers = json_object_get(v, "peers");
	const char *text = json_string_value(peers), *bad;
	struct in6_addr ip;
	uint16_t port;

	j->meet = peers && !json_is_false(peers);
	if (!peers || json_is_boolean(peers))
		return 0;
	if (!text)
		return json_read_fail(d, &JSON_KEY(at, "peers"), "wanted true or ADDR:PORT");
	bad = addr_parse_meeting(text, &ip, &port);
	if (bad)
		return json_read_fail(d, &JSON_KEY(at, "peers"), "\"%.60s\" %s", text, bad);
	addr_text_port(&ip, port, j->peers);
	return 0;
}

/* Read the settings that `trib job add` has too. */
static int parse_settings(struct job *j, const struct json_read *d, const struct json_at *at,
			  const json_t *v)
{
	const json_t *owner = json_object_get(v, "owner");
	int64_t window = 0, timeout = 0, nval = TRIB_NVAL_SMALL, trees = 16;
	const char *key = NULL, *dtype = NULL;
	struct trib_key parsed;
	int err;

	err = json_read_int(d, at, v, "window", JSON_OPTIONAL, 1, 16384, &window);
	if (!err && (window & (window - 1)))
		err = json_read_fail(d, &JSON_KEY(at, "window"), "%lld: wanted a power of 2",
				     (long long)window);
	if (!err)
		err = json_read_int(d, at, v, "timeout", JSON_OPTIONAL, 1, 3600000, &timeout);
	if (!err)
		err = json_read_int(d, at, v, "values", JSON_OPTIONAL, TRIB_NVAL_BLOCK,
				    TRIB_NVAL_LARGE, &nval);
	if (!err)
		err = json_read_int(d, at, v, "trees", JSON_OPTIONAL, 1, PLAN_TREES_MAX, &trees);
	if (!err)
		err = json_read_string(d, at, v, "key", JSON_OPTIONAL, &key);
	if (!err)
		err = json_read_string(d, at, v, "dtype", JSON_OPTIONAL, &dtype);
	if (!err && dtype)
		err = parse_dtype(j, d, at, dtype);
	if (err)
		return err;
	if (key && text_key(key, &parsed))
		return json_read_fail(d, &JSON_KEY(at, "key"), "wanted %d hexadecimal digits",
				      (int)TRIB_KEY_HEX);
	if (key)
		snprintf(j->key, sizeof(j->key), "%s", key);
	if (json_is_string(owner)) {
		err = doc_name(d, &JSON_KEY(at, "owner"), json_string_value(owner));
		if (err)
			return err;
	} else if (owner && (!json_is_integer(owner) || json_integer_value(owner) < 0 ||
			     json_integer_value(owner) > 4294967294LL)) {
		return json_read_fail(d, &JSON_KEY(at, "owner"), "wanted a user's name or number");
	}
	j->owner = json_incref((json_t *)owner);
	j->window = (int)window;
	j->timeout = (int)timeout;
	j->nval = (int)nval;
	j->trees = (int)trees;
	return 0;
}

/* Read how many ranks each host has. */
static int parse_ranks(struct job *j, const struct json_read *d, const struct json_at *at,
		       const json_t *v)
{
	const struct json_at key = JSON_KEY(at, "ranks");
	int64_t ranks = 1;
	int err = json_read_int(d, at, v, "ranks", JSON_OPTIONAL, 1, TRIB_RINGS_MAX, &ranks);

	j->ranks = (int)ranks;
	if (err || ranks == 1)
		return err;
	if (j->shared)
		return json_read_fail(d, &key,
				      "several ranks of a host need \"mode\": \"dedicated\"");
	if (j->way != JOB_TREE)
		return json_read_fail(d, &key,
				      "several ranks of a host need \"algorithm\": \"tree\"");
	if (j->nworkers * ranks > TRIB_WORLD_MAX)
		return json_read_fail(d, &key, "%d hosts have %lld ranks: at most %d", j->nworkers,
				      (long long)(j->nworkers * ranks), TRIB_WORLD_MAX);
	return 0;
}

/* Check that some node sums, and that the workers fit below the relays. */
static int check_room(struct job *j, const struct plan_topology *t, const struct json_read *d,
		      const struct json_at *at)
{
	const struct json_at key = JSON_KEY(at, "max_relays");
	int relays = j->max < j->nmay ? j->max : j->nmay;
	long room;

	if (j->way != JOB_TREE)
		return 0;
	if (!j->max)
		j->nmay = 0;
	if (j->ps < 0 && !j->max)
		return json_read_fail(d, &key,
				      "0 without a ps: no node would sum; raise it or name a ps");
	if (j->ps < 0 && !j->nmay)
		return json_read_fail(d, at,
				      "no node may relay and there is no ps: no node would sum");
	if (j->tor_free && j->tor < 0)
		return json_read_fail(d, &JSON_KEY(at, "ps_tor_relay"),
				      "%s is not behind exactly one switch that can relay",
				      j->ps < 0 ? "no ps" : t->node[j->ps].name);
	relays += j->tor_free ? 1 : 0;
	room = (long)(TRIB_CHILDREN_MAX - 1) * relays + (j->ps < 0   ? 1
							 : j->shared ? TRIB_WORLD_MAX
								     : TRIB_CHILDREN_MAX);
	if (j->nworkers > room)
		return json_read_fail(
			d, &key,
			"%d workers do not fit: with %d relays and %d children each there is room for %ld",
			j->nworkers, relays, TRIB_CHILDREN_MAX, room);
	return 0;
}

static int parse_job(struct job *j, const struct plan_topology *t, const struct json_read *d,
		     const struct json_at *at, const json_t *v)
{
	static const char *const keys[] = {
		"name",	  "id",	       "workers",  "ps",     "max_relays",
		"relays", "weight",    "mode",	   "owner",  "ps_tor_relay",
		"window", "timeout",   "key",	   "values", "relay_capacity",
		"trees",  "algorithm", "ps_relay", "dtype",  "ranks",
		"peers",  NULL};
	int64_t max = 0, id = j->id;
	const char *name = NULL;
	int err, i;

	j->ps = j->tor = -1;
	j->cap = INFINITY;
	j->weight = 1;
	err = json_read_object(d, at, v, keys);
	if (!err)
		err = json_read_string(d, at, v, "name", JSON_NEEDED, &name);
	if (!err)
		err = doc_job_name(d, &JSON_KEY(at, "name"), name);
	if (!err)
		snprintf(j->name, sizeof(j->name), "%s", name);
	if (!err)
		err = json_read_int(d, at, v, "id", JSON_OPTIONAL, 1, 65535, &id);
	j->id = (int)id;
	if (!err)
		err = job_parse_ps(j, t, d, at, v);
	if (!err)
		err = job_parse_workers(j, t, d, at, v);
	if (!err)
		err = parse_way(j, t, d, at, v);
	/* Formulas number the servers: rank i is server i. */
	for (i = 0; !err && j->way != JOB_TREE && i < j->nworkers; i++)
		j->worker[i] = i;
	if (!err)
		err = parse_mode(j, d, at, v);
	if (!err)
		err = parse_ranks(j, d, at, v);
	if (!err)
		err = job_parse_relays(j, t, d, at, v);
	if (!err)
		err = json_read_int(d, at, v, "max_relays", j->way == JOB_TREE, 0, PLAN_RELAYS_MAX,
				    &max);
	j->max = (int)max;
	if (!err)
		err = json_read_rate(d, at, v, "relay_capacity", JSON_OPTIONAL, &j->cap);
	if (!err)
		err = json_read_rate(d, at, v, "weight", JSON_OPTIONAL, &j->weight);
	if (!err && (j->weight < 1e-3 || j->weight > 1e3))
		err = json_read_fail(d, &JSON_KEY(at, "weight"), "%g is not within 0.001 to 1000",
				     j->weight);
	if (!err)
		err = json_read_bool(d, at, v, "ps_tor_relay", &j->tor_free);
	if (!err)
		err = parse_settings(j, d, at, v);
	if (!err)
		err = parse_peers(j, d, at, v);
	return err ? err : check_room(j, t, d, at);
}

static int parse(struct plan_jobs *js, const struct json_read *d)
{
	static const char *const keys[] = {"jobs", NULL};
	const struct json_at at = JSON_KEY(NULL, "jobs");
	const json_t *list = json_object_get(d->root, "jobs"), *v;
	size_t i, k;
	int err;

	err = json_read_object(d, NULL, d->root, keys);
	if (!err && !list)
		err = json_read_fail(d, NULL, "jobs is missing");
	if (!err)
		err = json_read_array(d, &at, list, PLAN_JOBS_MAX);
	if (!err && !json_array_size(list))
		err = json_read_fail(d, &at, "there are no jobs");
	if (err)
		return err;
	js->job = calloc(json_array_size(list), sizeof(*js->job));
	if (!js->job)
		return doc_no_memory(d);
	json_array_foreach(list, i, v) {
		const struct json_at here = JSON_INDEX(&at, i);

		js->job[i].id = (int)i + 1;
		js->n = (int)i + 1;
		err = parse_job(&js->job[i], js->topo, d, &here, v);
		for (k = 0; !err && k < i; k++) {
			if (!strcmp(js->job[k].name, js->job[i].name))
				err = json_read_fail(d, &JSON_KEY(&here, "name"),
						     "\"%s\" occurs twice", js->job[i].name);
			else if (js->job[k].id == js->job[i].id)
				err = json_read_fail(d, &JSON_KEY(&here, "id"),
						     "%d is the id of %s already", js->job[i].id,
						     js->job[k].name);
		}
		if (err)
			return err;
	}
	return 0;
}

int plan_jobs_parse(struct plan_jobs **out, const struct plan_topology *t, const char *name,
		    const char *text, size_t len, struct plan_error *err)
{
	struct plan_jobs *js;
	struct json_read d;
	int rc;

	*out = NULL;
	rc = doc_open(&d, name, text, len, err);
	if (rc)
		return rc;
	js = calloc(1, sizeof(*js));
	if (js)
		js->topo = t;
	rc = js ? parse(js, &d) : plan_fail(err, -ENOMEM, "out of memory");
	json_read_close(&d);
	if (rc) {
		plan_jobs_free(js);
		return rc;
	}
	*out = js;
	return 0;
}
