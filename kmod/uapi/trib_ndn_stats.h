/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Counters of the NDN forwarder, one set a CPU, in the map `ndn_stats`.
 */
#ifndef _UAPI_TRIB_NDN_STATS_H
#define _UAPI_TRIB_NDN_STATS_H

#include <linux/types.h>
#include "trib_ndn.h"

/*
 * NDN_STATS - every counter: X(number, enumerator, member, meaning)
 *
 * A packet for us that goes no further counts under exactly one DROP or BAD,
 * except DROP_MISS, which counts lost reports. BAD are packets that the parser
 * refuses; ndn_err_text() has their meaning. Append only: a retired counter
 * becomes R(number, count), so that the numbers behind it stay.
 */
/* clang-format off */
#define NDN_STATS(X, R)	\
	X(0, STAT_RX_INTEREST, rx_interest, "well-formed Interests from faces")					\
	X(1, STAT_RX_DATA, rx_data, "well-formed Data from faces")						\
	X(2, STAT_INSERTED, inserted, "subscriptions, new or renewed")						\
	X(3, STAT_NEW, new, "PIT entries created")								\
	X(4, STAT_TURNED, turned, "PIT entries whose upstream face changed")					\
	X(5, STAT_CONFIRMED, confirmed, "inserts acknowledged by upstream")					\
	X(6, STAT_DELETED, deleted, "subscriptions ended by their subscriber")					\
	X(7, STAT_GONE, gone, "PIT entries removed: no subscriber, or by command")				\
	X(8, STAT_ASKED, asked, "Interests that wait for Data, new or repeated")				\
	X(9, STAT_EXPIRED, expired, "pending Interests that were never answered")				\
	X(10, STAT_KEPT, kept, "Data stored in the cache")							\
	X(11, STAT_HIT, hit, "Interests answered from the cache")						\
	X(12, STAT_ACK, ack, "inserts answered by a confirmed entry")						\
	X(13, STAT_TX_INTEREST, tx_interest, "Interests forwarded")						\
	X(14, STAT_TX_DATA, tx_data, "Data forwarded, to any number of faces")					\
	X(15, STAT_TX_COPY, tx_copy, "copies of Data that leave by a devmap")					\
	X(16, STAT_TX_SLOW, tx_slow, "copies and answers sent by the clsact program")				\
	X(17, STAT_SPARED, spared, "copies discarded at ports without a receiver")				\
	X(18, DROP_MISS, drop_miss, "reports of unknown senders not made: too many at once")			\
	X(19, STAT_REPLACED, replaced, "pending Interests replaced by newer ones of the same face, or of one that holds less")	\
	R(20, 12)												\
	X(32, DROP_SHORT, drop_short, "headers do not fit the frame")						\
	X(33, DROP_OPTIONS, drop_options, "IP options or extension headers")					\
	X(34, DROP_FRAGMENT, drop_fragment, "IP fragment")							\
	X(35, DROP_LENGTH, drop_length, "IP, UDP and frame lengths disagree")					\
	X(36, DROP_SOURCE, drop_source, "source MAC address is a group address")				\
	X(37, DROP_FACE, drop_face, "sender is no face")							\
	X(38, DROP_NACK, drop_nack, "Nack: an Interest that came back")						\
	X(39, DROP_NONCE, drop_nonce, "Interest without a nonce")						\
	X(40, DROP_LOOP, drop_loop, "Interest whose name and nonce were here before")				\
	X(41, DROP_RIGHT, drop_right, "face has no right to the name")						\
	X(42, DROP_ROUTE, drop_route, "no route to the name")							\
	X(43, DROP_BELOW, drop_below, "route leads back to the sender")						\
	X(44, DROP_LEAVING, drop_leaving, "insert while a delete is under way")					\
	X(45, DROP_WAITS, drop_waits, "Interest by which a stock client waits for distributions")		\
	X(46, DROP_PENDING, drop_pending, "Interest joined a pending one: not lost")				\
	X(47, DROP_COLLISION, drop_collision, "another name has the same key")					\
	X(48, DROP_FULL, drop_full, "no room for an entry or an Interest")					\
	X(49, DROP_BUSY, drop_busy, "row was locked for too long")						\
	X(50, DROP_STRAY, drop_stray, "Data that nobody asked for or subscribed to")				\
	X(51, DROP_UPSTREAM, drop_upstream, "Data not from the upstream face")					\
	X(52, DROP_SEEN, drop_seen, "segment forwarded before, or too old")					\
	X(53, DROP_NOBODY, drop_nobody, "no receiver but the sender")						\
	X(54, DROP_MTU, drop_mtu, "longer than the MTU of the face, or than a copy can be")			\
	X(55, DROP_PORT, drop_port, "port is gone")								\
	X(56, DROP_HEAD, drop_head, "no room for headers")							\
	X(57, DROP_ROOM, drop_room, "delete too short to be turned into its answer")				\
	X(58, DROP_FLIGHT, drop_flight, "flight overtaken by 1024 others")					\
	X(59, DROP_GONE, drop_gone, "answer disappeared before it was sent")					\
	X(60, DROP_OFFLOAD, drop_offload, "headers change, but a device computes the checksum")			\
	X(61, DROP_META, drop_meta, "the port's driver has no XDP metadata, which ndn_grow needs")		\
	X(62, DROP_QUOTA, drop_quota, "face holds as many pending Interests or PIT entries as it may")		\
	X(63, DROP_LATE, drop_late, "acknowledgement of an insert from before the last delete")			\
	R(64, 1)												\
	X(64 + NDN_E_CUT, BAD_CUT, bad_cut, 0)									\
	X(64 + NDN_E_VARNUM, BAD_VARNUM, bad_varnum, 0)								\
	X(64 + NDN_E_TYPE_ZERO, BAD_TYPE_ZERO, bad_type_zero, 0)						\
	X(64 + NDN_E_TYPE_BIG, BAD_TYPE_BIG, bad_type_big, 0)							\
	X(64 + NDN_E_BEYOND, BAD_BEYOND, bad_beyond, 0)								\
	X(64 + NDN_E_TRAILING, BAD_TRAILING, bad_trailing, 0)							\
	X(64 + NDN_E_LONG, BAD_LONG, bad_long, 0)								\
	X(64 + NDN_E_ELEMENTS, BAD_ELEMENTS, bad_elements, 0)							\
	X(64 + NDN_E_CRITICAL, BAD_CRITICAL, bad_critical, 0)							\
	X(64 + NDN_E_ORDER, BAD_ORDER, bad_order, 0)								\
	X(64 + NDN_E_NUMBER, BAD_NUMBER, bad_number, 0)								\
	X(64 + NDN_E_SIZE, BAD_SIZE, bad_size, 0)								\
	X(64 + NDN_E_KIND, BAD_KIND, bad_kind, 0)								\
	X(64 + NDN_E_NO_NAME, BAD_NO_NAME, bad_no_name, 0)							\
	X(64 + NDN_E_NAME_EMPTY, BAD_NAME_EMPTY, bad_name_empty, 0)						\
	X(64 + NDN_E_NAME_LONG, BAD_NAME_LONG, bad_name_long, 0)						\
	X(64 + NDN_E_NAME_DEEP, BAD_NAME_DEEP, bad_name_deep, 0)						\
	X(64 + NDN_E_COMPONENT, BAD_COMPONENT, bad_component, 0)						\
	X(64 + NDN_E_DIGEST_PLACE, BAD_DIGEST_PLACE, bad_digest_place, 0)					\
	R(84, 1)												\
	X(64 + NDN_E_PARAMS, BAD_PARAMS, bad_params, 0)								\
	X(64 + NDN_E_HINT, BAD_HINT, bad_hint, 0)								\
	X(64 + NDN_E_FINAL_BLOCK, BAD_FINAL_BLOCK, bad_final_block, 0)						\
	X(64 + NDN_E_UNSIGNED, BAD_UNSIGNED, bad_unsigned, 0)							\
	X(64 + NDN_E_KEY_LOCATOR, BAD_KEY_LOCATOR, bad_key_locator, 0)						\
	X(64 + NDN_E_LP_FIELD, BAD_LP_FIELD, bad_lp_field, 0)							\
	X(64 + NDN_E_LP_ORDER, BAD_LP_ORDER, bad_lp_order, 0)							\
	X(64 + NDN_E_LP_FRAGMENTED, BAD_LP_FRAGMENTED, bad_lp_fragmented, 0)					\
	X(64 + NDN_E_LP_EMPTY, BAD_LP_EMPTY, bad_lp_empty, 0)							\
	X(64 + NDN_E_LP_NACK, BAD_LP_NACK, bad_lp_nack, 0)							\
	X(64 + NDN_E_HOPS, BAD_HOPS, bad_hops, 0)								\
	R(96, 8)												\
	X(64 + NDN_E_SPACE, BAD_SPACE, bad_space, 0)								\
	R(105, 23)
/* clang-format on */

/* enum ndn_stat - number of a counter: NDN_STAT_RX_INTEREST, NDN_DROP_SHORT ... */
#define NDN_STATS_ENUM(nr, NAME, name, text) NDN_##NAME = nr,
#define NDN_STATS_NONE(...)
enum ndn_stat {
	/* clang-format off */
	NDN_STATS(NDN_STATS_ENUM, NDN_STATS_NONE)
	NDN_STAT_BAD = 64, /* + enum ndn_err: NDN_BAD_... */
	NDN_STAT__MAX = 128,
	/* clang-format on */
};

/*
 * struct ndn_stats - the counters of one CPU. Members are enum ndn_stat in order:
 * the programs use the row as an array, and bpftool prints names.
 */
#define NDN_STATS_MEMBER(nr, NAME, name, text) __u64 name;
#define NDN_STATS_RESERVED(nr, n) __u64 reserved_##nr[n];
struct ndn_stats {
	NDN_STATS(NDN_STATS_MEMBER, NDN_STATS_RESERVED)
};
NDN_ASSERT(sizeof(struct ndn_stats) == 8 * NDN_STAT__MAX, "ndn_stats");
#define NDN_STATS_CHECK(nr, NAME, name, text)                                                      \
	NDN_ASSERT(__builtin_offsetof(struct ndn_stats, name) == 8 * (nr), #name);
NDN_STATS(NDN_STATS_CHECK, NDN_STATS_NONE)

#endif /* _UAPI_TRIB_NDN_STATS_H */
