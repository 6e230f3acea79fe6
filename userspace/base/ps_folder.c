// SPDX-License-Identifier: BSD-2-Clause
/* Owns where the jobs of trib-ps are, and the digest of their files. */
#include "ps_folder.h"

#include <stdio.h>

#include "netns.h"

int ps_jobs_dir(char *buf, size_t size)
{
	char name[40];
	int err = netns_name(name, sizeof(name));

	if (!err)
		snprintf(buf, size, PS_RUN_DIR "/ps/%s", name);
	return err;
}

/* FNV-1a. Attackers cannot write to the folder. */
uint64_t ps_digest(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3u;
	return h;
}
