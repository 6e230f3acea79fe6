/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Look-ups by prefix of the name without its marker: routes, longest first, and
 * the rights of faces.
 */
#ifndef TRIB_BPF_FIB_H
#define TRIB_BPF_FIB_H

#include "ndn_tx.h"

/* ndn_fib_route() - face of the longest prefix that has a route; NDN_FACE_NONE */
__noinline int ndn_fib_route(void)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_route *r;
	__u32 i, n, len;
	__u64 key;

	if (!w || !c)
		return NDN_FACE_NONE;
	n = w->count;
	for (i = 0; i <= TRIB_NDN_COMPONENTS_MAX; i++, n--) {
		if (n > TRIB_NDN_COMPONENTS_MAX)
			break;
		if (!(c->fib_lens >> n & 1))
			continue;
		len = name_at(w, n);
		key = name_key(w, c, len, NDN_MARK_PLAIN);
		r = bpf_map_lookup_elem(&ndn_fib, &key);
		if (r && ndn_name_is(&r->name, len, NDN_MARK_PLAIN))
			return r->face & (NDN_FACES - 1);
	}
	return NDN_FACE_NONE;
}

/* ndn_fib_may() - may the face do @may (enum ndn_may) with the name? */
__noinline int ndn_fib_may(__u32 may)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	struct ndn_right_key key = {};
	struct ndn_right *r;
	struct ndn_face *f;
	__u32 face, lens, n, len;

	if (!w || !c)
		return 0;
	face = w->face;
	f = bpf_map_lookup_elem(&ndn_faces, &face);
	if (!f)
		return 0;
	key.face = face;
	lens = f->right_lens;
	for (n = 0; n <= TRIB_NDN_COMPONENTS_MAX; n++) {
		if (n > w->count || !(lens >> n))
			break;
		if (!(lens >> n & 1))
			continue;
		len = name_at(w, n);
		key.key = name_key(w, c, len, NDN_MARK_PLAIN);
		r = bpf_map_lookup_elem(&ndn_rights, &key);
		if (r && (r->may & may) && ndn_name_is(&r->name, len, NDN_MARK_PLAIN))
			return 1;
	}
	return 0;
}

static __always_inline bool may_subscribe(const struct ndn_work *w)
{
	return (w->flags & NDN_FACE_SUBSCRIBE) || ndn_fib_may(NDN_MAY_SUBSCRIBE);
}

static __always_inline bool may_write(const struct ndn_work *w)
{
	return (w->flags & NDN_FACE_WRITE) || ndn_fib_may(NDN_MAY_WRITE);
}

#endif /* TRIB_BPF_FIB_H */
