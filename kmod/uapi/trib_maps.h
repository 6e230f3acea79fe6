/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Rows of the BPF maps. tribd writes them and the BPF programs read them; slots,
 * cells, marks, lag, counts and counters are the programs' own. `bpftool map dump pinned`
 * shows all by name, secrets too; only root may. Host byte order unless a field is __be or
 * "as on the wire".
 *
 * Map		type			key		value
 * trib_config	array(1)		0		struct trib_config
 * trees	array			tree number	struct trib_tree
 * slots	array			slot number	struct trib_slot
 * groups	array of devmaps	group number	devmap of struct bpf_devmap_val
 * ports		hash devmap		ifindex		struct bpf_devmap_val
 * members	array			group number	struct trib_group
 * rewrites	hash			trib_rewrite_key  struct trib_rewrite
 * stats	per-CPU array(1)	0		struct trib_stats
 * lag		array			tree number	struct trib_lag
 * counts	array			tree number	struct trib_count
 * delivers	array			deliver number	struct trib_deliver
 * cells	array of arrays		TRIB_CELLS_ROW	struct trib_cell * N, struct trib_desk
 * rings	array of ring buffers	ring number	struct trib_event records
 * pools	array			tree number	struct trib_pool
 * pool_slots	array			slot number	struct trib_pool_slot
 * pool_table	array			bucket		__u32 slot number
 * pool_marks	array			mark number	__u64, TRIB_MARK()
 * pool_faces	hash			trib_pool_face	struct trib_pool_local
 * forwards	hash			struct trib_forward	__u32 1
 * spread	array(1)		0		struct trib_spread
 * cpus		cpumap			CPU		struct bpf_cpumap_val: trib_moved
 * grow_next	programs(1)		0		trib_send; filled by libbpf
 *
 * Every entry of groups and ports names the program trib_egress: a port's transmit
 * batch has one devmap program, that of the batch's first frame.
 *
 * The clsact program sends copies and answers that XDP cannot: those of a group
 * that has members but no devmap, and answers through a port that is not in ports.
 * tribd omits both if a port of the node is not in native mode: generic mode shares
 * one buffer between the copies of a frame, so that their headers cannot differ.
 *
 * A change of layout or meaning, also of trib_errand.h, increments TRIB_MAPS_ABI.
 * tribd adopts pinned maps of its own ABI only: then programs and rows of two versions
 * may work side by side while one takes over from the other.
 */
#ifndef _UAPI_TRIB_MAPS_H
#define _UAPI_TRIB_MAPS_H

#include "trib_auth.h"
#include "trib_cell.h"
#include "trib_stats.h"
#include "trib_wire.h"

#define TRIB_MAPS_ABI 10

/* Units per slot, fixed when the object is compiled: 352 or 832. */
#ifndef TRIB_NVAL
#define TRIB_NVAL TRIB_NVAL_SMALL
#endif

/* Members of one group: all children and the parent. */
#define TRIB_GROUP_MAX (TRIB_CHILDREN_MAX + 1)
/* Ranks of one host that share a deliver row. */
#define TRIB_RINGS_MAX 16
/* Group, deliver and ring numbers start at 1; 0 means none. */
#define TRIB_NONE 0
/* &trib_peer.ifindex of any port. No device has this index. */
#define TRIB_PORT_ANY 0xffffffffU

/**
 * struct trib_config - the loaded object; written once, by tribd
 * @abi:    TRIB_MAPS_ABI.
 * @nval:   TRIB_NVAL of the object.
 * @ntrees: rows of trees, lag and counts.
 * @nslots: rows of slots.
 * @ngroups: rows of groups and members.
 * @ndelivers: rows of delivers; cells has TRIB_RINGS_MAX times as many.
 * @nrings: rows of rings.
 * @npool:  rows of pool_slots.
 * @nbuckets: rows of pool_table, a power of 2.
 * @nmarks: rows of pool_marks.
 * @nfaces: entries of pool_faces.
 * @instance: random, made when the maps were created.
 */
struct trib_config {
	__u32 abi;
	__u32 nval;
	__u32 ntrees;
	__u32 nslots;
	__u32 ngroups;
	__u32 ndelivers;
	__u32 nrings;
	__u32 npool;
	__u32 nbuckets;
	__u32 nmarks;
	__u32 nfaces;
	__u32 rsvd;
	__u64 instance;
};
TRIB_ASSERT(sizeof(struct trib_config) == 56, "trib_config");

/**
 * struct trib_spread_cpu - results that one CPU makes; only that CPU writes it
 * @tick: time of @made, in ticks of the kernel.
 * @made: results made in this tick.
 * @was:  results made in the tick before.
 */
struct trib_spread_cpu {
	__u64 tick;
	__u32 made;
	__u32 was;
	__u64 rsvd[6];
};
TRIB_ASSERT(sizeof(struct trib_spread_cpu) == 64, "trib_spread_cpu");

/**
 * struct trib_spread - CPUs that share the work of a relay
 * @n:   CPUs 0 to n - 1 share it; 0 or 1: a packet stays on its CPU. tribd writes it, a power
 *       of 2.
 * @cpu: counts.
 *
 * A frame that XDP sends through a veth goes on on the same CPU, and so do the result made
 * of it and the contributions that this lets go. So a lane stays on the CPU on which the
 * last contribution of its chunk was added. A busy CPU moves that one to the CPU that
 * trib_spread_home() names, which stays the same as long as the distance of lanes is a
 * multiple of TRIB_SPREAD_MAX.
 */
struct trib_spread {
	__u32 n;
	__u32 rsvd[15];
	struct trib_spread_cpu cpu[TRIB_SPREAD_MAX];
};
TRIB_ASSERT(sizeof(struct trib_spread) == 64 * (TRIB_SPREAD_MAX + 1), "trib_spread");

/**
 * struct trib_peer - a neighbour in a tree and the face that it must send from
 * @key:     of its control packets. Shared trees, children: unused.
 * @ifindex: port of the neighbour; its packets from other ports are dropped.
 *           TRIB_PORT_ANY while the route to it is a detour.
 * @port:    UDP port that answers go to.
 * @rank:    rank of a worker, 0xffff for a relay.
 * @addr:    source address, IPv6 or v4-mapped.
 * @vlan:    outer and inner VLAN id that its packets must have, 0 = none.
 * @auth:    secret that its GRADs and RESULTs must have, as on the wire.
 * @nonce:   of its JOIN, for a tribd that restarts; 0 = has not joined.
 * @rsvd:    0.
 *
 * A row of a map begins 8 or 16 bytes before a cache line: so one line has all from
 * @ifindex to @auth, which each data packet needs.
 */
struct trib_peer {
	struct trib_key key;
	__u32 ifindex;
	__be16 port;
	__u16 rank;
	__be32 addr[4];
	__be16 vlan[2];
	__u32 rsvd;
	__be64 auth;
	__u64 nonce;
};
TRIB_ASSERT(sizeof(struct trib_peer) == 64, "trib_peer");

/**
 * enum trib_tree_flags - bits of &trib_tree.flags
 * @TRIB_TREE_USED:  the row is valid; without it nothing is admitted.
 * @TRIB_TREE_ROOT:  no parent: full slots become results here.
 * @TRIB_TREE_LEAF:  no children: a worker host that only delivers.
 * @TRIB_TREE_V6:    all faces are IPv6 (else all are IPv4).
 * @TRIB_TREE_SHARED: sums are in pool_slots, which all shared trees share; see
 *                   struct trib_pool. In this struct only auth, job, flags,
 *                   down, up, world, parent and children are used.
 * @TRIB_TREE_WIPED: the slots were wiped less than two lives of a packet ago: GRADs
 *                   of floats are dropped. One that was on its way could help
 *                   to make a second RESULT, with other bits than the first.
 * @TRIB_TREE_SOCKET: a leaf whose only rank has a socket, at UDP port &trib_tree.port:
 *                   packets of the parent are passed on to that port.
 */
enum trib_tree_flags {
	TRIB_TREE_USED = 1 << 0,
	TRIB_TREE_ROOT = 1 << 1,
	TRIB_TREE_LEAF = 1 << 2,
	TRIB_TREE_V6 = 1 << 3,
	TRIB_TREE_SHARED = 1 << 4,
	TRIB_TREE_WIPED = 1 << 5,
	TRIB_TREE_SOCKET = 1 << 6,
};

/* struct trib_tree_bits - the same by name, for bpftool */
struct trib_tree_bits {
	__u8 used : 1;
	__u8 root : 1;
	__u8 leaf : 1;
	__u8 v6 : 1;
	__u8 shared : 1;
	__u8 wiped : 1;
	__u8 socket : 1;
	__u8 rsvd : 1;
};

/**
 * struct trib_tree - this host's node of one aggregation tree; written by tribd
 * @auth:    secret of our RESULTs, as on the wire.
 * @epoch:   running epoch; 0 = none: data packets are dropped.
 * @job:     job number that headers must have.
 * @flags:   enum trib_tree_flags; @bits: the same by name.
 * @nchild:  children, at most TRIB_CHILDREN_MAX.
 * @full:    the bits of all children.
 * @slot0:   first slot of the pool.
 * @slot_mask: 2W - 1: slot = slot0 + (chunk & slot_mask).
 * @down:    group of all children.
 * @all:     group of all children and the parent; at the root the same as @down.
 *           TRIB_NONE if the parent shares a port with a child: then the clsact
 *           program sends to @down and to @up.
 * @up:      group of the parent alone.
 * @up_child: index of this node at its parent.
 * @deliver: row of delivers for ranks on this host.
 * @window:  W.
 * @world:   workers of the job.
 * @port:    UDP port of the rank's socket, as on the wire; see TRIB_TREE_SOCKET.
 * @timeout_ms: of the job; START tells it to children.
 * @last_epoch: newest epoch that ran here, for a tribd that restarts.
 * @parent:  the parent.
 * @child:   the children.
 */
struct trib_tree {
	__be64 auth;
	__u32 epoch;
	__u16 job;
	union {
		__u8 flags;
		struct trib_tree_bits bits;
	};
	__u8 nchild;
	__u64 full;
	__u32 slot0;
	__u32 slot_mask;
	__u32 down;
	__u32 all;
	__u32 up;
	__u32 deliver;
	__u16 up_child;
	__u16 window;
	__u16 world;
	__be16 port;
	__u32 timeout_ms;
	__u32 last_epoch;
	struct trib_peer parent;
	struct trib_peer child[TRIB_CHILDREN_MAX];
};
TRIB_ASSERT(sizeof(struct trib_tree) == 64 + 64 * 65, "trib_tree");

/**
 * enum trib_slot_state - how far a slot's chunk is; one byte
 * @TRIB_SLOT_COLLECT: contributions are missing.
 * @TRIB_SLOT_SENT:    the sum went to the parent; the result is missing.
 * @TRIB_SLOT_RESULT:  the slot holds the result.
 */
enum trib_slot_state {
	TRIB_SLOT_COLLECT = 0,
	TRIB_SLOT_SENT = 1,
	TRIB_SLOT_RESULT = 2,
} __attribute__((packed));

/**
 * struct trib_slot - one chunk being summed, then retained; written by BPF
 * @busy:   owner word: exchange 1 to lock, 0 to release. After 30 us a packet
 *          is dropped and counted.
 * @epoch:  of the chunk; a slot of another epoch than the tree's is free.
 * @chunk:  the chunk that it holds.
 * @nval:   units of the chunk; 0 while only EMPTY contributions came.
 * @state:  enum trib_slot_state.
 * @flags:  TRIB_F_CE, TRIB_F_PUSH and TRIB_F_HEAD as collected.
 * @seen:   children that contributed.
 * @scale:  of the chunk, as on the wire.
 * @op:     of the chunk.
 * @fmt:    of the chunk.
 * @nm:     reserved, 0.
 * @last:   child that completed it, 0xff if unknown.
 * @first_ns: CLOCK_MONOTONIC of the first contribution; 0 unless the chunk is
 *          timed: TRIB_F_HEAD, or one in TRIB_LAG_EVERY.
 * @newest_ns: of the newest contribution, if the chunk is timed; a time before
 *          @first_ns is none.
 * @v:      the values, little-endian words. Float formats: fp32 accumulators
 *          while it collects, then the packet's format.
 */
struct trib_slot {
	__u32 busy;
	__u32 epoch;
	__u32 chunk;
	__u16 nval;
	enum trib_slot_state state;
	__u8 flags;
	__u64 seen;
	__be32 scale;
	enum trib_wire_op op;
	enum trib_fmt fmt;
	__u8 nm;
	__u8 last;
	__u64 first_ns;
	__u64 newest_ns;
	__u64 rsvd[2];
	__u64 v[TRIB_NVAL / 2];
};
TRIB_ASSERT(sizeof(struct trib_slot) == 64 + TRIB_NVAL * 4, "trib_slot");

/*
 * Shared pools: pool_table[trib_pool_bucket()] is the slot of a chunk. tribd writes
 * into each bucket the slot with the largest trib_pool_weight() there, so that
 * one slot more moves its own share of the buckets only.
 */

/* Mix @x so that each bit of the result depends on all of its bits. */
static inline __attribute__((always_inline)) __u64 trib_pool_mix(__u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

/**
 * trib_pool_bucket() - bucket of a chunk in pool_table
 * @key:  the chunk, or the chunk modulo cap: then the job has at most cap slots
 *        per tree.
 * @mask: rows of pool_table - 1.
 */
static inline __attribute__((always_inline)) __u32 trib_pool_bucket(__u16 job, __u16 tree,
								    __u32 key, __u32 mask)
{
	__u64 id = (__u64)job << 48 | (__u64)tree << 32 | key;

	return (__u32)trib_pool_mix(id) & mask;
}

static inline __attribute__((always_inline)) __u64 trib_pool_weight(__u32 bucket, __u32 slot)
{
	return trib_pool_mix((__u64)bucket << 32 | (slot + 1));
}

/**
 * struct trib_pool - row of a shared tree beside struct trib_tree; written by tribd
 * @relay:   our number: GRADs that bear it are summed here.
 * @next:    the next hop's number, for GRADs that leave.
 * @bmwords: words of bitmap in each GRAD, and of @mask: 1 to TRIB_BMWORDS_MAX.
 * @rank0:   rank of &trib_tree.child[0]. If ranks are in order, a packet's sender
 *           is found without pool_faces.
 * @cap:     most slots that the job may hold for this tree; 0: no bound.
 * @mark0:   first of its rows of pool_marks.
 * @mark_mask: 2W - 1: mark = mark0 + (chunk & mark_mask).
 * @table_mask: rows of pool_table - 1.
 * @age_ns:  two time-outs: another chunk may take a slot that was not touched for
 *           so long.
 * @key:     of the job: keys of ranks are derived from it where they are needed.
 * @mask:    workers whose values come by here, as on the wire.
 */
struct trib_pool {
	__u16 relay;
	__u16 next;
	__u8 bmwords;
	__u8 rsvd;
	__u16 rank0;
	__u32 cap;
	__u32 mark0;
	__u32 mark_mask;
	__u32 table_mask;
	__u64 age_ns;
	struct trib_key key;
	__be64 mask[TRIB_BMWORDS_MAX];
};
TRIB_ASSERT(sizeof(struct trib_pool) == 48 + 8 * TRIB_BMWORDS_MAX, "trib_pool");

/*
 * A mark: one 64-bit word of a relay about a chunk, with or without a slot. It has
 * 30 bits of the epoch, the chunk, and two flags. 0 is no mark.
 * MET:   a contribution came; the rest of the chunk goes where that one went.
 * ACKED: its RESULT went down.
 */
#define TRIB_MARK_MET (1ULL << 0)
#define TRIB_MARK_ACKED (1ULL << 1)
#define TRIB_MARK_FLAGS (TRIB_MARK_MET | TRIB_MARK_ACKED)
#define TRIB_MARK(epoch, chunk) ((__u64)(epoch) << 34 | (__u64)(__u32)(chunk) << 2)

/* Compare (@epoch, @chunk) with @mark's: negative if before, 0 if the same. */
static inline __attribute__((always_inline)) __s32 trib_mark_diff(__u32 epoch, __u32 chunk,
								  __u64 mark)
{
	__s32 age = (__s32)((epoch - (__u32)(mark >> 34)) << 2);

	return age ? age : trib_chunk_diff(chunk, (__u32)(mark >> 2));
}

/**
 * enum trib_pool_state - how far a shared slot's chunk is; one byte
 * @TRIB_POOL_FREE:    no chunk.
 * @TRIB_POOL_COLLECT: workers of the mask are missing.
 * @TRIB_POOL_SENT:    the sum went to the next hop; it is kept for resends.
 */
enum trib_pool_state {
	TRIB_POOL_FREE = 0,
	TRIB_POOL_COLLECT = 1,
	TRIB_POOL_SENT = 2,
} __attribute__((packed));

/**
 * struct trib_pool_slot - sum of some workers' values of one chunk; written by BPF
 * @busy:   owner word, as in struct trib_slot.
 * @job, @tree, @epoch, @chunk: identity of the chunk.
 * @scale:  of the chunk, as on the wire.
 * @op:     of the chunk.
 * @fmt:    of the chunk.
 * @nm:     reserved, 0.
 * @nval:   units valid in @v; 0 while only EMPTY contributions came.
 * @state:  enum trib_pool_state.
 * @flags:  TRIB_F_CE and TRIB_F_PUSH as collected.
 * @time_ns: CLOCK_MONOTONIC of the last contribution.
 * @workers: workers in @v, as on the wire; as many words as the tree has.
 * @v:      the values, little-endian words.
 */
struct trib_pool_slot {
	__u32 busy;
	__u16 job;
	__u16 tree;
	__u32 epoch;
	__u32 chunk;
	__be32 scale;
	enum trib_wire_op op;
	enum trib_fmt fmt;
	__u8 nm;
	__u8 rsvd0;
	__u16 nval;
	enum trib_pool_state state;
	__u8 flags;
	__u32 rsvd1;
	__u64 time_ns;
	__be64 workers[TRIB_BMWORDS_MAX];
	__u64 rsvd[3];
	__u64 v[TRIB_NVAL / 2];
};
TRIB_ASSERT(sizeof(struct trib_pool_slot) == 192 + TRIB_NVAL * 4, "trib_pool_slot");

/**
 * struct trib_pool_face - key of pool_faces: a neighbour that may send up to a
 * shared tree, or an address of ours
 *
 * The key is the face, not the rank: ranks are many and neighbours few. An entry
 * without @ifindex and @vlan is an address of ours. Packets of other senders to
 * other addresses are left to IP; packets to it are admitted from ranks of the tree
 * that are not our children: they bypass their own relay. Written by tribd.
 *
 * @tree:    tree number.
 * @ifindex: port that the packet arrives at.
 * @addr:    source address, IPv6 or v4-mapped.
 * @vlan:    outer and inner VLAN id, 0 = none.
 */
struct trib_pool_face {
	__u32 tree;
	__u32 ifindex;
	__be32 addr[4];
	__be16 vlan[2];
};
TRIB_ASSERT(sizeof(struct trib_pool_face) == 28, "trib_pool_face");

/**
 * struct trib_pool_local - value of pool_faces
 * @addr: our address that this neighbour sends to.
 * @auth: the neighbour is a relay: secret of relays, as on the wire. 0: a worker.
 */
struct trib_pool_local {
	__be32 addr[4];
	__be64 auth;
};
TRIB_ASSERT(sizeof(struct trib_pool_local) == 24, "trib_pool_local");

/**
 * struct trib_group - members of a group, for the clsact program; written by tribd
 * @n:       members.
 * @ifindex: their ports. Receivers behind one port share a multicast face; if they
 *           have none, the port is listed once per receiver, without a gap, and
 *           &trib_rewrite_key.group tells the copies apart. Such a group has no
 *           devmap.
 */
struct trib_group {
	__u32 n;
	__u32 ifindex[TRIB_GROUP_MAX];
};

/**
 * enum trib_rewrite_up - direction of a copy; one byte
 * @TRIB_REWRITE_DOWN: to a child: TRIB_F_UP is cleared.
 * @TRIB_REWRITE_UP:   to the parent: TRIB_F_UP and &trib_rewrite.child are set.
 * @TRIB_REWRITE_NEXT: to the next hop of a shared tree: TRIB_F_UP is set, and
 *                     &trib_hdr.child stays the rank. Control packets stay as they
 *                     are: a rank has signed them, for the PS.
 * @TRIB_REWRITE_PASS: down a shared tree: TRIB_F_UP is cleared. Control packets stay as
 *                     they are: the PS has signed them.
 */
enum trib_rewrite_up {
	TRIB_REWRITE_DOWN = 0,
	TRIB_REWRITE_UP = 1,
	TRIB_REWRITE_NEXT = 2,
	TRIB_REWRITE_PASS = 3,
} __attribute__((packed));

/**
 * struct trib_rewrite_key - key of rewrites: one copy of a group's packet
 * @group:   group number; in the bits from TRIB_NTH_SHIFT on, the copy's number
 *           among the members behind the port, from 0.
 * @ifindex: port that it leaves through.
 */
struct trib_rewrite_key {
	__u32 group;
	__u32 ifindex;
};
#define TRIB_NTH_SHIFT 24

/**
 * struct trib_rewrite - headers of a copy; written by tribd
 * @dmac:   Ethernet destination.
 * @smac:   Ethernet source.
 * @vlan:   VLAN ids, outer first; 0 = none.
 * @sport:  UDP source port.
 * @dport:  UDP destination port.
 * @up:     enum trib_rewrite_up.
 * @v6:     the addresses are IPv6.
 * @child:  this node's index at the parent.
 * @saddr:  source address, IPv6 or v4-mapped.
 * @daddr:  destination address.
 * @auth:   secret of data packets, as on the wire.
 * @key:    DOWN and UP: key of control packets.
 */
struct trib_rewrite {
	__u8 dmac[6];
	__u8 smac[6];
	__be16 vlan[2];
	__be16 sport;
	__be16 dport;
	enum trib_rewrite_up up;
	__u8 v6;
	__u16 child;
	__be32 saddr[4];
	__be32 daddr[4];
	__be64 auth;
	struct trib_key key;
};
TRIB_ASSERT(sizeof(struct trib_rewrite) == 80, "trib_rewrite");

/**
 * struct trib_forward - neighbour whose packets for other hosts XDP routes; written
 * by tribd for each face with the right `forward`
 * @ifindex: port.
 * @mac:     source address of its frames, which bear no tag.
 * @rsvd:    0.
 */
struct trib_forward {
	__u32 ifindex;
	__u8 mac[6];
	__u16 rsvd;
};
TRIB_ASSERT(sizeof(struct trib_forward) == 12, "trib_forward");

/**
 * struct trib_lag_child - how far a child is behind, and how long others waited for it
 *
 * Chunks with TRIB_F_HEAD are timed, and one in TRIB_LAG_EVERY. The others wait for
 * the child that contributes last, from the contribution before its own.
 *
 * @samples: chunks of one in TRIB_LAG_EVERY that it contributed to.
 * @lag_ns:  sum of their times since the first contribution, ns.
 * @last:    how often its contribution was the last.
 * @chunk:   newest timed chunk from it.
 * @seen_ns: CLOCK_MONOTONIC of that chunk.
 * @starts:  HEAD chunks that it contributed to.
 * @start_last: how often its contribution was the last: it began last.
 * @start_wait_ns: how long the others waited for it to begin.
 * @data_wait_ns: how long the others waited for its data, beyond @behind_ns: its
 *           wire is slow. Counted from its timed chunk before, so that chunks under
 *           way together are not counted twice.
 * @behind_ns: how long the others waited for it at the newest start.
 */
struct trib_lag_child {
	__u64 samples;
	__u64 lag_ns;
	__u64 last;
	__u64 chunk;
	__u64 seen_ns;
	__u64 starts;
	__u64 start_last;
	__u64 start_wait_ns;
	__u64 data_wait_ns;
	__u64 behind_ns;
};

#define TRIB_LAG_EVERY 16 /* one chunk in so many is sampled */

/* struct trib_lag - row of a tree; written by BPF */
struct trib_lag {
	struct trib_lag_child child[TRIB_CHILDREN_MAX];
};

/**
 * struct trib_window - control packets that came from one neighbour
 * @busy: owner word, as in struct trib_slot.
 * @rsvd: 0.
 * @r:    their numbers.
 */
struct trib_window {
	__u32 busy;
	__u32 rsvd;
	struct trib_replay r;
};
TRIB_ASSERT(sizeof(struct trib_window) == 24, "trib_window");

/**
 * struct trib_count - numbers of control packets of a dedicated tree; written by BPF
 * @sent:   of our newest one, up or down.
 * @rsvd:   0.
 * @parent: those from the parent.
 * @child:  those from each child.
 *
 * Lives as long as the tree, also when the slots are wiped. In a shared tree the
 * ranks and the PS have the numbers.
 */
struct trib_count {
	__u32 sent;
	__u32 rsvd;
	struct trib_window parent;
	struct trib_window child[TRIB_CHILDREN_MAX];
};
TRIB_ASSERT(sizeof(struct trib_count) == 8 + 24 * 65, "trib_count");

/**
 * struct trib_reflex - how the XDP program of a leaf sends for its rank; written by tribd
 * @auth:  secret of the rank's GRADs, as on the wire. 0: it sends nothing.
 * @saddr: address that the parent knows the rank by, IPv6 or v4-mapped.
 * @smac:  Ethernet address of the port.
 * @sport: UDP source port: TRIB_UDP_PORT, that RESULTs come to. Not the rank's socket's:
 *         no field of a header is of the rank's choice, and nobody looks at it.
 * @dport: UDP port of the parent.
 * @child: the rank's index at the parent.
 * @rsvd:  0.
 *
 * The frame of a RESULT goes back to where it came from: its source address is the
 * parent's, which admission has checked.
 */
struct trib_reflex {
	__be64 auth;
	__be32 saddr[4];
	__u8 smac[6];
	__be16 sport;
	__be16 dport;
	__be16 child;
	__u32 rsvd;
};
TRIB_ASSERT(sizeof(struct trib_reflex) == 40, "trib_reflex");

/**
 * struct trib_deliver - delivery to the ranks of this host, one per (job, tree)
 * @cell_mask: N - 1: cell = chunk & cell_mask. The desk is entry N.
 * @nrank:     ranks of the tree here, attached or not.
 * @ring:      their ring buffers; TRIB_NONE: not attached.
 * @rank:      their ranks, in the order of @ring.
 * @child:     index of each of them among the children of this node, in the order of @ring;
 *             0 at a leaf.
 * @host:      1: all children of this node are ranks here, and XDP adds their READY cells to
 *             its slots. Else 0.
 * @rsvd:      0.
 * @reflex:    of the rank of a leaf that has only one; else all zeros.
 *
 * tribd writes it. Rank i of the row has the cells TRIB_CELLS_ROW(row, i).
 */
struct trib_deliver {
	__u32 cell_mask;
	__u32 nrank;
	__u32 ring[TRIB_RINGS_MAX];
	__u32 rank[TRIB_RINGS_MAX];
	__u8 child[TRIB_RINGS_MAX];
	__u32 host;
	__u32 rsvd;
	struct trib_reflex reflex;
};
TRIB_ASSERT(sizeof(struct trib_deliver) == 200, "trib_deliver");

#define TRIB_CELLS_ROW(deliver, i) ((deliver)*TRIB_RINGS_MAX + (i))

#endif /* _UAPI_TRIB_MAPS_H */
