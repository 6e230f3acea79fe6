// SPDX-License-Identifier: GPL-2.0
/*
 * The UDP sockets of a collective socket: one per local address and port, with
 * options and buffers for a window of results. bind() runs as its caller, so the
 * kernel refuses privileged ports.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/net.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "io.h"
#include "sock/check/place.h"

/* Buffers of all UDP sockets of one collective socket together. */
#define RCVBUF_ALL (16 << 20)
#define SNDBUF_ALL (4 << 20)
#define BUF_MIN (128 << 10)
/* Bytes that a datagram counts in a receive buffer: a page and its metadata. */
#define CHARGE 4608

static int set(struct socket *sock, int level, int name, void *val, int len)
{
	return sock->ops->setsockopt(sock, level, name, KERNEL_SOCKPTR(val), len);
}

/* A kernel without the option costs speed or congestion marks only. */
static void set_int(struct socket *sock, int level, int name, int val)
{
	(void)set(sock, level, name, &val, sizeof(val));
}

static void set_options(struct trib_port *p)
{
	if (p->v6) {
		set_int(p->sock, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		set_int(p->sock, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
		set_int(p->sock, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
		/* Relays send UDP without checksum. */
		set_int(p->sock, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	} else {
		set_int(p->sock, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
		set_int(p->sock, IPPROTO_IP, IP_MULTICAST_ALL, 0);
	}
	set_int(p->sock, IPPROTO_UDP, UDP_GRO, 1);
}

/* Runs in softirq. close_port() ends calls before ts is freed. */
static void data_ready(struct sock *sk)
{
	struct trib_port *p;

	read_lock_bh(&sk->sk_callback_lock);
	p = sk->sk_user_data;
	if (p)
		trib_work_kick(p->ts);
	read_unlock_bh(&sk->sk_callback_lock);
}

static int bind_port(struct trib_port *p)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (p->v6) {
		trib_sockaddr_v6(&v6, p->addr, p->port);
		return kernel_bind(p->sock, (struct sockaddr *)&v6, sizeof(v6));
	}
	trib_sockaddr_v4(&v4, p->addr, p->port);
	return kernel_bind(p->sock, (struct sockaddr *)&v4, sizeof(v4));
}

/*
 * Bind to a device if the relay is on this host: routed by address, packets would
 * take the loopback device and miss the relay's XDP program.
 */
static void keep_to_device(struct trib_io *io, struct trib_way *way,
			   const struct trib_attach_tree *a)
{
	int index;

	if (!trib_device_of(io->net, way->addr))
		return;
	index = trib_device_towards(io, way, a->local_addr);
	if (index)
		(void)sock_bindtoindex(way->port->sock->sk, index, true);
	/* Drop the route through the loopback device. */
	dst_release(way->dst);
	way->dst = NULL;
}

static int open_port(struct trib_sock *ts, struct trib_way *way, const struct trib_attach_tree *a)
{
	struct trib_port *p = way->port;
	struct sock *sk;
	int rc;

	rc = sock_create_kern(ts->io->net, p->v6 ? AF_INET6 : AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			      &p->sock);
	if (rc) {
		p->sock = NULL;
		return trib_fault(&ts->eng, TRIB_SOCK_ERR_SYSTEM, rc,
				  "cannot make a UDP socket: error %d", -rc);
	}
	set_options(p);
	keep_to_device(ts->io, way, a);
	rc = bind_port(p);
	if (rc)
		return trib_fault(&ts->eng, TRIB_SOCK_ERR_SYSTEM, rc,
				  rc == -EADDRINUSE ? TRIB_TEXT_PORT_TAKEN
						    : "cannot bind UDP port %u",
				  p->port);
	sk = p->sock->sk;
	p->sport = ntohs(inet_sk(sk)->inet_sport);
	sk->sk_allocation = GFP_KERNEL;
	write_lock_bh(&sk->sk_callback_lock);
	p->ready = sk->sk_data_ready;
	sk->sk_user_data = p;
	sk->sk_data_ready = data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	return 0;
}

static void close_port(struct trib_port *p)
{
	struct sock *sk;

	if (!p->sock)
		return;
	sk = p->sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data) {
		sk->sk_user_data = NULL;
		sk->sk_data_ready = p->ready;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(p->sock);
}

static int join_group(struct trib_sock *ts, struct trib_way *way, const struct trib_attach_tree *a)
{
	struct trib_port *p = way->port;
	struct ip_mreqn v4 = {.imr_multiaddr.s_addr = a->mcast_addr[3]};
	struct ipv6_mreq v6 = {};
	int rc, index;

	if (!trib_addr_is_set(a->mcast_addr))
		return 0;
	index = trib_device_towards(ts->io, way, a->local_addr);
	v4.imr_ifindex = index;
	v6.ipv6mr_ifindex = index;
	memcpy(&v6.ipv6mr_multiaddr, a->mcast_addr, 16);
	rc = p->v6 ? set(p->sock, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &v6, sizeof(v6))
		   : set(p->sock, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof(v4));
	if (!rc || rc == -EADDRINUSE) /* already a member */
		return 0;
	return p->v6 ? trib_fault(&ts->eng, TRIB_SOCK_ERR_SYSTEM, rc,
				  "cannot join the multicast group %pI6c", a->mcast_addr)
		     : trib_fault(&ts->eng, TRIB_SOCK_ERR_SYSTEM, rc,
				  "cannot join the multicast group %pI4", &a->mcast_addr[3]);
}

/*
 * Does a multicast group use this port? A socket bound to one address receives no
 * group; a socket bound to all addresses excludes others from the port.
 */
static bool port_has_group(const struct trib_attach_rep *rep, u16 port)
{
	unsigned int i;

	for (i = 0; i < rep->ntree; i++)
		if (rep->tree[i].recv_port == port && trib_addr_is_set(rep->tree[i].mcast_addr))
			return true;
	return false;
}

/* Find the UDP socket of a tree, or open it. */
static int find_port(struct trib_sock *ts, const struct trib_attach_tree *a, struct trib_way *way)
{
	bool any = port_has_group(ts->place, a->recv_port);
	bool v6 = !trib_addr_is_v4(a->addr);
	struct trib_io *io = ts->io;
	__be32 local[4] = {};
	unsigned int i;

	if (!any)
		memcpy(local, a->local_addr, sizeof(local));
	for (i = 0; i < io->nport; i++)
		if (io->port[i].v6 == v6 && io->port[i].port == a->recv_port &&
		    !memcmp(io->port[i].addr, local, sizeof(local)))
			break;
	way->port = &io->port[i];
	way->port->streams++;
	if (i < io->nport)
		return 0;
	io->nport++;
	way->port->ts = ts;
	way->port->v6 = v6;
	way->port->port = a->recv_port;
	memcpy(way->port->addr, local, sizeof(local));
	return open_port(ts, way, a);
}

static int open_ways(struct trib_sock *ts, unsigned int i)
{
	const struct trib_attach_tree *a = &ts->place->tree[i];
	struct trib_way *way = ts->io->way[i];
	unsigned int h;
	int rc;

	memcpy(way->addr, a->addr, sizeof(way->addr));
	way->dport = a->port;
	for (h = 0; h < a->nhop; h++) {
		memcpy(way[1 + h].addr, a->hop[h].addr, sizeof(way->addr));
		way[1 + h].dport = a->hop[h].port;
	}
	rc = find_port(ts, a, &way[0]);
	for (h = 0; h < a->nhop; h++)
		way[1 + h].port = way->port;
	if (rc)
		return rc;
	ts->eng.stream[i]->overhead = 14 + (way->port->v6 ? 40 : 20) + 8;
	/* The first relay sends the results. */
	return join_group(ts, &way[a->nhop ? 1 : 0], a);
}

int trib_io_open(struct trib_sock *ts)
{
	unsigned int n = ts->place->ntree, i;
	struct trib_io *io = kvzalloc(sizeof(*io), GFP_KERNEL_ACCOUNT);
	int rc = 0;

	if (!io)
		return -ENOMEM;
	ts->io = io;
	io->net = sock_net(trib_sock_sk(ts));
	io->nway = n;
	io->port = kvcalloc(n, sizeof(*io->port), GFP_KERNEL_ACCOUNT);
	io->way = kvcalloc(n, sizeof(*io->way), GFP_KERNEL_ACCOUNT);
	if (!io->port || !io->way)
		rc = trib_fault(&ts->eng, TRIB_SOCK_ERR_SYSTEM, -ENOMEM, "out of memory");
	for (i = 0; !rc && i < n; i++)
		rc = open_ways(ts, i);
	for (i = 0; !rc && i < io->nport; i++)
		io->port[i].sock->sk->sk_sndbuf = max_t(u32, SNDBUF_ALL / io->nport, BUF_MIN);
	if (rc)
		trib_io_close(ts);
	return rc;
}

void trib_io_close(struct trib_sock *ts)
{
	struct trib_io *io = ts->io;
	unsigned int i, h;

	if (!io)
		return;
	for (i = 0; io->port && i < io->nport; i++)
		close_port(&io->port[i]);
	for (i = 0; io->way && i < io->nway; i++)
		for (h = 0; h < ARRAY_SIZE(io->way[i]); h++)
			dst_release(io->way[i][h].dst);
	kvfree(io->port);
	kvfree(io->way);
	kvfree(io);
	ts->io = NULL;
}

void trib_io_size(struct trib_sock *ts)
{
	unsigned int most = max_t(u32, RCVBUF_ALL / ts->io->nport, BUF_MIN);
	unsigned int i, window = ts->eng.stream[0]->window, want, fits;

	for (i = 0; i < ts->io->nport; i++) {
		struct trib_port *p = &ts->io->port[i];

		want = min_t(u64, most, 2ull * window * p->streams * CHARGE);
		lock_sock(p->sock->sk);
		p->sock->sk->sk_userlocks |= SOCK_RCVBUF_LOCK;
		WRITE_ONCE(p->sock->sk->sk_rcvbuf, max_t(u32, want, SOCK_MIN_RCVBUF));
		release_sock(p->sock->sk);
		fits = want / CHARGE / p->streams;
		fits = max(fits, 1u);
		if (!ts->eng.max_window || fits < ts->eng.max_window)
			ts->eng.max_window = fits;
	}
}
