// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the wiring that a host found with the expected wiring. One cable in
 * the wrong switch misdirects the sums of a whole BCube level.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topo.h"

static int report(json_t *out, const char *node, const char *dev, const char *state,
		  const char *text)
{
	json_t *v = json_pack("{s:s, s:s, s:s, s:s}", "node", node, "dev", dev, "state", state,
			      "text", text);

	return v && !json_array_append_new(out, v) ? 0 : -ENOMEM;
}

/* The finding at a port, or NULL. */
static const struct plan_wire *find_wire(const struct plan_wire *wires, size_t n, const char *node,
					 const char *dev)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(wires[i].node, node) && !strcmp(wires[i].dev, dev))
			return &wires[i];
	return NULL;
}

/* True if there is any finding at @node. */
static bool has_findings(const struct plan_wire *wires, size_t n, const char *node)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(wires[i].node, node))
			return true;
	return false;
}

static int check_end(const struct plan_topology *t, const struct plan_wire *wires, size_t n,
		     int link, int end, json_t *out)
{
	const struct topo_link *l = &t->link[link];
	const char *node = t->node[end ? l->b : l->a].name;
	const char *peer = t->node[end ? l->a : l->b].name;
	const char *dev = l->dev[end], *peer_dev = l->dev[!end];
	const struct plan_wire *w;
	char text[320];

	if (!*dev || !has_findings(wires, n, node))
		return 0;
	w = find_wire(wires, n, node, dev);
	if (!w || !w->peer) {
		snprintf(text, sizeof(text), "%s %s: no answer; expected %s%s%s", node, dev, peer,
			 *peer_dev ? " " : "", peer_dev);
		return report(out, node, dev, "missing", text);
	}
	if (!strcmp(w->peer, peer) &&
	    (!w->peer_dev || !*peer_dev || !strcmp(w->peer_dev, peer_dev)))
		return 0;
	snprintf(text, sizeof(text), "%s %s: leads to %.64s%s%.20s; expected %s%s%s", node, dev,
		 w->peer, w->peer_dev ? " " : "", w->peer_dev ? w->peer_dev : "", peer,
		 *peer_dev ? " " : "", peer_dev);
	return report(out, node, dev, "wrong", text);
}

/* Report a found node or port that the topology does not have. */
static int check_unknown(const struct plan_topology *t, const struct plan_wire *wire, json_t *out)
{
	int node = topo_find(t, wire->node), i, arc;
	char text[160];

	if (node < 0) {
		snprintf(text, sizeof(text), "%.64s is not in the topology", wire->node);
		return report(out, wire->node, wire->dev, "unknown", text);
	}
	for (i = t->first[node]; i < t->first[node + 1]; i++) {
		arc = t->out[i];
		if (!strcmp(t->link[arc / 2].dev[arc & 1], wire->dev))
			return 0;
	}
	/* A port without a peer may have another purpose. */
	if (!wire->peer)
		return 0;
	snprintf(text, sizeof(text), "%s %.20s: no link is expected here", t->node[node].name,
		 wire->dev);
	return report(out, wire->node, wire->dev, "unknown", text);
}

int plan_wiring_check(const struct plan_topology *t, const struct plan_wire *wires, size_t n,
		      json_t **out)
{
	json_t *list = json_array();
	int i, err = list ? 0 : -ENOMEM;
	size_t k;

	for (i = 0; !err && i < 2 * t->nlinks; i++)
		err = check_end(t, wires, n, i / 2, i & 1, list);
	for (k = 0; !err && k < n; k++)
		err = check_unknown(t, &wires[k], list);
	if (err) {
		json_decref(list);
		list = NULL;
	}
	*out = list;
	return err;
}
