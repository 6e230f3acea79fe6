// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the tables of attributes: every one of trib.h, and what it is in JSON.
 */
#include "uapi/trib.h"
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
	{TRIB_A_FACE_NDN, KIND_NDN, "ndn", false},
	{TRIB_A_FACE_NDN_PORT, KIND_U16, "ndn_port", false},
	{TRIB_A_FACE_NDN_SUBSCRIBE, KIND_STRING, "ndn_subscribe", true},
	{TRIB_A_FACE_NDN_WRITE, KIND_STRING, "ndn_write", true},
	{TRIB_A_FACE_NDN_NUMBER, KIND_U32, "ndn_number", false},
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
	{TRIB_A_JOB_FMT, KIND_DTYPE, "dtype", false},
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

static const struct schema_attr ndn_attrs[] = {
	{TRIB_A_NDN_ENTRIES, KIND_U32, "entries", false},
	{TRIB_A_NDN_ENTRIES_USED, KIND_U32, "entries_used", false},
	{TRIB_A_NDN_CACHE, KIND_U32, "cache", false},
	{TRIB_A_NDN_CACHE_USED, KIND_U32, "cache_used", false},
	{TRIB_A_NDN_ROUTES, KIND_U32, "routes", false},
	{TRIB_A_NDN_LEASE_MS, KIND_U32, "lease_ms", false},
	{TRIB_A_NDN_LEAVE_MS, KIND_U32, "leave_ms", false},
	{TRIB_A_NDN_MARK_INSERT, KIND_STRING, "insert", false},
	{TRIB_A_NDN_MARK_DISTRIBUTE, KIND_STRING, "distribute", false},
	{TRIB_A_NDN_MARK_DELETE, KIND_STRING, "delete", false},
};

static const struct schema_attr route_attrs[] = {
	{TRIB_A_ROUTE_PREFIX, KIND_STRING, "prefix", false},
	{TRIB_A_ROUTE_FACE, KIND_STRING, "face", false},
};

static const struct schema_attr pit_attrs[] = {
	{TRIB_A_PIT_NAME, KIND_STRING, "name", false},
	{TRIB_A_PIT_UP, KIND_STRING, "up", false},
	{TRIB_A_PIT_FACE, KIND_STRING, "faces", true},
	{TRIB_A_PIT_STATE, KIND_PIT, "state", false},
	{TRIB_A_PIT_ACKED_MS, KIND_U64, "acked_ms", false},
	{TRIB_A_PIT_VERSION, KIND_U64, "version", false},
	{TRIB_A_PIT_SEGMENT, KIND_U64, "segment", false},
	{TRIB_A_PIT_TAKEN_MS, KIND_U64, "taken_ms", false},
};

static const struct schema_attr cs_attrs[] = {
	{TRIB_A_CS_NAME, KIND_STRING, "name", false},
	{TRIB_A_CS_BYTES, KIND_U32, "bytes", false},
};

static const struct schema_attr module_attrs[] = {
	{TRIB_A_MODULE_VERSION, KIND_STRING, "version", false},
	{TRIB_A_MODULE_API, KIND_U32, "api", false},
	{TRIB_A_MODULE_LEVEL, KIND_STRING, "level", false},
	{TRIB_A_MODULE_CODEC, KIND_STRING, "codec", false},
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

static const struct schema_attr sock_attrs[] = {
	{TRIB_A_SOCK_INODE, KIND_U64, "inode", false},
	{TRIB_A_SOCK_UID, KIND_U32, "uid", false},
	{TRIB_A_SOCK_STATE, KIND_SOCK, "state", false},
	{TRIB_A_SOCK_JOB, KIND_U16, "job", false},
	{TRIB_A_SOCK_RANK, KIND_U16, "rank", false},
	{TRIB_A_SOCK_WORLD, KIND_U16, "world", false},
	{TRIB_A_SOCK_MEM, KIND_U64, "mem", false},
	{TRIB_A_SOCK_MESSAGES, KIND_U64, "messages", false},
	{TRIB_A_SOCK_CHUNKS, KIND_U64, "chunks", false},
	{TRIB_A_SOCK_SENT, KIND_U64, "sent", false},
	{TRIB_A_SOCK_RECEIVED, KIND_U64, "received", false},
	{TRIB_A_SOCK_RESENDS, KIND_U64, "resends", false},
	{TRIB_A_SOCK_INFLIGHT, KIND_U64, "inflight", false},
	{TRIB_A_SOCK_ERROR, KIND_STRING, "error", false},
};

static const struct schema_attr claim_attrs[] = {
	{TRIB_A_CLAIM_JOB, KIND_U16, "job", false},
	{TRIB_A_CLAIM_UID, KIND_U32, "uid", false},
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
	[TRIB_A_NDN] = SET(TRIB_A_NDN, ndn, TRIB_A_NDN),
	[TRIB_A_ROUTE] = SET(TRIB_A_ROUTE, route, TRIB_A_ROUTE),
	[TRIB_A_PIT] = SET(TRIB_A_PIT, pit, TRIB_A_PIT),
	[TRIB_A_CS] = SET(TRIB_A_CS, cs, TRIB_A_CS),
	[TRIB_A_MODULE] = SET(TRIB_A_MODULE, module, TRIB_A_MODULE),
	[TRIB_A_KFUNC] = SET(TRIB_A_KFUNC, kfunc, TRIB_A_KFUNC),
	[TRIB_A_EVENT] = SET(TRIB_A_EVENT, event, TRIB_A_EVENT),
	[TRIB_A_SOCK] = SET(TRIB_A_SOCK, sock, TRIB_A_SOCK),
	[TRIB_A_CLAIM] = SET(TRIB_A_CLAIM, claim, TRIB_A_CLAIM),
};

const struct schema_set *schema_set(int top)
{
	return top >= 0 && top < TRIB_A__MAX ? &sets[top] : NULL;
}
