// SPDX-License-Identifier: GPL-2.0
/*
 * The table of netlink commands: which file answers each, and which attributes it
 * takes. The family is in every network namespace.
 */
#include <linux/module.h>

#include "commands.h"
#include "kfunc/report.h"
#include "netlink/family.h"
#include "sock/claim.h"
#include "sock/list.h"
#include "uapi/trib.h"

/* The kernel refuses attributes without a policy, with its own text. */
static const struct nla_policy no_policy[TRIB_A__MAX] = {
	[TRIB_A_MODULE] = TRIB_REJECT("the module is read-only"),
	[TRIB_A_KFUNC] = TRIB_REJECT("this command takes no kfunc"),
	[TRIB_A_EVENT] = TRIB_REJECT("events are read-only"),
	[TRIB_A_SOCK] = TRIB_REJECT("sockets are read-only"),
	[TRIB_A_CLAIM] = TRIB_REJECT("this command takes no claim"),
};

static const struct nla_policy kfunc_get_policy[TRIB_A__MAX] = {
	[TRIB_A_KFUNC] = NLA_POLICY_NESTED(trib_kfunc_policy),
};

static const struct nla_policy claim_policy[TRIB_A__MAX] = {
	[TRIB_A_CLAIM] = NLA_POLICY_NESTED(trib_claim_policy),
};

static const struct genl_ops ops[] = {
	{
		.cmd = TRIB_CMD_MODULE_GET,
		.doit = trib_module_get,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_MODULE_RESET,
		.doit = trib_module_reset,
		.policy = no_policy,
		.maxattr = TRIB_A__MAX - 1,
	},
	{
		.cmd = TRIB_CMD_KFUNC_GET,
		.doit = trib_kfunc_get,
		.dumpit = trib_kfunc_dump,
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

int __init trib_commands_init(void)
{
	return trib_family_register(ops, ARRAY_SIZE(ops));
}

void trib_commands_exit(void)
{
	trib_family_unregister();
}
