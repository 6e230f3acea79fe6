// SPDX-License-Identifier: BSD-2-Clause
/* Secrets of a tree's packets: see secret.h. */
#include <arpa/inet.h>

#include "daemon/core/loop.h"
#include "secret.h"

static void node(const struct tree *t, const struct in6_addr *addr, struct trib_key *key)
{
	if (t->kind == TREE_DEDICATED)
		trib_key_node(key, key, addr);
}

void secret_up(const struct tree *t, uint16_t rank, const struct in6_addr *addr, struct secret *out)
{
	trib_key_up(&out->key, &t->job->key, t->id, rank);
	out->auth = trib_key_secret(&out->key);
	if (rank == RANK_NONE)
		node(t, addr, &out->key);
}

void secret_down(const struct tree *t, const struct in6_addr *addr, struct secret *out)
{
	trib_key_down(&out->key, &t->job->key, t->id);
	out->auth = trib_key_secret(&out->key);
	node(t, addr, &out->key);
}

__be32 secret_number(struct tree *t)
{
	uint32_t now = TRIB_REPLAY_TRIBD + (uint32_t)(loop_now() / 250000000);

	t->number = now > t->number ? now : t->number + 1;
	return htonl(t->number);
}
