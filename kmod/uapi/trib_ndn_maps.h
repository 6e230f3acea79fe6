/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Rows of the maps of the NDN forwarder (bpf/ndn.bpf.c), whose PIT is persistent:
 * an entry survives the Data that it forwards. Host byte order unless a field
 * is __be; times are CLOCK_MONOTONIC in ns, 0 is never.
 *
 * Map		type		key		value			written by
 * ndn_config	array(1)	0		struct ndn_config	tribd
 * ndn_faces	array(256)	face number	struct ndn_face		tribd
 * ndn_from	hash		ndn_from	__u32 face number	tribd
 * ndn_first	hash		__u32 ifindex	__u32 face number	tribd
 * ndn_out	devmap		place		bpf_devmap_val		tribd
 * ndn_ports	hash devmap	ifindex		bpf_devmap_val		tribd
 * ndn_fib	hash		__u64 key	struct ndn_route	tribd
 * ndn_rights	hash		ndn_right_key	struct ndn_right	tribd
 * ndn_tags	array		bucket		struct ndn_tags		BPF
 * ndn_pit	array		row		struct ndn_entry	BPF
 * ndn_more	array		row		struct ndn_more		BPF
 * ndn_asks	hash		__u64 key	struct ndn_ask		BPF
 * ndn_asked	array		part of a key	__u32 rows of ndn_asks	BPF
 * ndn_owners	array(256)	face number	struct ndn_owner	BPF
 * ndn_seats	array		seat		struct ndn_seat		BPF
 * ndn_taken	array		64 shared seats	__u64, a bit each	BPF
 * ndn_nonces	array		place		struct ndn_nonces	BPF
 * ndn_cache	array		place		struct ndn_kept		BPF
 * ndn_flights	array		place		struct ndn_flight	BPF
 * ndn_misses	ring buffer	-		struct ndn_miss		BPF
 * ndn_stats	per-CPU array(1) 0		struct ndn_stats	BPF
 *
 * A key is ndn_hash() of a name and only finds a row. The row holds the whole
 * name, which is compared before the row is used. Where a map is a hash, a
 * second name with the same key is refused and counted (NDN_DROP_COLLISION).
 *
 * The persistent PIT is three arrays, because forwarding waits for memory: a
 * distribution touches two cache lines of ndn_pit after those of ndn_tags. An
 * entry is in one of NDN_WAYS rows of one of two buckets; ndn_bucket() computes
 * both from the key. row = bucket * NDN_WAYS + way, the same in ndn_pit and
 * ndn_more. ndn_tags holds ndn_tag() of the key of each row, 0 for a free row.
 * A new entry goes to the emptier bucket. If both are full the insert is dropped
 * (NDN_DROP_FULL). With ndn_buckets(n) buckets and n entries that come and go,
 * the probability of that is 6e-7.
 *
 * trib_ndn_seats.h says how many entries and pending Interests each face may have.
 *
 * User space may map ndn_pit and ndn_more (BPF_F_MMAPABLE) to show entries. A
 * row is an entry while its flags have NDN_ENTRY_USED; ndn_entry_name() joins
 * the two parts of its name. Read lock, the row, and lock again: if both locks
 * were 0 the copy is usually consistent. Do not decide anything by it. Only the
 * programs write there. tests/sim/ndn/README.md has the rules of the protocol.
 */
#ifndef _UAPI_TRIB_NDN_MAPS_H
#define _UAPI_TRIB_NDN_MAPS_H

#include <linux/types.h>
#include "trib_ndn.h"
#include "trib_ndn_seats.h"
#include "trib_ndn_stats.h"

/* Increment on any change of layout or meaning. */
#define NDN_ABI 6

/* Bytes of a name in a row, in whole words. */
#define NDN_NAME_BYTES 256
#define NDN_NAME_WORDS (NDN_NAME_BYTES / 8)
/* Segments in an entry's window, from the newest back. */
#define NDN_WINDOW 64
/* Rows of a bucket of the persistent PIT. */
#define NDN_WAYS 14
/* Bytes of a name in struct ndn_entry; the rest is in struct ndn_more. */
#define NDN_NEAR_BYTES 48
/* Half leases for which an entry remembers renewals. */
#define NDN_LAPS 3
/* Longest acknowledgement that an entry keeps, to answer inserts with. */
#define NDN_ACK_MAX 256
/* Longest Data packet in the cache, in bytes. */
#define NDN_KEEP_MAX 4000
/* Longest packet that the clsact program copies, in bytes. */
#define NDN_COPY_MAX 4096
/* Longest TLV of a marker component. */
#define NDN_MARKER_BYTES 32
/* Entries of ndn_asked, a power of 2. */
#define NDN_ASKED_PLACES 16384
/* Rows of ndn_flights per possible CPU. */
#define NDN_FLIGHTS 1024

/**
 * enum ndn_mark - marker component at the beginning of a name
 * @NDN_MARK_PLAIN:      none.
 * @NDN_MARK_DISTRIBUTE: Data for all subscribers.
 * @NDN_MARK_INSERT:     begin or renew a subscription.
 * @NDN_MARK_DELETE:     end a subscription.
 */
enum ndn_mark {
	NDN_MARK_PLAIN = 0,
	NDN_MARK_DISTRIBUTE = 1,
	NDN_MARK_INSERT = 2,
	NDN_MARK_DELETE = 3,
	NDN_MARK__MAX
} __attribute__((packed));

/**
 * struct ndn_row_name - a whole name without its marker
 * @len:   bytes of @value in use.
 * @count: components.
 * @mark:  marker.
 * @value: VALUE of the Name, 0 from @len on.
 */
struct ndn_row_name {
	__u16 len;
	__u8 count;
	enum ndn_mark mark;
	__u8 rsvd[4];
	__u8 value[NDN_NAME_BYTES];
};
NDN_ASSERT(sizeof(struct ndn_row_name) == 264, "ndn_row_name");

/**
 * struct ndn_marker - a marker component
 * @len:  bytes of @tlv in use; 0 disables the marker.
 * @tlv:  type, length and value, then 0.
 */
struct ndn_marker {
	__u64 len;
	__u8 tlv[NDN_MARKER_BYTES];
};

/**
 * struct ndn_config - settings of the forwarder
 * @abi:      NDN_ABI. With any other number the host gets all NDN packets.
 * @ncache:   rows of ndn_cache, a power of 2; 0: no cache.
 * @lease_ns: shortest life of a subscription that is not renewed. The sweep
 *            removes it at most half a lease later.
 * @leave_ns: how long a delete waits for its acknowledgement.
 * @fib_lens: bit n: there is a route of n components.
 * @nnonces:  rows of ndn_nonces, a power of 2.
 * @buckets:  rows of ndn_tags; ndn_pit and ndn_more have NDN_WAYS times more.
 * @entries:  PIT entries that all faces share, beyond NDN_ENTRIES_OWN each.
 * @shared:   shared seats for pending Interests, a multiple of 64. ndn_seats and
 *            ndn_asks have NDN_SEATS_SHARED more rows, ndn_taken a 64th of it.
 * @changes:  incremented after a change of ndn_from; each CPU caches a look-up.
 * @extra:    faces that are not the first of their port. Packets for one of them
 *            are copied by the clsact program.
 * @generic:  faces of ports without native XDP: the clsact program sends.
 * @marker:   by enum ndn_mark; the first is unused.
 * @seed:     random secrets of ndn_hash(), made with the maps.
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
	__u32 entries;
	__u32 shared;
	__u64 extra[NDN_FACE_WORDS];
	__u64 generic[NDN_FACE_WORDS];
	struct ndn_marker marker[NDN_MARK__MAX];
	__u64 seed[NDN_NAME_WORDS];
};

/**
 * struct ndn_from - sender of a packet, which identifies its face
 * @ifindex: port of arrival.
 * @vlan:    VLAN id; 0: none.
 * @port:    UDP source port; 0: Ethernet.
 * @addr:    source address, IPv6 or v4-mapped; for Ethernet the source MAC in
 *           the first 6 bytes, the rest 0.
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
 * @NDN_FACE_HOST:      leads to a host, not a router: a CONFIRMED entry may
 *                      answer its inserts.
 * @NDN_FACE_V6:        IPv6, else IPv4.
 * @NDN_FACE_ETHER:     EtherType 0x8624 without IP.
 * @NDN_FACE_SUBSCRIBE: may subscribe to any name.
 * @NDN_FACE_WRITE:     may send Data of any name.
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
 * struct ndn_face - a neighbour: headers of packets to it, and its rights
 * @flags:      enum ndn_face_flags.
 * @ifindex:    port.
 * @right_lens: bit n: ndn_rights has a row of this face with n components.
 * @max:        MTU: longest frame without Ethernet header and tag.
 * @dmac:       its MAC address.
 * @smac:       our MAC address. Frames for another unicast MAC are left alone.
 * @vlan:       VLAN id; 0: no tag.
 * @sport:      our UDP port.
 * @dport:      its UDP port.
 * @rsvd:       0.
 * @saddr:      our address, IPv4 in the last word. Packets for another unicast
 *              address are left alone.
 * @daddr:      its address, or a multicast group whose members subscribe and
 *              unsubscribe together: one copy serves them.
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
 * struct ndn_route - next hop of Interests below a prefix
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
 * @NDN_MAY_SUBSCRIBE: subscribe to names below the prefix.
 * @NDN_MAY_WRITE:     send Data of names below the prefix.
 */
enum ndn_may {
	NDN_MAY_SUBSCRIBE = 1 << 0,
	NDN_MAY_WRITE = 1 << 1,
};

/**
 * struct ndn_right_key - a face and a prefix
 * @key:  ndn_hash() of the prefix.
 * @face: face number.
 */
struct ndn_right_key {
	__u64 key;
	__u64 face;
};

/**
 * struct ndn_right - rights of a face below a prefix
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
 * struct ndn_tags - a bucket of the PIT
 * @lock: held (1) to add or remove a row.
 * @tag:  ndn_tag() of the key of each row; 0: the row is free.
 */
struct ndn_tags {
	__u32 lock;
	__u16 tag[NDN_WAYS];
};
NDN_ASSERT(sizeof(struct ndn_tags) == 32, "ndn_tags");

/**
 * enum ndn_entry_flags - &ndn_entry.flags
 * @NDN_ENTRY_USED:    the row is an entry. Its tag may outlive this flag until
 *                     the sweep gets the bucket's lock.
 * @NDN_ENTRY_LEAVING: deletes are under way, until &ndn_more.until at most.
 * @NDN_ENTRY_WIDE:    &ndn_more.live is in use.
 */
enum ndn_entry_flags {
	NDN_ENTRY_USED = 1 << 0,
	NDN_ENTRY_LEAVING = 1 << 1,
	NDN_ENTRY_WIDE = 1 << 2,
} __attribute__((packed));

/**
 * struct ndn_entry - an entry of the PIT: the fields that a distribution needs
 * @lock:    held (1) to change this row or its row of ndn_more.
 * @up:      upstream face.
 * @flags:   state.
 * @len:     bytes of the name.
 * @lap_end: end of the half lease that live[0] is about.
 * @live:    faces below 64 that renewed in this half lease and in those before.
 * @bits:    bit n: segment @segment - n of @version was forwarded.
 * @version: newest forwarded.
 * @segment: newest forwarded of @version.
 * @taken:   time of the last forwarded segment.
 * @acked:   when the last insert that upstream acknowledged left. The entry is
 *           CONFIRMED for a third of the lease from then; 0: PENDING.
 * @name:    first NDN_NEAR_BYTES of the name, 0 from @len on.
 */
struct ndn_entry {
	__u32 lock;
	__u8 up;
	enum ndn_entry_flags flags;
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
 * struct ndn_more - the rest of the entry in the same row of ndn_pit
 * @asked:   when the first insert left that upstream has not acknowledged.
 * @until:   end of the time in which upstream may answer @old and @deletes.
 * @sent:    when the last insert left.
 * @ack_len: bytes of @ack; 0: none, or too long to keep.
 * @count:   components of the name.
 * @owner:   face that the entry counts for: it inserted it, or renewed it after the
 *           former owner had left.
 * @inserts: inserts that left and were not acknowledged, since the last delete.
 * @old:     those from before it: so many acknowledgements do not count.
 * @deletes: deletes that left and were not acknowledged.
 * @rsvd:    0.
 * @waiting: faces whose inserts upstream has not acknowledged.
 * @leavers: faces that wait for the acknowledgement of a delete.
 * @live:    &ndn_entry.live of the faces from 64 on.
 * @name:    the name from NDN_NEAR_BYTES on, then 0. Undefined for shorter names.
 * @ack:     acknowledgement of the insert: a whole Data packet.
 * @rsvd1:   pads the row to whole cache lines.
 */
struct ndn_more {
	__u64 asked;
	__u64 until;
	__u64 sent;
	__u16 ack_len;
	__u8 count;
	__u8 owner;
	__u8 inserts;
	__u8 old;
	__u8 deletes;
	__u8 rsvd;
	__u64 waiting[NDN_FACE_WORDS];
	__u64 leavers[NDN_FACE_WORDS];
	__u64 live[NDN_LAPS][NDN_FACE_WORDS - 1];
	__u8 name[NDN_NAME_BYTES - NDN_NEAR_BYTES];
	__u8 ack[NDN_ACK_MAX];
	__u64 rsvd1;
};
NDN_ASSERT(sizeof(struct ndn_more) == 640, "ndn_more");

/**
 * struct ndn_part - range of one run of the program ndn_sweep: its context
 * @from:    first bucket. A run from 0 also sweeps pending Interests.
 * @buckets: number of buckets, at most 2^23. The run stops at the last bucket.
 */
struct ndn_part {
	__u32 from;
	__u32 buckets;
};

/**
 * struct ndn_ask - a pending Interest
 * @lock:   held (1) to change the row.
 * @out:    face that it was forwarded to.
 * @prefix: CanBePrefix.
 * @gone:   answered or expired; the row is about to be deleted.
 * @rsvd:   0.
 * @until:  end of the longest lifetime.
 * @faces:  faces that sent it.
 * @word:   &ndn_seat.word of its seat.
 * @seat:   number of its seat.
 * @rsvd1:  0.
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
	__u64 word;
	__u32 seat;
	__u32 rsvd1;
	struct ndn_row_name name;
};
NDN_ASSERT(sizeof(struct ndn_ask) == 328, "ndn_ask");

/**
 * struct ndn_nonces - recent Interests, to recognise loops
 * @tag: hash of name and nonce, newest first; 0: none.
 */
struct ndn_nonces {
	__u64 tag[4];
};

/**
 * struct ndn_kept - a row of the cache
 * @lock: held (1) to read or change the row.
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
 * enum ndn_flight_kind - what to send for a frame
 * @NDN_FLIGHT_COPY: the packet itself.
 * @NDN_FLIGHT_ACK:  the acknowledgement that an entry keeps.
 * @NDN_FLIGHT_KEPT: the Data of the same name in the cache.
 */
enum ndn_flight_kind {
	NDN_FLIGHT_COPY = 0,
	NDN_FLIGHT_ACK = 1,
	NDN_FLIGHT_KEPT = 2,
} __attribute__((packed));

/**
 * struct ndn_flight - a frame on its way from ndn_xdp to the program that sends it
 * @tick:     number in the frame's tag or orders. Another number means that the row
 *            was reused.
 * @kind:     what to send.
 * @mark:     marker of the name.
 * @count:    components of the name without its marker.
 * @rsvd0:    0.
 * @off:      offset of the NDN packet in the frame.
 * @len:      its bytes.
 * @name_off: offset of the name without its marker in the frame.
 * @name_len: its bytes.
 * @key:      ndn_hash() of the name.
 * @faces:    receivers.
 * @rsvd:     pads the row to a cache line.
 */
struct ndn_flight {
	__u32 tick;
	enum ndn_flight_kind kind;
	enum ndn_mark mark;
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
 * struct ndn_miss - a packet from an unknown sender
 * @from:  the sender.
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
 * @NDN_FORGET_ENTRY: the entry of @key in row @place of ndn_pit.
 * @NDN_FORGET_KEPT:  row @place of ndn_cache.
 * @NDN_FORGET_FACE:  all traces of face @face in @count buckets from @place on,
 *                    so that its number can be used again. From bucket 0 also
 *                    its pending Interests.
 */
enum ndn_forget_kind {
	NDN_FORGET_ENTRY = 1,
	NDN_FORGET_KEPT = 2,
	NDN_FORGET_FACE = 3,
};

/**
 * struct ndn_forget - context of the program ndn_forget
 * @key:   ndn_hash() of the entry's name.
 * @kind:  what to remove.
 * @face:  face number.
 * @place: row, or first bucket.
 * @count: number of buckets.
 * @busy:  used by the program, which returns 1 if a row stayed locked.
 * @rsvd:  0.
 */
struct ndn_forget {
	__u64 key;
	enum ndn_forget_kind kind;
	__u32 face;
	__u32 place;
	__u32 count;
	__u32 busy;
	__u32 rsvd;
};

/*
 * Keys: words of a name are hashed with secrets of their own (NH, as in UMAC).
 * Without the secrets, two names of equal key are found by chance only, at worst
 * one pair in 2^32. The sum over the words before a place serves all prefixes
 * that end behind it.
 */
static inline __u64 ndn_hash_word(__u64 word, __u64 secret)
{
	__u32 low = (__u32)word + (__u32)secret;
	__u32 high = (__u32)(word >> 32) + (__u32)(secret >> 32);

	return (__u64)low * high;
}

/* Make a key of @sum over the words of @len bytes; the last word ends in 0. */
static inline __u64 ndn_hash_end(__u64 sum, __u32 len, __u32 mark)
{
	sum ^= (len | (__u64)mark << 16) * 0x9e3779b97f4a7c15ULL;
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93ULL;
	return sum ^ sum >> 32;
}

static inline __u64 ndn_hash(const __u64 seed[NDN_NAME_WORDS], const struct ndn_row_name *name)
{
	__u64 sum = 0, word;

	for (__u32 i = 0; i < NDN_NAME_WORDS && 8 * i < name->len; i++) {
		__builtin_memcpy(&word, name->value + 8 * i, 8);
		sum += ndn_hash_word(word, seed[i]);
	}
	return ndn_hash_end(sum, name->len, name->mark);
}

/* Bucket @which (0 or 1) of the two that an entry of @key may be in. */
static inline __u32 ndn_bucket(__u64 key, __u32 buckets, int which)
{
	__u32 half = which ? (__u32)key : (__u32)(key >> 32);

	return (__u64)half * buckets >> 32;
}

/* Tells the rows of a bucket apart, nearly always. */
static inline __u16 ndn_tag(__u64 key)
{
	return (__u16)key ? (__u16)key : 1;
}

/*
 * Number of buckets for @entries and those that each face has to itself: together
 * they fill two thirds of the rows.
 */
static inline __u32 ndn_buckets(__u32 entries)
{
	__u64 all = (__u64)entries + NDN_FACES * NDN_ENTRIES_OWN;

	return (all * 3 / 2 + NDN_WAYS) / NDN_WAYS;
}

/* Join the parts of an entry's name. */
static inline void ndn_entry_name(const struct ndn_entry *e, const struct ndn_more *m,
				  struct ndn_row_name *name)
{
	__builtin_memset(name, 0, sizeof(*name));
	name->len = e->len;
	name->count = m->count;
	__builtin_memcpy(name->value, e->name, sizeof(e->name));
	if (e->len > NDN_NEAR_BYTES)
		__builtin_memcpy(name->value + NDN_NEAR_BYTES, m->name, sizeof(m->name));
}

#endif /* _UAPI_TRIB_NDN_MAPS_H */
