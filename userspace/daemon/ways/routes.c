// SPDX-License-Identifier: BSD-2-Clause
#include "routes.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"
#include "daemon/device/rtnl_parse.h"
#include "uapi/trib_ways.h"

static int cmp(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

static int hop_cmp(const void *a, const void *b)
{
	return cmp(&((const struct ways_hop *)a)->to, &((const struct ways_hop *)b)->to);
}

/* --- reading */

static int hop_add(struct ways_hops *l, const struct ways_hop *h)
{
	struct ways_hop *more = realloc(l->at, (l->n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	l->at = more;
	l->at[l->n++] = *h;
	return 0;
}

static int route_one(struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = nlmsg_data(nlh);
	struct nlattr *tb[RTA_MAX + 1];
	struct ways_hop h = {};

	if (nlh->nlmsg_type != RTM_NEWROUTE ||
	    nlmsg_parse(nlh, sizeof(*rtm), tb, RTA_MAX, NULL) < 0 ||
	    rtm->rtm_protocol != TRIB_WAYS_ROUTE_PROTO || rtm->rtm_table != RT_TABLE_MAIN ||
	    !rtnl_get_addr(tb[RTA_DST], &h.to) || !rtnl_get_addr(tb[RTA_GATEWAY], &h.via) ||
	    !tb[RTA_OIF])
		return 0;
	h.oif = nla_get_u32(tb[RTA_OIF]);
	return hop_add(arg, &h);
}

static int read_family(struct tribd *d, uint8_t family, struct ways_hops *out)
{
	struct rtmsg rtm = {.rtm_family = family,
			    .rtm_table = RT_TABLE_MAIN,
			    .rtm_protocol = TRIB_WAYS_ROUTE_PROTO};

	return rtnl_ask(d, rtnl_msg(RTM_GETROUTE, NLM_F_DUMP, &rtm, sizeof(rtm)), route_one, out);
}

int ways_routes_read(struct tribd *d, struct ways_hops *out)
{
	int err;

	memset(out, 0, sizeof(*out));
	err = read_family(d, AF_INET, out);
	if (!err)
		err = read_family(d, AF_INET6, out);
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), hop_cmp);
	return err;
}

/* --- writing */

static int write_one(struct tribd *d, int type, int flags, const struct ways_hop *h)
{
	bool v4 = addr_is_v4(&h->to);
	struct rtmsg rtm = {.rtm_family = v4 ? AF_INET : AF_INET6,
			    .rtm_dst_len = v4 ? 32 : 128,
			    .rtm_table = RT_TABLE_MAIN,
			    .rtm_protocol = TRIB_WAYS_ROUTE_PROTO,
			    .rtm_scope = RT_SCOPE_UNIVERSE,
			    .rtm_type = RTN_UNICAST};
	struct nl_msg *m = rtnl_msg(type, flags | NLM_F_ACK, &rtm, sizeof(rtm));

	if (m && (rtnl_put_addr(m, RTA_DST, &h->to) || rtnl_put_addr(m, RTA_GATEWAY, &h->via) ||
		  nla_put_u32(m, RTA_OIF, h->oif) ||
		  nla_put_u32(m, RTA_PRIORITY, TRIB_WAYS_ROUTE_METRIC))) {
		nlmsg_free(m);
		return -ENOMEM;
	}
	return rtnl_do(d, m);
}

static void say(int err, const struct ways_hop *h, const char *what)
{
	char to[INET6_ADDRSTRLEN], via[INET6_ADDRSTRLEN];

	if (err)
		log_error("route to %s via %s: cannot %s it: %s", addr_text(&h->to, to),
			  addr_text(&h->via, via), what, strerror(-err));
	else
		log_debug("route to %s via %s: %s", addr_text(&h->to, to), addr_text(&h->via, via),
			  what);
}

static void put(struct tribd *d, const struct ways_hop *h)
{
	say(write_one(d, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, h), h, "make");
}

/* The kernel removes those of a device that goes. */
static void drop(struct tribd *d, const struct ways_hop *h)
{
	int err = write_one(d, RTM_DELROUTE, 0, h);

	say(err == -ESRCH ? 0 : err, h, "remove");
}

static bool same_hop(const struct ways_hop *a, const struct ways_hop *b)
{
	return a->oif == b->oif && !cmp(&a->via, &b->via);
}

/* A route that nobody wants: it goes, or joins the wanted ones. */
static void unwanted(struct tribd *d, const struct ways_hop *h, struct ways_hops *want, bool remove)
{
	if (remove || hop_add(want, h))
		drop(d, h);
}

void ways_routes_change(struct tribd *d, struct ways_hops *now, struct ways_hops *want, bool remove)
{
	unsigned int i = 0, j = 0, n = want->n;
	int c;

	while (i < now->n || j < n) {
		c = i == now->n ? 1 : j == n ? -1 : hop_cmp(&now->at[i], &want->at[j]);
		if (c < 0)
			unwanted(d, &now->at[i++], want, remove);
		else if (c > 0)
			put(d, &want->at[j++]);
		else if (!same_hop(&now->at[i++], &want->at[j]))
			put(d, &want->at[j++]);
		else
			j++;
	}
	if (want->n > n)
		qsort(want->at, want->n, sizeof(*want->at), hop_cmp);
	free(now->at);
	*now = *want;
	memset(want, 0, sizeof(*want));
}
