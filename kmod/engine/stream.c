// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sending: parts of requests queue in a stream. When the rules and the window
 * allow, a chunk is frozen in its cell; neighbouring cells leave in one call.
 *
 * Chunk c may be sent when RESULT c - W is held and all results up to c - 2W are
 * consumed. A part sends its chunks in order; a part that waits for exponents lets
 * later parts send first. Queueing assigns chunk numbers, so all ranks agree on
 * them in any order of sending.
 */
#include "inner.h"

/* Far from any chunk number. */
#define NO_CHUNK (1ULL << 63)

/* Bytes that a stream allocates when it starts; shared cells are not its own. */
static size_t stream_bytes(const struct trib_stream *s)
{
	size_t cells = s->lanes.desk ? s->window * sizeof(*s->lanes.late)
				     : (size_t)(s->cell_mask + 1) * s->stride;

	return (s->mask + 1) * sizeof(*s->chunk) + cells + s->eng->world * sizeof(*s->life);
}

static int own_cells(struct trib_stream *s)
{
	s->cells = trib_alloc((size_t)(s->cell_mask + 1) * s->stride);
	return s->cells ? 0 : -ENOMEM;
}

static int take_cells(struct trib_stream *s)
{
	struct trib_cells cells = {0};
	int rc = s->eng->ops->cells(s->eng, s, &cells);

	return rc ? rc : trib_cells_start(s, &cells);
}

int trib_stream_start(struct trib_stream *s)
{
	unsigned int i;
	int rc = 0;

	s->mask = s->cell_mask = 2u * s->window - 1;
	s->stride = sizeof(struct trib_hdr) + 8u * s->bmwords + 4u * s->nval;
	if (s->eng->ops->cells)
		rc = take_cells(s);
	if (!rc && s->eng->host->room)
		rc = s->eng->host->room(s->eng, stream_bytes(s));
	if (!rc && !s->lanes.desk)
		rc = own_cells(s);
	if (rc)
		return rc;
	s->chunk = trib_alloc((s->mask + 1) * sizeof(*s->chunk));
	if (!s->chunk || trib_silence_start(s))
		return -ENOMEM;
	for (i = 0; i <= s->mask; i++)
		s->chunk[i].no = NO_CHUNK;
	s->tail = &s->head;
	return 0;
}

void trib_stream_free(struct trib_stream *s)
{
	if (!s->lanes.desk)
		trib_free(s->cells);
	trib_free(s->lanes.late);
	trib_free(s->chunk);
	trib_free(s->life);
	trib_free(s);
}

void trib_stream_queue(struct trib_stream *s, struct trib_part *p)
{
	p->chunk0 = s->next;
	s->next += p->nchunk;
	p->next = NULL;
	*s->tail = p;
	s->tail = &p->next;
}

/*
 * Remove parts before @stop whose chunks are all sent: the host may free them once
 * their results are there.
 */
static void drop_sent_parts(struct trib_stream *s, const struct trib_part *stop)
{
	struct trib_part **link = &s->head, *p;

	while ((p = *link) && p != stop) {
		if (p->sent < p->nchunk) {
			link = &p->next;
			continue;
		}
		*link = p->next;
		if (!p->next)
			s->tail = link;
	}
}

bool trib_stream_may_send(const struct trib_stream *s, uint64_t c)
{
	if (s->lanes.reflex)
		return trib_cells_room(s, c);
	if (c >= s->una + 2u * s->window)
		return false;
	if (c < s->window || c - s->window < s->una)
		return true;
	return trib_chunk_state(s, c - s->window) == TRIB_CHUNK_HELD;
}

struct trib_chunk *trib_stream_begin(struct trib_stream *s, struct trib_part *p, uint64_t c,
				     enum trib_chunk_state state)
{
	struct trib_chunk *e = trib_chunk(s, c);

	memset(e, 0, sizeof(*e));
	e->no = c;
	e->part = p;
	e->off = c - p->chunk0;
	e->state = state;
	if (c >= s->high)
		s->high = c + 1;
	s->lanes.filled++;
	return e;
}

static void note_sent(struct trib_stream *s, struct trib_part *p, uint64_t c)
{
	trib_stream_begin(s, p, c, TRIB_CHUNK_SENT)->given_ns = s->eng->now;
	trib_send_count(s, trib_cell_len(s, c));
	if (!s->detour.state)
		trib_loss_sent(s, c);
}

/* The transport took @took of @n packets, or none because of @rc. Return: all? */
static bool sent_all(struct trib_stream *s, int rc, unsigned int took, unsigned int n,
		     unsigned int seg)
{
	if (rc == -EMSGSIZE)
		trib_die_rank(
			s->eng, TRIB_SOCK_ERR_SYSTEM, rc, -1,
			"the path to the %s of tree %u no longer takes packets of %u bytes: check the MTU on the way",
			trib_peer(s), s->tree, seg);
	if (took)
		s->refused_ns = 0;
	if (took == n)
		return true;
	if (!s->refused_ns)
		s->refused_ns = s->eng->now;
	trib_silence_refused(s);
	if (s->eng->now - s->refused_ns >= s->eng->timeout_ns)
		trib_die_rank(
			s->eng, TRIB_SOCK_ERR_RELAY, -EHOSTUNREACH, -1,
			"nothing can be sent to the %s of tree %u: check link and route to it",
			trib_peer(s), s->tree);
	if (!s->eng->dead)
		s->retry_ns = s->eng->now + TRIB_TUNE_SEND_RETRY;
	return false;
}

static void clear(struct trib_burst *b)
{
	b->n = b->niov = b->seg = b->bytes = 0;
	b->closed = false;
}

/*
 * Packets of the burst that the transport took by its result @rc. It cuts them by length, so
 * it may count more if another process changed the lengths in shared cells meanwhile.
 */
static unsigned int taken(const struct trib_burst *b, int rc)
{
	if (rc <= 0)
		return 0;
	return (unsigned int)rc < b->n ? (unsigned int)rc : b->n;
}

/*
 * Send the burst. Packets that the transport refuses count as not sent, and are
 * packed again later. Return: false if packets were refused.
 */
static bool flush(struct trib_stream *s, struct trib_burst *b)
{
	unsigned int took, i, n = b->n, seg = b->seg;
	int rc;

	if (!n)
		return true;
	if (s->shared)
		s->via = (uint8_t)trib_shared_via(s);
	rc = s->detour.state ? trib_detour_send(s, b)
			     : s->eng->ops->send(s->eng, s, b->iov, b->niov, seg);
	s->via = 0;
	took = taken(b, rc);
	for (i = 0; i < took; i++)
		note_sent(s, b->part[i], b->chunk[i]);
	for (i = took; i < n; i++) {
		b->part[i]->sent--;
		if (s->lanes.desk)
			trib_cells_unsend(s, b->chunk[i]);
	}
	s->inflight -= n - took;
	s->eng->inflight -= n - took;
	clear(b);
	return sent_all(s, rc, took, n, seg);
}

/* Send a burst of chunks that were taken from XDP. Return: as flush(). */
static bool send_late(struct trib_stream *s, struct trib_burst *b)
{
	unsigned int took, i;
	int rc;

	if (!b->n)
		return true;
	rc = s->eng->ops->send(s->eng, s, b->iov, b->niov, b->seg);
	took = taken(b, rc);
	for (i = 0; i < took; i++) {
		struct trib_chunk *e = trib_chunk(s, b->chunk[i]);

		/* Its result may have come already. */
		if (e->state != TRIB_CHUNK_LATE)
			continue;
		e->state = TRIB_CHUNK_SENT;
		if (s->lanes.reflex)
			trib_lanes_begin(s, b->chunk[i]);
		else
			trib_loss_sent(s, b->chunk[i]);
		trib_send_count(s, trib_cell_len(s, b->chunk[i]));
	}
	return sent_all(s, rc, took, b->n, b->seg);
}

/* Add chunk @c, of @len bytes. */
static void add(struct trib_stream *s, struct trib_burst *b, struct trib_part *p, uint64_t c,
		unsigned int len)
{
	uint8_t *cell = trib_cell(s, c);
	struct trib_iovec *last = b->niov ? &b->iov[b->niov - 1] : NULL;

	if (!b->n)
		b->seg = len;
	else if (len < b->seg)
		b->closed = true;
	if (last && (uint8_t *)last->iov_base + last->iov_len == cell)
		last->iov_len += len;
	else
		b->iov[b->niov++] = (struct trib_iovec){cell, len};
	b->bytes += len;
	b->part[b->n] = p;
	b->chunk[b->n++] = c;
}

/* Must the burst leave before a packet of @len can be added? */
static bool is_full(const struct trib_burst *b, unsigned int len)
{
	return b->n && (b->closed || b->n == TRIB_TUNE_BURST || len > b->seg ||
			b->bytes + len > TRIB_TUNE_BURST_BYTES);
}

/*
 * Keep trees of different weights at their shares of the rate, whatever their
 * round trips. A part that runs ahead takes rate from the others now, and the
 * others finish alone, slower than planned. The rearmost part of all ranks never
 * waits here, so there is no deadlock.
 */
static bool is_ahead(const struct trib_part *p)
{
	const struct trib_part *o = p->req->part;
	const struct trib_part *end = o + p->req->npart;
	uint64_t most;

	for (; o < end; o++) {
		if (o->stream->weight == p->stream->weight)
			continue;
		/*
		 * lead = p->sent / p->nchunk - o->sent / o->nchunk, in chunks
		 * of the smaller part; both sides multiplied by both nchunk.
		 */
		most = o->nchunk > p->nchunk ? o->nchunk : p->nchunk;
		if ((unsigned __int128)p->sent * o->nchunk >
		    (unsigned __int128)o->sent * p->nchunk +
			    (unsigned __int128)most * TRIB_TUNE_AHEAD)
			return true;
	}
	return false;
}

/* Send from one part. Return: false if no later part can send either. */
static bool push_part(struct trib_stream *s, struct trib_burst *b, struct trib_part *p)
{
	unsigned int len;
	uint64_t c;

	while (p->sent < p->nchunk) {
		c = p->chunk0 + p->sent;
		s->cong.limited = !s->lanes.reflex && !trib_window_open(s, c);
		if (s->cong.limited || c >= s->hold || !trib_stream_may_send(s, c))
			return false;
		if (!trib_chunk_ready(s, p, p->sent))
			return true;
		if ((s->eng->uneven && is_ahead(p)) || !trib_window_paced(s))
			return false;
		trib_chunk_pack(s, p, p->sent, c);
		len = trib_cell_len(s, c);
		if (s->lanes.reflex) {
			trib_lanes_fill(s, p, c);
		} else {
			if (is_full(b, len) && !flush(s, b))
				return false;
			if (s->lanes.desk)
				trib_cells_send(s, c);
			add(s, b, p, c, len);
		}
		trib_window_pace(s, len);
		p->sent++;
		s->inflight++;
		s->eng->inflight++;
	}
	return true;
}

static void push(struct trib_stream *s)
{
	struct trib_burst *b = &s->eng->scratch->burst;
	struct trib_part *p;

	if (s->retry_ns) {
		if (s->eng->now < s->retry_ns)
			return;
		s->retry_ns = 0;
	}
	s->cong.limited = false;
	s->paced_ns = 0;
	clear(b);
	for (p = s->head; p && push_part(s, b, p); p = p->next)
		;
	flush(s, b);
	drop_sent_parts(s, p ? p->next : NULL);
}

void trib_stream_push(struct trib_stream *s)
{
	if (s->detour.state == TRIB_DETOUR_FROZEN)
		return;
	if (s->detour.state)
		trib_detour_push(s);
	if (s->lanes.able && !s->lanes.reflex)
		trib_lanes_filled(s);
	if (s->head && !s->eng->dead)
		push(s);
	if (s->lanes.reflex && !s->eng->dead)
		trib_lanes_turn(s);
}

void trib_stream_late(struct trib_stream *s)
{
	struct trib_burst *b = &s->eng->scratch->burst;
	struct trib_lanes *l = &s->lanes;
	unsigned int i = 0, k = 0;
	bool all = true;

	if (s->retry_ns && s->eng->now < s->retry_ns)
		return;
	s->retry_ns = 0;
	while (i < l->nlate && all) {
		clear(b);
		for (; i < l->nlate; i++) {
			uint64_t c = l->late[i];
			unsigned int len = trib_cell_len(s, c);

			if (trib_cells_state(s, c) != TRIB_CELL_SENT)
				continue;
			if (is_full(b, len))
				break;
			add(s, b, trib_chunk(s, c)->part, c, len);
		}
		all = send_late(s, b);
	}
	/* Those that the transport refused come first next time. */
	for (i = 0; i < l->nlate; i++)
		if (trib_chunk_state(s, l->late[i]) == TRIB_CHUNK_LATE)
			l->late[k++] = l->late[i];
	l->nlate = k;
}
