// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Leaves a job: together with all ranks, or alone, and then tells the others. */
#include "inner.h"

/* When another rank last showed that it lacks a result which we have. */
static uint64_t last_lack(const struct trib_engine *eng)
{
	uint64_t when = 0;
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->lacks_ns > when)
			when = eng->stream[i]->lacks_ns;
	return when;
}

/*
 * How long to listen for ranks that lack results. In shared pools the PS sends
 * NEED to one rank after another, with timeouts in between.
 */
static uint64_t listens_for(const struct trib_engine *eng)
{
	uint64_t ns = eng->timeout_ns, longest = trib_loss_longest(eng);
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->shared && ns < TRIB_TUNE_DETACH_TIMEOUTS * longest)
			ns = TRIB_TUNE_DETACH_TIMEOUTS * longest;
	return ns;
}

void trib_leave_start(struct trib_engine *eng)
{
	eng->leaving = true;
	eng->leave_ns = eng->now + listens_for(eng);
	if (eng->running && !eng->dead && !eng->unfinished)
		eng->barrier = trib_req_leave(eng);
}

/*
 * The barrier's result can be lost for good if the ranks that had it have left.
 * But while others fetch earlier results, we may be the only rank that still has
 * them.
 */
bool trib_leave_turn(struct trib_engine *eng)
{
	uint64_t next;

	if (eng->dead || !eng->barrier || eng->barrier->done)
		return true;
	if (eng->now < eng->leave_ns)
		return false;
	next = last_lack(eng) + listens_for(eng);
	if (next <= eng->leave_ns)
		return true;
	eng->leave_ns = next;
	return false;
}

/*
 * After the barrier no rank lacks a result that we have. Without it, or with
 * requests left, tell the others that we are gone.
 */
void trib_leave_end(struct trib_engine *eng)
{
	bool together = eng->barrier && eng->barrier->done;
	unsigned int i, j;

	if (eng->running && !eng->dead && !together) {
		for (i = 0; i < TRIB_TUNE_ABORT_COPIES; i++)
			trib_send_control(eng->stream[0], TRIB_T_ABORT, 0, TRIB_ABORT_GONE,
					  (uint16_t)eng->rank);
		trib_die_rank(eng, TRIB_SOCK_ERR_GONE, -ECANCELED, (int)eng->rank,
			      "this rank detached");
	}
	for (i = 0; i < eng->nstream; i++)
		for (j = 0; j < TRIB_TUNE_LEAVE_COPIES; j++)
			trib_session_send(eng->stream[i], TRIB_T_LEAVE,
					  sizeof(struct trib_join) / 4);
}
