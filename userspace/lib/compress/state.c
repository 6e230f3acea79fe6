// SPDX-License-Identifier: BSD-2-Clause
/* Tensors by key: residuals, and memory for messages, which stays for the next step. */
#include <stdlib.h>

#include "compress.h"

static size_t chain_of(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ULL >> 56;
}

static struct tensor *find(struct tensor *const table[TENSOR_CHAINS], uint64_t key)
{
	struct tensor *x = table[chain_of(key)];

	while (x && x->key != key)
		x = x->next;
	return x;
}

struct tensor *tensor_find(const struct trib_compress *c, uint64_t key)
{
	return find(c->table, key);
}

static void tensor_free(struct tensor *x)
{
	free(x->residual);
	free(x->room);
	free(x);
}

struct tensor *tensor_add(struct tensor *table[TENSOR_CHAINS], uint64_t key, size_t count,
			  bool feedback)
{
	struct tensor *x = calloc(1, sizeof(*x)), **chain = &table[chain_of(key)];

	if (!x)
		return NULL;
	x->key = key;
	x->count = count;
	if (feedback) {
		x->residual = calloc(count ? count : 1, sizeof(float));
		if (!x->residual) {
			tensor_free(x);
			return NULL;
		}
	}
	x->next = *chain;
	*chain = x;
	return x;
}

struct tensor *tensor_get(struct trib_compress *c, uint64_t key, size_t count)
{
	struct tensor *x = tensor_find(c, key);

	return x ? x : tensor_add(c->table, key, count, c->feedback);
}

void tensor_drop(struct trib_compress *c, uint64_t key)
{
	struct tensor **link = &c->table[chain_of(key)], *x;

	while ((x = *link) && x->key != key)
		link = &x->next;
	if (!x)
		return;
	*link = x->next;
	tensor_free(x);
}

void tensor_free_all(struct tensor *table[TENSOR_CHAINS])
{
	struct tensor *x;
	unsigned int i;

	for (i = 0; i < TENSOR_CHAINS; i++) {
		while ((x = table[i])) {
			table[i] = x->next;
			tensor_free(x);
		}
	}
}

void *tensor_room(struct tensor *x, size_t len)
{
	void *room;

	if (len <= x->room_len)
		return x->room;
	room = calloc(1, len);
	if (!room)
		return NULL;
	free(x->room);
	x->room = room;
	x->room_len = len;
	return room;
}
