// SPDX-License-Identifier: BSD-2-Clause
/* Reflex: see reflex.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "daemon/tree/secret.h"
#include "reflex.h"

/*
 * Several trees share a host's ports by a planned rate and windows of few chunks. XDP keeps
 * neither: each result lets a chunk go at once.
 */
static bool has_others(const struct tribd *d, const struct tree *t)
{
	const struct tree *o;

	TAILQ_FOREACH(o, &d->trees, link)
		if (o != t && o->id != t->id && o->job == t->job && !o->held)
			return true;
	return false;
}

/* Is the tree one for which a RESULT stands for one GRAD of each rank, and one packet? */
static int tree_fits(const struct tribd *d, const struct tree *t, struct reason *why)
{
	if (t->kind != TREE_DEDICATED)
		return reason_set(why, -EOPNOTSUPP,
				  "results of a shared tree come to sockets, not to XDP");
	if (!t->parent)
		return reason_set(why, -EOPNOTSUPP, "this host is the root of the tree");
	if (t->nchild && t->nlocal != t->nchild)
		return reason_set(why, -EOPNOTSUPP, "this host is a relay of the tree");
	if (!t->nchild && t->nlocal != 1)
		return reason_set(why, -EOPNOTSUPP,
				  "%u ranks of the tree are on this host, each a child of %s: make "
				  "them children of this host",
				  t->nlocal, t->parent->name);
	if (has_others(d, t))
		return reason_set(why, -EOPNOTSUPP, "job %s has several trees here", t->job->name);
	if (d->opt.no_reflex)
		return reason_set(why, -EOPNOTSUPP, "tribd runs with --no-reflex");
	return 0;
}

/* Does XDP see the parent's RESULTs, and may it answer where they came from? */
static int port_fits(const struct tree *t, struct reason *why)
{
	const struct face *f = t->parent, *group;

	if (!f->port->ifindex)
		return reason_set(why, -ENODEV, "%s is gone", f->port->ifname);
	if (f->port->mode != TRIB_XDP_MODE_NATIVE)
		return reason_set(why, -EOPNOTSUPP, "%s %s", f->port->ifname,
				  f->port->mode == TRIB_XDP_MODE_GENERIC ? "runs generic XDP"
									 : "has no XDP");
	if (f->around)
		return reason_set(why, -EOPNOTSUPP, "the link to %s is dead: packets make a detour",
				  f->name);
	group = tree_multicast(t, f->port);
	if (group && group->udp_port != TRIB_UDP_PORT)
		return reason_set(why, -EOPNOTSUPP,
				  "results come to group %s at UDP port %u, XDP takes %u",
				  group->name, group->udp_port, TRIB_UDP_PORT);
	return 0;
}

static int source_fits(const struct face *f, struct reason *why)
{
	static const uint8_t none[6];

	if (!f->local_known)
		return reason_set(why, -EADDRNOTAVAIL, "our address towards %s is not known",
				  f->name);
	if (!memcmp(f->local_mac, none, sizeof(none)))
		return reason_set(why, -EADDRNOTAVAIL, "our MAC address towards %s is not known",
				  f->name);
	return 0;
}

/* XDP sends GRADs of a leaf's only rank, as the parent expects them. */
static void fill_leaf(const struct tree *t, struct trib_reflex *r)
{
	struct secret secret;

	secret_up(t, t->local[0].rank, NULL, &secret);
	r->auth = secret.auth;
	memcpy(r->saddr, &t->parent->local, sizeof(r->saddr));
	memcpy(r->smac, t->parent->local_mac, sizeof(r->smac));
	r->sport = htons(TRIB_UDP_PORT);
	r->dport = htons(t->parent->udp_port);
	r->child = htons(t->local[0].index);
}

int reflex_fits(const struct tribd *d, const struct tree *t, struct reason *why)
{
	int err = tree_fits(d, t, why);

	if (!err)
		err = port_fits(t, why);
	return err ? err : source_fits(t->parent, why);
}

int reflex_fill(const struct tribd *d, const struct tree *t, struct trib_deliver *row,
		struct reason *why)
{
	unsigned int i;
	int err;

	memset(&row->reflex, 0, sizeof(row->reflex));
	memset(row->child, 0, sizeof(row->child));
	row->host = 0;
	err = reflex_fits(d, t, why);
	if (err)
		return err;
	if (!t->nchild)
		fill_leaf(t, &row->reflex);
	for (i = 0; t->nchild && i < t->nlocal; i++)
		row->child[i] = (uint8_t)t->local[i].index;
	row->host = t->nchild > 0;
	return 0;
}

int reflex_rank(const struct tribd *d, const struct tree *t, const struct local *l,
		struct reason *why)
{
	if (t->kind == TREE_DEDICATED && l->pid && !l->ring)
		return reason_set(why, -EOPNOTSUPP,
				  "it attached without mapped delivery: by transport udp, "
				  "or kernel beside a module without TRIB_SO_CELLS");
	return reflex_fits(d, t, why);
}
