// SPDX-License-Identifier: BSD-2-Clause
/* The model's admission to shared trees: who may send, and in which form. */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "model.h"

static bool is_for(const struct view *v, const uint8_t addr[16])
{
	const uint8_t *ip = v->f->b + v->l3;

	return v->v6 ? !memcmp(ip + 24, addr, 16)
		     : addr[10] == 0xff && !memcmp(ip + 16, addr + 12, 4);
}

/* Is it for one of the addresses by which the tree's neighbours know us? */
static bool is_for_us(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	uint8_t addr[16];

	for (int i = 0; i < t->nchild; i++) {
		rig_local(tree, rig_port(tree, i), addr);
		if (is_for(v, addr))
			return true;
	}
	return false;
}

/* Find the neighbour below that sent it; -1: none. */
static int neighbour(const struct view *v, const struct trib_tree *t)
{
	for (int i = 0; i < t->nchild; i++)
		if (from_face(v, t, &t->child[i]))
			return i;
	return -1;
}

/* Is the sender a rank of the row that is no neighbour? */
static bool is_guest(const struct trib_hdr *h, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	unsigned int rank = ntohs(h->child);

	for (int i = 0; i < t->nchild; i++)
		if (t->child[i].rank == rank)
			return false;
	return h->type < TRIB_T_JOIN && rank < 64 * TRIB_BMWORDS_MAX &&
	       be64toh(rig.pools[tree].mask[rank / 64]) >> rank % 64 & 1;
}

static int who_up(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	const struct trib_hdr *h = v->p.h;
	int child = neighbour(v, t);
	uint8_t addr[16];

	if (child < 0 && !is_for_us(v, tree))
		return POOL_LEAVE;
	if (child < 0 && !is_guest(h, tree))
		return TRIB_DROP_FACE;
	if (child < 0)
		return ntohs(h->child) < t->world ? 0 : TRIB_DROP_CHILD;
	if (h->type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	rig_local(tree, rig_port(tree, child), addr);
	if (h->type == TRIB_T_PROBE && !is_for(v, addr))
		return POOL_LEAVE;
	return ntohs(h->child) < t->world ? 0 : TRIB_DROP_CHILD;
}

static int who_down(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	uint8_t type = v->p.h->type;

	if (type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	if (!from_face(v, t, &t->parent))
		return is_for_us(v, tree) ? TRIB_DROP_FACE : POOL_LEAVE;
	if (type == TRIB_T_NEED || type == TRIB_T_PROBE)
		return TRIB_DROP_TYPE;
	return 0;
}

static int form(const struct trib_hdr *h, int tree)
{
	unsigned int n = h->bmwords, words = rig.pools[tree].bmwords;

	if (h->type == TRIB_T_PROBE)
		return n ? TRIB_DROP_FORMAT : 0;
	if (!h->epoch)
		return TRIB_DROP_EPOCH;
	if (h->type == TRIB_T_GRAD)
		return !h->relay ? TRIB_DROP_FORMAT : n != words ? TRIB_DROP_BITMAP : 0;
	/* Other types need no bitmap; NEED may have one word. */
	if (!n || n == words || (h->type == TRIB_T_NEED && n == 1))
		return 0;
	return TRIB_DROP_BITMAP;
}

int admit_pool(const struct view *v, int tree)
{
	int why = v->p.h->flags & TRIB_F_UP ? who_up(v, tree) : who_down(v, tree);

	return why ? why : form(v->p.h, tree);
}
