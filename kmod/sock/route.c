// SPDX-License-Identifier: GPL-2.0
/* Routes of a collective socket: each destination caches one while it is valid. */
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>

#include "io.h"
#include "sock/check/place.h"

static struct dst_entry *route_v4(struct trib_io *io, struct trib_way *way)
{
	struct sock *sk = way->port->sock->sk;
	struct flowi4 fl = {
		.flowi4_oif = sk->sk_bound_dev_if,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_uid = sk->sk_uid,
		.daddr = way->addr[3],
		.saddr = trib_addr_is_v4(way->port->addr) ? way->port->addr[3] : 0,
		.fl4_dport = htons(way->dport),
		.fl4_sport = htons(way->port->port),
	};
	struct rtable *rt = ip_route_output_flow(io->net, &fl, sk);

	if (IS_ERR(rt))
		return NULL;
	/* Without SO_BROADCAST, UDP refuses these, too. */
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return NULL;
	}
	way->saddr[0] = way->saddr[1] = 0;
	way->saddr[2] = htonl(0xffff);
	way->saddr[3] = fl.saddr;
	return &rt->dst;
}

static struct dst_entry *route_v6(struct trib_io *io, struct trib_way *way)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct sock *sk = way->port->sock->sk;
	struct flowi6 fl = {
		.flowi6_oif = sk->sk_bound_dev_if,
		.flowi6_proto = IPPROTO_UDP,
		.flowi6_uid = sk->sk_uid,
		.fl6_dport = htons(way->dport),
		.fl6_sport = htons(way->port->port),
	};
	struct dst_entry *dst;

	memcpy(&fl.daddr, way->addr, 16);
	memcpy(&fl.saddr, way->port->addr, 16);
	dst = ipv6_stub->ipv6_dst_lookup_flow(io->net, sk, &fl, NULL);
	if (IS_ERR(dst))
		return NULL;
	memcpy(way->saddr, &fl.saddr, 16);
	way->cookie = rt6_get_cookie((struct rt6_info *)dst);
	return dst;
#else
	return NULL;
#endif
}

struct dst_entry *trib_way_route(struct trib_io *io, struct trib_way *way)
{
	struct dst_entry *dst = way->dst;

	if (dst && !(dst->obsolete && !dst->ops->check(dst, way->cookie)))
		return dst;
	dst_release(dst);
	way->cookie = 0;
	way->dst = way->port->v6 ? route_v6(io, way) : route_v4(io, way);
	return way->dst;
}

int trib_device_of(struct net *net, const __be32 *addr)
{
	struct net_device *dev = NULL;
	int index;

	rcu_read_lock();
	if (trib_addr_is_v4(addr))
		dev = __ip_dev_find(net, addr[3], false);
#if IS_ENABLED(CONFIG_IPV6)
	else
		dev = ipv6_stub->ipv6_dev_find(net, (const struct in6_addr *)addr, NULL);
#endif
	index = IS_ERR_OR_NULL(dev) ? 0 : dev->ifindex;
	rcu_read_unlock();
	return index;
}

int trib_device_towards(struct trib_io *io, struct trib_way *way, const __be32 *local)
{
	if (trib_addr_is_set(local))
		return trib_device_of(io->net, local);
	if (!trib_way_route(io, way))
		return 0;
	return trib_device_of(io->net, way->saddr);
}
