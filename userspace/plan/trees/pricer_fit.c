// SPDX-License-Identifier: BSD-2-Clause
/*
 * Enforces the limit of children: workers, then relays, move from nodes with
 * too many children to the cheapest node with room. Relays that the tree does
 * not use yet may join it for that.
 */
#include <math.h>

#include "pricer.h"
#include "uapi/trib_wire.h"

int pricer_children(const struct pricer *p, int i)
{
	const struct model_job *nj = pricer_job(p);
	int g, k, n = 0, width = p->m + 1;

	for (g = 0; g < nj->ngroup; g++)
		n += p->count[g * width + i];
	for (k = 0; k < p->m; k++)
		n += p->used[k] && p->up[k] == i;
	return n;
}

/* Limit of children of target @i. The PS of a shared pool has none. */
static int fanin(const struct pricer *p, int i)
{
	const struct job *job = pricer_job(p)->job;

	return job->shared && i == p->m ? TRIB_WORLD_MAX : TRIB_CHILDREN_MAX;
}

/* Cheapest parent with room for the unused relay @k; -1: none. */
static int parent_for(const struct pricer *p, int k, const int *kids)
{
	int i, pick = -1, width = p->m + 1;
	double least = INFINITY;

	for (i = 0; i <= p->m; i++)
		if ((i == p->m ? pricer_has_ps(p) : p->used[i]) && kids[i] < fanin(p, i) &&
		    p->ds[k * width + i] < least) {
			least = p->ds[k * width + i];
			pick = i;
		}
	return pick;
}

static void use_relay(struct pricer *p, int k, int parent, int *kids)
{
	p->used[k] = true;
	p->up[k] = parent;
	kids[parent]++;
	kids[k] = 0;
}

/*
 * Price of one more worker at @i, without its path: 0 if @i is in use, else its
 * share of the price of joining @i. INFINITY: no room.
 */
static double entry_fee(const struct pricer *p, int i, int excess, const int *kids)
{
	int parent;

	if (i == p->m || p->used[i])
		return kids[i] < fanin(p, i) ? 0 : INFINITY;
	parent = parent_for(p, i, kids);
	if (parent < 0)
		return INFINITY;
	return p->ds[i * (p->m + 1) + parent] / fmin(excess, fanin(p, i));
}

/* Move workers away from @from until it fits; false: no room elsewhere. */
static bool relieve(struct pricer *p, int from, int *kids)
{
	const struct model_job *nj = pricer_job(p);
	int g, i, width = p->m + 1, bg, bi, n, excess;
	double d, fee, least;

	while (kids[from] > fanin(p, from)) {
		excess = kids[from] - fanin(p, from);
		least = INFINITY;
		bg = bi = -1;
		for (i = 0; i <= p->m; i++) {
			fee = i == from ? INFINITY : entry_fee(p, i, excess, kids);
			for (g = 0; !isinf(fee) && g < nj->ngroup; g++) {
				if (!p->count[g * width + from])
					continue;
				d = p->dg[g * width + i] - p->dg[g * width + from] + fee;
				if (d < least) {
					least = d;
					bg = g;
					bi = i;
				}
			}
		}
		if (bg < 0)
			return false;
		if (bi < p->m && !p->used[bi])
			use_relay(p, bi, parent_for(p, bi, kids), kids);
		n = p->count[bg * width + from];
		if (n > excess)
			n = excess;
		if (n > fanin(p, bi) - kids[bi])
			n = fanin(p, bi) - kids[bi];
		p->count[bg * width + from] -= n;
		p->count[bg * width + bi] += n;
		kids[from] -= n;
		kids[bi] += n;
	}
	return true;
}

/* Move relays away from @from to their cheapest parents with room. */
static bool reparent(struct pricer *p, int from, int *kids)
{
	int k, i, width = p->m + 1, bk, bi;
	double d, least;

	while (kids[from] > fanin(p, from)) {
		least = INFINITY;
		bk = bi = -1;
		for (k = 0; k < p->m; k++) {
			if (!p->used[k] || p->up[k] != from)
				continue;
			for (i = 0; i <= p->m; i++) {
				if (i == from || (i < p->m && !p->used[i]) ||
				    kids[i] >= fanin(p, i) || pricer_below(p, i, k))
					continue;
				d = p->ds[k * width + i] - p->ds[k * width + from];
				if (d < least) {
					least = d;
					bk = k;
					bi = i;
				}
			}
		}
		if (bk < 0)
			return false;
		p->up[bk] = bi;
		kids[from]--;
		kids[bi]++;
	}
	return true;
}

/* Join the unused relay that is cheapest to join; false: there is none. */
static bool add_relay(struct pricer *p)
{
	int a, b, relay = -1, parent = -1, width = p->m + 1;
	double least = INFINITY;

	for (a = 0; a < p->m; a++)
		for (b = 0; !p->used[a] && b <= p->m; b++)
			if ((b == p->m ? pricer_has_ps(p) : p->used[b]) &&
			    p->ds[a * width + b] < least) {
				least = p->ds[a * width + b];
				relay = a;
				parent = b;
			}
	if (relay < 0)
		return false;
	p->used[relay] = true;
	p->up[relay] = parent;
	return true;
}

bool pricer_fit(struct pricer *p)
{
	int kids[PLAN_RELAYS_MAX + 4], i;
	bool good;

	do {
		good = true;
		for (i = 0; i <= p->m; i++)
			kids[i] = pricer_children(p, i);
		for (i = 0; good && i <= p->m; i++)
			if (kids[i] > fanin(p, i))
				good = relieve(p, i, kids) || reparent(p, i, kids);
		if (good)
			return true;
	} while (add_relay(p));
	return false;
}
