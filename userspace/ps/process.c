// SPDX-License-Identifier: BSD-2-Clause
/* What trib-ps and trib-ps ndn have in common as programs. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>

bool ps_interval_parse(const char *s, unsigned int *out)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || *end || *s < '0' || *s > '9' || v < 10 || v > 86400000)
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
