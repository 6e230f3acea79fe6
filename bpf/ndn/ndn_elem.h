/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Elements of NDN packets: reads from the frame, type and length, numbers, and
 * which elements may be skipped. An element is one word: see ELEM_*.
 */
#ifndef TRIB_BPF_NDN_ELEM_H
#define TRIB_BPF_NDN_ELEM_H

#include "ndn_name.h"

/*
 * Head of an element in a word: type, length of its VALUE, bytes before that; or an
 * error.
 */
#define ELEM(type, len, head) ((__u64)(__u32)(type) | (__u64)(len) << 32 | (__u64)(head) << 48)
#define ELEM_ERR(err) ((__u64)(err) << 56)
#define ELEM_IS_ERR(e) ((e) >> 56)
#define ELEM_TYPE(e) ((__u32)(e))
#define ELEM_LEN(e) ((__u32)((e) >> 32) & 0xffff)
#define ELEM_HEAD(e) ((__u32)((e) >> 48) & 0xff)
#define ELEM_SIZE(e) (ELEM_HEAD(e) + ELEM_LEN(e))

static __always_inline const void *ndn_at(struct xdp_md *ctx, __u32 off)
{
	HIDE(off);
	return (void *)(long)ctx->data + (off & NDN_OFF_MASK);
}

/* Load @n big-endian bytes at @off; 0 beyond the frame. */
static __always_inline __u64 ndn_load(struct xdp_md *ctx, __u32 off, __u32 n)
{
	const void *end = (void *)(long)ctx->data_end, *p = ndn_at(ctx, off);

	if (n == 1)
		return p + 1 <= end ? *(__u8 *)p : 0;
	if (n == 2)
		return p + 2 <= end ? bpf_ntohs(load16(p)) : 0;
	if (n == 4)
		return p + 4 <= end ? bpf_ntohl(load32(p)) : 0;
	return p + 8 <= end ? bpf_be64_to_cpu(load64(p)) : 0;
}

/* Read the long form @form of a VAR-NUMBER. */
__noinline __u64 ndn_long(struct xdp_md *ctx, __u32 off, __u32 form)
{
	return ndn_load(ctx, off, 2 << (form & 3));
}

/* Read a VAR-NUMBER at @off and its size. Return: enum ndn_err. */
static __always_inline __u32 ndn_varnum(struct xdp_md *ctx, __u32 off, __u32 end, __u64 *num,
					__u32 *size)
{
	__u32 form;

	*size = 1;
	if (off >= end)
		return NDN_E_CUT;
	*num = ndn_load(ctx, off, 1);
	if (*num < 253)
		return NDN_OK;
	form = *num - 253;
	*size = 1 + (2 << form);
	if (end - off < *size)
		return NDN_E_CUT;
	*num = ndn_long(ctx, off + 1, form);
	return *num < VARNUM_LEAST(form) ? NDN_E_VARNUM : NDN_OK;
}

/* ndn_elem_slow() - ndn_elem() for every form */
__noinline __u64 ndn_elem_slow(struct xdp_md *ctx, __u32 off, __u32 end)
{
	__u64 type = 0, len = 0;
	__u32 err, head, size;

	err = ndn_varnum(ctx, off, end, &type, &head);
	if (err)
		return ELEM_ERR(err);
	if (!type)
		return ELEM_ERR(NDN_E_TYPE_ZERO);
	if (type > 0xffffffff)
		return ELEM_ERR(NDN_E_TYPE_BIG);
	err = ndn_varnum(ctx, off + head, end, &len, &size);
	if (err)
		return ELEM_ERR(err);
	head += size;
	if (len > end - off - head)
		return ELEM_ERR(NDN_E_BEYOND);
	return ELEM(type, len, head);
}

/* Read the element at @off, which must not exceed @end (within the frame). */
static __always_inline __u64 ndn_elem(struct xdp_md *ctx, __u32 off, __u32 end)
{
	const void *p = ndn_at(ctx, off);
	__u32 type, len, head = 2;

	/* Fast path: short forms, with bytes behind the head. */
	if (off + 4 > end || p + 4 > (void *)(long)ctx->data_end)
		return ndn_elem_slow(ctx, off, end);
	type = load32(p);
	len = type >> 8 & 0xff;
	if (len == 253) {
		len = bpf_ntohs(type >> 16);
		head = 4;
		if (len < 253)
			return ndn_elem_slow(ctx, off, end);
	}
	type &= 0xff;
	/* Type 0 and long forms take the slow path. */
	if (type - 1 >= 252 || (head == 2 && len > 253) || len > end - off - head)
		return ndn_elem_slow(ctx, off, end);
	return ELEM(type, len, head);
}

static __always_inline bool ndn_number_ok(__u32 len)
{
	return len == 1 || len == 2 || len == 4 || len == 8;
}

/* ndn_number() - read a nonNegativeInteger; larger ones become 2^32 - 1 */
__noinline __u32 ndn_number(struct xdp_md *ctx, __u32 off, __u32 len)
{
	__u64 v = ndn_load(ctx, off, len);

	return v < 0xffffffff ? v : 0xffffffff;
}

/* Skip or refuse an element that is unknown or out of order. */
static __always_inline __u32 ndn_skip(__u32 type, bool known)
{
	if (!TRIB_NDN_IS_CRITICAL(type))
		return NDN_OK;
	return known ? NDN_E_ORDER : NDN_E_CRITICAL;
}

/* Test and set: does @place follow the last element? */
static __always_inline bool ndn_take(struct ndn_work *w, __u32 place)
{
	if (w->had >> place)
		return false;
	w->had |= 1 << place;
	return true;
}

#endif /* TRIB_BPF_NDN_ELEM_H */
