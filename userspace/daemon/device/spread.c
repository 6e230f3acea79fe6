// SPDX-License-Identifier: BSD-2-Clause
/*
 * The number of CPUs that share the work of this relay, and for each of them the entry of the
 * map cpus: a kernel thread that runs trib_moved on frames which another CPU moved to it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/load/bpf_load.h"
#include "spread.h"

/* Frames that may wait for a CPU; more are dropped, and sent again. */
#define QUEUE 512

static bool ethtool(int fd, const char *ifname, void *request)
{
	struct ifreq r = {.ifr_data = request};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", ifname);
	return !ioctl(fd, SIOCETHTOOL, &r);
}

/* Receive queues of a veth; 1 if it is another kind of device, or unknown. */
static uint32_t veth_queues(const char *ifname)
{
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t n = 1;

	if (fd < 0)
		return 1;
	if (ethtool(fd, ifname, &driver) && !strcmp(driver.driver, "veth") &&
	    ethtool(fd, ifname, &channels))
		n = channels.rx_count + channels.combined_count;
	close(fd);
	return n ? n : 1;
}

static uint32_t cpus_usable(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > TRIB_SPREAD_MAX ? TRIB_SPREAD_MAX : (uint32_t)n;
}

/* The least queues of any port, but that of the ranks here. */
static uint32_t auto_count(const struct tribd *d)
{
	uint32_t n = cpus_usable(), queues;
	const struct port *p;

	TAILQ_FOREACH(p, &d->ports, link) {
		if (!strcmp(p->ifname, TRIB_LOCAL_PORT))
			continue;
		queues = p->mode == TRIB_XDP_MODE_NATIVE ? veth_queues(p->ifname) : 1;
		if (queues < n)
			n = queues;
	}
	return TAILQ_EMPTY(&d->ports) ? 1 : n;
}

/* Enter CPU @i, unless it runs our program. Each entry has a kernel thread. */
static int cpu_enter(struct tribd *d, uint32_t i)
{
	struct bpf_cpumap_val v;

	if (!bpf_map_lookup_elem(d->map[MAP_CPUS], &i, &v) &&
	    v.bpf_prog.id == bpf_prog_id(d->prog[PROG_MOVED]))
		return 0;
	v = (struct bpf_cpumap_val){.qsize = QUEUE, .bpf_prog.fd = d->prog[PROG_MOVED]};
	return bpf_map_update_elem(d->map[MAP_CPUS], &i, &v, BPF_ANY) ? -errno : 0;
}

static int write_count(struct tribd *d, uint32_t n)
{
	struct trib_spread row = {};
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(d->map[MAP_SPREAD], &zero, &row))
		return -errno;
	if (row.n == n)
		return 0;
	log_info("%u CPUs share the work of trees", n);
	row.n = n;
	return bpf_map_update_elem(d->map[MAP_SPREAD], &zero, &row, BPF_ANY) ? -errno : 0;
}

void spread_fit(struct tribd *d)
{
	uint32_t n = d->opt.spread ? d->opt.spread : auto_count(d), i;
	int err = 0;

	if (n > cpus_usable())
		n = cpus_usable();
	while (n & (n - 1))
		n &= n - 1;
	for (i = 0; n > 1 && i < n && !err; i++)
		err = cpu_enter(d, i);
	if (!err)
		err = write_count(d, n);
	if (err) {
		log_warn("cannot spread trees over %u CPUs: %s; each stays on one", n,
			 strerror(-err));
		(void)write_count(d, 1);
	}
}
