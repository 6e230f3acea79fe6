/* SPDX-License-Identifier: BSD-2-Clause */
/* The star of workers, and sockets in it: see sock.h. */
#include "sock.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct world w;

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

void world_read(void)
{
	const char *name = getenv("FABRIC") ? getenv("FABRIC") : "sock";
	char path[256], line[512];
	struct trib_place p;
	unsigned int i;
	FILE *f;

	w.n = WORLD;
	for (i = 0; i < w.n; i++) {
		snprintf(w.ns[i], sizeof(w.ns[i]), "/run/netns/%s-w%u", name, i);
		snprintf(path, sizeof(path), "/run/trib-fabric/%s/w%u.env", name, i);
		f = fopen(path, "r");
		if (!f || !fgets(line, sizeof(line), f))
			die(path);
		fclose(f);
		line[strcspn(line, "\n")] = 0;
		snprintf(w.ticket[i], sizeof(w.ticket[i]), "%.255s", strchr(line, '=') + 1);
		memset(&p, 0, sizeof(p));
		if (trib_ticket_parse(&p, w.ticket[i]))
			die(w.ticket[i]);
		w.rep[i] = p.rep;
		w.addr[i] = (struct sockaddr_trib){
			.family = AF_INET,
			.job = htobe16(p.rep.job),
			.rank = htobe16(p.rep.rank),
		};
		memcpy(w.addr[i].secret, p.rep.up.b, sizeof(w.addr[i].secret));
	}
}

void enter(unsigned int rank)
{
	int fd = open(w.ns[rank], O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die(w.ns[rank]);
	close(fd);
}

int make_socket(unsigned int rank)
{
	enter(rank);
	return make_socket_here(rank);
}

int make_socket_here(unsigned int rank)
{
	int fd;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_TRIB);
	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE, &w.rep[rank],
		       offsetof(struct trib_attach_rep, tree) +
			       w.rep[rank].ntree * sizeof(struct trib_attach_tree)))
		die(error_of(fd).text);
	return fd;
}

int bind_socket(int fd, unsigned int rank)
{
	return bind(fd, (struct sockaddr *)&w.addr[rank], sizeof(w.addr[rank])) ? -errno : 0;
}

int await(int fd, short events, int ms)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, ms) == 1 ? p.revents : 0;
}

int join_all(unsigned int first)
{
	unsigned int i;
	int rc;

	for (i = first; i < w.n; i++) {
		w.fd[i] = make_socket(i);
		rc = bind_socket(w.fd[i], i);
		if (rc) {
			printf("# rank %u: %s\n", i, error_of(w.fd[i]).text);
			return rc;
		}
	}
	for (i = first; i < w.n; i++) {
		if (await(w.fd[i], POLLOUT, 20000) == POLLOUT)
			continue;
		printf("# rank %u: state %u, %s\n", i, state_of(w.fd[i]), error_of(w.fd[i]).text);
		return -ETIMEDOUT;
	}
	return 0;
}

void leave_all(unsigned int first)
{
	unsigned int i;

	for (i = first; i < w.n; i++)
		shutdown(w.fd[i], SHUT_WR);
	for (i = first; i < w.n; i++)
		if (!(await(w.fd[i], 0, 20000) & POLLHUP))
			printf("# rank %u did not leave: state %u, %s\n", i, state_of(w.fd[i]),
			       error_of(w.fd[i]).text);
	close_all(first);
}

void close_all(unsigned int first)
{
	unsigned int i;

	for (i = first; i < w.n; i++) {
		if (w.fd[i] >= 0)
			close(w.fd[i]);
		w.fd[i] = -1;
	}
}

struct trib_sock_info info_of(int fd)
{
	struct trib_sock_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, SOL_TRIB, TRIB_SO_INFO, &info, &len))
		die("TRIB_SO_INFO");
	return info;
}

uint32_t state_of(int fd)
{
	return info_of(fd).state;
}

struct trib_sock_error error_of(int fd)
{
	struct trib_sock_error e;
	socklen_t len = sizeof(e);

	memset(&e, 0, sizeof(e));
	if (getsockopt(fd, SOL_TRIB, TRIB_SO_ERROR, &e, &len))
		die("TRIB_SO_ERROR");
	return e;
}

int set_u32(int fd, int name, uint32_t v)
{
	return setsockopt(fd, SOL_TRIB, name, &v, sizeof(v)) ? -errno : 0;
}

ssize_t send_cm(int fd, const void *p, size_t len, const struct trib_cm_send *cm, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(*cm))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {(void *)p, len};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	memset(&control, 0, sizeof(control));
	control.align.cmsg_level = SOL_TRIB;
	control.align.cmsg_type = TRIB_CM_SEND;
	control.align.cmsg_len = CMSG_LEN(sizeof(*cm));
	memcpy(CMSG_DATA(&control.align), cm, sizeof(*cm));
	n = sendmsg(fd, &m, flags);
	return n < 0 ? -errno : n;
}

ssize_t recv_cm(int fd, void *p, size_t len, struct trib_cm_recv *cm, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(*cm))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {p, len};
	struct msghdr m = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	memset(cm, 0xee, sizeof(*cm));
	n = recvmsg(fd, &m, flags);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_TRIB && c->cmsg_type == TRIB_CM_RECV &&
	    c->cmsg_len == CMSG_LEN(sizeof(*cm)))
		memcpy(cm, CMSG_DATA(c), sizeof(*cm));
	return n;
}

int as_nobody(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			_exit(99);
		_exit(fn(arg));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
