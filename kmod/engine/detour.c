// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Detours: a tree whose relay is dead. Its chunks go on as they were, but the host carries them
 * to other ranks, which sum them. It loses nothing, so there are no time-outs, no NEED, and no
 * window but W. tests/sim/failover has the rules.
 *
 *	TREE ---- begin() ----> FROZEN ---- go() ----> RANKS ---- end() ----> TREE
 *	  no packet of the relay counts;  all ranks have    the relay is back, in
 *	  XDP writes no cell		  told their state  a new epoch
 *
 * A chunk that the relay did not finish is LATE, as one that was taken from XDP: its GRAD is in
 * the cell, and goes to the host when the rules of windows allow.
 */
#include "inner.h"

/* No relay begins it. Cells in it match no packet. */
#define NO_EPOCH 0xffffffffU

/* Return: false if its result is there. */
static bool take_away(struct trib_stream *s, uint64_t c)
{
	__u64 *state = &trib_cell_shared(s, c)->state;
	__u64 ready = trib_cell_word(s, c, TRIB_CELL_READY),
	      sent = trib_cell_word(s, c, TRIB_CELL_SENT);

	for (;;) {
		if (trib_word_cas(state, ready, trib_cell_word(s, c, TRIB_CELL_FREE)) ||
		    trib_word_cas(state, sent, trib_cell_word(s, c, TRIB_CELL_FREE)))
			return true;
		/* XDP on another CPU needs a microsecond to write it. */
		if (trib_cells_state(s, c) == TRIB_CELL_RESULT)
			return false;
		if (trib_cells_state(s, c) == TRIB_CELL_FREE)
			return true;
	}
}

/* Take the cell of a chunk away from XDP. If that was faster, its result counts. */
static void withdraw(struct trib_stream *s, uint64_t c)
{
	while (!s->eng->dead && trib_chunk_waits(s, c) && !take_away(s, c))
		trib_cells_deliver(s, c);
}

static void withdraw_all(struct trib_stream *s)
{
	uint64_t c;

	trib_cells_end(s);
	trib_cells_read(s);
	for (c = s->una; c < s->high; c++)
		withdraw(s, c);
	s->lanes.reflex = s->lanes.able = false;
	s->lanes.unsent = s->lanes.nlate = 0;
}

/* Nothing is due: the host wakes this stream. */
static void stop_timers(struct trib_stream *s)
{
	s->timer_ns = s->check_ns = s->retry_ns = s->paced_ns = s->refused_ns = 0;
	s->asked = 0;
	s->asks = 0;
}

void trib_detour_begin(struct trib_stream *s)
{
	struct trib_detour *d = &s->detour;
	uint64_t c;

	if (d->state == TRIB_DETOUR_NONE) {
		if (s->lanes.desk)
			withdraw_all(s);
		d->epoch = s->epoch;
		s->epoch = NO_EPOCH;
		/* W is the only window. */
		s->cong.cwnd = 1ULL << 50;
		s->eng->count.detours++;
	}
	d->state = TRIB_DETOUR_FROZEN;
	d->back = 0;
	s->hold = UINT64_MAX;
	stop_timers(s);
	for (c = s->una; c < s->high; c++)
		if (trib_chunk_waits(s, c))
			trib_chunk(s, c)->state = TRIB_CHUNK_LATE;
	d->given = s->una;
}

bool trib_detour_has(const struct trib_stream *s, uint64_t c)
{
	return c < s->una || trib_chunk_state(s, c) == TRIB_CHUNK_HELD;
}

const struct trib_hdr *trib_detour_result(struct trib_stream *s, uint64_t c, unsigned int *len)
{
	if (trib_chunk_state(s, c) != TRIB_CHUNK_HELD)
		return NULL;
	*len = trib_cell_len(s, c);
	return (const struct trib_hdr *)trib_cell(s, c);
}

/* Hand over the GRAD of chunk @c. */
static void give(struct trib_stream *s, uint64_t c)
{
	unsigned int len = trib_cell_len(s, c);

	s->eng->host->detour(s, c, (const struct trib_hdr *)trib_cell(s, c), len);
	trib_send_count(s, len);
}

/* Chunks that were on their way when the relay died, and those that XDP had yet to send. */
void trib_detour_push(struct trib_stream *s)
{
	struct trib_detour *d = &s->detour;

	if (d->given < s->una)
		d->given = s->una;
	for (; d->given < s->high && !s->eng->dead; d->given++) {
		if (trib_chunk_state(s, d->given) != TRIB_CHUNK_LATE)
			continue;
		if (!trib_stream_may_send(s, d->given))
			return;
		trib_chunk(s, d->given)->state = TRIB_CHUNK_SENT;
		give(s, d->given);
	}
}

int trib_detour_send(struct trib_stream *s, const struct trib_burst *b)
{
	unsigned int i;

	for (i = 0; i < b->n && !s->eng->dead; i++)
		s->eng->host->detour(s, b->chunk[i], (void *)trib_cell(s, b->chunk[i]),
				     trib_cell_len(s, b->chunk[i]));
	return (int)b->n;
}

void trib_detour_go(struct trib_stream *s)
{
	s->detour.state = TRIB_DETOUR_RANKS;
	s->detour.given = s->una;
	trib_stream_push(s);
}

int trib_detour_take(struct trib_stream *s, uint64_t c, const struct trib_hdr *h, const void *v,
		     unsigned int len)
{
	struct trib_rx rx = {
		.type = TRIB_T_RESULT,
		.flags = h->flags & TRIB_F_PUSH,
		.op = h->op,
		.fmt = h->fmt,
		.child = UINT16_MAX,
		.nval = be16toh(h->nval),
		.chunk = (uint32_t)c,
		.scale = (int32_t)be32toh(h->scale),
		.v = len ? v : NULL,
		.len = len,
	};

	if (!s->detour.state || s->eng->dead || trib_detour_has(s, c)) {
		s->eng->count.dups++;
		return 0;
	}
	if (rx.nval > TRIB_NVAL_LARGE || trib_payload_len(rx.nval) != len ||
	    !trib_chunk_waits(s, c) || !trib_result_take(s, c, &rx))
		return -EPROTO;
	/* No result of XDP's will come for it. */
	s->lanes.filled--;
	s->eng->count.detour_chunks++;
	return 0;
}

/* --- and back */

void trib_detour_join(struct trib_stream *s, uint64_t nonce)
{
	s->nonce = nonce;
	trib_session_send(s, TRIB_T_JOIN, s->join_nval);
}

void trib_detour_started(struct trib_stream *s, const struct trib_start *st)
{
	uint32_t epoch = be32toh(st->epoch);

	if (be16toh(st->world) == s->eng->world && be16toh(st->window) == s->window &&
	    be16toh(st->nval) == s->nval && s->child < s->nchild && epoch &&
	    epoch != s->detour.epoch && epoch != NO_EPOCH)
		s->detour.back = epoch;
}

void trib_detour_end(struct trib_stream *s, uint32_t epoch)
{
	s->detour.state = TRIB_DETOUR_NONE;
	s->epoch = epoch;
	s->hold = UINT64_MAX;
	s->result_ns = s->heard_ns = s->eng->now;
	trib_window_start(s);
	trib_stream_push(s);
}
