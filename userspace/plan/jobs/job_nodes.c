// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the nodes of a job: its workers, its PS and the nodes that may relay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "uapi/trib_wire.h"

/* Read a list of at most @max names of different nodes. */
static int parse_list(const struct plan_topology *t, const struct json_read *d,
		      const struct json_at *at, const json_t *list, int **out, int *nout, int max)
{
	bool *seen = calloc((size_t)t->nnodes, sizeof(bool));
	int err, n, k = 0;
	const char *name;
	const json_t *v;
	size_t i;

	*out = calloc((size_t)t->nnodes, sizeof(int));
	if (!seen || !*out) {
		free(seen);
		return doc_no_memory(d);
	}
	err = json_read_array(d, at, list, (size_t)max);
	json_array_foreach(list, i, v) {
		const struct json_at here = JSON_INDEX(at, i);

		if (err)
			break;
		name = json_string_value(v);
		if (!name) {
			err = json_read_fail(d, &here,
					     "is not text: wanted the name of a host or switch");
			break;
		}
		n = topo_find(t, name);
		if (n < 0)
			err = json_read_fail(d, &here, "no host or switch \"%.64s\"", name);
		else if (seen[n])
			err = json_read_fail(d, &here, "\"%s\" occurs twice", name);
		else
			seen[(*out)[k++] = n] = true;
	}
	*nout = k;
	free(seen);
	return err;
}

int job_parse_workers(struct job *j, const struct plan_topology *t, const struct json_read *d,
		      const struct json_at *at, const json_t *v)
{
	const struct json_at key = JSON_KEY(at, "workers");
	const json_t *list = json_object_get(v, "workers");
	const char *all = json_string_value(list);
	int i, err = 0;

	if (!list)
		return json_read_fail(d, at, "workers is missing");
	if (all && !strcmp(all, "all")) {
		j->worker = calloc((size_t)t->nnodes, sizeof(int));
		if (!j->worker)
			return doc_no_memory(d);
		for (i = 0; i < t->nnodes; i++)
			if (t->node[i].host && i != j->ps)
				j->worker[j->nworkers++] = i;
		if (j->nworkers > TRIB_WORLD_MAX)
			err = json_read_fail(d, &key, "\"all\" is %d hosts: at most %d workers",
					     j->nworkers, TRIB_WORLD_MAX);
	} else if (all) {
		err = json_read_fail(d, &key, "\"%.40s\": wanted \"all\" or a list of hosts", all);
	} else {
		err = parse_list(t, d, &key, list, &j->worker, &j->nworkers, TRIB_WORLD_MAX);
	}
	for (i = 0; !err && i < j->nworkers; i++) {
		const struct json_at here = JSON_INDEX(&key, (size_t)i);

		if (!t->node[j->worker[i]].host)
			err = json_read_fail(d, &here, "\"%s\" is a switch: wanted a host",
					     t->node[j->worker[i]].name);
		else if (j->worker[i] == j->ps)
			err = json_read_fail(d, &here, "\"%s\" is the ps already",
					     t->node[j->ps].name);
	}
	if (!err && !j->nworkers)
		err = json_read_fail(d, &key, "there are no workers");
	return err;
}

int job_parse_ps(struct job *j, const struct plan_topology *t, const struct json_read *d,
		 const struct json_at *at, const json_t *v)
{
	const struct json_at key = JSON_KEY(at, "ps");
	const char *name = NULL;
	int err, i, n, to;

	err = json_read_string(d, at, v, "ps", JSON_OPTIONAL, &name);
	if (err || !name)
		return err;
	n = topo_find(t, name);
	if (n < 0)
		return json_read_fail(d, &key, "no host \"%.64s\"", name);
	if (!t->node[n].host)
		return json_read_fail(d, &key, "\"%s\" is a switch: wanted a host", name);
	j->ps = n;
	if (t->first[n + 1] == t->first[n])
		return json_read_fail(d, &key, "\"%s\" has no link", name);
	/* The ToR is the switch behind the only link. */
	if (t->first[n + 1] - t->first[n] == 1) {
		i = t->out[t->first[n]];
		to = arc_to(t, i);
		if (!t->node[to].host && t->node[to].relay)
			j->tor = to;
	}
	return 0;
}

static bool works(const struct job *j, int node)
{
	int i;

	for (i = 0; i < j->nworkers; i++)
		if (j->worker[i] == node)
			return true;
	return false;
}

static int check_relay(const struct job *j, const struct plan_topology *t,
		       const struct json_read *d, const struct json_at *at, int node)
{
	const char *name = t->node[node].name;

	if (!t->node[node].relay)
		return json_read_fail(d, at, "\"%s\" cannot relay: give it \"relay\": true", name);
	if (node == j->ps)
		return json_read_fail(d, at, "\"%s\" is the ps already", name);
	if (j->shared && works(j, node))
		return json_read_fail(
			d, at, "\"%s\" is a worker: workers of shared pools cannot relay", name);
	return 0;
}

int job_parse_relays(struct job *j, const struct plan_topology *t, const struct json_read *d,
		     const struct json_at *at, const json_t *v)
{
	const struct json_at key = JSON_KEY(at, "relays");
	const json_t *list = json_object_get(v, "relays");
	int i, err = 0;

	if (list) {
		err = parse_list(t, d, &key, list, &j->may, &j->nmay, PLAN_NODES_MAX);
		for (i = 0; !err && i < j->nmay; i++)
			err = check_relay(j, t, d, &JSON_INDEX(&key, (size_t)i), j->may[i]);
		return err;
	}
	j->may = calloc((size_t)t->nnodes, sizeof(int));
	if (!j->may)
		return doc_no_memory(d);
	for (i = 0; i < t->nnodes; i++)
		if (t->node[i].relay && i != j->ps && !(j->shared && works(j, i)))
			j->may[j->nmay++] = i;
	return 0;
}
