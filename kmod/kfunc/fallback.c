// SPDX-License-Identifier: GPL-2.0
/*
 * Events about fallbacks. Fallbacks happen in softirq, many at a time: each only
 * schedules work, which sends one event for all of them, at most once a second.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "fallback.h"
#include "netlink/event.h"
#include "stats.h"
#include "uapi/trib.h"

#define EVENT_EVERY HZ

static void send_fallbacks(struct work_struct *work);
static DECLARE_DELAYED_WORK(fallback_work, send_fallbacks);

/* Written by the work alone. */
static unsigned long next_send;
static u64 told;

static void send_fallbacks(struct work_struct *work)
{
	u64 sum = trib_stats_fallbacks(), count = sum - told;

	told = sum;
	WRITE_ONCE(next_send, jiffies + EVENT_EVERY);
	if (count)
		trib_event_tell_all(TRIB_MODULE_EVENT_FALLBACK, count);
}

void trib_fallback_tell(void)
{
	unsigned long next = READ_ONCE(next_send), now = jiffies;

	if (delayed_work_pending(&fallback_work))
		return;
	schedule_delayed_work(&fallback_work, time_after(next, now) ? next - now : 0);
}

void trib_fallback_init(void)
{
	next_send = jiffies;
}

void trib_fallback_exit(void)
{
	cancel_delayed_work_sync(&fallback_work);
}
