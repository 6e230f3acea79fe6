// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Lanes: cells that this rank shares with the XDP program of its host, and the recovery of
 * what XDP sends. uapi/trib_cell.h has the layout, tests/sim/reflex the rules.
 *
 *	fill:	c gets its GRAD and is READY. XDP sends it when RESULT c - D comes.
 *	late:	RESULT c - D was there already: the rank takes the cell and sends.
 *	read:	RESULT c is there: the engine reads it, where it is.
 *
 * Cell c is filled with c + N only when RESULT c + W has been read: until then another rank
 * may lack RESULT c, which only cells keep.
 *
 * Each loss stops one lane, and the others go on, so results are the clock: a chunk that is
 * missing after more of them than come in a round trip is lost. If few come, time tells; if
 * none, time-outs probe. The simulator's recovery.py is the model; its README has what was
 * tried. If much is lost, the rank sends by its window for a while.
 *
 * The process that owns a collective socket has its cells, too, and may write there at any time.
 * So lengths, counts and indices are those of this rank's own memory, or of one snapshot; the
 * process can only make its own contributions and results wrong, and its socket slow.
 */
#include "inner.h"

enum trib_cell_state trib_cells_state(const struct trib_stream *s, uint64_t c)
{
	uint64_t x = trib_word_load(&trib_cell_shared(s, c)->state) ^
		     trib_cell_word(s, c, TRIB_CELL_FREE);

	return x <= TRIB_CELL_STATES ? (enum trib_cell_state)x : TRIB_CELL_FREE;
}

void trib_cells_begin(struct trib_stream *s)
{
	uint64_t c;

	for (c = s->next - s->window; c != s->next; c++)
		trib_word_store(&trib_cell_shared(s, c)->state,
				trib_cell_word(s, c, TRIB_CELL_RESULT));
}

int trib_cells_start(struct trib_stream *s, const struct trib_cells *cells)
{
	struct trib_lanes *l = &s->lanes;

	if (cells->n < 2u * s->window || cells->n < TRIB_CELLS_MIN || cells->n & (cells->n - 1))
		return -EPROTO;
	s->cell_mask = s->mask = cells->n - 1;
	s->stride = (uint32_t)(sizeof(struct trib_cell) - 4 * TRIB_NVAL) + 4u * s->nval;
	s->cells = (uint8_t *)cells->base + offsetof(struct trib_cell, h);
	l->late = trib_alloc(s->window * sizeof(*l->late));
	if (!l->late)
		return -ENOMEM;
	l->desk = (struct trib_desk *)((uint8_t *)cells->base + (size_t)cells->n * s->stride);
	l->able = cells->reflex;
	l->quiet = UINT16_MAX;
	l->patience = TRIB_TUNE_LANE_SLOW;
	trib_cells_begin(s);
	return 0;
}

void trib_cells_end(struct trib_stream *s)
{
	if (s->lanes.desk)
		trib_word_store(&s->lanes.desk->dist, 0);
}

/* --- sending */

/* Has the chunk its result, or did the one that had its cell before? */
static bool has_result(const struct trib_stream *s, uint64_t c)
{
	return trib_cells_state(s, c) == TRIB_CELL_RESULT;
}

bool trib_cells_room(const struct trib_stream *s, uint64_t c)
{
	return c < s->una + s->cell_mask + 1 - s->window;
}

/*
 * Has the part that chunk @before is of not filled it yet? Then it lets later ones pass: they
 * need not wait for what this part waits for.
 */
static bool unfilled(const struct trib_stream *s, uint64_t before)
{
	return trib_chunk_state(s, before) == TRIB_CHUNK_FREE && before >= s->una;
}

/* Results that came since XDP or this rank sent chunk @c, which has none. */
static uint32_t age(const struct trib_stream *s, uint64_t c)
{
	return s->lanes.nread - trib_chunk(s, c)->tx;
}

/* Have the results come that let chunk @c go? */
static bool is_free(const struct trib_stream *s, uint64_t c)
{
	uint64_t before = c - s->lanes.dist;

	return has_result(s, c - s->window) &&
	       (has_result(s, before) || (unfilled(s, before) && s->lanes.nlate < s->lanes.dist));
}

static void stamp(struct trib_stream *s, uint64_t c)
{
	if (trib_cell_stamped((uint32_t)c))
		trib_word_store(&trib_cell_shared(s, c)->sent_ns, s->eng->now);
}

bool trib_cells_take(struct trib_stream *s, uint64_t c)
{
	stamp(s, c);
	return trib_word_cas(&trib_cell_shared(s, c)->state, trib_cell_word(s, c, TRIB_CELL_READY),
			     trib_cell_word(s, c, TRIB_CELL_SENT));
}

void trib_cells_send(struct trib_stream *s, uint64_t c)
{
	stamp(s, c);
	trib_word_swap(&trib_cell_shared(s, c)->state, trib_cell_word(s, c, TRIB_CELL_SENT));
}

void trib_cells_unsend(struct trib_stream *s, uint64_t c)
{
	trib_word_swap(&trib_cell_shared(s, c)->state, trib_cell_word(s, c, TRIB_CELL_FREE));
}

void trib_cells_ready(struct trib_stream *s, uint64_t c)
{
	trib_word_publish(&trib_cell_shared(s, c)->state, trib_cell_word(s, c, TRIB_CELL_READY));
}

bool trib_cells_copy(const struct trib_stream *s, uint64_t c, struct trib_largest *to)
{
	const struct trib_hdr *h = &trib_cell_shared(s, c)->h;
	unsigned int len;

	if (trib_cells_state(s, c) != TRIB_CELL_SENT)
		return false;
	trib_snapshot(&to->h, h, sizeof(to->h));
	len = trib_packet_len(&to->h);
	/* XDP may be writing the header: only the state tells. */
	if (len > sizeof(*to) || len > s->stride - offsetof(struct trib_cell, h))
		return false;
	memcpy(to->v, h + 1, len - sizeof(*h));
	return trib_cells_state(s, c) == TRIB_CELL_SENT;
}

void trib_cells_distance(struct trib_stream *s, uint64_t window)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t dist = window / TRIB_CHUNK_ONE;

	if (!l->reflex)
		return;
	if (dist > s->window)
		dist = s->window;
	/* So a lane stays on its CPU (struct trib_spread). */
	if (dist > TRIB_SPREAD_MAX)
		dist -= dist % TRIB_SPREAD_MAX;
	if (dist > l->peak)
		l->peak = (uint16_t)dist;
	if (dist > l->flight)
		l->flight = (uint16_t)dist;
	if (s->una >= l->settled)
		l->step = l->dist;
	if (dist == l->dist)
		return;
	l->settled = s->high;
	if (dist > l->step)
		l->step = (uint16_t)dist;
	l->dist = (uint16_t)dist;
	trib_word_store(&l->desk->dist, l->dist);
}

void trib_cells_round(struct trib_stream *s)
{
	s->lanes.flight = s->lanes.peak;
	s->lanes.peak = s->lanes.dist;
}

/* --- receiving */

uint64_t trib_cells_delivered(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t sum = 0, n;
	uint8_t i;

	l->ncpu = 0;
	for (i = 0; i < TRIB_DESK_CPUS; i++) {
		n = trib_word_load(&l->desk->cpu[i].delivered);
		sum += n;
		if (!n)
			continue;
		if (n != l->had[i]) {
			if (s->eng->now - l->had_ns[i] > s->cong.srtt)
				l->back_ns[i] = s->eng->now;
			l->had_ns[i] = s->eng->now;
		}
		l->had[i] = n;
		l->cpu[l->ncpu++] = i;
	}
	return sum;
}

/*
 * Has every CPU delivered since @ns, of those that have lately, and caught up after a pause?
 * A process may keep one of them from its lanes for a while; the others' results do not tell
 * that anything is lost.
 */
static bool all_delivered(const struct trib_stream *s, uint64_t ns)
{
	const struct trib_lanes *l = &s->lanes;
	uint64_t now = s->eng->now;
	unsigned int i;

	for (i = 0; i < l->ncpu; i++) {
		uint64_t had = l->had_ns[l->cpu[i]], back = l->back_ns[l->cpu[i]];

		if (had + TRIB_TUNE_LANE_CPU_QUIET > now &&
		    (had <= ns || back + s->cong.srtt > now))
			return false;
	}
	return true;
}

/* Hand RESULT @c to the engine, unless its header lies. */
static void read_cell(struct trib_stream *s, uint64_t c)
{
	const struct trib_cell *cell = trib_cell_shared(s, c);
	struct trib_hdr h;
	struct trib_rx rx;

	trib_snapshot(&h, &cell->h, sizeof(h));
	rx = (struct trib_rx){
		.type = TRIB_T_RESULT,
		.flags = h.flags,
		.op = h.op,
		.fmt = h.fmt,
		.child = be16toh(h.child),
		.nval = be16toh(h.nval),
		.chunk = (uint32_t)c,
		.epoch = s->epoch,
		.scale = (int32_t)be32toh(h.scale),
		.took_ns = trib_cell_stamped((uint32_t)c) ? cell->took_ns : 0,
		.v = cell->v,
		.len = s->stride - (uint32_t)offsetof(struct trib_cell, v),
	};

	if (trib_payload_len(rx.nval) <= rx.len)
		trib_rx(s, &rx);
	else
		s->eng->count.bad_packets++;
}

/* RESULT @c let the next of its lane go: that was the time, in results. */
static void note_next(struct trib_stream *s, uint64_t c)
{
	uint64_t next = c + s->lanes.dist;

	s->lanes.nread++;
	s->lanes.gaps -= s->lanes.gaps / TRIB_TUNE_LANE_GAPS_LAST;
	if (s->lanes.reflex && trib_chunk_state(s, next) == TRIB_CHUNK_READY &&
	    trib_cells_state(s, next) == TRIB_CELL_SENT && !trib_chunk(s, next)->sent_ns)
		trib_lanes_begin(s, next);
}

void trib_cells_deliver(struct trib_stream *s, uint64_t c)
{
	read_cell(s, c);
	note_next(s, c);
}

/*
 * The end of chunks that can have been sent if @news results have come and were not read: each
 * let one go, and that one the next of its lane.
 */
static uint64_t reach(const struct trib_stream *s, uint64_t news)
{
	uint64_t step = s->lanes.reflex ? s->lanes.step : s->window;
	uint64_t from = s->held > s->una ? s->held : s->una, end = from + (news + 1) * step;

	return end < s->high ? end : s->high;
}

unsigned int trib_cells_read(struct trib_stream *s)
{
	unsigned int n = 0;
	uint64_t c;

	if (!s->lanes.desk || !s->epoch)
		return 0;
	/* Before the look, so that what comes meanwhile is news. */
	s->lanes.seen = trib_cells_delivered(s);
	for (c = s->una; c < reach(s, 0) && !s->eng->dead; c++) {
		/* Another CPU has just written these cells. */
		__builtin_prefetch(trib_cell_shared(s, c + 2));
		if (!trib_chunk_waits(s, c) || !has_result(s, c))
			continue;
		read_cell(s, c);
		note_next(s, c);
		n++;
	}
	if (n && s->lanes.reflex)
		trib_window_fit(s);
	return n;
}

/* --- sleeping */

/* RESULTs to sleep for: a batch, the rest of the part, at most those that can come. */
static uint64_t batch(const struct trib_stream *s, uint64_t delivered)
{
	const struct trib_lanes *l = &s->lanes;
	uint64_t n = l->reflex ? (s->cell_mask + 1) / 4 : TRIB_TUNE_PUSH_EVERY, left;
	bool calm = l->nread >= s->window && l->gaps < TRIB_SHARE_ALL / TRIB_TUNE_LANE_GAPS_FEW;
	uint64_t part = calm ? 2 : 8;

	/* A window that waits for this rank must not run dry, nor burst into a short queue. */
	if (!l->reflex && n > s->cong.cwnd / TRIB_CHUNK_ONE / part)
		n = s->cong.cwnd / TRIB_CHUNK_ONE / part;
	if (l->reflex && trib_lanes_lossy(s))
		n = l->dist / 2;
	/* The next part may wait for exponents, and those behind it be under way. */
	left = trib_chunk_waits(s, s->una) ? trib_chunk(s, s->una)->part->left : n;
	left = left > delivered - l->seen ? left - (delivered - l->seen) : 1;
	if (n > left)
		n = left;
	left = l->filled - delivered;
	if (n > left)
		n = left;
	return n ? n : 1;
}

static void arm(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t each;
	struct trib_desk_cpu *cpu;
	unsigned int i;

	l->armed = trib_cells_delivered(s);
	each = batch(s, l->armed);
	if (l->ncpu)
		each = (each + l->ncpu - 1) / l->ncpu;
	for (i = 0; i < l->ncpu; i++) {
		cpu = &l->desk->cpu[l->cpu[i]];
		trib_word_store(&cpu->wake_at, trib_word_load(&cpu->delivered) + each);
	}
	trib_word_swap(&l->desk->armed, 1);
}

/*
 * Can what came since the last look wait until more has come? Not if it ends a part or is the
 * last that can come; nor if a window waits for it, or some came while the desk was armed.
 */
static bool can_wait(struct trib_stream *s)
{
	const struct trib_lanes *l = &s->lanes;
	uint64_t sum = trib_cells_delivered(s), news = sum - l->seen;

	if (!news)
		return true;
	return l->reflex && sum == l->armed && sum < l->filled && news < TRIB_TUNE_LANE_NEWS &&
	       trib_chunk_waits(s, s->una) && news < trib_chunk(s, s->una)->part->left;
}

bool trib_cells_rest(struct trib_engine *eng)
{
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->lanes.desk && eng->stream[i]->una < eng->stream[i]->high)
			arm(eng->stream[i]);
	for (i = 0; i < eng->nstream; i++) {
		struct trib_stream *s = eng->stream[i];

		if (s->lanes.desk && s->epoch && !can_wait(s))
			return false;
	}
	return true;
}

/* --- losses */

bool trib_lanes_lossy(const struct trib_stream *s)
{
	return s->lanes.quiet < TRIB_TUNE_LANE_QUIET;
}

void trib_lanes_sample(struct trib_stream *s, uint32_t took_ns)
{
	uint64_t *rtt = &s->lanes.rtt;

	s->lanes.took_ns = took_ns;
	/*
	 * Resent chunks count, or a rank that resends all of them never learns why; so one
	 * sample changes little. It falls faster than it rises: where most chunks wait for
	 * recoveries, it is the time of the others.
	 */
	if (!*rtt)
		*rtt = took_ns < TRIB_TUNE_RTO_INIT / 2 ? took_ns : TRIB_TUNE_RTO_INIT / 2;
	else if (took_ns > *rtt)
		*rtt += (took_ns - *rtt < *rtt ? took_ns - *rtt : *rtt) / 4;
	else
		*rtt -= (*rtt - took_ns < *rtt / 2 ? *rtt - took_ns : *rtt / 2) / 4 * 3;
}

/* Quarters of a round by which this rank waits longer than the first: they take turns. */
static unsigned int turn(const struct trib_stream *s, uint64_t c)
{
	unsigned int ranks = s->eng->world;

	if (ranks > TRIB_TUNE_LANE_TURNS)
		ranks = TRIB_TUNE_LANE_TURNS;
	return (unsigned int)((c + s->eng->rank) % ranks);
}

static uint64_t time_out(const struct trib_stream *s, unsigned int tries)
{
	uint64_t max = trib_loss_longest(s->eng), least = 2 * trib_loss_passing(s);
	uint64_t ns = s->lanes.rtt ? 3 * s->lanes.rtt : TRIB_TUNE_RTO_INIT;

	if (least < TRIB_TUNE_LANE_RTO_MIN)
		least = TRIB_TUNE_LANE_RTO_MIN;
	if (ns < least)
		ns = least;
	ns <<= tries < 5 ? tries : 5;
	return ns < max ? ns : max;
}

/*
 * Time that few round trips exceed: other ranks may be late, each chunk for another reason.
 * While a queue grows, the newest one tells more.
 */
static uint64_t longest(const struct trib_stream *s)
{
	const struct trib_cong *g = &s->cong;
	uint64_t ns = g->srtt + 4 * g->rttvar;

	if (!g->srtt)
		return TRIB_TUNE_RTO_INIT;
	return ns > s->lanes.took_ns ? ns : s->lanes.took_ns;
}

/* Time from which a chunk counts as lost if others have come. */
static uint64_t hole_at(const struct trib_stream *s, uint64_t c)
{
	uint64_t ns = longest(s) * (8 + turn(s, c)) / 4, least = trib_loss_passing(s);

	if (least < TRIB_TUNE_LANE_HOLE_MIN)
		least = TRIB_TUNE_LANE_HOLE_MIN;
	return trib_chunk(s, c)->sent_ns + (ns > least ? ns : least);
}

/*
 * Is the chunk lost? Half as many results more came than were in flight, and it had time;
 * or it had twice the time, while some came.
 */
static bool is_old(const struct trib_stream *s, uint64_t c)
{
	uint64_t waits = s->eng->now - trib_chunk(s, c)->sent_ns;
	uint32_t most = (6 + turn(s, c)) * s->lanes.flight / 4;

	if (c >= s->held || age(s, c) < TRIB_TUNE_LANE_MOVED ||
	    !all_delivered(s, trib_chunk(s, c)->sent_ns))
		return false;
	return (age(s, c) > most && waits >= longest(s)) || s->eng->now >= hole_at(s, c);
}

static uint64_t silent_until(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);
	uint64_t from = s->lanes.moved_ns;

	return (e->sent_ns > from ? e->sent_ns : from) + time_out(s, e->tries);
}

void trib_lanes_begin(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	if (c >= s->lanes.begun)
		s->lanes.begun = c + 1;
	e->sent_ns = s->eng->now;
	e->tx = s->lanes.nread;
	if (!e->tries)
		e->first_ns = s->eng->now;
}

/* Look at a chunk without result. Return: when to look again; *@found: it was lost. */
static uint64_t look_at(struct trib_stream *s, uint64_t c, unsigned int *found,
			unsigned int *probes)
{
	uint64_t at, hole;

	if (!trib_chunk(s, c)->sent_ns)
		trib_lanes_begin(s, c);
	if (is_old(s, c)) {
		if (++*found > TRIB_TUNE_LANE_BURST)
			return s->eng->now + s->lanes.rtt / 4;
		trib_window_gap(s, c);
		s->eng->count.fast_resends++;
		trib_loss_resend(s, c, true);
	} else if (silent_until(s, c) <= s->eng->now && *probes < TRIB_TUNE_RTO_PROBES) {
		++*probes;
		s->eng->count.resends++;
		trib_loss_resend(s, c, true);
	}
	at = silent_until(s, c);
	if (at <= s->eng->now)
		at = s->eng->now + time_out(s, trib_chunk(s, c)->tries);
	hole = hole_at(s, c);
	return trib_lanes_lossy(s) && hole > s->eng->now && hole < at ? hole : at;
}

/* Resend what counts as lost, and set the time of the next look. */
static void look(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	unsigned int found = 0, probes = 0;
	uint64_t c, at, next = 0, end = reach(s, 0);

	if (l->count != l->nread || !l->moved_ns) {
		l->count = l->nread;
		l->moved_ns = s->eng->now;
	}
	if (end < l->begun)
		end = l->begun;
	for (c = s->una; c < end && !s->eng->dead; c++) {
		enum trib_chunk_state state = trib_chunk_state(s, c);

		if ((state != TRIB_CHUNK_READY && state != TRIB_CHUNK_SENT) ||
		    trib_cells_state(s, c) != TRIB_CELL_SENT)
			continue;
		at = look_at(s, c, &found, &probes);
		if (!next || at < next)
			next = at;
	}
	l->quiet = found ? 0 : l->quiet < TRIB_TUNE_LANE_QUIET ? l->quiet + 1 : l->quiet;
	if (!next && s->una < s->high)
		next = s->eng->now + time_out(s, 0);
	s->timer_ns = next;
}

static void keep(struct trib_stream *s, uint64_t c)
{
	struct trib_lanes *l = &s->lanes;

	trib_chunk(s, c)->state = TRIB_CHUNK_LATE;
	l->late[l->nlate++] = c;
}

void trib_lanes_fill(struct trib_stream *s, struct trib_part *p, uint64_t c)
{
	trib_stream_begin(s, p, c, TRIB_CHUNK_READY)->first_ns = s->eng->now;
	trib_silence_arm(s);
	trib_cells_ready(s, c);
	s->lanes.wide |= unfilled(s, c - s->lanes.dist);
}

/*
 * Take what no result will let go any more: its turn was before it was READY, or D has
 * changed, or XDP left it. @news results have come and were not read.
 */
static void sweep(struct trib_stream *s, uint64_t news)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t c, end = l->wide ? s->high : reach(s, news);

	l->wide = false;
	for (c = s->una; c < end && l->nlate < s->window; c++) {
		if (trib_chunk_state(s, c) != TRIB_CHUNK_READY ||
		    trib_cells_state(s, c) != TRIB_CELL_READY)
			continue;
		if (is_free(s, c) && trib_cells_take(s, c))
			keep(s, c);
		else
			l->wide |= unfilled(s, c - l->dist);
	}
	l->wide |= c < end;
}

/* --- the window instead of lanes */

/*
 * Much loss stops many lanes. Then this rank sends by itself, what it has filled and what
 * comes, by its window: results open it, whichever they are. XDP only delivers.
 */
static bool loses_much(const struct trib_stream *s)
{
	return s->lanes.gaps > TRIB_SHARE_ALL / TRIB_TUNE_LANE_GAPS_MOST;
}

static void count_sent(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	e->state = TRIB_CHUNK_SENT;
	e->tx = e->tx0 = ++s->tx;
	if (!e->sent_ns)
		e->sent_ns = e->first_ns = s->eng->now;
}

static void leave_lanes(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t most = 2 * l->dist, c;

	if (most < TRIB_TUNE_WINDOW_LOSSY)
		most = TRIB_TUNE_WINDOW_LOSSY;
	/* A window must stand beside others'; else it is what lanes were. */
	if (!l->trial && s->cong.cwnd > most * TRIB_CHUNK_ONE)
		s->cong.cwnd = most * TRIB_CHUNK_ONE;
	trib_word_store(&l->desk->dist, 0);
	l->reflex = false;
	l->unsent = 0;
	for (c = s->una; c < s->high; c++) {
		enum trib_chunk_state state = trib_chunk_state(s, c);

		if (state == TRIB_CHUNK_READY && trib_cells_state(s, c) == TRIB_CELL_READY)
			l->unsent++;
		else if (state == TRIB_CHUNK_READY || state == TRIB_CHUNK_SENT)
			count_sent(s, c);
	}
	s->timer_ns = s->eng->now + TRIB_TUNE_LANE_HOLE_MIN;
}

/* Go on where the window is: all chunks in flight are lanes then. */
static void enter_lanes(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t c;

	for (c = s->una; c < s->high; c++)
		if (trib_chunk_state(s, c) == TRIB_CHUNK_SENT)
			trib_chunk(s, c)->tx = l->nread;
	trib_window_judge(s);
	l->reflex = true;
	l->slow = 0;
	l->dist = l->flight = l->peak = 0;
	l->wide = true;
	l->step = s->window;
	l->settled = l->entered = s->high;
	trib_window_fit(s);
	s->timer_ns = s->eng->now;
}

static bool may_send(const struct trib_stream *s, uint64_t c)
{
	return trib_stream_may_send(s, c) && trib_window_open(s, c);
}

void trib_lanes_filled(struct trib_stream *s)
{
	struct trib_lanes *l = &s->lanes;
	uint64_t c;

	for (c = s->una; l->unsent && l->nlate < s->window && c < s->high; c++) {
		if (trib_chunk_state(s, c) != TRIB_CHUNK_READY)
			continue;
		if (trib_cells_state(s, c) == TRIB_CELL_READY && !may_send(s, c))
			break;
		l->unsent--;
		if (trib_cells_take(s, c))
			keep(s, c);
		else
			count_sent(s, c); /* XDP was about to */
	}
	trib_stream_late(s);
	if (!l->unsent && !l->nlate && l->nread >= s->window && !s->cong.compete &&
	    l->gaps < TRIB_SHARE_ALL / TRIB_TUNE_LANE_GAPS_FEW)
		enter_lanes(s);
}

void trib_lanes_turn(struct trib_stream *s)
{
	uint64_t news;

	/* All that was filled is READY before the results are looked at: XDP does the reverse. */
	trib_word_fence();
	news = trib_cells_delivered(s) - s->lanes.seen;
	/* Sending costs time: first read and fill, or ever more chunks become late. */
	if (news >= TRIB_TUNE_LANE_NEWS)
		return;
	sweep(s, news);
	trib_stream_late(s);
	if (!s->eng->dead && !news)
		look(s);
	if (loses_much(s))
		leave_lanes(s);
}
