/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reflex: the frame of a result becomes the contribution that this result lets go. At a
 * leaf with one rank, RESULT c, once it is in its cell, lets GRAD c + D leave, and if D is
 * less than W maybe GRAD c + W, which has waited for it (uapi/trib_cell.h).
 *
 * The rank may write anything into its array, at any time. So its words are read once,
 * and nothing waits for one. From a cell come values, and a shape that
 * the relay would admit; everything else is of rows that tribd writes, or of the RESULT,
 * which was admitted. A RESULT makes one frame at most.
 */
#ifndef TRIB_BPF_REFLEX_H
#define TRIB_BPF_REFLEX_H

#include "deliver.h"
#include "packet/send.h"

/**
 * struct reflex_arg - a result that was new to the only rank of its leaf
 * @d:      as it was delivered.
 * @l3_off, @len, @ifindex: of the packet, as in struct pkt.
 * @window: W of the row.
 */
struct reflex_arg {
	struct deliver_arg d;
	__u32 l3_off;
	__u32 len;
	__u32 ifindex;
	__u32 window;
};

/**
 * struct reflex_shape - header words of a cell, each read once
 * @head: the first 8 bytes.
 * @tail: nval, aux and scale, as on the wire.
 * @len:  bytes of payload, set by reflex_shape_ok().
 */
struct reflex_shape {
	__u64 head;
	__u64 tail;
	__u32 len;
};

/* Bits of a cell's first word that go into the packet: flags, op, fmt and nm. */
#define SHAPE_KEEP ((__u64)TRIB_CELL_FLAGS << 16 | 0xffffffULL << 24)
#define SHAPE_FLAGS(head) ((__u8)((head) >> 16))
#define SHAPE_OP(head) ((__u8)((head) >> 24))
#define SHAPE_FMT(head) ((__u8)((head) >> 32))
#define SHAPE_NM(head) ((__u8)((head) >> 40))
#define SHAPE_NVAL(tail) bpf_ntohs((__u16)(tail))

static __always_inline void reflex_read(struct reflex_shape *s, const struct trib_cell *cell)
{
	s->head = CELL_READ(*(const __u64 *)&cell->h);
	s->tail = CELL_READ(*(const __u64 *)&cell->h.nval);
	HIDE(s->head);
	HIDE(s->tail);
}

/* May the contribution be masked, by this mask? As check_mask() in packet/parse.h. */
static __always_inline bool reflex_mask_ok(__u64 head, __u32 nval)
{
	__u8 fmt = SHAPE_FMT(head);

	return !(SHAPE_FLAGS(head) & TRIB_F_EMPTY) && SHAPE_OP(head) == TRIB_WOP_ADD &&
	       (fmt == TRIB_FMT_I32 || fmt == TRIB_FMT_F32) && nval && !(nval % TRIB_MASK_UNITS) &&
	       trib_nm_is_mask(SHAPE_NM(head));
}

/* Would a relay admit a GRAD of this shape? As check_format() in packet/parse.h. */
static __always_inline bool reflex_shape_ok(struct reflex_shape *s)
{
	__u32 nval = SHAPE_NVAL(s->tail), most = TRIB_NVAL;
	__u8 fmt = SHAPE_FMT(s->head), op = SHAPE_OP(s->head), flags = SHAPE_FLAGS(s->head);

	if (fmt == TRIB_FMT_NONE || fmt > TRIB_FMT_BF16 || op >= TRIB_WOP__MAX ||
	    (op == TRIB_WOP_MAX && fmt != TRIB_FMT_W64))
		return false;
	if (trib_fmt_is_half(fmt))
		most /= 2;
	if (nval > most || (!nval && !(flags & TRIB_F_EMPTY)))
		return false;
	if (flags & TRIB_F_MASK) {
		if (!reflex_mask_ok(s->head, nval))
			return false;
	} else if (SHAPE_NM(s->head)) {
		return false;
	}
	s->len = trib_values_len(flags, SHAPE_NM(s->head), nval);
	return true;
}

/*
 * Has the rank RESULT @other, which GRAD @p waits for? Chunks before 0 have none. After
 * 2^32 chunks they do: then the cell has that chunk, as @p is filled after it.
 */
static __always_inline bool reflex_held(void *array, __u32 mask, __u32 epoch, __u32 other, __u32 p)
{
	struct trib_cell *cell = cell_at(array, other & mask);
	__u64 word, want = TRIB_CELL(epoch, other, TRIB_CELL_RESULT);

	if (!cell)
		return false;
	word = cell_word(cell);
	if (word == want)
		return true;
	return other > p &&
	       ((word ^ want) > TRIB_CELL_STATES || (word & TRIB_CELL_STATES) == TRIB_CELL_FREE);
}

/* By two words: the compiler would copy bytes. */
static __always_inline void reflex_mac(__u8 *to, const __u8 *from)
{
	store32(to, load32(from));
	store16(to + 4, load16(from + 4));
}

static __always_inline void reflex_v4(struct iphdr *ip, const struct trib_reflex *r)
{
	store32(&ip->daddr, load32(&ip->saddr));
	store32(&ip->saddr, r->saddr[3]);
	ip->tos = ecn_renew(ip->tos);
	ip->ttl = 64;
	ip->check = 0;
	ip->check = ip_checksum(ip);
}

static __always_inline void reflex_v6(struct ipv6hdr *ip, const struct trib_reflex *r)
{
	ip->daddr = ip->saddr;
	__builtin_memcpy(&ip->saddr, r->saddr, 16);
	ecn_renew_v6(ip);
	ip->hop_limit = 64;
}

/*
 * Write all headers. Job, tree, epoch and relay of the RESULT are those of its tree's row:
 * admission compared them.
 */
static __always_inline void reflex_headers(struct pkt *p, const struct trib_reflex *r,
					   const struct reflex_shape *s, __u32 chunk)
{
	struct trib_hdr *h = p->h;

	reflex_mac(p->eth->h_dest, p->eth->h_source);
	reflex_mac(p->eth->h_source, r->smac);
	if (p->v6)
		reflex_v6(p->l3, r);
	else
		reflex_v4(p->l3, r);
	p->udp->source = r->sport;
	p->udp->dest = r->dport;
	p->udp->check = 0;
	store64(h, (s->head & SHAPE_KEEP) | head_word(TRIB_T_GRAD, TRIB_F_UP, 0));
	store16(&h->child, r->child);
	store32(&h->chunk, bpf_htonl(chunk));
	store32(&h->nval, (__u16)s->tail); /* and aux = 0 */
	store32(&h->scale, s->tail >> 32);
	store64(&h->auth, r->auth);
}

/*
 * The cell is won: copy its values, and write the headers. If the rank has changed the
 * state since, the copy may be half a RESULT: nothing leaves. Return: a verdict.
 */
static __always_inline int reflex_send(struct xdp_md *ctx, struct reflex_arg *a,
				       const struct trib_reflex *r, struct trib_cell *cell,
				       const struct reflex_shape *s, __u32 chunk)
{
	struct pkt p = {.l3_off = a->l3_off, .off = a->d.off, .len = a->len};
	__u32 off = a->d.off;

	HIDE(off);
	off &= PKT_OFF_MASK;
	if (copy_out_bytes(ctx, off, cell->v, s->len) ||
	    !cell_has(cell, a->d.epoch, chunk, TRIB_CELL_SENT) || !pkt_locate(ctx, &p))
		return XDP_DROP;
	p.v6 = *(__u8 *)p.l3 >> 4 == 6;
	if (!shrink(ctx, &p, s->len))
		return XDP_DROP;
	reflex_headers(&p, r, s, chunk);
	return XDP_REDIRECT;
}

/* enum reflex_look - what became of a chunk */
enum reflex_look {
	REFLEX_NO,   /* it does not wait for this RESULT */
	REFLEX_STAY, /* the rank must send it */
	REFLEX_WON,  /* its cell is SENT */
};

/* Is GRAD @p there, which waits for the RESULT and for RESULT @other, and are both, too? */
static __always_inline bool reflex_may(const struct deliver_arg *d, void *array, __u32 mask,
				       struct trib_cell *cell, __u32 p, __u32 other)
{
	return cell_word(cell) == TRIB_CELL(d->epoch, p, TRIB_CELL_READY) &&
	       (other == d->chunk || reflex_held(array, mask, d->epoch, other, p));
}

/* Win the cell of GRAD @p, or not: the rank has sent it. */
static __always_inline enum reflex_look reflex_win(struct trib_cell *cell, __u32 epoch, __u32 p)
{
	if (trib_cell_stamped(p))
		cell->sent_ns = bpf_ktime_get_ns();
	return cell_swap(cell, epoch, p, TRIB_CELL_READY, TRIB_CELL_SENT) ? REFLEX_WON : REFLEX_NO;
}

/* May GRAD @p leave, which also waits for RESULT @other? Then win its cell. */
static __always_inline enum reflex_look reflex_take(struct reflex_arg *a, void *array, __u32 mask,
						    struct trib_cell *cell, __u32 p, __u32 other,
						    bool used, struct reflex_shape *s)
{
	if (!reflex_may(&a->d, array, mask, cell, p, other))
		return REFLEX_NO;
	if (used)
		return REFLEX_STAY;
	reflex_read(s, cell);
	if (!reflex_shape_ok(s) || s->len > a->len ||
	    bpf_redirect_map(&ports, a->ifindex, XDP_ABORTED) != XDP_REDIRECT)
		return REFLEX_STAY;
	return reflex_win(cell, a->d.epoch, p);
}

/* Count a contribution that XDP sends for the rank. */
static __always_inline void reflex_count(struct trib_desk *desk)
{
	struct trib_desk_cpu *line = desk_line(desk);

	if (line)
		__sync_fetch_and_add(&line->carried, 1);
}

/* Flag in the result of reflex(): the rank must be rung. */
#define REFLEX_RING 0x100

/**
 * reflex() - send what a result lets go, in its frame
 *
 * Return: a verdict; with REFLEX_RING the rank must send a chunk itself.
 */
__noinline int reflex(struct xdp_md *ctx, struct reflex_arg *a)
{
	__u32 row, p, other, dist, mask;
	int verdict = XDP_DROP, ring = 0, look;
	struct reflex_shape s;
	struct trib_deliver *d;
	struct trib_cell *cell;
	struct trib_desk *desk;
	bool used = false;
	void *array;

	if (!a)
		return XDP_DROP;
	row = a->d.row;
	d = bpf_map_lookup_elem(&delivers, &row);
	row = TRIB_CELLS_ROW(row, 0);
	array = bpf_map_lookup_elem(&cells, &row);
	if (!d || !array || !d->reflex.auth || d->nrank != 1)
		return XDP_DROP;
	mask = d->cell_mask;
	desk = desk_at(array, mask);
	if (!desk)
		return XDP_DROP;
	dist = CELL_READ(desk->dist);
	HIDE(dist);
	if (!dist || dist > a->window)
		return XDP_DROP;
	p = a->d.chunk + dist;
	other = p - a->window;
	for (int i = 0; i < 2; i++) {
		cell = cell_at(array, p & mask);
		if (!cell)
			break;
		look = reflex_take(a, array, mask, cell, p, other, used, &s);
		if (look == REFLEX_STAY) {
			stat(TRIB_REFLEX_LEFT);
			ring = REFLEX_RING;
		} else if (look == REFLEX_WON) {
			used = true;
			verdict = reflex_send(ctx, a, &d->reflex, cell, &s, p);
		}
		if (dist == a->window)
			break;
		/* A chunk that has waited for this RESULT as its window's. */
		p = a->d.chunk + a->window;
		other = p - dist;
	}
	if (verdict == XDP_REDIRECT) {
		reflex_count(desk);
		stat(TRIB_TX_REFLEX);
	}
	return verdict | ring;
}

/* reflex_ring() - ring the only rank of the row; not in reflex(), whose stack is large */
__noinline int reflex_ring(struct deliver_arg *a)
{
	struct trib_deliver *d;
	__u32 row;

	if (!a)
		return 0;
	row = a->row;
	d = bpf_map_lookup_elem(&delivers, &row);
	return d ? ring_result(d->ring[0], a) : 0;
}

#endif /* TRIB_BPF_REFLEX_H */
