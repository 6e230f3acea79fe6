// SPDX-License-Identifier: BSD-2-Clause
/*
 * The socket, the clock and the faces of ways/node.c.
 */
#include "ways.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/addr.h"
#include "daemon/core/datagram.h"
#include "daemon/face/face.h"
#include "node.h"
#include "paths.h"
#include "routes.h"

#define PACKETS_PER_TURN 128
/* Until then the routes of the tribd before are not removed: no news has come yet. */
#define SETTLED_TURNS 60

struct ways {
	struct ways_node node;
	struct face *face[TRIB_WAYS_LINKS]; /* of the node's links */
	struct ways_hops routes;
	struct watch watch; /* fd -1: no face is watched */
	struct datagram sock;
	struct timer timer;
	unsigned int turns;
	uint8_t passes; /* TRIB_WAYS_PASSES_..., read once a second */
	bool reread;  /* somebody changed routes; the kernel drops those of a device that is down */
	int bind_err; /* of the last try, logged */
};

static bool settled(const struct ways *w)
{
	return w->turns >= SETTLED_TURNS;
}

/* --- what the node asks for */

static void send_out(struct ways_node *node, unsigned int link, const void *buf, size_t len)
{
	struct ways *w = node->arg;
	const struct face *f = w->face[link];

	datagram_send(&w->sock, f->l3_ifindex, true, &f->local, &f->addr, TRIB_WAYS_PORT, buf, len);
}

static uint64_t random_bits(struct ways_node *node)
{
	uint64_t v = 0;

	(void)node;
	if (getrandom(&v, sizeof(v), 0) != sizeof(v))
		log_error("no random numbers");
	return v;
}

static bool is_on(const char *path)
{
	FILE *f = fopen(path, "re");
	bool on = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	return on;
}

static uint8_t passes(void)
{
	return (uint8_t)((is_on("/proc/sys/net/ipv4/ip_forward") ? TRIB_WAYS_PASSES_V4 : 0) |
			 (is_on("/proc/sys/net/ipv6/conf/all/forwarding") ? TRIB_WAYS_PASSES_V6
									  : 0));
}

static uint64_t clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* --- routes */

static void routes_set(struct tribd *d, struct ways *w)
{
	struct ways_hops want = {};
	struct ways_route *r;
	int i, n = ways_paths(&w->node.all, &r);

	if (n > 0)
		want.at = calloc((size_t)n, sizeof(*want.at));
	if (n < 0 || (n && !want.at)) {
		log_error("no memory for routes");
		free(r);
		return;
	}
	for (i = 0; i < n; i++)
		want.at[i] = (struct ways_hop){.to = r[i].to,
					       .via = w->node.link[r[i].link].peer,
					       .oif = w->face[r[i].link]->l3_ifindex};
	want.n = (unsigned int)n;
	free(r);
	ways_routes_change(d, &w->routes, &want, settled(w));
}

static void links_tell(struct ways *w)
{
	unsigned int i;

	for (i = 0; i < w->node.nlinks; i++) {
		uint8_t now =
			w->node.link[i].dead ? TRIB_FACE_NEIGHBOUR_DEAD : TRIB_FACE_NEIGHBOUR_ALIVE;

		if (w->face[i]->neighbour == now)
			continue;
		if (w->face[i]->neighbour || now == TRIB_FACE_NEIGHBOUR_DEAD)
			log_info("face %s: the neighbour %s", w->face[i]->name,
				 now == TRIB_FACE_NEIGHBOUR_DEAD ? "does not answer"
								 : "answers again");
		w->face[i]->neighbour = now;
	}
}

/* After turns and messages. */
static void follow(struct tribd *d, struct ways *w)
{
	if (!w->node.moved)
		return;
	w->node.moved = false;
	links_tell(w);
	routes_set(d, w);
}

/* --- the socket */

static void readable(struct tribd *d, struct watch *watch, uint32_t events)
{
	struct ways *w = d->ways;
	uint8_t buf[2048]; /* longer ones are not ours */
	int turns = PACKETS_PER_TURN, rc = 1;
	struct udp_packet p;
	unsigned int i;

	(void)watch;
	(void)events;
	while (rc && turns--) {
		rc = datagram_receive(&w->sock, buf, sizeof(buf), &p);
		if (rc <= 0)
			continue;
		for (i = 0; i < w->node.nlinks; i++)
			if (w->face[i]->l3_ifindex == p.ifindex &&
			    IN6_ARE_ADDR_EQUAL(&w->node.link[i].peer, &p.src) &&
			    IN6_ARE_ADDR_EQUAL(&w->node.link[i].local, &p.dst))
				break;
		if (i == w->node.nlinks || p.sport != TRIB_WAYS_PORT ||
		    !ways_node_receive(&w->node, i, buf, p.len))
			d->unproven++;
	}
	follow(d, w);
}

static int socket_bind(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0, err;
	bool v6 = fd >= 0;
	union addr_sock sa;
	socklen_t len;

	if (v6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	else
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	len = addr_to_sock(v6 ? AF_INET6 : AF_INET, &in6addr_any, TRIB_WAYS_PORT, &sa);
	if (!bind(fd, &sa.sa, len))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static void socket_close(struct tribd *d, struct ways *w)
{
	if (w->watch.fd < 0)
		return;
	loop_del(d, &w->watch);
	close(w->watch.fd);
	w->watch.fd = -1;
}

/* Return: it is open. */
static bool socket_open(struct tribd *d, struct ways *w)
{
	int err;

	if (w->watch.fd >= 0)
		return true;
	w->sock.fd = w->watch.fd = socket_bind();
	err = w->sock.fd < 0 ? w->sock.fd : datagram_setup(&w->sock);
	if (!err)
		err = loop_add(d, &w->watch, EPOLLIN);
	if (err && w->sock.fd >= 0)
		close(w->sock.fd);
	if (err)
		w->watch.fd = -1;
	if (err && err != w->bind_err)
		log_error("UDP port %u, to watch neighbours: %s; it is tried again", TRIB_WAYS_PORT,
			  strerror(-err));
	w->bind_err = err;
	return !err;
}

/* --- faces and time */

static bool is_watched(const struct face *f)
{
	return f->watch_given && f->l3_ifindex && f->local_known && !addr_is_zero(&f->addr) &&
	       !addr_is_multicast(&f->addr);
}

static void routes_reread(struct tribd *d, struct ways *w)
{
	struct ways_hops now;

	w->reread = false;
	if (ways_routes_read(d, &now)) {
		free(now.at);
		return;
	}
	free(w->routes.at);
	w->routes = now;
	w->node.moved = true;
}

static void turn(struct tribd *d, struct timer *t)
{
	struct ways *w = d->ways;

	timer_set(d, t, WAYS_TURN_MS);
	if (!socket_open(d, w))
		return;
	w->turns++;
	if (w->turns == SETTLED_TURNS)
		w->node.moved = true;
	if (!(w->turns % 20)) {
		w->passes = passes();
		ways_faces_changed(d);
	}
	if (w->reread)
		routes_reread(d, w);
	ways_node_turn(&w->node);
	follow(d, w);
}

static void stop(struct tribd *d, struct ways *w)
{
	struct ways_hops none = {};

	timer_cancel(d, &w->timer);
	socket_close(d, w);
	ways_routes_change(d, &w->routes, &none, true);
	w->turns = 0;
}

void ways_faces_changed(struct tribd *d)
{
	struct ways_want want[TRIB_WAYS_LINKS];
	struct ways *w = d->ways;
	unsigned int n = 0;
	struct face *f;

	if (!w)
		return;
	TAILQ_FOREACH(f, &d->faces, link) {
		if (!is_watched(f) || n == TRIB_WAYS_LINKS) {
			f->neighbour = TRIB_FACE_NEIGHBOUR_UNKNOWN;
			continue;
		}
		w->face[n] = f;
		want[n++] = (struct ways_want){f->local, f->addr, f->watch};
	}
	ways_node_links(&w->node, want, n, n ? w->passes : 0);
	if (n && !w->timer.at_ns)
		timer_set(d, &w->timer, WAYS_TURN_MS);
	else if (!n && (w->timer.at_ns || w->routes.n))
		stop(d, w);
	follow(d, w);
}

void ways_routes_changed(struct tribd *d)
{
	if (d->ways)
		d->ways->reread = true;
}

int ways_init(struct tribd *d)
{
	struct ways *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->watch.fd = w->sock.fd = -1;
	w->watch.fn = readable;
	w->timer.fn = turn;
	w->passes = passes();
	w->node.arg = w;
	w->node.send = send_out;
	w->node.random = random_bits;
	d->ways = w;
	err = ways_node_start(&w->node, d->config.instance, clock_us());
	if (!err)
		err = ways_routes_read(d, &w->routes);
	if (err) {
		log_error("routes: %s", strerror(-err));
		return err;
	}
	ways_faces_changed(d);
	return 0;
}

void ways_exit(struct tribd *d)
{
	struct ways *w = d->ways;

	if (!w)
		return;
	timer_cancel(d, &w->timer);
	socket_close(d, w);
	ways_node_free(&w->node);
	free(w->routes.at);
	free(w);
	d->ways = NULL;
}

void ways_purge(struct tribd *d)
{
	struct ways_hops now, none = {};

	if (!ways_routes_read(d, &now))
		ways_routes_change(d, &now, &none, true);
	free(now.at);
}
