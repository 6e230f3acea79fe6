// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the tables of attributes (see schema.h) and the decoder they drive.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <linux/genetlink.h>

#include "uapi/trib.h"
#include "uapi/trib_wire.h"
#include "schema.h"

static const struct schema_attr status_attrs[] = {
	{TRIB_A_STATUS_VERSION, KIND_STRING, "version", false},
	{TRIB_A_STATUS_INSTANCE, KIND_STRING, "instance", false},
	{TRIB_A_STATUS_ABI, KIND_U32, "abi", false},
	{TRIB_A_STATUS_PID, KIND_U32, "pid", false},
	{TRIB_A_STATUS_UPTIME_MS, KIND_U64, "uptime_ms", false},
	{TRIB_A_STATUS_ADOPTED, KIND_BOOL, "adopted", false},
	{TRIB_A_STATUS_NVAL, KIND_U32, "nval", false},
	{TRIB_A_STATUS_SLOTS, KIND_U32, "slots", false},
	{TRIB_A_STATUS_SLOTS_USED, KIND_U32, "slots_used", false},
	{TRIB_A_STATUS_MODULE, KIND_BOOL, "module", false},
	{TRIB_A_STATUS_FACES, KIND_U32, "faces", false},
	{TRIB_A_STATUS_JOBS, KIND_U32, "jobs", false},
	{TRIB_A_STATUS_TREES, KIND_U32, "trees", false},
	{TRIB_A_STATUS_WORKERS, KIND_U32, "workers", false},
	{TRIB_A_STATUS_POOL, KIND_U32, "pool", false},
};

static const struct schema_attr face_attrs[] = {
	{TRIB_A_FACE_NAME, KIND_STRING, "name", false},
	{TRIB_A_FACE_IFNAME, KIND_STRING, "ifname", false},
	{TRIB_A_FACE_IFINDEX, KIND_U32, "ifindex", false},
	{TRIB_A_FACE_ADDR, KIND_ADDR, "addr", false},
	{TRIB_A_FACE_MAC, KIND_MAC, "mac", false},
	{TRIB_A_FACE_PORT, KIND_U16, "port", false},
	{TRIB_A_FACE_LOCAL_ADDR, KIND_ADDR, "local_addr", false},
	{TRIB_A_FACE_VLAN, KIND_U16, "vlan", false},
	{TRIB_A_FACE_VLAN_INNER, KIND_U16, "vlan_inner", false},
	{TRIB_A_FACE_XDP_MODE, KIND_XDP, "xdp_mode", false},
	{TRIB_A_FACE_LOCAL_MAC, KIND_MAC, "local_mac", false},
	{TRIB_A_FACE_MTU, KIND_U32, "mtu", false},
	{TRIB_A_FACE_TREES, KIND_U32, "trees", false},
	{TRIB_A_FACE_REASON, KIND_STRING, "reason", false},
};

static const struct schema_attr job_attrs[] = {
	{TRIB_A_JOB_NAME, KIND_STRING, "name", false},
	{TRIB_A_JOB_ID, KIND_U16, "id", false},
	{TRIB_A_JOB_COOKIE, KIND_HEX, "cookie", false},
	{TRIB_A_JOB_WORLD, KIND_U32, "world", false},
	{TRIB_A_JOB_WINDOW, KIND_U32, "window", false},
	{TRIB_A_JOB_OWNER, KIND_U32, "owner", false},
	{TRIB_A_JOB_TIMEOUT_MS, KIND_U32, "timeout_ms", false},
	{TRIB_A_JOB_RATE, KIND_U64, "rate", false},
	{TRIB_A_JOB_TREES, KIND_U32, "trees", false},
	{TRIB_A_JOB_ATTACHED, KIND_U32, "attached", false},
};

static const struct schema_attr tree_attrs[] = {
	{TRIB_A_TREE_ID, KIND_U16, "id", false},
	{TRIB_A_TREE_JOB, KIND_STRING, "job", false},
	{TRIB_A_TREE_CHILD, KIND_CHILD, "children", true},
	{TRIB_A_TREE_PARENT, KIND_STRING, "parent", false},
	{TRIB_A_TREE_UP_CHILD, KIND_U16, "up_child", false},
	{TRIB_A_TREE_LOCAL, KIND_CHILD, "local", true},
	{TRIB_A_TREE_DOWN, KIND_STRING, "down", true},
	{TRIB_A_TREE_EPOCH, KIND_U32, "epoch", false},
	{TRIB_A_TREE_SLOT0, KIND_U32, "slot0", false},
	{TRIB_A_TREE_SLOTS, KIND_U32, "slots", false},
	{TRIB_A_TREE_GROUP_DOWN, KIND_U32, "group_down", false},
	{TRIB_A_TREE_GROUP_ALL, KIND_U32, "group_all", false},
	{TRIB_A_TREE_GROUP_UP, KIND_U32, "group_up", false},
	{TRIB_A_TREE_JOINED, KIND_BITS, "joined", false},
	{TRIB_A_TREE_RELAY, KIND_U16, "relay", false},
	{TRIB_A_TREE_NEXT, KIND_U16, "next", false},
	{TRIB_A_TREE_WORKERS, KIND_RANKS, "workers", false},
	{TRIB_A_TREE_CAP, KIND_U32, "cap", false},
	{TRIB_A_TREE_AGE_MS, KIND_U32, "age_ms", false},
	{TRIB_A_TREE_HELD, KIND_BOOL, "held", false},
	{TRIB_A_TREE_LIVE, KIND_U16, "live", true},
	{TRIB_A_TREE_PS, KIND_ADDR, "ps", false},
	{TRIB_A_TREE_PS_PORT, KIND_U16, "ps_port", false},
	{TRIB_A_TREE_HOP, KIND_CHILD, "hops", true},
	{TRIB_A_TREE_GROUP, KIND_ADDR, "group", false},
	{TRIB_A_TREE_WEIGHT, KIND_U16, "weight", false},
};

static const struct schema_attr child_attrs[] = {
	{TRIB_A_CHILD_INDEX, KIND_U16, "index", false},
	{TRIB_A_CHILD_FACE, KIND_STRING, "face", false},
	{TRIB_A_CHILD_RANK, KIND_U16, "rank", false},
	{TRIB_A_CHILD_JOINED, KIND_BOOL, "joined", false},
	{TRIB_A_CHILD_SAMPLES, KIND_U64, "samples", false},
	{TRIB_A_CHILD_LAG_NS, KIND_U64, "lag_ns", false},
	{TRIB_A_CHILD_LAST, KIND_U64, "last", false},
	{TRIB_A_CHILD_CHUNK, KIND_U64, "chunk", false},
	{TRIB_A_CHILD_SEEN_MS, KIND_U64, "seen_ms", false},
	{TRIB_A_CHILD_PID, KIND_U32, "pid", false},
	{TRIB_A_CHILD_PORT, KIND_U16, "port", false},
	{TRIB_A_CHILD_RELAY, KIND_U16, "relay", false},
};

static const struct schema_attr group_attrs[] = {
	{TRIB_A_GROUP_ID, KIND_U32, "id", false},
	{TRIB_A_GROUP_TREE, KIND_U16, "tree", false},
	{TRIB_A_GROUP_KIND, KIND_STRING, "kind", false},
	{TRIB_A_GROUP_FACE, KIND_STRING, "faces", true},
};

static const struct schema_attr stat_attrs[] = {
	{TRIB_A_STAT_ID, KIND_U32, "id", false},
	{TRIB_A_STAT_NAME, KIND_STRING, "name", false},
	{TRIB_A_STAT_VALUE, KIND_U64, "value", false},
	{TRIB_A_STAT_TEXT, KIND_STRING, "text", false},
};

static const struct schema_attr ticket_attrs[] = {
	{TRIB_A_TICKET_RANK, KIND_U16, "rank", false},
	{TRIB_A_TICKET_TEXT, KIND_STRING, "ticket", false},
};

static const struct schema_attr module_attrs[] = {
	{TRIB_A_MODULE_VERSION, KIND_STRING, "version", false},
	{TRIB_A_MODULE_API, KIND_U32, "api", false},
	{TRIB_A_MODULE_LEVEL, KIND_STRING, "level", false},
	{TRIB_A_MODULE_FORMATS, KIND_BITS, "formats", false},
	{TRIB_A_MODULE_FPU_BUSY, KIND_BOOL, "fpu_busy", false},
	{TRIB_A_MODULE_CALLS, KIND_U64, "calls", false},
	{TRIB_A_MODULE_FALLBACKS, KIND_U64, "fallbacks", false},
};

static const struct schema_attr kfunc_attrs[] = {
	{TRIB_A_KFUNC_NAME, KIND_STRING, "name", false},
	{TRIB_A_KFUNC_CALLS, KIND_U64, "calls", false},
	{TRIB_A_KFUNC_BYTES, KIND_U64, "bytes", false},
	{TRIB_A_KFUNC_FALLBACKS, KIND_U64, "fallbacks", false},
	{TRIB_A_KFUNC_REFUSED, KIND_U64, "refused", false},
};

static const struct schema_attr event_attrs[] = {
	{TRIB_A_EVENT_KIND, KIND_U32, "kind", false},
	{TRIB_A_EVENT_COUNT, KIND_U64, "count", false},
};

#define SET(top, name, prefix)                                                 \
	{                                                                      \
		top, prefix##__MAX, name##_attrs,                              \
			sizeof(name##_attrs) / sizeof(name##_attrs[0])         \
	}

static const struct schema_set sets[TRIB_A__MAX] = {
	[TRIB_A_UNSPEC] = SET(0, child, TRIB_A_CHILD),
	[TRIB_A_STATUS] = SET(TRIB_A_STATUS, status, TRIB_A_STATUS),
	[TRIB_A_FACE] = SET(TRIB_A_FACE, face, TRIB_A_FACE),
	[TRIB_A_JOB] = SET(TRIB_A_JOB, job, TRIB_A_JOB),
	[TRIB_A_TREE] = SET(TRIB_A_TREE, tree, TRIB_A_TREE),
	[TRIB_A_GROUP] = SET(TRIB_A_GROUP, group, TRIB_A_GROUP),
	[TRIB_A_STAT] = SET(TRIB_A_STAT, stat, TRIB_A_STAT),
	[TRIB_A_TICKET] = SET(TRIB_A_TICKET, ticket, TRIB_A_TICKET),
	[TRIB_A_MODULE] = SET(TRIB_A_MODULE, module, TRIB_A_MODULE),
	[TRIB_A_KFUNC] = SET(TRIB_A_KFUNC, kfunc, TRIB_A_KFUNC),
	[TRIB_A_EVENT] = SET(TRIB_A_EVENT, event, TRIB_A_EVENT),
};

const struct schema_set *schema_set(int top)
{
	return top >= 0 && top < TRIB_A__MAX ? &sets[top] : NULL;
}

json_t *schema_string(const char *s, size_t len)
{
	char *copy = malloc(len + 1);
	json_t *j;
	size_t i;

	if (!copy)
		return NULL;
	memcpy(copy, s, len);
	/* A terminal must not be steered by a name. */
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
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u",
				       at ? "," : "", i);
		if (last > i)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       "-%u", last);
	}
	return json_string(text);
}

static json_t *decode_xdp(uint8_t mode)
{
	static const char *const names[] = {
		[TRIB_XDP_NONE] = "none",
		[TRIB_XDP_NATIVE] = "native",
		[TRIB_XDP_GENERIC] = "generic",
	};

	return json_string(mode <= TRIB_XDP_GENERIC ? names[mode] : "unknown");
}

static int decode_set(const struct schema_set *set, struct nlattr *nest,
		      json_t **out);

/* Bytes that an attribute of this kind has, 0 if that varies. */
static int kind_size(enum schema_kind kind)
{
	switch (kind) {
	case KIND_U8:
	case KIND_BOOL:
	case KIND_XDP:
		return 1;
	case KIND_U16:
		return 2;
	case KIND_U32:
		return 4;
	case KIND_U64:
	case KIND_HEX:
	case KIND_BITS:
		return 8;
	case KIND_MAC:
		return 6;
	case KIND_ADDR:
		return 16;
	case KIND_RANKS:
		return TRIB_BMWORDS_MAX * 8;
	case KIND_STRING:
	case KIND_CHILD:
		break;
	}
	return 0;
}

static int decode_attr(enum schema_kind kind, struct nlattr *nla, json_t **out)
{
	const unsigned char *p = nla_data(nla);
	int size = kind_size(kind), len = nla_len(nla);
	char text[32];
	uint64_t v;

	if (size && len != size)
		return -EINVAL;
	switch (kind) {
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
	case KIND_XDP:
		*out = decode_xdp(nla_get_u8(nla));
		break;
	case KIND_BITS:
		*out = decode_bits(nla_get_u64(nla));
		break;
	case KIND_HEX:
		snprintf(text, sizeof(text), "0x%016llx",
			 (unsigned long long)nla_get_u64(nla));
		*out = json_string(text);
		break;
	case KIND_MAC:
		snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x",
			 p[0], p[1], p[2], p[3], p[4], p[5]);
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
	case KIND_CHILD:
		return decode_set(&sets[TRIB_A_UNSPEC], nla, out);
	}
	return *out ? 0 : -ENOMEM;
}

static const struct schema_attr *find_attr(const struct schema_set *set,
					   int type)
{
	size_t i;

	for (i = 0; i < set->n; i++)
		if (set->attrs[i].attr == type)
			return &set->attrs[i];
	return NULL;
}

static int decode_set(const struct schema_set *set, struct nlattr *nest,
		      json_t **out)
{
	const struct schema_attr *a;
	json_t *obj = json_object(), *val;
	struct nlattr *nla;
	int rem, err = -ENOMEM;
	size_t i;

	if (!obj)
		return err;
	for (i = 0; i < set->n; i++)
		if (set->attrs[i].list &&
		    json_object_set_new(obj, set->attrs[i].key, json_array()))
			goto out;
	nla_for_each_nested(nla, nest, rem) {
		a = find_attr(set, nla_type(nla));
		if (!a)
			continue;
		val = NULL;
		err = decode_attr(a->kind, nla, &val);
		if (err)
			goto out;
		err = a->list ? json_array_append_new(
					json_object_get(obj, a->key), val)
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
			return decode_set(&sets[top], nla, out);
	return -ENOENT;
}
