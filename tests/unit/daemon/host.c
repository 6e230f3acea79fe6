/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A service on its host: addresses that are taken, sockets that systemd passes and
 * keeps, folders; and the rights of a process as /proc has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host/folder.h"
#include "base/host/holder.h"
#include "base/host/home.h"
#include "base/host/service.h"
#include "daemon/core/admin.h"
#include "tests/lib/tap.h"

#define MS 1000000ULL

static char said[1000];

static void say(const char *line)
{
	snprintf(said, sizeof(said), "%s", line);
}

/* A home of each kind that nobody has. */
static struct home home_of(int family)
{
	struct home h = {.what = "the home"};

	if (family == AF_UNIX) {
		h.un.sun_family = AF_UNIX;
		h.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				    snprintf(h.un.sun_path + 1, 60, "trib-test-%d", getpid()));
		h.type = SOCK_SEQPACKET;
	} else if (family == AF_NETLINK) {
		h.nl = (struct sockaddr_nl){.nl_family = AF_NETLINK,
					    .nl_pid = 0x70000000u + (unsigned int)getpid()};
		h.len = sizeof(h.nl);
		h.type = SOCK_RAW;
		h.protocol = NETLINK_USERSOCK;
	} else {
		h.len = addr_to_sock(family, &in6addr_any, (uint16_t)(20000 + getpid() % 10000),
				     &h.ip);
		h.type = SOCK_DGRAM;
	}
	return h;
}

static int open_home(const struct home *h)
{
	return socket(h->sa.sa_family, h->type | SOCK_CLOEXEC, h->protocol);
}

static void holder__is_found_for_each_kind(void)
{
	static const int family[] = {AF_UNIX, AF_NETLINK, AF_INET, AF_INET6};
	char text[HOLDER_TEXT_MAX], want[64];
	struct holder who;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct home h = home_of(family[i]);
		int fd = open_home(&h);

		expect_eq(holder_find(&h.sa, h.len, h.protocol, &who), -ENOENT);
		expect_eq(bind(fd, &h.sa, h.len), 0);
		expect_eq(holder_find(&h.sa, h.len, h.protocol, &who), 0);
		expect_eq(who.pid, getpid());
		expect_eq(who.uid, getuid());
		snprintf(want, sizeof(want), "process %d (", getpid());
		expect(strstr(holder_text(&who, text, sizeof(text)), want));
		close(fd);
		expect_eq(holder_find(&h.sa, h.len, h.protocol, &who), -ENOENT);
	}
}

/* One address of the host is taken, by another version of IP. */
static void holder__of_one_address_is_found_for_all(void)
{
	struct home all = home_of(AF_INET6), one = home_of(AF_INET);
	struct holder who;
	int fd = open_home(&one);

	one.ip.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	expect_eq(bind(fd, &one.sa, one.len), 0);
	expect_eq(holder_find(&all.sa, all.len, 0, &who), 0);
	expect_eq(who.pid, getpid());
	one.ip.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	expect_eq(holder_find(&one.sa, one.len, 0, &who), -ENOENT);
	close(fd);
}

static void home__is_given_up_after_a_while(void)
{
	struct home_wait w = {.until_ns = clock_ns() + 200 * MS, .twin = "no", .say = say};
	struct home h = home_of(AF_INET6);
	int fd = open_home(&h), mine = open_home(&h);
	uint64_t start = clock_ns();

	expect_eq(bind(fd, &h.sa, h.len), 0);
	expect_eq(home_bind(&w, mine, &h), -EADDRINUSE);
	expect(clock_ns() - start >= 200 * MS);
	expect(strstr(said, "the home is taken by process") && !strstr(said, "waits"));
	close(fd);
	expect_eq(home_bind(&w, mine, &h), 0);
	close(mine);
}

static void home__of_a_twin_is_not_waited_for(void)
{
	struct home_wait w = {.twin = "twin", .say = say};
	struct home h = home_of(AF_UNIX);
	int fd = open_home(&h), mine = open_home(&h);
	uint64_t start = clock_ns();

	if (geteuid()) {
		printf("# only root's process is a twin\n");
		return;
	}
	prctl(PR_SET_NAME, "twin");
	expect_eq(bind(fd, &h.sa, h.len), 0);
	expect_eq(home_bind(&w, mine, &h), -EADDRINUSE);
	expect(clock_ns() - start < 5000 * MS);
	close(fd);
	close(mine);
}

static void home__wait_ends_by_a_signal(void)
{
	struct home_wait w = {.twin = "no", .say = say};
	struct home h = home_of(AF_NETLINK);
	int fd = open_home(&h), mine = open_home(&h);
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	expect_eq(bind(fd, &h.sa, h.len), 0);
	raise(SIGTERM);
	expect_eq(home_bind(&w, mine, &h), -EINTR);
	sigwaitinfo(&set, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(fd);
	close(mine);
}

/* --- systemd */

/* Say that @n sockets were passed to process @pid. */
static void pass(int pid, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	setenv("LISTEN_PID", text, 1);
	snprintf(text, sizeof(text), "%d", n);
	setenv("LISTEN_FDS", text, 1);
	setenv("LISTEN_FDNAMES", "udp:tribd.socket", 1);
}

/* Descriptors 3 and on belong to the child. Return: the step that failed, or 0. */
static int takes_passed_ones(const struct home *udp, const struct home *un, int a, int b)
{
	struct service_sockets s;
	int x, y;

	x = fcntl(a, F_DUPFD, 100);
	y = fcntl(b, F_DUPFD, 100);
	dup2(x, 3);
	dup2(y, 4);
	pass(getpid(), 2);
	service_sockets_get(&s);
	if (s.n != 2 || getenv("LISTEN_FDS") || strcmp(s.name[1], "tribd.socket"))
		return 1;
	if (!(fcntl(3, F_GETFD) & FD_CLOEXEC))
		return 2;
	if (service_sockets_take(&s, SOCK_STREAM, &un->sa, un->len) >= 0)
		return 3;
	if (service_sockets_take(&s, un->type, &un->sa, un->len) != 4)
		return 4;
	if (service_sockets_take(&s, un->type, &un->sa, un->len) >= 0)
		return 5;
	if (service_sockets_take(&s, udp->type, &udp->sa, udp->len) != 3)
		return 6;
	pass(getpid() + 1, 2);
	service_sockets_get(&s);
	if (s.n)
		return 7;
	pass(getpid(), 65);
	service_sockets_get(&s);
	return s.n ? 8 : 0;
}

static void service__takes_the_sockets_that_were_passed(void)
{
	struct home udp = home_of(AF_INET6), un = home_of(AF_UNIX);
	int a = open_home(&udp), b = open_home(&un), status;
	pid_t pid;

	expect_eq(bind(a, &udp.sa, udp.len), 0);
	expect_eq(bind(b, &un.sa, un.len), 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(takes_passed_ones(&udp, &un, a, b));
	expect(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	expect_eq(WEXITSTATUS(status), 0);
	close(a);
	close(b);
}

static void service__says_which_socket_to_keep(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), len;
	char text[256], path[80];
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {text, sizeof(text) - 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};

	unsetenv("NOTIFY_SOCKET");
	expect_eq(service_tell("READY=1"), -ENOENT);
	len = snprintf(path, sizeof(path), "@trib-notify-%d", getpid());
	memcpy(un.sun_path, path, (size_t)len);
	un.sun_path[0] = '\0';
	expect_eq(bind(fd, (struct sockaddr *)&un,
		       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
		  0);
	setenv("NOTIFY_SOCKET", path, 1);
	expect_eq(service_keep(fd, "udp"), 0);
	len = (int)recvmsg(fd, &m, MSG_DONTWAIT);
	expect(len > 0);
	text[len < 0 ? 0 : len] = '\0';
	expect(!strcmp(text, "FDSTORE=1\nFDNAME=udp\nFDPOLL=0"));
	expect(m.msg_controllen >= CMSG_LEN(sizeof(int)));
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

/* --- folders */

static void folder__of_others_is_refused(void)
{
	char top[] = "/tmp/trib-host-XXXXXX", path[64], why[300] = "";

	expect(mkdtemp(top) != NULL);
	snprintf(path, sizeof(path), "%s/own", top);
	expect_eq(folder_check(path, why, sizeof(why)), -ENOENT);
	expect_eq(folder_own(path, 0755, why, sizeof(why)), 0);
	expect_eq(folder_own(path, 0755, why, sizeof(why)), 0);
	chmod(path, 0775);
	expect_eq(folder_own(path, 0755, why, sizeof(why)), -EPERM);
	expect(strstr(why, "chmod go-w"));
	chmod(path, 0757);
	expect_eq(folder_own(path, 0755, why, sizeof(why)), -EPERM);
	chmod(path, 0755);
	if (!geteuid()) {
		expect_eq(chown(path, 1000, 1000), 0);
		expect_eq(folder_own(path, 0755, why, sizeof(why)), -EPERM);
		expect(strstr(why, "uid 1000"));
	}
	rmdir(path);
	expect_eq(symlink("/tmp", path), 0);
	expect_eq(folder_own(path, 0755, why, sizeof(why)), -EPERM);
	expect(strstr(why, "symbolic link"));
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	expect_eq(folder_own(path, 0755, why, sizeof(why)), -EPERM);
	unlink(path);
	rmdir(top);
}

/* --- rights */

static void status__has_users_and_capabilities(void)
{
	static const char text[] = "Name:\tUid: 7 7 7 7\nState:\tS\nUid:\t1000\t1000\t1000\t1000\n"
				   "CapInh:\t0000000000001000\nCapEff:\t0000000000001000\n"
				   "CapAmb:\t0000000000001001\n";
	struct admin_status s;

	expect(admin_status_parse(text, &s));
	expect_eq(s.uid, 1000);
	expect(s.same_user);
	expect_eq(s.effective, 0x1000);
	expect_eq(s.ambient, 0x1001);
	expect(admin_status_parse("Uid:\t0\t1000\t0\t0\nCapEff:\t0\nCapAmb:\t0\n", &s));
	expect(!s.same_user);
	expect(!admin_status_parse("Uid:\t0\t0\t0\t0\nCapEff:\t0\n", &s));
	expect(!admin_status_parse("", &s));
}

static void uid_map__says_who_is_root(void)
{
	expect_eq(admin_root_of("         0          0 4294967295\n"), 0);
	expect_eq(admin_root_of("0 100000 65536\n"), 100000);
	expect_eq(admin_root_of("1000 0 1\n0 5 1\n"), 5);
	expect_eq(admin_root_of("1000 0 1\n"), (uid_t)-1);
	expect_eq(admin_root_of(""), (uid_t)-1);
}

int main(void)
{
	run(holder__is_found_for_each_kind);
	run(holder__of_one_address_is_found_for_all);
	run(home__is_given_up_after_a_while);
	run(home__wait_ends_by_a_signal);
	run(service__takes_the_sockets_that_were_passed);
	run(service__says_which_socket_to_keep);
	run(folder__of_others_is_refused);
	run(status__has_users_and_capabilities);
	run(uid_map__says_who_is_root);
	/* Changes this process's name. */
	run(home__of_a_twin_is_not_waited_for);
	return tap_done();
}
