// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faces of the NDN forwarder: numbers, prefixes, and when the maps follow. Every
 * change is checked as a whole and saved before it is written to the maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/face/face.h"
#include "daemon/load/bpf_load.h"
#include "ndnd.h"

static struct face *number_find(struct tribd *d, unsigned int number)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (f->ndn && f->ndn->number == number)
			return f;
	return NULL;
}

static uint8_t number_free(struct tribd *d)
{
	unsigned int i;

	for (i = 1; i < NDN_FACES; i++)
		if (!number_find(d, i))
			return (uint8_t)i;
	return NDN_FACE_NONE;
}

/* Refuse a second face for one sender: packets could belong to either. */
static int same_sender_check(struct tribd *d, const struct face *f, uint16_t port,
			     struct reason *why)
{
	const struct face *g;

	TAILQ_FOREACH(g, &d->faces, link) {
		if (g == f || !g->ndn || g->port != f->port || g->ndn->port != port ||
		    g->vlan[0] != f->vlan[0])
			continue;
		if (port ? !memcmp(&g->addr, &f->addr, sizeof(f->addr))
			 : (g->mac_known && f->mac_known && !memcmp(g->mac, f->mac, 6)))
			return reason_set(why, -EEXIST,
					  "face %s: face %s has the same address and ndn-port %u",
					  f->name, g->name, port);
	}
	return 0;
}

/* Check that @f can be a face of the forwarder. */
static int shape_check(struct tribd *d, const struct face *f, uint16_t port, struct reason *why)
{
	char text[INET6_ADDRSTRLEN];

	if (f->vlan[1])
		return reason_set(
			why, -EINVAL,
			"face %s has an inner vlan %u: ndn needs a face with one tag at most",
			f->name, f->vlan[1]);
	if (addr_is_multicast(&f->addr))
		return reason_set(why, -EINVAL,
				  "face %s: %s is a group address: ndn needs a neighbour's address",
				  f->name, addr_text(&f->addr, text));
	if (port && addr_is_zero(&f->addr))
		return reason_set(why, -EINVAL,
				  "face %s has no address: only ndn-port 0 needs none", f->name);
	return same_sender_check(d, f, port, why);
}

/* Before the face exists: may it do without an address? */
int ndnd_face_check(struct tribd *d, const struct face_spec *s, struct reason *why)
{
	const struct ndnd_spec *n = s->ndn;

	(void)d;
	if (!addr_is_zero(&s->addr))
		return 0;
	if (!n || !n->has_kind || !n->kind || !n->has_port || n->port)
		return reason_set(
			why, -EINVAL,
			"address :: is not a neighbour's: only ndn faces with ndn-port 0 need none");
	if (!s->mac_given)
		return reason_set(why, -EINVAL, "face %s has neither addr nor mac", s->name);
	return 0;
}

static struct ndnd_peer *peer_make(const struct ndnd_spec *s, const struct ndnd_peer *old)
{
	struct ndnd_peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->kind = s->kind;
	p->port = s->port;
	p->n = s->n;
	if (old) {
		p->number = old->number;
		p->routes = old->routes;
	}
	if (!s->n)
		return p;
	p->prefix = calloc(s->n, sizeof(*p->prefix));
	if (!p->prefix) {
		free(p);
		return NULL;
	}
	memcpy(p->prefix, s->prefix, s->n * sizeof(*p->prefix));
	return p;
}

void ndnd_peer_free(struct tribd *d, struct ndnd_peer *p)
{
	if (!p)
		return;
	if (d->ndn)
		d->ndn->nprefixes -= p->n;
	free(p->prefix);
	free(p);
}

/* Make the new peer of @f, changed by @s. *@out NULL: @f has none any more. */
static int peer_prepare(struct tribd *d, const struct face *f, const struct ndnd_spec *s,
			struct ndnd_peer **out, struct reason *why)
{
	struct ndnd *fw = d->ndn;
	struct ndnd_spec *now = malloc(sizeof(*now));
	int err;

	*out = NULL;
	if (!now)
		return reason_set(why, -ENOMEM, "no memory");
	*now = *s;
	err = ndnd_spec_apply(f->ndn, now, why);
	if (err || !now->kind)
		goto out;
	err = shape_check(d, f, now->port, why);
	if (!err && fw->nprefixes + now->n > NDND_RIGHTS_MAX)
		err = reason_set(why, -ENOSPC, "all faces together have more than %u prefixes",
				 NDND_RIGHTS_MAX);
	if (err)
		goto out;
	*out = peer_make(now, f->ndn);
	if (!*out) {
		err = reason_set(why, -ENOMEM, "no memory");
		goto out;
	}
	fw->nprefixes += now->n;
	if (!f->ndn)
		(*out)->number = s->number && s->number < NDN_FACES && !number_find(d, s->number)
					 ? (uint8_t)s->number
					 : number_free(d);
	if (!(*out)->number) {
		err = reason_set(why, -ENOSPC, "all %u ndn faces are in use", NDN_FACES - 1);
		ndnd_peer_free(d, *out);
	}
out:
	free(now);
	return err;
}

int ndnd_face_add(struct tribd *d, struct face *f, const struct ndnd_spec *s, struct reason *why)
{
	struct ndnd_peer *p;
	int err = peer_prepare(d, f, s, &p, why);

	if (!err)
		f->ndn = p;
	return err;
}

/* Without --ndn routes cannot be deleted first: they go with the face. */
int ndnd_face_del_check(struct tribd *d, const struct face *f, struct reason *why)
{
	if (!f->ndn || !f->ndn->routes || !d->ndn->on)
		return 0;
	return reason_set(why, -EBUSY, "face %s is used by %u route%s: delete them first", f->name,
			  f->ndn->routes, f->ndn->routes == 1 ? "" : "s");
}

/* Update the maps after @f->ndn replaced @old. Frees @old. */
static void peer_changed(struct tribd *d, struct face *f, struct ndnd_peer *old)
{
	static const struct ndnd_peer none;
	const struct ndnd_peer *was = old ? old : &none;
	const struct ndnd_peer *now = f->ndn ? f->ndn : &none;

	if (d->ndn && d->ndn->on) {
		ndnd_rights_store(d, f->ndn ? f->ndn->number : was->number, was->prefix, was->n,
				  now->prefix, now->n);
		ndnd_rows_settle(d);
		if (old && !f->ndn) {
			bpf_quiesce(d);
			ndnd_pit_forget_face(d, old->number);
		}
	}
	ndnd_peer_free(d, old);
}

void ndnd_face_added(struct tribd *d, struct face *f)
{
	if (f->ndn)
		peer_changed(d, f, NULL);
}

int ndnd_face_set(struct tribd *d, struct face *f, const struct ndnd_spec *s, struct reason *why)
{
	struct ndnd_peer *old, *now;
	int err;

	if (s->has_kind && !s->kind) {
		err = ndnd_face_del_check(d, f, why);
		if (!err && addr_is_zero(&f->addr))
			err = reason_set(
				why, -EINVAL,
				"face %s has no address, so it needs its ndn role: delete the face instead",
				f->name);
		if (err)
			return err;
	}
	err = peer_prepare(d, f, s, &now, why);
	if (err)
		return err;
	old = f->ndn;
	f->ndn = now;
	err = hooks_save(d, why);
	if (err) {
		f->ndn = old;
		ndnd_peer_free(d, now);
		return err;
	}
	peer_changed(d, f, old);
	return 0;
}

void ndnd_face_del(struct tribd *d, struct face *f)
{
	struct ndnd_peer *old = f->ndn;

	if (!old)
		return;
	ndnd_routes_drop(d, f);
	f->ndn = NULL;
	peer_changed(d, f, old);
}
