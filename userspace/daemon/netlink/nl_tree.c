// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: commands that add, remove, wipe and switch trees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nl.h"
#include "daemon/tree/tree.h"

/* A walk over the attributes of a nest. */
struct walk {
	const struct nlattr *at;
	int rem;
};

static struct walk walk_start(const struct nlattr *first, int left)
{
	return (struct walk){first, left};
}

/* Find the next attribute of @type; NULL at the end. */
static const struct nlattr *walk_next(struct walk *w, int type)
{
	while (nla_ok(w->at, w->rem)) {
		const struct nlattr *a = w->at;

		w->at = nla_next(a, &w->rem);
		if (nla_type(a) == type)
			return a;
	}
	return NULL;
}

static int child_parse(const struct nlattr *nest, struct child_spec *c, struct reason *why)
{
	struct nlattr *tb[NL_SET_MAX + 1];
	int err = nl_parse_nest(&nl_child, nest, tb, why);

	if (err)
		return err;
	c->index = INDEX_NONE;
	c->rank = RANK_NONE;
	if (tb[TRIB_A_CHILD_INDEX]) {
		c->index = nla_get_u16(tb[TRIB_A_CHILD_INDEX]);
		if (c->index >= TRIB_CHILDREN_MAX)
			return reason_set(why, -ERANGE, "child index %u: 0 to %u", c->index,
					  TRIB_CHILDREN_MAX - 1);
	}
	if (tb[TRIB_A_CHILD_RANK]) {
		c->rank = nla_get_u16(tb[TRIB_A_CHILD_RANK]);
		if (c->rank == RANK_NONE)
			return reason_set(why, -ERANGE, "rank %u: at most %u", c->rank,
					  TRIB_WORLD_MAX - 1);
	}
	if (tb[TRIB_A_CHILD_PORT]) {
		c->port = nla_get_u16(tb[TRIB_A_CHILD_PORT]);
		if (!c->port)
			return reason_set(why, -ERANGE, "rank %u: port 0", c->rank);
	}
	if (tb[TRIB_A_CHILD_RELAY])
		return reason_set(why, -EINVAL, "relay %u: only a hop has a relay number",
				  nla_get_u16(tb[TRIB_A_CHILD_RELAY]));
	if (tb[TRIB_A_CHILD_FACE])
		nla_strlcpy(c->face, tb[TRIB_A_CHILD_FACE], sizeof(c->face));
	return 0;
}

static int children_parse(struct walk w, struct tree_spec *s, struct reason *why)
{
	const struct nlattr *a;
	int err;

	while ((a = walk_next(&w, TRIB_A_TREE_CHILD))) {
		if (s->nchild == TRIB_CHILDREN_MAX)
			return reason_set(why, -E2BIG, "more than %u children: split the node",
					  TRIB_CHILDREN_MAX);
		err = child_parse(a, &s->child[s->nchild], why);
		if (err)
			return err;
		if (!s->child[s->nchild].face[0])
			return reason_set(why, -EINVAL, "child %u has no face", s->nchild);
		if (s->child[s->nchild].port)
			return reason_set(
				why, -EINVAL,
				"child %u: the port belongs to its face (trib face add ... port)",
				s->nchild);
		s->nchild++;
	}
	return 0;
}

static int locals_parse(struct walk w, struct tree_spec *s, struct reason *why)
{
	const struct nlattr *a;
	int err;

	while ((a = walk_next(&w, TRIB_A_TREE_LOCAL))) {
		struct child_spec *l = &s->local[s->nlocal];

		if (s->nlocal == TRIB_RINGS_MAX)
			return reason_set(why, -E2BIG, "a tree has at most %u local ranks",
					  TRIB_RINGS_MAX);
		err = child_parse(a, l, why);
		if (err)
			return err;
		if (l->rank == RANK_NONE)
			return reason_set(why, -EINVAL, "local needs a rank");
		if (l->face[0])
			return reason_set(why, -EINVAL, "local rank %u takes no face: remove %s",
					  l->rank, l->face);
		s->nlocal++;
	}
	return 0;
}

static int downs_parse(struct walk w, struct tree_spec *s, struct reason *why)
{
	const struct nlattr *a;

	while ((a = walk_next(&w, TRIB_A_TREE_DOWN))) {
		if (s->ndown == TRIB_CHILDREN_MAX)
			return reason_set(why, -E2BIG, "a tree has at most %u down faces",
					  TRIB_CHILDREN_MAX);
		nla_strlcpy(s->down[s->ndown++], a, TRIB_NAME_MAX);
	}
	return 0;
}

/* Parse the attributes of a shared tree. */
static int shared_parse(struct nlattr **tb, struct tree_spec *s, struct reason *why)
{
	if (tb[TRIB_A_TREE_RELAY]) {
		s->shared.relay = nla_get_u16(tb[TRIB_A_TREE_RELAY]);
		if (!s->shared.relay)
			return reason_set(why, -ERANGE, "relay 0: relay numbers start at 1");
	}
	if (tb[TRIB_A_TREE_NEXT])
		s->shared.next = nla_get_u16(tb[TRIB_A_TREE_NEXT]);
	if (tb[TRIB_A_TREE_CAP])
		s->shared.cap = nla_get_u32(tb[TRIB_A_TREE_CAP]);
	if (tb[TRIB_A_TREE_AGE_MS])
		s->shared.age_ms = nla_get_u32(tb[TRIB_A_TREE_AGE_MS]);
	if (s->shared.age_ms > 60000)
		return reason_set(why, -ERANGE, "age %u ms: 1 to 60000", s->shared.age_ms);
	if (tb[TRIB_A_TREE_WORKERS]) {
		s->shared.has_workers = true;
		memcpy(s->shared.workers, nla_data(tb[TRIB_A_TREE_WORKERS]),
		       sizeof(s->shared.workers));
	}
	return 0;
}

static int hop_parse(const struct nlattr *nest, struct hop_spec *h, struct reason *why)
{
	struct nlattr *tb[NL_SET_MAX + 1];
	int err = nl_parse_nest(&nl_child, nest, tb, why);

	if (err)
		return err;
	if (!tb[TRIB_A_CHILD_FACE] || !tb[TRIB_A_CHILD_RELAY])
		return reason_set(why, -EINVAL, "a hop needs the number and the face of a relay");
	if (tb[TRIB_A_CHILD_INDEX] || tb[TRIB_A_CHILD_RANK] || tb[TRIB_A_CHILD_PORT])
		return reason_set(why, -EINVAL,
				  "a hop takes only the number and the face of a relay");
	nla_strlcpy(h->face, tb[TRIB_A_CHILD_FACE], sizeof(h->face));
	h->relay = nla_get_u16(tb[TRIB_A_CHILD_RELAY]);
	return 0;
}

/* Parse the attributes of a row of workers. */
static int worker_parse(struct nlattr **tb, struct walk w, struct tree_spec *s, struct reason *why)
{
	const struct nlattr *a;
	int err;

	if (tb[TRIB_A_TREE_PS_PORT] && !tb[TRIB_A_TREE_PS])
		return reason_set(why, -EINVAL, "ps-port needs ps, the address of the PS");
	if (tb[TRIB_A_TREE_PS]) {
		memcpy(&s->workers.ps, nla_data(tb[TRIB_A_TREE_PS]), sizeof(s->workers.ps));
		s->workers.ps_port = TRIB_UDP_PORT_PS;
	}
	if (tb[TRIB_A_TREE_PS_PORT]) {
		s->workers.ps_port = nla_get_u16(tb[TRIB_A_TREE_PS_PORT]);
		if (!s->workers.ps_port)
			return reason_set(why, -ERANGE, "ps-port 0: want 1 to 65535");
	}
	if (tb[TRIB_A_TREE_GROUP])
		memcpy(&s->workers.group, nla_data(tb[TRIB_A_TREE_GROUP]),
		       sizeof(s->workers.group));
	while ((a = walk_next(&w, TRIB_A_TREE_HOP))) {
		if (s->workers.nhop == TRIB_ATTACH_HOPS)
			return reason_set(why, -E2BIG, "more than %u relays on the way to the PS",
					  TRIB_ATTACH_HOPS);
		err = hop_parse(a, &s->workers.hop[s->workers.nhop++], why);
		if (err)
			return err;
	}
	return 0;
}

static int spec_parse(struct nl_request *r, struct tree_spec *s)
{
	struct nlattr **tb = r->tb;
	struct walk w = walk_start(r->args, r->args_len);
	int err = nl_need(&nl_tree, tb, TRIB_A_TREE_JOB, &r->why);

	if (err)
		return err;
	nla_strlcpy(s->job, tb[TRIB_A_TREE_JOB], sizeof(s->job));
	s->up_child = INDEX_NONE;
	if (tb[TRIB_A_TREE_LIVE])
		return reason_set(&r->why, -EINVAL,
				  "tree: live belongs to the command tree-switch only");
	s->held = tb[TRIB_A_TREE_HELD] && nla_get_u8(tb[TRIB_A_TREE_HELD]);
	if (tb[TRIB_A_TREE_WEIGHT]) {
		s->weight = nla_get_u16(tb[TRIB_A_TREE_WEIGHT]);
		if (!s->weight)
			return reason_set(&r->why, -ERANGE, "weight 0: 1 to %u",
					  TRIB_TREE_WEIGHT_MAX);
	}
	if (tb[TRIB_A_TREE_ID]) {
		s->id = nla_get_u16(tb[TRIB_A_TREE_ID]);
		if (!s->id)
			return reason_set(&r->why, -ERANGE, "tree 0: tree numbers start at 1");
	}
	if (tb[TRIB_A_TREE_PARENT]) {
		nla_strlcpy(s->parent, tb[TRIB_A_TREE_PARENT], sizeof(s->parent));
		if (!s->parent[0])
			return reason_set(&r->why, -EINVAL, "the parent needs the name of a face");
	}
	if (tb[TRIB_A_TREE_UP_CHILD]) {
		s->up_child = nla_get_u16(tb[TRIB_A_TREE_UP_CHILD]);
		if (s->up_child >= TRIB_CHILDREN_MAX)
			return reason_set(&r->why, -ERANGE, "index %u at the parent: want 0 to %u",
					  s->up_child, TRIB_CHILDREN_MAX - 1);
	}
	err = children_parse(w, s, &r->why);
	if (!err)
		err = locals_parse(w, s, &r->why);
	if (!err)
		err = downs_parse(w, s, &r->why);
	if (!err)
		err = shared_parse(tb, s, &r->why);
	if (!err)
		err = worker_parse(tb, w, s, &r->why);
	return err;
}

int nl_tree_new(struct tribd *d, struct nl_request *r)
{
	struct tree_spec *s = calloc(1, sizeof(*s));
	uint16_t id;
	int err;

	if (!s)
		return -ENOMEM;
	err = spec_parse(r, s);
	if (!err)
		err = tree_new(d, s, &id, &r->why);
	free(s);
	return err;
}

static int id_parse(struct nl_request *r, uint16_t *id)
{
	int err = nl_need(&nl_tree, r->tb, TRIB_A_TREE_ID, &r->why);

	if (!err)
		*id = nla_get_u16(r->tb[TRIB_A_TREE_ID]);
	return err;
}

int nl_tree_del(struct tribd *d, struct nl_request *r)
{
	uint16_t id;
	int err = id_parse(r, &id);

	return err ? err : tree_del(d, id, &r->why);
}

int nl_tree_wipe(struct tribd *d, struct nl_request *r)
{
	uint16_t id;
	int err = id_parse(r, &id);

	return err ? err : tree_wipe(d, id, &r->why);
}

int nl_tree_switch(struct tribd *d, struct nl_request *r)
{
	struct walk w = walk_start(r->args, r->args_len);
	const struct nlattr *a;
	uint16_t *live;
	size_t n = 0;
	int err = nl_need(&nl_tree, r->tb, TRIB_A_TREE_JOB, &r->why);

	if (err)
		return err;
	live = calloc((size_t)d->ntrees + 1, sizeof(*live));
	if (!live)
		return -ENOMEM;
	while (!err && (a = walk_next(&w, TRIB_A_TREE_LIVE))) {
		if (n == d->ntrees)
			err = reason_set(&r->why, -E2BIG,
					 "live names more than the %u trees that exist", d->ntrees);
		else
			live[n++] = nla_get_u16(a);
	}
	if (!err)
		err = tree_switch(d, nla_get_string(r->tb[TRIB_A_TREE_JOB]), live, n, &r->why);
	free(live);
	return err;
}
