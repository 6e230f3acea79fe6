// SPDX-License-Identifier: GPL-2.0
/*
 * Events to the multicast group. Fall-backs happen in softirq, many at a time:
 * they only schedule some work, which sends one event for all of them, at most
 * one a second.
 */
#include <linux/jiffies.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "event.h"
#include "genl.h"
#include "stats.h"
#include "uapi/trib.h"

#define EVENT_EVERY HZ

static void send_fallbacks(struct work_struct *work);
static DECLARE_DELAYED_WORK(fallback_work, send_fallbacks);

/* Of the work alone, but for next_send. */
static unsigned long next_send;
static u64 told;

static struct sk_buff *make(u32 kind, u64 count, trib_event_more *more,
			    void *arg)
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

void trib_event_tell(struct net *net, u32 kind, u64 count,
		     trib_event_more *more, void *arg)
{
	struct sk_buff *skb;

	if (!genl_has_listeners(&trib_genl, net, TRIB_MCGRP_EVENTS))
		return;
	skb = make(kind, count, more, arg);
	/* Whoever does not read loses it, and sees that by ENOBUFS. */
	if (skb)
		genlmsg_multicast_netns(&trib_genl, net, skb, 0,
					TRIB_MCGRP_EVENTS, GFP_KERNEL);
}

/* Namespaces where nobody listens cost a look each. */
static void tell_all(u32 kind, u64 count)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
	{
		trib_event_tell(net, kind, count, NULL, NULL);
	}
	up_read(&net_rwsem);
}

static void send_fallbacks(struct work_struct *work)
{
	u64 sum = trib_stats_fallbacks(), count = sum - told;

	told = sum;
	WRITE_ONCE(next_send, jiffies + EVENT_EVERY);
	if (count)
		tell_all(TRIB_MODULE_EVENT_FALLBACK, count);
}

void trib_event_fallback(void)
{
	unsigned long next = READ_ONCE(next_send), now = jiffies;

	if (delayed_work_pending(&fallback_work))
		return;
	schedule_delayed_work(&fallback_work,
			      time_after(next, now) ? next - now : 0);
}

void trib_event_init(void)
{
	next_send = jiffies;
}

void trib_event_exit(void)
{
	cancel_delayed_work_sync(&fallback_work);
}
