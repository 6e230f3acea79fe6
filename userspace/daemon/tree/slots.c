// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranges of slots or marks, first fit: ranges are few and of few sizes (powers
 * of two), so gaps fit again.
 */
#include <errno.h>
#include <stdlib.h>

#include "slots.h"

static int by_first(const void *a, const void *b)
{
	const struct slot_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

int slots_find(struct slot_range *used, size_t n, uint32_t total, uint32_t want, uint32_t *first)
{
	uint64_t at = 0;
	size_t i;

	if (!want)
		return -EINVAL;
	if (n)
		qsort(used, n, sizeof(*used), by_first);
	for (i = 0; i < n; i++) {
		if (used[i].first >= at + want)
			break;
		if ((uint64_t)used[i].first + used[i].count > at)
			at = (uint64_t)used[i].first + used[i].count;
	}
	if (at + want > total)
		return -ENOSPC;
	*first = (uint32_t)at;
	return 0;
}

int slots_check(const struct slot_range *used, size_t n, uint32_t total, const struct slot_range *r)
{
	uint64_t end = (uint64_t)r->first + r->count;
	size_t i;

	if (!r->count || end > total)
		return -ERANGE;
	for (i = 0; i < n; i++)
		if (r->first < (uint64_t)used[i].first + used[i].count && used[i].first < end)
			return -EEXIST;
	return 0;
}
