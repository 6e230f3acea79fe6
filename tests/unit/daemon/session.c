// SPDX-License-Identifier: BSD-2-Clause
/*
 * session.c by itself: one node, its calls recorded. Whole trees with loss
 * and restarts are in unit_session_tree.c.
 */
#include <string.h>

#include "tests/lib/tap.h"
#include "base/session.h"

#define INSTANCE 0xabcdef
#define N(instance, count) trib_nonce(instance, count)

enum what { SAVE, START, ABORT, UP };

struct call {
	enum what what;
	int child;
	unsigned int state; /* START; UP: the type */
	uint64_t nonce;
	uint32_t epoch;
	unsigned int why;
	uint16_t rank;
	uint16_t port;
	uint16_t len;
	struct session_view view;
};

static struct call calls[1024];
static unsigned int ncalls;
static struct session S;
static int stuck_child;
static uint32_t stuck_chunk;

static struct call *note(enum what what, int child)
{
	struct call *c = &calls[ncalls < 1023 ? ncalls++ : ncalls];

	memset(c, 0, sizeof(*c));
	c->what = what;
	c->child = child;
	return c;
}

static void on_save(struct session *s)
{
	note(SAVE, 0)->epoch = s->epoch;
}

static void on_start(struct session *s, unsigned int child, unsigned int state,
		     const struct session_view *view)
{
	struct call *c = note(START, (int)child);

	c->state = state;
	c->nonce = s->child[child].nonce;
	c->port = s->child[child].port;
	c->len = s->child[child].len;
	c->epoch = s->epoch;
	c->view = *view;
}

static void on_abort(struct session *s, int child, uint32_t epoch,
		     enum trib_abort why, uint16_t rank)
{
	struct call *c = note(ABORT, child);

	(void)s;
	c->epoch = epoch;
	c->why = why;
	c->rank = rank;
}

static void on_up(struct session *s, enum trib_type type, uint64_t nonce,
		  uint16_t rank)
{
	struct call *c = note(UP, 0);

	c->rank = rank;
	c->state = type;
	c->nonce = nonce;
	c->epoch = s->last_epoch;
}

static int on_stuck(struct session *s, uint64_t missing, uint32_t *chunk)
{
	(void)s;
	*chunk = stuck_chunk;
	return stuck_child >= 0 && missing & 1ULL << stuck_child ? stuck_child
								 : -1;
}

static const struct session_ops ops = {on_save, on_start, on_abort, on_up,
				       on_stuck};

static void fresh(enum session_kind kind, unsigned int nchild)
{
	uint16_t rank[TRIB_CHILDREN_MAX];
	unsigned int i;

	for (i = 0; i < TRIB_CHILDREN_MAX; i++)
		rank[i] = (uint16_t)(10 + i);
	stuck_child = -1;
	ncalls = 0;
	session_init(&S, &ops, NULL, kind, nchild, rank, INSTANCE);
}

/* Two children: a worker of rank 10, and a relay. */
static void fresh_with_relay(enum session_kind kind)
{
	static const uint16_t rank[] = {10, SESSION_RANK_RELAY};

	fresh(kind, 2);
	session_init(&S, &ops, NULL, kind, 2, rank, INSTANCE);
}

static void join(unsigned int child, uint64_t nonce, uint64_t now)
{
	struct session_join j = {nonce, 0, 1448, (uint16_t)(5000 + child), 0};

	session_join(&S, child, &j, now);
}

static void leave_for(unsigned int child, uint64_t nonce, uint16_t rank,
		      uint64_t now)
{
	struct session_join j = {nonce, 0, 1448, (uint16_t)(5000 + child),
				 rank};

	session_leave(&S, child, &j, now);
}

static void leave(unsigned int child, uint64_t nonce, uint64_t now)
{
	leave_for(child, nonce, SESSION_RANK_RELAY, now);
}

static unsigned int count(enum what what)
{
	unsigned int i, n = 0;

	for (i = 0; i < ncalls; i++)
		n += calls[i].what == what;
	return n;
}

static const struct call *last(enum what what)
{
	static const struct call none;
	unsigned int i;

	for (i = ncalls; i > 0; i--)
		if (calls[i - 1].what == what)
			return &calls[i - 1];
	return &none;
}

/* Three children run epoch 1 with nonces 101, 102, 103. */
static void running(enum session_kind kind)
{
	struct session_start m = {.epoch = 1, .state = TRIB_START_RUN};

	fresh(kind, 3);
	join(0, 101, 1000);
	join(1, 102, 1000);
	join(2, 103, 1000);
	if (kind == SESSION_INNER) {
		m.nonce = S.up_nonce;
		session_start(&S, &m, 1000);
	}
	ncalls = 0;
}

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

static void root__next_epoch_is_larger_than_any_known(void)
{
	struct session_join j = {7, 41, 1448, 1, 0};

	fresh(SESSION_ROOT, 2);
	session_join(&S, 0, &j, 1000);
	join(1, 8, 1000);
	expect_eq(S.epoch, 42);
}

static void join__absurd_epoch_is_refused(void)
{
	struct session_join j = {7, SESSION_EPOCH_MAX + 1, 1448, 1, 0};

	fresh(SESSION_ROOT, 1);
	session_join(&S, 0, &j, 1000);
	expect_eq(S.epoch, 0);
	expect_eq(last(START)->state, TRIB_START_REFUSED);
	expect_eq(last(START)->nonce, 7);
	expect_eq(S.child[0].nonce, 0);
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
	/* New nonces every time: no more than one of them counts. */
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

/* However late: no process joins with a smaller one again. */
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
	/* The order of nonces counts only within one instance. */
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
 * The JOIN of a process that was killed comes after that of the next one, and
 * displaces it; but only the next one goes on.
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
	/* And it is the other one that is retired now. */
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
	/* A moment after a wipe is not enough ... */
	stuck_child = 1;
	stuck_chunk = 55;
	for (; now < 4300; now += 10)
		session_tick(&S, now);
	stuck_chunk = 56;
	for (; now < 4600; now += 10)
		session_tick(&S, now);
	expect_eq(count(ABORT), 0);
	/* ... the same chunk all the time is. */
	for (; now < 5300; now += 10)
		session_tick(&S, now);
	expect_eq(last(ABORT)->why, TRIB_ABORT_GONE);
	expect_eq(last(ABORT)->rank, 11);
	expect_eq(S.epoch, 0);
}

/* A relay that left is blamed for the rank that it named, not for itself. */
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
	/* An epoch that a former tribd left behind: nobody knows. */
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
	/* Neither for another JOIN of ours, nor for a later one. */
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

	/* A worker leaves, whatever it names ... */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	expect_eq(last(UP)->rank, SESSION_RANK_RELAY); /* of JOIN: ours */
	leave_for(0, 7, 33, 1100);
	expect_eq(last(UP)->state, TRIB_T_LEAVE);
	expect_eq(last(UP)->rank, 10);
	/* ... a relay because of somebody below it ... */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	leave_for(1, 8, 33, 1100);
	expect_eq(last(UP)->rank, 33);
	/* ... a worker restarts ... */
	fresh_with_relay(SESSION_INNER);
	join(0, 7, 1000);
	join(1, 8, 1000);
	ncalls = 0;
	join(0, 9, 1100);
	expect_eq(calls[0].what, UP);
	expect_eq(calls[0].state, TRIB_T_LEAVE);
	expect_eq(calls[0].rank, 10);
	/* ... the last one leaves an epoch ... */
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
	/* ... or an epoch is given up. */
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
	/* And a running one is not exchanged for another. */
	m.epoch = 7;
	session_start(&S, &m, 1100);
	expect_eq(S.epoch, 6);
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
	/* The ABORT comes back through this row to the other ranks here. */
	expect_eq(S.epoch, 3);
	for (now = 1000; now < 2000; now++)
		session_tick(&S, now);
	expect_eq(count(ABORT), SESSION_ABORTS);
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
	run(root__next_epoch_is_larger_than_any_known);
	run(root__64_children);
	run(join__absurd_epoch_is_refused);
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
	run(inner__joins_with_its_own_nonce_and_passes_start_on);
	run(inner__nonce_grows_when_children_change);
	run(inner__withdraws_when_a_child_goes);
	run(inner__withdraws_when_a_child_is_silent);
	run(inner__leave_names_the_rank_that_is_the_reason);
	run(inner__tells_whom_the_parent_waits_for);
	run(inner__rejoin_is_told_upwards);
	run(inner__old_epochs_are_not_entered);
	run(leaf__epoch_only_grows);
	run(leaf__lost_rank_is_told_upwards);
	return tap_done();
}
