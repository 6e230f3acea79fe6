// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family. The commands come from commands.c. */
#include <linux/module.h>

#include "family.h"
#include "uapi/trib.h"

static const struct genl_multicast_group groups[] = {
	[TRIB_MCGRP_EVENTS] = {.name = TRIB_GENL_EVENTS},
};

struct genl_family trib_genl __ro_after_init = {
	.name = TRIB_GENL_NAME,
	.version = TRIB_GENL_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.maxattr = TRIB_A__MAX - 1,
	.resv_start_op = TRIB_CMD_UNSPEC + 1,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int __init trib_family_register(const struct genl_ops *ops, unsigned int n)
{
	trib_genl.ops = ops;
	trib_genl.n_ops = n;
	return genl_register_family(&trib_genl);
}

void trib_family_unregister(void)
{
	genl_unregister_family(&trib_genl);
}
