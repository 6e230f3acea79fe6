// SPDX-License-Identifier: BSD-2-Clause
/* NICs and providers: the answers of fi_getinfo(), sorted and checked. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/text.h"
#include "peer/net/ofi.h"

/*
 * Best first. The others lack RMA with data, hang (tcp's own datagrams), or are slow.
 * verbs;ofi_rxm of libfabric 1.17 may crash when the other end of a connection closes.
 */
static const struct {
	const char *name;
	enum fi_ep_type type;
} providers[] = {
	{"verbs", FI_EP_MSG},
	{"tcp;ofi_rxm", FI_EP_RDM},
	{"verbs;ofi_rxm", FI_EP_RDM}, /* only where asked for, as the next one */
	{"tcp", FI_EP_MSG},
};

#define AUTO_MAX 2

/*
 * libfabric reads its parameters from the environment, at its first call. What the
 * user has set stays.
 * - Completion queues are made for this many peers; soft-RoCE refuses queues for more.
 *   They need not be: a port bounds its writes itself.
 * - rxm passes on one completion a call by default.
 * - Its bounce buffers are for messages, which a port does not send: with the default
 *   each port would take 70 MB.
 */
static void env_set(void)
{
	setenv("FI_UNIVERSE_SIZE", "16", 0);
	setenv("FI_OFI_RXM_COMP_PER_PROGRESS", "64", 0);
	setenv("FI_OFI_RXM_BUFFER_SIZE", "1024", 0);
}

void ofi_env(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, env_set);
}

/* Index of a provider's name in the table, or -1. */
static int provider_index(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(providers) / sizeof(*providers); i++)
		if (!strcmp(providers[i].name, name))
			return (int)i;
	return -1;
}

/* Ask for one provider; @source: an address that the NIC must have, or NULL. */
static int info_ask(int which, const char *source, struct fi_info **out)
{
	struct fi_info *hints = fi_allocinfo();
	int err;

	ofi_env();
	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	if (providers[which].type == FI_EP_MSG)
		hints->mode |= FI_RX_CQ_DATA;
	hints->ep_attr->type = providers[which].type;
	hints->addr_format = FI_FORMAT_UNSPEC;
	hints->tx_attr->inject_size = sizeof(struct ofi_note);
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->domain_attr->av_type = FI_AV_UNSPEC;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
	hints->fabric_attr->prov_name = strdup(providers[which].name);
	err = hints->fabric_attr->prov_name
		      ? fi_getinfo(OFI_VERSION, source, NULL, source ? FI_SOURCE : 0, hints, out)
		      : -ENOMEM;
	fi_freeinfo(hints);
	return err;
}

/* IP address of an endpoint. Return: whether it has one. */
static bool info_ip(const struct fi_info *info, struct in6_addr *ip)
{
	const union addr_sock *a = info->src_addr;
	uint16_t port;

	if (!a || info->src_addrlen < sizeof(a->in))
		return false;
	if (a->sa.sa_family != AF_INET &&
	    (a->sa.sa_family != AF_INET6 || info->src_addrlen < sizeof(a->in6)))
		return false;
	addr_from_sock(a, ip, &port);
	return true;
}

static bool ip_is_loopback(const struct in6_addr *ip)
{
	return addr_is_v4(ip) ? ip->s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(ip);
}

static bool ip_is_usable(const struct in6_addr *ip)
{
	bool local4 = addr_is_v4(ip) && ip->s6_addr[12] == 169 && ip->s6_addr[13] == 254;

	return !addr_is_zero(ip) && !IN6_IS_ADDR_LINKLOCAL(ip) && !local4 && !addr_is_multicast(ip);
}

/* Name of the network device that has @ip, or "". */
static void ip_device(const struct ifaddrs *all, const struct in6_addr *ip, char *out, size_t room)
{
	const struct ifaddrs *i;
	struct in6_addr own;
	uint16_t port;

	out[0] = '\0';
	for (i = all; i; i = i->ifa_next) {
		if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		addr_from_sock((const union addr_sock *)i->ifa_addr, &own, &port);
		if (!memcmp(&own, ip, sizeof(own))) {
			snprintf(out, room, "%s", i->ifa_name);
			return;
		}
	}
}

void peer_nic_device(const char *nic, char *out, size_t room)
{
	struct ifaddrs *all;
	struct in6_addr ip;

	out[0] = '\0';
	if (addr_parse(nic, &ip) && !getifaddrs(&all)) {
		ip_device(all, &ip, out, room);
		freeifaddrs(all);
	}
	if (!out[0])
		snprintf(out, room, "%s", nic);
}

/* Speed by sysfs, or 0: unknown. */
static uint64_t device_speed(const char *device)
{
	char path[128], text[32];
	uint64_t mbits = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/class/net/%s/speed", device);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (text_number(text, 1, 100000000, &mbits))
		return 0;
	return mbits * 1000000;
}

static void nic_fill(struct peer_nic *nic, const struct fi_info *info, const struct in6_addr *ip)
{
	const struct fid_nic *n = info->nic;
	char text[INET6_ADDRSTRLEN];

	snprintf(nic->provider, sizeof(nic->provider), "%s", info->fabric_attr->prov_name);
	snprintf(nic->domain, sizeof(nic->domain), "%s", info->domain_attr->name);
	snprintf(nic->address, sizeof(nic->address), "%s", addr_text(ip, text));
	nic->direct = !strncmp(nic->provider, "verbs", 5);
	if (n && n->link_attr && n->link_attr->speed)
		nic->bits_per_second = n->link_attr->speed;
	else
		nic->bits_per_second = device_speed(nic->device);
}

/* Whether a NIC is in the list already, by a better provider or another address. */
static bool nic_known(const struct peer_nic *nics, unsigned int n, const struct peer_nic *nic)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (nic->device[0] ? !strcmp(nics[i].device, nic->device)
				   : !strcmp(nics[i].address, nic->address))
			return true;
	return false;
}

/* Add the NICs of one answer. IPv4 addresses come first, so they win. */
static unsigned int nics_add(const struct fi_info *list, const struct ifaddrs *all, bool loopback,
			     struct peer_nic *out, unsigned int n, unsigned int max)
{
	const struct fi_info *i;
	struct in6_addr ip;
	struct peer_nic nic;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = list; i && n < max; i = i->next) {
			if (!info_ip(i, &ip) || !ip_is_usable(&ip) ||
			    addr_is_v4(&ip) != (pass == 0) || ip_is_loopback(&ip) != loopback)
				continue;
			memset(&nic, 0, sizeof(nic));
			ip_device(all, &ip, nic.device, sizeof(nic.device));
			nic_fill(&nic, i, &ip);
			if (!nic_known(out, n, &nic))
				out[n++] = nic;
		}
	}
	return n;
}

int peer_nics_find(const char *provider, struct peer_nic *out, unsigned int max)
{
	struct fi_info *lists[AUTO_MAX] = {NULL};
	int first = 0, last = AUTO_MAX - 1, i;
	struct ifaddrs *all = NULL;
	unsigned int n = 0;

	if (provider) {
		first = provider_index(provider);
		last = first;
		if (first < 0)
			return -EINVAL;
	}
	if (getifaddrs(&all))
		return -errno;
	for (i = first; i <= last; i++)
		if (info_ask(i, NULL, &lists[i - first]))
			lists[i - first] = NULL;
	for (i = first; i <= last; i++)
		n = nics_add(lists[i - first], all, false, out, n, max);
	/* A machine without a network talks to itself. */
	for (i = first; i <= last && !n; i++)
		n = nics_add(lists[i - first], all, true, out, n, max);
	for (i = first; i <= last; i++)
		if (lists[i - first])
			fi_freeinfo(lists[i - first]);
	freeifaddrs(all);
	return (int)n;
}

/* Whether @nic names this answer: domain, address or device. */
static bool info_matches(const struct fi_info *info, const struct ifaddrs *all, const char *nic)
{
	char device[IF_NAMESIZE];
	struct in6_addr ip, want;

	if (!info_ip(info, &ip) || !ip_is_usable(&ip))
		return false;
	if (!nic)
		return true;
	if (addr_parse(nic, &want))
		return !memcmp(&ip, &want, sizeof(ip));
	ip_device(all, &ip, device, sizeof(device));
	return !strcmp(nic, info->domain_attr->name) || !strcmp(nic, device);
}

/* The first answer of a provider for @nic: IPv4, and not loopback if there are others. */
static struct fi_info *info_pick(int which, const struct ifaddrs *all, const char *nic)
{
	struct fi_info *list = NULL, *i, *best = NULL;
	int score, most = -1;
	struct in6_addr ip;

	if (info_ask(which, nic && addr_parse(nic, &ip) ? nic : NULL, &list))
		return NULL;
	for (i = list; i; i = i->next) {
		if (!info_matches(i, all, nic) || !info_ip(i, &ip))
			continue;
		score = 2 * !ip_is_loopback(&ip) + addr_is_v4(&ip);
		if (score > most) {
			most = score;
			best = i;
		}
	}
	best = best ? fi_dupinfo(best) : NULL;
	fi_freeinfo(list);
	return best;
}

int ofi_info_choose(struct fi_info **out, const struct peer_port_conf *conf,
		    struct peer_fault *fault)
{
	int first = 0, last = AUTO_MAX - 1, i;
	struct ifaddrs *all = NULL;

	*out = NULL;
	if (conf->provider) {
		first = provider_index(conf->provider);
		last = first;
		if (first < 0)
			return peer_fault_set(fault, EINVAL, -1,
					      "no provider %s: wants verbs;ofi_rxm, verbs, "
					      "tcp;ofi_rxm or tcp",
					      conf->provider);
	}
	if (getifaddrs(&all))
		return peer_fault_set(fault, errno, -1, "getifaddrs: %s", strerror(errno));
	for (i = first; i <= last && !*out; i++)
		*out = info_pick(i, all, conf->nic);
	freeifaddrs(all);
	if (!*out)
		return peer_fault_set(fault, ENODEV, -1, "libfabric has no NIC %s with provider %s",
				      conf->nic ? conf->nic : "at all",
				      conf->provider ? conf->provider : "verbs or tcp;ofi_rxm");
	return 0;
}
