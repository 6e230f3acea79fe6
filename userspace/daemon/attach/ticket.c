// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: the relay, job and rank of a worker that cannot reach a tribd on its
 * own host. uapi/trib_attach.h has the grammar.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/dtype.h"
#include "base/text.h"
#include "daemon/tree/tree.h"
#include "ticket.h"

static const struct child *child_of_rank(const struct tree *t, uint16_t rank, unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < t->nchild; i++)
		if (t->child[i].rank == rank) {
			*index = i;
			return &t->child[i];
		}
	return NULL;
}

/* The text so far, and the relay that all trees of a ticket share. */
struct line {
	char *buf;
	size_t size;
	size_t len; /* @size or more: the text did not fit */
	struct in6_addr addr;
	uint16_t port; /* 0: no tree with a relay yet */
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct line *l, const char *fmt, ...)
{
	size_t room = l->len < l->size ? l->size - l->len : 0;
	va_list ap;

	va_start(ap, fmt);
	l->len += (size_t)vsnprintf(room ? l->buf + l->len : NULL, room, fmt, ap);
	va_end(ap);
}

static void put_host(struct line *l, const struct in6_addr *a, uint16_t port)
{
	char text[ADDR_TEXT_MAX];

	put(l, "%s", addr_text_port(a, port, text));
}

static void put_group(struct line *l, const struct in6_addr *group)
{
	char text[INET6_ADDRSTRLEN];

	put(l, addr_is_v4(group) ? "@%s" : "@[%s]", addr_text(group, text));
}

/* Note the relay that a worker first sends to; all trees must have the same. */
static int relay_add(struct line *l, const struct in6_addr *a, uint16_t port, struct reason *why)
{
	char was[INET6_ADDRSTRLEN], is[INET6_ADDRSTRLEN];

	if (!l->port) {
		l->addr = *a;
		l->port = port;
	}
	if (IN6_ARE_ADDR_EQUAL(&l->addr, a) && l->port == port)
		return 0;
	return reason_set(
		why, -EXDEV,
		"the first relays of the job's trees are %s port %u and %s port %u: a ticket holds one relay",
		addr_text(&l->addr, was), l->port, addr_text(a, is), port);
}

/* A rank of another host is a child here: its relay is this host. */
static int child_relay(struct line *l, const struct tree *t, const struct child *c,
		       struct reason *why)
{
	if (!c->face->local_known)
		return reason_set(why, -EADDRNOTAVAIL,
				  "face %s has no local address now: configure one on its device",
				  c->face->name);
	if (t->kind == TREE_SHARED && t->shared.next != TRIB_RELAY_PS)
		return reason_set(
			why, -EXDEV,
			"tree %u is shared, and its PS is behind relay %u: make the ticket on a worker's host (tree add ... ps)",
			t->id, t->shared.next);
	return relay_add(l, &c->face->local, TRIB_UDP_PORT, why);
}

/* Entry of a rank in this host's row of a tree; one of the two is set. */
struct seat {
	const struct child *child;
	unsigned int index;	   /* of @child */
	const struct local *local; /* set in a row of workers */
};

/* Return: false if @t does not serve @rank, or is held. */
static bool seat_find(struct tree *t, uint16_t rank, struct seat *s)
{
	memset(s, 0, sizeof(*s));
	if (t->kind == TREE_WORKERS)
		s->local = tree_local(t, rank);
	else
		s->child = child_of_rank(t, rank, &s->index);
	return !t->held && (s->local || s->child);
}

static int relay_of(struct line *l, const struct tree *t, const struct seat *s, struct reason *why)
{
	const struct face *f;

	if (s->child)
		return child_relay(l, t, s->child, why);
	if (!t->workers.nhop)
		return 0;
	f = t->workers.hop[0].face;
	return relay_add(l, &f->addr, f->udp_port, why);
}

/* Workers of a job without relays join at its PS. */
static int relays_find(struct tribd *d, const struct job *job, uint16_t rank, struct line *l,
		       struct reason *why)
{
	const struct tree *bare = NULL;
	struct tree *t = NULL;
	bool here = false;
	struct seat s;
	int err;

	while ((t = tree_next_of_job(d, job, t))) {
		if (!seat_find(t, rank, &s))
			continue;
		here = true;
		if (s.local && !t->workers.nhop)
			bare = t;
		err = relay_of(l, t, &s, why);
		if (err)
			return err;
	}
	/* Its ranks need no relay, but the grammar wants an address. */
	if (job->peers_port && !tree_next_of_job(d, job, NULL))
		return relay_add(l, &job->peers, job->peers_port, why);
	if (!here)
		return reason_set(why, -ENOENT, "rank %u is no child of this host in job %s", rank,
				  job->name);
	if (!l->port)
		return relay_add(l, &bare->workers.ps, bare->workers.ps_port, why);
	if (bare && addr_is_v4(&bare->workers.ps) != addr_is_v4(&l->addr))
		return reason_set(
			why, -EXDEV,
			"the PS of tree %u and the relay of other trees differ in IP version: one ticket cannot hold both",
			bare->id);
	return 0;
}

/* Write @t for a rank that is child @index here. */
static void child_write(struct line *l, const struct tree *t, unsigned int index)
{
	const struct face *f = t->child[index].face;
	const struct face *group = tree_multicast(t, f->port);
	uint16_t port = group ? group->udp_port : f->udp_port;

	if (t->kind == TREE_SHARED) {
		put(l, "&shared=%u:%u:", t->id, t->shared.relay);
		put_host(l, &t->parent->addr, t->parent->udp_port);
		put(l, ",%u", port);
	} else {
		put(l, "&tree=%u:%u", t->id, index);
		/* Leave out the default port of a worker. */
		if (group || port != TRIB_UDP_PORT_WORKER + index)
			put(l, ":%u", port);
	}
	if (group)
		put_group(l, &group->addr);
}

/* Write @t for a rank of this host. */
static void worker_write(struct line *l, const struct tree *t, uint16_t port)
{
	unsigned int i;

	put(l, "&shared=%u:%u:", t->id, t->workers.nhop ? t->workers.hop[0].relay : 0);
	put_host(l, &t->workers.ps, t->workers.ps_port);
	put(l, ",%u", port);
	if (!addr_is_zero(&t->workers.group))
		put_group(l, &t->workers.group);
	for (i = 1; i < t->workers.nhop; i++) {
		const struct face *f = t->workers.hop[i].face;

		put(l, "&via=%u:%u:", t->id, t->workers.hop[i].relay);
		put_host(l, &f->addr, f->udp_port);
	}
}

static void keys_write(struct line *l, const struct job *job, uint16_t rank)
{
	char up[TRIB_KEY_HEX + 1], down[TRIB_KEY_HEX + 1];
	struct trib_key key;

	trib_key_rank(&key, &job->key, rank);
	text_key_put(&key, up);
	trib_key_members(&key, &job->key);
	text_key_put(&key, down);
	put(l, "&keys=%s:%s", up, down);
}

int ticket_write(struct tribd *d, const struct job *job, uint16_t rank, char *buf, size_t size,
		 struct reason *why)
{
	struct line l = {.buf = buf, .size = size};
	struct tree *t = NULL;
	struct seat s;
	int err;

	if (rank >= job->world)
		return reason_set(why, -ERANGE, "rank %u: job %s has ranks 0 to %u", rank,
				  job->name, job->world - 1);
	err = relays_find(d, job, rank, &l, why);
	if (err)
		return err;
	put(&l, "trib://");
	put_host(&l, &l.addr, l.port);
	put(&l, "/%s?job=%u&rank=%u&world=%u", job->name, job->id, rank, job->world);
	keys_write(&l, job, rank);
	while ((t = tree_next_of_job(d, job, t))) {
		if (!seat_find(t, rank, &s))
			continue;
		if (s.child)
			child_write(&l, t, s.index);
		else
			worker_write(&l, t, s.local->port);
		if (t->weight > 1)
			put(&l, "&weight=%u:%u", t->id, t->weight);
	}
	if (trib_fmt_is_float(job->fmt))
		put(&l, "&fmt=%s", trib_dtype_name(job->fmt));
	if (job->peers_port) {
		put(&l, "&peers=");
		put_host(&l, &job->peers, job->peers_port);
	}
	return l.len < size ? 0
			    : reason_set(why, -EMSGSIZE,
					 "the job has more trees than a ticket can hold");
}
