// SPDX-License-Identifier: BSD-2-Clause
/*
 * From objects to rows: the row of a tree, and the faces in its groups. Pure:
 * reads the objects, touches no map.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

#include "secret.h"
#include "tree.h"

const char *const group_kind_name[GROUP__KINDS] = {
	[GROUP_DOWN] = "down",
	[GROUP_ALL] = "all",
	[GROUP_UP] = "up",
};

static void peer_fill(struct trib_peer *p, const struct face *f, uint16_t rank,
		      const struct secret *secret)
{
	/* Packets that take a detour may arrive at any port. */
	p->ifindex = f->around ? TRIB_PORT_ANY : f->port->ifindex;
	p->port = htons(f->udp_port);
	p->rank = rank;
	memcpy(p->addr, &f->addr, sizeof(p->addr));
	p->vlan[0] = htons(f->vlan[0]);
	p->vlan[1] = htons(f->vlan[1]);
	p->auth = secret->auth;
	p->key = secret->key;
}

/* Fill in what follows from the objects; epoch, nonces, deliver, and what is attached stay. */
void tree_row_fill(const struct tree *t, struct trib_tree *row)
{
	const struct face *any = t->parent ? t->parent : t->child[0].face;
	struct secret secret;
	unsigned int i;

	secret_down(t, &any->addr, &secret);
	row->auth = secret.auth;
	row->job = t->job->id;
	row->flags = TRIB_TREE_USED | (row->flags & TRIB_TREE_SOCKET);
	if (!t->parent)
		row->flags |= TRIB_TREE_ROOT;
	if (!t->nchild)
		row->flags |= TRIB_TREE_LEAF;
	if (!addr_is_v4(&any->addr))
		row->flags |= TRIB_TREE_V6;
	if (t->kind == TREE_SHARED)
		row->flags |= TRIB_TREE_SHARED;
	if (t->kind == TREE_DEDICATED && t->dedicated.wiped.at_ns)
		row->flags |= TRIB_TREE_WIPED;
	row->nchild = (uint8_t)t->nchild;
	row->full = t->nchild == 64 ? ~0ULL : (1ULL << t->nchild) - 1;
	row->slot_mask = t->job->window * 2 - 1;
	row->down = group_number(t, GROUP_DOWN);
	row->all = group_number(t, GROUP_ALL);
	row->up = group_number(t, GROUP_UP);
	row->up_child = t->parent && t->up_child != INDEX_NONE ? t->up_child : 0;
	row->window = (uint16_t)t->job->window;
	row->world = (uint16_t)t->job->world;
	row->timeout_ms = t->job->timeout_ms;
	if (t->parent) {
		secret_down(t, &t->parent->addr, &secret);
		peer_fill(&row->parent, t->parent, RANK_NONE, &secret);
	}
	for (i = 0; i < t->nchild; i++) {
		const struct child *c = &t->child[i];

		secret_up(t, c->rank, &c->face->addr, &secret);
		peer_fill(&row->child[i], c->face, c->rank, &secret);
	}
}

/* --- groups */

static bool child_is_local(const struct tree *t, unsigned int index)
{
	unsigned int i;

	for (i = 0; t->nchild && i < t->nlocal; i++)
		if (t->local[i].index == index)
			return true;
	return false;
}

static bool port_among(struct face *const *face, unsigned int n, const struct port *p)
{
	while (n--)
		if (face_port(face[n]) == p)
			return true;
	return false;
}

static bool peer_among(struct face *const *face, unsigned int n, const struct face *f)
{
	while (n--)
		if (face_same_peer(face[n], f))
			return true;
	return false;
}

/* Add all children behind the port of child @at that have no member yet. */
static unsigned int children_behind(const struct tree *t, unsigned int at, struct face **face,
				    unsigned int n)
{
	struct port *port = face_port(t->child[at].face);
	unsigned int i;

	for (i = at; i < t->nchild; i++) {
		struct face *f = t->child[i].face;

		if (!child_is_local(t, i) && !f->around && f->port == port &&
		    !peer_among(face, n, f))
			face[n++] = f;
	}
	return n;
}

static unsigned int down_faces(const struct tree *t, struct face **face)
{
	unsigned int i, n = 0;

	for (i = 0; i < t->ndown; i++)
		face[n++] = t->down[i];
	/*
	 * A port without a multicast face sends one copy to each child behind
	 * it. Of the children that share a detour only one gets a copy, and the
	 * others ask for theirs: detours are short.
	 */
	for (i = 0; i < t->nchild; i++) {
		struct face *f = t->child[i].face;

		if (child_is_local(t, i) || port_among(face, n, face_port(f)))
			continue;
		if (f->around)
			face[n++] = f;
		else
			n = children_behind(t, i, face, n);
	}
	return n;
}

unsigned int group_faces(const struct tree *t, enum group_kind kind,
			 struct face *face[TRIB_GROUP_MAX])
{
	unsigned int n;

	/* A leaf sends no packets of its own. */
	if (!t->nchild)
		return 0;
	if (kind == GROUP_UP) {
		face[0] = t->parent;
		return t->parent ? 1 : 0;
	}
	n = down_faces(t, face);
	if (kind == GROUP_DOWN)
		return n;
	/* A shared tree has no packets that go both up and down. */
	if (!t->parent || port_among(face, n, face_port(t->parent)) || t->kind == TREE_SHARED)
		return 0;
	face[n++] = t->parent;
	return n;
}

uint32_t group_number(const struct tree *t, enum group_kind kind)
{
	struct face *face[TRIB_GROUP_MAX];

	if (kind == GROUP_ALL && !t->parent)
		kind = GROUP_DOWN;
	return group_faces(t, kind, face) ? GROUP_ID(t->id, kind) : TRIB_NONE;
}
