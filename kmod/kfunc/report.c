// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink commands about the module and its kfuncs: capabilities and counters.
 * They are global, because counters belong to CPUs: each network namespace gets
 * the same answers.
 */
#include <linux/capability.h>
#include <linux/module.h>

#include "call.h"
#include "compat/compat.h"
#include "fp/codec.h"
#include "fp/fpu.h"
#include "netlink/family.h"
#include "report.h"
#include "stats.h"
#include "uapi/trib_kfunc.h"

const struct nla_policy trib_kfunc_policy[TRIB_A_KFUNC__MAX] = {
	[TRIB_A_KFUNC_NAME] = {.type = NLA_NUL_STRING, .len = 63},
	[TRIB_A_KFUNC_CALLS] = TRIB_REJECT("calls are read-only"),
	[TRIB_A_KFUNC_BYTES] = TRIB_REJECT("bytes are read-only"),
	[TRIB_A_KFUNC_FALLBACKS] = TRIB_REJECT("fallbacks are read-only"),
	[TRIB_A_KFUNC_REFUSED] = TRIB_REJECT("refused is read-only"),
};

static int put_module(struct sk_buff *skb)
{
	struct trib_kstat k;
	u64 calls = 0, fallbacks = 0;
	struct nlattr *nest;
	int id;

	for (id = 0; id < TRIB_KFUNC__MAX; id++) {
		trib_stats_get(id, &k);
		calls += k.calls;
		fallbacks += k.fallbacks;
	}
	nest = nla_nest_start(skb, TRIB_A_MODULE);
	if (!nest || nla_put_string(skb, TRIB_A_MODULE_VERSION, THIS_MODULE->version) ||
	    nla_put_u32(skb, TRIB_A_MODULE_API, TRIB_KFUNC_API) ||
	    nla_put_string(skb, TRIB_A_MODULE_LEVEL, trib_fpu_level()) ||
	    trib_put_u64(skb, TRIB_A_MODULE_FORMATS, trib_call_formats()) ||
	    nla_put_u8(skb, TRIB_A_MODULE_FPU_BUSY, trib_fpu_forced_busy()) ||
	    trib_put_u64(skb, TRIB_A_MODULE_CALLS, calls) ||
	    trib_put_u64(skb, TRIB_A_MODULE_FALLBACKS, fallbacks) ||
	    nla_put_string(skb, TRIB_A_MODULE_CODEC, trib_codec_kernel()->name))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_kfunc(struct sk_buff *skb, enum trib_kfunc_id id)
{
	struct trib_kstat k;
	struct nlattr *nest;

	trib_stats_get(id, &k);
	nest = nla_nest_start(skb, TRIB_A_KFUNC);
	if (!nest || nla_put_string(skb, TRIB_A_KFUNC_NAME, trib_kfunc_names[id]) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_CALLS, k.calls) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_BYTES, k.bytes) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_FALLBACKS, k.fallbacks) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_REFUSED, k.refused))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Answer with the kfunc @id, or with the module if @id is TRIB_KFUNC__MAX. */
static int answer(struct genl_info *info, int cmd, int id)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;
	int err;

	if (!skb) {
		NL_SET_ERR_MSG(info->extack, "no memory for the answer");
		return -ENOMEM;
	}
	hdr = genlmsg_put_reply(skb, info, &trib_genl, 0, cmd);
	err = !hdr ? -EMSGSIZE : id < TRIB_KFUNC__MAX ? put_kfunc(skb, id) : put_module(skb);
	if (err) {
		nlmsg_free(skb);
		NL_SET_ERR_MSG(info->extack, "the answer is too long");
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

int trib_module_get(struct sk_buff *skb, struct genl_info *info)
{
	return answer(info, TRIB_CMD_MODULE_GET, TRIB_KFUNC__MAX);
}

/* GENL_ADMIN_PERM would check the same, but has no text. */
int trib_module_reset(struct sk_buff *skb, struct genl_info *info)
{
	if (!netlink_capable(skb, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack, "only CAP_NET_ADMIN may reset counters");
		return -EPERM;
	}
	trib_stats_reset();
	return 0;
}

int trib_kfunc_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[TRIB_A_KFUNC__MAX], *name;
	int id, err;

	if (!info->attrs[TRIB_A_KFUNC]) {
		NL_SET_ERR_MSG(info->extack, "name a function, or ask for a dump");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, TRIB_A_KFUNC__MAX - 1, info->attrs[TRIB_A_KFUNC],
			       trib_kfunc_policy, info->extack);
	if (err)
		return err;
	name = tb[TRIB_A_KFUNC_NAME];
	if (!name) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TRIB_A_KFUNC],
				    "the function has no name");
		return -EINVAL;
	}
	for (id = 0; id < TRIB_KFUNC__MAX; id++)
		if (!nla_strcmp(name, trib_kfunc_names[id]))
			return answer(info, TRIB_CMD_KFUNC_GET, id);
	NL_SET_ERR_MSG_ATTR(info->extack, name, "no such function");
	return -ENOENT;
}

int trib_kfunc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = trib_dump_attrs(cb)[TRIB_A_KFUNC];
	void *hdr;

	/* Checked here because an op's start() has no extack. */
	if (attr) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr, "a dump lists all functions: name none");
		return -EINVAL;
	}
	for (; cb->args[0] < TRIB_KFUNC__MAX; cb->args[0]++) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &trib_genl,
				  NLM_F_MULTI, TRIB_CMD_KFUNC_GET);
		if (!hdr)
			break;
		if (put_kfunc(skb, cb->args[0])) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	return skb->len;
}
