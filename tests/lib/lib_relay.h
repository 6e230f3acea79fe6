/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A relay as a thread on the loopback device: relay_model.c behind a UDP
 * socket, with joining, for tests of libtrib with real sockets and threads.
 * Each test program has a network namespace of its own.
 */
#ifndef LIB_RELAY_H
#define LIB_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "relay_model.h"

#define LOOP_COOKIE "1122334455667788"

/**
 * struct loop_relay - one star
 * @world:  ranks, which are its children.
 * @window: W, @nval values per chunk, @timeout_ms of the job.
 * @loss:   of what comes and goes, 1/1000.
 * @trains: results leave as trains (UDP_SEGMENT), which arrive as such.
 * @mute:   takes nothing and says nothing.
 * @stale:  says START of an older JOIN, and of an epoch long gone, first.
 * @joined: children in the running or next epoch.
 * @left:   LEAVEs seen.
 * @results_up: results that came from workers.
 */
struct loop_relay {
	unsigned int world, window, nval, timeout_ms;
	unsigned int loss;
	bool trains;
	bool mute;
	bool stale;

	struct relay r;
	int fd;
	bool stop;
	pthread_t thread;
	pthread_mutex_t lock;
	uint64_t nonce[TRIB_CHILDREN_MAX];
	uint64_t joined;
	uint64_t left;
	uint64_t rng;
	unsigned long results_up, grads, alive;
	struct loop_train *train;
};

/* Go to a network namespace of our own; false: not possible here. */
bool loop_netns(void);
void loop_start(struct loop_relay *l);
void loop_stop(struct loop_relay *l);
/* Ask child @to for @chunk, as if nobody had contributed. */
void loop_need(struct loop_relay *l, unsigned int to, uint32_t chunk);
/* The ticket of a rank. */
const char *loop_ticket(const struct loop_relay *l, unsigned int rank, char *buf, size_t len);

#endif /* LIB_RELAY_H */
