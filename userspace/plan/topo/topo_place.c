// SPDX-License-Identifier: BSD-2-Clause
/*
 * Chooses devices and addresses for link ends without them. Link K gets the
 * network 10.77.K.0/24; its a end, which is the upper one in builtin
 * topologies, gets .1 and its b end .2. Taken devices and addresses are
 * skipped.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topo.h"

/* Take @key: 1, 0 if it is taken, or -ENOMEM. */
static int take_key(json_t *taken, const char *key)
{
	if (json_object_get(taken, key))
		return 0;
	return json_object_set_new(taken, key, json_true()) ? -ENOMEM : 1;
}

static int port_key(json_t *taken, const struct plan_topology *t, int node, const char *dev)
{
	char key[TOPO_NAME + TOPO_DEV + 2];

	snprintf(key, sizeof(key), "%s %s", t->node[node].name, dev);
	return take_key(taken, key);
}

/* Take everything that the document gives. */
static int take_given(const struct plan_topology *t, json_t *ports, json_t *addrs)
{
	int i, e;

	for (i = 0; i < t->nlinks; i++)
		for (e = 0; e < 2; e++) {
			const struct topo_link *l = &t->link[i];

			if ((*l->dev[e] && port_key(ports, t, e ? l->b : l->a, l->dev[e]) < 0) ||
			    (*l->addr[e] && take_key(addrs, l->addr[e]) < 0))
				return -ENOMEM;
		}
	return 0;
}

static int place_dev(struct plan_topology *t, struct topo_link *l, int end, json_t *ports)
{
	int node = end ? l->b : l->a, i, rc = 0;

	for (i = 0; !rc; i++) {
		snprintf(l->dev[end], TOPO_DEV, t->node[node].host ? "eth%d" : "p%d", i);
		rc = port_key(ports, t, node, l->dev[end]);
	}
	return rc < 0 ? rc : 0;
}

/* There are more networks than links, so one of them is free. */
static int place_addr(struct topo_link *l, int net, int end, json_t *addrs)
{
	int rc = 0;

	for (; !rc; net++) {
		snprintf(l->addr[end], TOPO_ADDR, "10.%d.%d.%d", (77 + net / 256) % 256, net % 256,
			 end + 1);
		rc = take_key(addrs, l->addr[end]);
	}
	return rc < 0 ? rc : 0;
}

int topo_place(struct plan_topology *t)
{
	json_t *ports = json_object(), *addrs = json_object();
	int i, e, err = ports && addrs ? take_given(t, ports, addrs) : -ENOMEM;

	for (i = 0; !err && i < t->nlinks; i++)
		for (e = 0; !err && e < 2; e++) {
			struct topo_link *l = &t->link[i];

			if (!*l->dev[e])
				err = place_dev(t, l, e, ports);
			if (!err && !*l->addr[e])
				err = place_addr(l, i, e, addrs);
		}
	json_decref(ports);
	json_decref(addrs);
	if (!err)
		t->unplaced = -1;
	return err;
}
