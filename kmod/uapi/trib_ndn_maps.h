/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * What lives in the maps of the NDN forwarder (bpf/ndn.bpf.c), an NDN
 * forwarder with a persistent PIT: entries survive the Data that they forward.
 * Readable by anybody with bpftool. Host byte order unless a field says __be;
 * times are CLOCK_MONOTONIC in ns, 0 is never.
 *
 * Map		type		key		value			written by
 * ndn_config	array(1)	0		struct ndn_config	tribd
 * ndn_faces	array(256)	face number	struct ndn_face	tribd
 * ndn_from	hash		ndn_from	__u32 face number	tribd
 * ndn_first	hash		__u32 ifindex	__u32 face number	tribd
 * ndn_out	devmap		place		bpf_devmap_val		tribd
 * ndn_ports	hash devmap	ifindex		bpf_devmap_val		tribd
 * ndn_fib	hash		__u64 key	struct ndn_route	tribd
 * ndn_rights	hash		ndn_right_key	struct ndn_right	tribd
 * ndn_tags	array		bucket		struct ndn_tags	BPF
 * ndn_pit	array		row		struct ndn_entry	BPF
 * ndn_more	array		row		struct ndn_more	BPF
 * ndn_asks	hash		__u64 key	struct ndn_ask	BPF
 * ndn_asked	array		part of a key	__u32 rows of ndn_asks BPF
 * ndn_nonces	array		place		struct ndn_nonces	BPF
 * ndn_cache	array		place		struct ndn_kept	BPF
 * ndn_flights array		place		struct ndn_flight	BPF
 * ndn_misses	ring buffer	-		struct ndn_miss	BPF
 * ndn_stats	per-CPU array	enum ndn_stat	__u64			BPF
 *
 * A key is ndn_hash() of a name. It finds a row; the row has the whole name,
 * and is for that name only: nothing is ever done by a key alone. Where a map is
 * a hash, a second name of equal key is refused and counted
 * (NDN_DROP_COLLISION).
 *
 * The persistent PIT is three arrays, because what a distribution has to wait
 * for is memory: an entry's two cache lines, after the two that say where it is.
 * An entry is in one of NDN_WAYS rows of one of two buckets, which
 * ndn_bucket() tells from its key: row = bucket * NDN_WAYS + way, the same in
 * ndn_pit and ndn_more. Way by way ndn_tags has ndn_tag() of the key, 0
 * where the row is free. New entries go to the emptier bucket; if both are full
 * the insert is dropped (NDN_DROP_FULL). With ndn_buckets(n) buckets, n
 * entries that come and go find one bucket full with a probability of 6e-7.
 *
 * User space walks the entries row by row: ndn_pit and ndn_more may be
 * mapped, from the first row on (BPF_F_MMAPABLE). A row is an entry as long as
 * flags has NDN_ENTRY_USED; its name is in two parts, ndn_entry_name() joins
 * them. A row read while a packet is at it may be half of what was and half of
 * what is: read lock, then the row, then lock again, and take it if both were 0;
 * it may still have changed in between, so this is for looking, never for
 * deciding. Nobody but the programs writes there.
 *
 * The rules are those of tests/sim/ndn/README.md.
 */
#ifndef _UAPI_TRIB_NDN_MAPS_H
#define _UAPI_TRIB_NDN_MAPS_H

#include <linux/types.h>
#include "trib_ndn.h"

#ifndef NDN_ASSERT
#define NDN_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* Anything here that changes layout or meaning increments it. */
#define NDN_ABI 2

/* Face numbers are 1 to 255: bits of four words. 0 is nobody. */
#define NDN_FACES 256
#define NDN_FACE_WORDS (NDN_FACES / 64)
#define NDN_FACE_NONE 0
/* Bytes of a name in a row: whole words. */
#define NDN_NAME_BYTES 256
#define NDN_NAME_WORDS (NDN_NAME_BYTES / 8)
/* Segments, newest first, that an entry's window tells apart. */
#define NDN_WINDOW 64
/* Rows of a bucket of the persistent PIT. */
#define NDN_WAYS 14
/* Bytes of a name that are in an entry itself; whole words. */
#define NDN_NEAR_BYTES 48
/* Half leases that an entry tells apart. */
#define NDN_LAPS 3
/* Bytes of an acknowledgement that an entry keeps, to answer by itself. */
#define NDN_ACK_MAX 256
/* Bytes of a Data packet that the cache keeps at most. */
#define NDN_KEEP_MAX 4000
/* Bytes of a packet that the clsact program copies at most. */
#define NDN_COPY_MAX 4096
/* Longest marker component: its TLV. */
#define NDN_MARKER_BYTES 32
/* Places of ndn_asked; a power of 2. */
#define NDN_ASKED_PLACES 16384
/* Rows of ndn_flights for each possible CPU. */
#define NDN_FLIGHTS 1024

/**
 * enum ndn_mark - the marker that a name begins with
 * @NDN_MARK_PLAIN:      none.
 * @NDN_MARK_DISTRIBUTE: what goes to subscribers.
 * @NDN_MARK_INSERT:     begins or renews a subscription.
 * @NDN_MARK_DELETE:     ends it.
 */
enum ndn_mark {
	NDN_MARK_PLAIN = 0,
	NDN_MARK_DISTRIBUTE = 1,
	NDN_MARK_INSERT = 2,
	NDN_MARK_DELETE = 3,
	NDN_MARK__MAX
};

/**
 * struct ndn_row_name - a name in full, without its marker
 * @len:   bytes of @value that count: of a Name's VALUE.
 * @count: components.
 * @mark:  enum ndn_mark.
 * @value: the TLVs of the components; what follows @len is 0.
 */
struct ndn_row_name {
	__u16 len;
	__u8 count;
	__u8 mark;
	__u8 rsvd[4];
	__u8 value[NDN_NAME_BYTES];
};
NDN_ASSERT(sizeof(struct ndn_row_name) == 264, "ndn_row_name");

/**
 * struct ndn_marker - a marker component, as its TLV
 * @len:  bytes; 0: no such marker.
 * @tlv:  type, length and value; what follows is 0.
 */
struct ndn_marker {
	__u64 len;
	__u8 tlv[NDN_MARKER_BYTES];
};

/**
 * struct ndn_config - the one row that describes the forwarder
 * @abi:      NDN_ABI; as long as it is not, NDN packets are left to the host.
 * @ncache:   places of ndn_cache, a power of 2; 0: no cache.
 * @lease_ns: how long a subscription holds without a renewal, at least. A face
 *            is dropped between this and half as much again after its last.
 * @leave_ns: how long a delete can be under way.
 * @fib_lens: bit n: a route has n components.
 * @nnonces:  places of ndn_nonces, a power of 2.
 * @buckets:  rows of ndn_tags; ndn_pit and ndn_more have NDN_WAYS times
 *            as many.
 * @changes:  counted up when ndn_from has changed: lookups are remembered.
 * @extra:    faces that are not the first of their port: if one of them is to
 *            get a copy, the clsact program makes all copies.
 * @generic:  faces of ports without native XDP: the clsact program sends.
 * @marker:   by enum ndn_mark; the first is not used.
 * @seed:     of keys; random, made when the maps were.
 */
struct ndn_config {
	__u32 abi;
	__u32 ncache;
	__u64 lease_ns;
	__u64 leave_ns;
	__u32 fib_lens;
	__u32 changes;
	__u32 nnonces;
	__u32 buckets;
	__u64 extra[NDN_FACE_WORDS];
	__u64 generic[NDN_FACE_WORDS];
	struct ndn_marker marker[NDN_MARK__MAX];
	__u64 seed[NDN_NAME_WORDS];
};

/**
 * struct ndn_from - how a packet's face is known
 * @ifindex: port it came by.
 * @vlan:    VLAN id, 0: none.
 * @port:    UDP source port; 0: Ethernet.
 * @addr:    source address, IPv6 or v4-mapped; Ethernet: the source MAC in the
 *           first 6 bytes, the rest 0.
 */
struct ndn_from {
	__u32 ifindex;
	__be16 vlan;
	__be16 port;
	__u8 addr[16];
};
NDN_ASSERT(sizeof(struct ndn_from) == 24, "ndn_from");

/**
 * enum ndn_face_flags - &ndn_face.flags
 * @NDN_FACE_USED:      the row is a face.
 * @NDN_FACE_HOST:      a host is there, not another router: its inserts may be
 *                        answered by a CONFIRMED entry.
 * @NDN_FACE_V6:        IPv6, else IPv4.
 * @NDN_FACE_ETHER:     EtherType 0x8624, no IP.
 * @NDN_FACE_SUBSCRIBE: it may subscribe to any name.
 * @NDN_FACE_WRITE:     it may send Data of any name.
 */
enum ndn_face_flags {
	NDN_FACE_USED = 1 << 0,
	NDN_FACE_HOST = 1 << 1,
	NDN_FACE_V6 = 1 << 2,
	NDN_FACE_ETHER = 1 << 3,
	NDN_FACE_SUBSCRIBE = 1 << 4,
	NDN_FACE_WRITE = 1 << 5,
};

/**
 * struct ndn_face - a face: where it is, what it may, the headers towards it
 * @flags:      enum ndn_face_flags.
 * @ifindex:    port.
 * @right_lens: bit n: ndn_rights has a row of it with n components.
 * @max:        longest frame, without Ethernet header and tag: the MTU.
 * @dmac:       destination.
 * @smac:       ours. What is for another unicast MAC is not ours.
 * @vlan:       VLAN id, 0: no tag.
 * @sport:      our UDP port.
 * @dport:      its UDP port.
 * @rsvd:       0.
 * @saddr:      our address; v4: in the last word. What is for another unicast
 *              address is not ours.
 * @daddr:      its address, or that of a group of which all are subscribers
 *              or none: one copy serves them.
 */
struct ndn_face {
	__u32 flags;
	__u32 ifindex;
	__u32 right_lens;
	__u32 max;
	__u8 dmac[6];
	__u8 smac[6];
	__be16 vlan;
	__be16 sport;
	__be16 dport;
	__u8 rsvd[6];
	__be32 saddr[4];
	__be32 daddr[4];
};
NDN_ASSERT(sizeof(struct ndn_face) == 72, "ndn_face");

/**
 * struct ndn_route - where Interests of a prefix go
 * @face: face number.
 * @rsvd: 0.
 * @name: the prefix; NDN_MARK_PLAIN.
 */
struct ndn_route {
	__u32 face;
	__u32 rsvd;
	struct ndn_row_name name;
};

/**
 * enum ndn_may - &ndn_right.may
 * @NDN_MAY_SUBSCRIBE: to names with the prefix.
 * @NDN_MAY_WRITE:     send Data of names with the prefix.
 */
enum ndn_may {
	NDN_MAY_SUBSCRIBE = 1 << 0,
	NDN_MAY_WRITE = 1 << 1,
};

/**
 * struct ndn_right_key - whose right to what
 * @key:  of the prefix.
 * @face: face number.
 */
struct ndn_right_key {
	__u64 key;
	__u64 face;
};

/**
 * struct ndn_right - what a face may
 * @may:  enum ndn_may.
 * @rsvd: 0.
 * @name: the prefix; NDN_MARK_PLAIN.
 */
struct ndn_right {
	__u32 may;
	__u32 rsvd;
	struct ndn_row_name name;
};

/**
 * struct ndn_tags - a bucket: whose its rows are
 * @lock: 1: somebody puts a row in or takes one out.
 * @tag:  ndn_tag() of the key, by way; 0: the row is free.
 */
struct ndn_tags {
	__u32 lock;
	__u16 tag[NDN_WAYS];
};
NDN_ASSERT(sizeof(struct ndn_tags) == 32, "ndn_tags");

/**
 * enum ndn_entry_flags - &ndn_entry.flags
 * @NDN_ENTRY_USED:    the row is an entry. Without it its tag may be there
 *                       still, until the bucket's lock was to be had.
 * @NDN_ENTRY_LEAVING: &ndn_more.left counts.
 * @NDN_ENTRY_WIDE:    &ndn_more.live counts.
 */
enum ndn_entry_flags {
	NDN_ENTRY_USED = 1 << 0,
	NDN_ENTRY_LEAVING = 1 << 1,
	NDN_ENTRY_WIDE = 1 << 2,
};

/**
 * struct ndn_entry - a name in the persistent PIT and its subscribers: what
 * each distribution needs
 * @lock:    1: somebody is at it, or at the row of ndn_more.
 * @up:      upstream face.
 * @flags:   enum ndn_entry_flags.
 * @len:     bytes of P.
 * @lap_end: when the half lease ends that live[0] is about.
 * @live:    faces below 64 that renewed in this half lease, in the one before, ...
 * @bits:    bit n: segment - n went through.
 * @version: newest that went through.
 * @segment: newest of @version.
 * @taken:   when something went through last.
 * @acked:   when the insert left that upstream acknowledged last. CONFIRMED is:
 *           that is less than a third of the lease ago. 0: PENDING.
 * @name:    P, as far as it goes; what follows it is 0.
 */
struct ndn_entry {
	__u32 lock;
	__u8 up;
	__u8 flags;
	__u16 len;
	__u64 lap_end;
	__u64 live[NDN_LAPS];
	__u64 bits;
	__u64 version;
	__u64 segment;
	__u64 taken;
	__u64 acked;
	__u8 name[NDN_NEAR_BYTES];
};
NDN_ASSERT(sizeof(struct ndn_entry) == 128, "ndn_entry");

/**
 * struct ndn_more - what else there is to say about the entry of that row
 * @asked:   when the first insert left that upstream has not acknowledged.
 * @left:    when the last delete went up, unanswered, if the entry is LEAVING.
 * @ack_len: bytes of @ack; 0: none, or it was too long to be kept.
 * @count:   components of P.
 * @rsvd:    0.
 * @waiting: faces whose inserts upstream has not acknowledged.
 * @leavers: faces that wait for the acknowledgement of a delete.
 * @live:    as of the entry, for faces from 64 on.
 * @name:    the rest of P; what follows it is 0. Not there if P is no longer than
 *           NDN_NEAR_BYTES.
 * @ack:     the acknowledgement, a Data packet, as it came.
 * @rsvd1:   0: with it the row has whole cache lines.
 */
struct ndn_more {
	__u64 asked;
	__u64 left;
	__u16 ack_len;
	__u8 count;
	__u8 rsvd[5];
	__u64 waiting[NDN_FACE_WORDS];
	__u64 leavers[NDN_FACE_WORDS];
	__u64 live[NDN_LAPS][NDN_FACE_WORDS - 1];
	__u8 name[NDN_NAME_BYTES - NDN_NEAR_BYTES];
	__u8 ack[NDN_ACK_MAX];
	__u64 rsvd1[2];
};
NDN_ASSERT(sizeof(struct ndn_more) == 640, "ndn_more");

/**
 * struct ndn_part - what one run of ndn_sweep is to look at: its context
 * @from:    first bucket. At 0 Interests that wait are swept, too.
 * @buckets: so many, at most 2^23; it ends with the last one there is.
 */
struct ndn_part {
	__u32 from;
	__u32 buckets;
};

/**
 * struct ndn_ask - an Interest that waits for its Data
 * @lock:   1: somebody is at it.
 * @out:    face that it was sent to.
 * @prefix: CanBePrefix.
 * @gone:   it has been taken out.
 * @rsvd:   0.
 * @until:  when the lifetime of the last that asked ends.
 * @faces:  those who asked.
 * @name:   of the Interest.
 */
struct ndn_ask {
	__u32 lock;
	__u8 out;
	__u8 prefix;
	__u8 gone;
	__u8 rsvd;
	__u64 until;
	__u64 faces[NDN_FACE_WORDS];
	struct ndn_row_name name;
};
NDN_ASSERT(sizeof(struct ndn_ask) == 312, "ndn_ask");

/**
 * struct ndn_nonces - Interests that were here, one place of many
 * @tag: of name and nonce, newest first; 0: none.
 */
struct ndn_nonces {
	__u64 tag[4];
};

/**
 * struct ndn_kept - a place of the cache
 * @lock: 1: somebody is at it.
 * @len:  bytes of @data; 0: empty.
 * @name: of the Data.
 * @data: the packet.
 */
struct ndn_kept {
	__u32 lock;
	__u32 len;
	struct ndn_row_name name;
	__u8 data[NDN_KEEP_MAX];
};

/**
 * enum ndn_flight_kind - what becomes of a marked frame
 * @NDN_FLIGHT_COPY: it goes to &ndn_flight.faces.
 * @NDN_FLIGHT_ACK:  its answer is the acknowledgement that an entry has.
 * @NDN_FLIGHT_KEPT: its answer is in the cache.
 */
enum ndn_flight_kind {
	NDN_FLIGHT_COPY = 0,
	NDN_FLIGHT_ACK = 1,
	NDN_FLIGHT_KEPT = 2,
};

/**
 * struct ndn_flight - a frame between ndn_xdp and who sends it
 * @tick:     it is the flight of the frame that bears this number.
 * @kind:     enum ndn_flight_kind.
 * @mark:     enum ndn_mark of the name.
 * @count:    components of it.
 * @off:      where the NDN packet begins in the frame.
 * @len:      its bytes.
 * @name_off: where the name without its marker begins in the frame.
 * @name_len: its bytes.
 * @key:      of the name.
 * @faces:    who gets it.
 * @rsvd:     a flight has a cache line.
 */
struct ndn_flight {
	__u32 tick;
	__u8 kind;
	__u8 mark;
	__u8 count;
	__u8 rsvd0;
	__u16 off;
	__u16 len;
	__u16 name_off;
	__u16 name_len;
	__u64 key;
	__u64 faces[NDN_FACE_WORDS];
	__u64 rsvd;
};
NDN_ASSERT(sizeof(struct ndn_flight) == 64, "ndn_flight");

/**
 * struct ndn_miss - a packet of a sender that is no face
 * @from:  how it would be known.
 * @smac:  source MAC.
 * @dmac:  destination MAC.
 * @rsvd:  0.
 * @daddr: destination address, IPv6 or v4-mapped; 0 for Ethernet.
 */
struct ndn_miss {
	struct ndn_from from;
	__u8 smac[6];
	__u8 dmac[6];
	__u32 rsvd;
	__u8 daddr[16];
};

/**
 * enum ndn_forget_kind - &ndn_forget.kind
 * @NDN_FORGET_ENTRY: the entry of @key, in row @place of ndn_pit.
 * @NDN_FORGET_KEPT:  what a place of ndn_cache has.
 * @NDN_FORGET_FACE:  subscriptions and Interests of a face, and what is known
 *                      of its upstream, so that its number may be another's:
 *                      in @count buckets from @place on, and at 0 Interests.
 */
enum ndn_forget_kind {
	NDN_FORGET_ENTRY = 1,
	NDN_FORGET_KEPT = 2,
	NDN_FORGET_FACE = 3,
};

/**
 * struct ndn_forget - argument of the program ndn_forget
 * @key:   of the entry.
 * @kind:  enum ndn_forget_kind.
 * @face:  face number.
 * @place: of the cache; row; first bucket.
 * @count: buckets.
 * @busy:  its own. The program returns 1 if a row was held for too long.
 */
struct ndn_forget {
	__u64 key;
	__u32 kind;
	__u32 face;
	__u32 place;
	__u32 count;
	__u32 busy;
	__u32 rsvd;
};

/**
 * enum ndn_stat - counters
 *
 * What happened
 * @NDN_RX_INTEREST: Interests of faces, well-formed.
 * @NDN_RX_DATA:     Data of faces, well-formed.
 * @NDN_INSERTED:    subscriptions, first or renewed.
 * @NDN_NEW:         entries of the persistent PIT made.
 * @NDN_TURNED:      ... that have another upstream face now.
 * @NDN_CONFIRMED:   acknowledgements taken.
 * @NDN_DELETED:     ends of subscriptions.
 * @NDN_GONE:        entries that nobody subscribed to any more taken out.
 * @NDN_ASKED:       Interests that wait for Data, first or repeated.
 * @NDN_EXPIRED:     ... swept, unanswered.
 * @NDN_KEPT:        Data put into the cache.
 * @NDN_HIT:         Interests answered from it.
 * @NDN_ACK:         Interests answered by an entry.
 * @NDN_TX_INTEREST: Interests passed on.
 * @NDN_TX_DATA:     Data passed on, to however many.
 * @NDN_TX_COPY:     copies of Data to several.
 * @NDN_TX_SLOW:     copies and answers sent by the clsact program.
 *
 * A packet for us that goes no further counts under one of these:
 * @NDN_DROP_SHORT:    headers are cut.
 * @NDN_DROP_OPTIONS:  IP options or extension headers.
 * @NDN_DROP_FRAGMENT: of IP.
 * @NDN_DROP_LENGTH:   IP, UDP and frame disagree.
 * @NDN_DROP_SOURCE:   source MAC is a group's.
 * @NDN_DROP_FACE:     sender is no face.
 * @NDN_DROP_NACK:     an Interest that comes back.
 * @NDN_DROP_NONCE:    Interest without one.
 * @NDN_DROP_LOOP:     name and nonce were here before.
 * @NDN_DROP_RIGHT:    the face may not.
 * @NDN_DROP_ROUTE:    no route.
 * @NDN_DROP_BELOW:    the route leads back.
 * @NDN_DROP_LEAVING:  insert while a delete is under way.
 * @NDN_DROP_WAITS:    a stock client's Interest for what comes unasked.
 * @NDN_DROP_PENDING:  Interest joins one that waits: not lost.
 * @NDN_DROP_COLLISION: another name has the key.
 * @NDN_DROP_FULL:     no room in the map.
 * @NDN_DROP_BUSY:     the row was locked for too long.
 * @NDN_DROP_STRAY:    Data that nobody asked for or subscribed to.
 * @NDN_DROP_UPSTREAM: Data not from the upstream face.
 * @NDN_DROP_SEEN:     segment that went through before, or older.
 * @NDN_DROP_NOBODY:   nobody but the sender wants it.
 * @NDN_DROP_MTU:      longer than the face takes, or than we can copy.
 * @NDN_DROP_PORT:     the port is not there.
 * @NDN_DROP_HEAD:     no room for headers.
 * @NDN_DROP_ROOM:     a delete too short to become its answer.
 * @NDN_DROP_FLIGHT:   marked frame without a flight: overtaken, or forged.
 * @NDN_DROP_GONE:     an answer that was gone before it was sent.
 * @NDN_DROP_OFFLOAD:  checksum left to a device, and headers that change.
 * @NDN_DROP_MISS:     not a packet: events of unknown senders lost.
 * @NDN_SPARED:        not a packet: copies not for the port they came to.
 * @NDN_REFUSED:       and these: + enum ndn_err, refused by the parser.
 */
enum ndn_stat {
	NDN_RX_INTEREST = 0,
	NDN_RX_DATA = 1,
	NDN_INSERTED = 2,
	NDN_NEW = 3,
	NDN_TURNED = 4,
	NDN_CONFIRMED = 5,
	NDN_DELETED = 6,
	NDN_GONE = 7,
	NDN_ASKED = 8,
	NDN_EXPIRED = 9,
	NDN_KEPT = 10,
	NDN_HIT = 11,
	NDN_ACK = 12,
	NDN_TX_INTEREST = 13,
	NDN_TX_DATA = 14,
	NDN_TX_COPY = 15,
	NDN_TX_SLOW = 16,
	NDN_SPARED = 17,
	NDN_DROP_MISS = 18,
	NDN_DROP_SHORT = 32,
	NDN_DROP_OPTIONS = 33,
	NDN_DROP_FRAGMENT = 34,
	NDN_DROP_LENGTH = 35,
	NDN_DROP_SOURCE = 36,
	NDN_DROP_FACE = 37,
	NDN_DROP_NACK = 38,
	NDN_DROP_NONCE = 39,
	NDN_DROP_LOOP = 40,
	NDN_DROP_RIGHT = 41,
	NDN_DROP_ROUTE = 42,
	NDN_DROP_BELOW = 43,
	NDN_DROP_LEAVING = 44,
	NDN_DROP_WAITS = 45,
	NDN_DROP_PENDING = 46,
	NDN_DROP_COLLISION = 47,
	NDN_DROP_FULL = 48,
	NDN_DROP_BUSY = 49,
	NDN_DROP_STRAY = 50,
	NDN_DROP_UPSTREAM = 51,
	NDN_DROP_SEEN = 52,
	NDN_DROP_NOBODY = 53,
	NDN_DROP_MTU = 54,
	NDN_DROP_PORT = 55,
	NDN_DROP_HEAD = 56,
	NDN_DROP_ROOM = 57,
	NDN_DROP_FLIGHT = 58,
	NDN_DROP_GONE = 59,
	NDN_DROP_OFFLOAD = 60,
	NDN_REFUSED = 64,
	NDN_STAT__MAX = NDN_REFUSED + NDN_E__MAX,
};

/*
 * Keys. Words of a name are hashed with secrets of their own (NH, as in UMAC):
 * whoever does not know them finds two names of equal key by chance alone, one
 * pair in 2^32 at worst. And the sum over the words before a place serves all
 * prefixes that end behind it.
 */
static inline __u64 ndn_hash_word(__u64 word, __u64 secret)
{
	__u32 low = (__u32)word + (__u32)secret;
	__u32 high = (__u32)(word >> 32) + (__u32)(secret >> 32);

	return (__u64)low * high;
}

/* From the sum over the words of @len bytes; the last one's rest is 0. */
static inline __u64 ndn_hash_end(__u64 sum, __u32 len, __u32 mark)
{
	sum ^= (len | (__u64)mark << 16) * 0x9e3779b97f4a7c15ULL;
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93ULL;
	return sum ^ sum >> 32;
}

static inline __u64 ndn_hash(const __u64 seed[NDN_NAME_WORDS],
			     const struct ndn_row_name *name)
{
	__u64 sum = 0, word;

	for (__u32 i = 0; i < NDN_NAME_WORDS && 8 * i < name->len; i++) {
		__builtin_memcpy(&word, name->value + 8 * i, 8);
		sum += ndn_hash_word(word, seed[i]);
	}
	return ndn_hash_end(sum, name->len, name->mark);
}

/* The buckets that an entry of @key may be in: @which is 0 or 1. */
static inline __u32 ndn_bucket(__u64 key, __u32 buckets, int which)
{
	__u32 half = which ? (__u32)key : (__u32)(key >> 32);

	return (__u64)half * buckets >> 32;
}

/* What tells rows of a bucket apart, nearly always. */
static inline __u16 ndn_tag(__u64 key)
{
	return (__u16)key ? (__u16)key : 1;
}

/* Buckets for @entries: two thirds of the rows. */
static inline __u32 ndn_buckets(__u32 entries)
{
	return ((__u64)entries * 3 / 2 + NDN_WAYS) / NDN_WAYS;
}

/* The name of a row that is used, whole. */
static inline void ndn_entry_name(const struct ndn_entry *e,
				  const struct ndn_more *m,
				  struct ndn_row_name *name)
{
	__builtin_memset(name, 0, sizeof(*name));
	name->len = e->len;
	name->count = m->count;
	__builtin_memcpy(name->value, e->name, sizeof(e->name));
	if (e->len > NDN_NEAR_BYTES)
		__builtin_memcpy(name->value + NDN_NEAR_BYTES, m->name,
				 sizeof(m->name));
}

#endif /* _UAPI_TRIB_NDN_MAPS_H */
