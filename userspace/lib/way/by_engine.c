// SPDX-License-Identifier: BSD-2-Clause
/* The way by the engine in this process, which sends packets by a carrier. */
#include <errno.h>
#include <stdio.h>

#include "carrier.h"
#include "lib/detour/detour.h"
#include "lib/place/place.h"

static int engine_open(struct trib *t)
{
	return t->transport->open(t);
}

static int engine_pollfds(struct trib *t, struct pollfd *pfd)
{
	return t->transport->pollfds(t, pfd);
}

static void engine_close(struct trib *t)
{
	trib_detours_close(t);
	t->transport->close(t);
}

/* Exchange JOINs and answers until all trees run. */
static int join_all(struct trib *t)
{
	uint64_t nonce = trib_nonce_next(), due;
	struct timespec ts;
	int rc, n;

	if (!nonce)
		return trib_fail(t, TRIB_ERR_SYSTEM, -EIO, "getrandom() gave no random numbers");
	t->eng.now = clock_ns();
	trib_join_start(&t->eng, nonce);
	while (!(rc = trib_join_turn(&t->eng))) {
		due = trib_join_deadline(&t->eng) - t->eng.now;
		ts.tv_sec = (time_t)(due / TRIB_SEC);
		ts.tv_nsec = (long)(due % TRIB_SEC);
		ppoll(t->pfd, t->npfd - 1, &ts, NULL);
		t->eng.now = clock_ns();
		n = t->transport->recv(t);
		if (n < 0)
			return trib_fail(t, TRIB_ERR_SYSTEM, n, "cannot receive packets: %s",
					 strerror(-n));
	}
	return rc < 0 ? rc : 0;
}

static int engine_join(struct trib *t)
{
	int rc = trib_detours_meet(t);

	if (!rc)
		rc = join_all(t);
	if (!rc && t->transport->start)
		rc = t->transport->start(t);
	if (rc) {
		trib_leave_end(&t->eng);
		return rc;
	}
	trib_engine_start(&t->eng);
	return trib_detours_start(t, t->transport->epochs);
}

static int engine_issue(struct trib *t, const struct trib_call *call, struct trib_req **out)
{
	return trib_call_issue(&t->eng, call, out);
}

static int engine_turn(struct trib *t)
{
	int n = t->transport->recv(t);

	if (n < 0)
		trib_die_rank(&t->eng, TRIB_ERR_SYSTEM, n, -1, "receiving failed: %s",
			      strerror(-n));
	trib_engine_run(&t->eng);
	return n;
}

static bool engine_rest(struct trib *t)
{
	return !t->transport->rest || t->transport->rest(t);
}

static uint64_t engine_due(const struct trib *t)
{
	return trib_engine_deadline(&t->eng);
}

/* Wait until all ranks leave: until then one may need a packet from this rank. */
static void engine_leave(struct trib *t)
{
	bool together;

	t->eng.now = clock_ns();
	trib_leave_start(&t->eng);
	while (!trib_leave_turn(&t->eng)) {
		trib_drive_until(t, t->eng.barrier, trib_leave_deadline(&t->eng));
		t->eng.now = clock_ns();
	}
	/* Another rank may lack a result, and the relay be dead. */
	together = !t->eng.dead && t->eng.barrier && t->eng.barrier->done;
	if (together)
		trib_detours_leave(t, true);
	trib_leave_end(&t->eng);
	if (!together)
		trib_detours_leave(t, false);
}

static void engine_count(struct trib *t, struct trib_counters *c)
{
	const struct trib_tally *n = &t->eng.count;
	struct trib_path path;

	trib_engine_path(&t->eng, &path);
	*c = (struct trib_counters){
		.chunks = n->chunks,
		.sent_packets = n->sent_packets,
		.sent_bytes = n->sent_bytes,
		.recv_packets = n->recv_packets,
		.recv_bytes = n->recv_bytes,
		.resends = n->resends,
		.fast_resends = n->fast_resends,
		.needs = n->needs,
		.dups = n->dups,
		.bad_packets = n->bad_packets,
		.rtt_us = path.rtt_us,
		.rtt_min_us = path.rtt_min_us,
		.window = path.window,
		.last_count = n->last_count,
		.carried = n->carried,
		.detours = n->detours,
		.detour_chunks = n->detour_chunks,
	};
}

static void engine_describe(struct trib *t, char *buf, size_t room)
{
	if (t->eng.nstream > 1)
		snprintf(buf, room, "%u trees", t->eng.nstream);
	trib_detours_describe(t, buf, room);
}

const struct trib_way trib_by_engine = {
	.composes = true,
	.open = engine_open,
	.pollfds = engine_pollfds,
	.join = engine_join,
	.issue = engine_issue,
	.turn = engine_turn,
	.rest = engine_rest,
	.due = engine_due,
	.leave = engine_leave,
	.count = engine_count,
	.describe = engine_describe,
	.close = engine_close,
};
