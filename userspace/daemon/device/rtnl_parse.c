// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parse rtnetlink messages of devices and neighbours. All other code of tribd
 * holds addresses as IPv6, with IPv4 mapped.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <netlink/msg.h>
#include <string.h>

#include "base/addr.h"
#include "rtnl_parse.h"

int rtnl_addr_family(const struct in6_addr *a)
{
	return addr_is_v4(a) ? AF_INET : AF_INET6;
}

int rtnl_put_addr(struct nl_msg *m, int type, const struct in6_addr *a)
{
	if (rtnl_addr_family(a) == AF_INET)
		return nla_put(m, type, 4, a->s6_addr + 12);
	return nla_put(m, type, 16, a);
}

bool rtnl_get_addr(const struct nlattr *attr, struct in6_addr *a)
{
	if (!attr)
		return false;
	if (nla_len(attr) == 4) {
		addr_from_v4(a, nla_data(attr));
		return true;
	}
	if (nla_len(attr) != 16)
		return false;
	memcpy(a, nla_data(attr), 16);
	return true;
}

static void vlan_parse(const struct nlattr *info, struct netdev *dev)
{
	struct nlattr *tb[IFLA_INFO_MAX + 1], *data[IFLA_VLAN_MAX + 1];

	if (nla_parse_nested(tb, IFLA_INFO_MAX, (struct nlattr *)info, NULL) ||
	    !tb[IFLA_INFO_KIND] || !tb[IFLA_INFO_DATA] || nla_strcmp(tb[IFLA_INFO_KIND], "vlan") ||
	    nla_parse_nested(data, IFLA_VLAN_MAX, tb[IFLA_INFO_DATA], NULL) || !data[IFLA_VLAN_ID])
		return;
	dev->vlan = nla_get_u16(data[IFLA_VLAN_ID]);
}

int rtnl_parse_dev(struct nlmsghdr *nlh, struct netdev *dev)
{
	struct nlattr *tb[IFLA_MAX + 1];
	struct ifinfomsg *ifi = nlmsg_data(nlh);

	memset(dev, 0, sizeof(*dev));
	if (nlmsg_parse(nlh, sizeof(*ifi), tb, IFLA_MAX, NULL) < 0 || !tb[IFLA_IFNAME])
		return -EINVAL;
	dev->ifindex = (uint32_t)ifi->ifi_index;
	dev->up = ifi->ifi_flags & IFF_UP;
	nla_strlcpy(dev->name, tb[IFLA_IFNAME], sizeof(dev->name));
	if (tb[IFLA_MTU])
		dev->mtu = nla_get_u32(tb[IFLA_MTU]);
	if (tb[IFLA_ADDRESS] && nla_len(tb[IFLA_ADDRESS]) == 6) {
		dev->ether = ifi->ifi_type == ARPHRD_ETHER || ifi->ifi_type == ARPHRD_LOOPBACK;
		memcpy(dev->mac, nla_data(tb[IFLA_ADDRESS]), 6);
	}
	/* A lower device in another namespace does not count. */
	if (tb[IFLA_LINK] && !tb[IFLA_LINK_NETNSID])
		dev->lower = nla_get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_LINKINFO])
		vlan_parse(tb[IFLA_LINKINFO], dev);
	return 0;
}

int rtnl_parse_neigh(struct nlmsghdr *nlh, struct neigh *n)
{
	struct nlattr *tb[NDA_MAX + 1];
	struct ndmsg *ndm = nlmsg_data(nlh);

	memset(n, 0, sizeof(*n));
	if (nlmsg_parse(nlh, sizeof(*ndm), tb, NDA_MAX, NULL) < 0 ||
	    !rtnl_get_addr(tb[NDA_DST], &n->addr))
		return -EINVAL;
	n->ifindex = (uint32_t)ndm->ndm_ifindex;
	if (nlh->nlmsg_type == RTM_NEWNEIGH && tb[NDA_LLADDR] && nla_len(tb[NDA_LLADDR]) == 6 &&
	    !(ndm->ndm_state & (NUD_INCOMPLETE | NUD_FAILED | NUD_NOARP))) {
		memcpy(n->mac, nla_data(tb[NDA_LLADDR]), 6);
		n->valid = true;
	}
	return 0;
}
