// SPDX-License-Identifier: BSD-2-Clause
/* Opens a machine: hwloc's reading of it, then GPUs, NICs, distances, direct access. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "topo_own.h"

#define NEAR_MAX (PEER_TOPO_UNKNOWN + 1)

const char *peer_topo_near_text(enum peer_topo_near near)
{
	static const char *const text[NEAR_MAX] = {
		[PEER_TOPO_SWITCH] = "same PCI switch", [PEER_TOPO_BRIDGE] = "same host bridge",
		[PEER_TOPO_NODE] = "same NUMA node",	[PEER_TOPO_PACKAGE] = "same socket",
		[PEER_TOPO_MACHINE] = "other socket",	[PEER_TOPO_UNKNOWN] = "place unknown",
	};

	return (unsigned int)near < NEAR_MAX && text[near] ? text[near] : "?";
}

static const char *name_of(hwloc_topology_t hw)
{
	hwloc_obj_t root = hwloc_get_root_obj(hw);
	const char *name = hwloc_obj_get_info_by_name(root, "DMIProductName");

	if (!name || !*name)
		name = hwloc_obj_get_info_by_name(root, "HostName");
	return name && *name ? name : "machine";
}

static void find_latency(struct peer_topo *t)
{
	unsigned int n = 1;

	if (hwloc_distances_get_by_name(t->hw, "NUMALatency", &n, &t->latency, 0) || !n)
		t->latency = NULL;
}

static int fill(struct peer_topo *t, const struct peer_topo_conf *conf, char *why, size_t size)
{
	struct topo_drivers drivers;
	unsigned int n, g;
	int err;

	t->name = name_of(t->hw);
	find_latency(t);
	err = peer_topo_find(t, why, size);
	if (err)
		return err;
	for (g = 0; g < conf->nlist; g++)
		if (conf->list[g] >= t->ngpu)
			return text_fail(why, size, -EINVAL,
					 "no GPU %u: this machine has %u, numbered from 0",
					 conf->list[g], t->ngpu);
	t->pairs = calloc((size_t)t->nnic * t->ngpu + 1, sizeof(*t->pairs));
	if (!t->pairs)
		return text_fail(why, size, -ENOMEM, "out of memory");
	for (n = 0; n < t->nnic; n++)
		for (g = 0; g < t->ngpu; g++)
			peer_topo_fill_near(t, &t->nics[n], &t->gpus[g],
					    &t->pairs[n * t->ngpu + g]);
	if (conf->xml)
		peer_topo_drivers_assume(&drivers);
	else
		peer_topo_drivers_find(&drivers, conf->root ? conf->root : "/");
	peer_topo_fill_direct(t, conf, &drivers);
	return 0;
}

static int check(const struct peer_topo_conf *conf, char *why, size_t size)
{
	if (conf->reach > PEER_TOPO_UNKNOWN)
		return text_fail(why, size, -EINVAL, "reach %d: want 0 to %d", (int)conf->reach,
				 PEER_TOPO_UNKNOWN);
	if (conf->direct > PEER_TOPO_LIST || (conf->direct != PEER_TOPO_LIST && conf->nlist))
		return text_fail(why, size, -EINVAL, "direct %d with a list of %u GPUs",
				 (int)conf->direct, conf->nlist);
	return 0;
}

int peer_topo_open(struct peer_topo **out, const struct peer_topo_conf *conf, char *why,
		   size_t size)
{
	static const struct peer_topo_conf none;
	struct peer_topo *t;
	char *text = NULL;
	size_t len = 0;
	int err;

	*out = NULL;
	if (!conf)
		conf = &none;
	err = check(conf, why, size);
	if (!err && conf->xml)
		err = peer_topo_xml_read(conf->xml, &text, &len, why, size);
	if (err)
		return err;
	t = calloc(1, sizeof(*t));
	if (!t) {
		free(text);
		return text_fail(why, size, -ENOMEM, "out of memory");
	}
	err = text ? peer_topo_try(text, len) : 0;
	if (!err)
		err = peer_topo_load(&t->hw, text, len);
	if (err)
		text_fail(why, size, err, "%s: hwloc cannot read it: %s",
			  conf->xml ? conf->xml : "this machine", strerror(-err));
	else
		err = fill(t, conf, why, size);
	free(text);
	if (err) {
		peer_topo_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void peer_topo_close(struct peer_topo *t)
{
	if (!t)
		return;
	if (t->latency)
		hwloc_distances_release(t->hw, t->latency);
	if (t->hw)
		hwloc_topology_destroy(t->hw);
	free(t->gpus);
	free(t->nics);
	free(t->pairs);
	free(t);
}

const char *peer_topo_machine(const struct peer_topo *t)
{
	return t->name;
}

static unsigned int count(const struct peer_topo *t, hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_by_type(t->hw, type);

	return n > 0 ? (unsigned int)n : 0;
}

unsigned int peer_topo_packages(const struct peer_topo *t)
{
	return count(t, HWLOC_OBJ_PACKAGE);
}

unsigned int peer_topo_nodes(const struct peer_topo *t)
{
	return count(t, HWLOC_OBJ_NUMANODE);
}

unsigned int peer_topo_ngpu(const struct peer_topo *t)
{
	return t->ngpu;
}

unsigned int peer_topo_nnic(const struct peer_topo *t)
{
	return t->nnic;
}

const struct peer_topo_gpu *peer_topo_gpu(const struct peer_topo *t, unsigned int gpu)
{
	return gpu < t->ngpu ? &t->gpus[gpu].pub : NULL;
}

const struct peer_topo_nic *peer_topo_nic(const struct peer_topo *t, unsigned int nic)
{
	return nic < t->nnic ? &t->nics[nic].pub : NULL;
}

const struct peer_topo_pair *peer_topo_pair(const struct peer_topo *t, unsigned int nic,
					    unsigned int gpu)
{
	return nic < t->nnic && gpu < t->ngpu ? &t->pairs[nic * t->ngpu + gpu] : NULL;
}

int peer_topo_find_nic(const struct peer_topo *t, const char *name)
{
	const struct peer_topo_nic *nic;
	unsigned int n;

	for (n = 0; *name && n < t->nnic; n++) {
		nic = &t->nics[n].pub;
		if (!strcmp(nic->name, name) || !strcmp(nic->rdma, name) || !strcmp(nic->pci, name))
			return (int)n;
	}
	return -ENOENT;
}

/* True if @name is one of the words of @words. */
static bool among(const char *words, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = words; (at = strstr(at, name)); at += len)
		if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

int peer_topo_find_gpu(const struct peer_topo *t, const char *name)
{
	unsigned int g;

	for (g = 0; *name && g < t->ngpu; g++)
		if (!strcmp(t->gpus[g].pub.pci, name) || among(t->gpus[g].pub.device, name))
			return (int)g;
	return -ENOENT;
}
