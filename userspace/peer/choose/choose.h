/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of schedules, and the choice among arrangements. Times come from carrying a
 * schedule out in a simulation, with the executor's own rules of waiting (run/path.c),
 * so nothing here knows formulas of algorithms.
 *
 *	measured rates ----> peer_cost(shape, call) = seconds
 *	world, NICs, machines ----> candidates ----> the cheapest, and why
 *
 * All ranks must choose alike: they need the same rates, rank 0's for example.
 */
#ifndef PEER_CHOOSE_H
#define PEER_CHOOSE_H

#include "peer/sched/sched.h"

/**
 * struct peer_rate - the time that messages take
 * @alpha:    seconds from the start of a message to its first byte at the other end. Other
 *            messages may be under way meanwhile.
 * @overhead: seconds for which a message keeps its sender busy, whatever its length.
 * @beta:     seconds per byte, for which it keeps both ends busy.
 */
struct peer_rate {
	double alpha;
	double overhead;
	double beta;
};

/**
 * struct peer_costs - what was measured
 * @nic:   by number.
 * @local: memory shared by a machine's processes. The sender is busy, not the receiver.
 * @gamma: seconds per byte that a lane's thread adds.
 * @work:  seconds of CPU that a message costs at each end,
 * @cpus:  if all ranks share so many CPUs, up to PEER_CPUS_MAX; 0: each has its own.
 */
#define PEER_CPUS_MAX 64

struct peer_costs {
	struct peer_rate nic[PEER_NICS_MAX];
	struct peer_rate local;
	double gamma;
	double work;
	uint32_t cpus;
};

/**
 * struct peer_load - a call, with the size of things
 * @size:  bytes of an element.
 * @chunk: bytes that travel together.
 */
struct peer_load {
	struct peer_what what;
	uint32_t size;
	uint64_t chunk;
};

/**
 * peer_cost() - predict the time of a call
 * From a common start to the end on the last rank. All ranks are simulated; of large worlds
 * whose ranks all do the same only one. Beyond some millions of operations machines and
 * leaders are simulated apart, and their times added.
 *
 * Return: seconds; -EINVAL, -ENOMEM; -E2BIG: more operations, and no machines.
 */
double peer_cost(const struct peer_shape *shape, const struct peer_load *load,
		 const struct peer_costs *costs);

/**
 * struct peer_place - what there is to arrange
 * @intra, @machine, @leader, @machines: as in struct peer_shape.
 */
struct peer_place {
	uint32_t world;
	uint32_t nics;
	enum peer_intra intra;
	const uint32_t *machine;
	const uint32_t *leader;
	uint32_t machines;
};

/** struct peer_option - a candidate; @seconds is negative if it cannot be used */
struct peer_option {
	struct peer_shape shape;
	double seconds;
};

#define PEER_OPTIONS_MAX 64

/**
 * struct peer_choice - the result of peer_choose()
 * @option: all that were compared, the cheapest first.
 * @why:    for people: "torus 8x8: 20.9 ms; halving: ...; bcube: needs n^k leaders".
 */
struct peer_choice {
	struct peer_option option[PEER_OPTIONS_MAX];
	uint32_t n;
	char why[512];
};

/**
 * peer_choose() - compare all arrangements for a call
 * Every algorithm is tried, and every matrix and cube of the leaders. Shapes point to
 * @place's arrays; they suit this call only, until peer_shape_tune() was there.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int peer_choose(struct peer_choice *out, const struct peer_place *place,
		const struct peer_load *load, const struct peer_costs *costs);

/**
 * peer_shape_tune() - set the sizes at which a shape changes its ways
 * tree_below: where broadcasts by scatter and allgather become faster. doubling_below: where
 * halves become faster than whole vectors. halving_below: where
 * halving no longer makes columns a tenth faster: rings talk to neighbours only. Shapes
 * are tuned for elements of @size bytes.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int peer_shape_tune(struct peer_shape *shape, uint32_t size, uint64_t chunk,
		    const struct peer_costs *costs);

/** peer_shape_text() - "torus 8x8", "hierarchy of bcube 2^2", "ring" */
void peer_shape_text(const struct peer_shape *shape, char *buf, size_t room);

/**
 * struct peer_table - the best of a few shapes, by collective and size
 * A cell is computed when it is asked for first. The caller owns the shapes, which live
 * as long. One thread at a time.
 */
#define PEER_TABLE_SIZES 48

struct peer_table {
	const struct peer_shape *shape;
	uint32_t nshape;
	uint64_t chunk;
	struct peer_costs costs;
	uint8_t cell[PEER_BARRIER + 1][PEER_TABLE_SIZES]; /* 1 + index; 0: not known */
};

void peer_table_init(struct peer_table *t, const struct peer_shape *shape, uint32_t nshape,
		     uint64_t chunk, const struct peer_costs *costs);

/**
 * peer_table_pick() - index of the shape that is best for a call of about that many bytes
 * Sizes count by powers of two. Errors of the model choose the first shape.
 */
uint32_t peer_table_pick(struct peer_table *t, enum peer_collective collective, uint64_t bytes);

#endif /* PEER_CHOOSE_H */
