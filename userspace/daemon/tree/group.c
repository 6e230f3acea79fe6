// SPDX-License-Identifier: BSD-2-Clause
/*
 * The maps of a tree's groups: rewrites, members, devmaps. Rewrites are written
 * before the members that need them and removed after. A group has a devmap
 * only if all ports of the tree run native XDP and no port has several members;
 * else trib_grow sends the copies.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "secret.h"
#include "tree.h"

/*
 * True if all ports of the node run native XDP, those of other groups included.
 */
static bool tree_is_native(const struct tree *t)
{
	unsigned int i;

	if (t->parent && t->parent->port->mode != TRIB_XDP_MODE_NATIVE)
		return false;
	for (i = 0; i < t->nchild; i++)
		if (t->child[i].face->port->mode != TRIB_XDP_MODE_NATIVE)
			return false;
	for (i = 0; i < t->ndown; i++)
		if (t->down[i]->port->mode != TRIB_XDP_MODE_NATIVE)
			return false;
	return true;
}

static void rewrite_fill(const struct tree *t, const struct face *f, struct trib_rewrite *w)
{
	const struct face *next = f->around ? f->around : f;
	bool shared = t->kind == TREE_SHARED;
	struct secret secret;

	memset(w, 0, sizeof(*w));
	memcpy(w->dmac, next->mac, 6);
	memcpy(w->smac, next->local_mac, 6);
	w->vlan[0] = htons(f->vlan[0]);
	w->vlan[1] = htons(f->vlan[1]);
	w->sport = htons(TRIB_UDP_PORT);
	w->dport = htons(f->udp_port);
	if (f == t->parent) {
		w->up = shared ? TRIB_REWRITE_NEXT : TRIB_REWRITE_UP;
		secret_up(t, RANK_NONE, &f->local, &secret);
	} else {
		w->up = shared ? TRIB_REWRITE_PASS : TRIB_REWRITE_DOWN;
		secret_down(t, &f->local, &secret);
	}
	w->auth = secret.auth;
	w->key = secret.key;
	w->v6 = !addr_is_v4(&f->addr);
	w->child = w->up == TRIB_REWRITE_UP ? t->up_child : 0;
	memcpy(w->saddr, &f->local, sizeof(w->saddr));
	memcpy(w->daddr, &f->addr, sizeof(w->daddr));
}

/*
 * The data plane drops and counts copies without a row: right for a face whose
 * MAC address is not known yet. An existing row stays: after a restart the
 * kernel may have forgotten addresses that XDP still uses.
 */
static int rewrite_store(struct tribd *d, const struct tree *t, struct trib_rewrite_key key,
			 const struct face *f)
{
	struct trib_rewrite w;

	if (!face_ready(f))
		return 0;
	rewrite_fill(t, f, &w);
	return bpf_map_update_elem(d->map[MAP_REWRITES], &key, &w, BPF_ANY) ? -errno : 0;
}

/*
 * Devmaps that are made but not yet in `groups`. Each update there waits for an
 * RCU grace period of 10 ms and more, so a whole batch is written at once.
 */
#define PENDING_MAX 192

static struct {
	bool defer;
	uint32_t n;
	uint32_t group[PENDING_MAX];
	int fd[PENDING_MAX];
} pending;

static int pending_one_by_one(struct tribd *d, uint32_t from)
{
	uint32_t i;

	for (i = from; i < pending.n; i++)
		if (bpf_map_update_elem(d->map[MAP_GROUPS], &pending.group[i], &pending.fd[i],
					BPF_ANY))
			return -errno;
	return 0;
}

static int pending_write(struct tribd *d)
{
	uint32_t i, n = pending.n;
	int err = 0;

	/* After a failure @n is the number written. */
	if (n && bpf_map_update_batch(d->map[MAP_GROUPS], pending.group, pending.fd, &n, NULL))
		err = pending_one_by_one(d, n < pending.n ? n : 0);
	for (i = 0; i < pending.n; i++)
		close(pending.fd[i]);
	pending.n = 0;
	return err;
}

void group_defer(void)
{
	pending.defer = true;
}

int group_flush(struct tribd *d)
{
	int err = pending_write(d);

	pending.defer = false;
	if (err)
		log_error("map groups: %s", strerror(-err));
	return err;
}

static int devmap_make(struct tribd *d, uint32_t group, const struct trib_group *g)
{
	char name[16];
	uint32_t i;
	int fd;

	snprintf(name, sizeof(name), "group_%u", group);
	fd = bpf_map_create(BPF_MAP_TYPE_DEVMAP, name, sizeof(uint32_t),
			    sizeof(struct bpf_devmap_val), g->n, NULL);
	if (fd < 0)
		return -errno;
	for (i = 0; i < g->n; i++) {
		struct bpf_devmap_val v = {
			.ifindex = g->ifindex[i],
			.bpf_prog.fd = d->prog[PROG_EGRESS],
		};

		/* A device that just went is no error: news of it follow. */
		if (bpf_map_update_elem(fd, &i, &v, BPF_ANY) && errno != EINVAL &&
		    errno != ENODEV) {
			int err = -errno;

			close(fd);
			return err;
		}
	}
	return fd;
}

static int devmap_store(struct tribd *d, uint32_t group, const struct trib_group *g)
{
	int fd, err;

	if (pending.n == PENDING_MAX) {
		err = pending_write(d);
		if (err)
			return err;
	}
	fd = devmap_make(d, group, g);
	if (fd < 0)
		return fd;
	pending.group[pending.n] = group;
	pending.fd[pending.n++] = fd;
	return 0;
}

static void group_read(struct tribd *d, uint32_t group, struct trib_group *g)
{
	if (bpf_map_lookup_elem(d->map[MAP_MEMBERS], &group, g) || g->n > TRIB_GROUP_MAX)
		memset(g, 0, sizeof(*g));
}

/* The key of the rewrite for member @i, which may share its port. */
static struct trib_rewrite_key key_of(uint32_t group, const struct trib_group *g, uint32_t i)
{
	struct trib_rewrite_key key = {group, g->ifindex[i]};

	while (i-- && g->ifindex[i] == key.ifindex)
		key.group += 1u << TRIB_NTH_SHIFT;
	return key;
}

static bool group_has(const struct trib_group *g, struct trib_rewrite_key key)
{
	uint32_t i, n = key.group >> TRIB_NTH_SHIFT;

	for (i = 0; i < g->n; i++)
		if (g->ifindex[i] == key.ifindex && !n--)
			return true;
	return false;
}

/* True if a port has several members. */
static bool group_is_crowded(const struct trib_group *g)
{
	uint32_t i;

	for (i = 1; i < g->n; i++)
		if (g->ifindex[i] == g->ifindex[i - 1])
			return true;
	return false;
}

/* Write the rewrites of one group; put its members into @g. */
static int rewrites_store(struct tribd *d, const struct tree *t, enum group_kind kind,
			  struct trib_group *g)
{
	struct face *face[TRIB_GROUP_MAX];
	unsigned int i, n = group_faces(t, kind, face);
	int err;

	for (i = 0; i < n; i++) {
		if (!face_port(face[i])->ifindex)
			continue;
		g->ifindex[g->n++] = face_port(face[i])->ifindex;
		err = rewrite_store(d, t, key_of(GROUP_ID(t->id, kind), g, g->n - 1), face[i]);
		if (err)
			return err;
	}
	return 0;
}

static int group_store_one(struct tribd *d, const struct tree *t, enum group_kind kind, bool native,
			   bool fresh)
{
	uint32_t i, group = GROUP_ID(t->id, kind);
	struct trib_group old, g = {};
	bool changed;
	int err;

	group_read(d, group, &old);
	err = rewrites_store(d, t, kind, &g);
	if (err)
		return err;
	native = native && !group_is_crowded(&g);
	changed = fresh || memcmp(&old, &g, sizeof(g));
	/* A group without members has no devmap: see group_clear(). */
	if (changed && old.n && !(g.n && native))
		bpf_map_delete_elem(d->map[MAP_GROUPS], &group);
	if (changed && bpf_map_update_elem(d->map[MAP_MEMBERS], &group, &g, BPF_ANY))
		return -errno;
	if (changed && g.n && native)
		err = devmap_store(d, group, &g);
	for (i = 0; !err && i < old.n; i++) {
		struct trib_rewrite_key key = key_of(group, &old, i);

		if (!group_has(&g, key))
			bpf_map_delete_elem(d->map[MAP_REWRITES], &key);
	}
	return err;
}

int group_store(struct tribd *d, struct tree *t, bool fresh)
{
	bool native = tree_is_native(t);
	int kind, err = 0;

	/* If a port changes its mode, groups without that port change, too. */
	fresh |= native != t->native;

	for (kind = 0; !err && kind < GROUP__KINDS; kind++)
		err = group_store_one(d, t, kind, native, fresh);
	if (!err && !pending.defer)
		err = pending_write(d);
	if (!err)
		t->native = native;
	if (err == -E2BIG)
		log_error("tree %u: the map rewrites is full", t->id);
	else if (err)
		log_error("tree %u: group %s: %s", t->id, group_kind_name[kind - 1],
			  strerror(-err));
	return err;
}

void group_clear(struct tribd *d, uint16_t tree)
{
	struct trib_group none = {}, g;
	int kind;
	uint32_t i;

	for (kind = 0; kind < GROUP__KINDS; kind++) {
		uint32_t group = GROUP_ID(tree, kind);

		/*
		 * On old kernels a look-up in a map of maps waits for an RCU
		 * grace period: too long for every possible number. Members are
		 * written first and cleared last, so they tell.
		 */
		group_read(d, group, &g);
		if (!g.n)
			continue;
		bpf_map_delete_elem(d->map[MAP_GROUPS], &group);
		bpf_map_update_elem(d->map[MAP_MEMBERS], &group, &none, BPF_ANY);
		for (i = 0; i < g.n; i++) {
			struct trib_rewrite_key key = key_of(group, &g, i);

			bpf_map_delete_elem(d->map[MAP_REWRITES], &key);
		}
	}
}

void group_sweep(struct tribd *d)
{
	struct trib_rewrite_key key, next, *at = NULL;
	uint32_t zero = TRIB_NONE;
	struct trib_group g;

	/* A tribd may have been killed in bpf_quiesce(). */
	bpf_map_delete_elem(d->map[MAP_GROUPS], &zero);
	while (!bpf_map_get_next_key(d->map[MAP_REWRITES], at, &next)) {
		/* The walk goes on from a key that is still there. */
		group_read(d, next.group & ((1u << TRIB_NTH_SHIFT) - 1), &g);
		if (!group_has(&g, next)) {
			bpf_map_delete_elem(d->map[MAP_REWRITES], &next);
			continue;
		}
		key = next;
		at = &key;
	}
}
