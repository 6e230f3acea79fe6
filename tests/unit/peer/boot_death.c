// SPDX-License-Identifier: BSD-2-Clause
/* Processes that are killed or stopped: all others name them in time. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/lib/tap.h"
#include "tests/unit/peer/boot_rig.h"

#define N 4

/** struct news - sent by a process when it heard of a death */
struct news {
	uint32_t rank;
	int dead, code;
	uint64_t when;
};

static struct rank ranks[N];
static pid_t pids[N];
static int ready[2], heard[2];

/* One rank: swaps once, then lives until it hears of a death. */
static void child(uint32_t rank)
{
	struct rank *r = &ranks[rank];
	const void *all[N];
	struct news news;
	size_t lens[N];

	alarm(60);
	if (peer_boot_open(&r->boot, &r->conf, &r->error) ||
	    peer_boot_swap(r->boot, &rank, sizeof(rank), all, lens, &r->error) ||
	    write(ready[1], &rank, sizeof(rank)) != sizeof(rank))
		_exit(1);
	rank_wait_death(r, 60000);
	news = (struct news){.rank = rank, .dead = r->dead, .when = clock_ms()};
	if (peer_boot_fault(r->boot, &r->error))
		news.code = r->error.code;
	if (write(heard[1], &news, sizeof(news)) != sizeof(news))
		_exit(1);
	peer_boot_close(r->boot, 1);
	_exit(0);
}

static bool start(unsigned int timeout_ms)
{
	uint32_t i, rank;

	ranks_init(ranks, N);
	if (pipe(ready) || pipe(heard))
		return false;
	fflush(stdout);
	for (i = 0; i < N; i++) {
		ranks[i].conf.timeout_ms = timeout_ms;
		pids[i] = fork();
		if (!pids[i])
			child(i);
	}
	close(ready[1]);
	close(heard[1]);
	for (i = 0; i < N; i++)
		if (!expect(read(ready[0], &rank, sizeof(rank)) == sizeof(rank)))
			return false;
	return true;
}

/* All but @victim say that it died, between @least and @most ms after @begin. */
static void expect_news(uint32_t victim, int code, uint64_t begin, int least, int most)
{
	struct pollfd p = {.fd = heard[0], .events = POLLIN};
	struct news n;
	uint32_t i;
	int ms;

	for (i = 0; i < N - 1; i++) {
		if (!expect(poll(&p, 1, most + 5000) == 1) ||
		    !expect(read(heard[0], &n, sizeof(n)) == sizeof(n)))
			return;
		ms = (int)(n.when - begin);
		expect(n.rank != victim);
		expect_eq(n.dead, (int)victim);
		expect_eq(n.code, code);
		if (!expect(ms >= least && ms <= most))
			printf("# rank %u after %d ms\n", n.rank, ms);
	}
}

static void finish(void)
{
	uint32_t i;

	for (i = 0; i < N; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(ready[0]);
	close(heard[0]);
}

static void killed__is_named_by_all(void)
{
	uint32_t victim;
	uint64_t begin;

	for (victim = 0; victim < N; victim++) {
		if (!start(5000))
			return;
		begin = clock_ms();
		kill(pids[victim], SIGKILL);
		expect_news(victim, TRIB_PEER_GONE, begin, 0, 1000);
		finish();
	}
}

static void stopped__is_named_after_the_time_out(void)
{
	uint32_t victim;
	uint64_t begin;

	for (victim = 0; victim < 2; victim++) {
		if (!start(1000))
			return;
		begin = clock_ms();
		kill(pids[victim], SIGSTOP);
		expect_news(victim, TRIB_PEER_DEAD, begin, 700, 2500);
		finish();
	}
}

/* A pause shorter than the time-out is no death. */
static void stopped__for_a_while_is_not_dead(void)
{
	struct pollfd p;

	if (!start(2000))
		return;
	p = (struct pollfd){.fd = heard[0], .events = POLLIN};
	kill(pids[0], SIGSTOP);
	kill(pids[2], SIGSTOP);
	usleep(1000000);
	kill(pids[0], SIGCONT);
	kill(pids[2], SIGCONT);
	expect_eq(poll(&p, 1, 1500), 0);
	finish();
}

int main(void)
{
	run(killed__is_named_by_all);
	run(stopped__is_named_after_the_time_out);
	run(stopped__for_a_while_is_not_dead);
	return tap_done();
}
