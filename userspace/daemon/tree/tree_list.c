// SPDX-License-Identifier: BSD-2-Clause
/* Look-ups of trees, and access to the row of one. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "tree.h"

struct tree *tree_find(struct tribd *d, uint16_t id)
{
	struct tree *t;

	TAILQ_FOREACH(t, &d->trees, link)
		if (t->id == id)
			return t;
	return NULL;
}

struct tree *tree_next_of_job(struct tribd *d, const struct job *job, const struct tree *after)
{
	struct tree *t = after ? TAILQ_NEXT(after, link) : TAILQ_FIRST(&d->trees);

	while (t && t->job != job)
		t = TAILQ_NEXT(t, link);
	return t;
}

int tree_row_store(struct tribd *d, struct tree *t)
{
	uint32_t key = t->id;

	if (!bpf_map_update_elem(d->map[MAP_TREES], &key, &t->row, BPF_ANY))
		return 0;
	log_error("tree %u: cannot write its row: %s", t->id, strerror(errno));
	return -errno;
}

int tree_row_load(struct tribd *d, const struct tree *t, struct trib_tree *row)
{
	uint32_t key = t->id;

	return bpf_map_lookup_elem(d->map[MAP_TREES], &key, row) ? -errno : 0;
}
