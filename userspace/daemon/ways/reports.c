// SPDX-License-Identifier: BSD-2-Clause
#include "reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "uapi/trib_auth.h"

static uint64_t hash_of(const struct ways_report *r)
{
	static const struct trib_key none;

	return trib_sip_pair(&none, r->node, r->number);
}

int ways_reports_start(struct ways_reports *all, uint64_t node, uint64_t number)
{
	all->at = calloc(TRIB_WAYS_NODES, sizeof(*all->at));
	if (!all->at)
		return -ENOMEM;
	all->n = 1;
	all->at[0].node = node;
	all->at[0].number = number;
	all->digest = hash_of(all->at);
	return 0;
}

void ways_reports_free(struct ways_reports *all)
{
	free(all->at);
	memset(all, 0, sizeof(*all));
}

static void keep(struct ways_reports *all, struct ways_report *at, const struct ways_report *r)
{
	if (at->node)
		all->digest ^= hash_of(at);
	*at = *r;
	all->digest ^= hash_of(at);
}

void ways_reports_own(struct ways_reports *all, const struct ways_report *own, uint64_t least)
{
	struct ways_report r = *own;

	r.node = all->at->node;
	r.number = (least > all->at->number ? least : all->at->number) + 1;
	keep(all, all->at, &r);
}

static bool has_addr(const struct ways_report *r, const struct in6_addr *a)
{
	unsigned int i;

	for (i = 0; i < r->nlinks; i++)
		if (IN6_ARE_ADDR_EQUAL(&r->link[i].local, a))
			return true;
	return false;
}

/* Do newer reports have all addresses of @r? Then its node lives on under another number. */
static bool is_replaced(const struct ways_reports *all, const struct ways_report *r)
{
	unsigned int i, n;

	for (i = 0; i < r->nlinks; i++) {
		for (n = 0; n < all->n; n++)
			if (all->at[n].node != r->node && all->at[n].number > r->number &&
			    has_addr(&all->at[n], &r->link[i].local))
				break;
		if (n == all->n)
			return false;
	}
	return true;
}

static void forget_replaced(struct ways_reports *all)
{
	unsigned int n = 1;

	while (n < all->n) {
		if (!is_replaced(all, &all->at[n])) {
			n++;
			continue;
		}
		all->digest ^= hash_of(&all->at[n]);
		all->at[n] = all->at[--all->n];
		memset(&all->at[all->n], 0, sizeof(all->at[0]));
	}
}

/* Is it of this host, from an earlier life, or by somebody with an address of ours? */
static bool is_own(const struct ways_reports *all, const struct ways_report *r)
{
	unsigned int i;

	if (r->node == all->at->node)
		return true;
	for (i = 0; i < r->nlinks; i++)
		if (has_addr(all->at, &r->link[i].local))
			return true;
	return false;
}

/* Return: our report is now newer than @r, and was not before. */
static bool outbid(struct ways_reports *all, const struct ways_report *r)
{
	struct ways_report own = *all->at;

	if (r->number < own.number || (r->node == own.node && r->number == own.number))
		return false;
	ways_reports_own(all, &own, r->number);
	return true;
}

bool ways_reports_hear(struct ways_reports *all, const struct ways_report *r)
{
	unsigned int n;

	if (is_own(all, r))
		return outbid(all, r);
	for (n = 1; n < all->n && all->at[n].node != r->node; n++)
		;
	if (n == TRIB_WAYS_NODES || (n < all->n && r->number <= all->at[n].number) ||
	    is_replaced(all, r))
		return false;
	if (n == all->n)
		all->n++;
	keep(all, &all->at[n], r);
	forget_replaced(all);
	return true;
}
