// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists the ports of a host and the addresses that must answer behind each.
 */
#include <errno.h>
#include <stdlib.h>

#include "topo.h"

/* List the addresses of hosts one link or one switch behind @arc; the count. */
static size_t behind(const struct plan_topology *t, int arc, const char **ask)
{
	int peer = arc_to(t, arc), i, next;
	const struct topo_link *l = &t->link[arc / 2];
	size_t n = 0;

	if (t->node[peer].host) {
		if (ask)
			ask[0] = l->addr[!(arc & 1)];
		return *l->addr[!(arc & 1)] ? 1 : 0;
	}
	for (i = t->first[peer]; i < t->first[peer + 1]; i++) {
		next = t->out[i];
		l = &t->link[next / 2];
		if (next / 2 == arc / 2 || !t->node[arc_to(t, next)].host || !*l->addr[!(next & 1)])
			continue;
		if (ask)
			ask[n] = l->addr[!(next & 1)];
		n++;
	}
	return n;
}

int plan_topology_ports(const struct plan_topology *t, const char *host, struct plan_port **out,
			size_t *n)
{
	int node = topo_find(t, host), i, arc;
	struct plan_port *p;

	*out = NULL;
	*n = 0;
	if (node < 0)
		return -ENOENT;
	p = calloc((size_t)(t->first[node + 1] - t->first[node]) + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (i = t->first[node]; i < t->first[node + 1]; i++) {
		arc = t->out[i];
		p[*n] = (struct plan_port){
			.dev = t->link[arc / 2].dev[arc & 1],
			.addr = t->link[arc / 2].addr[arc & 1],
			.peer = t->node[arc_to(t, arc)].name,
			.nask = behind(t, arc, NULL),
		};
		if (!*p[*n].dev)
			continue;
		p[*n].ask = calloc(p[*n].nask + 1, sizeof(*p[*n].ask));
		if (!p[*n].ask) {
			plan_ports_free(p, *n);
			return -ENOMEM;
		}
		behind(t, arc, p[(*n)++].ask);
	}
	*out = p;
	return 0;
}

void plan_ports_free(struct plan_port *p, size_t n)
{
	size_t i;

	for (i = 0; p && i < n; i++)
		free(p[i].ask);
	free(p);
}
