// SPDX-License-Identifier: BSD-2-Clause
/*
 * A UDP socket, connected to the forwarder: the kernel lets nobody else's
 * packets in. Batches in, batches out.
 */
#include "link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32
#define BUFFERS (16 << 20) /* of the socket, each way */
#define HEAD_V4 28	   /* IP and UDP */
#define HEAD_V6 48

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct ndn_socket {
	int fd;
	bool v6;
	unsigned int queued;
	uint32_t lost; /* as the kernel counts it: of the socket's life */
	struct ndn_socket_stats stats;
	struct mmsghdr rx[BATCH], tx[BATCH];
	struct iovec rx_iov[BATCH], tx_iov[BATCH];
	uint8_t rx_ctl[BATCH][CMSG_SPACE(sizeof(uint32_t))]
		__attribute__((aligned(8)));
	/* One byte more: what fills it is too long. */
	uint8_t rx_buf[BATCH][TRIB_NDN_PACKET_MAX + 1];
	uint8_t tx_buf[BATCH][TRIB_NDN_PACKET_MAX];
};

/* ---- addresses ---- */

static bool port_parse(const char *s, bool zero, in_port_t *out)
{
	unsigned long v;
	char *end;

	if (*s < '0' || *s > '9')
		return false;
	v = strtoul(s, &end, 10);
	*out = htons((uint16_t)v);
	return !*end && v <= UINT16_MAX && (v || zero);
}

/* ADDR, ADDR:PORT, [ADDR], [ADDR]:PORT; IPv6 without a port needs no brackets. */
static bool address_parse(const char *s, bool zero, union address *a)
{
	bool brackets = *s == '[', bare = false, v6;
	size_t n = strcspn(s + brackets, brackets ? "]" : ":");
	in_port_t port = htons(TRIB_NDN_UDP_PORT);
	char text[INET6_ADDRSTRLEN];
	const char *rest;

	if (!brackets && s[n] && strchr(s + n + 1, ':')) {
		bare = true;
		n = strlen(s);
	}
	v6 = brackets || bare;
	rest = s + brackets + n;
	if (n >= sizeof(text) || (brackets && *rest++ != ']'))
		return false;
	memcpy(text, s + brackets, n);
	text[n] = '\0';
	if (*rest && (*rest != ':' || !port_parse(rest + 1, zero, &port)))
		return false;
	memset(a, 0, sizeof(*a));
	if (v6) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = port;
		return inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1;
	}
	a->in.sin_family = AF_INET;
	a->in.sin_port = port;
	return inet_pton(AF_INET, text, &a->in.sin_addr) == 1;
}

static socklen_t address_size(const union address *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

static void address_any(union address *a, sa_family_t family)
{
	memset(a, 0, sizeof(*a));
	a->sa.sa_family = family;
	if (family == AF_INET6)
		a->in6.sin6_port = htons(TRIB_NDN_UDP_PORT);
	else
		a->in.sin_port = htons(TRIB_NDN_UDP_PORT);
}

/* ---- the socket ---- */

static void set_int(int fd, int level, int name, int value)
{
	/* What a kernel refuses costs speed or a counter, no more. */
	(void)setsockopt(fd, level, name, &value, sizeof(value));
}

static void set_options(const struct ndn_socket *l)
{
	if (l->v6) {
		set_int(l->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			IPV6_PMTUDISC_DO);
		/* Forwarders rewrite packets, and may leave the sum out. */
		set_int(l->fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	} else {
		set_int(l->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	}
	set_int(l->fd, SOL_SOCKET, SO_RCVBUF, BUFFERS);
	set_int(l->fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFERS);
	set_int(l->fd, SOL_SOCKET, SO_SNDBUF, BUFFERS);
	set_int(l->fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFERS);
	set_int(l->fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
}

static void prepare(struct ndn_socket *l)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		l->rx_iov[i].iov_base = l->rx_buf[i];
		l->rx_iov[i].iov_len = sizeof(l->rx_buf[i]);
		l->rx[i].msg_hdr.msg_iov = &l->rx_iov[i];
		l->rx[i].msg_hdr.msg_iovlen = 1;
		l->tx_iov[i].iov_base = l->tx_buf[i];
		l->tx[i].msg_hdr.msg_iov = &l->tx_iov[i];
		l->tx[i].msg_hdr.msg_iovlen = 1;
	}
}

static int refuse(struct ndn_socket *l, char *why, size_t size,
		  const char *what, const char *where, int err)
{
	snprintf(why, size, "%s %s: %s", what, where, strerror(err));
	ndn_socket_close(l);
	return -err;
}

int ndn_socket_open(struct ndn_socket **link, const struct ndn_socket_addr *a,
		    char *why, size_t size)
{
	struct ndn_socket *l = calloc(1, sizeof(*l));
	const char *from = a->bind ? a->bind : "any address, port 6363";
	union address to, here;

	if (!l) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	l->fd = -1;
	if (!address_parse(a->forwarder, false, &to))
		return refuse(l, why, size, "forwarder", a->forwarder, EINVAL);
	address_any(&here, to.sa.sa_family);
	if (a->bind && (!address_parse(a->bind, true, &here) ||
			here.sa.sa_family != to.sa.sa_family))
		return refuse(l, why, size, "bind to", from, EINVAL);
	l->v6 = to.sa.sa_family == AF_INET6;
	l->fd = socket(to.sa.sa_family,
		       SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return refuse(l, why, size, "socket to", a->forwarder, errno);
	set_options(l);
	if (bind(l->fd, &here.sa, address_size(&here)))
		return refuse(l, why, size, "bind to", from, errno);
	if (connect(l->fd, &to.sa, address_size(&to)))
		return refuse(l, why, size, "way to", a->forwarder, errno);
	prepare(l);
	*link = l;
	return 0;
}

void ndn_socket_close(struct ndn_socket *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

int ndn_socket_fd(const struct ndn_socket *l)
{
	return l->fd;
}

const struct ndn_socket_stats *ndn_socket_stats(const struct ndn_socket *l)
{
	return &l->stats;
}

int ndn_socket_room(const struct ndn_socket *l)
{
	int mtu, room;
	socklen_t n = sizeof(mtu);

	if (getsockopt(l->fd, l->v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       l->v6 ? IPV6_MTU : IP_MTU, &mtu, &n))
		return -errno;
	room = mtu - (l->v6 ? HEAD_V6 : HEAD_V4);
	return room < TRIB_NDN_PACKET_MAX ? room : TRIB_NDN_PACKET_MAX;
}

uint64_t ndn_socket_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

/* ---- in ---- */

/* ICMP errors of what was sent before: the packet is lost, the link is not. */
static bool is_passing(int err)
{
	return err == ECONNREFUSED || err == EHOSTUNREACH ||
	       err == ENETUNREACH || err == EHOSTDOWN || err == ENETDOWN;
}

static void count_lost(struct ndn_socket *l, struct msghdr *m)
{
	struct cmsghdr *c;
	uint32_t lost;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL)
			continue;
		memcpy(&lost, CMSG_DATA(c), sizeof(lost));
		l->stats.rx_lost += lost - l->lost;
		l->lost = lost;
	}
}

int ndn_socket_receive(struct ndn_socket *l, ndn_socket_take *take, void *ctx)
{
	int n, i;

	for (i = 0; i < BATCH; i++) {
		l->rx[i].msg_hdr.msg_control = l->rx_ctl[i];
		l->rx[i].msg_hdr.msg_controllen = sizeof(l->rx_ctl[i]);
	}
	n = recvmmsg(l->fd, l->rx, BATCH, MSG_DONTWAIT, NULL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR || is_passing(errno)
			       ? 0
			       : -errno;
	for (i = 0; i < n; i++) {
		size_t len = l->rx[i].msg_len;

		count_lost(l, &l->rx[i].msg_hdr);
		l->stats.rx_packets++;
		l->stats.rx_bytes += len;
		if (len > TRIB_NDN_PACKET_MAX)
			l->stats.rx_long++;
		else
			take(ctx, l->rx_buf[i], len);
	}
	return n;
}

/* ---- out ---- */

void ndn_socket_send(struct ndn_socket *l, const void *pkt, size_t n)
{
	if (n > TRIB_NDN_PACKET_MAX) {
		l->stats.tx_error++;
		l->stats.tx_errno = EMSGSIZE;
		return;
	}
	memcpy(l->tx_buf[l->queued], pkt, n);
	l->tx_iov[l->queued].iov_len = n;
	if (++l->queued == BATCH)
		ndn_socket_flush(l);
}

static void sent(struct ndn_socket *l, unsigned int from, int n)
{
	int i;

	for (i = 0; i < n; i++)
		l->stats.tx_bytes += l->tx[from + (unsigned int)i].msg_len;
	l->stats.tx_packets += (uint64_t)n;
}

/* The packet at the head is lost; what is pending of the socket's errors too. */
static void failed(struct ndn_socket *l, int err)
{
	if (err == EAGAIN || err == ENOBUFS || is_passing(err)) {
		l->stats.tx_full++;
		return;
	}
	l->stats.tx_error++;
	l->stats.tx_errno = err;
}

void ndn_socket_flush(struct ndn_socket *l)
{
	unsigned int from = 0;
	int n;

	while (from < l->queued) {
		n = sendmmsg(l->fd, l->tx + from, l->queued - from,
			     MSG_DONTWAIT);
		if (n > 0) {
			sent(l, from, n);
			from += (unsigned int)n;
		} else if (errno != EINTR) {
			failed(l, errno);
			from++;
		}
	}
	l->queued = 0;
}
