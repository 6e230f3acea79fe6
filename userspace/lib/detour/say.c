// SPDX-License-Identifier: BSD-2-Clause
/* Messages to other ranks. */
#include <errno.h>

#include "inner.h"

struct boot_body *detour_body(const struct detour_tree *e, enum detour_say say, uint64_t chunk,
			      uint32_t value, const void *more, unsigned int len)
{
	struct detour_head h = {
		.say = (uint8_t)say,
		.tree = (uint16_t)e->s->index,
		.generation = e->generation,
		.chunk = chunk,
		.value = value,
	};
	struct boot_body *b = boot_body_new(sizeof(h) + len);

	if (!b)
		return NULL;
	memcpy(b->data, &h, sizeof(h));
	if (more)
		memcpy(b->data + sizeof(h), more, len);
	return b;
}

static void no_memory(struct detour_tree *e)
{
	trib_die_rank(e->s->eng, TRIB_ERR_SYSTEM, -ENOMEM, -1, "out of memory");
}

void detour_say(struct detour_tree *e, unsigned int rank, struct boot_body *body)
{
	if (!body || trib_mesh_say(&e->d->mesh, rank, body))
		no_memory(e);
	boot_body_put(body);
}

void detour_say_all(struct detour_tree *e, struct boot_body *body)
{
	unsigned int r;
	int err = body ? 0 : -ENOMEM;

	for (r = 0; !err && r < e->s->eng->world; r++)
		if (r != e->s->eng->rank)
			err = trib_mesh_say(&e->d->mesh, r, body);
	if (err)
		no_memory(e);
	boot_body_put(body);
}

void detour_garbage(struct trib_detours *d, int rank, const char *what)
{
	trib_die_rank(&d->t->eng, TRIB_ERR_SYSTEM, -EPROTO, rank, "rank %d %s", rank, what);
}
