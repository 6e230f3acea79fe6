/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schedules of all ranks, carried out in memory in random order. Whatever an
 * executor may do by the contract in sched.h happens here: operations overlap as soon
 * as ranges allow, chunks of them too, and a SET's values are written into the
 * receiver's vector the moment they are sent.
 */
#ifndef TESTS_PEER_SCHED_WORLD_H
#define TESTS_PEER_SCHED_WORLD_H

#include "peer/sched/sched.h"

/**
 * struct op_state - an operation while it is carried out
 * @done: elements, from the start of the range.
 * @over: carried out. An empty operation is over only when its turn came.
 * @mate: the other end's.
 * @buf:  SEND: values as they were sent.
 */
struct op_state {
	uint64_t done;
	bool over;
	const struct peer_op *op;
	struct op_state *mate;
	uint64_t *buf;
};

struct lane_state {
	struct op_state *op;
	uint32_t head; /* all before it are over */
};

/**
 * struct sched_world - all ranks
 * @value: by rank: the vector.
 * @writes: by rank and element: ADDs and SETs so far.
 * @fail: text of the first mistake.
 */
struct sched_world {
	const struct peer_shape *shape;
	struct peer_what what;
	struct peer_sched *sched;
	struct lane_state (*lane)[PEER_LANES_MAX];
	uint64_t **value;
	uint32_t **writes;
	uint64_t seed;
	uint64_t chunk;
	bool fifo;
	bool ordered;
	char fail[256];
};

/* Make all schedules and pair their operations. False: see fail. */
bool sched_world_make(struct sched_world *w, const struct peer_shape *shape,
		      const struct peer_what *what);
void sched_world_free(struct sched_world *w);

/**
 * sched_world_run() - carry everything out
 * @seed:  of the order of events.
 * @chunk: elements.
 * @fifo:  operations of an edge go one after the other.
 * @ordered: the operation of the reduction does not commute, and sums are not checked.
 */
bool sched_world_run(struct sched_world *w, uint64_t seed, uint64_t chunk, bool fifo, bool ordered);

/* Digest of all results. Equal on equal bits. */
uint64_t sched_world_digest(const struct sched_world *w);

/* SETs by the rule: whoever sends them has heard of all earlier use of each element. */
bool sched_world_causal(struct sched_world *w);

bool sched_world_fail(struct sched_world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Element of the vector of a lane coordinate. */
uint64_t sched_world_element(const struct peer_lane *lane, uint64_t at);

/* Is an element complete on that rank when the call is over? */
bool sched_world_wants(const struct sched_world *w, uint32_t rank, uint64_t element);

/* Source of an element on a rank; the sum that all should hold. */
uint64_t sched_world_source(const struct sched_world *w, uint32_t rank, uint64_t element);
uint64_t sched_world_sum(const struct sched_world *w, uint64_t element);

static inline uint64_t sched_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif /* TESTS_PEER_SCHED_WORLD_H */
