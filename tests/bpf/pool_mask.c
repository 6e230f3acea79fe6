// SPDX-License-Identifier: BSD-2-Clause
/* Masked contributions in shared pools: expansion, wrong masks, and sums that grow. */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/bpf/world/live.h"
#include "tests/bpf/world/pool_world.h"
#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"

#define NVAL TRIB_NVAL_SMALL
#define NM_24 (2 << 5 | 1)
#define NM_38 (3 << 5 | 2)
#define NM_132 (5 << 5)

static uint32_t dense[NVAL];

static void fresh(int words)
{
	pool_fresh_as(false, 0, 0, words);
	live_flush();
	memset(dense, 0, sizeof(dense));
}

/* Build a contribution of rank number @i; @flip: bits of its first mask word. */
static void masked(int i, uint8_t nm, uint32_t flip)
{
	uint8_t pay[8 * TRIB_BMWORDS_MAX + 4 * NVAL] = {0};
	struct trib_hdr h = pool_hdr(TRIB_T_GRAD, POOL, i, pool_rank(i), 3);
	struct pool_who own = pool_who(pool_rank(i), -1);
	int n = 8 * pw.words, there;
	uint32_t *words = (uint32_t *)(void *)(pay + n), seed = i + 1;

	memcpy(pay, own.bits, n);
	mask_words(words, NVAL / 32, nm, seed);
	for (unsigned int k = 0; k < NVAL / 32 * trib_nm_per_word(nm); k++)
		words[NVAL / 32 + k] = mask_random(&seed) << 8;
	for (int k = 0; k < NVAL; k++)
		dense[k] += mask_value(words, NVAL, k, &there);
	words[0] ^= flip;
	h.relay = htons(RELAY);
	h.bmwords = pw.words;
	h.flags |= TRIB_F_MASK;
	h.fmt = TRIB_FMT_I32;
	h.nm = nm;
	h.nval = htons(NVAL);
	pool_build(i, h, pay, n + trib_masked_len(NVAL, nm));
}

static void check_sum(int words)
{
	static const uint8_t nm[] = {NM_24, NM_132, NM_38};
	struct trib_hdr *h;

	fresh(words);
	for (int i = 0; i < 3; i++) {
		masked(i, nm[i], 0);
		if (i < 2)
			expect_eq(pool_run(i), XDP_DROP);
		else
			live_send(&pw.f, i);
	}
	if (!expect(live_catch(&pw.f, 3)))
		return;
	h = frame_hdr(&pw.f);
	expect(frame_sound(&pw.f));
	expect_eq(h->type, TRIB_T_GRAD);
	expect_eq(h->flags, TRIB_F_UP);
	expect_eq(h->nm, 0);
	expect_eq(h->fmt, TRIB_FMT_I32);
	expect_eq(ntohs(h->nval), NVAL);
	expect_eq(ntohs(h->relay), NEXT);
	expect(!memcmp(pw.f.b + pw.f.pay + 8 * words, dense, sizeof(dense)));
	expect_eq(stat_of(TRIB_TX_GROW), 1);
	expect_eq(the_drop(), -1);
}

static void mask__sum_is_dense(void)
{
	check_sum(1);
	check_sum(2);
	check_sum(16);
}

static void mask__wrong_bits_leave_slot_and_mark_alone(void)
{
	for (int words = 1; words <= 16; words *= 4) {
		fresh(words);
		masked(0, NM_24, 1 << 9);
		expect_eq(pool_run(0), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_MASK);
		pool_expect_nobody(3);
		expect_eq(pool_mark(3), 0);
	}
}

/* For another relay: that one, or the PS, will look at the mask. */
static void mask__contribution_for_others_passes_as_it_is(void)
{
	struct frame before;

	fresh(1);
	masked(0, NM_24, 0);
	frame_hdr(&pw.f)->relay = htons(RELAY + 1);
	before = pw.f;
	expect_eq(pool_run(0), XDP_REDIRECT);
	pool_expect_same(&before, UP(INNER), RELAY + 1);
	expect_eq(the_drop(), -1);
}

static void mask__floats_are_refused(void)
{
	fresh(1);
	masked(0, NM_24, 0);
	frame_hdr(&pw.f)->fmt = TRIB_FMT_F32;
	expect_eq(pool_run(0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_FORMAT);
}

int main(void)
{
	pool_open();
	live_open();
	run(mask__sum_is_dense);
	run(mask__wrong_bits_leave_slot_and_mark_alone);
	run(mask__contribution_for_others_passes_as_it_is);
	run(mask__floats_are_refused);
	world_close();
	return tap_done();
}
