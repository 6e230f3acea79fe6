/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs whose trees or schedule follow from a formula: BCube and torus.
 */
#ifndef TRIB_PLAN_FAMILIES_H
#define TRIB_PLAN_FAMILIES_H

#include "plan/io/rows.h"

/* Number of trees of a BCube: k families of N^k. */
int bcube_trees(const struct plan_topology *t);
/*
 * Tree @i of them, in the order of the ranges of a message: tree i sums the
 * i-th of equal parts. The arrays of @s have room for N^k entries.
 */
void bcube_tree(const struct plan_topology *t, int i, struct span *s,
		int *family, int *owner);
/* Bytes of message per second and unit of capacity, over bits. */
double bcube_rate(const struct plan_topology *t);
double torus_rate(const struct plan_topology *t);
/* Rows and columns, as lists of names. */
json_t *torus_exchange(const struct plan_topology *t);

#endif /* TRIB_PLAN_FAMILIES_H */
