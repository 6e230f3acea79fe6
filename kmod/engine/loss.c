// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Detects losses and retransmits: a chunk without result although chunks sent well
 * after it have theirs (a gap), and a chunk whose timeout has passed.
 */
#include "inner.h"

/* A tenth of the silence limit: losing one packet must not kill a rank. */
uint64_t trib_loss_longest(const struct trib_engine *eng)
{
	uint64_t max = TRIB_TUNE_RTO_MAX;

	return max > eng->timeout_ns / 10 ? eng->timeout_ns / 10 : max;
}

/* Chunks of this rank in the network, in all trees; XDP has sent a window at most. */
static uint64_t in_network(const struct trib_engine *eng)
{
	const struct trib_stream *s;
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < eng->nstream; i++) {
		s = eng->stream[i];
		n += s->lanes.reflex && s->inflight > s->lanes.step ? s->lanes.step
								    : s->inflight - s->lanes.unsent;
	}
	return n;
}

/*
 * The measured round trips of a message's last chunks are shorter than those of the next
 * message's first ones.
 */
uint64_t trib_loss_passing(const struct trib_stream *s)
{
	const struct trib_engine *eng = s->eng;
	uint64_t rate = eng->rep->rate, bits;

	if (!rate)
		return 0;
	/* 2^8 trees, 2^15 chunks, 2^12 bytes, 2^3 bits, 2^20 us: 58 bits. */
	bits = in_network(eng) * (s->stride + s->overhead) * 8;
	return bits * 1000000 / rate * 1000;
}

static uint64_t rto(const struct trib_stream *s, unsigned int tries)
{
	const struct trib_cong *g = &s->cong;
	uint64_t ns = g->srtt ? g->srtt + 4 * g->rttvar : TRIB_TUNE_RTO_INIT;
	uint64_t max = trib_loss_longest(s->eng);
	uint64_t most = TRIB_TUNE_RTO_INIT;
	uint64_t least = 2 * trib_loss_passing(s);

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
 * Time at which a chunk without result is sent again. If later results came, the
 * network works and the chunk was lost: one round trip tells whether its
 * retransmission was lost, too. Otherwise the silence has an unknown reason, and
 * the timeout counts from the last result.
 */
static uint64_t due_at(const struct trib_stream *s, uint64_t c)
{
	const struct trib_chunk *e = trib_chunk(s, c);
	const struct trib_cong *g = &s->cong;
	uint64_t ns = rto(s, e->tries), hole;

	if (c >= s->held)
		return (e->sent_ns > s->result_ns ? e->sent_ns : s->result_ns) + ns;
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

void trib_loss_sent(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	e->first_ns = e->sent_ns = s->eng->now;
	e->tx = e->tx0 = ++s->tx;
	arm(s, s->eng->now + rto(s, 0));
	trib_silence_arm(s);
}

void trib_loss_known(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	/* Count it as sent now: the missing contributions need a round trip. */
	e->known = true;
	if (s->lanes.reflex) {
		trib_lanes_begin(s, c);
		return;
	}
	e->sent_ns = s->eng->now;
	e->tx = s->tx;
}

static void note_resent(struct trib_stream *s, uint64_t c)
{
	struct trib_chunk *e = trib_chunk(s, c);

	if (e->tries < UINT8_MAX)
		e->tries++;
	if (s->lanes.reflex) {
		trib_lanes_begin(s, c);
		return;
	}
	e->sent_ns = s->eng->now;
	e->tx = ++s->tx;
	arm(s, s->eng->now + rto(s, e->tries));
}

/* The packet of chunk @c; of shared cells a copy. NULL: its result has just come. */
static struct trib_hdr *packet(struct trib_stream *s, uint64_t c)
{
	struct trib_largest *copy = &s->eng->scratch->packet;

	if (!s->lanes.desk)
		return (void *)trib_cell(s, c);
	return trib_cells_copy(s, c, copy) ? &copy->h : NULL;
}

void trib_loss_resend(struct trib_stream *s, uint64_t c, bool resend)
{
	struct trib_hdr *h = packet(s, c);
	struct trib_iovec iov = {h, h ? trib_packet_len(h) : 0};

	if (!h)
		return;
	if (c < s->held && !trib_chunk(s, c)->tries)
		s->lanes.gaps += TRIB_SHARE_ALL / TRIB_TUNE_LANE_GAPS_LAST;
	note_resent(s, c);
	trib_trace_resend(s, c);
	if (s->shared) {
		if (trib_shared_resend(s, c, resend))
			trib_send_count(s, trib_packet_len(h));
		return;
	}
	trib_chunk(s, c)->given_ns = s->eng->now;
	if (resend)
		h->flags |= TRIB_F_RESEND;
	else
		h->flags &= (uint8_t)~TRIB_F_RESEND;
	if (s->eng->ops->send(s->eng, s, &iov, 1, (unsigned int)iov.iov_len) == 1)
		trib_send_count(s, (unsigned int)iov.iov_len);
}

void trib_loss_gaps(struct trib_stream *s)
{
	unsigned int burst = 0;
	uint64_t c;

	if (s->held <= s->una)
		return;
	for (c = s->una; c < s->held && burst < TRIB_TUNE_FAST_BURST; c++) {
		struct trib_chunk *e = trib_chunk(s, c);

		if (trib_chunk_state(s, c) != TRIB_CHUNK_SENT)
			continue;
		if ((int32_t)(s->tx_acked - e->tx) < TRIB_TUNE_REORDER
							     << (e->tries < 6 ? e->tries : 6)) {
			arm(s, due_at(s, c));
			continue;
		}
		trib_window_gap(s, c);
		s->eng->count.fast_resends++;
		trib_loss_resend(s, c, true);
		burst++;
	}
}

void trib_loss_timer(struct trib_stream *s)
{
	unsigned int probes = 0, holes = 0;
	uint64_t c, due, next = 0;

	if (s->eng->dead || !s->timer_ns || s->eng->now < s->timer_ns)
		return;
	for (c = s->una; c < s->high; c++) {
		if (trib_chunk_state(s, c) != TRIB_CHUNK_SENT)
			continue;
		if (c >= s->held && probes++ == TRIB_TUNE_RTO_PROBES)
			break;
		due = due_at(s, c);
		if (due <= s->eng->now && holes < TRIB_TUNE_FAST_BURST) {
			holes += c < s->held;
			s->eng->count.resends++;
			trib_loss_resend(s, c, true);
			due = due_at(s, c);
		}
		if (due <= s->eng->now)
			due = s->eng->now + rto(s, 0);
		if (!next || due < next)
			next = due;
	}
	s->timer_ns = next;
}
