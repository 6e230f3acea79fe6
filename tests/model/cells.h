/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cells of one rank and tree, as the XDP program of a leaf handles them
 * (uapi/trib_cell.h), for one thread. The caller owns the memory.
 */
#ifndef MODEL_CELLS_H
#define MODEL_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/trib_cell.h"

/**
 * struct cells - an array of cells and its row
 * @base:   @n cells and the desk.
 * @nval:   units of a cell.
 * @window: W.
 * @epoch:  that runs.
 * @child:  the rank's index at its parent; @auth: secret of its GRADs.
 * @reflex: XDP sends.
 * @carried: GRADs sent; @left: left to the rank, which is rung.
 */
struct cells {
	uint8_t *base;
	uint32_t n;
	uint16_t nval;
	uint16_t window;
	uint32_t epoch;
	uint16_t child;
	__be64 auth;
	bool reflex;
	unsigned long carried;
	unsigned long left;
};

/* Bytes of the array. */
size_t cells_bytes(uint32_t n, uint16_t nval);
struct trib_cell *cells_at(const struct cells *c, uint32_t chunk);
struct trib_desk *cells_desk(const struct cells *c);

/**
 * cells_result() - handle an admitted RESULT
 * @h:     header; the values follow.
 * @cpu:   line of the desk.
 * @now:   ns.
 * @out:   room for a packet: the GRAD that leaves.
 * @rings: set if the rank is woken.
 *
 * Return: bytes of the GRAD, or 0.
 */
size_t cells_result(struct cells *c, const struct trib_hdr *h, unsigned int cpu, uint64_t now,
		    void *out, bool *rings);

#endif /* MODEL_CELLS_H */
