/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trib-ps: the parameter server of jobs on shared pools. It completes the sums
 * that relays could not. README.md has the picture.
 *
 * Everything declared here is pure: no sockets, no files, no clock. Packets
 * come in by ps_rx(), time by its argument, and packets leave by
 * struct ps_ops. net.c and main.c connect these to the world.
 */
#ifndef TRIB_PS_H
#define TRIB_PS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "uapi/trib.h"
#include "uapi/trib_auth.h"
#include "uapi/trib_wire.h"

#define PS_TREES_MAX 256
#define PS_GROUP_MAX TRIB_WORLD_MAX /* faces that a RESULT goes to */
#define PS_WINDOW_MAX 16384
#define PS_EPOCH_MAX 0xffff0001u /* packets that name a newer one are refused */
#define PS_PACKET_MAX (sizeof(struct trib_hdr) + 8 * TRIB_BMWORDS_MAX + 4 * TRIB_NVAL_LARGE)

#define PS_NEED_PACE_MS 10  /* others are asked for a chunk once in this */
#define PS_NEED_ASKS_MAX 10 /* 2^10 of them are all */
#define PS_LEASE_MS 700	    /* a PROBE's: three can be lost */
#define PS_ALIVE_PACE_MS 20 /* one ALIVE of a rank is passed on in this */
#define PS_ABORT_PACE_MS 1000
#define PS_ABORT_BURST 16    /* ABORTs of a tree passed on in that time */
#define PS_NAME_PACE_MS 1000 /* how often wrong shapes are logged */

/**
 * struct ps_addr - where packets come from and go to
 * @ip:    IPv4 as ::ffff:a.b.c.d.
 * @local: of the relay on this very host: by way of TRIB_LOCAL_PEER.
 */
struct ps_addr {
	struct in6_addr ip;
	uint16_t port;
	bool local;
};

/* Why a packet was dropped. Numbers are not reused. */
enum ps_drop {
	PS_DROP_SHORT = 0,    /* no room for a header */
	PS_DROP_VERSION = 1,  /* another version of the format */
	PS_DROP_LENGTH = 2,   /* length, bitmap and values do not agree */
	PS_DROP_TYPE = 3,     /* nothing that a PS gets */
	PS_DROP_TREE = 4,     /* no such job or tree here */
	PS_DROP_AUTH = 5,     /* forged: wrong secret or authenticator */
	PS_DROP_RANK = 6,     /* no rank of this job */
	PS_DROP_BITMAP = 7,   /* nobody, or ranks that the job has not */
	PS_DROP_FORMAT = 8,   /* op, format or length that no sum has */
	PS_DROP_EPOCH = 9,    /* an older one, or none */
	PS_DROP_STALE = 10,   /* a chunk older than its place's */
	PS_DROP_SHAPE = 11,   /* not the shape of what is there */
	PS_DROP_OVERLAP = 12, /* some of its workers are there, others are not */
	PS_DROP_KNOWN = 13,   /* all of them are */
	PS_DROP_DONE = 14,    /* a copy for a finished chunk */
	PS_DROP_PACE = 15,    /* ALIVE or ABORT: too many of them */
	PS_DROP_SOURCE = 16,  /* JOIN or LEAVE from a wrong address */
	PS_DROP_JOIN = 17,    /* JOIN or LEAVE that is none, or of another rank */
	PS_DROP_REPLAY = 18,  /* copy of an old NEED, PROBE, ALIVE or ABORT */
	PS_DROP_MASK = 19,    /* mask with a wrong number of bits */
	PS_DROP__MAX = 20,
};

/* Counters of work done. */
enum ps_count {
	PS_COUNT_GRAD = 0,     /* GRADs added */
	PS_COUNT_PARTIAL = 1,  /* of them, of more than one worker */
	PS_COUNT_SUPERSET = 2, /* GRADs that took the place of what was there */
	PS_COUNT_DONE = 3,     /* chunks finished by sums */
	PS_COUNT_TAKEN = 4,    /* chunks finished by a worker's RESULT */
	PS_COUNT_ANSWER = 5,   /* RESULTs to one worker */
	PS_COUNT_ASK = 6,      /* ASKs of workers */
	PS_COUNT_NEED = 7,     /* NEEDs to workers */
	PS_COUNT_PROBE = 8,    /* PROBEs answered */
	PS_COUNT_ALIVE = 9,    /* ALIVEs passed on */
	PS_COUNT_ABORT = 10,   /* ABORTs passed on */
	PS_COUNT_JOIN = 11,    /* JOINs and LEAVEs */
	PS_COUNT_BYTES = 12,   /* of values added */
	PS_COUNT__MAX = 13,
};

extern const char *const ps_drop_name[PS_DROP__MAX];
extern const char *const ps_count_name[PS_COUNT__MAX];

struct ps_stats {
	uint64_t drop[PS_DROP__MAX];
	uint64_t count[PS_COUNT__MAX];
};

/**
 * struct ps_place - one of 2W places: what is known of one chunk
 * @asked_ms: when others were last asked; @asks times so far.
 * @queued:  net.c's: in its queue, of this number.
 * @epoch:   of the chunk; 0: the place is free.
 * @done:    @h and @v are its RESULT, and stay so.
 * @workers: whose values @v is the sum of.
 * @h:       RESULT as it is to be sent: op, fmt, nval and scale are the shape
 *           (nval 0: all were empty so far), flags PUSH and CE are collected.
 */
struct ps_place {
	uint64_t asked_ms;
	uint64_t queued;
	uint64_t workers[TRIB_BMWORDS_MAX];
	uint32_t epoch;
	uint32_t chunk;
	uint32_t asks;
	bool done;
	struct trib_hdr h __attribute__((aligned(8)));
	uint64_t v[];
};
_Static_assert(offsetof(struct ps_place, v) ==
		       offsetof(struct ps_place, h) + sizeof(struct trib_hdr),
	       "header and values are one packet");

/**
 * struct ps_job - from the job's file
 * @worker:  where each rank receives. JOINs come from there.
 * @key:     from which all secrets follow.
 */
struct ps_job {
	char name[TRIB_NAME_MAX];
	uint16_t number;
	uint16_t world;
	uint16_t window;
	uint16_t nval;
	uint32_t timeout_ms;
	struct trib_key key;
	struct ps_addr *worker;
};

struct ps;
struct ps_members;

/**
 * struct ps_rank - secrets of a rank in a tree (auth.c)
 * @up:     key of its control packets, and of those that go to it alone.
 * @secret: of its data packets, as on the wire.
 * @seen:   numbers of control packets that came from it.
 * @sent:   number of the newest one to it alone.
 */
struct ps_rank {
	struct trib_key up;
	__be64 secret;
	struct trib_replay seen;
	uint32_t sent;
};

/**
 * struct ps_tree - one tree of a job
 * @epoch:  newest one that a packet named or that began here; 0: none yet.
 * @bmwords: of the job's bitmaps; @all: that of everybody.
 * @group:  whom RESULT, ALIVE and ABORT go to: relays, or workers.
 * @direct: rank is in @group itself: it needs no lease.
 * @lease_ms: until when each rank gets what goes to the group from us.
 * @alive_ms: when a rank's ALIVE was last passed on.
 * @down:   key of control packets to all; @sent: number of the newest.
 * @down_secret, @relay_secret: of RESULTs, and of what relays bring, as on the wire.
 * @rank:   secrets of each rank.
 * @place:  2W of @stride bytes.
 * @scan:   where to look first for a chunk that waits for one who left.
 */
struct ps_tree {
	struct ps *ps;
	struct ps_job *job;
	struct ps_members *members;
	uint16_t number;
	uint32_t epoch;
	unsigned int bmwords;
	uint64_t all[TRIB_BMWORDS_MAX];
	unsigned int ngroup;
	struct ps_addr *group;
	bool *direct;
	uint64_t *lease_ms;
	uint64_t *alive_ms;
	uint64_t abort_ms;
	unsigned int aborts;
	uint64_t named_ms;
	uint32_t mask;
	uint32_t stride;
	uint32_t scan;
	struct trib_key down;
	__be64 down_secret;
	__be64 relay_secret;
	uint32_t sent;
	struct ps_rank *rank;
	uint8_t *place;
	struct ps_stats stats;
};

/**
 * struct ps_ops - where the output goes
 * @to:     one packet, which is @z's RESULT if @z is given, else to be copied.
 * @result: @z's RESULT to all of ps_tree_dests().
 * @settle: @z is about to change: what is queued of it must leave first.
 * @save:   make what ps_members_keep() tells of all trees last, on disk: 0 or
 *          -errno.
 * @log:    one line for the operator.
 */
struct ps_ops {
	void (*to)(void *ctx, const struct ps_addr *to, const void *pkt, size_t len,
		   struct ps_place *z);
	void (*result)(void *ctx, struct ps_tree *t, struct ps_place *z);
	void (*settle)(void *ctx, struct ps_place *z);
	int (*save)(void *ctx);
	void (*log)(void *ctx, const char *line);
};

/**
 * struct ps - all jobs
 * @by_tree: tree numbers are unique in a cluster.
 * @stats: what belongs to no tree.
 * @everywhere: packets to any address of this host come to us.
 * @now:   of the packet or tick at hand.
 * @save_ms: when to save that ranks left or an epoch ended; 0: need not.
 */
struct ps {
	const struct ps_ops *ops;
	void *ctx;
	uint64_t now;
	uint64_t save_ms;
	bool everywhere;
	unsigned int njob;
	struct ps_job *job[PS_TREES_MAX];
	unsigned int ntree;
	struct ps_tree *tree[PS_TREES_MAX];
	struct ps_tree *by_tree[UINT16_MAX + 1];
	struct ps_stats stats;
};

static inline struct ps_place *ps_place(const struct ps_tree *t, uint32_t chunk)
{
	return (void *)(t->place + (size_t)(chunk & t->mask) * t->stride);
}

/* --- alloc.c, tree_state.c: trees, their epochs and destinations */

/**
 * ps_tree_new() - add a tree of @job to @ps
 * @group: @n members, malloc'ed; the tree owns them from now on.
 *
 * Return: 0, -EEXIST if there is one of this number, -E2BIG, -ENOMEM. On
 * failure @group stays the caller's.
 */
int ps_tree_new(struct ps *ps, struct ps_job *job, uint16_t number, struct ps_addr *group,
		unsigned int n);
void ps_tree_free(struct ps_tree *t);
/* Make @epoch the tree's if it is newer. Return: whether it is the tree's now. */
bool ps_tree_epoch(struct ps_tree *t, uint32_t epoch);
/**
 * ps_tree_dests() - list the destinations of RESULTs at @now
 * @out: room for t->ngroup + t->job->world.
 * Return: how many.
 */
unsigned int ps_tree_dests(const struct ps_tree *t, uint64_t now, const struct ps_addr **out);
void ps_free(struct ps *ps);

/**
 * struct ps_packet - one that passed the checks which need no state
 * @bitmap: workers, host byte order.
 * @body:   all behind @h, of any alignment; @v: the values in it.
 * @len:    bytes, with @h.
 */
struct ps_packet {
	const struct trib_hdr *h;
	const struct ps_addr *from;
	uint16_t child;
	uint16_t nval;
	uint32_t chunk;
	uint32_t epoch;
	uint8_t flags;
	uint64_t bitmap[TRIB_BMWORDS_MAX];
	const void *body;
	const void *v;
	size_t len;
};

/* --- auth.c: secrets */
/* Derive the tree's. Return: 0, or -1 without memory. */
int ps_auth_new(struct ps_tree *t);
/* Is a packet of the tree, whose child is a rank, from that rank, or passed by a relay? */
bool ps_auth_ok(const struct ps_tree *t, const struct ps_packet *p);
/* Is a packet of the running epoch no copy? */
bool ps_auth_fresh(struct ps_tree *t, const struct ps_packet *p);
/* Number and sign a complete control packet: to all; to one rank. */
void ps_auth_all(struct ps_tree *t, struct trib_hdr *h);
void ps_auth_one(struct ps_tree *t, unsigned int rank, struct trib_hdr *h, const void *body,
		 size_t len);
/* Sign an answer, whose number is that of its request. */
void ps_auth_sign(const struct ps_tree *t, unsigned int rank, struct trib_hdr *h, const void *body,
		  size_t len);

/* --- chunk.c: GRAD, ASK and RESULT at the place of their chunk */
void ps_chunk_grad(struct ps_tree *t, const struct ps_packet *p);
void ps_chunk_ask(struct ps_tree *t, const struct ps_packet *p);
void ps_chunk_result(struct ps_tree *t, const struct ps_packet *p);
/* A chunk that waits for somebody in @missing: its rank, or -1. */
int ps_chunk_stuck(struct ps_tree *t, const uint64_t *missing, uint32_t *chunk);

/* --- signs.c: PROBE, ALIVE and ABORT */
void ps_sign_probe(struct ps_tree *t, const struct ps_packet *p);
void ps_sign_alive(struct ps_tree *t, const struct ps_packet *p);
void ps_sign_abort(struct ps_tree *t, const struct ps_packet *p);

/* --- packet.c */

/**
 * ps_rx() - one packet has come
 * @pkt: of any alignment.
 * @ce:  it met congestion.
 */
void ps_rx(struct ps *ps, const struct ps_addr *from, const void *pkt, size_t len, bool ce,
	   uint64_t now_ms);
/* Fill in the header of a packet that goes down, with the secret of RESULTs. */
void ps_hdr_fill(const struct ps_tree *t, struct trib_hdr *h, uint8_t type);

/* --- member.c: who takes part (userspace/base/session.c) */
int ps_members_new(struct ps_tree *t);
void ps_members_free(struct ps_tree *t);
void ps_members_packet(struct ps_tree *t, const struct ps_packet *p);
/* A data packet was the first to name @epoch. */
void ps_members_epoch(struct ps_tree *t, uint32_t epoch);
/* State of a tree that must survive a restart. @nonce: of each rank. */
struct ps_lasting {
	uint32_t epoch;	     /* that runs, or 0 */
	uint32_t last_epoch; /* newest one */
	uint64_t *nonce;
};
void ps_members_keep(const struct ps_tree *t, struct ps_lasting *out);
void ps_members_restore(struct ps_tree *t, const struct ps_lasting *in);
/* Do what is due. Return: milliseconds until the next call; 0: none needed. */
uint32_t ps_tick(struct ps *ps, uint64_t now_ms);

/* --- update.c: jobs that come and go */

/**
 * ps_job_put() - a job, or another list of trees of one that is there
 * @slot: the job of before or NULL; that of now, if there is no error.
 * @from: one job with its trees, which are taken out of it as they are used.
 * Nothing of the job may be queued for sending. Trees in both lists go on.
 * Return: 0, or -errno and one line in @why; nothing has changed then.
 */
int ps_job_put(struct ps *ps, struct ps_job **slot, struct ps *from, char *why, size_t size);
void ps_job_drop(struct ps *ps, struct ps_job *job);

/* --- config.c */

/**
 * ps_config_load() - add the job and the trees of a file
 * @v4: all its addresses must be of IPv4, because the socket is.
 * Return: 0, or a negative errno and one line in @why.
 */
int ps_config_load(struct ps *ps, const char *path, bool v4, char *why, size_t size);
/* The same, of a file's text. */
int ps_config_text(struct ps *ps, const char *path, const char *text, size_t len, bool v4,
		   char *why, size_t size);
/* ADDR[:PORT], IPv6 in brackets; @port if there is none. */
bool ps_addr_parse(const char *s, uint16_t port, struct ps_addr *out);
/* Return: @buf. */
const char *ps_addr_text(const struct ps_addr *a, char buf[ADDR_TEXT_MAX]);

#endif /* TRIB_PS_H */
