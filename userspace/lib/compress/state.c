// SPDX-License-Identifier: BSD-2-Clause
/* Tensors by key: residuals, and memory for messages, which stays for the next step. */
#include <errno.h>
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

static void tensor_free(struct trib_compress *c, struct tensor *x)
{
	if (x->residual)
		c->work->residual_free(c, x->residual);
	c->work->room_free(c, x);
	free(x);
}

int tensor_add(struct trib_compress *c, struct tensor *table[TENSOR_CHAINS], uint64_t key,
	       size_t count, struct tensor **out)
{
	struct tensor **chain = &table[chain_of(key)], *x;
	int rc;

	if (find(table, key))
		return -EINVAL;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->key = key;
	x->count = count;
	rc = c->feedback ? c->work->residual_new(c, count, &x->residual) : 0;
	if (rc) {
		free(x);
		return rc;
	}
	x->next = *chain;
	*chain = x;
	*out = x;
	return 0;
}

int tensor_get(struct trib_compress *c, uint64_t key, size_t count, struct tensor **out)
{
	*out = tensor_find(c, key);
	return *out ? 0 : tensor_add(c, c->table, key, count, out);
}

void tensor_drop(struct trib_compress *c, uint64_t key)
{
	struct tensor **link = &c->table[chain_of(key)], *x;

	while ((x = *link) && x->key != key)
		link = &x->next;
	if (!x)
		return;
	*link = x->next;
	tensor_free(c, x);
}

void tensor_free_all(struct trib_compress *c, struct tensor *table[TENSOR_CHAINS])
{
	struct tensor *x;
	unsigned int i;

	for (i = 0; i < TENSOR_CHAINS; i++) {
		while ((x = table[i])) {
			table[i] = x->next;
			tensor_free(c, x);
		}
	}
}
