// SPDX-License-Identifier: BSD-2-Clause
/*
 * Blobs of all ranks: rank 0 gathers them and sends all to all.
 *
 *	SWAP	number, blob
 *	ALL	number, world, length of each, blobs one behind the other
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "peer/boot/boot_priv.h"

#define ALL_HEAD 8

int boot_gather_init(struct peer_boot *b)
{
	b->gather.there = calloc(b->conf.world, 1);
	b->gather.blobs = calloc(b->conf.world, sizeof(*b->gather.blobs));
	return b->gather.there && b->gather.blobs ? 0 : -ENOMEM;
}

static void gather_clear(struct peer_boot *b)
{
	struct boot_gather *g = &b->gather;
	uint32_t i;

	for (i = 0; g->blobs && g->there && i < b->conf.world; i++) {
		boot_body_put(g->blobs[i]);
		g->blobs[i] = NULL;
		g->there[i] = 0;
	}
	g->have = 0;
	g->total = 0;
}

void boot_gather_end(struct peer_boot *b)
{
	gather_clear(b);
	free(b->gather.there);
	free(b->gather.blobs);
}

/* The own swap has its result: wake the caller. @body gets one more reference. */
static int swap_here(struct peer_boot *b, struct boot_body *body)
{
	int err = -EPROTO;

	pthread_mutex_lock(&b->lock);
	if (b->swap == BOOT_SWAP_AWAY) {
		atomic_fetch_add(&body->refs, 1);
		b->swap_in = body;
		b->swap = BOOT_SWAP_HERE;
		pthread_cond_broadcast(&b->cond);
		err = 0;
	}
	pthread_mutex_unlock(&b->lock);
	return err;
}

/* All are here: one body for all connections. */
static int gather_send(struct peer_boot *b)
{
	struct boot_gather *g = &b->gather;
	uint64_t at = ALL_HEAD + 4ULL * b->conf.world;
	struct boot_body *all = boot_body_new(at + g->total);
	uint32_t head[2] = {g->number, b->conf.world}, i;
	int err;

	if (!all)
		return -ENOMEM;
	memcpy(all->data, head, sizeof(head));
	for (i = 0; i < b->conf.world; i++) {
		memcpy(all->data + ALL_HEAD + 4ULL * i, &g->blobs[i]->len, 4);
		memcpy(all->data + at, g->blobs[i]->data, g->blobs[i]->len);
		at += g->blobs[i]->len;
	}
	for (i = 0; i < b->nconn; i++)
		boot_conn_push(&b->conns[i], BOOT_ALL, all);
	gather_clear(b);
	g->number++;
	err = swap_here(b, all);
	boot_body_put(all);
	return err;
}

int boot_gather_add(struct peer_boot *b, uint32_t rank, const uint8_t *body, uint32_t len)
{
	struct boot_gather *g = &b->gather;
	struct boot_body *blob;
	uint32_t number;

	if (len < sizeof(number) || len - sizeof(number) > PEER_BOOT_BLOB_MAX)
		return -EPROTO;
	memcpy(&number, body, sizeof(number));
	len -= (uint32_t)sizeof(number);
	if (number != g->number || g->there[rank] || g->total + len > BOOT_ALL_MAX)
		return -EPROTO;
	blob = boot_body_new(len);
	if (!blob)
		return -ENOMEM;
	if (len)
		memcpy(blob->data, body + sizeof(number), len);
	if (!g->have)
		g->since = clock_ms();
	g->blobs[rank] = blob;
	g->there[rank] = 1;
	g->total += len;
	return ++g->have == b->conf.world ? gather_send(b) : 0;
}

/* Check the lengths. Return: 0 or -EPROTO. */
static int all_check(const struct peer_boot *b, const uint8_t *body, uint32_t len)
{
	uint64_t sum = ALL_HEAD + 4ULL * b->conf.world;
	uint32_t head[2], i, n;

	if (len < sum)
		return -EPROTO;
	memcpy(head, body, sizeof(head));
	if (head[0] != b->gather.number || head[1] != b->conf.world)
		return -EPROTO;
	for (i = 0; i < b->conf.world; i++) {
		memcpy(&n, body + ALL_HEAD + 4ULL * i, 4);
		sum += n;
	}
	return sum == len ? 0 : -EPROTO;
}

int boot_swap_take(struct peer_boot *b, const uint8_t *body, uint32_t len)
{
	struct boot_body *all;
	int err = all_check(b, body, len);

	if (err)
		return err;
	all = boot_body_new(len);
	if (!all)
		return -ENOMEM;
	memcpy(all->data, body, len);
	b->gather.number++;
	err = swap_here(b, all);
	boot_body_put(all);
	return err;
}

void boot_swap_start(struct peer_boot *b, struct boot_body *body)
{
	int err;

	if (b->conf.rank)
		err = boot_conn_push(&b->conns[0], BOOT_SWAP, body);
	else
		err = boot_gather_add(b, 0, body->data, body->len);
	if (err)
		boot_fail(b, TRIB_PEER_SYSTEM, (int)b->conf.rank, strerror(-err), false);
}

void boot_gather_check(struct peer_boot *b, uint64_t now)
{
	struct boot_gather *g = &b->gather;
	char ranks[BOOT_TEXT_MAX / 2], text[BOOT_TEXT_MAX];
	uint32_t i, first = 0, n;

	if (!g->have)
		return;
	for (i = 0; i < b->nconn; i++) {
		if (!b->conns[i].bye || g->there[i + 1])
			continue;
		snprintf(text, sizeof(text), "rank %u has left", i + 1);
		boot_fail(b, TRIB_PEER_GONE, (int)i + 1, text, false);
		return;
	}
	if (now - g->since <= b->conf.join_timeout_ms)
		return;
	n = boot_ranks_text(g->there, b->conf.world, ranks, sizeof(ranks), &first);
	snprintf(text, sizeof(text), "rank%s %s did not meet the others in %u ms",
		 n == 1 ? "" : "s", ranks, b->conf.join_timeout_ms);
	boot_fail(b, TRIB_PEER_MISSING, (int)first, text, false);
}
