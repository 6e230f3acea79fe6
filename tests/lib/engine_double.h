/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engine between doubles: a transport and a host that only record calls, a
 * START that the test sends, and allocations that fail on request (the linker
 * wraps calloc).
 */
#ifndef ENGINE_DOUBLE_H
#define ENGINE_DOUBLE_H

#include "engine/inner.h"

#define NVAL 352
#define WORLD 3
#define RANK 1
#define NONCE 0x100000007ULL
#define EPOCH 5

/**
 * struct notes - calls that an engine made since engine_init()
 * @sent: packets by type; @last of them.
 * @done: completed requests; @died: the engine died. @wrong: a status differed.
 * @bytes: memory that it asked for.
 */
struct notes {
	unsigned int sent[32];
	struct trib_hdr last;
	unsigned int done, died, wrong;
	size_t bytes;
};

extern struct notes note;
/* If set, the host has no room for trees. */
extern bool refuse_room;
/* Return: the number of calls of calloc() since fail(). */
extern unsigned int allocations;

/* Let the @nth allocation from now fail; 0: none. */
void fail(unsigned int nth);
/* Return: whether it failed; from here on none fails. */
bool failed(void);

/* Make rank RANK of WORLD, in trees from 40 on, of different weights. */
struct trib_attach_rep place(unsigned int trees);
int engine_init(struct trib_engine *eng, const struct trib_attach_rep *rep);
/* Let it join, and start it. */
void engine_begin(struct trib_engine *eng, const struct trib_attach_rep *rep);
/* Deliver a packet of tree @tree to it. */
struct trib_hdr header(unsigned int type, unsigned int tree);
/* Deliver START of tree @tree, as long as a JOIN of @room values, or of NVAL. */
void hear_short(struct trib_engine *eng, unsigned int tree, unsigned int state, unsigned int room);
void hear(struct trib_engine *eng, unsigned int tree, unsigned int state, uint64_t nonce,
	  unsigned int window);

/* Issue one call of each kind; large ones are cut into parts for all trees. */
#define NCALL 9
extern const struct trib_call calls[NCALL];

#endif /* ENGINE_DOUBLE_H */
