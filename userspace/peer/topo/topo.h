/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine's GPUs and NICs, how near they are to each other, and which GPU leads its
 * machine's exchange over a NIC. Read by hwloc from this machine, or from a file that
 * hwloc wrote on another (lstopo machine.xml).
 *
 * The leader for a NIC is, among the GPUs that can access it directly (GPUDirect), the
 * nearest; a farther GPU with direct access beats a nearer one without. If no GPU has
 * it, the nearest leads. Of equals the lowest index leads.
 *
 * Direct access needs three things, each of which a reason names if it is missing:
 *
 *  - the NIC can do RDMA: it has an OpenFabrics device;
 *  - the GPU and its driver let other devices read its memory: a GPU of a data centre
 *    (PCI class 3D, other display, or accelerator; not VGA) of AMD, Intel or NVIDIA,
 *    with nvidia_peermem or an NVIDIA driver with dma-buf, with amdkfd, with i915 or
 *    xe. A file does not tell drivers, so that they are taken for granted;
 *  - they share a host bridge, or a farther path that struct peer_topo_conf allows.
 *
 * The info attribute TribGPUDirect, "yes" or "no", of a GPU's or a NIC's PCI device in
 * a file overrides the rule: "yes" of a GPU is direct access to each NIC that can do
 * RDMA, "yes" of a NIC says that it can, "no" of either is no access.
 *
 * Everything here is told by the machine alone, not by where the caller's CPUs are, so
 * that all processes of a machine find the same leader. A struct peer_topo does not
 * change after peer_topo_open(); threads may share it. Nothing prints.
 */
#ifndef PEER_TOPO_H
#define PEER_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer_topo;

/**
 * enum peer_topo_near - what two devices share, the nearest first
 * @PEER_TOPO_SWITCH:  a PCI bridge below a host bridge: a PCI switch.
 * @PEER_TOPO_BRIDGE:  a host bridge (PCI root complex).
 * @PEER_TOPO_NODE:    a NUMA node.
 * @PEER_TOPO_PACKAGE: a socket that has several NUMA nodes.
 * @PEER_TOPO_MACHINE: no more than the machine: they are at different sockets.
 * @PEER_TOPO_UNKNOWN: nobody knows where one of them is.
 */
enum peer_topo_near {
	PEER_TOPO_SWITCH = 1,
	PEER_TOPO_BRIDGE,
	PEER_TOPO_NODE,
	PEER_TOPO_PACKAGE,
	PEER_TOPO_MACHINE,
	PEER_TOPO_UNKNOWN,
};

/** peer_topo_near_text() - "same PCI switch" and so on; "?" for an unknown value */
const char *peer_topo_near_text(enum peer_topo_near near);

/* GPUs, and NICs, of a machine; a machine with more is refused. */
#define PEER_TOPO_MAX 256

#define PEER_TOPO_NAME 48
#define PEER_TOPO_WHY 160

/* "0000:1b:00.0" */
#define PEER_TOPO_PCI 16

/**
 * enum peer_topo_direct - which GPUs count as having direct access
 * @PEER_TOPO_RULE: those that the rule above finds.
 * @PEER_TOPO_NONE: none.
 * @PEER_TOPO_ALL:  all.
 * @PEER_TOPO_LIST: those of a list.
 */
enum peer_topo_direct {
	PEER_TOPO_RULE,
	PEER_TOPO_NONE,
	PEER_TOPO_ALL,
	PEER_TOPO_LIST,
};

/**
 * struct peer_topo_conf - for peer_topo_open(); zero: this machine, by the rule
 * @xml:    file of hwloc, of version 2; NULL: this machine.
 * @reach:  the farthest path of direct access; 0: PEER_TOPO_BRIDGE. Some machines
 *          carry it between host bridges, or slowly between sockets.
 * @direct: overrides the rule and TribGPUDirect.
 * @list, @nlist: indices of GPUs, for PEER_TOPO_LIST.
 * @root:   folder in which sys/ and proc/ tell this machine's drivers; NULL: "/".
 */
struct peer_topo_conf {
	const char *xml;
	enum peer_topo_near reach;
	enum peer_topo_direct direct;
	const unsigned int *list;
	unsigned int nlist;
	const char *root;
};

/**
 * struct peer_topo_gpu - a GPU
 * @pci:    address.
 * @name:   vendor and model, as far as known.
 * @device: names by which software knows it, with spaces between: "cuda0 nvml0"; or "".
 * @node:   NUMA node, -1 if unknown.
 * @package: socket, -1 if unknown.
 * @exports: its memory can be read by other devices.
 * @why:    if it cannot, why.
 *
 * GPUs are numbered from 0 by PCI address, as nvidia-smi and rocm-smi do, and CUDA
 * with CUDA_DEVICE_ORDER=PCI_BUS_ID. Graphics of a board's management chip is no GPU.
 */
struct peer_topo_gpu {
	char pci[PEER_TOPO_PCI];
	char name[PEER_TOPO_NAME];
	char device[PEER_TOPO_NAME];
	int node;
	int package;
	bool exports;
	char why[PEER_TOPO_WHY];
};

/**
 * struct peer_topo_nic - a NIC
 * @name: of the network device; of the OpenFabrics device, if it has no other.
 * @rdma: name of the OpenFabrics device, or "".
 * @pci:  address, or "" if it is no PCI device.
 * @node, @package: as of a GPU.
 * @can_rdma: it can do RDMA. @why: if it cannot, why.
 *
 * NICs are numbered from 0 by PCI address, then name.
 */
struct peer_topo_nic {
	char name[PEER_TOPO_NAME];
	char rdma[PEER_TOPO_NAME];
	char pci[PEER_TOPO_PCI];
	int node;
	int package;
	bool can_rdma;
	char why[PEER_TOPO_WHY];
};

/**
 * struct peer_topo_pair - a GPU and a NIC
 * @near: what they share.
 * @latency: between their NUMA nodes, as the firmware says; 0 if unknown or the same.
 * @hops: PCI bridges between them.
 * @direct: the GPU can access the NIC directly. @why: if it cannot, why.
 *
 * The distance is @near, then @latency, then @hops.
 */
struct peer_topo_pair {
	enum peer_topo_near near;
	uint64_t latency;
	unsigned int hops;
	bool direct;
	char why[PEER_TOPO_WHY];
};

/**
 * peer_topo_open() - read a machine
 * @out: for peer_topo_close(); NULL after an error.
 * @why: of @size bytes: one line about the error.
 *
 * A file is refused if it is larger than 16 MiB, is not what hwloc writes, or describes
 * no machine. Return: 0; -EINVAL: a wrong file or @conf; -E2BIG: too many GPUs or NICs;
 * -ENOMEM; or what opening the file gave.
 */
int peer_topo_open(struct peer_topo **out, const struct peer_topo_conf *conf, char *why,
		   size_t size);
/** peer_topo_close() - free it, with all that its functions returned; NULL is allowed */
void peer_topo_close(struct peer_topo *t);

/** peer_topo_machine() - the machine's name, as its firmware says, or "machine" */
const char *peer_topo_machine(const struct peer_topo *t);
unsigned int peer_topo_packages(const struct peer_topo *t);
unsigned int peer_topo_nodes(const struct peer_topo *t);
unsigned int peer_topo_ngpu(const struct peer_topo *t);
unsigned int peer_topo_nnic(const struct peer_topo *t);

/** peer_topo_gpu() - a GPU, or NULL if there is no such index */
const struct peer_topo_gpu *peer_topo_gpu(const struct peer_topo *t, unsigned int gpu);
/** peer_topo_nic() - a NIC, or NULL if there is no such index */
const struct peer_topo_nic *peer_topo_nic(const struct peer_topo *t, unsigned int nic);
/** peer_topo_pair() - a GPU and a NIC, or NULL if there is no such index */
const struct peer_topo_pair *peer_topo_pair(const struct peer_topo *t, unsigned int nic,
					    unsigned int gpu);

/**
 * peer_topo_find_nic() - find a NIC by its name, its OpenFabrics device or PCI address
 * Return: its index, or -ENOENT.
 */
int peer_topo_find_nic(const struct peer_topo *t, const char *name);
/** peer_topo_find_gpu() - find a GPU by PCI address or by a name of its device */
int peer_topo_find_gpu(const struct peer_topo *t, const char *name);

/**
 * struct peer_topo_proc - a process of this machine, for peer_topo_leader()
 * @gpu:  index of the GPU that it uses; -1: none.
 * @node: NUMA node that it is bound to; -1: none. Used only if no process has a GPU.
 *
 * Processes are in the order of their local ranks.
 */
struct peer_topo_proc {
	int gpu;
	int node;
};

/**
 * struct peer_topo_leader - for peer_topo_leader()
 * @gpu:    index of the leading GPU; -1: none, a process without a GPU leads.
 * @proc:   local rank of the leading process: the lowest of those that use @gpu;
 *          0 if no processes were given.
 * @direct: @gpu accesses the NIC directly.
 * @near:   of @gpu and the NIC; without a GPU, of the process and the NIC.
 * @reason: one sentence.
 */
struct peer_topo_leader {
	int gpu;
	unsigned int proc;
	bool direct;
	enum peer_topo_near near;
	char reason[2 * PEER_TOPO_WHY];
};

/**
 * peer_topo_leader() - find the leader for a NIC
 * @procs: processes of the job on this machine; NULL: any GPU may lead.
 * @nproc: number of them.
 *
 * Only GPUs that a process uses may lead. If no process uses one, the process whose
 * NUMA node is nearest to the NIC leads, of equals the lowest local rank.
 *
 * Return: 0; -EINVAL if there is no such NIC, or a process names no GPU of the machine.
 */
int peer_topo_leader(const struct peer_topo *t, unsigned int nic,
		     const struct peer_topo_proc *procs, unsigned int nproc,
		     struct peer_topo_leader *out);

/**
 * peer_topo_draw() - draw the machine as a tree of sockets, bridges, GPUs and NICs
 * Return: lines of UTF-8, which the caller frees; NULL without memory.
 */
char *peer_topo_draw(const struct peer_topo *t);

#endif /* PEER_TOPO_H */
