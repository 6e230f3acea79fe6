// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks of rows of workers.
 */
#include <errno.h>
#include <string.h>

#include "tree.h"

/* Data travel by sockets here, so attributes of data plane nodes are wrong. */
static int parts_check(const struct tree_spec *s, struct reason *why)
{
	const char *part = NULL;

	if (s->shared.relay)
		return reason_set(
			why, -EINVAL,
			"relay %u and ps: a host is a relay of a tree or has workers of it, not both",
			s->shared.relay);
	if (s->nchild)
		part = "children";
	else if (s->parent[0])
		part = "parent (a relay on the way is a hop)";
	else if (s->up_child != INDEX_NONE)
		part = "index";
	else if (s->ndown)
		part = "down face (a multicast group is `group`)";
	else if (s->shared.next || s->shared.cap || s->shared.age_ms || s->shared.has_workers)
		part = "next, workers, cap or age: these are a relay's";
	return part ? reason_set(why, -EINVAL, "a tree with ps (a row of workers) takes no %s",
				 part)
		    : 0;
}

static int ps_check(const struct tree_spec *s, struct tree *t, struct reason *why)
{
	char ps[INET6_ADDRSTRLEN], group[INET6_ADDRSTRLEN];

	addr_text(&s->workers.ps, ps);
	if (addr_is_zero(&s->workers.ps) || addr_is_multicast(&s->workers.ps) ||
	    (addr_is_v4(&s->workers.ps) && !s->workers.ps.s6_addr32[3]))
		return reason_set(why, -EINVAL, "ps %s is not a unicast address", ps);
	t->workers.ps = s->workers.ps;
	t->workers.ps_port = s->workers.ps_port;
	if (addr_is_zero(&s->workers.group))
		return 0;
	addr_text(&s->workers.group, group);
	if (!addr_is_multicast(&s->workers.group))
		return reason_set(why, -EINVAL, "group %s is not a multicast address", group);
	if (addr_is_v4(&s->workers.group) != addr_is_v4(&s->workers.ps))
		return reason_set(why, -EINVAL, "group %s and ps %s: one is IPv4, the other IPv6",
				  group, ps);
	if (s->nlocal > 1)
		return reason_set(why, -EINVAL,
				  "group %s: one copy comes to one port, but there are %u ranks",
				  group, s->nlocal);
	t->workers.group = s->workers.group;
	return 0;
}

static int hops_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
		      struct reason *why)
{
	char ps[INET6_ADDRSTRLEN];
	unsigned int i, k;

	for (i = 0; i < s->workers.nhop; i++) {
		const struct hop_spec *h = &s->workers.hop[i];
		struct face *f = face_find(d, h->face);

		if (!h->relay || h->relay == TRIB_RELAY_PS)
			return reason_set(why, -ERANGE, "hop %u:%s: relays have numbers 1 to %u",
					  h->relay, h->face, TRIB_RELAY_PS - 1);
		if (!f)
			return reason_set(why, -ENOENT, "hop %u: no face %s", h->relay, h->face);
		if (addr_is_multicast(&f->addr) || addr_is_zero(&f->addr))
			return reason_set(why, -EINVAL, "hop %u: face %s has no unicast address",
					  h->relay, h->face);
		if (addr_is_v4(&f->addr) != addr_is_v4(&s->workers.ps))
			return reason_set(why, -EINVAL,
					  "face %s and ps %s: one is IPv4, the other IPv6", h->face,
					  addr_text(&s->workers.ps, ps));
		for (k = 0; k < i; k++)
			if (s->workers.hop[k].relay == h->relay)
				return reason_set(why, -EEXIST, "hop %u is given twice", h->relay);
		t->workers.hop[i] = (struct hop){f, h->relay};
	}
	t->workers.nhop = s->workers.nhop;
	return 0;
}

/* Refuse a port that another rank of this host has, in any job. */
static int port_check(struct tribd *d, const struct tree *t, const struct local *l,
		      struct reason *why)
{
	const struct tree *o;
	unsigned int i;

	TAILQ_FOREACH(o, &d->trees, link)
		for (i = 0; i < o->nlocal; i++) {
			const struct local *m = &o->local[i];

			if (m->port == l->port && (o->job != t->job || m->rank != l->rank))
				return reason_set(
					why, -EADDRINUSE,
					"local rank %u: UDP port %u is rank %u's of job %s (RANK:PORT)",
					l->rank, l->port, m->rank, o->job->name);
		}
	return 0;
}

static int local_check(struct tribd *d, const struct child_spec *c, struct tree *t,
		       struct reason *why)
{
	struct local *l = &t->local[t->nlocal];
	unsigned int k;

	if (c->rank >= t->job->world)
		return reason_set(why, -ERANGE, "local rank %u: job %s has ranks 0 to %u", c->rank,
				  t->job->name, t->job->world - 1);
	if (c->index != INDEX_NONE)
		return reason_set(
			why, -EINVAL,
			"local rank %u: index %u, but with ps there is a port, %u or above (RANK:PORT)",
			c->rank, c->index, WORKER_PORT_MIN);
	l->rank = c->rank;
	l->index = INDEX_NONE;
	l->port = c->port ? c->port : (uint16_t)(TRIB_UDP_PORT_WORKER + c->rank);
	if (l->port < WORKER_PORT_MIN || l->port == TRIB_UDP_PORT)
		return reason_set(why, -ERANGE,
				  "local rank %u: port %u: want %u to 65535, but not %u", l->rank,
				  l->port, WORKER_PORT_MIN, TRIB_UDP_PORT);
	for (k = 0; k < t->nlocal; k++)
		if (t->local[k].rank == l->rank || t->local[k].port == l->port)
			return reason_set(why, -EEXIST,
					  "local rank %u (port %u) and rank %u (port %u) overlap",
					  t->local[k].rank, t->local[k].port, l->rank, l->port);
	t->nlocal++;
	return port_check(d, t, l, why);
}

static int worker_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
			struct reason *why)
{
	int err = parts_check(s, why);
	unsigned int i;

	t->up_child = INDEX_NONE;
	if (!err && !s->nlocal)
		err = reason_set(why, -EINVAL, "ps needs local ranks: give at least one");
	if (!err)
		err = ps_check(s, t, why);
	if (!err)
		err = hops_check(d, s, t, why);
	for (i = 0; !err && i < s->nlocal; i++)
		err = local_check(d, &s->local[i], t, why);
	return err;
}

uint32_t worker_epoch(const struct tree *t)
{
	uint32_t epoch = 0;
	unsigned int i;

	for (i = 0; i < t->nlocal; i++)
		if (t->local[i].epoch > epoch)
			epoch = t->local[i].epoch;
	return epoch;
}

const struct tree_ops worker_ops = {
	.check = worker_check,
};
