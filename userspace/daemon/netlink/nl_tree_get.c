// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: trees in answers, with the lag of children. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/attach/deliver.h"
#include "daemon/attach/reflex.h"
#include "daemon/face/face.h"
#include "nl.h"
#include "daemon/tree/tree.h"

static int lag_put(struct nl_msg *m, const struct trib_lag_child *l)
{
	uint64_t now = loop_now();

	if (nla_put_u64(m, TRIB_A_CHILD_SAMPLES, l->samples) ||
	    nla_put_u64(m, TRIB_A_CHILD_LAG_NS, l->lag_ns) ||
	    nla_put_u64(m, TRIB_A_CHILD_LAST, l->last) ||
	    nla_put_u64(m, TRIB_A_CHILD_STARTS, l->starts) ||
	    nla_put_u64(m, TRIB_A_CHILD_START_LAST, l->start_last) ||
	    nla_put_u64(m, TRIB_A_CHILD_START_WAIT_NS, l->start_wait_ns) ||
	    nla_put_u64(m, TRIB_A_CHILD_DATA_WAIT_NS, l->data_wait_ns))
		return -EMSGSIZE;
	if (!l->samples && !l->starts)
		return 0;
	if (nla_put_u64(m, TRIB_A_CHILD_CHUNK, l->chunk) ||
	    nla_put_u64(m, TRIB_A_CHILD_SEEN_MS,
			now > l->seen_ns ? (now - l->seen_ns) / 1000000 : 0))
		return -EMSGSIZE;
	return 0;
}

static int child_put(const struct tree *t, unsigned int i, const struct trib_lag *lag,
		     struct nl_msg *m)
{
	const struct child *c = &t->child[i];
	struct nlattr *nest = nla_nest_start(m, TRIB_A_TREE_CHILD);

	if (!nest || nla_put_u16(m, TRIB_A_CHILD_INDEX, (uint16_t)i) ||
	    nla_put_string(m, TRIB_A_CHILD_FACE, c->face->name) ||
	    nla_put_u8(m, TRIB_A_CHILD_JOINED, t->row.child[i].nonce != 0) ||
	    lag_put(m, &lag->child[i]))
		return -EMSGSIZE;
	if (c->rank != RANK_NONE && nla_put_u16(m, TRIB_A_CHILD_RANK, c->rank))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

/* How GRADs of a rank leave, and the reason; how many XDP sent. */
static int way_put(struct tribd *d, const struct tree *t, const struct local *l, struct nl_msg *m)
{
	struct reason why;
	bool reflex = !reflex_rank(d, t, l, &why);

	if (nla_put_u8(m, TRIB_A_CHILD_WAY, reflex ? TRIB_RANK_WAY_REFLEX : TRIB_RANK_WAY_SOCKET))
		return -EMSGSIZE;
	if (!reflex && nla_put_string(m, TRIB_A_CHILD_WHY, why.text))
		return -EMSGSIZE;
	if (l->ring && nla_put_u64(m, TRIB_A_CHILD_CARRIED, deliver_carried(d, t, l)))
		return -EMSGSIZE;
	return 0;
}

static int local_put(struct tribd *d, const struct tree *t, const struct local *l, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_TREE_LOCAL);
	int err = t->kind == TREE_WORKERS ? nla_put_u16(m, TRIB_A_CHILD_PORT, l->port)
					  : nla_put_u16(m, TRIB_A_CHILD_INDEX, l->index);

	if (!nest || err || nla_put_u16(m, TRIB_A_CHILD_RANK, l->rank) ||
	    nla_put_u32(m, TRIB_A_CHILD_PID, (uint32_t)l->pid) || way_put(d, t, l, m))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

static int numbers_put(const struct tree *t, struct nl_msg *m)
{
	uint64_t joined = 0;
	unsigned int i;

	for (i = 0; i < t->nchild; i++)
		if (t->row.child[i].nonce)
			joined |= 1ULL << i;
	if (nla_put_u16(m, TRIB_A_TREE_ID, t->id) ||
	    nla_put_string(m, TRIB_A_TREE_JOB, t->job->name) ||
	    nla_put_u32(m, TRIB_A_TREE_EPOCH,
			t->kind == TREE_WORKERS ? worker_epoch(t) : t->row.epoch) ||
	    nla_put_u32(m, TRIB_A_TREE_SLOT0, t->row.slot0) ||
	    nla_put_u32(m, TRIB_A_TREE_SLOTS, t->kind == TREE_DEDICATED ? t->dedicated.slots : 0) ||
	    nla_put_u32(m, TRIB_A_TREE_GROUP_DOWN, t->row.down) ||
	    nla_put_u32(m, TRIB_A_TREE_GROUP_ALL, t->row.all) ||
	    nla_put_u32(m, TRIB_A_TREE_GROUP_UP, t->row.up) ||
	    nla_put_u64(m, TRIB_A_TREE_JOINED, joined) || nla_put_u8(m, TRIB_A_TREE_HELD, t->held))
		return -EMSGSIZE;
	if (t->weight > 1 && nla_put_u16(m, TRIB_A_TREE_WEIGHT, t->weight))
		return -EMSGSIZE;
	if (t->parent && nla_put_string(m, TRIB_A_TREE_PARENT, t->parent->name))
		return -EMSGSIZE;
	if (t->parent && t->up_child != INDEX_NONE &&
	    nla_put_u16(m, TRIB_A_TREE_UP_CHILD, t->up_child))
		return -EMSGSIZE;
	return 0;
}

static int shared_put(const struct tree *t, struct nl_msg *m)
{
	if (nla_put_u16(m, TRIB_A_TREE_RELAY, t->shared.relay) ||
	    nla_put_u16(m, TRIB_A_TREE_NEXT, t->shared.next) ||
	    nla_put(m, TRIB_A_TREE_WORKERS, sizeof(t->shared.mask), t->shared.mask) ||
	    nla_put_u32(m, TRIB_A_TREE_CAP, t->shared.cap) ||
	    nla_put_u32(m, TRIB_A_TREE_AGE_MS, t->shared.age_ms))
		return -EMSGSIZE;
	return 0;
}

static int hop_put(const struct hop *h, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_TREE_HOP);

	if (!nest || nla_put_string(m, TRIB_A_CHILD_FACE, h->face->name) ||
	    nla_put_u16(m, TRIB_A_CHILD_RELAY, h->relay))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

static int worker_put(const struct tree *t, struct nl_msg *m)
{
	unsigned int i;
	int err = 0;

	if (nla_put(m, TRIB_A_TREE_PS, sizeof(t->workers.ps), &t->workers.ps) ||
	    nla_put_u16(m, TRIB_A_TREE_PS_PORT, t->workers.ps_port))
		return -EMSGSIZE;
	if (!addr_is_zero(&t->workers.group) &&
	    nla_put(m, TRIB_A_TREE_GROUP, sizeof(t->workers.group), &t->workers.group))
		return -EMSGSIZE;
	for (i = 0; !err && i < t->workers.nhop; i++)
		err = hop_put(&t->workers.hop[i], m);
	return err;
}

static int tree_put(struct tribd *d, const struct tree *t, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_TREE);
	struct trib_lag *lag = calloc(1, sizeof(*lag));
	uint32_t key = t->id;
	unsigned int i;
	int err;

	err = nest && lag ? numbers_put(t, m) : -ENOMEM;
	if (!err && bpf_map_lookup_elem(d->map[MAP_LAG], &key, lag))
		err = -errno;
	for (i = 0; !err && i < t->nchild; i++)
		err = child_put(t, i, lag, m);
	for (i = 0; !err && i < t->nlocal; i++)
		err = local_put(d, t, &t->local[i], m);
	for (i = 0; !err && i < t->ndown; i++)
		if (nla_put_string(m, TRIB_A_TREE_DOWN, t->down[i]->name))
			err = -EMSGSIZE;
	if (!err && t->kind == TREE_SHARED)
		err = shared_put(t, m);
	if (!err && t->kind == TREE_WORKERS)
		err = worker_put(t, m);
	free(lag);
	if (!err)
		nla_nest_end(m, nest);
	return err;
}

int nl_tree_get(struct tribd *d, struct nl_request *r)
{
	struct tree *t;
	uint16_t id;
	int err = nl_need(&nl_tree, r->tb, TRIB_A_TREE_ID, &r->why);

	if (err)
		return err;
	id = nla_get_u16(r->tb[TRIB_A_TREE_ID]);
	t = tree_find(d, id);
	if (!t)
		return reason_set(&r->why, -ENOENT, "no tree %u", id);
	return tree_put(d, t, r->reply);
}

int nl_tree_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c)
{
	const char *name;
	struct job *j;

	if (!r->tb[TRIB_A_TREE_JOB])
		return 0;
	name = nla_get_string(r->tb[TRIB_A_TREE_JOB]);
	j = job_find(d, name);
	if (!j)
		return reason_set(&r->why, -ENOENT, "no job %s", name);
	c->job = j->id;
	return 0;
}

int nl_tree_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	struct tree *t;
	int err;

	/* The list is sorted: @at is the lowest id not done. */
	TAILQ_FOREACH(t, &d->trees, link)
		if (t->id >= c->at && (!c->job || t->job->id == c->job))
			break;
	if (!t)
		return 0;
	c->at = t->id + 1u;
	err = tree_put(d, t, m);
	return err ? err : 1;
}
