// SPDX-License-Identifier: BSD-2-Clause
/*
 * The machine as a tree: sockets, NUMA nodes, host bridges, PCI switches, and the GPUs
 * and NICs below them. A bridge that leads to one device only is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo_own.h"

/* Branches of a tree: "│  ", or blanks, for each level above. */
#define INDENT_MAX 1024

struct drawing {
	const struct peer_topo *t;
	FILE *f;
	char indent[INDENT_MAX];
	size_t len;
};

/* The first of @o and its siblings with a GPU or NIC at or below it. */
static hwloc_obj_t next_child(hwloc_obj_t o)
{
	while (o && !o->userdata)
		o = o->next_sibling;
	return o;
}

/* Pass bridges that lead to one thing only; the host bridge stays. */
static hwloc_obj_t skip_ports(hwloc_obj_t o)
{
	hwloc_obj_t c;

	while (o->type == HWLOC_OBJ_BRIDGE &&
	       o->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
		c = next_child(o->io_first_child);
		if (!c || next_child(c->next_sibling))
			break;
		o = c;
	}
	return o;
}

static void put_devices(const struct drawing *d, hwloc_obj_t o)
{
	const char *between = "";
	unsigned int i;

	for (i = 0; i < d->t->ngpu; i++) {
		const struct peer_topo_gpu *g = &d->t->gpus[i].pub;

		if (d->t->gpus[i].obj != o)
			continue;
		fprintf(d->f, "%sGPU %u  %s  %s%s%s", between, i, g->pci, g->name,
			*g->device ? "  " : "", g->device);
		between = ", ";
	}
	for (i = 0; i < d->t->nnic; i++) {
		const struct peer_topo_nic *n = &d->t->nics[i].pub;

		if (d->t->nics[i].obj != o)
			continue;
		fprintf(d->f, "%sNIC %s", between, n->name);
		if (*n->pci)
			fprintf(d->f, "  %s", n->pci);
		if (!n->can_rdma)
			fputs("  no RDMA", d->f);
		else if (*n->rdma && strcmp(n->rdma, n->name))
			fprintf(d->f, "  %s", n->rdma);
		between = ", ";
	}
	fputc('\n', d->f);
}

static void put_line(const struct drawing *d, hwloc_obj_t o)
{
	const struct hwloc_bridge_attr_s *b = &o->attr->bridge;

	if (o->type != HWLOC_OBJ_BRIDGE)
		put_devices(d, o);
	else if (b->upstream_type == HWLOC_OBJ_BRIDGE_PCI)
		fprintf(d->f, "PCI switch %04x:%02x:%02x.%x\n", b->upstream.pci.domain & 0xffff,
			b->upstream.pci.bus, b->upstream.pci.dev & 0x1f,
			b->upstream.pci.func & 0xf);
	else
		fprintf(d->f, "host bridge %04x:%02x-%02x\n", b->downstream.pci.domain & 0xffff,
			b->downstream.pci.secondary_bus, b->downstream.pci.subordinate_bus);
}

/* Draw @o as a branch, the @last of its parent or not, and what is below it. */
static void branch(struct drawing *d, hwloc_obj_t o, bool last)
{
	const char *more = last ? "   " : "│  ";
	size_t len = d->len, add = strlen(more);
	hwloc_obj_t c, next;

	o = skip_ports(o);
	fprintf(d->f, "%s%s", d->indent, last ? "└─ " : "├─ ");
	put_line(d, o);
	/* Devices below a device are its own. */
	if (o->type != HWLOC_OBJ_BRIDGE || len + add >= INDENT_MAX)
		return;
	memcpy(d->indent + len, more, add + 1);
	d->len = len + add;
	for (c = next_child(o->io_first_child); c; c = next) {
		next = next_child(c->next_sibling);
		branch(d, c, !next);
	}
	d->len = len;
	d->indent[len] = '\0';
}

static void put_place(const struct drawing *d, hwloc_obj_t cpu)
{
	int node = peer_topo_node_of(d->t, cpu), package = peer_topo_package_of(cpu);

	if (package >= 0)
		fprintf(d->f, "socket %d", package);
	if (node >= 0)
		fprintf(d->f, "%sNUMA node %d", package >= 0 ? ", " : "", node);
	if (package < 0 && node < 0)
		fputs("place unknown", d->f);
	fputc('\n', d->f);
}

/* Draw the I/O trees at a place of the CPU, and at all places below it. */
static void place(struct drawing *d, hwloc_obj_t cpu)
{
	hwloc_obj_t c = next_child(cpu->io_first_child), next;

	if (c)
		put_place(d, cpu);
	for (; c; c = next) {
		next = next_child(c->next_sibling);
		branch(d, c, !next);
	}
	for (c = cpu->first_child; c; c = c->next_sibling)
		place(d, c);
}

static void count(FILE *f, const char *before, unsigned int n, const char *what)
{
	fprintf(f, "%s%u %s%s", before, n, what, n == 1 ? "" : "s");
}

char *peer_topo_draw(const struct peer_topo *t)
{
	struct drawing d = {.t = t};
	char *text = NULL;
	size_t len = 0;

	d.f = open_memstream(&text, &len);
	if (!d.f)
		return NULL;
	fputs(t->name, d.f);
	count(d.f, ": ", peer_topo_packages(t), "socket");
	count(d.f, ", ", peer_topo_nodes(t), "NUMA node");
	count(d.f, ", ", t->ngpu, "GPU");
	count(d.f, ", ", t->nnic, "NIC");
	fputc('\n', d.f);
	place(&d, hwloc_get_root_obj(t->hw));
	if (ferror(d.f) | fclose(d.f)) {
		free(text);
		return NULL;
	}
	return text;
}
