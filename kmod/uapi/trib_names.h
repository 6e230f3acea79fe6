/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * What lives in the maps of the names forwarder (bpf/names.bpf.c), an NDN
 * forwarder with a persistent PIT: entries survive the Data that they forward.
 * Readable by anybody with bpftool. Host byte order unless a field says __be;
 * times are CLOCK_MONOTONIC in ns, 0 is never.
 *
 * Map		type		key		value			written by
 * names_config	array(1)	0		struct names_config	tribd
 * names_faces	array(256)	face number	struct names_face	tribd
 * names_from	hash		names_from	__u32 face number	tribd
 * names_first	hash		__u32 ifindex	__u32 face number	tribd
 * names_out	devmap		place		bpf_devmap_val		tribd
 * names_ports	hash devmap	ifindex		bpf_devmap_val		tribd
 * names_fib	hash		__u64 key	struct names_route	tribd
 * names_rights	hash		names_right_key	struct names_right	tribd
 * names_tags	array		bucket		struct names_tags	BPF
 * names_pit	array		row		struct names_entry	BPF
 * names_more	array		row		struct names_more	BPF
 * names_asks	hash		__u64 key	struct names_ask	BPF
 * names_asked	array		part of a key	__u32 rows of names_asks BPF
 * names_nonces	array		place		struct names_nonces	BPF
 * names_cache	array		place		struct names_kept	BPF
 * names_flights array		place		struct names_flight	BPF
 * names_misses	ring buffer	-		struct names_miss	BPF
 * names_stats	per-CPU array	enum names_stat	__u64			BPF
 *
 * A key is names_hash() of a name. It finds a row; the row has the whole name,
 * and is for that name only: nothing is ever done by a key alone. Where a map is
 * a hash, a second name of equal key is refused and counted
 * (NAMES_DROP_COLLISION).
 *
 * The persistent PIT is three arrays, because what a distribution has to wait
 * for is memory: an entry's two cache lines, after the two that say where it is.
 * An entry is in one of NAMES_WAYS rows of one of two buckets, which
 * names_bucket() tells from its key: row = bucket * NAMES_WAYS + way, the same in
 * names_pit and names_more. Way by way names_tags has names_tag() of the key, 0
 * where the row is free. New entries go to the emptier bucket; if both are full
 * the insert is dropped (NAMES_DROP_FULL). With names_buckets(n) buckets, n
 * entries that come and go find one bucket full with a probability of 6e-7.
 *
 * User space walks the entries row by row: names_pit and names_more may be
 * mapped, from the first row on (BPF_F_MMAPABLE). A row is an entry as long as
 * flags has NAMES_ENTRY_USED; its name is in two parts, names_entry_name() joins
 * them. A row read while a packet is at it may be half of what was and half of
 * what is: read lock, then the row, then lock again, and take it if both were 0;
 * it may still have changed in between, so this is for looking, never for
 * deciding. Nobody but the programs writes there.
 *
 * The rules are those of tests/sim/names/README.md.
 */
#ifndef _UAPI_TRIB_NAMES_H
#define _UAPI_TRIB_NAMES_H

#include <linux/types.h>
#include "trib_ndn.h"

#ifndef NAMES_ASSERT
#define NAMES_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* Anything here that changes layout or meaning increments it. */
#define NAMES_ABI 2

/* Face numbers are 1 to 255: bits of four words. 0 is nobody. */
#define NAMES_FACES 256
#define NAMES_FACE_WORDS (NAMES_FACES / 64)
#define NAMES_NOBODY 0
/* Bytes of a name in a row: whole words. */
#define NAMES_NAME_BYTES 256
#define NAMES_NAME_WORDS (NAMES_NAME_BYTES / 8)
/* Segments, newest first, that an entry's window tells apart. */
#define NAMES_WINDOW 64
/* Rows of a bucket of the persistent PIT. */
#define NAMES_WAYS 14
/* Bytes of a name that are in an entry itself; whole words. */
#define NAMES_NEAR_BYTES 48
/* Half leases that an entry tells apart. */
#define NAMES_LAPS 3
/* Bytes of an acknowledgement that an entry keeps, to answer by itself. */
#define NAMES_ACK_MAX 256
/* Bytes of a Data packet that the cache keeps at most. */
#define NAMES_KEEP_MAX 4000
/* Bytes of a packet that the clsact program copies at most. */
#define NAMES_COPY_MAX 4096
/* Longest marker component: its TLV. */
#define NAMES_MARK_MAX 32
/* Places of names_asked; a power of 2. */
#define NAMES_ASKED_PLACES 16384
/* Rows of names_flights for each possible CPU. */
#define NAMES_FLIGHTS 1024

/**
 * enum names_mark - the marker that a name begins with
 * @NAMES_PLAIN:      none.
 * @NAMES_DISTRIBUTE: what goes to subscribers.
 * @NAMES_INSERT:     begins or renews a subscription.
 * @NAMES_DELETE:     ends it.
 */
enum names_mark {
	NAMES_PLAIN = 0,
	NAMES_DISTRIBUTE = 1,
	NAMES_INSERT = 2,
	NAMES_DELETE = 3,
	NAMES_MARK__MAX
};

/**
 * struct names_name - a name in full, without its marker
 * @len:   bytes of @value that count: of a Name's VALUE.
 * @count: components.
 * @mark:  enum names_mark.
 * @value: the TLVs of the components; what follows @len is 0.
 */
struct names_name {
	__u16 len;
	__u8 count;
	__u8 mark;
	__u8 rsvd[4];
	__u8 value[NAMES_NAME_BYTES];
};
NAMES_ASSERT(sizeof(struct names_name) == 264, "names_name");

/**
 * struct names_marker - a marker component, as its TLV
 * @len:  bytes; 0: no such marker.
 * @tlv:  type, length and value; what follows is 0.
 */
struct names_marker {
	__u64 len;
	__u8 tlv[NAMES_MARK_MAX];
};

/**
 * struct names_config - the one row that describes the forwarder
 * @abi:      NAMES_ABI; as long as it is not, NDN packets are left to the host.
 * @ncache:   places of names_cache, a power of 2; 0: no cache.
 * @lease_ns: how long a subscription holds without a renewal, at least. A face
 *            is dropped between this and half as much again after its last.
 * @leave_ns: how long a delete can be under way.
 * @fib_lens: bit n: a route has n components.
 * @nnonces:  places of names_nonces, a power of 2.
 * @buckets:  rows of names_tags; names_pit and names_more have NAMES_WAYS times
 *            as many.
 * @changes:  counted up when names_from has changed: lookups are remembered.
 * @extra:    faces that are not the first of their port: if one of them is to
 *            get a copy, the clsact program makes all copies.
 * @generic:  faces of ports without native XDP: the clsact program sends.
 * @marker:   by enum names_mark; the first is not used.
 * @seed:     of keys; random, made when the maps were.
 */
struct names_config {
	__u32 abi;
	__u32 ncache;
	__u64 lease_ns;
	__u64 leave_ns;
	__u32 fib_lens;
	__u32 changes;
	__u32 nnonces;
	__u32 buckets;
	__u64 extra[NAMES_FACE_WORDS];
	__u64 generic[NAMES_FACE_WORDS];
	struct names_marker marker[NAMES_MARK__MAX];
	__u64 seed[NAMES_NAME_WORDS];
};

/**
 * struct names_from - how a packet's face is known
 * @ifindex: port it came by.
 * @vlan:    VLAN id, 0: none.
 * @port:    UDP source port; 0: Ethernet.
 * @addr:    source address, IPv6 or v4-mapped; Ethernet: the source MAC in the
 *           first 6 bytes, the rest 0.
 */
struct names_from {
	__u32 ifindex;
	__be16 vlan;
	__be16 port;
	__u8 addr[16];
};
NAMES_ASSERT(sizeof(struct names_from) == 24, "names_from");

/**
 * enum names_face_flags - &names_face.flags
 * @NAMES_FACE_USED:      the row is a face.
 * @NAMES_FACE_HOST:      a host is there, not another router: its inserts may be
 *                        answered by a CONFIRMED entry.
 * @NAMES_FACE_V6:        IPv6, else IPv4.
 * @NAMES_FACE_ETHER:     EtherType 0x8624, no IP.
 * @NAMES_FACE_SUBSCRIBE: it may subscribe to any name.
 * @NAMES_FACE_WRITE:     it may send Data of any name.
 */
enum names_face_flags {
	NAMES_FACE_USED = 1 << 0,
	NAMES_FACE_HOST = 1 << 1,
	NAMES_FACE_V6 = 1 << 2,
	NAMES_FACE_ETHER = 1 << 3,
	NAMES_FACE_SUBSCRIBE = 1 << 4,
	NAMES_FACE_WRITE = 1 << 5,
};

/**
 * struct names_face - a face: where it is, what it may, the headers towards it
 * @flags:      enum names_face_flags.
 * @ifindex:    port.
 * @right_lens: bit n: names_rights has a row of it with n components.
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
struct names_face {
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
NAMES_ASSERT(sizeof(struct names_face) == 72, "names_face");

/**
 * struct names_route - where Interests of a prefix go
 * @face: face number.
 * @rsvd: 0.
 * @name: the prefix; NAMES_PLAIN.
 */
struct names_route {
	__u32 face;
	__u32 rsvd;
	struct names_name name;
};

/**
 * enum names_may - &names_right.may
 * @NAMES_MAY_SUBSCRIBE: to names with the prefix.
 * @NAMES_MAY_WRITE:     send Data of names with the prefix.
 */
enum names_may {
	NAMES_MAY_SUBSCRIBE = 1 << 0,
	NAMES_MAY_WRITE = 1 << 1,
};

/**
 * struct names_right_key - whose right to what
 * @key:  of the prefix.
 * @face: face number.
 */
struct names_right_key {
	__u64 key;
	__u64 face;
};

/**
 * struct names_right - what a face may
 * @may:  enum names_may.
 * @rsvd: 0.
 * @name: the prefix; NAMES_PLAIN.
 */
struct names_right {
	__u32 may;
	__u32 rsvd;
	struct names_name name;
};

/**
 * struct names_tags - a bucket: whose its rows are
 * @lock: 1: somebody puts a row in or takes one out.
 * @tag:  names_tag() of the key, by way; 0: the row is free.
 */
struct names_tags {
	__u32 lock;
	__u16 tag[NAMES_WAYS];
};
NAMES_ASSERT(sizeof(struct names_tags) == 32, "names_tags");

/**
 * enum names_entry_flags - &names_entry.flags
 * @NAMES_ENTRY_USED:    the row is an entry. Without it its tag may be there
 *                       still, until the bucket's lock was to be had.
 * @NAMES_ENTRY_LEAVING: &names_more.left counts.
 * @NAMES_ENTRY_WIDE:    &names_more.live counts.
 */
enum names_entry_flags {
	NAMES_ENTRY_USED = 1 << 0,
	NAMES_ENTRY_LEAVING = 1 << 1,
	NAMES_ENTRY_WIDE = 1 << 2,
};

/**
 * struct names_entry - a name in the persistent PIT and its subscribers: what
 * each distribution needs
 * @lock:    1: somebody is at it, or at the row of names_more.
 * @up:      upstream face.
 * @flags:   enum names_entry_flags.
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
struct names_entry {
	__u32 lock;
	__u8 up;
	__u8 flags;
	__u16 len;
	__u64 lap_end;
	__u64 live[NAMES_LAPS];
	__u64 bits;
	__u64 version;
	__u64 segment;
	__u64 taken;
	__u64 acked;
	__u8 name[NAMES_NEAR_BYTES];
};
NAMES_ASSERT(sizeof(struct names_entry) == 128, "names_entry");

/**
 * struct names_more - what else there is to say about the entry of that row
 * @asked:   when the first insert left that upstream has not acknowledged.
 * @left:    when the last delete went up, unanswered, if the entry is LEAVING.
 * @ack_len: bytes of @ack; 0: none, or it was too long to be kept.
 * @count:   components of P.
 * @rsvd:    0.
 * @waiting: faces whose inserts upstream has not acknowledged.
 * @leavers: faces that wait for the acknowledgement of a delete.
 * @live:    as of the entry, for faces from 64 on.
 * @name:    the rest of P; what follows it is 0. Not there if P is no longer than
 *           NAMES_NEAR_BYTES.
 * @ack:     the acknowledgement, a Data packet, as it came.
 * @rsvd1:   0: with it the row has whole cache lines.
 */
struct names_more {
	__u64 asked;
	__u64 left;
	__u16 ack_len;
	__u8 count;
	__u8 rsvd[5];
	__u64 waiting[NAMES_FACE_WORDS];
	__u64 leavers[NAMES_FACE_WORDS];
	__u64 live[NAMES_LAPS][NAMES_FACE_WORDS - 1];
	__u8 name[NAMES_NAME_BYTES - NAMES_NEAR_BYTES];
	__u8 ack[NAMES_ACK_MAX];
	__u64 rsvd1[2];
};
NAMES_ASSERT(sizeof(struct names_more) == 640, "names_more");

/**
 * struct names_part - what one run of names_sweep is to look at: its context
 * @from:    first bucket. At 0 Interests that wait are swept, too.
 * @buckets: so many, at most 2^23; it ends with the last one there is.
 */
struct names_part {
	__u32 from;
	__u32 buckets;
};

/**
 * struct names_ask - an Interest that waits for its Data
 * @lock:   1: somebody is at it.
 * @out:    face that it was sent to.
 * @prefix: CanBePrefix.
 * @gone:   it has been taken out.
 * @rsvd:   0.
 * @until:  when the lifetime of the last that asked ends.
 * @faces:  those who asked.
 * @name:   of the Interest.
 */
struct names_ask {
	__u32 lock;
	__u8 out;
	__u8 prefix;
	__u8 gone;
	__u8 rsvd;
	__u64 until;
	__u64 faces[NAMES_FACE_WORDS];
	struct names_name name;
};
NAMES_ASSERT(sizeof(struct names_ask) == 312, "names_ask");

/**
 * struct names_nonces - Interests that were here, one place of many
 * @tag: of name and nonce, newest first; 0: none.
 */
struct names_nonces {
	__u64 tag[4];
};

/**
 * struct names_kept - a place of the cache
 * @lock: 1: somebody is at it.
 * @len:  bytes of @data; 0: empty.
 * @name: of the Data.
 * @data: the packet.
 */
struct names_kept {
	__u32 lock;
	__u32 len;
	struct names_name name;
	__u8 data[NAMES_KEEP_MAX];
};

/**
 * enum names_flight_kind - what becomes of a marked frame
 * @NAMES_FLIGHT_COPY: it goes to &names_flight.faces.
 * @NAMES_FLIGHT_ACK:  its answer is the acknowledgement that an entry has.
 * @NAMES_FLIGHT_KEPT: its answer is in the cache.
 */
enum names_flight_kind {
	NAMES_FLIGHT_COPY = 0,
	NAMES_FLIGHT_ACK = 1,
	NAMES_FLIGHT_KEPT = 2,
};

/**
 * struct names_flight - a frame between names_xdp and who sends it
 * @tick:     it is the flight of the frame that bears this number.
 * @kind:     enum names_flight_kind.
 * @mark:     enum names_mark of the name.
 * @count:    components of it.
 * @off:      where the NDN packet begins in the frame.
 * @len:      its bytes.
 * @name_off: where the name without its marker begins in the frame.
 * @name_len: its bytes.
 * @key:      of the name.
 * @faces:    who gets it.
 * @rsvd:     a flight has a cache line.
 */
struct names_flight {
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
	__u64 faces[NAMES_FACE_WORDS];
	__u64 rsvd;
};
NAMES_ASSERT(sizeof(struct names_flight) == 64, "names_flight");

/**
 * struct names_miss - a packet of a sender that is no face
 * @from:  how it would be known.
 * @smac:  source MAC.
 * @dmac:  destination MAC.
 * @rsvd:  0.
 * @daddr: destination address, IPv6 or v4-mapped; 0 for Ethernet.
 */
struct names_miss {
	struct names_from from;
	__u8 smac[6];
	__u8 dmac[6];
	__u32 rsvd;
	__u8 daddr[16];
};

/**
 * enum names_forget_kind - &names_forget.kind
 * @NAMES_FORGET_ENTRY: an entry of names_pit, by @key.
 * @NAMES_FORGET_KEPT:  what a place of names_cache has.
 * @NAMES_FORGET_FACE:  subscriptions and Interests of a face, and what is known
 *                      of its upstream, so that its number may be another's.
 */
enum names_forget_kind {
	NAMES_FORGET_ENTRY = 1,
	NAMES_FORGET_KEPT = 2,
	NAMES_FORGET_FACE = 3,
};

/**
 * struct names_forget - argument of the program names_forget
 * @key:   of the entry.
 * @kind:  enum names_forget_kind.
 * @face:  face number.
 * @place: of the cache.
 * @busy:  its own. The program returns 1 if a row was held for too long.
 */
struct names_forget {
	__u64 key;
	__u32 kind;
	__u32 face;
	__u32 place;
	__u32 busy;
};

/**
 * enum names_stat - counters
 *
 * What happened
 * @NAMES_RX_INTEREST: Interests of faces, well-formed.
 * @NAMES_RX_DATA:     Data of faces, well-formed.
 * @NAMES_INSERTED:    subscriptions, first or renewed.
 * @NAMES_NEW:         entries of the persistent PIT made.
 * @NAMES_TURNED:      ... that have another upstream face now.
 * @NAMES_CONFIRMED:   acknowledgements taken.
 * @NAMES_DELETED:     ends of subscriptions.
 * @NAMES_GONE:        entries that nobody subscribed to any more taken out.
 * @NAMES_ASKED:       Interests that wait for Data, first or repeated.
 * @NAMES_EXPIRED:     ... swept, unanswered.
 * @NAMES_KEPT:        Data put into the cache.
 * @NAMES_HIT:         Interests answered from it.
 * @NAMES_ACK:         Interests answered by an entry.
 * @NAMES_TX_INTEREST: Interests passed on.
 * @NAMES_TX_DATA:     Data passed on, to however many.
 * @NAMES_TX_COPY:     copies of Data to several.
 * @NAMES_TX_SLOW:     copies and answers sent by the clsact program.
 *
 * A packet for us that goes no further counts under one of these:
 * @NAMES_DROP_SHORT:    headers are cut.
 * @NAMES_DROP_OPTIONS:  IP options or extension headers.
 * @NAMES_DROP_FRAGMENT: of IP.
 * @NAMES_DROP_LENGTH:   IP, UDP and frame disagree.
 * @NAMES_DROP_SOURCE:   source MAC is a group's.
 * @NAMES_DROP_FACE:     sender is no face.
 * @NAMES_DROP_NACK:     an Interest that comes back.
 * @NAMES_DROP_NONCE:    Interest without one.
 * @NAMES_DROP_LOOP:     name and nonce were here before.
 * @NAMES_DROP_RIGHT:    the face may not.
 * @NAMES_DROP_ROUTE:    no route.
 * @NAMES_DROP_BELOW:    the route leads back.
 * @NAMES_DROP_LEAVING:  insert while a delete is under way.
 * @NAMES_DROP_WAITS:    a stock client's Interest for what comes unasked.
 * @NAMES_DROP_PENDING:  Interest joins one that waits: not lost.
 * @NAMES_DROP_COLLISION: another name has the key.
 * @NAMES_DROP_FULL:     no room in the map.
 * @NAMES_DROP_BUSY:     the row was locked for too long.
 * @NAMES_DROP_STRAY:    Data that nobody asked for or subscribed to.
 * @NAMES_DROP_UPSTREAM: Data not from the upstream face.
 * @NAMES_DROP_SEEN:     segment that went through before, or older.
 * @NAMES_DROP_NOBODY:   nobody but the sender wants it.
 * @NAMES_DROP_MTU:      longer than the face takes, or than we can copy.
 * @NAMES_DROP_PORT:     the port is not there.
 * @NAMES_DROP_HEAD:     no room for headers.
 * @NAMES_DROP_ROOM:     a delete too short to become its answer.
 * @NAMES_DROP_FLIGHT:   marked frame without a flight: overtaken, or forged.
 * @NAMES_DROP_GONE:     an answer that was gone before it was sent.
 * @NAMES_DROP_OFFLOAD:  checksum left to a device, and headers that change.
 * @NAMES_DROP_MISS:     not a packet: events of unknown senders lost.
 * @NAMES_SPARED:        not a packet: copies not for the port they came to.
 * @NAMES_REFUSED:       and these: + enum ndn_err, refused by the parser.
 */
enum names_stat {
	NAMES_RX_INTEREST = 0,
	NAMES_RX_DATA = 1,
	NAMES_INSERTED = 2,
	NAMES_NEW = 3,
	NAMES_TURNED = 4,
	NAMES_CONFIRMED = 5,
	NAMES_DELETED = 6,
	NAMES_GONE = 7,
	NAMES_ASKED = 8,
	NAMES_EXPIRED = 9,
	NAMES_KEPT = 10,
	NAMES_HIT = 11,
	NAMES_ACK = 12,
	NAMES_TX_INTEREST = 13,
	NAMES_TX_DATA = 14,
	NAMES_TX_COPY = 15,
	NAMES_TX_SLOW = 16,
	NAMES_SPARED = 17,
	NAMES_DROP_MISS = 18,
	NAMES_DROP_SHORT = 32,
	NAMES_DROP_OPTIONS = 33,
	NAMES_DROP_FRAGMENT = 34,
	NAMES_DROP_LENGTH = 35,
	NAMES_DROP_SOURCE = 36,
	NAMES_DROP_FACE = 37,
	NAMES_DROP_NACK = 38,
	NAMES_DROP_NONCE = 39,
	NAMES_DROP_LOOP = 40,
	NAMES_DROP_RIGHT = 41,
	NAMES_DROP_ROUTE = 42,
	NAMES_DROP_BELOW = 43,
	NAMES_DROP_LEAVING = 44,
	NAMES_DROP_WAITS = 45,
	NAMES_DROP_PENDING = 46,
	NAMES_DROP_COLLISION = 47,
	NAMES_DROP_FULL = 48,
	NAMES_DROP_BUSY = 49,
	NAMES_DROP_STRAY = 50,
	NAMES_DROP_UPSTREAM = 51,
	NAMES_DROP_SEEN = 52,
	NAMES_DROP_NOBODY = 53,
	NAMES_DROP_MTU = 54,
	NAMES_DROP_PORT = 55,
	NAMES_DROP_HEAD = 56,
	NAMES_DROP_ROOM = 57,
	NAMES_DROP_FLIGHT = 58,
	NAMES_DROP_GONE = 59,
	NAMES_DROP_OFFLOAD = 60,
	NAMES_REFUSED = 64,
	NAMES_STAT__MAX = NAMES_REFUSED + NDN_E__MAX,
};

/*
 * Keys. Words of a name are hashed with secrets of their own (NH, as in UMAC):
 * whoever does not know them finds two names of equal key by chance alone, one
 * pair in 2^32 at worst. And the sum over the words before a place serves all
 * prefixes that end behind it.
 */
static inline __u64 names_hash_word(__u64 word, __u64 secret)
{
	__u32 low = (__u32)word + (__u32)secret;
	__u32 high = (__u32)(word >> 32) + (__u32)(secret >> 32);

	return (__u64)low * high;
}

/* From the sum over the words of @len bytes; the last one's rest is 0. */
static inline __u64 names_hash_end(__u64 sum, __u32 len, __u32 mark)
{
	sum ^= (len | (__u64)mark << 16) * 0x9e3779b97f4a7c15ULL;
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93ULL;
	return sum ^ sum >> 32;
}

static inline __u64 names_hash(const __u64 seed[NAMES_NAME_WORDS],
			       const struct names_name *name)
{
	__u64 sum = 0, word;

	for (__u32 i = 0; i < NAMES_NAME_WORDS && 8 * i < name->len; i++) {
		__builtin_memcpy(&word, name->value + 8 * i, 8);
		sum += names_hash_word(word, seed[i]);
	}
	return names_hash_end(sum, name->len, name->mark);
}

/* The buckets that an entry of @key may be in: @which is 0 or 1. */
static inline __u32 names_bucket(__u64 key, __u32 buckets, int which)
{
	__u32 half = which ? (__u32)key : (__u32)(key >> 32);

	return (__u64)half * buckets >> 32;
}

/* What tells rows of a bucket apart, nearly always. */
static inline __u16 names_tag(__u64 key)
{
	return (__u16)key ? (__u16)key : 1;
}

/* Buckets for @entries: two thirds of the rows. */
static inline __u32 names_buckets(__u32 entries)
{
	return ((__u64)entries * 3 / 2 + NAMES_WAYS) / NAMES_WAYS;
}

/* The name of a row that is used, whole. */
static inline void names_entry_name(const struct names_entry *e,
				    const struct names_more *m,
				    struct names_name *name)
{
	__builtin_memset(name, 0, sizeof(*name));
	name->len = e->len;
	name->count = m->count;
	__builtin_memcpy(name->value, e->name, sizeof(e->name));
	if (e->len > NAMES_NEAR_BYTES)
		__builtin_memcpy(name->value + NAMES_NEAR_BYTES, m->name,
				 sizeof(m->name));
}

#endif /* _UAPI_TRIB_NAMES_H */
