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
 * Rules for all functions:
 *
 * - They return 0 or a negative errno; trib_error() tells more. None prints,
 *   exits, aborts or installs signal handlers.
 * - Every rank of the job must issue the same collectives with the same
 *   arguments in the same order. It may wait for them in any order.
 * - Several threads may use a handle. They must then agree on that order. The
 *   library runs one thread of its own per handle.
 * - Sums of floats are block floating point: bit-identical on all ranks and
 *   for every order of arrival. With n ranks, and A the largest magnitude that
 *   any rank put into the chunk (the 352 or 832 values that travel together),
 *   the error is at most n * 2^(ceil(log2 n) - 30) * A + half an ulp of the
 *   result. NaN and Inf are errors as input (-EDOM). So is a sum beyond the
 *   largest fp32 (-ERANGE): all ranks get that error with the first such
 *   element, and all sums, infinity among them. An average never overflows.
 * - In a job of dtype f32, f16 or bf16 (trib_sum_format()), the kernel module
 *   of each relay adds floats, in fp32 and in the order of arrival. Each rank
 *   and each relay rounds f16 and bf16 to nearest even. All ranks get the same
 *   bits, but a repetition of the same sum may give others. NaN and Inf are
 *   values. A sum beyond the largest value of the format, on any relay, is
 *   infinity with status 0, as if an input had been infinite; so is the average
 *   made of it.
 * - Some errors leave the handle usable: -EINVAL, -EBUSY and -ENOMEM at issue,
 *   and -EDOM and -ERANGE, which all ranks get. After any other error it is
 *   dead: every call fails with that error again, and trib_error() has the cause
 *   that ended it. Requests that were done before keep their results. Call
 *   trib_detach(), then trib_attach() to continue the job.
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

/* Relays add F32 and I32; peers (TRIB_TRANSPORT_PEER) all. */
enum trib_dtype {
	TRIB_F32 = 0,
	TRIB_I32 = 1,
	TRIB_F16 = 2,
	TRIB_BF16 = 3,
	TRIB_F64 = 4,
};

/**
 * enum trib_op - how ranks' values combine
 * @TRIB_SUM: sum. I32 wraps modulo 2^32.
 * @TRIB_AVG: sum divided by the number of ranks; floats only.
 * @TRIB_MAX: largest. F32: exact; infinities are values, NaN is an error.
 * @TRIB_MIN: smallest; likewise.
 * @TRIB_PROD: product; by peers only.
 */
enum trib_op {
	TRIB_SUM = 0,
	TRIB_AVG = 1,
	TRIB_MAX = 2,
	TRIB_MIN = 3,
	TRIB_PROD = 4,
};

/**
 * enum trib_transport - how packets and results move
 * @TRIB_TRANSPORT_AUTO: mapped if tribd offers it, else UDP.
 * @TRIB_TRANSPORT_UDP:  plain sockets; needs no privilege and no tribd here.
 * @TRIB_TRANSPORT_XDP:  XDP writes results into memory that this process maps;
 *                       needs tribd on this host.
 * @TRIB_TRANSPORT_KERNEL: a collective socket. The kernel module trib.ko of
 *                       this host speaks the protocol and wakes this process
 *                       once a message. A message must fit into the memory of
 *                       a socket (module parameter mem_max, 256 MiB). XDP
 *                       delivers to the kernel if tribd offers it. AUTO
 *                       never chooses it.
 * @TRIB_TRANSPORT_PEER: ranks exchange among themselves, without relays, by libfabric:
 *                       RDMA where NICs can, TCP elsewhere. libtrib-peer(7) has the
 *                       environment that chooses NICs and algorithms. Sums of floats
 *                       are rounded at each addition, in an order that is the same each
 *                       time and on all ranks; NaN and Inf are values.
 */
enum trib_transport {
	TRIB_TRANSPORT_AUTO = 0,
	TRIB_TRANSPORT_UDP = 1,
	TRIB_TRANSPORT_XDP = 2,
	TRIB_TRANSPORT_KERNEL = 3,
	TRIB_TRANSPORT_PEER = 4,
};

/**
 * struct trib_options - for trib_attach(); set @size, zero means default
 * @size:    sizeof(struct trib_options).
 * @job:     name of a job, which this host's tribd knows, or a ticket
 *           "trib://...".
 *           Default: the environment's TRIB_JOB.
 * @rank:    wanted rank + 1. Default: TRIB_RANK, else RANK, else any.
 * @transport: enum trib_transport. Default: TRIB_TRANSPORT (auto, udp, xdp,
 *           kernel, peer).
 * @join_timeout_ms: longest wait for the other ranks. Default:
 *           TRIB_JOIN_TIMEOUT_MS, else 60000.
 * @timeout_ms: a rank that is silent for this long is dead: collectives fail
 *           with TRIB_ERR_DEAD. Default: TRIB_TIMEOUT_MS, else the job's (5000).
 *           With TRIB_DETOUR=1 on all ranks, and an address where ranks meet (TRIB_PEERS,
 *           or the job's peers): if a relay dies, ranks sum for it, by connections of
 *           their own, until it is back. Calls go on within 200 ms, with the same bits
 *           where sums travel as integers; see &trib_counters.detours.
 * @spin_us: longest time that a wait polls before it blocks, if recent waits gained by
 *           it and nobody else needed the CPU. Default: TRIB_SPIN_US, else 0.
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
 * trib_attach() - join a job, and wait until all ranks have joined
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
 * Wait until no other rank needs this one (all detach, or one time-out passes),
 * complete outstanding requests with -ECANCELED, and free the handle. @t may be
 * NULL.
 */
int trib_detach(struct trib *t);

int trib_rank(const struct trib *t);
int trib_world(const struct trib *t);

/** trib_number() - the job's number on the wire, 0 to 65535; unique in a cluster */
int trib_number(const struct trib *t);

/**
 * trib_trees() - number of aggregation trees of the job
 *
 * Large messages use all of them. A BCube of n^k servers has k * n^k.
 */
int trib_trees(const struct trib *t);

/**
 * trib_iallreduce() - combine @count elements of all ranks; all get the result
 * @src: this rank's elements; must stay unchanged until the request is done.
 * @dst: result; may be @src.
 * @req: the request. trib_wait() frees it, and so does trib_test() once it is
 *       done; each request must be freed exactly once.
 */
int trib_iallreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    enum trib_op op, struct trib_req **req);

/**
 * trib_ireduce_scatter() - combine; rank r gets @count elements from r * @count on
 * @src:   world * @count elements.
 * @dst:   @count elements.
 */
int trib_ireduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
			 enum trib_dtype dtype, enum trib_op op, struct trib_req **req);

/**
 * trib_iallgather() - give all ranks the elements of all, bit for bit
 * @src:   @count elements.
 * @dst:   world * @count elements, in order of rank.
 */
int trib_iallgather(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		    struct trib_req **req);

/**
 * trib_ibroadcast() - give all ranks the elements of @root, bit for bit
 * @buf: source on @root, destination elsewhere.
 */
int trib_ibroadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root,
		    struct trib_req **req);

enum trib_memory {
	TRIB_MEMORY_HOST = 0,
	TRIB_MEMORY_CUDA = 1, /* of an NVIDIA GPU, or managed */
};

/**
 * struct trib_buffer - values and where they are
 * @data:   aligned to their elements; 16 bytes are faster on a GPU.
 * @stream: cudaStream_t; NULL is the default stream. Ignored with TRIB_MEMORY_HOST.
 */
struct trib_buffer {
	void *data;
	enum trib_memory memory;
	void *stream;
};

/*
 * The same collectives of values in any memory; a GPU's by peers only. libtrib-peer(7)
 * says how they travel.
 *
 *	struct trib_buffer b = {.data = grad, .memory = TRIB_MEMORY_CUDA, .stream = stream};
 *
 *	trib_iallreduce_buffer(t, &b, &b, n, TRIB_BF16, TRIB_AVG, &req);
 *	...
 *	trib_wait(req);
 *
 * - All ranks use the same memory, src and dst alike, and of one GPU a handle, which
 *   is the one of the first such call.
 * - The call begins after the work that the streams of src and dst hold when it is
 *   made. When the request is done, dst is written, and work that is given to any
 *   stream from then on finds the result.
 * - The structs are read by the call, the data until the request is done.
 * - -EIO: the GPU failed; -ENODEV: no libtrib-gpu.so, or no GPU that can be used. Both end
 *   the handle.
 *
 * To sum the gradients of a job of relays, see trib_compress.h.
 */
int trib_iallreduce_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   enum trib_op op, struct trib_req **req);
int trib_ireduce_scatter_buffer(struct trib *t, const struct trib_buffer *src,
				const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
				enum trib_op op, struct trib_req **req);
int trib_iallgather_buffer(struct trib *t, const struct trib_buffer *src,
			   const struct trib_buffer *dst, size_t count, enum trib_dtype dtype,
			   struct trib_req **req);
int trib_ibroadcast_buffer(struct trib *t, const struct trib_buffer *buf, size_t count,
			   enum trib_dtype dtype, int root, struct trib_req **req);

/** trib_ibarrier() - complete when all ranks have issued it */
int trib_ibarrier(struct trib *t, struct trib_req **req);

/**
 * trib_wait() - block until a request is done, and free it
 *
 * Return: its result: 0, -EDOM (TRIB_ERR_NONFINITE: an input was NaN or Inf; the
 * result is undefined), -ERANGE (TRIB_ERR_OVERFLOW: the result has infinities),
 * -EHOSTDOWN (TRIB_ERR_DEAD and other ways to lose a rank), -ECANCELED, ...
 */
int trib_wait(struct trib_req *req);

/**
 * trib_test() - check whether a request is done, without blocking
 * @done: 1 if it is; then the request is freed and its result returned.
 */
int trib_test(struct trib_req *req, int *done);

/* The same collectives, blocking: each issues a request and waits for it. */
int trib_allreduce(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype,
		   enum trib_op op);
int trib_reduce_scatter(struct trib *t, const void *src, void *dst, size_t count,
			enum trib_dtype dtype, enum trib_op op);
int trib_allgather(struct trib *t, const void *src, void *dst, size_t count, enum trib_dtype dtype);
int trib_broadcast(struct trib *t, void *buf, size_t count, enum trib_dtype dtype, int root);
int trib_barrier(struct trib *t);

enum trib_error_code {
	TRIB_ERR_NONE = 0,
	TRIB_ERR_ARGUMENT = 1,	/* a bad argument; see text */
	TRIB_ERR_SYSTEM = 2,	/* a system call failed; see text */
	TRIB_ERR_NONFINITE = 3, /* @rank put NaN or Inf at @index */
	TRIB_ERR_DEAD = 4,	/* @rank gave no sign of life in time */
	TRIB_ERR_GONE = 5,	/* @rank ended or left */
	TRIB_ERR_REJOIN = 6,	/* @rank restarted */
	TRIB_ERR_RELAY = 7,	/* the relay does not answer, or not to @rank */
	TRIB_ERR_MISSING = 8,	/* attach: @rank (and others) did not join */
	TRIB_ERR_REMOVED = 9,	/* the operator removed the job */
	TRIB_ERR_OVERFLOW = 10, /* the sum at @index exceeds the largest fp32 */
};

/**
 * struct trib_error - error of the handle's newest call that failed
 * @code:  enum trib_error_code.
 * @err:   the negative errno that was returned.
 * @rank:  rank to blame, or -1.
 * @index: offending element of the message, or -1.
 * @text:  one line, no newline.
 */
struct trib_error {
	int code;
	int err;
	int rank;
	int64_t index;
	char text[256];
};

/**
 * trib_error() - copy the error of the newest call of @t that failed; NULL: of
 *                this thread's newest trib_attach() that failed
 */
void trib_error(const struct trib *t, struct trib_error *out);

/** trib_error_text() - the text of that error; valid until this thread's next call */
const char *trib_error_text(const struct trib *t);

/**
 * struct trib_counters - activity of this rank since it attached
 * @size: set by the caller: sizeof(struct trib_counters).
 */
struct trib_counters {
	size_t size;
	uint64_t chunks;       /* results received */
	uint64_t sent_packets; /* data packets, resends included */
	uint64_t sent_bytes;   /* of them, with all headers from Ethernet on */
	uint64_t recv_packets;
	uint64_t recv_bytes;
	uint64_t resends;      /* by time-out */
	uint64_t fast_resends; /* by gap */
	uint64_t needs;	       /* NEEDs answered */
	uint64_t dups;	       /* results that were there already */
	uint64_t bad_packets;  /* received and refused */
	uint64_t rtt_us;       /* smoothed */
	uint64_t rtt_min_us;
	uint64_t window;     /* chunks, now */
	uint64_t last_count; /* chunks that waited for this rank */
	uint64_t waits;	     /* times a thread blocked */
	uint64_t carried;    /* of sent_packets: those that the host's XDP program sent */
	uint64_t detours; /* relays that died: the ranks summed themselves, until they were back */
	uint64_t detour_chunks; /* of chunks: those that ranks summed */
};

void trib_counters(const struct trib *t, struct trib_counters *out);

/** trib_transport_name() - the transport in use: "udp", "xdp", "kernel" or "peer" */
const char *trib_transport_name(const struct trib *t);

/**
 * trib_describe() - one line on how collectives travel: trees, or algorithm and NICs
 * @buf: text, cut off at @room - 1 bytes; may become empty.
 */
void trib_describe(const struct trib *t, char *buf, size_t room);

/**
 * trib_sum_format() - the format in which sums of floats travel
 *
 * Return: "int": block floating point; or "f32", "f16", "bf16".
 */
const char *trib_sum_format(const struct trib *t);

/*
 * Parameter server
 *
 * The other way to train: a server (trib-ps) holds the model, distributes its
 * versions by name, and asks workers for gradients. There are no ranks, and no
 * worker waits for others to attach: a worker that accepts a task takes part,
 * and a dead one is left out after a lease.
 *
 *	struct trib_ps_options o = {.size = sizeof(o), .name = "/w0",
 *				    .forwarder = "10.0.0.1"};
 *	struct trib_ps_task task = {.size = sizeof(task)};
 *	struct trib_ps_version v = {.size = sizeof(v)};
 *	struct trib_ps *p;
 *
 *	if (trib_ps_open(&p, &o) || trib_ps_join(p, &task, -1))
 *		errx(1, "%s", trib_ps_error_text(NULL));
 *	...
 *	while (!trib_ps_model(p, model, task.count, &v, -1) && !v.last) {
 *		...
 *		trib_ps_gradient(p, v.version, grad, task.count);
 *	}
 *	trib_ps_close(p);
 *
 * The library runs one thread per handle: it answers the server and repairs
 * losses while the caller computes. Only one thread of the caller may use a
 * handle at a time. Functions return 0 or a negative errno, and
 * trib_ps_error_text() has a line about it. @timeout_ms is the longest wait of a
 * function that waits: -1 is for ever, 0 not at all. -ETIMEDOUT means that
 * nothing came; the call may be repeated.
 */
struct trib_ps; /* a worker, with a task or without */

/**
 * struct trib_ps_options - for trib_ps_open(); set @size, zero means default
 * @size:      sizeof(struct trib_ps_options).
 * @name:      this worker's name, as "/w0"; routes in the network lead here.
 *             Default: the environment's TRIB_PS_NAME.
 * @forwarder: the NDN forwarder, "ADDRESS" or "ADDRESS:PORT" (an IPv6 address
 *             with a port in brackets). Default: TRIB_PS_FORWARDER; port 6363.
 * @bind:      this end, "ADDRESS:PORT", as the forwarder's face has it.
 *             Default: TRIB_PS_BIND, else any address of this host, port 6363.
 * @job:       accept only tasks whose names begin with this, as "/ps/train".
 *             Default: TRIB_PS_JOB, else any.
 * @key:       file with the key that verifies the server's packets: hmac,
 *             ed25519 or ed25519-public (trib-ps(8) tells how to make them).
 *             Default: TRIB_PS_KEY, else none: anybody could send a model.
 * @own_key:   file with the key that signs this worker's packets. Default:
 *             TRIB_PS_OWN_KEY, else @key if that can sign.
 * @rto_ms:    time to the first repeat of a request, until the server tells the
 *             time to use in its network. Default: 100.
 * @insert, @distribute, @delete_: the markers of the network, if they are not
 *             these words.
 * @tree:      the aggregation job, as in &trib_options.job, of which this worker
 *             is a rank; for tasks whose gradients relays add up. Default:
 *             TRIB_JOB. TRIB_RANK counts, too.
 */
struct trib_ps_options {
	size_t size;
	const char *name;
	const char *forwarder;
	const char *bind;
	const char *job;
	const char *key;
	const char *own_key;
	unsigned int rto_ms;
	const char *insert;
	const char *distribute;
	const char *delete_;
	const char *tree;
};

/**
 * struct trib_ps_task - a task of a server; set @size
 * @size:  sizeof(struct trib_ps_task).
 * @job:   name of the job.
 * @count: floats of a model and of a gradient.
 * @async: each gradient makes a version; else a version has the gradients of
 *         all workers.
 */
struct trib_ps_task {
	size_t size;
	char job[1024];
	size_t count;
	int async;
};

/**
 * struct trib_ps_version - a version of the model; set @size
 * @size:    sizeof(struct trib_ps_version).
 * @version: its number, which grows, even when the server restarts.
 * @last:    training is over: no gradient is wanted any more.
 */
struct trib_ps_version {
	size_t size;
	uint64_t version;
	int last;
};

/**
 * trib_ps_open() - start a worker; it refuses tasks until trib_ps_join()
 *
 * Return: 0, -EINVAL (a bad name, address or key; the text says which),
 * -EADDRINUSE, -ENOMEM, ... After a failure, see trib_ps_error_text(NULL).
 */
int trib_ps_open(struct trib_ps **out, const struct trib_ps_options *opts);

/**
 * trib_ps_join() - wait for a task, take it, and subscribe to its model
 *
 * Return: 0; -ETIMEDOUT; -EBUSY: there is a task already; -ENOENT: relays add up
 * its gradients, but @tree names no aggregation job. The task is left then.
 */
int trib_ps_join(struct trib_ps *p, struct trib_ps_task *task, int timeout_ms);

/**
 * trib_ps_model() - wait for a model to train on, and copy it
 * @model: room for @count floats.
 * @count: that of the task.
 *
 * The model is the newest complete version; each is returned at most once. In a
 * synchronous task, gradients of older versions are worthless from then on. In
 * an asynchronous one, the call waits until the server asked for the last
 * gradient.
 *
 * Return: 0; -ETIMEDOUT; -ESHUTDOWN: the last version was returned before, or
 * this worker left; -EHOSTDOWN: the server was silent for several leases, and
 * the task is given up; -EINVAL.
 */
int trib_ps_model(struct trib_ps *p, float *model, size_t count, struct trib_ps_version *version,
		  int timeout_ms);

/**
 * trib_ps_gradient() - hand over the gradient of a version
 * @version: of the model that it was computed on.
 * @grad:    @count floats, which are copied.
 *
 * The call does not wait; the server will ask for the gradient once. Where
 * relays add up gradients, the call is a collective of all workers and the
 * server instead: the first one attaches, a lost rank makes it attach again, and
 * it returns when the sum is complete.
 *
 * Return: 0; -ESTALE: the version is outdated, continue with trib_ps_model();
 * -EDOM: NaN or infinity in @grad: the server got nothing and still waits, so
 * call again with another gradient, or leave; -ESHUTDOWN, -EHOSTDOWN, -EINVAL.
 * The server replaces sums beyond the largest fp32 by the largest.
 * Used as a collective, also errors of trib_attach() and trib_wait(), with their
 * texts, after which the same gradient may be handed over again; and -EPROTO:
 * the attached job is not the task's, and the task is left.
 */
int trib_ps_gradient(struct trib_ps *p, uint64_t version, const float *grad, size_t count);

/**
 * trib_ps_is_stale() - check whether a gradient of @version would be refused
 *
 * The check is cheap, so a long computation can make it now and then, and stop.
 */
int trib_ps_is_stale(struct trib_ps *p, uint64_t version);

/**
 * trib_ps_leave() - give up the task; the server continues without this worker
 *
 * Wait until the network has dropped the subscription, or six requests went
 * unanswered (leases end by themselves). trib_ps_join() may follow.
 */
int trib_ps_leave(struct trib_ps *p);

/**
 * trib_ps_fd() - a descriptor for poll()
 *
 * It is readable while the next trib_ps_join() or trib_ps_model() would not
 * wait. Only poll it. It lives as long as the handle.
 */
int trib_ps_fd(const struct trib_ps *p);

/** trib_ps_close() - leave, within a second, and free the handle; NULL is allowed */
void trib_ps_close(struct trib_ps *p);

/** trib_ps_error_text() - text of the newest error of @p; NULL: of this thread's open */
const char *trib_ps_error_text(const struct trib_ps *p);

/**
 * struct trib_ps_counters - activity of this worker since it was opened
 * @size: set by the caller: sizeof(struct trib_ps_counters).
 */
struct trib_ps_counters {
	size_t size;
	uint64_t sent_packets;
	uint64_t sent_bytes; /* of NDN packets, without UDP and below */
	uint64_t recv_packets;
	uint64_t recv_bytes;
	uint64_t versions;    /* put together */
	uint64_t skipped;     /* begun, and overtaken by a newer one */
	uint64_t gradients;   /* asked for */
	uint64_t segments;    /* of models, taken */
	uint64_t again;	      /* ... that were there already, or old */
	uint64_t fetches;     /* segments asked for */
	uint64_t probes;      /* times that silence made it ask */
	uint64_t offers;      /* accepted, repeats included */
	uint64_t busy;	      /* offers refused */
	uint64_t bad_packets; /* no NDN, or none of ours */
	uint64_t bad_signatures;
	uint64_t bad_content; /* signed well, and makes no sense */
	uint64_t rtt_us;      /* of questions, smoothed */
};

void trib_ps_counters(struct trib_ps *p, struct trib_ps_counters *out);

/** trib_version() - version of the library in use, as "0.1.0" */
const char *trib_version(void);

#ifdef __cplusplus
}
#endif
#endif /* TRIB_H */
