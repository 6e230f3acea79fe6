// SPDX-License-Identifier: BSD-2-Clause
/* The cache of plans: by shape and call; the one that was unused longest goes first. */
#include <errno.h>
#include <stdlib.h>

#include "plan.h"

static void plan_free(struct peer_plan *p)
{
	uint32_t i;

	for (i = 0; i < p->sched.nlane; i++)
		peer_path_free(&p->path[i]);
	peer_sched_free(&p->sched);
	free(p);
}

static bool same(const struct peer_plan *p, const struct peer_shape *shape,
		 const struct peer_what *w)
{
	return p->shape == shape && p->what.collective == w->collective &&
	       p->what.count == w->count && p->what.root == w->root;
}

/* The edges of a lane: @edge is sorted by lane first. */
static const struct peer_edge *edges_of(const struct peer_edge *edge, uint32_t nedge, uint32_t lane,
					uint32_t *n)
{
	uint32_t a = 0, b;

	while (a < nedge && edge[a].lane < lane)
		a++;
	for (b = a; b < nedge && edge[b].lane == lane;)
		b++;
	*n = b - a;
	return edge + a;
}

static struct peer_plan *plan_make(const struct peer_shape *shape, const struct peer_what *what,
				   uint32_t rank, const struct peer_edge *edge, uint32_t nedge,
				   int *err)
{
	struct peer_plan *p = calloc(1, sizeof(*p));
	const struct peer_edge *own;
	uint32_t i, n;

	*err = -ENOMEM;
	if (!p)
		return NULL;
	p->shape = shape;
	p->what = *what;
	*err = peer_sched_make(&p->sched, shape, what, rank);
	if (*err) {
		free(p);
		return NULL;
	}
	for (i = 0; i < p->sched.nlane && !*err; i++) {
		own = edges_of(edge, nedge, i, &n);
		*err = peer_path_make(&p->path[i], &p->sched.lane[i], rank, own, n);
	}
	if (!*err)
		return p;
	plan_free(p);
	return NULL;
}

/* Free the plan that was unused longest. Return: false if all are in use. */
static bool drop_oldest(struct peer_plans *c)
{
	unsigned int i, oldest = c->n;

	for (i = 0; i < c->n; i++)
		if (!c->plan[i]->users &&
		    (oldest == c->n || c->plan[i]->age < c->plan[oldest]->age))
			oldest = i;
	if (oldest == c->n)
		return false;
	plan_free(c->plan[oldest]);
	c->plan[oldest] = c->plan[--c->n];
	return true;
}

/* Make room for one. Return: 0 or -ENOMEM. */
static int make_room(struct peer_plans *c)
{
	unsigned int room = c->room ? 2 * c->room : PEER_PLANS_KEPT;
	struct peer_plan **more;

	while (c->n >= PEER_PLANS_KEPT && drop_oldest(c))
		;
	if (c->n < c->room)
		return 0;
	more = realloc(c->plan, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->plan = more;
	c->room = room;
	return 0;
}

struct peer_plan *peer_plan_get(struct peer_plans *c, const struct peer_shape *shape,
				const struct peer_what *what, uint32_t rank,
				const struct peer_edge *edge, uint32_t nedge, int *err)
{
	struct peer_plan *p = NULL;
	unsigned int i;

	for (i = 0; i < c->n && !p; i++)
		if (same(c->plan[i], shape, what))
			p = c->plan[i];
	if (!p) {
		*err = make_room(c);
		if (*err)
			return NULL;
		p = plan_make(shape, what, rank, edge, nedge, err);
		if (!p)
			return NULL;
		c->plan[c->n++] = p;
	}
	p->users++;
	p->age = ++c->clock;
	return p;
}

void peer_plan_put(struct peer_plan *p)
{
	p->users--;
}

void peer_plans_free(struct peer_plans *c)
{
	while (c->n)
		plan_free(c->plan[--c->n]);
	free(c->plan);
	*c = (struct peer_plans){0};
}
