/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressed sums on the simulated network: ranks with gradients, and an oracle that
 * computes the same results and residuals value by value, with the scalar codec.
 */
#ifndef COMPRESS_WORLD_H
#define COMPRESS_WORLD_H

#include "engine_world.h"
#include "lib/compress/compress.h"

/**
 * struct cw_rank
 * @c:     the object under test; it has no thread, the simulation calls it.
 * @x:     gradient; @y: result.
 * @want_residual: the oracle's residual.
 * @req, @status: message under way, and its result; 1: under way.
 * @mute:  the rank does not compute.
 * @gpu:   values are in GPU memory, @far_x and @far_y; @stream is the caller's.
 */
struct cw_rank {
	struct trib_compress *c;
	float *x, *y;
	float *want_residual;
	struct trib_req *req;
	int status;
	bool mute;
	bool gpu;
	float *far_x, *far_y;
	void *stream;
};

/**
 * struct cw - a job that sums one tensor, with key 5
 * @in_place: x is the result, too.
 * @want: the oracle's result.
 * @fail_call: of the GPU's double, for the call by cw_issue_one().
 */
struct cw {
	struct sim *sim;
	struct trib_compress_options o;
	size_t count;
	enum trib_op op;
	bool in_place;
	float *want;
	unsigned int fail_call;
	struct cw_rank rank[SIM_WORKERS];
};

#define CW_KEY 5

/*
 * The memory of values, unless the options say CUDA. Programs that are linked with
 * gpu/compress_world.o run the same tests in GPU memory.
 */
extern enum trib_memory cw_memory;
/* Ranks, as bits, that stay with host memory where the options say CUDA. */
extern unsigned int cw_hosts;

void cw_init(struct cw *w, struct sim *s, const struct sim_options *net,
	     const struct trib_compress_options *o, size_t count);
void cw_free(struct cw *w);
/* Fill the gradients: multiples of 2^-10 whose sums are exact as floats. */
void cw_gradients(struct cw *w);
/* Compute what the next message must give, with residuals. */
void cw_oracle(struct cw *w);
/* Issue the message on a rank; all that live. Return: first error. */
int cw_issue_one(struct cw *w, unsigned int r);
int cw_issue(struct cw *w);
/* Run until every message of living ranks has a status. Return: false after a minute. */
bool cw_run(struct cw *w);
/* End the step on all ranks. */
void cw_step(struct cw *w);
/* The result of a rank, and its residual, where the CPU can read them. */
const float *cw_result(const struct cw *w, unsigned int r);
float *cw_residual(struct cw *w, unsigned int r);
/*
 * A buffer of the rank's memory with a copy of @x, or @x itself. On a GPU the caller's
 * stream brings the values, so @x stays. cw_view() shows it to the CPU.
 */
struct trib_buffer cw_buffer(struct cw *w, unsigned int r, float *x, size_t count);
float *cw_view(const struct trib_buffer *b);
void cw_buffer_free(const struct trib_buffer *b);
/* Let the rank's codec and the GPU work until there is nothing to do. */
void cw_turn(struct cw *w, unsigned int r);
/* Count wrong results and residuals. */
unsigned long cw_wrong(struct cw *w);
unsigned long cw_wrong_residuals(struct cw *w);

#endif /* COMPRESS_WORLD_H */
