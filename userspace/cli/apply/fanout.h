/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs one command on many hosts at once, with a child process for each that
 * gets its input through a pipe. It does not know the content of the messages.
 */
#ifndef TRIB_CLI_FANOUT_H
#define TRIB_CLI_FANOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/**
 * struct fan - input and answer of one host
 * @host:  replaces {} in the template.
 * @in:    text for its standard input; NULL: this host is left out.
 * @out:   its standard output, ended by a NUL; fan_free() frees it.
 * @error: reason why there is no answer; "" if there is one.
 *
 * The other members are private to fanout.c.
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

/* Called about once a second: @done of @n hosts have answered. */
typedef void (*fan_progress)(void *arg, size_t done, size_t n);

/**
 * fan_run() - run "TEMPLATE trib -j apply --local" for every host with @in
 * @via: words with {} for the host, separated by blanks.
 * @ms:  time for each host; a process that needs longer is killed.
 *
 * A host failed if its @error is not empty.
 */
void fan_run(const char *via, struct fan *f, size_t n, int ms, fan_progress progress, void *arg);

/* Free input and answers before the next round. */
void fan_free(struct fan *f, size_t n);

#endif /* TRIB_CLI_FANOUT_H */
