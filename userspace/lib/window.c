// SPDX-License-Identifier: BSD-2-Clause
/*
 * How much is in flight, and what is taken for lost.
 *
 * The window is clocked by results. It grows as TCP's does, and shrinks on
 * - a standing queue: least network round trip time of a round well above the
 *   least ever. Gently; and not at all once shrinking proved not to shorten
 *   the queue, because then somebody else fills it (TCP);
 * - congestion marks;
 * - loss together with a longer round trip, or much loss. Single losses are
 *   repaired and otherwise ignored: with n workers on lossy wires every n-th
 *   window has one.
 *
 * A result comes when the slowest rank has contributed, so most round trip
 * times say nothing about the network. Those of chunks that this rank itself
 * completed do ("pure"): only they count for queues. A late rank therefore
 * never shrinks anybody's window.
 *
 * Lost is a chunk that stays without result while those transmitted well
 * after it have theirs, and one whose time-out has come.
 */
#include "internal.h"

#define MIN_PERIOD (10 * TRIB_SEC) /* the least round trip is forgotten after */

/*
 * A message is spread over all trees, and they share this host's ports: what a
 * rank may have in flight, or in a queue, is shared among its streams.
 */
static unsigned int streams(const struct trib_stream *s)
{
	return s->t->nstream ? s->t->nstream : 1;
}

/* The share of large messages that travels in this tree. */
static double share(const struct trib_stream *s)
{
	unsigned int i, all = 0;

	for (i = 0; i < s->t->nstream; i++)
		all += s->t->stream[i]->weight;
	return all ? (double)s->weight / all : 1;
}

void trib_window_start(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;
	uint64_t rate = s->t->place.rep.rate;
	double planned;

	memset(g, 0, sizeof(*g));
	g->cap = s->window;
	if (s->t->max_window && s->t->max_window < g->cap)
		g->cap = s->t->max_window;
	if (rate) {
		planned = (double)rate / 8 * TRIB_TUNE_PLANNED_NS / 1e9 /
			  (s->stride + s->overhead) * share(s);
		if (streams(s) > 1 && planned < TRIB_TUNE_PLANNED_SHARE)
			planned = TRIB_TUNE_PLANNED_SHARE;
		if (planned < g->cap)
			g->cap = planned;
	}
	if (g->cap < TRIB_TUNE_WINDOW_MIN)
		g->cap = TRIB_TUNE_WINDOW_MIN;
	g->cwnd = (double)TRIB_TUNE_WINDOW_INIT_BYTES / s->stride / streams(s);
	if (g->cwnd < TRIB_TUNE_WINDOW_MIN)
		g->cwnd = TRIB_TUNE_WINDOW_MIN;
	if (g->cwnd > g->cap)
		g->cwnd = g->cap;
	g->slow_start = true;
}

/*
 * Only chunks before @c count: later ones may be in flight because an earlier
 * part waited for exponents. If they counted, ranks could wait for each other
 * with windows full of different chunks.
 */
bool trib_window_open(const struct trib_stream *s, uint64_t c)
{
	uint32_t room = (uint32_t)s->cong.cwnd, before = s->inflight;

	if (before < room)
		return true;
	while (++c < s->high)
		before -= trib_chunk_state(s, c) == TRIB_CHUNK_SENT;
	return before < room;
}

/* The window alone is no bound: a shorter round trip makes it a higher rate. */
bool trib_window_paced(struct trib_stream *s)
{
	struct trib *t = s->t;

	if (t->pace_ns <= t->now + TRIB_TUNE_PLANNED_NS)
		return true;
	/* Then there is room for several. */
	s->paced_ns = t->pace_ns - TRIB_TUNE_PLANNED_NS / 2;
	return false;
}

void trib_window_pace(struct trib_stream *s, unsigned int len)
{
	struct trib *t = s->t;
	uint64_t rate = t->place.rep.rate;

	if (!rate)
		return;
	if (t->pace_ns < t->now)
		t->pace_ns = t->now;
	t->pace_ns += (uint64_t)((double)(len + s->overhead) * 8e9 * 100 /
				 TRIB_TUNE_PACE_PERCENT / (double)rate);
}

/* Nobody is given up for the loss of one question or answer. */
uint64_t trib_window_longest(const struct trib *t)
{
	uint64_t max = TRIB_TUNE_RTO_MAX;

	return max > t->timeout_ns / 10 ? t->timeout_ns / 10 : max;
}

/*
 * How long this host's ports take, at the planned rate, for what is in flight in
 * all trees. The round trips of a message's last chunks say nothing of that when
 * the next one begins.
 */
static uint64_t passing(const struct trib_stream *s)
{
	const struct trib *t = s->t;
	uint64_t rate = t->place.rep.rate;

	if (!rate)
		return 0;
	return (uint64_t)((double)t->inflight * (s->stride + s->overhead) *
			  8e9 / (double)rate);
}

static uint64_t rto(const struct trib_stream *s, unsigned int tries)
{
	const struct trib_cong *g = &s->cong;
	uint64_t ns = g->srtt ? g->srtt + 4 * g->rttvar : TRIB_TUNE_RTO_INIT;
	uint64_t max = trib_window_longest(s->t);
	uint64_t most = TRIB_TUNE_RTO_INIT;
	uint64_t least = 2 * passing(s);

	if (most < 2 * g->srtt)
		most = 2 * g->srtt;
	if (least < TRIB_TUNE_RTO_MIN)
		least = TRIB_TUNE_RTO_MIN;
	if (most < least)
		most = least;
	if (ns < least)
		ns = least;
	if (ns > most)
		ns = most;
	ns <<= tries < 8 ? tries : 8;
	return ns < max ? ns : max;
}

/*
 * When a silent chunk is to be sent again. Chunks after a hole came, so the
 * network works and the hole was lost: one round trip is enough to tell that
 * its repetition was, too. Otherwise silence may have any reason, and only
 * counts from the last result on.
 */
static uint64_t due_at(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);
	const struct trib_cong *g = &s->cong;
	uint64_t ns = rto(s, e->tries), hole;

	if (c >= s->held)
		return (e->sent_ns > s->result_ns ? e->sent_ns : s->result_ns) +
		       ns;
	hole = g->srtt + 2 * g->rttvar;
	if (hole < TRIB_TUNE_HOLE_MIN)
		hole = TRIB_TUNE_HOLE_MIN;
	hole <<= e->tries < 8 ? e->tries / 2 : 4;
	return e->sent_ns + (hole < ns ? hole : ns);
}

static void arm(struct trib_stream *s, uint64_t due)
{
	if (!s->timer_ns || due < s->timer_ns)
		s->timer_ns = due;
}

void trib_window_sent(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	e->first_ns = e->sent_ns = s->t->now;
	e->tx = ++s->tx;
	arm(s, s->t->now + rto(s, 0));
	trib_silence_arm(s);
}

void trib_window_known(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	/* As good as sent again: what is missing has a round trip to come. */
	e->known = true;
	e->sent_ns = s->t->now;
	e->tx = s->tx;
}

void trib_window_resent(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	e->sent_ns = s->t->now;
	e->tx = ++s->tx;
	if (e->tries < UINT8_MAX)
		e->tries++;
	arm(s, s->t->now + rto(s, e->tries));
}

/* At most once per round trip. */
static void cut(struct trib_stream *s, unsigned int sixteenths)
{
	struct trib_cong *g = &s->cong;
	uint64_t rtt = g->rtt_pure ? g->rtt_pure : g->srtt;

	g->slow_start = false;
	if (g->cut_ns && s->t->now - g->cut_ns < rtt)
		return;
	g->cut_ns = s->t->now;
	g->cwnd = g->cwnd * sixteenths / 16;
	if (g->cwnd < TRIB_TUNE_WINDOW_MIN)
		g->cwnd = TRIB_TUNE_WINDOW_MIN;
}

/*
 * A chunk was lost: once for all that were in flight together, because they
 * met the same queue.
 */
static void cut_for(struct trib_stream *s, const struct trib_chunk *e)
{
	if (!s->cong.cut_ns || e->first_ns > s->cong.cut_ns)
		cut(s, TRIB_TUNE_LOSS_FACTOR);
}

/* Queueing that is not tolerated. */
static uint64_t queue_limit(const struct trib_cong *g)
{
	return g->rtt_min > TRIB_TUNE_QUEUE_MAX ? g->rtt_min
						: TRIB_TUNE_QUEUE_MAX;
}

static bool rtt_has_grown(const struct trib_cong *g)
{
	uint64_t pure = g->round_pure ? g->round_pure : g->last_pure;
	uint64_t much = TRIB_TUNE_LOSS_QUEUE;

	return pure > g->rtt_min + (g->rtt_min > much ? g->rtt_min : much);
}

void trib_window_lost(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);
	struct trib_cong *g = &s->cong;

	if (e->lost)
		return;
	e->lost = true;
	if (rtt_has_grown(g))
		cut_for(s, e);
}

/* Of a standing queue, the chunks that are ours: what exceeds rate * delay. */
static double own_queue(const struct trib_cong *g, uint64_t rtt)
{
	return g->cwnd * (1 - (double)g->rtt_min / (double)rtt);
}

/*
 * A round's standing queue: ours, or not? Whoever made room without shortening
 * it made room for somebody else, and takes it back.
 */
static void judge_queue(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;
	uint64_t rtt = g->round_pure;

	if (rtt <= g->rtt_min + queue_limit(g)) {
		g->base_cwnd = 0;
		g->compete = false;
		return;
	}
	g->slow_start = false;
	if (g->compete)
		return;
	if (!g->base_cwnd) {
		if (own_queue(g, rtt) <= TRIB_TUNE_QUEUE_CHUNKS / streams(s))
			return;
		g->base_cwnd = g->cwnd;
		g->base_rtt = rtt;
	} else if (g->cwnd > g->base_cwnd * 2 / 5) {
		/* The queue of what was sent before is still to come. */
		if (rtt > g->base_rtt)
			g->base_rtt = rtt;
	} else {
		if (rtt > g->base_rtt / 4 * 3) {
			g->compete = true;
			g->cwnd = g->base_cwnd;
		}
		g->base_cwnd = 0;
		return;
	}
	cut(s, TRIB_TUNE_QUEUE_FACTOR);
}

static void end_round(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;

	/* Others may be late, or the network full: in doubt go slowly. */
	if (g->round_any > g->rtt_min + queue_limit(g))
		g->slow_start = false;
	g->round_any = 0;

	if (g->round_ce)
		cut(s, TRIB_TUNE_LOSS_FACTOR);
	if (g->round_pure) {
		judge_queue(s);
		g->last_pure = g->round_pure;
	}
	g->round_pure = 0;
	g->round_ce = 0;
	g->round_end = s->high;
}

static void note_min(struct trib_cong *g, uint64_t rtt, uint64_t now)
{
	if (!g->min_ns || now - g->min_ns > MIN_PERIOD) {
		g->min_before = g->min_now;
		g->min_now = 0;
		g->min_ns = now;
	}
	if (!g->min_now || rtt < g->min_now)
		g->min_now = rtt;
	g->rtt_min = g->min_before && g->min_before < g->min_now ? g->min_before
								 : g->min_now;
}

static void sample(struct trib_stream *s, uint64_t rtt, bool pure)
{
	struct trib_cong *g = &s->cong;
	uint64_t diff;

	if (!rtt)
		rtt = 1;
	if (!g->srtt) {
		g->srtt = rtt;
		g->rttvar = rtt / 2;
	} else {
		diff = rtt > g->srtt ? rtt - g->srtt : g->srtt - rtt;
		g->rttvar = (3 * g->rttvar + diff) / 4;
		g->srtt = (7 * g->srtt + rtt) / 8;
	}
	note_min(g, rtt, s->t->now);
	if (!g->round_any || rtt < g->round_any)
		g->round_any = rtt;
	if (!pure)
		return;
	g->rtt_pure = g->rtt_pure ? (7 * g->rtt_pure + rtt) / 8 : rtt;
	if (!g->round_pure || rtt < g->round_pure)
		g->round_pure = rtt;
}

static void grow(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;

	/* Only a window that was used has shown that it fits. */
	if (!g->limited)
		return;
	g->cwnd += g->slow_start ? 1 : 1 / g->cwnd;
	if (g->cwnd > g->cap)
		g->cwnd = g->cap;
}

void trib_window_result(struct trib_stream *s, uint64_t c,
			const struct trib_rx *rx)
{
	struct trib_chunk *e = trib_chunk(s, c);
	struct trib_cong *g = &s->cong;
	bool star = s->shared || s->nchild == s->t->world;

	if ((int32_t)(e->tx - s->tx_acked) > 0)
		s->tx_acked = e->tx;
	if (rx->flags & TRIB_F_CE)
		g->round_ce++;
	/* Which copy of a chunk sent twice was answered nobody knows. */
	if (!e->tries)
		sample(s, s->t->now - e->first_ns,
		       star && rx->child == s->child);
	else if (star && rx->child == s->child && !e->known)
		trib_window_lost(s, c); /* the copy completed it */
	g->loss += ((e->lost ? 1 : 0) - g->loss) / TRIB_TUNE_LOSS_CHUNKS;
	if (e->lost && g->loss * 100 > TRIB_TUNE_LOSS_PERCENT &&
	    g->cwnd > TRIB_TUNE_WINDOW_LOSSY)
		cut_for(s, e);
	grow(s);
	if (c >= g->round_end)
		end_round(s);
}

void trib_window_gaps(struct trib_stream *s)
{
	unsigned int burst = 0;
	uint64_t c;

	if (s->held <= s->una)
		return;
	for (c = s->una; c < s->held && burst < TRIB_TUNE_FAST_BURST; c++) {
		struct trib_chunk *e = trib_chunk(s, c);

		if (trib_chunk_state(s, c) != TRIB_CHUNK_SENT)
			continue;
		if ((int32_t)(s->tx_acked - e->tx) <
		    TRIB_TUNE_REORDER << (e->tries < 6 ? e->tries : 6)) {
			arm(s, due_at(s, c));
			continue;
		}
		if (rtt_has_grown(&s->cong))
			cut_for(s, e);
		s->t->count.fast_resends++;
		trib_stream_resend(s, c, true);
		burst++;
	}
}

void trib_window_timer(struct trib_stream *s)
{
	unsigned int probes = 0, holes = 0;
	uint64_t c, due, next = 0;

	if (s->check_ns && s->t->now >= s->check_ns)
		trib_silence_check(s);
	if (s->t->dead || !s->timer_ns || s->t->now < s->timer_ns)
		return;
	for (c = s->una; c < s->high; c++) {
		if (trib_chunk_state(s, c) != TRIB_CHUNK_SENT)
			continue;
		if (c >= s->held && probes++ == TRIB_TUNE_RTO_PROBES)
			break;
		due = due_at(s, c);
		if (due <= s->t->now && holes < TRIB_TUNE_FAST_BURST) {
			holes += c < s->held;
			s->t->count.resends++;
			trib_stream_resend(s, c, true);
			due = due_at(s, c);
		}
		if (due <= s->t->now)
			due = s->t->now + rto(s, 0);
		if (!next || due < next)
			next = due;
	}
	s->timer_ns = next;
}
