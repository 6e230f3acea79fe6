/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of choose/: a simulation of schedules. Time goes on from event to event:
 *
 *	a chunk may leave --> NIC of sender busy --alpha--> first byte --> NIC of
 *	receiver busy --> arrived --> thread adds --> applied --> others may leave
 *
 * If ranks share CPUs, a message waits for one before it leaves, and when it has arrived.
 */
#ifndef PEER_SIM_H
#define PEER_SIM_H

#include "peer/choose/choose.h"
#include "peer/run/plan.h"

enum peer_event_kind {
	PEER_EVENT_HEAD,    /* the first byte is there */
	PEER_EVENT_ARRIVED, /* the last one is */
	PEER_EVENT_READ,    /* and a CPU has read it */
	PEER_EVENT_APPLIED, /* and is added to the vector */
};

/** struct peer_event - of an operation that receives; @seq makes ties definite */
struct peer_event {
	double at;
	uint64_t seq;
	uint32_t lane;
	uint32_t op;
	enum peer_event_kind kind;
};

/** struct peer_heap - events, the earliest first */
struct peer_heap {
	struct peer_event *event;
	size_t n;
	size_t room;
	uint64_t seq;
};

int peer_heap_push(struct peer_heap *h, double at, enum peer_event_kind kind, uint32_t lane,
		   uint32_t op);
bool peer_heap_pop(struct peer_heap *h, struct peer_event *out);

/**
 * struct peer_sim_op - the state of an operation
 * @chunks: at least one; an empty message is one, too.
 * @cut:    elements of a chunk.
 * @lane, @mate: SEND: lane of the simulation, and operation, at the other end.
 * @head, @arrived, @taken: chunks of a reception.
 * @done:   chunks sent, or received and applied.
 * @rdep, @nrdep: operations that wait for it, in &peer_sim_lane.rdep.
 */
struct peer_sim_op {
	uint32_t chunks;
	uint64_t cut;
	uint32_t lane;
	uint32_t mate;
	uint32_t head;
	uint32_t arrived;
	uint32_t taken;
	uint32_t done;
	uint32_t rdep;
	uint32_t nrdep;
};

/**
 * struct peer_sim_lane - a lane of a rank
 * @rank:  index among the ranks that are simulated.
 * @busy:  the thread has work until then.
 * @edge:  its edges.
 */
struct peer_sim_lane {
	const struct peer_lane *lane;
	struct peer_path path;
	struct peer_edge *edge;
	uint32_t nedge;
	uint32_t rank;
	double busy;
	struct peer_sim_op *op;
	uint32_t *rdep;
};

/**
 * struct peer_sim - a simulation
 * @alike: only rank 0 is simulated, and talks to itself in place of its peers.
 * @ranks: that are simulated.
 * @nlane: lanes of a rank. Lane l of rank r is lane[r * nlane + l].
 * @tx, @rx: by rank and NIC, local memory last: busy until then.
 * @cpu: busy until then.
 * @chunks: of an operation, at most.
 * @limit: operations; with more, peer_sim_make() returns -E2BIG.
 */
struct peer_sim {
	const struct peer_costs *costs;
	struct peer_load load;
	bool alike;
	uint32_t ranks;
	uint32_t nlane;
	struct peer_sched *sched;
	struct peer_sim_lane *lane;
	double *tx;
	double *rx;
	double cpu[PEER_CPUS_MAX];
	struct peer_heap heap;
	double now;
	double end;
	uint32_t chunks;
	uint64_t limit;
	int err;
};

#define PEER_SIM_NICS (PEER_NICS_MAX + 1)

/* Make a simulation of @shape. The caller frees it in any case. */
int peer_sim_make(struct peer_sim *s, const struct peer_shape *shape, bool alike);
void peer_sim_free(struct peer_sim *s);

/* Return: seconds, or a negative error. */
double peer_sim_run(struct peer_sim *s);

double peer_cost_quick(const struct peer_shape *shape, const struct peer_load *load,
		       const struct peer_costs *costs);

#endif /* PEER_SIM_H */
