// SPDX-License-Identifier: BSD-2-Clause
/*
 * Edges of a shape. An allreduce uses every line of the grid, every fold and every
 * local edge; all other collectives use some of these. A torus' columns have other
 * edges when they are short, so there are two allreduces to ask.
 */
#include <errno.h>
#include <stdlib.h>

#include "peer/sched/build.h"

struct edges {
	struct peer_edge *edge;
	uint32_t n;
	uint32_t room;
};

static int by_lane(const void *a, const void *b)
{
	const struct peer_edge *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return x->nic < y->nic ? -1 : x->nic > y->nic;
}

/* Append the edges of a schedule, whether they are there or not. */
static int edges_add(struct edges *e, const struct peer_sched *s)
{
	uint32_t i, j, room = e->n;
	struct peer_edge *edge;

	for (i = 0; i < s->nlane; i++)
		room += s->lane[i].nop;
	edge = realloc(e->edge, (room + 1) * sizeof(*edge));
	if (!edge)
		return -ENOMEM;
	e->edge = edge;
	for (i = 0; i < s->nlane; i++)
		for (j = 0; j < s->lane[i].nop; j++)
			edge[e->n++] = (struct peer_edge){
				.peer = s->lane[i].op[j].peer,
				.nic = s->lane[i].op[j].nic,
				.lane = i,
			};
	return 0;
}

static void edges_sort(struct edges *e)
{
	uint32_t i, n = 0;

	qsort(e->edge, e->n, sizeof(*e->edge), by_lane);
	for (i = 0; i < e->n; i++)
		if (!n || by_lane(&e->edge[i], &e->edge[n - 1]))
			e->edge[n++] = e->edge[i];
	e->n = n;
}

int peer_shape_edges(const struct peer_shape *shape, uint32_t rank, struct peer_edge **out)
{
	/* Long enough for every block, and small enough that ranges cannot overflow. */
	static const uint64_t counts[] = {0, UINT64_MAX / 4};
	struct edges e = {0};
	struct peer_sched s;
	unsigned int i;
	int err = 0;

	for (i = 0; !err && i < 2; i++) {
		struct peer_what what = {PEER_ALLREDUCE, counts[i], 0};

		err = peer_sched_make(&s, shape, &what, rank);
		if (!err)
			err = edges_add(&e, &s);
		peer_sched_free(&s);
	}
	if (err) {
		free(e.edge);
		return err;
	}
	edges_sort(&e);
	*out = e.edge;
	return e.n;
}
