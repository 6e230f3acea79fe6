// SPDX-License-Identifier: BSD-2-Clause
/* The cache: what segments it has, and forgetting them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "names.h"

struct names_walk *names_cs_walk(struct tribd *d)
{
	uint32_t rows = d->names->cache ? d->names->cache : 1;

	return names_walk_new(d->names->map[NMAP_CACHE], sizeof(uint32_t),
			      sizeof(struct names_kept), rows);
}

/* Only segments are kept: their names have the marker of distribution. */
int names_cs_next(struct names_walk *w, const struct names_name *prefix,
		  struct names_name *name, uint32_t *bytes, uint32_t *place)
{
	const void *key, *value;
	const struct names_kept *k;
	int more;

	while ((more = names_walk_next(w, &key, &value)) > 0) {
		k = value;
		if (!k->len || k->name.len > NAMES_NAME_BYTES ||
		    !names_below(prefix, &k->name))
			continue;
		*name = k->name;
		*bytes = k->len;
		memcpy(place, key, sizeof(*place));
		return 1;
	}
	return more;
}

uint32_t names_cs_count(struct tribd *d)
{
	static const struct names_name all;
	struct names_used *used = &d->names->cs_used;
	struct names_walk *w;
	struct names_name name;
	uint32_t bytes, place;

	if (!names_used_old(used))
		return used->rows;
	used->rows = 0;
	w = names_cs_walk(d);
	while (w && names_cs_next(w, &all, &name, &bytes, &place) > 0)
		used->rows++;
	names_walk_free(w);
	return used->rows;
}

int names_cs_wipe(struct tribd *d, const struct names_name *prefix,
		  struct reason *why)
{
	struct names_forget f = {.kind = NAMES_FORGET_KEPT};
	struct names_walk *w = names_cs_walk(d);
	struct names_name name;
	uint32_t bytes, place;
	int more = -ENOMEM, n = 0, err;

	while (w &&
	       (more = names_cs_next(w, prefix, &name, &bytes, &place)) > 0) {
		f.place = place;
		err = names_forget_run(d, &f);
		if (err) {
			more = err;
			break;
		}
		n++;
	}
	names_walk_free(w);
	return more < 0 ? refuse(why, more, "the cache: %s", strerror(-more))
			: n;
}
