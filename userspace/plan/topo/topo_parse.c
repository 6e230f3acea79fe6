// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the topology document and checks it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "topo.h"

#define DEFAULT_CAPACITY 10e9

static int parse_node(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		      const json_t *v, bool host)
{
	static const char *const keys[] = {"name", "relay", "rate", NULL};
	const struct json_at key = JSON_KEY(at, "name");
	const char *name = NULL;
	struct topo_node *n;
	int err, i;

	/* A node is a name or an object. */
	if (json_is_string(v)) {
		name = json_string_value(v);
		err = doc_name(d, at, name);
	} else {
		err = json_read_object(d, at, v, keys);
		if (!err)
			err = json_read_string(d, at, v, "name", JSON_NEEDED, &name);
		if (!err)
			err = doc_name(d, &key, name);
	}
	if (err)
		return err;
	i = topo_add_node(t, name, host);
	if (i == -EEXIST)
		return json_read_fail(d, json_is_string(v) ? at : &key, "\"%s\" occurs twice",
				      name);
	if (i < 0)
		return doc_no_memory(d);
	n = &t->node[i];
	if (json_is_string(v))
		return 0;
	err = json_read_bool(d, at, v, "relay", &n->relay);
	if (!err)
		err = json_read_rate(d, at, v, "rate", JSON_OPTIONAL, &n->rate);
	if (!err && !n->relay && isfinite(n->rate))
		err = json_read_fail(d, &JSON_KEY(at, "rate"),
				     "\"%s\" is no relay: add \"relay\": true or remove the rate",
				     name);
	return err;
}

static int parse_nodes(struct plan_topology *t, const struct json_read *d, const char *key,
		       bool host)
{
	const struct json_at at = JSON_KEY(NULL, key);
	const json_t *list = json_object_get(d->root, key), *v;
	size_t i;
	int err = 0;

	if (!list)
		return 0;
	err = json_read_array(d, &at, list, PLAN_NODES_MAX);
	if (err)
		return err;
	if (json_array_size(list) + (size_t)t->nnodes > PLAN_NODES_MAX)
		return json_read_fail(d, &at, "%zu hosts and switches: at most %d",
				      json_array_size(list) + (size_t)t->nnodes, PLAN_NODES_MAX);
	json_array_foreach(list, i, v)
		if (!err)
			err = parse_node(t, d, &JSON_INDEX(&at, i), v, host);
	return err;
}

static int parse_end(const struct plan_topology *t, const struct json_read *d,
		     const struct json_at *at, const json_t *v, const char *key, int *out)
{
	const char *name = NULL;
	int err = json_read_string(d, at, v, key, JSON_NEEDED, &name);

	if (err)
		return err;
	*out = topo_find(t, name);
	if (*out >= 0)
		return 0;
	return json_read_fail(d, &JSON_KEY(at, key), "no host or switch \"%.64s\"", name);
}

static int parse_port(const struct json_read *d, const struct json_at *at, const json_t *v,
		      struct topo_link *l, int end)
{
	static const char *const devs[] = {"a_dev", "b_dev"};
	static const char *const addrs[] = {"a_addr", "b_addr"};
	const char *dev = NULL, *addr = NULL;
	unsigned char bin[16];
	int err;

	err = json_read_string(d, at, v, devs[end], JSON_OPTIONAL, &dev);
	if (!err)
		err = json_read_string(d, at, v, addrs[end], JSON_OPTIONAL, &addr);
	if (err)
		return err;
	if (dev &&
	    (!*dev || strlen(dev) >= TOPO_DEV || strchr(dev, '/') || strpbrk(dev, " \t\r\n\"'")))
		return json_read_fail(
			d, &JSON_KEY(at, devs[end]),
			"\"%.40s\" is not a device: 1 to 15 bytes, no blanks, quotes or /", dev);
	if (addr && inet_pton(AF_INET, addr, bin) != 1 && inet_pton(AF_INET6, addr, bin) != 1)
		return json_read_fail(d, &JSON_KEY(at, addrs[end]),
				      "\"%.60s\" is not an IP address", addr);
	if (dev)
		snprintf(l->dev[end], TOPO_DEV, "%s", dev);
	if (addr)
		snprintf(l->addr[end], TOPO_ADDR, "%s", addr);
	return 0;
}

static int parse_link(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		      const json_t *v, double cap)
{
	static const char *const keys[] = {"a",	     "b",     "capacity", "a_dev",
					   "a_addr", "b_dev", "b_addr",	  NULL};
	int err, a = -1, b = -1, i;

	err = json_read_object(d, at, v, keys);
	if (!err)
		err = parse_end(t, d, at, v, "a", &a);
	if (!err)
		err = parse_end(t, d, at, v, "b", &b);
	if (!err && a == b)
		err = json_read_fail(d, &JSON_KEY(at, "b"), "\"%s\" is the other end too",
				     t->node[a].name);
	if (!err)
		err = json_read_rate(d, at, v, "capacity", JSON_OPTIONAL, &cap);
	if (err)
		return err;
	i = topo_add_link(t, a, b, cap);
	if (i < 0)
		return doc_no_memory(d);
	err = parse_port(d, at, v, &t->link[i], 0);
	return err ? err : parse_port(d, at, v, &t->link[i], 1);
}

/* Check that no port has two links. */
static int check_ports(const struct plan_topology *t, const struct json_read *d)
{
	const struct json_at links = JSON_KEY(NULL, "links");
	json_t *seen = json_object();
	char key[TOPO_NAME + TOPO_DEV + 2];
	int i, e, err = 0;

	if (!seen)
		return doc_no_memory(d);
	for (i = 0; !err && i < t->nlinks; i++)
		for (e = 0; !err && e < 2; e++) {
			const struct topo_link *l = &t->link[i];
			const struct json_at at = JSON_INDEX(&links, (size_t)i);

			if (!*l->dev[e])
				continue;
			snprintf(key, sizeof(key), "%s %s", t->node[e ? l->b : l->a].name,
				 l->dev[e]);
			if (json_object_get(seen, key))
				err = json_read_fail(d, &JSON_KEY(&at, e ? "b_dev" : "a_dev"),
						     "port \"%s\" of %s has another link",
						     l->dev[e], t->node[e ? l->b : l->a].name);
			else
				json_object_set_new(seen, key, json_true());
		}
	json_decref(seen);
	return err;
}

static int parse_plain(struct plan_topology *t, const struct json_read *d, double cap)
{
	const struct json_at at = JSON_KEY(NULL, "links");
	const json_t *list = json_object_get(d->root, "links"), *v;
	size_t i;
	int err;

	err = parse_nodes(t, d, "switches", false);
	if (!err)
		err = parse_nodes(t, d, "hosts", true);
	if (!err)
		err = json_read_bool(d, NULL, d->root, "hosts_forward", &t->forward);
	if (!err && !list)
		err = json_read_fail(d, NULL, "links is missing");
	if (!err)
		err = json_read_array(d, &at, list, PLAN_LINKS_MAX);
	if (err)
		return err;
	json_array_foreach(list, i, v)
		if (!err)
			err = parse_link(t, d, &JSON_INDEX(&at, i), v, cap);
	return err ? err : check_ports(t, d);
}

/* Set the rate of relays that give none. */
static int parse_relay_rate(struct plan_topology *t, const struct json_read *d)
{
	double rate = INFINITY;
	int i, err;

	err = json_read_rate(d, NULL, d->root, "relay_rate", JSON_OPTIONAL, &rate);
	for (i = 0; !err && i < t->nnodes; i++)
		if (t->node[i].relay && !isfinite(t->node[i].rate))
			t->node[i].rate = rate;
	return err;
}

static int parse_kind(struct plan_topology *t, const struct json_read *d)
{
	const json_t *bcube = json_object_get(d->root, "bcube");
	const char *plain[] = {"switches", "hosts", "links", "hosts_forward"};
	const struct json_at at = JSON_KEY(NULL, "builtin");
	const char *spec = NULL;
	double cap = DEFAULT_CAPACITY;
	struct plan_error e;
	size_t i;
	int err;

	err = json_read_string(d, NULL, d->root, "builtin", JSON_OPTIONAL, &spec);
	if (!err)
		err = json_read_rate(d, NULL, d->root, "capacity", JSON_OPTIONAL, &cap);
	for (i = 0; !err && (spec || bcube) && i < 4; i++)
		if (json_object_get(d->root, plain[i]))
			err = json_read_fail(d, &JSON_KEY(NULL, plain[i]),
					     "not allowed beside %s: remove one of them",
					     spec ? "builtin" : "bcube");
	if (err)
		return err;
	if (spec && bcube)
		return json_read_fail(d, &JSON_KEY(NULL, "bcube"),
				      "not allowed beside builtin: remove one of them");
	if (spec) {
		err = topo_builtin(t, spec, cap, &e);
		return err ? json_read_fail(d, &at, "%s", e.text) : 0;
	}
	if (bcube)
		return topo_bcube_form(t, d, &JSON_KEY(NULL, "bcube"), bcube, cap);
	return parse_plain(t, d, cap);
}

static int parse(struct plan_topology *t, const struct json_read *d)
{
	static const char *const keys[] = {"name",	 "builtin",  "bcube",	      "capacity",
					   "hosts",	 "switches", "hosts_forward", "links",
					   "relay_rate", NULL};
	const char *name = NULL;
	int err, i;

	err = json_read_object(d, NULL, d->root, keys);
	if (!err)
		err = json_read_string(d, NULL, d->root, "name", JSON_OPTIONAL, &name);
	if (!err && name)
		err = doc_name(d, &JSON_KEY(NULL, "name"), name);
	if (!err && name)
		snprintf(t->name, sizeof(t->name), "%s", name);
	if (!err)
		err = parse_kind(t, d);
	if (!err)
		err = parse_relay_rate(t, d);
	if (err)
		return err;
	for (i = 0; i < t->nnodes && !t->node[i].host;)
		i++;
	if (i == t->nnodes)
		return json_read_fail(d, NULL, "there are no hosts");
	return topo_finish(t) ? doc_no_memory(d) : 0;
}

int plan_topology_parse(struct plan_topology **out, const char *name, const char *text, size_t len,
			struct plan_error *err)
{
	struct plan_topology *t;
	struct json_read d;
	int rc;

	*out = NULL;
	rc = doc_open(&d, name, text, len, err);
	if (rc)
		return rc;
	t = topo_new("topology");
	rc = t ? parse(t, &d) : plan_fail(err, -ENOMEM, "out of memory");
	json_read_close(&d);
	if (rc) {
		plan_topology_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

int plan_topology_builtin(struct plan_topology **out, const char *spec, struct plan_error *err)
{
	struct plan_topology *t = topo_new(spec);
	int rc;

	*out = NULL;
	if (!t)
		return plan_fail(err, -ENOMEM, "out of memory");
	rc = topo_builtin(t, spec, DEFAULT_CAPACITY, err);
	if (!rc && topo_finish(t))
		rc = plan_fail(err, -ENOMEM, "out of memory");
	if (rc) {
		plan_topology_free(t);
		return rc;
	}
	*out = t;
	return 0;
}
