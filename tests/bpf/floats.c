// SPDX-License-Identifier: BSD-2-Clause
/*
 * Float sums without the kernel module: contributions are refused, results
 * pass. tests/vm/kfunc/floats.c tests the sums.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <string.h>
#include "tests/lib/tap.h"
#include "tests/bpf/world/world.h"

static struct frame f;
static const float ones[TRIB_NVAL_LARGE] = {1, 1, 1, 1};
static const int formats[] = {TRIB_FMT_F32, TRIB_FMT_F16, TRIB_FMT_BF16};

static void floats__contribution_is_refused_without_the_module(void)
{
	for (int i = 0; i < 3; i++) {
		world_reset();
		frame_floats(&f, ROOT, 0, 1, formats[i], 176, ones);
		expect_eq(run_xdp(&f, 0), XDP_DROP);
		expect_eq(the_drop(), TRIB_DROP_MODULE);
		expect_eq(slot_of(ROOT, 1)->epoch, 0);
		frame_floats(&f, INNER, 0, 1, formats[i], 0, ones);
		expect_eq(run_xdp(&f, 0), XDP_DROP);
		expect_eq(stat_of(TRIB_DROP_MODULE), 2);
		expect_eq(slot_of(INNER, 1)->epoch, 0);
	}
}

static void floats__stranger_is_not_told_of_the_module(void)
{
	world_reset();
	frame_floats(&f, ROOT, 0, 1, TRIB_FMT_F32, 16, ones);
	frame_hdr(&f)->auth ^= 1;
	run_xdp(&f, 0);
	expect_eq(the_drop(), TRIB_DROP_AUTH);
}

/* From the parent, and from a child that kept the result. */
static void floats__result_needs_no_module(void)
{
	for (int from = -1; from < 1; from++) {
		for (int i = 0; i < 3; i++) {
			world_reset();
			frame_floats(&f, INNER, from, 1, formats[i], 176, ones);
			frame_hdr(&f)->type = TRIB_T_RESULT;
			expect_eq(run_xdp(&f, port_of(INNER, from)), XDP_REDIRECT);
			expect_eq(the_drop(), -1);
			expect_eq(slot_of(INNER, 1)->state, TRIB_SLOT_RESULT);
			expect_eq(slot_of(INNER, 1)->fmt, formats[i]);
			expect(!memcmp(slot_of(INNER, 1)->v, ones, 704));
			expect(!memcmp(f.b + f.pay, ones, 704));
		}
	}
}

static void floats__result_is_delivered_to_a_leaf(void)
{
	world_reset();
	cell_shape(cell_of(1), TRIB_WOP_ADD, TRIB_FMT_BF16, 0);
	frame_floats(&f, LEAF, -1, 1, TRIB_FMT_BF16, 176, ones);
	frame_hdr(&f)->type = TRIB_T_RESULT;
	expect_eq(run_xdp(&f, port_of(LEAF, -1)), XDP_DROP);
	expect_eq(the_drop(), -1);
	expect_eq(cell_of(1)->h.fmt, TRIB_FMT_BF16);
	expect_eq(ntohs(cell_of(1)->h.nval), 176);
	expect(!memcmp(cell_of(1)->v, ones, 704));
}

/* An accumulator is twice as wide as a half. */
static void floats__halves_are_as_many_as_accumulators(void)
{
	for (int i = 0; i < 3; i++) {
		world_reset();
		frame_floats(&f, INNER, -1, 1, formats[i], 177, ones);
		frame_hdr(&f)->type = TRIB_T_RESULT;
		run_xdp(&f, port_of(INNER, -1));
		expect_eq(the_drop(), i ? TRIB_DROP_NVAL : -1);
	}
}

static void floats__only_sums_are_known(void)
{
	for (int i = 0; i < 3; i++) {
		world_reset();
		frame_floats(&f, ROOT, 0, 1, formats[i], 16, ones);
		frame_hdr(&f)->op = TRIB_WOP_MAX;
		run_xdp(&f, 0);
		expect_eq(the_drop(), TRIB_DROP_FORMAT);
	}
}

static void floats__shared_pools_have_none(void)
{
	for (int i = 0; i < 3; i++) {
		world_reset();
		frame_floats(&f, ROOT, 0, 1, formats[i], 16, ones);
		frame_hdr(&f)->relay = htons(1);
		run_xdp(&f, 0);
		expect_eq(the_drop(), TRIB_DROP_FORMAT);
	}
}

int main(void)
{
	world_open(TRIB_NVAL_SMALL);
	run(floats__contribution_is_refused_without_the_module);
	run(floats__stranger_is_not_told_of_the_module);
	run(floats__result_needs_no_module);
	run(floats__result_is_delivered_to_a_leaf);
	run(floats__halves_are_as_many_as_accumulators);
	run(floats__only_sums_are_known);
	run(floats__shared_pools_have_none);
	world_close();
	return tap_done();
}
