// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks that are processes: one is killed, or stops, while calls are under way. All
 * others name it, and say which of the two it was.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/peer/engine_rig.h"
#include "peer/error.h"
#include "uapi/trib_wire.h"

#define N 4
/* A rank may wait that long for a CPU of a busy machine. */
#define TIMEOUT_MS 2500

/** struct news - a rank's last words */
struct news {
	uint32_t rank;
	int code, blamed;
};

static char address[32];
static pid_t pids[N];
static int ready[2], heard[2];

static struct trib_peer *member(uint32_t rank)
{
	struct trib_peer_conf conf = {
		.rank = rank,
		.world = N,
		.job = 7,
		.address = address,
		.key = {{9, (uint8_t)getppid(), (uint8_t)(getppid() >> 8)}},
		.algorithm = "ring",
		.nics = "127.0.0.1",
		.provider = "tcp;ofi_rxm",
		.intra = "none",
		.join_timeout_ms = 10000,
		.timeout_ms = TIMEOUT_MS,
	};
	struct trib_peer_error e;
	struct trib_peer *p;

	if (!trib_peer_ops.open(&p, &conf, &e))
		return p;
	fprintf(stderr, "# rank %u: %s\n", rank, e.text);
	return NULL;
}

/* Sums of every kind, until they fail. */
static void work(struct trib_peer *p)
{
	static uint32_t mask[COUNT / 32];
	static uint64_t v[COUNT], sum[COUNT];
	struct trib_peer_call c = {.src = v, .dst = sum, .count = COUNT};
	int rc = 0;

	memset(mask, 0x33, sizeof(mask));
	while (!rc) {
		rc = call(p, c);
		c.words = !c.words && !c.nm;
		c.nm = !c.words && !c.nm ? trib_nm(2, 2) : 0;
		c.mask = mask;
	}
}

static void child(uint32_t rank)
{
	struct news news = {.rank = rank};
	struct trib_peer *p = member(rank);
	struct trib_peer_error e;

	alarm(60);
	if (!p || write(ready[1], &rank, sizeof(rank)) != sizeof(rank))
		_exit(1);
	work(p);
	trib_peer_ops.error(p, &e);
	news.code = e.code;
	news.blamed = e.rank;
	if (write(heard[1], &news, sizeof(news)) != sizeof(news))
		_exit(1);
	trib_peer_ops.leave(p, false);
	_exit(0);
}

static bool start(void)
{
	uint32_t i, rank;

	snprintf(address, sizeof(address), "127.0.0.1:%u", free_port());
	if (pipe(ready) || pipe(heard))
		return false;
	fflush(stdout);
	for (i = 0; i < N; i++) {
		pids[i] = fork();
		if (!pids[i])
			child(i);
	}
	close(ready[1]);
	close(heard[1]);
	for (i = 0; i < N; i++)
		if (!expect(read(ready[0], &rank, sizeof(rank)) == sizeof(rank)))
			return false;
	usleep(100000);
	return true;
}

static void finish(void)
{
	for (int i = 0; i < N; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(ready[0]);
	close(heard[0]);
}

static void strike(uint32_t victim, int sig, int code)
{
	struct pollfd p = {.events = POLLIN};
	struct news n;

	if (start()) {
		p.fd = heard[0];
		kill(pids[victim], sig);
		for (int i = 0; i < N - 1; i++) {
			if (!expect(poll(&p, 1, 10000) == 1) ||
			    !expect(read(heard[0], &n, sizeof(n)) == sizeof(n)))
				break;
			expect(n.rank != victim);
			expect_eq(n.blamed, (int)victim);
			expect_eq(n.code, code);
		}
	}
	finish();
}

static void death__of_a_killed_rank_is_its_end(void)
{
	for (uint32_t victim = 0; victim < N; victim++)
		strike(victim, SIGKILL, TRIB_PEER_GONE);
}

static void death__of_a_stopped_rank_is_silence(void)
{
	for (uint32_t victim = 0; victim < 2; victim++)
		strike(victim, SIGSTOP, TRIB_PEER_DEAD);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	run(death__of_a_killed_rank_is_its_end);
	run(death__of_a_stopped_rank_is_silence);
	return tap_done();
}
