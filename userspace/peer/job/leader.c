// SPDX-License-Identifier: BSD-2-Clause
/* See leader.h. */
#include "leader.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "peer/net/port.h"
#include "peer/topo/topo.h"

#define PROCS_MAX 1024

/* hwloc reads devices by libudev, which has state of its own: one thread at a time. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

static int read_machine(struct peer_topo **t, char *why, size_t room)
{
	struct peer_topo_conf conf = {0};
	int rc;

	pthread_mutex_lock(&reading);
	rc = peer_topo_open(t, &conf, why, room);
	pthread_mutex_unlock(&reading);
	return rc;
}

static bool is_number(const char *s, int32_t *out)
{
	uint64_t v;

	if (text_number(s, 0, PEER_TOPO_MAX - 1, &v))
		return false;
	*out = (int32_t)v;
	return true;
}

int peer_leader_self(const char *gpu, struct peer_leader_proc *out)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	struct peer_topo *t;
	char why[160];

	*out = (struct peer_leader_proc){-1, -1};
	if (!gpu || !*gpu) {
		if (visible)
			(void)is_number(visible, &out->gpu);
		return 0;
	}
	if (!strcmp(gpu, "none") || is_number(gpu, &out->gpu))
		return 0;
	if (read_machine(&t, why, sizeof(why)))
		return -EINVAL;
	out->gpu = peer_topo_find_gpu(t, gpu);
	peer_topo_close(t);
	return out->gpu < 0 ? -EINVAL : 0;
}

static unsigned int ask(const struct peer_topo *t, const char *nic,
			const struct peer_leader_proc *proc, unsigned int n, char *why, size_t room)
{
	struct peer_topo_proc procs[PROCS_MAX];
	struct peer_topo_leader l;
	char device[64];
	unsigned int i;
	int found;

	peer_nic_device(nic, device, sizeof(device));
	found = peer_topo_find_nic(t, device);
	if (found < 0) {
		snprintf(why, room, "the first rank leads: %s is no device on a bus", device);
		return 0;
	}
	for (i = 0; i < n; i++)
		procs[i] = (struct peer_topo_proc){proc[i].gpu, proc[i].node};
	if (peer_topo_leader(t, (unsigned int)found, procs, n, &l)) {
		snprintf(why, room, "the first rank leads: a rank names a GPU that is not here");
		return 0;
	}
	snprintf(why, room, "%s", l.reason);
	return l.proc < n ? l.proc : 0;
}

unsigned int peer_leader_find(const char *nic, const struct peer_leader_proc *proc, unsigned int n,
			      char *why, size_t room)
{
	struct peer_topo *t;
	char error[160];
	unsigned int leader;

	if (!nic || n > PROCS_MAX) {
		snprintf(why, room, "the first rank leads: no NIC is named");
		return 0;
	}
	if (read_machine(&t, error, sizeof(error))) {
		snprintf(why, room, "the first rank leads: %s", error);
		return 0;
	}
	leader = ask(t, nic, proc, n, why, room);
	peer_topo_close(t);
	return leader;
}
