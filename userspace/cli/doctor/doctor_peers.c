// SPDX-License-Identifier: BSD-2-Clause
/*
 * trib doctor: whether the ranks of this host can exchange without relays: the library
 * is there, and so is the way to where rank 0 listens.
 */
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/host/holder.h"
#include "cli/net/link.h"
#include "doctor.h"

#define LIBRARY "libtrib-peer.so.0"

/*
 * Load @path, so that the loader tells what it lacks. Return: whether it can be loaded. It
 * stays: libraries below it never free what they allocate when they are loaded.
 */
static bool can_load(const char *path, char *why, size_t size)
{
	if (dlopen(path, RTLD_LAZY | RTLD_LOCAL))
		return true;
	snprintf(why, size, "%s", dlerror());
	return false;
}

/* The same beside this program, where a build has it, and in the lib of its prefix. */
static bool can_load_beside(const char *from, char *why, size_t size)
{
	char path[512], dir[256];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n <= 0)
		return false;
	dir[n] = '\0';
	*strrchr(dir, '/') = '\0';
	snprintf(path, sizeof(path), "%s/%s" LIBRARY, dir, from);
	return !access(path, F_OK) && can_load(path, why, size);
}

static void check_library(struct doctor *d)
{
	const char *path = getenv("TRIB_PEER_LIBRARY");
	char why[OUT_CELL];

	if (path && *path ? can_load(path, why, sizeof(why))
			  : can_load(LIBRARY, why, sizeof(why)) ||
				    can_load_beside("", why, sizeof(why)) ||
				    can_load_beside("../lib/", why, sizeof(why)))
		doctor_note(d, DOCTOR_OK, "peers", "library", NULL, LIBRARY " can be loaded");
	else
		doctor_note(
			d, DOCTOR_FAIL, "peers", "library",
			"make install, and apt install libfabric1; elsewhere: TRIB_PEER_LIBRARY=PATH",
			"%s", why);
}

/* Try to listen, as rank 0 does. Return: 0 or -errno. */
static int port_try(const union addr_sock *sa, socklen_t len)
{
	int fd = socket(sa->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, err;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	err = bind(fd, &sa->sa, len) ? -errno : 0;
	close(fd);
	return err;
}

static void check_port(struct doctor *d, const json_t *job, const struct in6_addr *ip,
		       uint16_t port)
{
	const char *name = jstr(job, "name"), *at = jstr(job, "peers");
	char who[HOLDER_TEXT_MAX] = "a process", cure[160];
	union addr_sock sa;
	socklen_t len = addr_to_sock(addr_is_v4(ip) ? AF_INET : AF_INET6, ip, port, &sa);
	struct holder h;
	int err = port_try(&sa, len);

	doctor_text(cure, sizeof(cure),
		    "end it; or make the job with another port: trib job del %s", name);
	if (!err)
		doctor_note(d, DOCTOR_OK, "peers", name, NULL, "rank 0 can listen here, at %s", at);
	else if (err != -EADDRINUSE)
		doctor_note(d, DOCTOR_FAIL, "peers", name, "name another port or address",
			    "rank 0 cannot listen here, at %s: %s", at, strerror(-err));
	else if (holder_find(&sa.sa, len, IPPROTO_TCP, &h))
		doctor_note(d, DOCTOR_WARN, "peers", name, cure, "%s is taken", at);
	else if (jnum(job, "attached"))
		doctor_note(d, DOCTOR_OK, "peers", name, NULL, "at %s listens %s", at,
			    holder_text(&h, who, sizeof(who)));
	else
		doctor_note(d, DOCTOR_FAIL, "peers", name, cure,
			    "%s is taken by %s, and no rank is attached", at,
			    holder_text(&h, who, sizeof(who)));
}

static void check_way(struct doctor *d, struct rt *rt, const json_t *job)
{
	const char *name = jstr(job, "name"), *at = jstr(job, "peers");
	struct in6_addr ip;
	struct route route;
	struct link l;
	uint16_t port;
	int err;

	if (addr_parse_meeting(at, &ip, &port))
		return;
	err = rt_route(rt, ip.s6_addr, 0, &route);
	if (err)
		doctor_note(d, DOCTOR_FAIL, "peers", name,
			    "ip route add, or give this host an address in its network",
			    "no route to where rank 0 listens, %s: %s", at, strerror(-err));
	else if (route.local)
		check_port(d, job, &ip, port);
	else if (rt_link(rt, route.oif, LINK_HERE, &l))
		doctor_note(d, DOCTOR_OK, "peers", name, NULL, "rank 0 listens at %s", at);
	else
		doctor_note(d, DOCTOR_OK, "peers", name, NULL, "rank 0 listens at %s, by %s", at,
			    l.name);
}

void doctor_peers(struct doctor *d)
{
	struct rt *rt = NULL;
	bool any = false;
	const json_t *job;
	size_t i;

	json_array_foreach(d->jobs, i, job) {
		if (!*jstr(job, "peers"))
			continue;
		if (!any)
			check_library(d);
		any = true;
		if (rt || !rt_open(&rt))
			check_way(d, rt, job);
	}
	if (rt)
		rt_close(rt);
}
