// SPDX-License-Identifier: BSD-2-Clause
/* Owns rtnetlink requests: see link.h. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "link.h"

struct rt {
	struct nl_sock *sk;
};

int rt_open(struct rt **out)
{
	struct rt *rt = calloc(1, sizeof(*rt));
	int err = -ENOMEM;

	if (!rt)
		return err;
	rt->sk = nl_socket_alloc();
	if (!rt->sk)
		goto out_free;
	if (nl_connect(rt->sk, NETLINK_ROUTE) < 0) {
		err = -EPROTO;
		goto out_sock;
	}
	/* Every request has one answer: the object, or an error. */
	nl_socket_disable_auto_ack(rt->sk);
	*out = rt;
	return 0;

out_sock:
	nl_socket_free(rt->sk);
out_free:
	free(rt);
	return err;
}

void rt_close(struct rt *rt)
{
	if (!rt)
		return;
	nl_socket_free(rt->sk);
	free(rt);
}

static bool is_v4(const uint8_t addr[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(addr, mapped, sizeof(mapped));
}

static struct nl_msg *message(int type, const void *hdr, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST);

	if (msg && nlmsg_append(msg, (void *)hdr, len, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

/* Put an address in the kernel's form: IPv4 is not mapped there. */
static int put_addr(struct nl_msg *msg, int attr, const uint8_t addr[16])
{
	return is_v4(addr) ? nla_put(msg, attr, 4, addr + 12) : nla_put(msg, attr, 16, addr);
}

/*
 * Send @msg and parse the attributes of its only answer; the caller frees
 * *@ans.
 */
static int ask(struct rt *rt, struct nl_msg *msg, size_t hdrlen, struct nlattr **tb, int max,
	       unsigned char **buf)
{
	struct sockaddr_nl from;
	struct nlmsghdr *nlh;
	int n, err;

	*buf = NULL;
	if (!msg)
		return -ENOMEM;
	err = nl_send_auto(rt->sk, msg);
	nlmsg_free(msg);
	if (err < 0)
		return -EPROTO;
	n = nl_recv(rt->sk, &from, buf, NULL);
	if (n <= 0)
		return -EPROTO;
	nlh = (struct nlmsghdr *)*buf;
	if (!nlmsg_ok(nlh, n)) {
		err = -EPROTO;
	} else if (nlh->nlmsg_type == NLMSG_ERROR) {
		err = nlmsg_datalen(nlh) >= (int)sizeof(struct nlmsgerr)
			      ? ((struct nlmsgerr *)nlmsg_data(nlh))->error
			      : -EPROTO;
		err = err ? err : -EPROTO;
	} else {
		err = nlmsg_parse(nlh, (int)hdrlen, tb, max, NULL) < 0 ? -EPROTO : 0;
	}
	if (err) {
		free(*buf);
		*buf = NULL;
	}
	return err;
}

static void get_mac(const struct nlattr *nla, uint8_t mac[6])
{
	if (nla && nla_len(nla) == 6)
		memcpy(mac, nla_data(nla), 6);
}

static uint32_t get_u32(const struct nlattr *nla)
{
	return nla && nla_len(nla) >= 4 ? nla_get_u32(nla) : 0;
}

static void get_text(const struct nlattr *nla, char *out, size_t size)
{
	if (nla)
		snprintf(out, size, "%.*s", nla_len(nla), (const char *)nla_data(nla));
}

static enum link_xdp get_xdp(struct nlattr *nla)
{
	struct nlattr *tb[IFLA_XDP_MAX + 1];

	if (!nla || nla_parse_nested(tb, IFLA_XDP_MAX, nla, NULL) < 0 || !tb[IFLA_XDP_ATTACHED])
		return LINK_XDP_NONE;
	switch (nla_get_u8(tb[IFLA_XDP_ATTACHED])) {
	case XDP_ATTACHED_NONE:
		return LINK_XDP_NONE;
	case XDP_ATTACHED_SKB:
		return LINK_XDP_GENERIC;
	default:
		return LINK_XDP_NATIVE;
	}
}

int rt_link(struct rt *rt, int ifindex, int nsid, struct link *out)
{
	struct ifinfomsg ifi = {.ifi_index = ifindex};
	struct nl_msg *msg = message(RTM_GETLINK, &ifi, sizeof(ifi));
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	unsigned char *buf;
	int err;

	memset(out, 0, sizeof(*out));
	out->below_nsid = LINK_HERE;
	if (msg && nsid != LINK_HERE)
		nla_put_s32(msg, IFLA_TARGET_NETNSID, nsid);
	err = ask(rt, msg, sizeof(ifi), tb, IFLA_MAX, &buf);
	if (err)
		return err;
	memcpy(&ifi, nlmsg_data((struct nlmsghdr *)buf), sizeof(ifi));
	out->ifindex = ifi.ifi_index;
	out->up = ifi.ifi_flags & IFF_UP;
	out->carrier = ifi.ifi_flags & IFF_RUNNING;
	get_text(tb[IFLA_IFNAME], out->name, sizeof(out->name));
	get_mac(tb[IFLA_ADDRESS], out->mac);
	out->mtu = get_u32(tb[IFLA_MTU]);
	out->rx_queues = get_u32(tb[IFLA_NUM_RX_QUEUES]);
	out->below = (int)get_u32(tb[IFLA_LINK]);
	if (tb[IFLA_LINK_NETNSID])
		out->below_nsid = (int)get_u32(tb[IFLA_LINK_NETNSID]);
	out->xdp = get_xdp(tb[IFLA_XDP]);
	/* sysfs may show another network namespace. */
	out->real = tb[IFLA_PARENT_DEV_NAME];
	if (tb[IFLA_LINKINFO] &&
	    nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) >= 0)
		get_text(info[IFLA_INFO_KIND], out->kind, sizeof(out->kind));
	free(buf);
	return 0;
}

int rt_route(struct rt *rt, const uint8_t addr[16], int oif, struct route *out)
{
	struct rtmsg rtm = {
		.rtm_family = is_v4(addr) ? AF_INET : AF_INET6,
		.rtm_dst_len = is_v4(addr) ? 32 : 128,
	};
	struct nl_msg *msg = message(RTM_GETROUTE, &rtm, sizeof(rtm));
	struct nlattr *tb[RTA_MAX + 1], *gw;
	unsigned char *buf;
	int err;

	memset(out, 0, sizeof(*out));
	if (msg)
		put_addr(msg, RTA_DST, addr);
	if (msg && oif)
		nla_put_u32(msg, RTA_OIF, (uint32_t)oif);
	err = ask(rt, msg, sizeof(rtm), tb, RTA_MAX, &buf);
	if (err)
		return err;
	memcpy(&rtm, nlmsg_data((struct nlmsghdr *)buf), sizeof(rtm));
	out->oif = (int)get_u32(tb[RTA_OIF]);
	out->local = rtm.rtm_type == RTN_LOCAL;
	gw = tb[RTA_GATEWAY];
	if (gw && nla_len(gw) == 4) {
		memset(out->gateway + 10, 0xff, 2);
		memcpy(out->gateway + 12, nla_data(gw), 4);
		out->has_gateway = true;
	} else if (gw && nla_len(gw) == 16) {
		memcpy(out->gateway, nla_data(gw), 16);
		out->has_gateway = true;
	}
	free(buf);
	return 0;
}

int rt_neigh(struct rt *rt, int ifindex, const uint8_t addr[16], struct neigh *out)
{
	struct ndmsg ndm = {
		.ndm_family = is_v4(addr) ? AF_INET : AF_INET6,
		.ndm_ifindex = ifindex,
	};
	struct nl_msg *msg = message(RTM_GETNEIGH, &ndm, sizeof(ndm));
	struct nlattr *tb[NDA_MAX + 1];
	unsigned char *buf;
	int err;

	memset(out, 0, sizeof(*out));
	if (msg)
		put_addr(msg, NDA_DST, addr);
	err = ask(rt, msg, sizeof(ndm), tb, NDA_MAX, &buf);
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	memcpy(&ndm, nlmsg_data((struct nlmsghdr *)buf), sizeof(ndm));
	out->failed = ndm.ndm_state & (NUD_FAILED | NUD_INCOMPLETE);
	out->found = tb[NDA_LLADDR] && !out->failed;
	get_mac(tb[NDA_LLADDR], out->mac);
	free(buf);
	return 0;
}

/* Find the id of the namespace behind @fd in ours, -1 without one. */
static int nsid_of(struct rt *rt, int fd)
{
	struct rtgenmsg gen = {.rtgen_family = AF_UNSPEC};
	struct nl_msg *msg = message(RTM_GETNSID, &gen, sizeof(gen));
	struct nlattr *tb[NETNSA_MAX + 1];
	unsigned char *buf;
	int id = -1;

	if (msg)
		nla_put_u32(msg, NETNSA_FD, (uint32_t)fd);
	if (ask(rt, msg, sizeof(gen), tb, NETNSA_MAX, &buf))
		return -1;
	if (tb[NETNSA_NSID])
		id = nla_get_s32(tb[NETNSA_NSID]);
	free(buf);
	return id;
}

/*
 * Open the first namespace below @dir, with paths by @fmt, that is @nsid here.
 */
static int search(struct rt *rt, int nsid, const char *dir, const char *fmt)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[300];
	int fd = -ENOENT;

	while (d && fd < 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), fmt, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && nsid_of(rt, fd) != nsid) {
			close(fd);
			fd = -ENOENT;
		}
	}
	if (d)
		closedir(d);
	return fd < 0 ? -ENOENT : fd;
}

/* A socket keeps the namespace that it was made in. */
static int socket_in(int ns)
{
	int self = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), s = -1;

	if (self < 0)
		return -errno;
	if (!setns(ns, CLONE_NEWNET)) {
		s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		s = s < 0 ? -errno : s;
		/* Return to our namespace before anything else. */
		if (setns(self, CLONE_NEWNET))
			abort();
	} else {
		s = -errno;
	}
	close(self);
	return s;
}

int rt_ethtool(struct rt *rt, int nsid)
{
	int ns, s;

	if (nsid == LINK_HERE) {
		s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		return s < 0 ? -errno : s;
	}
	ns = search(rt, nsid, "/run/netns", "/run/netns/%s");
	if (ns < 0)
		ns = search(rt, nsid, "/proc", "/proc/%s/ns/net");
	if (ns < 0)
		return ns;
	s = socket_in(ns);
	close(ns);
	return s;
}
