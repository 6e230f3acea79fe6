/* SPDX-License-Identifier: GPL-2.0 */
/* The module's part of the "trib" netlink family: see uapi/trib.h. */
#ifndef TRIB_KMOD_FAMILY_H
#define TRIB_KMOD_FAMILY_H

#include <net/genetlink.h>

extern struct genl_family trib_genl;

/* Offsets of its multicast groups. */
enum { TRIB_MCGRP_EVENTS };

/* A policy entry that refuses the attribute with @text. */
#define TRIB_REJECT(text)                                                                          \
	{                                                                                          \
		.type = NLA_REJECT, .reject_message = text                                         \
	}

/* tribd's clients expect a u64 without padding, on a 4-byte boundary. */
static inline int trib_put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put(skb, attr, sizeof(value), &value);
}

/**
 * trib_family_register() - register the family with @n commands
 * @ops: stays referenced until trib_family_unregister().
 *
 * Return: 0 or a negative errno.
 */
int trib_family_register(const struct genl_ops *ops, unsigned int n);
void trib_family_unregister(void);

#endif /* TRIB_KMOD_FAMILY_H */
