// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sockets of the UDP transport: one for each local address and port, with the
 * options that it needs, and buffers for what can come at once.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>

#include "udp.h"

static bool is_set(const __be32 *addr)
{
	return addr[0] | addr[1] | addr[2] | addr[3];
}

static bool is_v4(const __be32 *addr)
{
	return !addr[0] && !addr[1] && addr[2] == htobe32(0xffff);
}

static socklen_t make_address(union address *a, bool v6, const __be32 *addr,
			      uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (v6) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		memcpy(&a->in6.sin6_addr, addr, 16);
		return sizeof(a->in6);
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons(port);
	a->in.sin_addr.s_addr = addr[3];
	return sizeof(a->in);
}

static void set_int(int fd, int level, int name, int value)
{
	/* What a kernel lacks costs speed or congestion marks, no more. */
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void set_options(const struct sock *k)
{
	if (k->v6) {
		set_int(k->fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		set_int(k->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			IPV6_PMTUDISC_DO);
		set_int(k->fd, IPPROTO_IPV6, IPV6_TCLASS, ECN_ECT0);
		set_int(k->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		/* Relays rewrite packets and leave the checksum out. */
		set_int(k->fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	} else {
		set_int(k->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		set_int(k->fd, IPPROTO_IP, IP_TOS, ECN_ECT0);
		set_int(k->fd, IPPROTO_IP, IP_RECVTOS, 1);
	}
	set_int(k->fd, IPPROTO_UDP, UDP_GRO, 1);
	set_int(k->fd, SOL_SOCKET, SO_SNDBUF, TRIB_TUNE_SNDBUF);
	set_int(k->fd, SOL_SOCKET, SO_SNDBUFFORCE, TRIB_TUNE_SNDBUF);
}

static int join_group(struct trib *t, const struct sock *k,
		      const struct trib_attach_tree *a)
{
	struct ipv6_mreq m6 = {0};
	struct ip_mreq m4 = {0};
	int rc;

	if (!is_set(a->mcast_addr))
		return 0;
	if (k->v6) {
		memcpy(&m6.ipv6mr_multiaddr, a->mcast_addr, 16);
		rc = setsockopt(k->fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m6,
				sizeof(m6));
	} else {
		m4.imr_multiaddr.s_addr = a->mcast_addr[3];
		m4.imr_interface.s_addr = a->local_addr[3];
		rc = setsockopt(k->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m4,
				sizeof(m4));
	}
	if (rc && errno != EADDRINUSE)
		return trib_fail(t, TRIB_ERR_SYSTEM, -errno,
				 "cannot join the multicast group: %s",
				 strerror(errno));
	return 0;
}

static int open_sock(struct trib *t, struct sock *k, socklen_t len)
{
	uint16_t port =
		ntohs(k->v6 ? k->local.in6.sin6_port : k->local.in.sin_port);
	int err;

	k->fd = socket(k->v6 ? AF_INET6 : AF_INET,
		       SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (k->fd < 0)
		return trib_fail(t, TRIB_ERR_SYSTEM, -errno, "socket: %s",
				 strerror(errno));
	set_options(k);
	if (bind(k->fd, &k->local.sa, len)) {
		err = errno;
		return trib_fail(
			t, TRIB_ERR_SYSTEM, err == EADDRINUSE ? -EBUSY : -err,
			err == EADDRINUSE
				? "UDP port %u is taken: does another process have this rank?"
				: "cannot bind UDP port %u: %s",
			port, strerror(err));
	}
	return 0;
}

/* The socket of this local address and port: one that exists, or a new one. */
static int find_sock(struct trib *t, const struct trib_attach_tree *a,
		     struct sock **out)
{
	static const __be32 any[4];
	struct trib_udp *u = t->udp;
	bool v6 = !is_v4(a->addr);
	union address local;
	socklen_t len;
	unsigned int i;
	int rc;

	/* A socket bound to one address hears no multicast. */
	len = make_address(&local, v6,
			   is_set(a->mcast_addr) ? any : a->local_addr,
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
		rc = open_sock(t, *out, len);
		if (rc)
			return rc;
	}
	(*out)->streams++;
	return join_group(t, *out, a);
}

int trib_udp_dest(struct trib *t, unsigned int i)
{
	const struct trib_attach_tree *a = &t->place.rep.tree[i];
	struct dest *d = &t->udp->dest[i];
	int rc = find_sock(t, a, &d->sock);

	if (rc)
		return rc;
	d->len = make_address(&d->to, d->sock->v6, a->addr, a->port);
	t->stream[i]->overhead = 14 + (d->sock->v6 ? 40 : 20) + 8;
	return 0;
}

int trib_udp_size(struct trib *t)
{
	struct trib_udp *u = t->udp;
	unsigned int i, fits;
	int want, have;
	socklen_t len;

	for (i = 0; i < u->nsock; i++) {
		struct sock *k = &u->sock[i];
		unsigned int chunks = 2u * t->stream[0]->window * k->streams;

		/* The kernel doubles what it is asked for. */
		want = (int)(chunks * TRIB_TUNE_RECV_CHARGE / 2);
		if (setsockopt(k->fd, SOL_SOCKET, SO_RCVBUFFORCE, &want,
			       sizeof(want)))
			set_int(k->fd, SOL_SOCKET, SO_RCVBUF, want);
		len = sizeof(have);
		if (getsockopt(k->fd, SOL_SOCKET, SO_RCVBUF, &have, &len))
			continue;
		fits = (unsigned int)have / TRIB_TUNE_RECV_CHARGE / k->streams;
		if (!t->max_window || fits < t->max_window)
			t->max_window = fits;
	}
	return 0;
}
