/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mesh: TCP connections between all ranks of a job, which lose nothing and keep their order.
 * It knows nothing of trees. Messages are authentic and have a number, as those of the bootstrap
 * (peer/boot), which brings the ranks together first.
 *
 * A thread of its own receives, so that a rank answers while its caller computes. It holds the
 * lock of its user whenever it does not wait. All functions but meet() and close() need it, too.
 */
#ifndef TRIB_LIB_MESH_H
#define TRIB_LIB_MESH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "peer/boot/conn.h"
#include "peer/error.h"

/* The largest message: a state, or a packet and what precedes it. */
#define TRIB_MESH_BODY_MAX 8192
/* A rank has so many connections at most; larger jobs have no mesh. */
#define TRIB_MESH_WORLD_MAX 256

/**
 * struct trib_mesh_conf - for trib_mesh_meet()
 * @address: where rank 0 listens for the bootstrap.
 * @timeout_ms: silence after which a rank is dead, while trib_mesh_beat().
 * @take:  a message came. Return: 0, or -EPROTO if no honest rank says that.
 * @turn:  after messages, and when its time has come: do what is due. Return: CLOCK_MONOTONIC
 *         ns of the next turn at the latest; 0: none.
 * @lost:  a rank ended, is silent, or told of a fault. The mesh goes on.
 */
struct trib_mesh_conf {
	uint32_t rank, world, job;
	const char *address;
	struct trib_key key;
	unsigned int join_timeout_ms, timeout_ms;
	pthread_mutex_t *lock;
	int (*take)(void *arg, unsigned int rank, const uint8_t *body, uint32_t len);
	uint64_t (*turn)(void *arg);
	void (*lost)(void *arg, const struct trib_peer_error *why);
	void *arg;
};

/**
 * struct trib_mesh - a rank's connections
 * @conn: of each rank; the own one has none.
 * @beats: ranks tell each other that they live.
 * @dirty: messages wait to be sent, and the thread knows.
 * @closing, @orderly: trib_mesh_close() has begun.
 */
struct trib_mesh {
	struct trib_mesh_conf conf;
	struct boot_conn *conn;
	struct pollfd *fds;
	int wake;
	pthread_t thread;
	bool running;
	bool beats;
	bool dirty;
	bool closing;
	bool orderly;
	uint64_t beat_ms;
	uint64_t end_ms;
};

/**
 * trib_mesh_meet() - connect to all ranks; a collective
 * Return: 0, or -errno with @e. Call trib_mesh_close() in any case.
 */
int trib_mesh_meet(struct trib_mesh *m, const struct trib_mesh_conf *conf,
		   struct trib_peer_error *e);
/** trib_mesh_start() - start the thread. Return: 0 or -errno */
int trib_mesh_start(struct trib_mesh *m);
/** trib_mesh_say() - queue a message for another rank. Return: 0 or -errno */
int trib_mesh_say(struct trib_mesh *m, unsigned int rank, struct boot_body *body);
/** trib_mesh_fault() - tell all why this rank cannot go on */
void trib_mesh_fault(struct trib_mesh *m, int code, int rank, const char *text);
/** trib_mesh_beat() - begin or cease to watch for silent ranks */
void trib_mesh_beat(struct trib_mesh *m, bool on);
/** trib_mesh_wake() - let the thread take a turn */
void trib_mesh_wake(struct trib_mesh *m);
/**
 * trib_mesh_close() - end the thread, and all connections; without the lock
 * @orderly: wait until the other ranks close, too, at most the time-out; until then the
 *           thread answers them. Else they hear that this rank has ended.
 */
void trib_mesh_close(struct trib_mesh *m, bool orderly);

#endif /* TRIB_LIB_MESH_H */
