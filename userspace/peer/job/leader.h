/* SPDX-License-Identifier: BSD-2-Clause */
/* The leader of this machine's ranks: by topo/, as far as this machine can tell. */
#ifndef PEER_LEADER_H
#define PEER_LEADER_H

#include <stddef.h>
#include <stdint.h>

/** struct peer_leader_proc - what a rank says of itself; -1: unknown */
struct peer_leader_proc {
	int32_t gpu;
	int32_t node;
};

/**
 * peer_leader_self() - the GPU of this process
 * @gpu: an index, a PCI address, "none", or NULL: CUDA_VISIBLE_DEVICES, if it names one.
 * Return: 0, or -EINVAL: @gpu is none of these.
 */
int peer_leader_self(const char *gpu, struct peer_leader_proc *out);

/**
 * peer_leader_find() - which of the processes of this machine leads
 * @nic:  device, address or verbs domain of NIC 0; NULL: unknown.
 * @proc: in the order of ranks, @n of them.
 * @why:  one sentence.
 *
 * Return: index of the process. The first one if the machine cannot be read, or has no
 * such device.
 */
unsigned int peer_leader_find(const char *nic, const struct peer_leader_proc *proc, unsigned int n,
			      char *why, size_t room);

#endif /* PEER_LEADER_H */
