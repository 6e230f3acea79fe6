// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random system calls on collective sockets, from threads that share descriptors
 * and processes that are killed: as root, as nobody, as root of a user namespace,
 * each in a network namespace with a hostile network (sockevil.c). Two ranks among
 * them compute sums, which must be right (sockhonest.c). At the end nothing is left.
 * Some allocations fail if the kernel supports it.
 *
 *	sockfuzz [-s SEED] [-t SECONDS] [-p PROCESSES]
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/tap.h"
#include "tests/lib/relay_thread.h"
#include "tests/vm/netlink/nlsock.h"
#include "tests/vm/netlink/nlspec.h"
#include "sockcrowd.h"
#include "sockevil.h"
#include "sockhonest.h"
#include "sockops.h"
#include "tests/vm/rig/sockrig.h"
#include "tests/vm/rig/stress.h"

#define CHAOS 2
#define ENOUGH_SENDS 400
/* Limit of memory in kB that all namespaces and processes may leave in caches. */
#define LEFT_OVER 16384

static long users, memory;

static void nothing(int signo)
{
	(void)signo;
}

/* Interrupt waiting calls now and then. */
static timer_t wake_often(void)
{
	struct itimerspec every = {.it_interval.tv_nsec = 50000000, .it_value.tv_nsec = 50000000};
	struct sigaction act = {.sa_handler = nothing};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	timer_t timer = NULL;

	ev._sigev_un._tid = gettid();
	sigaction(SIGUSR1, &act, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &every, NULL))
		stress_complain("no timer: %s", strerror(errno));
	return timer;
}

static void *chaos(void *seed)
{
	timer_t timer;

	chance_seed((uintptr_t)seed);
	timer = wake_often();
	while (!stress_over())
		sockops_one();
	timer_delete(timer);
	return NULL;
}

/* A process that is killed during a call. */
static void victim(void)
{
	uint64_t seed = chance();
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		chance_seed(seed);
		/* Otherwise the killed process would never hold the last reference. */
		crowd_stop();
		sockops_init();
		wake_often();
		for (;;)
			sockops_one();
	}
	usleep(50000 + chance_below(1000000));
	if (pid < 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	stress_count(VICTIMS);
}

/* Read from an offset, up to one, or all. */
static void look_at_file(void)
{
	FILE *f = fopen("/proc/net/trib", "r");
	char line[400];
	int n = chance_one_in(2) ? INT_MAX : (int)chance_below(CROWD);

	if (!f)
		stress_complain("there is no /proc/net/trib");
	if (chance_one_in(2))
		setvbuf(f, NULL, _IOFBF, 64);
	if (chance_one_in(4))
		fseek(f, chance_below(100 * CROWD), SEEK_SET);
	while (n-- && fgets(line, sizeof(line), f))
		;
	fclose(f);
}

/* Read in parts of the size of the buffer. */
static void look_at_list(void)
{
	static uint8_t b[65536];
	int fd = nl_socket(), group, family = nl_family(fd, "trib", &group), parts = 0;
	size_t room = chance_one_in(2) ? sizeof(b) : 4096;
	struct nl_claim claim;
	struct nlmsghdr *nlh;
	struct nl_request r;
	const char *wrong;
	bool done = false;
	ssize_t n;

	nl_begin(&r, family, TRIB_CMD_SOCK_GET, NLM_F_DUMP, 7);
	if (!family || !nl_send(fd, &r))
		stress_complain("sockets cannot be listed");
	while (!done && (n = recv(fd, b, room, 0)) > 0) {
		parts++;
		for (nlh = (struct nlmsghdr *)b; NLMSG_OK(nlh, n); nlh = NLMSG_NEXT(nlh, n)) {
			wrong = nlh->nlmsg_type == family ? nl_judge_answer(nlh, &claim) : NULL;
			if (wrong)
				stress_complain("a listed socket has %s: %s", wrong,
						stress_hex(nlh, nlh->nlmsg_len));
			done = nlh->nlmsg_type != family;
		}
	}
	if (!done)
		stress_complain("the list of sockets has no end");
	close(fd);
	/* The last message ends the dump. */
	if (parts > 2)
		stress_count(LONG_LOOKS);
}

/* Read lists while sockets open and close. */
static void look(void)
{
	look_at_file();
	look_at_list();
	stress_count(LOOKS);
}

static void be(unsigned int i)
{
	if (i % 3 == 2 && !stress_be_root_of_own())
		stress_complain("no user namespace: %s", strerror(errno));
	if (!loop_netns())
		stress_complain("no network namespace: %s", strerror(errno));
	if (i % 3 == 1)
		stress_be_nobody();
}

static void process(unsigned int i)
{
	pthread_t threads[CHAOS + 3];
	int n;

	be(i);
	signal(SIGPIPE, SIG_IGN);
	honest_start();
	crowd_start();
	sockops_init();
	for (n = 0; n < CHAOS; n++)
		pthread_create(&threads[n], NULL, chaos, (void *)(uintptr_t)chance());
	pthread_create(&threads[CHAOS], NULL, evil_relay, NULL);
	pthread_create(&threads[CHAOS + 1], NULL, evil_sender, NULL);
	pthread_create(&threads[CHAOS + 2], NULL, crowd_churn, NULL);
	while (!stress_over()) {
		victim();
		look();
	}
	for (n = 0; n < CHAOS + 3; n++)
		pthread_join(threads[n], NULL);
	sockops_close_all();
	crowd_stop();
	honest_stop();
	if (!rig_no_sockets(60000))
		stress_complain("sockets are left in /proc/net/trib");
}

static void sockfuzz__sums_stay_right_and_all_end(void)
{
	expect(!stress->complained);
	expect(!stress->dead);
	expect(stress->count[HONEST_DONE] >= 10 * stress->nproc);
}

/* Otherwise the test tried nothing. */
static void sockfuzz__each_call_succeeded_sometimes(void)
{
	for (int i = 0; i < OPS; i++) {
		printf("# %s: %lu of %lu\n", sockop_names[i], stress->count[OP_GOOD + i],
		       stress->count[i]);
		expect(stress->count[OP_GOOD + i]);
	}
	expect(stress->count[EVIL_HEARD]);
	expect(stress->count[VICTIMS]);
	expect(stress->count[LONG_LOOKS]);
	expect(stress->count[CHURNED]);
	expect(stress->count[HONEST_SEEN]);
	expect(stress->count[HONEST_NOWHERE]);
}

static void sockfuzz__nothing_is_left(void)
{
	long more;

	expect(rig_no_sockets(60000));
	expect(rig_unused(users, 60000));
	more = rig_kernel_memory() - memory;
	printf("# %ld kB more than before\n", more);
	if (!rig_hoards())
		expect(more < LEFT_OVER);
}

int main(int argc, char **argv)
{
	const uint64_t *c;

	stress_init(argc, argv, 20, 3);
	for (int i = 0; i < OPS; i++)
		stress->floor[OP_GOOD + i] = 1;
	stress->floor[OP_SEND] = ENOUGH_SENDS;
	chaos_cells_make();
	users = rig_users();
	memory = rig_kernel_memory();
	stress_run(process);
	c = stress->count;
	printf("# %lu sums, %lu seen before, %lu into nothing; %lu packets to "
	       "the hostile relay, %lu from it and others; %lu killed; "
	       "%lu looks, %lu at long lists; %lu closed with packets\n",
	       c[HONEST_DONE], c[HONEST_SEEN], c[HONEST_NOWHERE], c[EVIL_HEARD], c[EVIL_SENT],
	       c[VICTIMS], c[LOOKS], c[LONG_LOOKS], c[CHURNED]);
	run(sockfuzz__sums_stay_right_and_all_end);
	run(sockfuzz__each_call_succeeded_sometimes);
	run(sockfuzz__nothing_is_left);
	return tap_done();
}
