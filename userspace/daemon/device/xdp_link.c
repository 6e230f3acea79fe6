// SPDX-License-Identifier: BSD-2-Clause
/*
 * The XDP link of a port: native, else generic, with the kernel's reason. It is
 * pinned, so it stays when tribd ends. The next tribd takes a native link over, and
 * tries native mode again where the link is generic.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "xdp_link.h"

const char *xdp_link_pin(const struct tribd *d, uint32_t ifindex, char buf[192])
{
	char name[32];

	snprintf(name, sizeof(name), PIN_LINK "%u", ifindex);
	return pin_path(d, name, buf);
}

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

/* Name the program of somebody else that has the hook. False: there is none. */
static bool held(struct port *p, struct reason *why)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info), id;
	int fd;

	if (bpf_xdp_query((int)p->ifindex, 0, &q))
		return false;
	id = q.drv_prog_id ? q.drv_prog_id : q.skb_prog_id ? q.skb_prog_id : q.hw_prog_id;
	if (!id)
		return false;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd >= 0) {
		bpf_obj_get_info_by_fd(fd, &info, &len);
		close(fd);
	}
	reason_set(why, -EBUSY, "cannot attach XDP to %s: another program has the hook: %s, id %u",
		   p->ifname, info.name[0] ? info.name : "without a name", id);
	return true;
}

int xdp_link_attach(struct tribd *d, struct port *p, struct reason *why)
{
	char path[192];
	int err;

	p->reason[0] = 0;
	p->mode = TRIB_XDP_MODE_NATIVE;
	p->link_fd = link_create(d, p->ifindex, XDP_FLAGS_DRV_MODE);
	if (p->link_fd < 0) {
		err = -errno;
		if (held(p, why)) {
			p->mode = TRIB_XDP_MODE_NONE;
			return -EBUSY;
		}
		native_reason(d, p, err);
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
	xdp_link_pin(d, p->ifindex, path);
	unlink(path);
	if (bpf_obj_pin(p->link_fd, path)) {
		err = -errno;
		return reason_set(why, err, "cannot pin %s: %s", path, strerror(-err));
	}
	return 0;
}

int xdp_link_adopt(struct tribd *d, struct port *p)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	char path[192];
	int fd = p->link_fd, err;
	bool pinned = fd < 0;

	xdp_link_pin(d, p->ifindex, path);
	if (pinned)
		fd = bpf_obj_get(path);
	p->link_fd = -1;
	if (fd < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) || info.type != BPF_LINK_TYPE_XDP ||
	    info.xdp.ifindex != p->ifindex || bpf_xdp_query((int)p->ifindex, 0, &q))
		goto stale;
	/* Native mode may be possible by now; the kernel refuses it beside generic mode. */
	if (pinned && q.skb_prog_id)
		goto stale;
	if (bpf_link_update(fd, d->prog[PROG_XDP], NULL)) {
		log_warn("%s: cannot update the program of its XDP link: %s; attaches anew",
			 p->ifname, strerror(errno));
		goto stale;
	}
	if (access(path, F_OK) && bpf_obj_pin(fd, path))
		log_warn("%s: cannot pin its XDP link again: %s", p->ifname, strerror(errno));
	p->link_fd = fd;
	p->mode = q.skb_prog_id ? TRIB_XDP_MODE_GENERIC : TRIB_XDP_MODE_NATIVE;
	return 0;
stale:
	err = bpf_link_detach(fd);
	close(fd);
	unlink(path);
	log_debug("%s: link removed, attaches anew (%d)", p->ifname, err);
	return -ENOENT;
}

bool xdp_link_is_whole(struct tribd *d, const struct port *p)
{
	struct bpf_link_info info = {};
	uint32_t len = sizeof(info);
	char path[192];

	return p->link_fd >= 0 && !bpf_obj_get_info_by_fd(p->link_fd, &info, &len) &&
	       info.xdp.ifindex == p->ifindex && info.prog_id == bpf_prog_id(d->prog[PROG_XDP]) &&
	       !access(xdp_link_pin(d, p->ifindex, path), F_OK);
}

void xdp_link_drop(struct tribd *d, struct port *p)
{
	char path[192];

	if (p->link_fd < 0)
		return;
	bpf_link_detach(p->link_fd);
	close(p->link_fd);
	p->link_fd = -1;
	p->mode = TRIB_XDP_MODE_NONE;
	unlink(xdp_link_pin(d, p->ifindex, path));
}
