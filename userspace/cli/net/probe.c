// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns probes: see probe.h. Echo requests use a raw socket, or a ping socket if
 * the caller may not open a raw one.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "probe.h"

#define RESEND_MS 250
#define SIZE_MAX_PROBE 9216

/* The echo header of ICMP and ICMPv6. */
struct echo {
	uint8_t type;
	uint8_t code;
	uint16_t sum;
	uint16_t id;
	uint16_t seq;
	uint64_t token;
} __attribute__((packed));

static bool is_v4(const uint8_t addr[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(addr, mapped, sizeof(mapped));
}

static socklen_t to_sockaddr(const uint8_t addr[16], bool v4, uint32_t scope, uint16_t port,
			     struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (v4) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, addr + 12, 4);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	in6->sin6_scope_id = scope;
	memcpy(&in6->sin6_addr, addr, 16);
	return sizeof(*in6);
}

/* Never fragment, and ignore path MTUs learned earlier. */
static void dont_fragment(int fd, bool v4)
{
	int probe = IP_PMTUDISC_PROBE, probe6 = IPV6_PMTUDISC_PROBE, one = 1;

	if (v4) {
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &probe, sizeof(probe));
		return;
	}
	setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &probe6, sizeof(probe6));
	setsockopt(fd, IPPROTO_IPV6, IPV6_DONTFRAG, &one, sizeof(one));
}

static int open_socket(struct probe *p, bool v4)
{
	int family = v4 ? AF_INET : AF_INET6;
	int proto = v4 ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6;
	int flags = SOCK_NONBLOCK | SOCK_CLOEXEC, fd;

	if (p->kind == PROBE_PORT)
		return socket(family, SOCK_DGRAM | flags, 0);
	fd = socket(family, SOCK_RAW | flags, proto);
	p->raw = fd >= 0;
	return fd >= 0 ? fd : socket(family, SOCK_DGRAM | flags, proto);
}

static void start(struct probe *p)
{
	static const uint8_t zero[16];
	bool v4 = is_v4(p->addr);
	struct sockaddr_storage ss;
	socklen_t len;

	p->answered = false;
	p->err = 0;
	p->tries = 0;
	p->fd = open_socket(p, v4);
	if (p->fd < 0) {
		p->err = errno;
		return;
	}
	if (getrandom(&p->token, sizeof(p->token), 0) < 0)
		p->token = (uintptr_t)p;
	if (p->dev &&
	    setsockopt(p->fd, SOL_SOCKET, SO_BINDTODEVICE, p->dev, (socklen_t)strlen(p->dev) + 1))
		goto fail;
	dont_fragment(p->fd, v4);
	len = to_sockaddr(p->local, v4, p->scope, 0, &ss);
	if (memcmp(p->local, zero, 16) && bind(p->fd, (struct sockaddr *)&ss, len) < 0)
		goto fail;
	len = to_sockaddr(p->addr, v4, p->scope, p->kind == PROBE_PORT ? p->port : 0, &ss);
	if (!connect(p->fd, (struct sockaddr *)&ss, len))
		return;
fail:
	p->err = errno;
	close(p->fd);
	p->fd = -1;
}

static uint16_t checksum(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void ask(struct probe *p)
{
	static uint8_t buf[SIZE_MAX_PROBE];
	bool v4 = is_v4(p->addr);
	struct echo e = {
		.type = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
		.id = (uint16_t)p->token,
		.seq = htons((uint16_t)p->tries),
		.token = p->token,
	};
	size_t len = 0;

	if (p->kind == PROBE_PING) {
		len = p->size - (v4 ? 20 : 40);
		if (p->size < 84 || p->size > sizeof(buf)) {
			p->err = EINVAL;
			return;
		}
		memset(buf, 0, len);
		memcpy(buf, &e, sizeof(e));
		/*
		 * The kernel sets the checksum for ICMPv6 and for ping sockets.
		 */
		e.sum = v4 ? checksum(buf, len) : 0;
		memcpy(buf, &e, sizeof(e));
	}
	p->tries++;
	if (p->sent == 0)
		p->sent = clock_seconds() * 1e3;
	if (send(p->fd, buf, len, 0) < 0 && errno != EAGAIN && errno != ENOBUFS)
		p->err = errno;
}

static void hear(struct probe *p)
{
	bool v4 = is_v4(p->addr);
	uint8_t buf[256];
	struct echo e;
	size_t off = 0;
	ssize_t n;

	n = recv(p->fd, buf, sizeof(buf), 0);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			p->err = errno;
		return;
	}
	if (p->kind == PROBE_PORT) {
		p->answered = true;
		return;
	}
	if (v4 && p->raw) /* a raw IPv4 socket sees the IP header */
		off = n > 0 ? (size_t)(buf[0] & 15) * 4 : 0;
	if ((size_t)n < off + sizeof(e))
		return;
	memcpy(&e, buf + off, sizeof(e));
	if (e.type != (v4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) || e.token != p->token)
		return;
	p->answered = true;
	p->err = 0;
	p->rtt_ms = clock_seconds() * 1e3 - p->sent;
}

/* True for errors that another try cannot change. */
static bool finished(const struct probe *p)
{
	return p->answered || p->fd < 0 || p->err == EMSGSIZE || p->err == ECONNREFUSED ||
	       p->err == EPERM || p->err == EINVAL;
}

static bool turn(struct probe *p, struct pollfd *fds, size_t n, double next, double deadline)
{
	bool any = false;
	double left;
	size_t i;

	for (i = 0; i < n; i++) {
		fds[i].fd = finished(&p[i]) ? -1 : p[i].fd;
		fds[i].events = POLLIN;
		any |= fds[i].fd >= 0;
	}
	left = (next < deadline ? next : deadline) - clock_seconds() * 1e3;
	if (!any || clock_seconds() * 1e3 >= deadline)
		return false;
	if (poll(fds, n, left > 0 ? (int)left + 1 : 0) <= 0)
		return true;
	for (i = 0; i < n; i++)
		if (fds[i].fd >= 0 && fds[i].revents)
			hear(&p[i]);
	return true;
}

void probe_run(struct probe *p, size_t n, int ms)
{
	struct pollfd *fds = calloc(n, sizeof(*fds));
	double deadline = clock_seconds() * 1e3 + ms, next = 0;
	size_t i;

	for (i = 0; i < n; i++)
		start(&p[i]);
	do {
		if (clock_seconds() * 1e3 < next)
			continue;
		next = clock_seconds() * 1e3 + RESEND_MS;
		/* The peer counts packets to the port: send two at most. */
		for (i = 0; i < n; i++)
			if (!finished(&p[i]) && (p[i].kind != PROBE_PORT || p[i].tries < 2))
				ask(&p[i]);
	} while (fds && turn(p, fds, n, next, deadline));
	for (i = 0; i < n; i++)
		if (p[i].fd >= 0)
			close(p[i].fd);
	free(fds);
}
