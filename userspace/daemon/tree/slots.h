/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranges of slots or marks. Pure: no maps. */
#ifndef TRIBD_SLOTS_H
#define TRIBD_SLOTS_H

#include <stddef.h>
#include <stdint.h>

struct slot_range {
	uint32_t first;
	uint32_t count;
};

/**
 * slots_find() - the lowest gap of @want slots
 * @used: ranges in use, in any order (they are sorted here).
 * @total: slots of the pool.
 *
 * Return: 0 and @first, or -ENOSPC.
 */
int slots_find(struct slot_range *used, size_t n, uint32_t total, uint32_t want, uint32_t *first);
/*
 * Check a range. 0, -ERANGE (outside the pool), -EEXIST (overlaps one of
 * @used).
 */
int slots_check(const struct slot_range *used, size_t n, uint32_t total,
		const struct slot_range *r);

#endif /* TRIBD_SLOTS_H */
