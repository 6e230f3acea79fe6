// SPDX-License-Identifier: BSD-2-Clause
/* Owns the talk with systemd; see service.h. */
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */
/* More datagrams than any socket's buffer holds. */
#define DRAIN_MAX (1u << 18)

/* Copy the part of @list up to the next colon. Return: the rest. */
static const char *name_next(const char *list, char *name)
{
	size_t n = strcspn(list, ":");

	snprintf(name, SERVICE_NAME_MAX, "%.*s", n < SERVICE_NAME_MAX ? (int)n : 0, list);
	return list[n] ? list + n + 1 : list + n;
}

void service_sockets_get(struct service_sockets *s)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	const char *names = getenv("LISTEN_FDNAMES");
	uint64_t to, n;
	unsigned int i;

	s->n = 0;
	if (pid && fds && !text_number(pid, 1, INT32_MAX, &to) && to == (uint64_t)getpid() &&
	    !text_number(fds, 1, SERVICE_SOCKETS_MAX, &n))
		s->n = (unsigned int)n;
	for (i = 0; i < s->n; i++) {
		names = name_next(names ? names : "", s->name[i]);
		s->fd[i] = FIRST_FD + (int)i;
		if (fcntl(s->fd[i], F_SETFD, FD_CLOEXEC))
			s->fd[i] = -1;
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}

/* Addresses may be padded behind what they say: compare their meaning. */
static bool is_same(const struct sockaddr_storage *a, socklen_t alen, const struct sockaddr *b,
		    socklen_t blen)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->sa_family)
		return false;
	switch (b->sa_family) {
	case AF_INET:
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	case AF_INET6:
		return a6->sin6_port == b6->sin6_port &&
		       !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
	default:
		return alen == blen && !memcmp(a, b, blen);
	}
}

static bool is_bound_to(int fd, int type, const struct sockaddr *sa, socklen_t len)
{
	struct sockaddr_storage own = {};
	socklen_t own_len = sizeof(own), int_len = sizeof(int);
	int own_type;

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &own_type, &int_len) && own_type == type &&
	       !getsockname(fd, (struct sockaddr *)&own, &own_len) &&
	       is_same(&own, own_len, sa, len);
}

int service_sockets_take(struct service_sockets *s, int type, const struct sockaddr *sa,
			 socklen_t len)
{
	unsigned int i;
	int fd;

	for (i = 0; i < s->n; i++) {
		fd = s->fd[i];
		if (fd < 0 || !is_bound_to(fd, type, sa, len))
			continue;
		s->fd[i] = -1;
		return fd;
	}
	return -1;
}

/* --- news */

static int send_news(const char *text, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)text, strlen(text)};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct msghdr m = {.msg_name = &to, .msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;
	int s, err;

	if (!path || (*path != '/' && *path != '@'))
		return -ENOENT;
	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path));
	if (*path == '@')
		to.sun_path[0] = '\0';
	m.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (fd >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -errno;
	err = sendmsg(s, &m, MSG_NOSIGNAL) < 0 ? -errno : 0;
	close(s);
	return err;
}

int service_keep(int fd, const char *name)
{
	char text[96];

	/* An error that waits at a socket, as ICMP leaves one, must not end the copy. */
	snprintf(text, sizeof(text), "FDSTORE=1\nFDNAME=%s\nFDPOLL=0", name);
	return send_news(text, fd);
}

int service_tell(const char *news)
{
	return send_news(news, -1);
}

/* --- what nobody took */

void service_sockets_close(struct service_sockets *s)
{
	char text[SERVICE_NAME_MAX + 32];
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		if (s->fd[i] < 0)
			continue;
		close(s->fd[i]);
		snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", s->name[i]);
		(void)service_tell(text);
	}
	s->n = 0;
}

void service_drain(int fd)
{
	unsigned int n = DRAIN_MAX;

	while (n-- && (recv(fd, NULL, 0, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno != EAGAIN))
		;
}
