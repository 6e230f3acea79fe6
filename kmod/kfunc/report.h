/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink commands TRIB_CMD_MODULE_* and TRIB_CMD_KFUNC_*. */
#ifndef TRIB_KMOD_REPORT_H
#define TRIB_KMOD_REPORT_H

#include <net/genetlink.h>

#include "uapi/trib.h"

extern const struct nla_policy trib_kfunc_policy[TRIB_A_KFUNC__MAX];

int trib_module_get(struct sk_buff *skb, struct genl_info *info);
int trib_module_reset(struct sk_buff *skb, struct genl_info *info);
int trib_kfunc_get(struct sk_buff *skb, struct genl_info *info);
int trib_kfunc_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TRIB_KMOD_REPORT_H */
