// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports: their records, the row of the ports map, and the order in which link,
 * filters and row come and go.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "clsact.h"
#include "local.h"
#include "port.h"
#include "spread.h"
#include "xdp_link.h"

struct port *port_find(struct tribd *d, const char *ifname)
{
	struct port *p;

	TAILQ_FOREACH(p, &d->ports, link)
		if (!strcmp(p->ifname, ifname))
			return p;
	return NULL;
}

struct port *port_make(struct tribd *d, const char *ifname)
{
	struct port *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	snprintf(p->ifname, sizeof(p->ifname), "%s", ifname);
	p->link_fd = -1;
	/* A device that is gone is reported when it is looked up. */
	if (!strcmp(ifname, TRIB_LOCAL_PORT))
		local_make(d);
	TAILQ_INSERT_TAIL(&d->ports, p, link);
	return p;
}

void port_release(struct tribd *d, struct port *p)
{
	port_detach(d, p);
	if (!strcmp(p->ifname, TRIB_LOCAL_PORT))
		local_remove(d);
	TAILQ_REMOVE(&d->ports, p, link);
	free(p);
	spread_fit(d);
}

/* --- the row of ports: answers through native ports need it */

static int row_set(struct tribd *d, struct port *p)
{
	struct bpf_devmap_val v = {
		.ifindex = p->ifindex,
		.bpf_prog.fd = d->prog[PROG_EGRESS],
	};

	if (p->mode != TRIB_XDP_MODE_NATIVE)
		return 0;
	return bpf_map_update_elem(d->map[MAP_PORTS], &p->ifindex, &v, BPF_ANY) ? -errno : 0;
}

static void row_clear(struct tribd *d, struct port *p)
{
	if (p->ifindex)
		bpf_map_delete_elem(d->map[MAP_PORTS], &p->ifindex);
}

static bool row_is_ours(struct tribd *d, const struct port *p)
{
	struct bpf_devmap_val v;

	return p->mode != TRIB_XDP_MODE_NATIVE ||
	       (!bpf_map_lookup_elem(d->map[MAP_PORTS], &p->ifindex, &v) &&
		v.bpf_prog.id == bpf_prog_id(d->prog[PROG_EGRESS]));
}

/* --- all of it */

unsigned int port_lacks(struct tribd *d, const struct port *p, bool filters)
{
	unsigned int lacks = xdp_link_is_whole(d, p) ? 0 : PORT_LACKS_XDP;

	if (!lacks && !row_is_ours(d, p))
		lacks |= PORT_LACKS_ROW;
	return filters ? lacks | clsact_lacks(d, p) : lacks;
}

int port_attach(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why)
{
	int err;

	p->ifindex = dev->ifindex;
	p->mtu = dev->mtu;
	memcpy(p->mac, dev->mac, sizeof(p->mac));
	err = xdp_link_adopt(d, p);
	if (err)
		err = xdp_link_attach(d, p, why);
	if (err)
		goto fail;
	err = clsact_attach(d, p);
	if (err) {
		reason_set(why, err, "cannot attach the clsact filter to %s: %s (%s)", p->ifname,
			   strerror(-err), bpf_complaint());
		goto fail;
	}
	err = row_set(d, p);
	if (!err) {
		spread_fit(d);
		return 0;
	}
	reason_set(why, err, "cannot enter %s into the ports map: %s", p->ifname,
		   err == -E2BIG ? "it is full" : strerror(-err));
fail:
	port_detach(d, p);
	return err;
}

int port_attach_anew(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why)
{
	xdp_link_drop(d, p);
	return port_attach(d, p, dev, why);
}

void port_detach(struct tribd *d, struct port *p)
{
	row_clear(d, p);
	clsact_detach(d, p);
	xdp_link_drop(d, p);
	p->ifindex = 0;
}

void port_lost(struct tribd *d, struct port *p)
{
	char path[192];

	log_warn("%s: the device is gone; faces wait until it is back", p->ifname);
	row_clear(d, p);
	unlink(xdp_link_pin(d, p->ifindex, path));
	port_close(p);
	p->mode = TRIB_XDP_MODE_NONE;
	p->clsact = p->clsact_ours = false;
	p->ifindex = 0;
	snprintf(p->reason, sizeof(p->reason), "the device is gone");
	/* The pair is ours to make; news of it follow. */
	if (!strcmp(p->ifname, TRIB_LOCAL_PORT))
		local_make(d);
}

void port_close(struct port *p)
{
	if (p->link_fd >= 0)
		close(p->link_fd);
	p->link_fd = -1;
}

static bool link_named(struct tribd *d, uint32_t ifindex)
{
	struct port *p;

	TAILQ_FOREACH(p, &d->ports, link)
		if (p->ifindex == ifindex && p->link_fd >= 0)
			return true;
	return false;
}

void port_prune_links(struct tribd *d)
{
	DIR *dir = opendir(d->pin_dir);
	struct dirent *e;
	char path[192];
	unsigned int ifindex;
	int fd;

	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, PIN_LINK "%u", &ifindex) != 1 || link_named(d, ifindex))
			continue;
		pin_path(d, e->d_name, path);
		fd = bpf_obj_get(path);
		if (fd >= 0) {
			bpf_link_detach(fd);
			close(fd);
		}
		unlink(path);
		log_info("removed the link to device %u, which is gone or unused", ifindex);
	}
	if (dir)
		closedir(dir);
}

static int purge_one(const struct netdev *dev, void *arg)
{
	clsact_purge(arg, dev->ifindex, dev->name);
	return 0;
}

int port_purge_filters(struct tribd *d)
{
	local_remove(d);
	return rtnl_each_dev(d, purge_one, d);
}
