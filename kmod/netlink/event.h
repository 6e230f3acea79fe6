/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast events of the module: TRIB_CMD_MODULE_EVENT. */
#ifndef TRIB_KMOD_EVENT_H
#define TRIB_KMOD_EVENT_H

#include <linux/types.h>

struct net;
struct sk_buff;

/* Adds attributes to an event. Return: 0, or an errno to drop the event. */
typedef int trib_event_more(struct sk_buff *skb, void *arg);

/**
 * trib_event_tell() - send an event to the listeners in a namespace
 * @kind: TRIB_MODULE_EVENT_...
 * @more: called with @arg to add attributes; may be NULL.
 *
 * May sleep. Call it only while the family is registered.
 */
void trib_event_tell(struct net *net, u32 kind, u64 count, trib_event_more *more, void *arg);

/** trib_event_tell_all() - send an event to the listeners in all namespaces */
void trib_event_tell_all(u32 kind, u64 count);

#endif /* TRIB_KMOD_EVENT_H */
