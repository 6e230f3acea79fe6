// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks of shared trees, their row in pools, and the slot of each bucket.
 * Touches no map.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "tree.h"

uint32_t pool_buckets(uint32_t slots)
{
	uint32_t n = 256;

	while (n < slots * 16)
		n *= 2;
	return n;
}

uint32_t pool_slot_of(uint32_t bucket, uint32_t slots)
{
	uint64_t most = 0, weight;
	uint32_t slot, best = 0;

	for (slot = 0; slot < slots; slot++) {
		weight = trib_pool_weight(bucket, slot);
		if (weight > most) {
			most = weight;
			best = slot;
		}
	}
	return best;
}

static void set_rank(uint64_t *mask, unsigned int rank)
{
	mask[rank / 64] |= htobe64(1ULL << rank % 64);
}

static int numbers_check(struct tribd *d, const struct tree_spec *s, struct reason *why)
{
	if (s->shared.relay == TRIB_RELAY_PS)
		return reason_set(why, -ERANGE,
				  "relay %u means the PS: relays have numbers 1 to %u",
				  s->shared.relay, TRIB_RELAY_PS - 1);
	if (!s->shared.next)
		return reason_set(why, -EINVAL, "relay %u: no next hop: give `next NUMBER`",
				  s->shared.relay);
	if (s->shared.next == s->shared.relay)
		return reason_set(why, -EINVAL,
				  "next %u is this relay's own number: packets would come back",
				  s->shared.next);
	if (s->shared.cap > d->config.npool)
		return reason_set(why, -ERANGE, "cap %u: the pool has %u slots (tribd --pool)",
				  s->shared.cap, d->config.npool);
	return 0;
}

/* Fill in the mask: the given ranks, or those of the children. */
static int workers_check(const struct tree_spec *s, struct tree *t, struct reason *why)
{
	unsigned int i, world = t->job->world, n = 0;

	t->shared.bmwords = (uint8_t)((world + 63) / 64);
	if (s->shared.has_workers)
		memcpy(t->shared.mask, s->shared.workers, sizeof(t->shared.mask));
	for (i = 0; !s->shared.has_workers && i < t->nchild; i++)
		if (t->child[i].rank != RANK_NONE)
			set_rank(t->shared.mask, t->child[i].rank);
	for (i = 0; i < TRIB_WORLD_MAX; i++) {
		if (!(be64toh(t->shared.mask[i / 64]) >> i % 64 & 1))
			continue;
		n++;
		if (i >= world)
			return reason_set(why, -ERANGE, "worker %u: job %s has ranks 0 to %u", i,
					  t->job->name, world - 1);
	}
	if (!n)
		return reason_set(
			why, -EINVAL,
			"no rank sends through this relay: give `workers`, or children with ranks");
	for (i = 0; i < t->nchild; i++) {
		unsigned int rank = t->child[i].rank;

		if (rank != RANK_NONE && !(be64toh(t->shared.mask[rank / 64]) >> rank % 64 & 1))
			return reason_set(why, -EINVAL,
					  "child %s is rank %u, which is not among the workers",
					  t->child[i].face->name, rank);
	}
	return 0;
}

int pool_refuse(const struct tree_spec *s, struct reason *why)
{
	if (!s->shared.next && !s->shared.cap && !s->shared.age_ms && !s->shared.has_workers)
		return 0;
	return reason_set(why, -EINVAL,
			  "next, workers, cap and age need relay, which makes a shared tree");
}

int pool_check(struct tribd *d, const struct tree_spec *s, struct tree *t, struct reason *why)
{
	int err = node_check(d, s, t, why);

	if (err)
		return err;
	if (!t->parent || !t->nchild)
		return reason_set(why, -EINVAL, "relay %u: a shared tree needs children and %s",
				  s->shared.relay, "a parent, which is the next hop");
	if (s->nlocal)
		return reason_set(
			why, -EOPNOTSUPP,
			"local rank %u: results of shared trees are not delivered to memory",
			s->local[0].rank);
	if (s->up_child != INDEX_NONE)
		return reason_set(why, -EINVAL,
				  "index %u: in shared trees packets go by rank, not by index",
				  s->up_child);
	err = numbers_check(d, s, why);
	if (!err)
		err = workers_check(s, t, why);
	if (err)
		return err;
	t->shared.relay = s->shared.relay;
	t->shared.next = s->shared.next;
	t->shared.cap = s->shared.cap;
	t->shared.age_ms = s->shared.age_ms ? s->shared.age_ms : POOL_AGE_MS;
	return 0;
}

void pool_row_fill(const struct tribd *d, const struct tree *t, struct trib_pool *row)
{
	memset(row, 0, sizeof(*row));
	row->relay = t->shared.relay;
	row->next = t->shared.next;
	row->bmwords = t->shared.bmwords;
	row->cap = t->shared.cap;
	row->mark0 = t->shared.mark0;
	row->mark_mask = t->job->window * 2 - 1;
	row->table_mask = d->config.nbuckets - 1;
	row->age_ns = t->shared.age_ms * 1000000ull;
	row->rank0 = t->child[0].rank != RANK_NONE ? t->child[0].rank : 0;
	row->key = t->job->key;
	memcpy(row->mask, t->shared.mask, sizeof(row->mask));
}
