// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Checks of a place, which comes from the user of a socket. No kernel interface:
 * tests/unit/kmod/sock_place.c runs it.
 */
#ifdef __KERNEL__
#include <asm/byteorder.h>
#include <linux/string.h>
#else
#include <arpa/inet.h>
#include <string.h>
#endif

#include "place.h"
#include "uapi/trib_cell.h"

#define WINDOW_MAX 16384
#define WINDOW_MIN 4
/* Far above what tribd makes. */
#define CELLS_MAX (1 << 20)

static const __u8 *bytes(const __be32 *addr)
{
	return (const __u8 *)addr;
}

bool trib_addr_is_v4(const __be32 *addr)
{
	static const __u8 mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(addr, mapped, sizeof(mapped));
}

static bool is_multicast(const __be32 *addr)
{
	const __u8 *b = bytes(addr);

	return trib_addr_is_v4(addr) ? (b[12] & 0xf0) == 0xe0 : b[0] == 0xff;
}

/* Is this a unicast address? */
static bool is_host(const __be32 *addr)
{
	static const __u8 nobody[4], everybody[4] = {255, 255, 255, 255};
	const __u8 *b = bytes(addr);

	if (!trib_addr_is_set(addr) || is_multicast(addr))
		return false;
	return !trib_addr_is_v4(addr) ||
	       (memcmp(b + 12, nobody, 4) && memcmp(b + 12, everybody, 4));
}

static const char *hops_wrong(const struct trib_attach_tree *a)
{
	unsigned int i;

	if (a->nhop > TRIB_ATTACH_HOPS)
		return "a tree has more relays on its way than a place holds";
	for (i = 0; i < a->nhop; i++) {
		if (!is_host(a->hop[i].addr) ||
		    trib_addr_is_v4(a->hop[i].addr) != trib_addr_is_v4(a->addr))
			return "a relay's address is not a unicast address of its tree's IP version";
		if (!a->hop[i].port)
			return "a relay's UDP port is 0";
		if (!a->hop[i].relay || a->hop[i].relay == TRIB_RELAY_PS)
			return "a relay's number is 0 or the PS's";
	}
	return NULL;
}

/* Results to cells leave the UDP port open. */
static const char *local_wrong(const struct trib_attach_tree *a, bool mapped)
{
	bool v4 = trib_addr_is_v4(a->addr);

	if (!a->recv_port && !mapped)
		return "a tree's UDP port for results is 0";
	if (trib_addr_is_set(a->local_addr) &&
	    (is_multicast(a->local_addr) || trib_addr_is_v4(a->local_addr) != v4))
		return "a local address is not a unicast address of its tree's IP version";
	if (trib_addr_is_set(a->mcast_addr) &&
	    (!is_multicast(a->mcast_addr) || trib_addr_is_v4(a->mcast_addr) != v4))
		return "a multicast group is not one of its tree's IP version";
	return NULL;
}

static const char *tree_wrong(const struct trib_attach_rep *rep, const struct trib_attach_tree *a)
{
	bool mapped = rep->flags & TRIB_ATTACH_MAPPED;
	const char *why;

	if (a->flags & ~(mapped ? TRIB_ATTACH_REFLEX : TRIB_ATTACH_SHARED))
		return mapped ? "a tree with mapped delivery has flags of another kind"
			      : "a tree has unknown flags";
	if (!is_host(a->addr))
		return "a tree's address is not a unicast address";
	if (!a->port)
		return "a tree's UDP port is 0";
	if (a->weight > TRIB_TREE_WEIGHT_MAX)
		return "a tree's weight is too large";
	why = local_wrong(a, mapped);
	if (why)
		return why;
	if (a->flags & TRIB_ATTACH_SHARED)
		return a->child != rep->rank ? "a shared tree's child index is not the rank"
					     : hops_wrong(a);
	if (a->nhop)
		return "a tree without a shared pool has relays on its way";
	if (a->child >= TRIB_CHILDREN_MAX)
		return "a tree's child index is too large";
	return NULL;
}

/* Cells of a place with mapped delivery: their sizes cannot overflow. */
static const char *cells_wrong(const struct trib_attach_rep *rep)
{
	if (rep->nval < TRIB_NVAL_SMALL)
		return "cells of so few values have no room for a desk";
	if (!rep->window || rep->ncell < 2u * rep->window || rep->ncell < TRIB_CELLS_MIN ||
	    rep->ncell > CELLS_MAX || (rep->ncell & (rep->ncell - 1)))
		return "the number of cells is no power of 2, or does not suit the window";
	return NULL;
}

static const char *head_wrong(const struct trib_attach_rep *rep)
{
	if (rep->err)
		return "tribd refused this place: its err is not 0";
	if (rep->flags & ~TRIB_ATTACH_MAPPED)
		return "the place has unknown flags";
	if (!rep->world || rep->world > TRIB_WORLD_MAX)
		return "the job's number of ranks is 0 or too large";
	if (rep->rank >= rep->world)
		return "the rank is not below the number of ranks";
	if (rep->nval > TRIB_NVAL_LARGE || rep->nval % TRIB_NVAL_BLOCK)
		return "the number of values is too large or no multiple of a block";
	if (rep->window > WINDOW_MAX || (rep->window & (rep->window - 1)))
		return "the window is too large or no power of 2";
	if (rep->fmt != TRIB_FMT_NONE && rep->fmt != TRIB_FMT_Q32 && rep->fmt != TRIB_FMT_F32 &&
	    rep->fmt != TRIB_FMT_F16 && rep->fmt != TRIB_FMT_BF16)
		return "the format is none for floats";
	return rep->flags & TRIB_ATTACH_MAPPED ? cells_wrong(rep) : NULL;
}

const char *trib_place_wrong(const struct trib_attach_rep *rep, size_t len)
{
	const char *why;
	unsigned int i, j;

	if (len < trib_place_len(1))
		return "the place is too short";
	if (!rep->ntree || rep->ntree > TRIB_ATTACH_TREES)
		return "the number of trees is 0 or too large";
	if (len < trib_place_len(rep->ntree))
		return "the place is too short for its trees";
	why = head_wrong(rep);
	for (i = 0; !why && i < rep->ntree; i++) {
		why = tree_wrong(rep, &rep->tree[i]);
		for (j = 0; !why && j < i; j++)
			if (rep->tree[j].tree == rep->tree[i].tree)
				why = "two trees have the same number";
	}
	return why;
}

bool trib_window_is_wrong(__u32 window)
{
	return window && (window < WINDOW_MIN || window > WINDOW_MAX || (window & (window - 1)));
}
