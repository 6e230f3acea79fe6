// SPDX-License-Identifier: BSD-2-Clause
/*
 * Doubles of the kernel and of other parts of tribd, for fuzz-netlink: devices
 * p0 to p7 exist, maps accept everything, all neighbours are known.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "daemon/attach/attach.h"
#include "daemon/attach/deliver.h"
#include "daemon/core/admin.h"
#include "daemon/device/clsact.h"
#include "daemon/load/bpf_load.h"
#include "daemon/job/claims.h"
#include "daemon/face/face.h"
#include "daemon/ndn/ndnd.h"
#include "daemon/device/port.h"
#include "daemon/device/port_check.h"
#include "daemon/device/rtnl.h"
#include "daemon/session/join.h"
#include "daemon/state/state.h"
#include "daemon/tree/tree.h"

/* Descriptors of the two maps that are read from end to end. */
#define FD_PIT (100 + NDND_MAP_PIT)
#define FD_CACHE (100 + NDND_MAP_CACHE)

void log_line(enum log_level level, const char *fmt, ...)
{
	(void)level;
	(void)fmt;
}

int reason_set(struct reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	text_one_line(why->text); /* as tribd does for its log */
	return err;
}

/* Root has all capabilities, others have none. */
int admin_by_netlink(pid_t pid, uid_t uid, uint32_t port, struct reason *why)
{
	(void)pid;
	(void)port;
	return uid ? reason_set(why, -EPERM, "no") : 0;
}

uint64_t loop_now(void)
{
	static uint64_t now;

	return now += 1000;
}

void timer_set(struct tribd *d, struct timer *t, uint32_t ms)
{
	(void)d;
	t->at_ns = 1 + ms;
}

void timer_cancel(struct tribd *d, struct timer *t)
{
	(void)d;
	t->at_ns = 0;
}

int loop_add(struct tribd *d, struct watch *w, uint32_t events)
{
	(void)d;
	(void)w;
	(void)events;
	return 0;
}

void loop_del(struct tribd *d, struct watch *w)
{
	(void)d;
	(void)w;
}

/* --- ports */

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
	TAILQ_INSERT_TAIL(&d->ports, p, link);
	return p;
}

void port_release(struct tribd *d, struct port *p)
{
	if (p->faces)
		return;
	TAILQ_REMOVE(&d->ports, p, link);
	free(p);
}

int port_attach(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why)
{
	(void)d;
	(void)why;
	p->ifindex = dev->ifindex;
	p->mtu = dev->mtu;
	p->mode = dev->ifindex & 1 ? TRIB_XDP_MODE_NATIVE : TRIB_XDP_MODE_GENERIC;
	return 0;
}

int port_attach_anew(struct tribd *d, struct port *p, const struct netdev *dev, struct reason *why)
{
	return port_attach(d, p, dev, why);
}

void port_lost(struct tribd *d, struct port *p)
{
	(void)d;
	p->ifindex = 0;
}

void port_close(struct port *p)
{
	(void)p;
}

void port_prune_links(struct tribd *d)
{
	(void)d;
}

void port_check_soon(struct tribd *d, struct port *p)
{
	(void)d;
	(void)p;
}

void port_check_filters(struct tribd *d, uint32_t ifindex)
{
	(void)d;
	(void)ifindex;
}

/* --- the kernel */

int rtnl_dev(struct tribd *d, const char *name, uint32_t ifindex, struct netdev *dev)
{
	(void)d;
	memset(dev, 0, sizeof(*dev));
	if (name && (name[0] != 'p' || name[1] < '0' || name[1] > '7' || name[2]))
		return -ENODEV;
	dev->ifindex = name ? 10u + (uint32_t)(name[1] - '0') : ifindex;
	snprintf(dev->name, sizeof(dev->name), "p%u", dev->ifindex % 10);
	dev->mtu = 1500;
	dev->ether = dev->up = true;
	return 0;
}

int rtnl_vlan_dev(struct tribd *d, uint32_t lower, uint16_t vlan, struct netdev *dev)
{
	int err = rtnl_dev(d, NULL, lower + 100, dev);

	dev->lower = lower;
	dev->vlan = vlan;
	return vlan & 1 ? err : -ENODEV;
}

int rtnl_route(struct tribd *d, const struct in6_addr *to, uint32_t oif, struct in6_addr *src,
	       struct in6_addr *via)
{
	(void)d;
	(void)oif;
	*src = *to;
	*via = *to;
	return 0;
}

int rtnl_route_dev(struct tribd *d, const struct in6_addr *to, uint32_t *oif)
{
	(void)d;
	*oif = to->s6_addr[15];
	return to->s6_addr[15] & 1 ? 0 : -ENOENT;
}

int rtnl_neigh(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr, uint8_t mac[6])
{
	(void)d;
	(void)ifindex;
	memcpy(mac, addr->s6_addr + 10, 6);
	return 0;
}

int rtnl_probe(struct tribd *d, uint32_t ifindex, const struct in6_addr *addr)
{
	(void)d;
	(void)ifindex;
	(void)addr;
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)fd;
	(void)key;
	(void)value;
	errno = ENOENT;
	return -1;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd;
	(void)key;
	(void)value;
	(void)flags;
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	(void)fd;
	(void)key;
	(void)next;
	errno = ENOENT;
	return -1;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	(void)fd;
	(void)key;
	return 0;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	(void)fd;
	(void)keys;
	(void)values;
	(void)count;
	(void)opts;
	return 0;
}

/* A map with one row of ones only, which BPF would never write. */
int bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	(void)in;
	(void)out;
	(void)opts;
	memset(keys, 0xff, 4);
	memset(values, 0xff, fd == FD_CACHE ? sizeof(struct ndn_kept) : sizeof(struct ndn_entry));
	if (fd == FD_PIT)
		((struct ndn_entry *)values)->flags = NDN_ENTRY_USED;
	*count = 1;
	errno = ENOENT;
	return -1;
}

int bpf_prog_test_run_opts(int fd, struct bpf_test_run_opts *opts)
{
	(void)fd;
	opts->retval = 0;
	return 0;
}

/* --- the NDN forwarder: as if it were loaded */

const char *const map_name[MAP__MAX];

void ndnd_clear(struct tribd *d)
{
	(void)d;
}

void ndnd_unload(struct tribd *d)
{
	(void)d;
}

int ndnd_miss_init(struct tribd *d)
{
	(void)d;
	return 0;
}

void ndnd_miss_exit(struct tribd *d)
{
	(void)d;
}

int libbpf_num_possible_cpus(void)
{
	return 2;
}

void bpf_quiesce(struct tribd *d)
{
	(void)d;
}

/* --- the rest of tribd */

int group_store(struct tribd *d, struct tree *t, bool fresh)
{
	(void)d;
	(void)t;
	(void)fresh;
	return 0;
}

void group_defer(void)
{
}

int group_flush(struct tribd *d)
{
	(void)d;
	return 0;
}

void group_clear(struct tribd *d, uint16_t tree)
{
	(void)d;
	(void)tree;
}

void group_sweep(struct tribd *d)
{
	(void)d;
}

int state_write(struct tribd *d, const void *object)
{
	(void)d;
	(void)object;
	return 0;
}

int deliver_tree_prepare(struct tribd *d, struct tree *t, bool adopted)
{
	(void)d;
	(void)adopted;
	t->row.deliver = t->id;
	return 0;
}

void deliver_tree_changed(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
}

uint64_t deliver_carried(struct tribd *d, const struct tree *t, const struct local *l)
{
	(void)d;
	(void)t;
	(void)l;
	return UINT64_MAX;
}

void deliver_tree_gone(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
}

int join_tree_added(struct tribd *d, struct tree *t, bool adopted)
{
	(void)d;
	(void)t;
	(void)adopted;
	return 0;
}

void join_tree_del(struct tree *t)
{
	(void)t;
}

void join_tree_free(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
}

void join_packet(struct tribd *d, const struct udp_packet *p)
{
	(void)d;
	(void)p;
}

void ways_faces_changed(struct tribd *d)
{
	(void)d;
}

void ways_routes_changed(struct tribd *d)
{
	(void)d;
}

void attach_tree_del(struct tribd *d, struct tree *t)
{
	(void)d;
	(void)t;
}

int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port, const void *data,
		size_t len)
{
	(void)d;
	(void)to;
	(void)port;
	(void)data;
	(void)len;
	return 0;
}

unsigned int attach_count(struct tribd *d, const struct job *job)
{
	(void)d;
	(void)job;
	return 0;
}

void claims_job_added(struct tribd *d, const struct job *j)
{
	(void)d;
	(void)j;
}

void claims_job_removed(struct tribd *d, const struct job *j)
{
	(void)d;
	(void)j;
}

void attach_job_del(struct tribd *d, struct job *job)
{
	(void)d;
	(void)job;
}
