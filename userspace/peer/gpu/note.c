// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notes: each rank tells the others of its machine how many segments passed each stage,
 * by a port of shared memory of their own. A note replaces the ones before it, so none
 * is queued. The port also tells when a process ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "own.h"

#define CHUNK 128
#define SLOTS 8

static unsigned int local_of(const struct peer_gpu *g, uint32_t link)
{
	return link < g->me ? link : link + 1;
}

int gpu_notes_open(struct peer_gpu *g)
{
	uint32_t peers[TRIB_GPU_REDUCE_MAX], link;
	char name[128];
	struct peer_port_conf pc = {
		.rank = g->conf.rank,
		.world = g->conf.world,
		.peers = peers,
		.npeer = g->nlocal - 1,
		.chunk = CHUNK,
		.slots = SLOTS,
		.name = name,
	};
	struct peer_fault f = {.peer = -1};
	int rc;

	_Static_assert(sizeof(struct gpu_note) <= CHUNK, "a note is a chunk");
	for (link = 0; link < pc.npeer; link++)
		peers[link] = g->local[local_of(g, link)].rank;
	snprintf(name, sizeof(name), "%s-gpu", g->conf.shm_name);
	rc = peer_port_shm.open(&g->port, &pc, &f);
	if (rc)
		return gpu_fail(g, rc, "%s", f.text);
	g->note_mem = g->port->ops->mem_get(g->port, &g->note, sizeof(g->note));
	return g->note_mem ? 0 : gpu_fail(g, -ENOMEM, "out of memory");
}

static void blame(struct peer_gpu *g, int err, uint32_t rank, const char *what)
{
	struct peer_fault f = {.err = err, .peer = (int)rank};

	snprintf(f.text, sizeof(f.text), "rank %u %s", rank, what);
	peer_crew_fail(g->conf.crew, &f);
}

/* Whether a rank's newest call is this rank's call of that number, as far as is known. */
static bool same_call(const struct peer_gpu *g, const struct gpu_note *n)
{
	return !n->calls || n->calls > g->note.calls ||
	       n->calls + PEER_GPU_SIGNS <= g->note.calls ||
	       n->sign == g->sign[n->calls % PEER_GPU_SIGNS];
}

static int take(struct peer_gpu *g, struct gpu_local *l, const struct peer_chunk *c)
{
	struct gpu_note n;
	unsigned int i;

	if (c->len == sizeof(n) && c->data)
		memcpy(&n, c->data, sizeof(n));
	else
		n = (struct gpu_note){0};
	for (i = 0; i < GPU_STAGES; i++)
		if (n.done[i] < l->note.done[i]) {
			blame(g, -EPROTO, l->rank, "sent garbage");
			return -EPROTO;
		}
	l->note = n;
	return 1;
}

static int receive(struct peer_gpu *g, uint32_t link)
{
	struct gpu_local *l = &g->local[local_of(g, link)];
	struct peer_chunk c;
	int n = 0, rc = 0;

	while (rc >= 0 && g->port->ops->next(g->port, link, &c)) {
		rc = take(g, l, &c);
		g->port->ops->done(g->port, link);
		n += rc > 0;
	}
	if (rc >= 0 && !same_call(g, &l->note)) {
		blame(g, -EPROTO, l->rank,
		      "makes another call than this rank: all ranks must issue the same collectives in the same order");
		return -EPROTO;
	}
	return rc < 0 ? rc : n;
}

static void send(struct peer_gpu *g, uint32_t link)
{
	struct gpu_local *l = &g->local[local_of(g, link)];

	if (memcmp(&l->sent, &g->note, sizeof(g->note)) &&
	    !g->port->ops->send(g->port, link, g->note_mem, &g->note, sizeof(g->note)))
		l->sent = g->note;
}

int gpu_notes_turn(struct peer_gpu *g)
{
	struct peer_fault f = {.peer = -1};
	uint32_t link;
	int n, rc;

	if (!g->port)
		return 0;
	n = g->port->ops->poll(g->port);
	if (n < 0) {
		g->port->ops->fault(g->port, &f);
		peer_crew_fail(g->conf.crew, &f);
		return n;
	}
	for (rc = 0; rc < GPU_STAGES; rc++)
		g->note.done[rc] = g->done[rc];
	for (link = 0; link + 1 < g->nlocal; link++) {
		rc = receive(g, link);
		if (rc < 0)
			return rc;
		n += rc;
		send(g, link);
	}
	return n;
}

bool gpu_notes_told(const struct peer_gpu *g)
{
	unsigned int i;

	for (i = 0; g->port && i < g->nlocal; i++)
		if (i != g->me && memcmp(&g->local[i].sent, &g->note, sizeof(g->note)))
			return false;
	return true;
}

bool gpu_all_passed(const struct peer_gpu *g, enum gpu_stage stage, uint64_t s)
{
	unsigned int i;

	for (i = 0; i < g->nlocal; i++)
		if ((i == g->me ? g->done[stage] : g->local[i].note.done[stage]) <= s)
			return false;
	return true;
}
