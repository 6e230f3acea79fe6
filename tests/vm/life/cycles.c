// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loads and unloads the module many times, while netlink sockets stay open, tribd
 * starts and ends, and collective sockets open and close. The module answers each
 * time, and at the end no memory is missing. Runs in the VM, without trib.ko
 * loaded.
 *
 *	TRIB_KO=FILE cycles [COUNT]
 */
#include <errno.h>
#include <fcntl.h>
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
#include "tests/lib/tap.h"
#include "tests/vm/netlink/nlsock.h"
#include "tests/vm/rig/sockrig.h"

#define KEPT 8

/* Limit of memory in kB that all cycles after the first may leave behind. */
#define GROWTH_MAX 2048
/* Cycles before the first measurement: caches fill, and tribd's maps stay. */
#define WARM 20

static int count = 100, done, ko, kept[KEPT];
static pid_t tribd;
static long memory;

static bool load(void)
{
	return !syscall(SYS_finit_module, ko, "", 0);
}

/* Wait up to ten seconds for its users to end. */
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

/* Look the family up by name: its number changes each time. */
static bool answers(int fd)
{
	int group, id = nl_family(fd, TRIB_GENL_NAME, &group);
	struct nl_request r;
	struct {
		struct nlmsghdr nlh;
		uint8_t more[4096];
	} answer;

	nl_begin(&r, id, TRIB_CMD_MODULE_GET, 0, 1);
	return id && nl_send(fd, &r) && recv(fd, &answer, sizeof(answer), 0) > NLMSG_HDRLEN &&
	       answer.nlh.nlmsg_type == id;
}

/* Collective sockets exist while the module is loaded. */
static bool collective_socket(void)
{
	uint32_t window = 8;
	int fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB);
	bool good = fd >= 0 && !setsockopt(fd, SOL_TRIB, TRIB_SO_WINDOW, &window, sizeof(window));

	/* A socket keeps the module. */
	good = good && syscall(SYS_delete_module, "trib", O_NONBLOCK) &&
	       (errno == EAGAIN || errno == EBUSY);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Start or stop tribd while the module is unloaded: its programs would keep it. */
static bool toggle_tribd(void)
{
	if (tribd) {
		kill(tribd, SIGTERM);
		waitpid(tribd, NULL, 0);
		tribd = 0;
		return true;
	}
	tribd = fork();
	if (!tribd) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execl("build/tribd", "tribd", NULL);
		_exit(127);
	}
	return tribd > 0 && !system("for i in $(seq 100); do build/trib status "
				    ">/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1");
}

static bool cycle(int i)
{
	int fresh = nl_socket();
	bool good;

	if (i % 12 == 5 && !toggle_tribd())
		printf("# cycle %d: no tribd\n", i);
	good = load();
	if (!good)
		printf("# cycle %d: the module does not load: %s\n", i, strerror(errno));
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
	if (good && !unload()) {
		printf("# cycle %d: the module does not unload: %s\n", i, strerror(errno));
		good = false;
	}
	close(kept[i % KEPT]);
	kept[i % KEPT] = fresh;
	return good;
}

static void cycles__all_come_and_go(void)
{
	struct timespec a, b;
	int i;

	for (i = 0; i < WARM; i++)
		if (!expect(cycle(i)))
			return;
	memory = rig_kernel_memory();
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
	grown = rig_kernel_memory() - memory;
	printf("# %ld kB more than before\n", grown);
	/* Its pins would outlive it. */
	expect(!system("build/tribd --purge >/dev/null 2>&1"));
	if (!rig_hoards())
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
		kept[i] = nl_socket();
	run(cycles__all_come_and_go);
	run(cycles__no_memory_is_missing);
	return tap_done();
}
