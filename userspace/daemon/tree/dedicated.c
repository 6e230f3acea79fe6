// SPDX-License-Identifier: BSD-2-Clause
/* Dedicated trees: their checks, their slots, and wiping these. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/session.h"
#include "slots.h"
#include "tree.h"

static int dedicated_check(struct tribd *d, const struct tree_spec *s, struct tree *t,
			   struct reason *why)
{
	int err = node_check(d, s, t, why);

	if (!err)
		err = pool_refuse(s, why);
	if (!err && t->nchild)
		t->dedicated.slots = t->job->window * 2;
	return err;
}

uint32_t dedicated_slots_used(struct tribd *d)
{
	uint32_t n = 0;
	struct tree *t;

	TAILQ_FOREACH(t, &d->trees, link)
		n += t->kind == TREE_DEDICATED ? t->dedicated.slots : 0;
	return n;
}

static struct slot_range *slots_used(struct tribd *d, size_t *n)
{
	struct slot_range *r = calloc(d->ntrees + 1, sizeof(*r));
	struct tree *t;

	*n = 0;
	if (!r)
		return NULL;
	TAILQ_FOREACH(t, &d->trees, link)
		if (t->kind == TREE_DEDICATED && t->dedicated.slots)
			r[(*n)++] = (struct slot_range){t->row.slot0, t->dedicated.slots};
	return r;
}

static int slots_choose(struct tribd *d, struct tree *t, struct reason *why)
{
	struct slot_range *used;
	size_t n;
	int err;

	if (!t->dedicated.slots)
		return 0;
	used = slots_used(d, &n);
	if (!used)
		return reason_set(why, -ENOMEM, "no memory");
	err = slots_find(used, n, d->config.nslots, t->dedicated.slots, &t->row.slot0);
	free(used);
	if (!err)
		return 0;
	return reason_set(
		why, err,
		"no %u slots in a row are free: %u of %u are used (smaller window, or tribd --slots)",
		t->dedicated.slots, dedicated_slots_used(d), d->config.nslots);
}

static int slots_keep(struct tribd *d, struct tree *t, const struct tree_spec *s,
		      struct reason *why)
{
	uint32_t slot0 = s->dedicated.slot0;
	struct slot_range *used, own = {slot0, t->dedicated.slots};
	size_t n;
	int err;

	if (!t->dedicated.slots)
		return 0;
	used = slots_used(d, &n);
	if (!used)
		return reason_set(why, -ENOMEM, "no memory");
	err = slots_check(used, n, d->config.nslots, &own);
	free(used);
	t->row.slot0 = slot0;
	return err ? reason_set(why, err, "slots %u to %u are not free", slot0,
				slot0 + t->dedicated.slots - 1)
		   : 0;
}

#define WIPE_BATCH 64

static size_t slot_size(const struct tribd *d)
{
	return sizeof(struct trib_slot) - sizeof(uint64_t) * TRIB_NVAL / 2 + d->config.nval * 4ul;
}

/*
 * Note the newest epoch in the slots. A restart goes on after it, even if the
 * state file is an older one.
 */
static int slots_trace(struct tribd *d, struct tree *t)
{
	struct trib_slot *slot = malloc(slot_size(d));
	uint32_t i, nr;
	int err = 0;

	if (!slot)
		return -ENOMEM;
	for (i = 0; !err && i < t->dedicated.slots; i++) {
		nr = t->row.slot0 + i;
		if (bpf_map_lookup_elem(d->map[MAP_SLOTS], &nr, slot))
			err = -errno;
		else if (slot->epoch > t->traced)
			t->traced = slot->epoch;
	}
	free(slot);
	if (err)
		log_error("tree %u: cannot read its slots: %s", t->id, strerror(-err));
	return err;
}

/* Call while the row is cleared: a slot in use must not change. */
static int slots_wipe(struct tribd *d, struct tree *t)
{
	uint32_t key[WIPE_BATCH], done = 0, i, n;
	size_t size = slot_size(d);
	void *zero = calloc(WIPE_BATCH, size);
	int err = 0;

	if (!zero)
		return -ENOMEM;
	for (; !err && done < t->dedicated.slots; done += n) {
		n = t->dedicated.slots - done < WIPE_BATCH ? t->dedicated.slots - done : WIPE_BATCH;
		for (i = 0; i < n; i++)
			key[i] = t->row.slot0 + done + i;
		if (bpf_map_update_batch(d->map[MAP_SLOTS], key, zero, &n, NULL))
			err = -errno;
	}
	free(zero);
	if (err)
		log_error("tree %u: cannot wipe its slots: %s", t->id, strerror(-err));
	return err;
}

/*
 * By then all packets sent before the wipe have arrived, and all packets that
 * they answer: a worker sends a GRAD only while it lacks the RESULT.
 */
#define WIPED_MS (2 * SESSION_LATE_MS)

static void wiped_over(struct tribd *d, struct timer *timer)
{
	struct tree *t = timer->arg;

	t->row.flags &= (uint8_t)~TRIB_TREE_WIPED;
	tree_row_store(d, t);
}

void dedicated_wiped(struct tribd *d, struct tree *t)
{
	if (!trib_fmt_is_float(t->job->fmt))
		return;
	t->dedicated.wiped.fn = wiped_over;
	t->dedicated.wiped.arg = t;
	t->row.flags |= TRIB_TREE_WIPED;
	timer_set(d, &t->dedicated.wiped, WIPED_MS);
}

static int dedicated_show(struct tribd *d, struct tree *t, bool adopted)
{
	return adopted ? slots_trace(d, t) : slots_wipe(d, t);
}

static int dedicated_wipe(struct tribd *d, struct tree *t)
{
	int err = slots_wipe(d, t);

	dedicated_wiped(d, t);
	return err;
}

const struct tree_ops dedicated_ops = {
	.check = dedicated_check,
	.choose = slots_choose,
	.keep = slots_keep,
	.show = dedicated_show,
	.wipe = dedicated_wipe,
};
