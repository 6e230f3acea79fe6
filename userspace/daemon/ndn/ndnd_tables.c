// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes and rights in the maps. Keys are hashed with the secret of the maps. The
 * bits of existing lengths are set after a row is added and cleared after it is
 * deleted.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "ndnd.h"

static uint64_t key_of(const struct ndnd *fw, const struct ndn_row_name *name)
{
	return ndn_hash((const __u64 *)fw->config.seed, name);
}

uint32_t ndnd_rights_lens(const struct ndnd_peer *p)
{
	uint32_t lens = 0;
	unsigned int i;

	for (i = 0; i < p->n; i++)
		lens |= 1u << p->prefix[i].name.count;
	return lens;
}

static bool prefix_among(const struct ndnd_prefix *p, const struct ndnd_prefix *list,
			 unsigned int n)
{
	while (n--)
		if (ndnd_name_is_equal(&p->name, &list[n].name))
			return true;
	return false;
}

static struct ndn_right_key right_key(const struct ndnd *fw, const struct ndnd_prefix *p,
				      uint8_t number)
{
	struct ndn_right_key k = {key_of(fw, &p->name), number};

	return k;
}

void ndnd_rights_store(struct tribd *d, uint8_t number, const struct ndnd_prefix *old,
		       unsigned int nold, const struct ndnd_prefix *now, unsigned int nnow)
{
	struct ndnd *fw = d->ndn;
	unsigned int i;

	for (i = 0; i < nold; i++) {
		struct ndn_right_key k = right_key(fw, &old[i], number);

		if (!prefix_among(&old[i], now, nnow))
			bpf_map_delete_elem(fw->map[NDND_MAP_RIGHTS], &k);
	}
	for (i = 0; i < nnow; i++) {
		struct ndn_right_key k = right_key(fw, &now[i], number);
		struct ndn_right row = {.may = now[i].may, .name = now[i].name};

		if (bpf_map_update_elem(fw->map[NDND_MAP_RIGHTS], &k, &row, BPF_ANY))
			log_error("ndn: map ndn_rights: %s", strerror(errno));
	}
}

static uint32_t fib_lens(const struct ndnd *fw)
{
	const struct ndnd_route *r;
	uint32_t lens = 0;

	TAILQ_FOREACH(r, &fw->routes, link)
		lens |= 1u << r->name.count;
	return lens;
}

int ndnd_route_store(struct tribd *d, struct ndnd_route *r)
{
	struct ndnd *fw = d->ndn;
	struct ndn_route row = {.face = r->face->ndn->number, .name = r->name};
	const struct ndnd_route *other;

	r->key = key_of(fw, &r->name);
	TAILQ_FOREACH(other, &fw->routes, link)
		if (other != r && other->key == r->key)
			return -EEXIST; /* one in 2^32 */
	if (bpf_map_update_elem(fw->map[NDND_MAP_FIB], &r->key, &row, BPF_ANY))
		return -errno;
	fw->config.fib_lens |= 1u << r->name.count;
	return ndnd_config_store(d);
}

void ndnd_route_clear(struct tribd *d, const struct ndnd_route *r)
{
	struct ndnd *fw = d->ndn;

	bpf_map_delete_elem(fw->map[NDND_MAP_FIB], &r->key);
	fw->config.fib_lens = fib_lens(fw);
	ndnd_config_store(d);
}

/* --- at the start */

static bool route_wanted(const struct ndnd *fw, const void *key)
{
	const struct ndnd_route *r;

	TAILQ_FOREACH(r, &fw->routes, link)
		if (!memcmp(&r->key, key, sizeof(r->key)))
			return true;
	return false;
}

static bool right_wanted(struct tribd *d, const void *key)
{
	const struct ndn_right_key *k = key;
	const struct face *f;
	unsigned int i;

	TAILQ_FOREACH(f, &d->faces, link) {
		if (!f->ndn || f->ndn->number != k->face)
			continue;
		for (i = 0; i < f->ndn->n; i++)
			if (key_of(d->ndn, &f->ndn->prefix[i].name) == k->key)
				return true;
	}
	return false;
}

/* Delete unwanted rows. A deleted key would restart the walk, so continue from
 * the one before. */
static void fib_prune(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	uint64_t key, next;
	void *at = NULL;

	while (!bpf_map_get_next_key(fw->map[NDND_MAP_FIB], at, &next)) {
		if (!route_wanted(fw, &next)) {
			if (bpf_map_delete_elem(fw->map[NDND_MAP_FIB], &next))
				return;
			continue;
		}
		key = next;
		at = &key;
	}
}

static void rights_prune(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	struct ndn_right_key key, next;
	void *at = NULL;

	while (!bpf_map_get_next_key(fw->map[NDND_MAP_RIGHTS], at, &next)) {
		if (!right_wanted(d, &next)) {
			if (bpf_map_delete_elem(fw->map[NDND_MAP_RIGHTS], &next))
				return;
			continue;
		}
		key = next;
		at = &key;
	}
}

int ndnd_tables_write(struct tribd *d)
{
	struct ndnd *fw = d->ndn;
	struct face *f;
	struct ndnd_route *r;
	int err = 0;

	TAILQ_FOREACH(f, &d->faces, link)
		if (f->ndn)
			ndnd_rights_store(d, f->ndn->number, NULL, 0, f->ndn->prefix, f->ndn->n);
	rights_prune(d);
	fw->config.fib_lens |= fib_lens(fw);
	TAILQ_FOREACH(r, &fw->routes, link) {
		err = ndnd_route_store(d, r);
		if (err) {
			log_error("ndn: map ndn_fib: %s", strerror(-err));
			return err;
		}
	}
	fib_prune(d);
	fw->config.fib_lens = fib_lens(fw);
	return ndnd_config_store(d);
}
