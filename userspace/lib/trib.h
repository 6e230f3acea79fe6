/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtrib: collectives whose sums are computed inside the network.
 *
 *	struct trib *t;
 *
 *	if (trib_attach(&t, NULL))		// job from $TRIB_JOB
 *		errx(1, "%s", trib_error_text(NULL));
 *	if (trib_allreduce(t, grad, grad, n, TRIB_F32, TRIB_SUM))
 *		errx(1, "%s", trib_error_text(t));
 *	trib_detach(t);
 *
 * Rules that hold for everything below:
 *
 * - Functions return 0 or a negative errno; trib_error() tells more. Nothing
 *   here prints, exits, aborts or installs signal handlers.
 * - Every rank of the job must issue the same collectives with the same
 *   arguments in the same order. Waiting for them may happen in any order.
 * - A handle may be used by several threads; what "same order" means is then
 *   for the caller to arrange. One thread of libtrib's own runs per handle.
 * - Sums of floats are block floating point: bit-identical on all ranks and
 *   for every order of arrival. With n ranks, and A the largest magnitude any
 *   rank put into the chunk (the 352 or 832 values that travel together), the
 *   error is at most n * 2^(ceil(log2 n) - 30) * A + half an ulp of the
 *   result.
 * - After an error other than -EINVAL, -EBUSY and -ENOMEM at issue, and -EDOM
 *   (which all ranks get alike), the handle is dead: detach, and attach again
 *   if the job is to go on.
 */
#ifndef TRIB_H
#define TRIB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRIB_VERSION_MAJOR 0
#define TRIB_VERSION_MINOR 1
#define TRIB_VERSION_PATCH 0

struct trib;	 /* one rank's membership in one job */
struct trib_req; /* one collective under way */

enum trib_dtype {
	TRIB_F32 = 0,
	TRIB_I32 = 1,
};

/**
 * enum trib_op - how ranks' values combine
 * @TRIB_SUM: sum. I32 wraps modulo 2^32.
 * @TRIB_AVG: sum divided by the number of ranks; F32 only.
 * @TRIB_MAX: largest. F32: exact; infinities are values, NaN is an error.
 * @TRIB_MIN: smallest; likewise.
 */
enum trib_op {
	TRIB_SUM = 0,
	TRIB_AVG = 1,
	TRIB_MAX = 2,
	TRIB_MIN = 3,
};

/**
 * enum trib_transport - how packets and results move
 * @TRIB_TRANSPORT_AUTO: mapped if tribd offers it, else UDP.
 * @TRIB_TRANSPORT_UDP:  plain sockets, no privileges, no tribd needed here.
 * @TRIB_TRANSPORT_XDP:  results are written by XDP into memory this process
 *                       maps; needs tribd on this host.
 */
enum trib_transport {
	TRIB_TRANSPORT_AUTO = 0,
	TRIB_TRANSPORT_UDP = 1,
	TRIB_TRANSPORT_XDP = 2,
};

/**
 * struct trib_options - for trib_attach(); set @size, zero means default
 * @size:    sizeof(struct trib_options).
 * @job:     job name (asks this host's tribd), or a ticket "trib://...".
 *           Default: the environment's TRIB_JOB.
 * @rank:    wanted rank + 1. Default: TRIB_RANK, else RANK, else any.
 * @transport: enum trib_transport. Default: TRIB_TRANSPORT (auto, udp, xdp).
 * @join_timeout_ms: how long to wait for the other ranks. Default: 60000,
 *           or TRIB_JOIN_TIMEOUT_MS.
 * @timeout_ms: silence of a rank after which collectives fail with
 *           TRIB_ERR_DEAD. Default: the job's (5000), or TRIB_TIMEOUT_MS.
 * @spin_us: how long a wait may poll before it blocks. Default: 0.
 */
struct trib_options {
	size_t size;
	const char *job;
	unsigned int rank;
	unsigned int transport;
	unsigned int join_timeout_ms;
	unsigned int timeout_ms;
	unsigned int spin_us;
};

/**
 * trib_attach() - join a job and wait until all ranks have
 * @out:  the handle, on success.
 * @opts: options, or NULL.
 *
 * Return: 0, or -ETIMEDOUT (the error text names the ranks that are missing),
 * -ENOENT (no such job, no tribd), -EACCES (not the job's owner), -EBUSY (rank
 * taken), -EMSGSIZE (path MTU too small for the job), -EINVAL, -ENOMEM, ...
 */
int trib_attach(struct trib **out, const struct trib_options *opts);

/**
 * trib_detach() - leave the job
 *
 * Waits until the other ranks no longer need anything from this one (they
 * detach too, or one time-out passes), completes outstanding requests with
 * -ECANCELED, and frees the handle. NULL is allowed.
 */
int trib_detach(struct trib *t);

int trib_rank(const struct trib *t);
int trib_world(const struct trib *t);

/**
 * trib_trees() - how many aggregation trees the job has
 *
 * Large messages are spread over all of them. A BCube of n^k servers has
 * k * n^k.
 */
int trib_trees(const struct trib *t);

/**
 * trib_iallreduce() - combine @count elements of all ranks; all get the result
 * @src: this rank's elements; must stay unchanged until the request is done.
 * @dst: result; may be @src.
 * @req: the request; give it to trib_wait() or trib_test() exactly once.
 */
int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count,
		    enum trib_dtype dtype, enum trib_op op,
		    struct trib_req **req);

/**
 * trib_ireduce_scatter() - combine; rank r gets elements r*count .. + count
 * @src:   world * @count elements.
 * @dst:   @count elements.
 */
int trib_ireduce_scatter(struct trib *t, const void *src, void *dst,
			 size_t count, enum trib_dtype dtype, enum trib_op op,
			 struct trib_req **req);

/**
 * trib_iallgather() - everybody gets everybody's elements, unchanged to the bit
 * @src:   @count elements.
 * @dst:   world * @count elements, in order of rank.
 */
int trib_iallgather(struct trib *t, const void *src, void *dst, size_t count,
		    enum trib_dtype dtype, struct trib_req **req);

/**
 * trib_ibroadcast() - everybody gets @root's elements, unchanged to the bit
 * @buf: source on @root, destination elsewhere.
 */
int trib_ibroadcast(struct trib *t, void *buf, size_t count,
		    enum trib_dtype dtype, int root, struct trib_req **req);

/** trib_ibarrier() - done when all ranks have issued it */
int trib_ibarrier(struct trib *t, struct trib_req **req);

/**
 * trib_wait() - block until a request is done, and free it
 *
 * Return: its result: 0, -EDOM (TRIB_ERR_NONFINITE: an input was NaN or Inf),
 * -EHOSTDOWN (TRIB_ERR_DEAD and other ways to lose a rank), -ECANCELED, ...
 */
int trib_wait(struct trib_req *req);

/**
 * trib_test() - see whether a request is done, without blocking
 * @done: 1 if it was; it is then freed and its result returned.
 */
int trib_test(struct trib_req *req, int *done);

/* The same, blocking. */
int trib_allreduce(struct trib *t, const void *src, void *dst, size_t count,
		   enum trib_dtype dtype, enum trib_op op);
int trib_reduce_scatter(struct trib *t, const void *src, void *dst,
			size_t count, enum trib_dtype dtype, enum trib_op op);
int trib_allgather(struct trib *t, const void *src, void *dst, size_t count,
		   enum trib_dtype dtype);
int trib_broadcast(struct trib *t, void *buf, size_t count,
		   enum trib_dtype dtype, int root);
int trib_barrier(struct trib *t);

enum trib_error_code {
	TRIB_ERR_NONE = 0,
	TRIB_ERR_ARGUMENT = 1,	/* a bad argument; see text */
	TRIB_ERR_SYSTEM = 2,	/* a system call failed; see text */
	TRIB_ERR_NONFINITE = 3, /* @rank put NaN or Inf at @index */
	TRIB_ERR_DEAD = 4,	/* @rank gave no sign of life in time */
	TRIB_ERR_GONE = 5,	/* @rank ended or left */
	TRIB_ERR_REJOIN = 6,	/* @rank restarted */
	TRIB_ERR_RELAY = 7,	/* the relay does not answer */
	TRIB_ERR_MISSING = 8,	/* attach: @rank (and others) did not join */
	TRIB_ERR_REMOVED = 9,	/* the operator removed the job */
};

/**
 * struct trib_error - the handle's newest error
 * @code:  enum trib_error_code.
 * @err:   the negative errno that was returned.
 * @rank:  rank to blame, or -1.
 * @index: element of the message, or -1.
 * @text:  one line, no newline.
 */
struct trib_error {
	int code;
	int err;
	int rank;
	int64_t index;
	char text[256];
};

/** trib_error() - copy the newest error of @t, or of this thread's attach */
void trib_error(const struct trib *t, struct trib_error *out);

/** trib_error_text() - its text; valid until the thread's next call here */
const char *trib_error_text(const struct trib *t);

/**
 * struct trib_counters - what this rank did since it attached
 * @size: set by the caller: sizeof(struct trib_counters).
 */
struct trib_counters {
	size_t size;
	uint64_t chunks;	/* results received */
	uint64_t sent_packets;	/* data packets, resends included */
	uint64_t sent_bytes;	/* of them, with all headers from Ethernet on */
	uint64_t recv_packets;
	uint64_t recv_bytes;
	uint64_t resends;	/* by time-out */
	uint64_t fast_resends;	/* by gap */
	uint64_t needs;		/* NEEDs answered */
	uint64_t dups;		/* results that were there already */
	uint64_t bad_packets;	/* received and refused */
	uint64_t rtt_us;	/* smoothed */
	uint64_t rtt_min_us;
	uint64_t window;	/* chunks, now */
	uint64_t last_count;	/* chunks that waited for this rank */
	uint64_t waits;		/* times a thread blocked */
};

void trib_counters(const struct trib *t, struct trib_counters *out);

/** trib_transport_name() - "udp" or "xdp": what AUTO has chosen */
const char *trib_transport_name(const struct trib *t);

/** trib_version() - of the library that is linked, "0.1.0" */
const char *trib_version(void);

#ifdef __cplusplus
}
#endif
#endif /* TRIB_H */
