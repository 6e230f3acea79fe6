/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct peer_topo, for the files of this folder. */
#ifndef PEER_TOPO_OWN_H
#define PEER_TOPO_OWN_H

#include <hwloc.h>

#include "topo.h"

/* PCI classes and vendors of GPUs. */
#define CLASS_VGA 0x0300
#define CLASS_3D 0x0302
#define CLASS_DISPLAY 0x0380
#define CLASS_ACCELERATOR 0x1200

#define VENDOR_AMD 0x1002
#define VENDOR_NVIDIA 0x10de
#define VENDOR_INTEL 0x8086

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

/**
 * peer_topo_xml_read() - read a file of hwloc, and refuse one that hwloc should not see
 * @text: the caller frees it; a NUL follows its @len bytes.
 * Return: 0, or -errno with @why.
 */
int peer_topo_xml_read(const char *path, char **text, size_t *len, char *why, size_t size);

/**
 * peer_topo_load() - make hwloc read a machine
 * @hw:   NULL, or for the caller to destroy, after an error, too.
 * @text: of @len bytes and a NUL; NULL: this machine.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int peer_topo_load(hwloc_topology_t *hw, const char *text, size_t len);

/**
 * peer_topo_try() - do so in a process of its own, which may fail in any way
 * Return: 0; -EINVAL if hwloc does not survive @text or complains of it; -errno without
 * a process.
 */
int peer_topo_try(const char *text, size_t len);

/**
 * peer_topo_find() - fill @t's GPUs and NICs, without what topo_direct.c knows
 * Mark the objects at and above them by userdata. Return: 0, or -errno with @why.
 */
int peer_topo_find(struct peer_topo *t, char *why, size_t size);

/** peer_topo_node_of() - NUMA node of an object, -1 if unknown */
int peer_topo_node_of(const struct peer_topo *t, hwloc_obj_t obj);
/** peer_topo_package_of() - socket of an object, -1 if unknown */
int peer_topo_package_of(hwloc_obj_t obj);
/** peer_topo_package_of_node() - socket of a NUMA node by its number, -1 if unknown */
int peer_topo_package_of_node(const struct peer_topo *t, int node);
/** peer_topo_latency() - between two NUMA nodes; 0 if unknown or the same */
uint64_t peer_topo_latency(const struct peer_topo *t, int a, int b);
/** peer_topo_near_places() - how near two places are; -1 is an unknown node or socket */
enum peer_topo_near peer_topo_near_places(int node, int package, int node2, int package2);
/** peer_topo_fill_near() - fill near, latency and hops of a pair */
void peer_topo_fill_near(const struct peer_topo *t, const struct topo_nic *nic,
			 const struct topo_gpu *gpu, struct peer_topo_pair *pair);
/** peer_topo_near_compare() - compare two distances: negative if @a is nearer */
int peer_topo_near_compare(const struct peer_topo_pair *a, const struct peer_topo_pair *b);

/** peer_topo_drivers_find() - look for drivers below the folder @root */
void peer_topo_drivers_find(struct topo_drivers *d, const char *root);
/** peer_topo_drivers_assume() - take all drivers for granted */
void peer_topo_drivers_assume(struct topo_drivers *d);

/** peer_topo_fill_direct() - decide exports, can_rdma and direct of everything */
void peer_topo_fill_direct(struct peer_topo *t, const struct peer_topo_conf *conf,
			   const struct topo_drivers *drivers);

#endif /* PEER_TOPO_OWN_H */
