// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where trib-ps finds its jobs unless it is told: one folder for each network
 * namespace, named as tribd's instances are.
 */
#include "where.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Since 6.18 it has this number; before, process 1 tells. */
#define NETNS_INITIAL 0xeffffff9u

static bool is_initial(const struct stat *own)
{
	struct stat init;

	if (!stat("/proc/1/ns/net", &init))
		return own->st_ino == init.st_ino;
	return own->st_ino == NETNS_INITIAL;
}

int ps_jobs_dir(char *buf, size_t size)
{
	struct stat own;

	if (stat("/proc/self/ns/net", &own))
		return -errno;
	if (is_initial(&own))
		snprintf(buf, size, "/run/trib/ps/default");
	else
		snprintf(buf, size, "/run/trib/ps/net-%llu",
			 (unsigned long long)own.st_ino);
	return 0;
}

/* FNV-1a: against accidents, not against enemies, who cannot write there. */
uint64_t ps_digest(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3u;
	return h;
}
