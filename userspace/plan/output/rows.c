// SPDX-License-Identifier: BSD-2-Clause
/*
 * Collects the rows of hosts: faces and jobs. A face has the name of the
 * neighbour that it leads to.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"

int rows_new(struct rows **out, struct model *model, struct plan_error *err)
{
	struct rows *r = calloc(1, sizeof(*r));

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->model = model;
	r->err = err;
	r->host = calloc((size_t)model->t->nnodes, sizeof(*r->host));
	r->faces = calloc((size_t)model->t->nnodes, sizeof(*r->faces));
	r->groups = json_object();
	if (!r->host || !r->faces || !r->groups) {
		rows_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void rows_free(struct rows *r)
{
	int i;

	if (!r)
		return;
	for (i = 0; r->host && r->faces && i < r->model->t->nnodes; i++) {
		json_decref(r->host[i]);
		json_decref(r->faces[i]);
	}
	json_decref(r->groups);
	free(r->way);
	free(r->host);
	free(r->faces);
	free(r);
}

json_t *rows_host(struct rows *r, int node)
{
	if (!r->host[node]) {
		r->host[node] = json_pack("{s:s, s:[], s:[], s:[]}", "host",
					  r->model->t->node[node].name, "faces", "jobs", "trees");
		r->faces[node] = json_object();
	}
	return r->host[node] && r->faces[node] ? r->host[node] : NULL;
}

const char *rows_face(struct rows *r, int node, const char *peer, const char *dev, const char *addr,
		      int port)
{
	json_t *row = rows_host(r, node), *known, *list, *f;
	char key[TOPO_DEV + TOPO_ADDR + 16], name[TOPO_NAME];
	char base[TOPO_NAME];
	bool taken = true;
	int nth;
	size_t i;

	if (!row)
		return NULL;
	snprintf(key, sizeof(key), "%s %s %d", dev, addr, port);
	known = json_object_get(r->faces[node], key);
	if (known)
		return json_string_value(known);
	list = json_object_get(row, "faces");
	/* Other ports than tribd's are faces of their own. */
	if (port == TRIB_UDP_PORT)
		snprintf(base, sizeof(base), "%s", peer);
	else
		snprintf(base, sizeof(base), "%.56s-%d", peer, port);
	/* More faces to the same neighbour get numbers. */
	for (nth = 1; taken; nth++) {
		snprintf(name, sizeof(name), nth > 1 ? "%.56s~%d" : "%s", base, nth);
		taken = false;
		json_array_foreach(list, i, f)
			taken |= !strcmp(json_string_value(json_object_get(f, "name")), name);
	}
	f = json_pack("{s:s, s:s, s:s}", "name", name, "dev", dev, "addr", addr);
	if (port != TRIB_UDP_PORT)
		json_object_set_new(f, "port", json_integer(port));
	if (json_array_append_new(list, f) ||
	    json_object_set_new(r->faces[node], key, json_string(name)))
		return NULL;
	return json_string_value(json_object_get(r->faces[node], key));
}

static int way_note(struct rows *r, int from, int to)
{
	int(*way)[2] = realloc(r->way, sizeof(*way) * (size_t)(r->nways + 1));

	if (!way)
		return -ENOMEM;
	r->way = way;
	way[r->nways][0] = from;
	way[r->nways++][1] = to;
	return 0;
}

/* Give the faces of @node for the neighbour @addr behind @dev the right to forward. */
static void forward_from(struct rows *r, int node, const char *dev, const char *addr)
{
	json_t *f;
	size_t i;

	json_array_foreach(json_object_get(r->host[node], "faces"), i, f)
		if (!strcmp(json_string_value(json_object_get(f, "dev")), dev) &&
		    !strcmp(json_string_value(json_object_get(f, "addr")), addr))
			json_object_set_new(f, "forward", json_string("yes"));
}

/*
 * Let the nodes inside a path pass packets between its neighbours. A switch that is
 * part of an Ethernet segment has no address: the neighbour is behind it. Nodes that
 * have no face for the neighbour need none: the kernel routes.
 */
static void forward_along(struct rows *r, const int *arcs, int n)
{
	const struct plan_topology *t = r->model->t;
	const struct topo_link *in, *near;
	int i, k;

	for (i = 0; i + 1 < n; i++) {
		if (!r->host[arc_to(t, arcs[i])])
			continue;
		for (k = i; k && !strcmp(t->link[arcs[k] / 2].addr[arcs[k] & 1], "-");)
			k--;
		in = &t->link[arcs[i] / 2];
		near = &t->link[arcs[k] / 2];
		forward_from(r, arc_to(t, arcs[i]), in->dev[!(arcs[i] & 1)],
			     near->addr[arcs[k] & 1]);
	}
}

/* Both ways: results come back by the path of contributions. */
static void give_forward(struct rows *r)
{
	int arcs[PATHS_HOPS], i, n, back;

	for (i = 0; i < r->nways; i++)
		for (back = 0; back < 2; back++) {
			n = paths_arcs(r->model->paths, r->way[i][back], r->way[i][!back], arcs);
			forward_along(r, arcs, n);
		}
}

int rows_way(struct rows *r, int from, int to, struct way *w)
{
	const struct plan_topology *t = r->model->t;
	int arcs[PATHS_HOPS], n = paths_arcs(r->model->paths, from, to, arcs);

	if (n < 1)
		return -ENETUNREACH;
	if (n > 1 && way_note(r, from, to))
		return -ENOMEM;
	w->first = &t->link[arcs[0] / 2];
	w->first_end = arcs[0] & 1;
	w->last = &t->link[arcs[n - 1] / 2];
	w->last_end = !(arcs[n - 1] & 1);
	return 0;
}

/* Name where ranks meet: port PLAN_PEERS_PORT at the first worker, unless the job says. */
static void put_peers(const struct rows *r, const struct job *job, json_t *j)
{
	const struct plan_topology *t = r->model->t;
	int node = job->worker[0], arc;
	char text[ADDR_TEXT_MAX];
	struct in6_addr ip;

	if (*job->peers)
		json_object_set_new(j, "peers", json_string(job->peers));
	if (!job->meet || *job->peers || t->first[node] == t->first[node + 1])
		return;
	arc = t->out[t->first[node]];
	if (addr_parse(t->link[arc / 2].addr[arc & 1], &ip))
		json_object_set_new(j, "peers",
				    json_string(addr_text_port(&ip, PLAN_PEERS_PORT, text)));
}

static json_t *job_row(const struct rows *r, const struct job *job, double rate)
{
	json_t *j = json_pack("{s:s, s:i, s:i}", "name", job->name, "id", job->id, "world",
			      job->nworkers * job->ranks);

	if (!j)
		return NULL;
	if (*job->key)
		json_object_set_new(j, "key", json_string(job->key));
	if (job->window)
		json_object_set_new(j, "window", json_integer(job->window));
	if (job->timeout)
		json_object_set_new(j, "timeout", json_integer(job->timeout));
	if (job->dtype)
		json_object_set_new(j, "dtype", json_string(job->dtype));
	if (job->owner)
		json_object_set(j, "owner", job->owner);
	json_object_set_new(j, "rate", json_integer((json_int_t)floor(rate)));
	put_peers(r, job, j);
	return j;
}

int rows_add_job(struct rows *r, const struct job *job, double rate, const struct span *s)
{
	int i, k;

	for (i = 0; i < s->n + s->ninner; i++) {
		int node = i < s->n ? s->at[i] : s->inner[i - s->n];
		json_t *row, *jobs, *j, *v;
		bool known = false;

		/* trib-ps has a file; only a host that relays runs tribd. */
		if (job->shared && node == job->ps && !span_ps_relays(s, job))
			continue;
		row = rows_host(r, node);
		if (!row)
			return -ENOMEM;
		jobs = json_object_get(row, "jobs");
		for (k = 0; k < (int)json_array_size(jobs); k++) {
			v = json_object_get(json_array_get(jobs, (size_t)k), "name");
			known |= !strcmp(json_string_value(v), job->name);
		}
		if (known)
			continue;
		j = job_row(r, job, rate);
		if (!j || json_array_append_new(jobs, j))
			return -ENOMEM;
	}
	return 0;
}

static bool is_neighbour(const json_t *f)
{
	struct in6_addr ip;

	return strcmp(json_string_value(json_object_get(f, "dev")), TRIB_LOCAL_PORT) &&
	       !json_object_get(f, "port") &&
	       addr_parse(json_string_value(json_object_get(f, "addr")), &ip) &&
	       !addr_is_multicast(&ip);
}

/*
 * Servers of a BCube pass on packets for each other when links are dead: their tribds watch
 * all neighbours, and XDP routes.
 */
static void watch_all(struct rows *r)
{
	json_t *f;
	size_t k;
	int i;

	for (i = 0; i < r->model->t->nnodes; i++)
		json_array_foreach(json_object_get(r->host[i], "faces"), k, f)
			if (is_neighbour(f)) {
				json_object_set_new(f, "forward", json_string("yes"));
				json_object_set_new(f, "watch", json_true());
			}
}

json_t *rows_list(struct rows *r)
{
	json_t *out = json_array();
	int i;

	give_forward(r);
	if (r->model->t->kind == TOPO_BCUBE)
		watch_all(r);
	for (i = 0; out && i < r->model->t->nnodes; i++) {
		if (!r->host[i])
			continue;
		if (json_array_append(out, r->host[i])) {
			json_decref(out);
			return NULL;
		}
	}
	return out;
}
