// SPDX-License-Identifier: BSD-2-Clause
/*
 * Drivers of this machine that let a NIC read a GPU's memory: a module that registers
 * it with the RDMA core (nvidia_peermem), or a driver that exports it as dma-buf.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "topo_own.h"

#define VERSION_MAX 4096

static bool exists(const char *root, const char *path)
{
	char full[PATH_MAX];
	int n = snprintf(full, sizeof(full), "%s/%s", root, path);

	return n > 0 && (size_t)n < sizeof(full) && !access(full, F_OK);
}

/* NVIDIA's open modules export dma-buf, the closed ones do not. */
static bool nvidia_is_open(const char *root)
{
	char full[PATH_MAX], *text;
	bool open = false;
	size_t len;

	snprintf(full, sizeof(full), "%s/proc/driver/nvidia/version", root);
	if (!file_read(full, VERSION_MAX, &text, &len)) {
		open = strstr(text, "Open Kernel Module");
		free(text);
	}
	return open;
}

void peer_topo_drivers_find(struct topo_drivers *d, const char *root)
{
	d->nvidia = exists(root, "sys/module/nvidia_peermem") ||
		    exists(root, "sys/module/nv_peer_mem") || nvidia_is_open(root);
	d->why_nvidia = exists(root, "sys/module/nvidia")
				? "nvidia_peermem is not loaded (modprobe nvidia_peermem)"
				: "its driver is not loaded";
	d->amd = exists(root, "sys/class/kfd/kfd");
	d->why_amd = "amdkfd has not started: there is no /sys/class/kfd/kfd";
	d->intel = exists(root, "sys/module/i915") || exists(root, "sys/module/xe");
	d->why_intel = "its driver is not loaded";
}

void peer_topo_drivers_assume(struct topo_drivers *d)
{
	*d = (struct topo_drivers){.nvidia = true, .amd = true, .intel = true};
}
