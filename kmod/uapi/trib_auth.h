/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR BSD-2-Clause */
/*
 * Secrets: who may send what. Every key of a job follows from the job's key, by
 * SipHash-2-4 (Aumasson, Bernstein). PROTOCOL.md ("Secrets") says who knows which.
 * Compiled unchanged as BPF C, kernel C, user space C and C++; it depends on none of
 * them.
 *
 *	job ──┬── rank ──── in a tree ──┬── secret: GRAD, and RESULT that goes up
 *	      │                         └── authenticators of its control packets
 *	      ├── relays ── in a tree ──┬── secret: the same
 *	      │                         └── a control key for each relay, by its address
 *	      └── members ─ in a tree ──┬── secret: RESULT
 *	                                └── a control key for each node, by its address
 *
 * &trib_hdr.auth is the secret in data packets, and the authenticator in others.
 */
#ifndef _UAPI_TRIB_AUTH_H
#define _UAPI_TRIB_AUTH_H

#include "trib_wire.h"

#define TRIB_AUTH_INLINE static inline __attribute__((always_inline))

/**
 * struct trib_key - 128 secret bits
 * @b: bytes, in the order of their hexadecimal text.
 */
struct trib_key {
	__u8 b[16];
} __attribute__((aligned(8)));
TRIB_ASSERT(sizeof(struct trib_key) == 16, "trib_key");

#define TRIB_KEY_HEX (2 * sizeof(struct trib_key)) /* digits of its text */

/* Read 8 bytes as a little-endian word; any alignment. */
TRIB_AUTH_INLINE __u64 trib_sip_load(const void *p)
{
	__u64 v;

#if defined(__bpf__) || defined(__BPF__)
	v = *(const __u64 *)p;
#else
	__builtin_memcpy(&v, p, sizeof(v));
#endif
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

/* struct trib_sip - a hash under way: trib_sip_init(), _word() for 8 bytes each, _end() */
struct trib_sip {
	__u64 v0;
	__u64 v1;
	__u64 v2;
	__u64 v3;
};

#define TRIB_SIP_ROTL(x, n) ((x) << (n) | (x) >> (64 - (n)))

TRIB_AUTH_INLINE void trib_sip_round(struct trib_sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = TRIB_SIP_ROTL(s->v1, 13) ^ s->v0;
	s->v3 = TRIB_SIP_ROTL(s->v3, 16) ^ s->v2;
	s->v0 = TRIB_SIP_ROTL(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = TRIB_SIP_ROTL(s->v1, 17) ^ s->v2;
	s->v3 = TRIB_SIP_ROTL(s->v3, 21) ^ s->v0;
	s->v2 = TRIB_SIP_ROTL(s->v2, 32);
}

TRIB_AUTH_INLINE void trib_sip_init(struct trib_sip *s, const struct trib_key *key)
{
	__u64 k0 = trib_sip_load(key->b), k1 = trib_sip_load(key->b + 8);

	s->v0 = k0 ^ 0x736f6d6570736575ULL;
	s->v1 = k1 ^ 0x646f72616e646f6dULL;
	s->v2 = k0 ^ 0x6c7967656e657261ULL;
	s->v3 = k1 ^ 0x7465646279746573ULL;
}

TRIB_AUTH_INLINE void trib_sip_word(struct trib_sip *s, __u64 m)
{
	s->v3 ^= m;
	trib_sip_round(s);
	trib_sip_round(s);
	s->v0 ^= m;
}

/*
 * End the hash. @last: the bytes that fill no word, little-endian, and the length of
 * the whole message in the uppermost byte.
 */
TRIB_AUTH_INLINE __u64 trib_sip_end(struct trib_sip *s, __u64 last)
{
	trib_sip_word(s, last);
	s->v2 ^= 0xff;
	trib_sip_round(s);
	trib_sip_round(s);
	trib_sip_round(s);
	trib_sip_round(s);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* Hash of two words: every derivation is one or two of these. */
TRIB_AUTH_INLINE __u64 trib_sip_pair(const struct trib_key *key, __u64 a, __u64 b)
{
	struct trib_sip s;

	trib_sip_init(&s, key);
	trib_sip_word(&s, a);
	trib_sip_word(&s, b);
	return trib_sip_end(&s, 16ULL << 56);
}

/* Write @v to @p, little-endian; any alignment. */
TRIB_AUTH_INLINE void trib_sip_store(void *p, __u64 v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
#if defined(__bpf__) || defined(__BPF__)
	*(__u64 *)p = v;
#else
	__builtin_memcpy(p, &v, sizeof(v));
#endif
}

/* Purpose of a hash, so that no two uses of a key have the same input. */
#define TRIB_AUTH_UP 0x7075U	   /* "up" */
#define TRIB_AUTH_DOWN 0x6e776f64U /* "down" */
#define TRIB_AUTH_TREE 0x65657274U /* "tree" */
#define TRIB_AUTH_NODE 0x65646f6eU /* "node" */
#define TRIB_AUTH_DATA 0x61746164U /* "data" */

/* Key number @id for @purpose. @out may be @key. */
TRIB_AUTH_INLINE void trib_key_derive(struct trib_key *out, const struct trib_key *key,
				      __u32 purpose, __u16 id)
{
	__u64 lo = trib_sip_pair(key, purpose, id);
	__u64 hi = trib_sip_pair(key, purpose, id | 1ULL << 32);

	trib_sip_store(out->b, lo);
	trib_sip_store(out->b + 8, hi);
}

/**
 * trib_key_rank() - derive a child's key, for what it sends up
 * @key:  of the job.
 * @rank: of a worker, or 0xffff: of all relays.
 */
TRIB_AUTH_INLINE void trib_key_rank(struct trib_key *out, const struct trib_key *key, __u16 rank)
{
	trib_key_derive(out, key, TRIB_AUTH_UP, rank);
}

/* trib_key_members() - derive the key of what goes down; all members of a job have it */
TRIB_AUTH_INLINE void trib_key_members(struct trib_key *out, const struct trib_key *key)
{
	trib_key_derive(out, key, TRIB_AUTH_DOWN, 0);
}

/**
 * trib_key_tree() - derive the key of one tree
 * @key: of a rank, of relays, or of members. @out may be @key.
 */
TRIB_AUTH_INLINE void trib_key_tree(struct trib_key *out, const struct trib_key *key, __u16 tree)
{
	trib_key_derive(out, key, TRIB_AUTH_TREE, tree);
}

/* trib_key_up() - from the job's key to that of a child in a tree */
TRIB_AUTH_INLINE void trib_key_up(struct trib_key *out, const struct trib_key *key, __u16 tree,
				  __u16 rank)
{
	trib_key_rank(out, key, rank);
	trib_key_tree(out, out, tree);
}

/* trib_key_down() - from the job's key to that of what goes down a tree */
TRIB_AUTH_INLINE void trib_key_down(struct trib_key *out, const struct trib_key *key, __u16 tree)
{
	trib_key_members(out, key);
	trib_key_tree(out, out, tree);
}

/**
 * trib_key_node() - derive the control key of one node of a dedicated tree
 * @key:  trib_key_up() of relays, or trib_key_down().
 * @addr: 16 bytes: source address of the node's packets, IPv6 or v4-mapped.
 *
 * Nodes count their control packets each for itself: one of another node must not be
 * taken for one of this node. In shared trees the PS is the only such sender, and
 * ranks have keys of their own: these use @key itself. @out may be @key.
 */
TRIB_AUTH_INLINE void trib_key_node(struct trib_key *out, const struct trib_key *key,
				    const void *addr)
{
	__u64 a = trib_sip_load(addr), b = trib_sip_load((const __u8 *)addr + 8);
	struct trib_sip s;
	__u64 half[2];
	int i;

	for (i = 0; i < 2; i++) {
		trib_sip_init(&s, key);
		trib_sip_word(&s, TRIB_AUTH_NODE | (__u64)i << 32);
		trib_sip_word(&s, a);
		trib_sip_word(&s, b);
		half[i] = trib_sip_end(&s, 24ULL << 56);
	}
	trib_sip_store(out->b, half[0]);
	trib_sip_store(out->b + 8, half[1]);
}

/**
 * trib_key_secret() - the secret of data packets
 * @key: trib_key_up() of the sender, or trib_key_down().
 * Return: &trib_hdr.auth, as on the wire. Never changes while the job lives.
 */
TRIB_AUTH_INLINE __be64 trib_key_secret(const struct trib_key *key)
{
	__u64 v = trib_sip_pair(key, TRIB_AUTH_DATA, 0);
	__be64 out;

	trib_sip_store(&out, v);
	return out;
}

/* Does a packet of @type have a secret? Others have an authenticator. */
TRIB_AUTH_INLINE int trib_auth_is_secret(__u8 type)
{
	return type == TRIB_T_GRAD || type == TRIB_T_RESULT;
}

/* Begin the authenticator of a packet: its first 32 bytes. */
TRIB_AUTH_INLINE void trib_auth_begin(struct trib_sip *s, const struct trib_key *key,
				      const struct trib_hdr *h)
{
	const __u8 *p = (const __u8 *)h;

	trib_sip_init(s, key);
	trib_sip_word(s, trib_sip_load(p));
	trib_sip_word(s, trib_sip_load(p + 8));
	trib_sip_word(s, trib_sip_load(p + 16));
	trib_sip_word(s, trib_sip_load(p + 24));
}

/* End it. @len: bytes behind the header that it covers. Return: as on the wire. */
TRIB_AUTH_INLINE __be64 trib_auth_end(struct trib_sip *s, __u32 len)
{
	__u64 v = trib_sip_end(s, (__u64)(len + 32) << 56);
	__be64 out;

	trib_sip_store(&out, v);
	return out;
}

/**
 * trib_auth() - compute the authenticator of a packet without secret
 * @key:  control key of the sender for this direction.
 * @h:    header; its field auth is not read. Any alignment, except in BPF.
 * @body: @len bytes behind the header: bitmap and payload, a multiple of 8.
 *
 * It covers all of the packet. Return: &trib_hdr.auth, as on the wire.
 */
TRIB_AUTH_INLINE __be64 trib_auth(const struct trib_key *key, const struct trib_hdr *h,
				  const void *body, __u32 len)
{
	struct trib_sip s;
	__u32 i;

	trib_auth_begin(&s, key, h);
	for (i = 0; i + 8 <= len; i += 8)
		trib_sip_word(&s, trib_sip_load((const __u8 *)body + i));
	return trib_auth_end(&s, len);
}

/**
 * struct trib_replay - numbers that came from one sender of control packets
 * @epoch: of these numbers; 0: none came yet.
 * @top:   the newest.
 * @seen:  bit i: @top - i came.
 */
struct trib_replay {
	__u32 epoch;
	__u32 top;
	__u64 seen;
};

/*
 * Numbers of tribd's own ABORTs, by which an epoch ends at a node: larger than any of
 * the data plane's or the worker's that it speaks for. Behind it: units of 1/4 s.
 */
#define TRIB_REPLAY_TRIBD 0x40000000U

/**
 * trib_replay_take() - may the control packet with @number take effect?
 *
 * A number is taken once in an epoch: it is newer than all before, or one of the 64
 * newest and came late. An epoch never comes again, so a new one begins anew. The
 * packet must be authentic. Return: 0 for a copy, or one that is too old.
 */
TRIB_AUTH_INLINE int trib_replay_take(struct trib_replay *r, __u32 epoch, __u32 number)
{
	__u32 ahead = number - r->top, behind = r->top - number;

	if (r->epoch != epoch) {
		r->epoch = epoch;
		r->top = number;
		r->seen = 1;
		return 1;
	}
	if ((__s32)ahead > 0) {
		r->seen = ahead < 64 ? r->seen << ahead : 0;
		r->seen |= 1;
		r->top = number;
		return 1;
	}
	if (behind >= 64 || (r->seen >> behind & 1))
		return 0;
	r->seen |= 1ULL << behind;
	return 1;
}

#endif /* _UAPI_TRIB_AUTH_H */
