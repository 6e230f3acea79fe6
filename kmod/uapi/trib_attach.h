/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Attaching a worker process: to the tribd of its host by a socket, or without
 * tribd by a ticket that names the relay. Host byte order unless a field is __be.
 *
 * The socket is AF_UNIX SOCK_SEQPACKET with the abstract name TRIB_ATTACH_NAME, so
 * it belongs to the network namespace:
 *
 *	worker				tribd
 *	trib_attach_req HELLO ------->
 *	                     <-------	trib_attach_rep, file descriptors
 *	trib_attach_epoch EPOCH ----->	after START(RUN), once per tree
 *	                     <-------	trib_attach_ack
 *	trib_attach_req BYE --------->	and close
 *
 * With mapped delivery the reply carries file descriptors (SCM_RIGHTS): for each tree
 * an array of cells and a desk of this rank (trib_cell.h), new, for mmap PROT_READ and
 * PROT_WRITE; then one ring buffer for this rank.
 * If the connection closes without BYE, tribd tells the job's other workers that
 * this rank is gone. If tribd ends, maps and data traffic continue; the worker
 * connects again (TRIB_ATTACH_RESUME) within TRIB_ATTACH_GRACE_MS. The worker must
 * check that the peer's uid is 0.
 *
 * A ticket is one line of text, for hosts without tribd:
 *
 *	trib://ADDR[:PORT]/JOB?job=ID&rank=R&world=N&
 *		keys=UP:DOWN&tree=T:CHILD[:PORT[@GROUP]]
 *
 * ADDR[:PORT] is the relay: an IPv4 address or a bracketed IPv6 address; the default
 * port is 7417. tree may be repeated: tree number, our child index at the relay, our
 * UDP port for results (default 7418 + CHILD), and the multicast group that
 * results come to, of the same IP version as ADDR.
 *
 * A tree of a shared pool has, instead of tree=:
 *
 *	shared=T:RELAY:PS[:PORT][,RECV[@GROUP]]
 *	via=T:RELAY:ADDR[:PORT]
 *
 * T is the tree number. RELAY of shared= is the number of the relay at the ticket's
 * ADDR[:PORT], which sums this rank's values, or 0: no relay, all goes to the PS.
 * PS[:PORT] is the address of trib-ps (default port 7415), RECV our UDP port
 * for results (default 7418 + R), GROUP as above. via=, at most TRIB_ATTACH_HOPS - 1
 * times per tree and after its shared=, names the relays between the first one
 * and the PS, in order; they take over if it dies. All addresses of a tree have
 * one IP version.
 *
 * fmt=f32, f16 or bf16 sets &trib_attach_rep.fmt; default is block floating point.
 * weight=T:W, behind tree= or shared=, sets &trib_attach_tree.weight; default 1.
 *
 * peers=ADDR:PORT is the address where ranks meet that exchange without relays: rank 0
 * listens there. A ticket with it may have no tree, and its ADDR is no relay then.
 *
 * UP and DOWN are &trib_attach_rep.up and down, 32 hexadecimal digits each: a ticket is
 * a secret, of one rank.
 */
#ifndef _UAPI_TRIB_ATTACH_H
#define _UAPI_TRIB_ATTACH_H

#include "trib.h"
#include "trib_auth.h"
#include "trib_wire.h"

#define TRIB_ATTACH_NAME "trib/attach" /* after the leading NUL */
#define TRIB_ATTACH_MAGIC 0x54524942   /* "TRIB" */
#define TRIB_ATTACH_VERSION 5
/*
 * Trees of one job on one host: enough for BCubes (4,3), (2,5) and (8,2). Each has a
 * file descriptor; one message carries 253.
 */
#define TRIB_ATTACH_TREES 192
#define TRIB_ATTACH_HOPS 3 /* relays between a rank and its PS */
#define TRIB_TREE_WEIGHT_MAX 64
#define TRIB_RANK_ANY 0xffff
/* A restarted tribd declares ranks dead that have not resumed after so long. */
#define TRIB_ATTACH_GRACE_MS 10000

/**
 * enum trib_attach_cmd - request of the worker
 * @TRIB_ATTACH_HELLO: first message; answered by struct trib_attach_rep.
 * @TRIB_ATTACH_BYE:   the worker leaves; no answer.
 * @TRIB_ATTACH_EPOCH: struct trib_attach_epoch: the epoch that START(RUN) named to
 *                     the worker. tribd writes it into the tree row of this
 *                     host, which admits results only then. Sent for each tree
 *                     after START(RUN), and answered (struct trib_attach_ack)
 *                     before the first GRAD. Repeating it is harmless. If results
 *                     come to sockets, the worker need not wait: tribd only
 *                     learns what to tell the others should this process die.
 */
enum trib_attach_cmd {
	TRIB_ATTACH_HELLO = 1,
	TRIB_ATTACH_BYE = 2,
	TRIB_ATTACH_EPOCH = 3,
};

/**
 * enum trib_attach_flags - bits of &trib_attach_req.flags
 * @TRIB_ATTACH_MAPPED: HELLO: the worker wants mapped delivery; refused for trees
 *                      of shared pools, whose results come to sockets. With
 *                      RESUME: it has mapped delivery.
 * @TRIB_ATTACH_RESUME: HELLO: the rank was attached to a tribd that has ended; it
 *                      keeps its file descriptors and gets none. -ENOENT: the
 *                      job is gone. -ESTALE: this tribd does not know the rank
 *                      or, with MAPPED, its ring buffer or its cells. Without MAPPED the
 *                      reply has all trees that the rank may have had; the rank
 *                      names its own by TRIB_ATTACH_EPOCH.
 */
enum trib_attach_flags {
	TRIB_ATTACH_MAPPED = 1 << 0,
	TRIB_ATTACH_RESUME = 1 << 1,
};

/**
 * struct trib_attach_req - worker to tribd
 * @magic:   TRIB_ATTACH_MAGIC.
 * @version: TRIB_ATTACH_VERSION.
 * @cmd:     enum trib_attach_cmd.
 * @flags:   enum trib_attach_flags.
 * @rank:    wanted rank, or TRIB_RANK_ANY: the lowest free one of this host. A job
 *           without a tree here needs a rank: tribd does not know which ones are here.
 * @job:     name, NUL-terminated.
 */
struct trib_attach_req {
	__u32 magic;
	__u16 version;
	__u16 cmd;
	__u32 flags;
	__u32 rank;
	char job[TRIB_NAME_MAX];
};
TRIB_ASSERT(sizeof(struct trib_attach_req) == 80, "trib_attach_req");

/**
 * struct trib_attach_epoch - worker to tribd, after START(RUN)
 * @magic:   TRIB_ATTACH_MAGIC.
 * @version: TRIB_ATTACH_VERSION.
 * @cmd:     TRIB_ATTACH_EPOCH.
 * @tree:    one of the trees of the reply to HELLO.
 * @epoch:   that runs on it; not 0.
 */
struct trib_attach_epoch {
	__u32 magic;
	__u16 version;
	__u16 cmd;
	__u32 tree;
	__u32 epoch;
};
TRIB_ASSERT(sizeof(struct trib_attach_epoch) == 16, "trib_attach_epoch");

/**
 * struct trib_attach_ack - tribd's answer to TRIB_ATTACH_EPOCH
 * @magic:   TRIB_ATTACH_MAGIC.
 * @version: TRIB_ATTACH_VERSION.
 * @err:     0 or a positive errno.
 */
struct trib_attach_ack {
	__u32 magic;
	__u16 version;
	__u16 err;
};
TRIB_ASSERT(sizeof(struct trib_attach_ack) == 8, "trib_attach_ack");

/**
 * struct trib_attach_hop - a relay on the path to the PS; written by tribd
 * @addr:  IPv6 or v4-mapped, of the tree's IP version.
 * @port:  UDP port.
 * @relay: its number, 1 to 65534.
 */
struct trib_attach_hop {
	__be32 addr[4];
	__u16 port;
	__u16 relay;
};
TRIB_ASSERT(sizeof(struct trib_attach_hop) == 20, "trib_attach_hop");

/**
 * enum trib_attach_kind - bits of &trib_attach_tree.flags
 * @TRIB_ATTACH_SHARED: a tree of a shared pool. JOIN, START and LEAVE go
 *           between the worker and the PS; packets have a bitmap of one bit for
 *           each of the job's workers.
 * @TRIB_ATTACH_REFLEX: XDP sends for this rank what its desk allows. Without it the
 *           rank sends all by socket. With mapped delivery only. It may become wrong:
 *           tribd follows its devices, and tells the rank when that attaches or resumes.
 */
enum trib_attach_kind {
	TRIB_ATTACH_SHARED = 1 << 0,
	TRIB_ATTACH_REFLEX = 1 << 1,
};

/**
 * struct trib_attach_tree - addresses of one tree; written by tribd
 * @addr:    relay, IPv6 or v4-mapped. Shared: the PS.
 * @port:    its UDP port.
 * @tree:    tree number.
 * @child:   this rank's child index at that relay. Shared: its rank.
 * @recv_port: UDP port this worker must bind (results come to it), or 0 for
 *           any (mapped delivery: results come to cells).
 * @local_addr: address to bind, or all zeros.
 * @mcast_addr: multicast group to join, or all zeros: results come to it, at
 *           recv_port. Joined on the device of local_addr, or else on the device
 *           towards the relay (shared: the first hop).
 * @flags:   enum trib_attach_kind.
 * @nhop:    shared: relays in @hop.
 * @weight:  share of messages in this tree, relative to the other trees; the same
 *           for all ranks. 0 is 1.
 * @hop:     shared: relays from here to the PS, in order. The first one sums this
 *           rank's values.
 */
struct trib_attach_tree {
	__be32 addr[4];
	__be32 local_addr[4];
	__be32 mcast_addr[4];
	__u16 port;
	__u16 tree;
	__u16 child;
	__u16 recv_port;
	__u16 flags;
	__u8 nhop;
	__u8 weight;
	struct trib_attach_hop hop[TRIB_ATTACH_HOPS];
};
TRIB_ASSERT(sizeof(struct trib_attach_tree) == 120, "trib_attach_tree");

/**
 * struct trib_attach_rep - tribd to worker
 * @magic:   TRIB_ATTACH_MAGIC.
 * @version: TRIB_ATTACH_VERSION.
 * @err:     0 or a positive errno; then only @text is valid.
 * @flags:   TRIB_ATTACH_MAPPED if file descriptors came along; never if any
 *           of the trees is a shared one.
 * @rank:    this worker's rank.
 * @world:   workers of the job.
 * @job:     job number.
 * @ntree:   trees in @tree; 1 cells array for each, in this order. 0 only with @peers.
 * @nval:    TRIB_NVAL of the cells arrays.
 * @window:  W.
 * @ncell:   of mapped delivery, also if it resumes: N, the cells of each array, before its
 *           desk. Ranks of other hosts may have another N.
 * @up:      trib_key_rank() of this rank, to send up.
 * @down:    trib_key_members(), to check what comes down. Control packets of dedicated
 *           trees have trib_key_node() of it and &trib_attach_tree.addr.
 * @rate:    planned rate in bit/s, 0 = none.
 * @timeout_ms: of the job.
 * @epoch:   newest epoch of any tree that this host knows, for JOIN: the next one is
 *           larger.
 * @fmt:     enum trib_fmt of float sums; TRIB_FMT_Q32 unless the job's relays have
 *           the kernel module. 0 is Q32.
 * @peers_port: TCP port at @peers, or 0: the job names no such address.
 * @text:    reason of @err, one line; its NUL may be missing.
 * @peers:   IPv6 or v4-mapped: rank 0 listens here for ranks that exchange without
 *           relays. A reply with it may have no tree: tribd does not watch over such a
 *           rank, whose end the others notice by themselves.
 * @tree:    the trees.
 *
 * A process gets no other key: it cannot send for another rank.
 */
struct trib_attach_rep {
	__u32 magic;
	__u16 version;
	__u16 err;
	__u32 flags;
	__u16 rank;
	__u16 world;
	__u16 job;
	__u16 ntree;
	__u16 nval;
	__u16 window;
	struct trib_key up;
	struct trib_key down;
	__u64 rate;
	__u32 timeout_ms;
	__u32 epoch;
	__u16 fmt;
	__u16 peers_port;
	__u32 ncell;
	char text[216];
	__be32 peers[4];
	struct trib_attach_tree tree[TRIB_ATTACH_TREES];
};
TRIB_ASSERT(sizeof(struct trib_attach_rep) == 312 + 120 * TRIB_ATTACH_TREES, "trib_attach_rep");

#endif /* _UAPI_TRIB_ATTACH_H */
