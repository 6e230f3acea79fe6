// SPDX-License-Identifier: BSD-2-Clause
/* Owns the names of network namespaces; see netns.h. */
#include "netns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Linux 6.18 and later give the initial one this inode. */
#define NETNS_INITIAL 0xeffffff9u

/* Older kernels: process 1 is in it, if this process may look. */
static bool is_initial(const struct stat *own)
{
	struct stat init;

	if (!stat("/proc/1/ns/net", &init))
		return own->st_ino == init.st_ino;
	return own->st_ino == NETNS_INITIAL;
}

int netns_name(char *buf, size_t size)
{
	struct stat own;

	if (stat("/proc/self/ns/net", &own))
		return -errno;
	if (is_initial(&own))
		snprintf(buf, size, "default");
	else
		snprintf(buf, size, "net-%llu", (unsigned long long)own.st_ino);
	return 0;
}
