// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of the persistent PIT, as BPF keeps them: the only file of tribd that
 * knows their layout. Rows are read without their lock: what is shown of one
 * that is changing may be of two moments.
 *
 * An entry is a row of names_pit and the one of names_more that has its number.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "names.h"

#define MS 1000000ULL
#define BUSY_TRIES 8

static uint64_t age_ms(uint64_t now, uint64_t then)
{
	if (!then)
		return NAMES_NEVER;
	return now > then ? (now - then) / MS : 0;
}

struct pit_row {
	struct names_entry e;
	struct names_more m;
	struct names_name name;
};

/* Who is subscribed now: half leases that are over do not count. */
static void living(const struct names_config *c, const struct pit_row *r,
		   uint64_t now, uint64_t live[NAMES_FACE_WORDS])
{
	uint64_t lap = c->lease_ns / 2 + 1, over = 0;
	unsigned int i, k;

	if (now >= r->e.lap_end)
		over = (now - r->e.lap_end) / lap + 1;
	for (k = 0; k + over < NAMES_LAPS; k++) {
		live[0] |= r->e.live[k];
		for (i = 1;
		     i < NAMES_FACE_WORDS && r->e.flags & NAMES_ENTRY_WIDE; i++)
			live[i] |= r->m.live[k][i - 1];
	}
}

static void row_fill(const struct names_config *c, const struct pit_row *r,
		     struct names_pit_row *row)
{
	const struct names_entry *e = &r->e;
	uint64_t now = now_ns();

	memset(row, 0, sizeof(*row));
	row->name = r->name;
	row->up = e->up;
	row->version = e->version;
	row->segment = e->segment;
	row->acked_ms = age_ms(now, e->acked);
	row->taken_ms = age_ms(now, e->taken);
	living(c, r, now, row->live);
	if (e->flags & NAMES_ENTRY_LEAVING && now < r->m.left + c->leave_ns)
		row->state = TRIB_PIT_LEAVING;
	else if (e->acked && now < e->acked + c->lease_ns / 3)
		row->state = TRIB_PIT_CONFIRMED;
}

/* What goes with r->e. Return: whether the row is an entry. */
static bool row_complete(struct names *n, uint32_t row, struct pit_row *r)
{
	if (!(r->e.flags & NAMES_ENTRY_USED) || r->e.len > NAMES_NAME_BYTES ||
	    bpf_map_lookup_elem(n->map[NMAP_MORE], &row, &r->m))
		return false;
	names_entry_name(&r->e, &r->m, &r->name);
	return true;
}

struct names_walk *names_pit_walk(struct tribd *d)
{
	return names_walk_new(d->names->map[NMAP_PIT], sizeof(uint32_t),
			      sizeof(struct names_entry), d->names->entries);
}

int names_pit_next(struct tribd *d, struct names_walk *w,
		   const struct names_name *prefix, struct names_pit_row *row)
{
	const void *key, *value;
	struct pit_row r;
	int more;

	while ((more = names_walk_next(w, &key, &value)) > 0) {
		r.e = *(const struct names_entry *)value;
		if (!row_complete(d->names, *(const uint32_t *)key, &r) ||
		    !names_below(prefix, &r.name))
			continue;
		row_fill(&d->names->config, &r, row);
		return 1;
	}
	return more;
}

/* In one of the two buckets of its key, where it has the tag. */
static int entry_get(struct tribd *d, const struct names_name *name,
		     uint64_t *key, uint32_t *row, struct pit_row *r)
{
	struct names *n = d->names;
	uint32_t buckets = n->config.buckets, bucket, way;
	struct names_tags t;
	int which;

	*key = names_hash((const __u64 *)n->config.seed, name);
	for (which = 0; which < 2; which++) {
		bucket = names_bucket(*key, buckets, which);
		if (bpf_map_lookup_elem(n->map[NMAP_TAGS], &bucket, &t))
			continue;
		for (way = 0; way < NAMES_WAYS; way++) {
			*row = bucket * NAMES_WAYS + way;
			if (t.tag[way] == names_tag(*key) &&
			    !bpf_map_lookup_elem(n->map[NMAP_PIT], row,
						 &r->e) &&
			    row_complete(n, *row, r) &&
			    names_equal(&r->name, name))
				return 0;
		}
	}
	return -ENOENT;
}

int names_pit_find(struct tribd *d, const struct names_name *name,
		   struct names_pit_row *row)
{
	struct pit_row r;
	uint32_t number;
	uint64_t key;
	int err = entry_get(d, name, &key, &number, &r);

	if (!err)
		row_fill(&d->names->config, &r, row);
	return err;
}

int names_pit_forget(struct tribd *d, const struct names_name *name,
		     struct reason *why)
{
	struct names_forget f = {.kind = NAMES_FORGET_ENTRY};
	char text[NAMES_TEXT_MAX];
	struct pit_row r;
	uint64_t key;
	int err = entry_get(d, name, &key, &f.row, &r);

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
	struct names_forget f = {.kind = NAMES_FORGET_FACE, .face = number};
	int err = names_forget_run(d, &f);

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

/* A look at the flags of all rows: they are mapped, for as long as it takes. */
uint32_t names_pit_count(struct tribd *d)
{
	uint32_t rows = d->names->config.buckets * NAMES_WAYS, i;
	size_t bytes = (size_t)rows * sizeof(struct names_entry);
	struct names_used *used = &d->names->pit_used;
	struct names_entry *e;

	if (!names_used_old(used))
		return used->rows;
	used->rows = 0;
	e = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE,
		 d->names->map[NMAP_PIT], 0);
	if (e == MAP_FAILED) {
		log_warn("names: names_pit cannot be mapped: %s",
			 strerror(errno));
		return 0;
	}
	for (i = 0; i < rows; i++)
		used->rows += !!(e[i].flags & NAMES_ENTRY_USED);
	munmap(e, bytes);
	return used->rows;
}
