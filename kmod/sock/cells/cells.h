/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of a collective socket: arrays and a ring buffer that the process has from tribd and
 * hands over (TRIB_SO_CELLS). XDP delivers results there, and sends what the engine leaves
 * to it.
 */
#ifndef TRIB_SOCK_CELLS_H
#define TRIB_SOCK_CELLS_H

#include <linux/wait.h>

#include "area.h"
#include "engine/transport.h"
#include "uapi/trib_cell.h"
#include "uapi/trib_sock.h"

/**
 * struct trib_ring - what XDP writes for the rank besides cells
 * @file: the map; the waiting queue @head belongs to it.
 * @wait: our entry there; XDP wakes it.
 * @consumer: the page with the position up to which we have read.
 * @data: the page with the position up to which XDP has written, and the records.
 * @at: our position. The page's is never read again.
 */
struct trib_ring {
	struct file *file;
	struct wait_queue_head *head;
	struct wait_queue_entry wait;
	struct trib_area consumer;
	struct trib_area data;
	unsigned long at;
};

/**
 * struct trib_handed - what a process handed over
 * @kick:   XDP rings: look at the cells. Any context. @ctx: its argument.
 * @ncell, @nval, @ntree: as in the place.
 * @news:   the newest look found results. @left: it left records in the ring.
 * @ring:   ring buffer.
 * @tree:   @ntree arrays.
 */
struct trib_handed {
	void (*kick)(void *ctx);
	void *ctx;
	u32 ncell;
	u16 nval;
	u16 ntree;
	bool news;
	bool left;
	struct trib_ring ring;
	struct trib_area tree[];
};

/* --- cells.c */

/* Bytes that all for @place take; the caller charges them. It has mapped delivery. */
u64 trib_handed_bytes(const struct trib_attach_rep *place);
/* Allocate for @place. NULL: no memory. */
struct trib_handed *trib_handed_make(const struct trib_attach_rep *place);
/*
 * Map what @fds names. @h->kick may be called from then on. May touch the process's memory.
 * Return: 0, or -errno and *@why.
 */
int trib_handed_take(struct trib_handed *h, const struct trib_sock_cells *fds, const char **why);
/* Unmap all, also after a failure, and free. NULL: does nothing. */
void trib_handed_free(struct trib_handed *h);
/* Find the cells of a stream. Return: 0 or -EPROTO. */
int trib_handed_cells(const struct trib_handed *h, const struct trib_stream *s,
		      struct trib_cells *out);
/* Let the engine read results and records. */
void trib_handed_read(struct trib_handed *h, struct trib_engine *eng);

/* --- ring.c */

/* Take over a ring buffer. Return: 0, or -errno and *@why. */
int trib_ring_take(struct trib_ring *r, int fd, const char **why);
void trib_ring_drop(struct trib_ring *r);
/*
 * Hand records to the engine, in one bounded batch. Return: true if some are left, or came
 * meanwhile without waking anybody.
 */
bool trib_ring_drain(struct trib_ring *r, struct trib_engine *eng);
/* Bytes that a ring takes. */
size_t trib_ring_bytes(void);

#endif /* TRIB_SOCK_CELLS_H */
