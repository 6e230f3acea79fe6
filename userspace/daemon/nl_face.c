// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: faces. */
#include <errno.h>
#include <string.h>

#include "face.h"
#include "nl.h"

static int spec_parse(struct nl_request *r, struct face_spec *s)
{
	struct nlattr **tb = r->tb;
	int err;

	err = nl_need(&nl_face, tb, TRIB_A_FACE_NAME, &r->why);
	if (!err)
		err = nl_need(&nl_face, tb, TRIB_A_FACE_IFNAME, &r->why);
	if (!err)
		err = nl_need(&nl_face, tb, TRIB_A_FACE_ADDR, &r->why);
	if (err)
		return err;
	nla_strlcpy(s->name, tb[TRIB_A_FACE_NAME], sizeof(s->name));
	nla_strlcpy(s->ifname, tb[TRIB_A_FACE_IFNAME], sizeof(s->ifname));
	memcpy(&s->addr, nla_data(tb[TRIB_A_FACE_ADDR]), sizeof(s->addr));
	if (tb[TRIB_A_FACE_LOCAL_ADDR]) {
		memcpy(&s->local, nla_data(tb[TRIB_A_FACE_LOCAL_ADDR]),
		       sizeof(s->local));
		s->has_local = true;
	}
	if (tb[TRIB_A_FACE_MAC]) {
		memcpy(s->mac, nla_data(tb[TRIB_A_FACE_MAC]), sizeof(s->mac));
		s->has_mac = true;
	}
	if (tb[TRIB_A_FACE_PORT]) {
		s->udp_port = nla_get_u16(tb[TRIB_A_FACE_PORT]);
		if (!s->udp_port)
			return refuse(&r->why, -ERANGE, "port 0: 1 to 65535");
	}
	if (tb[TRIB_A_FACE_VLAN])
		s->vlan[0] = nla_get_u16(tb[TRIB_A_FACE_VLAN]);
	if (tb[TRIB_A_FACE_VLAN_INNER])
		s->vlan[1] = nla_get_u16(tb[TRIB_A_FACE_VLAN_INNER]);
	if ((tb[TRIB_A_FACE_VLAN] && !s->vlan[0]) ||
	    (tb[TRIB_A_FACE_VLAN_INNER] && !s->vlan[1]))
		return refuse(&r->why, -ERANGE, "vlan 0: 1 to 4094");
	return 0;
}

int nl_face_new(struct tribd *d, struct nl_request *r)
{
	struct face_spec s = {};
	int err = spec_parse(r, &s);

	return err ? err : face_new(d, &s, &r->why);
}

int nl_face_del(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (err)
		return err;
	return face_del(d, nla_get_string(r->tb[TRIB_A_FACE_NAME]), &r->why);
}

static int face_put(const struct face *f, struct nl_msg *m)
{
	const struct port *p = f->port;
	struct nlattr *nest = nla_nest_start(m, TRIB_A_FACE);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = nla_put_string(m, TRIB_A_FACE_NAME, f->name) ||
	      nla_put_string(m, TRIB_A_FACE_IFNAME, p->ifname) ||
	      nla_put_u32(m, TRIB_A_FACE_IFINDEX, p->ifindex) ||
	      nla_put(m, TRIB_A_FACE_ADDR, sizeof(f->addr), &f->addr) ||
	      nla_put_u16(m, TRIB_A_FACE_PORT, f->udp_port) ||
	      nla_put_u8(m, TRIB_A_FACE_XDP_MODE, p->mode) ||
	      nla_put_u32(m, TRIB_A_FACE_MTU, p->mtu) ||
	      nla_put_u32(m, TRIB_A_FACE_TREES, f->trees);
	if (!err && f->mac_known)
		err = nla_put(m, TRIB_A_FACE_MAC, sizeof(f->mac), f->mac);
	if (!err && f->local_known)
		err = nla_put(m, TRIB_A_FACE_LOCAL_ADDR, sizeof(f->local),
			      &f->local);
	if (!err && f->l3_ifindex)
		err = nla_put(m, TRIB_A_FACE_LOCAL_MAC, sizeof(f->local_mac),
			      f->local_mac);
	if (!err && f->vlan[0])
		err = nla_put_u16(m, TRIB_A_FACE_VLAN, f->vlan[0]);
	if (!err && f->vlan[1])
		err = nla_put_u16(m, TRIB_A_FACE_VLAN_INNER, f->vlan[1]);
	if (!err && p->reason[0])
		err = nla_put_string(m, TRIB_A_FACE_REASON, p->reason);
	if (err)
		return -EMSGSIZE;
	nla_nest_end(m, nest);
	return 0;
}

int nl_face_get(struct tribd *d, struct nl_request *r)
{
	struct face *f;
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (err)
		return err;
	f = face_find(d, nla_get_string(r->tb[TRIB_A_FACE_NAME]));
	if (!f)
		return refuse(&r->why, -ENOENT, "no face %s",
			      nla_get_string(r->tb[TRIB_A_FACE_NAME]));
	return face_put(f, r->reply);
}

int nl_face_next(struct tribd *d, struct nl_cursor *c, struct nl_msg *m)
{
	uint32_t at = 0;
	struct face *f;
	int err;

	TAILQ_FOREACH(f, &d->faces, link)
		if (at++ == c->at)
			break;
	if (!f)
		return 0;
	c->at++;
	err = face_put(f, m);
	return err ? err : 1;
}
