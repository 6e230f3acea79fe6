/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trees and rates that follow from a formula: BCube and torus.
 */
#ifndef TRIB_PLAN_FAMILIES_H
#define TRIB_PLAN_FAMILIES_H

#include "span.h"

/* Number of trees of a BCube: k families of N^k. */
int families_bcube_count(const struct plan_topology *t);

/**
 * families_bcube_tree() - fill in tree @i, which sums the i-th equal part
 * @s: arrays with room for N^k entries. Left empty without memory.
 */
void families_bcube_tree(const struct plan_topology *t, int i, struct span *s, int *family,
			 int *owner);

/* bit/s of message that a worker sums at the links' capacity. */
double families_bcube_rate(const struct plan_topology *t);
double families_torus_rate(const struct plan_topology *t);

#endif /* TRIB_PLAN_FAMILIES_H */
