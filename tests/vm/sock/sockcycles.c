// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opens and closes collective sockets many times: unused, with options, bound,
 * joined, during a sum, after one. All have the same place, so each meets leftovers
 * of the one before. At the end nothing is left. Runs in the VM with trib.ko loaded.
 *
 *	sockcycles [COUNT]
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "tests/lib/relay_thread.h"
#include "tests/vm/rig/sockrig.h"
#include "tests/vm/rig/stress.h"

/* Limit of memory in kB that all cycles after the first ones may leave. */
#define GROWTH_MAX 4096
#define WARM 100
#define ELEMENTS 3000

/* The state in which a socket is closed. */
enum { UNTOUCHED, OPTIONS, BOUND, JOINED, SENT, RECEIVED, LEFT, STAGES };

static struct loop_relay relay = {
	.world = 1,
	.window = 16,
	.nval = TRIB_NVAL_SMALL,
	.timeout_ms = 20000,
};
static const struct rig_place place = {.job = RIG_JOB,
				       .world = 1,
				       .tree = RIG_TREE,
				       .relay_port = TRIB_UDP_PORT,
				       .recv_port = TRIB_UDP_PORT_WORKER,
				       .seed = RIG_SEED};
static int count = 1000, done;
static long users, memory;
static int32_t in[ELEMENTS], out[ELEMENTS];

static bool becomes(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return poll(&p, 1, 20000) == 1 && p.revents & events;
}

static bool sum(int fd, int stage)
{
	uint32_t dtype = TRIB_SOCK_I32;

	if (setsockopt(fd, SOL_TRIB, TRIB_SO_DTYPE, &dtype, sizeof(dtype)) ||
	    send(fd, in, sizeof(in), 0) != sizeof(in))
		return false;
	if (stage == SENT)
		return true;
	memset(out, 0, sizeof(out));
	return recv(fd, out, sizeof(out), 0) == sizeof(out) && !memcmp(in, out, sizeof(in));
}

static bool cycle(int stage)
{
	uint32_t window = 8;
	bool good = true;
	int fd;

	fd = stage < BOUND ? socket(AF_INET, SOCK_DGRAM, IPPROTO_TRIB) : rig_socket(&place);
	if (fd < 0)
		return false;
	if (stage == OPTIONS)
		good = !setsockopt(fd, SOL_TRIB, TRIB_SO_WINDOW, &window, sizeof(window));
	if (stage >= JOINED)
		good = becomes(fd, POLLOUT);
	if (good && stage >= SENT)
		good = sum(fd, stage);
	if (good && stage >= LEFT)
		good = !shutdown(fd, SHUT_WR) && becomes(fd, POLLHUP);
	return !close(fd) && good;
}

static bool cycles(int n)
{
	for (int i = 0; i < n; i++, done++) {
		if (cycle(i % STAGES))
			continue;
		printf("# cycle %d, stage %d: %s\n", i, i % STAGES, strerror(errno));
		return false;
	}
	return true;
}

static void sockcycles__all_open_and_close(void)
{
	uint64_t begun;

	if (!expect(cycles(WARM)))
		return;
	memory = rig_kernel_memory();
	done = 0;
	begun = stress_now_ms();
	expect(cycles(count));
	expect_eq(done, count);
	printf("# %d cycles in %.1f s\n", done, (stress_now_ms() - begun) / 1e3);
}

static void sockcycles__nothing_is_left(void)
{
	long more;

	expect(rig_no_sockets(60000));
	expect(rig_unused(users, 60000));
	more = rig_kernel_memory() - memory;
	printf("# %ld kB more than before\n", more);
	if (!rig_hoards())
		expect(memory && more < GROWTH_MAX);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		count = atoi(argv[1]);
	if (count < 1 || !loop_netns()) {
		printf("Bail out! no network namespace, or nothing to do\n");
		return 1;
	}
	for (int i = 0; i < ELEMENTS; i++)
		in[i] = i * 2654435761u;
	users = rig_users();
	loop_start(&relay);
	run(sockcycles__all_open_and_close);
	run(sockcycles__nothing_is_left);
	loop_stop(&relay);
	return tap_done();
}
