// SPDX-License-Identifier: BSD-2-Clause
/*
 * A packet is described by a dozen bytes of input: to which tree, from whom,
 * what, and how it is bent. Zero bytes make a plain GRAD.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "gen.h"
#include "tests/lib/mask_make.h"

static void put16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
}

/* Weighted: frequent packets of workers are frequent here. */
static const uint8_t types[16] = {
	TRIB_T_GRAD,  TRIB_T_GRAD,   TRIB_T_GRAD,  TRIB_T_GRAD,	 TRIB_T_GRAD,	TRIB_T_GRAD,
	TRIB_T_GRAD,  TRIB_T_RESULT, TRIB_T_NEED,  TRIB_T_NEED,	 TRIB_T_RESULT, TRIB_T_ALIVE,
	TRIB_T_ABORT, TRIB_T_JOIN,   TRIB_T_START, TRIB_T_LEAVE,
};

/* A leaf takes results, and little else. */
static const uint8_t leaf_types[16] = {
	TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_RESULT,
	TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_NEED,   TRIB_T_RESULT, TRIB_T_RESULT, TRIB_T_ALIVE,
	TRIB_T_ABORT,  TRIB_T_JOIN,   TRIB_T_START,  TRIB_T_GRAD,
};

static const uint8_t shared_types[16] = {
	TRIB_T_GRAD,  TRIB_T_GRAD,   TRIB_T_GRAD,  TRIB_T_GRAD,	 TRIB_T_GRAD,	TRIB_T_GRAD,
	TRIB_T_GRAD,  TRIB_T_RESULT, TRIB_T_NEED,  TRIB_T_PROBE, TRIB_T_RESULT, TRIB_T_ALIVE,
	TRIB_T_ABORT, TRIB_T_JOIN,   TRIB_T_START, TRIB_T_PROBE,
};

/* Bits of the three workers of the row (1, 2, 4), and of another (8). */
static const uint8_t contributors[16] = {1, 2, 4, 1, 2, 4, 1, 2, 4, 3, 5, 6, 7, 9, 8, 0};

static const struct {
	uint8_t op, fmt;
} shapes[8] = {
	{TRIB_WOP_ADD, TRIB_FMT_Q32}, {TRIB_WOP_ADD, TRIB_FMT_BF16}, {TRIB_WOP_ADD, TRIB_FMT_I32},
	{TRIB_WOP_MAX, TRIB_FMT_W64}, {TRIB_WOP_ADD, TRIB_FMT_W64},  {TRIB_WOP_ADD, TRIB_FMT_NONE},
	{TRIB_WOP_MAX, TRIB_FMT_Q32}, {TRIB_WOP_ADD, TRIB_FMT_F32},
};

static unsigned int lengths(unsigned int i)
{
	const unsigned int n[8] = {rig.nval, rig.nval, 32, 16, 17, 2, 0, rig.nval + 1};

	return n[i & 7];
}

static const uint64_t patterns[8] = {
	1,
	0x0000000100000001,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xffffffffffffffff,
	0x0000000080000000,
	0x123456789abcdef0,
	0,
};

/* For whom, of whom, from which rank: from bytes that say something else. */
static int put_shared(uint8_t *p, struct trib_hdr *h, int tree, int child, uint8_t who,
		      uint8_t type, uint8_t seed)
{
	uint64_t bits[TRIB_BMWORDS_MAX] = {0};
	uint8_t set = contributors[who >> 2 & 15];

	/* A worker brings its own values. */
	if ((child == 0 || child == 1) && (seed & 0x30) != 0x30)
		set = 1 << child;
	h->child = htons(child == 2 || child < 0 || (seed & 0xc0) == 0xc0 ? who % 60 : child);
	if (h->type != TRIB_T_PROBE || (seed & 1))
		h->relay = htons(!(type & 0x80) ? RELAY
				 : seed & 1	? TRIB_RELAY_PS
				 : seed & 2	? RELAY + 1
						: 0);
	if (h->type == TRIB_T_GRAD || (h->type == TRIB_T_RESULT && (seed & 1)))
		h->bmwords = rig.pools[tree].bmwords;
	for (int i = 0; i < 4; i++) {
		int rank = rig_rank(tree, i);

		if (set >> i & 1)
			bits[rank / 64] |= htobe64(1ULL << rank % 64);
	}
	memcpy(p, bits, h->bmwords * 8);
	return h->bmwords * 8;
}

/* Values that differ from word to word; padding may be anything. */
static int put_values(uint8_t *p, unsigned int nval, uint8_t seed)
{
	int len = trib_payload_len(nval);
	uint64_t w = patterns[seed & 7];

	for (int i = 0; i < len / 8; i++) {
		uint64_t v = htole64(w + i * (uint64_t)(seed >> 3));

		memcpy(p + 8 * i, &v, 8);
	}
	return len;
}

/*
 * Make the packet a masked one: M of N, values, and a mask that is mostly right. Return:
 * length of the payload.
 */
static int put_mask(uint8_t *p, struct trib_hdr *h, unsigned int nval, uint8_t seed, uint8_t type)
{
	static const uint8_t masks[8] = {
		2 << 5 | 1, 3 << 5 | 2, 5 << 5 | 30, 4 << 5 | 7, 1 << 5, 2 << 5 | 1, 3 << 5 | 0, 0,
	};
	unsigned int words = nval / TRIB_MASK_UNITS;

	h->flags |= TRIB_F_MASK;
	h->nm = masks[seed & 7] ? masks[seed & 7] : type;
	if (!trib_nm_is_mask(h->nm) || nval > rig.nval)
		return nval > rig.nval ? 0 : put_values(p, nval, seed);
	put_values(p, nval, seed);
	mask_words(p, words, h->nm, seed | type << 8);
	if (words && (seed & 0x48) == 0x48)
		p[seed % (4 * words)] ^= 1 << (seed & 7);
	return trib_masked_len(nval, h->nm);
}

/* Sign as the neighbour does, mostly with a new number. */
static void sign(struct trib_hdr *h, const uint8_t *pay, int len, int tree, int child, uint8_t seed)
{
	static uint32_t number;
	int who = child;
	struct trib_key key;

	if ((T_SHARED >> tree & 1) && child >= 0)
		who = trib_auth_is_secret(h->type) && child == 2 ? KEY_RELAY : ntohs(h->child);
	key = rig_key(tree, child < 0 ? KEY_DOWN : who);
	if (trib_auth_is_secret(h->type)) {
		h->auth = trib_key_secret(&key);
		return;
	}
	if (h->type < TRIB_T_JOIN)
		h->scale = htonl(++number - (seed % 16 == 15 ? seed : 0));
	h->auth = trib_auth(&key, h, pay, len);
}

static int put_header(uint8_t *p, struct input *in, int tree, uint8_t who, int child, uint32_t base)
{
	bool shared = T_SHARED >> tree & 1, leaf = rig.trees[tree].flags & TRIB_TREE_LEAF;
	uint8_t type = take8(in), what = take8(in), shape = take8(in);
	uint8_t seed = take8(in);
	struct trib_hdr h = {
		.version = TRIB_WIRE_VERSION,
		.type = (shared ? shared_types
			 : leaf ? leaf_types
				: types)[type & 15],
		.flags = what &
			 (TRIB_F_RESEND | TRIB_F_PUSH | TRIB_F_EMPTY | TRIB_F_CE | TRIB_F_HEAD),
		.job = htons(rig.trees[tree].job),
		.tree = htons(tree),
		.child = htons(child < 0 ? seed : child),
		.chunk = htonl(base + (what >> 5) + (type >> 4 & 7)),
		.epoch = htonl(rig.trees[tree].epoch),
	};
	int len = 0;

	if (child >= 0)
		h.flags |= TRIB_F_UP;
	if (shared)
		len = put_shared(p + sizeof(h), &h, tree, child, who, type, seed);
	if (h.type == TRIB_T_GRAD || h.type == TRIB_T_RESULT) {
		unsigned int nval = lengths(shape >> 3);

		/* All of a frame is in one page. */
		if (len > 64 && nval == TRIB_NVAL_LARGE)
			nval -= 64;
		h.op = shapes[shape & 7].op;
		h.fmt = shapes[shape & 7].fmt;
		h.scale = htonl(shape >> 6 == 3);
		h.nval = htons(nval);
		if (shape >> 6 == 2)
			len += put_mask(p + sizeof(h) + len, &h, nval, seed, type);
		else if (nval <= TRIB_NVAL_LARGE)
			len += put_values(p + sizeof(h) + len, nval, seed);
	} else if (h.type == TRIB_T_NEED && (!shared || (seed & 1))) {
		uint64_t seen = htobe64(seed);

		h.bmwords = 1;
		memcpy(p + sizeof(h), &seen, 8);
		len = 8;
	} else {
		h.aux = htons(seed);
	}
	sign(&h, p + sizeof(h), len, tree, child, seed);
	memcpy(p, &h, sizeof(h));
	return sizeof(h) + len;
}

static int put_ip(uint8_t *b, const struct trib_peer *p, bool v6, uint8_t tos)
{
	memset(b, 0, 40);
	if (v6) {
		b[0] = 0x60 | tos >> 4;
		b[1] = tos << 4;
		b[6] = 17;
		b[7] = 9;
		memcpy(b + 8, p->addr, 16);
		memcpy(b + 24, p->addr, 15);
		b[39] = 1;
		return 40;
	}
	b[0] = 0x45;
	b[1] = tos;
	b[6] = 0x40;
	b[8] = 9;
	b[9] = 17;
	memcpy(b + 12, &p->addr[3], 4);
	memcpy(b + 16, &p->addr[3], 3);
	b[19] = 1;
	return 20;
}

static int put_eth(uint8_t *b, const struct trib_peer *p, bool v6)
{
	int n = 12, tags = p->vlan[0] ? p->vlan[1] ? 2 : 1 : 0;

	memcpy(b, (uint8_t[]){2, 1, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9}, 12);
	for (int i = 0; i < tags; i++, n += 4) {
		put16(b + n, tags == 2 && !i ? 0x88a8 : 0x8100);
		memcpy(b + n + 2, &p->vlan[i], 2);
	}
	put16(b + n, v6 ? 0x86dd : 0x0800);
	return n + 2;
}

enum bend {
	BEND_ETH,
	BEND_TAG, /* anywhere near the tags and the IP header's start */
	BEND_IP,
	BEND_UDP,
	BEND_HDR,
	BEND_ANY,
	BEND_CUT,
	BEND_MORE,
	BEND_PORT,
	BEND_TWICE,  /* as segmentation offload does */
	BEND_LONGER, /* all lengths, consistently */
	BEND__MAX,
};

struct where {
	int l3, l4, h, pay;
	bool v6;
};

/* But not less than nothing. */
static int at_most(int v, int most)
{
	return v < most ? v : most > 0 ? most : 0;
}

static void longer(struct frame *f, const struct where *w, int more)
{
	int l4_len;

	more = at_most(more, FRAME_MAX - f->len);
	memset(f->b + f->len, 0, more);
	f->len += more;
	l4_len = f->len - w->l4;
	put16(f->b + w->l4 + 4, l4_len);
	put16(f->b + w->l3 + (w->v6 ? 4 : 2), l4_len + (w->v6 ? 0 : 20));
}

static void bend(struct input *in, struct frame *f, const struct where *w, uint32_t *ifindex)
{
	uint8_t how = take8(in), at = take8(in), value = take8(in);
	int off = -1;

	switch (how % BEND__MAX) {
	case BEND_ETH:
		off = at % 14;
		break;
	case BEND_TAG:
		off = 12 + at % 12;
		break;
	case BEND_IP:
		off = w->l3 + at % (w->v6 ? 48 : 24);
		break;
	case BEND_UDP:
		off = w->l4 + at % 8;
		break;
	case BEND_HDR:
		off = w->h + at % sizeof(struct trib_hdr);
		break;
	case BEND_ANY:
		off = (at << 4 | value >> 4) % f->len;
		break;
	case BEND_CUT:
		f->len -= at_most(at, f->len - 14);
		return;
	case BEND_MORE:
		memset(f->b + f->len, value, 16);
		f->len = at_most(f->len + 16, FRAME_MAX);
		return;
	case BEND_PORT:
		*ifindex = rig.ifindex[at % PORTS];
		return;
	case BEND_TWICE: {
		int n = at_most(f->len - w->h, FRAME_MAX - f->len);

		if (n > 0) {
			memmove(f->b + f->len, f->b + w->h, n);
			longer(f, w, 0);
			f->len += n;
			if (value & 1)
				longer(f, w, 0);
		}
		return;
	}
	case BEND_LONGER:
		longer(f, w, at);
		return;
	}
	if (off < f->len)
		f->b[off] ^= value ? value : 1;
}

uint32_t gen_packet(struct input *in, uint32_t base, struct frame *f)
{
	uint8_t tree = take8(in), who = take8(in), bent;
	const struct trib_tree *t;
	const struct trib_peer *p;
	struct where w;
	uint32_t ifindex;
	int child;

	tree = T_NONE + 1 + tree % (T__MAX - 1);
	t = &rig.trees[tree];
	child = who % (t->nchild + 1);
	if (child == t->nchild)
		child = -1;
	p = child < 0 ? &t->parent : &t->child[child];
	ifindex = p->ifindex ? p->ifindex : rig.ifindex[0];
	w.v6 = t->flags & TRIB_TREE_V6;
	w.l3 = put_eth(f->b, p, w.v6);
	w.l4 = w.l3 + put_ip(f->b + w.l3, p, w.v6, who >> 7 ? 3 : 2);
	w.h = w.l4 + 8;
	w.pay = w.h + sizeof(struct trib_hdr);
	memset(f->b + w.l4, 0, 8);
	put16(f->b + w.l4, 40000);
	put16(f->b + w.l4 + 2, TRIB_UDP_PORT);
	f->len = w.h + put_header(f->b + w.h, in, tree, who, child, base);
	longer(f, &w, 0);
	bent = take8(in);
	if (bent >= 0xd0)
		for (int i = 0; i < 1 + bent % 3; i++)
			bend(in, f, &w, &ifindex);
	return ifindex;
}

uint32_t gen_raw(struct input *in, struct frame *f)
{
	uint8_t port = take8(in), n = take8(in);

	f->len = 14 + n;
	for (int i = 0; i < f->len; i++)
		f->b[i] = take8(in);
	return rig.ifindex[port % PORTS];
}
