// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps the clock of one host. No namespace confines CLOCK_REALTIME, so all programs
 * of the fabric have this library preloaded. It adds to CLOCK_REALTIME the seconds
 * that a file says, a 64-bit number that the driver changes at any time. The file is
 * in the folder $TRIB_CHAOS_CLOCK, and its name is the inode number of the network
 * namespace. A second number in it counts how often the host's programs asked.
 *
 * The kernel does not know of the step. A program that hands it a deadline in
 * CLOCK_REALTIME therefore waits wrongly not only once, as on a real host, but always.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* The driver writes and reads it (world.py). */
struct step {
	int64_t sec;
	uint64_t asked;
};

static struct step *step;
static int (*next_gettime)(clockid_t id, struct timespec *ts);

static __attribute__((constructor)) void step_map(void)
{
	const char *folder = getenv("TRIB_CHAOS_CLOCK");
	void *p = MAP_FAILED;
	char path[4096];
	struct stat st;
	int fd;

	*(void **)&next_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	if (!folder || stat("/proc/self/ns/net", &st))
		return;
	snprintf(path, sizeof(path), "%s/%llu", folder, (unsigned long long)st.st_ino);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (!ftruncate(fd, sizeof(*step)))
		p = mmap(NULL, sizeof(*step), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		step = p;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int rc = next_gettime ? next_gettime(id, ts) : (int)syscall(SYS_clock_gettime, id, ts);

	if (!rc && step && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		ts->tv_sec += __atomic_load_n(&step->sec, __ATOMIC_RELAXED);
		__atomic_fetch_add(&step->asked, 1, __ATOMIC_RELAXED);
	}
	return rc;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (t)
		*t = ts.tv_sec;
	return ts.tv_sec;
}
