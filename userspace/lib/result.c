// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receiving: results are consumed and retained, NEEDs answered.
 *
 * A result overwrites the GRAD in its cell and stays there until chunk + 2W
 * is sent: while anybody lacks it, nobody gets that far. With a transport
 * that holds results itself, the transport's copy is the retained one.
 */
#include <endian.h>
#include <errno.h>

#include "internal.h"

struct trib_stream *trib_stream_of(struct trib *t, uint16_t tree)
{
	unsigned int i;

	for (i = 0; i < t->nstream; i++)
		if (t->stream[i]->tree == tree)
			return t->stream[i];
	return NULL;
}

static void finish(struct trib_req *r)
{
	struct trib *t = r->t;
	uint64_t mask = (1ULL << TRIB_EXP_INDEX_BITS) - 1;
	unsigned int rank;
	int64_t index;

	if (!r->bad) {
		trib_req_done(r, 0);
		return;
	}
	rank = (uint64_t)r->bad >> TRIB_EXP_INDEX_BITS & 0xffff;
	index = (int64_t)(~(uint64_t)r->bad & mask);
	trib_fail_rank(t, TRIB_ERR_NONFINITE, -EDOM, (int)rank, index,
		       "rank %u: element %lld is not finite", rank,
		       (long long)index);
	trib_req_done(r, -EDOM);
}

/* Make the packet in the cell the one that answers a NEED. */
static void retain(struct trib_stream *s, uint64_t c, const struct trib_rx *rx)
{
	struct trib_hdr *h = (void *)trib_cell(s, c);

	/* Of a shared pool: for the PS, and no bitmap any more. */
	h->relay = s->shared ? htobe16(TRIB_RELAY_PS) : 0;
	h->bmwords = 0;
	h->type = TRIB_T_RESULT;
	h->flags = TRIB_F_UP | (rx->flags & (TRIB_F_PUSH | TRIB_F_CE));
	h->nval = htobe16(rx->nval);
	if (rx->nval)
		memcpy(h + 1, rx->v, trib_payload_len(rx->nval));
}

static void rx_result(struct trib_stream *s, const struct trib_rx *rx)
{
	uint64_t c = trib_chunk_wide(s, rx->chunk);
	struct trib_chunk *e = trib_chunk(s, c);
	struct trib *t = s->t;
	struct trib_part *p;

	if (e->no != c || e->state != TRIB_CHUNK_SENT) {
		if ((int64_t)(c - s->una) < 0 || e->no == c)
			t->count.dups++;
		else
			t->count.bad_packets++;
		return;
	}
	p = e->part;
	if (trib_chunk_unpack(s, p, e->off, c, rx)) {
		t->count.bad_packets++;
		return;
	}
	if (!(t->ops->flags & TRIB_TRANSPORT_HOLDS))
		retain(s, c, rx);
	e->state = TRIB_CHUNK_HELD;
	e->part = NULL;
	s->inflight--;
	t->inflight--;
	s->result_ns = t->now;
	t->count.chunks++;
	if (rx->child == s->child && (s->shared || s->nchild == t->world))
		t->count.last_count++;
	if (c >= s->held)
		s->held = c + 1;
	trib_window_result(s, c, rx);
	while (s->una < s->high &&
	       trib_chunk_state(s, s->una) == TRIB_CHUNK_HELD)
		s->una++;
	if (s->una == s->high)
		trib_silence_rest(s);
	if (!--p->left && !--p->req->left)
		finish(p->req);
}

/* A peer or a relay lacks a result that we have. */
static void answer_result(struct trib_stream *s, uint64_t c)
{
	struct trib *t = s->t;
	struct iovec iov[2];
	struct trib_hdr h;
	struct trib_rx rx;

	if (!(t->ops->flags & TRIB_TRANSPORT_HOLDS)) {
		iov[0].iov_base = trib_cell(s, c);
		iov[0].iov_len = trib_packet_len(iov[0].iov_base);
		t->ops->send(t, s, iov, 1, (unsigned int)iov[0].iov_len);
		return;
	}
	if (t->ops->result(t, s, (uint32_t)c, &rx))
		return;
	trib_hdr_fill(s, &h, TRIB_T_RESULT, (uint32_t)c);
	h.flags |= rx.flags & (TRIB_F_PUSH | TRIB_F_CE);
	h.op = rx.op;
	h.fmt = rx.fmt;
	h.nval = htobe16(rx.nval);
	h.scale = htobe32((uint32_t)rx.scale);
	iov[0] = (struct iovec){&h, sizeof(h)};
	iov[1] = (struct iovec){(void *)rx.v, trib_payload_len(rx.nval)};
	t->ops->send(t, s, iov, rx.nval ? 2 : 1,
		     (unsigned int)(sizeof(h) + iov[1].iov_len));
}

/* Somebody lacks chunk c: @rx->seen says whose contributions are there. */
static void rx_need(struct trib_stream *s, const struct trib_rx *rx)
{
	uint64_t c = trib_chunk_wide(s, rx->chunk), pace = TRIB_TUNE_NEED_PACE;
	struct trib_chunk *e = trib_chunk(s, c);
	/* A PS asks whom it lacks, and nobody else. */
	bool mine = !s->shared && rx->seen >> s->child & 1;
	struct trib *t = s->t;

	if (!mine)
		trib_silence_lacks(s, c);
	if (e->no != c) {
		trib_silence_asked(s, c);
		return;
	}
	if (e->state == TRIB_CHUNK_HELD) {
		if (t->now - e->sent_ns < pace)
			return;
		e->sent_ns = t->now;
		t->count.needs++;
		answer_result(s, c);
		return;
	}
	if (mine) {
		trib_window_known(s, c);
		return;
	}
	/* What we sent may be on its way still. */
	if (s->cong.srtt && s->cong.srtt < pace)
		pace = s->cong.srtt;
	if (t->now - e->given_ns < pace)
		return;
	e->known = false;
	t->count.needs++;
	trib_window_lost(s, c);
	trib_stream_resend(s, c, false);
}

/* A relay that lost its children may not know which rank it was. */
static void rank_lost(struct trib *t, int code, unsigned int rank,
		      const char *how)
{
	if (rank < t->world)
		trib_die_rank(t, code, -EHOSTDOWN, (int)rank, "rank %u %s",
			      rank, how);
	else
		trib_die_rank(t, code, -EHOSTDOWN, -1,
			      "a rank behind another relay %s", how);
}

static void rx_abort(struct trib_stream *s, const struct trib_rx *rx)
{
	unsigned int rank = rx->aux;
	struct trib *t = s->t;

	switch (rx->chunk) {
	case TRIB_ABORT_DEAD:
		rank_lost(t, TRIB_ERR_DEAD, rank,
			  rank == t->rank ? "is taken for dead by others"
					  : "gave no sign of life in time");
		break;
	case TRIB_ABORT_GONE:
		rank_lost(t, TRIB_ERR_GONE, rank, "ended or left");
		break;
	case TRIB_ABORT_REJOIN:
		rank_lost(t, TRIB_ERR_REJOIN, rank, "restarted");
		break;
	case TRIB_ABORT_ADMIN:
		trib_die_rank(t, TRIB_ERR_REMOVED, -ECONNABORTED, -1,
			      "the operator removed the job or its tree");
		break;
	default:
		t->count.bad_packets++;
		break;
	}
}

void trib_rx(struct trib_stream *s, const struct trib_rx *rx)
{
	struct trib *t = s->t;

	t->count.recv_packets++;
	t->count.recv_bytes += s->overhead + sizeof(struct trib_hdr) +
			       (rx->type == TRIB_T_NEED ? 8
				: rx->v ? trib_payload_len(rx->nval)
					: 0);
	if (rx->type == TRIB_T_START) {
		trib_join_rx(s, rx);
		return;
	}
	if (!s->epoch || rx->epoch != s->epoch || (rx->flags & TRIB_F_UP)) {
		t->count.bad_packets++;
		return;
	}
	if (t->dead)
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
		t->count.bad_packets++;
		break;
	}
}
