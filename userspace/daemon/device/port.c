// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports: their records, the row of the ports map, and the order in which link,
 * filters and row come and go.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "clsact.h"
#include "local.h"
#include "port.h"

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
}

static const char *link_pin(const struct tribd *d, uint32_t ifindex, char buf[192])
{
	char name[32];

	snprintf(name, sizeof(name), PIN_LINK "%u", ifindex);
	return pin_path(d, name, buf);
}

/* --- the XDP link */

static int link_create(struct tribd *d, uint32_t ifindex, uint32_t flags)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);

	return bpf_link_create(d->prog[PROG_XDP], (int)ifindex, BPF_XDP, &opts);
}

/*
 * bpf_link_create() returns only an errno. The older netlink call makes the
 * same attempt and returns the driver's message.
 */
static void native_reason(struct tribd *d, struct port *p, int err)
{
	uint32_t flags = XDP_FLAGS_DRV_MODE | XDP_FLAGS_UPDATE_IF_NOEXIST;

	bpf_complaint_clear();
	if (!bpf_xdp_attach((int)p->ifindex, d->prog[PROG_XDP], flags, NULL))
		bpf_xdp_detach((int)p->ifindex, XDP_FLAGS_DRV_MODE, NULL);
	snprintf(p->reason, sizeof(p->reason), "%s (%.100s)", strerror(-err),
		 bpf_complaint()[0] ? bpf_complaint() : "no further reason");
}

static int link_attach(struct tribd *d, struct port *p, struct reason *why)
{
	char path[192];
	int err;

	p->reason[0] = 0;
	p->mode = TRIB_XDP_MODE_NATIVE;
	p->link_fd = link_create(d, p->ifindex, XDP_FLAGS_DRV_MODE);
	if (p->link_fd < 0) {
		native_reason(d, p, -errno);
		p->mode = TRIB_XDP_MODE_GENERIC;
		p->link_fd = link_create(d, p->ifindex, XDP_FLAGS_SKB_MODE);
	}
	if (p->link_fd < 0) {
		err = -errno;
		p->mode = TRIB_XDP_MODE_NONE;
		return reason_set(why, err, "cannot attach XDP to %s: native: %s; generic: %s",
				  p->ifname, p->reason, strerror(-err));
	}
	if (p->mode == TRIB_XDP_MODE_GENERIC)
		log_warn("%s: generic XDP, slower, because native mode failed: %s", p->ifname,
			 p->reason);
	else
		log_info("%s: native XDP", p->ifname);
	link_pin(d, p->ifindex, path);
	unlink(path);
	if (bpf_obj_pin(p->link_fd, path)) {
		err = -errno;
		return reason_set(why, err, "cannot pin %s: %s", path, strerror(-err));
	}
	return 0;
}

/* -ENOENT: no link of ours on this device. */
static int link_adopt(struct tribd *d, struct port *p)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	char path[192];
	int fd, err;

	fd = bpf_obj_get(link_pin(d, p->ifindex, path));
	if (fd < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_LINK_TYPE_XDP ||
	    info.xdp.ifindex != p->ifindex || bpf_xdp_query((int)p->ifindex, 0, &q))
		goto stale;
	if (bpf_link_update(fd, d->prog[PROG_XDP], NULL)) {
		log_warn("%s: cannot update the program of its XDP link: %s; attaches anew",
			 p->ifname, strerror(errno));
		goto stale;
	}
	p->link_fd = fd;
	p->mode = q.skb_prog_id ? TRIB_XDP_MODE_GENERIC : TRIB_XDP_MODE_NATIVE;
	return 0;
stale:
	err = bpf_link_detach(fd);
	close(fd);
	unlink(path);
	log_debug("%s: stale link removed (%d)", p->ifname, err);
	return -ENOENT;
}

static void link_drop(struct tribd *d, struct port *p)
{
	char path[192];

	if (p->link_fd < 0)
		return;
	bpf_link_detach(p->link_fd);
	close(p->link_fd);
	p->link_fd = -1;
	p->mode = TRIB_XDP_MODE_NONE;
	unlink(link_pin(d, p->ifindex, path));
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

/* --- all of it */

int port_attach(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why)
{
	int err;

	p->ifindex = dev->ifindex;
	p->mtu = dev->mtu;
	memcpy(p->mac, dev->mac, sizeof(p->mac));
	err = link_adopt(d, p);
	if (err)
		err = link_attach(d, p, why);
	if (err)
		goto fail;
	err = clsact_attach(d, p);
	if (err) {
		reason_set(why, err, "cannot attach the clsact filter to %s: %s (%s)", p->ifname,
			   strerror(-err), bpf_complaint());
		goto fail;
	}
	err = row_set(d, p);
	if (!err)
		return 0;
	reason_set(why, err, "cannot enter %s into the ports map: %s", p->ifname,
		   err == -E2BIG ? "it is full" : strerror(-err));
fail:
	port_detach(d, p);
	return err;
}

void port_detach(struct tribd *d, struct port *p)
{
	row_clear(d, p);
	clsact_detach(d, p);
	link_drop(d, p);
	p->ifindex = 0;
}

void port_lost(struct tribd *d, struct port *p)
{
	char path[192];

	log_warn("%s: the device is gone; faces wait until it is back", p->ifname);
	row_clear(d, p);
	unlink(link_pin(d, p->ifindex, path));
	port_close(p);
	p->mode = TRIB_XDP_MODE_NONE;
	p->clsact = p->clsact_ours = false;
	p->ifindex = 0;
	snprintf(p->reason, sizeof(p->reason), "the device is gone");
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
