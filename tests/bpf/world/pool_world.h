/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared pools in the world of the BPF tests: trees POOL and OTHER, of two jobs,
 * with the neighbours and groups of INNER. Two of three children are workers, the
 * third is a relay.
 */
#ifndef TEST_POOL_WORLD_H
#define TEST_POOL_WORLD_H

#include "world.h"

#define POOL 6	/* row of trees */
#define OTHER 7 /* of another job */
#define RELAY 70
#define NEXT 90
#define MARKS 8 /* of each tree */
#define SLOTS_IN 64
#define HOUR 3600000000000ULL

/**
 * struct pool_world - shared state of the tests
 * @f:     the current packet: built, run, then as it left.
 * @words: words of every bitmap.
 * @relay: bit i: child i is a relay.
 * @rows, @slots, @table, @marks, @faces: maps.
 */
struct pool_world {
	struct frame f;
	int words;
	int relay;
	int rows, slots, table, marks, faces;
};

extern struct pool_world pw;

/* A bitmap of workers, as on the wire. */
struct pool_who {
	__be64 bits[TRIB_BMWORDS_MAX];
};

/* Load the object; exits with a skip if privileges are missing. */
void pool_open(void);
/* Reset all maps to what tribd writes, with bitmaps of @n words; IPv4, 1 word. */
void pool_fresh_as(bool v6, uint16_t vlan0, uint16_t vlan1, int n);
void pool_fresh(void);
/* Make child 0 or 1 of @tree a relay, whose packets may name many ranks. */
void pool_relay(int tree, int child);
/* Send all chunks of all jobs to one slot. */
void pool_one_slot(void);

/* Rank number @i, 0 to 2, whose values come through this relay. */
int pool_rank(int i);
/* A worker of the job that does not send through this relay. */
int pool_foreign(void);
void pool_set_bit(__be64 *bits, int rank);
/* The set of rank @a and, unless negative, @b. */
struct pool_who pool_who(int a, int b);

void pool_map_put(int fd, uint32_t key, const void *value);
void pool_map_get(int fd, uint32_t key, void *value);
struct trib_pool pool_row_get(void);
void pool_row_put(struct trib_pool row);
struct trib_pool_face pool_face_key(int tree, int child);
void pool_clear_faces(void);
uint32_t pool_slot_number(int tree, uint32_t chunk);
struct trib_pool_slot *pool_slot(uint32_t chunk); /* a copy, static */
void pool_slot_put(uint32_t chunk, const struct trib_pool_slot *s);
uint64_t pool_mark(uint32_t chunk);
void pool_mark_put(uint32_t at, uint32_t epoch, uint32_t chunk, uint64_t bits);

/*
 * Make a header of @type in @tree from neighbour @child (-1: next hop), about
 * @rank.
 */
struct trib_hdr pool_hdr(int type, int tree, int child, int rank, uint32_t chunk);
/* Build pw.f as a packet from neighbour @child. */
void pool_build(int child, struct trib_hdr h, const void *pay, int len);
void pool_values(struct trib_hdr h, int child, struct pool_who who, int nval, uint64_t word);
/*
 * Build a GRAD addressed to this relay with the sum of @who, sent by rank
 * number @i.
 */
void pool_grad_of(int tree, int i, struct pool_who who, uint32_t chunk, int nval, uint64_t word);
void pool_grad(int i, uint32_t chunk, int nval, uint64_t word);
/* Run pw.f as from neighbour @child. Return: the verdict. */
int pool_run(int child);
int pool_send_grad(int i, uint32_t chunk, int nval, uint64_t word);
int pool_send_resend(int i, uint32_t chunk, int nval, uint64_t word);
int pool_send_result(uint32_t chunk, uint64_t word);

/* Expect pw.f for @group, equal to @before except for the relay's number. */
void pool_expect_same(const struct frame *before, int group, int relay);
/*
 * Run pw.f from neighbour @child, and expect that it is passed on for lack of a
 * slot.
 */
void pool_expect_passed(int child);
/* Expect in pw.f the sum of all three ranks, for the next hop. */
void pool_expect_sum(int flags, int child, int nval, uint64_t word);
/* Expect the slot of @chunk in @state, with @n workers and values @word. */
void pool_expect_slot(uint32_t chunk, int state, int n, uint64_t word);
void pool_expect_nobody(uint32_t chunk);
void pool_expect_mark(uint32_t chunk, uint64_t bits);

#endif /* TEST_POOL_WORLD_H */
