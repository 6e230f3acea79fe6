// SPDX-License-Identifier: BSD-2-Clause
/*
 * Secrets: what a stranger, or a member of the job, can forge or repeat. Each test
 * knows what somebody knows who has joined the multicast group, and more.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>
#include "tests/lib/tap.h"
#include "world/pool_world.h"

static struct frame f;

static __be64 secret_of(int tree, int child)
{
	struct trib_key key = world_key(tree, child);

	return trib_key_secret(&key);
}

static void expect_drop_of(int port, int why)
{
	expect_eq(run_xdp(&f, port), XDP_DROP);
	expect_eq(the_drop(), why);
}

/* --- data */

static void secret__of_results_gives_no_right_upwards(void)
{
	world_reset();
	frame_grad(&f, ROOT, 0, 3, 352, 1);
	frame_hdr(&f)->auth = secret_of(ROOT, WE_DOWN);
	expect_drop_of(0, TRIB_DROP_AUTH);
	world_reset(); /* a RESULT that a child holds */
	frame_result(&f, ROOT, 0, 3, 352, 1);
	frame_hdr(&f)->auth = secret_of(ROOT, WE_DOWN);
	expect_drop_of(0, TRIB_DROP_AUTH);
	expect_eq(slot_of(ROOT, 3)->seen, 0);
}

static void secret__is_of_one_child(void)
{
	world_reset();
	frame_grad(&f, ROOT, 0, 3, 352, 1);
	frame_hdr(&f)->auth = secret_of(ROOT, 1);
	expect_drop_of(0, TRIB_DROP_AUTH);
	world_reset();
	frame_grad(&f, ROOT, 0, 3, 352, 1);
	frame_hdr(&f)->auth = secret_of(INNER, 0);
	expect_drop_of(0, TRIB_DROP_AUTH);
}

static void secret__of_a_child_gives_no_right_downwards(void)
{
	world_reset();
	frame_result(&f, INNER, -1, 3, 352, 1);
	frame_hdr(&f)->auth = secret_of(INNER, 0);
	expect_drop_of(3, TRIB_DROP_AUTH);
}

/* An answer to one child passes no egress program that would replace the secret. */
static void secret__of_a_child_does_not_come_back(void)
{
	world_reset();
	for (int i = 0; i < 3; i++)
		run_grad(&f, ROOT, i, 3, 352, 1);
	frame_grad(&f, ROOT, 1, 3, 352, 1);
	frame_hdr(&f)->flags |= TRIB_F_RESEND;
	expect_eq(run_xdp(&f, 1), XDP_REDIRECT);
	expect_eq(frame_hdr(&f)->type, TRIB_T_RESULT);
	expect_eq(frame_hdr(&f)->auth, secret_of(ROOT, WE_DOWN));
}

/* --- control packets */

static void build(int type, int tree, int child, uint32_t chunk)
{
	uint64_t seen = 0;
	struct trib_hdr h = header(type, tree, child, chunk);

	h.bmwords = type == TRIB_T_NEED;
	h.aux = htons(1);
	if (type == TRIB_T_NEED)
		h.aux = 0;
	frame_of(&f, tree, child, h, &seen, 8 * h.bmwords);
}

static void build_number(int type, int child, uint32_t number)
{
	struct trib_key key = world_key(ROOT, child);
	uint64_t seen = 0;

	build(type, ROOT, child, TRIB_ABORT_GONE);
	frame_hdr(&f)->scale = htonl(number);
	frame_hdr(&f)->auth = trib_auth(&key, frame_hdr(&f), &seen, 8 * frame_hdr(&f)->bmwords);
}

static void control__any_bit_is_covered(void)
{
	static const int types[] = {TRIB_T_NEED, TRIB_T_ALIVE, TRIB_T_ABORT};

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int at = 16; at < 40 + 8u * (types[i] == TRIB_T_NEED); at++) {
			/* The epoch, and what makes it another form, have reasons of their own. */
			if ((at >= 20 && at < 26))
				continue;
			world_reset();
			build(types[i], ROOT, 0, 3);
			((uint8_t *)frame_hdr(&f))[at] ^= 0x10;
			expect_drop_of(0, TRIB_DROP_AUTH);
		}
	world_reset();
	build(TRIB_T_ALIVE, ROOT, 0, 3);
	frame_hdr(&f)->type = TRIB_T_ABORT;
	expect_drop_of(0, TRIB_DROP_AUTH);
}

/* Whoever reads the way down has these words of it. */
static void control__secrets_are_no_authenticators(void)
{
	world_reset();
	build(TRIB_T_ABORT, ROOT, 0, TRIB_ABORT_DEAD);
	frame_hdr(&f)->auth = secret_of(ROOT, WE_DOWN);
	expect_drop_of(0, TRIB_DROP_AUTH);
	world_reset();
	build(TRIB_T_ABORT, ROOT, 0, TRIB_ABORT_DEAD);
	frame_hdr(&f)->auth = secret_of(ROOT, 0);
	expect_drop_of(0, TRIB_DROP_AUTH);
}

static void control__of_another_child_or_the_way_down_is_refused(void)
{
	struct trib_key key = world_key(ROOT, WE_DOWN);

	world_reset();
	build(TRIB_T_ALIVE, ROOT, 0, 3);
	frame_hdr(&f)->auth = trib_auth(&key, frame_hdr(&f), NULL, 0);
	expect_drop_of(0, TRIB_DROP_AUTH);
	key = world_key(ROOT, 1);
	world_reset();
	build(TRIB_T_ALIVE, ROOT, 0, 3);
	frame_hdr(&f)->auth = trib_auth(&key, frame_hdr(&f), NULL, 0);
	expect_drop_of(0, TRIB_DROP_AUTH);
}

static void sent(int child, uint32_t number, int why)
{
	build_number(TRIB_T_ABORT, child, number);
	expect_eq(run_xdp(&f, child), why < 0 ? XDP_REDIRECT : XDP_DROP);
	expect_eq(the_drop(), why);
	if (why >= 0) {
		uint64_t none[sizeof(struct trib_stats) / 8 * 64] = {0};

		bpf_map_update_elem(w.stats, &(int){0}, none, 0);
	}
}

static void replay__numbers_are_taken_once(void)
{
	world_reset();
	sent(0, 100, -1);
	sent(0, 100, TRIB_DROP_REPLAY);
	sent(0, 101, -1);
	sent(0, 99, -1); /* came late */
	sent(0, 99, TRIB_DROP_REPLAY);
	sent(0, 38, -1);
	sent(0, 37, TRIB_DROP_REPLAY); /* too late to tell */
	sent(0, 5000, -1);
	sent(0, 101, TRIB_DROP_REPLAY);
	sent(1, 100, -1); /* each child counts for itself */
	sent(0, TRIB_REPLAY_TRIBD, -1);
	sent(0, 5001, TRIB_DROP_REPLAY);
}

/* A forged number must not shut out the right ones. */
static void replay__forged_numbers_are_not_noted(void)
{
	world_reset();
	sent(0, 7, -1);
	build_number(TRIB_T_ABORT, 0, 0x3fffffff);
	frame_hdr(&f)->auth ^= 1;
	expect_drop_of(0, TRIB_DROP_AUTH);
	world_reset();
	sent(0, 8, -1);
}

static void replay__new_epoch_counts_anew(void)
{
	struct trib_key key = world_key(ROOT, 0);
	struct trib_tree t;

	world_reset();
	sent(0, 100, -1);
	tree_get(ROOT, &t);
	t.epoch++;
	tree_put(ROOT, &t);
	build_number(TRIB_T_ABORT, 0, 1);
	frame_hdr(&f)->epoch = htonl(EPOCH + 1);
	frame_hdr(&f)->auth = trib_auth(&key, frame_hdr(&f), NULL, 0);
	expect_eq(run_xdp(&f, 0), XDP_REDIRECT);
	build_number(TRIB_T_ABORT, 0, 100); /* recorded before */
	expect_drop_of(0, TRIB_DROP_EPOCH);
}

/* Every control packet that we send has another number. */
static void number__is_ours_and_grows(void)
{
	uint32_t last = 0;

	world_reset();
	for (int i = 0; i < 4; i++) {
		build(i & 1 ? TRIB_T_NEED : TRIB_T_ALIVE, INNER, i & 1 ? -1 : 0, 3);
		expect_eq(run_xdp(&f, i & 1 ? 3 : 0), XDP_REDIRECT);
		expect(ntohl(frame_hdr(&f)->scale) == last + 1);
		last = ntohl(frame_hdr(&f)->scale);
	}
}

/* --- shared trees */

static void pool_refused(int child, int why)
{
	expect_eq(pool_run(child), XDP_DROP);
	expect_eq(the_drop(), why);
}

static void pool__worker_brings_its_own_values_only(void)
{
	struct trib_hdr h;

	pool_fresh();
	h = pool_hdr(TRIB_T_GRAD, POOL, 0, pool_rank(0), 3);
	h.relay = htons(RELAY);
	h.bmwords = pw.words;
	pool_values(h, 0, pool_who(pool_rank(0), pool_rank(1)), 16, 1);
	pool_refused(0, TRIB_DROP_BITMAP);
	pool_fresh();
	pool_values(h, 0, pool_who(pool_rank(1), -1), 16, 1);
	pool_refused(0, TRIB_DROP_BITMAP);
	/* Not for this relay: it would pass it on with its own secret. */
	pool_fresh();
	h.relay = htons(TRIB_RELAY_PS);
	pool_values(h, 0, pool_who(pool_rank(1), -1), 16, 1);
	pool_refused(0, TRIB_DROP_BITMAP);
}

static void pool__secret_is_of_one_rank_or_of_relays(void)
{
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->auth = secret_of(POOL, pool_rank(1));
	pool_refused(0, TRIB_DROP_AUTH);
	pool_fresh();
	pool_grad(0, 3, 16, 1);
	frame_hdr(&pw.f)->auth = secret_of(POOL, WE_DOWN);
	pool_refused(0, TRIB_DROP_AUTH);
	pool_fresh(); /* a rank that bypasses its relay */
	pool_grad_of(POOL, 2, pool_who(pool_rank(2), -1), 3, 16, 1);
	pw.f.b[pw.f.l3 + 15] ^= 1;
	pool_refused(2, TRIB_DROP_AUTH); /* with the secret of relays */
	pool_fresh();
	pool_grad_of(POOL, 2, pool_who(pool_rank(2), -1), 3, 16, 1);
	frame_hdr(&pw.f)->auth = secret_of(POOL, pool_rank(2));
	pw.f.b[pw.f.l3 + 15] ^= 1;
	expect_eq(pool_run(2), XDP_DROP);
	expect_eq(the_drop(), -1);
	pool_fresh();
	pool_grad_of(POOL, 2, pool_who(pool_rank(2), pool_rank(1)), 3, 16, 1);
	frame_hdr(&pw.f)->auth = secret_of(POOL, pool_rank(2));
	pw.f.b[pw.f.l3 + 15] ^= 1;
	pool_refused(2, TRIB_DROP_BITMAP);
}

static void pool__control_is_of_its_rank(void)
{
	pool_fresh();
	pool_build(0, pool_hdr(TRIB_T_ABORT, POOL, 0, pool_rank(0), TRIB_ABORT_DEAD), NULL, 0);
	frame_hdr(&pw.f)->aux ^= 1;
	pool_refused(0, TRIB_DROP_AUTH);
	pool_fresh();
	pool_build(0, pool_hdr(TRIB_T_ALIVE, POOL, 0, pool_rank(0), 3), NULL, 0);
	frame_hdr(&pw.f)->child = htons(pool_rank(1));
	pool_refused(0, TRIB_DROP_AUTH);
	pool_fresh();
	pool_build(-1, pool_hdr(TRIB_T_ABORT, POOL, -1, 0, TRIB_ABORT_DEAD), NULL, 0);
	expect_eq(pool_run(-1), XDP_REDIRECT);
	pool_build(-1, pool_hdr(TRIB_T_ABORT, POOL, -1, 0, TRIB_ABORT_DEAD), NULL, 0);
	frame_hdr(&pw.f)->auth ^= 1;
	pool_refused(-1, TRIB_DROP_AUTH);
}

/* An answer is authentic, and of the PROBE that it answers. */
static void pool__probe_is_answered_with_its_number(void)
{
	struct trib_key key = world_key(POOL, pool_rank(0));
	__be32 number;

	pool_fresh();
	pool_build(0, pool_hdr(TRIB_T_PROBE, POOL, 0, pool_rank(0), 3), NULL, 0);
	number = frame_hdr(&pw.f)->scale;
	expect_eq(pool_run(0), XDP_REDIRECT);
	expect_eq(frame_hdr(&pw.f)->scale, number);
	expect_eq(frame_hdr(&pw.f)->auth, trib_auth(&key, frame_hdr(&pw.f), NULL, 0));
	pool_build(0, pool_hdr(TRIB_T_PROBE, POOL, 0, pool_rank(0), 3), NULL, 0);
	frame_hdr(&pw.f)->auth ^= 1;
	pool_refused(0, TRIB_DROP_AUTH);
}

int main(void)
{
	pool_open();
	run(secret__of_results_gives_no_right_upwards);
	run(secret__is_of_one_child);
	run(secret__of_a_child_gives_no_right_downwards);
	run(secret__of_a_child_does_not_come_back);
	run(control__any_bit_is_covered);
	run(control__secrets_are_no_authenticators);
	run(control__of_another_child_or_the_way_down_is_refused);
	run(replay__numbers_are_taken_once);
	run(replay__forged_numbers_are_not_noted);
	run(replay__new_epoch_counts_anew);
	run(number__is_ours_and_grows);
	run(pool__worker_brings_its_own_values_only);
	run(pool__secret_is_of_one_rank_or_of_relays);
	run(pool__control_is_of_its_rank);
	run(pool__probe_is_answered_with_its_number);
	world_close();
	return tap_done();
}
