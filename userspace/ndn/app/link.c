// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the socket to a forwarder. It is connected, so that the kernel drops
 * packets from other senders.
 */
#include "link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/udp_batch.h"

#define BATCH 32
#define BUFFERS (16 << 20) /* of the socket, each way */
#define HEAD_V4 28	   /* IP and UDP */
#define HEAD_V6 48

struct ndn_socket {
	int fd;
	bool v6;
	uint64_t rx_long;
	struct udp_rx rx;
	struct udp_tx tx;
	struct iovec tx_iov[BATCH];
	uint8_t tx_buf[BATCH][TRIB_NDN_PACKET_MAX];
};

/* ---- the socket ---- */

static bool address_parse(const char *s, bool zero, union addr_sock *a, socklen_t *len)
{
	uint16_t port = TRIB_NDN_UDP_PORT;
	struct in6_addr ip;

	if (!addr_parse_port(s, &ip, &port) || (!port && !zero))
		return false;
	*len = addr_to_sock(addr_is_v4(&ip) ? AF_INET : AF_INET6, &ip, port, a);
	return true;
}

static int refuse(struct ndn_socket *l, char *why, size_t size, const char *what, const char *where,
		  int err)
{
	ndn_socket_close(l);
	return text_fail(why, size, -err, "%s %s: %s", what, where, strerror(err));
}

int ndn_socket_open(struct ndn_socket **link, const struct ndn_socket_addr *a, char *why,
		    size_t size)
{
	static const struct udp_options options = {
		.lost = true,
		.rcvbuf = BUFFERS,
		.sndbuf = BUFFERS,
	};
	static const struct in6_addr any;
	struct ndn_socket *l = calloc(1, sizeof(*l));
	const char *from = a->bind ? a->bind : "any address, port 6363";
	socklen_t to_len, here_len;
	union addr_sock to, here;

	if (!l)
		return text_fail(why, size, -ENOMEM, "out of memory");
	l->fd = -1;
	/* One byte more than a packet: a datagram that fills it is too long. */
	if (udp_rx_init(&l->rx, TRIB_NDN_PACKET_MAX + 1, BATCH, 0)) {
		ndn_socket_close(l);
		return text_fail(why, size, -ENOMEM, "out of memory");
	}
	if (!address_parse(a->forwarder, false, &to, &to_len))
		return refuse(l, why, size, "forwarder", a->forwarder, EINVAL);
	here_len = addr_to_sock(to.sa.sa_family, &any, TRIB_NDN_UDP_PORT, &here);
	if (a->bind && (!address_parse(a->bind, true, &here, &here_len) ||
			here.sa.sa_family != to.sa.sa_family))
		return refuse(l, why, size, "bind to", from, EINVAL);
	l->v6 = to.sa.sa_family == AF_INET6;
	l->fd = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return refuse(l, why, size, "socket to", a->forwarder, errno);
	udp_set_options(l->fd, to.sa.sa_family, &options);
	if (bind(l->fd, &here.sa, here_len))
		return refuse(l, why, size, "bind to", from, errno);
	if (connect(l->fd, &to.sa, to_len))
		return refuse(l, why, size, "way to", a->forwarder, errno);
	l->tx.fd = l->fd;
	l->tx.flags = MSG_DONTWAIT;
	l->tx.connected = true;
	*link = l;
	return 0;
}

void ndn_socket_close(struct ndn_socket *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	udp_rx_free(&l->rx);
	free(l);
}

int ndn_socket_fd(const struct ndn_socket *l)
{
	return l->fd;
}

struct ndn_socket_stats ndn_socket_stats(const struct ndn_socket *l)
{
	return (struct ndn_socket_stats){
		.rx_packets = l->rx.packets,
		.rx_bytes = l->rx.bytes,
		.rx_long = l->rx_long,
		.rx_lost = l->rx.lost,
		.tx_packets = l->tx.packets,
		.tx_bytes = l->tx.bytes,
		.tx_full = l->tx.full,
		.tx_error = l->tx.error,
		.tx_errno = l->tx.error_no,
	};
}

int ndn_socket_room(const struct ndn_socket *l)
{
	int mtu, room;
	socklen_t n = sizeof(mtu);

	if (getsockopt(l->fd, l->v6 ? IPPROTO_IPV6 : IPPROTO_IP, l->v6 ? IPV6_MTU : IP_MTU, &mtu,
		       &n))
		return -errno;
	room = mtu - (l->v6 ? HEAD_V6 : HEAD_V4);
	return room < TRIB_NDN_PACKET_MAX ? room : TRIB_NDN_PACKET_MAX;
}

uint64_t ndn_socket_now(void)
{
	return clock_ns();
}

/* ---- packets ---- */

/* The receiver of packets, and the link that they arrive by. */
struct taker {
	struct ndn_socket *l;
	ndn_socket_take *take;
	void *ctx;
};

static void packet_rx(void *ctx, const struct udp_packet *p)
{
	const struct taker *t = ctx;

	if (p->len > TRIB_NDN_PACKET_MAX)
		t->l->rx_long++;
	else
		t->take(t->ctx, p->data, p->len);
}

int ndn_socket_receive(struct ndn_socket *l, ndn_socket_take *take, void *ctx)
{
	struct taker t = {l, take, ctx};
	int n = udp_rx_batch(&l->rx, l->fd, packet_rx, &t);

	/* An ICMP error about an earlier packet: the link still works. */
	return n < 0 && udp_is_passing(-n) ? 0 : n;
}

void ndn_socket_send(struct ndn_socket *l, const void *pkt, size_t n)
{
	struct iovec *iov = &l->tx_iov[l->tx.n];

	if (n > TRIB_NDN_PACKET_MAX) {
		l->tx.error++;
		l->tx.error_no = EMSGSIZE;
		return;
	}
	iov->iov_base = memcpy(l->tx_buf[l->tx.n], pkt, n);
	iov->iov_len = n;
	udp_tx_post(&l->tx, NULL, 0, iov, 1, n, 0);
	if (l->tx.n == BATCH)
		udp_tx_push(&l->tx);
}

void ndn_socket_flush(struct ndn_socket *l)
{
	udp_tx_push(&l->tx);
}
