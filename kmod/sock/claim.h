/* SPDX-License-Identifier: GPL-2.0 */
/* Whose jobs are: TRIB_CMD_CLAIM_*. */
#ifndef TRIB_SOCK_CLAIM_H
#define TRIB_SOCK_CLAIM_H

#include <net/genetlink.h>

#include "sock.h"

/* The namespace goes. */
void trib_claim_clear(struct trib_netns *n);

/* Of the generic netlink family; policies are in genl.c. */
extern const struct nla_policy trib_claim_policy[TRIB_A_CLAIM__MAX];
int trib_claim_new(struct sk_buff *skb, struct genl_info *info);
int trib_claim_del(struct sk_buff *skb, struct genl_info *info);
int trib_claim_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TRIB_SOCK_CLAIM_H */
