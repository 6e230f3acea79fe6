// SPDX-License-Identifier: BSD-2-Clause
/*
 * The plain attributes of a face. A new one needs a member of the same name in
 * struct face_spec and struct face, and a row here.
 */
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "base/text.h"
#include "daemon/core/value.h"
#include "face_attr.h"

enum type { TEXT, ADDR, MAC, KEY, U8, U16, U32 };

/**
 * struct attr - one attribute
 * @nl:    enum trib_face_attr.
 * @json:  key in the state file; NULL: not set by an operator, not saved.
 * @place: 1 or 2: first or second element of an array under @json; 0: no array.
 * @spec:  offset in struct face_spec.
 * @face:  offset in struct face; 0: no member.
 * @given_spec, @given_face: offset of a flag: the operator set it. It is not
 *         saved otherwise. 0: always set.
 * @port:  offset in struct port, in place of @face.
 * @known: offset of a flag in struct face: the value is known. 0: always.
 * @get:   the value to show, in place of @face; NULL: not known now.
 * @skip0: a value of all zeros is not shown.
 * @range: a request must not hold 0; the range that the error names.
 * @set:   `face set` may change it.
 *
 * A KEY is never shown. Zeros take it away.
 */
struct attr {
	uint8_t nl;
	uint8_t type;
	uint16_t size;
	const char *json;
	uint8_t place;
	uint16_t spec;
	uint16_t face;
	uint16_t given_spec;
	uint16_t given_face;
	uint16_t port;
	uint16_t known;
	const void *(*get)(const struct face *f);
	bool skip0;
	const char *range;
	bool set;
};

static const void *get_local_mac(const struct face *f)
{
	return f->l3_ifindex ? f->local_mac : NULL;
}

static const void *get_reason(const struct face *f)
{
	return f->port->reason[0] ? f->port->reason : NULL;
}

static const void *get_neighbour(const struct face *f)
{
	return f->watch_given ? &f->neighbour : NULL;
}

#define SPEC(m) .spec = offsetof(struct face_spec, m), .size = sizeof(((struct face_spec *)0)->m)
#define BOTH(m) SPEC(m), .face = offsetof(struct face, m)
#define PORT(m) .port = offsetof(struct port, m)
#define KNOWN(m) .known = offsetof(struct face, m)
#define GIVEN(m) .given_spec = offsetof(struct face_spec, m), .given_face = offsetof(struct face, m)

static const struct attr table[] = {
	{TRIB_A_FACE_NAME, TEXT, .json = "name", BOTH(name)},
	{TRIB_A_FACE_IFNAME, TEXT, .json = "dev", SPEC(ifname), PORT(ifname)},
	{TRIB_A_FACE_IFINDEX, U32, PORT(ifindex)},
	{TRIB_A_FACE_PORT, U16, .json = "port", BOTH(udp_port), .range = "1 to 65535"},
	{TRIB_A_FACE_XDP_MODE, U8, PORT(mode)},
	{TRIB_A_FACE_MTU, U32, PORT(mtu)},
	{TRIB_A_FACE_TREES, U32, .face = offsetof(struct face, trees)},
	{TRIB_A_FACE_ADDR, ADDR, .json = "addr", BOTH(addr), .skip0 = true},
	{TRIB_A_FACE_MAC, MAC, .json = "mac", BOTH(mac), GIVEN(mac_given), KNOWN(mac_known)},
	{TRIB_A_FACE_LOCAL_ADDR, ADDR, .json = "local", BOTH(local), GIVEN(local_given),
	 KNOWN(local_known)},
	{TRIB_A_FACE_LOCAL_MAC, MAC, .get = get_local_mac},
	{TRIB_A_FACE_VLAN, U16, .json = "vlan", .place = 1, BOTH(vlan[0]), .skip0 = true,
	 .range = "1 to 4094"},
	{TRIB_A_FACE_VLAN_INNER, U16, .json = "vlan", .place = 2, BOTH(vlan[1]), .skip0 = true,
	 .range = "1 to 4094"},
	{TRIB_A_FACE_COMMENT, TEXT, .json = "comment", BOTH(comment), .skip0 = true, .set = true},
	{TRIB_A_FACE_FORWARD, U8, .json = "forward", BOTH(forward), .skip0 = true, .set = true},
	{TRIB_A_FACE_WATCH, KEY, .json = "watch", BOTH(watch), GIVEN(watch_given), .set = true},
	{TRIB_A_FACE_NEIGHBOUR, U8, .get = get_neighbour},
	{TRIB_A_FACE_REATTACHED, U32, PORT(reattached), .size = 4, .skip0 = true},
	{TRIB_A_FACE_REASON, TEXT, .get = get_reason},
};

#define TABLE_END (table + sizeof(table) / sizeof(table[0]))

static bool is_zero(const void *p, size_t n)
{
	const uint8_t *b = p;

	while (n && !b[n - 1])
		n--;
	return !n;
}

/* --- netlink */

int face_attr_parse(struct nlattr *const *tb, struct face_spec *s, struct reason *why)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++) {
		struct nlattr *nla = tb[a->nl];
		char *to = (char *)s + a->spec;

		if (!nla || !a->json)
			continue;
		if (a->type == TEXT)
			nla_strlcpy(to, nla, a->size);
		else
			nla_memcpy(to, nla, a->size);
		if (a->given_spec)
			*((bool *)s + a->given_spec) = a->type != KEY || !is_zero(to, a->size);
		if (a->range && is_zero(to, a->size))
			return reason_set(why, -ERANGE, "%s 0: %s", a->json, a->range);
	}
	return 0;
}

static const void *member_of(const struct attr *a, const struct face *f)
{
	return a->port ? (const char *)f->port + a->port : (const char *)f + a->face;
}

/* The value of @f to show; NULL: not known now. */
static const void *value_of(const struct attr *a, const struct face *f)
{
	if (a->type == KEY)
		return NULL;
	if (a->get)
		return a->get(f);
	if (a->known && !*((const bool *)f + a->known))
		return NULL;
	return member_of(a, f);
}

static int put_one(const struct attr *a, const void *v, struct nl_msg *m)
{
	switch (a->type) {
	case TEXT:
		return nla_put_string(m, a->nl, v);
	case ADDR:
		return nla_put(m, a->nl, sizeof(struct in6_addr), v);
	case MAC:
		return nla_put(m, a->nl, 6, v);
	case U8:
		return nla_put_u8(m, a->nl, *(const uint8_t *)v);
	case U16:
		return nla_put_u16(m, a->nl, *(const uint16_t *)v);
	default:
		return nla_put_u32(m, a->nl, *(const uint32_t *)v);
	}
}

int face_attr_put(const struct face *f, struct nl_msg *m)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++) {
		const void *v = value_of(a, f);

		if (v && !(a->skip0 && is_zero(v, a->size)) && put_one(a, v, m))
			return -EMSGSIZE;
	}
	return 0;
}

/* --- the state file */

static bool load_one(const struct attr *a, const json_t *o, void *to)
{
	const char *text = value_text(o, a->json);
	const json_t *number = json_object_get(o, a->json);
	uint16_t v;

	if (a->place)
		number = json_array_get(number, a->place - 1u);
	switch (a->type) {
	case TEXT:
		if (strlen(text) >= a->size)
			return false;
		strcpy(to, text);
		return true;
	case ADDR:
		return addr_parse(text, to);
	case MAC:
		return value_mac(text, to);
	case KEY:
		return !text_key(text, to);
	case U8:
		*(uint8_t *)to = (uint8_t)value_clamp(number, UINT8_MAX);
		return true;
	default:
		v = (uint16_t)value_clamp(number, UINT16_MAX);
		memcpy(to, &v, sizeof(v));
		return true;
	}
}

int face_attr_load(const json_t *o, struct face_spec *s, struct reason *why)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++) {
		bool ok;

		if (!a->json || (a->given_spec && !json_object_get(o, a->json)))
			continue;
		ok = load_one(a, o, (char *)s + a->spec);
		if (a->given_spec)
			*((bool *)s + a->given_spec) = ok;
		else if (!ok)
			return reason_set(why, -EPROTO, "a face's %s", a->json);
	}
	return 0;
}

static json_t *pack_one(const struct attr *a, const void *v)
{
	char text[INET6_ADDRSTRLEN];

	switch (a->type) {
	case TEXT:
		return json_string(v);
	case ADDR:
		return json_string(addr_text(v, text));
	case MAC:
		return value_mac_pack(v);
	case KEY:
		return value_key_pack(v);
	case U8:
		return json_integer(*(const uint8_t *)v);
	default:
		return json_integer(*(const uint16_t *)v);
	}
}

json_t *face_attr_pack(const struct face *f)
{
	json_t *o = json_object(), *v;
	const struct attr *a;
	int err = 0;

	for (a = table; a < TABLE_END; a++) {
		if (!a->json || (a->given_face && !*((const bool *)f + a->given_face)))
			continue;
		v = pack_one(a, member_of(a, f));
		if (a->place == 1)
			err |= json_object_set_new(o, a->json, json_array());
		if (a->place)
			err |= json_array_append_new(json_object_get(o, a->json), v);
		else
			err |= json_object_set_new(o, a->json, v);
	}
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

/* --- faces */

static void copy_one(const struct attr *a, struct face *f, const struct face_spec *s)
{
	if (!a->json || !a->face)
		return;
	memcpy((char *)f + a->face, (const char *)s + a->spec, a->size);
	if (a->given_face)
		*((bool *)f + a->given_face) = *((const bool *)s + a->given_spec);
}

void face_attr_copy(struct face *f, const struct face_spec *s)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++)
		copy_one(a, f, s);
}

void face_attr_change(struct face *f, const struct face_spec *s, struct nlattr *const *tb)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++)
		if (a->set && tb[a->nl])
			copy_one(a, f, s);
}

bool face_attr_can_change(int nl)
{
	const struct attr *a;

	for (a = table; a < TABLE_END; a++)
		if (a->nl == nl)
			return a->set;
	return false;
}
