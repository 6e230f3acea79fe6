// SPDX-License-Identifier: BSD-2-Clause
#include "datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/addr.h"

/* --- receiving */

static void info_parse(struct msghdr *h, struct udp_packet *p)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo i;

			memcpy(&i, CMSG_DATA(c), sizeof(i));
			p->dst = i.ipi6_addr;
			p->ifindex = i.ipi6_ifindex;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo i;

			memcpy(&i, CMSG_DATA(c), sizeof(i));
			addr_from_v4(&p->dst, &i.ipi_addr);
			p->ifindex = (uint32_t)i.ipi_ifindex;
		}
	}
}

int datagram_receive(const struct datagram *s, void *buf, size_t size, struct udp_packet *p)
{
	union addr_sock from = {};
	char control[256];
	struct iovec iov = {buf, size};
	struct msghdr h = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t len = recvmsg(s->fd, &h, MSG_DONTWAIT);

	if (len < 0)
		return errno == EAGAIN ? 0 : -1; /* ICMP errors show up here */
	if (h.msg_flags & MSG_TRUNC)
		return -1;
	memset(p, 0, sizeof(*p));
	p->data = buf;
	p->len = (size_t)len;
	addr_from_sock(&from, &p->src, &p->sport);
	info_parse(&h, p);
	return 1;
}

/* --- sending */

static int send_v4(int fd, uint32_t oif, int flags, const struct in6_addr *local,
		   const struct in6_addr *to, uint16_t port, struct iovec *iov)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct in_pktinfo info = {.ipi_ifindex = (int)oif};
	char control[CMSG_SPACE(sizeof(info))] = {};
	struct msghdr h = {.msg_name = &sa,
			   .msg_namelen = sizeof(sa),
			   .msg_iov = iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	memcpy(&sa.sin_addr, to->s6_addr + 12, 4);
	memcpy(&info.ipi_spec_dst, local->s6_addr + 12, 4);
	c->cmsg_level = IPPROTO_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	return sendmsg(fd, &h, flags) < 0 ? -errno : 0;
}

static int send_v6(int fd, uint32_t oif, int flags, const struct in6_addr *local,
		   const struct in6_addr *to, uint16_t port, struct iovec *iov)
{
	struct sockaddr_in6 sa = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *to};
	struct in6_pktinfo info = {.ipi6_addr = *local, .ipi6_ifindex = oif};
	char control[CMSG_SPACE(sizeof(info))] = {};
	struct msghdr h = {.msg_name = &sa,
			   .msg_namelen = sizeof(sa),
			   .msg_iov = iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	if (IN6_IS_ADDR_LINKLOCAL(to))
		sa.sin6_scope_id = oif;
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	return sendmsg(fd, &h, flags) < 0 ? -errno : 0;
}

int datagram_send(const struct datagram *s, uint32_t oif, bool beside, const struct in6_addr *local,
		  const struct in6_addr *to, uint16_t port, const void *data, size_t len)
{
	struct iovec iov = {(void *)data, len};
	int err, tries = 3, flags = MSG_DONTWAIT | (beside ? MSG_DONTROUTE : 0);

	do { /* an earlier packet's ICMP error is reported by the next call */
		err = s->v4 ? send_v4(s->fd, oif, flags, local, to, port, &iov)
			    : send_v6(s->fd, oif, flags, local, to, port, &iov);
	} while (err == -ECONNREFUSED && --tries);
	return err == -ENOBUFS ? -EAGAIN : err;
}

int datagram_send_to(const struct datagram *s, const struct in6_addr *to, uint16_t port,
		     const void *data, size_t len)
{
	union addr_sock sa;
	socklen_t size = addr_to_sock(s->v4 ? AF_INET : AF_INET6, to, port, &sa);
	int tries = 3;
	ssize_t n;

	do { /* as above */
		n = sendto(s->fd, data, len, MSG_DONTWAIT, &sa.sa, size);
	} while (n < 0 && errno == ECONNREFUSED && --tries);
	return n < 0 ? -errno : 0;
}

/* --- the socket */

static int option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

int datagram_setup(struct datagram *s)
{
	socklen_t len = sizeof(int);
	int err, family;

	if (getsockopt(s->fd, SOL_SOCKET, SO_DOMAIN, &family, &len))
		return -errno;
	s->v4 = family == AF_INET;
	/* DF: a path that is too narrow must fail, not fragment. */
	err = option(s->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (!err && s->v4)
		err = option(s->fd, IPPROTO_IP, IP_PKTINFO, 1);
	if (!err && !s->v4)
		err = option(s->fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	if (!err && !s->v4)
		err = option(s->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	return err;
}
