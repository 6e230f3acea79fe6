// SPDX-License-Identifier: GPL-2.0
/*
 * A socket's states after bind(): joining, running, leaving, left, dead; and stall
 * detection. uapi/trib_sock.h describes the states.
 */
#include "io.h"
#include "sock/check/limit.h"
#include "uapi/trib.h"

static void set_state(struct trib_sock *ts, u32 state)
{
	WRITE_ONCE(ts->state, state);
	ts->wake |= TRIB_WAKE_STATE;
}

/* Only for sockets with an ATTACHED event before. */
static void gone(struct trib_sock *ts)
{
	if (ts->eng.running)
		trib_sock_event(ts, TRIB_MODULE_EVENT_GONE, 0);
}

static void run(struct trib_sock *ts)
{
	trib_io_size(ts);
	trib_engine_start(&ts->eng);
	set_state(ts, TRIB_SOCK_RUNNING);
	trib_sock_event(ts, TRIB_MODULE_EVENT_ATTACHED, 0);
}

static void leave(struct trib_sock *ts)
{
	struct trib_engine *eng = &ts->eng;

	trib_engine_run(eng);
	if (eng->dead)
		return;
	if (!eng->leaving) {
		if (eng->unfinished)
			return;
		trib_leave_start(eng);
	}
	if (!trib_leave_turn(eng))
		return;
	/* Set first: trib_leave_end() may report death without the barrier. */
	set_state(ts, TRIB_SOCK_LEFT);
	trib_leave_end(eng);
	gone(ts);
}

void trib_state_leave(struct trib_sock *ts)
{
	if (ts->state == TRIB_SOCK_RUNNING) {
		set_state(ts, TRIB_SOCK_LEAVING);
	} else if (ts->state == TRIB_SOCK_JOINING) {
		set_state(ts, TRIB_SOCK_LEFT);
		trib_leave_end(&ts->eng);
	}
}

void trib_state_died(struct trib_engine *eng)
{
	struct trib_sock *ts = trib_sock_of(eng);

	if (ts->state == TRIB_SOCK_NEW || ts->state == TRIB_SOCK_LEFT)
		return;
	/* The engine knows no limits. */
	if (ts->full) {
		strscpy(eng->error.text, trib_limit_text(ts->full), sizeof(eng->error.text));
		eng->death = eng->error;
	}
	WRITE_ONCE(trib_sock_sk(ts)->sk_err, -eng->dead);
	set_state(ts, TRIB_SOCK_DEAD);
	gone(ts);
}

/* A stall is reported after half of the job's timeout. */
static u64 patience(const struct trib_sock *ts)
{
	return ts->eng.timeout_ns / 2;
}

static void look_for_stall(struct trib_sock *ts)
{
	struct trib_engine *eng = &ts->eng;

	if (!eng->inflight || eng->count.chunks != ts->seen_chunks) {
		ts->seen_chunks = eng->count.chunks;
		ts->seen_ns = eng->now;
		ts->stalled = false;
	} else if (!ts->stalled && eng->now - ts->seen_ns >= patience(ts)) {
		ts->stalled = true;
		trib_sock_event(ts, TRIB_MODULE_EVENT_STALLED, eng->inflight);
	}
}

void trib_state_turn(struct trib_sock *ts)
{
	switch (ts->state) {
	case TRIB_SOCK_JOINING:
		if (trib_join_turn(&ts->eng) > 0)
			run(ts);
		break;
	case TRIB_SOCK_RUNNING:
		trib_engine_run(&ts->eng);
		look_for_stall(ts);
		break;
	case TRIB_SOCK_LEAVING:
		leave(ts);
		look_for_stall(ts);
		break;
	}
}

static u64 sooner(u64 a, u64 b)
{
	return !a || (b && b < a) ? b : a;
}

u64 trib_state_deadline(const struct trib_sock *ts)
{
	const struct trib_engine *eng = &ts->eng;
	u64 due;

	switch (ts->state) {
	case TRIB_SOCK_JOINING:
		return trib_join_deadline(eng);
	case TRIB_SOCK_RUNNING:
	case TRIB_SOCK_LEAVING:
		due = trib_engine_deadline(eng);
		if (eng->leaving)
			due = sooner(due, trib_leave_deadline(eng));
		if (eng->inflight && !ts->stalled)
			due = sooner(due, ts->seen_ns + patience(ts));
		return due;
	}
	return 0;
}
