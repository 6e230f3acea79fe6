/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A relay in a thread on the loopback device: relay_model.c behind a UDP
 * socket, with joining, for tests of libtrib with real sockets and threads.
 * Each test program has a network namespace of its own.
 */
#ifndef RELAY_THREAD_H
#define RELAY_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "relay_model.h"

/**
 * struct loop_relay - one star
 * @world:  ranks, which are its children.
 * @window: W, @nval values per chunk, @timeout_ms of the job.
 * @loss:   loss in both directions, 1/1000.
 * @trains: results leave as trains (UDP_SEGMENT), and arrive as such.
 * @mute:   ignores all packets and sends none.
 * @deaf:   bits of children that get nothing from it.
 * @stale:  first sends START for an older JOIN, and for an old epoch.
 * @joined: children in the running or next epoch.
 * @left:   number of LEAVEs.
 * @results_up: results that came from workers.
 */
struct loop_relay {
	unsigned int world, window, nval, timeout_ms;
	unsigned int loss;
	bool trains;
	bool mute;
	uint64_t deaf;
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

/* Enter a new network namespace. Return: false if that is not possible here. */
bool loop_netns(void);
void loop_start(struct loop_relay *l);
void loop_stop(struct loop_relay *l);
/* Send child @to a NEED for @chunk, as if no rank had contributed. */
void loop_need(struct loop_relay *l, unsigned int to, uint32_t chunk);
/* Write the ticket of a rank. */
const char *loop_ticket(const struct loop_relay *l, unsigned int rank, char *buf, size_t len);

#endif /* RELAY_THREAD_H */
