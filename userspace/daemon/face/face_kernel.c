// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faces and the kernel: addresses come from its routes and neighbour table and
 * follow its news; hooks report every change.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/device/port_check.h"
#include "daemon/device/rtnl.h"
#include "face.h"

#define PROBE_FIRST_MS 200
#define PROBE_MAX_MS 30000

/* Find the device that IP uses for @f: the port, or a VLAN device over it. */
static int l3_device(struct tribd *d, const struct face *f, struct netdev *dev, struct reason *why)
{
	int i, err;

	err = rtnl_dev(d, NULL, f->port->ifindex, dev);
	for (i = 0; !err && i < 2 && f->vlan[i]; i++) {
		err = rtnl_vlan_dev(d, dev->ifindex, f->vlan[i], dev);
		if (err == -ENODEV)
			return reason_set(
				why, err,
				"no VLAN device with tag %u over %s: make one, because tribd sends control packets through it",
				f->vlan[i], f->port->ifname);
	}
	return err ? reason_set(why, err, "%s: %s", f->port->ifname, strerror(-err)) : 0;
}

static void multicast_mac(struct face *f)
{
	const uint8_t *a = f->addr.s6_addr;

	if (addr_is_v4(&f->addr)) {
		uint8_t mac[6] = {0x01, 0x00, 0x5e, a[13] & 0x7f, a[14], a[15]};

		memcpy(f->mac, mac, 6);
	} else {
		uint8_t mac[6] = {0x33, 0x33, a[12], a[13], a[14], a[15]};

		memcpy(f->mac, mac, 6);
	}
	f->mac_known = true;
}

static void face_route(struct tribd *d, struct face *f)
{
	struct in6_addr src, via;

	f->next_hop = f->addr;
	if (addr_is_zero(&f->addr) || rtnl_route(d, &f->addr, f->l3_ifindex, &src, &via))
		return;
	f->next_hop = via;
	if (f->local_given || addr_is_zero(&src))
		return;
	f->local = src;
	f->local_known = true;
}

/* Find the LOCAL face, by which this host's own contributions come in. */
static const struct face *local_face(struct tribd *d)
{
	const struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (!strcmp(f->port->ifname, TRIB_LOCAL_PORT))
			return f;
	return NULL;
}

/*
 * A route to this neighbour that leads over another one means a dead link. The
 * far end of the LOCAL pair then forwards the packets of XDP.
 */
static void face_detour(struct tribd *d, struct face *f)
{
	const struct face *local = local_face(d);
	uint32_t oif;

	f->around = NULL;
	if (!local || local->port == f->port || addr_is_zero(&f->addr) ||
	    addr_is_multicast(&f->addr) || rtnl_route_dev(d, &f->addr, &oif) ||
	    oif == f->l3_ifindex)
		return;
	f->around = local;
}

/* A known MAC address stays until another is heard: XDP needs no live entry. */
static void face_neighbour(struct tribd *d, struct face *f)
{
	if (f->mac_given)
		return;
	if (addr_is_multicast(&f->addr)) {
		multicast_mac(f);
		return;
	}
	if (rtnl_neigh(d, f->l3_ifindex, &f->next_hop, f->mac) == 0)
		f->mac_known = true;
	else if (!f->mac_known)
		rtnl_probe(d, f->l3_ifindex, &f->next_hop);
}

void face_resolve(struct tribd *d, struct face *f, struct reason *why)
{
	struct netdev dev;

	f->l3_ifindex = 0;
	if (!f->port->ifindex || l3_device(d, f, &dev, why))
		return;
	f->l3_ifindex = dev.ifindex;
	memcpy(f->local_mac, dev.mac, 6);
	face_route(d, f);
	face_neighbour(d, f);
	face_detour(d, f);
}

/* Resolve, and report a difference. */
static void face_update(struct tribd *d, struct face *f)
{
	struct face old = *f;

	face_resolve(d, f, NULL);
	if (old.mac_known != f->mac_known && f->mac_known)
		log_debug("face %s: MAC address found", f->name);
	if (old.around != f->around)
		log_info("face %s: %s", f->name,
			 f->around ? "its link is dead: packets make a detour"
				   : "its link is back");
	if (old.around != f->around || memcmp(old.mac, f->mac, 6) ||
	    old.mac_known != f->mac_known || memcmp(old.local_mac, f->local_mac, 6) ||
	    memcmp(&old.local, &f->local, sizeof(f->local)) || old.local_known != f->local_known)
		d->hooks->face_changed(d, f);
}

/* --- asking for MAC addresses until they are known */

static void probe_run(struct tribd *d, struct timer *t)
{
	uint32_t next = 0;
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link) {
		if (f->mac_given || f->mac_known || !f->port->ifindex)
			continue;
		face_update(d, f);
		if (f->mac_known)
			continue;
		f->probe_ms = f->probe_ms ? f->probe_ms * 2 : PROBE_FIRST_MS;
		if (f->probe_ms > PROBE_MAX_MS)
			f->probe_ms = PROBE_MAX_MS;
		if (!next || f->probe_ms < next)
			next = f->probe_ms;
	}
	d->hooks->faces_settled(d);
	if (next)
		timer_set(d, t, next);
}

static struct timer probe_timer = {.fn = probe_run};

void face_probe_soon(struct tribd *d)
{
	timer_set(d, &probe_timer, PROBE_FIRST_MS);
}

void face_probe_stop(struct tribd *d)
{
	timer_cancel(d, &probe_timer);
}

/* --- news from rtnl.c */

/* Callers of these two call faces_settled(). */
static void port_back(struct tribd *d, struct port *p, const struct netdev *dev)
{
	struct reason why = {};
	struct face *f;

	if (port_attach(d, p, dev, &why)) {
		log_error("%s: %s", p->ifname, why.text);
		snprintf(p->reason, sizeof(p->reason), "%.150s", why.text);
	}
	/* Rows need the new ifindex, attached or not. */
	p->ifindex = dev->ifindex;
	TAILQ_FOREACH(f, &d->faces, link) {
		if (f->port != p)
			continue;
		f->probe_ms = 0;
		face_resolve(d, f, NULL);
		d->hooks->face_changed(d, f);
	}
	face_probe_soon(d);
}

static void port_gone(struct tribd *d, struct port *p)
{
	struct face *f;

	port_lost(d, p);
	TAILQ_FOREACH(f, &d->faces, link) {
		if (f->port != p)
			continue;
		f->l3_ifindex = 0;
		if (!f->mac_given && !addr_is_multicast(&f->addr))
			f->mac_known = false;
		d->hooks->face_changed(d, f);
	}
}

/* The next tribd looks for the device by this name. */
static void port_renamed(struct tribd *d, struct port *p, const char *name)
{
	log_info("%s: the device is called %s now", p->ifname, name);
	snprintf(p->ifname, sizeof(p->ifname), "%s", name);
	hooks_save(d, NULL);
}

/* Drivers refuse native mode at a large MTU; another one may do. */
static void port_upgrade(struct tribd *d, struct port *p, const struct netdev *dev)
{
	struct reason why = {};

	if (port_attach_anew(d, p, dev, &why)) {
		log_error("%s: %s", p->ifname, why.text);
		snprintf(p->reason, sizeof(p->reason), "%.150s", why.text);
	}
	p->ifindex = dev->ifindex;
	if (p->mode != TRIB_XDP_MODE_GENERIC)
		d->hooks->port_changed(d, p);
}

static void port_follow(struct tribd *d, struct port *p, const struct netdev *dev)
{
	bool other_mtu = p->mtu != dev->mtu;

	if (strcmp(p->ifname, dev->name))
		port_renamed(d, p, dev->name);
	p->mtu = dev->mtu;
	memcpy(p->mac, dev->mac, 6);
	if (other_mtu && p->mode == TRIB_XDP_MODE_GENERIC)
		port_upgrade(d, p, dev);
}

void face_device_changed(struct tribd *d, const struct netdev *dev, bool gone)
{
	struct port *p;
	struct face *f;

	TAILQ_FOREACH(p, &d->ports, link) {
		if (gone && p->ifindex == dev->ifindex) {
			port_gone(d, p);
			d->hooks->faces_settled(d);
			return;
		}
		if (!p->ifindex && !gone && !strcmp(p->ifname, dev->name)) {
			log_info("%s: the device is back", p->ifname);
			port_back(d, p, dev);
			d->hooks->faces_settled(d);
			return;
		}
		if (gone || p->ifindex != dev->ifindex)
			continue;
		port_follow(d, p, dev);
		port_check_soon(d, p);
	}
	/* A VLAN device came, went, or has another MAC address. */
	TAILQ_FOREACH(f, &d->faces, link)
		if (f->l3_ifindex == dev->ifindex || (f->vlan[0] && !f->l3_ifindex))
			face_update(d, f);
	d->hooks->faces_settled(d);
}

void face_port_changed(struct tribd *d, struct port *p)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (face_port(f) == p || f->port == p)
			d->hooks->face_changed(d, f);
	d->hooks->faces_settled(d);
}

void face_neighbour_changed(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr,
			    const uint8_t mac[6])
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link) {
		if (f->mac_given || f->l3_ifindex != ifindex ||
		    memcmp(&f->next_hop, addr, sizeof(*addr)) ||
		    (f->mac_known && !memcmp(f->mac, mac, 6)))
			continue;
		if (f->mac_known)
			log_info("face %s: the peer has another MAC address", f->name);
		memcpy(f->mac, mac, 6);
		f->mac_known = true;
		d->hooks->face_changed(d, f);
	}
	d->hooks->faces_settled(d);
}

void face_routes_changed(struct tribd *d)
{
	struct face *f;
	struct port *p;
	struct netdev dev;
	int err;

	/* News may have been lost: look for devices, too. */
	TAILQ_FOREACH(p, &d->ports, link) {
		err = p->ifindex ? rtnl_dev(d, NULL, p->ifindex, &dev) : 0;
		if (err == -ENODEV)
			port_gone(d, p);
		else if (p->ifindex && !err)
			port_follow(d, p, &dev);
		if (!p->ifindex && !rtnl_dev(d, p->ifname, 0, &dev))
			port_back(d, p, &dev);
	}
	TAILQ_FOREACH(f, &d->faces, link)
		face_update(d, f);
	d->hooks->faces_settled(d);
}
