// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether a pinned map has the members that our programs expect. The kernel keeps
 * the types of a map's keys and values (BTF), as the tribd that made it had them. So a
 * version that changed a row, and forgot to say so by TRIB_MAPS_ABI, is refused.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpf_load.h"

/* Types of rows are not nested deeper. */
#define DEPTH_MAX 16

static const char *name_at(const struct btf *btf, uint32_t off)
{
	const char *s = btf__name_by_offset(btf, off);

	return s ? s : "";
}

static bool same(const struct btf *a, uint32_t ida, const struct btf *b, uint32_t idb, int depth,
		 const char **where);

static bool members_same(const struct btf *a, const struct btf_type *ta, const struct btf *b,
			 const struct btf_type *tb, int depth, const char **where)
{
	const struct btf_member *ma = btf_members(ta), *mb = btf_members(tb);
	unsigned int i, n = btf_vlen(ta);

	for (i = 0; i < n && i < btf_vlen(tb); i++) {
		const char *name = name_at(b, mb[i].name_off);

		/* Members of a member say more than its name. */
		if (strcmp(name_at(a, ma[i].name_off), name) || ma[i].offset != mb[i].offset ||
		    !same(a, ma[i].type, b, mb[i].type, depth + 1, where)) {
			if (!*where)
				*where = *name ? name : "?";
			return false;
		}
	}
	if (n == btf_vlen(tb) && ta->size == tb->size)
		return true;
	*where = i < btf_vlen(tb) ? name_at(b, mb[i].name_off)
		 : i < n	  ? name_at(a, ma[i].name_off)
				  : name_at(b, tb->name_off);
	return false;
}

static bool enums_same(const struct btf *a, const struct btf_type *ta, const struct btf *b,
		       const struct btf_type *tb, const char **where)
{
	const struct btf_enum *ea = btf_enum(ta), *eb = btf_enum(tb);
	unsigned int i;

	for (i = 0; i < btf_vlen(ta) && i < btf_vlen(tb); i++)
		if (ea[i].val != eb[i].val ||
		    strcmp(name_at(a, ea[i].name_off), name_at(b, eb[i].name_off)))
			break;
	if (i == btf_vlen(ta) && i == btf_vlen(tb) && ta->size == tb->size)
		return true;
	*where = i < btf_vlen(tb)   ? name_at(b, eb[i].name_off)
		 : i < btf_vlen(ta) ? name_at(a, ea[i].name_off)
				    : name_at(b, tb->name_off);
	return false;
}

static bool arrays_same(const struct btf *a, const struct btf_type *ta, const struct btf *b,
			const struct btf_type *tb, int depth, const char **where)
{
	const struct btf_array *ra = btf_array(ta), *rb = btf_array(tb);

	return ra->nelems == rb->nelems && same(a, ra->type, b, rb->type, depth + 1, where);
}

/* Names of typedefs do not matter. */
static bool same(const struct btf *a, uint32_t ida, const struct btf *b, uint32_t idb, int depth,
		 const char **where)
{
	int ra = btf__resolve_type(a, ida), rb = btf__resolve_type(b, idb);
	const struct btf_type *ta = ra < 0 ? NULL : btf__type_by_id(a, (uint32_t)ra);
	const struct btf_type *tb = rb < 0 ? NULL : btf__type_by_id(b, (uint32_t)rb);

	if (!ta || !tb || depth > DEPTH_MAX || btf_kind(ta) != btf_kind(tb))
		return false;
	switch (btf_kind(ta)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members_same(a, ta, b, tb, depth, where);
	case BTF_KIND_ARRAY:
		return arrays_same(a, ta, b, tb, depth, where);
	case BTF_KIND_ENUM:
		return enums_same(a, ta, b, tb, where);
	default:
		return ta->size == tb->size;
	}
}

int layout_check(const char *name, const struct btf *have, uint32_t have_id, const struct btf *want,
		 uint32_t want_id, struct reason *why)
{
	const char *where = NULL;

	if (!have_id || !want_id || same(have, have_id, want, want_id, 0, &where))
		return 0;
	return reason_set(why, -EPROTO, "rows of map %s differ at %s", name, where ? where : "?");
}

int adopt_layout_check(const struct bpf_object *obj, const struct bpf_map *m,
		       const struct bpf_map_info *have, struct reason *why)
{
	const struct btf *want = bpf_object__btf(obj);
	struct btf *btf;
	int err;

	/* The kernel keeps no types of maps of maps, of programs, or of devices. */
	if (!have->btf_id || !want)
		return 0;
	btf = btf__load_from_kernel_by_id(have->btf_id);
	if (!btf)
		return reason_set(why, -errno, "types of map %s: %s", bpf_map__name(m),
				  strerror(errno));
	err = layout_check(bpf_map__name(m), btf, have->btf_key_type_id, want,
			   bpf_map__btf_key_type_id(m), why);
	if (!err)
		err = layout_check(bpf_map__name(m), btf, have->btf_value_type_id, want,
				   bpf_map__btf_value_type_id(m), why);
	btf__free(btf);
	return err;
}
