/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Generated from kmod/trib.yaml by scripts/mkspec; do not edit.
 *
 * The control interface of Tributary: commands and attributes of the "trib"
 * netlink family.
 *
 * Messages have generic netlink layout (struct nlmsghdr, struct genlmsghdr,
 * attributes). tribd serves them over NETLINK_USERSOCK at port id TRIB_NL_PORT
 * of its network namespace, with nlmsg_type TRIB_NL_TYPE. The kernel module
 * serves the commands from TRIB_CMD_MODULE_GET on over generic netlink, as the
 * family TRIB_GENL_NAME.
 *
 * A request that has NLM_F_ACK or changes something is answered by one
 * NLMSG_ERROR: 0 or -errno, followed (NLM_F_ACK_TLVS) by NLMSGERR_ATTR_MSG, one
 * line of text that names the offending value. A GET with NLM_F_DUMP is
 * answered by multipart messages of at most TRIB_NL_MSG_MAX bytes, one object
 * each, then NLMSG_DONE. NLM_F_DUMP_INTR is set if the set of objects changed
 * meanwhile.
 *
 * Only a process with CAP_NET_ADMIN over the network namespace may change
 * anything: as root of its user namespace, or, for any user, in its ambient
 * set. tribd looks this up when it serves the request, by the process id that
 * the kernel attaches to the message; so the process must wait for the answer,
 * and keep its socket. Anybody may read anything but keys. Clients must check
 * that answers of tribd carry the credentials of uid 0.
 *
 * Integers are in host byte order. Addresses have 16 bytes, IPv4 is mapped. NDN
 * names are text: "/ps/job", "/ps/job/v=4294967297/seg=0", %XX for odd bytes.
 */
#ifndef _UAPI_TRIB_H
#define _UAPI_TRIB_H

#include <linux/types.h>

/* clang-format off */

#define TRIB_GENL_NAME "trib"
#define TRIB_GENL_EVENTS "events"
#define TRIB_GENL_VERSION 1
#define TRIB_NL_PORT 0x74726962 /* tribd's netlink port id, "trib". */
#define TRIB_NL_TYPE 116 /* nlmsg_type of tribd's messages. */
#define TRIB_NL_MSG_MAX 32768 /* Bytes of the longest message. */
#define TRIB_NAME_MAX 64 /* Bytes of the name of a face or job, NUL included. */
#define TRIB_NDN_TEXT_MAX 1024 /* Bytes of an NDN name as text, NUL included. */
#define TRIB_JOB_WINDOW_DEFAULT 256 /* Chunks in flight. */
#define TRIB_JOB_WINDOW_MAX 16384
#define TRIB_JOB_TIMEOUT_DEFAULT 5000 /* Milliseconds. */
#define TRIB_JOB_TIMEOUT_MIN 50
#define TRIB_JOB_TIMEOUT_MAX 3600000
#define TRIB_STAT_NDN 4096 /* TRIB_A_STAT_ID of an NDN counter is this plus enum ndn_stat. */
/*
 * The LOCAL pair, a veth pair that tribd makes with the first face behind
 * TRIB_LOCAL_PORT. A packet that a process of this host sends to the port's
 * address through TRIB_LOCAL_PEER meets the port's XDP program. A packet that
 * XDP sends to the peer's address reaches the sockets of this host. The
 * addresses are link-local.
 */
#define TRIB_LOCAL_PORT "trib0"
#define TRIB_LOCAL_PEER "trib1"
#define TRIB_LOCAL_PORT_V4 "169.254.77.1"
#define TRIB_LOCAL_PEER_V4 "169.254.77.2"
#define TRIB_LOCAL_PORT_V6 "fe80::77:1"
#define TRIB_LOCAL_PEER_V6 "fe80::77:2"

/* Commands, with the nests that they take. */
enum trib_cmd {
	TRIB_CMD_UNSPEC = 0,
	TRIB_CMD_STATUS_GET, /* Get the daemon's status. */
	TRIB_CMD_FACE_NEW, /* TRIB_A_FACE: Add a face. Needs name, ifname and addr. */
	/* TRIB_A_FACE: Remove a face, by name. Refused while a tree uses it. */
	TRIB_CMD_FACE_DEL,
	TRIB_CMD_FACE_GET, /* TRIB_A_FACE: Get one face by name, or dump all. */
	TRIB_CMD_JOB_NEW, /* TRIB_A_JOB: Add a job. Needs name and world. */
	/*
	 * TRIB_A_JOB: Remove a job and its trees, by name, and tell its
	 * workers.
	 */
	TRIB_CMD_JOB_DEL,
	TRIB_CMD_JOB_GET, /* TRIB_A_JOB: Get one job by name, or dump all. */
	/*
	 * TRIB_A_TREE: Add this host's node of a tree. Needs job, and child,
	 * parent or ps.
	 */
	TRIB_CMD_TREE_NEW,
	TRIB_CMD_TREE_DEL, /* TRIB_A_TREE: Remove a tree, by id. */
	/* TRIB_A_TREE: Get one tree by id, or dump those of a job, or all. */
	TRIB_CMD_TREE_GET,
	TRIB_CMD_GROUP_GET, /* TRIB_A_GROUP: Get one group by id, or dump all. */
	TRIB_CMD_STATS_GET, /* Dump all counters, zeros included. */
	TRIB_CMD_STATS_RESET, /* Set all counters to zero. */
	/*
	 * TRIB_A_JOB, TRIB_A_TICKET: Get the ticket of one rank of a job, by
	 * the job's name and the ticket's rank. For the job's owner and
	 * CAP_NET_ADMIN.
	 */
	TRIB_CMD_TICKET_GET,
	/*
	 * TRIB_A_TREE: Empty a tree's slots, by id. Sums in flight recover by
	 * themselves.
	 */
	TRIB_CMD_TREE_WIPE,
	/*
	 * TRIB_A_TREE: Choose the trees of a job, by job and live, that workers
	 * get if they attach from now on. Workers that are attached keep
	 * theirs.
	 */
	TRIB_CMD_TREE_SWITCH,
	/*
	 * TRIB_A_JOB: Change a job's planned rate, by name, for workers that
	 * attach from now on.
	 */
	TRIB_CMD_JOB_SET,
	/*
	 * TRIB_A_FACE: Change comment, forward, watch and the NDN attributes of
	 * a face, by name. ndn-subscribe and ndn-write replace their whole
	 * list.
	 */
	TRIB_CMD_FACE_SET,
	/*
	 * Get the NDN forwarder. -EOPNOTSUPP if tribd runs without it, as for
	 * the other commands of NDN.
	 */
	TRIB_CMD_NDN_GET,
	TRIB_CMD_NDN_SET, /* TRIB_A_NDN: Change times and markers. */
	/* TRIB_A_ROUTE: Add a route, or replace the one of the same prefix. */
	TRIB_CMD_ROUTE_NEW,
	TRIB_CMD_ROUTE_DEL, /* TRIB_A_ROUTE: Remove a route, by prefix. */
	TRIB_CMD_ROUTE_GET, /* TRIB_A_ROUTE: Get one route by prefix, or dump all. */
	/*
	 * TRIB_A_PIT: Get one PIT entry by name, or dump those below a name, or
	 * all.
	 */
	TRIB_CMD_PIT_GET,
	TRIB_CMD_PIT_DEL, /* TRIB_A_PIT: Remove a PIT entry, by name, with its subscribers. */
	TRIB_CMD_CS_GET, /* TRIB_A_CS: Dump the content store, all of it or below a name. */
	TRIB_CMD_CS_WIPE, /* TRIB_A_CS: Remove Data below a name from the content store. */
	TRIB_CMD_MODULE_GET, /* Get the kernel module. */
	TRIB_CMD_MODULE_RESET, /* Set the module's counters to zero. */
	/*
	 * TRIB_A_KFUNC: Get one function for XDP programs by name, or dump all.
	 */
	TRIB_CMD_KFUNC_GET,
	TRIB_CMD_MODULE_EVENT, /* Sent by the module to the group TRIB_GENL_EVENTS. */
	/*
	 * Dump the collective sockets of this network namespace. The caller's
	 * own, or all with CAP_NET_ADMIN.
	 */
	TRIB_CMD_SOCK_GET,
	/*
	 * TRIB_A_CLAIM: Reserve a job in this network namespace for the sockets
	 * of one user. Sockets with CAP_NET_ADMIN may still bind, and bound
	 * sockets stay. Replaces an earlier claim.
	 */
	TRIB_CMD_CLAIM_NEW,
	/*
	 * TRIB_A_CLAIM: Remove a claim, by job. Any socket that has a place may
	 * bind again.
	 */
	TRIB_CMD_CLAIM_DEL,
	TRIB_CMD_CLAIM_GET, /* Dump all claims. */
	TRIB_CMD__MAX,
};

/* How XDP is attached to a face's port. */
enum trib_xdp_mode {
	TRIB_XDP_MODE_NONE = 0, /* Not attached. `trib doctor` tells why. */
	TRIB_XDP_MODE_NATIVE = 1,
	TRIB_XDP_MODE_GENERIC = 2,
};

/* How the contributions of a local rank leave this host. */
enum trib_rank_way {
	TRIB_RANK_WAY_SOCKET = 0, /* Its process sends them. */
	/*
	 * Its host's XDP program sends those that are ready in the frames of
	 * results, its process the others.
	 */
	TRIB_RANK_WAY_REFLEX = 1,
};

/* The role of a face in the NDN forwarder. */
enum trib_face_ndn {
	TRIB_FACE_NDN_NONE = 0, /* No role. The face serves trees only. */
	TRIB_FACE_NDN_ROUTER = 1,
	TRIB_FACE_NDN_HOST = 2, /* A PIT entry may answer its subscriptions. */
};

/* Does the tribd of a watched face answer? */
enum trib_face_neighbour {
	TRIB_FACE_NEIGHBOUR_UNKNOWN = 0, /* No port to probe it by. */
	TRIB_FACE_NEIGHBOUR_ALIVE = 1,
	TRIB_FACE_NEIGHBOUR_DEAD = 2,
};

/* Does XDP route the face's packets for other hosts, past the firewall? */
enum trib_face_forward {
	TRIB_FACE_FORWARD_NO = 0, /* The kernel routes them, if it may. */
	TRIB_FACE_FORWARD_YES = 1,
};

/* State of a PIT entry towards its upstream. */
enum trib_pit_state {
	TRIB_PIT_STATE_PENDING = 0,
	TRIB_PIT_STATE_CONFIRMED = 1,
	TRIB_PIT_STATE_LEAVING = 2,
};

/* Events that the module sends to the group TRIB_GENL_EVENTS. */
enum trib_module_event {
	TRIB_MODULE_EVENT_UNSPEC = 0,
	/*
	 * Scalar code computed sums because the packet interrupted a user of
	 * the FPU. Sent at most once a second, in every network namespace.
	 * COUNT is the number of calls since the last such event.
	 */
	TRIB_MODULE_EVENT_FALLBACK = 1,
	/*
	 * A collective socket has joined its job. This and the next two are
	 * sent in the socket's namespace, with its TRIB_A_SOCK beside the
	 * event.
	 */
	TRIB_MODULE_EVENT_ATTACHED = 2,
	/* A collective socket left or died. Its state tells which. */
	TRIB_MODULE_EVENT_GONE = 3,
	/*
	 * Chunks are in flight, but no result came for half of the job's
	 * timeout. Sent once until a result comes. COUNT is the number of
	 * chunks.
	 */
	TRIB_MODULE_EVENT_STALLED = 4,
};

/* Top level. Each is a nest of the set of its name. */
enum trib_attr {
	TRIB_A_UNSPEC = 0,
	TRIB_A_STATUS,
	TRIB_A_FACE,
	TRIB_A_JOB,
	TRIB_A_TREE,
	TRIB_A_GROUP,
	TRIB_A_STAT,
	TRIB_A_TICKET,
	TRIB_A_NDN,
	TRIB_A_ROUTE,
	TRIB_A_PIT,
	TRIB_A_CS,
	TRIB_A_MODULE,
	TRIB_A_KFUNC,
	TRIB_A_EVENT,
	TRIB_A_SOCK,
	TRIB_A_CLAIM,
	TRIB_A__MAX,
};

/* The daemon. No request holds any of this. */
enum trib_attr_status {
	TRIB_A_STATUS_UNSPEC = 0,
	TRIB_A_STATUS_VERSION, /* string: Version of tribd. */
	TRIB_A_STATUS_INSTANCE, /* string: Folder of the pinned maps. */
	TRIB_A_STATUS_ABI, /* u32: Layout of the maps, TRIB_MAPS_ABI. */
	TRIB_A_STATUS_PID, /* u32 */
	TRIB_A_STATUS_UPTIME_MS, /* u64: Time since tribd started. */
	TRIB_A_STATUS_ADOPTED, /* u8: tribd took over pinned maps when it started. */
	TRIB_A_STATUS_NVAL, /* u32: Values in a slot. */
	TRIB_A_STATUS_SLOTS, /* u32: Slots in the pool. */
	TRIB_A_STATUS_SLOTS_USED, /* u32: Slots that trees own. */
	TRIB_A_STATUS_MODULE, /* u8: The kernel module's functions are in use. */
	TRIB_A_STATUS_FACES, /* u32 */
	TRIB_A_STATUS_JOBS, /* u32 */
	TRIB_A_STATUS_TREES, /* u32 */
	TRIB_A_STATUS_WORKERS, /* u32: Workers attached to this daemon. */
	TRIB_A_STATUS_POOL, /* u32: Slots that shared trees have in common. */
	/*
	 * u64: JOIN, LEAVE and START packets that tribd dropped, because their
	 * authenticators were not made with the key of their sender.
	 */
	TRIB_A_STATUS_UNPROVEN,
	TRIB_A_STATUS__MAX,
};

/* A neighbour, behind a port with XDP. */
enum trib_attr_face {
	TRIB_A_FACE_UNSPEC = 0,
	TRIB_A_FACE_NAME, /* string */
	TRIB_A_FACE_IFNAME, /* string: Device of the port. */
	TRIB_A_FACE_IFINDEX, /* u32, read only: 0 while the device is gone. */
	TRIB_A_FACE_ADDR, /* 16 bytes: Address of the peer, or a multicast group. */
	TRIB_A_FACE_MAC, /* 6 bytes: MAC address of the peer. Resolved by default. */
	TRIB_A_FACE_PORT, /* u16: UDP port of the peer. TRIB_UDP_PORT by default. */
	TRIB_A_FACE_LOCAL_ADDR, /* 16 bytes: Our address. Found by route by default. */
	TRIB_A_FACE_VLAN, /* u16: Outer VLAN tag. */
	TRIB_A_FACE_VLAN_INNER, /* u16 */
	TRIB_A_FACE_XDP_MODE, /* u8, enum trib_xdp_mode, read only */
	TRIB_A_FACE_LOCAL_MAC, /* 6 bytes, read only */
	TRIB_A_FACE_MTU, /* u32, read only: MTU of the port. */
	TRIB_A_FACE_TREES, /* u32, read only: Number of uses by trees. */
	TRIB_A_FACE_REASON, /* string, read only: Reason why XDP is not native. */
	/*
	 * u8, enum trib_face_ndn: Role in the NDN forwarder. none takes the
	 * role away.
	 */
	TRIB_A_FACE_NDN,
	/*
	 * u16: UDP port of the peer's NDN forwarder, NDN_UDP_PORT by default. 0
	 * is EtherType 0x8624, which needs a MAC address and no IP address.
	 */
	TRIB_A_FACE_NDN_PORT,
	/*
	 * string, repeated: Prefix that the face may subscribe to, without
	 * marker. The empty text is an empty list. A new router that is given
	 * neither this nor ndn-write may use all names, a new host none.
	 */
	TRIB_A_FACE_NDN_SUBSCRIBE,
	/*
	 * string, repeated: Prefix of Data that the face may send. As
	 * ndn-subscribe.
	 */
	TRIB_A_FACE_NDN_WRITE,
	TRIB_A_FACE_NDN_NUMBER, /* u32, read only: Number of the face in the maps. */
	TRIB_A_FACE_COMMENT, /* string: The operator's note. The empty text takes it away. */
	/*
	 * u8, enum trib_face_forward: Whether XDP routes packets of this face
	 * that are for UDP port 7417 of another host. no by default.
	 */
	TRIB_A_FACE_FORWARD,
	/*
	 * u32, read only: Times that tribd put back XDP or filters that
	 * somebody took off the port. Absent if it never did.
	 */
	TRIB_A_FACE_REATTACHED,
	/*
	 * 16 bytes: Write only. Secret that tribd shares with the neighbour's
	 * tribd. Both probe the link with it, and find ways round dead links.
	 * Zeros: no longer.
	 */
	TRIB_A_FACE_WATCH,
	/*
	 * u8, enum trib_face_neighbour, read only: What the probes say. Absent
	 * without watch.
	 */
	TRIB_A_FACE_NEIGHBOUR,
	TRIB_A_FACE__MAX,
};

/* A set of workers that sum together. */
enum trib_attr_job {
	TRIB_A_JOB_UNSPEC = 0,
	TRIB_A_JOB_NAME, /* string */
	TRIB_A_JOB_ID, /* u16: The lowest free number by default. */
	/*
	 * 16 bytes: Secret: struct trib_key, from which all others of the job
	 * follow. Random by default. Only the owner and CAP_NET_ADMIN can read
	 * it.
	 */
	TRIB_A_JOB_KEY,
	TRIB_A_JOB_WORLD, /* u32: Number of workers, 1 to TRIB_WORLD_MAX. */
	TRIB_A_JOB_WINDOW, /* u32: Chunks in flight, a power of 2. */
	TRIB_A_JOB_OWNER, /* u32: uid of the processes that may attach. */
	TRIB_A_JOB_TIMEOUT_MS, /* u32: Silence after which a worker counts as dead. */
	TRIB_A_JOB_RATE, /* u64: Planned bit/s of each worker. 0 is no plan. */
	TRIB_A_JOB_TREES, /* u32, read only */
	TRIB_A_JOB_ATTACHED, /* u32, read only: Workers attached to this daemon. */
	/*
	 * u8: enum trib_fmt of floats on the wire, TRIB_FMT_Q32 by default.
	 * Other formats need the module: -EOPNOTSUPP without it.
	 */
	TRIB_A_JOB_FMT,
	/*
	 * string, read only: Reason why tribd lets no job start; absent if it
	 * does.
	 */
	TRIB_A_JOB_BLOCKED,
	/*
	 * string: ADDR:PORT where rank 0 listens for the ranks that exchange
	 * without relays. Absent if the job names none.
	 */
	TRIB_A_JOB_PEERS,
	TRIB_A_JOB__MAX,
};

/* This host's node of an aggregation tree. */
enum trib_attr_tree {
	TRIB_A_TREE_UNSPEC = 0,
	TRIB_A_TREE_ID, /* u16: The lowest free number by default. */
	TRIB_A_TREE_JOB, /* string: Name of the job. */
	TRIB_A_TREE_CHILD, /* nest of trib_attr_child, repeated: Children, in order. */
	TRIB_A_TREE_PARENT, /* string: Face of the parent. The root has none. */
	TRIB_A_TREE_UP_CHILD, /* u16: Our index among the parent's children. */
	/*
	 * nest of trib_attr_child, repeated: Ranks of this host that results
	 * are delivered to. RANK and INDEX, at the parent (leaf) or among our
	 * own children. With PS: RANK and PORT.
	 */
	TRIB_A_TREE_LOCAL,
	TRIB_A_TREE_DOWN, /* string, repeated: Face of an explicit down group. */
	TRIB_A_TREE_EPOCH, /* u32, read only: 0 until all children joined. */
	TRIB_A_TREE_SLOT0, /* u32, read only: First slot. */
	TRIB_A_TREE_SLOTS, /* u32, read only: Number of slots, twice the window. */
	TRIB_A_TREE_GROUP_DOWN, /* u32, read only */
	TRIB_A_TREE_GROUP_ALL, /* u32, read only */
	TRIB_A_TREE_GROUP_UP, /* u32, read only */
	TRIB_A_TREE_JOINED, /* u64, read only: A bit for each child that joined. */
	/*
	 * u16: Our relay number. It makes the tree a shared one. next, workers,
	 * cap and age-ms are for such trees only.
	 */
	TRIB_A_TREE_RELAY,
	TRIB_A_TREE_NEXT, /* u16: Relay number of the next hop, 65535 for the PS. */
	/*
	 * 128 bytes: Ranks whose values pass here, a bitmap as in a packet
	 * (bmwords of struct trib_hdr). The children's ranks by default.
	 */
	TRIB_A_TREE_WORKERS,
	TRIB_A_TREE_CAP, /* u32: Slots that the tree may hold. 0 is no limit. */
	/*
	 * u32: Age at which other trees may take a slot, two timeouts of a
	 * worker. 100 by default.
	 */
	TRIB_A_TREE_AGE_MS,
	TRIB_A_TREE_HELD, /* u8: Workers that attach do not get this tree. */
	TRIB_A_TREE_LIVE, /* u16, repeated: Id of a tree. For tree-switch only. */
	/*
	 * 16 bytes: Address of the PS of a shared tree. It makes this a row of
	 * workers: local ranks that send through sockets. Such a row has no
	 * children, no parent and nothing in the maps. ps-port, hop and group
	 * are for such rows only.
	 */
	TRIB_A_TREE_PS,
	TRIB_A_TREE_PS_PORT, /* u16: UDP port of the PS. TRIB_UDP_PORT_PS by default. */
	/*
	 * nest of trib_attr_child, repeated: Relays on the way to the PS, in
	 * order, FACE and RELAY each. The first one adds up the packets of the
	 * ranks.
	 */
	TRIB_A_TREE_HOP,
	/*
	 * 16 bytes: Multicast group of results, at the port of the only rank.
	 */
	TRIB_A_TREE_GROUP,
	/*
	 * u16: Share of messages against the job's other trees, 1 (default) to
	 * TRIB_TREE_WEIGHT_MAX. Must be the same on all hosts.
	 */
	TRIB_A_TREE_WEIGHT,
	TRIB_A_TREE__MAX,
};

/* A child, a local rank or a hop of a tree. */
enum trib_attr_child {
	TRIB_A_CHILD_UNSPEC = 0,
	TRIB_A_CHILD_INDEX, /* u16 */
	TRIB_A_CHILD_FACE, /* string */
	TRIB_A_CHILD_RANK, /* u16: A relay has none. */
	TRIB_A_CHILD_JOINED, /* u8, read only */
	/*
	 * u64, read only: Chunks that this child contributed to, of the one in
	 * TRIB_LAG_EVERY that is sampled.
	 */
	TRIB_A_CHILD_SAMPLES,
	/*
	 * u64, read only: Sum over the samples of the time since the chunk's
	 * first contribution.
	 */
	TRIB_A_CHILD_LAG_NS,
	TRIB_A_CHILD_LAST, /* u64, read only: Samples in which this child was the last. */
	/*
	 * u64, read only: Newest chunk that was timed, sampled or a message's
	 * first.
	 */
	TRIB_A_CHILD_CHUNK,
	TRIB_A_CHILD_SEEN_MS, /* u64, read only: Age of that chunk. */
	TRIB_A_CHILD_PID, /* u32, read only: Process attached as this local rank. 0 is none. */
	/*
	 * u16: UDP port for results of a local rank, in a row with ps. 1024 or
	 * above, 7418 + rank by default.
	 */
	TRIB_A_CHILD_PORT,
	TRIB_A_CHILD_RELAY, /* u16: Relay number of a hop. */
	/*
	 * u64, read only: Messages that this child began, since the tree did.
	 */
	TRIB_A_CHILD_STARTS,
	TRIB_A_CHILD_START_LAST, /* u64, read only: Messages that it was the last to begin. */
	/*
	 * u64, read only: How long the other children waited for it to begin;
	 * they wait for the last one, since the one before it.
	 */
	TRIB_A_CHILD_START_WAIT_NS,
	/*
	 * u64, read only: How long they waited for its data, beyond its delay
	 * at the start.
	 */
	TRIB_A_CHILD_DATA_WAIT_NS,
	/*
	 * u8, enum trib_rank_way, read only: How contributions of this local
	 * rank leave.
	 */
	TRIB_A_CHILD_WAY,
	/*
	 * string, read only: Reason why XDP sends none of them. Absent if it
	 * does.
	 */
	TRIB_A_CHILD_WHY,
	/*
	 * u64, read only: Contributions that XDP sent for this local rank,
	 * since its process attached. The count is in the rank's own memory,
	 * where it may write anything. Absent if it is not attached.
	 */
	TRIB_A_CHILD_CARRIED,
	TRIB_A_CHILD__MAX,
};

/* A multicast group. tribd makes them for its trees. */
enum trib_attr_group {
	TRIB_A_GROUP_UNSPEC = 0,
	TRIB_A_GROUP_ID, /* u32 */
	TRIB_A_GROUP_TREE, /* u16, read only */
	TRIB_A_GROUP_KIND, /* string, read only: down, all or up. */
	TRIB_A_GROUP_FACE, /* string, read only, repeated */
	TRIB_A_GROUP__MAX,
};

/* A counter. No request holds any of this. */
enum trib_attr_stat {
	TRIB_A_STAT_UNSPEC = 0,
	TRIB_A_STAT_ID, /* u32: enum trib_stat, or TRIB_STAT_NDN plus enum ndn_stat. */
	TRIB_A_STAT_NAME, /* string: rx-grad, drop-auth, ... */
	TRIB_A_STAT_VALUE, /* u64: Sum over CPUs. */
	TRIB_A_STAT_TEXT, /* string: One line that explains the counter. */
	TRIB_A_STAT__MAX,
};

/* Lets a worker join from a host without tribd. */
enum trib_attr_ticket {
	TRIB_A_TICKET_UNSPEC = 0,
	TRIB_A_TICKET_RANK, /* u16 */
	TRIB_A_TICKET_TEXT, /* string, read only: The ticket, trib://... */
	TRIB_A_TICKET__MAX,
};

/* The NDN forwarder. */
enum trib_attr_ndn {
	TRIB_A_NDN_UNSPEC = 0,
	/*
	 * u32, read only: Entries of the PIT that all faces share. Each face
	 * has 16 more.
	 */
	TRIB_A_NDN_ENTRIES,
	/* u32, read only: Those of all faces, also beyond what they share. */
	TRIB_A_NDN_ENTRIES_USED,
	TRIB_A_NDN_CACHE, /* u32, read only: Segments that fit into the content store. */
	TRIB_A_NDN_CACHE_USED, /* u32, read only */
	TRIB_A_NDN_ROUTES, /* u32, read only */
	/* u32: Life of a subscription without renewal. 30000 by default. */
	TRIB_A_NDN_LEASE_MS,
	/*
	 * u32: Life of a delete on its way upstream. Half a lease by default.
	 */
	TRIB_A_NDN_LEAVE_MS,
	TRIB_A_NDN_MARK_INSERT, /* string: Marker component. "insert" by default. */
	TRIB_A_NDN_MARK_DISTRIBUTE, /* string: Marker component. "distribute" by default. */
	TRIB_A_NDN_MARK_DELETE, /* string: Marker component. "delete" by default. */
	TRIB_A_NDN__MAX,
};

/* A route (FIB) of NDN names. */
enum trib_attr_route {
	TRIB_A_ROUTE_UNSPEC = 0,
	TRIB_A_ROUTE_PREFIX, /* string: NDN name. "/" matches all. */
	TRIB_A_ROUTE_FACE, /* string */
	TRIB_A_ROUTE__MAX,
};

/*
 * An entry of the persistent PIT. An answer has the last four only if they have
 * a value.
 */
enum trib_attr_pit {
	TRIB_A_PIT_UNSPEC = 0,
	TRIB_A_PIT_NAME, /* string: NDN name. */
	TRIB_A_PIT_UP, /* string, read only: Upstream face. */
	/*
	 * string, read only, repeated: Subscriber whose lease has not expired.
	 */
	TRIB_A_PIT_FACE,
	TRIB_A_PIT_STATE, /* u8, enum trib_pit_state, read only */
	TRIB_A_PIT_ACKED_MS, /* u64, read only: Time since upstream last acknowledged. */
	TRIB_A_PIT_VERSION, /* u64, read only: Newest version that was forwarded. */
	TRIB_A_PIT_SEGMENT, /* u64, read only: Newest segment of that version. */
	TRIB_A_PIT_TAKEN_MS, /* u64, read only: Time since Data was last forwarded. */
	TRIB_A_PIT__MAX,
};

/* A Data packet in the content store. */
enum trib_attr_cs {
	TRIB_A_CS_UNSPEC = 0,
	TRIB_A_CS_NAME, /* string: NDN name. */
	TRIB_A_CS_BYTES, /* u32, read only: Length of the Data packet. */
	TRIB_A_CS__MAX,
};

/* The kernel module. No request holds any of this. */
enum trib_attr_module {
	TRIB_A_MODULE_UNSPEC = 0,
	TRIB_A_MODULE_VERSION, /* string */
	/* u32: API number of the functions for XDP programs, TRIB_KFUNC_API. */
	TRIB_A_MODULE_API,
	/* string: Instructions that sums use, scalar, sse2, avx2 or avx512. */
	TRIB_A_MODULE_LEVEL,
	TRIB_A_MODULE_FORMATS, /* u64: Bit 1 << enum trib_fmt for each format that it adds. */
	/*
	 * u8: Parameter fpu_busy is set. Every call falls back to scalar code.
	 */
	TRIB_A_MODULE_FPU_BUSY,
	TRIB_A_MODULE_CALLS, /* u64: Calls of all functions together. */
	/* u64: Calls that used scalar code because the FPU was in use. */
	TRIB_A_MODULE_FALLBACKS,
	/*
	 * string: Instructions that collective sockets convert with, the
	 * fastest here of scalar, avx2 and avx512.
	 */
	TRIB_A_MODULE_CODEC,
	TRIB_A_MODULE__MAX,
};

/* A function that XDP programs call, see trib_kfunc.h. */
enum trib_attr_kfunc {
	TRIB_A_KFUNC_UNSPEC = 0,
	TRIB_A_KFUNC_NAME, /* string */
	TRIB_A_KFUNC_CALLS, /* u64, read only: Calls that did their work. */
	TRIB_A_KFUNC_BYTES, /* u64, read only: Bytes of packet values in these calls. */
	/*
	 * u64, read only: Calls that used scalar code because the FPU was in
	 * use.
	 */
	TRIB_A_KFUNC_FALLBACKS,
	/* u64, read only: Calls with wrong arguments, which did nothing. */
	TRIB_A_KFUNC_REFUSED,
	TRIB_A_KFUNC__MAX,
};

/* An event of the module. No request holds any of this. */
enum trib_attr_event {
	TRIB_A_EVENT_UNSPEC = 0,
	TRIB_A_EVENT_KIND, /* u32, enum trib_module_event */
	TRIB_A_EVENT_COUNT, /* u64: Occurrences since the last event of this kind. */
	TRIB_A_EVENT__MAX,
};

/* A collective socket, see trib_sock.h. No request holds any of this. */
enum trib_attr_sock {
	TRIB_A_SOCK_UNSPEC = 0,
	TRIB_A_SOCK_INODE, /* u64: Inode, as in /proc/PID/fd. */
	TRIB_A_SOCK_UID, /* u32: Owner. */
	TRIB_A_SOCK_STATE, /* u8, enum trib_sock_state */
	TRIB_A_SOCK_JOB, /* u16: Number of the job. */
	TRIB_A_SOCK_RANK, /* u16 */
	TRIB_A_SOCK_WORLD, /* u16 */
	TRIB_A_SOCK_MEM, /* u64: Bytes that messages take. */
	TRIB_A_SOCK_MESSAGES, /* u64: Messages sent. */
	TRIB_A_SOCK_CHUNKS, /* u64: Results received. */
	TRIB_A_SOCK_SENT, /* u64: Packets sent. */
	TRIB_A_SOCK_RECEIVED, /* u64: Packets received. */
	TRIB_A_SOCK_RESENDS, /* u64: Packets sent again, after a gap or a timeout. */
	TRIB_A_SOCK_INFLIGHT, /* u64: Chunks in flight. */
	TRIB_A_SOCK_ERROR, /* string: Reason why the socket is dead. Absent otherwise. */
	/*
	 * u64: Of the packets sent, those that XDP sent for the socket. 0
	 * without cells.
	 */
	TRIB_A_SOCK_CARRIED,
	TRIB_A_SOCK__MAX,
};

/* Reserves a job for one user's collective sockets. */
enum trib_attr_claim {
	TRIB_A_CLAIM_UNSPEC = 0,
	TRIB_A_CLAIM_JOB, /* u16: Number of the job. */
	TRIB_A_CLAIM_UID, /* u32: User whose sockets may bind to the job. */
	TRIB_A_CLAIM__MAX,
};

#endif /* _UAPI_TRIB_H */
