// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of the persistent PIT; no other file of tribd knows their layout. Rows are
 * read without their lock, so an entry that changes may be shown half old.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "ndnd.h"

#define MS 1000000ULL
#define BUSY_TRIES 8

static uint64_t age_ms(uint64_t now, uint64_t then)
{
	if (!then)
		return NDND_NEVER;
	return now > then ? (now - then) / MS : 0;
}

/* Both rows of an entry. */
struct entry {
	struct ndn_entry e;
	struct ndn_more m;
};

/* Get the subscribed faces: half leases that are over do not count. */
static void living(const struct ndn_config *c, const struct entry *n, uint64_t now,
		   uint64_t live[NDN_FACE_WORDS])
{
	uint64_t lap = c->lease_ns / 2 + 1, over = 0;
	unsigned int i, k;

	if (now >= n->e.lap_end)
		over = (now - n->e.lap_end) / lap + 1;
	for (k = 0; k + over < NDN_LAPS; k++) {
		live[0] |= n->e.live[k];
		for (i = 1; i < NDN_FACE_WORDS; i++)
			if (n->e.flags & NDN_ENTRY_WIDE)
				live[i] |= n->m.live[k][i - 1];
	}
}

static void row_fill(const struct ndn_config *c, const struct entry *n, struct ndnd_pit_row *row)
{
	uint64_t now = loop_now();

	memset(row, 0, sizeof(*row));
	ndn_entry_name(&n->e, &n->m, &row->name);
	row->up = n->e.up;
	row->version = n->e.version;
	row->segment = n->e.segment;
	row->acked_ms = age_ms(now, n->e.acked);
	row->taken_ms = age_ms(now, n->e.taken);
	living(c, n, now, row->live);
	if ((n->e.flags & NDN_ENTRY_LEAVING) && now < n->m.until)
		row->state = TRIB_PIT_STATE_LEAVING;
	else if (n->e.acked && now < n->e.acked + c->lease_ns / 3)
		row->state = TRIB_PIT_STATE_CONFIRMED;
}

/* Read the second row of @n. Return: false if the first is no entry. */
static bool rest_get(struct tribd *d, uint32_t row, struct entry *n)
{
	return (n->e.flags & NDN_ENTRY_USED) && n->e.len <= NDN_NAME_BYTES &&
	       !bpf_map_lookup_elem(d->ndn->map[NDND_MAP_MORE], &row, &n->m);
}

struct ndnd_walk *ndnd_pit_walk(struct tribd *d)
{
	return ndnd_walk_new(d->ndn->map[NDND_MAP_PIT], sizeof(uint32_t), sizeof(struct ndn_entry),
			     NDND_PART);
}

int ndnd_pit_next(struct tribd *d, struct ndnd_walk *w, const struct ndn_row_name *prefix,
		  struct ndnd_pit_row *row)
{
	const void *key, *value;
	struct entry n;
	unsigned int seen = 0;
	uint32_t at;
	int more;

	while ((more = ndnd_walk_next(w, &key, &value)) > 0) {
		if (seen++ == NDND_STEP) {
			ndnd_walk_undo(w);
			return -EAGAIN;
		}
		memcpy(&at, key, sizeof(at));
		memcpy(&n.e, value, sizeof(n.e));
		if (!rest_get(d, at, &n))
			continue;
		row_fill(&d->ndn->config, &n, row);
		if (ndnd_name_is_below(prefix, &row->name))
			return 1;
	}
	return more;
}

/* Find the entry of @name: its key, row and content. */
static int entry_get(struct tribd *d, const struct ndn_row_name *name, uint64_t *key, uint32_t *row,
		     struct entry *n)
{
	struct ndnd *fw = d->ndn;
	struct ndn_row_name is;
	struct ndn_tags t;
	uint32_t bucket;
	int i, way;

	*key = ndn_hash((const __u64 *)fw->config.seed, name);
	for (i = 0; i < 2; i++) {
		bucket = ndn_bucket(*key, fw->config.buckets, i);
		if (bpf_map_lookup_elem(fw->map[NDND_MAP_TAGS], &bucket, &t))
			continue;
		for (way = 0; way < NDN_WAYS; way++) {
			*row = bucket * NDN_WAYS + (uint32_t)way;
			if (t.tag[way] != ndn_tag(*key) ||
			    bpf_map_lookup_elem(fw->map[NDND_MAP_PIT], row, &n->e) ||
			    !rest_get(d, *row, n))
				continue;
			ndn_entry_name(&n->e, &n->m, &is);
			if (ndnd_name_is_equal(&is, name))
				return 0;
		}
	}
	return -ENOENT;
}

int ndnd_pit_find(struct tribd *d, const struct ndn_row_name *name, struct ndnd_pit_row *row)
{
	struct entry n;
	uint64_t key;
	uint32_t at;
	int err = entry_get(d, name, &key, &at, &n);

	if (!err)
		row_fill(&d->ndn->config, &n, row);
	return err;
}

int ndnd_pit_forget(struct tribd *d, const struct ndn_row_name *name, struct reason *why)
{
	struct ndn_forget f = {.kind = NDN_FORGET_ENTRY};
	char text[NDND_TEXT_MAX];
	struct entry n;
	uint64_t key;
	int err = entry_get(d, name, &key, &f.place, &n);

	if (err)
		return reason_set(why, err, "no entry %.100s", ndnd_name_text(name, text));
	f.key = key;
	err = ndnd_forget_run(d, &f);
	return err ? reason_set(why, err, "entry %.100s: %s", ndnd_name_text(name, text),
				strerror(-err))
		   : 0;
}

void ndnd_pit_forget_face(struct tribd *d, uint8_t number)
{
	struct ndn_forget f = {.kind = NDN_FORGET_FACE, .face = number, .count = NDND_PART};
	int err = 0;

	for (; !err && f.place < d->ndn->config.buckets; f.place += f.count)
		err = ndnd_forget_run(d, &f);
	if (err)
		log_warn("ndn: face number %u: some of its subscriptions could not be removed: %s",
			 number, strerror(-err));
}

int ndnd_forget_run(struct tribd *d, struct ndn_forget *what)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = what, .ctx_size_in = sizeof(*what));
	unsigned int i;

	for (i = 0; i < BUSY_TRIES; i++) {
		if (bpf_prog_test_run_opts(d->ndn->prog[NDND_PROG_FORGET], &o))
			return -errno;
		if (!o.retval)
			return 0;
	}
	return -EBUSY;
}

uint32_t ndnd_pit_count(struct tribd *d)
{
	struct ndnd_used *used = &d->ndn->pit_used;
	const void *key, *value;
	struct ndnd_walk *w;

	if (!ndnd_used_begin(used))
		return used->rows;
	used->rows = 0;
	w = ndnd_pit_walk(d);
	while (w && ndnd_walk_next(w, &key, &value) > 0)
		used->rows += !!(((const struct ndn_entry *)value)->flags & NDN_ENTRY_USED);
	ndnd_walk_free(w);
	ndnd_used_end(used);
	return used->rows;
}
