// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walks over a map in batches of buckets: rows that are added or deleted meanwhile
 * neither end nor repeat the walk.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "ndnd.h"

#define CHUNK 64u
#define CHUNK_MAX 65536

struct ndnd_walk {
	int fd;
	uint32_t key_size, value_size, chunk;
	uint32_t n, at; /* rows of the batch, and the next one */
	bool begun, last;
	uint64_t token[4]; /* begin of the next batch */
	char *keys, *values;
};

static int room(struct ndnd_walk *w, uint32_t chunk)
{
	char *keys = realloc(w->keys, (size_t)chunk * w->key_size), *values;

	if (!keys)
		return -ENOMEM;
	w->keys = keys;
	values = realloc(w->values, (size_t)chunk * w->value_size);
	if (!values)
		return -ENOMEM;
	w->values = values;
	w->chunk = chunk;
	return 0;
}

struct ndnd_walk *ndnd_walk_new(int fd, uint32_t key_size, uint32_t value_size, uint32_t entries)
{
	struct ndnd_walk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = fd;
	w->key_size = key_size;
	w->value_size = value_size;
	if (room(w, entries < CHUNK ? entries + 1 : CHUNK)) {
		ndnd_walk_free(w);
		return NULL;
	}
	return w;
}

static int fetch(struct ndnd_walk *w)
{
	uint64_t next[4] = {};
	uint32_t n;
	int err;

	for (;;) {
		n = w->chunk;
		errno = 0;
		err = bpf_map_lookup_batch(w->fd, w->begun ? w->token : NULL, next, w->keys,
					   w->values, &n, NULL);
		if (!err || errno != ENOSPC)
			break;
		/* A bucket has more rows than the batch. */
		if (w->chunk >= CHUNK_MAX || room(w, w->chunk * 2))
			return -ENOSPC;
	}
	if (err && errno != ENOENT)
		return -errno;
	w->last = err;
	w->begun = true;
	for (unsigned int i = 0; i < 4; i++)
		w->token[i] = next[i];
	w->n = n <= w->chunk ? n : 0;
	w->at = 0;
	return 0;
}

int ndnd_walk_next(struct ndnd_walk *w, const void **key, const void **value)
{
	int err;

	while (w->at == w->n) {
		if (w->last)
			return 0;
		err = fetch(w);
		if (err)
			return err;
	}
	*key = w->keys + (size_t)w->at * w->key_size;
	*value = w->values + (size_t)w->at * w->value_size;
	w->at++;
	return 1;
}

void ndnd_walk_undo(struct ndnd_walk *w)
{
	if (w->at)
		w->at--;
}

#define COUNT_EVERY_NS 1000000000ULL
#define COUNT_SHARE 50 /* of the time, one part */

/* Counting a large map takes time, and anybody may ask. */
bool ndnd_used_begin(struct ndnd_used *u)
{
	uint64_t now = loop_now();

	if (now < u->next_ns)
		return false;
	u->at_ns = now;
	return true;
}

void ndnd_used_end(struct ndnd_used *u)
{
	uint64_t now = loop_now(), pause = (now - u->at_ns) * COUNT_SHARE;

	u->next_ns = now + (pause > COUNT_EVERY_NS ? pause : COUNT_EVERY_NS);
}

void ndnd_walk_free(void *walk)
{
	struct ndnd_walk *w = walk;

	if (!w)
		return;
	free(w->keys);
	free(w->values);
	free(w);
}
