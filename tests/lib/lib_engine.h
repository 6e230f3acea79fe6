/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine without a network: a transport and a host that only take notes,
 * START by hand, and allocations that fail when told to (the linker wraps
 * calloc).
 */
#ifndef LIB_ENGINE_H
#define LIB_ENGINE_H

#include "engine/inner.h"

#define NVAL 352
#define WORLD 3
#define RANK 1
#define NONCE 0x100000007ULL
#define EPOCH 5

/**
 * struct notes - what an engine did since engine_init()
 * @sent: packets by type; @last of them.
 * @done: requests; @died: the engine. @wrong: either was not so.
 * @bytes: that it asked room for.
 */
struct notes {
	unsigned int sent[32];
	struct trib_hdr last;
	unsigned int done, died, wrong;
	size_t bytes;
};

extern struct notes note;
/* The host has no room for trees. */
extern bool refuse_room;
/* Calls of calloc() since fail(). */
extern unsigned int allocations;

/* The @nth allocation from now fails; 0: none does. */
void fail(unsigned int nth);
/* Did it? From here on none does. */
bool failed(void);

/* Rank RANK of WORLD, in trees 40 and up, of different weights. */
struct trib_attach_rep place(unsigned int trees);
int engine_init(struct trib_engine *eng, const struct trib_attach_rep *rep);
/* Joined and started. */
void engine_begin(struct trib_engine *eng, const struct trib_attach_rep *rep);
/* A packet to it, for tree @tree. */
struct trib_hdr header(unsigned int type, unsigned int tree);
/* START of tree @tree comes, padded to 48 values. */
void hear(struct trib_engine *eng, unsigned int tree, unsigned int state, uint64_t nonce,
	  unsigned int window);

/* One call of each kind; large ones are cut into parts for all trees. */
#define NCALL 9
extern const struct trib_call calls[NCALL];

#endif /* LIB_ENGINE_H */
