/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bootstrap: the ranks of a job find each other at rank 0's rendezvous address, swap
 * blobs of bytes, and from then on hear within a second when one of them has ended.
 *
 *	rank 0: listens at ADDR:PORT		rank r: connects, retries until the
 *	  |					  | time-out
 *	  |<------ HELLO rank, world, nonce ------|
 *	  |------- nonce, proof ----------------->|	both prove that they hold
 *	  |<------ proof -------------------------|	the job's key
 *	  |<------ blob; -----> all blobs --------|	peer_boot_swap(), any number
 *	  |<------ beats, FAULT rank text ------->|	a thread of its own
 *
 * A connection that ends without BYE is a rank that ended: rank 0 tells all others. If
 * rank 0 ends, all see it themselves. A host that is silent for the time-out is dead.
 * Every message carries an authenticator under keys of the connection, and a counter;
 * whoever has not the job's key learns nothing and changes nothing.
 */
#ifndef PEER_BOOT_H
#define PEER_BOOT_H

#include <stddef.h>
#include <stdint.h>

#include "peer/error.h"
#include "uapi/trib_auth.h"

struct peer_boot;

/* The largest blob of a rank; those of all are 1 GiB at most. */
#define PEER_BOOT_BLOB_MAX (1 << 20)

/**
 * struct peer_boot_conf - for peer_boot_open()
 * @rank, @world: this process.
 * @job:   number of the job: ranks of another one are refused.
 * @address: "ADDR:PORT" or "[ADDR6]:PORT" where rank 0 listens and the others connect.
 * @key:   of the job.
 * @join_timeout_ms: longest wait for ranks to come, and to swap.
 * @timeout_ms: silence after which a rank is dead.
 * @died:  called by the thread, once, when a rank ended, was silent or told a fault:
 *         @why is what peer_boot_fault() says, too. Not called for this process's own
 *         peer_boot_tell(), nor after peer_boot_close() has begun. It must not call
 *         peer_boot_close(). NULL: none.
 * @arg:   for @died.
 */
struct peer_boot_conf {
	uint32_t rank, world;
	uint32_t job;
	const char *address;
	struct trib_key key;
	unsigned int join_timeout_ms;
	unsigned int timeout_ms;
	void (*died)(void *arg, const struct trib_peer_error *why);
	void *arg;
};

/**
 * peer_boot_open() - meet the other ranks, and start the thread
 * Return: 0, or a negative errno with @error: -ETIMEDOUT names the ranks that are
 * missing, on all that came; -EACCES: rank 0 has another key; -EINVAL: rank 0 counts
 * other ranks, has another job, or has this rank already.
 */
int peer_boot_open(struct peer_boot **out, const struct peer_boot_conf *conf,
		   struct trib_peer_error *error);

/**
 * peer_boot_swap() - give all ranks the blobs of all; a collective
 * @all: room for world pointers, aligned to 8, which peer_boot_swap_free() frees.
 * @lens: room for world lengths.
 *
 * One thread at a time. Blobs of other ranks are as honest as those are.
 *
 * Return: 0, or a negative errno with @error: a rank ended, or did not swap in time.
 */
int peer_boot_swap(struct peer_boot *b, const void *blob, size_t len, const void **all,
		   size_t *lens, struct trib_peer_error *error);
void peer_boot_swap_free(const void **all);

/**
 * peer_boot_tell() - tell all that this job has failed
 * @rank: to blame, or -1. Any thread, before peer_boot_close(); does not block.
 */
void peer_boot_tell(struct peer_boot *b, int rank, const char *text);

/* Why the job has failed: what died() was told, with a code. Return: whether it has. */
int peer_boot_fault(struct peer_boot *b, struct trib_peer_error *error);

/**
 * peer_boot_close() - leave, and free
 * @orderly: say BYE and wait until all have, or @timeout_ms have passed; else the
 *           others hear that this rank has ended.
 */
void peer_boot_close(struct peer_boot *b, int orderly);

#endif /* PEER_BOOT_H */
