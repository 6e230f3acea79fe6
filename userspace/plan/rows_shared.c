// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the rows of hosts for shared pools: each relay has a number in the
 * cluster, knows the next one on the way to the PS, where packets for other
 * numbers go on to, and which ranks are behind which of its ports.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

/* Where packets from @from to @to leave, and the address they go to. */
static json_t *hop(struct rows *r, int from, int to)
{
	const struct plan_topology *t = r->net->t;
	int arcs[NET_HOPS], n = net_path(r->net, from, to, arcs);
	const struct topo_link *first, *last;

	if (n < 1)
		return NULL;
	first = &t->link[arcs[0] / 2];
	last = &t->link[arcs[n - 1] / 2];
	return json_pack("{s:s, s:s}", "dev", first->dev[arcs[0] & 1], "addr",
			 last->addr[!(arcs[n - 1] & 1)]);
}

static int add_hop(struct rows *r, json_t *list, int from, int to, int number)
{
	json_t *h = hop(r, from, to);

	if (!h || json_object_set_new(h, "relay", json_integer(number)) ||
	    json_array_append_new(list, h)) {
		json_decref(h);
		return -ENOMEM;
	}
	return 0;
}

/* Ranks by the port that their packets arrive through, for multicast. */
static json_t *members(struct rows *r, const struct job *job, int node)
{
	const struct plan_topology *t = r->net->t;
	json_t *ports = json_array(), *ranks, *p;
	int arcs[NET_HOPS], i, n;
	const char *dev;
	size_t k;

	for (i = 0; ports && i < job->nworkers; i++) {
		n = net_path(r->net, job->worker[i], node, arcs);
		dev = n < 1 ? "trib0"
			    : t->link[arcs[n - 1] / 2]
				      .dev[!(arcs[n - 1] & 1)];
		ranks = NULL;
		json_array_foreach(ports, k, p)
			if (!strcmp(json_string_value(
					    json_object_get(p, "dev")),
				    dev))
				ranks = json_object_get(p, "ranks");
		if (!ranks) {
			p = json_pack("{s:s, s:[]}", "dev", dev, "ranks");
			ranks = json_object_get(p, "ranks");
			json_array_append_new(ports, p);
		}
		json_array_append_new(ranks, json_integer(i));
	}
	return ports;
}

static int put(struct rows *r, int node, json_t *row)
{
	json_t *host = rows_host(r, node), *list;

	if (!host || !row) {
		json_decref(row);
		return -ENOMEM;
	}
	list = json_object_get(host, "shared");
	if (!list) {
		list = json_array();
		if (json_object_set_new(host, "shared", list))
			list = NULL;
	}
	r->count++;
	return json_array_append_new(list, row) ? -ENOMEM : 0;
}

static int add_relay(struct rows *r, const struct job *job, const int *relay,
		     const int *number, int nrelay, int i)
{
	json_t *row, *hops = json_array();
	int k, next = 0, err = 0;

	/* Up: to the PS's relay, if there is one and this is not it. */
	for (k = 0; k < nrelay; k++)
		if (relay[k] == job->tor && k != i)
			next = number[k];
	for (k = 0; !err && k < nrelay; k++)
		if (k != i)
			err = add_hop(r, hops, relay[i], relay[k], number[k]);
	if (!err)
		err = add_hop(r, hops, relay[i], job->ps, 0);
	if (err) {
		json_decref(hops);
		return err;
	}
	row = json_pack("{s:s, s:s, s:i, s:i, s:o, s:o}", "role", "relay",
			"job", job->name, "relay", number[i], "next", next,
			"next_hops", hops, "members",
			members(r, job, relay[i]));
	return put(r, relay[i], row);
}

/* A worker knows the relay of each tree, and how to reach it. */
static int add_worker(struct rows *r, const struct job *job,
		      const struct shared_tree *trees, int ntree,
		      const int *relay, const int *number, int nrelay, int rank)
{
	json_t *list = json_array(), *hops = json_array(), *row;
	bool used[PLAN_RELAYS_MAX + 4] = {false};
	int i, k, err = 0, at = job->worker[rank];

	for (i = 0; i < ntree; i++) {
		for (k = 0; k < nrelay &&
			    relay[k] != trees[i].worker_relay[rank];)
			k++;
		if (k < nrelay)
			used[k] = true;
		json_array_append_new(list, json_integer(k < nrelay ? number[k]
								    : 0));
	}
	for (k = 0; !err && k < nrelay; k++)
		if (used[k])
			err = add_hop(r, hops, at, relay[k], number[k]);
	if (!err)
		err = add_hop(r, hops, at, job->ps, 0);
	if (err) {
		json_decref(list);
		json_decref(hops);
		return err;
	}
	row = json_pack("{s:s, s:s, s:i, s:o, s:o}", "role", "worker", "job",
			job->name, "rank", rank, "tree_relays", list,
			"next_hops", hops);
	return put(r, at, row);
}

int rows_add_shared(struct rows *r, const struct job *job,
		    const struct shared_tree *trees, int ntree,
		    const int *relay, const int *number, int nrelay)
{
	json_t *row;
	int i, tor = 0, err = 0;

	for (i = 0; !err && i < nrelay; i++) {
		err = add_relay(r, job, relay, number, nrelay, i);
		if (relay[i] == job->tor)
			tor = number[i];
	}
	for (i = 0; !err && i < job->nworkers; i++)
		err = add_worker(r, job, trees, ntree, relay, number, nrelay,
				 i);
	if (err)
		return err;
	row = json_pack("{s:s, s:s, s:i, s:o}", "role", "ps", "job", job->name,
			"ps_tor_relay", tor, "members",
			members(r, job, job->ps));
	return put(r, job->ps, row);
}
