// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: the NDN forwarder as a whole, and its routes. */
#include <errno.h>
#include <string.h>

#include "daemon/face/face.h"
#include "daemon/ndn/ndnd.h"
#include "nl.h"

static const struct {
	int attr;
	enum ndn_mark mark;
} marks[] = {
	{TRIB_A_NDN_MARK_INSERT, NDN_MARK_INSERT},
	{TRIB_A_NDN_MARK_DISTRIBUTE, NDN_MARK_DISTRIBUTE},
	{TRIB_A_NDN_MARK_DELETE, NDN_MARK_DELETE},
};

int nl_ndn_get(struct tribd *d, struct nl_request *r)
{
	int err = ndnd_need(d, &r->why);
	char text[NDND_TEXT_MAX];
	struct nl_msg *m = r->reply;
	const struct ndnd *fw = d->ndn;
	struct nlattr *nest;
	unsigned int i;

	if (err)
		return err;
	nest = nla_nest_start(m, TRIB_A_NDN);
	if (!nest || nla_put_u32(m, TRIB_A_NDN_ENTRIES, fw->entries) ||
	    nla_put_u32(m, TRIB_A_NDN_ENTRIES_USED, ndnd_pit_count(d)) ||
	    nla_put_u32(m, TRIB_A_NDN_CACHE, fw->cache) ||
	    nla_put_u32(m, TRIB_A_NDN_CACHE_USED, ndnd_cs_count(d)) ||
	    nla_put_u32(m, TRIB_A_NDN_ROUTES, fw->nroutes) ||
	    nla_put_u32(m, TRIB_A_NDN_LEASE_MS, fw->lease_ms) ||
	    nla_put_u32(m, TRIB_A_NDN_LEAVE_MS, fw->leave_ms ? fw->leave_ms : fw->lease_ms / 2))
		return -EMSGSIZE;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (nla_put_string(m, marks[i].attr,
				   ndnd_marker_text(&fw->marker[marks[i].mark], text)))
			return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

static int ms_get(struct nl_request *r, int attr, uint32_t *ms)
{
	if (!r->tb[attr])
		return 0;
	*ms = nla_get_u32(r->tb[attr]);
	return *ms ? 0 : reason_set(&r->why, -ERANGE, "%s 0: at least 1", nl_ndn.attr[attr].name);
}

int nl_ndn_set(struct tribd *d, struct nl_request *r)
{
	struct ndnd_set s = {};
	int err = ndnd_need(d, &r->why);
	unsigned int i;

	if (!err)
		err = ms_get(r, TRIB_A_NDN_LEASE_MS, &s.lease_ms);
	if (!err)
		err = ms_get(r, TRIB_A_NDN_LEAVE_MS, &s.leave_ms);
	if (err)
		return err;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (r->tb[marks[i].attr])
			s.marker[marks[i].mark] = nla_get_string(r->tb[marks[i].attr]);
	return ndnd_set(d, &s, &r->why);
}

/* --- routes */

int nl_route_new(struct tribd *d, struct nl_request *r)
{
	int err = ndnd_need(d, &r->why);

	if (!err)
		err = nl_need(&nl_route, r->tb, TRIB_A_ROUTE_PREFIX, &r->why);
	if (!err)
		err = nl_need(&nl_route, r->tb, TRIB_A_ROUTE_FACE, &r->why);
	if (err)
		return err;
	return ndnd_route_new(d, nla_get_string(r->tb[TRIB_A_ROUTE_PREFIX]),
			      nla_get_string(r->tb[TRIB_A_ROUTE_FACE]), &r->why);
}

int nl_route_del(struct tribd *d, struct nl_request *r)
{
	int err = ndnd_need(d, &r->why);

	if (!err)
		err = nl_need(&nl_route, r->tb, TRIB_A_ROUTE_PREFIX, &r->why);
	if (err)
		return err;
	return ndnd_route_del(d, nla_get_string(r->tb[TRIB_A_ROUTE_PREFIX]), &r->why);
}

static int route_put(const struct ndnd_route *route, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_ROUTE);
	char text[NDND_TEXT_MAX];

	if (!nest || nla_put_string(m, TRIB_A_ROUTE_PREFIX, ndnd_name_text(&route->name, text)) ||
	    nla_put_string(m, TRIB_A_ROUTE_FACE, route->face->name))
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

int nl_route_get(struct tribd *d, struct nl_request *r)
{
	struct ndn_row_name name;
	const struct ndnd_route *route;
	int err = ndnd_need(d, &r->why);

	if (!err)
		err = nl_need(&nl_route, r->tb, TRIB_A_ROUTE_PREFIX, &r->why);
	if (!err)
		err = ndnd_name_parse(nla_get_string(r->tb[TRIB_A_ROUTE_PREFIX]), &name, &r->why);
	if (err)
		return err;
	route = ndnd_route_find(d, &name);
	if (!route)
		return reason_set(&r->why, -ENOENT, "no route %.100s",
				  nla_get_string(r->tb[TRIB_A_ROUTE_PREFIX]));
	return route_put(route, r->reply);
}

int nl_route_start(struct tribd *d, struct nl_request *r, struct nl_cursor *c)
{
	(void)c;
	return ndnd_need(d, &r->why);
}

int nl_route_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	const struct ndnd_route *route;
	uint32_t at = 0;
	int err;

	TAILQ_FOREACH(route, &d->ndn->routes, link)
		if (at++ == c->at)
			break;
	if (!route)
		return 0;
	c->at++;
	err = route_put(route, m);
	return err ? err : 1;
}
