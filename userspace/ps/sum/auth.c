// SPDX-License-Identifier: BSD-2-Clause
/*
 * Secrets of a tree (uapi/trib_auth.h): what a packet must prove before anything else is
 * done with it, and what those prove that leave.
 */
#include <endian.h>
#include <stdlib.h>

#include "ps.h"

int ps_auth_new(struct ps_tree *t)
{
	const struct trib_key *key = &t->job->key;
	struct trib_key relays;
	unsigned int r;

	t->rank = calloc(t->job->world, sizeof(*t->rank));
	if (!t->rank)
		return -1;
	trib_key_down(&t->down, key, t->number);
	t->down_secret = trib_key_secret(&t->down);
	trib_key_up(&relays, key, t->number, 0xffff);
	t->relay_secret = trib_key_secret(&relays);
	for (r = 0; r < t->job->world; r++) {
		trib_key_up(&t->rank[r].up, key, t->number, (uint16_t)r);
		t->rank[r].secret = trib_key_secret(&t->rank[r].up);
	}
	return 0;
}

bool ps_auth_ok(const struct ps_tree *t, const struct ps_packet *p)
{
	if (trib_auth_is_secret(p->h->type))
		return p->h->auth == t->relay_secret || p->h->auth == t->rank[p->child].secret;
	return p->h->auth ==
	       trib_auth(&t->rank[p->child].up, p->h, p->body, (uint32_t)(p->len - sizeof(*p->h)));
}

bool ps_auth_fresh(struct ps_tree *t, const struct ps_packet *p)
{
	return trib_auth_is_secret(p->h->type) ||
	       trib_replay_take(&t->rank[p->child].seen, p->epoch, be32toh(p->h->scale));
}

/*
 * The clock, in milliseconds, lets a restarted PS go on with larger numbers, even one that
 * asked for a whole window just before. They wrap after 49 days: a rank that hears nothing
 * of the kind for half of that takes new ones for old, in this epoch.
 */
static __be32 number(const struct ps_tree *t, uint32_t *last)
{
	uint32_t now = (uint32_t)t->ps->now;

	*last = (int32_t)(now - *last) > 0 ? now : *last + 1;
	return htobe32(*last);
}

void ps_auth_all(struct ps_tree *t, struct trib_hdr *h)
{
	h->scale = number(t, &t->sent);
	h->auth = trib_auth(&t->down, h, NULL, 0);
}

void ps_auth_sign(const struct ps_tree *t, unsigned int rank, struct trib_hdr *h, const void *body,
		  size_t len)
{
	h->auth = trib_auth(&t->rank[rank].up, h, body, (uint32_t)len);
}

void ps_auth_one(struct ps_tree *t, unsigned int rank, struct trib_hdr *h, const void *body,
		 size_t len)
{
	h->scale = number(t, &t->rank[rank].sent);
	ps_auth_sign(t, rank, h, body, len);
}
