// SPDX-License-Identifier: BSD-2-Clause
/*
 * Joins the relays in use to a tree: grows it from the root, always by the
 * cheapest edge, then improves one parent at a time.
 */
#include <math.h>

#include "pricer.h"

bool pricer_below(const struct pricer *p, int i, int k)
{
	for (; i >= 0 && i < p->m; i = p->up[i])
		if (i == k)
			return true;
	return false;
}

/*
 * Each relay pays for its nearest parent. Without a PS, the relay with the
 * dearest parent counts as the root and pays nothing.
 */
double pricer_join_bound(const struct pricer *p)
{
	double sum = 0, d, most = 0;
	int k, i, width = p->m + 1;

	for (k = 0; k < p->m; k++) {
		if (!p->used[k])
			continue;
		d = p->ds[k * width + p->m];
		for (i = 0; i < p->m; i++)
			if (p->used[i] && p->ds[k * width + i] < d)
				d = p->ds[k * width + i];
		if (pricer_has_ps(p)) {
			sum += d;
			continue;
		}
		if (isinf(d)) {
			/* Only the root may lack a parent. */
			sum += isinf(most) ? INFINITY : 0;
			most = INFINITY;
			continue;
		}
		sum += d;
		if (!isinf(most))
			most = fmax(most, d);
	}
	return isinf(most) ? sum : sum - most;
}

/* Use the better parent for each relay until no relay has one. */
static void improve(struct pricer *p, int root)
{
	int i, k, width = p->m + 1;
	bool better;

	do {
		better = false;
		for (k = 0; k < p->m; k++)
			for (i = 0; p->used[k] && k != root && i <= p->m; i++) {
				if (i == p->m ? root != p->m : !p->used[i])
					continue;
				if (p->ds[k * width + i] + PRICER_EPS >=
					    p->ds[k * width + p->up[k]] ||
				    pricer_below(p, i, k))
					continue;
				p->up[k] = i;
				better = true;
			}
	} while (better);
}

/* Join the relays in use to target @root; the price, INFINITY: impossible. */
static double join(struct pricer *p, int root)
{
	int i, k, width = p->m + 1, pick, from = -1, left = 0;
	double least, sum = 0, d;

	for (k = 0; k < p->m; k++) {
		p->mark[k] = k == root;
		p->up[k] = -1;
		left += p->used[k] && k != root;
	}
	while (left--) {
		least = INFINITY;
		pick = -1;
		for (k = 0; k < p->m; k++) {
			if (!p->used[k] || p->mark[k])
				continue;
			for (i = 0; i <= p->m; i++) {
				if (i == p->m ? root != p->m : !p->mark[i])
					continue;
				d = p->ds[k * width + i];
				if (d < least) {
					least = d;
					pick = k;
					from = i;
				}
			}
		}
		if (pick < 0)
			return INFINITY;
		p->mark[pick] = 1;
		p->up[pick] = from;
	}
	improve(p, root);
	for (k = 0; k < p->m; k++)
		if (p->used[k] && k != root)
			sum += p->ds[k * width + p->up[k]];
	return sum;
}

double pricer_join(struct pricer *p)
{
	double cost, least = INFINITY;
	int k, root = -1;

	if (pricer_has_ps(p))
		return join(p, p->m);
	for (k = 0; k < p->m; k++) {
		if (!p->used[k])
			continue;
		cost = join(p, k);
		if (cost < least) {
			least = cost;
			root = k;
		}
	}
	return root < 0 ? INFINITY : join(p, root);
}
