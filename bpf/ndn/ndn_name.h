/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names: components, marker, keys, comparison. The name is copied out of the
 * packet once; all functions but the first read the copy in struct ndn_work.
 */
#ifndef TRIB_BPF_NDN_NAME_H
#define TRIB_BPF_NDN_NAME_H

#include "ndn_maps.h"
#include "packet/packet.h"

/* Bound of offsets in a frame. Every verifier understands a mask. */
#define NDN_OFF_MASK 0x3fff

/* Smallest number that needs the long form @form (2, 4 or 8 bytes). */
#define VARNUM_LEAST(form) ((form) == 0 ? 253ULL : (form) == 1 ? 0x10000ULL : 0x100000000ULL)

/* Read 8 bytes of the name at @off, in host order. */
static __always_inline __u64 name_word(const struct ndn_work *w, __u32 off)
{
	return load64(&w->raw[off & 0xff]);
}

/* The same for the first @len bytes of the name, with 0 behind them. */
static __always_inline __u64 name_word_of(const struct ndn_work *w, __u32 off, __u32 len)
{
	__u64 word;

	if (off >= len)
		return 0;
	word = name_word(w, off);
	if (len - off < 8)
		word &= (1ULL << 8 * (len & 7)) - 1;
	return word;
}

/* Read a VAR-NUMBER of the name; see ndn_varnum(). */
static __always_inline __u32 name_varnum(const struct ndn_work *w, __u32 off, __u32 end, __u64 *num,
					 __u32 *size)
{
	__u32 form;
	__u64 word;

	*size = 1;
	if (off >= end)
		return NDN_E_CUT;
	*num = w->raw[off & 0xff];
	if (*num < 253)
		return NDN_OK;
	form = *num - 253;
	*size = 1 + (2 << form);
	if (end - off < *size)
		return NDN_E_CUT;
	word = bpf_be64_to_cpu(name_word(w, off + 1));
	*num = form == 0 ? word >> 48 : form == 1 ? word >> 32 : word;
	return *num < VARNUM_LEAST(form) ? NDN_E_VARNUM : NDN_OK;
}

/* ndn_name_component() - type << 16 | size of the one at @off, or -enum ndn_err */
__noinline long ndn_name_component(__u32 off, __u32 end)
{
	struct ndn_work *w = ndn_work();
	__u64 type = 0, len = 0;
	__u32 err, head, size;

	if (!w)
		return -NDN_E_SPACE;
	err = name_varnum(w, off, end, &type, &head);
	if (err)
		return -(long)err;
	if (!type)
		return -NDN_E_TYPE_ZERO;
	if (type > 0xffffffff)
		return -NDN_E_TYPE_BIG;
	err = name_varnum(w, off + head, end, &len, &size);
	if (err)
		return -(long)err;
	head += size;
	if (len > end - off - head)
		return -NDN_E_BEYOND;
	if (type > TRIB_NDN_COMPONENT_TYPE_MAX)
		return -NDN_E_COMPONENT;
	if ((type == TRIB_NDN_DIGEST || type == TRIB_NDN_PARAMS_DIGEST) &&
	    len != TRIB_NDN_DIGEST_SIZE)
		return -NDN_E_SIZE;
	return type << 16 | (head + len);
}

static __always_inline void name_digest(struct ndn_work *w, __u32 type, __u32 at)
{
	if (type == TRIB_NDN_DIGEST) {
		w->implicit++;
		w->implicit_at = at;
	} else if (type == TRIB_NDN_PARAMS_DIGEST) {
		w->params++;
		w->params_at = at;
	}
}

/* Find where the components begin. Return: enum ndn_err. */
static __always_inline __u32 name_components(struct ndn_work *w)
{
	__u32 off = 0, len = w->size, start = w->start, type, size, i, n, last;
	long c;

	w->implicit = 0;
	w->params = 0;
	n = w->first;
	w->v.at[1] = start;
	for (i = 0; i <= TRIB_NDN_COMPONENTS_MAX; i++) {
		if (off >= len)
			break;
		if (n >= TRIB_NDN_COMPONENTS_MAX)
			return NDN_E_NAME_DEEP;
		type = w->raw[off & 0xff];
		size = w->raw[(off & 0xff) + 1] + 2;
		/* Fast path: neither a digest nor a long form. */
		if (type - 3 >= 250 || size >= 255 || off + size > len) {
			c = ndn_name_component(off, len);
			if (c < 0)
				return -c;
			type = c >> 16;
			size = c & 0xffff;
			name_digest(w, type, n);
		}
		off += size;
		/* Every verifier understands a mask. */
		last = n++;
		HIDE(last);
		w->v.at[(last & (TRIB_NDN_COMPONENTS_MAX - 1)) + 1] = start + off;
	}
	w->v.count = n;
	w->count = n - w->first;
	return NDN_OK;
}

/* Does the name at @p, of @len bytes, begin with @m? */
static __always_inline bool name_begins(const void *p, const void *end, __u32 len,
					const struct ndn_marker *m)
{
	__u32 n = m->len;
	__u64 diff;

	if (!n || n > len)
		return false;
#pragma clang loop unroll(full)
	for (__u32 i = 0; i < NDN_MARKER_BYTES / 8; i++) {
		if (n <= 8 * i)
			return true;
		/* Other elements always follow a name. */
		if (p + 8 * i + 8 > end)
			return false;
		diff = load64(p + 8 * i) ^ load64(m->tlv + 8 * i);
		if (n < 8 * i + 8)
			diff &= (1ULL << 8 * (n & 7)) - 1;
		if (diff)
			return false;
	}
	return true;
}

/* Find the marker and the name behind it. */
static __always_inline void name_split(struct xdp_md *ctx, struct ndn_work *w,
				       const struct ndn_config *c, __u32 off, __u32 len)
{
	const void *end = (void *)(long)ctx->data_end, *p;

	HIDE(off);
	p = (void *)(long)ctx->data + (off & NDN_OFF_MASK);
	w->mark = NDN_MARK_PLAIN;
	w->start = 0;
#pragma clang loop unroll(full)
	for (int i = NDN_MARK_DISTRIBUTE; i < NDN_MARK__MAX; i++)
		if (name_begins(p, end, len, &c->marker[i])) {
			w->mark = i;
			w->start = c->marker[i].len;
			break;
		}
	w->first = w->mark != NDN_MARK_PLAIN;
	w->size = len - w->start;
}

/* ndn_name_load() - as name_copy_in(), up to the last byte of a frame */
__noinline int ndn_name_load(struct xdp_md *ctx, __u32 off)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	__u32 n, i, size;
	__u64 sum = 0;

	if (!w || !c)
		return NDN_E_SPACE;
	size = w->size;
	/* Every verifier sees that a size in this form is not 0. */
	n = size - 1;
	HIDE(n);
	if (n >= TRIB_NDN_NAME_MAX)
		return NDN_OK;
	if (bpf_xdp_load_bytes(ctx, off, w->raw, n + 1))
		return NDN_E_CUT;
	for (i = 0; i < NDN_NAME_WORDS; i++) {
		if (8 * i + 8 > size)
			break;
		sum += ndn_hash_word(name_word(w, 8 * i), c->seed[i]);
		w->part[i + 1] = sum;
	}
	return NDN_OK;
}

/* Copy the name without its marker to struct ndn_work, with sums for keys. */
static __always_inline __u32 name_copy_in(struct xdp_md *ctx, struct ndn_work *w,
					  const struct ndn_config *c, __u32 off)
{
	const void *end = (void *)(long)ctx->data_end, *p;
	__u32 size = w->size, from = off, i;
	__u64 word, sum = 0;

	w->part[0] = 0;
	HIDE(from);
	p = (void *)(long)ctx->data + (from & NDN_OFF_MASK);
	for (i = 0; i < NDN_NAME_WORDS; i++) {
		if (8 * i >= size)
			return NDN_OK;
		if (p + 8 > end)
			break;
		word = load64(p);
		store64(w->raw + 8 * i, word);
		sum += ndn_hash_word(word, c->seed[i]);
		w->part[i + 1] = sum;
		p += 8;
	}
	return ndn_name_load(ctx, off);
}

/* Offset of component @n in the name without its marker. */
static __always_inline __u32 name_at(const struct ndn_work *w, __u32 n)
{
	n += w->first;
	HIDE(n);
	if (n > TRIB_NDN_COMPONENTS_MAX)
		return 0;
	return (__u32)w->v.at[n] - w->start;
}

/* Key of the first @len bytes (whole components) with marker @mark. */
static __always_inline __u64 name_key(const struct ndn_work *w, const struct ndn_config *c,
				      __u32 len, __u32 mark)
{
	__u32 n = len >> 3 & (NDN_NAME_WORDS - 1), rest = len & 7;
	__u64 sum = w->part[n], word;

	if (rest) {
		word = name_word(w, 8 * n);
		word &= (1ULL << 8 * rest) - 1;
		sum += ndn_hash_word(word, c->seed[n]);
	}
	return ndn_hash_end(sum, len, mark);
}

/* Does @row equal the first @len bytes of the name, with marker @mark? */
static __always_inline bool name_same(const struct ndn_work *w, const struct ndn_row_name *row,
				      __u32 len, __u32 mark)
{
	__u64 diff;
	__u32 i;

	if (row->len != len || row->mark != mark)
		return false;
	for (i = 0; i < NDN_NAME_WORDS; i++) {
		if (8 * i >= len)
			break;
		diff = load64(row->value + 8 * i) ^ name_word(w, 8 * i);
		if (len - 8 * i < 8)
			diff &= (1ULL << 8 * (len & 7)) - 1;
		if (diff)
			return false;
	}
	return true;
}

/* ndn_name_is() - name_same() out of line, for slow paths */
__noinline int ndn_name_is(const struct ndn_row_name *row, __u32 len, __u32 mark)
{
	struct ndn_work *w = ndn_work();

	return w && row && name_same(w, row, len, mark);
}

/* ndn_name_copy() - store the first @len bytes (@count components) in @row */
__noinline int ndn_name_copy(struct ndn_row_name *row, __u32 len, __u32 count, __u32 mark)
{
	struct ndn_work *w = ndn_work();
	__u32 i;

	if (!w || !row)
		return 0;
	row->len = len;
	row->count = count;
	row->mark = mark;
	for (i = 0; i < NDN_NAME_WORDS; i++)
		store64(row->value + 8 * i, name_word_of(w, 8 * i, len));
	return 0;
}

/* ndn_name() - parse the VALUE of a Name at @off. Return: enum ndn_err. */
__noinline int ndn_name(struct xdp_md *ctx, __u32 off, __u32 len)
{
	const struct ndn_config *c = ndn_conf();
	struct ndn_work *w = ndn_work();
	__u32 err;

	if (!w || !c)
		return NDN_E_SPACE;
	if (len > TRIB_NDN_NAME_MAX)
		return NDN_E_NAME_LONG;
	if (!len)
		return NDN_E_NAME_EMPTY;
	w->v.name_len = len;
	name_split(ctx, w, c, off, len);
	err = name_copy_in(ctx, w, c, off + w->start);
	return err ?: name_components(w);
}

#endif /* TRIB_BPF_NDN_NAME_H */
