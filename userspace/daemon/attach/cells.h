/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of cells (uapi/trib_cell.h) and their rows in the map cells. An array is of one
 * process: it is made when the process attaches, and never given to another one, because
 * who has mapped it may write into it for ever.
 */
#ifndef TRIBD_CELLS_H
#define TRIBD_CELLS_H

#include "daemon/core/tribd.h"

/* Most bytes of the arrays of a rank, unless its window needs more. */
#define CELLS_BYTES_MAX (64u << 20)

/* Bytes of a cell, and of the desk. */
uint32_t cells_size(const struct tribd *d);
/*
 * Find N, a power of 2: as many cells as @ntree arrays may have in CELLS_BYTES_MAX, at
 * most 1,024 (512 of the large object), at least two windows. Pure.
 */
uint32_t cells_count(const struct tribd *d, unsigned int window, unsigned int ntree);
/* Make an array of @n cells and a desk. Return: a descriptor of the caller's; -errno. */
int cells_make(struct tribd *d, uint32_t n);
/* Enter the @n arrays @fd in the rows @row. 0 or -errno; then none is there. */
int cells_publish(struct tribd *d, const uint32_t *row, const int *fd, unsigned int n);
/*
 * Take the arrays of the @n rows @row away, at once: each change of a row by itself waits
 * for an RCU grace period. Call after bpf_quiesce(), when no deliver row has them.
 * @none: an array that nobody has; it stays there.
 */
void cells_take(struct tribd *d, const uint32_t *row, unsigned int n, int none);
/* Empty @row. */
void cells_clear(struct tribd *d, uint32_t row);
/* True if @row holds an array like those of cells_make() with @n cells. */
bool cells_fit(struct tribd *d, uint32_t row, uint32_t n);
/* Read how many GRADs XDP sent out of the array at @row. The rank may write anything there. */
uint64_t cells_carried(struct tribd *d, uint32_t row, uint32_t n);

#endif /* TRIBD_CELLS_H */
