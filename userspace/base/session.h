/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joining: the state machine of one tree at one node. Children join, an epoch
 * begins, and ends. Pure: no sockets, no maps, no clock; input and output are
 * function calls. tribd and trib-ps connect it to packets.
 *
 *	          all children here             START(RUN) from the parent
 *	WAITING ---------------------> WAITING ----------------------------> RUNNING
 *	        root: straight to RUNNING, in the next epoch
 *	        inner: JOIN to the parent, with a nonce of this node's
 *
 * A running epoch ends when a child joins with a new nonce (the others get
 * ABORT(REJOIN)), when all children have left, when one that left is needed
 * (ABORT(GONE)), or with the tree. Nothing is allocated by a packet: all
 * state is per child.
 */
#ifndef TRIBD_SESSION_H
#define TRIBD_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/trib_auth.h"
#include "uapi/trib_wire.h"

#define SESSION_REPEAT_MS 200	      /* between JOINs to the parent */
#define SESSION_FRESH_MS 3000	      /* a waiting child repeats its JOIN sooner */
#define SESSION_ANSWER_MS 20	      /* least time between STARTs to, and changes of, a child */
#define SESSION_GONE_MS 500	      /* a chunk waits this long for one that left */
#define SESSION_WATCH_MS 125	      /* between looks for such a chunk */
#define SESSION_RETIRED 4	      /* nonces of a child that are remembered ... */
#define SESSION_LATE_MS 1000	      /* ... as long as a copy can be on its way */
#define SESSION_ABORTS 3	      /* times an ABORT is sent */
#define SESSION_EPOCH_MAX 0xffff0000u /* a JOIN with a larger epoch is refused */
#define SESSION_RANK_RELAY 0xffff
#define SESSION_UP (-1) /* in place of a child: the parent */

enum session_kind { SESSION_ROOT, SESSION_INNER, SESSION_LEAF };

/* A nonce that its child gave up, and when; 0: none. */
struct session_retired {
	uint64_t nonce;
	uint64_t since_ms;
};

/**
 * struct session_child - what is known of one child
 * @nonce:   of the JOIN by which it takes part or waits; 0: not here. It
 *           survives a restart of tribd, as the epoch and up_nonce do.
 * @known:   its newest nonce, here or not.
 * @retired: older ones: a JOIN with one of them was late on its way.
 * @nretired: next place in @retired.
 * @heard_ms: when it last sent a JOIN; 0: not since tribd started.
 * @answered_ms: when it was last sent a START.
 * @changed_ms: when @known last changed.
 * @len:     bytes of its JOIN: the answer is as long.
 * @rank:    as configured; SESSION_RANK_RELAY for a relay.
 * @blame:   the rank that is the reason, if it left.
 * @port:    UDP port that its JOIN came from.
 */
struct session_child {
	uint64_t nonce;
	uint64_t known;
	struct session_retired retired[SESSION_RETIRED];
	unsigned int nretired;
	uint64_t heard_ms;
	uint64_t answered_ms;
	uint64_t changed_ms;
	uint16_t len;
	uint16_t rank;
	uint16_t blame;
	uint16_t port;
};

/* The children that are missing, as in START(WAIT). */
struct session_view {
	uint64_t seen;
	uint16_t nchild;
	uint16_t rank[TRIB_CHILDREN_MAX];
};

/* An authentic JOIN or LEAVE. @rank: reason in a relay's LEAVE. @token: of a JOIN. */
struct session_join {
	uint64_t nonce;
	uint64_t token;
	uint32_t epoch;
	uint16_t len;
	uint16_t port;
	uint16_t rank;
};

/* A START from the parent. */
struct session_start {
	uint64_t nonce;
	uint64_t token;
	uint32_t epoch;
	uint16_t state;
	struct session_view view;
};

struct session;

/**
 * struct session_ops - output of the machine
 * @keep:  called before @epoch runs: make sure that a restart knows it, on disk.
 *         0, or -errno: nobody hears of @epoch. The machine asks again.
 * @save:  epoch, last_epoch, nonces or up_nonce changed: save them and tell the
 *         data plane before any later output is sent.
 * @start: send START to @child, with its nonce, port and length from @s.
 * @abort: send ABORT of @epoch to @child (or SESSION_UP).
 * @up:    send JOIN or LEAVE (@type) to the parent; LEAVE blames @rank.
 * @stuck: a chunk that has contributions, but none of a child in @missing, and
 *         waits for it; returns that child and sets @chunk, or -1.
 */
struct session_ops {
	int (*keep)(struct session *s, uint32_t epoch);
	void (*save)(struct session *s);
	void (*start)(struct session *s, unsigned int child, unsigned int state,
		      const struct session_view *view);
	void (*abort)(struct session *s, int child, uint32_t epoch, enum trib_abort why,
		      uint16_t rank);
	void (*up)(struct session *s, enum trib_type type, uint64_t nonce, uint16_t rank);
	int (*stuck)(struct session *s, uint64_t missing, uint32_t *chunk);
};

/* An ABORT under way: repeated, because nobody acknowledges it. */
struct session_abort {
	uint64_t to; /* children */
	uint64_t next_ms;
	uint32_t epoch;
	uint16_t rank;
	uint8_t why;
	uint8_t left; /* times still to send; 0: none under way */
	bool up;
};

/**
 * struct session - one tree at one node
 * @epoch:    running epoch, 0 = waiting.
 * @last_epoch: newest epoch known; the next one is larger.
 * @instance, @joins: parts of our nonces towards the parent, see trib_nonce().
 * @token:    what a JOIN must have; START tells it.
 * @seed:     random; @tokens: made from it so far.
 * @up_token: what the parent wants of our JOIN.
 * @up_nonce: of our JOIN to the parent; 0: none sent.
 * @up_ms:    when to repeat that JOIN.
 * @keep_ms:  when a root asks again whether its next epoch is on disk.
 * @up_view:  children that the parent waits for; nchild 0: not known yet.
 * @watch_ms: when to look for a chunk that waits for a child that left.
 * @stuck_since, @stuck_child, @stuck_chunk: the one found last; -1: none.
 */
struct session {
	const struct session_ops *ops;
	void *ctx;
	enum session_kind kind;
	uint32_t epoch;
	uint32_t last_epoch;
	uint32_t instance;
	uint32_t joins;
	uint64_t token;
	struct trib_key seed;
	uint32_t tokens;
	uint64_t up_token;
	uint64_t up_nonce;
	uint64_t up_ms;
	uint64_t keep_ms;
	struct session_view up_view;
	uint64_t watch_ms;
	uint64_t stuck_since;
	int stuck_child;
	uint32_t stuck_chunk;
	struct session_abort abort;
	unsigned int nchild;
	struct session_child child[TRIB_CHILDREN_MAX];
};

/* Random bits of a node. @instance: for its nonces. @seed: for its tokens. */
struct session_random {
	uint32_t instance;
	struct trib_key seed;
};

/**
 * session_init() - set up a node without joined children
 * @rank: of each child.
 * @random: another one after each start of tribd.
 *
 * Then the caller sets last_epoch. If a former tribd left an epoch running, it
 * also sets epoch, up_nonce, and nonce and known of each child. Nonces of
 * waiting children need not be kept: these repeat their JOINs. Without blame, a
 * relay that left before the restart is blamed itself.
 */
void session_init(struct session *s, const struct session_ops *ops, void *ctx,
		  enum session_kind kind, unsigned int nchild, const uint16_t *rank,
		  const struct session_random *random);

/*
 * In these three, @child < nchild. A JOIN has an effect only with the token that the
 * newest START had: a copy of an old one ends no epoch.
 */
void session_join(struct session *s, unsigned int child, const struct session_join *j,
		  uint64_t now_ms);
void session_leave(struct session *s, unsigned int child, const struct session_join *j,
		   uint64_t now_ms);
/* Send START with @state to @child; its JOIN is not taken. */
void session_answer(struct session *s, unsigned int child, const struct session_join *j,
		    unsigned int state, uint64_t now_ms);
/* From the parent. */
void session_start(struct session *s, const struct session_start *m, uint64_t now_ms);

/**
 * session_abort() - end the running epoch; @rank is the reason
 * @except: child not to tell, or -1.
 */
void session_abort(struct session *s, enum trib_abort why, uint16_t rank, int except,
		   uint64_t now_ms);

/**
 * session_leaf_epoch() - a rank of this host says that @epoch runs
 *
 * Return: 0; -ESTALE: the epoch is over, or not (yet) running here; or the
 * error of @keep.
 */
int session_leaf_epoch(struct session *s, uint32_t epoch);

/* The last rank of this host detached: nothing is delivered any more. */
void session_leaf_end(struct session *s);

/**
 * session_tick() - do what is due at @now_ms
 *
 * Return: milliseconds until the next call is needed; 0: none until something
 * else happens.
 */
uint32_t session_tick(struct session *s, uint64_t now_ms);

/* Children that are here (waiting, or taking part), as a bitmap. */
uint64_t session_seen(const struct session *s);

#endif /* TRIBD_SESSION_H */
