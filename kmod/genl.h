/* SPDX-License-Identifier: GPL-2.0 */
/* The module's part of the "trib" netlink family: see uapi/trib.h. */
#ifndef TRIB_KMOD_GENL_H
#define TRIB_KMOD_GENL_H

#include <net/genetlink.h>

extern struct genl_family trib_genl;

/* Offsets of its multicast groups. */
enum { TRIB_MCGRP_EVENTS };

/* tribd's clients expect u64 as it comes, on 4-byte boundaries. */
static inline int trib_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

int trib_genl_init(void);
void trib_genl_exit(void);

#endif /* TRIB_KMOD_GENL_H */
