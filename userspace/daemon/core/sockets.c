// SPDX-License-Identifier: BSD-2-Clause
/*
 * Owns the sockets of tribd's addresses; see sockets.h. They are bound here, and
 * used by netlink/, session/ and attach/. All three are there before tribd touches
 * anything that runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/host/home.h"
#include "base/host/service.h"
#include "sockets.h"

static void say(const char *line)
{
	log_warn("%s", line);
}

/* The UDP socket serves both versions; without IPv6 in the kernel it is an IPv4 one. */
static int socket_open(struct home *a)
{
	int type = a->type | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int fd = socket(a->sa.sa_family, type, a->protocol), zero = 0;

	if (fd < 0 && a->sa.sa_family == AF_INET6) {
		memset(&a->ip, 0, sizeof(a->ip));
		a->ip.in.sin_family = AF_INET;
		a->ip.in.sin_port = htons(TRIB_UDP_PORT);
		a->len = sizeof(a->ip.in);
		return socket(AF_INET, type, 0);
	}
	if (fd >= 0 && a->sa.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool is_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* Return: the socket that came with the start; -1: there is none. */
static int socket_take(struct service_sockets *kept, const struct home *a)
{
	socklen_t len = sizeof(int);
	int only = 0, fd = service_sockets_take(kept, a->type, &a->sa, a->len);

	if (fd < 0)
		return -1;
	if (a->sa.sa_family == AF_INET6 &&
	    (getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, &len) || only)) {
		log_warn("%s from systemd takes IPv6 only: set BindIPv6Only=both in tribd.socket",
			 a->what);
		close(fd);
		return -1;
	}
	if (is_nonblocking(fd))
		return fd;
	close(fd);
	return -1;
}

static int socket_bind(struct tribd *d, enum home_tribd id, struct home *a, struct home_wait *wait)
{
	int err;

	d->sock[id] = socket_open(a);
	err = d->sock[id] < 0 ? -errno : home_bind(wait, d->sock[id], a);
	if (err && err != -EADDRINUSE)
		log_error("%s: %s", a->what,
			  err == -EINTR ? "a signal ended the wait" : strerror(-err));
	return err;
}

int sockets_init(struct tribd *d)
{
	struct home_wait wait = {.twin = "tribd", .say = say};
	struct service_sockets kept;
	struct home a[HOME__MAX];
	int id, err = 0;

	service_sockets_get(&kept);
	for (id = 0; id < HOME__MAX; id++) {
		home_tribd(id, &a[id]);
		d->sock[id] = socket_take(&kept, &a[id]);
		d->sock_kept[id] = d->sock[id] >= 0;
		if (d->sock_kept[id])
			log_info("%s: goes on with the socket that systemd kept", a[id].what);
	}
	service_sockets_close(&kept);
	for (id = 0; !err && id < HOME__MAX; id++) {
		if (!d->sock_kept[id])
			err = socket_bind(d, id, &a[id], &wait);
		if (!err)
			(void)service_keep(d->sock[id], a[id].name);
	}
	return err;
}

void sockets_exit(struct tribd *d)
{
	int id;

	for (id = 0; id < HOME__MAX; id++) {
		if (d->sock[id] >= 0)
			close(d->sock[id]);
		d->sock[id] = -1;
	}
}
