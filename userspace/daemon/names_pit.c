// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of the persistent PIT, as BPF keeps them: the only file of tribd that
 * knows their layout. Rows are read without their lock: what is shown of one
 * that is changing may be of two moments.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "names.h"

#define MS 1000000ULL
#define BUSY_TRIES 8

static uint64_t age_ms(uint64_t now, uint64_t then)
{
	if (!then)
		return NAMES_NEVER;
	return now > then ? (now - then) / MS : 0;
}

/* An entry, of its two rows. */
struct entry {
	struct names_entry e;
	struct names_more m;
};

/* Who is subscribed now: half leases that are over do not count. */
static void living(const struct names_config *c, const struct entry *n,
		   uint64_t now, uint64_t live[NAMES_FACE_WORDS])
{
	uint64_t lap = c->lease_ns / 2 + 1, over = 0;
	unsigned int i, k;

	if (now >= n->e.lap_end)
		over = (now - n->e.lap_end) / lap + 1;
	for (k = 0; k + over < NAMES_LAPS; k++) {
		live[0] |= n->e.live[k];
		for (i = 1; i < NAMES_FACE_WORDS; i++)
			if (n->e.flags & NAMES_ENTRY_WIDE)
				live[i] |= n->m.live[k][i - 1];
	}
}

static void row_fill(const struct names_config *c, const struct entry *n,
		     struct names_pit_row *row)
{
	uint64_t now = now_ns();

	memset(row, 0, sizeof(*row));
	names_entry_name(&n->e, &n->m, &row->name);
	row->up = n->e.up;
	row->version = n->e.version;
	row->segment = n->e.segment;
	row->acked_ms = age_ms(now, n->e.acked);
	row->taken_ms = age_ms(now, n->e.taken);
	living(c, n, now, row->live);
	if ((n->e.flags & NAMES_ENTRY_LEAVING) && now < n->m.left + c->leave_ns)
		row->state = TRIB_PIT_LEAVING;
	else if (n->e.acked && now < n->e.acked + c->lease_ns / 3)
		row->state = TRIB_PIT_CONFIRMED;
}

/* The rest of a row that is an entry; false: it is none. */
static bool rest_get(struct tribd *d, uint32_t row, struct entry *n)
{
	return (n->e.flags & NAMES_ENTRY_USED) &&
	       n->e.len <= NAMES_NAME_BYTES &&
	       !bpf_map_lookup_elem(d->names->map[NMAP_MORE], &row, &n->m);
}

struct names_walk *names_pit_walk(struct tribd *d)
{
	return names_walk_new(d->names->map[NMAP_PIT], sizeof(uint32_t),
			      sizeof(struct names_entry), NAMES_PART);
}

int names_pit_next(struct tribd *d, struct names_walk *w,
		   const struct names_name *prefix, struct names_pit_row *row)
{
	const void *key, *value;
	struct entry n;
	uint32_t at;
	int more;

	while ((more = names_walk_next(w, &key, &value)) > 0) {
		memcpy(&at, key, sizeof(at));
		memcpy(&n.e, value, sizeof(n.e));
		if (!rest_get(d, at, &n))
			continue;
		row_fill(&d->names->config, &n, row);
		if (names_below(prefix, &row->name))
			return 1;
	}
	return more;
}

/* Its row, and in @n what is there. */
static int entry_get(struct tribd *d, const struct names_name *name,
		     uint64_t *key, uint32_t *row, struct entry *n)
{
	struct names *names = d->names;
	struct names_name is;
	struct names_tags t;
	uint32_t bucket;
	int i, way;

	*key = names_hash((const __u64 *)names->config.seed, name);
	for (i = 0; i < 2; i++) {
		bucket = names_bucket(*key, names->config.buckets, i);
		if (bpf_map_lookup_elem(names->map[NMAP_TAGS], &bucket, &t))
			continue;
		for (way = 0; way < NAMES_WAYS; way++) {
			*row = bucket * NAMES_WAYS + (uint32_t)way;
			if (t.tag[way] != names_tag(*key) ||
			    bpf_map_lookup_elem(names->map[NMAP_PIT], row,
						&n->e) ||
			    !rest_get(d, *row, n))
				continue;
			names_entry_name(&n->e, &n->m, &is);
			if (names_equal(&is, name))
				return 0;
		}
	}
	return -ENOENT;
}

int names_pit_find(struct tribd *d, const struct names_name *name,
		   struct names_pit_row *row)
{
	struct entry n;
	uint64_t key;
	uint32_t at;
	int err = entry_get(d, name, &key, &at, &n);

	if (!err)
		row_fill(&d->names->config, &n, row);
	return err;
}

int names_pit_forget(struct tribd *d, const struct names_name *name,
		     struct reason *why)
{
	struct names_forget f = {.kind = NAMES_FORGET_ENTRY};
	char text[NAMES_TEXT_MAX];
	struct entry n;
	uint64_t key;
	int err = entry_get(d, name, &key, &f.place, &n);

	if (err)
		return refuse(why, err, "no entry %.100s",
			      names_text(name, text));
	f.key = key;
	err = names_forget_run(d, &f);
	return err ? refuse(why, err, "entry %.100s: %s",
			    names_text(name, text), strerror(-err))
		   : 0;
}

void names_pit_forget_face(struct tribd *d, uint8_t number)
{
	struct names_forget f = {
		.kind = NAMES_FORGET_FACE, .face = number, .count = NAMES_PART};
	int err = 0;

	for (; !err && f.place < d->names->config.buckets; f.place += f.count)
		err = names_forget_run(d, &f);
	if (err)
		log_warn(
			"names: face number %u: not all that it left behind is gone: %s",
			number, strerror(-err));
}

int names_forget_run(struct tribd *d, struct names_forget *what)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = what,
		    .ctx_size_in = sizeof(*what));
	unsigned int i;

	for (i = 0; i < BUSY_TRIES; i++) {
		if (bpf_prog_test_run_opts(d->names->prog[NPROG_FORGET], &o))
			return -errno;
		if (!o.retval)
			return 0;
	}
	return -EBUSY;
}

uint32_t names_pit_count(struct tribd *d)
{
	struct names_used *used = &d->names->pit_used;
	const void *key, *value;
	struct names_walk *w;

	if (!names_used_old(used))
		return used->rows;
	used->rows = 0;
	w = names_pit_walk(d);
	while (w && names_walk_next(w, &key, &value) > 0)
		used->rows += !!(((const struct names_entry *)value)->flags &
				 NAMES_ENTRY_USED);
	names_walk_free(w);
	return used->rows;
}
