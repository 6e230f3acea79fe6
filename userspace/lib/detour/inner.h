/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detours from inside: detour.c connects them with the handle, change.c leaves a relay, sums.c
 * carries chunks, back.c goes back, say.c speaks to other ranks. Messages are little-endian; the mesh has authenticated them.
 */
#ifndef TRIB_LIB_DETOUR_INNER_H
#define TRIB_LIB_DETOUR_INNER_H

#include "detour.h"
#include "mesh.h"
#include "owner.h"

#define DETOUR_JOIN (500 * TRIB_MS) /* between two JOINs on a detour */
#define DETOUR_LOOK (20 * TRIB_MS)  /* between two looks whether the relay has answered */

/* Messages, and what is behind their head. */
enum detour_say {
	DETOUR_LEFT = 1,   /* chunk: una. Bitmap of results from there on, W bits */
	DETOUR_GRAD = 2,   /* chunk. Packet: header and values */
	DETOUR_RESULT = 3, /* the same */
	DETOUR_JOINED = 4, /* value: epoch */
	DETOUR_NEXT = 5,   /* value: epoch. chunk: the next one that will be sent */
};

/**
 * struct detour_head - begins each message
 * @say:  enum detour_say.
 * @tree: its index, which is the same on all ranks: trees are in the order of the place.
 * @generation: how often the tree has lost its relay; 0 for packets, which need none.
 */
struct detour_head {
	uint8_t say;
	uint8_t rsvd;
	uint16_t tree;
	uint32_t generation;
	uint64_t chunk;
	uint32_t value;
	uint32_t rsvd2;
};

/**
 * struct detour_peer - what is known of a rank, in this generation
 * @known: @una and @held came: results that it had when it left.
 * @joined: epoch that runs for it; @next_epoch: in which its next chunk is @next. 0: none.
 */
struct detour_peer {
	bool known;
	uint64_t una;
	uint64_t *held;
	uint32_t joined;
	uint32_t next_epoch;
	uint64_t next;
};

/**
 * struct detour_tree - one tree
 * @peer:  of each rank, this one included; NULL: the relay has never died.
 * @nonce: of JOINs in this generation; @join_ns: time of the next one.
 * @mine:  newest epoch that runs for this rank; @told: in which it has told its next chunk.
 * @held:  it sends none from @hold on.
 * @due:   list of sums that this rank made and has to take.
 */
struct detour_tree {
	struct trib_detours *d;
	struct trib_stream *s;
	uint32_t generation;
	struct detour_peer *peer;
	struct trib_owner owner;
	uint64_t nonce;
	uint64_t join_ns;
	uint32_t mine;
	uint32_t told;
	bool held;
	uint64_t hold;
	struct trib_sum_place *due;
};

/**
 * struct trib_detours - a handle's
 * @epochs: see trib_detours_start().
 * @host:  its callbacks for the engine; @was: those of before.
 * @guest: hears of the engine's death.
 * @heard: the engine died because of another rank.
 * @news:  the engine has something to do. @finished: requests are done, and who waits for them
 *         does not know.
 */
struct trib_detours {
	struct trib *t;
	struct trib_mesh mesh;
	void (*epochs)(struct trib *t);
	const struct trib_host_ops *was;
	struct trib_host_ops host;
	struct trib_guest guest;
	bool heard;
	bool news;
	bool finished;
	struct detour_tree tree[TRIB_ATTACH_TREES];
};

static inline bool detour_is_away(const struct detour_tree *e)
{
	return e->s->detour.state != TRIB_DETOUR_NONE;
}

/* say.c: say to one rank, or to all others; a failure ends the engine. */
struct boot_body *detour_body(const struct detour_tree *e, enum detour_say say, uint64_t chunk,
			      uint32_t value, const void *more, unsigned int len);
void detour_say(struct detour_tree *e, unsigned int rank, struct boot_body *body);
void detour_say_all(struct detour_tree *e, struct boot_body *body);
/* The engine ends: rank @rank said what it must not. */
void detour_garbage(struct trib_detours *d, int rank, const char *what);

/* change.c */
int detour_change_init(struct detour_tree *e);
void detour_change_free(struct detour_tree *e);
/* Leave the relay, and tell all. */
void detour_leave(struct detour_tree *e, uint32_t generation);
int detour_rx_left(struct detour_tree *e, unsigned int rank, const struct detour_head *h,
		   const uint8_t *more, uint32_t len);

/* sums.c */
void detour_grad(struct detour_tree *e, uint64_t chunk, const struct trib_hdr *h, unsigned int len);
int detour_rx_grad(struct detour_tree *e, unsigned int rank, uint64_t chunk, const uint8_t *pkt,
		   uint32_t len);
int detour_rx_result(struct detour_tree *e, uint64_t chunk, const uint8_t *pkt, uint32_t len);
/* Send a result that rank @rank lacks. */
void detour_give(struct detour_tree *e, unsigned int rank, uint64_t chunk);
/* Take the sums that this rank made. */
void detour_take_due(struct detour_tree *e);

/* back.c */
int detour_rx_joined(struct detour_tree *e, unsigned int rank, const struct detour_head *h);
int detour_rx_next(struct detour_tree *e, unsigned int rank, const struct detour_head *h);
/* Try to go back. */
void detour_back(struct detour_tree *e);

#endif /* TRIB_LIB_DETOUR_INNER_H */
