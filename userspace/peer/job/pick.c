// SPDX-License-Identifier: BSD-2-Clause
/* The choice of "auto", and its description. */
#include <stdio.h>
#include <string.h>

#include "hello.h"

/* Below this many bytes the number of steps matters more than that of bytes. */
#define SMALL (32 << 10)

static unsigned int shape_of(const struct peer_agreed *a, enum peer_alg alg)
{
	unsigned int i;

	for (i = 0; i < a->nshape; i++)
		if (a->shape[i].alg == alg)
			return i;
	return 0;
}

unsigned int peer_agreed_pick(const struct peer_agreed *a, const struct trib_peer_call *c)
{
	uint64_t bytes = c->count * trib_reduce_size(c->dtype);

	if (a->nshape == 1)
		return 0;
	if (bytes < SMALL)
		return shape_of(a, PEER_ALG_HALVING);
	return shape_of(a, a->nnic > 1 ? PEER_ALG_BCUBE : PEER_ALG_RING);
}

void peer_agreed_describe(const struct peer_agreed *a, char *buf, size_t room)
{
	size_t at = 0;
	unsigned int i;

	for (i = 0; i < a->nshape && at < room; i++) {
		const struct peer_shape *s = &a->shape[i];

		at += (size_t)snprintf(buf + at, room - at, "%s%s", i ? ", " : "",
				       peer_alg_name(s->alg));
		if (at < room && s->alg == PEER_ALG_BCUBE)
			at += (size_t)snprintf(buf + at, room - at, " %ux%u", s->n, s->k);
		if (at < room && s->alg == PEER_ALG_TORUS)
			at += (size_t)snprintf(buf + at, room - at, " %ux%u", s->rows, s->cols);
	}
	for (i = 0; i < a->nnic && at < room; i++)
		at += (size_t)snprintf(buf + at, room - at, "%s%s", i ? "," : "; NICs ", a->nic[i]);
	if (a->provider && at < room)
		snprintf(buf + at, room - at, "; %s", a->provider);
}
