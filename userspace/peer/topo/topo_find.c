// SPDX-License-Identifier: BSD-2-Clause
/* Finds GPUs and NICs among hwloc's I/O objects. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "topo_own.h"

static bool has_osdev(hwloc_obj_t pci, hwloc_obj_osdev_type_t type)
{
	hwloc_obj_t o;

	for (o = pci->io_first_child; o; o = o->next_sibling)
		if (o->type == HWLOC_OBJ_OS_DEVICE && o->attr->osdev.type == type)
			return true;
	return false;
}

/* Graphics and accelerators of the vendors whose GPUs compute. */
static bool is_gpu(hwloc_obj_t o)
{
	const struct hwloc_pcidev_attr_s *pci = &o->attr->pcidev;

	if (pci->vendor_id != VENDOR_AMD && pci->vendor_id != VENDOR_NVIDIA &&
	    pci->vendor_id != VENDOR_INTEL)
		return false;
	switch (pci->class_id) {
	case CLASS_VGA:
	case CLASS_3D:
	case CLASS_DISPLAY:
		return true;
	case CLASS_ACCELERATOR:
		/* Also FPGAs and the like: software must know it as a processor. */
		return pci->vendor_id == VENDOR_AMD || has_osdev(o, HWLOC_OBJ_OSDEV_COPROC);
	default:
		return false;
	}
}

static enum topo_say say_of(hwloc_obj_t o)
{
	const char *say = hwloc_obj_get_info_by_name(o, "TribGPUDirect");

	if (!say)
		return TOPO_SAYS_NOTHING;
	/* A word that is neither must not allow anything. */
	return strcmp(say, "yes") ? TOPO_SAYS_NO : TOPO_SAYS_YES;
}

static void put_pci(char out[PEER_TOPO_PCI], hwloc_obj_t o)
{
	const struct hwloc_pcidev_attr_s *pci = &o->attr->pcidev;

	snprintf(out, PEER_TOPO_PCI, "%04x:%02x:%02x.%x", pci->domain & 0xffff, pci->bus,
		 pci->dev & 0x1f, pci->func & 0xf);
}

/* Copy a name of somebody else's, as one line, as much as fits. */
static void put_name(char out[PEER_TOPO_NAME], const char *name)
{
	size_t len = strnlen(name, PEER_TOPO_NAME - 1);

	memcpy(out, name, len);
	out[len] = '\0';
	text_one_line(out);
}

static const char *vendor_of(unsigned int id)
{
	return id == VENDOR_AMD ? "AMD" : id == VENDOR_NVIDIA ? "NVIDIA" : "Intel";
}

static void put_gpu(const struct peer_topo *t, struct topo_gpu *gpu, hwloc_obj_t o)
{
	const char *model = hwloc_obj_get_info_by_name(o, "PCIDevice");
	struct peer_topo_gpu *pub = &gpu->pub;
	const char *known = NULL;
	char text[16];
	hwloc_obj_t c;
	size_t len;

	gpu->obj = o;
	gpu->say = say_of(o);
	put_pci(pub->pci, o);
	pub->node = peer_topo_node_of(t, o);
	pub->package = peer_topo_package_of(o);
	for (c = o->io_first_child; c; c = c->next_sibling) {
		if (c->type != HWLOC_OBJ_OS_DEVICE || !c->name || strchr(c->name, ' '))
			continue;
		if (c->attr->osdev.type != HWLOC_OBJ_OSDEV_GPU &&
		    c->attr->osdev.type != HWLOC_OBJ_OSDEV_COPROC)
			continue;
		len = strlen(pub->device);
		/* A part of a name is none. */
		if (len + strlen(c->name) + 2 <= sizeof(pub->device))
			snprintf(pub->device + len, sizeof(pub->device) - len, "%s%s",
				 len ? " " : "", c->name);
		if (!known)
			known = hwloc_obj_get_info_by_name(c, "GPUModel");
	}
	text_one_line(pub->device);
	snprintf(text, sizeof(text), "%s %04x", vendor_of(o->attr->pcidev.vendor_id),
		 o->attr->pcidev.device_id);
	put_name(pub->name, known ? known : model ? model : text);
}

/* Fill a NIC from its OS device @net (NULL: it has only @fabric), which may have no
 * PCI device. */
static void put_nic(const struct peer_topo *t, struct topo_nic *nic, hwloc_obj_t net,
		    hwloc_obj_t fabric)
{
	hwloc_obj_t os = net ? net : fabric, pci = os->parent;

	if (pci->type != HWLOC_OBJ_PCI_DEVICE)
		pci = NULL;
	nic->obj = pci ? pci : os;
	nic->say = say_of(nic->obj);
	put_name(nic->pub.name, os->name);
	if (fabric)
		put_name(nic->pub.rdma, fabric->name);
	if (pci)
		put_pci(nic->pub.pci, pci);
	nic->pub.node = peer_topo_node_of(t, os);
	nic->pub.package = peer_topo_package_of(os);
}

static hwloc_obj_t fabric_beside(hwloc_obj_t net)
{
	hwloc_obj_t o;

	if (net->parent->type != HWLOC_OBJ_PCI_DEVICE)
		return NULL;
	for (o = net->parent->io_first_child; o; o = o->next_sibling)
		if (o->type == HWLOC_OBJ_OS_DEVICE && o->name &&
		    o->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS)
			return o;
	return NULL;
}

/* Take @o if it is a NIC. An OpenFabrics device beside a network device is one with it. */
static bool take_nic(struct peer_topo *t, hwloc_obj_t o)
{
	bool net = o->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK;

	if (!o->name || !*o->name)
		return false;
	if (!net && o->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS)
		return false;
	if (!net && has_osdev(o->parent, HWLOC_OBJ_OSDEV_NETWORK))
		return false;
	if (t->nnic < PEER_TOPO_MAX)
		put_nic(t, &t->nics[t->nnic], net ? o : NULL, net ? fabric_beside(o) : o);
	return true;
}

static int by_gpu(const void *a, const void *b)
{
	return strcmp(((const struct topo_gpu *)a)->pub.pci, ((const struct topo_gpu *)b)->pub.pci);
}

static int by_nic(const void *a, const void *b)
{
	const struct peer_topo_nic *x = &((const struct topo_nic *)a)->pub,
				   *y = &((const struct topo_nic *)b)->pub;
	int d = strcmp(x->pci, y->pci);

	return d ? d : strcmp(x->name, y->name);
}

static int check_twice(const struct peer_topo *t, char *why, size_t size)
{
	unsigned int i;

	for (i = 1; i < t->ngpu; i++)
		if (!by_gpu(&t->gpus[i - 1], &t->gpus[i]))
			return text_fail(why, size, -EINVAL, "two GPUs at PCI address %s",
					 t->gpus[i].pub.pci);
	for (i = 1; i < t->nnic; i++)
		if (!by_nic(&t->nics[i - 1], &t->nics[i]))
			return text_fail(why, size, -EINVAL,
					 "two NICs \"%s\" at PCI address \"%s\"",
					 t->nics[i].pub.name, t->nics[i].pub.pci);
	return 0;
}

static void mark(struct peer_topo *t, hwloc_obj_t o)
{
	for (; o && !o->userdata; o = o->parent)
		o->userdata = t;
}

int peer_topo_find(struct peer_topo *t, char *why, size_t size)
{
	hwloc_obj_t o = NULL;
	unsigned int i;

	t->gpus = calloc(PEER_TOPO_MAX, sizeof(*t->gpus));
	t->nics = calloc(PEER_TOPO_MAX, sizeof(*t->nics));
	if (!t->gpus || !t->nics)
		return text_fail(why, size, -ENOMEM, "out of memory");
	while ((o = hwloc_get_next_pcidev(t->hw, o))) {
		if (!is_gpu(o))
			continue;
		if (t->ngpu == PEER_TOPO_MAX)
			return text_fail(why, size, -E2BIG, "more than %u GPUs", PEER_TOPO_MAX);
		put_gpu(t, &t->gpus[t->ngpu++], o);
	}
	while ((o = hwloc_get_next_osdev(t->hw, o))) {
		if (!take_nic(t, o))
			continue;
		if (t->nnic == PEER_TOPO_MAX)
			return text_fail(why, size, -E2BIG, "more than %u NICs", PEER_TOPO_MAX);
		t->nnic++;
	}
	qsort(t->gpus, t->ngpu, sizeof(*t->gpus), by_gpu);
	qsort(t->nics, t->nnic, sizeof(*t->nics), by_nic);
	for (i = 0; i < t->ngpu; i++)
		mark(t, t->gpus[i].obj);
	for (i = 0; i < t->nnic; i++)
		mark(t, t->nics[i].obj);
	return check_twice(t, why, size);
}
