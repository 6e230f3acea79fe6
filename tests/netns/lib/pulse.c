// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tells when collectives were completed: sums of a packet each, so many under
 * way at a time, each checked, from its start until standard input ends on any
 * rank.
 *
 *	pulse [-q UNDER_WAY] [-g MS]
 *
 * Prints "running"; whenever nothing was completed for longer than -g (5)
 * milliseconds, "gap FROM TO", in nanoseconds of CLOCK_MONOTONIC; and at the
 * end "sums N" and "detours N", how often relays died, and another way was found.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trib.h"

#define VALUES 352
#define DEPTH_MAX 1024

struct sum {
	struct trib_req *req;
	int32_t in[VALUES], out[VALUES];
};

static struct sum *sums;
static struct trib *job;
static unsigned int depth = 32;
static uint64_t gap_ns = 5 * 1000 * 1000;

static __attribute__((noreturn, format(printf, 1, 2))) void fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "pulse: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool input_ended(void)
{
	struct pollfd pfd = {.fd = STDIN_FILENO, .events = POLLIN};
	char c;

	return poll(&pfd, 1, 0) > 0 && read(STDIN_FILENO, &c, 1) <= 0;
}

/* Value of a rank at place @i of sum @n; place 0 says that a rank ends. */
static int32_t value(uint64_t n, int rank, int i)
{
	return (int32_t)(n % 100003) * (rank + 1) - 7 * i;
}

static void issue(uint64_t n, bool *ended)
{
	struct sum *s = &sums[n % depth];
	int i, rank = trib_rank(job);

	*ended = *ended || input_ended();
	s->in[0] = *ended;
	for (i = 1; i < VALUES; i++)
		s->in[i] = value(n, rank, i);
	if (trib_iallreduce(job, s->in, s->out, VALUES, TRIB_I32, TRIB_SUM, &s->req))
		fail("sum %llu: %s", (unsigned long long)n, trib_error_text(job));
}

/* Return: whether anybody wanted to end when this one was issued. */
static bool complete(uint64_t n)
{
	struct sum *s = &sums[n % depth];
	int32_t want;
	int i, r;

	if (trib_wait(s->req))
		fail("sum %llu: %s", (unsigned long long)n, trib_error_text(job));
	for (i = 1; i < VALUES; i++) {
		for (want = 0, r = 0; r < trib_world(job); r++)
			want += value(n, r, i);
		if (s->out[i] != want)
			fail("sum %llu: place %d is %d instead of %d", (unsigned long long)n, i,
			     s->out[i], want);
	}
	return s->out[0] != 0;
}

/* All ranks issue the same number: @depth after the one that says "end". */
static uint64_t run(void)
{
	uint64_t n, issued = 0, last, now;
	bool ended = false, over = false;

	while (issued < depth)
		issue(issued++, &ended);
	last = now_ns();
	for (n = 0; n < issued; n++) {
		over |= complete(n);
		now = now_ns();
		if (now - last > gap_ns) {
			printf("gap %llu %llu\n", (unsigned long long)last,
			       (unsigned long long)now);
			fflush(stdout);
		}
		last = now;
		if (!over)
			issue(issued++, &ended);
	}
	return n;
}

static unsigned int number(const char *text, unsigned int max)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || !v || v > max)
		fail("'%s' is not within 1 to %u", text, max);
	return (unsigned int)v;
}

int main(int argc, char **argv)
{
	struct trib_options opts = {.size = sizeof(opts)};
	struct trib_counters counters = {.size = sizeof(counters)};
	uint64_t n;
	int o;

	while ((o = getopt(argc, argv, "q:g:")) != -1) {
		if (o == 'q')
			depth = number(optarg, DEPTH_MAX);
		else if (o == 'g')
			gap_ns = number(optarg, 10000) * 1000000ULL;
		else
			return 2;
	}
	sums = calloc(depth, sizeof(*sums));
	if (!sums)
		fail("no memory");
	if (trib_attach(&job, &opts))
		fail("%s", trib_error_text(NULL));
	puts("running");
	fflush(stdout);
	n = run();
	trib_counters(job, &counters);
	if (trib_detach(job))
		fail("detach: %s", trib_error_text(NULL));
	printf("sums %llu\n", (unsigned long long)n);
	printf("detours %llu\n", (unsigned long long)counters.detours);
	free(sums);
	return 0;
}
