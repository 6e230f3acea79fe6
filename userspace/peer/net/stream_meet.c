// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two ends of a link over TCP meet. The lower rank connects; both name the tokens of the
 * blobs, which came by boot/, so a stranger who connects becomes no peer.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "peer/net/stream.h"

static int meet_fault(struct stream_port *s, int err, int peer, const char *doing)
{
	return peer_fault_set(&s->fault, err, peer, "TCP: %s: %s", doing, strerror(err));
}

int stream_watch(struct stream_port *s, uint32_t link, int op)
{
	const struct stream_link *l = &s->links[link];
	struct epoll_event e = {.events = EPOLLIN | (l->blocked ? EPOLLOUT : 0), .data.u32 = link};

	return epoll_ctl(s->events, op, l->sock, &e) ? -errno : 0;
}

/* By edges: half a hello wakes nobody twice. */
static int watch_other(struct stream_port *s, int fd, uint32_t what)
{
	struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = what};

	return epoll_ctl(s->events, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* --- the listener */

static bool address_of(const struct ifaddrs *i, struct in6_addr *out)
{
	union addr_sock sa;
	uint16_t port;

	if (!i->ifa_addr ||
	    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
		return false;
	memcpy(&sa, i->ifa_addr,
	       i->ifa_addr->sa_family == AF_INET ? sizeof(sa.in) : sizeof(sa.in6));
	addr_from_sock(&sa, out, &port);
	return !IN6_IS_ADDR_LINKLOCAL(out);
}

/* The first address of device @nic; NULL: of any device that is up and no loopback. */
static int device_address(const char *nic, struct in6_addr *out)
{
	struct ifaddrs *all, *i;
	int err = -ENODEV;

	if (getifaddrs(&all))
		return -errno;
	for (i = all; i && err; i = i->ifa_next) {
		if (nic ? strcmp(i->ifa_name, nic)
			: !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK)
			continue;
		if (address_of(i, out))
			err = 0;
	}
	freeifaddrs(all);
	return err;
}

static int find_address(const char *nic, struct in6_addr *out)
{
	return nic && addr_parse(nic, out) ? 0 : device_address(nic, out);
}

static int make_socket(const struct in6_addr *a, uint16_t port, union addr_sock *sa, socklen_t *len)
{
	int family = addr_is_v4(a) ? AF_INET : AF_INET6;

	*len = addr_to_sock(family, a, port, sa);
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

int stream_meet_open(struct stream_port *s, const char *nic)
{
	int err = find_address(nic, &s->addr);
	union addr_sock sa;
	struct in6_addr own;
	socklen_t len;

	if (err)
		return peer_fault_set(&s->fault, -err, -1, "no NIC \"%s\" with an address",
				      nic ? nic : "");
	if (getrandom(s->token, sizeof(s->token), 0) != sizeof(s->token))
		return meet_fault(s, EIO, -1, "random numbers");
	s->events = epoll_create1(EPOLL_CLOEXEC);
	s->listener = make_socket(&s->addr, 0, &sa, &len);
	if (s->events < 0 || s->listener < 0)
		return meet_fault(s, errno, -1, "socket");
	if (bind(s->listener, &sa.sa, len) || listen(s->listener, 4096))
		return meet_fault(s, errno, -1, "listen");
	len = sizeof(sa);
	if (getsockname(s->listener, &sa.sa, &len) ||
	    watch_other(s, s->listener, STREAM_EV_LISTENER))
		return meet_fault(s, errno, -1, "listen");
	addr_from_sock(&sa, &own, &s->tcp_port);
	return 0;
}

void stream_meet_close(struct stream_port *s)
{
	uint32_t i;

	for (i = 0; i < STREAM_PENDING; i++)
		if (s->pending[i] >= 0)
			close(s->pending[i]);
	for (i = 0; s->links && i < s->npeer; i++)
		if (s->links[i].sock >= 0)
			close(s->links[i].sock);
	if (s->listener >= 0)
		close(s->listener);
	if (s->events >= 0)
		close(s->events);
}

/* --- hellos */

static bool hello_send(struct stream_port *s, const struct stream_link *l, int sock)
{
	struct stream_hello h = {.magic = STREAM_MAGIC, .rank = s->rank};

	memcpy(h.from, s->token, sizeof(h.from));
	memcpy(h.to, l->token, sizeof(h.to));
	/* The first bytes on a connection always fit. */
	return send(sock, &h, sizeof(h), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(h);
}

static bool hello_is_of(const struct stream_port *s, const struct stream_link *l,
			const struct stream_hello *h)
{
	return l->known && h->magic == STREAM_MAGIC && h->rank == l->rank &&
	       !memcmp(h->from, l->token, sizeof(h->from)) &&
	       !memcmp(h->to, s->token, sizeof(h->to));
}

/* Return: 1: it is whole, and stays in the socket; 0: not yet; -1: it never will be. */
static int hello_peek(int sock, struct stream_hello *h)
{
	ssize_t n = recv(sock, h, sizeof(*h), MSG_PEEK | MSG_DONTWAIT);

	if (n == sizeof(*h))
		return 1;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -1;
}

static bool hello_drop(int sock)
{
	struct stream_hello h;

	return recv(sock, &h, sizeof(h), MSG_DONTWAIT) == sizeof(h);
}

static int link_up(struct stream_port *s, uint32_t link)
{
	int one = 1;

	setsockopt(s->links[link].sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	s->links[link].up = true;
	s->links[link].blocked = false;
	return stream_watch(s, link, EPOLL_CTL_MOD);
}

int stream_meet_connect(struct stream_port *s, uint32_t link, const struct stream_blob *b)
{
	struct stream_link *l = &s->links[link];
	union addr_sock sa, own;
	socklen_t len, own_len;

	if (s->rank > l->rank) {
		stream_meet_look(s);
		return 0;
	}
	l->sock = make_socket(&b->addr, b->port, &sa, &len);
	if (l->sock < 0)
		return meet_fault(s, errno, (int)l->rank, "socket");
	/* By this port's NIC, also where several lead to the peer. */
	own_len = addr_to_sock(sa.sa.sa_family, &s->addr, 0, &own);
	if (bind(l->sock, &own.sa, own_len))
		return meet_fault(s, errno, (int)l->rank, "bind");
	if (connect(l->sock, &sa.sa, len) && errno != EINPROGRESS)
		return meet_fault(s, errno, (int)l->rank, "connect");
	/* Room is there when it is connected. */
	l->blocked = true;
	return stream_watch(s, link, EPOLL_CTL_ADD);
}

/* The lower rank's end: connected, then the other's hello. */
int stream_meet_hello(struct stream_port *s, uint32_t link)
{
	struct stream_link *l = &s->links[link];
	struct stream_hello h;
	socklen_t len = sizeof(int);
	int err = 0, rc;

	if (l->blocked) {
		if (getsockopt(l->sock, SOL_SOCKET, SO_ERROR, &err, &len) || err ||
		    !hello_send(s, l, l->sock))
			return meet_fault(s, err ? err : ECONNRESET, (int)l->rank, "connect");
		l->blocked = false;
		return stream_watch(s, link, EPOLL_CTL_MOD);
	}
	rc = hello_peek(l->sock, &h);
	if (!rc)
		return 0;
	if (rc < 0 || !hello_is_of(s, l, &h) || !hello_drop(l->sock))
		return meet_fault(s, ECONNRESET, (int)l->rank, "hello");
	return link_up(s, link);
}

/* The link of a lower rank that may be at the other end; NULL: none. */
static struct stream_link *link_of(struct stream_port *s, const struct stream_hello *h)
{
	uint32_t i;

	for (i = 0; i < s->npeer && s->links[i].rank < s->rank; i++)
		if (s->links[i].rank == h->rank)
			return s->links[i].sock < 0 ? &s->links[i] : NULL;
	return NULL;
}

/* Give a connection that has said hello to its link. Return: false: it is no peer's. */
static bool adopt(struct stream_port *s, struct stream_link *l, int sock,
		  const struct stream_hello *h)
{
	if (!hello_is_of(s, l, h) || !hello_drop(sock) || !hello_send(s, l, sock))
		return false;
	/* It was watched as one that waits. */
	epoll_ctl(s->events, EPOLL_CTL_DEL, sock, NULL);
	l->sock = sock;
	stream_watch(s, (uint32_t)(l - s->links), EPOLL_CTL_ADD);
	link_up(s, (uint32_t)(l - s->links));
	return true;
}

/* One that cannot become a peer is closed; one whose blob is to come waits. */
void stream_meet_look(struct stream_port *s)
{
	struct stream_link *l;
	struct stream_hello h;
	unsigned int i;
	int rc;

	for (i = 0; i < STREAM_PENDING; i++) {
		if (s->pending[i] < 0)
			continue;
		rc = hello_peek(s->pending[i], &h);
		l = rc > 0 ? link_of(s, &h) : NULL;
		if (!rc || (l && !l->known))
			continue;
		if (!l || !adopt(s, l, s->pending[i], &h))
			close(s->pending[i]);
		s->pending[i] = -1;
	}
}

static void take_connections(struct stream_port *s)
{
	int *place, sock;

	while ((sock = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		/* The oldest one that says nothing makes room. */
		place = &s->pending[s->next_pending++ % STREAM_PENDING];
		if (*place >= 0)
			close(*place);
		*place = sock;
		watch_other(s, sock, STREAM_EV_PENDING);
	}
}

int stream_meet_event(struct stream_port *s, uint32_t what)
{
	if (what == STREAM_EV_LISTENER)
		take_connections(s);
	stream_meet_look(s);
	return s->fault.err ? -s->fault.err : 0;
}
