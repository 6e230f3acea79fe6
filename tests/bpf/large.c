// SPDX-License-Identifier: BSD-2-Clause
/*
 * The object with 832 values per slot: its sizes, and each path of a full
 * packet.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include "tests/bpf/world/live.h"
#include "tests/lib/tap.h"

#define NVAL TRIB_NVAL_LARGE

static struct frame in, out;

static void fresh(bool v6, uint16_t vlan0, uint16_t vlan1)
{
	world_reset_as(v6, vlan0, vlan1);
	live_flush();
}

static bool all_words(const __u64 *v, int nval, uint64_t word)
{
	for (int i = 0; i < (nval + 1) / 2; i++)
		if (v[i] != word)
			return false;
	return true;
}

static void large__sums_of_every_length_are_exact(void)
{
	static const int lens[] = {2, 352, 354, 816, 818, 832};

	for (int i = 0; i < 6; i++) {
		fresh(false, 0, 0);
		run_grad(&in, ROOT, 0, i, lens[i], 3);
		run_grad(&in, ROOT, 1, i, lens[i], -5);
		expect_eq(run_grad(&in, ROOT, 2, i, lens[i], 9), XDP_REDIRECT);
		expect(all_words(slot_of(ROOT, i)->v, lens[i], 7));
		expect_eq(slot_of(ROOT, i)->nval, lens[i]);
		for (int j = 0; j < lens[i] / 2; j++)
			if (!expect(frame_word(&in, j) == 7))
				break;
	}
}

static void large__more_values_are_dropped(void)
{
	fresh(false, 0, 0);
	/* The frame is shorter than its header says; a later check finds that. */
	frame_grad(&in, ROOT, 0, 1, NVAL, 3);
	frame_hdr(&in)->nval = htons(NVAL + 1);
	expect_eq(run_xdp(&in, 0), XDP_DROP);
	expect_eq(the_drop(), TRIB_DROP_NVAL);
}

static void check_copies(int tree, int nval, uint64_t word)
{
	for (int child = 0; child < 3; child++) {
		if (!expect(live_catch(&out, port_of(tree, child))))
			continue;
		expect(frame_sound(&out));
		expect_eq(frame_hdr(&out)->type, TRIB_T_RESULT);
		expect_eq(ntohs(frame_hdr(&out)->nval), nval);
		for (int j = 0; j < nval / 2; j++)
			if (!expect(frame_word(&out, j) == word))
				break;
	}
	expect_eq(the_drop(), -1);
}

static void large__copies_reach_every_child(void)
{
	static const uint16_t tags[][2] = {{0, 0}, {5, 0}, {5, 6}};

	for (int i = 0; i < 6; i++) {
		fresh(i % 2, tags[i / 2][0], tags[i / 2][1]);
		run_grad(&in, ROOT, 0, 1, NVAL, 3);
		run_grad(&in, ROOT, 1, 1, NVAL, 4);
		frame_grad(&in, ROOT, 2, 1, NVAL, 5);
		live_send(&in, 2);
		check_copies(ROOT, NVAL, 12);
	}
}

static void large__empty_completion_grows(void)
{
	fresh(true, 5, 6);
	run_grad(&in, ROOT, 0, 1, NVAL, 77);
	run_grad(&in, ROOT, 1, 1, 0, 0);
	frame_grad(&in, ROOT, 2, 1, 0, 0);
	live_send(&in, 2);
	check_copies(ROOT, NVAL, 77);
	expect_eq(stat_of(TRIB_TX_GROW), 1);
}

static void large__results_are_delivered(void)
{
	fresh(false, 0, 0);
	frame_result(&in, LEAF, -1, 3, NVAL, 77);
	expect_eq(run_xdp(&in, 3), XDP_DROP);
	expect(cell_is(3, TRIB_CELL_RESULT));
	expect_eq(ntohs(cell_of(3)->h.nval), NVAL);
	expect(all_words(cell_of(3)->v, NVAL, 77));
}

int main(void)
{
	world_open(NVAL);
	live_open();
	run(large__sums_of_every_length_are_exact);
	run(large__more_values_are_dropped);
	run(large__copies_reach_every_child);
	run(large__empty_completion_grows);
	run(large__results_are_delivered);
	world_close();
	return tap_done();
}
