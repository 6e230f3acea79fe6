// SPDX-License-Identifier: BSD-2-Clause
/* The predicted time of a call: which simulation, of which ranks. */
#include <errno.h>
#include <stddef.h>

#include "sim.h"

/* Operations of all ranks that are simulated together: some seconds at most. */
#define OPS_MAX 3000000
/* If ranks are alike, one of them stands for all beyond this many. */
#define OPS_ALIKE 60000

/* Do all ranks do the same, and at the same time? */
static bool all_alike(const struct peer_shape *s, enum peer_collective c)
{
	uint32_t w = s->world;

	if (c == PEER_BROADCAST)
		return false;
	if (s->intra != PEER_INTRA_NONE)
		return s->intra == PEER_INTRA_ALLREDUCE && s->machines == 1;
	if (s->alg == PEER_ALG_HALVING)
		return !(w & (w - 1));
	return s->alg != PEER_ALG_TORUS || s->rows * s->cols == w;
}

static double simulate(const struct peer_shape *shape, const struct peer_load *load,
		       const struct peer_costs *costs, bool alike, uint64_t limit)
{
	struct peer_sim s = {.costs = costs, .load = *load, .limit = limit};
	int err = peer_sim_make(&s, shape, alike);
	double t = err ? err : peer_sim_run(&s);

	peer_sim_free(&s);
	return t;
}

static double simulate_some(const struct peer_shape *shape, const struct peer_load *load,
			    const struct peer_costs *costs, uint64_t alike_from)
{
	double t = -E2BIG;

	/* Ranks that share CPUs wait for each other. */
	if (costs->cpus || !all_alike(shape, load->what.collective))
		return simulate(shape, load, costs, false, OPS_MAX);
	if (alike_from)
		t = simulate(shape, load, costs, false, alike_from);
	return t == -E2BIG ? simulate(shape, load, costs, true, OPS_MAX) : t;
}

/* The machine with the most ranks by itself, and the leaders by themselves. */
static double add_up(const struct peer_shape *shape, const struct peer_load *load,
		     const struct peer_costs *costs, uint64_t alike_from)
{
	static const uint32_t zero[PEER_WORLD_MAX];
	struct peer_shape leaders = *shape, machine = *shape;
	struct peer_load inner = *load, outer = *load;
	uint32_t count[PEER_WORLD_MAX] = {0}, i, most = 1;
	double a, b;

	if (shape->intra == PEER_INTRA_NONE)
		return -E2BIG;
	for (i = 0; i < shape->world; i++)
		if (++count[shape->machine[i]] > most)
			most = count[shape->machine[i]];
	leaders.world = shape->machines;
	leaders.intra = PEER_INTRA_NONE;
	leaders.machine = leaders.leader = NULL;
	leaders.machines = 0;
	machine.world = most;
	machine.intra = PEER_INTRA_REDUCE;
	machine.machine = machine.leader = zero;
	machine.machines = 1;
	inner.what.root = outer.what.root = 0;
	inner.what.count = load->what.count / most * most;
	outer.what.count = load->what.count / shape->machines * shape->machines;
	a = simulate_some(&machine, &inner, costs, alike_from);
	b = simulate_some(&leaders, &outer, costs, alike_from);
	return a < 0 ? a : b < 0 ? b : a + b;
}

static double cost(const struct peer_shape *shape, const struct peer_load *load,
		   const struct peer_costs *costs, uint64_t alike_from)
{
	struct peer_load l = *load;
	double t;

	if (peer_shape_wrong(shape) || !l.size || !l.chunk || costs->cpus > PEER_CPUS_MAX)
		return -EINVAL;
	if (l.what.collective == PEER_BARRIER) {
		/* A reduce-scatter of nearly nothing has the same steps, and ranges to order them. */
		l.what = (struct peer_what){PEER_REDUCE_SCATTER, shape->world, 0};
		l.size = 1;
	}
	t = simulate_some(shape, &l, costs, alike_from);
	return t == -E2BIG ? add_up(shape, &l, costs, alike_from) : t;
}

double peer_cost(const struct peer_shape *shape, const struct peer_load *load,
		 const struct peer_costs *costs)
{
	return cost(shape, load, costs, OPS_ALIKE);
}

/** peer_cost_quick() - the same, with one rank for all wherever ranks are alike */
double peer_cost_quick(const struct peer_shape *shape, const struct peer_load *load,
		       const struct peer_costs *costs)
{
	return cost(shape, load, costs, 0);
}
