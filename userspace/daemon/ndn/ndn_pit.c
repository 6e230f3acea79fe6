// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of the persistent PIT, as BPF keeps them: the only file of tribd that
 * knows their layout. Rows are read without their lock: what is shown of one
 * that is changing may be of two moments.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "forwarder.h"

#define MS 1000000ULL
#define BUSY_TRIES 8

static uint64_t age_ms(uint64_t now, uint64_t then)
{
	if (!then)
		return NDN_NEVER;
	return now > then ? (now - then) / MS : 0;
}

/* An entry, of its two rows. */
struct entry {
	struct ndn_entry e;
	struct ndn_more m;
};

/* Who is subscribed now: half leases that are over do not count. */
static void living(const struct ndn_config *c, const struct entry *n,
		   uint64_t now, uint64_t live[NDN_FACE_WORDS])
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

static void row_fill(const struct ndn_config *c, const struct entry *n,
		     struct ndn_pit_row *row)
{
	uint64_t now = now_ns();

	memset(row, 0, sizeof(*row));
	ndn_entry_name(&n->e, &n->m, &row->name);
	row->up = n->e.up;
	row->version = n->e.version;
	row->segment = n->e.segment;
	row->acked_ms = age_ms(now, n->e.acked);
	row->taken_ms = age_ms(now, n->e.taken);
	living(c, n, now, row->live);
	if ((n->e.flags & NDN_ENTRY_LEAVING) && now < n->m.left + c->leave_ns)
		row->state = TRIB_PIT_STATE_LEAVING;
	else if (n->e.acked && now < n->e.acked + c->lease_ns / 3)
		row->state = TRIB_PIT_STATE_CONFIRMED;
}

/* The rest of a row that is an entry; false: it is none. */
static bool rest_get(struct tribd *d, uint32_t row, struct entry *n)
{
	return (n->e.flags & NDN_ENTRY_USED) && n->e.len <= NDN_NAME_BYTES &&
	       !bpf_map_lookup_elem(d->ndn->map[NMAP_MORE], &row, &n->m);
}

struct ndn_walk *ndn_pit_walk(struct tribd *d)
{
	return ndn_walk_new(d->ndn->map[NMAP_PIT], sizeof(uint32_t),
			    sizeof(struct ndn_entry), NDN_PART);
}

int ndn_pit_next(struct tribd *d, struct ndn_walk *w,
		 const struct ndn_row_name *prefix, struct ndn_pit_row *row)
{
	const void *key, *value;
	struct entry n;
	uint32_t at;
	int more;

	while ((more = ndn_walk_next(w, &key, &value)) > 0) {
		memcpy(&at, key, sizeof(at));
		memcpy(&n.e, value, sizeof(n.e));
		if (!rest_get(d, at, &n))
			continue;
		row_fill(&d->ndn->config, &n, row);
		if (ndn_below(prefix, &row->name))
			return 1;
	}
	return more;
}

/* Its row, and in @n what is there. */
static int entry_get(struct tribd *d, const struct ndn_row_name *name,
		     uint64_t *key, uint32_t *row, struct entry *n)
{
	struct ndn *names = d->ndn;
	struct ndn_row_name is;
	struct ndn_tags t;
	uint32_t bucket;
	int i, way;

	*key = ndn_hash((const __u64 *)names->config.seed, name);
	for (i = 0; i < 2; i++) {
		bucket = ndn_bucket(*key, names->config.buckets, i);
		if (bpf_map_lookup_elem(names->map[NMAP_TAGS], &bucket, &t))
			continue;
		for (way = 0; way < NDN_WAYS; way++) {
			*row = bucket * NDN_WAYS + (uint32_t)way;
			if (t.tag[way] != ndn_tag(*key) ||
			    bpf_map_lookup_elem(names->map[NMAP_PIT], row,
						&n->e) ||
			    !rest_get(d, *row, n))
				continue;
			ndn_entry_name(&n->e, &n->m, &is);
			if (ndn_equal(&is, name))
				return 0;
		}
	}
	return -ENOENT;
}

int ndn_pit_find(struct tribd *d, const struct ndn_row_name *name,
		 struct ndn_pit_row *row)
{
	struct entry n;
	uint64_t key;
	uint32_t at;
	int err = entry_get(d, name, &key, &at, &n);

	if (!err)
		row_fill(&d->ndn->config, &n, row);
	return err;
}

int ndn_pit_forget(struct tribd *d, const struct ndn_row_name *name,
		   struct reason *why)
{
	struct ndn_forget f = {.kind = NDN_FORGET_ENTRY};
	char text[NDN_TEXT_MAX];
	struct entry n;
	uint64_t key;
	int err = entry_get(d, name, &key, &f.place, &n);

	if (err)
		return refuse(why, err, "no entry %.100s",
			      ndn_text(name, text));
	f.key = key;
	err = ndn_forget_run(d, &f);
	return err ? refuse(why, err, "entry %.100s: %s", ndn_text(name, text),
			    strerror(-err))
		   : 0;
}

void ndn_pit_forget_face(struct tribd *d, uint8_t number)
{
	struct ndn_forget f = {
		.kind = NDN_FORGET_FACE, .face = number, .count = NDN_PART};
	int err = 0;

	for (; !err && f.place < d->ndn->config.buckets; f.place += f.count)
		err = ndn_forget_run(d, &f);
	if (err)
		log_warn(
			"ndn: face number %u: not all that it left behind is gone: %s",
			number, strerror(-err));
}

int ndn_forget_run(struct tribd *d, struct ndn_forget *what)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = what,
		    .ctx_size_in = sizeof(*what));
	unsigned int i;

	for (i = 0; i < BUSY_TRIES; i++) {
		if (bpf_prog_test_run_opts(d->ndn->prog[NPROG_FORGET], &o))
			return -errno;
		if (!o.retval)
			return 0;
	}
	return -EBUSY;
}

uint32_t ndn_pit_count(struct tribd *d)
{
	struct ndn_used *used = &d->ndn->pit_used;
	const void *key, *value;
	struct ndn_walk *w;

	if (!ndn_used_old(used))
		return used->rows;
	used->rows = 0;
	w = ndn_pit_walk(d);
	while (w && ndn_walk_next(w, &key, &value) > 0)
		used->rows += !!(((const struct ndn_entry *)value)->flags &
				 NDN_ENTRY_USED);
	ndn_walk_free(w);
	return used->rows;
}
