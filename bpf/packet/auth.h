/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Secrets and authenticators (uapi/trib_auth.h). Data packets cost a compare when they
 * come and a store when they leave; the hash is for the few others, out of line.
 */
#ifndef TRIB_BPF_AUTH_H
#define TRIB_BPF_AUTH_H

#include "lock.h"
#include "maps.h"
#include "packet.h"

/* In place of a child's index: the parent. */
#define FROM_PARENT TRIB_CHILDREN_MAX

/* Find our header in front of offset @off; NULL if the frame is too short. */
static __always_inline struct trib_hdr *auth_header(struct xdp_md *ctx, __u32 off)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct trib_hdr *h;

	off -= sizeof(*h);
	HIDE(off);
	off &= PKT_OFF_MASK;
	h = data + off;
	return (void *)(h + 1) <= end ? h : NULL;
}

/* Compute the authenticator of a packet without values: header and bitmap. */
static __always_inline __be64 auth_of(struct xdp_md *ctx, const struct trib_hdr *h,
				      const struct trib_key *key)
{
	void *end = (void *)(long)ctx->data_end;
	const __u64 *q = (const void *)(h + 1);
	__u32 i, n = h->bmwords;
	struct trib_sip s;

	trib_auth_begin(&s, key, h);
#pragma clang loop unroll(disable)
	for (i = 0; i < TRIB_BMWORDS_MAX; i++, q++) {
		HIDE(q);
		if (i >= n || (void *)(q + 1) > end)
			break;
		trib_sip_word(&s, *q);
	}
	return trib_auth_end(&s, 8 * i);
}

/**
 * auth_sign() - write the authenticator of a packet that leaves
 * @off: offset behind our header, which is complete.
 */
__noinline int auth_sign(struct xdp_md *ctx, __u32 off, struct trib_key *key)
{
	struct trib_hdr *h = auth_header(ctx, off);

	if (h && key)
		store64(&h->auth, auth_of(ctx, h, key));
	return 0;
}

/**
 * control_admit() - check authenticator and number of a control packet of a neighbour
 * @off: offset behind our header.
 * @who: child that it comes from, or FROM_PARENT.
 *
 * Return: 0, or the reason to drop.
 */
__noinline int control_admit(struct xdp_md *ctx, __u32 off, __u32 tree, __u32 who)
{
	struct trib_count *c = bpf_map_lookup_elem(&counts, &tree);
	struct trib_tree *t = bpf_map_lookup_elem(&trees, &tree);
	struct trib_hdr *h = auth_header(ctx, off);
	const struct trib_key *key;
	struct trib_window *w;
	int fresh;

	if (!h)
		return TRIB_DROP_SHORT;
	if (!t || !c)
		return TRIB_DROP_TREE;
	key = &t->parent.key;
	w = &c->parent;
	if (who < TRIB_CHILDREN_MAX) {
		HIDE(who);
		key = &t->child[who & (TRIB_CHILDREN_MAX - 1)].key;
		w = &c->child[who & (TRIB_CHILDREN_MAX - 1)];
	}
	if (auth_of(ctx, h, key) != load64(&h->auth))
		return TRIB_DROP_AUTH;
	if (!try_lock(&w->busy))
		return TRIB_DROP_BUSY;
	fresh = trib_replay_take(&w->r, bpf_ntohl(load32(&h->epoch)), bpf_ntohl(load32(&h->scale)));
	unlock(&w->busy);
	return fresh ? 0 : TRIB_DROP_REPLAY;
}

/* Number of the next control packet that we send in @tree, as on the wire. */
static __always_inline __be32 control_number(__u32 tree)
{
	struct trib_count *c = bpf_map_lookup_elem(&counts, &tree);

	return c ? bpf_htonl(__sync_fetch_and_add(&c->sent, 1) + 1) : 0;
}

#endif /* TRIB_BPF_AUTH_H */
