/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Counters of the aggregation programs, one set a CPU, in the map `stats`.
 */
#ifndef _UAPI_TRIB_STATS_H
#define _UAPI_TRIB_STATS_H

#include "trib_wire.h"

/*
 * TRIB_STATS - every counter: X(number, enumerator, member, meaning)
 *
 * RX counters follow admission. A packet for our port that goes no further is
 * counted under exactly one DROP. Append only: a retired counter becomes
 * R(number, count), so that the numbers behind it stay.
 */
/* clang-format off */
#define TRIB_STATS(X, R)										\
	X(0, RX_GRAD, rx_grad, "contributions received, resends included")				\
	X(1, RX_RESULT, rx_result, "results received")							\
	X(2, RX_NEED, rx_need, "NEED and ASK received")							\
	X(3, RX_CONTROL, rx_control, "ALIVE, ABORT, JOIN, START and LEAVE")				\
	X(4, RX_RESEND, rx_resend, "contributions received with RESEND")				\
	X(5, RX_BYTES, rx_bytes, "payload bytes of contributions and results received")			\
	X(6, ADDED, added, "contributions merged into a slot")						\
	X(7, DONE, done, "chunks completed here")							\
	X(8, TX_RESULT, tx_result, "results multicast, counted once a group")				\
	X(9, TX_PARTIAL, tx_partial, "partial sums sent to the parent")					\
	X(10, TX_ANSWER, tx_answer, "results sent again, to one child")					\
	X(11, TX_NEED, tx_need, "NEED and ASK sent")							\
	X(12, TX_GROW, tx_grow, "packets sent by the clsact program")					\
	X(13, DELIVERED, delivered, "results written into cells")					\
	X(14, RUNG, rung, "ring buffer records written")						\
	X(15, EGRESS, egress, "copies rewritten on their way out")					\
	X(16, POOL_MERGED, pool_merged, "contributions merged into a shared slot")			\
	X(17, POOL_PASSED, pool_passed, "for this relay, but passed on: no shared slot free")		\
	X(18, POOL_FORWARDED, pool_forwarded, "for other relays or the PS, on their way up")		\
	X(19, POOL_TAKEN_OVER, pool_taken_over, "old shared slots that another chunk took")		\
	X(20, POOL_FREED, pool_freed, "shared slots freed by their result")				\
	X(21, POOL_UNFREED, pool_unfreed, "results whose shared slot was in use")			\
	X(22, POOL_PROBED, pool_probed, "probes answered")						\
	X(23, RELAYED, relayed, "packets for other hosts, routed by XDP: trib face forward")		\
	X(24, TX_REFLEX, tx_reflex, "contributions sent in the frames of results, for ranks")		\
	X(25, REFLEX_LEFT, reflex_left, "contributions that could go, left to their rank: too long, malformed, or second") \
	X(26, ADDED_HERE, added_here, "contributions of ranks here that XDP added from their cells")	\
	X(27, TX_MOVED, tx_moved, "last contributions of chunks, moved to the CPU of their lane") \
	R(28, 4)											\
	X(32, DROP_SHORT, drop_short, "headers do not fit the frame")					\
	X(33, DROP_VERSION, drop_version, "another wire version")					\
	X(34, DROP_TYPE, drop_type, "unknown type, or one that does not travel this way")		\
	X(35, DROP_FORMAT, drop_format, "unknown operation, format or bitmap size, or a bad pair")	\
	X(36, DROP_LENGTH, drop_length, "IP, UDP, header and frame lengths disagree")			\
	X(37, DROP_GSO, drop_gso, "datagrams glued together by segmentation offload")			\
	X(38, DROP_FRAGMENT, drop_fragment, "IP fragment: an MTU is too small")				\
	X(39, DROP_NVAL, drop_nval, "more values than a slot holds")					\
	X(40, DROP_TREE, drop_tree, "no such tree or job here")						\
	X(41, DROP_AUTH, drop_auth, "forged: wrong secret or authenticator")				\
	X(42, DROP_CHILD, drop_child, "no such child in the tree")					\
	X(43, DROP_FACE, drop_face, "not from the face of the child or parent")				\
	X(44, DROP_EPOCH, drop_epoch, "another epoch than the running one")				\
	X(45, DROP_STALE, drop_stale, "chunk older than that of its slot or mark")			\
	X(46, DROP_DUP, drop_dup, "contribution already counted")					\
	X(47, DROP_SCALE, drop_scale, "scale differs from the slot's")					\
	X(48, DROP_MISMATCH, drop_mismatch, "operation, format or length differs from the slot's")	\
	X(49, DROP_BUSY, drop_busy, "slot still in use after 30 us")					\
	X(50, DROP_SEEN, drop_seen, "RESULT already held, or NEED for another child")			\
	X(51, DROP_GROUP, drop_group, "group missing or empty")						\
	X(52, DROP_REWRITE, drop_rewrite, "no MAC or local address known for the face")			\
	X(53, DROP_GROW, drop_grow, "packet could not be grown or cloned")				\
	X(54, DROP_GROW_GONE, drop_grow_gone, "slot moved on before the packet grew")			\
	X(55, DROP_DELIVER, drop_deliver, "no cells to deliver to")					\
	X(56, DROP_RING, drop_ring, "ring buffer of a rank full")					\
	X(57, DROP_HOPS, drop_hops, "no group to send it to")						\
	X(58, DROP_OPTIONS, drop_options, "IP options or extension headers")				\
	X(59, DROP_BITMAP, drop_bitmap, "bitmap of workers empty, of another size, or with others") 			\
	X(60, DROP_ACKED, drop_acked, "late copy of a chunk whose result went down")			\
	X(61, DROP_WAITING, drop_waiting, "sent again, while other workers are missing")		\
	X(62, DROP_MODULE, drop_module, "float contribution, programs loaded without the module")	\
	X(63, DROP_WIPED, drop_wiped, "float contribution soon after trib tree wipe")			\
	X(64, DROP_MARK, drop_mark, "source MAC is one of our own marks: forged")			\
	X(65, DROP_META, drop_meta, "the port's driver has no XDP metadata, which trib_grow needs")	\
	X(66, DROP_REPLAY, drop_replay, "copy of an old NEED, ALIVE or ABORT")				\
	X(67, DROP_MASK, drop_mask, "mask of a contribution with a wrong number of bits")		\
	R(68, 60)
/* clang-format on */

/* enum trib_stat - number of a counter, also in netlink: TRIB_RX_GRAD ... */
#define TRIB_STAT_ENUM(nr, NAME, name, text) TRIB_##NAME = nr,
#define TRIB_STAT_NONE(...)
enum trib_stat {
	/* clang-format off */
	TRIB_STATS(TRIB_STAT_ENUM, TRIB_STAT_NONE)
	TRIB_STAT__MAX = 128,
	/* clang-format on */
};

/*
 * struct trib_stats - the counters of one CPU, written by the BPF programs
 *
 * Members are enum trib_stat in order, so that the programs use it as an array
 * and bpftool prints names.
 */
#define TRIB_STAT_MEMBER(nr, NAME, name, text) __u64 name;
#define TRIB_STAT_RESERVED(nr, n) __u64 reserved_##nr[n];
struct trib_stats {
	TRIB_STATS(TRIB_STAT_MEMBER, TRIB_STAT_RESERVED)
};
TRIB_ASSERT(sizeof(struct trib_stats) == 8 * TRIB_STAT__MAX, "trib_stats");
#define TRIB_STAT_CHECK(nr, NAME, name, text)                                                      \
	TRIB_ASSERT(__builtin_offsetof(struct trib_stats, name) == 8 * (nr), #name);
TRIB_STATS(TRIB_STAT_CHECK, TRIB_STAT_NONE)

#endif /* _UAPI_TRIB_STATS_H */
