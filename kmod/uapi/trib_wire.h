/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Packets: the header, payload layouts, and arithmetic that both ends of a link
 * share. PROTOCOL.md has the rules and a picture. Compiled unchanged as BPF C,
 * kernel C, user space C and C++, and CUDA C; it may depend on none of them.
 *
 * A packet is UDP over IPv4 or IPv6, under up to two VLAN tags:
 *
 *	Ethernet | [VLAN [VLAN]] | IP | UDP | struct trib_hdr | bitmap | payload
 *
 * Header integers are big-endian. Payload words are little-endian, because
 * relays add them without swapping.
 */
#ifndef _UAPI_TRIB_WIRE_H
#define _UAPI_TRIB_WIRE_H

#include <linux/types.h>

#if defined(__cplusplus)
#define TRIB_ASSERT(cond, text) static_assert(cond, text)
#else
#define TRIB_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* UDP port of relays: the destination port that trib_xdp handles. */
#define TRIB_UDP_PORT 7417
/* First UDP port of workers that receive by plain sockets: plus child index. */
#define TRIB_UDP_PORT_WORKER 7418
/* UDP port of a PS of shared pools, whose host may also be a relay. */
#define TRIB_UDP_PORT_PS 7415

/* Counts forms of packets, and orders of chunks: all ranks must cut messages alike. */
#define TRIB_WIRE_VERSION 3

/**
 * enum trib_type - type of a packet
 *
 * A packet travels *up* (towards the root: TRIB_F_UP is set, and @child is the
 * sender's index among the receiver's children) or *down* (TRIB_F_UP is clear, and
 * the receiver's parent sent it). The BPF programs handle types below 16; they
 * admit types from 16 on and pass them to tribd.
 *
 * @TRIB_T_GRAD:   up: one worker's gradient chunk, or a relay's partial sum.
 * @TRIB_T_RESULT: down: the finished chunk. Up: a child holds the result that its
 *                 parent asked for.
 * @TRIB_T_NEED:   down: the sender lacks contributions to @chunk; the bitmap
 *                 (bmwords = 1) names the children that it has. Up ("ASK"): the
 *                 sender lacks the result of @chunk. No payload.
 * @TRIB_T_ALIVE:  up: the rank in @aux is alive. It waits for a result, or a NEED
 *                 named a chunk that it has not reached. @chunk is the first
 *                 whose result it lacks; with RESEND it has sent that chunk and
 *                 is not detaching. Passed up to the root, and from there down
 *                 to all, the sender included. No payload.
 * @TRIB_T_ABORT:  up to the root, then down to all: the collective cannot finish.
 *                 @aux is the rank to blame, @chunk an enum trib_abort. No
 *                 payload.
 * @TRIB_T_PROBE:  shared pools only. Up: the relay or PS that it is sent to answers
 *                 in place, with its own number in @relay: "I live". To the PS,
 *                 @relay names the relay that the sender bypasses, or 0; the PS
 *                 then sends results to that worker itself for a while. @child
 *                 is the rank. No payload.
 * @TRIB_T_JOIN:   up: a worker, or a relay whose children have all joined, wants to
 *                 take part in the next epoch. Payload struct trib_join, zero-padded
 *                 to a full data packet, so that an MTU that is too small shows
 *                 here and not later.
 * @TRIB_T_START:  down: answer to JOIN. Payload struct trib_start, padded like it.
 * @TRIB_T_LEAVE:  up: the worker detaches. Payload struct trib_join.
 */
enum trib_type {
	TRIB_T_GRAD = 1,
	TRIB_T_RESULT = 2,
	TRIB_T_NEED = 3,
	TRIB_T_ALIVE = 4,
	TRIB_T_ABORT = 5,
	TRIB_T_PROBE = 6,
	/* 7 is reserved */
	TRIB_T_JOIN = 16,
	TRIB_T_START = 17,
	TRIB_T_LEAVE = 18,
};

/**
 * enum trib_flags - bits of &trib_hdr.flags
 *
 * @TRIB_F_UP:     towards the root; @child is valid.
 * @TRIB_F_RESEND: the sender sent this before and lacks an answer.
 * @TRIB_F_PUSH:   wake the receiver at this chunk: the end of a message or burst.
 *                 The same on all workers. Relays collect it from GRADs and put
 *                 it in the RESULT.
 * @TRIB_F_EMPTY:  contributes nothing. The payload (nval zeros, or none if nval is
 *                 0) only makes room for the answer.
 * @TRIB_F_CE:     a contribution met congestion (its IP ECN field was CE). Relays
 *                 collect it in the slot and put it in the RESULT.
 * @TRIB_F_MASK:   the sender's own N:M mask: the payload is mask words, then the values
 *                 that they select (trib_masked_len()). GRAD of one worker only;
 *                 relays expand it, so what they send is dense.
 * @TRIB_F_HEAD:   first chunk of a message in its tree: it arrives when the rank has
 *                 begun the collective, so relays time for whom the others wait. The
 *                 same on all workers. Relays collect it like PUSH.
 */
enum trib_flags {
	TRIB_F_UP = 1 << 0,
	TRIB_F_RESEND = 1 << 1,
	TRIB_F_PUSH = 1 << 2,
	TRIB_F_EMPTY = 1 << 3,
	TRIB_F_CE = 1 << 4,
	TRIB_F_MASK = 1 << 5,
	TRIB_F_HEAD = 1 << 6,
};

/**
 * enum trib_wire_op - how contributions combine
 *
 * @TRIB_WOP_ADD: sum of lanes, as the format defines.
 * @TRIB_WOP_MAX: the larger signed 64-bit word. TRIB_FMT_W64 only.
 */
enum trib_wire_op {
	TRIB_WOP_ADD = 0,
	TRIB_WOP_MAX = 1,
	TRIB_WOP__MAX = 2,
} __attribute__((packed));

/**
 * enum trib_fmt - value format, which defines the lanes; one byte
 *
 * @TRIB_FMT_NONE: packets other than GRAD and RESULT. GRAD and RESULT name a format
 *                 also when empty, so that relays tell ranks at different
 *                 collectives apart.
 * @TRIB_FMT_Q32:  block floating point. Two int32 travel in one 64-bit word
 *                 (hi << 32) + lo, lo sign-extended; relays add words; the
 *                 receiver takes lo = (s32)w, hi = (w - lo) >> 32. Values are
 *                 clamped to +-trib_q32_limit(world), so no sum overflows.
 *                 value = q * 2^scale. Workers may put other lanes into the
 *                 words, with scale 0: kernels/nm/nm.h has those of compression.
 * @TRIB_FMT_I32:  integers; lanes add independently, modulo 2^32. Masked ones are
 *                 quantised and clamped like Q32, with a scale.
 * @TRIB_FMT_W64:  one signed 64-bit word per value (counted as two in nval):
 *                 exponents and MAX. ADD is modulo 2^64.
 * @TRIB_FMT_F32:  floats, one per unit. The three float formats are ADD only, in
 *                 dedicated pools, by relays with the kernel module. A relay
 *                 adds in fp32, in the order of arrival, and rounds to the
 *                 format once, when it sends its sum. Another order gives other
 *                 bits, but all ranks get copies of one RESULT packet. NaN and
 *                 Inf are values like others. The scale is 0.
 * @TRIB_FMT_F16:  IEEE halves, two per unit, the first in the lower half; an odd
 *                 last one leaves the upper half 0. nval is at most half of the
 *                 slot's room, because an accumulator takes a unit.
 * @TRIB_FMT_BF16: bfloat16, laid out like F16.
 * @TRIB_FMT_Q16:  reserved for compressed payloads.
 * @TRIB_FMT_Q8:   reserved for compressed payloads.
 */
enum trib_fmt {
	TRIB_FMT_NONE = 0,
	TRIB_FMT_Q32 = 1,
	TRIB_FMT_I32 = 2,
	TRIB_FMT_W64 = 3,
	TRIB_FMT_F32 = 4,
	TRIB_FMT_F16 = 5,
	TRIB_FMT_BF16 = 6,
	TRIB_FMT_Q16 = 7,
	TRIB_FMT_Q8 = 8,
	TRIB_FMT__MAX = 9,
} __attribute__((packed));

/**
 * struct trib_hdr - starts every packet, behind the UDP header
 *
 * Big-endian. The sender writes all fields; relays write a new header for each
 * packet that they send.
 *
 * @version: TRIB_WIRE_VERSION.
 * @type:    enum trib_type.
 * @flags:   enum trib_flags.
 * @op:      enum trib_wire_op.
 * @fmt:     enum trib_fmt.
 * @nm:      TRIB_F_MASK: trib_nm() of the mask. Else 0. Slots do not compare it: ranks
 *           may have different ones, or none.
 * @attempt: reserved: 0 on the wire.
 * @bmwords: 64-bit words of bitmap between this header and the payload, at most
 *           TRIB_BMWORDS_MAX: the workers whose values these are (shared pools),
 *           or the children seen (NEED). Bit i of the set is bit i % 64 of
 *           big-endian word i / 64.
 * @job:     job number, unique in the cluster.
 * @tree:    tree number, unique in the cluster: a row of the relay's map.
 * @relay:   shared pools: number of the relay that should sum this packet; all
 *           others forward it. TRIB_RELAY_PS: no relay. 0 in dedicated pools.
 * @child:   up: the sender's index among the receiver's children. Down, in RESULT:
 *           index of the sender's child that completed the chunk, 0xffff if it is
 *           unknown or below another node: only measurements depend on it. Shared
 *           pools: the rank that sent this packet, or whose packet made a relay send it.
 * @chunk:   position in the (job, tree) stream; starts at 0 in each epoch, grows
 *           by one, wraps modulo 2^32 and is compared serially.
 * @epoch:   membership that this packet belongs to; never 0 in data packets.
 * @nval:    32-bit units of values, without padding. The payload has
 *           trib_payload_len(nval) bytes; with TRIB_F_MASK nval counts the values
 *           after expansion, and the payload has trib_masked_len().
 * @aux:     a rank, 0xffff if unknown: the sender (JOIN, ALIVE; 0xffff from a
 *           relay), the rank to blame (ABORT), the reason to leave (LEAVE: a
 *           worker names itself, a relay the rank that made it leave). Else 0.
 * @scale:   GRAD, RESULT: s32, power of two of one unit of TRIB_FMT_Q32 and I32. All
 *           contributions to a chunk have the same scale. NEED, ALIVE, ABORT and
 *           PROBE: the sender's count of such packets (struct trib_replay); an answer
 *           to PROBE has that of the PROBE. Else 0.
 * @auth:    GRAD, RESULT: trib_key_secret() of the sender. Others: trib_auth(), over
 *           all of the packet. Anything else is dropped. See trib_auth.h.
 */
struct trib_hdr {
	__u8 version;
	__u8 type;
	__u8 flags;
	__u8 op;
	__u8 fmt;
	__u8 nm;
	__u8 attempt;
	__u8 bmwords;
	__be16 job;
	__be16 tree;
	__be16 relay;
	__be16 child;
	__be32 chunk;
	__be32 epoch;
	__be16 nval;
	__be16 aux;
	__be32 scale;
	__be64 auth;
} __attribute__((packed));
TRIB_ASSERT(sizeof(struct trib_hdr) == 40, "trib_hdr is 40 bytes on the wire");

/* &trib_hdr.relay of packets that no relay may sum. Relays have 1 to 65534. */
#define TRIB_RELAY_PS 0xffff
#define TRIB_BMWORDS_MAX 16  /* 1024 workers in a shared pool */
#define TRIB_CHILDREN_MAX 64 /* children of one node of a tree */
#define TRIB_WORLD_MAX 1024  /* workers of one job */

/* Values per chunk that fit an MTU of 1500 bytes, and one of 3400. */
#define TRIB_NVAL_SMALL 352
#define TRIB_NVAL_LARGE 832
/* Values travel in blocks, so that relays need no tail loop. */
#define TRIB_NVAL_BLOCK 16
/* Bytes of an MTU besides values: IPv4 or IPv6 header, UDP, trib_hdr. */
#define TRIB_OVERHEAD_V4 (20 + 8 + 40)
#define TRIB_OVERHEAD_V6 (40 + 8 + 40)

/* Bytes of payload that @nval 32-bit units occupy, padding included. */
static inline __attribute__((always_inline)) __u32 trib_payload_len(__u32 nval)
{
	return (nval + TRIB_NVAL_BLOCK - 1) / TRIB_NVAL_BLOCK * (TRIB_NVAL_BLOCK * 4);
}

/*
 * Masks: of every N successive values a worker sends M. A mask word is 32 bits,
 * little-endian; bit i % 32 of word i / 32 marks value i as present, and each group
 * of N bits has exactly M set. The values, 32 bits each, follow the last word in the
 * order of i. A receiver checks all words before it changes anything.
 */
#define TRIB_MASK_UNITS 32 /* values of a mask word */

static inline __attribute__((always_inline)) __u8 trib_nm(__u32 log2_group, __u32 kept)
{
	return log2_group << 5 | (kept - 1);
}

/* N of an N:M group. */
static inline __attribute__((always_inline)) __u32 trib_nm_group(__u8 nm)
{
	return 1U << (nm >> 5);
}

/* M of an N:M group. */
static inline __attribute__((always_inline)) __u32 trib_nm_kept(__u8 nm)
{
	return (nm & 31) + 1U;
}

/* Is N 2, 4, 8, 16 or 32 and M less than N? All of N needs no mask. */
static inline __attribute__((always_inline)) int trib_nm_is_mask(__u8 nm)
{
	return nm >> 5 <= 5 && trib_nm_kept(nm) < trib_nm_group(nm);
}

/* Values that follow one mask word: 1 to 31. */
static inline __attribute__((always_inline)) __u32 trib_nm_per_word(__u8 nm)
{
	return (TRIB_MASK_UNITS >> (nm >> 5)) * trib_nm_kept(nm);
}

/*
 * Bytes of a masked payload that expands to @nval values, a multiple of
 * TRIB_MASK_UNITS; padding included. Never more than trib_payload_len(@nval).
 */
static inline __attribute__((always_inline)) __u32 trib_masked_len(__u32 nval, __u8 nm)
{
	return trib_payload_len(nval / TRIB_MASK_UNITS * (1 + trib_nm_per_word(nm)));
}

/* Bytes of payload behind the bitmap, by fields of the header. */
static inline __attribute__((always_inline)) __u32 trib_values_len(__u8 flags, __u8 nm, __u32 nval)
{
	return flags & TRIB_F_MASK ? trib_masked_len(nval, nm) : trib_payload_len(nval);
}

/* Bits set in each field of N bits of the mask word @w. */
static inline __attribute__((always_inline)) __u32 trib_mask_counts(__u32 w, __u32 group)
{
	w -= w >> 1 & 0x55555555;
	if (group >= 4)
		w = (w & 0x33333333) + (w >> 2 & 0x33333333);
	if (group >= 8)
		w = (w + (w >> 4)) & 0x0f0f0f0f;
	if (group >= 16)
		w = (w + (w >> 8)) & 0x00ff00ff;
	if (group >= 32)
		w = (w + (w >> 16)) & 0xff;
	return w;
}

/* trib_mask_counts() of a right mask word. */
static inline __attribute__((always_inline)) __u32 trib_mask_want(__u32 group, __u32 kept)
{
	/* @kept in each field; a field of 32 bits fills the word. */
	return group == 32 ? kept : kept * (0xffffffffU / ((1U << group) - 1));
}

static inline __attribute__((always_inline)) int trib_fmt_is_float(__u8 fmt)
{
	return fmt >= TRIB_FMT_F32 && fmt <= TRIB_FMT_BF16;
}

/* Two values per unit: their accumulators take two units. */
static inline __attribute__((always_inline)) int trib_fmt_is_half(__u8 fmt)
{
	return fmt == TRIB_FMT_F16 || fmt == TRIB_FMT_BF16;
}

/* Values that @nval units of a float format hold. */
static inline __attribute__((always_inline)) __u32 trib_fmt_values(__u8 fmt, __u32 nval)
{
	return trib_fmt_is_half(fmt) ? nval * 2 : nval;
}

/* The largest nval of a chunk if slots have room for @slot units. */
static inline __attribute__((always_inline)) __u32 trib_fmt_nval_max(__u8 fmt, __u32 slot)
{
	return trib_fmt_is_half(fmt) ? slot / 2 : slot;
}

/* Serial-number arithmetic on chunk numbers: negative if @a is before @b. */
static inline __attribute__((always_inline)) __s32 trib_chunk_diff(__u32 a, __u32 b)
{
	return (__s32)(a - b);
}

/* Smallest c with 2^c >= n. */
static inline __attribute__((always_inline)) __u32 trib_log2_ceil(__u32 n)
{
	__u32 c = 0;

	while (c < 31 && (1U << c) < n)
		c++;
	return c;
}

/* Largest magnitude of a quantised value, so that @world of them cannot overflow. */
static inline __attribute__((always_inline)) __s32 trib_q32_limit(__u32 world)
{
	return (__s32)((1U << (31 - trib_log2_ceil(world))) - 1);
}

/*
 * Exponent chunks (op MAX, format W64): one signed word per following data chunk.
 * A plain word is e with |x| < 2^e for all x of the chunk, or TRIB_EXP_ZERO. A
 * word with bit 62 set reports an input that is not finite and wins over every
 * exponent. It has the rank in bits 46..61 and the one's complement of the
 * element's index in bits 0..45, so that the first element of a rank wins.
 */
#define TRIB_EXP_ZERO (-4096)
#define TRIB_EXP_BAD (1LL << 62)
#define TRIB_EXP_INDEX_BITS 46
#define TRIB_EXP_INDEX_MAX ((1ULL << TRIB_EXP_INDEX_BITS) - 1)

/* The word that reports element @index of @rank, and what it says. */
static inline __attribute__((always_inline)) __s64 trib_exp_bad(__u32 rank, __u64 index)
{
	return (__s64)((__u64)TRIB_EXP_BAD | (__u64)rank << TRIB_EXP_INDEX_BITS |
		       (~index & TRIB_EXP_INDEX_MAX));
}

static inline __attribute__((always_inline)) __u32 trib_exp_bad_rank(__s64 word)
{
	return (__u64)word >> TRIB_EXP_INDEX_BITS & 0xffff;
}

static inline __attribute__((always_inline)) __u64 trib_exp_bad_index(__s64 word)
{
	return ~(__u64)word & TRIB_EXP_INDEX_MAX;
}

/**
 * enum trib_abort - reason to abort a collective (&trib_hdr.chunk of ABORT)
 * @TRIB_ABORT_DEAD:    no sign of life of the rank within the job's time-out.
 * @TRIB_ABORT_GONE:    the rank's process ended or left without finishing.
 * @TRIB_ABORT_REJOIN:  the rank restarted and joins anew.
 * @TRIB_ABORT_ADMIN:   the job or the tree was removed.
 */
enum trib_abort {
	TRIB_ABORT_DEAD = 1,
	TRIB_ABORT_GONE = 2,
	TRIB_ABORT_REJOIN = 3,
	TRIB_ABORT_ADMIN = 4,
};

/*
 * A nonce names one attempt to join; repetitions have the same. Upper half: the
 * instance, random and not 0, drawn by each worker process, and by each tree of a
 * tribd when it starts. Lower half: how often that instance has joined. Of two
 * nonces of one instance, the smaller was late on its way. Instances have no
 * order, but only a living process repeats its JOIN.
 */
static inline __attribute__((always_inline)) __u64 trib_nonce(__u32 instance, __u32 count)
{
	return (__u64)instance << 32 | count;
}

/* Is @a older than @b, of the same instance? */
static inline __attribute__((always_inline)) int trib_nonce_is_older(__u64 a, __u64 b)
{
	return a >> 32 == b >> 32 && a < b;
}

/**
 * struct trib_join - payload of JOIN and LEAVE, written by a worker or a tribd
 * @nonce: trib_nonce() of the attempt to join. A relay has its own towards its
 *         parent, a new one whenever its children change.
 * @epoch: LEAVE: the epoch that ends for this worker. JOIN: the last epoch that
 *         the sender knows (0: none); the next one will be larger.
 * @rank:  the worker's rank, or 0xffffffff from a relay.
 * @token: JOIN: of the newest START, 0 before the first. A JOIN with another token
 *         than the receiver's is answered by START(WAIT) and has no other effect:
 *         copies of old JOINs do no harm. LEAVE: 0.
 */
struct trib_join {
	__be64 nonce;
	__be32 epoch;
	__be32 rank;
	__be64 token;
} __attribute__((packed));
TRIB_ASSERT(sizeof(struct trib_join) == 24, "trib_join");

/**
 * enum trib_start_state - answer to JOIN
 * @TRIB_START_WAIT:    children are missing; repeat the JOIN.
 * @TRIB_START_RUN:     the epoch begins.
 * @TRIB_START_REFUSED: the JOIN does not fit the job, as its number of values.
 */
enum trib_start_state {
	TRIB_START_WAIT = 0,
	TRIB_START_RUN = 1,
	TRIB_START_REFUSED = 2,
};

/**
 * struct trib_start - payload of START, written by tribd, padded like JOIN
 * @nonce:    of the JOIN that it answers.
 * @seen:     children that have joined.
 * @epoch:    RUN: the epoch that begins; data packets carry it from now on.
 * @state:    enum trib_start_state.
 * @window:   W of the job, a power of 2: chunks in flight; pools have 2W slots.
 * @nval:     values per chunk of this tree.
 * @world:    workers of the job.
 * @nchild:   children of the answering relay.
 * @timeout_ms: silence of a rank, in ms, after which the job is aborted.
 * @child_rank: rank of each child, 0xffff for a relay.
 * @token:    the next JOIN must have it: random, not 0, another one after each start
 *            of tribd and in each epoch.
 */
struct trib_start {
	__be64 nonce;
	__be64 seen;
	__be32 epoch;
	__be32 timeout_ms;
	__be16 state;
	__be16 window;
	__be16 nval;
	__be16 world;
	__be16 nchild;
	__be16 rsvd[3];
	__be16 child_rank[TRIB_CHILDREN_MAX];
	__be64 token;
} __attribute__((packed));
TRIB_ASSERT(sizeof(struct trib_start) == 176, "trib_start");

#endif /* _UAPI_TRIB_WIRE_H */
