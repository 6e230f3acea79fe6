/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The world of the BPF tests: a network namespace with veth ports, the object
 * under test, and trees like those that tribd would write.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "frame.h"
#include "uapi/trib_errand.h"
#include "uapi/trib_maps.h"

#define PORTS 4 /* p0 to p3, with peers q0 to q3 */
#define JOB 7
#define EPOCH 5
#define WINDOW 4 /* a tree has 8 slots */
#define SLOTS (2 * WINDOW)
#define NVAL_MAX TRIB_NVAL_LARGE
#define UP_CHILD 2 /* index of the inner node at its parent */

/* Rows of trees; each has its own pool and three groups. */
enum {
	ROOT = 1, /* children 0 to 2 on p0 to p2 */
	INNER,	  /* children 0 and 1 on p0 and p1, parent on p3 */
	LEAF,	  /* parent on p3, one deliver row */
	HOST,	  /* like ROOT, with ranks on this host */
	ONEPORT,  /* like INNER, but all neighbours are behind p0 */
	TREES_MAX = 16,
};

/* Group numbers of a tree. */
#define DOWN(tree) ((tree)*3)
#define ALL(tree) ((tree)*3 + 1)
#define UP(tree) ((tree)*3 + 2)

struct world {
	struct bpf_object *obj;
	int nval;
	int nslots;			   /* 0: enough for the trees below */
	int kfuncs;			   /* set before world_open(): the module is loaded */
	struct trib_errand errand;	   /* orders of the last run_xdp(); zeros: none */
	int xdp, egress, grow, send, pass; /* programs */
	int trees, slots, groups, ports, members, rewrites, stats, lag, counts;
	int delivers, cells, rings;
	int cell_array, ring; /* of the only rank of deliver row 1 */
	uint8_t *cell_memory; /* its cells and desk, mapped */
	int ifindex[PORTS], peer_ifindex[PORTS];
	bool v6;
	uint16_t vlan[2]; /* tags of all faces */
};

extern struct world w;

/*
 * Load the object with @nval values; exits with a skip if privileges are
 * missing.
 */
void world_open(int nval);
void world_close(void);
/* Make another array like that of deliver row 1; the caller owns it. And map it. */
int world_cells(void);
uint8_t *world_map_cells(int fd);
/*
 * Empty all slots, counters and cells; write trees, groups and faces as above. The rank
 * has sent chunks 0 to SLOTS - 1.
 */
void world_reset(void);
/* The same with IPv6 faces, or with tags. */
void world_reset_as(bool v6, uint16_t vlan0, uint16_t vlan1);

void tree_get(int tree, struct trib_tree *t);
void tree_put(int tree, const struct trib_tree *t);
/* Forget the groups: they are gone with the object. */
void groups_forget(void);
/* Remove the devmap of a group, as on a host in generic mode. */
void group_unmap(int group);

/* Addresses of @child of @tree (-1: the parent), and this host's towards it. */
struct addr peer_of(int tree, int child);
struct addr ourselves(int tree, int child);
/* Port that leads to it. */
int port_of(int tree, int child);

/* Make a header of @type for @chunk of @tree, from @child (-1: the parent). */
struct trib_hdr header(int type, int tree, int child, uint32_t chunk);
/*
 * Keys of the test job in @tree: of a child's packets, as struct trib_peer has it (-1:
 * the parent's), and of ours: WE_DOWN and WE_UP. Nodes have keys by number here, not by
 * address. In shared trees a child is its rank.
 */
enum { WE_DOWN = -1, WE_UP = -2 };
struct trib_key world_job(void);
struct trib_key world_key(int tree, int child);
/* Write secret, or number and authenticator, of a packet with @key. */
void world_sign(struct trib_hdr *h, const void *pay, int len, struct trib_key key);

/* Has the packet, from this host to @child (-1: the parent), what that will check? */
bool world_signed(const struct trib_hdr *h, int tree, int child);

/* Return the addresses that reach this host; change them before frame_build(). */
struct link link_of(int tree, int child);
/* Build the frame that carries @h from that neighbour, signed by it. */
void frame_of(struct frame *f, int tree, int child, struct trib_hdr h, const void *pay, int len);
/* Build a GRAD of @nval times the 64-bit word @word (two values a word), Q32. */
void frame_grad(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word);
/* Build a NEED with @seen, from @child (-1: the parent). */
void frame_need(struct frame *f, int tree, int child, uint32_t chunk, uint64_t seen);
/* Build a RESULT, from @child (-1: the parent). */
void frame_result(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word);
/* Run trib_xdp on @f arriving at @port; @f becomes the output. */
int run_xdp(struct frame *f, int port);
/* Run trib_xdp from any thread: nothing but the verdict comes back. */
int run_xdp_at(const struct frame *f, int ifindex);
/* Build a GRAD of @nval units at @v, in format @fmt. */
void frame_floats(struct frame *f, int tree, int child, uint32_t chunk, int fmt, int nval,
		  const void *v);
/* Build and run. */
int run_grad(struct frame *f, int tree, int child, uint32_t chunk, int nval, uint64_t word);
/* Run trib_grow on @f, without orders. */
int run_clsact(struct frame *f, int port);
/* Run trib_send on @f, with the orders that the last run_xdp() left for it. */
int run_grow(struct frame *f, int port);

/* Set the shape of the contribution in a cell: results of another are not delivered. */
void cell_shape(struct trib_cell *c, uint8_t op, uint8_t fmt, int32_t scale);

uint64_t stat_of(int id);
/* Return: the only drop counter that is not 0; -1: none; -2: several. */
int the_drop(void);
struct trib_slot *slot_of(int tree, uint32_t chunk); /* a copy, static */
void slot_put(int tree, uint32_t chunk, const struct trib_slot *s);
/* The cell of a chunk and the desk, of the rank of row 1 or in another array. */
struct trib_cell *cell_of(uint32_t chunk);
struct trib_cell *cell_in(uint8_t *memory, uint32_t chunk);
struct trib_desk *desk(void);
struct trib_desk *desk_in(uint8_t *memory);
/* Empty an array; chunks 0 to SLOTS - 1 have been sent. */
void cells_empty(uint8_t *memory);
void cell_set(uint32_t chunk, enum trib_cell_state state);
bool cell_is(uint32_t chunk, enum trib_cell_state state);

/* Return: did the last run_xdp(), which left @f, order a @type for @group? */
bool ordered(struct frame *f, int type, int group);
/*
 * Return: the group in the mark that trib_xdp leaves for trib_egress; -1: no
 * mark.
 */
int group_of(const struct frame *f);

#endif /* TEST_WORLD_H */
