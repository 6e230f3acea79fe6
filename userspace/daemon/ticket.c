// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tickets: where and as whom a worker joins whose host has no tribd.
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

int ticket_write(struct tribd *d, const struct job *job, uint16_t rank,
		 char *buf, size_t size, struct reason *why)
{
	char addr[INET6_ADDRSTRLEN];
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

		if (!c)
			continue;
		if (!c->face->local_known)
			return refuse(why, -EADDRNOTAVAIL,
				      "face %s has no local address now",
				      c->face->name);
		if (!relay) {
			bool v4 = addr_is_v4(&c->face->local);

			relay = c->face;
			at = (size_t)snprintf(
				buf, size,
				"trib://%s%s%s:%u/%s?job=%u&cookie=%016" PRIx64
				"&rank=%u&world=%u",
				v4 ? "" : "[", addr_text(&relay->local, addr),
				v4 ? "" : "]", TRIB_UDP_PORT, job->name,
				job->id, job->cookie, rank, job->world);
		}
		err = relay_same(relay, c->face, why);
		if (err)
			return err;
		n = at < size ? size - at : 0;
		at += (size_t)snprintf(buf + at, n, "&tree=%u:%u", t->id,
				       index);
		if (at >= size)
			return refuse(why, -EMSGSIZE,
				      "too many trees for a ticket");
	}
	return relay ? 0
		     : refuse(why, -ENOENT,
			      "rank %u is no child of this host in job %s",
			      rank, job->name);
}
