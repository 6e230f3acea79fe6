// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The congestion window: limit of chunks in flight.
 *
 * Results clock the window. It grows like TCP's, and shrinks on
 * - a standing queue: the minimum network round trip of a round is well above the
 *   minimum ever. It shrinks gently, and no more once shrinking has not shortened
 *   the queue: then other traffic (TCP) fills it;
 * - congestion marks;
 * - loss with a longer round trip, or much loss. Single losses are repaired and
 *   otherwise ignored: with n workers on lossy links every n-th window has one.
 *
 * A result comes when the slowest rank has contributed, so most round trips do not
 * measure the network. Only those of chunks that this rank completed do ("pure"),
 * and only they count for queues. So a late rank shrinks no window.
 */
#include "inner.h"

#define MIN_PERIOD (10 * TRIB_SEC) /* the least round trip is forgotten after */

/* Both in the unit of cwnd. */
#define PLANNED_SHARE (TRIB_TUNE_PLANNED_SHARE * TRIB_CHUNK_ONE)
#define WINDOW_MIN (TRIB_TUNE_WINDOW_MIN * TRIB_CHUNK_ONE)

/*
 * A message uses all trees, which share this host's ports. So the streams share a
 * rank's limits of packets in flight and in queues.
 */
static unsigned int streams(const struct trib_stream *s)
{
	return s->eng->nstream ? s->eng->nstream : 1;
}

/* Sum of the trees' weights, by which a large message is divided. */
static unsigned int weights(const struct trib_stream *s)
{
	unsigned int i, all = 0;

	for (i = 0; i < s->eng->nstream; i++)
		all += s->eng->stream[i]->weight;
	return all ? all : 1;
}

/*
 * Chunks that this tree's share of the planned rate carries in
 * TRIB_TUNE_PLANNED_NS, in the unit of cwnd. No overflow: 2^50 bit/s carry 2^40
 * bytes; packets of more than 2^6 bytes make that 2^53 units.
 */
static uint64_t planned(const struct trib_stream *s)
{
	uint64_t rate = s->eng->rep->rate, bytes;

	if (rate > 1ULL << 50)
		rate = 1ULL << 50;
	bytes = rate / (8 * TRIB_SEC / TRIB_TUNE_PLANNED_NS);
	return bytes * TRIB_CHUNK_ONE / (s->stride + s->overhead) * s->weight / weights(s);
}

/* In small steps: chunks that a larger window lets go leave behind those that XDP sends. */
void trib_window_fit(struct trib_stream *s)
{
	const struct trib_cong *g = &s->cong;

	if (!s->lanes.reflex)
		return;
	trib_cells_distance(s, g->most < g->cwnd ? g->most : g->cwnd);
}

void trib_window_start(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;
	uint64_t most;

	memset(g, 0, sizeof(*g));
	g->cap = s->window * TRIB_CHUNK_ONE;
	most = s->eng->max_window * TRIB_CHUNK_ONE;
	if (most && most < g->cap)
		g->cap = most;
	if (s->eng->rep->rate) {
		most = planned(s);
		if (streams(s) > 1 && most < PLANNED_SHARE)
			most = PLANNED_SHARE;
		if (most < g->cap)
			g->cap = most;
	}
	if (g->cap < WINDOW_MIN)
		g->cap = WINDOW_MIN;
	g->cwnd = TRIB_TUNE_WINDOW_INIT_BYTES * TRIB_CHUNK_ONE / s->stride / streams(s);
	if (g->cwnd < WINDOW_MIN)
		g->cwnd = WINDOW_MIN;
	if (g->cwnd > g->cap)
		g->cwnd = g->cap;
	g->slow_start = true;
	g->most = g->cap;
	trib_window_fit(s);
}

/*
 * Only chunks before @c count. Later ones can be in flight, because an earlier
 * part waited for exponents. If they counted, ranks could wait for each other with
 * windows full of different chunks.
 */
bool trib_window_open(const struct trib_stream *s, uint64_t c)
{
	uint32_t room = (uint32_t)(s->cong.cwnd / TRIB_CHUNK_ONE);
	uint32_t before = s->inflight - s->lanes.unsent;

	if (before < room)
		return true;
	while (++c < s->high)
		before -= trib_chunk_state(s, c) == TRIB_CHUNK_SENT;
	return before < room;
}

/* Bound the rate, too: with a shorter round trip the same window is faster. */
bool trib_window_paced(struct trib_stream *s)
{
	struct trib_engine *eng = s->eng;

	if (eng->pace_ns <= eng->now + TRIB_TUNE_PLANNED_NS)
		return true;
	/* Wait until several packets may go. */
	s->paced_ns = eng->pace_ns - TRIB_TUNE_PLANNED_NS / 2;
	return false;
}

void trib_window_pace(struct trib_stream *s, unsigned int len)
{
	struct trib_engine *eng = s->eng;
	uint64_t rate = eng->rep->rate;

	if (!rate)
		return;
	if (eng->pace_ns < eng->now)
		eng->pace_ns = eng->now;
	eng->pace_ns += (len + s->overhead) * (8 * TRIB_SEC * 100 / TRIB_TUNE_PACE_PERCENT) / rate;
}

/* Shrink the window, at most once per round trip. */
static void cut(struct trib_stream *s, unsigned int sixteenths)
{
	struct trib_cong *g = &s->cong;
	uint64_t rtt = g->rtt_pure ? g->rtt_pure : g->srtt;

	g->slow_start = false;
	if (g->cut_ns && s->eng->now - g->cut_ns < rtt)
		return;
	g->cut_ns = s->eng->now;
	g->cwnd = g->cwnd * sixteenths / 16;
	if (g->cwnd < WINDOW_MIN)
		g->cwnd = WINDOW_MIN;
}

/*
 * Shrink the window for a lost chunk, once for all chunks in flight together: they
 * met the same queue.
 */
static void cut_for(struct trib_stream *s, const struct trib_chunk *e)
{
	if (!s->cong.cut_ns || e->first_ns > s->cong.cut_ns)
		cut(s, TRIB_TUNE_LOSS_FACTOR);
}

/* Queueing delay above which the window shrinks. */
static uint64_t queue_limit(const struct trib_cong *g)
{
	return g->rtt_min > TRIB_TUNE_QUEUE_MAX ? g->rtt_min : TRIB_TUNE_QUEUE_MAX;
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

void trib_window_gap(struct trib_stream *s, uint64_t c)
{
	/* A lane is lost until its chunk is sent again: few of them all stand still. */
	if (s->lanes.reflex && s->cong.cwnd <= TRIB_TUNE_WINDOW_LOSSY * TRIB_CHUNK_ONE)
		return;
	if (rtt_has_grown(&s->cong))
		cut_for(s, trib_chunk(s, c));
}

/*
 * Our chunks in a standing queue: those beyond rate * delay, in the unit of cwnd.
 * @rtt exceeds TRIB_TUNE_QUEUE_MAX, so microseconds are precise enough; up to 29
 * bits (nine minutes) their product with cwnd does not overflow.
 */
static uint64_t own_queue(const struct trib_cong *g, uint64_t rtt)
{
	uint64_t us = rtt / 1000, queue_us = (rtt - g->rtt_min) / 1000;

	if (us >> 29)
		return g->cwnd;
	return g->cwnd * queue_us / us;
}

/*
 * Is a standing queue ours? If shrinking did not shorten it, other traffic has
 * taken the room: restore the window.
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
	if (g->compete)
		return;
	g->slow_start = false;
	if (!g->base_cwnd) {
		if (own_queue(g, rtt) <= TRIB_TUNE_QUEUE_CHUNKS / streams(s) * TRIB_CHUNK_ONE)
			return;
		g->base_cwnd = g->cwnd;
		g->base_rtt = rtt;
	} else if (g->cwnd > g->base_cwnd * 2 / 5) {
		/* Packets sent before the cut still lengthen the queue. */
		if (rtt > g->base_rtt)
			g->base_rtt = rtt;
	} else {
		if (rtt > g->base_rtt / 4 * 3) {
			g->compete = g->slow_start = true;
			g->cwnd = g->base_cwnd;
		}
		g->base_cwnd = 0;
		return;
	}
	cut(s, TRIB_TUNE_QUEUE_FACTOR);
}

/*
 * Sending by XDP: results per least round trip, which the path holds without a queue. On a
 * busy host packets queue for its CPUs, and more of them only leave its caches.
 */
static void measure_path(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;
	uint64_t ns = s->eng->now - g->path_ns, us = ns / 1000, now;

	if (g->path_ns && (ns < g->rtt_min || !us))
		return;
	now = g->path_ns ? g->path_n * (g->rtt_min / 1000) * TRIB_CHUNK_ONE / us : 0;
	g->path -= g->path / 8;
	if (now > g->path)
		g->path = now;
	g->path_ns = s->eng->now;
	g->path_n = 0;
}

/* Chunks a second, with @n of them in flight. */
static uint64_t rate_of(const struct trib_lanes *l, uint64_t n)
{
	return l->rtt ? n * TRIB_SEC / l->rtt : 0;
}

/* Round trips stay long with few lanes: other traffic may fill a queue. Leave it to the window. */
static void give_way(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;

	l->gaps = TRIB_SHARE_ALL / 8;
	l->trial = true;
	l->got = rate_of(l, l->dist);
}

/*
 * Do lanes get less than half of what they got when they gave way last? Then something else
 * makes round trips long, and the window's failure tells nothing.
 */
static bool get_less(const struct trib_stream *s)
{
	const struct trib_lanes *l = &s->lanes;

	return s->una >= l->entered && 2 * rate_of(l, l->dist) < l->got;
}

void trib_window_judge(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;

	if (!l->trial)
		return;
	l->trial = false;
	if (4 * rate_of(l, s->cong.cwnd / TRIB_CHUNK_ONE) > 5 * l->got)
		l->patience = TRIB_TUNE_LANE_SLOW;
	else if (l->patience < TRIB_TUNE_LANE_SLOW_MOST)
		l->patience *= TRIB_TUNE_LANE_SLOW_TIMES;
}

/*
 * Round trips are long, and it is not for this rank that the others wait. So it fills no
 * queue of its own and may go ahead, without which relays cannot tell whose wire is slow.
 */
static uint64_t go_ahead(const struct trib_stream *s, uint64_t most)
{
	uint64_t half = s->window * TRIB_CHUNK_ONE / 2;
	unsigned int i;

	for (i = TRIB_TUNE_LANE_SLOW; i <= s->lanes.ahead && 2 * most <= half; i++)
		most *= 2;
	return most;
}

/*
 * The most that XDP may have in flight: twice what the path holds, or four times while
 * chunks are lost, whose lanes stand still. If round trips stay long with so few, other
 * traffic fills a queue, in which only a window gets its share.
 */
static void fit_path(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;
	struct trib_lanes *l = &s->lanes;
	uint64_t most = TRIB_TUNE_LANE_DIST_MIN * TRIB_CHUNK_ONE;

	if (!l->able)
		return;
	measure_path(s);
	if (most < 2 * g->path)
		most = 2 * g->path;
	if (trib_lanes_lossy(s))
		most *= 2;
	g->most = go_ahead(s, most);
	trib_cells_round(s);
	l->slow = l->reflex && l->rtt >= g->rtt_min + TRIB_TUNE_QUEUE_MAX ? l->slow + 1 : 0;
	l->less = l->slow && get_less(s) ? l->less + 1 : 0;
	l->ahead = l->slow && !g->round_pure ? l->ahead + 1 : 0;
	if (l->slow >= l->patience || l->less >= TRIB_TUNE_LANE_SLOW)
		give_way(s);
}

static void end_round(struct trib_stream *s)
{
	struct trib_cong *g = &s->cong;

	/* Late ranks or a full network: leave slow start in doubt. */
	if (g->round_any > g->rtt_min + queue_limit(g) && !g->compete)
		g->slow_start = false;
	g->round_any = 0;

	if (g->round_ce)
		cut(s, TRIB_TUNE_LOSS_FACTOR);
	if (g->round_pure) {
		judge_queue(s);
		g->last_pure = g->round_pure;
	}
	fit_path(s);
	g->round_pure = 0;
	g->round_ce = 0;
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
	g->rtt_min = g->min_before && g->min_before < g->min_now ? g->min_before : g->min_now;
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
	note_min(g, rtt, s->eng->now);
	if (!g->round_any || rtt < g->round_any)
		g->round_any = rtt;
	if (!pure)
		return;
	g->rtt_pure = g->rtt_pure ? (7 * g->rtt_pure + rtt) / 8 : rtt;
	if (!g->round_pure || rtt < g->round_pure)
		g->round_pure = rtt;
}

/*
 * Grow only a window that limited sending. XDP does not tell; there, the rank that sent the
 * last contribution of a chunk is the one that others waited for.
 */
static void grow(struct trib_stream *s, bool last)
{
	struct trib_cong *g = &s->cong;

	if (s->lanes.reflex ? !g->slow_start && !last && !trib_lanes_lossy(s) : !g->limited)
		return;
	g->cwnd += g->slow_start ? TRIB_CHUNK_ONE : TRIB_CHUNK_ONE * TRIB_CHUNK_ONE / g->cwnd;
	if (g->cwnd > g->cap)
		g->cwnd = g->cap;
}

void trib_window_result(struct trib_stream *s, uint64_t c, const struct trib_rx *rx)
{
	struct trib_chunk *e = trib_chunk(s, c);
	struct trib_cong *g = &s->cong;
	bool ours = rx->child == s->child;

	if ((int32_t)(e->tx0 - s->tx_acked) > 0)
		s->tx_acked = e->tx0;
	if (rx->flags & TRIB_F_CE)
		g->round_ce++;
	g->path_n++;
	if (rx->took_ns)
		trib_lanes_sample(s, rx->took_ns);
	else if (s->lanes.reflex && !s->lanes.rtt)
		trib_lanes_sample(s, (uint32_t)(s->eng->now - e->first_ns));
	/*
	 * After a retransmission the result may answer either copy. Shared cells are read some
	 * time after results come, but XDP measures.
	 */
	if (!e->tries && s->lanes.desk && rx->took_ns)
		sample(s, rx->took_ns, ours);
	else if (!e->tries && !s->lanes.desk)
		sample(s, s->eng->now - e->first_ns, ours);
	else if (e->tries && ours && !e->known)
		trib_window_lost(s, c); /* the copy completed it */
	g->loss += ((e->lost ? TRIB_SHARE_ALL : 0) - g->loss) / TRIB_TUNE_LOSS_CHUNKS;
	if (e->lost && g->loss * 100 > TRIB_TUNE_LOSS_PERCENT * TRIB_SHARE_ALL &&
	    g->cwnd > TRIB_TUNE_WINDOW_LOSSY * TRIB_CHUNK_ONE)
		cut_for(s, e);
	grow(s, ours);
	if (c < g->round_end)
		return;
	end_round(s);
	g->round_end = s->lanes.reflex ? c + s->lanes.dist : s->high;
}
