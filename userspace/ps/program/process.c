// SPDX-License-Identifier: BSD-2-Clause
/* Owns the parts of a process that trib-ps and trib-ps ndn share. */
#include "process.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/text.h"

#define INTERVAL_MIN 10
#define INTERVAL_MAX 86400000

void ps_log(const char *fmt, ...)
{
	bool journal = getenv("JOURNAL_STREAM") && !isatty(STDERR_FILENO);
	char text[512], *s;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* A line may quote names from other hosts. */
	for (s = text; *s; s++)
		if (!isprint((unsigned char)*s))
			*s = '?';
	fprintf(stderr, "%s%s\n", journal ? "<6>" : "trib-ps: ", text);
}

int ps_usage(const char *usage, const char *fmt, const char *value)
{
	fprintf(stderr, "trib-ps: ");
	fprintf(stderr, fmt, value);
	fprintf(stderr, "\n%s", usage);
	return 2;
}

bool ps_interval_parse(const char *s, unsigned int *out)
{
	uint64_t v;

	if (text_number(s, INTERVAL_MIN, INTERVAL_MAX, &v))
		return false;
	*out = (unsigned int)v;
	return true;
}

int ps_signals_open(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

unsigned int ps_signals_take(int fd)
{
	struct signalfd_siginfo si;
	unsigned int got = 0;

	while (read(fd, &si, sizeof(si)) == sizeof(si))
		got |= si.ssi_signo == SIGUSR1 ? PS_SIGNAL_REPORT : PS_SIGNAL_STOP;
	return got;
}
