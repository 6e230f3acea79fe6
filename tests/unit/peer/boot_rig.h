/* SPDX-License-Identifier: BSD-2-Clause */
/* Ranks that meet over the loopback device: a thread each, or a process each. */
#ifndef BOOT_RIG_H
#define BOOT_RIG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "peer/boot/boot.h"

#define RIG_WORLD 8

/**
 * struct rank - one rank of a test
 * @conf:  may be changed between ranks_init() and the start.
 * @delay: ms before it opens.
 * @skip:  it never comes.
 * @deaths, @dead, @text: the last died().
 */
struct rank {
	struct peer_boot_conf conf;
	struct peer_boot *boot;
	struct trib_peer_error error;
	unsigned int delay;
	bool skip;
	int result;
	pthread_t thread;
	int (*work)(struct rank *r);
	atomic_int deaths;
	atomic_int dead;
	char text[256];
};

extern char rig_address[64];

/* A port of the loopback device that is free now. */
int rig_port(void);
/* Ranks 0 to @n - 1 of a new job at a new address. */
void ranks_init(struct rank *ranks, uint32_t n);
/* Open all of them, each in a thread, and run @work in it, if given. */
void ranks_run(struct rank *ranks, uint32_t n, int (*work)(struct rank *r));
/* Close those that are open, all at once. */
void ranks_close(struct rank *ranks, uint32_t n, bool orderly);
/* Wait for died(). Return: ms, or -1: not within @ms. */
int rank_wait_death(struct rank *r, unsigned int ms);
/* A TCP connection to rig_address. */
int rig_connect(void);

#endif /* BOOT_RIG_H */
