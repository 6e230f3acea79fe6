/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who speaks the job's protocol for a handle: the engine in this process, over
 * a transport of packets (transport.h), or somebody who does windows and
 * repetitions by itself, and is given whole messages.
 *
 *	attach.c, call.c, trib.c, progress.c	API, waiting, who drives
 *		|
 *	struct trib_way
 *		|			     |
 *	by_engine.c			ksock.c
 *	engine, udp.c | xdp.c		a collective socket of the kernel
 *
 * In either case callers hold the engine's struct trib_req, errors and the end
 * of a handle are the engine's (trib_fault(), trib_die_rank()), and so is the
 * list of requests. A way that is not the engine makes its requests with
 * trib_req_own(), completes them with trib_req_done(), and starts no stream.
 *
 * Everything runs with the handle's lock held, but open() and close(), which run
 * when nobody else has the handle. What waits gives the lock back meanwhile.
 */
#ifndef TRIB_LIB_WAY_H
#define TRIB_LIB_WAY_H

#include <poll.h>
#include <stdint.h>

struct trib;
struct trib_call;
struct trib_counters;
struct trib_req;

/* Descriptors that a way may ask to be polled. */
#define TRIB_POLLFDS_MAX (32 + 4)

/**
 * struct trib_way - see above
 * @name:  for trib_transport_name(); NULL: the transport's.
 *
 * @open:  t->place is filled in, the engine is there and has joined nothing.
 *         On failure set the error with trib_fail() and return it.
 * @pollfds: fill in descriptors to poll, at most TRIB_POLLFDS_MAX, and return
 *         how many. Called once, after open(). One that is to be polled no more
 *         becomes -1 in t->pfd.
 * @join:  wait until all ranks take part. Return: 0, or an errno that is set.
 * @issue: check the arguments; the collective is under way. Return: 0 with
 *         the request, or an errno that is set.
 * @turn:  take what has come, up to a batch, and do what is due. Return: how many
 *         packets or results that were; fewer than TRIB_TUNE_RECV_BATCH: there
 *         is no more for now.
 * @due:   when turn() must be called again at the latest; 0 = never.
 * @leave: no more requests; wait until nobody needs us, if all of ours are done,
 *         else cancel them and tell the others. Also if the handle is dead.
 * @count: fill in counters, but for waits.
 * @close: undo open() and join(), also after they failed.
 */
struct trib_way {
	const char *name;
	int (*open)(struct trib *t);
	int (*pollfds)(struct trib *t, struct pollfd *pfd);
	int (*join)(struct trib *t);
	int (*issue)(struct trib *t, const struct trib_call *call,
		     struct trib_req **out);
	int (*turn)(struct trib *t);
	uint64_t (*due)(const struct trib *t);
	void (*leave)(struct trib *t);
	void (*count)(struct trib *t, struct trib_counters *c);
	void (*close)(struct trib *t);
};

extern const struct trib_way trib_by_engine;
extern const struct trib_way trib_by_ksock;

#endif /* TRIB_LIB_WAY_H */
