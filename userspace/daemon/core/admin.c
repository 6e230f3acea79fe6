// SPDX-License-Identifier: BSD-2-Clause
/* Owns the look-up of rights; see admin.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "admin.h"
#include "base/host/holder.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define CAP_BIT (1ULL << CAP_NET_ADMIN)

/* --- what /proc says */

bool admin_status_parse(const char *text, struct admin_status *s)
{
	unsigned int uid[4] = {};
	unsigned int seen = 0;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (sscanf(text, "Uid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4)
			seen |= 1;
		else if (sscanf(text, "CapEff: %lx", &s->effective) == 1)
			seen |= 2;
		else if (sscanf(text, "CapAmb: %lx", &s->ambient) == 1)
			seen |= 4;
	}
	s->uid = uid[0];
	s->same_user = uid[0] == uid[1] && uid[0] == uid[2] && uid[0] == uid[3];
	return seen == 7;
}

uid_t admin_root_of(const char *uid_map)
{
	unsigned long inside, outside, count;
	int n;

	while (sscanf(uid_map, "%lu %lu %lu%n", &inside, &outside, &count, &n) == 3) {
		if (!inside && count)
			return (uid_t)outside;
		uid_map += n;
	}
	return (uid_t)-1;
}

/* Read a file of a process. Return: false if the process has ended. */
static bool file_text(int proc, const char *name, char *buf, size_t size)
{
	int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0, len = 0;

	if (fd < 0)
		return false;
	while ((size_t)len < size - 1 && (n = read(fd, buf + len, size - 1 - (size_t)len)) > 0)
		len += n;
	close(fd);
	buf[n < 0 ? 0 : len] = '\0';
	return n >= 0 && len;
}

/* --- user namespaces */

static bool is_same_ns(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/*
 * Is user namespace @ns the one that owns this network namespace, or above it? The
 * kernel shows those up to the one of this process.
 */
static bool is_over_netns(int ns)
{
	int net = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	int at = net < 0 ? -1 : ioctl(net, NS_GET_USERNS), up;
	bool found = false;

	while (at >= 0 && !found) {
		found = is_same_ns(ns, at);
		up = found ? -1 : ioctl(at, NS_GET_PARENT);
		close(at);
		at = up;
	}
	if (net >= 0)
		close(net);
	return found;
}

/* --- the decision */

/* @proc: folder of process @pid. */
static int judge(int proc, pid_t pid, uid_t uid, struct reason *why)
{
	struct admin_status s;
	char text[8192];
	bool over;
	int ns;

	if (!file_text(proc, "status", text, sizeof(text)) || !admin_status_parse(text, &s))
		return reason_set(why, -EPERM, "process %d has ended", (int)pid);
	if (!(s.effective & CAP_BIT))
		return reason_set(why, -EPERM, "process %d (uid %u) lacks CAP_NET_ADMIN", (int)pid,
				  (unsigned int)uid);
	ns = openat(proc, "ns/user", O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return reason_set(why, -EPERM, "the user namespace of process %d: %s", (int)pid,
				  strerror(errno));
	over = is_over_netns(ns);
	close(ns);
	if (!over)
		return reason_set(
			why, -EPERM,
			"process %d has CAP_NET_ADMIN in another user namespace, not over tribd's network namespace",
			(int)pid);
	if (!s.same_user || s.uid != uid)
		return reason_set(why, -EPERM, "process %d has changed its user", (int)pid);
	if (s.ambient & CAP_BIT)
		return 0;
	if (!file_text(proc, "uid_map", text, sizeof(text)) || admin_root_of(text) != uid)
		return reason_set(
			why, -EPERM,
			"process %d (uid %u) needs CAP_NET_ADMIN in its ambient set, see setpriv(1)",
			(int)pid, (unsigned int)uid);
	return 0;
}

/* Open the folder of a process, by which no later process is found. */
static int proc_open(pid_t pid, struct reason *why)
{
	char path[40], self[16];
	ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
	int fd;

	self[n < 0 ? 0 : n] = '\0';
	if (pid <= 0 || atoi(self) != getpid())
		return reason_set(
			why, -EPERM,
			"your process is in another PID namespace than tribd, which cannot look up its rights");
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? reason_set(why, -EPERM, "process %d has ended", (int)pid) : fd;
}

int admin_by_netlink(pid_t pid, uid_t uid, uint32_t port, struct reason *why)
{
	struct sockaddr_nl nl = {.nl_family = AF_NETLINK, .nl_pid = port};
	int proc = proc_open(pid, why), err;

	if (proc < 0)
		return proc;
	err = judge(proc, pid, uid, why);
	if (!err && !holder_has(proc, (struct sockaddr *)&nl, sizeof(nl), NETLINK_USERSOCK))
		err = reason_set(
			why, -EPERM,
			"process %d does not have the socket that sent this: the sender has ended, or is in another PID namespace than tribd",
			(int)pid);
	close(proc);
	return err;
}

int admin_by_unix(pid_t pid, uid_t uid, int pidfd, struct reason *why)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int proc = proc_open(pid, why), err;

	if (proc < 0)
		return proc;
	err = judge(proc, pid, uid, why);
	/* Readable when it has ended. */
	if (!err && (pidfd < 0 || poll(&p, 1, 0)))
		err = reason_set(why, -EPERM, "process %d has ended", (int)pid);
	close(proc);
	return err;
}

int admin_pidfd(int sock, pid_t pid)
{
	socklen_t len = sizeof(int);
	int fd;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	if (errno != ENOPROTOOPT || pid <= 0)
		return -1;
	return (int)syscall(SYS_pidfd_open, pid, 0);
}
