/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A crew: the threads of one rank, one a lane, and the calls that they carry out.
 *
 *	issue -> queue of tasks ---> worker 0: walk of lane 0 ---\
 *	                        \--> worker 1: walk of lane 1 ----> last one out: finish,
 *	                             (own ports, own walk)         done list, eventfd
 *
 * Each worker takes the tasks in order; one lane may be a task ahead of another. A
 * worker owns its ports: no lock is held while data move. The crew's lock protects the
 * queue, the cache of plans and the verdict.
 *
 * Death: a worker whose port fails waits a moment for the bootstrap's word, which knows
 * better who ended, then gives its own. All workers close their ports, so that no peer
 * writes into the callers' memory any more, and the last one ends all calls.
 */
#ifndef PEER_CREW_H
#define PEER_CREW_H

#include <pthread.h>
#include <stdatomic.h>

#include "peer/boot/boot.h"
#include "exact.h"
#include "peer/peer.h"
#include "walk.h"

#define PEER_SHAPES_MAX 12

struct peer_crew;

/**
 * struct peer_crew_conf - for peer_crew_open()
 * @rank, @world: this process.
 * @shape: arrangements that calls may use, @nshape of them; they outlive the crew.
 * @nic:   by NIC number: name for &peer_port_conf.nic.
 * @provider: for &peer_port_conf.provider.
 * @shm_name: for &peer_port_conf.name.
 * @ops, @local: kinds of ports: of NICs, and of PEER_NIC_LOCAL.
 * @slot:  the largest chunk: &peer_port_conf.chunk. @slots, @direct: see walk.h and port.h.
 * @exact: sums and averages of f32 are exact (exact.h), in chunks of @nval values.
 */
struct peer_crew_conf {
	uint32_t rank, world;
	const struct peer_shape *shape;
	unsigned int nshape;
	const char *nic[PEER_NICS_MAX];
	const char *provider;
	const char *shm_name;
	const struct peer_port_ops *ops;
	const struct peer_port_ops *local;
	size_t slot;
	unsigned int slots;
	size_t direct;
	bool exact;
	uint32_t nval;
};

/* A call is done; must not call the crew. */
typedef void (*peer_told_fn)(void *arg, int status, int64_t detail);

/**
 * struct peer_task - a call in the queue
 * @then:  the task that is ready when this one is finished, or NULL.
 * @exact: this is one of the tasks of an exact sum; the last one frees it.
 * @masked: values of a sum that is not exact, the task's own; the sum, divided by
 *         @average if not NULL, goes to @result: @elements floats.
 * @ready: workers may start it.
 * @skip:  all ranks pass it without an exchange.
 * @waits: another task makes it ready, as its @then; else the first worker, which
 *         prepares it.
 * @silent: nobody collects it.
 * @told:  called in place of collecting it, with the crew's lock held; @told_arg for it.
 * @detail: of a failure: the report of -EDOM, 1 + the element of -ERANGE.
 * @left:  workers that have not passed it; those without a lane of it pass at once.
 * @own:   ... of @dst: where this rank's part of @work goes at the end: REDUCE_SCATTER.
 * @work:  memory of the task that the lanes reduce in, or NULL: @job.dst is the caller's.
 */
struct peer_task {
	struct peer_task *next;
	struct peer_task *then;
	struct peer_exact *exact;
	struct peer_masked *masked;
	trib_average_fn average;
	void *result;
	uint64_t elements;
	bool ready;
	bool skip;
	bool waits;
	bool silent;
	peer_told_fn told;
	void *told_arg;
	int64_t detail;
	struct peer_job job;
	struct peer_plan *plan;
	unsigned int shape;
	unsigned int left;
	void *cookie;
	int status;
	void *work;
	void *own;
	uint64_t own_at;
	uint64_t own_len;
};

/**
 * struct peer_worker - a thread, its ports and its walk
 * @nic:   by port: its NIC number.
 * @peers: by port: ranks at the other ends, ascending.
 * @link:  by shape: by edge of this lane.
 * @wake:  eventfd: a task came, or the end.
 * @next:  the task that it does next, or NULL; under the crew's lock.
 * @chunks, ...: counters, written by the thread.
 */
struct peer_worker {
	struct peer_crew *crew;
	unsigned int lane;
	pthread_t thread;
	bool runs;
	struct peer_port_use use[PEER_NICS_MAX + 1];
	uint8_t nic[PEER_NICS_MAX + 1];
	uint32_t *peers[PEER_NICS_MAX + 1];
	uint32_t npeer[PEER_NICS_MAX + 1];
	uint32_t nuse;
	struct peer_link *link[PEER_SHAPES_MAX];
	struct peer_walk walk;
	int wake;
	struct peer_task *next;
	struct peer_tally tally;
	_Atomic uint64_t waits;
};

/**
 * struct peer_crew - see above
 * @chunk: bytes that travel together, at most @conf.slot, which it is at first. The owner
 *         may change it while no call is under way, on all ranks alike.
 * @edge:  by shape.
 * @head, @tail: tasks that not all workers have passed; @done: those to collect.
 * @verdict: why the crew ended; .err 0: it has not.
 * @heard: signals that @verdict was set.
 * @end:   no more tasks: set with a verdict or by peer_crew_close(). @ended: called when
 *         it was set, with the lock held; NULL: none.
 * @alive: workers that have ports.
 */
struct peer_crew {
	struct peer_crew_conf conf;
	size_t chunk;
	struct peer_edge *edge[PEER_SHAPES_MAX];
	uint32_t nedge[PEER_SHAPES_MAX];
	struct peer_worker worker[PEER_LANES_MAX];
	unsigned int nworker;
	int done_fd;

	pthread_mutex_t lock;
	pthread_cond_t heard;
	struct peer_plans plans;
	struct peer_task *head;
	struct peer_task *tail;
	struct peer_task *done;
	struct peer_task *done_tail;
	struct trib_peer_error verdict;
	_Atomic bool end;
	unsigned int alive;
	void (*tell)(void *arg, int rank, const char *text);
	void *tell_arg;
	void (*ended)(void *arg);
	void *ended_arg;
	uint64_t calls;
};

/* --- crew.c: life of a crew, and the queue */

/**
 * peer_crew_open() - make workers and their ports; nothing is connected
 * Return: 0, or a negative errno with @error.
 */
int peer_crew_open(struct peer_crew **out, const struct peer_crew_conf *conf,
		   struct trib_peer_error *error);

/** peer_crew_start() - start the threads, after peer_crew_connect() */
int peer_crew_start(struct peer_crew *c, struct trib_peer_error *error);

/**
 * peer_crew_issue() - queue a call by shape number @shape
 * Return: 0, -ENOMEM, or the verdict's errno.
 */
int peer_crew_issue(struct peer_crew *c, const struct trib_peer_call *call, unsigned int shape,
		    void *cookie);
/** peer_crew_issue_told() - the same; @told is called when it is done, nobody collects it */
int peer_crew_issue_told(struct peer_crew *c, const struct trib_peer_call *call, unsigned int shape,
			 peer_told_fn told, void *arg);

/**
 * peer_crew_token() - a call that the crew does not carry out, but collect() shall return
 * Return: what peer_crew_finish() takes, or peer_task_free(); NULL: no memory.
 */
struct peer_task *peer_crew_token(void *cookie);
void peer_crew_finish(struct peer_crew *c, struct peer_task *token, int status, int64_t detail);
bool peer_crew_collect(struct peer_crew *c, struct trib_peer_done *done);
void peer_crew_count(struct peer_crew *c, struct trib_peer_counters *out);

/**
 * peer_crew_end() - end the crew with a verdict, if it has none yet
 * Any thread. Does not wait.
 */
void peer_crew_end(struct peer_crew *c, int code, int err, int rank, const char *text);

/**
 * peer_crew_fail() - a port failed: end the crew, and tell the other ranks
 * Waits a moment for the bootstrap's word, which may know better who ended.
 */
void peer_crew_fail(struct peer_crew *c, const struct peer_fault *f);

/** peer_crew_next() - the task that a worker can start now, or NULL */
struct peer_task *peer_crew_next(struct peer_crew *c, struct peer_worker *w);
/** peer_crew_passed() - a worker is done with a task; the last one finishes it */
void peer_crew_passed(struct peer_crew *c, struct peer_task *t);
/** peer_crew_give_up() - end all tasks with the verdict; the lock is held, no worker has ports */
void peer_crew_give_up(struct peer_crew *c);

/** peer_crew_stop() - end the threads, close the ports, give up what is under way */
void peer_crew_stop(struct peer_crew *c);

/** peer_crew_close() - peer_crew_stop(), and free all */
void peer_crew_close(struct peer_crew *c);

/* --- task.c: calls become tasks, and tasks end */

/* Return: a task, or NULL with *@err. The lock is held. */
struct peer_task *peer_task_make(struct peer_crew *c, const struct trib_peer_call *call,
				 unsigned int shape, void *cookie, int *err);
/**
 * peer_task_prepare() - find the exponents of an exact sum, or put masked values in order
 * By the first worker, before any starts the task; without the lock.
 */
void peer_task_prepare(struct peer_task *t);
/* All lanes are done: put the result where the caller wants it; prepare @t->then. */
void peer_task_finish(struct peer_task *t);
void peer_task_free(struct peer_task *t);

/* --- connect.c: ports of all workers */

/** peer_crew_ports() - open the ports that the edges of all shapes need */
int peer_crew_ports(struct peer_crew *c, struct trib_peer_error *error);
/**
 * peer_crew_blob() - what the other ranks must know of this rank's ports
 * Return: memory to free, or NULL.
 */
void *peer_crew_blob(struct peer_crew *c, size_t *len);
/**
 * peer_crew_connect() - connect all links
 * @blob, @len: by rank, as they came over the network.
 */
int peer_crew_connect(struct peer_crew *c, const void **blob, const size_t *len,
		      struct trib_peer_error *error);

/* --- worker.c */
void *peer_worker_main(void *worker);

#endif /* PEER_CREW_H */
