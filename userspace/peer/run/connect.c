// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ports of a crew: which ones its shapes need, and the blob by which other ranks find
 * them.
 *
 * A blob is a list of entries, each { lane, nic, 0, 0, length (4 bytes, big-endian),
 * the port's own blob, zeros up to a multiple of 8 bytes }.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "peer/error.h"

#define ENTRY_HEAD 8

static size_t padded(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* The port of @w for @nic, or the next free number. */
static uint32_t port_of(const struct peer_worker *w, uint8_t nic)
{
	uint32_t i;

	for (i = 0; i < w->nuse && w->nic[i] != nic; i++)
		;
	return i;
}

static int rank_order(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Add the peer of an edge to its port's list, unsorted, perhaps again. */
static int add_peer(struct peer_worker *w, const struct peer_edge *e, uint32_t *room)
{
	uint32_t i = port_of(w, e->nic), *more;

	if (i > PEER_NICS_MAX)
		return -EINVAL;
	if (i == w->nuse)
		w->nic[w->nuse++] = e->nic;
	if (w->npeer[i] == room[i]) {
		room[i] = room[i] ? 2 * room[i] : 8;
		more = realloc(w->peers[i], room[i] * sizeof(*more));
		if (!more)
			return -ENOMEM;
		w->peers[i] = more;
	}
	w->peers[i][w->npeer[i]++] = e->peer;
	return 0;
}

static void sort_peers(struct peer_worker *w, uint32_t port)
{
	uint32_t i, n = 0, *p = w->peers[port];

	qsort(p, w->npeer[port], sizeof(*p), rank_order);
	for (i = 0; i < w->npeer[port]; i++)
		if (!n || p[n - 1] != p[i])
			p[n++] = p[i];
	w->npeer[port] = n;
}

static int find_peers(struct peer_crew *c, struct peer_worker *w)
{
	uint32_t room[PEER_NICS_MAX + 1] = {0}, i;
	unsigned int s;
	int rc;

	for (s = 0; s < c->conf.nshape; s++)
		for (i = 0; i < c->nedge[s]; i++) {
			if (c->edge[s][i].lane != w->lane)
				continue;
			rc = add_peer(w, &c->edge[s][i], room);
			if (rc)
				return rc;
		}
	for (i = 0; i < w->nuse; i++)
		sort_peers(w, i);
	return 0;
}

/* The links of this lane's edges of shape @s. */
static int find_links(struct peer_crew *c, struct peer_worker *w, unsigned int s)
{
	const struct peer_edge *e;
	uint32_t i, n = 0, port, *found;

	w->link[s] = calloc(c->nedge[s] + 1, sizeof(*w->link[s]));
	if (!w->link[s])
		return -ENOMEM;
	for (i = 0; i < c->nedge[s]; i++) {
		e = &c->edge[s][i];
		if (e->lane != w->lane)
			continue;
		port = port_of(w, e->nic);
		found = bsearch(&e->peer, w->peers[port], w->npeer[port], sizeof(*found),
				rank_order);
		w->link[s][n++] = (struct peer_link){.port = port,
						     .link = (uint32_t)(found - w->peers[port])};
	}
	return 0;
}

static int open_port(struct peer_crew *c, struct peer_worker *w, uint32_t i,
		     struct trib_peer_error *error)
{
	bool local = w->nic[i] == PEER_NIC_LOCAL;
	const struct peer_port_ops *ops = local ? c->conf.local : c->conf.ops;
	char name[128];
	struct peer_port_conf pc = {
		.rank = c->conf.rank,
		.world = c->conf.world,
		.nic = local ? NULL : c->conf.nic[w->nic[i]],
		.provider = local ? NULL : c->conf.provider,
		.peers = w->peers[i],
		.npeer = w->npeer[i],
		.chunk = c->conf.slot,
		.slots = c->conf.slots,
		.name = name,
	};
	struct peer_fault f = {.peer = -1};
	int rc;

	snprintf(name, sizeof(name), "%s-%u", c->conf.shm_name ? c->conf.shm_name : "", w->lane);
	w->use[i].expected = calloc(w->npeer[i] + 1, sizeof(*w->use[i].expected));
	if (!w->use[i].expected)
		return peer_error(error, TRIB_PEER_SYSTEM, -ENOMEM, -1, "out of memory");
	rc = ops->open(&w->use[i].port, &pc, &f);
	return rc ? peer_error(error, TRIB_PEER_SYSTEM, rc, f.peer, "%s", f.text) : 0;
}

int peer_crew_ports(struct peer_crew *c, struct trib_peer_error *error)
{
	struct peer_worker *w;
	unsigned int s;
	uint32_t i;
	int rc;

	for (w = c->worker; w < c->worker + c->nworker; w++) {
		rc = find_peers(c, w);
		for (s = 0; s < c->conf.nshape && !rc; s++)
			rc = find_links(c, w, s);
		if (rc)
			return peer_error(error, TRIB_PEER_SYSTEM, rc, -1, "out of memory");
		for (i = 0; i < w->nuse; i++) {
			rc = open_port(c, w, i, error);
			if (rc)
				return rc;
		}
	}
	return 0;
}

void *peer_crew_blob(struct peer_crew *c, size_t *len)
{
	struct peer_worker *w;
	uint8_t *buf = NULL, *more;
	struct peer_port *p;
	size_t n = 0, got;
	uint32_t i, be;

	for (w = c->worker; w < c->worker + c->nworker; w++)
		for (i = 0; i < w->nuse; i++) {
			more = realloc(buf, n + ENTRY_HEAD + PEER_BLOB_MAX + 8);
			if (!more) {
				free(buf);
				return NULL;
			}
			buf = more;
			p = w->use[i].port;
			got = p->ops->blob(p, buf + n + ENTRY_HEAD, PEER_BLOB_MAX);
			memset(buf + n, 0, ENTRY_HEAD);
			buf[n] = (uint8_t)w->lane;
			buf[n + 1] = w->nic[i];
			be = htobe32((uint32_t)got);
			memcpy(buf + n + 4, &be, sizeof(be));
			memset(buf + n + ENTRY_HEAD + got, 0, padded(got) - got);
			n += ENTRY_HEAD + padded(got);
		}
	*len = n;
	return buf ? buf : calloc(1, 1);
}

/* The entry of a lane and NIC in a blob, or NULL. */
static const uint8_t *find_entry(const uint8_t *blob, size_t len, unsigned int lane, uint8_t nic,
				 uint32_t *n)
{
	size_t at = 0;
	uint32_t be;

	while (len - at >= ENTRY_HEAD) {
		memcpy(&be, blob + at + 4, sizeof(be));
		*n = be32toh(be);
		if (*n > PEER_BLOB_MAX || padded(*n) > len - at - ENTRY_HEAD)
			return NULL;
		if (blob[at] == lane && blob[at + 1] == nic)
			return blob + at + ENTRY_HEAD;
		at += ENTRY_HEAD + padded(*n);
	}
	return NULL;
}

static int connect_link(struct peer_worker *w, uint32_t port, uint32_t link, const void *blob,
			size_t len, struct trib_peer_error *error)
{
	struct peer_port *p = w->use[port].port;
	uint32_t peer = w->peers[port][link], n;
	const uint8_t *e = find_entry(blob, len, w->lane, w->nic[port], &n);
	int rc;

	if (!e)
		return peer_error(
			error, TRIB_PEER_SYSTEM, -EPROTO, (int)peer,
			"rank %u has no port for lane %u and NIC %u: start all ranks with the same algorithm and NICs",
			peer, w->lane, w->nic[port]);
	rc = p->ops->connect(p, link, e, n);
	return rc ? peer_error(error, TRIB_PEER_SYSTEM, rc, (int)peer,
			       "cannot connect to rank %u by NIC %u: %s", peer, w->nic[port],
			       strerror(-rc))
		  : 0;
}

int peer_crew_connect(struct peer_crew *c, const void **blob, const size_t *len,
		      struct trib_peer_error *error)
{
	struct peer_worker *w;
	uint32_t i, k, peer;
	int rc;

	for (w = c->worker; w < c->worker + c->nworker; w++)
		for (i = 0; i < w->nuse; i++)
			for (k = 0; k < w->npeer[i]; k++) {
				peer = w->peers[i][k];
				rc = connect_link(w, i, k, blob[peer], len[peer], error);
				if (rc)
					return rc;
			}
	return 0;
}
