// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks of trees that have a row in the maps, dedicated or shared: their
 * neighbours and ranks.
 */
#include <errno.h>
#include <string.h>

#include "tree.h"

static int face_get(struct tribd *d, const char *role, const char *name, struct face **out,
		    struct reason *why)
{
	*out = face_find(d, name);
	if (!*out)
		return reason_set(why, -ENOENT, "%s: no face %s", role, name);
	return addr_is_zero(&(*out)->addr)
		       ? reason_set(why, -EINVAL, "%s: face %s has no address: it serves NDN only",
				    role, name)
		       : 0;
}

static int unicast_get(struct tribd *d, const char *role, const char *name, struct face **out,
		       struct reason *why)
{
	int err = face_get(d, role, name, out, why);

	if (err || !addr_is_multicast(&(*out)->addr))
		return err;
	return reason_set(why, -EINVAL, "%s %s has a multicast address: only `down` takes one",
			  role, name);
}

static int rank_check(const struct tree *t, const char *role, uint16_t rank, struct reason *why)
{
	if (rank < t->job->world)
		return 0;
	return reason_set(why, -ERANGE, "%s rank %u: job %s has ranks 0 to %u", role, rank,
			  t->job->name, t->job->world - 1);
}

static int children_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
			  struct reason *why)
{
	unsigned int i, k;
	int err;

	for (i = 0; i < s->nchild; i++) {
		const struct child_spec *c = &s->child[i];

		if (c->index != INDEX_NONE && c->index != i)
			return reason_set(why, -EINVAL,
					  "child %s: index %u, but its place in the list is %u",
					  c->face, c->index, i);
		err = unicast_get(d, "child", c->face, &t->child[i].face, why);
		if (!err && c->rank != RANK_NONE)
			err = rank_check(t, "child", c->rank, why);
		if (err)
			return err;
		t->child[i].rank = c->rank;
		for (k = 0; c->rank != RANK_NONE && k < i; k++)
			if (t->child[k].rank == c->rank)
				return reason_set(
					why, -EEXIST,
					"rank %u is child %u and child %u: give each child its own rank",
					c->rank, k, i);
	}
	t->nchild = s->nchild;
	return 0;
}

static int parent_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
			struct reason *why)
{
	int err;

	t->up_child = s->up_child;
	if (!s->parent[0]) {
		if (!s->nchild)
			return reason_set(why, -EINVAL, "a tree needs children, a parent, or both");
		return s->up_child == INDEX_NONE
			       ? 0
			       : reason_set(why, -EINVAL, "index %u needs a parent", s->up_child);
	}
	err = unicast_get(d, "parent", s->parent, &t->parent, why);
	if (err)
		return err;
	if (s->up_child == INDEX_NONE && s->nchild && !s->shared.relay)
		return reason_set(
			why, -EINVAL,
			"parent %s: no index: give `index N`, the number of this node among its children",
			s->parent);
	if (s->up_child != INDEX_NONE && s->up_child >= TRIB_CHILDREN_MAX)
		return reason_set(why, -ERANGE, "index %u at parent %s: want 0 to %u", s->up_child,
				  s->parent, TRIB_CHILDREN_MAX - 1);
	return 0;
}

/* At a node with children: find the child that is rank @l of this host. */
static int local_child(const struct tree *t, struct local *l, struct reason *why)
{
	unsigned int i;

	if (l->index == INDEX_NONE) {
		for (i = 0; i < t->nchild; i++)
			if (t->child[i].rank == l->rank)
				l->index = (uint16_t)i;
		if (l->index == INDEX_NONE)
			return reason_set(why, -ENOENT, "local rank %u is not the rank of a child",
					  l->rank);
	}
	if (l->index >= t->nchild)
		return reason_set(why, -ERANGE,
				  "local rank %u: index %u, but there are %u children", l->rank,
				  l->index, t->nchild);
	if (t->child[l->index].rank != l->rank)
		return reason_set(why, -EINVAL, "local rank %u: child %u has another rank", l->rank,
				  l->index);
	return 0;
}

/* At a leaf: the index is the parent's; a single rank may take `index`. */
static int local_leaf(const struct tree_spec *s, const struct tree *t, struct local *l,
		      struct reason *why)
{
	if (l->index == INDEX_NONE && s->nlocal == 1)
		l->index = t->up_child;
	if (l->index == INDEX_NONE)
		return reason_set(why, -EINVAL,
				  "local rank %u: no index at parent %s: give RANK:INDEX", l->rank,
				  t->parent->name);
	if (l->index >= TRIB_CHILDREN_MAX)
		return reason_set(why, -ERANGE,
				  "local rank %u: index %u at the parent: want 0 to %u", l->rank,
				  l->index, TRIB_CHILDREN_MAX - 1);
	return 0;
}

static int locals_check(const struct tree_spec *s, struct tree *t, struct reason *why)
{
	unsigned int i, k;
	int err;

	if (!s->nchild && !s->nlocal)
		return reason_set(why, -EINVAL, "no children and no local rank: give at least one");
	for (i = 0; i < s->nlocal; i++) {
		struct local *l = &t->local[i];

		l->rank = s->local[i].rank;
		l->index = s->local[i].index;
		err = rank_check(t, "local", l->rank, why);
		if (!err)
			err = s->nchild ? local_child(t, l, why) : local_leaf(s, t, l, why);
		if (err)
			return err;
		for (k = 0; k < i; k++)
			if (t->local[k].rank == l->rank || t->local[k].index == l->index)
				return reason_set(
					why, -EEXIST,
					"local rank %u (index %u) and rank %u (index %u) overlap",
					t->local[k].rank, t->local[k].index, l->rank, l->index);
	}
	t->nlocal = s->nlocal;
	return 0;
}

static bool is_local_child(const struct tree *t, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < t->nlocal; i++)
		if (t->local[i].index == index)
			return true;
	return false;
}

/* Find the explicit down face for @port. */
static struct face *down_for(const struct tree *t, const struct port *port)
{
	unsigned int i;

	for (i = 0; i < t->ndown; i++)
		if (t->down[i]->port == port)
			return t->down[i];
	return NULL;
}

const struct face *tree_multicast(const struct tree *t, const struct port *port)
{
	const struct face *f = down_for(t, port);

	return f && addr_is_multicast(&f->addr) ? f : NULL;
}

/* A leaf has down faces for the copies that its ranks get from the parent. */
static int leaf_down_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
			   struct reason *why)
{
	struct face *f;
	int err;

	if (!s->ndown)
		return 0;
	err = face_get(d, "down", s->down[0], &f, why);
	if (err)
		return err;
	if (s->ndown > 1)
		return reason_set(why, -EINVAL, "down %s: a leaf takes at most one multicast face",
				  s->down[1]);
	if (!addr_is_multicast(&f->addr))
		return reason_set(why, -EINVAL,
				  "down %s is not a multicast face, and there are no children",
				  f->name);
	if (f->port != t->parent->port)
		return reason_set(why, -EINVAL, "down %s is behind port %s, the parent behind %s",
				  f->name, f->port->ifname, t->parent->port->ifname);
	t->down[t->ndown++] = f;
	return 0;
}

static int downs_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
		       struct reason *why)
{
	unsigned int i, k;
	int err;

	if (!s->nchild)
		return leaf_down_check(d, s, t, why);
	for (i = 0; i < s->ndown; i++) {
		struct face *f;

		err = face_get(d, "down", s->down[i], &f, why);
		if (err)
			return err;
		if (down_for(t, f->port))
			return reason_set(
				why, -EEXIST,
				"down %s and %s are behind the same port %s: one copy leaves through a port",
				down_for(t, f->port)->name, f->name, f->port->ifname);
		for (k = 0; k < t->nchild; k++)
			if (t->child[k].face->port == f->port)
				break;
		if (k == t->nchild)
			return reason_set(why, -EINVAL, "down %s: no child is behind port %s",
					  f->name, f->port->ifname);
		t->down[t->ndown++] = f;
	}
	return 0;
}

/* The copy for a down face must reach every child behind its port. */
static int reach_check(const struct tree *t, struct reason *why)
{
	unsigned int i;

	for (i = 0; i < t->nchild; i++) {
		struct face *f = t->child[i].face, *to;

		if (is_local_child(t, i))
			continue;
		to = down_for(t, f->port);
		if (to && !addr_is_multicast(&to->addr) && !face_same_peer(to, f))
			return reason_set(
				why, -EINVAL,
				"down %s is not a multicast face and does not reach child %s",
				to->name, f->name);
		if (to && to->udp_port != f->udp_port)
			return reason_set(why, -EINVAL,
					  "down %s sends to UDP port %u, child %s receives at %u",
					  to->name, to->udp_port, f->name, f->udp_port);
	}
	return 0;
}

static int same_family(const struct tree *t, struct reason *why)
{
	const struct face *all[2 * TRIB_CHILDREN_MAX + 1];
	unsigned int i, n = 0;

	if (t->parent)
		all[n++] = t->parent;
	for (i = 0; i < t->nchild; i++)
		all[n++] = t->child[i].face;
	for (i = 0; i < t->ndown; i++)
		all[n++] = t->down[i];
	for (i = 1; i < n; i++)
		if (addr_is_v4(&all[i]->addr) != addr_is_v4(&all[0]->addr))
			return reason_set(why, -EINVAL,
					  "faces %s and %s: one is IPv4, the other IPv6",
					  all[0]->name, all[i]->name);
	/* Packets of the parent and of a child must differ. */
	for (i = 0; t->parent && i < t->nchild; i++)
		if (face_same_peer(t->parent, t->child[i].face))
			return reason_set(why, -EINVAL, "face %s is both the parent and child %u",
					  t->parent->name, i);
	return 0;
}

int node_check(struct tribd *d, const struct tree_spec *s, struct tree *t, struct reason *why)
{
	unsigned int i;
	int err;

	if (s->workers.nhop || !addr_is_zero(&s->workers.group))
		return reason_set(why, -EINVAL,
				  "hop and group need ps, which makes a row of workers");
	for (i = 0; i < s->nlocal; i++)
		if (s->local[i].port)
			return reason_set(
				why, -EINVAL,
				"local rank %u: port %u needs ps, which makes a row of workers",
				s->local[i].rank, s->local[i].port);
	err = parent_check(d, s, t, why);
	if (!err)
		err = children_check(d, s, t, why);
	if (!err)
		err = locals_check(s, t, why);
	if (!err)
		err = downs_check(d, s, t, why);
	if (!err)
		err = reach_check(t, why);
	if (!err)
		err = same_family(t, why);
	return err;
}
