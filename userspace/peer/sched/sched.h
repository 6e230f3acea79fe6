/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schedules: who sends which elements to whom, in which order, by which NIC. A
 * schedule is data. Algorithms (one file each) write it; run/ carries it out over a
 * network; tests carry it out in memory; choose/ and the scale simulator add up its
 * time. Nothing here does I/O, and all ranks compute theirs alike, each for itself.
 *
 *	shape (bcube 2,2 ...) + call (allreduce of n) + rank
 *		|  peer_sched_make()
 *	lane 0:	 step 0: ADD from 1, SEND to 1     step 1: ...
 *	lane 1:	 step 0: ADD from 2, SEND to 2     ...
 *
 * A lane is the work of one thread, on elements of its own: lanes need not wait for
 * each other. Its operations are on ranges in *lane coordinates*, 0 to len - 1, which
 * a list of pieces maps to elements of the vector.
 *
 * Meaning: operations of a lane take effect as if one after the other, in their
 * order. Who carries them out may overlap them as long as nobody can tell: an
 * operation waits only for earlier ones of its lane whose ranges overlap its own, and
 * chunk by chunk. In a barrier all ranges are empty, and order is all that there is: an
 * operation waits for all earlier ones of its lane of lower steps.
 * Operations between two ranks by the same lane and NIC pair up in order, the first
 * SEND with the first ADD or SET of the other end; their ranges and NICs are equal: the
 * pieces of a lane, too, are the same on all ranks, since both ends cut a range into
 * the same chunks, at the borders of pieces, too.
 *
 * Order of reduction: an ADD makes acc = acc op in. The order of ADDs on a range is
 * that of the lane, so a schedule gives the same bits each time.
 */
#ifndef PEER_SCHED_H
#define PEER_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEER_WORLD_MAX 4096
#define PEER_NICS_MAX 8
#define PEER_LANES_MAX 8
#define PEER_NIC_LOCAL 0xff /* memory shared by the processes of a machine */

/**
 * enum peer_alg - algorithms
 * @PEER_ALG_AUTO:    let the cost model choose.
 * @PEER_ALG_DIRECT:  every rank sends each other one its part: 1 step each way.
 * @PEER_ALG_RING:    a ring; with several NICs one lane and direction a NIC.
 * @PEER_ALG_HALVING: recursive halving and doubling.
 * @PEER_ALG_BCUBE:   k lanes, each on another level at every step.
 * @PEER_ALG_TORUS:   rows, columns, rows.
 */
enum peer_alg {
	PEER_ALG_AUTO = 0,
	PEER_ALG_DIRECT = 1,
	PEER_ALG_RING = 2,
	PEER_ALG_HALVING = 3,
	PEER_ALG_BCUBE = 4,
	PEER_ALG_TORUS = 5,
	PEER_ALG__MAX,
};

/**
 * enum peer_intra - a machine's own part of a hierarchy
 * @PEER_INTRA_NONE:      every rank is a machine of its own.
 * @PEER_INTRA_ALLREDUCE: the ranks of a machine share the additions, and the leader
 *                        collects their sums. The others get the final result only: a
 *                        machine's sum would be overwritten by it. Of a single
 *                        machine the ranks exchange directly, without a leader.
 * @PEER_INTRA_REDUCE:    the leader does all additions.
 */
enum peer_intra {
	PEER_INTRA_NONE = 0,
	PEER_INTRA_ALLREDUCE = 1,
	PEER_INTRA_REDUCE = 2,
};

/**
 * struct peer_shape - the arrangement of ranks; the same on all
 * @alg:   between leaders (all ranks, with PEER_INTRA_NONE); not AUTO.
 * @world: ranks.
 * @nics:  NICs of each leader.
 * @n, @k: BCUBE: ports of a switch, levels; n^k leaders, k <= @nics. k = 1: direct.
 * @rows, @cols: TORUS; rows * cols leaders, or one less than there are: the last
 *         leader is then folded into its neighbour.
 * @halving_below: TORUS: columns shorter than this many elements go by halving and
 *         doubling where rows is a power of two.
 * @doubling_below: HALVING: an ALLREDUCE of fewer elements exchanges whole vectors at each
 *         step: half the steps, (log2 W) / 2 times the bytes or more.
 * @tree_below: BROADCAST of fewer elements goes down a tree as a whole (half the
 *         steps), of more it is scattered and gathered. Chains (RING, TORUS) are
 *         pipelined, and always whole.
 * @segment: least elements of a segment, 0: 4096. To leaders and back, and from folded
 *         ones and back, vectors go in segments in the order in which the algorithm needs
 *         and completes them, so that the stages overlap.
 * @intra: see there. NONE: machines do not matter.
 * @machine: by rank: number of its machine; NULL: each rank is one.
 * @leader: by machine: its leader's rank; NULL with @machine NULL.
 * @machines: number of machines. 0 with @machine NULL.
 * @apart: leaders exchange vectors that their machines have summed up already, by other
 *         means, and the others have no operations. With @intra and several machines.
 */
struct peer_shape {
	enum peer_alg alg;
	uint32_t world;
	uint32_t nics;
	uint32_t n, k;
	uint32_t rows, cols;
	uint64_t halving_below;
	uint64_t doubling_below;
	uint64_t tree_below;
	uint64_t segment;
	enum peer_intra intra;
	const uint32_t *machine;
	const uint32_t *leader;
	uint32_t machines;
	bool apart;
};

/* Collectives, numbered as in enum trib_collective (uapi/trib_sock.h). */
enum peer_collective {
	PEER_ALLREDUCE = 0,
	PEER_REDUCE_SCATTER = 1,
	PEER_ALLGATHER = 2,
	PEER_BROADCAST = 3,
	PEER_BARRIER = 4,
};

/**
 * struct peer_what - a call, as far as schedules depend on it
 * @count: elements of the vector that the operations are about: ALLREDUCE and
 *         BROADCAST: the call's count; REDUCE_SCATTER and ALLGATHER: the call's count
 *         times world, of which rank r owns the r-th part; BARRIER: 0, each
 *         operation then has length 0 and still is sent.
 * @root:  BROADCAST.
 */
struct peer_what {
	enum peer_collective collective;
	uint64_t count;
	uint32_t root;
};

/**
 * enum peer_kind - an operation, seen by the rank that has it in its list
 * @PEER_SEND_ADD: send a range; the other end has an ADD.
 * @PEER_SEND_SET: send a range; the other end has a SET.
 * @PEER_ADD:      receive, and combine with the range.
 * @PEER_SET:      receive into the range. Whoever sends it has heard, directly or by
 *                 others, of all earlier operations of this rank on that range, its
 *                 sends included: so the receiver may let the network write it at any
 *                 time of the call.
 */
enum peer_kind {
	PEER_SEND_ADD = 0,
	PEER_SEND_SET = 1,
	PEER_ADD = 2,
	PEER_SET = 3,
};

/**
 * struct peer_op - one operation
 * @kind: enum peer_kind.
 * @nic:  0 to nics - 1, or PEER_NIC_LOCAL.
 * @step: numbers the steps of the algorithm, the same on all ranks; grows within a lane.
 * @peer: rank at the other end.
 * @at, @len: range in lane coordinates. May be empty; it is carried out all the same.
 * @first: SEND_ADD, SEND_SET, ADD: nothing in the lane wrote this range before: its
 *         values are the caller's source. Set by peer_sched_make(). Never set in an
 *         ALLGATHER, whose own part run/ puts in its place of the vector first.
 * @last: ADD: the range is complete with it (fused normalisation): it has the values
 *         of all ranks. Set by peer_sched_make().
 *
 * @swap: ADD: acc = in op acc instead. Two ranks that make the same sum have it on one of
 *         them, so that both get the same bits of two NaNs, too.
 *
 * @first and @last are true of the whole range or of none of it.
 */
struct peer_op {
	uint8_t kind;
	uint8_t nic;
	bool first;
	bool last;
	bool swap;
	uint32_t step;
	uint32_t peer;
	uint64_t at;
	uint64_t len;
};

/** peer_op_sends() - whether the rank that has it sends */
static inline bool peer_op_sends(const struct peer_op *o)
{
	return o->kind == PEER_SEND_ADD || o->kind == PEER_SEND_SET;
}

/** struct peer_piece - elements @at to @at + @len - 1 of the vector */
struct peer_piece {
	uint64_t at;
	uint64_t len;
};

/**
 * struct peer_lane - the operations of one thread
 * @len: lane coordinates; the sum of the pieces' lengths.
 */
struct peer_lane {
	struct peer_op *op;
	uint32_t nop;
	struct peer_piece *piece;
	uint32_t npiece;
	uint64_t len;
};

/** struct peer_sched - a rank's schedule for one call */
struct peer_sched {
	uint32_t nlane;
	struct peer_lane lane[PEER_LANES_MAX];
};

/**
 * peer_sched_make() - compute a rank's schedule
 *
 * The pieces of all lanes cover the vector exactly once. For an allreduce every
 * element of the vector ends complete on every rank; reduce-scatter: the r-th part on
 * rank r, what else the vector holds then is undefined; allgather and broadcast
 * likewise. A schedule for world 1 has no operations.
 *
 * Return: 0, -EINVAL (peer_shape_wrong() says why), -ENOMEM.
 */
int peer_sched_make(struct peer_sched *s, const struct peer_shape *shape,
		    const struct peer_what *what, uint32_t rank);
void peer_sched_free(struct peer_sched *s);

/** peer_shape_wrong() - check a shape; NULL, or a text that names the mistake */
const char *peer_shape_wrong(const struct peer_shape *shape);

/**
 * struct peer_edge - a rank that another one exchanges with, by a lane and NIC
 */
struct peer_edge {
	uint32_t peer;
	uint8_t nic;
	uint8_t lane;
};

/**
 * peer_shape_edges() - list all edges that any collective of @shape uses at @rank
 * @out: the list, sorted by lane, peer and NIC, which the caller frees; symmetric: if
 *       a has (b, nic, lane), b has (a, nic, lane).
 *
 * Return: number of edges, or -ENOMEM, -EINVAL.
 */
int peer_shape_edges(const struct peer_shape *shape, uint32_t rank, struct peer_edge **out);

/** peer_shape_leaders() - number of ranks that run @alg: all, or a leader a machine */
uint32_t peer_shape_leaders(const struct peer_shape *shape);

/**
 * peer_shape_torus() - the squarest matrix of leaders
 * A number without one, such as a prime above 3, gets that of the next lower number: the
 * last leader is folded. Rows are a power of two if any side is.
 *
 * Return: false for 0 leaders.
 */
bool peer_shape_torus(uint32_t leaders, uint32_t *rows, uint32_t *cols);

/**
 * peer_shape_bcube() - n and k with n^k leaders, as many levels as NICs allow, 2 at least
 * Return: false if there are none.
 */
bool peer_shape_bcube(uint32_t leaders, uint32_t nics, uint32_t *n, uint32_t *k);

const char *peer_alg_name(enum peer_alg alg);
/* Return: PEER_ALG__MAX if there is none with that name. */
enum peer_alg peer_alg_parse(const char *name);

#endif /* PEER_SCHED_H */
