// SPDX-License-Identifier: BSD-2-Clause
/* Sessions of one node that has a parent: inner nodes and leaves. */
#include "session_node.h"

static void inner__joins_with_its_own_nonce_and_passes_start_on(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 9};
	uint64_t nonce = N(INSTANCE, 1);

	fresh(SESSION_INNER, 2);
	join(0, 7, 1000);
	expect_eq(count(UP), 0);
	join(1, 8, 1000);
	expect_eq(count(UP), 1);
	expect_eq(last(UP)->state, TRIB_T_JOIN);
	expect_eq(last(UP)->nonce, nonce);
	session_tick(&S, 1000 + SESSION_REPEAT_MS);
	expect_eq(count(UP), 2);
	expect_eq(last(UP)->nonce, nonce);
	/*
	 * A START for another JOIN of this node, or for a later one, is
	 * ignored.
	 */
	m.nonce = nonce + 1;
	session_start(&S, &m, 1300);
	m.nonce = nonce - 1;
	session_start(&S, &m, 1300);
	expect_eq(S.epoch, 0);
	m.nonce = nonce;
	session_start(&S, &m, 1300);
	expect_eq(S.epoch, 9);
	expect_eq(last(START)->state, TRIB_START_RUN);
	expect_eq(last(START)->epoch, 9);
}

static void inner__nonce_grows_when_children_change(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 9};

	fresh(SESSION_INNER, 2);
	join(0, 7, 1000);
	join(1, 8, 1000);
	join(1, 9, 1100);
	expect_eq(last(UP)->state, TRIB_T_JOIN);
	expect_eq(last(UP)->nonce, N(INSTANCE, 2));
	/* The parent may still be in that epoch, with this nonce. */
	m.nonce = S.up_nonce;
	session_start(&S, &m, 1200);
	expect_eq(S.epoch, 9);
	session_abort(&S, TRIB_ABORT_DEAD, 10, -1, 1300);
	join(0, 7, 1400);
	join(1, 9, 1400);
	expect_eq(last(UP)->nonce, N(INSTANCE, 3));
}

static void inner__withdraws_when_a_child_goes(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 9};

	fresh(SESSION_INNER, 2);
	join(0, 7, 1000);
	join(1, 8, 1000);
	m.nonce = S.up_nonce;
	leave(1, 8, 1050);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->nonce, m.nonce);
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 0);
}

static void inner__withdraws_when_a_child_is_silent(void)
{
	uint64_t now;

	fresh(SESSION_INNER, 2);
	join(0, 7, 1000);
	join(1, 8, 1000);
	for (now = 1000; now < 1000 + 2 * SESSION_FRESH_MS; now += 100) {
		join(0, 7, now);
		session_tick(&S, now);
	}
	expect_eq(session_seen(&S), 1);
	expect_eq(S.up_nonce, 0);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->nonce, N(INSTANCE, 1));
	expect_eq(last(UP)->rank, 11);
	join(1, 8, now);
	expect_eq(last(UP)->nonce, N(INSTANCE, 2));
}

static void inner__leave_names_the_rank_that_is_the_reason(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 9};

	/* A worker leaves: it is the reason, whatever its LEAVE names. */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	expect_eq(last(UP)->rank, SESSION_RANK_RELAY); /* nonce of this node's JOIN */
	leave_for(0, 7, 33, 1100);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->rank, 10);
	/* A relay leaves because of a rank below it. */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	leave_for(1, 8, 33, 1100);
	expect_eq(last(UP)->rank, 33);
	/* A worker restarts. */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	ncalls = 0;
	join(0, 9, 1100);
	expect_eq(calls[0].what, UP);
	expect_eq(calls[0].state, TRIB_T_LEAVE);
	expect_eq(calls[0].rank, 10);
	/* The last child leaves an epoch. */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	m.nonce = S.up_nonce;
	session_start(&S, &m, 1000);
	leave(0, 7, 1100);
	expect_eq(last(UP)->state, TRIB_T_JOIN);
	leave_for(1, 8, 33, 1200);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->rank, 33);
	/* The epoch is aborted. */
	running(SESSION_INNER);
	session_abort(&S, TRIB_ABORT_DEAD, 77, -1, 1300);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->rank, 77);
}

static void inner__tells_whom_the_parent_waits_for(void)
{
	struct session_start m = {.state = TRIB_START_WAIT};

	fresh(SESSION_INNER, 1);
	join(0, 7, 1000);
	m.nonce = S.up_nonce;
	m.view.nchild = 3;
	m.view.seen = 5;
	m.view.rank[1] = 77;
	session_start(&S, &m, 1100);
	join(0, 7, 1200);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	expect_eq(last(START)->view.nchild, 3);
	expect_eq(last(START)->view.seen, 5);
	expect_eq(last(START)->view.rank[1], 77);
}

static void inner__rejoin_is_told_upwards(void)
{
	uint64_t nonce;
	unsigned int i, up = 0;

	running(SESSION_INNER);
	nonce = S.up_nonce;
	join(1, 202, 2000);
	for (i = 0; i < ncalls; i++)
		if (calls[i].what == ABORT && calls[i].child == SESSION_UP) {
			up++;
			expect_eq(calls[i].rank, 11);
			expect_eq(calls[i].epoch, 1);
		}
	expect_eq(up, 1);
	expect_eq(count(ABORT), 3);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->nonce, nonce);
	expect_eq(last(UP)->rank, 11);
}

static void inner__old_epochs_are_not_entered(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 5};

	fresh(SESSION_INNER, 1);
	S.last_epoch = 5;
	join(0, 7, 1000);
	expect_eq(last(UP)->epoch, 5);
	m.nonce = S.up_nonce;
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 0);
	m.epoch = 6;
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 6);
	/* A running epoch is not replaced by another. */
	m.epoch = 7;
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 6);
}

static void inner__begins_when_its_disk_has_room(void)
{
	struct session_start m = {.state = TRIB_START_RUN, .epoch = 5};

	fresh(SESSION_INNER, 1);
	join(0, 7, 1000);
	m.nonce = S.up_nonce;
	disk_full = true;
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 0);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	disk_full = false;
	session_start(&S, &m, 1300);
	expect_eq(S.epoch, 5);
	expect_eq(disk_epoch, 5);
	expect_eq(last(START)->state, TRIB_START_RUN);
}

static void leaf__epoch_only_grows(void)
{
	fresh(SESSION_LEAF, 0);
	expect(session_leaf_epoch(&S, 0));
	expect_eq(session_leaf_epoch(&S, 3), 0);
	expect_eq(session_leaf_epoch(&S, 3), 0);
	expect(session_leaf_epoch(&S, 2));
	expect_eq(S.epoch, 3);
	expect_eq(count(SAVE), 1);
	expect_eq(session_leaf_epoch(&S, 4), 0);
	session_leaf_end(&S);
	expect_eq(S.epoch, 0);
	expect(session_leaf_epoch(&S, 4));
}

static void leaf__lost_rank_is_told_upwards(void)
{
	uint64_t now;

	fresh(SESSION_LEAF, 0);
	session_leaf_epoch(&S, 3);
	session_abort(&S, TRIB_ABORT_GONE, 12, -1, 1000);
	expect_eq(count(ABORT), 1);
	expect_eq(last(ABORT)->child, SESSION_UP);
	expect_eq(last(ABORT)->rank, 12);
	/*
	 * The ABORT comes down again through this row, to the other ranks here.
	 */
	expect_eq(S.epoch, 3);
	for (now = 1000; now < 2000; now++)
		session_tick(&S, now);
	expect_eq(count(ABORT), SESSION_ABORTS);
}

int main(void)
{
	run(inner__joins_with_its_own_nonce_and_passes_start_on);
	run(inner__nonce_grows_when_children_change);
	run(inner__withdraws_when_a_child_goes);
	run(inner__withdraws_when_a_child_is_silent);
	run(inner__leave_names_the_rank_that_is_the_reason);
	run(inner__tells_whom_the_parent_waits_for);
	run(inner__rejoin_is_told_upwards);
	run(inner__old_epochs_are_not_entered);
	run(inner__begins_when_its_disk_has_room);
	run(leaf__epoch_only_grows);
	run(leaf__lost_rank_is_told_upwards);
	return tap_done();
}
