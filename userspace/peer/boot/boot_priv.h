/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bootstrap from inside. boot.c has what others call, join_root.c and join_rank.c
 * the meeting, loop.c the thread, swap.c the blobs, conn.c connections, wire.c secrets,
 * error.c errors.
 */
#ifndef PEER_BOOT_PRIV_H
#define PEER_BOOT_PRIV_H

#include <poll.h>
#include <pthread.h>

#include "peer/boot/boot.h"
#include "peer/boot/conn.h"

#define BOOT_PENDING_MAX 64	  /* connections that have not proved the key */
#define BOOT_HANDSHAKE_MS 5000	  /* for the proof */
#define BOOT_ALL_MAX (1ULL << 30) /* bytes of all blobs of a swap */

/* enum boot_swap_state - of this process's own swap */
enum boot_swap_state { BOOT_SWAP_IDLE, BOOT_SWAP_WANTED, BOOT_SWAP_AWAY, BOOT_SWAP_HERE };

/**
 * struct boot_gather - rank 0: blobs of the swap under way; the thread's
 * @number: of that swap; other ranks have only this.
 * @there: a byte a rank: its blob came. @blobs: of all ranks.
 * @since: when the first one came, in ms.
 */
struct boot_gather {
	uint32_t number;
	uint32_t have;
	uint64_t total;
	uint64_t since;
	uint8_t *there;
	struct boot_body **blobs;
};

/**
 * struct peer_boot - one rank
 * @conns: rank 0: of rank i + 1 each; else one: to rank 0. The thread's, once it runs.
 * @wake:  eventfd: there is something for the thread.
 * @lock:  guards all that follows it; @cond: something of it changed.
 * @closing: peer_boot_close() has begun. @leave: BYE is to be said. @stop: end now.
 * @told:  a fault to be told, by peer_boot_tell().
 * @faulted: this job has failed; @fault: why. @left: rank 0 has, in order.
 * @swaps: number of the swap that is next, or under way.
 */
struct peer_boot {
	struct peer_boot_conf conf;
	char address[ADDR_TEXT_MAX + 1];
	struct boot_conn *conns;
	uint32_t nconn;
	struct boot_gather gather;
	struct pollfd *fds;
	pthread_t thread;
	bool running;
	int wake;

	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool closing, leave, stop;
	bool told;
	struct trib_peer_error tell;
	bool faulted, left;
	struct trib_peer_error fault;
	enum boot_swap_state swap;
	uint32_t swaps;
	struct boot_body *swap_out;
	struct boot_body *swap_in;
};

/* error.c: errno of a code. */
int boot_code_errno(int code);
/* Read a FAULT or REFUSE. Return: 0 or -EPROTO. */
int boot_fault_parse(const struct boot_msg *m, uint32_t world, struct trib_peer_error *e);

/* join_root.c, join_rank.c: return when all are here. Return: 0, or -errno with @e. */
int boot_join_root(struct peer_boot *b, struct trib_peer_error *e);
int boot_join_rank(struct peer_boot *b, struct trib_peer_error *e);

/* loop.c: the thread. */
void *boot_loop(void *arg);
/* Note the first fault, tell the others and, unless it is its @own, the caller. */
void boot_fail(struct peer_boot *b, int code, int rank, const char *text, bool own);

/* swap.c, all the thread's. Return: 0, or -EPROTO: the message is garbage. */
int boot_gather_init(struct peer_boot *b);
void boot_gather_end(struct peer_boot *b);
/* Rank 0: the blob of a rank came. */
int boot_gather_add(struct peer_boot *b, uint32_t rank, const uint8_t *body, uint32_t len);
/* All blobs came from rank 0. */
int boot_swap_take(struct peer_boot *b, const uint8_t *body, uint32_t len);
/* The own blob is wanted by others. */
void boot_swap_start(struct peer_boot *b, struct boot_body *body);
/* Rank 0: ranks that keep the others waiting, or that have left, are a fault. */
void boot_gather_check(struct peer_boot *b, uint64_t now);

#endif /* PEER_BOOT_PRIV_H */
