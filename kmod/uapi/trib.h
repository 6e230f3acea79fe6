/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * The control interface: commands and attributes of the "trib" netlink
 * family. kmod/trib.yaml describes the same in the form that the kernel's
 * tools read; tests/unit compares the two.
 *
 * Messages have generic netlink layout (struct nlmsghdr, struct genlmsghdr,
 * attributes). tribd serves them over NETLINK_USERSOCK at port id
 * TRIB_NL_PORT of its network namespace, with nlmsg_type TRIB_NL_TYPE; the
 * commands from TRIB_CMD_MODULE_GET on are the kernel module's, which serves
 * them by generic netlink, as the family TRIB_GENL_NAME.
 *
 * Rules: a request with NLM_F_ACK or that changes something is answered by
 * one NLMSG_ERROR: 0 or -errno, followed (NLM_F_ACK_TLVS) by
 * NLMSGERR_ATTR_MSG, one line of text that names the offending value. A GET
 * with NLM_F_DUMP is answered by multipart messages, one object each, of at
 * most TRIB_NL_MSG_MAX bytes, then NLMSG_DONE; NLM_F_DUMP_INTR is set if the
 * set of objects changed meanwhile. Changing anything takes uid 0: what the
 * kernel vouches for in the message (capabilities could only be looked up
 * later, by a process id that may then belong to another program). Reading
 * anything but cookies takes nothing. The module, which can look, wants
 * CAP_NET_ADMIN of the first user namespace.
 * Clients must check that answers of tribd carry the credentials of uid 0.
 *
 * Integers are in host byte order. Addresses are 16 bytes, IPv4 mapped.
 */
#ifndef _UAPI_TRIB_H
#define _UAPI_TRIB_H

#include <linux/types.h>

#define TRIB_GENL_NAME "trib"
#define TRIB_GENL_VERSION 1
#define TRIB_GENL_EVENTS "events" /* multicast group */

#define TRIB_NL_PORT 0x74726962 /* "trib" */
#define TRIB_NL_TYPE 0x74
#define TRIB_NL_MSG_MAX 32768

#define TRIB_NAME_MAX 64 /* bytes of any name, NUL included */

/*
 * The LOCAL pair, a veth pair that tribd makes with the first face behind
 * TRIB_LOCAL_PORT. What this host's processes send to that port's address by
 * way of TRIB_LOCAL_PEER meets its XDP program, and what XDP sends to the
 * peer's address reaches their sockets. The addresses are link-local ones.
 */
#define TRIB_LOCAL_PORT "trib0"
#define TRIB_LOCAL_PEER "trib1"
#define TRIB_LOCAL_PORT_V4 "169.254.77.1"
#define TRIB_LOCAL_PEER_V4 "169.254.77.2"
#define TRIB_LOCAL_PORT_V6 "fe80::77:1"
#define TRIB_LOCAL_PEER_V6 "fe80::77:2"

/**
 * enum trib_cmd - what can be asked
 * @TRIB_CMD_STATUS_GET: TRIB_A_STATUS: the daemon and what it loaded.
 * @TRIB_CMD_FACE_NEW:   TRIB_A_FACE: name, ifname and address at least.
 * @TRIB_CMD_FACE_DEL:   TRIB_A_FACE: name. Refused while a tree uses it.
 * @TRIB_CMD_FACE_GET:   one by name, or a dump.
 * @TRIB_CMD_JOB_NEW:    TRIB_A_JOB: name and world at least.
 * @TRIB_CMD_JOB_DEL:    TRIB_A_JOB: name. Removes its trees, tells its workers.
 * @TRIB_CMD_JOB_GET:    one by name, or a dump.
 * @TRIB_CMD_TREE_NEW:   TRIB_A_TREE: job, and children, parent or PS at least.
 * @TRIB_CMD_TREE_DEL:   TRIB_A_TREE: id.
 * @TRIB_CMD_TREE_GET:   one by id, all of TRIB_A_TREE_JOB, or a dump.
 * @TRIB_CMD_GROUP_GET:  one by id, or a dump.
 * @TRIB_CMD_STATS_GET:  dump of counters (TRIB_A_STAT), zeros included.
 * @TRIB_CMD_STATS_RESET: set all counters to zero.
 * @TRIB_CMD_TICKET_GET: TRIB_A_JOB name + TRIB_A_TICKET rank: the line of
 *                       text by which a worker on a host without tribd joins.
 *                       uid 0 or the job's owner.
 * @TRIB_CMD_TREE_WIPE:  TRIB_A_TREE: id. Empties the tree's slots (the sums
 *                       under way recover by themselves).
 * @TRIB_CMD_TREE_SWITCH: TRIB_A_TREE: job, live. At once, workers that attach
 *                       get these trees of the job, and no others of it;
 *                       those that did before go on with what they have.
 * @TRIB_CMD_JOB_SET:    TRIB_A_JOB: name, rate. For workers that attach then.
 * @TRIB_CMD_FACE_SET:   TRIB_A_FACE: name, and those NDN_ attributes that change;
 *                       SUBSCRIBE and WRITE replace all that there were.
 * @TRIB_CMD_NDN_GET:  TRIB_A_NDN: the NDN forwarder. -EOPNOTSUPP, as for
 *                       all that follows, if tribd runs without.
 * @TRIB_CMD_NDN_SET:  TRIB_A_NDN: times and markers, those that change.
 * @TRIB_CMD_ROUTE_NEW:  TRIB_A_ROUTE: prefix, face. Replaces the prefix's.
 * @TRIB_CMD_ROUTE_DEL:  TRIB_A_ROUTE: prefix.
 * @TRIB_CMD_ROUTE_GET:  one by prefix, or a dump.
 * @TRIB_CMD_PIT_GET:    one by name, or a dump of those below TRIB_A_PIT_NAME.
 * @TRIB_CMD_PIT_DEL:    TRIB_A_PIT: name. Its subscribers are forgotten.
 * @TRIB_CMD_CS_GET:     dump of what the cache has below TRIB_A_CS_NAME.
 * @TRIB_CMD_CS_WIPE:    TRIB_A_CS: name: what the cache has below it is gone.
 * @TRIB_CMD_MODULE_GET: TRIB_A_MODULE: the kernel module.
 * @TRIB_CMD_MODULE_RESET: set the module's counters to zero.
 * @TRIB_CMD_KFUNC_GET:  one by name, or a dump of the functions that XDP
 *                       programs call, with counters.
 * @TRIB_CMD_MODULE_EVENT: from the module to the group TRIB_GENL_EVENTS:
 *                       TRIB_A_EVENT.
 * @TRIB_CMD_SOCK_GET:   dump of this network namespace's collective sockets
 *                       (trib_sock.h): the caller's, or all with CAP_NET_ADMIN.
 * @TRIB_CMD_CLAIM_NEW:  TRIB_A_CLAIM: job, uid. In this network namespace only
 *                       that user's sockets, and those with CAP_NET_ADMIN, may
 *                       bind to the job. Replaces the claim that was there;
 *                       sockets that are bound go on.
 * @TRIB_CMD_CLAIM_DEL:  TRIB_A_CLAIM: job.
 * @TRIB_CMD_CLAIM_GET:  dump.
 */
enum trib_cmd {
	TRIB_CMD_UNSPEC = 0,
	TRIB_CMD_STATUS_GET,
	TRIB_CMD_FACE_NEW,
	TRIB_CMD_FACE_DEL,
	TRIB_CMD_FACE_GET,
	TRIB_CMD_JOB_NEW,
	TRIB_CMD_JOB_DEL,
	TRIB_CMD_JOB_GET,
	TRIB_CMD_TREE_NEW,
	TRIB_CMD_TREE_DEL,
	TRIB_CMD_TREE_GET,
	TRIB_CMD_GROUP_GET,
	TRIB_CMD_STATS_GET,
	TRIB_CMD_STATS_RESET,
	TRIB_CMD_TICKET_GET,
	TRIB_CMD_TREE_WIPE,
	TRIB_CMD_TREE_SWITCH,
	TRIB_CMD_JOB_SET,
	TRIB_CMD_FACE_SET,
	TRIB_CMD_NDN_GET,
	TRIB_CMD_NDN_SET,
	TRIB_CMD_ROUTE_NEW,
	TRIB_CMD_ROUTE_DEL,
	TRIB_CMD_ROUTE_GET,
	TRIB_CMD_PIT_GET,
	TRIB_CMD_PIT_DEL,
	TRIB_CMD_CS_GET,
	TRIB_CMD_CS_WIPE,
	TRIB_CMD_MODULE_GET,
	TRIB_CMD_MODULE_RESET,
	TRIB_CMD_KFUNC_GET,
	TRIB_CMD_MODULE_EVENT,
	TRIB_CMD_SOCK_GET,
	TRIB_CMD_CLAIM_NEW,
	TRIB_CMD_CLAIM_DEL,
	TRIB_CMD_CLAIM_GET,
	TRIB_CMD__MAX,
};

/* Top level: each is a nest of the set of its name. */
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

enum trib_attr_status {
	TRIB_A_STATUS_UNSPEC = 0,
	TRIB_A_STATUS_VERSION,	  /* string: of tribd */
	TRIB_A_STATUS_INSTANCE,	  /* string: pin folder */
	TRIB_A_STATUS_ABI,	  /* u32: TRIB_MAPS_ABI */
	TRIB_A_STATUS_PID,	  /* u32 */
	TRIB_A_STATUS_UPTIME_MS,  /* u64: since tribd started */
	TRIB_A_STATUS_ADOPTED,	  /* u8: took over pinned maps at start */
	TRIB_A_STATUS_NVAL,	  /* u32: values per slot */
	TRIB_A_STATUS_SLOTS,	  /* u32: slots in the pool */
	TRIB_A_STATUS_SLOTS_USED, /* u32: of which owned by trees */
	TRIB_A_STATUS_MODULE,	  /* u8: trib.ko's kfuncs are in use */
	TRIB_A_STATUS_FACES,	  /* u32 */
	TRIB_A_STATUS_JOBS,	  /* u32 */
	TRIB_A_STATUS_TREES,	  /* u32 */
	TRIB_A_STATUS_WORKERS,	  /* u32: attached to this daemon */
	TRIB_A_STATUS_POOL, /* u32: slots that shared trees have in common */
	TRIB_A_STATUS__MAX,
};

/* Which way XDP is attached to a face's port. */
enum trib_xdp_mode {
	TRIB_XDP_NONE = 0, /* not attached: see doctor */
	TRIB_XDP_NATIVE = 1,
	TRIB_XDP_GENERIC = 2,
};

enum trib_attr_face {
	TRIB_A_FACE_UNSPEC = 0,
	TRIB_A_FACE_NAME,    /* string */
	TRIB_A_FACE_IFNAME,  /* string: port */
	TRIB_A_FACE_IFINDEX, /* u32: read only; 0 = device is gone */
	TRIB_A_FACE_ADDR,    /* 16 bytes: of the peer, or a multicast group */
	TRIB_A_FACE_MAC,     /* 6 bytes: of the peer; default: resolved */
	TRIB_A_FACE_PORT,    /* u16: peer's UDP port; default TRIB_UDP_PORT */
	TRIB_A_FACE_LOCAL_ADDR, /* 16 bytes: ours; default: by route */
	TRIB_A_FACE_VLAN,	/* u16: outer tag */
	TRIB_A_FACE_VLAN_INNER, /* u16 */
	TRIB_A_FACE_XDP_MODE,	/* u8: enum trib_xdp_mode; read only */
	TRIB_A_FACE_LOCAL_MAC,	/* 6 bytes: read only */
	TRIB_A_FACE_MTU,	/* u32: of the port; read only */
	TRIB_A_FACE_TREES,	/* u32: trees using it; read only */
	TRIB_A_FACE_REASON,	/* string: why not native; read only */
	TRIB_A_FACE_NDN, /* u8: enum trib_face_ndn; NONE takes away what it is */
	TRIB_A_FACE_NDN_PORT, /* u16: peer's; default NDN_UDP_PORT; 0: EtherType
					 * 0x8624, and needs no address, but
					 * MAC then */
	/* Names without marker; "" is none. A new ROUTER that is given neither
	 * may all, a HOST nothing. */
	TRIB_A_FACE_NDN_SUBSCRIBE, /* string, repeated: prefix that it may subscribe to */
	TRIB_A_FACE_NDN_WRITE, /* string, repeated: prefix of Data it may send */
	TRIB_A_FACE_NDN_NUMBER, /* u32: in the maps; read only */
	TRIB_A_FACE__MAX,
};

/* Numbers of its counters in TRIB_A_STAT_ID: this + enum ndn_stat. */
#define TRIB_STAT_NDN 4096

/* What a face is to the NDN forwarder. */
enum trib_face_ndn {
	TRIB_FACE_NDN_NONE = 0, /* nothing: it serves trees only */
	TRIB_FACE_NDN_ROUTER = 1,
	TRIB_FACE_NDN_HOST = 2, /* its inserts may be answered by an entry */
};

enum trib_attr_job {
	TRIB_A_JOB_UNSPEC = 0,
	TRIB_A_JOB_NAME,       /* string */
	TRIB_A_JOB_ID,	       /* u16: default: lowest free, from 1 */
	TRIB_A_JOB_COOKIE,     /* u64: default: random; read: uid 0, owner */
	TRIB_A_JOB_WORLD,      /* u32: workers, 1 to TRIB_WORLD_MAX */
	TRIB_A_JOB_WINDOW,     /* u32: W, power of 2, 1 to 16384; default 256 */
	TRIB_A_JOB_OWNER,      /* u32: uid whose processes may attach */
	TRIB_A_JOB_TIMEOUT_MS, /* u32: default 5000 */
	TRIB_A_JOB_RATE,  /* u64: bit/s of planned rate per worker; 0 = none */
	TRIB_A_JOB_TREES, /* u32: read only */
	TRIB_A_JOB_ATTACHED, /* u32: workers attached here; read only */
	TRIB_A_JOB_FMT,	     /* u8: enum trib_fmt that sums of floats travel
					 * as; default Q32. Others need the
					 * module: -EOPNOTSUPP */
	TRIB_A_JOB__MAX,
};

enum trib_attr_tree {
	TRIB_A_TREE_UNSPEC = 0,
	TRIB_A_TREE_ID,	      /* u16: default: lowest free, from 1 */
	TRIB_A_TREE_JOB,      /* string */
	TRIB_A_TREE_CHILD,    /* nest of trib_attr_child, repeated, in order */
	TRIB_A_TREE_PARENT,   /* string: face; absent: this is the root */
	TRIB_A_TREE_UP_CHILD, /* u16: our index at the parent */
	TRIB_A_TREE_LOCAL,    /* nest of trib_attr_child, repeated: ranks here
					 * that results are delivered to: INDEX at the
					 * parent (leaf) or among our own children, RANK;
					 * with PS: RANK, PORT */
	TRIB_A_TREE_DOWN,     /* string: face, repeated: explicit down group */
	TRIB_A_TREE_EPOCH,    /* u32: read only; 0 = not everybody joined */
	TRIB_A_TREE_SLOT0,    /* u32: read only */
	TRIB_A_TREE_SLOTS,    /* u32: read only: 2W */
	TRIB_A_TREE_GROUP_DOWN, /* u32: read only */
	TRIB_A_TREE_GROUP_ALL,	/* u32: read only */
	TRIB_A_TREE_GROUP_UP,	/* u32: read only */
	TRIB_A_TREE_JOINED,	/* u64: children that joined; read only */
	TRIB_A_TREE_RELAY,	/* u16: our number, 1 to 65534; only shared
					 * trees have one, and what follows */
	TRIB_A_TREE_NEXT,	/* u16: next hop's number; 65535 = the PS */
	TRIB_A_TREE_WORKERS,	/* 128 bytes: ranks whose values come by, as
					 * in &trib_hdr.bmwords; default: children */
	TRIB_A_TREE_CAP,	/* u32: slots it may hold; 0 = no bound */
	TRIB_A_TREE_AGE_MS,	/* u32: age at which others may take a slot,
					 * two time-outs; default 100 */
	TRIB_A_TREE_HELD,	/* u8: workers that attach do not get it */
	TRIB_A_TREE_LIVE,	/* u16: tree id, repeated: TREE_SWITCH only */
	TRIB_A_TREE_PS,		/* 16 bytes: address of the PS of a shared tree.
					 * What has it is a worker's row: LOCAL ranks,
					 * which send by sockets, and what follows; no
					 * children, no parent, nothing in the maps */
	TRIB_A_TREE_PS_PORT, /* u16: its UDP port; default TRIB_UDP_PORT_PS */
	TRIB_A_TREE_HOP,     /* nest of trib_attr_child, repeated, in order:
					 * relays on the way to the PS: FACE, RELAY. The
					 * first adds up what the ranks send */
	TRIB_A_TREE_GROUP,   /* 16 bytes: multicast group that results come
					 * to, at the port of the one rank */
	TRIB_A_TREE_WEIGHT,  /* u16: its share of messages against other
					 * trees of the job, 1 (default) to
					 * TRIB_TREE_WEIGHT_MAX; the same on all hosts */
	TRIB_A_TREE__MAX,
};

enum trib_attr_child {
	TRIB_A_CHILD_UNSPEC = 0,
	TRIB_A_CHILD_INDEX,   /* u16 */
	TRIB_A_CHILD_FACE,    /* string */
	TRIB_A_CHILD_RANK,    /* u16: absent for a relay */
	TRIB_A_CHILD_JOINED,  /* u8: read only */
	TRIB_A_CHILD_SAMPLES, /* u64: as struct trib_lag_child; read only */
	TRIB_A_CHILD_LAG_NS,  /* u64 */
	TRIB_A_CHILD_LAST,    /* u64 */
	TRIB_A_CHILD_CHUNK,   /* u64 */
	TRIB_A_CHILD_SEEN_MS, /* u64: age of the newest sampled chunk */
	TRIB_A_CHILD_PID,     /* u32: LOCAL: attached process, 0 = none */
	TRIB_A_CHILD_PORT,    /* u16: LOCAL with PS: UDP port that results come
					 * to, 1024 or above; default 7418 + rank */
	TRIB_A_CHILD_RELAY,   /* u16: HOP: number of the relay, 1 to 65534 */
	TRIB_A_CHILD__MAX,
};

enum trib_attr_group {
	TRIB_A_GROUP_UNSPEC = 0,
	TRIB_A_GROUP_ID,   /* u32 */
	TRIB_A_GROUP_TREE, /* u16 */
	TRIB_A_GROUP_KIND, /* string: down, all, up */
	TRIB_A_GROUP_FACE, /* string, repeated */
	TRIB_A_GROUP__MAX,
};

enum trib_attr_stat {
	TRIB_A_STAT_UNSPEC = 0,
	TRIB_A_STAT_ID,	   /* u32: enum trib_stat */
	TRIB_A_STAT_NAME,  /* string: "rx-grad", "drop-cookie", ... */
	TRIB_A_STAT_VALUE, /* u64: sum over CPUs */
	TRIB_A_STAT_TEXT,  /* string: one line that explains it */
	TRIB_A_STAT__MAX,
};

enum trib_attr_ticket {
	TRIB_A_TICKET_UNSPEC = 0,
	TRIB_A_TICKET_RANK, /* u16 */
	TRIB_A_TICKET_TEXT, /* string: trib://... */
	TRIB_A_TICKET__MAX,
};

/* Names are text: "/ps/job", "/ps/job/v=4294967297/seg=0", %XX for odd bytes. */
enum trib_attr_ndn {
	TRIB_A_NDN_UNSPEC = 0,
	TRIB_A_NDN_ENTRIES,	 /* u32: that the PIT has room for; read only */
	TRIB_A_NDN_ENTRIES_USED, /* u32: read only */
	TRIB_A_NDN_CACHE,	 /* u32: segments that are kept; read only */
	TRIB_A_NDN_CACHE_USED,	 /* u32: read only */
	TRIB_A_NDN_ROUTES,	 /* u32: read only */
	TRIB_A_NDN_LEASE_MS,	 /* u32: default 30000, at least 100 */
	TRIB_A_NDN_LEAVE_MS, /* u32: a delete is under way; default lease/2 */
	TRIB_A_NDN_MARK_INSERT, /* string: one component; default "insert" */
	TRIB_A_NDN_MARK_DISTRIBUTE, /* string: default "distribute" */
	TRIB_A_NDN_MARK_DELETE,	    /* string: default "delete" */
	TRIB_A_NDN__MAX,
};

enum trib_attr_route {
	TRIB_A_ROUTE_UNSPEC = 0,
	TRIB_A_ROUTE_PREFIX, /* string: name; "/" is all */
	TRIB_A_ROUTE_FACE,   /* string */
	TRIB_A_ROUTE__MAX,
};

enum trib_attr_pit {
	TRIB_A_PIT_UNSPEC = 0,
	TRIB_A_PIT_NAME,  /* string */
	TRIB_A_PIT_UP,	  /* string: upstream face */
	TRIB_A_PIT_FACE,  /* string, repeated: subscribers whose leases live */
	TRIB_A_PIT_STATE, /* u8: enum trib_pit_state */
	/* These four only where there is something: */
	TRIB_A_PIT_ACKED_MS, /* u64: age of what upstream acknowledged last */
	TRIB_A_PIT_VERSION,  /* u64: newest that went through */
	TRIB_A_PIT_SEGMENT,  /* u64: newest of that */
	TRIB_A_PIT_TAKEN_MS, /* u64: age of the last that went through */
	TRIB_A_PIT__MAX,
};

enum trib_pit_state {
	TRIB_PIT_PENDING = 0,
	TRIB_PIT_CONFIRMED = 1,
	TRIB_PIT_LEAVING = 2,
};

enum trib_attr_cs {
	TRIB_A_CS_UNSPEC = 0,
	TRIB_A_CS_NAME,	 /* string */
	TRIB_A_CS_BYTES, /* u32: of the Data packet */
	TRIB_A_CS__MAX,
};

/* The kernel module; all of it is read only. */
enum trib_attr_module {
	TRIB_A_MODULE_UNSPEC = 0,
	TRIB_A_MODULE_VERSION,	 /* string */
	TRIB_A_MODULE_API,	 /* u32: TRIB_KFUNC_API */
	TRIB_A_MODULE_LEVEL,	 /* string: instructions that sums use:
					 * scalar, sse2, avx2, avx512 */
	TRIB_A_MODULE_FORMATS,	 /* u64: bits 1 << enum trib_fmt */
	TRIB_A_MODULE_FPU_BUSY,	 /* u8: parameter fpu_busy is set, so that
					 * every call falls back to scalar */
	TRIB_A_MODULE_CALLS,	 /* u64: of all functions together */
	TRIB_A_MODULE_FALLBACKS, /* u64: of these, scalar for want of an FPU */
	TRIB_A_MODULE_CODEC,	 /* string: instructions that collective
					 * sockets convert with: the fastest here of
					 * scalar, avx2, avx512 */
	TRIB_A_MODULE__MAX,
};

/* A function that XDP programs call; see trib_kfunc.h. All read only. */
enum trib_attr_kfunc {
	TRIB_A_KFUNC_UNSPEC = 0,
	TRIB_A_KFUNC_NAME,  /* string, 63 bytes: also in a request for one */
	TRIB_A_KFUNC_CALLS, /* u64: that did their work */
	TRIB_A_KFUNC_BYTES, /* u64: of packet values, in these */
	TRIB_A_KFUNC_FALLBACKS, /* u64: of these, scalar for want of an FPU */
	TRIB_A_KFUNC_REFUSED,	/* u64: arguments were wrong; nothing done */
	TRIB_A_KFUNC__MAX,
};

/**
 * enum trib_module_event - what the module tells the group TRIB_GENL_EVENTS
 * @TRIB_MODULE_EVENT_FALLBACK: sums were computed by scalar code, because the packet
 *	interrupted somebody who uses the FPU. Once a second at most; COUNT is
 *	how often since the last such event. In every network namespace.
 * @TRIB_MODULE_EVENT_ATTACHED: a collective socket has joined its job, TRIB_A_SOCK
 *	of it beside the event. These three are of the socket's namespace.
 * @TRIB_MODULE_EVENT_GONE: it left, or ended; its state says which.
 * @TRIB_MODULE_EVENT_STALLED: no result came for half of the job's time-out
 *	though chunks are under way; once until one comes. COUNT is chunks.
 */
enum trib_module_event {
	TRIB_MODULE_EVENT_UNSPEC = 0,
	TRIB_MODULE_EVENT_FALLBACK = 1,
	TRIB_MODULE_EVENT_ATTACHED = 2,
	TRIB_MODULE_EVENT_GONE = 3,
	TRIB_MODULE_EVENT_STALLED = 4,
};

enum trib_attr_event {
	TRIB_A_EVENT_UNSPEC = 0,
	TRIB_A_EVENT_KIND,  /* u32: enum trib_module_event */
	TRIB_A_EVENT_COUNT, /* u64 */
	TRIB_A_EVENT__MAX,
};

/* A collective socket; see trib_sock.h. All read only. */
enum trib_attr_sock {
	TRIB_A_SOCK_UNSPEC = 0,
	TRIB_A_SOCK_INODE,    /* u64: as /proc/PID/fd says */
	TRIB_A_SOCK_UID,      /* u32: owner */
	TRIB_A_SOCK_STATE,    /* u8: enum trib_sock_state */
	TRIB_A_SOCK_JOB,      /* u16: number */
	TRIB_A_SOCK_RANK,     /* u16 */
	TRIB_A_SOCK_WORLD,    /* u16 */
	TRIB_A_SOCK_MEM,      /* u64: bytes that messages take */
	TRIB_A_SOCK_MESSAGES, /* u64: sent */
	TRIB_A_SOCK_CHUNKS,   /* u64: results received */
	TRIB_A_SOCK_SENT,     /* u64: packets */
	TRIB_A_SOCK_RECEIVED, /* u64: packets */
	TRIB_A_SOCK_RESENDS,  /* u64: packets, by gap or time-out */
	TRIB_A_SOCK_INFLIGHT, /* u64: chunks */
	TRIB_A_SOCK_ERROR,    /* string: why it is dead; only then */
	TRIB_A_SOCK__MAX,
};

/* Whose a job is, for collective sockets. */
enum trib_attr_claim {
	TRIB_A_CLAIM_UNSPEC = 0,
	TRIB_A_CLAIM_JOB, /* u16: number */
	TRIB_A_CLAIM_UID, /* u32 */
	TRIB_A_CLAIM__MAX,
};

#endif /* _UAPI_TRIB_H */
