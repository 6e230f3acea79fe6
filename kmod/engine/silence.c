// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Signs of life, and conclusions from silence. A rank sends ALIVE if it waits long
 * for a result, or was asked for a chunk that it has not reached. Relays carry
 * ALIVE to all ranks, the sender included. A rank that receives its own ALIVE
 * knows that the tree works, and concludes:
 *
 *	own ALIVE does not come back	the relay, or the path to it, is dead;
 *					with a host that knows a detour after some 100 ms
 *	a rank is silent		that rank is dead
 *	all wait for the same chunk	the contributions do not match
 *	all wait for different chunks	the last rank cannot receive its result
 */
#include "inner.h"

/* Larger than any chunk number. */
#define WAITS_FOR_NONE UINT64_MAX

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t beat(const struct trib_engine *eng)
{
	return eng->timeout_ns / TRIB_TUNE_BEATS;
}

static bool is_waiting(const struct trib_stream *s)
{
	enum trib_chunk_state state = trib_chunk_state(s, s->una);

	return s->una < s->high && state != TRIB_CHUNK_FREE && state != TRIB_CHUNK_HELD;
}

/* The barrier of leaving has its own timeout: join.c. */
static bool is_leaving(const struct trib_stream *s)
{
	return is_waiting(s) && trib_chunk(s, s->una)->part->kind == TRIB_KIND_LEAVE;
}

/* Was a chunk asked for that we have not sent yet? */
static bool is_asked(const struct trib_stream *s)
{
	enum trib_chunk_state state;

	if (!s->asked || s->asked - 1 < s->una)
		return false;
	state = trib_chunk_state(s, s->asked - 1);
	return state == TRIB_CHUNK_FREE ||
	       (state == TRIB_CHUNK_READY && trib_cells_state(s, s->asked - 1) == TRIB_CELL_READY);
}

/* When we began to wait: the last result, or the first send. */
static uint64_t waits_since(const struct trib_stream *s)
{
	return later(s->result_ns, trib_chunk(s, s->una)->first_ns);
}

static void tell_alive(struct trib_stream *s)
{
	bool waits = is_waiting(s) && !is_leaving(s);

	s->alive_ns = s->eng->now;
	trib_send_control(s, TRIB_T_ALIVE, waits ? TRIB_F_RESEND : 0, (uint32_t)s->una,
			  (uint16_t)s->eng->rank);
}

static void say_alive(struct trib_stream *s)
{
	uint64_t pace = TRIB_TUNE_ALIVE_PACE, now = s->eng->now;

	if (pace > beat(s->eng))
		pace = beat(s->eng);
	if (s->alive_ns && now - s->alive_ns < pace)
		return;
	tell_alive(s);
}

/* Can the host go on without the relay? */
static bool can_leave(const struct trib_stream *s)
{
	return s->eng->host->relay_lost && !s->shared;
}

void trib_silence_asked(struct trib_stream *s, uint64_t c)
{
	/* No rank can lack an old chunk, or have reached one far ahead. */
	if ((int64_t)(c - s->una) < 0 || c >= s->high + s->window)
		return;
	s->asked = later(s->asked, c + 1);
	s->eng->count.needs++;
	say_alive(s);
	trib_silence_arm(s);
}

void trib_silence_alive(struct trib_stream *s, const struct trib_rx *rx)
{
	uint64_t c = trib_chunk_wide(s, rx->chunk), now = s->eng->now;
	uint64_t waits_for = rx->flags & TRIB_F_RESEND ? c : WAITS_FOR_NONE;
	struct trib_life *l;

	if (rx->aux >= s->eng->world)
		return;
	s->heard_ns = now;
	l = &s->life[rx->aux];
	if (l->waits_for != waits_for || now - l->heard_ns >= s->eng->timeout_ns / 2)
		l->since_ns = now;
	l->heard_ns = now;
	l->waits_for = waits_for;
	if (rx->aux != s->eng->rank)
		trib_silence_lacks(s, c);
}

void trib_silence_lacks(struct trib_stream *s, uint64_t c)
{
	if ((int64_t)(c - s->una) < 0)
		s->lacks_ns = s->eng->now;
}

void trib_silence_arm(struct trib_stream *s)
{
	if (!s->check_ns)
		s->check_ns = s->eng->now + (can_leave(s) ? TRIB_TUNE_LOST_PACE : beat(s->eng));
}

void trib_silence_refused(struct trib_stream *s)
{
	if (can_leave(s) && s->eng->now - s->refused_ns >= TRIB_TUNE_LOST_REFUSED)
		s->check_ns = s->eng->now;
}

void trib_silence_rest(struct trib_stream *s)
{
	if (!is_asked(s))
		s->check_ns = 0;
}

static void give_up_on(struct trib_stream *s, unsigned int rank)
{
	struct trib_engine *eng = s->eng;
	unsigned int i;

	for (i = 0; i < TRIB_TUNE_ABORT_COPIES; i++)
		trib_send_control(s, TRIB_T_ABORT, 0, TRIB_ABORT_DEAD, (uint16_t)rank);
	trib_die_rank(eng, TRIB_SOCK_ERR_DEAD, -EHOSTDOWN, (int)rank,
		      "rank %u gave no sign of life for %llu ms", rank,
		      (unsigned long long)(eng->timeout_ns / TRIB_MS));
}

/* All ranks have sent the chunk, but there is no sum: relays drop what does not fit. */
static void disagree(struct trib_stream *s)
{
	trib_die_rank(
		s->eng, TRIB_SOCK_ERR_ARGUMENT, -EPROTO, -1,
		"all ranks have sent chunk %llu of tree %u and get no sum: do they all issue the same collectives, and do large packets get through?",
		(unsigned long long)s->una, s->tree);
}

/* Without any result so far, results may go to another UDP port. */
static void relay_is_silent(struct trib_stream *s, uint64_t limit)
{
	unsigned int port = s->eng->rep->tree[s->index].recv_port;
	char hint[80] = "trib doctor there may say why";

	if (can_leave(s)) {
		s->eng->host->relay_lost(s);
		return;
	}
	if (!s->held && port && !s->shared)
		snprintf(hint, sizeof(hint),
			 "no result ever came to our UDP port %u: has its face for us that port?",
			 port);
	trib_die_rank(s->eng, TRIB_SOCK_ERR_RELAY, -EHOSTUNREACH, -1,
		      "the %s of tree %u does not answer for %llu ms; %s", trib_peer(s), s->tree,
		      (unsigned long long)(limit / TRIB_MS), hint);
}

/*
 * A rank that waits for a later chunk has the result that rank @last lacks, and
 * would answer NEED. No rank got a result: large packets are lost where small
 * ones pass, or a rank accepted a wrong result and ran ahead.
 */
static void stand_still(struct trib_stream *s, unsigned int last)
{
	trib_die_rank(
		s->eng, TRIB_SOCK_ERR_RELAY, -EHOSTUNREACH, (int)last,
		"all ranks wait, for different chunks of tree %u; rank %u lacks chunk %llu and does not get it for %llu ms: do large packets reach it?",
		s->tree, last, (unsigned long long)s->life[last].waits_for,
		(unsigned long long)(s->eng->timeout_ns / TRIB_MS));
}

/* Has the rank reported for a whole timeout that it waits for the same chunk? */
static bool stands(const struct trib_stream *s, const struct trib_life *l)
{
	uint64_t now = s->eng->now, limit = s->eng->timeout_ns;

	return l->waits_for != WAITS_FOR_NONE && now - l->since_ns > limit &&
	       now - l->heard_ns < limit / 2;
}

/* The timeout has passed: find the cause. */
static void judge(struct trib_stream *s)
{
	uint64_t since = waits_since(s), limit = s->eng->timeout_ns;
	uint64_t now = s->eng->now, heard, oldest = now, echo;
	unsigned int r, silent = 0, last = 0;
	bool all_stand = true, apart = false;

	echo = now - later(s->life[s->eng->rank].heard_ns, since);
	if (echo > limit)
		relay_is_silent(s, limit);
	/* Without our own ALIVE, silence of other ranks proves nothing. */
	if (echo > limit / 4)
		return;
	for (r = 0; r < s->eng->world; r++) {
		heard = later(s->life[r].heard_ns, since);
		all_stand &= stands(s, &s->life[r]);
		apart |= s->life[r].waits_for != s->una;
		if (s->life[r].waits_for < s->life[last].waits_for)
			last = r;
		if (heard < oldest) {
			oldest = heard;
			silent = r;
		}
	}
	if (now - oldest > limit)
		give_up_on(s, silent);
	else if (all_stand && apart)
		stand_still(s, last);
	else if (all_stand)
		disagree(s);
}

/*
 * Is the relay dead? Late ranks keep results back, but a relay returns each ALIVE, and those of
 * others count, too. Only questions count that this rank has asked in turns of its own: it may
 * have been asleep.
 */
static bool is_lost(struct trib_stream *s)
{
	uint64_t now = s->eng->now, since = later(s->heard_ns, waits_since(s));

	if (now - since < TRIB_TUNE_LOST_FIRST) {
		s->asks = 0;
		return false;
	}
	if (s->asks && now - s->asked_ns < TRIB_TUNE_LOST_PACE)
		return false;
	if (s->asks == TRIB_TUNE_LOST_ASKS)
		return true;
	s->asks++;
	s->asked_ns = now;
	tell_alive(s);
	return false;
}

/* The host goes on without the relay, if it is dead. Return: it does. */
static bool leave_relay(struct trib_stream *s)
{
	bool refused = s->refused_ns && s->eng->now - s->refused_ns >= TRIB_TUNE_LOST_REFUSED;

	if (!can_leave(s) || (!refused && (!is_waiting(s) || !is_lost(s))))
		return false;
	s->eng->host->relay_lost(s);
	return true;
}

void trib_silence_check(struct trib_stream *s)
{
	uint64_t waited;

	s->check_ns = 0;
	if (leave_relay(s))
		return;
	if (is_asked(s) || is_waiting(s))
		trib_silence_arm(s);
	if (is_asked(s))
		say_alive(s);
	if (!is_waiting(s))
		return;
	waited = s->eng->now - waits_since(s);
	if (waited > beat(s->eng))
		say_alive(s);
	if (waited > s->eng->timeout_ns && !is_leaving(s))
		judge(s);
}

int trib_silence_start(struct trib_stream *s)
{
	unsigned int r;

	s->life = trib_alloc(s->eng->world * sizeof(*s->life));
	if (!s->life)
		return -ENOMEM;
	for (r = 0; r < s->eng->world; r++)
		s->life[r].waits_for = WAITS_FOR_NONE;
	return 0;
}
