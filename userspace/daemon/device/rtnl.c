// SPDX-License-Identifier: BSD-2-Clause
/*
 * rtnetlink: requests about devices, routes and neighbours on one socket, news
 * on another.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "kernel_ask.h"
#include "rtnl_parse.h"

struct rtnl {
	struct nl_sock *ask;
	struct nl_sock *news;
	struct watch watch;
	struct timer changed; /* addresses or routes changed */
};

/* Routes may change by the thousand: wait, then look up once. */
#define CHANGED_MS 50

/* --- requests */

int rtnl_ask(struct tribd *d, struct nl_msg *m, int (*fn)(struct nlmsghdr *nlh, void *arg),
	     void *arg)
{
	return kernel_ask(d->rtnl->ask, m, fn, arg);
}

struct nl_msg *rtnl_msg(int type, int flags, const void *body, size_t len)
{
	struct nl_msg *m = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);

	if (m && nlmsg_append(m, (void *)body, len, NLMSG_ALIGNTO) < 0) {
		nlmsg_free(m);
		m = NULL;
	}
	return m;
}

int rtnl_do(struct tribd *d, struct nl_msg *m)
{
	return rtnl_ask(d, m, NULL, NULL);
}

/* --- devices */

static int dev_one(struct nlmsghdr *nlh, void *arg)
{
	return nlh->nlmsg_type == RTM_NEWLINK ? rtnl_parse_dev(nlh, arg) : 0;
}

int rtnl_dev(struct tribd *d, const char *name, uint32_t ifindex, struct netdev *dev)
{
	struct ifinfomsg ifi = {.ifi_index = name ? 0 : (int)ifindex};
	struct nl_msg *m = rtnl_msg(RTM_GETLINK, 0, &ifi, sizeof(ifi));
	int err;

	memset(dev, 0, sizeof(*dev));
	if (m && name && nla_put_string(m, IFLA_IFNAME, name)) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	err = rtnl_ask(d, m, dev_one, dev);
	return err ? err : dev->ifindex ? 0 : -ENODEV;
}

struct dev_list {
	struct netdev *dev;
	size_t n;
};

static int dev_collect(struct nlmsghdr *nlh, void *arg)
{
	struct dev_list *l = arg;
	struct netdev dev, *more;

	if (nlh->nlmsg_type != RTM_NEWLINK || rtnl_parse_dev(nlh, &dev))
		return 0;
	more = realloc(l->dev, (l->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->dev = more;
	l->dev[l->n++] = dev;
	return 0;
}

/* Collect first: @fn may send requests, and there is one socket for them. */
int rtnl_each_dev(struct tribd *d, int (*fn)(const struct netdev *dev, void *arg), void *arg)
{
	struct ifinfomsg ifi = {};
	struct dev_list l = {};
	size_t i;
	int err =
		rtnl_ask(d, rtnl_msg(RTM_GETLINK, NLM_F_DUMP, &ifi, sizeof(ifi)), dev_collect, &l);

	for (i = 0; !err && i < l.n; i++)
		err = fn(&l.dev[i], arg);
	free(l.dev);
	return err;
}

static int vlan_match(const struct netdev *dev, void *arg)
{
	struct netdev *want = arg;

	if (!dev->vlan || dev->vlan != want->vlan || dev->lower != want->lower)
		return 0;
	*want = *dev;
	return 1;
}

int rtnl_vlan_dev(struct tribd *d, uint32_t lower, uint16_t vlan, struct netdev *dev)
{
	int err;

	memset(dev, 0, sizeof(*dev));
	dev->lower = lower;
	dev->vlan = vlan;
	err = rtnl_each_dev(d, vlan_match, dev);
	return err == 1 ? 0 : err ? err : -ENODEV;
}

/* --- routes */

struct route {
	struct in6_addr src, via;
	bool has_src, has_via;
	uint32_t oif;
};

static int route_one(struct nlmsghdr *nlh, void *arg)
{
	struct nlattr *tb[RTA_MAX + 1];
	struct route *r = arg;

	if (nlh->nlmsg_type != RTM_NEWROUTE ||
	    nlmsg_parse(nlh, sizeof(struct rtmsg), tb, RTA_MAX, NULL) < 0)
		return 0;
	r->has_src = rtnl_get_addr(tb[RTA_PREFSRC], &r->src);
	r->has_via = rtnl_get_addr(tb[RTA_GATEWAY], &r->via);
	if (tb[RTA_OIF])
		r->oif = nla_get_u32(tb[RTA_OIF]);
	return 0;
}

/* Ask how the host sends to @to, through @oif unless that is 0. */
static int route_ask(struct tribd *d, const struct in6_addr *to, uint32_t oif, struct route *r)
{
	struct rtmsg rtm = {
		.rtm_family = (uint8_t)rtnl_addr_family(to),
		.rtm_dst_len = rtnl_addr_family(to) == AF_INET ? 32 : 128,
	};
	struct nl_msg *m = rtnl_msg(RTM_GETROUTE, 0, &rtm, sizeof(rtm));

	if (m && (rtnl_put_addr(m, RTA_DST, to) || (oif && nla_put_u32(m, RTA_OIF, oif)))) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	return rtnl_ask(d, m, route_one, r);
}

int rtnl_route(struct tribd *d, const struct in6_addr *to, uint32_t oif, struct in6_addr *src,
	       struct in6_addr *via)
{
	struct route r = {};
	int err = route_ask(d, to, oif, &r);

	if (err)
		return err;
	*via = r.has_via ? r.via : *to;
	memset(src, 0, sizeof(*src));
	if (r.has_src)
		*src = r.src;
	return 0;
}

int rtnl_route_dev(struct tribd *d, const struct in6_addr *to, uint32_t *oif)
{
	struct route r = {};
	int err = route_ask(d, to, 0, &r);

	if (err)
		return err;
	*oif = r.oif;
	return r.has_via && r.oif ? 0 : -ENOENT;
}

/* --- neighbours */

static int neigh_one(struct nlmsghdr *nlh, void *arg)
{
	return nlh->nlmsg_type == RTM_NEWNEIGH ? rtnl_parse_neigh(nlh, arg) : 0;
}

static struct nl_msg *neigh_msg(int type, int flags, const struct ndmsg *ndm,
				const struct in6_addr *addr)
{
	struct nl_msg *m = rtnl_msg(type, flags, ndm, sizeof(*ndm));

	if (m && rtnl_put_addr(m, NDA_DST, addr)) {
		nlmsg_free(m);
		m = NULL;
	}
	return m;
}

int rtnl_neigh(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr, uint8_t mac[6])
{
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)rtnl_addr_family(addr),
		.ndm_ifindex = (int)ifindex,
	};
	struct neigh n = {};
	int err = rtnl_ask(d, neigh_msg(RTM_GETNEIGH, 0, &ndm, addr), neigh_one, &n);

	if (err)
		return err;
	if (!n.valid)
		return -ENOENT;
	memcpy(mac, n.mac, 6);
	return 0;
}

int rtnl_probe(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr)
{
	struct ndmsg ndm = {
		.ndm_family = (uint8_t)rtnl_addr_family(addr),
		.ndm_ifindex = (int)ifindex,
		.ndm_state = NUD_NONE,
		.ndm_flags = NTF_USE,
	};

	return rtnl_ask(d, neigh_msg(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK, &ndm, addr), NULL,
			NULL);
}

/* --- filters */

static int filter_found(struct nlmsghdr *nlh, void *arg)
{
	(void)arg;
	return nlh->nlmsg_type == RTM_NEWTFILTER;
}

bool rtnl_clsact_used(struct tribd *d, uint32_t ifindex)
{
	static const uint32_t hook[] = {TC_H_MIN_INGRESS, TC_H_MIN_EGRESS};
	unsigned int i;

	for (i = 0; i < sizeof(hook) / sizeof(hook[0]); i++) {
		struct tcmsg tcm = {
			.tcm_family = AF_UNSPEC,
			.tcm_ifindex = (int)ifindex,
			.tcm_parent = TC_H_MAKE(TC_H_CLSACT, hook[i]),
		};

		if (rtnl_ask(d, rtnl_msg(RTM_GETTFILTER, NLM_F_DUMP, &tcm, sizeof(tcm)),
			     filter_found, NULL))
			return true;
	}
	return false;
}

/* --- news */

static void changed_run(struct tribd *d, struct timer *t)
{
	(void)t;
	d->hooks->routes_changed(d);
}

static void news_changed(struct tribd *d)
{
	if (!d->rtnl->changed.at_ns)
		timer_set(d, &d->rtnl->changed, CHANGED_MS);
}

static int news_one(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *nlh = nlmsg_hdr(msg);
	struct tribd *d = arg;
	const struct tcmsg *tcm;
	struct netdev dev;
	struct neigh n;

	switch (nlh->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		/* A bridge reports its ports in its own family. */
		if (((struct ifinfomsg *)nlmsg_data(nlh))->ifi_family != AF_UNSPEC ||
		    rtnl_parse_dev(nlh, &dev))
			break;
		d->hooks->device_changed(d, &dev, nlh->nlmsg_type == RTM_DELLINK);
		break;
	case RTM_NEWTFILTER:
	case RTM_DELTFILTER:
	case RTM_NEWQDISC:
	case RTM_DELQDISC:
		tcm = nlmsg_data(nlh);
		d->hooks->filters_changed(d, (uint32_t)tcm->tcm_ifindex);
		break;
	case RTM_NEWNEIGH:
		if (!rtnl_parse_neigh(nlh, &n) && n.valid)
			d->hooks->neighbour_changed(d, n.ifindex, &n.addr, n.mac);
		break;
	case RTM_NEWADDR:
	case RTM_DELADDR:
	case RTM_NEWROUTE:
	case RTM_DELROUTE:
		news_changed(d);
		break;
	}
	return NL_OK;
}

static void news_ready(struct tribd *d, struct watch *w, uint32_t events)
{
	struct rtnl *r = d->rtnl;
	int err, turns = 64;

	(void)w;
	(void)events;
	do {
		err = nl_recvmsgs_default(r->news);
	} while (!err && --turns);
	/* The kernel dropped some (ENOBUFS): libnl says NLE_NOMEM. */
	if (err == -NLE_NOMEM) {
		news_changed(d);
		d->hooks->filters_changed(d, 0);
	}
}

static struct nl_sock *rtnl_open(void)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (sk && nl_connect(sk, NETLINK_ROUTE)) {
		nl_socket_free(sk);
		sk = NULL;
	}
	return sk;
}

int rtnl_init(struct tribd *d)
{
	struct rtnl *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return err;
	d->rtnl = r;
	r->watch.fd = -1;
	r->ask = rtnl_open();
	r->news = rtnl_open();
	if (!r->ask || !r->news)
		goto fail;
	nl_socket_disable_auto_ack(r->ask);
	nl_socket_set_buffer_size(r->news, 1 << 20, 0);
	nl_socket_disable_seq_check(r->news);
	nl_socket_set_nonblocking(r->news);
	nl_socket_modify_cb(r->news, NL_CB_VALID, NL_CB_CUSTOM, news_one, d);
	if (nl_socket_add_memberships(r->news, RTNLGRP_LINK, RTNLGRP_NEIGH, RTNLGRP_IPV4_IFADDR,
				      RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE,
				      RTNLGRP_TC, 0)) {
		err = -EIO;
		goto fail;
	}
	r->watch.fd = nl_socket_get_fd(r->news);
	r->watch.fn = news_ready;
	r->changed.fn = changed_run;
	err = loop_add(d, &r->watch, EPOLLIN);
	if (!err)
		return 0;
fail:
	log_error("rtnetlink: %s", strerror(-err));
	rtnl_exit(d);
	return err;
}

void rtnl_exit(struct tribd *d)
{
	struct rtnl *r = d->rtnl;

	if (!r)
		return;
	timer_cancel(d, &r->changed);
	if (r->watch.fd >= 0)
		loop_del(d, &r->watch);
	if (r->ask)
		nl_socket_free(r->ask);
	if (r->news)
		nl_socket_free(r->news);
	free(r);
	d->rtnl = NULL;
}
