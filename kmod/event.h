/* SPDX-License-Identifier: GPL-2.0 */
/* What the module tells those who listen: TRIB_CMD_MODULE_EVENT. */
#ifndef TRIB_KMOD_EVENT_H
#define TRIB_KMOD_EVENT_H

#include <linux/types.h>

struct net;
struct sk_buff;

/* Puts what an event has besides; 0 if it fits. */
typedef int trib_event_more(struct sk_buff *skb, void *arg);

/* An event (TRIB_MODULE_EVENT_...) to those in @net who listen. May sleep. */
void trib_event_tell(struct net *net, u32 kind, u64 count,
		     trib_event_more *more, void *arg);

/* A fall-back was counted: say so soon. In any context but NMI. */
void trib_event_fallback(void);

/* Nothing is sent before, or after; the family must be there in between. */
void trib_event_init(void);
void trib_event_exit(void);

#endif /* TRIB_KMOD_EVENT_H */
