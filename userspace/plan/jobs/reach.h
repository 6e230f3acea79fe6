/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of one job: from its workers and relays to every relay and to the PS.
 */
#ifndef TRIB_PLAN_REACH_H
#define TRIB_PLAN_REACH_H

#include <math.h>

#include "model.h"

/**
 * struct reach - arcs between a job's groups, candidates and PS
 * @j:    number of the job.
 * @n:    number of candidates.
 * @node: node of each candidate: the nodes that may relay and can be reached,
 *        and the PS's switch if it relays for free. Candidate number @n is
 *        the PS.
 * @tor:  candidate that is the PS's switch, or -1.
 * @off, @arcs: by destination c; filled by reach_want(). The arcs of group g
 *        are arcs[c][off[c][g]] to arcs[c][off[c][g + 1] - 1]. The paths from
 *        candidate k follow under the index ngroup + k. A path that does not
 *        exist is the single arc -1.
 */
struct reach {
	struct model *model;
	int j;
	int n;
	int *node;
	int tor;
	int **off, **arcs;
};

int reach_new(struct reach **out, struct model *model, int j);
void reach_free(struct reach *r);
/* Fill the lists of destination @c if they are empty; 0 or -ENOMEM. */
int reach_want(struct reach *r, int c);
/* @sum plus the prices of the path from @from to @c; INFINITY: no path. */
static inline double reach_length(const struct reach *r, int from, int c, const double *price,
				  double sum)
{
	const int *arc = r->arcs[c] + r->off[c][from];
	const int *end = r->arcs[c] + r->off[c][from + 1];

	if (arc < end && *arc < 0)
		return INFINITY;
	for (; arc < end; arc++)
		sum += price[res_link(*arc)];
	return sum;
}

/* Price of one more child at candidate @c: its relay resources. */
double reach_child_price(const struct reach *r, int c, const double *price);

#endif /* TRIB_PLAN_REACH_H */
