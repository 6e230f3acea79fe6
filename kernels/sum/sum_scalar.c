// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sums one value at a time, in integers: for contexts without the FPU, and for
 * the tail of a packet that does not fill a vector.
 */
#include "sum_levels.h"
#include "sum_mask.h"
#include "sum_soft.h"
#include "kernels/half.h"

TRIB_EACH __u32 load32(const void *p)
{
	__u32 v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v;
}

TRIB_EACH void store32(void *p, __u32 v)
{
	__builtin_memcpy(p, &v, sizeof(v));
}

TRIB_EACH __u32 widen(enum trib_fmt fmt, const void *in)
{
	__u16 h;

	if (trib_sum_size(fmt) == 4)
		return load32(in);
	__builtin_memcpy(&h, in, sizeof(h));
	return fmt == TRIB_FMT_F16 ? trib_f16_to(h) : trib_bf16_to(h);
}

TRIB_EACH void narrow(enum trib_fmt fmt, void *out, __u32 v)
{
	__u16 h;

	if (trib_sum_size(fmt) == 4) {
		store32(out, v);
		return;
	}
	h = fmt == TRIB_FMT_F16 ? trib_f16_of(v) : trib_bf16_of(v);
	__builtin_memcpy(out, &h, sizeof(h));
}

TRIB_EACH __u32 sum(enum trib_fmt fmt, __u32 acc, __u32 v)
{
	return fmt == TRIB_FMT_I32 ? acc + v : trib_f32_add(acc, v);
}

TRIB_EACH void do_add(enum trib_fmt fmt, char *acc, const char *in, __u32 len)
{
	__u32 i, n = len / trib_sum_size(fmt);

	for (i = 0; i < n; i++, acc += 4, in += trib_sum_size(fmt))
		store32(acc, sum(fmt, load32(acc), widen(fmt, in)));
}

TRIB_EACH void do_store(enum trib_fmt fmt, char *acc, const char *in, __u32 len)
{
	__u32 i, n = len / trib_sum_size(fmt);

	for (i = 0; i < n; i++, acc += 4, in += trib_sum_size(fmt))
		store32(acc, widen(fmt, in));
}

TRIB_EACH void do_final(enum trib_fmt fmt, char *out, char *acc, const char *in, __u32 len)
{
	__u32 i, v, n = len / trib_sum_size(fmt), size = trib_sum_size(fmt);

	for (i = 0; i < n; i++, acc += 4, in += size, out += size) {
		v = sum(fmt, load32(acc), widen(fmt, in));
		store32(acc, v);
		narrow(fmt, out, v);
	}
}

TRIB_EACH void do_emit(enum trib_fmt fmt, char *out, const char *acc, __u32 len)
{
	__u32 i, n = len / trib_sum_size(fmt);

	for (i = 0; i < n; i++, acc += 4, out += trib_sum_size(fmt))
		narrow(fmt, out, load32(acc));
}

TRIB_EACH int do_expand(enum trib_fmt fmt, char *acc, __u32 acc_len, const char *in, __u32 len,
			__u8 nm, int add)
{
	int each = trib_mask_check(&trib_sum_scalar.ops[fmt], acc_len, in, len, nm);
	__u32 words = acc_len / 128, i, w, bit;
	const char *p = in + words * 4;

	if (each < 0)
		return each;
	for (i = 0; i < words; i++, acc += 128) {
		if (!add)
			__builtin_memset(acc, 0, 128);
		for (w = load32(in + i * 4); w; w &= w - 1) {
			bit = __builtin_ctz(w);
			store32(acc + bit * 4, add ? sum(fmt, load32(acc + bit * 4), widen(fmt, p))
						   : widen(fmt, p));
			p += trib_sum_size(fmt);
		}
	}
	return 0;
}

TRIB_SUM_FUNCTIONS(f32, TRIB_FMT_F32)
TRIB_SUM_FUNCTIONS(f16, TRIB_FMT_F16)
TRIB_SUM_FUNCTIONS(bf16, TRIB_FMT_BF16)
TRIB_SUM_FUNCTIONS(i32, TRIB_FMT_I32)

const struct trib_sum trib_sum_scalar = {
	.name = "scalar",
	.ops = TRIB_SUM_FORMATS,
};
