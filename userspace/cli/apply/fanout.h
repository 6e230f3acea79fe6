/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One command on many hosts at once: a child process for each, fed through its
 * standard input. It knows processes and bytes, not what they say.
 */
#ifndef TRIB_CLI_FANOUT_H
#define TRIB_CLI_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct fan - what one host is told and answers
 * @host:  put in place of {} in the template.
 * @in:    text for its standard input; NULL: this host is left out.
 * @out:   what it wrote, ended by a NUL; to be freed by fan_free().
 * @error: why there is no answer; "" if there is one.
 *
 * The others are fanout.c's own.
 */
struct fan {
	const char *host;
	char *in;
	char *out;
	char error[256];
	size_t sent, got;
	pid_t pid;
	int to, from, err; /* pipes; -1: closed */
	long long begun_ms;
	bool done;
	char said[256];
	size_t nsaid;
};

/* Called now and then: @done of @n hosts have answered. */
typedef void (*fan_progress)(void *arg, size_t done, size_t n);

/**
 * fan_run() - run "TEMPLATE trib -j apply --local" for every host with @in
 * @via: words with {} for the host, parted by blanks.
 * @ms:  for each host; who needs longer is ended.
 *
 * A host failed if its @error is not empty. Nothing else is returned.
 */
void fan_run(const char *via, struct fan *f, size_t n, int ms,
	     fan_progress progress, void *arg);

/* Forget input and answers, for the next round. */
void fan_free(struct fan *f, size_t n);

#endif /* TRIB_CLI_FANOUT_H */
