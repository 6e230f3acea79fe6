// SPDX-License-Identifier: BSD-2-Clause
/* Decides which GPU can access which NIC directly, by the rule of topo.h. */
#include <stdio.h>

#include "topo_own.h"

static void judge_gpu(struct topo_gpu *gpu, const struct topo_drivers *d)
{
	const struct hwloc_pcidev_attr_s *pci = &gpu->obj->attr->pcidev;
	struct peer_topo_gpu *pub = &gpu->pub;
	const char *why = NULL;

	if (gpu->say == TOPO_SAYS_NO)
		why = "TribGPUDirect of the GPU says no";
	else if (gpu->say == TOPO_SAYS_YES)
		why = NULL;
	else if (pci->class_id == CLASS_VGA)
		why = "a graphics card (PCI class VGA) does not export its memory";
	else if (pci->vendor_id == VENDOR_NVIDIA)
		why = d->nvidia ? NULL : d->why_nvidia;
	else if (pci->vendor_id == VENDOR_AMD)
		why = d->amd ? NULL : d->why_amd;
	else
		why = d->intel ? NULL : d->why_intel;
	pub->exports = !why;
	snprintf(pub->why, sizeof(pub->why), "%s", why ? why : "");
}

static void judge_nic(struct topo_nic *nic)
{
	struct peer_topo_nic *pub = &nic->pub;

	pub->can_rdma = nic->say == TOPO_SAYS_NOTHING ? *pub->rdma : nic->say == TOPO_SAYS_YES;
	pub->why[0] = '\0';
	if (nic->say == TOPO_SAYS_NO)
		snprintf(pub->why, sizeof(pub->why), "TribGPUDirect of %s says no", pub->name);
	else if (!pub->can_rdma)
		snprintf(pub->why, sizeof(pub->why),
			 "%s cannot do RDMA: it has no OpenFabrics device", pub->name);
}

static void judge_pair(const struct topo_nic *nic, const struct topo_gpu *gpu,
		       enum peer_topo_near reach, struct peer_topo_pair *pair)
{
	pair->direct = false;
	if (!nic->pub.can_rdma)
		snprintf(pair->why, sizeof(pair->why), "%s", nic->pub.why);
	else if (!gpu->pub.exports)
		snprintf(pair->why, sizeof(pair->why), "%s", gpu->pub.why);
	else if (pair->near > reach && gpu->say != TOPO_SAYS_YES)
		snprintf(pair->why, sizeof(pair->why), "%s is farther than %s",
			 peer_topo_near_text(pair->near), peer_topo_near_text(reach));
	else
		pair->direct = true;
}

static bool listed(const struct peer_topo_conf *conf, unsigned int gpu)
{
	unsigned int i;

	for (i = 0; i < conf->nlist; i++)
		if (conf->list[i] == gpu)
			return true;
	return false;
}

void peer_topo_fill_direct(struct peer_topo *t, const struct peer_topo_conf *conf,
			   const struct topo_drivers *drivers)
{
	enum peer_topo_near reach = conf->reach ? conf->reach : PEER_TOPO_BRIDGE;
	struct peer_topo_pair *pair = t->pairs;
	unsigned int n, g;

	for (g = 0; g < t->ngpu; g++)
		judge_gpu(&t->gpus[g], drivers);
	for (n = 0; n < t->nnic; n++)
		judge_nic(&t->nics[n]);
	for (n = 0; n < t->nnic; n++)
		for (g = 0; g < t->ngpu; g++, pair++) {
			if (conf->direct == PEER_TOPO_RULE) {
				judge_pair(&t->nics[n], &t->gpus[g], reach, pair);
				continue;
			}
			pair->direct = conf->direct == PEER_TOPO_ALL || listed(conf, g);
			if (!pair->direct)
				snprintf(pair->why, sizeof(pair->why), "the option says so");
		}
}
