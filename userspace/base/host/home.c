// SPDX-License-Identifier: BSD-2-Clause
/* Owns the wait for an address; see home.h. */
#include "home.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "holder.h"
#include "service.h"
#include "uapi/trib.h"
#include "uapi/trib_attach.h"
#include "uapi/trib_wire.h"

#define AGAIN_MS 50

void home_tribd(enum home_tribd id, struct home *s)
{
	static const char attach[] = TRIB_ATTACH_NAME;

	memset(s, 0, sizeof(*s));
	switch (id) {
	case HOME_NETLINK:
		s->nl = (struct sockaddr_nl){.nl_family = AF_NETLINK, .nl_pid = TRIB_NL_PORT};
		s->len = sizeof(s->nl);
		s->type = SOCK_RAW;
		s->protocol = NETLINK_USERSOCK;
		s->name = "netlink";
		snprintf(s->what, sizeof(s->what), "netlink port 0x%x", TRIB_NL_PORT);
		break;
	case HOME_UDP:
		s->len = addr_to_sock(AF_INET6, &in6addr_any, TRIB_UDP_PORT, &s->ip);
		s->type = SOCK_DGRAM;
		s->name = "udp";
		snprintf(s->what, sizeof(s->what), "UDP port %u", TRIB_UDP_PORT);
		break;
	default:
		s->un.sun_family = AF_UNIX;
		memcpy(s->un.sun_path + 1, attach, sizeof(attach) - 1);
		s->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(attach));
		s->type = SOCK_SEQPACKET;
		s->name = "attach";
		snprintf(s->what, sizeof(s->what), "socket @%s", attach);
	}
}

static void say(const struct home_wait *w, const char *what, const struct holder *h, bool waits)
{
	char who[HOLDER_TEXT_MAX], line[400], cure[64] = "end that process";

	holder_text(h, who, sizeof(who));
	if (h->pid == 1)
		snprintf(cure, sizeof(cure), "stop the service that it keeps it for");
	else if (h->pid)
		snprintf(cure, sizeof(cure), "`kill %d` frees it", (int)h->pid);
	if (waits)
		snprintf(line, sizeof(line), "%s is taken by %s: waits up to %d seconds for it; %s",
			 what, who, HOME_WAIT_MS / 1000, cure);
	else
		snprintf(line, sizeof(line), "%s is taken by %s: %s", what, who, cure);
	w->say(line);
	if (!waits)
		return;
	snprintf(line, sizeof(line), "STATUS=waits for %s, which %s has", what, who);
	(void)service_tell(line);
}

static bool must_end(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

static bool is_twin(const struct home_wait *w, const struct holder *h)
{
	return h->pid && h->is_root && !strcmp(h->comm, w->twin);
}

/* The address is taken. Return: 0 to try again, or -errno to give up. */
static int taken(const struct home_wait *w, const struct home *s, bool *said)
{
	bool over = clock_ns() > w->until_ns;
	struct holder h;

	if (must_end())
		return -EINTR;
	if (*said && !over)
		return 0;
	/* It may have left just now. */
	if (holder_find(&s->sa, s->len, s->protocol, &h) == -ENOENT && !over)
		return 0;
	over |= is_twin(w, &h);
	say(w, s->what, &h, !over);
	*said = true;
	return over ? -EADDRINUSE : 0;
}

int home_bind(struct home_wait *w, int fd, const struct home *s)
{
	const struct timespec again = {.tv_nsec = AGAIN_MS * 1000000L};
	bool said = false;
	int err = 0;

	while (!err && bind(fd, &s->sa, s->len)) {
		if (errno != EADDRINUSE)
			return -errno;
		if (!w->until_ns)
			w->until_ns = clock_ns() + HOME_WAIT_MS * 1000000ULL;
		err = taken(w, s, &said);
		if (!err)
			nanosleep(&again, NULL);
	}
	return err;
}
