// SPDX-License-Identifier: BSD-2-Clause
/*
 * Masked contributions: expansion into dense slots, masks and lengths that are wrong,
 * and results that are longer than the packets that complete them.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"

static struct frame in, out;
static uint32_t pay[TRIB_NVAL_LARGE], dense[TRIB_NVAL_LARGE];

/* All masks that are one: 2:4 is (2, 2). */
static const uint8_t masks[] = {
	1 << 5 | 0, 2 << 5 | 0,	 2 << 5 | 1, 2 << 5 | 2,  3 << 5 | 0,  3 << 5 | 1,
	3 << 5 | 2, 3 << 5 | 3,	 3 << 5 | 4, 3 << 5 | 5,  3 << 5 | 6,  4 << 5 | 0,
	4 << 5 | 7, 4 << 5 | 14, 5 << 5 | 0, 5 << 5 | 15, 5 << 5 | 30,
};

#define NMASKS (sizeof(masks) / sizeof(masks[0]))

/* Fill pay with a contribution of @seed, and add it to dense. */
static void contribution(int nval, uint8_t nm, uint32_t seed)
{
	unsigned int n = nval / TRIB_MASK_UNITS * trib_nm_per_word(nm);
	uint32_t *packed = pay + nval / TRIB_MASK_UNITS;
	int there;

	memset(pay, 0, sizeof(pay));
	mask_words(pay, nval / TRIB_MASK_UNITS, nm, seed);
	for (unsigned int i = 0; i < n; i++)
		packed[i] = mask_random(&seed) << 8 ^ mask_random(&seed);
	for (int i = 0; i < nval; i++)
		dense[i] += mask_value(pay, nval, i, &there);
}

static struct trib_hdr masked_hdr(int tree, int child, uint32_t chunk, int nval, uint8_t nm)
{
	struct trib_hdr h = header(TRIB_T_GRAD, tree, child, chunk);

	h.flags |= TRIB_F_MASK;
	h.fmt = TRIB_FMT_I32;
	h.nm = nm;
	h.nval = htons(nval);
	h.scale = htonl(-7);
	return h;
}

/* Build the contribution in pay. */
static void masked(int tree, int child, uint32_t chunk, int nval, uint8_t nm)
{
	frame_of(&in, tree, child, masked_hdr(tree, child, chunk, nval, nm), pay,
		 trib_masked_len(nval, nm));
}

static bool live;

static void fresh(void)
{
	world_reset();
	if (live)
		live_flush();
	memset(dense, 0, sizeof(dense));
}

/* Three ranks with masks of their own; all are short but the sums right. */
static void check_sum(int nval, uint8_t a, uint8_t b, uint8_t c)
{
	const uint8_t nm[3] = {a, b, c};
	struct trib_slot *s;

	fresh();
	/* The values of an older chunk are in the slot. */
	s = slot_of(ROOT, 3);
	memset(s->v, 0x5a, 4 * nval);
	slot_put(ROOT, 3, s);
	for (int child = 0; child < 3; child++) {
		contribution(nval, nm[child], nval * 31 + child);
		masked(ROOT, child, 3, nval, nm[child]);
		run_xdp(&in, child);
	}
	s = slot_of(ROOT, 3);
	expect_eq(the_drop(), -1);
	expect_eq(s->state, TRIB_SLOT_RESULT);
	expect_eq(s->nval, nval);
	expect_eq(s->fmt, TRIB_FMT_I32);
	expect_eq(s->nm, 0);
	expect_eq(s->scale, htonl(-7));
	expect(!memcmp(s->v, dense, 4 * nval));
}

static void mask__values_are_expanded(void)
{
	for (unsigned int i = 0; i < NMASKS; i++) {
		check_sum(w.nval, masks[i], masks[i], masks[i]);
		check_sum(32, masks[i], masks[(i + 1) % NMASKS], masks[(i + 5) % NMASKS]);
		check_sum(w.nval - 32, masks[i], masks[(i + 3) % NMASKS], masks[0]);
	}
}

static void mask__dense_and_masked_ranks_add_up(void)
{
	for (int first = 0; first < 2; first++) {
		fresh();
		for (int i = 0; i < 3; i++) {
			int child = (i + first) % 3;

			contribution(w.nval, masks[2], child);
			if (child) {
				masked(ROOT, child, 3, w.nval, masks[2]);
			} else {
				struct trib_hdr h = masked_hdr(ROOT, 0, 3, w.nval, 0);
				static uint32_t plain[TRIB_NVAL_LARGE];

				for (int k = 0; k < w.nval; k++) {
					int there;

					plain[k] = mask_value(pay, w.nval, k, &there);
				}
				h.flags &= ~TRIB_F_MASK;
				frame_of(&in, ROOT, 0, h, plain, 4 * w.nval);
			}
			run_xdp(&in, child);
		}
		expect_eq(the_drop(), -1);
		expect(!memcmp(slot_of(ROOT, 3)->v, dense, 4 * w.nval));
	}
}

/* The packet in hand is shorter than the sum: trib_send makes it longer. */
static void mask__result_is_dense(void)
{
	fresh();
	for (int child = 0; child < 3; child++) {
		contribution(w.nval, masks[2], child);
		masked(ROOT, child, 3, w.nval, masks[2]);
		if (child < 2)
			run_xdp(&in, child);
		else
			live_send(&in, child);
	}
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, child)))
			continue;
		expect(frame_sound(&out));
		expect_eq(frame_hdr(&out)->type, TRIB_T_RESULT);
		expect_eq(frame_hdr(&out)->flags, 0);
		expect_eq(frame_hdr(&out)->nm, 0);
		expect_eq(frame_hdr(&out)->fmt, TRIB_FMT_I32);
		expect_eq(frame_hdr(&out)->scale, htonl(-7));
		expect_eq(ntohs(frame_hdr(&out)->nval), w.nval);
		expect(!memcmp(out.b + out.pay, dense, 4 * w.nval));
	}
	expect_eq(stat_of(TRIB_TX_GROW), 1);
	expect_eq(the_drop(), -1);
}

static void mask__partial_sum_is_dense(void)
{
	fresh();
	for (int child = 0; child < 2; child++) {
		contribution(w.nval, masks[4], child);
		masked(INNER, child, 3, w.nval, masks[4]);
		if (child < 1)
			run_xdp(&in, child);
		else
			live_send(&in, child);
	}
	expect(live_catch(&out, 3));
	expect_eq(frame_hdr(&out)->type, TRIB_T_GRAD);
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP);
	expect_eq(frame_hdr(&out)->nm, 0);
	expect(!memcmp(out.b + out.pay, dense, 4 * w.nval));
	/* Once more, on request. */
	frame_hdr(&in)->flags |= TRIB_F_RESEND;
	live_send(&in, 1);
	expect(live_catch(&out, 3));
	expect_eq(frame_hdr(&out)->flags, TRIB_F_UP | TRIB_F_RESEND);
	expect(!memcmp(out.b + out.pay, dense, 4 * w.nval));
	expect_eq(the_drop(), -1);
}

static void mask__known_rank_is_answered(void)
{
	fresh();
	for (int child = 0; child < 3; child++) {
		contribution(w.nval, masks[2], child);
		masked(ROOT, child, 3, w.nval, masks[2]);
		run_xdp(&in, child);
	}
	contribution(w.nval, masks[2], 7);
	masked(ROOT, 1, 3, w.nval, masks[2]);
	frame_hdr(&in)->flags |= TRIB_F_RESEND;
	live_send(&in, 1);
	expect(live_catch(&out, 1));
	expect_eq(frame_hdr(&out)->type, TRIB_T_RESULT);
	expect(!memcmp(out.b + out.pay, slot_of(ROOT, 3)->v, 4 * w.nval));
	expect_eq(stat_of(TRIB_TX_ANSWER), 1);
}

static void expect_refused(int why)
{
	expect_eq(run_xdp(&in, 1), XDP_DROP);
	expect_eq(the_drop(), why);
	expect_eq(slot_of(ROOT, 3)->epoch, 0);
	expect_eq(slot_of(ROOT, 3)->seen, 0);
}

static void mask__wrong_bits_leave_the_slot_alone(void)
{
	for (unsigned int i = 0; i < NMASKS; i++) {
		for (int word = 0; word < w.nval / 32; word += 5) {
			fresh();
			contribution(w.nval, masks[i], i);
			pay[word] ^= 1U << (i * 7 % 32);
			masked(ROOT, 1, 3, w.nval, masks[i]);
			expect_refused(TRIB_DROP_MASK);
		}
	}
	/* Right in all, but not in each group. */
	fresh();
	contribution(w.nval, masks[2], 1);
	pay[0] = 0x33333337 ^ 0x30;
	pay[0] = (pay[0] & ~0xffU) | 0x17;
	masked(ROOT, 1, 3, w.nval, masks[2]);
	expect_refused(TRIB_DROP_MASK);
}

/* The slot of an older chunk is not taken for a contribution with a wrong mask. */
static void mask__wrong_bits_take_no_slot(void)
{
	fresh();
	run_grad(&in, ROOT, 0, 3, w.nval, 5);
	contribution(w.nval, masks[2], 1);
	pay[3] = ~0U;
	masked(ROOT, 1, 3 + SLOTS, w.nval, masks[2]);
	run_xdp(&in, 1);
	expect_eq(the_drop(), TRIB_DROP_MASK);
	expect_eq(slot_of(ROOT, 3)->chunk, 3);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
}

static void mask__length_must_be_that_of_the_mask(void)
{
	for (int more = -64; more <= 64; more += 128) {
		fresh();
		contribution(w.nval, masks[2], 1);
		frame_of(&in, ROOT, 1, masked_hdr(ROOT, 1, 3, w.nval, masks[2]), pay,
			 trib_masked_len(w.nval, masks[2]) + more);
		expect_refused(TRIB_DROP_LENGTH);
	}
	/* The length without a mask. */
	fresh();
	frame_of(&in, ROOT, 1, masked_hdr(ROOT, 1, 3, w.nval, masks[2]), pay, 4 * w.nval);
	expect_refused(TRIB_DROP_LENGTH);
}

/* Refuse the header @h, with the payload that @nm has. */
static void refused_hdr(struct trib_hdr h, int len)
{
	fresh();
	contribution(w.nval, masks[2], 1);
	frame_of(&in, ROOT, 1, h, pay, len);
	expect_refused(TRIB_DROP_FORMAT);
}

static void mask__only_sums_of_words_have_one(void)
{
	static const uint8_t fmts[] = {TRIB_FMT_NONE, TRIB_FMT_Q32,  TRIB_FMT_W64,
				       TRIB_FMT_F16,  TRIB_FMT_BF16, TRIB_FMT_Q16};
	const struct trib_hdr good = masked_hdr(ROOT, 1, 3, w.nval, masks[2]);
	int len = trib_masked_len(w.nval, masks[2]);
	struct trib_hdr h;

	for (int i = 0; i < 6; i++) {
		h = good;
		h.fmt = fmts[i];
		refused_hdr(h, len);
	}
	h = good;
	h.op = TRIB_WOP_MAX;
	refused_hdr(h, len);
	h = good;
	h.flags |= TRIB_F_EMPTY;
	refused_hdr(h, len);
	/* A mask that is none: N or M out of range, or all of N. */
	for (unsigned int nm = 0; nm < 256; nm++) {
		h = good;
		h.nm = nm;
		if (!trib_nm_is_mask(nm))
			refused_hdr(h, len);
	}
	/* Values of no whole word, or none. */
	h = good;
	h.nval = htons(16);
	refused_hdr(h, len);
	h.nval = 0;
	refused_hdr(h, 0);
	/* A mask without the flag. */
	h = good;
	h.flags &= ~TRIB_F_MASK;
	refused_hdr(h, 4 * w.nval);
}

static void mask__results_have_none(void)
{
	struct trib_hdr h = masked_hdr(INNER, -1, 3, w.nval, masks[2]);

	for (int from = -1; from < 2; from++) {
		fresh();
		h = masked_hdr(INNER, from, 3, w.nval, masks[2]);
		h.type = TRIB_T_RESULT;
		frame_of(&in, INNER, from, h, pay, trib_masked_len(w.nval, masks[2]));
		run_xdp(&in, port_of(INNER, from));
		expect_eq(the_drop(), TRIB_DROP_FORMAT);
		expect_eq(slot_of(INNER, 3)->epoch, 0);
	}
}

/* Without the module: tests/vm/kfunc adds them. */
static void mask__floats_need_the_module(void)
{
	struct trib_hdr h = masked_hdr(ROOT, 1, 3, w.nval, masks[2]);

	fresh();
	h.fmt = TRIB_FMT_F32;
	h.scale = 0;
	contribution(w.nval, masks[2], 1);
	frame_of(&in, ROOT, 1, h, pay, trib_masked_len(w.nval, masks[2]));
	expect_refused(TRIB_DROP_MODULE);
}

static void mask__shape_is_compared(void)
{
	fresh();
	contribution(w.nval, masks[2], 1);
	masked(ROOT, 0, 3, w.nval, masks[2]);
	run_xdp(&in, 0);
	masked(ROOT, 1, 3, w.nval, masks[2]);
	frame_hdr(&in)->scale = htonl(-6);
	run_xdp(&in, 1);
	expect_eq(the_drop(), TRIB_DROP_SCALE);
	expect_eq(slot_of(ROOT, 3)->seen, 1);
	/* Dense values of another format. */
	run_grad(&in, ROOT, 2, 3, w.nval, 1);
	expect_eq(stat_of(TRIB_DROP_MISMATCH), 1);
	expect(!memcmp(slot_of(ROOT, 3)->v, dense, 4 * w.nval));
}

int main(void)
{
	world_open(TRIB_NVAL_LARGE);
	run(mask__values_are_expanded);
	run(mask__wrong_bits_leave_the_slot_alone);
	world_close();
	world_open(TRIB_NVAL_SMALL);
	live_open();
	live = true;
	run(mask__values_are_expanded);
	run(mask__dense_and_masked_ranks_add_up);
	run(mask__result_is_dense);
	run(mask__partial_sum_is_dense);
	run(mask__known_rank_is_answered);
	run(mask__wrong_bits_leave_the_slot_alone);
	run(mask__wrong_bits_take_no_slot);
	run(mask__length_must_be_that_of_the_mask);
	run(mask__only_sums_of_words_have_one);
	run(mask__results_have_none);
	run(mask__floats_need_the_module);
	run(mask__shape_is_compared);
	world_close();
	return tap_done();
}
