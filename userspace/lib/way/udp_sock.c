// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the sockets of the carrier by UDP: one for each local address and port,
 * in the multicast groups of its streams, with room for a window of results.
 */
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "udp.h"

static bool is_set(const __be32 *addr)
{
	return addr[0] | addr[1] | addr[2] | addr[3];
}

static bool is_v4(const __be32 *addr)
{
	return !addr[0] && !addr[1] && addr[2] == htobe32(0xffff);
}

static socklen_t make_address(union addr_sock *a, bool v6, const __be32 *addr, uint16_t port)
{
	struct in6_addr ip;

	memcpy(&ip, addr, sizeof(ip));
	return addr_to_sock(v6 ? AF_INET6 : AF_INET, &ip, port, a);
}

static void set_int(int fd, int level, int name, int value)
{
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

static const struct udp_options options = {
	.ecn = true,
	.gro = true,
	.v6only = true,
	.sndbuf = TRIB_TUNE_SNDBUF,
};

/* Find the local address from which the relay is reached. */
static bool local_towards(const struct trib_attach_tree *a, bool v6, union addr_sock *local)
{
	union addr_sock to;
	const __be32 *relay = a->nhop ? a->hop[0].addr : a->addr;
	socklen_t len = make_address(&to, v6, relay, a->port);
	int fd;
	bool good;

	if (is_set(a->local_addr)) {
		make_address(local, v6, a->local_addr, 0);
		return true;
	}
	fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	good = !connect(fd, &to.sa, len) && !getsockname(fd, &local->sa, &len);
	close(fd);
	return good;
}

static bool same_host(const struct sockaddr *a, const union addr_sock *b)
{
	if (!a || a->sa_family != b->sa.sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr, &b->in6.sin6_addr,
		       sizeof(b->in6.sin6_addr));
}

/* Find the device towards the relay; 0: the routing table decides. */
static unsigned int device_towards(const struct trib_attach_tree *a, bool v6)
{
	struct ifaddrs *all, *i;
	unsigned int index = 0;
	union addr_sock local;

	if (!local_towards(a, v6, &local) || getifaddrs(&all))
		return 0;
	for (i = all; i && !index; i = i->ifa_next)
		if (same_host(i->ifa_addr, &local))
			index = if_nametoindex(i->ifa_name);
	freeifaddrs(all);
	return index;
}

static int join_group(struct trib *t, const struct trib_udp_sock *k,
		      const struct trib_attach_tree *a)
{
	struct group_req req = {0};
	char text[INET6_ADDRSTRLEN];
	union addr_sock group;
	struct in6_addr ip;
	socklen_t len;
	uint16_t port;
	int err;

	if (!is_set(a->mcast_addr))
		return 0;
	/*
	 * Without IP_MULTICAST_ALL, packets for other sockets' groups stay out.
	 */
	set_int(k->fd, k->v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		k->v6 ? IPV6_MULTICAST_ALL : IP_MULTICAST_ALL, 0);
	req.gr_interface = device_towards(a, k->v6);
	len = make_address(&group, k->v6, a->mcast_addr, 0);
	memcpy(&req.gr_group, &group, len);
	if (!setsockopt(k->fd, k->v6 ? IPPROTO_IPV6 : IPPROTO_IP, MCAST_JOIN_GROUP, &req,
			sizeof(req)) ||
	    errno == EADDRINUSE) /* another stream joined before */
		return 0;
	err = errno;
	addr_from_sock(&group, &ip, &port);
	return trib_fail(t, TRIB_ERR_SYSTEM, -err, "cannot join multicast group %s: %s",
			 addr_text(&ip, text), strerror(err));
}

/*
 * Bind the socket to the device of a relay on this same host. By the relay's
 * address alone, packets would take the loopback device, past its XDP program.
 */
static void keep_to_device(const struct trib_udp_sock *k, const struct trib_attach_tree *a)
{
	char name[IF_NAMESIZE];
	struct ifaddrs *all, *i;
	union addr_sock relay;
	unsigned int index;
	bool own = false;

	make_address(&relay, k->v6, a->addr, 0);
	if (getifaddrs(&all))
		return;
	for (i = all; i && !own; i = i->ifa_next)
		own = same_host(i->ifa_addr, &relay);
	freeifaddrs(all);
	if (!own)
		return;
	index = device_towards(a, k->v6);
	if (index && if_indextoname(index, name))
		(void)setsockopt(k->fd, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name));
}

static int open_sock(struct trib *t, struct trib_udp_sock *k, const struct trib_attach_tree *a,
		     socklen_t len)
{
	uint16_t port = ntohs(k->v6 ? k->local.in6.sin6_port : k->local.in.sin_port);
	int err;

	k->fd = socket(k->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->fd < 0)
		return trib_fail(t, TRIB_ERR_SYSTEM, -errno, "socket: %s", strerror(errno));
	udp_set_options(k->fd, k->v6 ? AF_INET6 : AF_INET, &options);
	keep_to_device(k, a);
	if (bind(k->fd, &k->local.sa, len)) {
		err = errno;
		return trib_fail(t, TRIB_ERR_SYSTEM, err == EADDRINUSE ? -EBUSY : -err,
				 err == EADDRINUSE ? TRIB_TEXT_PORT_TAKEN
						   : "cannot bind UDP port %u: %s",
				 port, strerror(err));
	}
	return 0;
}

/*
 * Does a multicast group send to this port? Then the socket must be bound to
 * any address, because one that is bound to an address receives no multicast.
 * Otherwise it must not, so that other processes can bind theirs.
 */
static bool port_has_group(const struct trib *t, uint16_t port)
{
	const struct trib_attach_rep *rep = &t->place.rep;
	unsigned int i;

	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].recv_port == port && is_set(rep->tree[i].mcast_addr))
			return true;
	return false;
}

/* Find or open the socket of a tree's local address and port. */
static int find_sock(struct trib *t, const struct trib_attach_tree *a, struct trib_udp_sock **out)
{
	static const __be32 any[4];
	struct trib_udp *u = t->udp;
	bool v6 = !is_v4(a->addr);
	union addr_sock local;
	socklen_t len;
	unsigned int i;
	int rc;

	len = make_address(&local, v6, port_has_group(t, a->recv_port) ? any : a->local_addr,
			   a->recv_port);
	for (i = 0; i < u->nsock; i++)
		if (!memcmp(&u->sock[i].local, &local, sizeof(local)))
			break;
	*out = &u->sock[i];
	if (i == u->nsock) {
		u->sock[i].v6 = v6;
		u->sock[i].local = local;
		u->sock[i].fd = -1;
		u->nsock++;
		rc = open_sock(t, *out, a, len);
		if (rc)
			return rc;
	}
	(*out)->streams++;
	return join_group(t, *out, a);
}

int trib_udp_dest(struct trib *t, unsigned int i)
{
	const struct trib_attach_tree *a = &t->place.rep.tree[i];
	struct trib_udp_dest *d = t->udp->dest[i];
	int rc = find_sock(t, a, &d->sock);
	unsigned int h;

	if (rc)
		return rc;
	d->len = make_address(&d->to, d->sock->v6, a->addr, a->port);
	for (h = 0; h < t->eng.stream[i]->nhop; h++) {
		d[1 + h].sock = d->sock;
		d[1 + h].len =
			make_address(&d[1 + h].to, d->sock->v6, a->hop[h].addr, a->hop[h].port);
	}
	t->eng.stream[i]->overhead = 14 + (d->sock->v6 ? 40 : 20) + 8;
	return 0;
}

int trib_udp_size(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i, fits;
	int have;
	socklen_t len;

	for (i = 0; i < u->nsock; i++) {
		struct trib_udp_sock *k = &u->sock[i];
		unsigned int chunks = 2u * t->eng.stream[0]->window * k->streams;

		/* The kernel doubles the requested size. */
		udp_set_rcvbuf(k->fd, (int)(chunks * TRIB_TUNE_RECV_CHARGE / 2));
		len = sizeof(have);
		if (getsockopt(k->fd, SOL_SOCKET, SO_RCVBUF, &have, &len))
			continue;
		fits = (unsigned int)have / TRIB_TUNE_RECV_CHARGE / k->streams;
		if (!t->eng.max_window || fits < t->eng.max_window)
			t->eng.max_window = fits;
	}
	return 0;
}
