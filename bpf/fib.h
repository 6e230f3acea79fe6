/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of prefixes of names: routes, longest prefix first, and the
 * rights of faces. Both are by the name without its marker.
 */
#ifndef TRIB_BPF_FIB_H
#define TRIB_BPF_FIB_H

#include "names_tx.h"

/* fib_route() - face of the longest prefix that has a route; NAMES_NOBODY */
__noinline int fib_route(void)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	struct names_route *r;
	__u32 i, n, len;
	__u64 key;

	if (!w || !c)
		return NAMES_NOBODY;
	n = w->count;
	for (i = 0; i <= TRIB_NDN_COMPONENTS_MAX; i++, n--) {
		if (n > TRIB_NDN_COMPONENTS_MAX)
			break;
		if (!(c->fib_lens >> n & 1))
			continue;
		len = name_at(w, n);
		key = name_key(w, c, len, NAMES_PLAIN);
		r = bpf_map_lookup_elem(&names_fib, &key);
		if (r && name_is(&r->name, len, NAMES_PLAIN))
			return r->face & (NAMES_FACES - 1);
	}
	return NAMES_NOBODY;
}

/* fib_may() - may the face do @may (enum names_may) with the name? */
__noinline int fib_may(__u32 may)
{
	const struct names_config *c = names_conf();
	struct names_work *w = names_work();
	struct names_right_key key = {};
	struct names_right *r;
	struct names_face *f;
	__u32 face, lens, n, len;

	if (!w || !c)
		return 0;
	face = w->face;
	f = bpf_map_lookup_elem(&names_faces, &face);
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
		key.key = name_key(w, c, len, NAMES_PLAIN);
		r = bpf_map_lookup_elem(&names_rights, &key);
		if (r && (r->may & may) && name_is(&r->name, len, NAMES_PLAIN))
			return 1;
	}
	return 0;
}

static __always_inline bool may_subscribe(const struct names_work *w)
{
	return (w->flags & NAMES_FACE_SUBSCRIBE) ||
	       fib_may(NAMES_MAY_SUBSCRIBE);
}

static __always_inline bool may_write(const struct names_work *w)
{
	return (w->flags & NAMES_FACE_WRITE) || fib_may(NAMES_MAY_WRITE);
}

#endif /* TRIB_BPF_FIB_H */
