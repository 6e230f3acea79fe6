// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses requests: checks every attribute against the table of its set, which
 * scripts/mkspec makes from kmod/trib.yaml.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "daemon/ndn/ndnd.h"
#include "nl.h"

#include "gen/nl_tables.h"

_Static_assert(TRIB_NDN_TEXT_MAX == NDND_TEXT_MAX, "ndn-text-max of trib.yaml");

static int text_check(const struct nl_set *set, const struct nl_attr *a, const struct nlattr *attr,
		      struct reason *why)
{
	const char *s = nla_data(attr);
	int i, len = nla_len(attr);

	if (len < 1 || s[len - 1] || memchr(s, 0, (size_t)len - 1))
		return reason_set(why, -EINVAL, "%s: %s is not a string", set->name, a->name);
	if (len > a->size)
		return reason_set(why, -ENAMETOOLONG, "%s: %s of %d bytes, at most %d: %.40s...",
				  set->name, a->name, len - 1, a->size - 1, s);
	for (i = 0; i < len - 1; i++)
		if (!isprint((unsigned char)s[i]))
			return reason_set(why, -EINVAL, "%s: %s '%s' holds the byte 0x%02x",
					  set->name, a->name, s, (unsigned char)s[i]);
	return 0;
}

static int value_check(const struct nl_set *set, const struct nl_attr *a, const struct nlattr *attr,
		       struct reason *why)
{
	static const uint8_t fixed[] = {
		[NL_U8] = 1,
		[NL_U16] = 2,
		[NL_U32] = 4,
		[NL_U64] = 8,
	};
	int want;

	if (a->kind == NL_NEST)
		return 0; /* the command parses it */
	if (a->kind == NL_TEXT)
		return text_check(set, a, attr, why);
	want = a->kind == NL_BYTES ? a->size : fixed[a->kind];
	if (nla_len(attr) != want)
		return reason_set(why, -EINVAL, "%s: %s has %d bytes, not %d", set->name, a->name,
				  nla_len(attr), want);
	return 0;
}

int nl_parse_set(const struct nl_set *set, const void *data, size_t len,
		 struct nlattr *tb[NL_SET_MAX + 1], struct reason *why)
{
	const struct nlattr *attr = data;
	int rem = (int)len, err;

	memset(tb, 0, sizeof(tb[0]) * (NL_SET_MAX + 1));
	for (; nla_ok(attr, rem); attr = nla_next(attr, &rem)) {
		unsigned int type = (unsigned int)nla_type(attr);
		const struct nl_attr *a;

		if (type > set->max || !set->attr[type].name)
			return reason_set(why, -EINVAL, "%s: unknown attribute %u", set->name,
					  type);
		a = &set->attr[type];
		if (a->read_only)
			return reason_set(why, -EINVAL, "%s: %s is read only", set->name, a->name);
		if (tb[type] && !a->multi)
			return reason_set(why, -EINVAL, "%s: %s is given twice", set->name,
					  a->name);
		err = value_check(set, a, attr, why);
		if (err)
			return err;
		if (!tb[type])
			tb[type] = (struct nlattr *)attr;
	}
	/* Negative if the last attribute has no padding. */
	return rem > 0 ? reason_set(why, -EINVAL, "%s: %d bytes at the end are no attribute",
				    set->name, rem)
		       : 0;
}

int nl_parse_nest(const struct nl_set *set, const struct nlattr *nest,
		  struct nlattr *tb[NL_SET_MAX + 1], struct reason *why)
{
	return nl_parse_set(set, nla_data(nest), (size_t)nla_len(nest), tb, why);
}

int nl_need(const struct nl_set *set, struct nlattr *const *tb, int type, struct reason *why)
{
	return tb[type] ? 0
			: reason_set(why, -EINVAL, "%s: %s is missing", set->name,
				     set->attr[type].name);
}
