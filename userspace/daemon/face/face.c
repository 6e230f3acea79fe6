// SPDX-License-Identifier: BSD-2-Clause
/* Faces: how they are made, changed, restored and removed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "face_attr.h"
#include "daemon/device/rtnl.h"

static struct face *face_make(struct tribd *d, const struct face_spec *s)
{
	struct face *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->port = port_find(d, s->ifname);
	if (!f->port)
		f->port = port_make(d, s->ifname);
	if (!f->port) {
		free(f);
		return NULL;
	}
	f->port->faces++;
	face_attr_copy(f, s);
	f->next_hop = f->addr;
	f->local_known = f->local_given;
	f->mac_known = f->mac_given;
	TAILQ_INSERT_TAIL(&d->faces, f, link);
	d->nfaces++;
	d->generation++;
	return f;
}

static void face_free(struct tribd *d, struct face *f)
{
	struct port *p = f->port;
	struct face *other;

	TAILQ_REMOVE(&d->faces, f, link);
	TAILQ_FOREACH(other, &d->faces, link) {
		if (other->around != f)
			continue;
		other->around = NULL;
		d->hooks->face_changed(d, other);
	}
	d->nfaces--;
	d->generation++;
	d->hooks->face_free(d, f);
	free(f);
	if (!--p->faces)
		port_release(d, p);
}

/* Check that the device exists, is Ethernet, and has room for our packets. */
static int device_check(struct tribd *d, const struct face *f, struct netdev *dev,
			struct reason *why)
{
	/*
	 * A face without an address serves NDN only, which knows the face's
	 * MTU.
	 */
	uint32_t need = addr_is_zero(&f->addr) ? 0 : face_mtu_needed(d, f);
	int err = rtnl_dev(d, f->port->ifname, 0, dev);

	if (err)
		return reason_set(why, err, "device %s: %s%s", f->port->ifname, strerror(-err),
				  err == -ENODEV ? ": see 'ip -br link' here" : "");
	if (!dev->ether)
		return reason_set(why, -EINVAL,
				  "device %s is not an Ethernet device: XDP needs one",
				  f->port->ifname);
	if (dev->mtu < need)
		return reason_set(
			why, -EMSGSIZE,
			"device %s has MTU %u, but packets of %u values need %u: raise it, or use a smaller tribd --values",
			f->port->ifname, dev->mtu, d->config.nval, need);
	return 0;
}

static int face_bring_up(struct tribd *d, struct face *f, struct reason *why)
{
	char text[INET6_ADDRSTRLEN];
	struct netdev dev;
	int err = device_check(d, f, &dev, why);

	if (!err && f->port->link_fd < 0) {
		err = port_attach(d, f->port, &dev, why);
		/* On failure, older faces of the port continue without XDP. */
		if (err && f->port->faces > 1)
			f->port->ifindex = dev.ifindex;
	}
	if (err)
		return err;
	face_resolve(d, f, why);
	if (!f->l3_ifindex)
		return -ENODEV; /* l3_device() set @why */
	if (!f->local_known && !addr_is_zero(&f->addr))
		return reason_set(why, -EADDRNOTAVAIL,
				  "%s has no address towards %s: configure one, or give `local`",
				  f->port->ifname, addr_text(&f->addr, text));
	return 0;
}

int face_new(struct tribd *d, struct face_spec *s, struct reason *why)
{
	struct face *f;
	int err = face_check(d, s, why);

	if (err)
		return err;
	f = face_make(d, s);
	if (!f)
		return reason_set(why, -ENOMEM, "no memory");
	err = face_bring_up(d, f, why);
	if (!err && s->ndn)
		err = d->hooks->face_add(d, f, s, why);
	if (!err)
		err = hooks_save(d, why);
	if (err) {
		face_free(d, f);
		return err;
	}
	if (!f->mac_known)
		face_probe_soon(d);
	d->hooks->face_added(d, f);
	return 0;
}

int face_restore(struct tribd *d, struct face_spec *s, struct reason *why)
{
	int err = face_check(d, s, why);
	struct face *f;

	if (err)
		return err;
	f = face_make(d, s);
	if (!f)
		return reason_set(why, -ENOMEM, "no memory");
	return s->ndn ? d->hooks->face_add(d, f, s, why) : 0;
}

void face_restore_done(struct tribd *d)
{
	struct netdev dev;
	struct port *p;
	struct face *f;

	TAILQ_FOREACH(p, &d->ports, link) {
		struct reason why = {};

		if (rtnl_dev(d, p->ifname, 0, &dev)) {
			log_warn("%s: no such device; faces wait until it comes", p->ifname);
			snprintf(p->reason, sizeof(p->reason), "the device is gone");
			continue;
		}
		if (port_attach(d, p, &dev, &why)) {
			log_error("%s", why.text);
			snprintf(p->reason, sizeof(p->reason), "%.150s", why.text);
			p->ifindex = dev.ifindex;
		}
	}
	port_prune_links(d);
	TAILQ_FOREACH(f, &d->faces, link)
		face_resolve(d, f, NULL);
	face_probe_soon(d);
}

int face_set(struct tribd *d, const struct face_spec *s, struct nlattr *const *tb,
	     struct reason *why)
{
	struct face *f = face_find(d, s->name), old;
	int err;

	if (!f)
		return reason_set(why, -ENOENT, "no face %s", s->name);
	old = *f;
	face_attr_change(f, s, tb);
	err = s->ndn ? d->hooks->face_set(d, f, s, why) : hooks_save(d, why);
	if (err)
		*f = old;
	else if (old.forward != f->forward || memcmp(&old.watch, &f->watch, sizeof(f->watch)))
		d->hooks->faces_settled(d);
	return err;
}

int face_del(struct tribd *d, const char *name, struct reason *why)
{
	struct face *f = face_find(d, name);
	int err;

	if (!f)
		return reason_set(why, -ENOENT, "no face %s", name);
	if (f->trees)
		return reason_set(why, -EBUSY, "face %s is used by %u tree%s: delete them first",
				  name, f->trees, f->trees == 1 ? "" : "s");
	err = d->hooks->face_del_check(d, f, why);
	if (err)
		return err;
	/* Nothing can fail after this step. */
	err = hooks_save_without(d, f, why);
	if (err)
		return err;
	d->hooks->face_del(d, f);
	face_free(d, f);
	return 0;
}

void face_free_all(struct tribd *d)
{
	struct face *f;
	struct port *p;

	face_probe_stop(d);
	while ((f = TAILQ_FIRST(&d->faces))) {
		TAILQ_REMOVE(&d->faces, f, link);
		d->hooks->face_free(d, f);
		free(f);
	}
	while ((p = TAILQ_FIRST(&d->ports))) {
		TAILQ_REMOVE(&d->ports, p, link);
		port_close(p);
		free(p);
	}
}
