// SPDX-License-Identifier: BSD-2-Clause
/*
 * BCube: N^K servers with K ports each, and K levels of N^(K-1) switches with N
 * ports. A server's number has K digits to the base N. Its switch at level l
 * has the same number without digit l.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topo.h"

static int power(int n, int k)
{
	int p = 1;

	while (k-- > 0)
		p *= n;
	return p;
}

int topo_bcube_digit(const struct plan_topology *t, int id, int level)
{
	return id / power(t->p, level) % t->p;
}

static int without_digit(int id, int n, int level)
{
	int low = power(n, level);

	return id / (low * n) * low + id % low;
}

/* Add switches and links to the servers, which are nodes 0 to n^k - 1. */
static int wire(struct plan_topology *t, int n, int k, double cap)
{
	int servers = power(n, k), each = power(n, k - 1), l, i, err;
	char name[TOPO_NAME];

	t->kind = TOPO_BCUBE;
	t->p = n;
	t->q = k;
	t->forward = true;
	for (i = 0; i < servers; i++) {
		t->node[i].x = i;
		t->node[i].y = k;
		t->node[i].relay = true;
	}
	for (l = 0; l < k; l++)
		for (i = 0; i < each; i++) {
			snprintf(name, sizeof(name), "s%d.%d", l, i);
			err = topo_add_node(t, name, false);
			if (err < 0)
				return err;
			t->node[err].relay = false;
			t->node[err].x = (i + 0.5) * n - 0.5;
			t->node[err].y = k - 1 - l;
		}
	for (l = 0; l < k; l++)
		for (i = 0; i < servers; i++) {
			err = topo_add_link(t, servers + l * each + without_digit(i, n, l), i, cap);
			if (err < 0)
				return err;
		}
	return 0;
}

/*
 * The servers of a switch share its network 10.x.y.0/24, which has the number
 * of the switch; the host part is the server's digit.
 */
int topo_bcube(struct plan_topology *t, int n, int k, double cap)
{
	int servers = power(n, k), i, l, s, digit, err;
	struct topo_link *link;
	char name[TOPO_NAME];

	for (i = 0; i < servers; i++) {
		snprintf(name, sizeof(name), "w%d", i);
		err = topo_add_node(t, name, true);
		if (err < 0)
			return err;
	}
	err = wire(t, n, k, cap);
	for (l = 0; !err && l < k; l++)
		for (i = 0; i < servers; i++) {
			link = &t->link[l * servers + i];
			digit = topo_bcube_digit(t, i, l);
			s = link->a - servers;
			snprintf(link->dev[0], TOPO_DEV, "p%d", digit);
			snprintf(link->dev[1], TOPO_DEV, "eth%d", l);
			/* The switches do not route. */
			snprintf(link->addr[0], TOPO_ADDR, "-");
			snprintf(link->addr[1], TOPO_ADDR, "10.%d.%d.%d", 77 + s / 256, s % 256,
				 digit + 1);
		}
	return err;
}

static int form_nic(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		    const json_t *nic, struct topo_link *link)
{
	static const char *const keys[] = {"dev", "addr", NULL};
	const char *dev = "", *addr = "";
	unsigned char bin[16];
	int err;

	(void)t;
	err = json_read_object(d, at, nic, keys);
	if (!err)
		err = json_read_string(d, at, nic, "dev", JSON_NEEDED, &dev);
	if (!err)
		err = json_read_string(d, at, nic, "addr", JSON_NEEDED, &addr);
	if (err)
		return err;
	if (!*dev || strlen(dev) >= TOPO_DEV)
		return json_read_fail(d, &JSON_KEY(at, "dev"),
				      "\"%.40s\" is not a device: 1 to 15 bytes", dev);
	if (inet_pton(AF_INET, addr, bin) != 1 && inet_pton(AF_INET6, addr, bin) != 1)
		return json_read_fail(d, &JSON_KEY(at, "addr"), "\"%.60s\" is not an IP address",
				      addr);
	snprintf(link->dev[1], TOPO_DEV, "%s", dev);
	snprintf(link->addr[1], TOPO_ADDR, "%s", addr);
	snprintf(link->addr[0], TOPO_ADDR, "-");
	return 0;
}

/* Add the hosts; *levels is the number of NICs, the same for all. */
static int form_hosts(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		      const json_t *hosts, size_t *levels)
{
	static const char *const keys[] = {"name", "nics", NULL};
	const char *name = NULL;
	size_t i, nics;
	json_t *h;
	int err;

	json_array_foreach(hosts, i, h) {
		const struct json_at here = JSON_INDEX(at, i);
		const struct json_at key = JSON_KEY(&here, "name");
		const struct json_at list = JSON_KEY(&here, "nics");

		err = json_read_object(d, &here, h, keys);
		if (!err)
			err = json_read_string(d, &here, h, "name", JSON_NEEDED, &name);
		if (!err)
			err = doc_name(d, &key, name);
		if (!err && !json_object_get(h, "nics"))
			err = json_read_fail(d, &here, "nics is missing");
		if (!err)
			err = json_read_array(d, &list, json_object_get(h, "nics"), 16);
		if (err)
			return err;
		nics = json_array_size(json_object_get(h, "nics"));
		if (!i)
			*levels = nics;
		if (!nics || nics != *levels)
			return json_read_fail(
				d, &list,
				"%zu NICs, but %s has %zu: give each host of a BCube one NIC a level",
				nics, t->nnodes ? t->node[0].name : "nobody", *levels);
		err = topo_add_node(t, name, true);
		if (err == -EEXIST)
			return json_read_fail(d, &key, "\"%s\" occurs twice", name);
		if (err < 0)
			return doc_no_memory(d);
	}
	return 0;
}

int topo_bcube_form(struct plan_topology *t, const struct json_read *d, const struct json_at *at,
		    const json_t *obj, double cap)
{
	static const char *const keys[] = {"ports", "hosts", NULL};
	const struct json_at list = JSON_KEY(at, "hosts");
	const json_t *hosts = json_object_get(obj, "hosts");
	size_t levels = 0, i, l, count;
	int64_t ports = 0;
	double want = 1;
	int err;

	err = json_read_object(d, at, obj, keys);
	if (!err)
		err = json_read_int(d, at, obj, "ports", JSON_NEEDED, 2, 1024, &ports);
	if (!err && !hosts)
		err = json_read_fail(d, at, "hosts is missing");
	if (!err)
		err = json_read_array(d, &list, hosts, PLAN_NODES_MAX / 2);
	if (!err)
		err = form_hosts(t, d, &list, hosts, &levels);
	if (err)
		return err;
	count = json_array_size(hosts);
	for (l = 0; l < levels; l++)
		want *= (double)ports;
	if (!count || (double)count != want)
		return json_read_fail(
			d, &list,
			"%zu hosts: with %zu NICs each and %lld ports a switch a BCube has %.0f",
			count, levels, (long long)ports, want);
	if (want + (double)levels * want / (double)ports > PLAN_NODES_MAX ||
	    (double)levels * want > PLAN_LINKS_MAX)
		return json_read_fail(d, &list, "more than %d nodes or %d links", PLAN_NODES_MAX,
				      PLAN_LINKS_MAX);
	err = wire(t, (int)ports, (int)levels, cap);
	if (err)
		return json_read_fail(
			d, &list,
			err == -EEXIST
				? "a host has the name of a switch (sLEVEL.NUMBER): rename it"
				: "out of memory");
	for (i = 0; i < count; i++)
		for (l = 0; l < levels; l++) {
			const json_t *h = json_array_get(hosts, i);
			const json_t *nics = json_object_get(h, "nics");
			const struct json_at host = JSON_INDEX(&list, i);
			const struct json_at a = JSON_KEY(&host, "nics");
			struct topo_link *link = &t->link[l * count + i];

			err = form_nic(t, d, &JSON_INDEX(&a, l), json_array_get(nics, l), link);
			if (err)
				return err;
			snprintf(link->dev[0], TOPO_DEV, "p%d",
				 topo_bcube_digit(t, (int)i, (int)l));
		}
	return 0;
}
