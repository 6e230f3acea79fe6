/* SPDX-License-Identifier: BSD-2-Clause */
/* How near floats that came back are to the original ones. */
#ifndef TRIB_CLI_NM_STATS_H
#define TRIB_CLI_NM_STATS_H

#include <jansson.h>

#include "nm_file.h"

/**
 * struct nm_stats - sums over values
 * @energy:  squares of the original values.
 * @lost:    squares of what is missing.
 * @largest: the largest error of a value.
 */
struct nm_stats {
	double energy;
	double lost;
	double largest;
};

/* Add @count values: the original ones, and what came back. */
void nm_stats_add(struct nm_stats *s, uint32_t fmt, const void *x, const void *back, size_t count);

/* Share of the energy that came back: 1 if there was none. */
double nm_stats_kept(const struct nm_stats *s);

/* Describe a file, and, unless @s is NULL, what it kept. */
json_t *nm_stats_json(const struct nm_file *f, const struct nm_stats *s);

/* "f32", "f16" or "bf16", and back; 0 if there is no such format. */
const char *nm_fmt_name(uint32_t fmt);
uint32_t nm_fmt_find(const char *name);

#endif /* TRIB_CLI_NM_STATS_H */
