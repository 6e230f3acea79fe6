// SPDX-License-Identifier: BSD-2-Clause
/*
 * The relay's rules of shared pools, one case each: packet in, verdict, packet
 * out, counters, slot and mark. tests/sim/pool/README.md has the rules.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/tap.h"

#define POOL 6	/* rows of trees; neighbours and groups are those of INNER */
#define OTHER 7 /* of another job */
#define RELAY 70
#define NEXT 90
#define MARKS 8 /* of each tree */
#define SLOTS_IN 64
#define HOUR 3600000000000ULL

static struct frame f;
static int pools, pool_slots, pool_table, pool_marks, pool_faces;
static int words = 1; /* of all bitmaps */

/* Ranks whose values come by, whatever the size of bitmaps. */
static int rank_of(int i)
{
	return i < 2 ? i : words * 64 - 2;
}

/* One that is a worker of the job, but not of this relay. */
static int foreign(void)
{
	return words * 64 - 1;
}

static int map(const char *name)
{
	int fd = bpf_object__find_map_fd_by_name(w.obj, name);

	if (fd < 0) {
		printf("Bail out! no map %s\n", name);
		exit(1);
	}
	return fd;
}

static void put(int fd, uint32_t key, const void *value)
{
	if (bpf_map_update_elem(fd, &key, value, 0)) {
		printf("Bail out! map update\n");
		exit(1);
	}
}

static void get(int fd, uint32_t key, void *value)
{
	if (bpf_map_lookup_elem(fd, &key, value)) {
		printf("Bail out! map look-up\n");
		exit(1);
	}
}

static void set_bit(__be64 *bits, int rank)
{
	bits[rank / 64] |= htobe64(1ULL << rank % 64);
}

static struct trib_pool row_get(void)
{
	struct trib_pool row;

	get(pools, POOL, &row);
	return row;
}

static void row_put(struct trib_pool row)
{
	put(pools, POOL, &row);
}

static void make_tree(int tree, int job)
{
	struct trib_tree t;
	struct trib_pool row = {
		.relay = RELAY,
		.next = NEXT,
		.bmwords = words,
		.mark0 = (tree - POOL) * MARKS,
		.mark_mask = MARKS - 1,
		.table_mask = SLOTS_IN - 1,
		.age_ns = HOUR,
	};

	tree_get(INNER, &t);
	t.job = job;
	t.epoch = 0;
	t.world = words * 64;
	t.flags |= TRIB_TREE_SHARED;
	/* The third child is a relay. */
	for (int i = 0; i < t.nchild; i++)
		t.child[i].rank = i < 2 ? rank_of(i) : 0xffff;
	tree_put(tree, &t);
	for (int i = 0; i < 3; i++)
		set_bit(row.mask, rank_of(i));
	put(pools, tree, &row);
}

static struct trib_pool_face face_key(int tree, int child)
{
	struct trib_pool_face key = {
		.tree = tree,
		.ifindex = w.ifindex[port_of(INNER, child)],
		.vlan = {htons(w.vlan[0]), htons(w.vlan[1])},
	};
	struct addr a = peer_of(INNER, child);

	memcpy(key.addr, a.ip, 16);
	return key;
}

static void make_faces(int tree)
{
	for (int child = 0; child < 3; child++) {
		struct trib_pool_face key = face_key(tree, child),
				      own = {.tree = tree};
		struct addr us = ourselves(INNER, child);

		memcpy(own.addr, us.ip, 16);
		bpf_map_update_elem(pool_faces, &key, us.ip, 0);
		bpf_map_update_elem(pool_faces, &own, us.ip, 0);
	}
}

static void clear_faces(void)
{
	struct trib_pool_face key;

	while (!bpf_map_get_next_key(pool_faces, NULL, &key))
		bpf_map_delete_elem(pool_faces, &key);
}

/* The packets of the inner tree's parent's group are for a next hop. */
static void up_is_next(void)
{
	struct trib_rewrite_key key = {UP(INNER), w.ifindex[3]};
	struct trib_rewrite r;

	if (bpf_map_lookup_elem(w.rewrites, &key, &r))
		return;
	r.up = TRIB_REWRITE_NEXT;
	bpf_map_update_elem(w.rewrites, &key, &r, 0);
}

static void fresh_as(bool v6, uint16_t vlan0, uint16_t vlan1, int n)
{
	static uint8_t zeros[sizeof(struct trib_pool_slot)];

	words = n;
	world_reset_as(v6, vlan0, vlan1);
	for (uint32_t i = 0; i < SLOTS_IN; i++) {
		put(pool_slots, i, zeros);
		put(pool_table, i, &i);
	}
	for (uint32_t i = 0; i < 2 * MARKS; i++)
		put(pool_marks, i, zeros);
	clear_faces();
	make_tree(POOL, JOB);
	make_tree(OTHER, JOB + 1);
	make_faces(POOL);
	make_faces(OTHER);
	up_is_next();
}

static void fresh(void)
{
	fresh_as(false, 0, 0, 1);
}

/* All chunks of all jobs go to one slot. */
static void one_slot(void)
{
	for (uint32_t i = 0, slot = 5; i < SLOTS_IN; i++)
		put(pool_table, i, &slot);
}

static uint32_t slot_number(int tree, uint32_t chunk)
{
	uint32_t bucket = trib_pool_bucket(JOB + tree - POOL, tree, chunk,
					   SLOTS_IN - 1),
		 slot;

	get(pool_table, bucket, &slot);
	return slot;
}

static struct trib_pool_slot *pslot(uint32_t chunk)
{
	static struct trib_pool_slot s;

	get(pool_slots, slot_number(POOL, chunk), &s);
	return &s;
}

static void pslot_put(uint32_t chunk, const struct trib_pool_slot *s)
{
	put(pool_slots, slot_number(POOL, chunk), s);
}

static uint64_t mark_at(uint32_t chunk)
{
	uint64_t mark;

	get(pool_marks, chunk % MARKS, &mark);
	return mark;
}

static void mark_put(uint32_t at, uint32_t epoch, uint32_t chunk, uint64_t bits)
{
	uint64_t mark = TRIB_MARK(epoch, chunk) | bits;

	put(pool_marks, at % MARKS, &mark);
}

static void expect_mark(uint32_t chunk, uint64_t bits)
{
	expect_eq(mark_at(chunk), TRIB_MARK(EPOCH, chunk) | bits);
}

/* --- packets */

/* Of @type in @tree from the neighbour @child (-1: next hop), about @rank. */
static struct trib_hdr hdr(int type, int tree, int child, int rank,
			   uint32_t chunk)
{
	struct trib_hdr h = header(type, tree, child, chunk);

	h.job = htons(JOB + tree - POOL);
	h.child = htons(rank);
	return h;
}

/* As frame_of(), with neighbours of INNER. */
static void build(int child, struct trib_hdr h, const void *pay, int len)
{
	frame_of(&f, INNER, child, h, pay, len);
}

struct who {
	__be64 bits[TRIB_BMWORDS_MAX];
};

static struct who these(int a, int b)
{
	struct who who = {};

	set_bit(who.bits, a);
	if (b >= 0)
		set_bit(who.bits, b);
	return who;
}

static void values(struct trib_hdr h, int child, struct who who, int nval,
		   uint64_t word)
{
	uint8_t pay[8 * TRIB_BMWORDS_MAX + 4 * NVAL_MAX + 64];
	int n = h.bmwords * 8, len = trib_payload_len(nval);

	memcpy(pay, who.bits, n);
	memset(pay + n, 0, len);
	for (int i = 0; i < (nval + 1) / 2; i++)
		memcpy(pay + n + 8 * i, &word, 8);
	h.fmt = TRIB_FMT_Q32;
	h.nval = htons(nval);
	if (!nval && h.type == TRIB_T_GRAD)
		h.flags |= TRIB_F_EMPTY;
	build(child, h, pay, n + len);
}

/* A GRAD with our number, of @who, that the rank number @i sent. */
static void grad_of(int tree, int i, struct who who, uint32_t chunk, int nval,
		    uint64_t word)
{
	struct trib_hdr h = hdr(TRIB_T_GRAD, tree, i, rank_of(i), chunk);

	h.relay = htons(RELAY);
	h.bmwords = words;
	values(h, i, who, nval, word);
}

static void grad(int i, uint32_t chunk, int nval, uint64_t word)
{
	grad_of(POOL, i, these(rank_of(i), -1), chunk, nval, word);
}

static int run_it(int child)
{
	return run_xdp(&f, port_of(INNER, child));
}

static int send_grad(int i, uint32_t chunk, int nval, uint64_t word)
{
	grad(i, chunk, nval, word);
	return run_it(i);
}

static int send_resend(int i, uint32_t chunk, int nval, uint64_t word)
{
	grad(i, chunk, nval, word);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	return run_it(i);
}

static int send_result(uint32_t chunk, uint64_t word)
{
	struct trib_hdr h = hdr(TRIB_T_RESULT, POOL, -1, 5, chunk);

	values(h, -1, (struct who){}, 352, word);
	return run_it(-1);
}

/* --- what must leave */

/* @f is for @group; else it is as @before, but for the number @relay. */
static void expect_same(const struct frame *before, int group, int relay)
{
	struct frame b = *before;

	expect_eq(group_of(&f), group);
	expect_eq(ntohs(frame_hdr(&f)->relay), relay);
	frame_hdr(&b)->relay = frame_hdr(&f)->relay;
	memcpy(b.b + 6, f.b + 6, 6); /* the mark */
	expect(f.len == b.len && !memcmp(f.b, b.b, f.len));
}

/* Run @f, which must be passed on for want of a slot. */
static void expect_passed(int child)
{
	struct frame before = f;
	uint64_t n = stat_of(TRIB_POOL_PASSED);

	expect_eq(run_it(child), XDP_REDIRECT);
	expect_same(&before, UP(INNER), NEXT);
	expect_eq(stat_of(TRIB_POOL_PASSED), n + 1);
}

/* @f is the sum of all three for the next hop. */
static void expect_sum(int flags, int child, int nval, uint64_t word)
{
	struct trib_hdr *h = frame_hdr(&f);
	struct trib_pool row = row_get();
	uint64_t v;

	expect_eq(group_of(&f), UP(INNER));
	expect_eq(h->type, TRIB_T_GRAD);
	expect_eq(h->flags, TRIB_F_UP | flags);
	expect_eq(h->fmt, TRIB_FMT_Q32);
	expect_eq(h->bmwords, words);
	expect_eq(ntohs(h->relay), NEXT);
	expect_eq(ntohs(h->child), rank_of(child));
	expect_eq(ntohs(h->nval), nval);
	expect_eq(ntohl(h->epoch), EPOCH);
	expect_eq(h->attempt | h->aux | h->nm, 0);
	expect(frame_lengths_agree(&f));
	expect(!memcmp(f.b + f.pay, row.mask, words * 8));
	for (int i = 0; i < nval / 2; i++) {
		memcpy(&v, f.b + f.pay + 8 * words + 8 * i, 8);
		if (!expect(v == word))
			return;
	}
}

/* The slot of @chunk holds it, with so many workers, in @state. */
static void expect_slot(uint32_t chunk, int state, int n, uint64_t word)
{
	struct trib_pool_slot *s = pslot(chunk);
	int bits = 0;

	expect_eq(s->state, state);
	expect_eq(s->chunk, chunk);
	expect_eq(s->epoch, EPOCH);
	expect_eq(s->job, JOB);
	expect_eq(s->tree, POOL);
	expect_eq(s->busy, 0);
	for (int i = 0; i < words; i++)
		bits += __builtin_popcountll(s->workers[i]);
	expect_eq(bits, n);
	if (s->nval)
		expect_eq(s->v[s->nval / 2 - 1], word);
}

static void nobody_has(uint32_t chunk)
{
	expect_eq(pslot(chunk)->state, TRIB_POOL_FREE);
}

/* --- GRADs with our number, in the order of the rules */

static void grad__newer_mark_drops(void)
{
	fresh();
	mark_put(3, EPOCH, 3 + MARKS, TRIB_MARK_MET);
	expect_eq(send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	nobody_has(3);
	fresh();
	mark_put(3, EPOCH + 1, 3, 0);
	expect_eq(send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	fresh(); /* serially: before the numbers wrapped */
	mark_put(3, EPOCH, 3, TRIB_MARK_MET);
	expect_eq(send_grad(0, 0xfffffffb, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
	fresh(); /* and epochs in their 30 bits */
	mark_put(3, 0x40000001, 3, TRIB_MARK_MET);
	grad(0, 3, 16, 1);
	frame_hdr(&f)->epoch = htonl(0x3fffffff);
	expect_eq(run_it(0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_STALE);
}

static void grad__older_mark_becomes_ours(void)
{
	fresh();
	mark_put(3, EPOCH, 3, TRIB_MARK_MET | TRIB_MARK_ACKED);
	expect_eq(send_grad(0, 3 + MARKS, 16, 1), XDP_DROP);
	expect_mark(3 + MARKS, TRIB_MARK_MET);
	expect_slot(3 + MARKS, TRIB_POOL_COLLECT, 1, 1);
	fresh();
	mark_put(3, EPOCH - 1, 3 + 5 * MARKS, TRIB_MARK_FLAGS);
	expect_eq(send_grad(0, 3, 16, 1), XDP_DROP);
	expect_mark(3, TRIB_MARK_MET);
	expect_eq(the_drop(), -1);
}

static void grad__late_copy_of_an_acked_chunk_drops(void)
{
	fresh();
	mark_put(3, EPOCH, 3, TRIB_MARK_FLAGS);
	expect_eq(send_grad(0, 3, 16, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_ACKED);
	nobody_has(3);
	expect_mark(3, TRIB_MARK_FLAGS);
	grad(0, 3, 16, 1);
	frame_hdr(&f)->flags |= TRIB_F_RESEND; /* the PS will answer it */
	expect_passed(0);
	nobody_has(3);
}

static void grad__workers_of_others_pass(void)
{
	fresh_as(false, 0, 0, 2);
	grad_of(POOL, 0, these(rank_of(0), foreign()), 3, 16, 1);
	expect_passed(0);
	nobody_has(3);
	expect_mark(3, 0);
	/* Ours still meet. */
	expect_eq(send_grad(1, 3, 16, 1), XDP_DROP);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_eq(the_drop(), -1);
}

static void check_sum(void)
{
	expect_eq(send_grad(0, 3, 352, 5), XDP_DROP);
	expect_mark(3, TRIB_MARK_MET);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 5);
	expect_eq(send_grad(2, 3, 352, 6), XDP_DROP);
	expect_slot(3, TRIB_POOL_COLLECT, 2, 11);
	expect_eq(send_grad(1, 3, 352, 7), XDP_REDIRECT);
	expect_sum(0, 1, 352, 18);
	expect_slot(3, TRIB_POOL_SENT, 3, 18);
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	expect_eq(stat_of(TRIB_RX_GRAD), 3);
	expect_eq(stat_of(TRIB_POOL_PASSED), 0);
	expect_eq(the_drop(), -1);
}

static void grad__disjoint_workers_add_up(void)
{
	static const int sizes[] = {1, 2, 16};

	for (int i = 0; i < 3; i++) {
		fresh_as(false, 0, 0, sizes[i]);
		check_sum();
		fresh_as(true, 0, 0, sizes[i]);
		check_sum();
		fresh_as(false, 8, 0, sizes[i]);
		check_sum();
		fresh_as(true, 8, 9, sizes[i]);
		check_sum();
	}
}

static void grad__sums_of_relays_add_up(void)
{
	fresh();
	grad_of(POOL, 0, these(rank_of(0), rank_of(2)), 3, 32, 5);
	expect_eq(run_it(0), XDP_DROP);
	expect_eq(send_grad(1, 3, 32, 7), XDP_REDIRECT);
	expect_sum(0, 1, 32, 12);
}

static void grad__maximum_and_single_lanes(void)
{
	static const struct {
		uint8_t op, fmt;
		uint64_t sum;
	} kind[] = {{TRIB_WOP_MAX, TRIB_FMT_W64, 0x100000002},
		    {TRIB_WOP_ADD, TRIB_FMT_I32, 0x1fffffff8},
		    {TRIB_WOP_ADD, TRIB_FMT_W64, 0x2fffffff8}};

	for (int k = 0; k < 3; k++) {
		fresh();
		for (int i = 0; i < 3; i++) {
			grad(i, 3, 352, i ? 0xfffffffb : 0x100000002);
			frame_hdr(&f)->op = kind[k].op;
			frame_hdr(&f)->fmt = kind[k].fmt;
			run_it(i);
		}
		expect_eq(frame_hdr(&f)->op, kind[k].op);
		expect_eq(pslot(3)->v[0], kind[k].sum);
		expect_eq(frame_word(&f, 1), kind[k].sum);
	}
}

static void grad__flags_are_collected(void)
{
	struct trib_hdr h;
	uint8_t pay[8 + 64];
	struct link l;

	fresh();
	grad(0, 3, 16, 1);
	frame_hdr(&f)->flags |= TRIB_F_PUSH;
	run_it(0);
	grad(1, 3, 16, 1);
	h = *frame_hdr(&f);
	l = link_of(INNER, 1);
	l.tos |= 3; /* congestion, on the way here */
	memcpy(pay, f.b + f.pay, sizeof(pay));
	frame_build(&f, &l, &h, pay, sizeof(pay));
	run_it(1);
	send_grad(2, 3, 16, 1);
	expect_sum(TRIB_F_PUSH | TRIB_F_CE, 2, 16, 3);
}

static void grad__resend_that_completes_is_new_to_the_parent(void)
{
	fresh();
	send_grad(0, 3, 16, 1);
	send_grad(1, 3, 16, 1);
	expect_eq(send_resend(2, 3, 16, 1), XDP_REDIRECT);
	expect_sum(0, 2, 16, 3);
	expect_eq(stat_of(TRIB_RX_RESEND), 1);
}

static void spoil_shape(int how)
{
	struct trib_hdr *h = frame_hdr(&f);

	if (how == 0)
		h->scale = htonl(1);
	else if (how == 1)
		h->fmt = TRIB_FMT_W64;
	else if (how == 2)
		h->op = TRIB_WOP_MAX, h->fmt = TRIB_FMT_W64;
}

static void grad__other_shape_passes(void)
{
	for (int how = 0; how < 4; how++) {
		fresh();
		send_grad(0, 3, 32, 1);
		grad(1, 3, how == 3 ? 16 : 32, 1);
		spoil_shape(how);
		expect_passed(1);
		expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
		expect_eq(the_drop(), -1);
	}
}

static void grad__overlap_passes(void)
{
	fresh();
	send_grad(0, 3, 32, 1);
	grad_of(POOL, 1, these(rank_of(0), rank_of(1)), 3, 32, 2);
	expect_passed(1);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void grad__known_drops(void)
{
	fresh();
	send_grad(0, 3, 32, 1);
	expect_eq(send_grad(0, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void check_again(void)
{
	for (int i = 0; i < 3; i++)
		send_grad(i, 3, 352, 5);
	expect_eq(send_resend(1, 3, 352, 5), XDP_REDIRECT);
	expect_sum(TRIB_F_RESEND, 1, 352, 15);
	expect_slot(3, TRIB_POOL_SENT, 3, 15);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 2);
	expect_eq(stat_of(TRIB_DONE), 1);
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
}

static void grad__resend_of_a_sent_sum_sends_it_again(void)
{
	fresh();
	check_again();
	fresh_as(true, 8, 9, 16);
	check_again();
}

static void grad__resend_that_waits_for_others_drops(void)
{
	fresh();
	send_grad(0, 3, 32, 1);
	expect_eq(send_resend(0, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_WAITING);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void grad__rest_follows_what_passed(void)
{
	fresh();
	mark_put(3, EPOCH, 3, TRIB_MARK_MET);
	grad(0, 3, 32, 1);
	expect_passed(0);
	nobody_has(3);
}

static void grad__resend_takes_no_slot(void)
{
	fresh();
	grad(0, 3, 32, 1);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_passed(0);
	nobody_has(3);
	expect_mark(3, TRIB_MARK_MET);
	grad(1, 3, 32, 1); /* and the rest follows */
	expect_passed(1);
}

static void grad__slot_of_another_chunk_passes(void)
{
	fresh();
	one_slot();
	send_grad(0, 3, 32, 1);
	grad(1, 4, 32, 2);
	expect_passed(1);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_mark(4, TRIB_MARK_MET);
	expect_eq(stat_of(TRIB_POOL_TAKEN_OVER), 0);
}

/* Same tree number or same job, chunk and epoch: still somebody else's. */
static void grad__identity_is_all_of_it(void)
{
	struct trib_pool_slot s;

	for (int i = 0; i < 4; i++) {
		fresh();
		send_grad(0, 3, 32, 1);
		s = *pslot(3);
		if (i == 0)
			s.job++;
		else if (i == 1)
			s.tree++;
		else if (i == 2)
			s.epoch--;
		else
			s.chunk += MARKS;
		pslot_put(3, &s);
		grad(1, 3, 32, 2);
		expect_passed(1);
		expect(!memcmp(&s, pslot(3), 192));
	}
	fresh();
	one_slot();
	send_grad(0, 3, 32, 1);
	grad_of(OTHER, 1, these(rank_of(1), -1), 3, 32, 2);
	expect_passed(1);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
}

static void set_age(uint64_t ns)
{
	struct trib_pool row = row_get();

	row.age_ns = ns;
	row_put(row);
}

static void grad__old_slot_is_taken_over(void)
{
	struct trib_pool_slot s;

	fresh();
	one_slot();
	set_age(10000000000ULL);
	send_grad(0, 3, 32, 1);
	send_grad(2, 3, 32, 1);
	s = *pslot(3);
	expect(s.time_ns > 0);
	s.time_ns -= 9000000000ULL;
	pslot_put(3, &s);
	grad(1, 5, 32, 2); /* not that old */
	expect_passed(1);
	s.time_ns -= 2000000000ULL;
	pslot_put(3, &s);
	expect_eq(send_grad(1, 4, 16, 2), XDP_DROP);
	expect_slot(4, TRIB_POOL_COLLECT, 1, 2);
	expect_eq(pslot(4)->nval, 16);
	expect(pslot(4)->time_ns > s.time_ns + 9000000000ULL);
	expect_eq(stat_of(TRIB_POOL_TAKEN_OVER), 1);
	/* Who wants the old chunk asks the PS. */
	grad(1, 3, 32, 1);
	expect_passed(1);
	expect_eq(the_drop(), -1);
}

static void grad__contribution_keeps_the_slot_young(void)
{
	struct trib_pool_slot s;

	fresh();
	one_slot();
	set_age(10000000000ULL);
	send_grad(0, 3, 32, 1);
	s = *pslot(3);
	s.time_ns -= 20000000000ULL;
	pslot_put(3, &s);
	send_grad(1, 3, 32, 1);
	grad(1, 4, 32, 2);
	expect_passed(1);
}

static void grad__without_any_slot_passes(void)
{
	uint32_t none = ~0U;

	fresh();
	for (uint32_t i = 0; i < SLOTS_IN; i++)
		put(pool_table, i, &none);
	grad(0, 3, 32, 1);
	expect_passed(0);
	expect_eq(the_drop(), -1);
}

static void grad__slot_in_use_drops(void)
{
	struct trib_pool_slot s;

	fresh();
	send_grad(0, 3, 32, 1);
	s = *pslot(3);
	s.busy = 1;
	pslot_put(3, &s);
	expect_eq(send_grad(1, 3, 32, 1), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BUSY);
	expect_eq(pslot(3)->workers[0], s.workers[0]);
}

static void grad__capped_job_has_so_many_keys(void)
{
	struct trib_pool row;
	uint32_t slot;

	fresh();
	row = row_get();
	row.cap = 3;
	row_put(row);
	for (uint32_t chunk = 0; chunk < 8; chunk++) {
		grad(0, chunk, 16, 1);
		run_it(0);
	}
	expect_eq(stat_of(TRIB_POOL_MERGED), 3);
	expect_eq(stat_of(TRIB_POOL_PASSED), 5);
	for (uint32_t chunk = 0; chunk < 3; chunk++) {
		struct trib_pool_slot s;

		slot = slot_number(POOL, chunk);
		get(pool_slots, slot, &s);
		expect_eq(s.chunk, chunk);
	}
}

/* --- RESULTs on their way down */

static void result__frees_marks_and_goes_down(void)
{
	struct frame before;

	fresh();
	send_grad(0, 3, 352, 1);
	expect_eq(send_result(3, 9), XDP_REDIRECT);
	expect_eq(group_of(&f), DOWN(INNER));
	expect_eq(ntohs(frame_hdr(&f)->child), 5);
	nobody_has(3);
	expect_mark(3, TRIB_MARK_FLAGS);
	expect_eq(stat_of(TRIB_POOL_FREED), 1);
	expect_eq(stat_of(TRIB_RX_RESULT), 1);
	expect_eq(stat_of(TRIB_TX_RESULT), 1);
	/* Again, when nothing is held. */
	values(hdr(TRIB_T_RESULT, POOL, -1, 5, 3), -1, (struct who){}, 352, 9);
	before = f;
	expect_eq(run_it(-1), XDP_REDIRECT);
	expect_same(&before, DOWN(INNER), 0);
	expect_eq(stat_of(TRIB_POOL_FREED), 1);
	expect_eq(the_drop(), -1);
}

static void result__frees_its_own_chunk_only(void)
{
	fresh();
	one_slot();
	send_grad(0, 3, 32, 1);
	expect_eq(send_result(4, 9), XDP_REDIRECT);
	expect_eq(group_of(&f), DOWN(INNER));
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_mark(4, TRIB_MARK_FLAGS);
	expect_mark(3, TRIB_MARK_MET);
	expect_eq(stat_of(TRIB_POOL_FREED), 0);
}

static void result__newer_mark_stays(void)
{
	fresh();
	mark_put(3, EPOCH, 3 + MARKS, TRIB_MARK_MET);
	expect_eq(send_result(3, 9), XDP_REDIRECT);
	expect_mark(3 + MARKS, TRIB_MARK_MET);
	expect_eq(send_result(3 + 2 * MARKS, 9), XDP_REDIRECT);
	expect_mark(3 + 2 * MARKS, TRIB_MARK_FLAGS);
}

static void result__goes_down_past_a_slot_in_use(void)
{
	struct trib_pool_slot s;

	fresh();
	send_grad(0, 3, 32, 1);
	s = *pslot(3);
	s.busy = 1;
	pslot_put(3, &s);
	expect_eq(send_result(3, 9), XDP_REDIRECT);
	expect_eq(group_of(&f), DOWN(INNER));
	expect_eq(stat_of(TRIB_POOL_UNFREED), 1);
	expect_eq(the_drop(), -1);
}

/* --- everything else */

static void check_probe(void)
{
	struct trib_hdr h = hdr(TRIB_T_PROBE, POOL, 1, rank_of(1), 77);
	struct addr to = peer_of(INNER, 1), us = ourselves(INNER, 1);
	uint8_t ip[16];

	h.relay = htons(12);
	build(1, h, NULL, 0);
	expect_eq(run_it(1), XDP_REDIRECT);
	expect_eq(group_of(&f), -1);
	expect(!memcmp(f.b, to.mac, 6));
	frame_ip(&f, 0, ip);
	expect(!memcmp(ip, us.ip, 16));
	frame_ip(&f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&f, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&f, 1), 40000); /* the socket's own */
	expect_eq(frame_hdr(&f)->type, TRIB_T_PROBE);
	expect_eq(frame_hdr(&f)->flags, 0);
	expect_eq(ntohs(frame_hdr(&f)->relay), RELAY);
	expect_eq(ntohs(frame_hdr(&f)->child), rank_of(1));
	expect_eq(ntohl(frame_hdr(&f)->chunk), 77);
	expect(frame_sound(&f));
	expect_eq(frame_vlan(&f, 0), w.vlan[0]);
	expect_eq(frame_vlan(&f, 1), w.vlan[1]);
	expect_eq(stat_of(TRIB_POOL_PROBED), 1);
	expect_eq(the_drop(), -1);
}

static void probe__is_answered_in_place(void)
{
	fresh();
	check_probe();
	fresh_as(true, 0, 0, 2);
	check_probe();
	fresh_as(false, 8, 0, 16);
	check_probe();
	fresh_as(true, 8, 9, 1);
	check_probe();
}

/* @h from @child leaves for @group as it came. */
static void expect_forwarded(struct trib_hdr h, int child, int nval, int group)
{
	struct frame before;

	fresh();
	if (nval)
		values(h, child, these(rank_of(0), -1), nval, 3);
	else
		build(child, h, these(0, -1).bits, h.bmwords * 8);
	before = f;
	expect_eq(run_it(child), XDP_REDIRECT);
	expect_same(&before, group, ntohs(h.relay));
	expect_eq(stat_of(TRIB_POOL_FORWARDED), group == UP(INNER));
	expect_eq(stat_of(TRIB_POOL_PASSED), 0);
	expect_eq(the_drop(), -1);
	nobody_has(3);
	expect_eq(mark_at(3), 0);
}

static void other__goes_up_untouched(void)
{
	struct trib_hdr h = hdr(TRIB_T_GRAD, POOL, 0, 0, 3);

	h.bmwords = 1;
	h.relay = htons(RELAY + 1);
	expect_forwarded(h, 0, 32, UP(INNER));
	h.relay = htons(TRIB_RELAY_PS);
	h.flags |= TRIB_F_RESEND;
	expect_forwarded(h, 0, 32, UP(INNER));
	h = hdr(TRIB_T_RESULT, POOL, 0, 0, 3);
	expect_forwarded(h, 0, 32, UP(INNER));
	h.bmwords = 1;
	h.relay = htons(TRIB_RELAY_PS);
	expect_forwarded(h, 0, 32, UP(INNER));
	h = hdr(TRIB_T_NEED, POOL, 0, 0, 3);
	expect_forwarded(h, 0, 0, UP(INNER));
	h.bmwords = 1;
	expect_forwarded(h, 0, 0, UP(INNER));
	h = hdr(TRIB_T_ALIVE, POOL, 0, 0, 3);
	h.aux = htons(9);
	expect_forwarded(h, 0, 0, UP(INNER));
	h.type = TRIB_T_ABORT;
	expect_forwarded(h, 0, 0, UP(INNER));
}

static void other__goes_down_untouched(void)
{
	struct trib_hdr h = hdr(TRIB_T_ALIVE, POOL, -1, 0, 3);

	h.aux = htons(9);
	expect_forwarded(h, -1, 0, DOWN(INNER));
	h.type = TRIB_T_ABORT;
	expect_forwarded(h, -1, 0, DOWN(INNER));
}

/* --- who may send */

static void refused(int child, int why)
{
	uint64_t n = stat_of(TRIB_RX_GRAD) + stat_of(TRIB_RX_RESULT) +
		     stat_of(TRIB_RX_CONTROL) + stat_of(TRIB_RX_NEED);

	expect_eq(n, 0);
	expect_eq(run_it(child), XDP_DROP);
	expect_eq(the_drop(), why);
	nobody_has(3);
	expect_eq(mark_at(3), 0);
}

/* The rank of the first child, where a sender is looked for at first. */
static void ranks_from(int rank)
{
	struct trib_pool row = row_get();

	row.rank0 = rank;
	row_put(row);
}

/* A child in its place needs no entry, and one with an entry no place. */
static void admit__neighbours_are_found_either_way(void)
{
	struct trib_pool_face key;

	fresh();
	key = face_key(POOL, 1);
	bpf_map_delete_elem(pool_faces, &key);
	expect_eq(send_grad(1, 3, 16, 1), XDP_DROP);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	fresh();
	ranks_from(5);
	expect_eq(send_grad(1, 3, 16, 1), XDP_DROP);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 1);
	expect_eq(the_drop(), -1);
}

static void admit__strangers_drop(void)
{
	struct trib_pool_face key;

	fresh();
	grad(0, 3, 16, 1);
	expect_eq(run_xdp(&f, 1), XDP_DROP); /* by another port */
	expect_eq(the_drop(), TRIB_DROP_FACE);
	fresh();
	grad(0, 3, 16, 1);
	f.b[f.l3 + 15] ^= 1; /* from another address */
	refused(0, TRIB_DROP_FACE);
	fresh();
	key = face_key(POOL, 1); /* of another tree */
	bpf_map_delete_elem(pool_faces, &key);
	ranks_from(5);
	grad(1, 3, 16, 1);
	refused(1, TRIB_DROP_FACE);
	fresh_as(false, 8, 0, 1);
	grad(1, 3, 16, 1);
	f.b[15] ^= 1; /* another tag */
	refused(1, TRIB_DROP_FACE);
	fresh(); /* a child poses as the next hop */
	values(hdr(TRIB_T_RESULT, POOL, -1, 5, 3), 1, (struct who){}, 16, 9);
	frame_hdr(&f)->flags = 0;
	refused(1, TRIB_DROP_FACE);
	fresh();
	values(hdr(TRIB_T_GRAD, POOL, 1, 1, 3), 1, these(1, -1), 16, 9);
	frame_hdr(&f)->cookie ^= 1;
	refused(1, TRIB_DROP_COOKIE);
	fresh();
	grad(0, 3, 16, 1);
	frame_hdr(&f)->job = htons(JOB + 1);
	refused(0, TRIB_DROP_TREE);
}

/* Ranks of a relay below us, past it; not those next to us. */
static void admit__guests_are_ranks_of_the_row(void)
{
	struct trib_hdr h = hdr(TRIB_T_PROBE, POOL, 0, rank_of(2), 3);

	fresh();
	build(0, h, NULL, 0);
	f.b[f.l3 + 15] ^= 1;
	expect_eq(run_it(0), XDP_REDIRECT);
	expect_eq(stat_of(TRIB_POOL_PROBED), 1);
	expect_eq(frame_port(&f, 1), 40000);
	fresh_as(true, 0, 0, 16);
	h = hdr(TRIB_T_GRAD, POOL, 0, rank_of(2), 3);
	h.relay = htons(RELAY);
	h.bmwords = words;
	values(h, 0, these(rank_of(2), -1), 16, 9);
	f.b[f.l3 + 23] ^= 1;
	expect_eq(run_it(0), XDP_DROP);
	expect_slot(3, TRIB_POOL_COLLECT, 1, 9);
	fresh();
	values(hdr(TRIB_T_NEED, POOL, 0, rank_of(2), 3), 0, (struct who){}, 0,
	       0);
	f.b[f.l3 + 15] ^= 1;
	expect_eq(run_it(0), XDP_REDIRECT);
	expect_eq(group_of(&f), UP(INNER));
	fresh();
	h = hdr(TRIB_T_PROBE, POOL, 0, foreign(), 3);
	build(0, h, NULL, 0);
	f.b[f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
	fresh();
	h.child = htons(rank_of(1));
	build(0, h, NULL, 0);
	f.b[f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
	fresh();
	values(hdr(TRIB_T_JOIN, POOL, 0, rank_of(2), 0), 0, (struct who){}, 16,
	       9);
	f.b[f.l3 + 15] ^= 1;
	refused(0, TRIB_DROP_FACE);
}

/* Between workers and the PS, past us: IP's business. */
static void left_to_ip(int child)
{
	struct frame before = f;

	expect_eq(run_it(child), XDP_PASS);
	expect(f.len == before.len && !memcmp(f.b, before.b, f.len));
	expect_eq(the_drop(), -1);
	expect_eq(stat_of(TRIB_RX_CONTROL), 0);
}

static void admit__what_is_not_for_us_is_left_to_ip(void)
{
	fresh();
	build(0, hdr(TRIB_T_PROBE, POOL, 0, 0, 3), NULL, 0);
	f.b[f.l3 + 18] ^= 0x40; /* to the PS */
	left_to_ip(0);
	fresh_as(true, 0, 0, 1);
	build(0, hdr(TRIB_T_PROBE, POOL, 0, 0, 3), NULL, 0);
	f.b[f.l3 + 38] ^= 0x40;
	left_to_ip(0);
	fresh();
	grad(0, 3, 16, 1);
	f.b[f.l3 + 14] ^= 1; /* from a worker that is not our neighbour */
	f.b[f.l3 + 18] ^= 0x40;
	left_to_ip(0);
	fresh();
	values(hdr(TRIB_T_RESULT, POOL, -1, 5, 3), 1, (struct who){}, 16, 9);
	frame_hdr(&f)->flags = 0;
	f.b[f.l3 + 18] ^= 0x40;
	left_to_ip(1);
	fresh();
	values(hdr(TRIB_T_JOIN, POOL, 0, 0, 0), 0, (struct who){}, 16, 9);
	left_to_ip(0);
	fresh();
	values(hdr(TRIB_T_START, POOL, -1, 0, 0), -1, (struct who){}, 16, 9);
	left_to_ip(-1);
}

static void admit__rank_is_one_of_the_job(void)
{
	fresh();
	grad(0, 3, 16, 1);
	frame_hdr(&f)->child = htons(64);
	refused(0, TRIB_DROP_CHILD);
	fresh();
	build(0, hdr(TRIB_T_PROBE, POOL, 0, 64, 3), NULL, 0);
	refused(0, TRIB_DROP_CHILD);
}

static void admit__bitmap_is_the_jobs(void)
{
	for (int n = 0; n < 3; n += 2) {
		struct trib_hdr h = hdr(TRIB_T_GRAD, POOL, 0, 0, 3);

		fresh();
		h.relay = htons(RELAY);
		h.bmwords = n;
		values(h, 0, these(0, -1), 16, 1);
		refused(0, TRIB_DROP_BITMAP);
	}
	fresh();
	grad_of(POOL, 0, (struct who){}, 3, 16, 1); /* of nobody */
	expect_eq(run_it(0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_BITMAP);
	nobody_has(3);
	expect_eq(mark_at(3), 0);
	fresh();
	{
		struct trib_hdr h = hdr(TRIB_T_RESULT, POOL, -1, 0, 3);

		h.bmwords = 2;
		values(h, -1, these(0, -1), 16, 1);
		refused(-1, TRIB_DROP_BITMAP);
	}
}

static void admit__form(void)
{
	struct trib_hdr h;

	fresh();
	grad(0, 3, 16, 1);
	frame_hdr(&f)->relay = 0; /* for nobody */
	refused(0, TRIB_DROP_FORMAT);
	fresh();
	grad(0, 3, 16, 1);
	frame_hdr(&f)->epoch = 0;
	refused(0, TRIB_DROP_EPOCH);
	fresh();
	h = hdr(TRIB_T_PROBE, POOL, 0, 0, 3);
	h.bmwords = 1;
	build(0, h, these(0, -1).bits, 8);
	refused(0, TRIB_DROP_FORMAT);
	for (int i = 0; i < 2; i++) {
		fresh();
		h = hdr(i ? TRIB_T_PROBE : TRIB_T_NEED, POOL, -1, 0, 3);
		build(-1, h, NULL, 0); /* these are for workers */
		refused(-1, TRIB_DROP_TYPE);
	}
	fresh();
	put(pools, POOL, &(struct trib_pool){}); /* a row half written */
	grad(0, 3, 16, 1);
	refused(0, TRIB_DROP_BITMAP);
}

/* A dedicated tree takes nothing of a shared one's. */
static void admit__dedicated_trees_are_unmoved(void)
{
	struct trib_hdr h = header(TRIB_T_GRAD, INNER, 0, 3);

	fresh();
	h.bmwords = 1;
	values(h, 0, these(0, -1), 16, 1);
	refused(0, TRIB_DROP_FORMAT);
	fresh();
	h.bmwords = 0;
	h.relay = htons(RELAY);
	values(h, 0, these(0, -1), 16, 1);
	refused(0, TRIB_DROP_FORMAT);
}

/* --- through the stack */

static void live(bool v6, uint16_t vlan0, uint16_t vlan1, int n)
{
	fresh_as(v6, vlan0, vlan1, n);
	live_flush();
}

/* @f came to the next hop, with its own addresses and the sender's rank. */
static void expect_caught_up(int rank)
{
	struct addr to = peer_of(INNER, -1), from = ourselves(INNER, -1);
	uint8_t ip[16];

	if (!expect(live_catch(&f, 3)))
		return;
	expect(!memcmp(f.b, to.mac, 6));
	frame_ip(&f, 0, ip);
	expect(!memcmp(ip, from.ip, 16));
	frame_ip(&f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&f, 0), TRIB_UDP_PORT);
	expect_eq(frame_port(&f, 1), to.port);
	expect_eq(frame_vlan(&f, 0), w.vlan[0]);
	expect(frame_sound(&f));
	expect_eq(ntohs(frame_hdr(&f)->child), rank);
	expect_eq(frame_hdr(&f)->flags & TRIB_F_UP, TRIB_F_UP);
}

static void live__rank_survives_the_next_hops_headers(void)
{
	live(false, 0, 0, 16);
	for (int i = 0; i < 3; i++) {
		grad(i, 3, 352, 5);
		live_send(&f, i);
	}
	expect_caught_up(rank_of(2));
	f.b[6] = 3, f.b[7] = 0x54;
	memcpy(f.b + 8, &(uint32_t){UP(INNER)}, 4);
	expect_sum(0, 2, 352, 15);
	expect_eq(stat_of(TRIB_EGRESS), 1);
}

/* The last one has nothing to add, and brings no room for the sum. */
static void check_grow(void)
{
	grad(0, 3, 352, 5);
	run_it(0);
	grad(1, 3, 352, 6);
	run_it(1);
	grad(2, 3, 0, 0);
	live_send(&f, 2);
	expect_caught_up(rank_of(2));
	f.b[6] = 3, f.b[7] = 0x54;
	memcpy(f.b + 8, &(uint32_t){UP(INNER)}, 4);
	expect_sum(0, 2, 352, 11);
	expect_eq(stat_of(TRIB_TX_GROW), 1);
	expect_eq(stat_of(TRIB_TX_PARTIAL), 1);
	grad(2, 3, 0, 0);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	live_send(&f, 2);
	expect_caught_up(rank_of(2));
	expect_eq(frame_hdr(&f)->flags, TRIB_F_UP | TRIB_F_RESEND);
	expect_eq(the_drop(), -1);
}

static void grow__sum_longer_than_its_packet(void)
{
	live(false, 0, 0, 1);
	check_grow();
	live(true, 0, 0, 16);
	check_grow();
	live(false, 8, 9, 2);
	check_grow();
}

static void grow__all_empty_stays_in_xdp(void)
{
	fresh();
	send_grad(0, 3, 0, 0);
	grad(1, 3, 32, 0); /* zeros, to make room */
	frame_hdr(&f)->flags |= TRIB_F_EMPTY;
	run_it(1);
	expect_eq(send_grad(2, 3, 0, 0), XDP_REDIRECT);
	expect_sum(TRIB_F_EMPTY, 2, 0, 0);
	expect_eq(pslot(3)->nval, 0);
}

/* The slot changes between the two programs. */
static void gone(int how)
{
	struct trib_pool_slot s;

	fresh();
	send_grad(0, 3, 352, 5);
	send_grad(1, 3, 352, 5);
	expect_eq(send_grad(2, 3, 0, 0), XDP_PASS);
	s = *pslot(3);
	if (how == 0)
		s.epoch++;
	else if (how == 1)
		s.chunk += MARKS;
	else if (how == 2)
		s.tree++;
	else if (how == 3)
		s.job++;
	else if (how == 4)
		s.state = TRIB_POOL_COLLECT;
	else
		s.state = TRIB_POOL_FREE;
	pslot_put(3, &s);
	expect_eq(run_grow(&f, 2), TC_ACT_SHOT);
	expect_eq(the_drop(), TRIB_DROP_GROW_GONE);
	expect_eq(stat_of(TRIB_EGRESS), 0);
}

static void grow__compares_the_identity_again(void)
{
	for (int how = 0; how < 6; how++)
		gone(how);
}

/* As in generic mode: no devmaps, no entries for ports. */
static void generic__clsact_forwards_with_the_number(void)
{
	struct trib_hdr h = hdr(TRIB_T_GRAD, POOL, 0, rank_of(0), 3);

	live(false, 0, 0, 1);
	group_unmap(UP(INNER));
	h.relay = htons(RELAY + 1);
	h.bmwords = 1;
	values(h, 0, these(0, -1), 32, 3);
	live_send(&f, 0);
	expect_caught_up(rank_of(0));
	expect_eq(ntohs(frame_hdr(&f)->relay), RELAY + 1);
	expect_eq(frame_hdr(&f)->type, TRIB_T_GRAD);
	expect_eq(frame_hdr(&f)->attempt, 0);
	expect_eq(frame_word(&f, 1), 3);
	expect_eq(the_drop(), -1);
}

static void check_generic_probe(void)
{
	struct addr to = peer_of(INNER, 1);
	uint8_t ip[16];

	bpf_map_delete_elem(w.ports, &w.ifindex[1]);
	build(1, hdr(TRIB_T_PROBE, POOL, 1, rank_of(1), 77), NULL, 0);
	live_send(&f, 1);
	if (!expect(live_catch(&f, 1)))
		return;
	frame_ip(&f, 1, ip);
	expect(!memcmp(ip, to.ip, 16));
	expect_eq(frame_port(&f, 1), 40000);
	expect_eq(frame_vlan(&f, 0), w.vlan[0]);
	expect_eq(frame_vlan(&f, 1), w.vlan[1]);
	expect_eq(frame_hdr(&f)->type, TRIB_T_PROBE);
	expect_eq(frame_hdr(&f)->flags, 0);
	expect_eq(ntohs(frame_hdr(&f)->relay), RELAY);
	expect_eq(ntohl(frame_hdr(&f)->chunk), 77);
	expect_eq(frame_hdr(&f)->aux | frame_hdr(&f)->scale, 0);
	expect(frame_sound(&f));
	expect_eq(the_drop(), -1);
}

static void generic__clsact_answers_probes(void)
{
	live(false, 0, 0, 1);
	check_generic_probe();
	live(true, 8, 9, 1);
	check_generic_probe();
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	live_open();
	pools = map("pools");
	pool_slots = map("pool_slots");
	pool_table = map("pool_table");
	pool_marks = map("pool_marks");
	pool_faces = map("pool_faces");
	run(grad__newer_mark_drops);
	run(grad__older_mark_becomes_ours);
	run(grad__late_copy_of_an_acked_chunk_drops);
	run(grad__workers_of_others_pass);
	run(grad__disjoint_workers_add_up);
	run(grad__sums_of_relays_add_up);
	run(grad__maximum_and_single_lanes);
	run(grad__flags_are_collected);
	run(grad__resend_that_completes_is_new_to_the_parent);
	run(grad__other_shape_passes);
	run(grad__overlap_passes);
	run(grad__known_drops);
	run(grad__resend_of_a_sent_sum_sends_it_again);
	run(grad__resend_that_waits_for_others_drops);
	run(grad__rest_follows_what_passed);
	run(grad__resend_takes_no_slot);
	run(grad__slot_of_another_chunk_passes);
	run(grad__identity_is_all_of_it);
	run(grad__old_slot_is_taken_over);
	run(grad__contribution_keeps_the_slot_young);
	run(grad__without_any_slot_passes);
	run(grad__slot_in_use_drops);
	run(grad__capped_job_has_so_many_keys);
	run(result__frees_marks_and_goes_down);
	run(result__frees_its_own_chunk_only);
	run(result__newer_mark_stays);
	run(result__goes_down_past_a_slot_in_use);
	run(probe__is_answered_in_place);
	run(other__goes_up_untouched);
	run(other__goes_down_untouched);
	run(admit__neighbours_are_found_either_way);
	run(admit__strangers_drop);
	run(admit__guests_are_ranks_of_the_row);
	run(admit__what_is_not_for_us_is_left_to_ip);
	run(admit__rank_is_one_of_the_job);
	run(admit__bitmap_is_the_jobs);
	run(admit__form);
	run(admit__dedicated_trees_are_unmoved);
	run(live__rank_survives_the_next_hops_headers);
	run(grow__sum_longer_than_its_packet);
	run(grow__all_empty_stays_in_xdp);
	run(grow__compares_the_identity_again);
	run(generic__clsact_forwards_with_the_number);
	run(generic__clsact_answers_probes);
	world_close();
	return tap_done();
}
