// SPDX-License-Identifier: BSD-2-Clause
/*
 * The socket at TRIB_UDP_PORT: packets that the data plane passes to tribd, and
 * those that tribd sends. core/sockets.c binds it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/host/service.h"
#include "daemon/face/face.h"
#include "udp.h"

#define PACKETS_PER_TURN 64
/* Control packets are at most as long as a full data packet. */
#define PACKET_MAX 4096

struct udp {
	struct watch watch;
	struct datagram sock;
	char buf[PACKET_MAX];
};

static void readable(struct tribd *d, struct watch *w, uint32_t events)
{
	int turns = PACKETS_PER_TURN, rc = 1;
	struct udp *u = d->udp;
	struct udp_packet p;

	(void)w;
	(void)events;
	while (rc && turns--) {
		rc = datagram_receive(&u->sock, u->buf, sizeof(u->buf), &p);
		if (rc > 0)
			d->hooks->packet(d, &p);
	}
}

/* Device to send from; 0: follow the routes, which lead round a dead link. */
static uint32_t out_device(const struct face *via)
{
	return via->around ? 0 : via->l3_ifindex;
}

int udp_send(struct tribd *d, const struct face *via, const struct in6_addr *to, uint16_t port,
	     const void *data, size_t len)
{
	if (!via->l3_ifindex || !via->local_known)
		return -ENETUNREACH;
	return datagram_send(&d->udp->sock, out_device(via), false, &via->local,
			     to ? to : &via->addr, port ? port : via->udp_port, data, len);
}

int udp_send_to(struct tribd *d, const struct in6_addr *to, uint16_t port, const void *data,
		size_t len)
{
	return datagram_send_to(&d->udp->sock, to, port, data, len);
}

static void enlarge(int fd, int name, int size)
{
	setsockopt(fd, SOL_SOCKET, name, &size, sizeof(size));
}

int udp_init(struct tribd *d)
{
	struct udp *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	d->udp = u;
	u->watch.fn = readable;
	u->watch.fd = u->sock.fd = d->sock[HOME_UDP];
	err = datagram_setup(&u->sock);
	/* All workers of a large job may join at once, with full packets. */
	enlarge(u->sock.fd, SO_RCVBUFFORCE, 8 << 20);
	enlarge(u->sock.fd, SO_SNDBUFFORCE, 4 << 20);
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
