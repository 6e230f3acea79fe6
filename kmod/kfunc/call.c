// SPDX-License-Identifier: GPL-2.0
/*
 * One call of a kfunc: see call.h. All checks of a BPF program's arguments are
 * here, before the first byte is read.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "call.h"
#include "fp/fpu.h"
#include "uapi/trib_kfunc.h"

/* clang-format off */
const char *const trib_kfunc_names[TRIB_KFUNC__MAX] = {
	[TRIB_KFUNC_MEM_ADD] = "trib_mem_add",
	[TRIB_KFUNC_MEM_STORE] = "trib_mem_store",
	[TRIB_KFUNC_MEM_FINAL] = "trib_mem_final",
	[TRIB_KFUNC_MEM_EMIT] = "trib_mem_emit",
	[TRIB_KFUNC_PKT_ADD] = "trib_pkt_add",
	[TRIB_KFUNC_PKT_STORE] = "trib_pkt_store",
	[TRIB_KFUNC_PKT_FINAL] = "trib_pkt_final",
	[TRIB_KFUNC_PKT_EMIT] = "trib_pkt_emit",
	[TRIB_KFUNC_PKT_EXPAND_ADD] = "trib_pkt_expand_add",
	[TRIB_KFUNC_PKT_EXPAND_STORE] = "trib_pkt_expand_store",
};
/* clang-format on */

/**
 * struct call - checked arguments
 * @id:      the function.
 * @fmt:     a format with sums.
 * @acc:     accumulators.
 * @val:     values.
 * @acc_len: bytes of accumulators that the call uses.
 * @val_len: bytes of values.
 * @nm:      N:M of an expanding function.
 */
struct call {
	enum trib_kfunc_id id;
	__u32 fmt;
	void *acc;
	void *val;
	__u32 acc_len;
	__u32 val_len;
	__u8 nm;
};

/* All levels have the same formats and sizes: ask the scalar one. */
static const struct trib_sum_ops *format_of(__u32 fmt)
{
	return trib_sum_ops(trib_sum_get(TRIB_SUM_SCALAR, 0), fmt);
}

static int expands(enum trib_kfunc_id id)
{
	return id == TRIB_KFUNC_PKT_EXPAND_ADD || id == TRIB_KFUNC_PKT_EXPAND_STORE;
}

static int do_sum(const struct trib_sum_ops *ops, const struct call *c)
{
	switch (c->id) {
	case TRIB_KFUNC_MEM_ADD:
	case TRIB_KFUNC_PKT_ADD:
		ops->add(c->acc, c->val, c->val_len);
		return 0;
	case TRIB_KFUNC_MEM_STORE:
	case TRIB_KFUNC_PKT_STORE:
		ops->store(c->acc, c->val, c->val_len);
		return 0;
	case TRIB_KFUNC_MEM_FINAL:
	case TRIB_KFUNC_PKT_FINAL:
		ops->final(c->val, c->acc, c->val, c->val_len);
		return 0;
	case TRIB_KFUNC_MEM_EMIT:
	case TRIB_KFUNC_PKT_EMIT:
		ops->emit(c->val, c->acc, c->val_len);
		return 0;
	case TRIB_KFUNC_PKT_EXPAND_ADD:
		return ops->expand_add(c->acc, c->acc_len, c->val, c->val_len, c->nm);
	case TRIB_KFUNC_PKT_EXPAND_STORE:
		return ops->expand_store(c->acc, c->acc_len, c->val, c->val_len, c->nm);
	default:
		return -EINVAL;
	}
}

static int run(const struct call *c)
{
	const struct trib_sum *s;
	int fpu = trib_fpu_begin(&s);
	int err = do_sum(&s->ops[c->fmt], c);

	if (fpu > 0)
		trib_fpu_end();
	if (err)
		return trib_call_refuse(c->id, err);
	trib_stats_done(c->id, c->val_len, fpu < 0);
	return 0;
}

int trib_call_refuse(enum trib_kfunc_id id, int err)
{
	trib_stats_refused(id);
	return err;
}

int trib_call_mem(enum trib_kfunc_id id, void *acc, __u32 acc_len, void *val, __u32 val_len,
		  __u32 fmt)
{
	const struct trib_sum_ops *ops = format_of(fmt);
	struct call c = {
		.id = id,
		.fmt = fmt,
		.acc = acc,
		.val = val,
		.val_len = val_len,
	};

	if (!acc || !val || !ops || val_len % ops->size)
		return trib_call_refuse(id, -EINVAL);
	if (val_len / ops->size > TRIB_KFUNC_MAX)
		return trib_call_refuse(id, -E2BIG);
	c.acc_len = trib_sum_acc_len(ops, val_len);
	if (c.acc_len > acc_len)
		return trib_call_refuse(id, -EINVAL);
	return run(&c);
}

int trib_call_pkt(enum trib_kfunc_id id, void *data, __u32 len, __u32 off, void *acc, __u32 acc_len,
		  __u64 what)
{
	const struct trib_sum_ops *ops = format_of(TRIB_KFUNC_FMT(what));
	__u32 n = TRIB_KFUNC_N(what);
	struct call c = {
		.id = id,
		.fmt = TRIB_KFUNC_FMT(what),
		.nm = TRIB_KFUNC_NM(what),
		.acc = acc,
	};

	if (!data || !acc || !ops || (what & TRIB_KFUNC_RESERVED))
		return trib_call_refuse(id, -EINVAL);
	if (n > TRIB_KFUNC_MAX)
		return trib_call_refuse(id, -E2BIG);
	c.acc_len = n * 4;
	if (c.acc_len > acc_len)
		return trib_call_refuse(id, -EINVAL);
	if (expands(id)) {
		c.val_len = trib_sum_masked_len(ops, c.acc_len, c.nm);
		if (!c.val_len)
			return trib_call_refuse(id, -EINVAL);
	} else {
		if (c.nm)
			return trib_call_refuse(id, -EINVAL);
		c.val_len = n * ops->size;
	}
	if (off > len || c.val_len > len - off)
		return trib_call_refuse(id, -ERANGE);
	c.val = (char *)data + off;
	return run(&c);
}

__u32 trib_call_formats(void)
{
	__u32 fmt, bits = 0;

	for (fmt = 0; fmt < TRIB_FMT__MAX; fmt++)
		if (format_of(fmt))
			bits |= 1U << fmt;
	return bits;
}
