/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of sched/: how a schedule is written.
 *
 * Ranks are cast in three roles: locals, who hand their vectors to the leader of
 * their machine; folded leaders, who hand theirs to a neighbour; and the core, who
 * run the algorithm. All algorithms are a walk through a grid: each dimension in
 * turn divides the range that a rank is left with among the ranks of a line.
 *
 *	locals --> leaders --> core: dim 0, dim 1, ... dim 1, dim 0 --> leaders --> locals
 *	     hierarchy.c    fold.c     grid.c: ring.c or direct.c a line
 *
 *	direct   1 dimension,  direct		ring    1 dimension, ring
 *	halving  log2 of core, direct of 2	torus   rows and columns, rings
 *	bcube    k dimensions, direct of n
 *
 * A block is the range that a rank of the core owns between the two halves of an
 * allreduce: the p-th block belongs to the rank at *position* p. All ranges of the
 * grid consist of consecutive blocks.
 */
#ifndef PEER_BUILD_H
#define PEER_BUILD_H

#include "peer/sched/sched.h"

#define PEER_DIMS_MAX 16
#define PEER_NOBODY UINT32_MAX

/**
 * struct peer_dim - a dimension of the grid
 * @n:      ranks of a line.
 * @stride: between neighbours of a line, in core numbers.
 * @shift:  the rank with digit d takes the (d + @shift) mod n-th of n subranges.
 * @nic:    all its traffic goes by it.
 * @ring:   lines are rings; otherwise each rank talks to each other one directly.
 * @back:   the ring sends to the lower digit.
 */
struct peer_dim {
	uint32_t n;
	uint32_t stride;
	uint32_t shift;
	uint8_t nic;
	bool ring;
	bool back;
};

/** struct peer_grid - a lane's dimensions, in order of its reduce-scatter */
struct peer_grid {
	uint32_t ndim;
	struct peer_dim dim[PEER_DIMS_MAX];
};

/** struct peer_span - a range in lane coordinates */
struct peer_span {
	uint64_t at;
	uint64_t len;
};

/**
 * struct peer_cast - the roles of ranks; cast.c
 * @local:   there are machines with leaders.
 * @alone:   all ranks are on one machine and share its additions.
 * @leaders: their number; all ranks if not @local.
 * @core:    those of them that run the algorithm; the others are folded.
 * @nlane:   lanes.
 * @member:  @local: ranks, sorted by machine.
 * @first:   @local: by machine, and one more: its first rank in @member.
 */
struct peer_cast {
	const struct peer_shape *shape;
	bool local;
	bool alone;
	uint32_t leaders;
	uint32_t core;
	uint32_t nlane;
	uint32_t *member;
	uint32_t *first;
};

/**
 * struct peer_build - a lane while it is written
 * @leader: index of this rank's leader among the leaders.
 * @leads:  this rank is it.
 * @core:   number in the core of this rank; PEER_NOBODY: not in it.
 * @step:   of the operations that come next.
 * @nic:    of folded leaders.
 * @partial: additions now are not the last ones.
 * @swap:   additions now take the other rank's values first.
 * @err:    -ENOMEM; operations are dropped since.
 * @bound:  @cast.core + 1 of them: block p is from bound[p] to bound[p + 1].
 * @part:   by rank: the start of its part. Reduce-scatter and allgather only.
 * @part_len: length of each rank's part.
 * @own:    by leader: the parts of its machine's ranks, which are consecutive.
 */
struct peer_build {
	struct peer_cast cast;
	struct peer_what what;
	uint32_t rank;
	uint32_t leader;
	bool leads;
	uint32_t core;
	struct peer_lane *lane;
	uint32_t room;
	uint32_t step;
	uint8_t nic;
	bool partial;
	bool swap;
	int err;
	struct peer_grid grid;
	uint64_t *bound;
	uint64_t *part;
	uint64_t part_len;
	struct peer_span *own;
};

/**
 * struct peer_line - this rank's line of a dimension
 * @me:    digit of this rank.
 * @base:  core number of the rank with digit 0.
 * @first: position of the line's range.
 * @each:  blocks of each member's subrange.
 * @full:  member that has everything already (broadcast), or PEER_NOBODY.
 */
struct peer_line {
	const struct peer_dim *dim;
	uint32_t me;
	uint32_t base;
	uint32_t first;
	uint32_t each;
	uint32_t full;
};

/* cast.c */
int peer_cast_init(struct peer_cast *c, const struct peer_shape *shape);
void peer_cast_free(struct peer_cast *c);
uint32_t peer_cast_leader_of(const struct peer_cast *c, uint32_t rank);
uint32_t peer_cast_leader_rank(const struct peer_cast *c, uint32_t leader);
uint32_t peer_cast_core_of(const struct peer_cast *c, uint32_t leader);
uint32_t peer_cast_core_leader(const struct peer_cast *c, uint32_t core);
uint32_t peer_cast_folded(const struct peer_cast *c, uint32_t core);
uint32_t peer_cast_members(const struct peer_cast *c, uint32_t leader);
uint32_t peer_cast_member(const struct peer_cast *c, uint32_t leader, uint32_t i);

/* ops.c */
void peer_build_op(struct peer_build *b, enum peer_kind kind, uint8_t nic, uint32_t peer,
		   struct peer_span span);
struct peer_span peer_build_whole(const struct peer_build *b);
bool peer_spreads(const struct peer_build *b);
bool peer_doubles(const struct peer_build *b);
struct peer_span peer_span_split(struct peer_span whole, uint32_t n, uint32_t i);

/* ranges.c */
int peer_ranges_make(struct peer_build *b, uint32_t lane);
void peer_ranges_free(struct peer_build *b);
bool peer_has_parts(const struct peer_what *what);

/* order.c */
uint32_t peer_order_segments(const struct peer_build *b);
struct peer_span peer_order_up(const struct peer_build *b, uint32_t i);
struct peer_span peer_order_down(const struct peer_build *b, uint32_t i);
void peer_order_pass(struct peer_build *b, const struct peer_line *l, enum peer_kind kind,
		     uint32_t peer, uint32_t digit, bool up);

/* line.c */
uint32_t peer_dim_digit(const struct peer_dim *d, uint32_t core);
uint32_t peer_dim_subrange(const struct peer_dim *d, uint32_t digit);
bool peer_at_root(const struct peer_grid *g, uint32_t core, uint32_t root, uint32_t dim);
struct peer_line peer_line_of(const struct peer_build *b, uint32_t dim, uint32_t root);
uint32_t peer_line_rank(const struct peer_build *b, const struct peer_line *l, uint32_t digit);
uint32_t peer_line_first(const struct peer_line *l, uint32_t digit);
struct peer_span peer_line_span(const struct peer_build *b, const struct peer_line *l,
				uint32_t digit);

/* grid.c */
void peer_grid_reduce(struct peer_build *b);
void peer_grid_gather(struct peer_build *b, uint32_t root);
void peer_grid_double(struct peer_build *b);
void peer_grid_scatter(struct peer_build *b, uint32_t root);
void peer_grid_spread(struct peer_build *b, uint32_t root);
uint32_t peer_grid_position(const struct peer_grid *g, uint32_t core, uint32_t blocks);

/* direct.c, ring.c, halving.c: a line's exchange. Steps go on by the caller. */
void peer_direct_reduce(struct peer_build *b, const struct peer_line *l);
void peer_direct_gather(struct peer_build *b, const struct peer_line *l);
void peer_direct_scatter(struct peer_build *b, const struct peer_line *l, uint32_t root);
void peer_direct_spread(struct peer_build *b, const struct peer_line *l, uint32_t root);
void peer_ring_reduce(struct peer_build *b, const struct peer_line *l);
void peer_ring_gather(struct peer_build *b, const struct peer_line *l);
void peer_ring_spread(struct peer_build *b, const struct peer_line *l, uint32_t root);
void peer_halving_double(struct peer_build *b, const struct peer_line *l);

/* One file each: the grid of a lane. @len: of the lane. */
void peer_direct_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane);
void peer_ring_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane);
void peer_halving_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane);
void peer_bcube_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane);
void peer_torus_grid(struct peer_grid *g, const struct peer_cast *c, uint32_t lane, uint64_t len);

/* fold.c */
void peer_fold_in(struct peer_build *b);
void peer_fold_out(struct peer_build *b);

/* hierarchy.c */
void peer_local_up(struct peer_build *b);
void peer_local_down(struct peer_build *b);

/* marks.c */
int peer_lane_mark(struct peer_lane *lane, enum peer_collective collective);

#endif /* PEER_BUILD_H */
