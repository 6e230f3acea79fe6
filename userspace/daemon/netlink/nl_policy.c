// SPDX-License-Identifier: BSD-2-Clause
/*
 * What attributes may look like: one table for each set of uapi/trib.h, and
 * the parser that holds every request against them. trib.yaml says the same;
 * a test compares.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "daemon/ndn/forwarder.h"
#include "nl.h"

/* clang-format off */
#define U8(n)		{ .name = n, .kind = NL_U8 }
#define U16(n)		{ .name = n, .kind = NL_U16 }
#define U16S(n)		{ .name = n, .kind = NL_U16, .multi = true }
#define U32(n)		{ .name = n, .kind = NL_U32 }
#define U64(n)		{ .name = n, .kind = NL_U64 }
#define TEXT(n, max)	{ .name = n, .kind = NL_TEXT, .size = max }
#define TEXTS(n, max)	{ .name = n, .kind = NL_TEXT, .size = max, .multi = true }
#define BYTES(n, len)	{ .name = n, .kind = NL_BYTES, .size = len }
#define NEST(n, set)	{ .name = n, .kind = NL_NEST, .nest = &set }
#define NESTS(n, set)	{ .name = n, .kind = NL_NEST, .nest = &set, .multi = true }
/* What only answers hold. */
#define READ(n, k, len)	{ .name = n, .kind = k, .size = len, .read_only = true }
#define R_U8(n)		READ(n, NL_U8, 0)
#define R_U16(n)	READ(n, NL_U16, 0)
#define R_U32(n)	READ(n, NL_U32, 0)
#define R_U64(n)	READ(n, NL_U64, 0)
#define R_TEXT(n, max)	READ(n, NL_TEXT, max)
#define R_BYTES(n, len)	READ(n, NL_BYTES, len)
#define R_TEXTS(n, max)	{ .name = n, .kind = NL_TEXT, .size = max, .read_only = true, \
			  .multi = true }
/* clang-format on */

#define SET(var, title, table)                                                 \
	const struct nl_set var = {title, table,                               \
				   sizeof(table) / sizeof(table[0]) - 1}

static const struct nl_attr top_attr[TRIB_A__MAX] = {
	[TRIB_A_STATUS] = NEST("status", nl_status),
	[TRIB_A_FACE] = NEST("face", nl_face),
	[TRIB_A_JOB] = NEST("job", nl_job),
	[TRIB_A_TREE] = NEST("tree", nl_tree),
	[TRIB_A_GROUP] = NEST("group", nl_group),
	[TRIB_A_STAT] = NEST("stat", nl_stat),
	[TRIB_A_TICKET] = NEST("ticket", nl_ticket),
	[TRIB_A_NDN] = NEST("ndn", nl_ndn),
	[TRIB_A_ROUTE] = NEST("route", nl_route),
	[TRIB_A_PIT] = NEST("pit", nl_pit),
	[TRIB_A_CS] = NEST("cs", nl_cs),
};
SET(nl_top, "trib", top_attr);

static const struct nl_attr status_attr[TRIB_A_STATUS__MAX] = {
	[TRIB_A_STATUS_VERSION] = R_TEXT("version", 32),
	[TRIB_A_STATUS_INSTANCE] = R_TEXT("instance", 128),
	[TRIB_A_STATUS_ABI] = R_U32("abi"),
	[TRIB_A_STATUS_PID] = R_U32("pid"),
	[TRIB_A_STATUS_UPTIME_MS] = R_U64("uptime-ms"),
	[TRIB_A_STATUS_ADOPTED] = R_U8("adopted"),
	[TRIB_A_STATUS_NVAL] = R_U32("nval"),
	[TRIB_A_STATUS_SLOTS] = R_U32("slots"),
	[TRIB_A_STATUS_SLOTS_USED] = R_U32("slots-used"),
	[TRIB_A_STATUS_MODULE] = R_U8("module"),
	[TRIB_A_STATUS_FACES] = R_U32("faces"),
	[TRIB_A_STATUS_JOBS] = R_U32("jobs"),
	[TRIB_A_STATUS_TREES] = R_U32("trees"),
	[TRIB_A_STATUS_WORKERS] = R_U32("workers"),
	[TRIB_A_STATUS_POOL] = R_U32("pool"),
};
SET(nl_status, "status", status_attr);

static const struct nl_attr face_attr[TRIB_A_FACE__MAX] = {
	[TRIB_A_FACE_NAME] = TEXT("name", TRIB_NAME_MAX),
	[TRIB_A_FACE_IFNAME] = TEXT("ifname", IF_NAMESIZE),
	[TRIB_A_FACE_IFINDEX] = R_U32("ifindex"),
	[TRIB_A_FACE_ADDR] = BYTES("addr", 16),
	[TRIB_A_FACE_MAC] = BYTES("mac", 6),
	[TRIB_A_FACE_PORT] = U16("port"),
	[TRIB_A_FACE_LOCAL_ADDR] = BYTES("local-addr", 16),
	[TRIB_A_FACE_VLAN] = U16("vlan"),
	[TRIB_A_FACE_VLAN_INNER] = U16("vlan-inner"),
	[TRIB_A_FACE_XDP_MODE] = R_U8("xdp-mode"),
	[TRIB_A_FACE_LOCAL_MAC] = R_BYTES("local-mac", 6),
	[TRIB_A_FACE_MTU] = R_U32("mtu"),
	[TRIB_A_FACE_TREES] = R_U32("trees"),
	[TRIB_A_FACE_REASON] = R_TEXT("reason", 256),
	[TRIB_A_FACE_NDN] = U8("ndn"),
	[TRIB_A_FACE_NDN_PORT] = U16("ndn-port"),
	[TRIB_A_FACE_NDN_SUBSCRIBE] = TEXTS("ndn-subscribe", NDN_TEXT_MAX),
	[TRIB_A_FACE_NDN_WRITE] = TEXTS("ndn-write", NDN_TEXT_MAX),
	[TRIB_A_FACE_NDN_NUMBER] = R_U32("ndn-number"),
};
SET(nl_face, "face", face_attr);

static const struct nl_attr job_attr[TRIB_A_JOB__MAX] = {
	[TRIB_A_JOB_NAME] = TEXT("name", TRIB_NAME_MAX),
	[TRIB_A_JOB_ID] = U16("id"),
	[TRIB_A_JOB_COOKIE] = U64("cookie"),
	[TRIB_A_JOB_WORLD] = U32("world"),
	[TRIB_A_JOB_WINDOW] = U32("window"),
	[TRIB_A_JOB_OWNER] = U32("owner"),
	[TRIB_A_JOB_TIMEOUT_MS] = U32("timeout-ms"),
	[TRIB_A_JOB_RATE] = U64("rate"),
	[TRIB_A_JOB_TREES] = R_U32("trees"),
	[TRIB_A_JOB_ATTACHED] = R_U32("attached"),
	[TRIB_A_JOB_FMT] = U8("fmt"),
};
SET(nl_job, "job", job_attr);

static const struct nl_attr tree_attr[TRIB_A_TREE__MAX] = {
	[TRIB_A_TREE_ID] = U16("id"),
	[TRIB_A_TREE_JOB] = TEXT("job", TRIB_NAME_MAX),
	[TRIB_A_TREE_CHILD] = NESTS("child", nl_child),
	[TRIB_A_TREE_PARENT] = TEXT("parent", TRIB_NAME_MAX),
	[TRIB_A_TREE_UP_CHILD] = U16("up-child"),
	[TRIB_A_TREE_LOCAL] = NESTS("local", nl_child),
	[TRIB_A_TREE_DOWN] = TEXTS("down", TRIB_NAME_MAX),
	[TRIB_A_TREE_EPOCH] = R_U32("epoch"),
	[TRIB_A_TREE_SLOT0] = R_U32("slot0"),
	[TRIB_A_TREE_SLOTS] = R_U32("slots"),
	[TRIB_A_TREE_GROUP_DOWN] = R_U32("group-down"),
	[TRIB_A_TREE_GROUP_ALL] = R_U32("group-all"),
	[TRIB_A_TREE_GROUP_UP] = R_U32("group-up"),
	[TRIB_A_TREE_JOINED] = R_U64("joined"),
	[TRIB_A_TREE_RELAY] = U16("relay"),
	[TRIB_A_TREE_NEXT] = U16("next"),
	[TRIB_A_TREE_WORKERS] = BYTES("workers", TRIB_BMWORDS_MAX * 8),
	[TRIB_A_TREE_CAP] = U32("cap"),
	[TRIB_A_TREE_AGE_MS] = U32("age-ms"),
	[TRIB_A_TREE_HELD] = U8("held"),
	[TRIB_A_TREE_LIVE] = U16S("live"),
	[TRIB_A_TREE_PS] = BYTES("ps", 16),
	[TRIB_A_TREE_PS_PORT] = U16("ps-port"),
	[TRIB_A_TREE_HOP] = NESTS("hop", nl_child),
	[TRIB_A_TREE_GROUP] = BYTES("group", 16),
	[TRIB_A_TREE_WEIGHT] = U16("weight"),
};
SET(nl_tree, "tree", tree_attr);

static const struct nl_attr child_attr[TRIB_A_CHILD__MAX] = {
	[TRIB_A_CHILD_INDEX] = U16("index"),
	[TRIB_A_CHILD_FACE] = TEXT("face", TRIB_NAME_MAX),
	[TRIB_A_CHILD_RANK] = U16("rank"),
	[TRIB_A_CHILD_JOINED] = R_U8("joined"),
	[TRIB_A_CHILD_SAMPLES] = R_U64("samples"),
	[TRIB_A_CHILD_LAG_NS] = R_U64("lag-ns"),
	[TRIB_A_CHILD_LAST] = R_U64("last"),
	[TRIB_A_CHILD_CHUNK] = R_U64("chunk"),
	[TRIB_A_CHILD_SEEN_MS] = R_U64("seen-ms"),
	[TRIB_A_CHILD_PID] = R_U32("pid"),
	[TRIB_A_CHILD_PORT] = U16("port"),
	[TRIB_A_CHILD_RELAY] = U16("relay"),
};
SET(nl_child, "child", child_attr);

static const struct nl_attr group_attr[TRIB_A_GROUP__MAX] = {
	[TRIB_A_GROUP_ID] = U32("id"),
	[TRIB_A_GROUP_TREE] = R_U16("tree"),
	[TRIB_A_GROUP_KIND] = R_TEXT("kind", 8),
	[TRIB_A_GROUP_FACE] = R_TEXTS("face", TRIB_NAME_MAX),
};
SET(nl_group, "group", group_attr);

static const struct nl_attr stat_attr[TRIB_A_STAT__MAX] = {
	[TRIB_A_STAT_ID] = R_U32("id"),
	[TRIB_A_STAT_NAME] = R_TEXT("name", 32),
	[TRIB_A_STAT_VALUE] = R_U64("value"),
	[TRIB_A_STAT_TEXT] = R_TEXT("text", 128),
};
SET(nl_stat, "stat", stat_attr);

static const struct nl_attr ticket_attr[TRIB_A_TICKET__MAX] = {
	[TRIB_A_TICKET_RANK] = U16("rank"),
	[TRIB_A_TICKET_TEXT] = R_TEXT("text", 4096),
};
SET(nl_ticket, "ticket", ticket_attr);

static const struct nl_attr ndn_attr[TRIB_A_NDN__MAX] = {
	[TRIB_A_NDN_ENTRIES] = R_U32("entries"),
	[TRIB_A_NDN_ENTRIES_USED] = R_U32("entries-used"),
	[TRIB_A_NDN_CACHE] = R_U32("cache"),
	[TRIB_A_NDN_CACHE_USED] = R_U32("cache-used"),
	[TRIB_A_NDN_ROUTES] = R_U32("routes"),
	[TRIB_A_NDN_LEASE_MS] = U32("lease-ms"),
	[TRIB_A_NDN_LEAVE_MS] = U32("leave-ms"),
	[TRIB_A_NDN_MARK_INSERT] = TEXT("mark-insert", 64),
	[TRIB_A_NDN_MARK_DISTRIBUTE] = TEXT("mark-distribute", 64),
	[TRIB_A_NDN_MARK_DELETE] = TEXT("mark-delete", 64),
};
SET(nl_ndn, "ndn", ndn_attr);

static const struct nl_attr route_attr[TRIB_A_ROUTE__MAX] = {
	[TRIB_A_ROUTE_PREFIX] = TEXT("prefix", NDN_TEXT_MAX),
	[TRIB_A_ROUTE_FACE] = TEXT("face", TRIB_NAME_MAX),
};
SET(nl_route, "route", route_attr);

static const struct nl_attr pit_attr[TRIB_A_PIT__MAX] = {
	[TRIB_A_PIT_NAME] = TEXT("name", NDN_TEXT_MAX),
	[TRIB_A_PIT_UP] = R_TEXT("up", TRIB_NAME_MAX),
	[TRIB_A_PIT_FACE] = R_TEXTS("face", TRIB_NAME_MAX),
	[TRIB_A_PIT_STATE] = R_U8("state"),
	[TRIB_A_PIT_ACKED_MS] = R_U64("acked-ms"),
	[TRIB_A_PIT_VERSION] = R_U64("version"),
	[TRIB_A_PIT_SEGMENT] = R_U64("segment"),
	[TRIB_A_PIT_TAKEN_MS] = R_U64("taken-ms"),
};
SET(nl_pit, "pit", pit_attr);

static const struct nl_attr cs_attr[TRIB_A_CS__MAX] = {
	[TRIB_A_CS_NAME] = TEXT("name", NDN_TEXT_MAX),
	[TRIB_A_CS_BYTES] = R_U32("bytes"),
};
SET(nl_cs, "cs", cs_attr);

/* --- parsing */

static int text_check(const struct nl_set *set, const struct nl_attr *a,
		      const struct nlattr *attr, struct reason *why)
{
	const char *s = nla_data(attr);
	int i, len = nla_len(attr);

	if (len < 1 || s[len - 1] || memchr(s, 0, (size_t)len - 1))
		return refuse(why, -EINVAL, "%s: %s is not a string", set->name,
			      a->name);
	if (len > a->size)
		return refuse(why, -ENAMETOOLONG,
			      "%s: %s of %d bytes, at most %d: %.40s...",
			      set->name, a->name, len - 1, a->size - 1, s);
	for (i = 0; i < len - 1; i++)
		if (!isprint((unsigned char)s[i]))
			return refuse(why, -EINVAL,
				      "%s: %s '%s' holds the byte 0x%02x",
				      set->name, a->name, s,
				      (unsigned char)s[i]);
	return 0;
}

static int value_check(const struct nl_set *set, const struct nl_attr *a,
		       const struct nlattr *attr, struct reason *why)
{
	static const uint8_t fixed[] = {
		[NL_U8] = 1,
		[NL_U16] = 2,
		[NL_U32] = 4,
		[NL_U64] = 8,
	};
	int want;

	if (a->kind == NL_NEST)
		return 0; /* its owner parses it */
	if (a->kind == NL_TEXT)
		return text_check(set, a, attr, why);
	want = a->kind == NL_BYTES ? a->size : fixed[a->kind];
	if (nla_len(attr) != want)
		return refuse(why, -EINVAL, "%s: %s has %d bytes, not %d",
			      set->name, a->name, nla_len(attr), want);
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
			return refuse(why, -EINVAL, "%s: unknown attribute %u",
				      set->name, type);
		a = &set->attr[type];
		if (a->read_only)
			return refuse(why, -EINVAL, "%s: %s is read only",
				      set->name, a->name);
		if (tb[type] && !a->multi)
			return refuse(why, -EINVAL, "%s: %s is given twice",
				      set->name, a->name);
		err = value_check(set, a, attr, why);
		if (err)
			return err;
		if (!tb[type])
			tb[type] = (struct nlattr *)attr;
	}
	/* Negative: the last one came without its padding. */
	return rem > 0 ? refuse(why, -EINVAL,
				"%s: %d bytes at the end are no attribute",
				set->name, rem)
		       : 0;
}

int nl_parse_nest(const struct nl_set *set, const struct nlattr *nest,
		  struct nlattr *tb[NL_SET_MAX + 1], struct reason *why)
{
	return nl_parse_set(set, nla_data(nest), (size_t)nla_len(nest), tb,
			    why);
}

int nl_need(const struct nl_set *set, struct nlattr *const *tb, int type,
	    struct reason *why)
{
	return tb[type] ? 0
			: refuse(why, -EINVAL, "%s: %s is missing", set->name,
				 set->attr[type].name);
}
