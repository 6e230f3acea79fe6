// SPDX-License-Identifier: BSD-2-Clause
/* Netlink: faces. */
#include <errno.h>
#include <stdlib.h>

#include "daemon/face/face_attr.h"
#include "daemon/ndn/ndnd.h"
#include "nl.h"

static bool ndn_said(const struct nl_request *r)
{
	return r->tb[TRIB_A_FACE_NDN] || r->tb[TRIB_A_FACE_NDN_PORT] ||
	       r->tb[TRIB_A_FACE_NDN_SUBSCRIBE] || r->tb[TRIB_A_FACE_NDN_WRITE];
}

/* Parse the NDN attributes. */
static int ndn_spec_parse(struct tribd *d, struct nl_request *r, struct ndnd_spec *s)
{
	struct nlattr **tb = r->tb, *attr;
	int err = ndnd_need(d, &r->why), rem;

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
			err = ndnd_spec_add(d->ndn, s, may, nla_get_string(attr), &r->why);
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
	/* face_check() knows faces that need no address. */
	if (!err && !ndn_said(r))
		err = nl_need(&nl_face, tb, TRIB_A_FACE_ADDR, &r->why);
	if (err)
		return err;
	return face_attr_parse(tb, s, &r->why);
}

/*
 * Parse the NDN part of a request, if it has one, into @out; the caller frees
 * it.
 */
static int ndn_parse_said(struct tribd *d, struct nl_request *r, struct face_spec *s,
			  struct ndnd_spec **out)
{
	if (!ndn_said(r))
		return 0;
	s->ndn = *out = malloc(sizeof(**out));
	return *out ? ndn_spec_parse(d, r, *out) : -ENOMEM;
}

int nl_face_new(struct tribd *d, struct nl_request *r)
{
	struct ndnd_spec *ndn = NULL;
	struct face_spec s = {};
	int err = spec_parse(r, &s);

	if (!err)
		err = ndn_parse_said(d, r, &s, &ndn);
	if (!err)
		err = face_new(d, &s, &r->why);
	free(ndn);
	return err;
}

static bool is_ndn(int attr)
{
	return attr >= TRIB_A_FACE_NDN && attr <= TRIB_A_FACE_NDN_WRITE;
}

/* Trees and routes rely on all other attributes. */
static int set_check(struct nl_request *r)
{
	bool change = false;
	int i;

	for (i = 1; i < TRIB_A_FACE__MAX; i++)
		if (!r->tb[i] || i == TRIB_A_FACE_NAME)
			continue;
		else if (is_ndn(i) || face_attr_can_change(i))
			change = true;
		else
			return reason_set(&r->why, -EINVAL,
					  "%s cannot be changed: delete the face and add it",
					  nl_face.attr[i].name);
	return change ? 0 : reason_set(&r->why, -EINVAL, "nothing to change");
}

int nl_face_set(struct tribd *d, struct nl_request *r)
{
	struct ndnd_spec *ndn = NULL;
	struct face_spec s = {};
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (!err)
		err = set_check(r);
	if (!err)
		err = face_attr_parse(r->tb, &s, &r->why);
	if (!err)
		err = ndn_parse_said(d, r, &s, &ndn);
	if (!err)
		err = face_set(d, &s, r->tb, &r->why);
	free(ndn);
	return err;
}

int nl_face_del(struct tribd *d, struct nl_request *r)
{
	int err = nl_need(&nl_face, r->tb, TRIB_A_FACE_NAME, &r->why);

	if (err)
		return err;
	return face_del(d, nla_get_string(r->tb[TRIB_A_FACE_NAME]), &r->why);
}

static int prefixes_put(const struct ndnd_peer *p, uint8_t may, int type, struct nl_msg *m)
{
	char text[NDND_TEXT_MAX];
	unsigned int i;

	for (i = 0; i < p->n; i++)
		if ((p->prefix[i].may & may) &&
		    nla_put_string(m, type, ndnd_name_text(&p->prefix[i].name, text)))
			return -EMSGSIZE;
	return 0;
}

static int ndn_put(const struct face *f, struct nl_msg *m)
{
	const struct ndnd_peer *p = f->ndn;

	return nla_put_u8(m, TRIB_A_FACE_NDN, p->kind) ||
	       nla_put_u16(m, TRIB_A_FACE_NDN_PORT, p->port) ||
	       nla_put_u32(m, TRIB_A_FACE_NDN_NUMBER, p->number) ||
	       prefixes_put(p, NDN_MAY_SUBSCRIBE, TRIB_A_FACE_NDN_SUBSCRIBE, m) ||
	       prefixes_put(p, NDN_MAY_WRITE, TRIB_A_FACE_NDN_WRITE, m);
}

static int face_put(const struct face *f, struct nl_msg *m)
{
	struct nlattr *nest = nla_nest_start(m, TRIB_A_FACE);

	if (!nest || face_attr_put(f, m) || (f->ndn && ndn_put(f, m)))
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
		return reason_set(&r->why, -ENOENT, "no face %s",
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
