// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees: the order in which a tree becomes visible to the data plane and goes
 * again.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/load/bpf_load.h"
#include "tree.h"

/* --- rows */

/*
 * Clear the row: no packet is admitted any more. Programs that read it before
 * may run until bpf_quiesce().
 */
static void row_close(struct tribd *d, uint16_t id)
{
	static const struct trib_tree none;
	uint32_t key = id;

	if (bpf_map_update_elem(d->map[MAP_TREES], &key, &none, BPF_ANY))
		log_error("tree %u: cannot clear its row: %s", id, strerror(errno));
}

static void row_clear(struct tribd *d, uint16_t id)
{
	row_close(d, id);
	bpf_quiesce(d);
}

/* Forget what BPF wrote about a former tree of this number. */
static void traces_clear(struct tribd *d, uint16_t id)
{
	static const struct trib_count count;
	static const struct trib_lag lag;
	uint32_t key = id;

	bpf_map_update_elem(d->map[MAP_LAG], &key, &lag, BPF_ANY);
	bpf_map_update_elem(d->map[MAP_COUNTS], &key, &count, BPF_ANY);
}

/* --- the list */

static void faces_hold(struct tree *t, int by)
{
	unsigned int i;

	/* Count each use: only zero matters. */
	if (t->parent)
		t->parent->trees += by;
	for (i = 0; i < t->nchild; i++)
		t->child[i].face->trees += by;
	for (i = 0; i < t->ndown; i++)
		t->down[i]->trees += by;
	for (i = 0; t->kind == TREE_WORKERS && i < t->workers.nhop; i++)
		t->workers.hop[i].face->trees += by;
}

static void tree_insert(struct tribd *d, struct tree *t)
{
	struct tree *it;

	TAILQ_FOREACH(it, &d->trees, link)
		if (it->id > t->id)
			break;
	if (it)
		TAILQ_INSERT_BEFORE(it, t, link);
	else
		TAILQ_INSERT_TAIL(&d->trees, t, link);
	faces_hold(t, 1);
	t->job->ntrees++;
	d->ntrees++;
	d->generation++;
}

static void tree_free(struct tribd *d, struct tree *t)
{
	if (t->kind == TREE_DEDICATED)
		timer_cancel(d, &t->dedicated.wiped);
	TAILQ_REMOVE(&d->trees, t, link);
	faces_hold(t, -1);
	t->job->ntrees--;
	d->ntrees--;
	d->generation++;
	free(t);
}

void tree_free_all(struct tribd *d)
{
	while (TAILQ_FIRST(&d->trees))
		tree_free(d, TAILQ_FIRST(&d->trees));
}

static int id_choose(struct tribd *d, struct tree *t, struct reason *why)
{
	uint32_t id;

	if (t->id)
		return 0;
	for (id = 1; id < d->config.ntrees; id++)
		if (!tree_find(d, (uint16_t)id)) {
			t->id = (uint16_t)id;
			return 0;
		}
	return reason_set(why, -ENOSPC,
			  "all %u trees are in use: delete one, or raise tribd --trees",
			  d->config.ntrees - 1);
}

/* --- coming and going */

/*
 * Write the maps of a tree; the row, which is read first, comes last. @adopted:
 * the row was there, with an epoch that may be running; write only differences.
 */
static int tree_show(struct tribd *d, struct tree *t, bool adopted)
{
	int err;

	if (!tree_is_node(t))
		return 0;
	if (!adopted)
		traces_clear(d, t->id);
	err = t->ops->show(d, t, adopted);
	if (!err)
		err = group_store(d, t, adopted);
	if (err)
		goto no_group;
	tree_row_fill(t, &t->row);
	err = d->hooks->tree_prepare(d, t, adopted);
	if (err)
		goto no_group;
	err = tree_row_store(d, t);
	if (err)
		goto no_row;
	err = d->hooks->tree_added(d, t, adopted);
	if (!err)
		return 0;
	if (!adopted)
		row_clear(d, t->id);
no_row:
	if (!adopted)
		d->hooks->tree_gone(d, t);
no_group:
	if (!adopted) {
		group_clear(d, t->id);
		if (t->ops->hide)
			t->ops->hide(d, t);
	}
	return err;
}

static void tree_hide_rest(struct tribd *d, struct tree *t)
{
	d->hooks->tree_gone(d, t);
	group_clear(d, t->id);
	if (t->ops->hide)
		t->ops->hide(d, t);
}

static void tree_hide(struct tribd *d, struct tree *t)
{
	d->hooks->tree_del(d, t);
	if (!tree_is_node(t))
		return;
	row_clear(d, t->id);
	tree_hide_rest(d, t);
}

int tree_new(struct tribd *d, const struct tree_spec *s, uint16_t *id, struct reason *why)
{
	struct tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return reason_set(why, -ENOMEM, "no memory");
	err = tree_check(d, s, t, why);
	if (!err)
		err = id_choose(d, t, why);
	if (!err && t->ops->choose)
		err = t->ops->choose(d, t, why);
	if (err) {
		free(t);
		return err;
	}
	tree_insert(d, t);
	err = tree_show(d, t, false);
	if (err) {
		reason_set(why, err, "tree %u: %s (see tribd's log)", t->id, strerror(-err));
		goto fail;
	}
	err = hooks_save(d, why);
	if (err) {
		tree_hide(d, t);
		goto fail;
	}
	*id = t->id;
	return 0;
fail:
	tree_free(d, t);
	return err;
}

int tree_restore(struct tribd *d, const struct tree_spec *s, struct reason *why)
{
	struct tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return reason_set(why, -ENOMEM, "no memory");
	err = s->id ? tree_check(d, s, t, why) : reason_set(why, -EINVAL, "a tree without id");
	if (!err && t->ops->keep)
		err = t->ops->keep(d, t, s, why);
	if (err) {
		free(t);
		return err;
	}
	tree_insert(d, t);
	return 0;
}

/* Take over epoch and nonces if the row in the map is that of this tree. */
static bool row_adopt(struct tribd *d, struct tree *t)
{
	struct trib_tree row, want = t->row;

	if (tree_row_load(d, t, &row))
		return false;
	tree_row_fill(t, &want);
	if (!(row.flags & TRIB_TREE_USED) || row.auth != want.auth || row.job != want.job ||
	    row.nchild != want.nchild || row.slot0 != want.slot0 ||
	    row.slot_mask != want.slot_mask || (row.flags ^ want.flags) & TRIB_TREE_SHARED)
		return false;
	t->row = row;
	if (row.last_epoch > t->traced)
		t->traced = row.last_epoch;
	if (row.flags & TRIB_TREE_WIPED)
		dedicated_wiped(d, t);
	return true;
}

/*
 * Clear rows that the state file does not name: their addition never finished.
 */
static void rows_sweep(struct tribd *d)
{
	uint32_t id;

	for (id = 0; id < d->config.ntrees; id++) {
		struct trib_tree row;

		if (tree_find(d, (uint16_t)id))
			continue;
		if (!bpf_map_lookup_elem(d->map[MAP_TREES], &id, &row) && row.flags)
			row_clear(d, (uint16_t)id);
		group_clear(d, (uint16_t)id);
	}
	group_sweep(d);
	pool_sweep(d);
}

static int restore_trees(struct tribd *d)
{
	struct tree *t;
	int err;

	TAILQ_FOREACH(t, &d->trees, link) {
		bool adopted = tree_is_node(t) && row_adopt(d, t);

		err = tree_show(d, t, adopted);
		if (err) {
			log_error("tree %u cannot be taken over: %s", t->id, strerror(-err));
			return err;
		}
		if (!adopted && tree_is_node(t))
			log_warn("tree %u: its row differs from the state file: written anew",
				 t->id);
	}
	return 0;
}

int tree_restore_done(struct tribd *d)
{
	int err, rc;

	rows_sweep(d);
	group_defer();
	err = restore_trees(d);
	/* Before a tree can be removed: its groups would come back. */
	rc = group_flush(d);
	return err ? err : rc;
}

void tree_remove_all(struct tribd *d, const struct job *job)
{
	struct tree *t = NULL;

	while ((t = tree_next_of_job(d, job, t))) {
		d->hooks->tree_del(d, t);
		if (!tree_is_node(t))
			continue;
		t->row.flags = 0; /* a wipe of another tree must not write it again */
		row_close(d, t->id);
	}
	bpf_quiesce(d);
	while ((t = tree_next_of_job(d, job, NULL))) {
		if (tree_is_node(t))
			tree_hide_rest(d, t);
		tree_free(d, t);
	}
}

int tree_del(struct tribd *d, uint16_t id, struct reason *why)
{
	struct tree *t = tree_find(d, id);
	int err;

	if (!t)
		return reason_set(why, -ENOENT, "no tree %u", id);
	err = hooks_save_without(d, t, why);
	if (err)
		return err;
	tree_hide(d, t);
	tree_free(d, t);
	return 0;
}

int tree_wipe(struct tribd *d, uint16_t id, struct reason *why)
{
	struct tree *t = tree_find(d, id);
	int err, back;

	if (!t)
		return reason_set(why, -ENOENT, "no tree %u", id);
	if (!t->ops->wipe || (t->kind == TREE_DEDICATED && !t->dedicated.slots))
		return reason_set(why, -EINVAL, "tree %u has no slots here: %s", id,
				  tree_is_node(t) ? "a leaf" : "its workers");
	/* A wiped slot must not be one that a packet is being added to. */
	row_clear(d, id);
	err = t->ops->wipe(d, t);
	back = tree_row_store(d, t);
	if (!err)
		err = back;
	return err ? reason_set(why, err, "tree %u: %s", id, strerror(-err)) : 0;
}

static bool is_listed(uint16_t id, const uint16_t *list, size_t n)
{
	while (n)
		if (list[--n] == id)
			return true;
	return false;
}

int tree_switch(struct tribd *d, const char *name, const uint16_t *live, size_t n,
		struct reason *why)
{
	struct job *job = job_find(d, name);
	struct tree *t = NULL;
	uint8_t *was;
	size_t i;
	int err;

	if (!job)
		return reason_set(why, -ENOENT, "no job %s", name);
	for (i = 0; i < n; i++) {
		t = tree_find(d, live[i]);
		if (!t || t->job != job)
			return reason_set(why, -ENOENT, "job %s has no tree %u", name, live[i]);
	}
	was = calloc(job->ntrees + 1, sizeof(*was));
	if (!was)
		return reason_set(why, -ENOMEM, "no memory");
	for (t = NULL, i = 0; (t = tree_next_of_job(d, job, t)); i++) {
		was[i] = t->held;
		t->held = !is_listed(t->id, live, n);
	}
	err = hooks_save(d, why);
	for (t = NULL, i = 0; err && (t = tree_next_of_job(d, job, t)); i++)
		t->held = was[i];
	free(was);
	return err;
}

static bool tree_uses(const struct tree *t, const struct face *f)
{
	unsigned int i;

	if (t->parent == f)
		return true;
	for (i = 0; i < t->nchild; i++)
		if (t->child[i].face == f)
			return true;
	for (i = 0; i < t->ndown; i++)
		if (t->down[i] == f)
			return true;
	return false;
}

void tree_face_changed(struct tribd *d, const struct face *f)
{
	struct tree *t;

	TAILQ_FOREACH(t, &d->trees, link)
		if (tree_uses(t, f) && (t->row.flags & TRIB_TREE_USED))
			t->stale = true;
}

void tree_settle(struct tribd *d)
{
	struct tree *t;

	group_defer();
	TAILQ_FOREACH(t, &d->trees, link) {
		struct trib_tree old = t->row;

		if (!t->stale)
			continue;
		t->stale = false;
		group_store(d, t, false);
		tree_row_fill(t, &t->row);
		if (t->kind == TREE_SHARED)
			pool_faces_store(d, t);
		if (memcmp(&old, &t->row, sizeof(old)))
			tree_row_store(d, t);
		d->hooks->tree_changed(d, t);
	}
	group_flush(d);
}
