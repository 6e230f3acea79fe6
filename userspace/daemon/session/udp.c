// SPDX-License-Identifier: BSD-2-Clause
/*
 * The socket at TRIB_UDP_PORT: packets that the data plane passes to tribd, and
 * those that tribd sends. core/sockets.c binds it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/host/service.h"
#include "daemon/face/face.h"
#include "udp.h"

#define PACKETS_PER_TURN 64
/* Control packets are at most as long as a full data packet. */
#define PACKET_MAX 4096

struct udp {
	struct watch watch;
	bool v4; /* an IPv4 socket */
	char buf[PACKET_MAX + 1];
};

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

static bool receive(struct tribd *d)
{
	struct udp *u = d->udp;
	union addr_sock from = {};
	char control[256];
	struct iovec iov = {u->buf, sizeof(u->buf)};
	struct msghdr h = {.msg_name = &from,
			   .msg_namelen = sizeof(from),
			   .msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	ssize_t len = recvmsg(u->watch.fd, &h, MSG_DONTWAIT);
	struct udp_packet p = {.data = u->buf};

	if (len < 0)
		return errno != EAGAIN; /* ICMP errors show up here */
	if (len > PACKET_MAX)
		return true;
	p.len = (size_t)len;
	addr_from_sock(&from, &p.src, &p.sport);
	info_parse(&h, &p);
	d->hooks->packet(d, &p);
	return true;
}

static void readable(struct tribd *d, struct watch *w, uint32_t events)
{
	int turns = PACKETS_PER_TURN;

	(void)w;
	(void)events;
	while (turns-- && receive(d))
		;
}

/* --- sending */

/* Device to send from; 0: follow the routes, which lead round a dead link. */
static uint32_t out_device(const struct face *via)
{
	return via->around ? 0 : via->l3_ifindex;
}

static int send_v4(struct udp *u, const struct face *via, const struct in6_addr *to, uint16_t port,
		   struct iovec *iov)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct in_pktinfo info = {.ipi_ifindex = (int)out_device(via)};
	char control[CMSG_SPACE(sizeof(info))] = {};
	struct msghdr h = {.msg_name = &sa,
			   .msg_namelen = sizeof(sa),
			   .msg_iov = iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	memcpy(&sa.sin_addr, to->s6_addr + 12, 4);
	memcpy(&info.ipi_spec_dst, via->local.s6_addr + 12, 4);
	c->cmsg_level = IPPROTO_IP;
	c->cmsg_type = IP_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	return sendmsg(u->watch.fd, &h, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int send_v6(struct udp *u, const struct face *via, const struct in6_addr *to, uint16_t port,
		   struct iovec *iov)
{
	struct sockaddr_in6 sa = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = *to};
	struct in6_pktinfo info = {.ipi6_addr = via->local, .ipi6_ifindex = out_device(via)};
	char control[CMSG_SPACE(sizeof(info))] = {};
	struct msghdr h = {.msg_name = &sa,
			   .msg_namelen = sizeof(sa),
			   .msg_iov = iov,
			   .msg_iovlen = 1,
			   .msg_control = control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	if (IN6_IS_ADDR_LINKLOCAL(to))
		sa.sin6_scope_id = via->l3_ifindex;
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
	return sendmsg(u->watch.fd, &h, MSG_DONTWAIT) < 0 ? -errno : 0;
}

int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to, uint16_t port,
	     const void *data, size_t len)
{
	struct iovec iov = {(void *)data, len};
	int err, tries = 3;

	if (!via->l3_ifindex || !via->local_known)
		return -ENETUNREACH;
	if (!to)
		to = &via->addr;
	if (!port)
		port = via->udp_port;
	do { /* an earlier packet's ICMP error is reported by the next call */
		err = d->udp->v4 ? send_v4(d->udp, via, to, port, &iov)
				 : send_v6(d->udp, via, to, port, &iov);
	} while (err == -ECONNREFUSED && --tries);
	return err == -ENOBUFS ? -EAGAIN : err;
}

int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port, const void *data,
		size_t len)
{
	union addr_sock sa;
	socklen_t size = addr_to_sock(d->udp->v4 ? AF_INET : AF_INET6, to, port, &sa);
	int tries = 3;
	ssize_t n;

	do { /* as above */
		n = sendto(d->udp->watch.fd, data, len, MSG_DONTWAIT, &sa.sa, size);
	} while (n < 0 && errno == ECONNREFUSED && --tries);
	return n < 0 ? -errno : 0;
}

/* --- the socket */

static int option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) ? -errno : 0;
}

static int options_set(struct udp *u)
{
	int fd = u->watch.fd, err;

	/* DF: a path that is too narrow must fail, not fragment. */
	err = option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (!err && u->v4)
		err = option(fd, IPPROTO_IP, IP_PKTINFO, 1);
	if (!err && !u->v4)
		err = option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	if (!err && !u->v4)
		err = option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	if (err)
		return err;
	/* All workers of a large job may join at once, with full packets. */
	option(fd, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20);
	option(fd, SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20);
	return 0;
}

int udp_init(struct tribd *d)
{
	struct udp *u = calloc(1, sizeof(*u));
	socklen_t len = sizeof(int);
	int err, family;

	if (!u)
		return -ENOMEM;
	d->udp = u;
	u->watch.fn = readable;
	u->watch.fd = d->sock[HOME_UDP];
	err = getsockopt(u->watch.fd, SOL_SOCKET, SO_DOMAIN, &family, &len) ? -errno : 0;
	if (!err) {
		u->v4 = family == AF_INET;
		err = options_set(u);
	}
	if (!err && d->sock_kept[HOME_UDP])
		service_drain(u->watch.fd);
	if (!err)
		err = loop_add(d, &u->watch, EPOLLIN);
	if (!err)
		return 0;
	log_error("UDP port %u: %s", TRIB_UDP_PORT, strerror(-err));
	udp_exit(d);
	return err;
}

void udp_exit(struct tribd *d)
{
	struct udp *u = d->udp;

	if (!u)
		return;
	loop_del(d, &u->watch);
	free(u);
	d->udp = NULL;
}
