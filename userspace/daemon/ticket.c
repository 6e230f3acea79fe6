// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: where and as whom a worker joins whose host has no tribd.
 * uapi/trib_attach.h has the grammar.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "face.h"
#include "job.h"
#include "tree.h"

static const struct child *child_of_rank(const struct tree *t, uint16_t rank,
					 unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < t->nchild; i++)
		if (t->child[i].rank == rank) {
			*index = i;
			return &t->child[i];
		}
	return NULL;
}

/* All trees of a ticket have one relay address: ours towards the worker. */
static int relay_same(const struct face *relay, const struct face *f,
		      struct reason *why)
{
	char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];

	if (IN6_ARE_ADDR_EQUAL(&relay->local, &f->local))
		return 0;
	return refuse(
		why, -EXDEV,
		"the job's trees reach this rank from %s and %s: one ticket holds one address",
		addr_text(&relay->local, a), addr_text(&f->local, b));
}

/* "1.2.3.4" or "[fd00::1]". */
#define ADDR_MAX (INET6_ADDRSTRLEN + 2)

static const char *bracketed(const struct in6_addr *a, char buf[ADDR_MAX])
{
	char text[INET6_ADDRSTRLEN];
	bool v4 = addr_is_v4(a);

	snprintf(buf, ADDR_MAX, "%s%s%s", v4 ? "" : "[", addr_text(a, text),
		 v4 ? "" : "]");
	return buf;
}

/* Like snprintf(). The port that a worker takes by itself is left out. */
static int tree_write(const struct tree *t, unsigned int index, char *buf,
		      size_t size)
{
	const struct face *f = t->child[index].face;
	const struct face *group = tree_multicast(t, f->port);
	char addr[ADDR_MAX];

	if (group)
		return snprintf(buf, size, "&tree=%u:%u:%u@%s", t->id, index,
				group->udp_port, bracketed(&group->addr, addr));
	if (f->udp_port != TRIB_UDP_PORT_WORKER + index)
		return snprintf(buf, size, "&tree=%u:%u:%u", t->id, index,
				f->udp_port);
	return snprintf(buf, size, "&tree=%u:%u", t->id, index);
}

int ticket_write(struct tribd *d, const struct job *job, uint16_t rank,
		 char *buf, size_t size, struct reason *why)
{
	char addr[ADDR_MAX];
	const struct face *relay = NULL;
	struct tree *t = NULL;
	size_t at = 0, n;
	int err;

	if (rank >= job->world)
		return refuse(why, -ERANGE, "rank %u: job %s has ranks 0 to %u",
			      rank, job->name, job->world - 1);
	while ((t = job_next_tree(d, job, t))) {
		unsigned int index;
		const struct child *c = child_of_rank(t, rank, &index);

		if (!c || t->held)
			continue;
		if (!c->face->local_known)
			return refuse(why, -EADDRNOTAVAIL,
				      "face %s has no local address now",
				      c->face->name);
		if (!relay) {
			relay = c->face;
			at = (size_t)snprintf(
				buf, size,
				"trib://%s:%u/%s?job=%u&cookie=%016" PRIx64
				"&rank=%u&world=%u",
				bracketed(&relay->local, addr), TRIB_UDP_PORT,
				job->name, job->id, job->cookie, rank,
				job->world);
		}
		err = relay_same(relay, c->face, why);
		if (err)
			return err;
		n = at < size ? size - at : 0;
		at += (size_t)tree_write(t, index, buf + at, n);
		if (at >= size)
			return refuse(why, -EMSGSIZE,
				      "too many trees for a ticket");
	}
	return relay ? 0
		     : refuse(why, -ENOENT,
			      "rank %u is no child of this host in job %s",
			      rank, job->name);
}
