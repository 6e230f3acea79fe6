// SPDX-License-Identifier: BSD-2-Clause
/* Owns how attributes become JSON: see schema.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/genetlink.h>

#include "base/text.h"
#include "base/dtype.h"
#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "schema.h"

#include "gen/schema_tables.h"

json_t *schema_string(const char *s, size_t len)
{
	char *copy = malloc(len + 1);
	json_t *j;
	size_t i;

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	/* A name must not control the terminal. */
	for (i = 0; i < len; i++)
		if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
			copy[i] = '?';
	j = json_stringn(copy, len);
	if (!j) {
		for (i = 0; i < len; i++)
			if ((unsigned char)copy[i] >= 0x80)
				copy[i] = '?';
		j = json_stringn(copy, len);
	}
	free(copy);
	return j;
}

static json_t *decode_addr(const unsigned char *p)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[INET6_ADDRSTRLEN];

	if (!memcmp(p, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, p + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, p, text, sizeof(text));
	return json_string(text);
}

static json_t *decode_bits(uint64_t bits)
{
	json_t *list = json_array();
	int i;

	for (i = 0; list && i < 64; i++)
		if (bits & (1ULL << i))
			json_array_append_new(list, json_integer(i));
	return list;
}

static bool rank_in(const unsigned char *bits, unsigned int rank)
{
	/* Big-endian words of 64. */
	return bits[rank / 64 * 8 + 7 - rank % 64 / 8] >> rank % 8 & 1;
}

static json_t *decode_ranks(const unsigned char *bits)
{
	char text[4 * TRIB_WORLD_MAX];
	unsigned int i, last;
	size_t at = 0;

	text[0] = '\0';
	for (i = 0; i < TRIB_WORLD_MAX; i = last + 1) {
		last = i;
		if (!rank_in(bits, i))
			continue;
		while (last + 1 < TRIB_WORLD_MAX && rank_in(bits, last + 1))
			last++;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", at ? "," : "", i);
		if (last > i)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "-%u", last);
	}
	return json_string(text);
}

static json_t *decode_word(const char *const *words, uint8_t v)
{
	for (; *words && v; v--)
		words++;
	return json_string(*words ? *words : "unknown");
}

static int decode_set(const struct schema_set *set, struct nlattr *nest, json_t **out);

/* Bytes of an attribute of this kind, 0 if that varies. */
static int kind_size(enum schema_kind kind)
{
	switch (kind) {
	case KIND_U8:
	case KIND_BOOL:
	case KIND_WORD:
	case KIND_DTYPE:
		return 1;
	case KIND_U16:
		return 2;
	case KIND_U32:
		return 4;
	case KIND_U64:
	case KIND_BITS:
		return 8;
	case KIND_MAC:
		return 6;
	case KIND_ADDR:
	case KIND_KEY:
		return 16;
	case KIND_RANKS:
		return TRIB_BMWORDS_MAX * 8;
	case KIND_STRING:
	case KIND_NEST:
		break;
	}
	return 0;
}

static int decode_attr(const struct schema_attr *a, struct nlattr *nla, json_t **out)
{
	const unsigned char *p = nla_data(nla);
	int size = kind_size(a->kind), len = nla_len(nla);
	const char *dtype;
	struct trib_key key;
	char text[40];
	uint64_t v;

	if (size && len != size)
		return -EINVAL;
	switch (a->kind) {
	case KIND_U8:
		*out = json_integer(nla_get_u8(nla));
		break;
	case KIND_U16:
		*out = json_integer(nla_get_u16(nla));
		break;
	case KIND_U32:
		*out = json_integer(nla_get_u32(nla));
		break;
	case KIND_U64:
		v = nla_get_u64(nla);
		*out = json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
		break;
	case KIND_BOOL:
		*out = json_boolean(nla_get_u8(nla));
		break;
	case KIND_WORD:
		*out = decode_word(a->words, nla_get_u8(nla));
		break;
	case KIND_DTYPE:
		dtype = trib_dtype_name(nla_get_u8(nla));
		*out = json_string(dtype ? dtype : "unknown");
		break;
	case KIND_BITS:
		*out = decode_bits(nla_get_u64(nla));
		break;
	case KIND_KEY:
		memcpy(&key, p, sizeof(key));
		*out = json_string(text_key_put(&key, text));
		break;
	case KIND_MAC:
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2],
			 p[3], p[4], p[5]);
		*out = json_string(text);
		break;
	case KIND_ADDR:
		*out = decode_addr(p);
		break;
	case KIND_RANKS:
		*out = decode_ranks(p);
		break;
	case KIND_STRING:
		if (len < 1 || p[len - 1])
			return -EINVAL;
		*out = schema_string((const char *)p, strlen((const char *)p));
		break;
	case KIND_NEST:
		return decode_set(schema_set(TRIB_A_UNSPEC), nla, out);
	}
	return *out ? 0 : -ENOMEM;
}

static const struct schema_attr *find_attr(const struct schema_set *set, int type)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->attrs[i].attr == type)
			return &set->attrs[i];
	return NULL;
}

static int decode_set(const struct schema_set *set, struct nlattr *nest, json_t **out)
{
	const struct schema_attr *a;
	json_t *obj = json_object(), *val;
	struct nlattr *nla;
	int rem, err = -ENOMEM;
	size_t i;

	if (!obj)
		return err;
	for (i = 0; i < set->n; i++)
		if (set->attrs[i].list && json_object_set_new(obj, set->attrs[i].key, json_array()))
			goto out;
	nla_for_each_nested(nla, nest, rem) {
		a = find_attr(set, nla_type(nla));
		if (!a)
			continue;
		val = NULL;
		err = decode_attr(a, nla, &val);
		if (err)
			goto out;
		err = a->list ? json_array_append_new(json_object_get(obj, a->key), val)
			      : json_object_set_new(obj, a->key, val);
		if (err) {
			err = -ENOMEM;
			goto out;
		}
	}
	*out = obj;
	return 0;

out:
	json_decref(obj);
	return err;
}

int schema_decode(const struct nlmsghdr *nlh, int top, json_t **out)
{
	struct nlattr *nla;
	int len = nlmsg_datalen(nlh) - (int)GENL_HDRLEN, rem;
	char *p = (char *)nlmsg_data(nlh) + GENL_HDRLEN;

	if (len < 0)
		return -EINVAL;
	nla_for_each_attr(nla, (struct nlattr *)p, len, rem)
		if (nla_type(nla) == top)
			return decode_set(schema_set(top), nla, out);
	return -ENOENT;
}

const struct schema_set *schema_set(int top)
{
	return top >= 0 && top < TRIB_A__MAX ? &sets[top] : NULL;
}
