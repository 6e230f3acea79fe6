// SPDX-License-Identifier: BSD-2-Clause
/* Sessions of one node: roots, joining and leaving. session_tree.c has whole trees. */
#include "session_node.h"

static void root__waits_until_all_joined(void)
{
	fresh(SESSION_ROOT, 2);
	join(1, 7, 1000);
	expect_eq(S.epoch, 0);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	expect_eq(last(START)->view.seen, 2);
	expect_eq(last(START)->view.nchild, 2);
	expect_eq(last(START)->view.rank[0], 10);
	expect_eq(last(START)->port, 5001);
	expect_eq(last(START)->len, 1448);
	join(0, 8, 1000);
	expect_eq(S.epoch, 1);
	expect_eq(count(START), 3);
	expect_eq(last(START)->state, TRIB_START_RUN);
	expect_eq(last(START)->epoch, 1);
}

static void root__row_is_saved_before_anybody_is_told(void)
{
	unsigned int i;

	fresh(SESSION_ROOT, 2);
	join(0, 7, 1000);
	join(1, 8, 1000);
	for (i = 0; i < ncalls; i++)
		if (calls[i].what == START && calls[i].state == TRIB_START_RUN)
			break;
	expect(i > 0 && i < ncalls);
	expect(calls[i - 1].what == SAVE && calls[i - 1].epoch == 1);
}

static void root__waits_while_its_disk_is_full(void)
{
	unsigned int i;

	fresh(SESSION_ROOT, 2);
	disk_full = true;
	join(0, 7, 1000);
	join(1, 8, 1000);
	for (i = 1010; i < 3000; i += 10)
		session_tick(&S, i);
	join(0, 7, 3000);
	expect_eq(S.epoch, 0);
	for (i = 0; i < ncalls; i++)
		expect(calls[i].what != START || calls[i].state == TRIB_START_WAIT);
	expect_eq(S.last_epoch, 0);
	disk_full = false;
	join(1, 8, 3000);
	for (i = 3000; i < 3010 + SESSION_REPEAT_MS; i += 10)
		session_tick(&S, i);
	expect_eq(S.epoch, 1);
	expect_eq(last(START)->state, TRIB_START_RUN);
	/* A former tribd left an epoch in the row, not in the file. */
	S.epoch = S.last_epoch = 2;
	disk_full = true;
	join(0, 7, 4000);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	disk_full = false;
	join(0, 7, 5000);
	expect_eq(last(START)->state, TRIB_START_RUN);
	expect_eq(disk_epoch, 2);
}

static void root__next_epoch_is_larger_than_any_known(void)
{
	struct session_join j = {.nonce = 7, .epoch = 41, .len = 1448, .port = 1};

	fresh(SESSION_ROOT, 2);
	j.token = S.token;
	session_join(&S, 0, &j, 1000);
	join(1, 8, 1000);
	expect_eq(S.epoch, 42);
}

static void join__absurd_epoch_is_refused(void)
{
	struct session_join j = {
		.nonce = 7, .epoch = SESSION_EPOCH_MAX + 1, .len = 1448, .port = 1};

	fresh(SESSION_ROOT, 1);
	j.token = S.token;
	session_join(&S, 0, &j, 1000);
	expect_eq(S.epoch, 0);
	expect_eq(last(START)->state, TRIB_START_REFUSED);
	expect_eq(last(START)->nonce, 7);
	expect_eq(S.child[0].nonce, 0);
}

/* Copies of JOINs that somebody recorded have tokens of before. */
static void join__with_another_token_is_told_and_changes_nothing(void)
{
	struct session_join j = {.nonce = 99, .epoch = 41, .len = 1448, .port = 1};
	struct session before;
	unsigned int i;
	uint64_t token;

	fresh(SESSION_ROOT, 2);
	session_join(&S, 0, &j, 1000);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	expect_eq(last(START)->nonce, 99);
	expect_eq(session_seen(&S), 0);
	expect_eq(S.last_epoch, 0);
	running(SESSION_ROOT);
	j.token = token = S.token;
	join(0, 200, 9000); /* restarts: the epoch is over, and so is the token */
	expect_eq(S.epoch, 0);
	expect(S.token != token);
	for (i = 1; i < S.nchild; i++)
		join(i, 200 + i, 9000);
	expect(S.epoch);
	before = S;
	session_join(&S, 0, &j, 20000);
	session_join(&S, 0, &j, 20000);
	expect(!memcmp(&before, &S, sizeof(S)));
	expect_eq(count(ABORT), S.nchild - 1);
}

static void join__in_the_running_epoch_needs_no_token(void)
{
	struct session_join j = {.nonce = 101, .len = 1448, .port = 9};
	struct session before;

	running(SESSION_ROOT);
	before = S;
	j.nonce = S.child[0].nonce;
	session_join(&S, 0, &j, 20000);
	expect_eq(last(START)->state, TRIB_START_RUN);
	expect(!memcmp(&before, &S, sizeof(S)));
}

static void join__repetition_in_running_epoch_gets_run(void)
{
	running(SESSION_ROOT);
	join(1, 102, 2000);
	expect_eq(count(START), 1);
	expect_eq(last(START)->state, TRIB_START_RUN);
	expect_eq(count(ABORT), 0);
	expect_eq(S.epoch, 1);
}

static void join__flood_is_answered_at_a_pace(void)
{
	unsigned int i;

	fresh(SESSION_ROOT, 2);
	for (i = 0; i < 400; i++)
		join(0, 7, 1000 + i / 10);
	expect_eq(count(START), 2);
	expect_eq(count(SAVE), 1);
	/* The nonce is new each time; at most one of them counts. */
	ncalls = 0;
	for (i = 0; i < 400; i++)
		join(0, 1000 + i, 2000 + i / 25);
	expect_eq(count(SAVE), 1);
	expect_eq(count(START), 1);
}

static void join__new_nonce_ends_the_epoch(void)
{
	unsigned int i;

	running(SESSION_ROOT);
	join(1, 202, 2000);
	expect_eq(S.epoch, 0);
	expect_eq(count(ABORT), 2);
	for (i = 0; i < ncalls; i++)
		if (calls[i].what == ABORT) {
			expect(calls[i].child != 1);
			expect_eq(calls[i].rank, 11);
			expect_eq(calls[i].why, TRIB_ABORT_REJOIN);
			expect_eq(calls[i].epoch, 1);
		}
	expect_eq(session_seen(&S), 2);
	expect_eq(last(START)->state, TRIB_START_WAIT);
	join(0, 201, 2100);
	join(2, 203, 2100);
	expect_eq(S.epoch, 2);
}

static void abort__is_repeated_until_the_next_epoch(void)
{
	uint64_t now;

	running(SESSION_ROOT);
	join(1, 202, 2000);
	for (now = 2000; now < 3000; now++)
		session_tick(&S, now);
	expect_eq(count(ABORT), 2 * SESSION_ABORTS);
	running(SESSION_ROOT);
	join(1, 202, 2000);
	join(0, 201, 2001);
	join(2, 203, 2002);
	for (now = 2002; now < 3000; now++)
		session_tick(&S, now);
	expect_eq(count(ABORT), 2);
}

/* However late: no process joins with a smaller nonce. */
static void join__older_nonce_of_an_instance_is_ignored(void)
{
	fresh(SESSION_ROOT, 2);
	join(0, N(5, 2), 1000);
	ncalls = 0;
	join(0, N(5, 1), 1100);
	join(0, N(5, 1), 1000 + 3 * SESSION_LATE_MS);
	expect_eq(ncalls, 0);
	expect(S.child[0].nonce == N(5, 2));
	running(SESSION_ROOT);
	join(1, 101, 60000);
	expect_eq(S.epoch, 1);
	expect_eq(count(ABORT), 0);
	/* Nonces are ordered only within one instance. */
	fresh(SESSION_ROOT, 2);
	join(0, N(5, 2), 1000);
	join(0, N(4, 1), 1100);
	expect(S.child[0].nonce == N(4, 1));
}

static void join__late_copy_of_a_retired_nonce_is_ignored(void)
{
	fresh(SESSION_ROOT, 2);
	join(0, N(7, 1), 1000);
	join(0, N(3, 1), 1100);
	ncalls = 0;
	join(0, N(7, 1), 1100 + SESSION_LATE_MS - 1);
	expect_eq(ncalls, 0);
	expect(S.child[0].nonce == N(3, 1));
	running(SESSION_ROOT);
	leave(1, 102, 1050);
	join(1, 102, 1100);
	expect_eq(S.epoch, 1);
	expect_eq(count(ABORT), 0);
	/* LEAVE overtook the only JOIN. */
	fresh(SESSION_ROOT, 2);
	leave(0, 7, 1000);
	join(0, 7, 1000);
	expect_eq(session_seen(&S), 0);
}

static void join__several_retired_nonces_are_remembered(void)
{
	unsigned int i;

	fresh(SESSION_ROOT, 2);
	for (i = 0; i <= SESSION_RETIRED; i++)
		join(0, N(20 - i, 1), 1000 + 50 * i);
	ncalls = 0;
	for (i = 0; i < SESSION_RETIRED; i++)
		join(0, N(20 - i, 1), 1300 + 50 * i);
	expect_eq(ncalls, 0);
	expect(S.child[0].nonce == N(20 - SESSION_RETIRED, 1));
}

/*
 * The JOIN of a killed process arrives after its successor's and displaces it.
 * Only the successor repeats its JOIN.
 */
static void join__living_nonce_gets_in_again(void)
{
	uint64_t now;

	fresh(SESSION_ROOT, 2);
	join(0, N(3, 1), 1000);
	join(0, N(7, 1), 1100);
	expect(S.child[0].nonce == N(7, 1));
	for (now = 1200; now < 1100 + SESSION_LATE_MS; now += 200)
		join(0, N(3, 1), now);
	expect(S.child[0].nonce == N(7, 1));
	join(0, N(3, 1), 1100 + SESSION_LATE_MS);
	expect(S.child[0].nonce == N(3, 1));
	/* Now the displaced nonce is retired. */
	join(0, N(7, 1), 1200 + SESSION_LATE_MS);
	expect(S.child[0].nonce == N(3, 1));
}

static void join__who_never_heard_of_the_epoch_may_repeat(void)
{
	running(SESSION_ROOT);
	join(1, 202, 2000); /* ends epoch 1; child 0's START was lost */
	join(0, 101, 2100);
	join(2, 203, 2100);
	expect_eq(S.epoch, 2);
}

static void leave__epoch_ends_with_the_last(void)
{
	running(SESSION_ROOT);
	leave(0, 101, 2000);
	leave(2, 103, 2000);
	leave(2, 999, 2000);
	expect_eq(S.epoch, 1);
	leave(1, 102, 2000);
	expect_eq(S.epoch, 0);
	expect_eq(count(ABORT), 0);
	expect_eq(last(SAVE)->epoch, 0);
}

static void leave__is_an_error_only_when_missed(void)
{
	uint64_t now;

	running(SESSION_ROOT);
	leave_for(1, 102, 33, 2000);
	for (now = 2000; now < 4000; now += 10)
		session_tick(&S, now);
	expect_eq(count(ABORT), 0);
	/* A short moment after a wipe is not enough ... */
	stuck_child = 1;
	stuck_chunk = 55;
	for (; now < 4300; now += 10)
		session_tick(&S, now);
	stuck_chunk = 56;
	for (; now < 4600; now += 10)
		session_tick(&S, now);
	expect_eq(count(ABORT), 0);
	/* ... but a chunk that waits all the time is. */
	for (; now < 5300; now += 10)
		session_tick(&S, now);
	expect_eq(last(ABORT)->why, TRIB_ABORT_GONE);
	expect_eq(last(ABORT)->rank, 11);
	expect_eq(S.epoch, 0);
}

/* A relay left because of a rank: that rank is blamed, not the relay. */
static void leave__relay_names_who_is_missed(void)
{
	uint64_t now;

	fresh_with_relay(SESSION_ROOT);
	join(0, 7, 1000);
	join(1, 8, 1000);
	expect_eq(S.epoch, 1);
	leave_for(1, 8, 33, 2000);
	stuck_child = 1;
	for (now = 2000; now < 4000; now += 10)
		session_tick(&S, now);
	expect_eq(last(ABORT)->why, TRIB_ABORT_GONE);
	expect_eq(last(ABORT)->rank, 33);
	expect_eq(last(ABORT)->child, 0);
	expect_eq(S.epoch, 0);
	/* A former tribd left an epoch behind; its reason is unknown. */
	fresh_with_relay(SESSION_ROOT);
	S.epoch = S.last_epoch = 1;
	S.child[0].nonce = S.child[0].known = 7;
	stuck_child = 1;
	for (now = 2000; now < 4000; now += 10)
		session_tick(&S, now);
	expect_eq(last(ABORT)->rank, SESSION_RANK_RELAY);
}

static void waiting__silent_child_expires(void)
{
	uint64_t now;

	fresh(SESSION_ROOT, 2);
	join(0, 7, 1000);
	for (now = 1000; now < 6000; now += session_tick(&S, now))
		if (!session_seen(&S))
			break;
	expect_eq(session_seen(&S), 0);
	expect(now > 1000 + SESSION_FRESH_MS);
	expect(now < 1000 + 2 * SESSION_FRESH_MS);
	join(1, 8, now);
	expect_eq(S.epoch, 0);
	join(0, 7, now);
	expect_eq(S.epoch, 1);
}

static void root__64_children(void)
{
	unsigned int i;

	fresh(SESSION_ROOT, 64);
	for (i = 0; i < 64; i++) {
		expect_eq(S.epoch, 0);
		join(i, 1000 + i, 1000);
	}
	expect_eq(S.epoch, 1);
	expect(session_seen(&S) == ~0ULL);
}

int main(void)
{
	run(root__waits_until_all_joined);
	run(root__row_is_saved_before_anybody_is_told);
	run(root__waits_while_its_disk_is_full);
	run(root__next_epoch_is_larger_than_any_known);
	run(root__64_children);
	run(join__absurd_epoch_is_refused);
	run(join__with_another_token_is_told_and_changes_nothing);
	run(join__in_the_running_epoch_needs_no_token);
	run(join__repetition_in_running_epoch_gets_run);
	run(join__flood_is_answered_at_a_pace);
	run(join__new_nonce_ends_the_epoch);
	run(join__older_nonce_of_an_instance_is_ignored);
	run(join__late_copy_of_a_retired_nonce_is_ignored);
	run(join__several_retired_nonces_are_remembered);
	run(join__living_nonce_gets_in_again);
	run(join__who_never_heard_of_the_epoch_may_repeat);
	run(abort__is_repeated_until_the_next_epoch);
	run(leave__epoch_ends_with_the_last);
	run(leave__is_an_error_only_when_missed);
	run(leave__relay_names_who_is_missed);
	run(waiting__silent_child_expires);
	return tap_done();
}
