// SPDX-License-Identifier: BSD-2-Clause
/*
 * The module comes and goes many times, while netlink sockets that asked it stay
 * open, tribd begins and ends, and collective sockets open and close. Each time
 * it answers, and at the end no memory is missing. Runs in the VM, where trib.ko
 * is not loaded.
 *
 *	TRIB_KO=FILE cycles [COUNT]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "uapi/trib.h"
#include "uapi/trib_sock.h"
#include "tests/tap.h"

#define KEPT 8

/* Once all has been there, what is left of so many cycles together, in kB. */
#define GROWTH_MAX 2048
/* What it takes until then: tribd begins and ends, and its maps stay. */
#define WARM 40

static int count = 100, done, ko, kept[KEPT];
static pid_t tribd;
static long memory;

static bool load(void)
{
	return !syscall(SYS_finit_module, ko, "", 0);
}

/* Whoever uses it is about to end: soon means within ten seconds. */
static bool unload(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (!syscall(SYS_delete_module, "trib", O_NONBLOCK))
			return true;
		if (errno != EAGAIN && errno != EBUSY)
			return false;
		usleep(10000);
	}
	return false;
}

static int netlink_socket(void)
{
	struct timeval patience = {.tv_sec = 10};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* One request and the first answer to it; its bytes. */
static ssize_t ask(int fd, int type, int cmd, int attr, const void *data,
		   size_t len, void *answer, size_t room)
{
	struct {
		struct nlmsghdr nlh;
		struct genlmsghdr g;
		struct nlattr a;
		char data[64];
	} r = {
		.nlh = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST},
		.g = {.cmd = cmd, .version = 1},
		.a = {.nla_type = attr, .nla_len = NLA_HDRLEN + len},
	};

	memcpy(r.data, data, len);
	r.nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) +
			  (attr ? NLA_HDRLEN + NLA_ALIGN(len) : 0);
	if (send(fd, &r, r.nlh.nlmsg_len, 0) < 0)
		return -1;
	return recv(fd, answer, room, 0);
}

/* By its name, which has another number each time. */
static bool answers(int fd)
{
	uint8_t b[8192];
	struct nlmsghdr *nlh = (struct nlmsghdr *)b;
	ssize_t n =
		ask(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		    TRIB_GENL_NAME, sizeof(TRIB_GENL_NAME), b, sizeof(b));
	struct nlattr *a;
	int id = 0;

	if (n < NLMSG_HDRLEN || nlh->nlmsg_type != GENL_ID_CTRL)
		return false;
	for (uint8_t *at = b + NLMSG_LENGTH(GENL_HDRLEN); at < b + n;
	     at += NLA_ALIGN(a->nla_len)) {
		a = (struct nlattr *)at;
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			id = *(uint16_t *)(a + 1);
	}
	n = ask(fd, id, TRIB_CMD_MODULE_GET, 0, NULL, 0, b, sizeof(b));
	return n > NLMSG_HDRLEN && nlh->nlmsg_type == id;
}

/* It comes with the module and goes with its last close. */
static bool collective_socket(void)
{
	uint32_t window = 8;
	int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
	bool good = fd >= 0 && !setsockopt(fd, SOL_TRIB, TRIB_SO_WINDOW,
					   &window, sizeof(window));

	/* While there is one the module stays. */
	good = good && syscall(SYS_delete_module, "trib", O_NONBLOCK) &&
	       (errno == EAGAIN || errno == EBUSY);
	if (fd >= 0)
		close(fd);
	return good;
}

static void toggle_tribd(void)
{
	if (tribd) {
		kill(tribd, SIGTERM);
		waitpid(tribd, NULL, 0);
		tribd = 0;
		return;
	}
	tribd = fork();
	if (!tribd) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execl("build/tribd", "tribd", NULL);
		_exit(127);
	}
}

static bool cycle(int i)
{
	int fresh = netlink_socket();
	bool good = load();

	if (!good)
		printf("# cycle %d: it does not load: %s\n", i,
		       strerror(errno));
	if (good && !answers(kept[i % KEPT])) {
		printf("# cycle %d: an old socket gets no answer\n", i);
		good = false;
	}
	if (good && !answers(fresh)) {
		printf("# cycle %d: a new socket gets no answer\n", i);
		good = false;
	}
	if (good && !collective_socket()) {
		printf("# cycle %d: no collective socket\n", i);
		good = false;
	}
	if (i % 25 == 10)
		toggle_tribd();
	if (good && !unload()) {
		printf("# cycle %d: it does not go: %s\n", i, strerror(errno));
		good = false;
	}
	close(kept[i % KEPT]);
	kept[i % KEPT] = fresh;
	return good;
}

/* kB that nothing but the kernel can give back. */
static long kernel_memory(void)
{
	static const char *const names[] = {
		"SUnreclaim:", "Percpu:", "VmallocUsed:", "KernelStack:"};
	char line[200], name[64];
	long sum = 0, kb;
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (sscanf(line, "%63s %ld", name, &kb) == 2 &&
			    !strcmp(name, names[i]))
				sum += kb;
	if (f)
		fclose(f);
	return sum;
}

static void cycles__all_come_and_go(void)
{
	struct timespec a, b;
	int i;

	for (i = 0; i < WARM; i++)
		if (!expect(cycle(i)))
			return;
	memory = kernel_memory();
	clock_gettime(CLOCK_MONOTONIC, &a);
	while (done < count && cycle(done))
		done++;
	clock_gettime(CLOCK_MONOTONIC, &b);
	expect_eq(done, count);
	printf("# %d cycles in %.1f s\n", done,
	       b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9);
}

static void cycles__no_memory_is_missing(void)
{
	long grown;

	if (tribd)
		toggle_tribd();
	grown = kernel_memory() - memory;
	printf("# %ld kB more than before\n", grown);
	expect(memory && grown <= GROWTH_MAX);
}

int main(int argc, char **argv)
{
	const char *path = getenv("TRIB_KO");
	int i;

	if (argc > 1)
		count = atoi(argv[1]);
	ko = open(path ?: "", O_RDONLY | O_CLOEXEC);
	if (ko < 0 || count < 1) {
		printf("Bail out! no module '%s'\n", path ?: "");
		return 1;
	}
	for (i = 0; i < KEPT; i++)
		kept[i] = netlink_socket();
	run(cycles__all_come_and_go);
	run(cycles__no_memory_is_missing);
	return tap_done();
}
