// SPDX-License-Identifier: GPL-2.0
/*
 * Cells that a process has handed over: checks them, maps them, and reads them for the engine.
 *
 * The process keeps its mappings and may write at any time. So sizes are of this file, words
 * are read once, and the engine trusts no header (engine/lanes.c). XDP and the process can
 * spoil this rank's sums, as a process with its own engine could.
 */
#include <linux/bpf.h>
#include <linux/file.h>
#include <linux/mman.h>
#include <linux/slab.h>

#include "cells.h"
#include "engine/engine.h"

/* Flags of tribd's arrays. Others could be of constants that verified programs rely on. */
#define FLAGS (BPF_F_MMAPABLE | BPF_F_INNER_MAP)

static size_t cell_bytes(u16 nval)
{
	return offsetof(struct trib_cell, v) + 4ul * nval;
}

/* Whole pages of cells and a desk; the check of the place bounds both factors. */
static size_t tree_bytes(u32 ncell, u16 nval)
{
	return PAGE_ALIGN((ncell + 1ul) * cell_bytes(nval));
}

u64 trib_handed_bytes(const struct trib_attach_rep *place)
{
	size_t tree = tree_bytes(place->ncell, place->nval);

	return struct_size((struct trib_handed *)NULL, tree, place->ntree) + trib_ring_bytes() +
	       place->ntree * (u64)(tree + trib_area_bytes(tree));
}

struct trib_handed *trib_handed_make(const struct trib_attach_rep *place)
{
	struct trib_handed *h = kvzalloc(struct_size(h, tree, place->ntree), GFP_KERNEL_ACCOUNT);

	if (!h)
		return NULL;
	h->ncell = place->ncell;
	h->nval = place->nval;
	h->ntree = place->ntree;
	return h;
}

static bool is_array(const struct trib_handed *h, const struct file *f)
{
	const struct bpf_map *map = trib_area_map(f);

	return map && map->map_type == BPF_MAP_TYPE_ARRAY && map->map_flags == FLAGS &&
	       map->value_size == cell_bytes(h->nval) && map->max_entries == h->ncell + 1;
}

static int take_tree(struct trib_handed *h, unsigned int i, int fd, const char **why)
{
	struct file *f = fget(fd);
	int rc = -EINVAL;

	*why = "a descriptor of cells is not open";
	if (!f)
		return -EBADF;
	*why = "a descriptor is not an array of cells of the place's size";
	if (is_array(h, f)) {
		*why = "cells cannot be mapped";
		rc = trib_area_take(&h->tree[i], f, 0, tree_bytes(h->ncell, h->nval),
				    PROT_READ | PROT_WRITE);
	}
	/* The pages are pinned. */
	fput(f);
	return rc;
}

int trib_handed_take(struct trib_handed *h, const struct trib_sock_cells *fds, const char **why)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < h->ntree; i++)
		rc = take_tree(h, i, fds->cells[i], why);
	return rc ? rc : trib_ring_take(&h->ring, fds->ring, why);
}

void trib_handed_free(struct trib_handed *h)
{
	unsigned int i;

	if (!h)
		return;
	trib_ring_drop(&h->ring);
	for (i = 0; i < h->ntree; i++)
		trib_area_drop(&h->tree[i]);
	kvfree(h);
}

int trib_handed_cells(const struct trib_handed *h, const struct trib_stream *s,
		      struct trib_cells *out)
{
	if (s->index >= h->ntree || s->nval != h->nval)
		return -EPROTO;
	*out = (struct trib_cells){
		.base = h->tree[s->index].base,
		.n = h->ncell,
		.reflex = s->eng->rep->tree[s->index].flags & TRIB_ATTACH_REFLEX,
	};
	return 0;
}

void trib_handed_read(struct trib_handed *h, struct trib_engine *eng)
{
	unsigned int i;

	h->news = false;
	for (i = 0; i < eng->nstream; i++)
		h->news |= trib_cells_read(eng->stream[i]) > 0;
	h->left = trib_ring_drain(&h->ring, eng);
}
