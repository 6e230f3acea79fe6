// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Receiving: unpacks and retains results, answers NEED.
 *
 * A result overwrites the GRAD in its cell and stays there until chunk + 2W is
 * sent. No rank gets that far while a rank lacks it. XDP writes results into shared cells
 * itself.
 */
#include "inner.h"

struct trib_stream *trib_stream_of(struct trib_engine *eng, uint16_t tree)
{
	unsigned int i;

	for (i = 0; i < eng->nstream; i++)
		if (eng->stream[i]->tree == tree)
			return eng->stream[i];
	return NULL;
}

static void finish(struct trib_req *r)
{
	trib_req_done(r, r->bad ? -EDOM : r->over ? -ERANGE : 0);
}

/* Turn the GRAD in the cell into the RESULT that answers a NEED. */
static void retain(struct trib_stream *s, uint64_t c, const struct trib_rx *rx)
{
	struct trib_hdr *h = (void *)trib_cell(s, c);
	uint8_t *v = (uint8_t *)(h + 1);

	/* In shared pools it goes to the PS, without bitmap. */
	h->relay = s->shared ? htobe16(TRIB_RELAY_PS) : 0;
	h->bmwords = 0;
	h->type = TRIB_T_RESULT;
	h->nm = 0;
	h->flags = TRIB_F_UP | (rx->flags & (TRIB_F_PUSH | TRIB_F_CE));
	h->child = htobe16(s->child);
	h->nval = htobe16(rx->nval);
	/* XDP has written shared cells. */
	if (rx->nval && v != rx->v)
		memcpy(v, rx->v, trib_payload_len(rx->nval));
}

/* XDP sent a chunk that is READY when its result comes. */
static void count_carried(struct trib_stream *s, const struct trib_chunk *e, uint64_t c)
{
	if (e->state != TRIB_CHUNK_READY)
		return;
	s->eng->count.carried++;
	trib_send_count(s, trib_cell_len(s, c));
}

/* A wrong result has overwritten our GRAD in a shared cell: make it again. */
static void restore(struct trib_stream *s, struct trib_chunk *e, uint64_t c)
{
	if (!s->lanes.desk)
		return;
	trib_chunk_pack(s, e->part, e->off, c);
	trib_cells_send(s, c);
	e->state = TRIB_CHUNK_SENT;
	s->lanes.filled++;
}

bool trib_result_take(struct trib_stream *s, uint64_t c, const struct trib_rx *rx)
{
	struct trib_chunk *e = trib_chunk(s, c);
	struct trib_engine *eng = s->eng;
	struct trib_part *p = e->part;

	/* XDP had sent it when the rank took what it had filled. */
	if (e->state == TRIB_CHUNK_READY && !s->lanes.reflex)
		s->lanes.unsent--;
	if (trib_chunk_unpack(s, p, e->off, rx)) {
		eng->count.bad_packets++;
		restore(s, e, c);
		return false;
	}
	count_carried(s, e, c);
	retain(s, c, rx);
	e->state = TRIB_CHUNK_HELD;
	e->part = NULL;
	s->inflight--;
	eng->inflight--;
	trib_trace_done(s, c);
	s->result_ns = eng->now;
	eng->count.chunks++;
	if (rx->child == s->child)
		eng->count.last_count++;
	if (c >= s->held)
		s->held = c + 1;
	if (!s->detour.state)
		trib_window_result(s, c, rx);
	while (s->una < s->high && trib_chunk_state(s, s->una) == TRIB_CHUNK_HELD)
		s->una++;
	if (s->una == s->high)
		trib_silence_rest(s);
	if (!--p->left && !--p->req->left)
		finish(p->req);
	return true;
}

static void rx_result(struct trib_stream *s, const struct trib_rx *rx)
{
	uint64_t c = trib_chunk_wide(s, rx->chunk);

	s->heard_ns = s->eng->now;
	if (trib_chunk_waits(s, c))
		trib_result_take(s, c, rx);
	else if ((int64_t)(c - s->una) < 0 || trib_chunk(s, c)->no == c)
		s->eng->count.dups++;
	else
		s->eng->count.bad_packets++;
}

/* Send a result that a rank or a relay lacks. */
static void answer_result(struct trib_stream *s, uint64_t c)
{
	struct trib_iovec iov = {trib_cell(s, c), trib_cell_len(s, c)};

	s->eng->ops->send(s->eng, s, &iov, 1, (unsigned int)iov.iov_len);
}

/* Is the chunk in its cell, and no result has let it go yet? */
static bool is_unsent(const struct trib_stream *s, const struct trib_chunk *e, uint64_t c)
{
	return e->state == TRIB_CHUNK_READY && trib_cells_state(s, c) == TRIB_CELL_READY;
}

/* NEED: a rank or relay lacks the chunk; @rx->seen marks contributions there. */
static void rx_need(struct trib_stream *s, const struct trib_rx *rx)
{
	uint64_t c = trib_chunk_wide(s, rx->chunk), pace = TRIB_TUNE_NEED_PACE;
	struct trib_chunk *e = trib_chunk(s, c);
	/* A PS asks only ranks whose contribution it lacks. */
	bool mine = !s->shared && rx->seen >> s->child & 1;
	struct trib_engine *eng = s->eng;

	if (!mine)
		trib_silence_lacks(s, c);
	if (e->no != c || is_unsent(s, e, c)) {
		trib_silence_asked(s, c);
		return;
	}
	if (e->state == TRIB_CHUNK_HELD) {
		if (eng->now - e->sent_ns < pace)
			return;
		e->sent_ns = eng->now;
		eng->count.needs++;
		answer_result(s, c);
		return;
	}
	if (mine) {
		trib_loss_known(s, c);
		return;
	}
	/* Its result is there, or its first packet is about to go. */
	if (s->lanes.desk &&
	    (e->state == TRIB_CHUNK_LATE || trib_cells_state(s, c) != TRIB_CELL_SENT))
		return;
	/* Our packet may still be on its way. */
	if (s->cong.srtt && s->cong.srtt < pace)
		pace = s->cong.srtt;
	if (eng->now - e->given_ns < pace)
		return;
	e->known = false;
	eng->count.needs++;
	trib_window_lost(s, c);
	trib_loss_resend(s, c, false);
}

/* A relay that lost a child relay may not know the rank. */
static void rank_lost(struct trib_engine *eng, int code, unsigned int rank, const char *how)
{
	if (rank < eng->world)
		trib_die_rank(eng, code, -EHOSTDOWN, (int)rank, "rank %u %s", rank, how);
	else
		trib_die_rank(eng, code, -EHOSTDOWN, -1, "a rank behind another relay %s", how);
}

static void rx_abort(struct trib_stream *s, const struct trib_rx *rx)
{
	unsigned int rank = rx->aux;
	struct trib_engine *eng = s->eng;

	switch (rx->chunk) {
	case TRIB_ABORT_DEAD:
		rank_lost(eng, TRIB_SOCK_ERR_DEAD, rank,
			  rank == eng->rank ? "was declared dead by the other ranks"
					    : "gave no sign of life in time");
		break;
	case TRIB_ABORT_GONE:
		rank_lost(eng, TRIB_SOCK_ERR_GONE, rank, "ended or left");
		break;
	case TRIB_ABORT_REJOIN:
		rank_lost(eng, TRIB_SOCK_ERR_REJOIN, rank, "restarted");
		break;
	case TRIB_ABORT_ADMIN:
		trib_die_rank(eng, TRIB_SOCK_ERR_REMOVED, -ECONNABORTED, -1,
			      "the operator removed the job or its tree");
		break;
	default:
		eng->count.bad_packets++;
		break;
	}
}

void trib_rx(struct trib_stream *s, const struct trib_rx *rx)
{
	struct trib_engine *eng = s->eng;

	eng->count.recv_packets++;
	eng->count.recv_bytes += s->overhead + sizeof(struct trib_hdr) +
				 (rx->type == TRIB_T_NEED ? 8
				  : rx->v		  ? trib_payload_len(rx->nval)
							  : 0);
	if (rx->type == TRIB_T_START) {
		trib_join_rx(s, rx);
		return;
	}
	if (!s->epoch || rx->epoch != s->epoch || (rx->flags & TRIB_F_UP)) {
		eng->count.bad_packets++;
		return;
	}
	if (eng->dead)
		return;
	switch (rx->type) {
	case TRIB_T_RESULT:
		rx_result(s, rx);
		break;
	case TRIB_T_NEED:
		rx_need(s, rx);
		break;
	case TRIB_T_ALIVE:
		trib_silence_alive(s, rx);
		break;
	case TRIB_T_ABORT:
		rx_abort(s, rx);
		break;
	case TRIB_T_PROBE:
		trib_shared_alive(s, rx);
		break;
	default:
		eng->count.bad_packets++;
		break;
	}
}
