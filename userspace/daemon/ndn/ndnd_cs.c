// SPDX-License-Identifier: BSD-2-Clause
/* Lists and removes segments of the cache. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "ndnd.h"

struct ndnd_walk *ndnd_cs_walk(struct tribd *d)
{
	uint32_t rows = d->ndn->cache ? d->ndn->cache : 1;

	return ndnd_walk_new(d->ndn->map[NDND_MAP_CACHE], sizeof(uint32_t), sizeof(struct ndn_kept),
			     rows);
}

/* All names in the cache have the marker of distribution. */
int ndnd_cs_next(struct ndnd_walk *w, const struct ndn_row_name *prefix, struct ndn_row_name *name,
		 uint32_t *bytes, uint32_t *place)
{
	const void *key, *value;
	const struct ndn_kept *k;
	unsigned int seen = 0;
	int more;

	while ((more = ndnd_walk_next(w, &key, &value)) > 0) {
		if (seen++ == NDND_STEP) {
			ndnd_walk_undo(w);
			return -EAGAIN;
		}
		k = value;
		if (!k->len || k->name.len > NDN_NAME_BYTES ||
		    !ndnd_name_is_below(prefix, &k->name))
			continue;
		*name = k->name;
		*bytes = k->len;
		memcpy(place, key, sizeof(*place));
		return 1;
	}
	return more;
}

uint32_t ndnd_cs_count(struct tribd *d)
{
	static const struct ndn_row_name all;
	struct ndnd_used *used = &d->ndn->cs_used;
	struct ndnd_walk *w;
	struct ndn_row_name name;
	uint32_t bytes, place;
	int more;

	if (!ndnd_used_begin(used))
		return used->rows;
	used->rows = 0;
	w = ndnd_cs_walk(d);
	while (w && ((more = ndnd_cs_next(w, &all, &name, &bytes, &place)) > 0 || more == -EAGAIN))
		used->rows += more > 0;
	ndnd_walk_free(w);
	ndnd_used_end(used);
	return used->rows;
}

int ndnd_cs_wipe(struct tribd *d, const struct ndn_row_name *prefix, struct reason *why)
{
	struct ndn_forget f = {.kind = NDN_FORGET_KEPT};
	struct ndnd_walk *w = ndnd_cs_walk(d);
	struct ndn_row_name name;
	uint32_t bytes, place;
	int more = -ENOMEM, n = 0, err;

	while (w &&
	       ((more = ndnd_cs_next(w, prefix, &name, &bytes, &place)) > 0 || more == -EAGAIN)) {
		if (more < 0)
			continue;
		f.place = place;
		err = ndnd_forget_run(d, &f);
		if (err) {
			more = err;
			break;
		}
		n++;
	}
	ndnd_walk_free(w);
	return more < 0 ? reason_set(why, more, "the cache: %s", strerror(-more)) : n;
}
