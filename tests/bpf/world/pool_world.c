// SPDX-License-Identifier: BSD-2-Clause
/* The world of the tests of shared pools; see pool_world.h. */
#include <arpa/inet.h>
#include <endian.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pool_world.h"
#include "tests/lib/tap.h"

struct pool_world pw = {.words = 1};

int pool_rank(int i)
{
	return i < 2 ? i : pw.words * 64 - 2;
}

/* Return a worker of the job that does not send through this relay. */
int pool_foreign(void)
{
	return pw.words * 64 - 1;
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

void pool_map_put(int fd, uint32_t key, const void *value)
{
	if (bpf_map_update_elem(fd, &key, value, 0)) {
		printf("Bail out! map update\n");
		exit(1);
	}
}

void pool_map_get(int fd, uint32_t key, void *value)
{
	if (bpf_map_lookup_elem(fd, &key, value)) {
		printf("Bail out! map look-up\n");
		exit(1);
	}
}

void pool_set_bit(__be64 *bits, int rank)
{
	bits[rank / 64] |= htobe64(1ULL << rank % 64);
}

struct trib_pool pool_row_get(void)
{
	struct trib_pool row;

	pool_map_get(pw.rows, POOL, &row);
	return row;
}

void pool_row_put(struct trib_pool row)
{
	pool_map_put(pw.rows, POOL, &row);
}

static void make_tree(int tree, int job)
{
	struct trib_tree t;
	struct trib_pool row = {
		.relay = RELAY,
		.next = NEXT,
		.bmwords = pw.words,
		.mark0 = (tree - POOL) * MARKS,
		.mark_mask = MARKS - 1,
		.table_mask = SLOTS_IN - 1,
		.age_ns = HOUR,
		.key = world_job(),
	};
	struct trib_key key;

	tree_get(INNER, &t);
	t.job = job;
	t.epoch = 0;
	t.world = pw.words * 64;
	t.flags |= TRIB_TREE_SHARED;
	/* The third child is a relay. */
	for (int i = 0; i < t.nchild; i++) {
		t.child[i].rank = i < 2 ? pool_rank(i) : 0xffff;
		key = world_key(tree, i < 2 ? pool_rank(i) : WE_UP);
		t.child[i].auth = trib_key_secret(&key);
	}
	t.parent.key = world_key(tree, -1);
	t.parent.auth = trib_key_secret(&t.parent.key);
	tree_put(tree, &t);
	for (int i = 0; i < 3; i++)
		pool_set_bit(row.mask, pool_rank(i));
	pool_map_put(pw.rows, tree, &row);
}

struct trib_pool_face pool_face_key(int tree, int child)
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
		struct trib_pool_face key = pool_face_key(tree, child), own = {.tree = tree};
		struct trib_key relays = world_key(tree, WE_UP);
		struct addr us = ourselves(INNER, child);
		struct trib_pool_local local = {};

		memcpy(own.addr, us.ip, 16);
		memcpy(local.addr, us.ip, 16);
		bpf_map_update_elem(pw.faces, &own, &local, 0);
		if (child == 2)
			local.auth = trib_key_secret(&relays);
		bpf_map_update_elem(pw.faces, &key, &local, 0);
	}
}

void pool_clear_faces(void)
{
	struct trib_pool_face key;

	while (!bpf_map_get_next_key(pw.faces, NULL, &key))
		bpf_map_delete_elem(pw.faces, &key);
}

/* Copies of the inner tree's groups are those of a shared tree. */
static void rewrite_as(int group, int port, int up, int who)
{
	struct trib_rewrite_key key = {group, w.ifindex[port]};
	struct trib_key secret = world_key(POOL, who);
	struct trib_rewrite r;

	if (bpf_map_lookup_elem(w.rewrites, &key, &r))
		return;
	r.up = up;
	r.auth = trib_key_secret(&secret);
	bpf_map_update_elem(w.rewrites, &key, &r, 0);
}

void pool_relay(int tree, int child)
{
	struct trib_pool_face key = pool_face_key(tree, child);
	struct trib_key relays = world_key(tree, WE_UP);
	struct trib_pool_local local;
	struct trib_tree t;

	pw.relay |= 1 << child;
	tree_get(tree, &t);
	t.child[child].rank = 0xffff;
	t.child[child].auth = trib_key_secret(&relays);
	tree_put(tree, &t);
	bpf_map_lookup_elem(pw.faces, &key, &local);
	local.auth = t.child[child].auth;
	bpf_map_update_elem(pw.faces, &key, &local, 0);
}

void pool_fresh_as(bool v6, uint16_t vlan0, uint16_t vlan1, int n)
{
	static uint8_t zeros[sizeof(struct trib_pool_slot)];

	pw.words = n;
	world_reset_as(v6, vlan0, vlan1);
	for (uint32_t i = 0; i < SLOTS_IN; i++) {
		pool_map_put(pw.slots, i, zeros);
		pool_map_put(pw.table, i, &i);
	}
	for (uint32_t i = 0; i < 2 * MARKS; i++)
		pool_map_put(pw.marks, i, zeros);
	pool_clear_faces();
	make_tree(POOL, JOB);
	make_tree(OTHER, JOB + 1);
	make_faces(POOL);
	make_faces(OTHER);
	rewrite_as(UP(INNER), 3, TRIB_REWRITE_NEXT, WE_UP);
	for (int i = 0; i < 2; i++)
		rewrite_as(DOWN(INNER), i, TRIB_REWRITE_PASS, WE_DOWN);
	pw.relay = 1 << 2;
}

void pool_fresh(void)
{
	pool_fresh_as(false, 0, 0, 1);
}

/* All chunks of all jobs go to one slot. */
void pool_one_slot(void)
{
	for (uint32_t i = 0, slot = 5; i < SLOTS_IN; i++)
		pool_map_put(pw.table, i, &slot);
}

uint32_t pool_slot_number(int tree, uint32_t chunk)
{
	uint32_t bucket = trib_pool_bucket(JOB + tree - POOL, tree, chunk, SLOTS_IN - 1), slot;

	pool_map_get(pw.table, bucket, &slot);
	return slot;
}

struct trib_pool_slot *pool_slot(uint32_t chunk)
{
	static struct trib_pool_slot s;

	pool_map_get(pw.slots, pool_slot_number(POOL, chunk), &s);
	return &s;
}

void pool_slot_put(uint32_t chunk, const struct trib_pool_slot *s)
{
	pool_map_put(pw.slots, pool_slot_number(POOL, chunk), s);
}

uint64_t pool_mark(uint32_t chunk)
{
	uint64_t mark;

	pool_map_get(pw.marks, chunk % MARKS, &mark);
	return mark;
}

void pool_mark_put(uint32_t at, uint32_t epoch, uint32_t chunk, uint64_t bits)
{
	uint64_t mark = TRIB_MARK(epoch, chunk) | bits;

	pool_map_put(pw.marks, at % MARKS, &mark);
}

void pool_expect_mark(uint32_t chunk, uint64_t bits)
{
	expect_eq(pool_mark(chunk), TRIB_MARK(EPOCH, chunk) | bits);
}

/* --- packets */

struct trib_hdr pool_hdr(int type, int tree, int child, int rank, uint32_t chunk)
{
	struct trib_hdr h = header(type, tree, child, chunk);

	h.job = htons(JOB + tree - POOL);
	h.child = htons(rank);
	return h;
}

void pool_build(int child, struct trib_hdr h, const void *pay, int len)
{
	int tree = ntohs(h.tree), rank = ntohs(h.child);
	struct link l = link_of(INNER, child);

	if (!(h.flags & TRIB_F_UP))
		rank = -1;
	else if (trib_auth_is_secret(h.type) && (pw.relay >> child & 1))
		rank = WE_UP;
	world_sign(&h, pay, len, world_key(tree, rank));
	frame_build(&pw.f, &l, &h, pay, len);
}

struct pool_who pool_who(int a, int b)
{
	struct pool_who who = {};

	pool_set_bit(who.bits, a);
	if (b >= 0)
		pool_set_bit(who.bits, b);
	return who;
}

void pool_values(struct trib_hdr h, int child, struct pool_who who, int nval, uint64_t word)
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
	pool_build(child, h, pay, n + len);
}

/*
 * Make a GRAD addressed to this relay with the sum of @who, sent by rank number
 * @i.
 */
void pool_grad_of(int tree, int i, struct pool_who who, uint32_t chunk, int nval, uint64_t word)
{
	struct trib_hdr h = pool_hdr(TRIB_T_GRAD, tree, i, pool_rank(i), chunk);
	struct pool_who own = pool_who(pool_rank(i), -1);

	h.relay = htons(RELAY);
	h.bmwords = pw.words;
	if (memcmp(&who, &own, sizeof(who)) && i < 2)
		pool_relay(tree, i);
	pool_values(h, i, who, nval, word);
}

void pool_grad(int i, uint32_t chunk, int nval, uint64_t word)
{
	pool_grad_of(POOL, i, pool_who(pool_rank(i), -1), chunk, nval, word);
}

int pool_run(int child)
{
	return run_xdp(&pw.f, port_of(INNER, child));
}

int pool_send_grad(int i, uint32_t chunk, int nval, uint64_t word)
{
	pool_grad(i, chunk, nval, word);
	return pool_run(i);
}

int pool_send_resend(int i, uint32_t chunk, int nval, uint64_t word)
{
	pool_grad(i, chunk, nval, word);
	frame_hdr(&pw.f)->flags |= TRIB_F_RESEND;
	return pool_run(i);
}

int pool_send_result(uint32_t chunk, uint64_t word)
{
	struct trib_hdr h = pool_hdr(TRIB_T_RESULT, POOL, -1, 5, chunk);

	pool_values(h, -1, (struct pool_who){}, 352, word);
	return pool_run(-1);
}

/* --- expected packets */

void pool_expect_same(const struct frame *before, int group, int relay)
{
	struct frame b = *before;

	expect_eq(group_of(&pw.f), group);
	expect_eq(ntohs(frame_hdr(&pw.f)->relay), relay);
	frame_hdr(&b)->relay = frame_hdr(&pw.f)->relay;
	memcpy(b.b + 6, pw.f.b + 6, 6); /* the mark */
	expect(pw.f.len == b.len && !memcmp(pw.f.b, b.b, pw.f.len));
}

void pool_expect_passed(int child)
{
	struct frame before = pw.f;
	uint64_t n = stat_of(TRIB_POOL_PASSED);

	expect_eq(pool_run(child), XDP_REDIRECT);
	pool_expect_same(&before, UP(INNER), NEXT);
	expect_eq(stat_of(TRIB_POOL_PASSED), n + 1);
}

void pool_expect_sum(int flags, int child, int nval, uint64_t word)
{
	struct trib_hdr *h = frame_hdr(&pw.f);
	struct trib_pool row = pool_row_get();
	uint64_t v;

	expect_eq(group_of(&pw.f), UP(INNER));
	expect_eq(h->type, TRIB_T_GRAD);
	expect_eq(h->flags, TRIB_F_UP | flags);
	expect_eq(h->fmt, TRIB_FMT_Q32);
	expect_eq(h->bmwords, pw.words);
	expect_eq(ntohs(h->relay), NEXT);
	expect_eq(ntohs(h->child), pool_rank(child));
	expect_eq(ntohs(h->nval), nval);
	expect_eq(ntohl(h->epoch), EPOCH);
	expect_eq(h->attempt | h->aux | h->nm, 0);
	expect(frame_lengths_agree(&pw.f));
	expect(!memcmp(pw.f.b + pw.f.pay, row.mask, pw.words * 8));
	for (int i = 0; i < nval / 2; i++) {
		memcpy(&v, pw.f.b + pw.f.pay + 8 * pw.words + 8 * i, 8);
		if (!expect(v == word))
			return;
	}
}

void pool_expect_slot(uint32_t chunk, int state, int n, uint64_t word)
{
	struct trib_pool_slot *s = pool_slot(chunk);
	int bits = 0;

	expect_eq(s->state, state);
	expect_eq(s->chunk, chunk);
	expect_eq(s->epoch, EPOCH);
	expect_eq(s->job, JOB);
	expect_eq(s->tree, POOL);
	expect_eq(s->busy, 0);
	for (int i = 0; i < pw.words; i++)
		bits += __builtin_popcountll(s->workers[i]);
	expect_eq(bits, n);
	if (s->nval)
		expect_eq(s->v[s->nval / 2 - 1], word);
}

void pool_expect_nobody(uint32_t chunk)
{
	expect_eq(pool_slot(chunk)->state, TRIB_POOL_FREE);
}

void pool_open(void)
{
	world_open(TRIB_NVAL_SMALL);
	pw.rows = map("pools");
	pw.slots = map("pool_slots");
	pw.table = map("pool_table");
	pw.marks = map("pool_marks");
	pw.faces = map("pool_faces");
}
