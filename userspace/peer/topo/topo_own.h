/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct peer_topo, for the files of this folder. */
#ifndef PEER_TOPO_OWN_H
#define PEER_TOPO_OWN_H

#include <hwloc.h>

#include "topo.h"

/* The attribute TribGPUDirect of a PCI device. */
enum topo_say {
	TOPO_SAYS_NOTHING,
	TOPO_SAYS_YES,
	TOPO_SAYS_NO,
};

/**
 * struct topo_gpu - a GPU
 * @obj: its PCI device; hwloc owns it.
 */
struct topo_gpu {
	struct peer_topo_gpu pub;
	hwloc_obj_t obj;
	enum topo_say say;
};

/**
 * struct topo_nic - a NIC
 * @obj: its PCI device, or its OS device if it has none; hwloc owns it.
 */
struct topo_nic {
	struct peer_topo_nic pub;
	hwloc_obj_t obj;
	enum topo_say say;
};

/**
 * struct peer_topo - a machine
 * @hw:        owned.
 * @latency:   between NUMA nodes, owned by hwloc until released; NULL if unknown.
 * @gpus, @nics: sorted, as topo.h says; owned.
 * @pairs:     nnic rows of ngpu; owned.
 * @name:      of the machine; @hw owns it.
 */
struct peer_topo {
	hwloc_topology_t hw;
	struct hwloc_distances_s *latency;
	struct topo_gpu *gpus;
	struct topo_nic *nics;
	struct peer_topo_pair *pairs;
	unsigned int ngpu, nnic;
	const char *name;
};

/**
 * struct topo_drivers - which vendors' drivers let other devices read a GPU's memory
 * @why: if one does not, why.
 */
struct topo_drivers {
	bool nvidia, amd, intel;
	const char *why_nvidia, *why_amd, *why_intel;
};

/* topo_xml.c: read a file of hwloc, and refuse one that hwloc should not see. The
 * caller frees *@text. Return: 0 or -errno with @why. */
int peer_topo_xml_read(const char *path, char **text, size_t *len, char *why, size_t size);

/* topo_load.c: make hwloc read @text, of @len bytes and a NUL, or this machine if it is
 * NULL. Return: 0, -EINVAL or -ENOMEM; *@hw is NULL, or the caller destroys it. */
int peer_topo_load(hwloc_topology_t *hw, const char *text, size_t len);
/* Do so in a process of its own, which may fail in any way. Return: 0, -EINVAL if
 * hwloc does not survive @text or complains of it, or -errno without a process. */
int peer_topo_try(const char *text, size_t len);

/* topo_find.c: fill @t's GPUs and NICs, without what topo_direct.c knows, and mark
 * the objects at and above them by userdata. */
int peer_topo_find(struct peer_topo *t, char *why, size_t size);

/* topo_near.c: NUMA node and socket of an object, -1 if unknown. */
int peer_topo_node_of(const struct peer_topo *t, hwloc_obj_t obj);
int peer_topo_package_of(hwloc_obj_t obj);
/* Socket of a NUMA node by its number, -1 if unknown. */
int peer_topo_package_of_node(const struct peer_topo *t, int node);
/* Latency between two NUMA nodes; 0 if unknown or the same. */
uint64_t peer_topo_latency(const struct peer_topo *t, int a, int b);
/* Tell how near two places are, by NUMA node and socket, -1 if unknown. */
enum peer_topo_near peer_topo_near_places(int node, int package, int node2, int package2);
/* Fill near, latency and hops. */
void peer_topo_fill_near(const struct peer_topo *t, const struct topo_nic *nic,
			 const struct topo_gpu *gpu, struct peer_topo_pair *pair);
/* Compare two distances: negative if @a is nearer. */
int peer_topo_near_compare(const struct peer_topo_pair *a, const struct peer_topo_pair *b);

/* topo_drivers.c: look below the folder @root. */
void peer_topo_drivers_find(struct topo_drivers *d, const char *root);
/* Take all drivers for granted. */
void peer_topo_drivers_assume(struct topo_drivers *d);

/* topo_direct.c: decide exports, can_rdma and direct of everything. */
void peer_topo_fill_direct(struct peer_topo *t, const struct peer_topo_conf *conf,
			   const struct topo_drivers *drivers);

#endif /* PEER_TOPO_OWN_H */
