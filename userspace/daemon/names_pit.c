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

/* Who is subscribed now: half leases that are over do not count. */
static void living(const struct names_config *c, const struct names_entry *e,
		   uint64_t now, uint64_t live[NAMES_FACE_WORDS])
{
	uint64_t lap = c->lease_ns / 2 + 1, over = 0;
	unsigned int i, k;

	if (now >= e->lap_end)
		over = (now - e->lap_end) / lap + 1;
	for (k = 0; k + over < NAMES_LAPS; k++)
		for (i = 0; i < NAMES_FACE_WORDS; i++)
			live[i] |= e->live[k][i];
}

static void row_fill(const struct names_config *c, const struct names_entry *e,
		     struct names_pit_row *row)
{
	uint64_t now = now_ns();

	memset(row, 0, sizeof(*row));
	row->name = e->name;
	row->up = e->up;
	row->version = e->version;
	row->segment = e->segment;
	row->acked_ms = age_ms(now, e->acked);
	row->taken_ms = age_ms(now, e->taken);
	living(c, e, now, row->live);
	if (e->left && now < e->left + c->leave_ns)
		row->state = TRIB_PIT_LEAVING;
	else if (e->acked && now < e->acked + c->lease_ns / 3)
		row->state = TRIB_PIT_CONFIRMED;
}

struct names_walk *names_pit_walk(struct tribd *d)
{
	return names_walk_new(d->names->map[NMAP_PIT], sizeof(uint64_t),
			      sizeof(struct names_entry), d->names->entries);
}

int names_pit_next(struct tribd *d, struct names_walk *w,
		   const struct names_name *prefix, struct names_pit_row *row)
{
	const void *key, *value;
	const struct names_entry *e;
	int more;

	while ((more = names_walk_next(w, &key, &value)) > 0) {
		e = value;
		if (e->gone || e->name.len > NAMES_NAME_BYTES ||
		    !names_below(prefix, &e->name))
			continue;
		row_fill(&d->names->config, e, row);
		return 1;
	}
	return more;
}

static int entry_get(struct tribd *d, const struct names_name *name,
		     uint64_t *key, struct names_entry *e)
{
	struct names *n = d->names;

	*key = names_hash((const __u64 *)n->config.seed, name);
	if (bpf_map_lookup_elem(n->map[NMAP_PIT], key, e) || e->gone ||
	    !names_equal(&e->name, name))
		return -ENOENT;
	return 0;
}

int names_pit_find(struct tribd *d, const struct names_name *name,
		   struct names_pit_row *row)
{
	struct names_entry e;
	uint64_t key;
	int err = entry_get(d, name, &key, &e);

	if (!err)
		row_fill(&d->names->config, &e, row);
	return err;
}

int names_pit_forget(struct tribd *d, const struct names_name *name,
		     struct reason *why)
{
	struct names_forget f = {.kind = NAMES_FORGET_ENTRY};
	char text[NAMES_TEXT_MAX];
	struct names_entry e;
	__u64 key;
	int err = entry_get(d, name, (uint64_t *)&key, &e);

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
		used->rows++;
	names_walk_free(w);
	return used->rows;
}
