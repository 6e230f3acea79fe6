// SPDX-License-Identifier: BSD-2-Clause
/*
 * The maps of shared trees: pools, pool_table, pool_faces. Also clears
 * pool_slots and pool_marks, which the data plane writes.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/load/bpf_load.h"
#include "secret.h"
#include "slots.h"
#include "tree.h"

/* --- table */

int pool_table_write(struct tribd *d)
{
	uint32_t i, slot;

	for (i = 0; i < d->config.nbuckets; i++) {
		slot = pool_slot_of(i, d->pool);
		if (bpf_map_update_elem(d->map[MAP_POOL_TABLE], &i, &slot, BPF_ANY)) {
			log_error("map pool_table: %s", strerror(errno));
			return -errno;
		}
	}
	return 0;
}

/* --- marks */

static struct slot_range *marks_used(struct tribd *d, size_t *n)
{
	struct slot_range *r = calloc(d->ntrees + 1, sizeof(*r));
	struct tree *t;

	*n = 0;
	if (!r)
		return NULL;
	TAILQ_FOREACH(t, &d->trees, link)
		if (t->kind == TREE_SHARED)
			r[(*n)++] = (struct slot_range){t->shared.mark0, t->job->window * 2};
	return r;
}

static int marks_choose(struct tribd *d, struct tree *t, struct reason *why)
{
	struct slot_range *used;
	size_t n;
	int err;

	used = marks_used(d, &n);
	if (!used)
		return reason_set(why, -ENOMEM, "no memory");
	err = slots_find(used, n, d->config.nmarks, t->job->window * 2, &t->shared.mark0);
	free(used);
	return err ? reason_set(why, err, "no %u marks in a row are free of %u (smaller window)",
				t->job->window * 2, d->config.nmarks)
		   : 0;
}

static int marks_keep(struct tribd *d, struct tree *t, const struct tree_spec *s,
		      struct reason *why)
{
	uint32_t mark0 = s->shared.mark0;
	struct slot_range *used, own = {mark0, t->job->window * 2};
	size_t n;
	int err;

	used = marks_used(d, &n);
	if (!used)
		return reason_set(why, -ENOMEM, "no memory");
	err = slots_check(used, n, d->config.nmarks, &own);
	free(used);
	t->shared.mark0 = mark0;
	return err ? reason_set(why, err, "marks %u to %u are not free", mark0,
				mark0 + own.count - 1)
		   : 0;
}

static int marks_wipe(struct tribd *d, const struct tree *t)
{
	uint64_t none = 0;
	uint32_t i, key;

	for (i = 0; i < t->job->window * 2; i++) {
		key = t->shared.mark0 + i;
		if (bpf_map_update_elem(d->map[MAP_POOL_MARKS], &key, &none, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* --- slots */

/*
 * Free the slots of the tree, or (@count) only count them. Return: number or
 * -errno.
 */
static int slots_of(struct tribd *d, uint16_t id, bool count)
{
	size_t size = sizeof(struct trib_pool_slot) - sizeof(uint64_t) * TRIB_NVAL / 2 +
		      d->config.nval * 4ul;
	struct trib_pool_slot *s = malloc(size);
	void *none = calloc(1, size);
	int n = 0;
	uint32_t i;

	for (i = 0; s && none && n >= 0 && i < d->config.npool; i++) {
		if (bpf_map_lookup_elem(d->map[MAP_POOL_SLOTS], &i, s)) {
			n = -errno;
			break;
		}
		if (s->state == TRIB_POOL_FREE || s->tree != id)
			continue;
		n++;
		if (!count && bpf_map_update_elem(d->map[MAP_POOL_SLOTS], &i, none, BPF_ANY))
			n = -errno;
	}
	if (!s || !none)
		n = -ENOMEM;
	free(s);
	free(none);
	return n;
}

static void rows_of_shared(struct tribd *d, const struct tree *but, bool open)
{
	static const struct trib_tree none;
	struct tree *t;

	TAILQ_FOREACH(t, &d->trees, link) {
		uint32_t key = t->id;

		if (t->kind != TREE_SHARED || t == but || !(t->row.flags & TRIB_TREE_USED))
			continue;
		bpf_map_update_elem(d->map[MAP_TREES], &key, open ? &t->row : &none, BPF_ANY);
	}
}

/*
 * Another tree may be taking over one of the slots, so all shared trees stop
 * meanwhile: some 20 ms, which resends of their workers make up for. A slot
 * that stayed would match the same chunk if the tree came again.
 */
static int pool_wipe(struct tribd *d, struct tree *t)
{
	int err = slots_of(d, t->id, true);

	if (err > 0) {
		rows_of_shared(d, t, false);
		bpf_quiesce(d);
		err = slots_of(d, t->id, false);
		rows_of_shared(d, t, true);
	}
	if (err >= 0)
		err = marks_wipe(d, t);
	if (err < 0)
		log_error("tree %u: cannot wipe its slots: %s", t->id, strerror(-err));
	return err < 0 ? err : 0;
}

/* --- faces */

struct wanted {
	struct trib_pool_face key;
	struct trib_pool_local local;
};

static void want_own(const struct face *f, uint16_t id, struct wanted *w, unsigned int *n)
{
	if (!f->local_known)
		return;
	memset(&w[*n], 0, sizeof(*w));
	w[*n].key.tree = id;
	memcpy(w[*n].key.addr, &f->local, 16);
	memcpy(w[(*n)++].local.addr, &f->local, 16);
}

static unsigned int wanted_of(const struct tree *t, struct wanted *w)
{
	unsigned int i, n = 0;
	struct secret relay;

	secret_up(t, RANK_NONE, NULL, &relay);

	for (i = 0; i < t->nchild; i++) {
		const struct face *f = t->child[i].face;

		memset(&w[n], 0, sizeof(*w));
		w[n].key.tree = t->id;
		w[n].key.ifindex = f->port->ifindex;
		memcpy(w[n].key.addr, &f->addr, 16);
		w[n].key.vlan[0] = htons(f->vlan[0]);
		w[n].key.vlan[1] = htons(f->vlan[1]);
		if (f->local_known)
			memcpy(w[n].local.addr, &f->local, 16);
		if (t->child[i].rank == RANK_NONE)
			w[n].local.auth = relay.auth;
		/*
		 * If its device is gone, a key without ifindex would be our own
		 * address.
		 */
		if (f->port->ifindex)
			n++;
		want_own(f, t->id, w, &n);
	}
	want_own(t->parent, t->id, w, &n);
	return n;
}

static bool is_wanted(const struct wanted *w, unsigned int n, const struct trib_pool_face *key)
{
	while (n--)
		if (!memcmp(&w[n].key, key, sizeof(*key)))
			return true;
	return false;
}

/*
 * Remove the entries of @id (0: of trees that do not exist) that are not
 * wanted.
 */
static void faces_remove(struct tribd *d, uint16_t id, const struct wanted *w, unsigned int n)
{
	struct trib_pool_face key, next, *at = NULL;
	int fd = d->map[MAP_POOL_FACES];

	while (!bpf_map_get_next_key(fd, at, &next)) {
		bool goes = id ? next.tree == id && !is_wanted(w, n, &next)
			       : !tree_find(d, (uint16_t)next.tree);

		if (goes) {
			/* The walk goes on from a key that is still there. */
			bpf_map_delete_elem(fd, &next);
			continue;
		}
		key = next;
		at = &key;
	}
}

int pool_faces_store(struct tribd *d, const struct tree *t)
{
	static struct wanted w[2 * TRIB_CHILDREN_MAX + 1];
	unsigned int i, n = wanted_of(t, w);

	for (i = 0; i < n; i++)
		if (bpf_map_update_elem(d->map[MAP_POOL_FACES], &w[i].key, &w[i].local, BPF_ANY)) {
			log_error("tree %u: map pool_faces: %s", t->id, strerror(errno));
			return -errno;
		}
	faces_remove(d, t->id, w, n);
	return 0;
}

void pool_sweep(struct tribd *d)
{
	faces_remove(d, 0, NULL, 0);
}

/* --- coming and going */

static void pool_hide(struct tribd *d, struct tree *t)
{
	static const struct trib_pool none;
	uint32_t key = t->id;

	faces_remove(d, t->id, NULL, 0);
	bpf_map_update_elem(d->map[MAP_POOLS], &key, &none, BPF_ANY);
	pool_wipe(d, t);
}

static int pool_show(struct tribd *d, struct tree *t, bool adopted)
{
	uint32_t key = t->id;
	struct trib_pool row;
	int err = 0;

	if (!adopted)
		err = pool_wipe(d, t);
	pool_row_fill(d, t, &row);
	if (!err && bpf_map_update_elem(d->map[MAP_POOLS], &key, &row, BPF_ANY)) {
		err = -errno;
		log_error("tree %u: map pools: %s", t->id, strerror(errno));
	}
	if (!err)
		err = pool_faces_store(d, t);
	if (err && !adopted)
		pool_hide(d, t);
	return err;
}

const struct tree_ops pool_ops = {
	.check = pool_check,
	.choose = marks_choose,
	.keep = marks_keep,
	.show = pool_show,
	.hide = pool_hide,
	.wipe = pool_wipe,
};
