// SPDX-License-Identifier: BSD-2-Clause
/* Rig for random tests: see stress.h. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stress.h"

/* Time without any count after which processes hang; longer than any wait. */
#define STANDSTILL_MS 240000
/* Longest wait for the counters' floors: an emulated machine with KASAN is slow. */
#define PATIENCE_MS 180000

/* One per thread. */
static __thread uint64_t chance_state = 1;
struct stress *stress;

static unsigned int my_number;

void chance_seed(uint64_t seed)
{
	chance_state = seed * 0x9e3779b97f4a7c15ULL | 1;
	for (int i = 0; i < 4; i++)
		chance();
}

uint64_t chance(void)
{
	chance_state ^= chance_state >> 12;
	chance_state ^= chance_state << 25;
	chance_state ^= chance_state >> 27;
	return chance_state * 0x2545f4914f6cdd1dULL;
}

uint32_t chance_below(uint32_t n)
{
	return (chance() >> 32) % n;
}

uint64_t chance_odd(void)
{
	switch (chance_below(5)) {
	case 0:
		return chance_below(8);
	case 1:
		return chance();
	case 2:
		return (1ULL << chance_below(64)) - chance_below(3) + 1;
	case 3:
		return -(uint64_t)chance_below(4);
	default:
		return chance_below(70000);
	}
}

void chance_bytes(void *to, size_t len)
{
	uint8_t *p = to;
	uint64_t r;

	for (; len; p += r, len -= r) {
		uint64_t v = chance();

		r = len < sizeof(v) ? len : sizeof(v);
		memcpy(p, &v, r);
	}
}

uint64_t stress_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void usage(const char *name)
{
	fprintf(stderr, "usage: %s [-s SEED] [-t SECONDS] [-p PROCESSES]\n", name);
	exit(2);
}

void stress_init(int argc, char **argv, unsigned int seconds, unsigned int nproc)
{
	unsigned long seed = 1;
	int o;

	while ((o = getopt(argc, argv, "s:t:p:")) != -1) {
		switch (o) {
		case 's':
			seed = strtoul(optarg, NULL, 0);
			break;
		case 't':
			seconds = atoi(optarg);
			break;
		case 'p':
			nproc = atoi(optarg);
			break;
		default:
			usage(argv[0]);
		}
	}
	if (optind != argc || !seconds || !nproc || nproc > STRESS_PROCS)
		usage(argv[0]);
	stress = mmap(NULL, sizeof(*stress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (stress == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	stress->seed = seed;
	stress->seconds = seconds;
	stress->nproc = nproc;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("# seed %lu, %u seconds, %u processes\n", seed, seconds, nproc);
}

static bool enough(void)
{
	for (int i = 0; i < STRESS_COUNTERS; i++)
		if (__atomic_load_n(&stress->count[i], __ATOMIC_RELAXED) < stress->floor[i])
			return false;
	return true;
}

bool stress_over(void)
{
	uint64_t now = stress_now_ms();

	if (__atomic_load_n(&stress->complained, __ATOMIC_RELAXED))
		return true;
	return now >= stress->end_ms && (enough() || now >= stress->end_ms + PATIENCE_MS);
}

static void show_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[400];

	printf("# %s\n", path);
	while (f && fgets(line, sizeof(line), f))
		printf("#   %s", line);
	if (f)
		fclose(f);
}

static bool is_ours(const char *folder)
{
	char path[80], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/comm", folder);
	f = fopen(path, "r");
	if (f) {
		fscanf(f, "%31s", name);
		fclose(f);
	}
	return !strcmp(name, program_invocation_short_name);
}

/* Show all threads of this program, with those of all descendants. */
static void show_stacks(void)
{
	char path[80];
	glob_t g;

	if (glob("/proc/[0-9]*/task/[0-9]*", 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		if (!is_ours(g.gl_pathv[i]))
			continue;
		snprintf(path, sizeof(path), "%s/stat", g.gl_pathv[i]);
		show_file(path);
		snprintf(path, sizeof(path), "%s/stack", g.gl_pathv[i]);
		show_file(path);
	}
	globfree(&g);
}

static uint64_t counted(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < STRESS_COUNTERS; i++)
		sum += __atomic_load_n(&stress->count[i], __ATOMIC_RELAXED);
	return sum;
}

/*
 * Wait for processes. One that hangs in the kernel cannot be reaped: report it. A
 * busy machine is slow, but its counters still advance.
 */
static void wait_all(const pid_t *pids)
{
	uint64_t seen = 0, since = 0, now, n;
	unsigned int left = stress->nproc, i;
	bool here[STRESS_PROCS];
	int status;

	memset(here, 1, sizeof(here));
	while (left) {
		n = counted() + stress->nproc - left;
		now = stress_now_ms();
		if (n != seen || now < stress->end_ms)
			since = now;
		if (now - since > STANDSTILL_MS)
			break;
		seen = n;
		for (i = 0; i < stress->nproc; i++) {
			if (!here[i] || waitpid(pids[i], &status, WNOHANG) <= 0)
				continue;
			here[i] = false;
			left--;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				printf("# process %u: status %#x\n", i, status);
				stress->dead++;
			}
		}
		usleep(20000);
	}
	if (left)
		show_stacks();
	for (i = 0; i < stress->nproc; i++) {
		if (!here[i])
			continue;
		printf("# process %u does not end\n", i);
		stress->dead++;
		kill(pids[i], SIGKILL);
	}
}

void stress_run(void (*fn)(unsigned int i))
{
	pid_t pids[STRESS_PROCS];
	unsigned int i;

	fflush(stdout);
	stress->end_ms = stress_now_ms() + stress->seconds * 1000ULL;
	for (i = 0; i < stress->nproc; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		my_number = i;
		chance_seed(stress->seed * STRESS_PROCS + i);
		fn(i);
		_exit(0);
	}
	wait_all(pids);
	if (stress->complained)
		printf("# %s\n", stress->text);
}

void stress_complain(const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!__atomic_exchange_n(&stress->complained, 1, __ATOMIC_SEQ_CST)) {
		n = snprintf(stress->text, sizeof(stress->text), "process %u: ", my_number);
		va_start(ap, fmt);
		vsnprintf(stress->text + n, sizeof(stress->text) - n, fmt, ap);
		va_end(ap);
	}
	_exit(1);
}

const char *stress_hex(const void *bytes, size_t len)
{
	static char text[1600];
	const uint8_t *b = bytes;
	int n = 0;

	for (size_t i = 0; i < len && n < (int)sizeof(text) - 4; i++)
		n += snprintf(text + n, sizeof(text) - n, "%s%02x", i && i % 4 == 0 ? " " : "",
			      b[i]);
	return text;
}

/* A /proc file of the thread that opened it. */
struct thread_file {
	const char *path;
	int fd;
	pid_t whose;
};

static bool set_file(struct thread_file *f, unsigned int value)
{
	char text[16];
	int n;

	if (f->whose != gettid()) {
		if (f->fd >= 0)
			close(f->fd);
		f->fd = open(f->path, O_RDWR | O_CLOEXEC);
		f->whose = gettid();
	}
	n = snprintf(text, sizeof(text), "%u", value);
	return f->fd >= 0 && pwrite(f->fd, text, n, 0) == n;
}

/* Fail the nth allocation from now on; any user may. */
static bool set_fail_nth(unsigned int nth)
{
	static __thread struct thread_file f = {"/proc/thread-self/fail-nth", -1, 0};

	return set_file(&f, nth);
}

/* Fail allocations at random, as tests/vm/stress.t configures. Root only. */
static bool set_fail_each(bool on)
{
	static __thread struct thread_file f = {"/proc/thread-self/make-it-fail", -1, 0};

	return set_file(&f, on);
}

static __thread bool each_fails;

void stress_fail_end(void)
{
	if (each_fails)
		set_fail_each(false);
	each_fails = false;
	set_fail_nth(0);
}

bool stress_fail_some(unsigned int n)
{
	if (!chance_one_in(n))
		return false;
	if (chance_one_in(3))
		each_fails = set_fail_each(true);
	return each_fails || set_fail_nth(1 + chance_below(chance_one_in(4) ? 60 : 8));
}

void stress_be_nobody(void)
{
	if (setgid(STRESS_NOBODY) || setuid(STRESS_NOBODY))
		stress_complain("cannot be nobody");
	/* Without this, root would own its files in /proc. */
	prctl(PR_SET_DUMPABLE, 1);
}

static bool say(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), n = strlen(text);
	bool good = fd >= 0 && write(fd, text, n) == n;

	if (fd >= 0)
		close(fd);
	return good;
}

bool stress_be_root_of_own(void)
{
	stress_be_nobody();
	return !unshare(CLONE_NEWUSER | CLONE_NEWNET) && say("/proc/self/setgroups", "deny") &&
	       say("/proc/self/uid_map", "0 65534 1") && say("/proc/self/gid_map", "0 65534 1");
}
