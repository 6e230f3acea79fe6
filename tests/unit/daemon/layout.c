// SPDX-License-Identifier: BSD-2-Clause
/* layout.c: rows of two versions have the same members, or the first other one is named. */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "daemon/load/bpf_load.h"
#include "tests/lib/tap.h"

/* Changes of the row, one at a time. */
enum change {
	NOTHING,
	TYPEDEF, /* another name of the same type */
	NAME,	 /* of a member */
	OFFSET,	 /* two members swapped */
	SIZE,	 /* of a member, in what was padding */
	MORE,	 /* a member in the padding */
	LENGTH,	 /* of an array */
	INNER,	 /* a member of a member */
	FLAG,	 /* a value of an enum */
};

static struct btf *row(enum change c, uint32_t *id)
{
	struct btf *b = btf__new_empty();
	int u8 = btf__add_int(b, "__u8", 1, 0), u16 = btf__add_int(b, "__u16", 2, 0);
	int u32 = btf__add_int(b, c == TYPEDEF ? "unsigned int" : "u32", 4, 0);
	int t32 = btf__add_typedef(b, c == TYPEDEF ? "__be32" : "__u32", u32), inner, flags, arr;

	inner = btf__add_struct(b, "peer", 8);
	btf__add_field(b, "addr", t32, 0, 0);
	btf__add_field(b, c == INNER ? "secret" : "rsvd", t32, 32, 0);
	flags = btf__add_enum(b, "flags", 4);
	btf__add_enum_value(b, "USED", 1);
	btf__add_enum_value(b, "ROOT", 2);
	if (c == FLAG)
		btf__add_enum_value(b, "KEYED", 4);
	arr = btf__add_array(b, u32, inner, c == LENGTH ? 1 : 2);
	*id = (uint32_t)btf__add_struct(b, "tree", 28);
	btf__add_field(b, c == NAME ? "secret" : "cookie", t32, c == OFFSET ? 32 : 0, 0);
	btf__add_field(b, "flags", flags, c == OFFSET ? 0 : 32, 0);
	btf__add_field(b, "world", c == SIZE ? u16 : u8, 64, 0);
	if (c == MORE)
		btf__add_field(b, "quota", u8, 80, 0);
	btf__add_field(b, "peer", arr, 96, 0);
	return b;
}

static int compare(enum change have, enum change want, struct reason *why)
{
	uint32_t a, b;
	struct btf *x = row(have, &a), *y = row(want, &b);
	int err = layout_check("trees", x, a, y, b, why);

	btf__free(x);
	btf__free(y);
	return err;
}

static void layout__same_members_fit(void)
{
	struct reason why;

	expect_eq(compare(NOTHING, NOTHING, &why), 0);
	expect_eq(compare(NOTHING, TYPEDEF, &why), 0);
	expect_eq(compare(TYPEDEF, NOTHING, &why), 0);
}

static void layout__first_other_member_is_named(void)
{
	static const struct {
		enum change c;
		const char *at;
	} cases[] = {
		{NAME, "at secret"}, {OFFSET, "at cookie"}, {SIZE, "at world"}, {MORE, "at quota"},
		{LENGTH, "at peer"}, {INNER, "at secret"},  {FLAG, "at KEYED"},
	};
	struct reason why;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		expect_eq(compare(NOTHING, cases[i].c, &why), -EPROTO);
		if (!expect(strstr(why.text, "map trees") && strstr(why.text, cases[i].at)))
			printf("# %s\n", why.text);
		/* And the other way round, by whatever name. */
		expect_eq(compare(cases[i].c, NOTHING, &why), -EPROTO);
	}
}

static void layout__without_types_fits(void)
{
	struct reason why;
	uint32_t a;
	struct btf *x = row(NOTHING, &a);

	expect_eq(layout_check("trees", NULL, 0, x, a, &why), 0);
	expect_eq(layout_check("trees", x, a, x, 0, &why), 0);
	btf__free(x);
}

int main(void)
{
	run(layout__same_members_fit);
	run(layout__first_other_member_is_named);
	run(layout__without_types_fits);
	return tap_done();
}
