// SPDX-License-Identifier: BSD-2-Clause
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"

/* One end of a link, for look-ups by its two addresses. */
struct end {
	const struct in6_addr *local;
	const struct in6_addr *peer;
	uint64_t number; /* of the report */
	unsigned int node;
	bool dead;
};

struct search {
	const struct ways_reports *all;
	struct end *end; /* sorted, one for each pair of addresses */
	unsigned int nends;
	bool v4;
	/* By node: hops from this host, 0: not reached; and the links that such ways begin with. */
	unsigned int hops[TRIB_WAYS_NODES];
	uint32_t first[TRIB_WAYS_NODES];
	struct ways_route *route;
	unsigned int nroutes;
};

static int addr_cmp(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

static int pair_cmp(const struct end *a, const struct end *b)
{
	int c = addr_cmp(a->local, b->local);

	return c ? c : addr_cmp(a->peer, b->peer);
}

/* The newer of two reports of one link comes first. */
static int end_cmp(const void *x, const void *y)
{
	const struct end *a = x, *b = y;
	int c = pair_cmp(a, b);

	return c ? c : a->number < b->number ? 1 : a->number > b->number ? -1 : 0;
}

static int find_cmp(const void *key, const void *at)
{
	return pair_cmp(key, at);
}

static void ends_collect(struct search *s)
{
	const struct ways_report *r;
	unsigned int n, i, kept = 0;

	for (n = 0; n < s->all->n; n++)
		for (r = &s->all->at[n], i = 0; i < r->nlinks; i++)
			s->end[s->nends++] = (struct end){&r->link[i].local, &r->link[i].peer,
							  r->number, n, r->link[i].dead};
	qsort(s->end, s->nends, sizeof(*s->end), end_cmp);
	for (i = 0; i < s->nends; i++)
		if (!kept || pair_cmp(&s->end[i], &s->end[kept - 1]))
			s->end[kept++] = s->end[i];
	s->nends = kept;
}

/* The node at the other end of link @i of node @n; -1: the link is dead or not known there. */
static int other_end(const struct search *s, unsigned int n, unsigned int i)
{
	const struct ways_report *r = &s->all->at[n];
	struct end want = {.local = &r->link[i].peer, .peer = &r->link[i].local};
	const struct end *e;

	if (r->link[i].dead || addr_is_v4(want.local) != s->v4)
		return -1;
	e = bsearch(&want, s->end, s->nends, sizeof(*e), find_cmp);
	return e && !e->dead ? (int)e->node : -1;
}

static bool passes(const struct search *s, unsigned int n)
{
	return !n || s->all->at[n].flags & (s->v4 ? TRIB_WAYS_PASSES_V4 : TRIB_WAYS_PASSES_V6);
}

/* One step of the search by breadth: from @n to its neighbours. */
static void expand(struct search *s, unsigned int n, unsigned int *queue, unsigned int *tail)
{
	unsigned int i;
	int to;

	for (i = 0; i < s->all->at[n].nlinks; i++) {
		to = other_end(s, n, i);
		if (to <= 0 || (unsigned int)to == n)
			continue;
		if (!s->hops[to]) {
			s->hops[to] = s->hops[n] + 1;
			queue[(*tail)++] = (unsigned int)to;
		}
		if (s->hops[to] == s->hops[n] + 1)
			s->first[to] |= n ? s->first[n] : 1U << i;
	}
}

static void search_all(struct search *s)
{
	unsigned int queue[TRIB_WAYS_NODES], head, tail = 1;

	memset(s->hops, 0, sizeof(s->hops));
	memset(s->first, 0, sizeof(s->first));
	queue[0] = 0;
	for (head = 0; head < tail; head++)
		if (passes(s, queue[head]))
			expand(s, queue[head], queue, &tail);
}

/* The @nth of the bits of @mask, counted round. */
static unsigned int nth_bit(uint32_t mask, unsigned int nth)
{
	unsigned int i;

	for (nth %= (unsigned int)__builtin_popcount(mask);; mask &= mask - 1) {
		i = (unsigned int)__builtin_ctz(mask);
		if (!nth--)
			return i;
	}
}

/* Is @a at the other end of a living link of this host? */
static bool is_beside(const struct search *s, const struct in6_addr *a)
{
	const struct ways_report *own = s->all->at;
	unsigned int i;

	for (i = 0; i < own->nlinks; i++)
		if (!addr_cmp(&own->link[i].peer, a) && other_end(s, 0, i) >= 0)
			return true;
	return false;
}

/* Is link @i of @r the first one with its local address? */
static bool is_first(const struct ways_report *r, unsigned int i)
{
	unsigned int j;

	for (j = 0; j < i; j++)
		if (!addr_cmp(&r->link[j].local, &r->link[i].local))
			return false;
	return true;
}

/*
 * Would the way to @a by @link make our probes of a dead link leave by a gateway? IPv6 sends
 * them as the routes of a device say.
 */
static bool hides_link(const struct search *s, const struct in6_addr *a, unsigned int link)
{
	const struct ways_report *own = s->all->at;
	unsigned int i;

	for (i = 0; !s->v4 && i < own->nlinks; i++)
		if (!addr_cmp(&own->link[i].peer, a) &&
		    !addr_cmp(&own->link[i].local, &own->link[link].local))
			return true;
	return false;
}

static void routes_to(struct search *s, unsigned int n)
{
	const struct ways_report *r = &s->all->at[n];
	unsigned int i, nth = 0, link;

	for (i = 0; i < r->nlinks; i++) {
		const struct in6_addr *to = &r->link[i].local;

		if (addr_is_v4(to) != s->v4 || IN6_IS_ADDR_LINKLOCAL(to) || !is_first(r, i))
			continue;
		link = nth_bit(s->first[n], nth++);
		if (!is_beside(s, to) && !hides_link(s, to, link))
			s->route[s->nroutes++] = (struct ways_route){*to, link};
	}
}

static int route_cmp(const void *a, const void *b)
{
	return addr_cmp(&((const struct ways_route *)a)->to, &((const struct ways_route *)b)->to);
}

/* Two hosts with one address: the first one has it. */
static void routes_sort(struct search *s)
{
	unsigned int i, kept = 0;

	qsort(s->route, s->nroutes, sizeof(*s->route), route_cmp);
	for (i = 0; i < s->nroutes; i++)
		if (!kept || route_cmp(&s->route[i], &s->route[kept - 1]))
			s->route[kept++] = s->route[i];
	s->nroutes = kept;
}

static void family(struct search *s, bool v4)
{
	unsigned int n;

	s->v4 = v4;
	search_all(s);
	for (n = 1; n < s->all->n; n++)
		if (s->hops[n])
			routes_to(s, n);
}

int ways_paths(const struct ways_reports *all, struct ways_route **out)
{
	struct search *s = calloc(1, sizeof(*s));
	int n = -ENOMEM;

	*out = NULL;
	if (!s)
		return n;
	s->all = all;
	s->end = calloc(WAYS_ROUTES_MAX, sizeof(*s->end));
	s->route = calloc(WAYS_ROUTES_MAX, sizeof(*s->route));
	if (s->end && s->route) {
		ends_collect(s);
		family(s, true);
		family(s, false);
		routes_sort(s);
		n = (int)s->nroutes;
	}
	free(s->end);
	if (n > 0)
		*out = s->route;
	else
		free(s->route);
	free(s);
	return n;
}
