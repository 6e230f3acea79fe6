/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files of this folder. README.md has the picture.
 *
 * Locking: the lock of the handle protects everything. The codec thread computes
 * without it, on a bucket that no other thread touches: requests of the bucket are
 * held, or done. The bell has a lock of its own, which is taken last: threads of a
 * GPU's runtime ring it, for which a holder of the handle's lock may wait.
 */
#ifndef TRIB_LIB_COMPRESS_H
#define TRIB_LIB_COMPRESS_H

#include "lib/handle/compose.h"
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
 * @residual: @count floats, in the memory of the gradients; NULL: without feedback.
 * @room:     memory for messages, @room_len bytes, which requests use.
 * @far:      more of it, @far_len bytes on the GPU.
 * @busy:     its message under way.
 * @lost:     the GPU could not put the residual back.
 */
struct tensor {
	struct tensor *next;
	uint64_t key;
	size_t count;
	float *residual;
	void *room;
	size_t room_len;
	void *far;
	size_t far_len;
	struct message *busy;
	bool lost;
};

struct tensor *tensor_find(const struct trib_compress *c, uint64_t key);
/* Find or make. Return: 0, -ENOMEM, or -EIO. */
int tensor_get(struct trib_compress *c, uint64_t key, size_t count, struct tensor **out);
void tensor_drop(struct trib_compress *c, uint64_t key);
void tensor_free_all(struct trib_compress *c, struct tensor *table[TENSOR_CHAINS]);
/* Put a new tensor into a table. Return: 0, -EINVAL: it has the key, -ENOMEM, or -EIO. */
int tensor_add(struct trib_compress *c, struct tensor *table[TENSOR_CHAINS], uint64_t key,
	       size_t count, struct tensor **out);

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
 * struct far - a bucket's share of the GPU's memory, and of the memory for its answers
 * @mask, @sum: as those of the bucket.
 * @packed: floats that @sum becomes, if they are not dst.
 * @scale:  exponents of units; @scales: the same, on their way there.
 * @back:   what kernels find out; @answer: the same, where the CPU reads it.
 */
struct far {
	uint32_t *mask;
	void *sum;
	float *packed;
	int32_t *scale;
	int32_t *scales;
	void *back;
	void *answer;
};

/* Work of a GPU on its way. */
enum flight {
	FLIGHT_NONE,
	FLIGHT_UP,
	FLIGHT_LANDED,
	FLIGHT_FAILED,
};

/**
 * struct bucket - successive values that are selected and sent together
 * @first:  index of its first value.
 * @cut:    its sizes.
 * @mask:   one bit per value; NULL: dense.
 * @exp:    exponents or reports, one per range; own, later of all ranks.
 * @sum:    packed values; own, later of all ranks, unless @result is elsewhere.
 * @result: the sum's place.
 * @mask_req, @exp_req, @sum_req: requests; @mask_req is NULL if dense or local.
 * @bad:    largest report of a value that is not finite, or 0.
 * @over:   1 + index of the first infinite sum in the message, or 0.
 * @saved:  the residual has changed; the message has a copy of the old one.
 * @grad, @left, @all: sums of squares: gradient, new residual, gradient with residual.
 * @flight: of the stage's work. The runtime's thread sets it, so it is read and written
 *          as an atomic.
 */
struct bucket {
	struct message *m;
	enum stage stage;
	size_t first;
	struct cut cut;
	uint32_t *mask;
	int32_t *exp;
	void *sum;
	void *result;
	struct trib_req *mask_req;
	struct trib_req *exp_req;
	struct trib_req *sum_req;
	int32_t bad;
	uint64_t over;
	bool saved;
	double grad, left, all;
	int flight;
	struct far far;
};

/**
 * struct message - one compressed allreduce
 * @user:   the caller's request.
 * @old:    copy of the residual before the message; NULL without feedback.
 * @seed:   of this rank and tensor.
 * @divide: by which sums of integers are divided.
 * @left:   buckets that are not done.
 * @gate:   a flight: landed when src and dst may be used. Atomic.
 */
struct message {
	struct message *next;
	struct trib_compress *c;
	struct tensor *tensor;
	struct trib_req *user;
	int gate;
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

/**
 * struct message_args - arguments of a call
 * @src, @dst: in the memory of the object; of host memory only @data counts.
 */
struct message_args {
	const struct trib_buffer *src;
	const struct trib_buffer *dst;
	enum trib_op op;
};

/* Make a message of a tensor that has none under way. Return: NULL: no memory. */
struct message *message_make(struct trib_compress *c, struct tensor *x,
			     const struct message_args *a);
/*
 * Issue all requests, or none, and then free it. Lock held. Return: 0, or an errno that
 * is recorded.
 */
int message_start(struct message *m, const struct message_args *a, struct trib_req **out);
/* Does nothing touch its memory any more, now that its engine is dead? */
bool message_rests(const struct message *m);
/* Complete the caller's request and free the message. Lock held. */
void message_finish(struct message *m);

/* --- room.c: memory of a message ------------------------------------------------------ */

/* Memory that is shared out; @base is NULL while shares are only counted. */
struct area {
	uint8_t *base;
	size_t len;
};

/* Share out the message's memory; @far is NULL without a GPU. */
void room_cut(struct message *m, struct area *near, struct area *far);

/* --- mask.c, report.c: what host memory holds, wherever values are computed ----------- */

/* Write a mask that is right, for values that are not: the first M of each group. */
void mask_fill(const struct bucket *b);
/* Fill up the last word of a local mask: each group of the wire has M bits. */
void mask_pad(const struct bucket *b);
/* Index in the bucket of packed value @k. */
size_t mask_unpacked(const struct bucket *b, size_t k);
/* Fill in what a bucket with bad values sends. */
void mask_empty(const struct bucket *b);

/* The exponent that says: value @index of this rank's bucket is not finite. */
int32_t report_bad(const struct bucket *b, size_t index);
/* Look for reports. Return: 0, or -EPROTO if no rank can have sent these exponents. */
int report_find(struct bucket *b);
/* Tell the caller's request about a bad bucket: as &trib_req.bad. */
int64_t report_of(const struct bucket *b);

/* --- work.c, device_work.c: computing ------------------------------------------------- */

/**
 * struct work_ops - where values are computed: by the CPU, or by a GPU
 * @begin: do, or begin, the work of the bucket's stage. Without the lock.
 *         Return: 0: done; 1: flies, and lands by itself; -EPROTO: another rank's
 *         input is wrong; -EIO: the GPU failed, with trib_compress.why.
 * @end:   the work has landed. Without the lock. Return: as @begin, but for 1.
 * @put_back: put back the residuals of a message that failed. Lock held.
 * @open:  let the message begin when its buffers may be used: set its gate. Lock held.
 *         Return: 0, or -EIO.
 * @shut:  wait for the gate, and do not begin after all. Lock held.
 * @error: why a function but @begin and @end returned -EIO in this thread.
 * @room:  give the message its memory. Return: 0, -ENOMEM.
 * @room_free: free that of a tensor.
 * @residual_new: make zeros. Return: 0, -ENOMEM, -EIO.
 * @residual_get, @residual_put: copy to and from host memory. Return: 0, -EIO.
 * @enter: the codec thread begins.
 * @close: the object ends.
 */
struct work_ops {
	int (*begin)(struct bucket *b);
	int (*end)(struct bucket *b);
	void (*put_back)(struct message *m);
	int (*open)(struct message *m, const struct message_args *a);
	void (*shut)(struct message *m);
	const char *(*error)(const struct trib_compress *c);
	int (*room)(struct message *m);
	void (*room_free)(struct trib_compress *c, struct tensor *x);
	int (*residual_new)(struct trib_compress *c, size_t count, float **out);
	void (*residual_free)(struct trib_compress *c, float *residual);
	int (*residual_get)(struct trib_compress *c, float *to, const float *residual,
			    size_t count);
	int (*residual_put)(struct trib_compress *c, float *residual, const float *from,
			    size_t count);
	void (*enter)(struct trib_compress *c);
	void (*close)(struct trib_compress *c);
};

extern const struct work_ops work_host, work_device;

/* Find the GPU, and compute there. Return: 0, -ENODEV, -ENOMEM, -EIO: see @c->why. */
int device_open(struct trib_compress *c, const char *library);
/* NULL, or what is wrong with the buffer of a call. */
const char *device_wrong(const struct trib_compress *c, const struct trib_buffer *b);

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

/* Wake the codec thread. Any thread. */
void bell_ring(struct trib_compress *c);
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
 * @bell, @bell_cond, @rung: wake the codec thread: a request is done, a message
 *          issued, work landed.
 * @work:   the CPU's, or the GPU's.
 * @device: the GPU; NULL: none.
 * @why:    the GPU's first error; under @bell while the codec thread runs.
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
	pthread_mutex_t bell;
	pthread_cond_t bell_cond;
	bool rung;
	const struct work_ops *work;
	struct device *device;
	char why[200];
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
