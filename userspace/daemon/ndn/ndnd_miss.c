// SPDX-License-Identifier: BSD-2-Clause
/*
 * Logs senders of NDN packets that have no face, with the command that admits
 * them. Lines are limited per sender and in total, because anybody can send.
 */
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "daemon/face/face.h"
#include "ndnd.h"
#include "daemon/device/rtnl.h"

#define SENDERS 16
#define SENDER_NS (60 * 1000000000ULL) /* interval between two lines for one sender */
#define LINE_NS (1000000000ULL)	       /* interval between any two lines */
#define PER_TURN 256

struct sender {
	struct ndn_from from;
	uint64_t said_ns;
};

struct ndnd_misses {
	struct ring_buffer *ring;
	struct watch watch;
	struct sender sender[SENDERS];
	uint64_t said_ns;
	uint64_t unsaid; /* packets since the last line */
	unsigned int turn;
};

static bool may_say(struct ndnd_misses *m, const struct ndn_from *from)
{
	struct sender *oldest = &m->sender[0], *s;
	uint64_t now = loop_now();

	m->unsaid++;
	if (m->said_ns && now - m->said_ns < LINE_NS)
		return false;
	for (s = m->sender; s < m->sender + SENDERS; s++) {
		if (s->said_ns && !memcmp(&s->from, from, sizeof(*from))) {
			if (now - s->said_ns < SENDER_NS)
				return false;
			oldest = s;
			break;
		}
		if (s->said_ns < oldest->said_ns)
			oldest = s;
	}
	oldest->from = *from;
	oldest->said_ns = m->said_ns = now;
	return true;
}

/* Find the face of this sender whose MAC address is not known yet. */
static struct face *face_waiting(struct tribd *d, const struct ndn_from *from)
{
	struct face *f;

	TAILQ_FOREACH(f, &d->faces, link)
		if (f->ndn && f->port->ifindex == from->ifindex &&
		    f->vlan[0] == ntohs(from->vlan) && from->port &&
		    f->ndn->port == ntohs(from->port) &&
		    !memcmp(&f->addr, from->addr, sizeof(from->addr)))
			return f;
	return NULL;
}

static const char *device_name(struct tribd *d, uint32_t ifindex)
{
	const struct port *p;

	TAILQ_FOREACH(p, &d->ports, link)
		if (p->ifindex == ifindex)
			return p->ifname;
	return "DEVICE";
}

/* Write the sender as arguments of `trib face add`. */
static void sender_text(struct tribd *d, const struct ndn_miss *miss, char *buf, size_t size)
{
	const struct ndn_from *from = &miss->from;
	char addr[INET6_ADDRSTRLEN], vlan[16] = "", port[24] = "";
	struct in6_addr a;

	memcpy(&a, from->addr, sizeof(a));
	if (from->vlan)
		snprintf(vlan, sizeof(vlan), " vlan %u", ntohs(from->vlan));
	if (ntohs(from->port) != TRIB_NDN_UDP_PORT)
		snprintf(port, sizeof(port), " ndn-port %u", ntohs(from->port));
	if (from->port)
		snprintf(buf, size, "dev %s%s addr %s ndn host%s", device_name(d, from->ifindex),
			 vlan, addr_text(&a, addr), port);
	else
		snprintf(buf, size, "dev %s%s mac %02x:%02x:%02x:%02x:%02x:%02x ndn host%s",
			 device_name(d, from->ifindex), vlan, from->addr[0], from->addr[1],
			 from->addr[2], from->addr[3], from->addr[4], from->addr[5], port);
}

static int on_miss(void *arg, void *data, size_t len)
{
	struct tribd *d = arg;
	struct ndnd_misses *m = d->ndn->misses;
	const struct ndn_miss *miss = data;
	char text[192];
	struct face *f;

	if (++m->turn > PER_TURN)
		return -EINTR; /* other senders have their turn first */
	if (len < sizeof(*miss))
		return 0;
	f = face_waiting(d, &miss->from);
	if (f) {
		if (!f->mac_known && f->l3_ifindex)
			rtnl_probe(d, f->l3_ifindex, &f->next_hop);
		return 0;
	}
	if (!may_say(m, &miss->from))
		return 0;
	sender_text(d, miss, text, sizeof(text));
	log_warn(
		"ndn: %llu packet%s from unknown senders refused; to admit the last sender: `trib face add NAME %s`",
		(unsigned long long)m->unsaid, m->unsaid == 1 ? "" : "s", text);
	m->unsaid = 0;
	return 0;
}

static void readable(struct tribd *d, struct watch *w, uint32_t events)
{
	struct ndnd_misses *m = d->ndn->misses;

	(void)w;
	(void)events;
	m->turn = 0;
	ring_buffer__consume(m->ring);
}

int ndnd_miss_init(struct tribd *d)
{
	struct ndnd_misses *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	d->ndn->misses = m;
	m->watch.fn = readable;
	m->watch.fd = -1;
	m->ring = ring_buffer__new(d->ndn->map[NDND_MAP_MISSES], on_miss, d, NULL);
	if (!m->ring) {
		err = -errno;
		log_error("ndn: map ndn_misses: %s", strerror(-err));
		return err;
	}
	m->watch.fd = ring_buffer__epoll_fd(m->ring);
	return loop_add(d, &m->watch, EPOLLIN);
}

void ndnd_miss_exit(struct tribd *d)
{
	struct ndnd_misses *m = d->ndn->misses;

	if (!m)
		return;
	if (m->watch.fd >= 0)
		loop_del(d, &m->watch);
	ring_buffer__free(m->ring);
	free(m);
	d->ndn->misses = NULL;
}
