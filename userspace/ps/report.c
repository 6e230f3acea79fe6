// SPDX-License-Identifier: BSD-2-Clause
/* Owns the form in which trib-ps reports its counters: one JSON object. */
#include "report.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_write.h"

static void add(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void add_stats(json_t *o, const struct ps_stats *s)
{
	unsigned int i;

	for (i = 0; i < PS_COUNT__MAX; i++)
		add(o, ps_count_name[i], s->count[i]);
	for (i = 0; i < PS_DROP__MAX; i++)
		add(o, ps_drop_name[i], s->drop[i]);
}

static json_t *tree_pack(const struct ps_tree *t, uint64_t now)
{
	uint64_t nonce[TRIB_WORLD_MAX];
	struct ps_lasting l = {.nonce = nonce};
	json_t *o = json_object();
	unsigned int r, joined = 0, leases = 0;

	ps_members_keep(t, &l);
	for (r = 0; r < t->job->world; r++) {
		joined += nonce[r] != 0;
		leases += t->lease_ms[r] > now;
	}
	add(o, "job", t->job->number);
	add(o, "tree", t->number);
	add(o, "world", t->job->world);
	add(o, "joined", joined);
	add(o, "running", l.epoch);
	add(o, "epoch", t->epoch);
	add(o, "leases", leases);
	add_stats(o, &t->stats);
	return o;
}

static json_t *net_pack(const struct ps_net_stats *s)
{
	json_t *o = json_object();

	add(o, "rx-datagrams", s->rx_datagrams);
	add(o, "rx-trains", s->rx_trains);
	add(o, "rx-packets", s->rx_packets);
	add(o, "rx-bytes", s->rx_bytes);
	add(o, "rx-overflow", s->rx_overflow);
	add(o, "tx-packets", s->tx_packets);
	add(o, "tx-bytes", s->tx_bytes);
	add(o, "tx-full", s->tx_full);
	add(o, "tx-error", s->tx_error);
	json_object_set_new(o, "tx-error-text",
			    json_string(s->tx_errno ? strerror(s->tx_errno) : ""));
	return o;
}

int ps_report(const struct ps *ps, const struct ps_net *n, const char *path)
{
	json_t *trees = json_array(), *doc = json_object();
	json_t *o = json_object();
	const struct ps_net_stats net = ps_net_stats(n);
	unsigned int i;
	size_t k;
	int err = 0;

	for (i = 0; i < ps->ntree; i++)
		json_array_append_new(trees, tree_pack(ps->tree[i], ps->now));
	add_stats(o, &ps->stats);
	json_object_set_new(doc, "net", net_pack(&net));
	json_object_set_new(doc, "strangers", o);
	json_object_set_new(doc, "trees", trees);
	if (path) {
		err = json_write(AT_FDCWD, path, 0666, doc, false);
	} else {
		json_t *part[] = {json_object_get(doc, "net"), o};

		for (k = 0; k < 2 + json_array_size(trees); k++) {
			char *s = json_dumps(k < 2 ? part[k] : json_array_get(trees, k - 2),
					     JSON_COMPACT);

			fprintf(stderr, "trib-ps: %s\n", s ? s : "");
			free(s);
		}
	}
	json_decref(doc);
	return err;
}
