/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The real object, loaded, with trees of every kind; its maps are mapped into
 * this process, so that a packet's effects cost no system call to look at.
 */
#ifndef FUZZ_RIG_H
#define FUZZ_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include "uapi/trib_errand.h"
#include "uapi/trib_maps.h"

#define PORTS 4
#define JOB 7
#define WINDOW 2
#define POOL (2 * WINDOW)
#define FRAME_MAX 3500
#define RING_RANKS 2
#define CELLS 8 /* of each rank; behind them is its desk */

/* Rows of `trees`. IP version and tags hold for all faces of a tree. */
enum rig_tree {
	T_NONE,	   /* not used */
	T_ROOT,	   /* 3 children, IPv4 */
	T_INNER,   /* 2 children */
	T_LEAF,	   /* a worker host: 2 ranks */
	T_HOST,	   /* root that has ranks of its own */
	T_ONEPORT, /* inner, everything behind one port */
	T_ROOT6,   /* IPv6, one tag */
	T_INNER6,  /* IPv6, two tags */
	T_LEAF6,   /* IPv6, one tag; sends for its only rank */
	T_WIDE,	   /* root, 64 children */
	T_GENERIC, /* inner, without devmaps: its copies are made in clsact */
	T_DEADEND, /* root, whose group has no members */
	T_PAUSED,  /* no epoch runs */
	T_DEAF,	   /* leaf without a deliver row */
	T_LOCAL,   /* inner, all children are ranks of this host, which adds them up */
	T_CHAIN,   /* inner, one child, and ranks */
	T_POOL,	   /* shared, 3 neighbours below, IPv4 */
	T_POOL6,   /* of another job, capped, IPv6, one tag, bitmaps of 2 words */
	T_POOLG,   /* as in generic mode, bitmaps of 16 words */
	T_REFLEX,  /* a leaf that sends for its only rank, IPv4 */
	T_SOCKET,  /* a leaf whose only rank has a socket, IPv6, one tag */
	T__MAX,
};

#define T_SHARED (1U << T_POOL | 1U << T_POOL6 | 1U << T_POOLG)

/* Rows that all shared trees use. */
#define POOL_SLOTS 3
#define BUCKETS 8 /* the last one has no slot */
#define RELAY 70
#define NEXT 90

#define GROUP_DOWN(tree) ((tree)*3)
#define GROUP_ALL(tree) ((tree)*3 + 1)
#define GROUP_UP(tree) ((tree)*3 + 2)
#define NGROUPS (T__MAX * 3)

/**
 * struct rig - where things are
 * @nval:  values per slot of the object.
 * @trees, @slots, @lag, @counts, @delivers: the maps, as the kernel sees them.
 * @cells: of each rank of the tree's deliver row (which has the tree's number), or
 *         NULL.
 * @slot_size: bytes of a slot, of a cell, and of a desk's entry.
 * @cpu:   that runs the programs.
 * @nmember: members of each group.
 * @mapped: whether a group has a devmap.
 * @pslots: slots of shared trees, of @pslot_size bytes.
 * @marks:  of shared trees: POOL for each, at its number * POOL.
 * @pools:  rows of shared trees.
 * @table:  slot of each bucket; ~0: none.
 * @ifindex: ports.
 * @errand: what the last packet left for trib_send; zeros: nothing.
 */
struct rig {
	unsigned int nval;
	struct trib_tree *trees;
	uint8_t *slots;
	struct trib_lag *lag;
	struct trib_count *counts;
	struct trib_deliver *delivers;
	uint8_t *cells[T__MAX][RING_RANKS];
	size_t slot_size;
	int cpu;
	unsigned int nmember[NGROUPS];
	bool mapped[NGROUPS];
	uint8_t *pslots;
	size_t pslot_size;
	uint64_t *marks;
	struct trib_pool pools[T__MAX];
	uint32_t table[BUCKETS];
	uint32_t ifindex[PORTS];
	struct trib_errand errand;
	uint64_t stats[TRIB_STAT__MAX]; /* at the last rig_stats() */
};

extern struct rig rig;

/* Exits with a skip without privileges. */
void rig_open(void);
/* Everything as after rig_open(), except for counters. @dirty: trees. */
void rig_reset(uint32_t dirty);

static inline struct trib_slot *rig_slot(unsigned int i)
{
	return (struct trib_slot *)(rig.slots + i * rig.slot_size);
}

/* A chunk's cell, and the desk, in an array. */
static inline struct trib_cell *rig_cell(uint8_t *cells, uint32_t chunk)
{
	return (struct trib_cell *)(cells + chunk % CELLS * rig.slot_size);
}

static inline struct trib_desk *rig_desk(uint8_t *cells)
{
	return (struct trib_desk *)(cells + CELLS * rig.slot_size);
}

static inline size_t rig_cells_size(void)
{
	return (CELLS + 1) * rig.slot_size;
}

static inline struct trib_pool_slot *rig_pslot(unsigned int i)
{
	return (struct trib_pool_slot *)(rig.pslots + i * rig.pslot_size);
}

/*
 * Key of what rank @who of @tree sends up; of what its parent, or it, sends down; or of
 * what relays send up.
 */
enum { KEY_DOWN = -1, KEY_RELAY = -2 };
struct trib_key rig_key(int tree, int who);

/* Rank @i of the three workers of the row; 3: another worker of the job. */
int rig_rank(int tree, int i);

/* The port that a neighbour of @tree is behind. @child < 0: the parent. */
int rig_port(int tree, int child);

/* A frame on its way through a program. */
struct frame {
	uint8_t b[4096];
	int len;
};

/* The address of ours that a neighbour of @tree behind @port knows. */
void rig_local(int tree, int port, uint8_t ip[16]);

/*
 * Run a program on @f, which becomes what it left: trib_xdp, which sets rig.errand;
 * trib_grow, without orders; trib_send, with those in rig.errand.
 */
int rig_xdp(struct frame *f, uint32_t ifindex);
int rig_grow(struct frame *f, uint32_t ifindex);
int rig_send(struct frame *f, uint32_t ifindex);

/* Read how much the counters grew since the last call. */
void rig_stats(uint64_t delta[TRIB_STAT__MAX]);

/* Records of all rings since the last call; at most @max. */
struct rig_record {
	unsigned int ring;
	struct trib_event ev;
};
int rig_records(struct rig_record *out, int max);

#endif /* FUZZ_RIG_H */
