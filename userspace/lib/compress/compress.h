/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this folder. README.md has the picture.
 *
 * Locking: the lock of the handle protects everything. The codec thread computes
 * without it, on a bucket that no other thread touches: requests of the bucket are
 * held, or done.
 */
#ifndef TRIB_LIB_COMPRESS_H
#define TRIB_LIB_COMPRESS_H

#include "lib/handle/handle.h"
#include "trib_compress.h"
#include "kernels/nm/nm.h"

/*
 * 64-bit words that share an exponent: 1 KiB, whatever a packet holds, so that
 * results do not depend on the sizes of packets.
 */
#define RANGE_WORDS 128
/* Largest number of packed values in them: lanes have 4 bits at least. */
#define RANGE_VALUES (RANGE_WORDS * 16)

#define BUCKET_DEFAULT ((size_t)1 << 19)
/* A report of a bad value has as many bits for the index in the bucket. */
#define BUCKET_BITS 20
#define BUCKET_MAX ((size_t)1 << BUCKET_BITS)

#define SCHEDULE_ENTRIES 32
#define TENSOR_CHAINS 256

/* --- layout.c: how a message is cut ------------------------------------------ */

/**
 * struct layout - the same on all ranks
 * @bucket: values in each bucket but the last.
 * @range:  values that share an exponent; unquantised: @bucket.
 * @lane_bits, @lanes: bits of a lane, lanes of a word; 0 if unquantised.
 * @local:   each rank selects its own mask.
 * @count, @nbucket: of the message.
 */
struct layout {
	struct trib_nm_spec spec;
	bool local;
	size_t bucket;
	size_t range;
	unsigned int lane_bits;
	unsigned int lanes;
	size_t count;
	size_t nbucket;
};

/**
 * struct cut - sizes of a bucket, or of a message
 * @values: values.
 * @masks:  32-bit words of the mask.
 * @ranges: exponents.
 * @packed: values that are sent. Local masks: those of whole mask words.
 * @words:  64-bit words that they fill, if quantised.
 */
struct cut {
	size_t values;
	size_t masks;
	size_t ranges;
	size_t packed;
	size_t words;
};

void layout_make(struct layout *l, struct trib_nm_spec spec, bool local, unsigned int world,
		 size_t bucket, size_t count);
void layout_bucket(const struct layout *l, size_t i, struct cut *out);
void layout_all(const struct layout *l, struct cut *out);

/* --- schedule.c ----------------------------------------------------------------- */

/**
 * struct schedule - spec by step
 * @automatic: @rung and @calm decide; else the entries.
 * @rung: of the ladder.
 * @calm: successive steps with small residuals; below 0: it waits longer.
 */
struct schedule {
	bool automatic;
	unsigned int n;
	struct {
		uint64_t from;
		struct trib_nm_spec spec;
	} entry[SCHEDULE_ENTRIES];
	int rung;
	int calm;
};

/* Return: 0, or -EINVAL with a sentence in @why. */
int schedule_parse(struct schedule *s, const char *text, char *why, size_t why_len);
/* Does a spec of it have integers? */
bool schedule_quantises(const struct schedule *s);
struct trib_nm_spec schedule_spec(const struct schedule *s, uint64_t step);
/* Decide by the sums of all ranks' norms of gradients and residuals. */
void schedule_judge(struct schedule *s, float grad, float residual);
/* Number of rungs. */
int schedule_rungs(void);

/* --- state.c: tensors -------------------------------------------------------------- */

/**
 * struct tensor - what stays of a tensor between messages
 * @residual: @count floats; NULL: without feedback.
 * @room:     memory for messages, @room_len bytes.
 * @busy:     its message under way.
 */
struct tensor {
	struct tensor *next;
	uint64_t key;
	size_t count;
	float *residual;
	void *room;
	size_t room_len;
	struct message *busy;
};

struct tensor *tensor_find(const struct trib_compress *c, uint64_t key);
/* Find or make. Return: NULL without memory. */
struct tensor *tensor_get(struct trib_compress *c, uint64_t key, size_t count);
void tensor_drop(struct trib_compress *c, uint64_t key);
void tensor_free_all(struct tensor *table[TENSOR_CHAINS]);
/* Make room for a message. Return: NULL without memory. */
void *tensor_room(struct tensor *x, size_t len);
/* Put a new tensor into a table that lacks its key. Return: NULL without memory. */
struct tensor *tensor_add(struct tensor *table[TENSOR_CHAINS], uint64_t key, size_t count,
			  bool feedback);

/* --- message.c: a message and its requests ------------------------------------------ */

/* Each bucket has up to three requests, one after the other. */
enum stage {
	STAGE_SELECT, /* the leader selects the mask */
	STAGE_MASK,   /* the mask comes, or is selected; then exponents are computed */
	STAGE_EXP,    /* the exponents of all come; then values are packed */
	STAGE_SUM,    /* the sum comes; then it is expanded */
	STAGE_DONE,
};

/**
 * struct bucket - successive values that are selected and sent together
 * @first:  index of its first value.
 * @cut:    its sizes.
 * @mask:   one bit per value; NULL: dense.
 * @exp:    exponents or reports, one per range; own, later of all ranks.
 * @sum:    packed values; own, later of all ranks, unless masks are local.
 * @mask_req, @exp_req, @sum_req: requests; @mask_req is NULL if dense or local.
 * @bad:    largest report of a value that is not finite, or 0.
 * @over:   1 + index of the first infinite sum in the message, or 0.
 * @saved:  the residual has changed; the message has a copy of the old one.
 * @grad, @left, @all: sums of squares: gradient, new residual, gradient with residual.
 */
struct bucket {
	struct message *m;
	enum stage stage;
	size_t first;
	struct cut cut;
	uint32_t *mask;
	int32_t *exp;
	void *sum;
	struct trib_req *mask_req;
	struct trib_req *exp_req;
	struct trib_req *sum_req;
	int32_t bad;
	uint64_t over;
	bool saved;
	double grad, left, all;
};

/**
 * struct message - one compressed allreduce
 * @user:   the caller's request.
 * @old:    copy of the residual before the message; NULL without feedback.
 * @seed:   of this rank and tensor.
 * @divide: by which sums of integers are divided.
 * @left:   buckets that are not done.
 */
struct message {
	struct message *next;
	struct trib_compress *c;
	struct tensor *tensor;
	struct trib_req *user;
	const float *src;
	float *dst;
	float *old;
	struct layout layout;
	enum trib_op op;
	uint64_t seed;
	uint64_t step;
	unsigned int leader;
	unsigned int divide;
	size_t left;
	struct bucket bucket[];
};

/* Seed of a rank and tensor, from that of the options. */
uint64_t message_seed(uint64_t seed, unsigned int rank, uint64_t key);
/* Issue all requests, or none. Lock held. Return: 0, or an errno that is recorded. */
int message_start(struct trib_compress *c, struct tensor *x, const float *src, float *dst,
		  enum trib_op op, struct trib_req **out);
/* Complete the caller's request and free the message. Lock held. */
void message_finish(struct message *m);

/* --- work.c: computing, without lock -------------------------------------------------- */

/* Do the work of the bucket's stage. Return: 0, or -EPROTO if another rank's input is wrong. */
int work_on(struct bucket *b);

/* --- turn.c: which work is next --------------------------------------------------------- */

/* Do one piece of work. Lock held, released meanwhile. Return: false if there is none. */
bool trib_compress_turn(struct trib_compress *c);

/* --- agree.c: small messages between all ranks ------------------------------------------- */

/* Check that all have the same options, and take over step and rung of the farthest. */
int agree(struct trib_compress *c);
/* Sum the norms of the step, for trib_compress_step() of the next. */
int norms_issue(struct trib_compress *c);
/* Wait for the sums; keep them in @c. Lock held. Return: 0, or the errno of a dead handle. */
int norms_wait(struct trib_compress *c);

/* --- thread.c: the codec thread, and the handle ------------------------------------------ */

/* Begin and end to work for a handle. Lock not held. Return: 0 or -errno, recorded. */
int guest_enter(struct trib_compress *c, struct trib *t, bool threaded);
void guest_leave(struct trib_compress *c);

/* --- api.c ------------------------------------------------------------------------------- */

/**
 * struct trib_compress
 * @guest:  of the handle @t.
 * @t:      the handle; NULL: it was detached.
 * @nm:     codec.
 * @name:   hash of the options.
 * @first:  messages under way, in order of issue; @tail: their end.
 * @work:   signals the codec thread: a request is done, or a message issued.
 * @grad, @left: sums of squares of this step, of @values values.
 * @norm:   source and result of @norm_req: norms of gradients and residuals.
 * @norm_req: of the step before; NULL: none.
 * @judge:  @norm are sums that are not used yet.
 * @scratch: packed values of a range, for the codec thread.
 */
struct trib_compress {
	struct trib_guest guest;
	struct trib *t;
	const struct trib_nm_ops *nm;
	struct schedule schedule;
	uint64_t seed;
	size_t bucket;
	bool feedback;
	bool local;
	bool measure;
	uint32_t name;
	uint64_t step;
	struct tensor *table[TENSOR_CHAINS];
	struct message *first, **tail;
	pthread_cond_t work;
	pthread_t thread;
	bool threaded;
	bool stop;
	double grad, left;
	uint64_t values;
	float norm[2];
	struct trib_req *norm_req;
	bool judge;
	struct trib_compress_counters count;
	float scratch[RANGE_VALUES];
};

/* Make one for tests: no thread, and no agreement with other ranks. */
int compress_make(struct trib_compress **out, struct trib *t,
		  const struct trib_compress_options *opts, bool threaded);

/* Wait until nothing is under way. Return: 0, -EBUSY: a message is; or as norms_wait(). */
int compress_rest(struct trib_compress *c);

#endif /* TRIB_LIB_COMPRESS_H */
