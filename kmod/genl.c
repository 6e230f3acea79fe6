// SPDX-License-Identifier: GPL-2.0
/*
 * The generic netlink family: what the module can do, and its counters. The
 * family is there in every network namespace; functions and their counters
 * belong to the CPUs, so they are the same in all of them.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <net/genetlink.h>

#include "call.h"
#include "codec.h"
#include "compat.h"
#include "event.h"
#include "fpu.h"
#include "genl.h"
#include "sock/claim.h"
#include "sock/list.h"
#include "stats.h"
#include "uapi/trib.h"
#include "uapi/trib_kfunc.h"

#define REJECT(text)                                                           \
	{                                                                      \
		.type = NLA_REJECT, .reject_message = text                     \
	}

static const struct nla_policy kfunc_policy[TRIB_A_KFUNC__MAX] = {
	[TRIB_A_KFUNC_NAME] = {.type = NLA_NUL_STRING, .len = 63},
	[TRIB_A_KFUNC_CALLS] = REJECT("calls are for reading only"),
	[TRIB_A_KFUNC_BYTES] = REJECT("bytes are for reading only"),
	[TRIB_A_KFUNC_FALLBACKS] = REJECT("fallbacks are for reading only"),
	[TRIB_A_KFUNC_REFUSED] = REJECT("refused is for reading only"),
};

/* Attributes that no policy names are refused by the kernel, with a text. */
static const struct nla_policy no_policy[TRIB_A__MAX] = {
	[TRIB_A_MODULE] = REJECT("the module is for reading only"),
	[TRIB_A_KFUNC] = REJECT("this command takes no kfunc"),
	[TRIB_A_EVENT] = REJECT("events are for reading only"),
	[TRIB_A_SOCK] = REJECT("sockets are for reading only"),
	[TRIB_A_CLAIM] = REJECT("this command takes no claim"),
};

static const struct nla_policy kfunc_get_policy[TRIB_A__MAX] = {
	[TRIB_A_KFUNC] = NLA_POLICY_NESTED(kfunc_policy),
};

static const struct nla_policy claim_policy[TRIB_A__MAX] = {
	[TRIB_A_CLAIM] = NLA_POLICY_NESTED(trib_claim_policy),
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
	if (!nest ||
	    nla_put_string(skb, TRIB_A_MODULE_VERSION, THIS_MODULE->version) ||
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
	if (!nest ||
	    nla_put_string(skb, TRIB_A_KFUNC_NAME, trib_kfunc_names[id]) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_CALLS, k.calls) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_BYTES, k.bytes) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_FALLBACKS, k.fallbacks) ||
	    trib_put_u64(skb, TRIB_A_KFUNC_REFUSED, k.refused))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Answer with one object: the module's if @id is none of a function. */
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
	err = !hdr		     ? -EMSGSIZE
	      : id < TRIB_KFUNC__MAX ? put_kfunc(skb, id)
				     : put_module(skb);
	if (err) {
		nlmsg_free(skb);
		NL_SET_ERR_MSG(info->extack, "the answer is too long");
		return err;
	}
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

static int module_get(struct sk_buff *skb, struct genl_info *info)
{
	return answer(info, TRIB_CMD_MODULE_GET, TRIB_KFUNC__MAX);
}

/* GENL_ADMIN_PERM would do, but for the text. */
static int module_reset(struct sk_buff *skb, struct genl_info *info)
{
	if (!netlink_capable(skb, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(info->extack,
			       "only CAP_NET_ADMIN may reset counters");
		return -EPERM;
	}
	trib_stats_reset();
	return 0;
}

static int kfunc_get(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[TRIB_A_KFUNC__MAX], *name;
	int id, err;

	if (!info->attrs[TRIB_A_KFUNC]) {
		NL_SET_ERR_MSG(info->extack,
			       "which function? Name one, or ask for a dump");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, TRIB_A_KFUNC__MAX - 1,
			       info->attrs[TRIB_A_KFUNC], kfunc_policy,
			       info->extack);
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

static int kfunc_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr = trib_dump_attrs(cb)[TRIB_A_KFUNC];
	void *hdr;

	/* Here, because an op's start() has nowhere to leave a text. */
	if (attr) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr,
				    "a dump is of all functions: name none");
		return -EINVAL;
	}
	for (; cb->args[0] < TRIB_KFUNC__MAX; cb->args[0]++) {
		hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				  cb->nlh->nlmsg_seq, &trib_genl, NLM_F_MULTI,
				  TRIB_CMD_KFUNC_GET);
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

static const struct genl_ops ops[] = {
	{
		.cmd = TRIB_CMD_MODULE_GET,
		.doit = module_get,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_MODULE_RESET,
		.doit = module_reset,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_KFUNC_GET,
		.doit = kfunc_get,
		.dumpit = kfunc_dump,
		.policy = kfunc_get_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_SOCK_GET,
		.dumpit = trib_sock_dump,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_CLAIM_NEW,
		.doit = trib_claim_new,
		.policy = claim_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_CLAIM_DEL,
		.doit = trib_claim_del,
		.policy = claim_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_CLAIM_GET,
		.dumpit = trib_claim_dump,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
};

static const struct genl_multicast_group groups[] = {
	[TRIB_MCGRP_EVENTS] = {.name = TRIB_GENL_EVENTS},
};

struct genl_family trib_genl __ro_after_init = {
	.name = TRIB_GENL_NAME,
	.version = TRIB_GENL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.maxattr = TRIB_A__MAX - 1,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.resv_start_op = TRIB_CMD_UNSPEC + 1,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int trib_genl_init(void)
{
	return genl_register_family(&trib_genl);
}

void trib_genl_exit(void)
{
	genl_unregister_family(&trib_genl);
}
