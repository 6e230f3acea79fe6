// SPDX-License-Identifier: BSD-2-Clause
/*
 * The devices of the LOCAL face. A host that sums and has ranks of its own gets
 * their contributions through a veth pair: ranks send to the address of trib0
 * by way of trib1, and XDP on trib0 handles them as those of other hosts. A PS
 * on this host gets sums and sends results the same way. All addresses belong
 * to this host; sysctls make the kernel accept them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local.h"
#include "rtnl.h"

#define MTU_MIN 1500
#define MTU_MAX 3500 /* limit of a veth that runs XDP */

/* One end. Addresses are link-local: no other host uses them. */
struct end {
	const char *name;
	uint8_t mac[6]; /* identifies the pair after a restart */
	const char *v4;
	const char *v6;
	uint32_t ifindex;
};

static struct end ends[2] = {
	{TRIB_LOCAL_PORT, {0x02, 'T', 'R', 'I', 'B', 0}, TRIB_LOCAL_PORT_V4, TRIB_LOCAL_PORT_V6, 0},
	{TRIB_LOCAL_PEER, {0x02, 'T', 'R', 'I', 'B', 1}, TRIB_LOCAL_PEER_V4, TRIB_LOCAL_PEER_V6, 0},
};

/* Append the address of @e. */
static int put_addr(struct nl_msg *m, int type, int family, const struct end *e)
{
	struct in6_addr a;

	inet_pton(family, family == AF_INET ? e->v4 : e->v6, &a);
	return nla_put(m, type, family == AF_INET ? 4 : 16, &a);
}

static int put_end(struct nl_msg *m, const struct end *e, uint32_t mtu)
{
	return nla_put_string(m, IFLA_IFNAME, e->name) || nla_put(m, IFLA_ADDRESS, 6, e->mac) ||
	       nla_put_u32(m, IFLA_MTU, mtu);
}

static int make_pair(struct tribd *d, uint32_t mtu)
{
	struct ifinfomsg ifi = {};
	struct nl_msg *m =
		rtnl_msg(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, &ifi, sizeof(ifi));
	struct nlattr *info, *data, *peer;

	if (!m || put_end(m, &ends[0], mtu) || !(info = nla_nest_start(m, IFLA_LINKINFO)) ||
	    nla_put_string(m, IFLA_INFO_KIND, "veth") ||
	    !(data = nla_nest_start(m, IFLA_INFO_DATA)) ||
	    !(peer = nla_nest_start(m, VETH_INFO_PEER)) ||
	    nlmsg_append(m, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0 || put_end(m, &ends[1], mtu)) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	nla_nest_end(m, peer);
	nla_nest_end(m, data);
	nla_nest_end(m, info);
	return rtnl_do(d, m);
}

/* An end cannot come up before it has a peer. */
static int bring_up(struct tribd *d, const struct end *e)
{
	struct ifinfomsg up = {
		.ifi_index = (int)e->ifindex,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};

	return rtnl_do(d, rtnl_msg(RTM_NEWLINK, NLM_F_ACK, &up, sizeof(up)));
}

static int add_addr(struct tribd *d, const struct end *e, int family)
{
	struct ifaddrmsg ifa = {
		.ifa_family = (uint8_t)family,
		.ifa_prefixlen = family == AF_INET ? 32 : 64,
		.ifa_flags = family == AF_INET ? 0 : IFA_F_NODAD,
		.ifa_scope = RT_SCOPE_LINK,
		.ifa_index = e->ifindex,
	};
	struct nl_msg *m =
		rtnl_msg(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &ifa, sizeof(ifa));

	if (!m || put_addr(m, IFA_LOCAL, family, e) || put_addr(m, IFA_ADDRESS, family, e)) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	return rtnl_do(d, m);
}

/* Route to @to through @from. IPv6 has a link-local route already. */
static int add_route(struct tribd *d, const struct end *from, const struct end *to)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_LINK,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *m =
		rtnl_msg(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &rtm, sizeof(rtm));

	if (!m || put_addr(m, RTA_DST, AF_INET, to) || put_addr(m, RTA_PREFSRC, AF_INET, from) ||
	    nla_put_u32(m, RTA_OIF, from->ifindex)) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	return rtnl_do(d, m);
}

/* Static entry: a host does not answer ARP for its own address. */
static int add_neighbour(struct tribd *d, const struct end *from, const struct end *to, int family)
{
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)family,
		.ndm_ifindex = (int)from->ifindex,
		.ndm_state = NUD_PERMANENT,
	};
	struct nl_msg *m =
		rtnl_msg(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE | NLM_F_ACK, &ndm, sizeof(ndm));

	if (!m || put_addr(m, NDA_DST, family, to) || nla_put(m, NDA_LLADDR, 6, to->mac)) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	return rtnl_do(d, m);
}

static int set_conf(const struct end *e, const char *name, const char *value)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/%s", e->name, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, value, strlen(value));
	close(fd);
	return n < 0 ? -EIO : 0;
}

/* Without GRO (NAPI) the veth loses what XDP sends to this end. */
static int set_gro(const struct end *e)
{
	struct ethtool_value v = {.cmd = ETHTOOL_SGRO, .data = 1};
	struct ifreq ifr = {.ifr_data = (void *)&v};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", e->name);
	err = ioctl(fd, SIOCETHTOOL, &ifr) ? -errno : 0;
	close(fd);
	return err;
}

static int bring_up_both(struct tribd *d)
{
	struct netdev dev;
	int i, err = 0;

	for (i = 0; !err && i < 2; i++) {
		err = rtnl_dev(d, ends[i].name, 0, &dev);
		ends[i].ifindex = dev.ifindex;
		if (!err)
			err = bring_up(d, &ends[i]);
	}
	return err;
}

static int set_up(struct tribd *d, const struct end *e, const struct end *other)
{
	int err;

	/* Accept our own addresses as a source. */
	err = set_conf(e, "accept_local", "1");
	if (!err) /* loose, whatever the setting of the host is */
		err = set_conf(e, "rp_filter", "2");
	if (!err)
		err = add_addr(d, e, AF_INET);
	if (!err)
		err = add_route(d, e, other);
	return err ? err : add_neighbour(d, e, other, AF_INET);
}

/* IPv6 is optional. */
static void set_up_v6(struct tribd *d, const struct end *e, const struct end *other)
{
	int err = add_addr(d, e, AF_INET6);

	if (!err)
		err = add_neighbour(d, e, other, AF_INET6);
	if (err)
		log_info("%s: without IPv6: %s", e->name, strerror(-err));
}

int local_make(struct tribd *d)
{
	uint32_t mtu = d->config.nval * 4 + TRIB_OVERHEAD_V6 + 8 * TRIB_BMWORDS_MAX;
	struct netdev dev;
	int err = rtnl_dev(d, TRIB_LOCAL_PORT, 0, &dev);

	if (err != -ENODEV)
		return err;
	err = make_pair(d, mtu < MTU_MIN ? MTU_MIN : mtu > MTU_MAX ? MTU_MAX : mtu);
	if (err)
		goto out;
	err = bring_up_both(d);
	if (!err)
		err = set_up(d, &ends[0], &ends[1]);
	if (!err)
		err = set_up(d, &ends[1], &ends[0]);
	if (!err)
		err = set_gro(&ends[1]);
	if (!err) {
		set_up_v6(d, &ends[0], &ends[1]);
		set_up_v6(d, &ends[1], &ends[0]);
	} else {
		local_remove(d);
	}
out:
	if (err)
		log_error("cannot make the pair %s, %s: %s", TRIB_LOCAL_PORT, TRIB_LOCAL_PEER,
			  strerror(-err));
	return err;
}

void local_remove(struct tribd *d)
{
	struct ifinfomsg ifi = {};
	struct netdev dev;

	if (rtnl_dev(d, TRIB_LOCAL_PORT, 0, &dev) || memcmp(dev.mac, ends[0].mac, 6))
		return;
	ifi.ifi_index = (int)dev.ifindex;
	rtnl_do(d, rtnl_msg(RTM_DELLINK, NLM_F_ACK, &ifi, sizeof(ifi)));
}
