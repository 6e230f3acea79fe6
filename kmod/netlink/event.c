// SPDX-License-Identifier: GPL-2.0
/* Events to the family's multicast group. */
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>

#include "event.h"
#include "family.h"
#include "uapi/trib.h"

static struct sk_buff *make_event(u32 kind, u64 count, trib_event_more *more, void *arg)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *nest;
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, 0, 0, &trib_genl, 0, TRIB_CMD_MODULE_EVENT);
	if (!hdr)
		goto out;
	nest = nla_nest_start(skb, TRIB_A_EVENT);
	if (!nest || nla_put_u32(skb, TRIB_A_EVENT_KIND, kind) ||
	    trib_put_u64(skb, TRIB_A_EVENT_COUNT, count))
		goto out;
	nla_nest_end(skb, nest);
	if (more && more(skb, arg))
		goto out;
	genlmsg_end(skb, hdr);
	return skb;
out:
	nlmsg_free(skb);
	return NULL;
}

void trib_event_tell(struct net *net, u32 kind, u64 count, trib_event_more *more, void *arg)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&trib_genl, net, TRIB_MCGRP_EVENTS))
		return;
	skb = make_event(kind, count, more, arg);
	/* A slow listener loses events and sees ENOBUFS. */
	if (skb)
		genlmsg_multicast_netns(&trib_genl, net, skb, 0, TRIB_MCGRP_EVENTS, GFP_KERNEL);
}

void trib_event_tell_all(u32 kind, u64 count)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
	{
		trib_event_tell(net, kind, count, NULL, NULL);
	}
	up_read(&net_rwsem);
}
