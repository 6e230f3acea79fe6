/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parser of NDN packets. It finds the same fields as ndn_view() of
 * userspace/ndn/packet and refuses the same packets for the same reasons, with
 * checks in the same order; tests/fuzz/fuzz_forwarder.c compares them.
 *
 * Every container is a global subprogram, which the verifier walks only once.
 */
#ifndef TRIB_BPF_NDN_PARSE_H
#define TRIB_BPF_NDN_PARSE_H

#include "ndn_lp.h"

/* Position of a type in a MetaInfo. */
static __always_inline __u32 ndn_meta_place(__u32 type)
{
	return type - TRIB_NDN_CONTENT_TYPE < 3 ? type - TRIB_NDN_CONTENT_TYPE : 3;
}

/* ndn_meta() - parse the VALUE of a MetaInfo. Return: enum ndn_err. */
__noinline int ndn_meta(struct xdp_md *ctx, __u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u32 err, i, place;
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	w->had = 0;
	for (i = 0; i <= TRIB_NDN_ELEMENTS_MAX; i++) {
		if (off >= end)
			return NDN_OK;
		if (i == TRIB_NDN_ELEMENTS_MAX)
			break;
		e = ndn_elem(ctx, off, end);
		if (ELEM_IS_ERR(e))
			return ELEM_IS_ERR(e);
		place = ndn_meta_place(ELEM_TYPE(e));
		if (place == 3 || !ndn_take(w, place)) {
			err = ndn_skip(ELEM_TYPE(e), place != 3);
			if (err)
				return err;
		} else {
			/* FinalBlockId is not checked. */
			if (place != 2 && !ndn_number_ok(ELEM_LEN(e)))
				return NDN_E_NUMBER;
			if (place == 1)
				w->v.fresh_ms = ndn_number(ctx, off + ELEM_HEAD(e), ELEM_LEN(e));
		}
		off += ELEM_SIZE(e);
	}
	return NDN_E_ELEMENTS;
}

/* Positions of the elements of an Interest. */
enum ndn_place {
	IN_PREFIX,
	IN_FRESH,
	IN_HINT,
	IN_NONCE,
	IN_LIFETIME,
	IN_HOPS,
	IN_PARAMS,
	IN_SIG_INFO,
	IN_SIG_VALUE,
	IN__MAX
};

static __always_inline __u32 ndn_interest_place(__u32 type)
{
	switch (type) {
	case TRIB_NDN_CAN_BE_PREFIX:
		return IN_PREFIX;
	case TRIB_NDN_MUST_BE_FRESH:
		return IN_FRESH;
	case TRIB_NDN_HINT:
		return IN_HINT;
	case TRIB_NDN_NONCE:
		return IN_NONCE;
	case TRIB_NDN_LIFETIME:
		return IN_LIFETIME;
	case TRIB_NDN_HOP_LIMIT:
		return IN_HOPS;
	case TRIB_NDN_PARAMS:
		return IN_PARAMS;
	case TRIB_NDN_ISIG_INFO:
		return IN_SIG_INFO;
	case TRIB_NDN_ISIG_VALUE:
		return IN_SIG_VALUE;
	default:
		return IN__MAX;
	}
}

/* Parse one element. Return: enum ndn_err. */
static __always_inline __u32 ndn_interest_elem(struct xdp_md *ctx, struct ndn_work *w, __u32 off,
					       __u32 len, __u32 place)
{
	switch (place) {
	case IN_PREFIX:
		w->v.flags |= NDN_VIEW_CAN_BE_PREFIX;
		return len ? NDN_E_SIZE : NDN_OK;
	case IN_FRESH:
		w->v.flags |= NDN_VIEW_MUST_BE_FRESH;
		return len ? NDN_E_SIZE : NDN_OK;
	case IN_HINT:
		w->v.flags |= NDN_VIEW_HINT;
		return len ? NDN_OK : NDN_E_HINT;
	case IN_NONCE:
		w->v.nonce_off = off - w->base;
		return len == TRIB_NDN_NONCE_SIZE ? NDN_OK : NDN_E_SIZE;
	case IN_LIFETIME:
		if (!ndn_number_ok(len))
			return NDN_E_NUMBER;
		w->v.lifetime_ms = ndn_number(ctx, off, len);
		return NDN_OK;
	case IN_HOPS:
		w->v.hop_off = off - w->base;
		return len == 1 ? NDN_OK : NDN_E_SIZE;
	case IN_PARAMS:
		w->v.flags |= NDN_VIEW_PARAMS;
		return NDN_OK;
	default:
		return NDN_OK;
	}
}

/*
 * Check the elements of an Interest against each other. @had: positions that were
 * present, a bit each. Return: enum ndn_err.
 */
static __always_inline __u32 ndn_interest_end(struct xdp_md *ctx, struct ndn_work *w, __u32 had)
{
	bool info = had >> IN_SIG_INFO & 1, value = had >> IN_SIG_VALUE & 1;
	bool params = had >> IN_PARAMS & 1;
	__u32 count = w->v.count;

	if (info != value)
		return NDN_E_UNSIGNED;
	if (info && !params)
		return NDN_E_PARAMS;
	if (w->implicit && (w->implicit != 1 || w->implicit_at + 1 != count))
		return NDN_E_DIGEST_PLACE;
	if (w->params != params)
		return NDN_E_PARAMS;
	if (info && w->params_at + 1 != count)
		return NDN_E_DIGEST_PLACE;
	if (info)
		w->v.flags |= NDN_VIEW_SIGNED;
	if (w->implicit)
		w->v.flags |= NDN_VIEW_DIGEST;
	/* A Nack goes no further, so its HopLimit may be 0. */
	if (w->v.hop_off && !(w->v.flags & NDN_VIEW_NACK) &&
	    !ndn_load(ctx, w->base + w->v.hop_off, 1))
		return NDN_E_HOPS;
	return NDN_OK;
}

/* ndn_interest() - parse the elements behind the Name of an Interest */
__noinline int ndn_interest(struct xdp_md *ctx, __u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u32 err, i, place;
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	w->had = 0;
	w->v.lifetime_ms = TRIB_NDN_LIFETIME_MS;
	/* The Name was the first element. */
	for (i = 1; i <= TRIB_NDN_ELEMENTS_MAX; i++) {
		if (off >= end)
			return ndn_interest_end(ctx, w, w->had);
		if (i == TRIB_NDN_ELEMENTS_MAX)
			break;
		e = ndn_elem(ctx, off, end);
		if (ELEM_IS_ERR(e))
			return ELEM_IS_ERR(e);
		place = ndn_interest_place(ELEM_TYPE(e));
		if (place == IN__MAX || !ndn_take(w, place)) {
			err = ndn_skip(ELEM_TYPE(e), place != IN__MAX);
		} else {
			err = ndn_interest_elem(ctx, w, off + ELEM_HEAD(e), ELEM_LEN(e), place);
		}
		if (err)
			return err;
		off += ELEM_SIZE(e);
	}
	return NDN_E_ELEMENTS;
}

/* MetaInfo, Content, SignatureInfo, SignatureValue: consecutive types. */
static __always_inline __u32 ndn_data_place(__u32 type)
{
	return type - TRIB_NDN_META < 4 ? type - TRIB_NDN_META : 4;
}

/* ndn_data() - parse the elements behind the Name of a Data */
__noinline int ndn_data(struct xdp_md *ctx, __u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u32 err, i, place;
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	w->had = 0;
	for (i = 1; i <= TRIB_NDN_ELEMENTS_MAX; i++) {
		if (off >= end) {
			if ((w->had & 12) != 12)
				return NDN_E_UNSIGNED;
			return w->implicit ? NDN_E_DIGEST_PLACE : NDN_OK;
		}
		if (i == TRIB_NDN_ELEMENTS_MAX)
			break;
		e = ndn_elem(ctx, off, end);
		if (ELEM_IS_ERR(e))
			return ELEM_IS_ERR(e);
		place = ndn_data_place(ELEM_TYPE(e));
		err = NDN_OK;
		if (place == 4 || !ndn_take(w, place)) {
			err = ndn_skip(ELEM_TYPE(e), place != 4);
		} else if (!place) {
			err = ndn_meta(ctx, off + ELEM_HEAD(e), off + ELEM_SIZE(e));
			w->had = 1;
		}
		if (err)
			return err;
		off += ELEM_SIZE(e);
	}
	return NDN_E_ELEMENTS;
}

int ndn_pit_ahead(__u32 type);

/* Parse the Interest or Data from @off to @end. Return: enum ndn_err. */
static __always_inline __u32 ndn_bare(struct xdp_md *ctx, struct ndn_work *w, __u32 off, __u32 end)
{
	__u32 type, err;
	__u64 e;

	e = ndn_elem(ctx, off, end);
	if (ELEM_IS_ERR(e))
		return ELEM_IS_ERR(e);
	if (ELEM_SIZE(e) != end - off)
		return NDN_E_TRAILING;
	type = ELEM_TYPE(e);
	if ((w->v.flags & NDN_VIEW_NACK) && type != TRIB_NDN_INTEREST)
		return NDN_E_LP_NACK;
	if (type != TRIB_NDN_INTEREST && type != TRIB_NDN_DATA)
		return NDN_E_KIND;
	w->v.type = type;
	w->v.packet_off = off - w->base;
	w->v.packet_len = end - off;
	off += ELEM_HEAD(e);
	if (off >= end)
		return NDN_E_NO_NAME;
	e = ndn_elem(ctx, off, end);
	if (ELEM_IS_ERR(e))
		return ELEM_IS_ERR(e);
	if (ELEM_TYPE(e) != TRIB_NDN_NAME)
		return NDN_E_NO_NAME;
	off += ELEM_HEAD(e);
	w->v.name_off = off - w->base;
	err = ndn_name(ctx, off, ELEM_LEN(e));
	if (err)
		return err;
	off += ELEM_LEN(e);
	if (w->mark != NDN_MARK_PLAIN)
		ndn_pit_ahead(type);
	if (w->v.type == TRIB_NDN_INTEREST)
		return ndn_interest(ctx, off, end);
	return ndn_data(ctx, off, end);
}

/* ndn_fragment() - ndn_read() for a link packet */
__noinline int ndn_fragment(struct xdp_md *ctx, __u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	e = ndn_link(ctx, off, end);
	if (ELEM_IS_ERR(e))
		return ELEM_IS_ERR(e);
	return ndn_bare(ctx, w, LINK_OFF(e), LINK_END(e));
}

/* ndn_read() - parse the packet at &ndn_work.base. Return: enum ndn_err. */
__noinline int ndn_read(struct xdp_md *ctx)
{
	struct ndn_work *w = ndn_work();
	__u32 off, end;
	__u64 e;

	if (!w)
		return NDN_E_SPACE;
	__builtin_memset(&w->v, 0, sizeof(w->v));
	off = w->base;
	if (w->len > TRIB_NDN_PACKET_MAX)
		return NDN_E_LONG;
	end = off + w->len;
	if (ndn_load(ctx, off, 1) != TRIB_NDN_LP)
		return ndn_bare(ctx, w, off, end);
	e = ndn_elem(ctx, off, end);
	if (ELEM_IS_ERR(e))
		return ELEM_IS_ERR(e);
	if (ELEM_SIZE(e) != end - off)
		return NDN_E_TRAILING;
	return ndn_fragment(ctx, off + ELEM_HEAD(e), end);
}

#endif /* TRIB_BPF_NDN_PARSE_H */
