// SPDX-License-Identifier: BSD-2-Clause
/*
 * A fork() for the planner's solver (plan/lp): the process that forks is one of the
 * fuzzer's beginning, which is small. Of the fuzzer itself a fork copies the tables of
 * all its memory, and each page that it writes afterwards. The linker wraps fork(),
 * socketpair() and waitpid(). The solver has nothing but its socket, so this makes no
 * difference to the planner, which kills it and does not ask how it ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan/lp/lp.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int __real_socketpair(int domain, int type, int protocol, int fd[2]);
int __wrap_socketpair(int domain, int type, int protocol, int fd[2]);
pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

static int early;  /* socket to the early process */
static int theirs; /* end of the newest pair that is the solver's */

int __wrap_socketpair(int domain, int type, int protocol, int fd[2])
{
	int rc = __real_socketpair(domain, type, protocol, fd);

	theirs = rc ? -1 : fd[1];
	return rc;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "early fork: %s: %s\n", what, strerror(errno));
	abort();
}

/* To the early process: fork for the descriptor with it; or (@pid) wait for that one. */
struct parcel {
	pid_t pid;
	struct iovec iov;
	struct msghdr m;
	size_t control[(CMSG_SPACE(sizeof(int)) + sizeof(size_t) - 1) / sizeof(size_t)];
};

static void parcel_init(struct parcel *p)
{
	memset(p, 0, sizeof(*p));
	p->iov = (struct iovec){&p->pid, sizeof(p->pid)};
	p->m.msg_iov = &p->iov;
	p->m.msg_iovlen = 1;
	p->m.msg_control = p->control;
	p->m.msg_controllen = sizeof(p->control);
}

pid_t __wrap_fork(void)
{
	struct parcel p;
	struct cmsghdr *cm;
	pid_t pid;

	parcel_init(&p);
	cm = CMSG_FIRSTHDR(&p.m);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &theirs, sizeof(int));
	must(TEMP_FAILURE_RETRY(sendmsg(early, &p.m, MSG_NOSIGNAL)) == sizeof(pid), "send");
	/* libFuzzer has a clock, which interrupts. */
	must(TEMP_FAILURE_RETRY(recv(early, &pid, sizeof(pid), 0)) == sizeof(pid), "receive");
	return pid;
}

/* Until this its number is not another process's. The planner has killed it. */
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	must(!status && !options, "how the planner waits");
	must(TEMP_FAILURE_RETRY(send(early, &pid, sizeof(pid), MSG_NOSIGNAL)) == sizeof(pid),
	     "send");
	return pid;
}

/* Act as child_main() of lp.c does. */
static void solve(int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGABRT, SIG_DFL);
	if (dup2(fd, 3) < 0)
		_exit(1);
	close_range(4, ~0u, 0);
	lp_child(3);
}

static void serve(int at)
{
	struct parcel p;
	pid_t pid;
	int fd;

	while (parcel_init(&p), recvmsg(at, &p.m, 0) == sizeof(pid)) {
		if (p.pid) {
			__real_waitpid(p.pid, NULL, 0);
			continue;
		}
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&p.m)), sizeof(fd));
		pid = __real_fork();
		if (!pid)
			solve(fd);
		close(fd);
		if (send(at, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
			break;
	}
	_exit(0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct rlimit none = {0, 0};
	int fd[2], null;
	pid_t pid;

	(void)argc;
	(void)argv;
	must(!__real_socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), "socketpair");
	pid = __real_fork();
	must(pid >= 0, "fork");
	close(fd[!!pid]);
	early = fd[0];
	if (pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGINT, SIG_IGN);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	serve(fd[1]);
	return 0;
}
