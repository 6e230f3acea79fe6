/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link packets (NDNLPv2): fields in strictly increasing order, then one Fragment.
 */
#ifndef TRIB_BPF_NDN_LP_H
#define TRIB_BPF_NDN_LP_H

#include "ndn_elem.h"

/* Bounds of the fragment. ELEM_IS_ERR() applies to them, too. */
#define LINK(off, end) ((__u64)(off) | (__u64)(end) << 16)
#define LINK_OFF(e) ((__u32)(e)&0xffff)
#define LINK_END(e) ((__u32)((e) >> 16) & 0xffff)

static __always_inline bool ndn_link_may_skip(__u32 type)
{
	return type >= TRIB_NDN_LP_SKIP_MIN && type <= TRIB_NDN_LP_SKIP_MAX && !(type & 3);
}

/* ndn_nack() - parse the VALUE of a Nack. Return: enum ndn_err. */
__noinline int ndn_nack(struct xdp_md *ctx, __u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u32 err, i;
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	w->v.flags |= NDN_VIEW_NACK;
	w->had = 0;
	for (i = 0; i <= TRIB_NDN_ELEMENTS_MAX; i++) {
		if (off >= end)
			return NDN_OK;
		if (i == TRIB_NDN_ELEMENTS_MAX)
			break;
		e = ndn_elem(ctx, off, end);
		if (ELEM_IS_ERR(e))
			return ELEM_IS_ERR(e);
		if (ELEM_TYPE(e) == TRIB_NDN_LP_NACK_REASON && ndn_take(w, 0)) {
			if (!ndn_number_ok(ELEM_LEN(e)))
				return NDN_E_NUMBER;
			w->v.nack_reason = ndn_number(ctx, off + ELEM_HEAD(e), ELEM_LEN(e));
		} else {
			err = ndn_skip(ELEM_TYPE(e), ELEM_TYPE(e) == TRIB_NDN_LP_NACK_REASON);
			if (err)
				return err;
		}
		off += ELEM_SIZE(e);
	}
	return NDN_E_ELEMENTS;
}

/* ndn_link_field() - check one field. Return: enum ndn_err. */
__noinline int ndn_link_field(struct xdp_md *ctx, __u32 off, __u32 len, __u32 type)
{
	struct ndn_work *w = ndn_work();

	if (!w)
		return NDN_E_SPACE;
	switch (type) {
	case TRIB_NDN_LP_SEQUENCE:
	case TRIB_NDN_LP_ACK:
		return len == 8 ? NDN_OK : NDN_E_SIZE;
	case TRIB_NDN_LP_FRAG_INDEX:
		if (!ndn_number_ok(len))
			return NDN_E_NUMBER;
		return ndn_number(ctx, off, len) ? NDN_E_LP_FRAGMENTED : NDN_OK;
	case TRIB_NDN_LP_FRAG_COUNT:
		if (!ndn_number_ok(len))
			return NDN_E_NUMBER;
		return ndn_number(ctx, off, len) != 1 ? NDN_E_LP_FRAGMENTED : NDN_OK;
	case TRIB_NDN_LP_PIT_TOKEN:
		w->v.token_off = off - w->base;
		w->v.token_len = len;
		return len - 1 < TRIB_NDN_TOKEN_MAX ? NDN_OK : NDN_E_SIZE;
	case TRIB_NDN_LP_NACK:
		return ndn_nack(ctx, off, off + len);
	case TRIB_NDN_LP_CONGESTION:
		if (!ndn_number_ok(len))
			return NDN_E_NUMBER;
		w->v.congestion = ndn_number(ctx, off, len);
		return NDN_OK;
	}
	return ndn_link_may_skip(type) ? NDN_OK : NDN_E_LP_FIELD;
}

/* ndn_link() - parse the VALUE of an LpPacket. Return: LINK(), or ELEM_ERR(). */
__noinline __u64 ndn_link(struct xdp_md *ctx, __u32 off, __u32 end)
{
	__u32 type, last = 0, err, i, fragmented = 0;
	__u64 e;

	for (i = 0; i <= TRIB_NDN_ELEMENTS_MAX; i++) {
		if (off >= end)
			return ELEM_ERR(NDN_E_LP_EMPTY);
		if (i == TRIB_NDN_ELEMENTS_MAX)
			break;
		e = ndn_elem(ctx, off, end);
		if (ELEM_IS_ERR(e))
			return e;
		type = ELEM_TYPE(e);
		if (type == TRIB_NDN_LP_FRAGMENT) {
			off += ELEM_HEAD(e);
			if (off + ELEM_LEN(e) != end)
				return ELEM_ERR(NDN_E_LP_ORDER);
			if (fragmented)
				return ELEM_ERR(NDN_E_LP_FRAGMENTED);
			if (!ELEM_LEN(e))
				return ELEM_ERR(NDN_E_LP_EMPTY);
			return LINK(off, end);
		}
		if (type < last || (type == last && type != TRIB_NDN_LP_ACK))
			return ELEM_ERR(NDN_E_LP_ORDER);
		last = type;
		err = ndn_link_field(ctx, off + ELEM_HEAD(e), ELEM_LEN(e), type);
		/* Any other error is reported before this one. */
		if (err == NDN_E_LP_FRAGMENTED)
			fragmented = err;
		else if (err)
			return ELEM_ERR(err);
		off += ELEM_SIZE(e);
	}
	return ELEM_ERR(NDN_E_ELEMENTS);
}

#endif /* TRIB_BPF_NDN_LP_H */
