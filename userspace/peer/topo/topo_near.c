// SPDX-License-Identifier: BSD-2-Clause
/* Distances: what two devices share, then the latency of memory, then bridges. */
#include "topo_own.h"

int peer_topo_node_of(const struct peer_topo *t, hwloc_obj_t obj)
{
	hwloc_obj_t cpu = hwloc_get_non_io_ancestor_obj(t->hw, obj);

	if (!cpu || !cpu->nodeset || hwloc_bitmap_weight(cpu->nodeset) != 1)
		return -1;
	return hwloc_bitmap_first(cpu->nodeset);
}

int peer_topo_package_of(hwloc_obj_t obj)
{
	for (; obj; obj = obj->parent)
		if (obj->type == HWLOC_OBJ_PACKAGE)
			return (int)obj->logical_index;
	return -1;
}

static hwloc_obj_t node_obj(const struct peer_topo *t, int node)
{
	return node < 0 ? NULL : hwloc_get_numanode_obj_by_os_index(t->hw, (unsigned int)node);
}

int peer_topo_package_of_node(const struct peer_topo *t, int node)
{
	return peer_topo_package_of(node_obj(t, node));
}

uint64_t peer_topo_latency(const struct peer_topo *t, int a, int b)
{
	hwloc_obj_t x = node_obj(t, a), y = node_obj(t, b);
	hwloc_uint64_t there = 0, back = 0;

	if (!t->latency || !x || !y || x == y)
		return 0;
	if (hwloc_distances_obj_pair_values(t->latency, x, y, &there, &back))
		return 0;
	return there;
}

enum peer_topo_near peer_topo_near_places(int node, int package, int node2, int package2)
{
	if (node >= 0 && node == node2)
		return PEER_TOPO_NODE;
	if (package >= 0 && package == package2)
		return PEER_TOPO_PACKAGE;
	if ((node < 0 || node2 < 0) && (package < 0 || package2 < 0))
		return PEER_TOPO_UNKNOWN;
	return PEER_TOPO_MACHINE;
}

static unsigned int depth_of(hwloc_obj_t o)
{
	unsigned int depth = 0;

	for (; o->parent; o = o->parent)
		depth++;
	return depth;
}

/* The lowest object that is above both, or one of them. */
static hwloc_obj_t meet(hwloc_obj_t a, hwloc_obj_t b)
{
	unsigned int i = depth_of(a), j = depth_of(b);

	while (a != b) {
		if (i >= j) {
			a = a->parent;
			i--;
		} else {
			b = b->parent;
			j--;
		}
	}
	return a;
}

static unsigned int bridges_below(hwloc_obj_t top, hwloc_obj_t o)
{
	unsigned int n = 0;

	for (; o != top; o = o->parent)
		n += o->type == HWLOC_OBJ_BRIDGE;
	return n;
}

void peer_topo_fill_near(const struct peer_topo *t, const struct topo_nic *nic,
			 const struct topo_gpu *gpu, struct peer_topo_pair *pair)
{
	int x = nic->pub.node, y = gpu->pub.node;
	hwloc_obj_t at = meet(nic->obj, gpu->obj);

	pair->hops = bridges_below(at, nic->obj) + bridges_below(at, gpu->obj) +
		     (at->type == HWLOC_OBJ_BRIDGE);
	pair->latency = peer_topo_latency(t, x, y);
	if (at->type == HWLOC_OBJ_BRIDGE)
		pair->near = at->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI
				     ? PEER_TOPO_SWITCH
				     : PEER_TOPO_BRIDGE;
	else if (at->type == HWLOC_OBJ_PCI_DEVICE)
		pair->near = PEER_TOPO_SWITCH; /* one device that is both */
	else
		pair->near = peer_topo_near_places(x, nic->pub.package, y, gpu->pub.package);
}

int peer_topo_near_compare(const struct peer_topo_pair *a, const struct peer_topo_pair *b)
{
	if (a->near != b->near)
		return a->near < b->near ? -1 : 1;
	if (a->latency != b->latency)
		return a->latency < b->latency ? -1 : 1;
	return (a->hops > b->hops) - (a->hops < b->hops);
}
