// SPDX-License-Identifier: BSD-2-Clause
/*
 * Check that a job's packets fit: its values and the bitmap of its workers
 * against the MTU towards each host that sends to this PS. They are never
 * fragmented.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "mtu.h"

/* Return: the MTU of the device with this address; 0: none has it. */
static unsigned int mtu_of(int fd, const struct in6_addr *local)
{
	struct ifreq ifr = {0};
	struct ifaddrs *all, *i;
	struct in6_addr ip;
	uint16_t port;

	if (getifaddrs(&all))
		return 0;
	for (i = all; i && !ifr.ifr_name[0]; i = i->ifa_next) {
		if (!i->ifa_addr ||
		    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
			continue;
		addr_from_sock((const union addr_sock *)i->ifa_addr, &ip, &port);
		if (IN6_ARE_ADDR_EQUAL(&ip, local))
			snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", i->ifa_name);
	}
	freeifaddrs(all);
	if (!ifr.ifr_name[0] || ioctl(fd, SIOCGIFMTU, &ifr) || ifr.ifr_mtu < 0)
		return 0;
	return (unsigned int)ifr.ifr_mtu;
}

/*
 * Return: the MTU of the device towards @to; 0: no route now. Our packets ignore what
 * the kernel has learned of the path, so it does not count here either: a path that
 * was narrow for a while would keep a PS from starting for ten minutes.
 */
static unsigned int mtu_towards(const struct ps_addr *to)
{
	int family = addr_is_v4(&to->ip) ? AF_INET : AF_INET6;
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned int mtu = 0;
	union addr_sock sa;
	struct in6_addr ip;
	uint16_t port;
	socklen_t len;

	if (fd < 0)
		return 0;
	len = addr_to_sock(family, &to->ip, to->port, &sa);
	if (!connect(fd, &sa.sa, len) && !getsockname(fd, &sa.sa, &len)) {
		addr_from_sock(&sa, &ip, &port);
		mtu = mtu_of(fd, &ip);
	}
	close(fd);
	return mtu;
}

static int way_check(const struct ps_tree *t, const struct ps_addr *to, char *why, size_t size)
{
	bool v4 = addr_is_v4(&to->ip);
	unsigned int bitmap = 8 * t->bmwords;
	unsigned int over = (v4 ? 20 : 40) + 8 + (unsigned int)sizeof(struct trib_hdr) + bitmap;
	unsigned int need = over + trib_payload_len(t->job->nval);
	unsigned int mtu = mtu_towards(to);
	unsigned int room = mtu > over ? (mtu - over) / 4 : 0;
	char text[ADDR_TEXT_MAX];

	if (!mtu || need <= mtu)
		return 0;
	snprintf(
		why, size,
		"tree %u: %u values and a bitmap of %u bytes make packets of %u bytes, but the device towards %s takes %u: use nval %u or less",
		t->number, t->job->nval, bitmap, need, ps_addr_text(to, text), mtu,
		room / TRIB_NVAL_BLOCK * TRIB_NVAL_BLOCK);
	return -EMSGSIZE;
}

int ps_mtu_check(const struct ps *ps, char *why, size_t size)
{
	unsigned int i, k;
	int err = 0;

	for (i = 0; !err && i < ps->ntree; i++) {
		const struct ps_tree *t = ps->tree[i];

		for (k = 0; !err && k < t->ngroup; k++)
			err = way_check(t, &t->group[k], why, size);
	}
	return err;
}
