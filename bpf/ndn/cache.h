/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The content cache: the last segments of distributions. A key selects the only
 * row for a name; the newest Data replaces the one before.
 */
#ifndef TRIB_BPF_CACHE_H
#define TRIB_BPF_CACHE_H

#include "asks.h"

static __always_inline struct ndn_kept *cache_place(const struct ndn_config *c, __u64 key)
{
	__u32 place = key & (c->ncache - 1);

	return c->ncache ? bpf_map_lookup_elem(&ndn_cache, &place) : NULL;
}

/* ndn_cache_put() - store the Data in hand */
__noinline int ndn_cache_put(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_kept *k;
	__u32 n;

	if (!w || !c)
		return 0;
	k = cache_place(c, w->key);
	n = w->v.packet_len - 1;
	HIDE(n);
	if (!k || n >= NDN_KEEP_MAX || !try_lock(&k->lock))
		return 0;
	ndn_name_copy(&k->name, w->size, w->count, w->mark);
	k->len = 0;
	if (!bpf_xdp_load_bytes(ctx, w->base + w->v.packet_off, k->data, n + 1))
		k->len = n + 1;
	unlock(&k->lock);
	ndn_count(NDN_STAT_KEPT);
	return 0;
}

/*
 * ndn_cache_find() - overwrite the Interest in hand by its answer
 *
 * Return: bytes of the answer; 0: none in the cache; < 0: there is one, but it is
 * longer than the Interest.
 */
__noinline int ndn_cache_find(struct xdp_md *ctx)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_kept *k;
	int rc = 0;
	__u32 n;

	if (!w || !c)
		return 0;
	k = cache_place(c, w->key);
	if (!k || !try_lock(&k->lock))
		return 0;
	n = k->len;
	if (n && ndn_name_is(&k->name, w->size, w->mark)) {
		n--;
		HIDE(n);
		if (n >= NDN_KEEP_MAX || n >= w->len ||
		    bpf_xdp_store_bytes(ctx, w->base, k->data, n + 1))
			rc = -1;
		else
			rc = n + 1;
	}
	unlock(&k->lock);
	return rc;
}

#endif /* TRIB_BPF_CACHE_H */
