// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: faces. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/face/face.h"
#include "daemon/ndn/forwarder.h"
#include "nl.h"

static bool ndn_said(const struct nl_request *r)
{
	return r->tb[TRIB_A_FACE_NDN] || r->tb[TRIB_A_FACE_NDN_PORT] ||
	       r->tb[TRIB_A_FACE_NDN_SUBSCRIBE] || r->tb[TRIB_A_FACE_NDN_WRITE];
}

/* What is said of names. */
static int ndn_spec_parse(struct tribd *d, struct nl_request *r,
			  struct ndn_spec *s)
{
	struct nlattr **tb = r->tb, *attr;
	int err = ndn_need(d, &r->why), rem;

	if (err)
		return err;
	memset(s, 0, sizeof(*s));
	s->has_kind = tb[TRIB_A_FACE_NDN];
	s->has_port = tb[TRIB_A_FACE_NDN_PORT];
	s->has_subscribe = tb[TRIB_A_FACE_NDN_SUBSCRIBE];
	s->has_write = tb[TRIB_A_FACE_NDN_WRITE];
	if (s->has_kind)
		s->kind = nla_get_u8(tb[TRIB_A_FACE_NDN]);
	if (s->has_port)
		s->port = nla_get_u16(tb[TRIB_A_FACE_NDN_PORT]);
	nla_for_each_attr(attr, (struct nlattr *)r->args, r->args_len, rem) {
		uint8_t may = 0;

		if (nla_type(attr) == TRIB_A_FACE_NDN_SUBSCRIBE)
			may = NDN_MAY_SUBSCRIBE;
		if (nla_type(attr) == TRIB_A_FACE_NDN_WRITE)
			may = NDN_MAY_WRITE;
		if (may && !err)
			err = ndn_spec_add(d->ndn, s, may, nla_get_string(attr),
					   &r->why);
	}
	return err;
}

static int spec_parse(struct nl_request *r, struct face_spec *s)
{
	struct nlattr **tb = r->tb;
	int err;

	err = nl_need(&nl_face, tb, TRIB_A_FACE_NAME, &r->why);
	if (!err)
		err = nl_need(&nl_face, tb, TRIB_A_FACE_IFNAME, &r->why);
	/* face_check() says who needs no address. */
	if (!err && !ndn_said(r))
		err = nl_need(&nl_face, tb, TRIB_A_FACE_ADDR, &r->why);
	if (err)
		return err;
	nla_strlcpy(s->name, tb[TRIB_A_FACE_NAME], sizeof(s->name));
	nla_strlcpy(s->ifname, tb[TRIB_A_FACE_IFNAME], sizeof(s->ifname));
	if (tb[TRIB_A_FACE_ADDR])
		memcpy(&s->addr, nla_data(tb[TRIB_A_FACE_ADDR]),
		       sizeof(s->addr));
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
	struct ndn_spec *names = NULL;
	struct face_spec s = {};
	int err = spec_parse(r, &s);

	if (!err && ndn_said(r)) {
		s.ndn = names = malloc(sizeof(*names));
		err = names ? ndn_spec_parse(d, r, names) : -ENOMEM;
	}
	if (!err)
		err = face_new(d, &s, &r->why);
	free(names);
	return err;
}

/* Whatever else a face is, it stays: others rely on it. */
static int set_check(struct nl_request *r)
{
	int i;

	for (i = 1; i < TRIB_A_FACE__MAX; i++)
		if (r->tb[i] && i != TRIB_A_FACE_NAME &&
		    (i < TRIB_A_FACE_NDN || i > TRIB_A_FACE_NDN_WRITE))
			return refuse(
				&r->why, -EINVAL,
				"%s cannot be changed: delete the face and add it",
				nl_face.attr[i].name);
	return ndn_said(r) ? 0 : refuse(&r->why, -EINVAL, "nothing to change");
}

int nl_face_set(struct tribd *d, struct nl_request *r)
{
	struct ndn_spec *s = NULL;
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (!err)
		err = set_check(r);
	if (err)
		return err;
	s = malloc(sizeof(*s));
	err = s ? ndn_spec_parse(d, r, s) : -ENOMEM;
	if (!err)
		err = ndn_face_set(d, nla_get_string(r->tb[TRIB_A_FACE_NAME]),
				   s, &r->why);
	free(s);
	return err;
}

int nl_face_del(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (err)
		return err;
	return face_del(d, nla_get_string(r->tb[TRIB_A_FACE_NAME]), &r->why);
}

static int prefixes_put(const struct ndn_peer *p, uint8_t may, int type,
			struct nl_msg *m)
{
	char text[NDN_TEXT_MAX];
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if ((p->prefix[i].may & may) &&
		    nla_put_string(m, type, ndn_text(&p->prefix[i].name, text)))
			return -EMSGSIZE;
	return 0;
}

static int ndn_put(const struct face *f, struct nl_msg *m)
{
	const struct ndn_peer *p = f->ndn;

	return nla_put_u8(m, TRIB_A_FACE_NDN, p->kind) ||
	       nla_put_u16(m, TRIB_A_FACE_NDN_PORT, p->port) ||
	       nla_put_u32(m, TRIB_A_FACE_NDN_NUMBER, p->number) ||
	       prefixes_put(p, NDN_MAY_SUBSCRIBE, TRIB_A_FACE_NDN_SUBSCRIBE,
			    m) ||
	       prefixes_put(p, NDN_MAY_WRITE, TRIB_A_FACE_NDN_WRITE, m);
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
	      nla_put_u16(m, TRIB_A_FACE_PORT, f->udp_port) ||
	      nla_put_u8(m, TRIB_A_FACE_XDP_MODE, p->mode) ||
	      nla_put_u32(m, TRIB_A_FACE_MTU, p->mtu) ||
	      nla_put_u32(m, TRIB_A_FACE_TREES, f->trees);
	if (!err && !addr_is_zero(&f->addr))
		err = nla_put(m, TRIB_A_FACE_ADDR, sizeof(f->addr), &f->addr);
	if (!err && f->ndn)
		err = ndn_put(f, m);
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
