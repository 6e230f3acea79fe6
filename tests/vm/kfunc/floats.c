// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sums of floats by the relay's programs with the kernel module: packets in; the
 * slot and the packet out are compared to the bit, in the order of arrival. The
 * compiler's own floats are the oracle.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <math.h>
#include <string.h>
#include "tests/bpf/world/world.h"
#include "tests/lib/float_bits.h"
#include "tests/lib/mask_make.h"
#include "tests/lib/tap.h"

#define VALUES TRIB_NVAL_LARGE

static struct frame f;
static int nval; /* of the BPF object */
static const int formats[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};

/* --- values of a format */

/* The nearer of the two bf16 around @x, or the even one. */
static uint16_t bf16_of(float x)
{
	uint16_t low = float_bits(x) >> 16;
	double down, up;

	if (isnan(x))
		return low | 0x40;
	if (isinf(x))
		return low;
	down = fabs((double)x - float_of((uint32_t)low << 16));
	/* Beyond the largest value, round as if there were a next one. */
	up = (low & 0x7fff) == 0x7f7f ? fabs(copysign(0x1p128, x) - (double)x)
				      : fabs(float_of((uint32_t)(low + 1) << 16) - (double)x);
	return up < down || (up == down && (low & 1)) ? low + 1 : low;
}

static bool is_half(int fmt)
{
	return fmt != TRIB_FMT_F32;
}

/* Put @n values into a payload; zero follows an odd number. */
static int pack(int fmt, const float *x, int n, void *pay)
{
	_Float16 *h = pay;
	uint16_t *b = pay;
	float *s = pay;

	memset(pay, 0, 4 * VALUES);
	for (int i = 0; i < n; i++) {
		if (fmt == TRIB_FMT_F32)
			s[i] = x[i];
		else if (fmt == TRIB_FMT_F16)
			h[i] = (_Float16)x[i];
		else
			b[i] = bf16_of(x[i]);
	}
	return is_half(fmt) ? (n + 1) / 2 : n;
}

static void unpack(int fmt, const void *pay, int n, float *x)
{
	const _Float16 *h = pay;
	const uint16_t *b = pay;
	const float *s = pay;

	for (int i = 0; i < n; i++)
		x[i] = fmt == TRIB_FMT_F32   ? s[i]
		       : fmt == TRIB_FMT_F16 ? (float)h[i]
					     : float_of((uint32_t)b[i] << 16);
}

/* Pseudorandom values whose sums are not exact. */
static void numbers(float *x, int n, uint32_t seed)
{
	for (int i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		x[i] = ldexpf((int)(seed >> 8) - (1 << 23), (int)(seed >> 4 & 7) - 22);
	}
}

/* --- one chunk */

struct sum {
	int fmt, n, units;
	float acc[VALUES];
	bool any;
	uint8_t want[4 * VALUES];
};

static void sum_begin(struct sum *s, int fmt, int n)
{
	memset(s, 0, sizeof(*s));
	s->fmt = fmt;
	s->n = n;
}

/* Make values of @seed, as the next ones to be added. */
static void sum_next(struct sum *s, uint32_t seed, void *pay)
{
	float x[VALUES] = {};

	numbers(x, s->n, seed);
	s->units = pack(s->fmt, x, s->n, pay);
	unpack(s->fmt, pay, s->n, x);
	for (int i = 0; i < s->n; i++)
		s->acc[i] = s->any ? s->acc[i] + x[i] : x[i];
	s->any = true;
	pack(s->fmt, s->acc, s->n, s->want);
}

/* Send values of @seed from @child and update expectations. Return: the verdict. */
static int sum_give(struct sum *s, int tree, int child, uint32_t chunk, uint32_t seed)
{
	uint8_t pay[4 * VALUES];

	sum_next(s, seed, pay);
	frame_floats(&f, tree, child, chunk, s->fmt, s->units, pay);
	return run_xdp(&f, port_of(tree, child));
}

/* Expect the sum in the packet that left. */
static bool sum_left(struct sum *s, int type)
{
	const struct trib_hdr *h = frame_hdr(&f);

	return expect(h->type == type) && expect(h->fmt == s->fmt) &&
	       expect(ntohs(h->nval) == s->units) && expect(frame_lengths_agree(&f)) &&
	       expect(!memcmp(f.b + f.pay, s->want, trib_payload_len(s->units)));
}

static bool slot_has(struct sum *s, int tree, uint32_t chunk, int state)
{
	const struct trib_slot *slot = slot_of(tree, chunk);

	return expect(slot->state == state) && expect(slot->busy == 0) &&
	       expect(!memcmp(slot->v, s->want, trib_payload_len(s->units)));
}

/* Lengths in values: all blocks, part of one, one, and an odd one. */
static int lengths(int fmt, int len[8])
{
	int all = nval, n = 0;

	len[n++] = all;
	len[n++] = all - 16;
	len[n++] = 1;
	len[n++] = 17;
	len[n++] = is_half(fmt) ? 31 : 16;
	len[n++] = 32;
	return n;
}

static void floats__sums_are_those_of_arrival(void)
{
	static const int orders[][3] = {{0, 1, 2}, {2, 0, 1}};
	uint8_t seen[2][64];
	struct sum s;
	int len[8];

	for (int i = 0; i < 3; i++) {
		int n = lengths(formats[i], len);

		for (int j = 0; j < 2 * n; j++) {
			const int *order = orders[j % 2];

			world_reset();
			sum_begin(&s, formats[i], len[j / 2]);
			expect_eq(sum_give(&s, ROOT, order[0], j, order[0] + 1), XDP_DROP);
			expect_eq(sum_give(&s, ROOT, order[1], j, order[1] + 1), XDP_DROP);
			expect_eq(sum_give(&s, ROOT, order[2], j, order[2] + 1), XDP_REDIRECT);
			expect_eq(the_drop(), -1);
			if (!sum_left(&s, TRIB_T_RESULT) ||
			    !slot_has(&s, ROOT, j, TRIB_SLOT_RESULT))
				return;
			if (j < 2)
				memcpy(seen[j], s.want, 64);
		}
		/* Otherwise the test could not fail. */
		if (formats[i] == TRIB_FMT_F32)
			expect(memcmp(seen[0], seen[1], 64));
	}
}

static void floats__partial_goes_up_in_the_same_format(void)
{
	struct sum s;

	for (int i = 0; i < 3; i++) {
		world_reset();
		sum_begin(&s, formats[i], nval);
		sum_give(&s, INNER, 1, 1, 5);
		expect_eq(sum_give(&s, INNER, 0, 1, 6), XDP_REDIRECT);
		sum_left(&s, TRIB_T_GRAD);
		slot_has(&s, INNER, 1, TRIB_SLOT_SENT);
		expect_eq(group_of(&f), UP(INNER));
		/* A second time: the same bits, not rounded again. */
		frame_floats(&f, INNER, 1, 1, formats[i], s.units, s.want);
		frame_hdr(&f)->flags |= TRIB_F_RESEND;
		expect_eq(run_xdp(&f, port_of(INNER, 1)), XDP_REDIRECT);
		sum_left(&s, TRIB_T_GRAD);
	}
}

static void floats__result_is_answered_with_the_same_bits(void)
{
	struct sum s;

	for (int i = 0; i < 3; i++) {
		world_reset();
		sum_begin(&s, formats[i], nval);
		for (int child = 0; child < 3; child++)
			sum_give(&s, ROOT, child, 1, child + 9);
		frame_floats(&f, ROOT, 1, 1, formats[i], s.units, s.acc);
		frame_hdr(&f)->flags |= TRIB_F_RESEND;
		expect_eq(run_xdp(&f, 1), XDP_REDIRECT);
		sum_left(&s, TRIB_T_RESULT);
		slot_has(&s, ROOT, 1, TRIB_SLOT_RESULT);
	}
}

/* The last packet has no values: it grows, or has room. */
static void floats__last_may_be_empty(void)
{
	static const uint8_t zeros[4 * VALUES];
	struct sum s;

	for (int i = 0; i < 6; i++) {
		world_reset();
		sum_begin(&s, formats[i / 2], nval);
		sum_give(&s, ROOT, 0, 1, 3);
		sum_give(&s, ROOT, 2, 1, 4);
		frame_floats(&f, ROOT, 1, 1, s.fmt, i % 2 ? s.units : 0, zeros);
		frame_hdr(&f)->flags |= TRIB_F_EMPTY;
		expect_eq(run_xdp(&f, 1), i % 2 ? XDP_REDIRECT : XDP_PASS);
		slot_has(&s, ROOT, 1, TRIB_SLOT_RESULT);
		if (i % 2)
			sum_left(&s, TRIB_T_RESULT);
	}
}

/* Only one child has values: they are not rounded again. */
static void floats__sole_values_stay(void)
{
	struct sum s;

	for (int i = 0; i < 3; i++) {
		world_reset();
		sum_begin(&s, formats[i], nval);
		frame_floats(&f, ROOT, 1, 1, s.fmt, 0, s.want);
		run_xdp(&f, 1);
		sum_give(&s, ROOT, 0, 1, 3);
		frame_floats(&f, ROOT, 2, 1, s.fmt, 0, s.want);
		run_xdp(&f, 2);
		slot_has(&s, ROOT, 1, TRIB_SLOT_RESULT);
		expect_eq(slot_of(ROOT, 1)->nval, s.units);
	}
}

static void floats__duplicate_is_not_added(void)
{
	struct sum s, twice;

	world_reset();
	sum_begin(&s, TRIB_FMT_F32, nval);
	sum_give(&s, ROOT, 0, 1, 3);
	twice = s;
	sum_give(&twice, ROOT, 0, 1, 3);
	expect_eq(the_drop(), TRIB_DROP_DUP);
	slot_has(&s, ROOT, 1, TRIB_SLOT_COLLECT);
}

/* NaN and Inf follow arithmetic; a sum beyond the largest f16 is Inf. */
static void floats__special_values_are_values(void)
{
	const float in[3][5] = {{INFINITY, INFINITY, NAN, 60000, 3.3e38f},
				{1, -INFINITY, 1, 60000, 3.3e38f},
				{1, 1, 1, 1, 1}};
	float out[16];

	for (int i = 0; i < 3; i++) {
		uint8_t pay[4 * VALUES];
		int units = 0;

		world_reset();
		for (int child = 0; child < 3; child++) {
			units = pack(formats[i], in[child], 5, pay);
			frame_floats(&f, ROOT, child, 1, formats[i], units, pay);
			run_xdp(&f, child);
		}
		unpack(formats[i], f.b + f.pay, 5, out);
		expect(isinf(out[0]) && out[0] > 0);
		expect(isnan(out[1]));
		expect(isnan(out[2]));
		expect(formats[i] == TRIB_FMT_F16 ? isinf(out[3]) : fabsf(out[3] - 120001) < 500);
		expect(isinf(out[4]));
	}
}

static void floats__other_formats_do_not_mix(void)
{
	struct sum s, other;

	for (int i = 0; i < 3; i++) {
		world_reset();
		sum_begin(&s, formats[i], 16);
		sum_give(&s, ROOT, 0, 1, 3);
		sum_begin(&other, formats[(i + 1) % 3], 16);
		sum_give(&other, ROOT, 1, 1, 4);
		expect_eq(the_drop(), TRIB_DROP_MISMATCH);
		run_grad(&f, ROOT, 1, 1, 16, 5);
		expect_eq(stat_of(TRIB_DROP_MISMATCH), 2);
		expect_eq(slot_of(ROOT, 1)->seen, 1);
	}
}

static bool torn; /* the next mask has a bit too many or too few */

/* Send values of @seed with a mask; a unit without a value is left alone. */
static int sum_give_masked(struct sum *s, int child, uint8_t nm, uint32_t seed)
{
	struct trib_hdr h = header(TRIB_T_GRAD, ROOT, child, 1);
	unsigned int words = s->n / TRIB_MASK_UNITS, n = 0;
	uint32_t pay[VALUES] = {};
	float x[VALUES];

	numbers(x, s->n, seed);
	mask_words(pay, words, nm, seed);
	for (int i = 0; i < s->n; i++) {
		if (!(pay[i / 32] >> i % 32 & 1))
			continue; /* the first contribution sets it to +0 */
		s->acc[i] = s->any ? s->acc[i] + x[i] : x[i];
		memcpy(pay + words + n++, &x[i], 4);
	}
	s->any = true;
	s->units = pack(s->fmt, s->acc, s->n, s->want);
	pay[words - 1] ^= torn;
	h.flags |= TRIB_F_MASK;
	h.fmt = TRIB_FMT_F32;
	h.nm = nm;
	h.nval = htons(s->n);
	frame_of(&f, ROOT, child, h, pay, trib_masked_len(s->n, nm));
	return run_xdp(&f, child);
}

static void floats__masked_values_are_expanded(void)
{
	static const uint8_t masks[] = {2 << 5 | 1, 1 << 5, 3 << 5 | 4, 4 << 5, 5 << 5 | 30};
	struct sum s;

	for (int i = 0; i < 10; i++) {
		world_reset();
		sum_begin(&s, TRIB_FMT_F32, i < 5 ? nval : 64);
		sum_give_masked(&s, 0, masks[i % 5], i);
		/* Dense in between. */
		sum_give(&s, ROOT, 1, 1, i + 5);
		sum_give_masked(&s, 2, masks[(i + 1) % 5], i + 9);
		expect_eq(the_drop(), -1);
		slot_has(&s, ROOT, 1, TRIB_SLOT_RESULT);
		expect_eq(slot_of(ROOT, 1)->nval, s.n);
		expect_eq(slot_of(ROOT, 1)->nm, 0);
	}
}

static void floats__wrong_mask_changes_nothing(void)
{
	struct sum s, other;

	world_reset();
	sum_begin(&s, TRIB_FMT_F32, nval);
	sum_give_masked(&s, 0, 2 << 5 | 1, 1);
	other = s;
	torn = true;
	expect_eq(sum_give_masked(&other, 1, 2 << 5 | 1, 2), XDP_DROP);
	torn = false;
	expect_eq(the_drop(), TRIB_DROP_MASK);
	expect_eq(slot_of(ROOT, 1)->seen, 1);
	slot_has(&s, ROOT, 1, TRIB_SLOT_COLLECT);
}

/* Packets from before slots were wiped must not enter another sum. */
static void floats__wiped_node_waits(void)
{
	struct trib_tree t;
	struct sum s;

	world_reset();
	tree_get(ROOT, &t);
	t.flags |= TRIB_TREE_WIPED;
	tree_put(ROOT, &t);
	sum_begin(&s, TRIB_FMT_F32, nval);
	sum_give(&s, ROOT, 0, 1, 3);
	expect_eq(the_drop(), TRIB_DROP_WIPED);
	expect_eq(slot_of(ROOT, 1)->epoch, 0);
	run_grad(&f, ROOT, 0, 2, nval, 5);
	expect_eq(slot_of(ROOT, 2)->seen, 1);
	frame_floats(&f, ROOT, 0, 1, TRIB_FMT_F32, s.units, s.want);
	frame_hdr(&f)->type = TRIB_T_RESULT;
	expect_eq(run_xdp(&f, 0), XDP_REDIRECT);
	slot_has(&s, ROOT, 1, TRIB_SLOT_RESULT);
}

/* INNER's child 0 is a rank here, whose cells XDP adds; its values of @seed are READY. */
static void rank_is_ready(struct sum *s, uint32_t seed, uint8_t flags)
{
	struct trib_deliver d = {.cell_mask = SLOTS - 1, .nrank = 1, .ring = {1}, .host = 1};
	uint8_t pay[4 * VALUES];
	struct trib_tree t;

	bpf_map_update_elem(w.delivers, &(int){1}, &d, 0);
	tree_get(INNER, &t);
	t.deliver = 1;
	t.down = TRIB_NONE;
	t.flags |= flags;
	tree_put(INNER, &t);
	sum_next(s, seed, pay);
	memset(&cell_of(7)->h, 0, sizeof(struct trib_hdr));
	cell_of(7)->h.fmt = s->fmt;
	cell_of(7)->h.nval = htons(s->units);
	memcpy(cell_of(7)->v, pay, 4 * nval);
	cell_set(7, TRIB_CELL_READY);
	desk()->dist = WINDOW;
}

static void floats__of_a_cell_are_added_like_packets(void)
{
	struct sum s;

	for (int i = 0; i < 3; i++) {
		world_reset();
		sum_begin(&s, formats[i], is_half(formats[i]) ? nval : nval - 1);
		expect_eq(sum_give(&s, INNER, 1, 7, 5), XDP_DROP);
		rank_is_ready(&s, 6, 0);
		frame_result(&f, INNER, -1, 3, nval, 0x1111);
		expect_eq(run_xdp(&f, 3), XDP_REDIRECT);
		sum_left(&s, TRIB_T_GRAD);
		slot_has(&s, INNER, 7, TRIB_SLOT_SENT);
		expect_eq(group_of(&f), UP(INNER));
		/* Not soon after the slots were wiped. */
		world_reset();
		rank_is_ready(&s, 6, TRIB_TREE_WIPED);
		frame_result(&f, INNER, -1, 3, nval, 0x1111);
		expect_eq(run_xdp(&f, 3), XDP_DROP);
		expect(cell_is(7, TRIB_CELL_READY));
		expect_eq(slot_of(INNER, 7)->epoch, 0);
	}
}

/* Integer jobs work as before beside the module's functions. */
static void floats__integers_are_as_ever(void)
{
	world_reset();
	for (int child = 0; child < 3; child++)
		run_grad(&f, ROOT, child, 1, nval, 0x500000007);
	expect_eq(frame_word(&f, nval / 2 - 1), 3 * 0x500000007);
	expect_eq(the_drop(), -1);
}

static void all(int values)
{
	nval = values;
	world_open(values);
	run(floats__sums_are_those_of_arrival);
	run(floats__partial_goes_up_in_the_same_format);
	run(floats__result_is_answered_with_the_same_bits);
	run(floats__last_may_be_empty);
	run(floats__sole_values_stay);
	run(floats__duplicate_is_not_added);
	run(floats__special_values_are_values);
	run(floats__other_formats_do_not_mix);
	run(floats__masked_values_are_expanded);
	run(floats__wrong_mask_changes_nothing);
	run(floats__wiped_node_waits);
	run(floats__of_a_cell_are_added_like_packets);
	run(floats__integers_are_as_ever);
	world_close();
}

int main(void)
{
	w.kfuncs = 1;
	all(TRIB_NVAL_SMALL);
	all(TRIB_NVAL_LARGE);
	return tap_done();
}
