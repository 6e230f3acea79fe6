// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random calls on collective sockets. All threads of a process use a table of
 * descriptors without locks, so any call may race with any other, close() included.
 * Some buffers are partly unmapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sockops.h"
#include "tests/vm/rig/sockrig.h"
#include "tests/vm/rig/stress.h"

#define SLOTS 24
#define PAGE 4096
#define ARENA (256 * PAGE)
/* Limit of any socket: the module parameter mem_max. A socket's limit can drop
 * below its use. */
#define MEM_MOST (256u << 20)

const char *const sockop_names[OPS] = {"open", "join",	"place", "cells", "option", "bind",
				       "send", "recv",	"poll",	 "ask",	  "ioctl",  "shutdown",
				       "dup",  "close", "fork",	 "pass",  "other"};

static int slots[SLOTS], epoll = -1, letters[2];
/* Every eighth page of the second half is unmapped; other threads write to the
 * mapped ones. */
static uint8_t *arena;

void sockops_init(void)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		slots[i] = -1;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	/* No call writes past its end. */
	arena = mmap(NULL, ARENA + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (epoll < 0 || arena == MAP_FAILED || mprotect(arena + ARENA, PAGE, PROT_NONE) ||
	    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, letters))
		stress_complain("no start: %s", strerror(errno));
	for (i = ARENA / 2; i < ARENA; i += 8 * PAGE)
		munmap(arena + i, PAGE);
}

int chaos_any(void)
{
	return __atomic_load_n(&slots[chance_below(SLOTS)], __ATOMIC_RELAXED);
}

/* Put a descriptor into the table, and close the one that it replaces. */
static void keep(int fd)
{
	int old;

	if (fd < 0)
		return;
	old = __atomic_exchange_n(&slots[chance_below(SLOTS)], fd, __ATOMIC_RELAXED);
	if (old >= 0)
		close(old);
}

void *chaos_memory(void)
{
	return arena;
}

void *chaos_somewhere(size_t len)
{
	size_t half = ARENA / 2;

	switch (chance_below(12)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(uintptr_t)chance();
	case 2:
	case 3:
		return arena + half + chance_below(half - 64);
	default:
		return arena + (len < half ? chance_below(half - len) : 0);
	}
}

/* --- making sockets */

static long do_open(void)
{
	int flags = (chance_one_in(2) ? SOCK_NONBLOCK : 0) | SOCK_CLOEXEC,
	    type = chance_one_in(20) ? (int)chance_below(12) : SOCK_DGRAM,
	    family = chance_one_in(20) ? (int)chance_below(45) : AF_INET,
	    fd = socket(family, type | flags, type == SOCK_DGRAM ? IPPROTO_TRIB : 0);
	struct timeval t = {.tv_usec = 1000 * (1 + chance_below(15))};

	if (fd >= 0 && !chance_one_in(8)) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
	}
	keep(fd);
	return fd;
}

static long do_place(void)
{
	int fd = chaos_any();
	/* The buffer has the largest length that a call passes. */
	static __thread struct {
		struct trib_attach_rep rep;
		uint8_t more[64];
	} p;
	struct rig_place where = chaos_place();
	struct sockaddr_trib addr = rig_address(&where);
	size_t len = rig_place(&p.rep, &where);
	long rc;

	if (chance_one_in(2))
		len = chaos_spoil(&p.rep, len);
	rc = setsockopt(fd, SOL_TRIB, TRIB_SO_PLACE,
			chance_one_in(20) ? chaos_somewhere(len) : &p.rep, len);
	/* bind() shows whether the place is valid. */
	if (!rc && !chance_one_in(4) && !bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		stress_count(OP_GOOD + OP_BIND);
	return rc;
}

/* A correct socket, so that other calls find some that run. */
static long do_join(void)
{
	struct rig_place where = chaos_place();
	int fd = rig_socket(&where);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	keep(fd);
	return fd;
}

static long do_bind(void)
{
	struct rig_place where = chaos_place();
	struct sockaddr_trib addr = rig_address(&where);
	socklen_t len = chance_one_in(20) ? chance_below(200) : sizeof(addr);

	if (chance_one_in(8))
		((uint8_t *)&addr)[chance_below(16)] = chance();
	return bind(chaos_any(), chance_one_in(20) ? chaos_somewhere(16) : (struct sockaddr *)&addr,
		    len);
}

/* --- options */

/* A limit near the bytes in use. */
static long squeeze(int fd)
{
	struct trib_sock_info info;
	socklen_t len = sizeof(info);
	uint32_t most;

	if (getsockopt(fd, SOL_TRIB, TRIB_SO_INFO, &info, &len))
		return -1;
	most = info.mem + chance_below(4096) - chance_below(4096);
	return setsockopt(fd, SOL_TRIB, TRIB_SO_MEM, &most, sizeof(most));
}

static long do_option(void)
{
	static const int levels[] = {SOL_SOCKET, IPPROTO_IP, IPPROTO_UDP, IPPROTO_IPV6};
	int level = chance_one_in(3) ? levels[chance_below(4)] : SOL_TRIB,
	    name = level == SOL_TRIB ? (int)chance_below(11) : (int)chance_below(80);
	uint32_t value[16];
	socklen_t len = chance_one_in(4) ? chance_below(64) : 4;

	if (chance_one_in(8))
		return squeeze(chaos_any());

	chance_bytes(value, sizeof(value));
	value[0] = chance_one_in(2) ? chance_odd() : 1U << chance_below(24);
	return setsockopt(chaos_any(), level, name,
			  chance_one_in(16) ? chaos_somewhere(len) : value, len);
}

static long do_ask(void)
{
	static const int levels[] = {SOL_SOCKET, IPPROTO_IP, IPPROTO_UDP};
	int level = chance_one_in(3) ? levels[chance_below(3)] : SOL_TRIB, fd = chaos_any();
	struct trib_sock_info info;
	socklen_t len = sizeof(info);

	switch (chance_below(8)) {
	case 0:
		len = chance_below(300);
		return getsockname(fd, chaos_somewhere(len), &len);
	case 1:
		len = chance_below(300);
		return getpeername(fd, chaos_somewhere(len), &len);
	case 2:
		if (getsockopt(fd, SOL_TRIB, TRIB_SO_INFO, &info, &len) || len != sizeof(info))
			return -1;
		/* Its limit may have been lowered below its use. */
		if (info.mem > MEM_MOST || info.mem_max > MEM_MOST || info.state > TRIB_SOCK_DEAD ||
		    info.rank >= 65535)
			stress_complain("a socket of state %u, rank %u has "
					"%llu of %llu bytes",
					info.state, info.rank, (unsigned long long)info.mem,
					(unsigned long long)info.mem_max);
		return 0;
	default:
		len = chance_one_in(2) ? chance_odd() : chance_below(400);
		return getsockopt(fd, level, chance_below(80), chaos_somewhere(400), &len);
	}
}

static long do_poll(void)
{
	struct epoll_event e = {.events = chance()}, got[8];
	struct pollfd p[3];
	int fd = chaos_any(), i;

	switch (chance_below(4)) {
	case 0:
		return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
	case 1:
		return epoll_ctl(epoll, chance_one_in(2) ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, fd, &e);
	case 2:
		return epoll_wait(epoll, got, 8, chance_below(5));
	default:
		for (i = 0; i < 3; i++)
			p[i] = (struct pollfd){chaos_any(), chance(), 0};
		return poll(p, 3, chance_below(5));
	}
}

/* --- calls of files */

static long do_ioctl(void)
{
	static const unsigned long what[] = {SIOCINQ,  SIOCOUTQ,       FIONBIO,
					     FIOASYNC, SIOCGSTAMP_OLD, SIOCATMARK};
	int zero = 0;

	if (chance_one_in(4))
		return ioctl(chaos_any(), 0x8900 + chance_below(256), chaos_somewhere(256));
	return ioctl(chaos_any(), what[chance_below(6)],
		     chance_one_in(8) ? chaos_somewhere(8) : &zero);
}

static long do_dup(void)
{
	int fd = dup(chaos_any());

	keep(fd);
	return fd;
}

static long do_close(void)
{
	int fd = __atomic_exchange_n(&slots[chance_below(SLOTS)], -1, __ATOMIC_RELAXED);

	return fd < 0 ? -1 : close(fd);
}

/* A child uses an inherited descriptor and is killed. Frequent signals would restart
 * fork() forever. */
static long do_fork(void)
{
	sigset_t often, before;
	long rc = -1;
	pid_t pid;

	sigemptyset(&often);
	sigaddset(&often, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &often, &before);
	pid = fork();
	if (!pid) {
		alarm(5);
		if (chance_one_in(2))
			recv(chaos_any(), arena, 4096, 0);
		else
			send(chaos_any(), arena, 4096, MSG_NOSIGNAL);
		pause();
		_exit(0);
	}
	if (pid > 0) {
		usleep(chance_below(20000));
		kill(pid, SIGKILL);
		rc = waitpid(pid, NULL, 0) == pid ? 0 : -1;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* Send a descriptor in a message that may never be received. */
static long do_pass(void)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr c;
	} control = {.c = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec iov = {arena, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	int fd = chaos_any();

	if (chance_one_in(2)) {
		memcpy(CMSG_DATA(&control.c), &fd, sizeof(fd));
		return sendmsg(letters[0], &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	if (recvmsg(letters[1], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0 ||
	    m.msg_controllen < CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(&control.c), sizeof(fd));
	keep(fd);
	return 0;
}

static long splice_into(int fd)
{
	int p[2];
	long n;

	if (pipe2(p, O_NONBLOCK | O_CLOEXEC))
		return -1;
	n = write(p[1], arena, 4096);
	if (n > 0)
		n = splice(p[0], NULL, fd, NULL, n, SPLICE_F_NONBLOCK);
	close(p[0]);
	close(p[1]);
	return n;
}

static long do_other(void)
{
	struct mmsghdr mm[2] = {};
	struct iovec iov = {arena, 4096};
	int fd = chaos_any(), pair;
	void *at;

	switch (chance_below(9)) {
	case 0:
		return connect(fd, chaos_somewhere(16), chance_below(130));
	case 1:
		return listen(fd, 1);
	case 2:
		pair = accept4(fd, NULL, NULL, SOCK_NONBLOCK);
		keep(pair);
		return pair;
	case 3:
		return splice_into(fd);
	case 4:
		at = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
		return at == MAP_FAILED ? -1 : munmap(at, PAGE);
	case 5:
		return read(fd, chaos_somewhere(4096), chance_below(8192));
	case 6:
		return write(fd, chaos_somewhere(4096), chance_below(8192));
	case 7:
		return fcntl(fd, F_SETFL, chance_one_in(3) ? 0 : O_NONBLOCK);
	default:
		mm[0].msg_hdr = mm[1].msg_hdr = (struct msghdr){.msg_iov = &iov, .msg_iovlen = 1};
		return chance_one_in(2) ? sendmmsg(fd, mm, 2, MSG_DONTWAIT)
					: recvmmsg(fd, mm, 2, MSG_DONTWAIT, NULL);
	}
}

static long do_shutdown(void)
{
	return shutdown(chaos_any(), chance_one_in(8) ? (int)chance_odd() : (int)chance_below(3));
}

/* Relative frequencies. */
static const struct {
	uint8_t share;
	long (*fn)(void);
} ops[OPS] = {
	[OP_OPEN] = {10, do_open},	[OP_JOIN] = {10, do_join},
	[OP_PLACE] = {12, do_place},	[OP_OPTION] = {6, do_option},
	[OP_BIND] = {6, do_bind},	[OP_SEND] = {24, chaos_send},
	[OP_RECV] = {20, chaos_recv},	[OP_POLL] = {8, do_poll},
	[OP_ASK] = {8, do_ask},		[OP_IOCTL] = {4, do_ioctl},
	[OP_CELLS] = {12, chaos_cells}, [OP_SHUTDOWN] = {4, do_shutdown},
	[OP_DUP] = {2, do_dup},		[OP_CLOSE] = {6, do_close},
	[OP_FORK] = {1, do_fork},	[OP_PASS] = {2, do_pass},
	[OP_OTHER] = {4, do_other},
};

static int all_shares(void)
{
	int sum = 0;

	for (int op = 0; op < OPS; op++)
		sum += ops[op].share;
	return sum;
}

void sockops_one(void)
{
	int pick = chance_below(all_shares()), op = 0;
	bool failing;
	long rc;

	while (op < OPS - 1 && pick >= ops[op].share)
		pick -= ops[op++].share;
	failing = op != OP_FORK && stress_fail_some(8);
	rc = ops[op].fn();
	if (failing)
		stress_fail_end();
	stress_count(op);
	if (rc >= 0)
		stress_count(OP_GOOD + op);
}

void sockops_close_all(void)
{
	for (int i = 0; i < SLOTS; i++) {
		if (slots[i] >= 0)
			close(slots[i]);
		slots[i] = -1;
	}
	close(epoll);
	close(letters[0]);
	close(letters[1]);
	munmap(arena, ARENA + PAGE);
}
