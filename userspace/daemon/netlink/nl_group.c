// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: multicast groups. */
#include <errno.h>

#include "nl.h"
#include "daemon/tree/tree.h"

/* Put a group. Returns 1, or 0 if the tree has no such group. */
static int group_put(const struct tree *t, enum group_kind kind, struct nl_msg *m)
{
	struct face *face[TRIB_GROUP_MAX];
	unsigned int i, n = group_faces(t, kind, face);
	struct nlattr *nest;

	if (!n)
		return 0;
	nest = nla_nest_start(m, TRIB_A_GROUP);
	if (!nest || nla_put_u32(m, TRIB_A_GROUP_ID, GROUP_ID(t->id, kind)) ||
	    nla_put_u16(m, TRIB_A_GROUP_TREE, t->id) ||
	    nla_put_string(m, TRIB_A_GROUP_KIND, group_kind_name[kind]))
		return -EMSGSIZE;
	for (i = 0; i < n; i++)
		if (nla_put_string(m, TRIB_A_GROUP_FACE, face[i]->name))
			return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 1;
}

int nl_group_get(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_group, r->tb, TRIB_A_GROUP_ID, &r->why);
	struct tree *t = NULL;
	uint32_t id;

	if (err)
		return err;
	id = nla_get_u32(r->tb[TRIB_A_GROUP_ID]);
	if (id != TRIB_NONE && GROUP_TREE(id) <= UINT16_MAX)
		t = tree_find(d, (uint16_t)GROUP_TREE(id));
	err = t ? group_put(t, (enum group_kind)GROUP_KIND(id), r->reply) : 0;
	if (!err)
		return reason_set(&r->why, -ENOENT, "no group %u", id);
	return err < 0 ? err : 0;
}

int nl_group_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	struct tree *t;
	int put;

	/* @at is the lowest group number not done; trees are sorted. */
	TAILQ_FOREACH(t, &d->trees, link) {
		if (c->at < GROUP_ID(t->id, 0))
			c->at = GROUP_ID(t->id, 0);
		while (c->at < GROUP_ID(t->id, GROUP__KINDS)) {
			put = group_put(t, (enum group_kind)GROUP_KIND(c->at), m);
			c->at++;
			if (put)
				return put;
		}
	}
	return 0;
}
