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

/* Find the neighbour that is the packet's rank; -1: none. */
static int of_rank(const struct trib_hdr *h, const struct trib_tree *t)
{
	for (int i = 0; i < t->nchild; i++)
		if (t->child[i].rank == ntohs(h->child))
			return i;
	return -1;
}

/* Is the sender, which is no neighbour, a rank of the row? */
static bool is_guest(const struct trib_hdr *h, int tree)
{
	unsigned int rank = ntohs(h->child);

	return h->type < TRIB_T_JOIN && rank < 64 * TRIB_BMWORDS_MAX &&
	       be64toh(rig.pools[tree].mask[rank / 64]) >> rank % 64 & 1;
}

/* Does a worker's GRAD name that worker alone? */
static bool is_alone(const struct view *v)
{
	unsigned int rank = ntohs(v->p.h->child);

	for (unsigned int i = 0; i < v->p.h->bmwords; i++) {
		uint64_t w;

		memcpy(&w, v->p.pay + 8 * i, 8);
		if (be64toh(w) != (i == rank / 64 ? 1ULL << rank % 64 : 0))
			return false;
	}
	return true;
}

/* Check what the sender, neighbour @from or somebody else, proves. */
static int proves(const struct view *v, int tree, int from)
{
	const struct trib_tree *t = &rig.trees[tree];
	const struct trib_hdr *h = v->p.h;
	struct trib_key key = rig_key(tree, ntohs(h->child));

	if (from >= 0 && t->child[from].rank == 0xffff &&
	    (h->type == TRIB_T_GRAD || h->type == TRIB_T_RESULT)) {
		key = rig_key(tree, KEY_RELAY);
		return has_key(v, &key, NULL);
	}
	if (has_key(v, &key, NULL))
		return TRIB_DROP_AUTH;
	return h->type == TRIB_T_GRAD && !is_alone(v) ? TRIB_DROP_BITMAP : 0;
}

static int who_up(const struct view *v, int tree)
{
	const struct trib_tree *t = &rig.trees[tree];
	const struct trib_hdr *h = v->p.h;
	int child = neighbour(v, t), rank = of_rank(h, t);
	uint8_t addr[16];

	if (child < 0 && !is_for_us(v, tree))
		return POOL_LEAVE;
	if (child < 0 && (rank >= 0 || !is_guest(h, tree)))
		return TRIB_DROP_FACE;
	if (child >= 0 && h->type >= TRIB_T_JOIN)
		return POOL_LEAVE;
	rig_local(tree, rig_port(tree, child), addr);
	if (child >= 0 && h->type == TRIB_T_PROBE && !is_for(v, addr))
		return POOL_LEAVE;
	if (child >= 0 && t->child[child].rank != 0xffff && rank < 0 && !is_guest(h, tree))
		return TRIB_DROP_CHILD;
	if (ntohs(h->child) >= t->world)
		return TRIB_DROP_CHILD;
	return proves(v, tree, child);
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
	model.dirty |= 1U << tree;
	return has_key(v, &t->parent.key, &model.counts[tree].parent);
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
