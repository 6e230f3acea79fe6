// SPDX-License-Identifier: BSD-2-Clause
/* Owns the search for who has an address; see holder.h. */
#include "holder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/addr.h"
#include "base/text.h"

/* States in /proc/net/unix and /proc/net/tcp. */
#define UNIX_CONNECTED 3
#define TCP_LISTENS 0x0a

struct want {
	const struct sockaddr *sa;
	socklen_t len;
	int protocol;
	unsigned long inode; /* 0: not found */
	uid_t uid;
};

/* --- tables. Each function looks at one line. Return: whether it is the one. */

static bool line_unix(struct want *w, const char *line)
{
	const struct sockaddr_un *un = (const void *)w->sa;
	size_t n = w->len - offsetof(struct sockaddr_un, sun_path) - 1;
	unsigned int type, state;
	int at = 0;

	if (sscanf(line, "%*s %*s %*s %*s %x %x %lu %n", &type, &state, &w->inode, &at) < 3 || !at)
		return false;
	/* A name belongs to its type. Accepted connections bear the listener's. */
	return type == SOCK_SEQPACKET && state != UNIX_CONNECTED && line[at] == '@' &&
	       strlen(line + at + 1) == n && !memcmp(line + at + 1, un->sun_path + 1, n);
}

static bool line_netlink(struct want *w, const char *line)
{
	const struct sockaddr_nl *nl = (const void *)w->sa;
	unsigned int protocol, port;

	return sscanf(line, "%*s %u %u %*s %*s %*s %*s %*s %*s %lu", &protocol, &port, &w->inode) ==
		       3 &&
	       protocol == (unsigned int)w->protocol && port == nl->nl_pid;
}

static bool is_any(const struct in6_addr *a)
{
	struct in6_addr v4;
	struct in_addr zero = {};

	addr_from_v4(&v4, &zero);
	return addr_is_zero(a) || IN6_ARE_ADDR_EQUAL(a, &v4);
}

/* Connections of TCP have their listener's port, too. */
static bool line_ip(struct want *w, const char *line)
{
	unsigned int word[4], port, state, uid;
	struct in6_addr own, other;
	uint16_t own_port;
	char text[40];

	if (sscanf(line, "%*s %39[0-9A-F]:%x %*s %x %*s %*s %*s %u %*s %lu", text, &port, &state,
		   &uid, &w->inode) != 5)
		return false;
	if (w->protocol == IPPROTO_TCP && state != TCP_LISTENS)
		return false;
	addr_from_sock((const void *)w->sa, &own, &own_port);
	if (sscanf(text, "%8x%8x%8x%8x", &word[0], &word[1], &word[2], &word[3]) == 4)
		memcpy(&other, word, sizeof(other));
	else
		addr_from_v4(&other, (const struct in_addr *)&word[0]);
	w->uid = uid;
	return port == own_port &&
	       (is_any(&own) || is_any(&other) || IN6_ARE_ADDR_EQUAL(&own, &other));
}

static int table_search(struct want *w, const char *name,
			bool (*is_it)(struct want *w, const char *line))
{
	char path[40], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/thread-self/net/%s", name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = is_it(w, line);
	}
	fclose(f);
	if (!found)
		w->inode = 0;
	return found ? 0 : -ENOENT;
}

static int tables_search(struct want *w)
{
	bool tcp = w->protocol == IPPROTO_TCP;
	int err;

	switch (w->sa->sa_family) {
	case AF_UNIX:
		return table_search(w, "unix", line_unix);
	case AF_NETLINK:
		return table_search(w, "netlink", line_netlink);
	case AF_INET:
	case AF_INET6:
		err = table_search(w, tcp ? "tcp6" : "udp6", line_ip);
		return err ? table_search(w, tcp ? "tcp" : "udp", line_ip) : 0;
	default:
		return -EAFNOSUPPORT;
	}
}

/* --- processes */

/* @proc: folder of the process; @socket: "socket:[INODE]". */
static bool has_socket(int proc, const char *socket)
{
	char target[64];
	const struct dirent *e;
	bool found = false;
	ssize_t n;
	DIR *d;
	int fd;

	fd = openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (e = readdir(d))) {
		n = readlinkat(fd, e->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		found = !strcmp(target, socket);
	}
	closedir(d);
	return found;
}

static void socket_name(const struct want *w, char *buf, size_t size)
{
	snprintf(buf, size, "socket:[%lu]", w->inode);
}

bool holder_process(pid_t pid, struct holder *h)
{
	unsigned int real = 0, effective = 0;
	char path[40], line[128];
	bool seen = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	*h = (struct holder){.pid = pid};
	while (!seen && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "Name:\t", 6))
			snprintf(h->comm, sizeof(h->comm), "%.31s", line + 6);
		seen = sscanf(line, "Uid: %u %u", &real, &effective) == 2;
	}
	fclose(f);
	text_one_line(h->comm);
	h->uid = real;
	h->is_root = !real && !effective;
	return seen;
}

static void process_search(const struct want *w, struct holder *h)
{
	const struct dirent *e;
	char socket[40];
	uint64_t pid;
	DIR *d = opendir("/proc");
	bool found = false;
	int proc;

	*h = (struct holder){.uid = w->uid};
	if (!d)
		return;
	socket_name(w, socket, sizeof(socket));
	while (!found && (e = readdir(d))) {
		if (text_number(e->d_name, 1, INT32_MAX, &pid))
			continue;
		proc = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (proc < 0)
			continue;
		found = has_socket(proc, socket) && holder_process((pid_t)pid, h);
		close(proc);
	}
	closedir(d);
	if (!found)
		*h = (struct holder){.uid = w->uid};
}

bool holder_has(int proc, const struct sockaddr *sa, socklen_t len, int protocol)
{
	struct want w = {.sa = sa, .len = len, .protocol = protocol};
	char socket[40];

	if (tables_search(&w))
		return false;
	socket_name(&w, socket, sizeof(socket));
	return has_socket(proc, socket);
}

int holder_find(const struct sockaddr *sa, socklen_t len, int protocol, struct holder *h)
{
	struct want w = {.sa = sa, .len = len, .protocol = protocol, .uid = (uid_t)-1};
	int err = tables_search(&w);

	*h = (struct holder){.uid = (uid_t)-1};
	if (err)
		return err;
	process_search(&w, h);
	return 0;
}

const char *holder_text(const struct holder *h, char *buf, size_t size)
{
	if (h->pid)
		snprintf(buf, size, "process %d (%s, uid %u)", (int)h->pid, h->comm,
			 (unsigned int)h->uid);
	else if (h->uid != (uid_t)-1)
		snprintf(buf, size, "a process of uid %u that cannot be seen from here",
			 (unsigned int)h->uid);
	else
		snprintf(buf, size, "a process that cannot be seen from here");
	return buf;
}
