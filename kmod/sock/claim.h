/* SPDX-License-Identifier: GPL-2.0 */
/* Netlink commands TRIB_CMD_CLAIM_*: jobs reserved for users. */
#ifndef TRIB_SOCK_CLAIM_H
#define TRIB_SOCK_CLAIM_H

#include <net/genetlink.h>

#include "sock.h"

/** trib_claim_clear() - free all claims of a namespace that ends */
void trib_claim_clear(struct trib_netns *n);

/* Commands for commands.c. */
extern const struct nla_policy trib_claim_policy[TRIB_A_CLAIM__MAX];
int trib_claim_new(struct sk_buff *skb, struct genl_info *info);
int trib_claim_del(struct sk_buff *skb, struct genl_info *info);
int trib_claim_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TRIB_SOCK_CLAIM_H */
